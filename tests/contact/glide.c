/* A box that slides under the convex law.
 *
 * A body that slides at v glides at the gap (dt + tau) mu v. A box that glides has two contacts at x = +-b, at h below
 * its middle. The law and the impulses have one row, J = (-mu, 1, mu h - x), and the gaps another, N = (0, 1, -x):
 *
 *     A (v' - v) = J' gamma + dt f,   J v' = -phi / T - rho gamma,   phi' = phi + dt N v',   T = dt + tau.
 *
 * Where contacts hardly yield, rho -> 0, the two lines of the law differ by 2 b w' = (phi+ - phi-) / T: a tilt shrinks
 * by 1 - dt / T in every step, whatever the shape and the friction.  So nothing may rock while the contacts stay in the
 * problem, though the box glides far above the margin within which shapes count as touching. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double g = 9.81, dt = 1e-3;

/* ---- the map of one step, in the plane ---- */

enum { STATE = 5 }; /* velocities v = (x, z, w), gaps over T */

typedef struct glider {
    double mu, h, beta, wait, travel; /* h over b, tau over dt; gaps move with v + travel (v' - v) */
} glider;

/* Mass 1, b = 1, the inertia of a solid box; R of the near-rigid law with w of the contact's 2 x 2 block. */
static void glide_once(const glider *g0, const double *s, double *next) {
    double mu = g0->mu, h = g0->h, inertia = (1 + h * h) / 3, G[2][2], rhs[2], gamma[2], v[3];
    double W[3] = {1 + h * h / inertia, 1 + 1 / inertia, h / inertia};
    double w = sqrt(W[0] * W[0] + W[1] * W[1] + 2 * W[2] * W[2]) / 2;
    double rho = (g0->beta * g0->beta / (4 * M_PI * M_PI) + mu * mu * 1e-3) * w;
    for (int i = 0; i < 2; i++) {
        double a = mu * h - (i ? -1 : 1);
        for (int j = 0; j < 2; j++) {
            G[i][j] = mu * mu + 1 + a * (mu * h - (j ? -1 : 1)) / inertia + (i == j ? rho : 0);
        }
        rhs[i] = -s[3 + i] - (-mu * s[0] + s[1] + a * s[2]);
    }
    double det = G[0][0] * G[1][1] - G[0][1] * G[1][0];
    gamma[0] = (G[1][1] * rhs[0] - G[0][1] * rhs[1]) / det;
    gamma[1] = (G[0][0] * rhs[1] - G[1][0] * rhs[0]) / det;
    next[0] = s[0] - mu * (gamma[0] + gamma[1]);
    next[1] = s[1] + gamma[0] + gamma[1];
    next[2] = s[2] + ((mu * h - 1) * gamma[0] + (mu * h + 1) * gamma[1]) / inertia;
    for (int k = 0; k < 3; k++) {
        v[k] = s[k] + g0->travel * (next[k] - s[k]);
    }
    for (int i = 0; i < 2; i++) {
        next[3 + i] = s[3 + i] + (v[1] - (i ? -1 : 1) * v[2]) / (1 + g0->wait);
    }
}

static double square(double A[STATE][STATE]) {
    double B[STATE][STATE], change = 0;
    for (int i = 0; i < STATE; i++) {
        for (int j = 0; j < STATE; j++) {
            B[i][j] = 0;
            for (int k = 0; k < STATE; k++) {
                B[i][j] += A[i][k] * A[k][j];
            }
        }
    }
    for (int i = 0; i < STATE; i++) {
        for (int j = 0; j < STATE; j++) {
            change = fmax(change, fabs(B[i][j] - A[i][j]));
        }
    }
    memcpy(A, B, sizeof B);
    return change;
}

/* After 2^15 steps and after 2^16 the same, and not nothing: all eigenvalues lie within the unit circle, but for the 1
 * of the speed itself.  The step cancels out.  mu h < b: else the box tips. */
static int settles(const glider *g0) {
    double A[STATE][STATE], change = 1;
    for (int j = 0; j < STATE; j++) {
        double unit[STATE] = {0}, column[STATE];
        unit[j] = 1;
        glide_once(g0, unit, column);
        for (int i = 0; i < STATE; i++) {
            A[i][j] = column[i];
        }
    }
    for (int k = 0; k < 16; k++) {
        change = square(A);
    }
    return change < 1e-6;
}

