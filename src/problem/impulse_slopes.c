/* Slopes of the impulse of a constraint by its velocity and compliance, R > 0.
 *
 *     rows alone    gamma = clamp(z / R, low, high)
 *     contact, with r = |z_t|, t = z_t / r
 *         stick     r / R_t <= mu z_n / R_n      gamma = z / R
 *         open      z_n <= 0 (strict), z_n <= -mu r (convex)      gamma = 0
 *         slide     gamma_n = (z_n + mu r) / K,  K = R_n + mu^2 R_t   (convex);   z_n / R_n   (strict)
 *                   gamma_t = mu gamma_n t
 *
 *     z = target - u    velocity that a row lacks, m/s
 *
 * Both laws are explicit in z: in the strict one s_t = -z_t + R_t gamma_t opposes gamma_t, so both lie along z_t.
 * Reference: src/solver/core/cone_convex.c; docs/contact.md.  Cost: some twenty operations a contact. */
#include "problem/law_slopes.h"

#include <math.h>

static const double KINK_WIDTH = 1e-9; /* relative distance from the end of a piece of the law */

static void stick(const double *z, const double *R, impulse_slopes *out) {
    for (int k = 0; k < SIM_CONTACT_ROWS; k++) {
        out->G[k][k] = 1 / R[k];
        out->by_R[k][k] = -z[k] / (R[k] * R[k]);
    }
}

/* gamma_n = n with slopes by z_n, r, R_n, R_t and mu; gamma_t = mu n t. */
static void slide(double mu, const double *z, double r, double n, const double slope[5], impulse_slopes *out) {
    const double t[2] = {z[0] / r, z[1] / r};
    out->G[2][2] = slope[0];
    out->by_R[2][2] = slope[2];
    out->by_R[2][0] = slope[3];
    out->by_friction[2] = slope[4];
    for (int i = 0; i < 2; i++) {
        out->G[2][i] = slope[1] * t[i];
        out->G[i][2] = mu * t[i] * slope[0];
        out->by_R[i][2] = mu * t[i] * slope[2];
        out->by_R[i][0] = mu * t[i] * slope[3];
        out->by_friction[i] = t[i] * (n + mu * slope[4]);
        for (int j = 0; j < 2; j++) {
            out->G[i][j] = mu * t[i] * slope[1] * t[j] + mu * n / r * ((i == j) - t[i] * t[j]);
        }
    }
}

/* To rounding, or within `near`. */
static bool is_near(double a, double b, double near) {
    return fabs(a - b) <= fmax(near, KINK_WIDTH * fmax(fabs(a), fabs(b)));
}

/* The piece of the law that z lies on, and its slopes. */
static void contact_slopes(double mu, sim_cone cone, const double *z, const double *R, double near,
                           impulse_slopes *out) {
    double r = hypot(z[0], z[1]), K = R[2] + mu * mu * R[0];
    bool convex = cone == SIM_CONE_CONVEX, open = convex ? z[2] <= -mu * r : z[2] <= 0;
    double across = near * hypot(1 / R[0], mu / R[2]); /* of the edge of the cone, where z moves by `near` */
    out->kink = mu > 0 && is_near(r / R[0], mu * z[2] / R[2], across);
    out->kink |= convex ? is_near(z[2], -mu * r, near * hypot(1, mu)) : fabs(z[2]) <= fmax(near, KINK_WIDTH * r);
    if (open) {
        return;
    }
    if (mu > 0 && r / R[0] <= mu * z[2] / R[2]) {
        stick(z, R, out);
        return;
    }
    if (r == 0) {
        out->G[2][2] = 1 / R[2];
        out->by_R[2][2] = -z[2] / (R[2] * R[2]);
        return;
    }
    double n = convex ? (z[2] + mu * r) / K : z[2] / R[2];
    const double by_convex[5] = {1 / K, mu / K, -n / K, -n * mu * mu / K, (r - 2 * mu * R[0] * n) / K},
                 by_strict[5] = {1 / R[2], 0, -n / R[2], 0, 0};
    slide(mu, z, r, n, convex ? by_convex : by_strict, out);
}

void law_impulse_slopes(const sim_constraint *c, double step, sim_cone cone, const double *z, const double *R,
                        double near, impulse_slopes *out) {
    /* contacts; then rows of their own */
    *out = (impulse_slopes){0};
    if (sim_contact_turns(c) && c->kind == SIM_CONTACT) {
        law_disc_slopes(c, cone, z, R, near, out);
        return;
    }
    if (c->kind == SIM_CONTACT) {
        contact_slopes(c->friction, cone, z, R, near, out);
        return;
    }
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? step * c->bound : HUGE_VAL;
    double low = c->kind == SIM_LIMIT ? 0 : -bound;
    for (int k = 0; k < c->rows; k++) {
        double y = z[k] / R[k];
        out->kink |= c->kind == SIM_LIMIT && fabs(z[k]) <= near;
        out->kink |= isfinite(bound) && is_near(fabs(y), bound, near / R[k]);
        if (y > low && y < bound) {
            out->G[k][k] = 1 / R[k];
            out->by_R[k][k] = -y / R[k];
        }
    }
}
