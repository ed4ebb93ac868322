/* Which impulses may a constraint have, and which of them is nearest to y?
 *
 *     contact              K = { |g_t| <= mu g_n }
 *     limit                g >= 0
 *     friction, actuator   |g| <= bound
 *     equality, spring     any
 *
 * Impulse and velocity are as the law asks where gamma = P_K(gamma - rho s), for any rho > 0; of a contact under the
 * strict law where this holds with s + (0, 0, mu |s_t|) in place of s (De Saxce).  The difference of the two sides, the
 * natural map F(rho), tells how far they are from it.
 *
 * Here F is taken in units of velocity, with w = 1 / rho:  F / rho = w gamma - P_wK(w gamma - s), where wK is K for a cone
 * and w times as wide for a bound.  That holds for w = 0 too, a constraint that nothing moves. */
#ifndef JUDGE_PROJECTION_H
#define JUDGE_PROJECTION_H

#include <math.h>
#include <sim/problem.h>

/* y <- P_K y.  The polar cone goes first: at mu = 0 it alone catches y_n < 0 with y_t = 0. */
static inline void project_cone(double mu, double *y) {
    double r = sqrt(y[0] * y[0] + y[1] * y[1]);
    if (y[2] <= -mu * r) {
        y[0] = y[1] = y[2] = 0;
    } else if (r > mu * y[2]) {
        double normal = (y[2] + mu * r) / (1 + mu * mu), shrink = mu * normal / r;
        y[0] *= shrink;
        y[1] *= shrink;
        y[2] = normal;
    }
}

/* y <- Pi y of Lee et al. 2024: the normal first, then the disc of the friction that this normal allows. */
static inline void project_nested(double mu, double *y) {
    double r = sqrt(y[0] * y[0] + y[1] * y[1]);
    y[2] = y[2] > 0 ? y[2] : 0;
    if (r > mu * y[2]) {
        y[0] *= mu * y[2] / r;
        y[1] *= mu * y[2] / r;
    }
}

static inline double clamp(double y, double bound) { return y > bound ? bound : y < -bound ? -bound : y; }

/* y <- P_wK y */
static inline void project(const sim_constraint *c, double step, double w, double *y) {
    if (c->kind == SIM_CONTACT) {
        project_cone(c->friction, y);
        return;
    }
    double bound = w > 0 ? w * step * c->bound : 0; /* which may be infinite */
    for (int k = 0; k < c->rows; k++) {
        if (c->kind == SIM_LIMIT) {
            y[k] = y[k] > 0 ? y[k] : 0;
        } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
            y[k] = clamp(y[k], bound);
        }
    }
}

/* |w gamma - P_wK(w gamma - s)|^2 */
static inline double natural_map(const sim_constraint *c, double step, double w, const double *gamma, const double *s) {
    double y[SIM_MAX_ROWS], sum = 0;
    for (int k = 0; k < c->rows; k++) {
        y[k] = w * gamma[k] - s[k];
    }
    project(c, step, w, y);
    for (int k = 0; k < c->rows; k++) {
        double d = w * gamma[k] - y[k];
        sum += d * d;
    }
    return sum;
}

#endif
