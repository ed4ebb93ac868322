/* (W + C) x = b, W = J A^-1 J' in blocks and C diagonal: five ways to answer it (Macklin et al. 2019, section 8). */
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
    double *C;        /* [n] to be filled in */
    int *out;         /* [n] likewise: this row is left out, x stays 0 there */
    double *diagonal; /* [n] of W */
    double *work;
    double *dense; /* n x n, of Cholesky's method; NULL with the others */
} schur;

/* How it went. */
typedef struct schur_course {
    int most;         /* iterations */
    double tolerance; /* of |r| over |b|, both over the root of the diagonal */
    int iterations;
    double reached;
    double *history;             /* [most + 1] what it stops on, from the start on; NULL: not asked for */
    const sim_solution *watched; /* an iteration that finds its caller's time over is the last; NULL: nobody asks */
} schur_course;

/* 0 without memory. */
int schur_make(schur *s, const sim_problem *problem, schur_method method, sim_arena *scratch);
/* y = W x */
void schur_times(const schur *s, const double *x, double *y);
/* x from 0.  0 if Cholesky's method meets a pivot that is not positive. */
int schur_solve(const schur *s, schur_method method, const double *b, double *x, schur_course *course);

#endif
