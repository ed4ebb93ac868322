/* Residual map of the strict law in one unknown for impulse and velocity (Todorov 2010, eqs. 10-16): x = s - gamma.
 *
 *     gamma = P(-x),     s = x + gamma
 *
 * obey the law of their constraint for any x.  The equation left is r(x) = (W + R) gamma + q - s = 0.
 *
 * P restricts -x by the strict law: a contact's normal to at least 0, its friction to mu gamma_n, a limit to at least
 * 0. It restricts dry friction and actuators to their bounds; equalities and springs not at all. */
#ifndef SOLVER_IMPLICIT_RESIDUAL_MAP_H
#define SOLVER_IMPLICIT_RESIDUAL_MAP_H

#include "solver/matrices/delassus_dense.h"

/* Region of x: each has its own derivative of gamma.  Rows but contacts stick between their bounds, else break. */
typedef enum residual_region { RESIDUAL_BREAK, RESIDUAL_STICK, RESIDUAL_SLIP } residual_region;

enum { RESIDUAL_BLOCK = SIM_MAX_ROWS * SIM_MAX_ROWS };

/* Impulses are multiplied and velocities divided by the square root of w of their constraint. */
typedef struct residual_map {
    const dual *dual;
    int n;
    double *W, *q;       /* n x n; [n] */
    double soft;         /* added to the diagonal of W in products */
    int *start, *column; /* W in compressed rows where sparse; else NULL */
    double *value;
    double *scale;        /* [n] 1 / sqrt(w): impulse over scaled impulse */
    double *gamma, *work; /* [n] */
    double *F;            /* [nconstraint] blocks, of the last derivative */
} residual_map;

/* False without memory. */
bool residual_map_make(residual_map *h, const dual *d, sim_arena *scratch);
/* product <- (W + R + soft) y, or of its transpose. */
void residual_map_times(const residual_map *h, const double *y, double *product);
void residual_map_transposed(const residual_map *h, const double *y, double *product);
void residual_map_impulse(const residual_map *h, const double *x, double *gamma);
void residual_map_eval(const residual_map *h, const double *x, double *r);
/* F = d gamma / d x of every constraint, of one side where x is on an edge; of a contact in the given region. */
void residual_map_slopes(const residual_map *h, const double *x, double *F);
void residual_map_contact_slope(residual_region region, double mu, const double *x, double *F);
residual_region residual_map_contact_region(double mu, const double *x);
/* (W + R - 1) F - 1, the derivative of r. */
void residual_map_apply_slopes(const residual_map *h, const double *F, double *J);
void residual_map_jacobian(const residual_map *h, const double *x, double *J);
/* y = F x, y = F' x, y = J x with J as above. */
void residual_map_slope_times(const residual_map *h, const double *F, int transposed, const double *x, double *y);
void residual_map_jacobian_times(const residual_map *h, const double *F, const double *x, double *y);
/* x of scaled impulses. */
void residual_map_from_impulse(const residual_map *h, const double *gamma, double *x);
/* x of the sticking solution; false without memory. */
bool residual_map_start_sticking(const residual_map *h, solver_call *call, double *x);
/* x of the sticking solution or of the warm start, whichever has the smaller |r|; false without memory. */
bool residual_map_start(const residual_map *h, solver_call *call, double *x);
/* W + soft 1 and q - soft gamma in place of W and q: not singular where contacts are redundant.  Each time gamma
 * follows (proximal.c), the error falls by about `soft` over the inverse masses at the contacts.  `soft` 0: the problem
 * itself. */
void residual_map_soften(residual_map *h, double soft, const double *gamma);
/* Impulses in the problem's units, and E of them. */
void residual_map_unscale(const residual_map *h, const double *x, double *gamma);
double residual_map_error(const residual_map *h, const double *x);

#endif