Test(glide, of_two_contacts_is_stable_whatever_the_shape_the_friction_and_the_law) {
    const double beta[] = {0.01, 0.1, 0.5, 1, 2, 5}, wait[] = {0.1, 1, 3, 50};
    const double mu[] = {0.05, 0.1, 0.3, 0.5, 0.8, 1, 1.5}, h[] = {0.05, 0.2, 0.5, 0.9, 1.3, 2, 3};
    int cases = 0;
    for (int k = 0; k < 6 * 4 * 7 * 7 * 2; k++) {
        glider g0 = {mu[k / 8 % 7], h[k / 56 % 7], beta[k / 392], wait[k / 2 % 4], k % 2 ? 0.5 : 1};
        if (g0.mu * g0.h < 1) {
            cr_assert(settles(&g0), "mu %g, h %g, beta %g, tau %g, travel %g", g0.mu, g0.h, g0.beta, g0.wait,
                      g0.travel);
            cases++;
        }
    }
    cr_assert_gt(cases, 1500);
}

/* ---- the box ---- */

static yard sliding_box(double mu, double v, double above, sim_integrator integrator, double beta, double margin) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(mu));
    yard_ground(&y);
    yard_add(&y, "box", SIM_BOX, 0.2, 0.2, 0.1, 2, v3_make(0, 0, 0.05 + above), v3_make(v, 0, 0));
    y.options.law.beta = beta;
    y.options.law.sigma *= beta * beta;
    y.options.contact_margin = margin;
    y.tolerance = 1e-10;
    yard_open(&y, "sap", integrator, dt);
    return y;
}

/* About y, of a box that has turned little. */
static double tilt_of(const yard *y) { return 2 * sim_world_state(y->world)->q[5]; }

static void tilt(yard *y, double angle) {
    sim_state state = *sim_world_state(y->world);
    sim_error error = {0};
    double q[7];
    memcpy(q, state.q, sizeof q);
    q[3] = cos(angle / 2);
    q[5] = sin(angle / 2);
    state.q = q;
    cr_assert_eq(sim_world_set_state(y->world, &state, &error), SIM_OK, "%s", error.text);
}

Test(glide, of_a_box_that_is_tilted_halves_the_tilt_in_every_step) {
    const double friction[] = {0.1, 0.3, 0.8};
    for (int k = 0; k < 3; k++) {
        double mu = friction[k], v = 2;
        yard y = sliding_box(mu, v, 2 * dt * mu * v, SIM_SYMPLECTIC_EULER, 0.01, 0.01);
        tilt(&y, 1e-5);
        double before = tilt_of(&y);
        for (int i = 0; i < 8; i++) {
            yard_step(&y);
            double now = tilt_of(&y);
            cr_assert_float_eq(now / before, 0.5, 0.02, "friction %g, step %d: %g after %g", mu, i, now, before);
            before = now;
        }
        yard_end(&y);
    }
}

/* At 2 m/s it glides 0.7 mm above the ground or less, the margin is 0.15 mm. It hops, and rocks until it has landed
 * with all corners, at 0.28 s. */
Test(glide, of_a_box_that_hops_and_lands_is_smooth_from_then_on_with_every_integrator) {
    double mu = 0.3, v = 2, stops = v / (mu * g);
    for (int i = 0; i < SIM_RK4; i++) {
        yard y = sliding_box(mu, v, 0, (sim_integrator)i, 1, NAN);
        double spin = 0;
        int least = 4;
        for (int k = 0; k < (int)(1.1 * stops / dt); k++) {
            yard_step(&y);
            sim_motion m = motion_of(&y, "box");
            if (k * dt > 0.3) {
                spin = fmax(spin, v3_norm(m.ang));
                least = sim_world_info(y.world)->contacts < least ? sim_world_info(y.world)->contacts : least;
            }
            if (k * dt > 0.3 && k * dt < 0.95 * stops) {
                double gap = place_of(&y, "box").z - 0.05, due = 2 * dt * mu * m.lin.x;
                cr_assert_float_eq(gap, due, 0.05 * due + 2e-5, "glides at %g m, not %g", gap, due);
            }
        }
        cr_assert_lt(spin, 0.02, "%s rocks at %g rad/s", sim_integrator_name((sim_integrator)i), spin);
        cr_assert_eq(least, 4, "%s loses contacts: %d", sim_integrator_name((sim_integrator)i), least);
        cr_assert_float_eq(motion_of(&y, "box").lin.x, 0, 1e-3);
        yard_end(&y);
    }
}

