/* The contact problem without velocities, all of it in one dense matrix: what methods on the impulses work with.
 *
 *     s = (W + R) gamma + q,     W = J A^-1 J',     q = J v* + w - target. */
#ifndef SOLVER_MATRICES_DELASSUS_DENSE_H
#define SOLVER_MATRICES_DELASSUS_DENSE_H

#include "linalg/panels.h"
#include "solver/core/call.h"

typedef struct dual {
    const sim_problem *problem;
    int n;      /* rows */
    double *W;  /* n x n, row-major, R on its diagonal */
    double *q;  /* [n] */
    double *w;  /* [nconstraint] inverse mass: trace of (W + R)_ii over its rows */
    int *given; /* [n] R is infinite: gamma is `impulse` whatever s is; its row and column of W are zero */
    double *impulse;
    panels_watch watch; /* who waits for the answer */
} dual;

/* 0 without memory. */
int dual_make(dual *d, const solver_call *call, sim_arena *scratch);
/* E of gamma by the strict law (natural_map.h); s: [n] of work. */
double dual_error(const dual *d, const double *gamma, double *s);

#endif
