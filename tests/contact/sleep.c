/* Bodies that lie still fall asleep, and no others. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double g = 9.81;
static const char *const solvers[] = {"pgs", "sap"};

/* The standard measures of a body of radius r alone. */
static double speed_of(double r) { return 1e-3 * sqrt(g * r); }
static double time_of(double r) { return 2 * M_PI * sqrt(r / g); }

static int asleep(const yard *y, const char *body) {
    int tree = y->model->body[sim_model_find_body(y->model, body)].tree;
    return sim_world_state(y->world)->rest[tree].island != 0;
}

static int same_motion(const yard *a, const yard *b) {
    const sim_state *x = sim_world_state(a->world), *z = sim_world_state(b->world);
    return !memcmp(x->q, z->q, (size_t)a->model->nq * sizeof *x->q) &&
           !memcmp(x->v, z->v, (size_t)a->model->nv * sizeof *x->v);
}

/* Sets the only body spinning. */
static void turn(const yard *y, v3 spin) {
    sim_state state = *sim_world_state(y->world);
    double v[6];
    memcpy(v, state.v, sizeof v);
    v[3] = spin.x;
    v[4] = spin.y;
    v[5] = spin.z;
    state.v = v;
    cr_assert_eq(sim_world_set_state(y->world, &state, NULL), SIM_OK);
}

/* One box of 0.1 m on an incline of this angle. */
static yard box_on(double angle, double mu, const char *solver, int sleep) {
    yard y = yard_begin(v3_make(g * sin(angle), 0, -g * cos(angle)), rough(mu));
    yard_ground(&y);
    yard_add(&y, "box", SIM_BOX, 0.1, 0.1, 0.1, 1, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    y.options.sleep = sleep;
    yard_open(&y, solver, SIM_MIDPOINT, 1e-3);
    return y;
}

Test(sleep, box_at_rest_sleeps_after_one_swing_of_its_size_and_keeps_what_it_had) {
    double T = time_of(0.05 * sqrt(3));
    for (int k = 0; k < 2; k++) {
        yard y = box_on(0, 0.5, solvers[k], 1);
        while (!asleep(&y, "box")) {
            yard_step(&y);
            cr_assert_lt(sim_world_state(y.world)->time, 1.1 * T);
        }
        const sim_state *s = sim_world_state(y.world);
        cr_assert_float_eq(s->time, T, 2.5e-3, "slept after %g s, not %g s", s->time, T);
        double q[7];
        memcpy(q, s->q, sizeof q);
        for (int n = 0; n < 50; n++) {
            yard_step(&y);
            const sim_step_info *info = sim_world_info(y.world);
            cr_assert_eq(info->islands, 0);
            cr_assert(info->asleep == 1 && info->asleep_bodies == 1 && info->asleep_contacts == 4 &&
                      info->contacts == 4);
        }
        s = sim_world_state(y.world);
        cr_assert(memcmp(q, s->q, sizeof q) == 0);
        for (int j = 0; j < 6; j++) {
            cr_assert_eq(s->v[j], 0);
        }
        v3 impulse = impulse_on(&y, "box");
        cr_assert_float_eq(impulse.z, g * 1e-3, 1e-6 * g * 1e-3, "%s: %g N s", solvers[k], impulse.z);
        yard_end(&y);
    }
}

Test(sleep, off_leaves_no_trace_and_on_changes_no_bit_while_nothing_sleeps) {
    yard on = box_on(0.8, 0.3, "sap", 1), off = box_on(0.8, 0.3, "sap", 0);
    cr_assert_null(sim_world_state(off.world)->rest);
    for (int n = 0; n < 1000; n++) {
        yard_step(&on);
        yard_step(&off);
        cr_assert(same_motion(&on, &off), "step %d", n);
    }
    yard_end(&on);
    yard_end(&off);
}

/* A body faster than u within T speeds up by more than u/T, here 1.6e-4 g: an angle of friction is told to that. */
Test(sleep, box_just_above_the_angle_of_friction_slides_as_if_there_were_no_sleep_and_just_below_it_sleeps) {
    const double mu = 0.5;
    for (int k = 0; k < 2; k++) {
        yard on = box_on(atan(mu + 1e-3), mu, solvers[k], 1), off = box_on(atan(mu + 1e-3), mu, solvers[k], 0);
        for (int n = 0; n < 2000; n++) {
            yard_step(&on);
            yard_step(&off);
            cr_assert(same_motion(&on, &off), "%s, step %d", solvers[k], n);
        }
        cr_expect_gt(place_of(&on, "box").x, 0.01);
        yard_end(&on);
        yard_end(&off);
        yard y = box_on(atan(mu - 1e-3), mu, solvers[k], 1);
        for (int n = 0; n < 1000; n++) {
            yard_step(&y);
        }
        cr_expect(asleep(&y, "box"), "%s", solvers[k]);
        yard_end(&y);
    }
}

/* Rolling costs nothing here: slower than u it is stopped, faster it goes on. */
Test(sleep, ball_that_rolls_slowly_rolls_on_or_loses_no_more_than_was_said) {
    const double r = 0.1, u = speed_of(r);
    for (int k = 0; k < 2; k++) {
        double v = (k ? 0.45 : 0.55) * u; /* its top moves at 2 v */
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        y.options.sleep = 1;
        yard_add(&y, "ball", SIM_SPHERE, r, 0, 0, 1, v3_make(0, 0, r), v3_make(v, 0, 0));
        y.tolerance = 1e-12;
        yard_open(&y, "pgs", SIM_MIDPOINT, 1e-3);
        turn(&y, v3_make(0, v / r, 0));
        double stilled = 0, energy = sim_world_energy(y.world).kinetic;
        for (int n = 0; n < 2000; n++) {
            yard_step(&y);
            stilled += sim_world_info(y.world)->stilled;
        }
        cr_expect_float_eq(energy, 0.7 * v * v, 1e-9 * energy, "it rolls");
        if (k) {
            cr_expect(asleep(&y, "ball"));
            cr_expect_float_eq(stilled, energy, 1e-6 * energy, "%g J of %g J", stilled, energy);
            cr_expect_lt(stilled, 0.5 * u * u);
        } else {
            cr_expect_eq(stilled, 0);
            cr_expect_float_eq(motion_of(&y, "ball").lin.x, v, 1e-6 * v);
        }
        yard_end(&y);
    }
}

/* A beam on a hinge, its centre of mass `below` the axis. */
static yard beam(double below, double angle, double spin, int sleep) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0));
    sim_body_def def = sim_body_default();
    def.name = "beam";
    def.joint = SIM_HINGE;
    def.axis = v3_make(0, 1, 0);
    def.inertia = box_inertia(1, 1, 0.01, 0.01);
    def.inertia.com = v3_make(0, 0, -below);
    def.q[0] = angle;
    def.v[0] = spin;
    sim_builder_add_body(y.builder, &def);
    y.options.sleep = sleep;
    yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
    return y;
}

