/* A block on an incline: sticks below the angle of friction, slides above it with g (sin a - mu cos a). */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>

static const double g = 9.81, dt = 1e-3;

/* The incline is the ground, gravity is turned. */
static yard block(const char *solver, double angle, double mu, sim_integrator integrator) {
    yard y = yard_begin(v3_make(g * sin(angle), 0, -g * cos(angle)), rough(mu));
    yard_ground(&y);
    yard_add(&y, "block", SIM_BOX, 0.2, 0.2, 0.1, 1, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    yard_open(&y, solver, integrator, dt);
    return y;
}

static double slides(const char *solver, double angle, double mu, int steps) {
    yard y = block(solver, angle, mu, SIM_SYMPLECTIC_EULER);
    for (int k = 0; k < steps; k++) {
        yard_step(&y);
    }
    double x = place_of(&y, "block").x;
    yard_end(&y);
    return x;
}

Test(incline, strict_solver_sticks_below_the_angle_of_friction_and_slides_above) {
    double mu = 0.5, a = atan(mu);
    cr_assert_lt(fabs(slides("pgs", atan(mu - 1e-3), mu, 1000)), 1e-9);
    double t = 1, above = atan(mu + 1e-3), x = slides("pgs", above, mu, 1000);
    double due = 0.5 * g * (sin(above) - mu * cos(above)) * t * (t + dt);
    cr_assert_float_eq(x, due, 1e-6 * due + 1e-9, "slid %.9g, not %.9g", x, due);
    x = slides("pgs", a + 0.3, mu, 1000);
    due = 0.5 * g * (sin(a + 0.3) - mu * cos(a + 0.3)) * t * (t + dt);
    cr_assert_float_eq(x, due, 1e-6 * due, "slid %.9g, not %.9g", x, due);
}

/* Friction is regularised: R_t = sigma w, so the block creeps at v = R_t m g sin(a) dt / n. */
Test(incline, convex_solver_creeps_as_its_regularisation_says) {
    double a = 0.3;
    yard y = block("sap", a, 0.8, SIM_SYMPLECTIC_EULER);
    for (int k = 0; k < 1000; k++) {
        yard_step(&y);
    }
    sim_motion m = motion_of(&y, "block");
    const sim_state *state = sim_world_state(y.world);
    cr_assert_eq(state->ncontact, 4);
    /* w of a corner contact: W = 1/m + (r x e) I^-1 (r x e), root of the mean square of its nine numbers */
    double I[3] = {(0.04 + 0.01) / 12, (0.04 + 0.01) / 12, 0.08 / 12}, sum = 0;
    v3 r = {0.1, 0.1, -0.05}, axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            v3 x = v3_cross(r, axis[i]), z = v3_cross(r, axis[j]);
            double W = (i == j) + x.x * z.x / I[0] + x.y * z.y / I[1] + x.z * z.z / I[2];
            sum += W * W;
        }
    }
    double creep = 1e-3 * (sqrt(sum) / 3) * g * sin(a) * dt / 4;
    cr_assert_float_eq(m.lin.x, creep, 0.01 * creep, "creeps at %g, not %g", m.lin.x, creep);
    yard_end(&y);
}

Test(incline, block_pushed_in_any_direction_slides_straight) {
    for (int k = 0; k < 16; k++) {
        double along = 2 * M_PI * k / 16 + 0.1;
        for (int s = 0; s < 2; s++) {
            yard y = yard_begin(v3_make(0, 0, -g), rough(0.3));
            yard_ground(&y);
            double gliding = s ? 2 * dt * 0.3 : 0;
            y.options.contact_margin = 2e-3;
            yard_add(&y, "block", SIM_BOX, 0.2, 0.2, 0.05, 1, v3_make(0, 0, 0.025 + gliding),
                     v3_make(cos(along), sin(along), 0));
            yard_open(&y, s ? "sap" : "pgs", SIM_SYMPLECTIC_EULER, dt);
            for (int i = 0; i < 200; i++) {
                yard_step(&y);
            }
            v3 v = motion_of(&y, "block").lin;
            double off = fabs(-sin(along) * v.x + cos(along) * v.y);
            cr_assert_lt(off, 1e-3, "%s: %g rad: %g m/s sideways", s ? "sap" : "pgs", along, off);
            yard_end(&y);
        }
    }
}
