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
#include "solver/cone_convex.h"

#include <math.h>

static const convex_bend straight;

static double project_contact(double mu, const double *R, const double *yield, const double *y, double *gamma,
                              convex_bend *bend) {
    if (mu == 0) {
        double n = fmax(0, y[2]);
        gamma[0] = gamma[1] = 0;
        gamma[2] = n;
        bend->weight[2] = n > 0 ? yield[2] : 0;
        return 0.5 * R[2] * n * n;
    }
    double r = sqrt(y[0] * y[0] + y[1] * y[1]), mh = mu * R[0] * yield[2];
    if (r <= mu * y[2]) {
        for (int k = 0; k < 3; k++) {
            gamma[k] = y[k];
            bend->weight[k] = yield[k];
        }
        return 0.5 * (R[0] * r * r + R[2] * y[2] * y[2]);
    }
    if (y[2] <= -mh * r) {
        gamma[0] = gamma[1] = gamma[2] = 0;
        return 0;
    }
    double flat = 1 / (1 + mu * mh), n = (y[2] + mh * r) * flat;
    bend->sliding = 1;
    for (int k = 0; k < 2; k++) {
        bend->t[k] = y[k] / r;
        gamma[k] = mu * n * bend->t[k];
    }
    gamma[2] = n;
    bend->weight[0] = yield[2] * flat;
    bend->weight[1] = mu * n * yield[0] / r;
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
    double y[SIM_MAX_ROWS], cost = 0;
    for (int k = 0; k < c->rows; k++) {
        y[k] = (target[k] - u[k]) * yield[k];
    }
    *bend = straight;
    if (c->kind == SIM_CONTACT) {
        return project_contact(c->friction, R, yield, y, gamma, bend);
    }
    for (int k = 0; k < c->rows; k++) {
        if (yield[k] > 0) {
            cost += project_row(c, law->problem->step, R[k], yield[k], y[k], &gamma[k], &bend->weight[k]);
        } else {
            project_row(c, law->problem->step, 0, 0, law->constant[c->row + k], &gamma[k], &bend->weight[k]);
            cost -= gamma[k] * u[k];
        }
    }
    return cost;
}

double convex_curvature(const sim_constraint *c, const convex_bend *bend, const double *du) {
    const double *w = bend->weight, *t = bend->t;
    if (bend->sliding) {
        double a = c->friction * (t[0] * du[0] + t[1] * du[1]) + du[2], b = t[0] * du[1] - t[1] * du[0];
        return w[0] * a * a + w[1] * b * b;
    }
    double sum = 0;
    for (int k = 0; k < c->rows; k++) {
        sum += w[k] * du[k] * du[k];
    }
    return sum;
}

double convex_increment(const sim_constraint *c, const convex_bend *from, const convex_bend *to, double alpha,
                        const double *du, const double *gamma_from, const double *gamma_to) {
    double sum = 0;
    for (int k = 0; k < c->rows; k++) {
        int linear = !from->sliding && !to->sliding && from->weight[k] > 0 && from->weight[k] == to->weight[k];
        sum += linear ? -alpha * from->weight[k] * du[k] * du[k] : du[k] * (gamma_to[k] - gamma_from[k]);
    }
    return sum;
}
