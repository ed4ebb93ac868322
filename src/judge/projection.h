/* Projection on the set K of impulses of a constraint, and the natural map.
 *
 *     contact              K = { |g_t| <= mu g_n }
 *     limit                g >= 0
 *     friction, actuator   |g| <= bound
 *     equality, spring     any
 *
 * Impulse and velocity obey the law where gamma = P_K(gamma - rho s), for any rho > 0; contacts the strict law where
 * this holds with s + (0, 0, mu |s_t|) in place of s (De Saxce).  The difference of the two sides, the natural map
 * F(rho), measures their distance from it.
 *
 * F is taken in units of velocity here, with w = 1 / rho:  F / rho = w gamma - P_wK(w gamma - s), where wK is K for a
 * cone and w times as wide for a bound.  That holds for w = 0 too, a constraint that nothing moves. */
#ifndef JUDGE_PROJECTION_H
#define JUDGE_PROJECTION_H

#include "math/dense.h"

#include <math.h>
#include <sim/problem.h>

static inline simd4 lane_length(simd4 x, simd4 y) {
    simd4 square = x * x + y * y;
    return (simd4){sqrt(square[0]), sqrt(square[1]), sqrt(square[2]), sqrt(square[3])};
}

/* y <- P_K y, four vectors at once.  The polar cone goes last, as at mu = 0 it alone catches y_n < 0 with y_t = 0. */
static inline void project_cones(double mu, simd4 y[3]) {
    const simd4 none = {0, 0, 0, 0};
    simd4 r = lane_length(y[0], y[1]), normal = (y[2] + mu * r) * (1 / (1 + mu * mu)), shrink = mu * normal / r;
    simd4_mask sticks = r <= mu * y[2], opens = y[2] <= -mu * r;
    y[0] = simd4_select(opens, none, simd4_select(sticks, y[0], shrink * y[0]));
    y[1] = simd4_select(opens, none, simd4_select(sticks, y[1], shrink * y[1]));
    y[2] = simd4_select(opens, none, simd4_select(sticks, y[2], normal));
}

/* y <- Pi y of Lee et al. 2024: the normal first, then the disc of the friction that this normal allows. */
static inline void project_nested(double mu, simd4 y[3]) {
    const simd4 none = {0, 0, 0, 0};
    simd4 normal = simd4_select(y[2] > 0, y[2], none), r = lane_length(y[0], y[1]), shrink = mu * normal / r;
    simd4_mask slides = r > mu * normal;
    y[0] = simd4_select(slides, shrink * y[0], y[0]);
    y[1] = simd4_select(slides, shrink * y[1], y[1]);
    y[2] = normal;
}

typedef void (*cone_projection)(double mu, simd4 y[3]);

/* |w gamma - P(w gamma - s)|^2 of a contact, for four w and s. */
static inline simd4 contact_maps(cone_projection project, double mu, simd4 w, const double *gamma, const simd4 s[3]) {
    simd4 y[3], sum = {0, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        y[k] = w * gamma[k] - s[k];
    }
    project(mu, y);
    for (int k = 0; k < 3; k++) {
        simd4 d = w * gamma[k] - y[k];
        sum += d * d;
    }
    return sum;
}

static inline double clamp(double y, double bound) { return y > bound ? bound : y < -bound ? -bound : y; }

/* |w gamma - P_wK(w gamma - s)|^2 of other constraints. */
static inline double row_map(const sim_constraint *c, double step, double w, const double *gamma, const double *s) {
    double bound = w > 0 ? w * step * c->bound : 0, sum = 0; /* the bound may be infinite */
    for (int k = 0; k < c->rows; k++) {
        double y = w * gamma[k] - s[k];
        if (c->kind == SIM_LIMIT) {
            y = y > 0 ? y : 0;
        } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
            y = clamp(y, bound);
        }
        sum += (w * gamma[k] - y) * (w * gamma[k] - y);
    }
    return sum;
}

#endif