/* A ball that flies past an edge, nearer than the gap at which it would glide on the face, is let past. */
Test(glide, is_of_what_touches_and_not_of_what_passes_by) {
    yard y = yard_begin(v3_make(0, 0, 0), rough(0.5));
    sim_shape ledge = sim_shape_default();
    ledge.type = SIM_BOX;
    ledge.body = 0;
    ledge.size[0] = ledge.size[1] = ledge.size[2] = 1;
    ledge.material = y.material;
    sim_builder_add_shape(y.builder, &ledge);
    yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(-1, 0, 0.6 + 1e-3), v3_make(10, 0, 0));
    yard_open(&y, "sap", SIM_MIDPOINT, dt);
    for (int k = 0; k < 200; k++) {
        yard_step(&y);
    }
    sim_motion m = motion_of(&y, "ball");
    cr_assert(m.lin.x == 10 && m.lin.z == 0, "leaves at %g m/s, upwards at %g", m.lin.x, m.lin.z);
    yard_end(&y);
}

/* On a slope of tan a = mu, where nothing changes the speed of what slides: in the end it glides at one height and one
 * speed, whether it was set down sliding and hopped or came from above. */
Test(glide, of_what_lands_on_a_slope_goes_on_without_hops) {
    const sim_shape_type type[] = {SIM_CYLINDER, SIM_BOX, SIM_CYLINDER};
    for (int k = 0; k < 12; k += is_part() ? 5 : 1) {
        double mu = k % 2 ? 0.5 : 0.2, above = k / 2 % 2 ? 0.02 : 0, slope = atan(mu);
        sim_shape_type shape = type[k / 4];
        double half = shape == SIM_BOX ? 0.05 : 0.015;
        yard y = yard_begin(v3_make(g * sin(slope), 0, -g * cos(slope)), rough(mu));
        yard_ground(&y);
        if (shape == SIM_BOX) {
            yard_add(&y, "body", shape, 0.2, 0.2, 0.1, 2, v3_make(0, 0, half + above), v3_make(2, 0, 0));
        } else {
            yard_add(&y, "body", shape, 0.05, 0.03, 0, 0.2, v3_make(0, 0, half + above), v3_make(2, 0, 0));
        }
        yard_open(&y, "sap", k / 8 ? SIM_SYMPLECTIC_EULER : SIM_MIDPOINT, dt);
        double low = HUGE_VAL, high = 0, fast = 0, slow = HUGE_VAL;
        for (int i = 0; i < 3000; i++) {
            yard_step(&y);
            if (i >= 1500) {
                double gap = place_of(&y, "body").z - half, v = motion_of(&y, "body").lin.x;
                low = fmin(low, gap);
                high = fmax(high, gap);
                slow = fmin(slow, v);
                fast = fmax(fast, v);
            }
        }
        cr_expect(high - low < 1e-4, "mu %g, from %g m: glides from %g to %g m", mu, above, low, high);
        cr_expect(fast - slow < 0.02 * slow, "mu %g, from %g m: at %g to %g m/s", mu, above, slow, fast);
        cr_expect_float_eq(high, 2 * dt * mu * fast, 0.05 * high, "mu %g: %g m", mu, high);
        yard_end(&y);
    }
}

/* Set down sliding: u_n = mu |u_t| in the first step, and then a throw. */
Test(glide, of_what_is_set_down_sliding_begins_with_a_hop_of_known_height) {
    for (int k = 0; k < 4; k++) {
        double mu = k % 2 ? 0.5 : 0.2, v = k / 2 ? 5 : 2, up = mu * v / (1 + mu * mu), high = 0;
        yard y = yard_begin(v3_make(0, 0, -g), rough(mu));
        yard_ground(&y);
        yard_add(&y, "puck", SIM_CYLINDER, 0.05, 0.03, 0, 0.2, v3_make(0, 0, 0.015), v3_make(v, 0, 0));
        yard_open(&y, "sap", SIM_MIDPOINT, dt);
        for (int i = 0; i < 500; i++) {
            yard_step(&y);
            high = fmax(high, place_of(&y, "puck").z - 0.015);
        }
        cr_expect_float_eq(high, up * up / (2 * g), 0.03 * high, "mu %g, %g m/s: %g m", mu, v, high);
        yard_end(&y);
    }
}
