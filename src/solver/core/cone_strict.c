/* What impulse does the strict law give at a velocity? (Lee et al. 2024, eqs. 14 to 18, here with R)
 *
 *     y = (target - u) / R,    gamma_n = max(0, y_n),    gamma_t nearest to y_t within the disc of radius mu gamma_n
 *
 * obeys Signorini and Coulomb with s = u - target + R gamma.  The cone is projected on plane by plane, not on its nearest
 * point (cone_convex.c): what slides does not lift, and the impulse is the slope of nothing, G = -d gamma / d u not
 * symmetric.  With r = |y_t|, t = y_t / r:
 *
 *     open    y_n <= 0        gamma = 0                                G = 0
 *     stick   r <= mu y_n     gamma = y                                G = 1 / R
 *     slide                   gamma_n = y_n,  gamma_t = mu y_n t       G = a n' / R_n + mu y_n / (R_t r) b b'
 *                             a = (mu t, 1),  b = (-t_2, t_1, 0),  n = (0, 0, 1)
 *
 * Without friction, and of the other rows, both laws are the same. */
#include "solver/core/cone_strict.h"

#include <math.h>

double strict_project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G) {
    const sim_constraint *c = &law->problem->constraint[i];
    if (c->kind != SIM_CONTACT || c->friction == 0) {
        convex_project(law, i, u, gamma, G);
        return 0;
    }
    const double *over_R = law->inverse_compliance + c->row, *target = law->target + c->row;
    double y[3] = {(target[0] - u[0]) * over_R[0], (target[1] - u[1]) * over_R[1], (target[2] - u[2]) * over_R[2]};
    double r = sqrt(y[0] * y[0] + y[1] * y[1]), radius = c->friction * y[2];
    *G = (cone_hessian){0};
    gamma[0] = gamma[1] = gamma[2] = 0;
    if (y[2] <= 0) {
        return 0;
    }
    if (r <= radius) {
        for (int k = 0; k < 3; k++) {
            gamma[k] = y[k];
            G->weight[k] = over_R[k];
        }
        return 0;
    }
    G->sliding = 1;
    G->t[0] = y[0] / r;
    G->t[1] = y[1] / r;
    G->weight[0] = over_R[2];
    G->weight[1] = radius * over_R[0] / r;
    gamma[0] = radius * G->t[0];
    gamma[1] = radius * G->t[1];
    gamma[2] = y[2];
    return 0;
}
