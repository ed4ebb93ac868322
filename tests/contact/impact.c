/* What falls is stopped at the surface, and bounces as its restitution says, with every integrator. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>

static const double g = 9.81;

Test(impact, five_touching_balls_dropped_together_do_not_sink_in) {
    for (int i = 0; i < SIM_RK4; i++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        for (int k = 0; k < 5; k++) {
            char name[8] = {(char)('a' + k), 0};
            yard_add(&y, name, SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 0.6 + 0.2 * k), v3_make(0, 0, 0));
        }
        yard_open(&y, "pgs", (sim_integrator)i, 5e-3);
        double worst = 0;
        for (int k = 0; k < 200; k++) {
            yard_step(&y);
            worst = fmax(worst, deepest_overlap(&y));
        }
        cr_assert_lt(worst, 1e-4, "%s: %g m", sim_integrator_name((sim_integrator)i), worst);
        cr_assert_lt(fabs(motion_of(&y, "e").lin.z), 1e-6);
        yard_end(&y);
    }
}

Test(impact, ball_without_restitution_stays_down) {
    for (int i = 0; i < SIM_RK4; i++) {
        for (int s = 0; s < 2; s++) {
            yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
            yard_ground(&y);
            yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 0.4321), v3_make(0, 0, 0));
            yard_open(&y, s ? "sap" : "pgs", (sim_integrator)i, 5e-3);
            double top = 0, low = 0;
            int landed = 0;
            for (int k = 0; k < 200; k++) {
                yard_step(&y);
                landed |= sim_world_state(y.world)->ncontact > 0;
                double gap = place_of(&y, "ball").z - 0.1;
                top = landed ? fmax(top, k > 60 ? gap : 0) : 0;
                low = fmin(low, gap);
            }
            cr_assert_lt(top, 1e-3, "%s, %s: bounces to %g m", s ? "sap" : "pgs",
                         sim_integrator_name((sim_integrator)i), top);
            cr_assert_gt(low, s ? -2e-3 : -1e-6, "%s, %s: sinks in by %g m", s ? "sap" : "pgs",
                         sim_integrator_name((sim_integrator)i), -low);
            yard_end(&y);
        }
    }
}

/* The k-th apex of a ball dropped from h is e^2k h, within what a step covers. */
Test(impact, bounces_reach_the_heights_that_restitution_says) {
    const double e = 0.7, dt = 1e-3;
    for (int i = 0; i < SIM_RK4; i++) {
        for (int start = 0; start < 5; start++) {
            double h = 1 + 0.0123 * start, apex = 0, before = 0;
            surface s = rough(0);
            s.restitution = e;
            yard y = yard_begin(v3_make(0, 0, -g), s);
            yard_ground(&y);
            yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, h + 0.1), v3_make(0, 0, 0));
            yard_open(&y, "pgs", (sim_integrator)i, dt);
            int bounces = 0;
            double reached[4] = {0};
            for (int k = 0; k < 2500 && bounces < 4; k++) {
                yard_step(&y);
                double v = motion_of(&y, "ball").lin.z;
                bounces += before < 0 && v > 0;
                if (bounces > 0 && bounces < 4) {
                    apex = place_of(&y, "ball").z - 0.1;
                    reached[bounces] = fmax(reached[bounces], apex);
                }
                before = v;
            }
            for (int k = 1; k < 4; k++) {
                double due = pow(e, 2 * k) * h, speed = sqrt(2 * g * h);
                cr_assert_float_eq(reached[k], due, 3 * dt * speed, "%s from %g m: apex %d at %g, not %g m",
                                   sim_integrator_name((sim_integrator)i), h, k, reached[k], due);
            }
            yard_end(&y);
        }
    }
}
