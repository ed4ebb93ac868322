/* What impulse does the convex law give at a velocity? (Castro, Permenter, Han 2021, eqs. 23, 24, 27, appendix C)
 *
 *     y = (target - u) / R,    gamma = P(y), nearest to y in the norm of R within what the law allows,
 *     cost(u) = |P(y)|_R^2 / 2,    d cost / d u = -gamma,    G = -d gamma / d u
 *
 * Contact, with r = |y_t|, t = y_t / r, mh = mu R_t / R_n:
 *
 *     stick   r <= mu y_n     gamma = y                                                       G = 1 / R
 *     open    y_n <= -mh r    gamma = 0                                                       G = 0
 *     slide                   gamma_n = (y_n + mh r) / (1 + mu mh),  gamma_t = mu gamma_n t
 *                             G = a a' / (R_n (1 + mu mh)) + mu gamma_n / (R_t r) b b',  a = (mu t, 1), b = (-t_2, t_1, 0)
 *
 * (Eq. 27 divides gamma_t once more by 1 + mu mh, which is not the projection; appendix C has it right.)  Without friction
 * gamma_n = max(0, y_n), and y_t, which may be anything, has no say.
 *
 * Of the other rows each stands alone: equality and spring gamma = y; limit gamma = max(0, y); friction and actuator y
 * clamped to +-dt bound, no cone, so that the cost beyond is R (|y| L - L^2 / 2), L = dt bound. */
#include "solver/core/cone_convex.h"

#include <math.h>

static double project_contact(double mu, const double *R, const double *yield, const double *y, double *gamma,
                              convex_bend *bend) {
    static const convex_bend open = {0};
    double rr = y[0] * y[0] + y[1] * y[1], mh = mu * R[0] * yield[2], r;
    *bend = open;
    gamma[0] = gamma[1] = gamma[2] = 0;
    if (mu == 0) {
        double n = fmax(0, y[2]);
        gamma[2] = n;
        bend->weight[2] = n > 0 ? yield[2] : 0;
        return 0.5 * R[2] * n * n;
    }
    r = sqrt(rr);
    if (r <= mu * y[2]) {
        for (int k = 0; k < 3; k++) {
            gamma[k] = y[k];
            bend->weight[k] = yield[k];
        }
        return 0.5 * (R[0] * rr + R[2] * y[2] * y[2]);
    }
    if (y[2] <= -mh * r) {
        return 0;
    }
    double flat = 1 / (1 + mu * mh), n = (y[2] + mh * r) * flat, over = 1 / r;
    bend->sliding = 1;
    bend->t[0] = y[0] * over;
    bend->t[1] = y[1] * over;
    bend->weight[0] = yield[2] * flat;
    bend->weight[1] = mu * n * yield[0] * over;
    gamma[0] = mu * n * bend->t[0];
    gamma[1] = mu * n * bend->t[1];
    gamma[2] = n;
    return 0.5 * (R[0] * mu * mu + R[2]) * n * n;
}

static double project_row(const sim_constraint *c, double step, double R, double yield, double y, double *gamma,
                          double *weight) {
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? step * c->bound : HUGE_VAL;
    double low = c->kind == SIM_LIMIT ? 0 : -bound;
    *gamma = fmin(fmax(y, low), bound);
    *weight = y > low && y < bound ? yield : 0;
    return fabs(y) > bound ? R * bound * (fabs(y) - 0.5 * bound) : 0.5 * R * *gamma * *gamma;
}

double convex_project(const convex_law *law, int i, const double *u, double *gamma, convex_bend *bend) {
    const sim_constraint *c = &law->problem->constraint[i];
    const double *R = law->R + c->row, *yield = law->yield + c->row, *target = law->target + c->row;
    if (c->kind == SIM_CONTACT) {
        double y[3] = {(target[0] - u[0]) * yield[0], (target[1] - u[1]) * yield[1], (target[2] - u[2]) * yield[2]};
        return project_contact(c->friction, R, yield, y, gamma, bend);
    }
    double cost = 0;
    *bend = (convex_bend){0};
    for (int k = 0; k < c->rows; k++) {
        if (yield[k] > 0) {
            double y = (target[k] - u[k]) * yield[k];
            cost += project_row(c, law->problem->step, R[k], yield[k], y, &gamma[k], &bend->weight[k]);
        } else {
            project_row(c, law->problem->step, 0, 0, law->constant[c->row + k], &gamma[k], &bend->weight[k]);
            cost -= gamma[k] * u[k];
        }
    }
    return cost;
}
