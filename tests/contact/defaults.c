/* The default solver and law, with no option set: motions that must be right and figures that a user expects of them.
 * Runs of a minute and all shipped scenes: defaults_long.c. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81, steps[] = {1e-3, 1.0 / 240, 1e-2}; /* s; the default, of games, of coarse runs */
enum { STEPS = sizeof steps / sizeof *steps };

static void open_default(yard *y, double step) { yard_open(y, NULL, sim_options_default().integrator, step); }

static void run_until(yard *y, double time) {
    while (sim_world_state(y->world)->time < time - 1e-9) {
        yard_step(y);
    }
}

/* Friction does no work on a ball's moment about the contact: v = 5/7 v0. */
Test(defaults, a_sliding_ball_ends_rolling_at_five_sevenths) {
    for (int k = 0; k < STEPS; k++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 0.1), v3_make(2, 0, 0));
        open_default(&y, steps[k]);
        run_until(&y, 0.6);
        double error = motion_of(&y, "ball").lin.x / (2 * 5.0 / 7) - 1;
        cr_log_warn("step %g s: relative error of the velocity %.1e", steps[k], error);
        cr_expect_lt(fabs(error), 1e-8, "step %g s: %g", steps[k], error);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

Test(defaults, dropped_balls_overlap_by_less_than_ten_micrometres) {
    for (int k = 0; k < STEPS - 1; k++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        for (int i = 0; i < 5; i++) {
            char name[] = {'b', (char)('0' + i), 0};
            yard_add(&y, name, SIM_SPHERE, 0.05, 0, 0, 1 + i, v3_make(i, 0, 0.25 + 0.2 * i), v3_make(0, 0, 0));
        }
        open_default(&y, steps[k]);
        double deepest = 0;
        while (sim_world_state(y.world)->time < 3) {
            yard_step(&y);
            deepest = fmax(deepest, deepest_overlap(&y));
        }
        cr_log_warn("step %g s: overlap %.1e m", steps[k], deepest);
        cr_expect(deepest > 0 && deepest < 1e-5, "step %g s: %g m", steps[k], deepest);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* The incline is the ground, gravity is turned. */
static yard block_on_incline(double slope, double mu, double dt) {
    double angle = atan(slope);
    yard y = yard_begin(v3_make(g * sin(angle), 0, -g * cos(angle)), rough(mu));
    yard_ground(&y);
    yard_add(&y, "block", SIM_BOX, 0.4, 0.4, 0.2, 1, v3_make(0, 0, 0.1), v3_make(0, 0, 0));
    open_default(&y, dt);
    return y;
}

Test(defaults, a_block_at_95_percent_of_the_friction_angle_does_not_creep) {
    for (int k = 0; k < STEPS; k++) {
        yard y = block_on_incline(0.95 * 0.5, 0.5, steps[k]);
        run_until(&y, 1);
        double before = place_of(&y, "block").x;
        run_until(&y, 4);
        double creep = fabs(place_of(&y, "block").x - before) / 3;
        cr_log_warn("step %g s: creep %.1e m/s", steps[k], creep);
        cr_expect_lt(creep, 1e-9, "step %g s: %g m/s", steps[k], creep);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

Test(defaults, a_block_at_105_percent_of_it_slides_as_coulomb_says) {
    for (int k = 0; k < STEPS; k++) {
        double slope = 1.05 * 0.5, angle = atan(slope), due = g * (sin(angle) - 0.5 * cos(angle));
        yard y = block_on_incline(slope, 0.5, steps[k]);
        run_until(&y, 1);
        double v = motion_of(&y, "block").lin.x;
        run_until(&y, 2);
        double a = (motion_of(&y, "block").lin.x - v) / (sim_world_state(y.world)->time - 1);
        cr_log_warn("step %g s: acceleration off by %.1e of it", steps[k], a / due - 1);
        cr_expect_float_eq(a, due, 1e-2 * due, "step %g s: %g m/s2, not %g", steps[k], a, due);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* The convex law lifts a body that slides at v to the gap 2 dt mu v. */
Test(defaults, what_slides_does_not_lift_off) {
    for (int k = 0; k < STEPS; k++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        yard_add(&y, "box", SIM_BOX, 0.4, 0.4, 0.1, 1, v3_make(0, 0, 0.05), v3_make(3, 0, 0));
        yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 2, 0.1), v3_make(3, 0, 0));
        open_default(&y, steps[k]);
        double lift = 0;
        while (sim_world_state(y.world)->time < 1) {
            yard_step(&y);
            lift = fmax(lift, fmax(place_of(&y, "box").z - 0.05, place_of(&y, "ball").z - 0.1));
        }
        double convex = 2 * steps[k] * 0.5 * 3;
        cr_log_warn("step %g s: rises %.1e m; %.1e m by the convex law", steps[k], lift, convex);
        cr_expect_lt(lift, 1e-8, "step %g s: %g m", steps[k], lift);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

static yard stack_under(double load) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    for (int k = 0; k < 8; k++) {
        char name[] = {'b', (char)('0' + k), 0};
        yard_add(&y, name, SIM_BOX, 0.2, 0.2, 0.2, k < 7 ? 1 : load, v3_make(0, 0, 0.1 + 0.2 * k), v3_make(0, 0, 0));
    }
    open_default(&y, 1.0 / 240);
    return y;
}

/* Sixty seconds of them: defaults_long.c. */
Test(defaults, stacks_of_eight_bear_up_to_ten_thousand_times_their_parts) {
    for (int k = 5 - part_of(5); k < 5; k++) {
        yard y = stack_under(pow(10, k));
        run_until(&y, 5);
        v3 top = place_of(&y, "b7");
        cr_expect(fabs(top.z - 1.5) < 5e-4 && hypot(top.x, top.y) < 2e-3, "%g kg: top at %g %g %g m", pow(10, k), top.x,
                  top.y, top.z);
        cr_expect_eq(y.unsolved, 0, "%g kg: %d", pow(10, k), y.unsolved);
        yard_end(&y);
    }
}

/* ---- the same bits for any number of threads ---- */

/* Boxes and balls in heaps of their own, that fall on each other. */
static yard heaps(int threads) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(1));
    yard_ground(&y);
    for (int k = 0; k < 48; k++) {
        char name[8];
        snprintf(name, sizeof name, "b%d", k);
        v3 at = v3_make(0.5 * (k % 6), 0.01 * (k % 5), 0.08 + 0.12 * (double)(k / 6));
        yard_add(&y, name, k % 2 ? SIM_BOX : SIM_SPHERE, k % 2 ? 0.1 : 0.05, 0.1, 0.1, 1, at, v3_make(0, 0, 0));
    }
    y.options.threads = threads;
    open_default(&y, 1e-2);
    return y;
}

Test(defaults, one_two_and_four_threads_give_the_same_bits) {
    yard one = heaps(1), two = heaps(2), four = heaps(4);
    for (int k = 0; k < 150; k++) {
        yard_step(&one);
        yard_step(&two);
        yard_step(&four);
        const sim_state *a = sim_world_state(one.world), *b = sim_world_state(two.world),
                        *c = sim_world_state(four.world);
        size_t nq = (size_t)one.model->nq * sizeof *a->q, nv = (size_t)one.model->nv * sizeof *a->v;
        cr_assert(!memcmp(a->q, b->q, nq) && !memcmp(a->v, b->v, nv), "two threads, step %d", k);
        cr_assert(!memcmp(a->q, c->q, nq) && !memcmp(a->v, c->v, nv), "four threads, step %d", k);
    }
    cr_expect_eq(one.unsolved, 0);
    yard_end(&one);
    yard_end(&two);
    yard_end(&four);
}
