/* Levenberg-Marquardt method for r(x) = 0. */
#ifndef SOLVER_MATRICES_LEVENBERG_MARQUARDT_H
#define SOLVER_MATRICES_LEVENBERG_MARQUARDT_H

#include "linalg/dense/panels.h"
#include "solver/core/call.h"

typedef enum levenberg_kind { LEVENBERG_REGULAR, LEVENBERG_PROJECTED } levenberg_kind;

typedef struct levenberg_problem {
    int n;
    void *self;
    void (*residual)(void *self, const double *x, double *r);
    void (*jacobian)(void *self, const double *x, double *J); /* n x n, row-major */
    double (*error)(void *self, const double *x);             /* stopping criterion */
    int bounded; /* number of unknowns at the end that are >= 0 in a solution; used by LEVENBERG_PROJECTED */
    double tolerance;
    int max_iterations;
    int max_stalled_iterations; /* without half of psi; 0: no limit */
    /* In place of a dense `jacobian`, for a J with structure: computes J at x; solves for a step as levenberg_step;
     * image = J dx. */
    void (*linearise)(void *self, const double *x);
    bool (*step)(void *self, const double *r, double lambda, double *dx, double *range);
    void (*jacobian_times)(void *self, const double *dx, double *image);
    double (*recorded_error)(void *self); /* for the history, called after `error`; NULL: `error` */
} levenberg_problem;

/* x: the start, then the x of the least error.  Sets outcome, iterations, residual, factorisations and history of the
 * call's solution; false without memory. */
bool levenberg_solve(const levenberg_problem *problem, levenberg_kind kind, solver_call *call, double *x);

/* dx that minimises |J dx + r|^2 + lambda |dx|^2.  `range`: largest over smallest diagonal entry of the triangle.
 * false: singular, or stopped by the caller. */
bool levenberg_step(int n, const double *J, const double *r, double lambda, double *work, double *dx, double *range,
                    const panels_watch *watch);
/* Number of doubles of `work`. */
size_t levenberg_work(int n);

#endif
