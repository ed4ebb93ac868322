/* Strict inner problem of CANAL, by two methods that the paper compares with CANAL (Lee et al. 2024, sec. VII-D). */
#ifndef SOLVER_NEWTON_CANAL_CANAL_STRICT_H
#define SOLVER_NEWTON_CANAL_CANAL_STRICT_H

#include "solver/newton/canal/canal_jacobian.h"
#include "solver/newton/primal.h"

typedef struct strict_newton {
    primal *at;   /* v, gamma, r, tolerance and counters, shared with the cascaded problem */
    double noise; /* residual that is rounding, once it no longer falls */
    jacobian J;
    double merit, residual; /* |D r|^2 / 2 and the relative residual at v */
    double *r;              /* [n] D r at v */
    double *slope;          /* [n] H' D r */
    double *newton;         /* [n] -H^-1 D r */
    double *step, *image;   /* [n] trial step, and H times it */
    double *from;           /* [nv] v before the step */
    bool solvable;          /* the Newton step exists */
    double radius, cauchy;  /* trust region; length of the Cauchy step over |slope| */
    bool (*advance)(struct strict_newton *s);
} strict_newton;

typedef enum strict_method { STRICT_DOGLEG, STRICT_SEMISMOOTH } strict_method;

/* `at` has begun (primal_begin); false without memory. */
bool strict_begin(strict_newton *s, primal *at, strict_method method, sim_arena *scratch);
/* From at->at.v to r = 0; sets the law of `at` to the strict one.  Outcome SIM_AT_LIMIT: no step lowered the merit, or
 * the steps ran out. */
void strict_minimise(strict_newton *s);

/* ---- for the two methods ---- */

/* Merit and residual at v. */
void strict_start(strict_newton *s);
/* H, its Newton step and the slope of the merit at v.  false: the slope is zero. */
bool strict_model(strict_newton *s);
/* Merit at v + alpha step; infinite if it is not a number. */
double strict_try(strict_newton *s, double alpha);
/* Keeps the trial point as the new v; returns to the last v. */
void strict_accept(strict_newton *s, double merit);
void strict_back(strict_newton *s);

/* One step; the dogleg counts an iteration for every trial.  false: v is stuck. */
bool strict_advance_dogleg(strict_newton *s);
bool strict_advance_semismooth(strict_newton *s);

#endif
