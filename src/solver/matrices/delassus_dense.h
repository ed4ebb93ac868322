/* Contact problem on the impulses, as one dense matrix.
 *
 *     s = (W + R) gamma + q,     W = J A^-1 J',     q = J v* + w - target */
#ifndef SOLVER_MATRICES_DELASSUS_DENSE_H
#define SOLVER_MATRICES_DELASSUS_DENSE_H

#include "linalg/dense/panels.h"
#include "solver/core/call.h"

typedef struct dual {
    const sim_problem *problem;
    int n;      /* rows */
    double *W;  /* n x n, row-major, R on its diagonal */
    double *q;  /* [n] */
    double *w;  /* [nconstraint] inverse mass: trace of (W + R)_ii over its rows */
    double *n2; /* [nconstraint] n_i^2 of E (natural_map.h) */
    int *given; /* [n] R is infinite: gamma = `impulse`; row and column of W are zero */
    double *impulse;
    panels_watch watch; /* the caller's `stop` */
} dual;

/* false without memory. */
bool dual_make(dual *d, const solver_call *call, sim_arena *scratch);
/* E of gamma by the strict law (natural_map.h); s: [n] work. */
double dual_error(const dual *d, const double *gamma, double *s);

#endif
