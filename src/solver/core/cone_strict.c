/* Strict contact law (Signorini and Coulomb): impulse of one contact and its derivative.
 *
 *     y = (target - u) / R,    gamma_n = max(0, y_n),    gamma_t nearest to y_t within the disc of radius mu gamma_n
 *
 * With r = |y_t|, t = y_t / r, G = -d gamma / d u:
 *
 *     open    y_n <= 0      gamma = 0                               G = 0
 *     stick   r <= mu y_n   gamma = y                               G = 1 / R
 *     slide   otherwise     gamma_n = y_n,  gamma_t = mu y_n t      G = a n' / R_n + mu y_n / (R_t r) b b'
 *             a = (mu t, 1),  b = (-t_2, t_1, 0),  n = (0, 0, 1)
 *
 * The projection goes plane by plane and not to the nearest point of the cone (cone_convex.c).  So a sliding contact is
 * not lifted; the impulse is no gradient and G is not symmetric.  Without friction, and in other rows, both laws agree.
 *
 * Reference: Lee et al. 2024, eqs. 14 to 18.  Differs from the paper: compliance R. */
#include "solver/core/cone_strict.h"

#include <math.h>

double strict_project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G) {
    const sim_constraint *c = &law->problem->constraint[i];
    /* other rows: both laws agree */
    if (c->kind != SIM_CONTACT || c->friction == 0) {
        convex_project(law, i, u, gamma, G);
        return 0;
    }
    const double *over_R = law->inverse_compliance + c->row, *target = law->target + c->row;
    double y[3] = {(target[0] - u[0]) * over_R[0], (target[1] - u[1]) * over_R[1], (target[2] - u[2]) * over_R[2]};
    double r = sqrt(y[0] * y[0] + y[1] * y[1]), radius = c->friction * y[2];
    *G = (cone_hessian){0};
    gamma[0] = gamma[1] = gamma[2] = 0;
    /* open */
    if (y[2] <= 0) {
        return 0;
    }
    /* stick */
    if (r <= radius) {
        for (int k = 0; k < 3; k++) {
            gamma[k] = y[k];
            G->weight[k] = over_R[k];
        }
        return 0;
    }
    /* slide: the disc of the plane y_n */
    G->sliding = 1;
    G->lean = c->friction;
    G->t[0] = y[0] / r;
    G->t[1] = y[1] / r;
    G->weight[0] = over_R[2];
    G->weight[1] = radius * over_R[0] / r;
    gamma[0] = radius * G->t[0];
    gamma[1] = radius * G->t[1];
    gamma[2] = y[2];
    return 0;
}
