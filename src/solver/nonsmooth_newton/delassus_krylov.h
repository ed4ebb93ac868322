/* Linear systems (W + C) x = b, W = J A^-1 J' in blocks and C diagonal, by five methods (Macklin et al. 2019, section
 * 8). */
#ifndef SOLVER_NONSMOOTH_NEWTON_DELASSUS_KRYLOV_H
#define SOLVER_NONSMOOTH_NEWTON_DELASSUS_KRYLOV_H

#include "base/arena.h"
#include <sim/problem.h>
#include <sim/solver.h>

typedef enum schur_method {
    SCHUR_PCR,
    SCHUR_PCG,
    SCHUR_JACOBI,
    SCHUR_GAUSS_SEIDEL,
    SCHUR_CHOLESKY,
    SCHUR_METHODS
} schur_method;

typedef struct schur {
    const sim_problem *problem;
    sim_delassus W;
    int n;
    double *C;        /* [n] set by the caller */
    int *out;         /* [n] likewise; 1: row left out, x = 0 there */
    double *diagonal; /* [n] of W */
    double *work;
    double *dense; /* n x n, for SCHUR_CHOLESKY; else NULL */
} schur;

/* Limits of a solve, and its result. */
typedef struct schur_solve_info {
    int max_iterations;
    double tolerance; /* of |r| over |b|, both over the root of the diagonal */
    int iterations;
    double reached;
    double *history;             /* [max_iterations + 1] residuals from the start on; NULL: not wanted */
    const sim_solution *watched; /* the caller's limit is polled in each iteration; NULL: no limit */
} schur_solve_info;

/* False without memory. */
bool schur_make(schur *s, const sim_problem *problem, schur_method method, sim_arena *scratch);
/* y = W x */
void schur_times(const schur *s, const double *x, double *y);
/* x from 0; false: SCHUR_CHOLESKY met a pivot that is not positive. */
bool schur_solve(const schur *s, schur_method method, const double *b, double *x, schur_solve_info *course);

#endif
