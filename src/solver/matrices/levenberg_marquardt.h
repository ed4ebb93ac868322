/* r(x) = 0 in as many equations as unknowns, by Levenberg's and Marquardt's method. */
#ifndef SOLVER_MATRICES_LEVENBERG_MARQUARDT_H
#define SOLVER_MATRICES_LEVENBERG_MARQUARDT_H

#include "linalg/panels.h"
#include "solver/core/call.h"

typedef enum levenberg_kind { LEVENBERG_REGULAR, LEVENBERG_PROJECTED } levenberg_kind;

typedef struct levenberg_problem {
    int n;
    void *self;
    void (*residual)(void *self, const double *x, double *r);
    void (*jacobian)(void *self, const double *x, double *J); /* n x n, row-major */
    double (*error)(void *self, const double *x);             /* what it stops on */
    int bounded; /* the last so many unknowns are not below 0 in an answer, which `projected` makes use of */
    double tolerance;
    int most;     /* iterations */
    int patience; /* so many in a row that do not halve psi: stalled; 0: however many */
    /* In place of a dense `jacobian`, where J has a shape that can be made use of: it is taken at x, a step is made by it as
     * by levenberg_step, and applied. */
    void (*derive)(void *self, const double *x);
    int (*step)(void *self, const double *r, double lambda, double *dx, double *range);
    void (*along)(void *self, const double *dx, double *image);
    double (*told)(void *self); /* after `error`: what the history has in its place; NULL: the same */
} levenberg_problem;

/* x holds the start, then the best in `error` that was met.  Fills outcome, iterations, residual, factorisations and
 * history of the call's solution; 0 without memory. */
int levenberg_solve(const levenberg_problem *problem, levenberg_kind kind, solver_call *call, double *x);

/* dx of least |J dx + r|^2 + lambda |dx|^2.  `range`: greatest over least diagonal entry of the triangle.
 * 0 if it has a zero there, or was stopped. */
int levenberg_step(int n, const double *J, const double *r, double lambda, double *work, double *dx, double *range,
                   const panels_watch *watch);
/* Numbers of work that it takes. */
size_t levenberg_work(int n);

#endif
