/* Newton's method on the fixed point of CANAL's outer iteration. */
#ifndef SOLVER_NEWTON_CANAL_CANAL_ACCELERATION_H
#define SOLVER_NEWTON_CANAL_CANAL_ACCELERATION_H

#include "base/arena.h"
#include "solver/matrices/hessian.h"

#include <stdbool.h>

/* An outer iteration. */
typedef struct canal_round {
    const double *R;              /* [nrow] compliance */
    const double *e;              /* [nconstraint] added compliance; 0: no multiplier */
    const double *lambda, *shift; /* [nrow], [nconstraint] before it */
    const double *gamma, *s;      /* [nrow] its solution */
    const cone_hessian *G;        /* [nconstraint] at its solution */
    double E;
} canal_round;

typedef struct canal_newton {
    const sim_problem *problem; /* NULL: switched off */
    const double *w;            /* [nconstraint] inverse masses: weights of the residual */
    hessian *hessian;
    const canal_round *round;
    double *basis, *z, *pushed, *du; /* [nrow], of the basis several */
    double *dv;                      /* [nv] */
    double *x, *v;                   /* [nrow + nconstraint], [nv] plain iterate, for a rejection */
    double E;                        /* before the step */
    bool extrapolated;               /* the next outer iteration starts from a step */
    int pause, left;                 /* plain outer iterations after a rejection; those still to come */
} canal_newton;

/* `w` is read in every step.  false without memory. */
bool canal_newton_make(canal_newton *k, const sim_problem *problem, const double *w, hessian *h, sim_arena *scratch);
/* After an outer iteration with this E: true if the step before it was bad.  x and v are then reset to the plain
 * iterate. */
bool canal_newton_reject(canal_newton *k, double E, double *x, double *v);

typedef enum canal_newton_result { CANAL_NEWTON_NO_MEMORY, CANAL_NEWTON_NONE, CANAL_NEWTON_STEP } canal_newton_result;
/* Newton's step to x = (lambda, p) and v from this outer iteration; CANAL_NEWTON_NONE: x and v are unchanged. */
canal_newton_result canal_newton_extrapolate(canal_newton *k, const canal_round *round, double *x, double *v);

#endif
