/* The inner problem of CANAL with the strict law in place of the convex one: a residual that is the gradient of nothing.
 *
 * Two ways to solve it, the ones that CANAL is compared with (Lee et al. 2024, sec. VII-D). */
#ifndef SOLVER_NEWTON_CANAL_STRICT_H
#define SOLVER_NEWTON_CANAL_STRICT_H

#include "solver/newton/canal_jacobian.h"
#include "solver/newton/primal.h"

typedef struct strict_newton {
    primal *at; /* v, gamma, r, the tolerance and the counts: all but how v is found is that of the cascaded problem */
    double noise; /* residuals below this are rounding, once they fall no longer */
    jacobian J;
    double merit, residual; /* |D r|^2 / 2, and the relative one, at v */
    double *r;              /* [n] D r at v */
    double *slope;          /* [n] H' D r */
    double *newton;         /* [n] -H^-1 D r */
    double *step, *image;   /* [n] to be tried, and H times it */
    double *from;           /* [nv] v before the step */
    int solvable;           /* there is a Newton step */
    double radius, cauchy;  /* of the region of trust; steps down the slope by this part of it minimise the model */
    int (*advance)(struct strict_newton *s);
} strict_newton;

typedef enum strict_method { STRICT_DOGLEG, STRICT_SEMISMOOTH } strict_method;

/* `at` has begun (primal_begin); 0 without memory. */
int strict_begin(strict_newton *s, primal *at, strict_method method, sim_arena *scratch);
/* From at->at.v to r = 0; from then on the law of `at` is the strict one.  Outcome SIM_AT_LIMIT: no step made the merit
 * less, or there were too many. */
void strict_minimise(strict_newton *s);

/* ---- for the two methods ---- */

/* Merit and residual where `at` stands. */
void strict_start(strict_newton *s);
/* H, its Newton step and the slope of the merit, where v now is.  0: the slope is zero, which no step goes down. */
int strict_model(strict_newton *s);
/* Goes to v + alpha step and says what the merit is there (infinite: no number). */
double strict_try(strict_newton *s, double alpha);
/* That is where v now is, from now on; or back to where it was. */
void strict_accept(strict_newton *s, double merit);
void strict_back(strict_newton *s);

/* One step: an iteration or, of the dogleg, one for every step that is tried.  0: v is stuck. */
int strict_advance_dogleg(strict_newton *s);
int strict_advance_semismooth(strict_newton *s);

#endif
