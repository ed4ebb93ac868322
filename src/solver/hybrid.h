/* The strict law in one unknown for impulse and velocity (Todorov 2010, eqs. 10-16): x = s - gamma.  Of any x,
 *
 *     gamma = P(-x)     and     s = x + gamma
 *
 * obey the law of their constraint; what is left to find is r(x) = (W + R) gamma + q - s = 0.
 *
 * P cuts off -x as the strict law says: a contact's normal at 0, then its friction at mu gamma_n; a limit at 0; dry
 * friction and motors at their bounds; equalities and springs not at all. */
#ifndef SOLVER_HYBRID_H
#define SOLVER_HYBRID_H

#include "solver/dual.h"

/* Impulses are multiplied and velocities divided by the square root of w of their constraint. */
typedef struct hybrid {
    const dual *dual;
    int n;
    double *W, *q;        /* n x n; [n] */
    double *scale;        /* [n] 1 / sqrt(w): gamma = scale times what stands here */
    double *gamma, *work; /* [n] */
} hybrid;

/* 0 without memory. */
int hybrid_make(hybrid *h, const dual *d, sim_arena *scratch);
void hybrid_impulse(const hybrid *h, const double *x, double *gamma);
/* r, and its derivative (W + R - 1) F - 1 with F = d gamma / d x, of one side where x is on an edge. */
void hybrid_residual(const hybrid *h, const double *x, double *r);
void hybrid_jacobian(const hybrid *h, const double *x, double *J);
/* F of one constraint, rows x rows. */
void hybrid_slope(const sim_constraint *c, double bound, const double *x, double *F);
/* x of impulses, scaled as they are here. */
void hybrid_from_impulse(const hybrid *h, const double *gamma, double *x);
/* Impulses in the problem's units, and E of them. */
void hybrid_unscale(const hybrid *h, const double *x, double *gamma);
double hybrid_error(const hybrid *h, const double *x);

#endif
