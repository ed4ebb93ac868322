/* A falling body is stopped at the surface, and bounces as its restitution says, with every integrator. */
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
    for (int i = 0; i < 2 * SIM_RK4; i++) {
        const char *solver = i < SIM_RK4 ? "pgs" : "sap";
        sim_integrator integrator = (sim_integrator)(i % SIM_RK4);
        for (int start = 0; start < 5; start++) {
            double h = 1 + 0.0123 * start, apex = 0, before = 0;
            surface s = rough(0);
            s.restitution = e;
            yard y = yard_begin(v3_make(0, 0, -g), s);
            yard_ground(&y);
            yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, h + 0.1), v3_make(0, 0, 0));
            yard_open(&y, solver, integrator, dt);
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
                cr_assert_float_eq(reached[k], due, 3 * dt * speed, "%s, %s from %g m: apex %d at %g, not %g m", solver,
                                   sim_integrator_name(integrator), h, k, reached[k], due);
            }
            yard_end(&y);
        }
    }
}

/* A box that lands flat on its four corners, dropped from 1 m. */
Test(impact, box_bounces_off_all_its_corners_at_once) {
    for (int k = 0; k < 2; k++) {
        surface s = rough(0.5);
        s.restitution = 0.8;
        yard y = yard_begin(v3_make(0, 0, -g), s);
        yard_ground(&y);
        yard_add(&y, "box", SIM_BOX, 0.2, 0.2, 0.1, 2, v3_make(0, 0, 1.05), v3_make(0, 0, 0));
        yard_open(&y, k ? "sap" : "pgs", SIM_MIDPOINT, 1e-3);
        double apex = 0;
        for (int i = 0; i < 900; i++) {
            yard_step(&y);
            apex = i > 460 ? fmax(apex, place_of(&y, "box").z - 0.05) : 0;
        }
        cr_expect_float_eq(apex, 0.64, 5e-3, "%s: %g m", k ? "sap" : "pgs", apex);
        yard_end(&y);
    }
}

/* A body that strikes fast and slides: no strike adds energy, by either law of friction, but for m g dt v. */
Test(impact, what_slides_as_it_bounces_gains_nothing) {
    for (int k = 0; k < 24; k++) {
        surface s = rough(0.1 + 0.3 * (k % 3));
        s.restitution = k / 3 % 2 ? 1 : 0.8;
        yard y = yard_begin(v3_make(0, 0, -g), s);
        yard_ground(&y);
        yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 0.5), v3_make(k / 6 % 2 ? 10 : 2, 0, 0));
        yard_add(&y, "box", SIM_BOX, 0.2, 0.2, 0.1, 2, v3_make(0, 2, 0.5), v3_make(k / 6 % 2 ? 10 : 2, 0, 0));
        yard_open(&y, k / 12 ? "sap" : "pgs", SIM_SYMPLECTIC_EULER, 1e-3);
        double most = energy_of(&y), before = most;
        for (int i = 0; i < 1500; i++) {
            yard_step(&y);
            double now = energy_of(&y);
            cr_assert_lt(now, most + 3 * g * 1e-3 * 5, "%s, friction %g: from %g J to %g", k / 12 ? "sap" : "pgs",
                         s.friction, before, now);
            most = fmin(most, now);
        }
        yard_end(&y);
    }
}
