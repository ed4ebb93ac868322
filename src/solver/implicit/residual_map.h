/* The strict law in one unknown for impulse and velocity (Todorov 2010, eqs. 10-16): x = s - gamma.  Of any x,
 *
 *     gamma = P(-x)     and     s = x + gamma
 *
 * obey the law of their constraint; what is left to find is r(x) = (W + R) gamma + q - s = 0.
 *
 * P cuts off -x as the strict law says: a contact's normal at 0, then its friction at mu gamma_n; a limit at 0; dry
 * friction and motors at their bounds; equalities and springs not at all. */
#ifndef SOLVER_IMPLICIT_RESIDUAL_MAP_H
#define SOLVER_IMPLICIT_RESIDUAL_MAP_H

#include "solver/matrices/delassus_dense.h"

/* Where x lies: each has its own derivative of gamma.  Rows that are no contacts stick between their bounds, else break. */
typedef enum hybrid_region { HYBRID_BREAK, HYBRID_STICK, HYBRID_SLIP } hybrid_region;

enum { HYBRID_BLOCK = SIM_MAX_ROWS * SIM_MAX_ROWS };

/* Impulses are multiplied and velocities divided by the square root of w of their constraint. */
typedef struct hybrid {
    const dual *dual;
    int n;
    double *W, *q;       /* n x n; [n] */
    double soft;         /* what is added to W's diagonal where products are asked for */
    int *start, *column; /* W in compressed rows, where that is less; else NULL */
    double *value;
    double *scale;        /* [n] 1 / sqrt(w): gamma = scale times what stands here */
    double *gamma, *work; /* [n] */
    double *F;            /* [nconstraint] blocks, of the last derivative */
} hybrid;

/* 0 without memory. */
int hybrid_make(hybrid *h, const dual *d, sim_arena *scratch);
/* product <- (W + R + soft) y, or of its transpose. */
void hybrid_times(const hybrid *h, const double *y, double *product);
void hybrid_transposed(const hybrid *h, const double *y, double *product);
void hybrid_impulse(const hybrid *h, const double *x, double *gamma);
void hybrid_residual(const hybrid *h, const double *x, double *r);
/* F = d gamma / d x of every constraint, of one side where x is on an edge; of a contact, in the region that is asked for. */
void hybrid_slopes(const hybrid *h, const double *x, double *F);
void hybrid_contact_slope(hybrid_region region, double mu, const double *x, double *F);
hybrid_region hybrid_contact_region(double mu, const double *x);
/* (W + R - 1) F - 1, the derivative of r. */
void hybrid_chain(const hybrid *h, const double *F, double *J);
void hybrid_jacobian(const hybrid *h, const double *x, double *J);
/* y = F x, y = F' x, y = J x with J as above. */
void hybrid_sloped(const hybrid *h, const double *F, int transposed, const double *x, double *y);
void hybrid_along(const hybrid *h, const double *F, const double *x, double *y);
/* x of impulses, scaled as they are here. */
void hybrid_from_impulse(const hybrid *h, const double *gamma, double *x);
/* x where everything would stick; 0 without memory. */
int hybrid_stick(const hybrid *h, solver_call *call, double *x);
/* x where everything would stick or at the guess, wherever r is less; 0 without memory. */
int hybrid_start(const hybrid *h, solver_call *call, double *x);
/* Where all sticks on more points than it needs, W is singular, and r can have a minimum that is no root.  With W + soft 1
 * and q - soft gamma in place of W and q it is not singular, and what gamma lacks of the answer falls by about `soft` over
 * the inverse masses that are felt, each time that gamma follows (a proximal point method).  `soft` 0: as it was. */
void hybrid_soften(hybrid *h, double soft, const double *gamma);
/* Impulses in the problem's units, and E of them. */
void hybrid_unscale(const hybrid *h, const double *x, double *gamma);
double hybrid_error(const hybrid *h, const double *x);

#endif
