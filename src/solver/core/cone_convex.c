/* Convex contact law: projection of one constraint, its cost and Hessian block.
 *
 *     y = (target - u) / R,    gamma = P(y), nearest to y in the norm of R within the cone or bounds
 *     cost(u) = |P(y)|_R^2 / 2,    d cost / d u = -gamma,    G = -d gamma / d u
 *
 * Contact, with r = |y_t|, t = y_t / r, mh = mu R_t / R_n:
 *
 *     stick   r <= mu y_n     gamma = y                                         G = 1 / R
 *     open    y_n <= -mh r    gamma = 0                                         G = 0
 *     slide   otherwise       gamma_n = (y_n + mh r) / (1 + mu mh),  gamma_t = mu gamma_n t
 *             G = a a' / (R_n (1 + mu mh)) + mu gamma_n / (R_t r) b b',    a = (mu t, 1),  b = (-t_2, t_1, 0)
 *
 * Without friction gamma_n = max(0, y_n), whatever y_t is.  The rows of other constraints are independent: equality and
 * spring gamma = y; limit gamma = max(0, y); friction and actuator clamp y to L = dt bound, with the cost
 * R (|y| L - L^2 / 2) beyond.
 *
 * Reference: Castro, Permenter, Han 2021, eqs. 23, 24, 27, appendix C.
 * Differs from the paper: eq. 27 divides gamma_t once more by 1 + mu mh, which is not the projection; appendix C agrees
 * with the formula here. */
#include "solver/core/cone_convex.h"
#include "solver/core/cone_discs.h"

#include <math.h>

static double project_contact(double mu, const double *R, const double *over_R, const double *y, double *gamma,
                              cone_hessian *G) {
    static const cone_hessian open = {0};
    double rr = y[0] * y[0] + y[1] * y[1], mh = mu * R[0] * over_R[2], r;
    *G = open;
    gamma[0] = gamma[1] = gamma[2] = 0;
    /* no friction: gamma_n = max(0, y_n) */
    if (mu == 0) {
        double n = fmax(0, y[2]);
        gamma[2] = n;
        G->weight[2] = n > 0 ? over_R[2] : 0;
        return 0.5 * R[2] * n * n;
    }
    /* stick: y lies in the cone */
    r = sqrt(rr);
    if (r <= mu * y[2]) {
        for (int k = 0; k < 3; k++) {
            gamma[k] = y[k];
            G->weight[k] = over_R[k];
        }
        return 0.5 * (R[0] * rr + R[2] * y[2] * y[2]);
    }
    /* open: y lies in the polar cone */
    if (y[2] <= -mh * r) {
        return 0;
    }
    /* slide: the nearest point of the cone's surface */
    double flat = 1 / (1 + mu * mh), n = (y[2] + mh * r) * flat, over = 1 / r;
    G->sliding = 1;
    G->lean = mu;
    G->t[0] = y[0] * over;
    G->t[1] = y[1] * over;
    G->weight[0] = over_R[2] * flat;
    G->weight[1] = mu * n * over_R[0] * over;
    gamma[0] = mu * n * G->t[0];
    gamma[1] = mu * n * G->t[1];
    gamma[2] = n;
    return 0.5 * (R[0] * mu * mu + R[2]) * n * n;
}

static double project_row(const sim_constraint *c, double step, double R, double over_R, double y, double *gamma,
                          double *weight) {
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? step * c->bound : HUGE_VAL;
    double low = c->kind == SIM_LIMIT ? 0 : -bound;
    *gamma = fmin(fmax(y, low), bound);
    *weight = y > low && y < bound ? over_R : 0;
    return fabs(y) > bound ? R * bound * (fabs(y) - 0.5 * bound) : 0.5 * R * *gamma * *gamma;
}

double convex_project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G) {
    const sim_constraint *c = &law->problem->constraint[i];
    const double *R = law->R + c->row, *over_R = law->inverse_compliance + c->row, *target = law->target + c->row;
    /* contacts */
    if (c->kind == SIM_CONTACT && sim_contact_turns(c)) {
        double y[SIM_MAX_ROWS];
        for (int k = 0; k < c->rows; k++) {
            y[k] = (target[k] - u[k]) * over_R[k];
        }
        return discs_project_convex(c, R, y, gamma, G);
    }
    if (c->kind == SIM_CONTACT) {
        double y[3] = {(target[0] - u[0]) * over_R[0], (target[1] - u[1]) * over_R[1], (target[2] - u[2]) * over_R[2]};
        return project_contact(c->friction, R, over_R, y, gamma, G);
    }
    /* other rows, each alone */
    double cost = 0;
    *G = (cone_hessian){0};
    for (int k = 0; k < c->rows; k++) {
        if (over_R[k] > 0) {
            double y = (target[k] - u[k]) * over_R[k];
            cost += project_row(c, law->problem->step, R[k], over_R[k], y, &gamma[k], &G->weight[k]);
        } else {
            project_row(c, law->problem->step, 0, 0, law->constant[c->row + k], &gamma[k], &G->weight[k]);
            cost -= gamma[k] * u[k];
        }
    }
    return cost;
}
