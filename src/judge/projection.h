/* Projection on the set K of impulses of a constraint, and the natural map.
 *
 *     contact              K = { |g_t| <= mu g_n }
 *     ... and turning      K = { |g_k| <= mu_k g_n for each of its discs }
 *     limit                g >= 0
 *     friction, actuator   |g| <= bound
 *     equality, spring     any
 *
 * Impulse and velocity obey the law where gamma = P_K(gamma - rho s), for any rho > 0.  Contacts obey the strict law
 * where this holds with s + (0, 0, mu |s_t|) in place of s (De Saxce).  The difference of the two sides, the natural
 * map F(rho), measures their distance from it.
 *
 * F is taken in units of velocity here, with w = 1 / rho:  F / rho = w gamma - P_wK(w gamma - s), where wK is K for a
 * cone and w times as wide for a bound.  That holds for w = 0 too, a constraint that nothing moves. */
#ifndef JUDGE_PROJECTION_H
#define JUDGE_PROJECTION_H

#include "math/dense.h"

#include <math.h>
#include <sim/problem.h>
#include <stdbool.h>

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

/* ---- contacts that resist turning ---- */

static inline double disc_length(const sim_disc *d, const double *y) {
    double sum = 0;
    for (int r = d->row; r < d->row + d->rows; r++) {
        sum += y[r] * y[r];
    }
    return sqrt(sum);
}

/* g_n of the nearest point: where the distance |y - g| over all g with this g_n is least.  Its derivative
 * g_n - y_n - sum mu_k max(0, |y_k| - mu_k g_n) rises; the root lies on the line between two of the bends |y_k| / mu_k,
 * or after the last. */
static inline double nearest_normal(const sim_disc *disc, int count, const double *y) {
    double best = 0;
    for (unsigned set = 0; set < 1u << count; set++) { /* the discs that bound g */
        double top = y[2], slope = 1;
        bool consistent = true;
        for (int k = 0; k < count; k++) {
            double mu = set >> k & 1 ? disc[k].bound : 0;
            top += mu * disc_length(&disc[k], y);
            slope += mu * mu;
        }
        double g = top / slope;
        for (int k = 0; k < count; k++) {
            consistent = consistent && (set >> k & 1) == (disc_length(&disc[k], y) > disc[k].bound * g);
        }
        best = consistent && g > best ? g : best;
    }
    return best;
}

static inline void project_turning(const sim_disc *disc, int count, bool nested, double *y) {
    double normal = nested ? (y[2] > 0 ? y[2] : 0) : nearest_normal(disc, count, y);
    for (int k = 0; k < count; k++) {
        double length = disc_length(&disc[k], y), most = disc[k].bound * normal;
        for (int r = disc[k].row; r < disc[k].row + disc[k].rows; r++) {
            y[r] = length > most ? y[r] * (most / length) : y[r];
        }
    }
    y[2] = normal;
}

/* |w gamma - P(w gamma - s)|^2 of such a contact. */
static inline double turning_map(const sim_constraint *c, bool nested, double w, const double *gamma, const double *s) {
    sim_disc disc[SIM_MAX_DISCS];
    int count = sim_contact_discs(c, disc);
    double y[SIM_MAX_ROWS], sum = 0;
    for (int k = 0; k < c->rows; k++) {
        y[k] = w * gamma[k] - s[k];
    }
    project_turning(disc, count, nested, y);
    for (int k = 0; k < c->rows; k++) {
        sum += (w * gamma[k] - y[k]) * (w * gamma[k] - y[k]);
    }
    return sum;
}

/* The term that De Saxce adds to s_n: sum of mu_k |s_k|. */
static inline double turning_shift(const sim_constraint *c, const double *s) {
    sim_disc disc[SIM_MAX_DISCS];
    double sum = 0;
    for (int k = 0, count = sim_contact_discs(c, disc); k < count; k++) {
        sum += disc[k].bound * disc_length(&disc[k], s);
    }
    return sum;
}

static inline double clamp_to_bound(double y, double bound) { return y > bound ? bound : y < -bound ? -bound : y; }

/* |w gamma - P_wK(w gamma - s)|^2 of other constraints. */
static inline double row_map(const sim_constraint *c, double step, double w, const double *gamma, const double *s) {
    double bound = w > 0 ? w * step * c->bound : 0, sum = 0; /* the bound may be infinite */
    for (int k = 0; k < c->rows; k++) {
        double y = w * gamma[k] - s[k];
        if (c->kind == SIM_LIMIT) {
            y = y > 0 ? y : 0;
        } else if (c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) {
            y = clamp_to_bound(y, bound);
        }
        sum += (w * gamma[k] - y) * (w * gamma[k] - y);
    }
    return sum;
}

#endif