Test(sleep, pendulum_does_not_sleep_where_it_turns_however_slowly_it_swings) {
    const double below[] = {0.5, 0.01, 0.001}; /* periods of 1.5, 5.3 and 17 s */
    for (int k = 0; k < 3; k++) {
        yard on = beam(below[k], 0.3, 0, 1), off = beam(below[k], 0.3, 0, 0);
        for (int n = 0; n < 20000; n++) {
            yard_step(&on);
            yard_step(&off);
            cr_assert(same_motion(&on, &off), "%g m, step %d", below[k], n);
        }
        yard_end(&on);
        yard_end(&off);
    }
    yard hangs = beam(0.5, 0, 0, 1);
    for (int n = 0; n < 3000; n++) {
        yard_step(&hangs);
    }
    cr_expect(asleep(&hangs, "beam"));
    yard_end(&hangs);
}

Test(sleep, what_spins_in_place_does_not_sleep) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    yard_add(&y, "top", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 0.1), v3_make(0, 0, 0));
    y.options.sleep = 1;
    yard_open(&y, "pgs", SIM_MIDPOINT, 1e-3);
    turn(&y, v3_make(0, 0, 1));
    for (int n = 0; n < 3000; n++) {
        yard_step(&y);
        cr_assert(!asleep(&y, "top"));
    }
    cr_expect_float_eq(motion_of(&y, "top").ang.z, 1, 1e-6);
    yard_end(&y);
}

/* A ball rolls on a slab; a box lies elsewhere. */
Test(sleep, island_waits_for_the_last_of_it) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    yard_add(&y, "low", SIM_BOX, 0.4, 0.4, 0.1, 4, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    yard_add(&y, "ball", SIM_SPHERE, 0.05, 0, 0, 1, v3_make(0, 0, 0.15), v3_make(0.02, 0, 0));
    yard_add(&y, "apart", SIM_BOX, 0.1, 0.1, 0.1, 1, v3_make(1, 0, 0.05), v3_make(0, 0, 0));
    y.options.sleep = 1;
    yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
    for (int n = 0; n < 2000; n++) {
        yard_step(&y);
    }
    cr_expect(asleep(&y, "apart") && !asleep(&y, "low") && !asleep(&y, "ball"));
    yard_end(&y);
}

/* Lengths 16 times as long, times 4 times: the same motion, and the same numbers but for powers of two. */
Test(sleep, what_is_larger_sleeps_in_its_own_time) {
    int slept[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        double L = k ? 16 : 1;
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        yard_add(&y, "box", SIM_BOX, 0.1 * L, 0.1 * L, 0.2 * L, 1, v3_make(0, 0, 0.11 * L), v3_make(0, 0, 0));
        y.options.sleep = 1;
        yard_open(&y, "sap", SIM_SYMPLECTIC_EULER, 1e-3 * sqrt(L));
        for (; !asleep(&y, "box") && slept[k] < 5000; slept[k]++) {
            yard_step(&y);
        }
        yard_end(&y);
    }
    cr_expect_lt(slept[0], 5000);
    cr_expect_eq(slept[0], slept[1], "%d and %d steps", slept[0], slept[1]);
}

Test(sleep, given_speed_and_time_hold_instead) {
    yard y = box_on(0, 0.5, "sap", 1);
    sim_options o = *sim_world_options(y.world);
    o.sleep_time = 0.05;
    o.sleep_speed = 1;
    sim_world *w = sim_world_create(y.model, &o, NULL);
    int n = 0;
    for (; n < 1000 && !sim_world_state(w)->rest[0].island; n++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    cr_expect_eq(n, 51, "%d steps", n); /* in the first, nothing is known of what drives it */
    sim_world_free(w);
    sim_error error = {0};
    o.integrator = SIM_RK4;
    o.contacts = 0;
    cr_expect_null(sim_world_create(y.model, &o, &error));
    cr_expect_not_null(strstr(error.text, "rk4"), "%s", error.text);
    o.integrator = SIM_MIDPOINT;
    o.sleep_speed = -1;
    cr_expect_null(sim_world_create(y.model, &o, &error));
    yard_end(&y);
}
