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

double strict_project(const convex_law *law, int i, const double *u, double *gamma, convex_bend *bend) {
    const sim_constraint *c = &law->problem->constraint[i];
    if (c->kind != SIM_CONTACT || c->friction == 0) {
        convex_project(law, i, u, gamma, bend);
        return 0;
    }
    const double *yield = law->yield + c->row, *target = law->target + c->row;
    double y[3] = {(target[0] - u[0]) * yield[0], (target[1] - u[1]) * yield[1], (target[2] - u[2]) * yield[2]};
    double r = sqrt(y[0] * y[0] + y[1] * y[1]), radius = c->friction * y[2];
    *bend = (convex_bend){0};
    gamma[0] = gamma[1] = gamma[2] = 0;
    if (y[2] <= 0) {
        return 0;
    }
    if (r <= radius) {
        for (int k = 0; k < 3; k++) {
            gamma[k] = y[k];
            bend->weight[k] = yield[k];
        }
        return 0;
    }
    bend->sliding = 1;
    bend->t[0] = y[0] / r;
    bend->t[1] = y[1] / r;
    bend->weight[0] = yield[2];
    bend->weight[1] = radius * yield[0] / r;
    gamma[0] = radius * bend->t[0];
    gamma[1] = radius * bend->t[1];
    gamma[2] = y[2];
    return 0;
}
