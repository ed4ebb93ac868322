/* Rolling resistance and torsion beside the balance of moments. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81, dt = 1e-3, radius = 0.1;
static const char *const solvers[] = {"auto", "acn", "pgs", "sap"};
enum { SOLVERS = sizeof solvers / sizeof solvers[0] };

/* A yard whose material resists rolling and torsion. */
static yard soft_yard(v3 gravity, double friction, double rolling, double torsion) {
    yard y = yard_begin(gravity, rough(friction));
    sim_material soft = sim_material_default();
    soft.name = "soft";
    soft.friction = friction;
    soft.rolling = rolling;
    soft.torsion = torsion;
    y.material = sim_builder_add_material(y.builder, &soft);
    return y;
}

static yard ground(v3 gravity, double friction, double rolling, double torsion) {
    yard y = soft_yard(gravity, friction, rolling, torsion);
    yard_ground(&y);
    return y;
}

/* Sets the angular velocity of the only body, in its axes. */
static void spin(const yard *y, v3 omega) {
    sim_state state = *sim_world_state(y->world);
    double v[6];
    memcpy(v, state.v, sizeof v);
    v[3] = omega.x;
    v[4] = omega.y;
    v[5] = omega.z;
    state.v = v;
    cr_assert_eq(sim_world_set_state(y->world, &state, NULL), SIM_OK);
}

static void step_until(yard *y, double time) {
    while (sim_world_state(y->world)->time < time - dt / 2) {
        yard_step(y);
        cr_assert_leq(sim_world_info(y->world)->certificate.own, 1e-3);
    }
}

/* m a R = moment of friction: m R a (1 + 2/5) = rolling m g, so a = rolling g / (7/5 R), and the way is v^2 / 2a. */
Test(turning, a_ball_with_rolling_resistance_stops_where_theory_says) {
    double rolling = 0.004, speed = 0.4, a = rolling * g / (1.4 * radius), way = speed * speed / (2 * a);
    v3 along = {cos(0.5), sin(0.5), 0};
    for (int s = 0; s < SOLVERS; s++) {
        yard y = ground(v3_make(0, 0, -g), 0.5, rolling, 0);
        yard_add(&y, "ball", SIM_SPHERE, radius, 0, 0, 2, v3_make(0, 0, radius), v3_scale(speed, along));
        yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
        spin(&y, v3_scale(speed / radius, v3_cross(v3_make(0, 0, 1), along)));
        step_until(&y, speed / a / 2);
        double half = v3_norm(motion_of(&y, "ball").lin);
        cr_expect_float_eq(half, speed / 2, a * dt + 1e-4, "%s: %.9g", solvers[s], half);
        step_until(&y, speed / a + 0.2);
        v3 at = v3_sub(place_of(&y, "ball"), v3_make(0, 0, radius));
        bool lifts = s == 3;
        cr_expect_float_eq(v3_norm(at), way, lifts ? 1e-3 * way : 1e-6, "%s: stopped after %.9g m, not %.9g",
                           solvers[s], v3_norm(at), way);
        cr_expect_leq(v3_norm(v3_cross(at, along)), 1e-5);
        cr_expect_leq(v3_norm(motion_of(&y, "ball").lin), 1e-6, "%s: %g m/s at rest", solvers[s],
                      v3_norm(motion_of(&y, "ball").lin));
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* I d omega/dt = -torsion m g */
Test(turning, a_spinning_ball_stops_by_torsion_at_the_time_that_theory_says) {
    double torsion = 0.003, omega = 12, I = 0.4 * radius * radius, due = I * omega / (torsion * g);
    for (int s = 0; s < SOLVERS; s++) {
        yard y = ground(v3_make(0, 0, -g), 0.5, 0, torsion);
        yard_add(&y, "ball", SIM_SPHERE, radius, 0, 0, 2, v3_make(0, 0, radius), v3_make(0, 0, 0));
        yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
        spin(&y, v3_make(0, 0, omega));
        step_until(&y, due / 2);
        double half = motion_of(&y, "ball").ang.z;
        cr_expect_float_eq(half, omega / 2, omega / due * dt + 5e-3, "%s: %g", solvers[s], half);
        step_until(&y, due - 20 * dt);
        cr_expect_gt(motion_of(&y, "ball").ang.z, 1e-2, "%s: still spins", solvers[s]);
        step_until(&y, due + 20 * dt);
        cr_expect_leq(fabs(motion_of(&y, "ball").ang.z), 1e-4, "%s: stands", solvers[s]);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* A disc on many points, without friction: the moments of all its contacts are torsion m g together. */
Test(turning, a_spinning_disc_stops_by_the_torsion_of_all_its_contacts) {
    double torsion = 0.02, omega = 6, I = 0.5 * 0.2 * 0.2, due = I * omega / (torsion * g);
    for (int s = 0; s < SOLVERS; s++) {
        yard y = ground(v3_make(0, 0, -g), 0, 0, torsion);
        yard_add(&y, "disc", SIM_CYLINDER, 0.2, 0.02, 0, 3, v3_make(0, 0, 0.01), v3_make(0, 0, 0));
        yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
        spin(&y, v3_make(0, 0, omega));
        step_until(&y, due - 0.02);
        double left = motion_of(&y, "disc").ang.z;
        cr_expect_float_eq(left, omega * 0.02 / due, s == 3 ? 0.1 : 1e-2, "%s: %g", solvers[s], left);
        step_until(&y, due + 0.05);
        cr_expect_leq(fabs(motion_of(&y, "disc").ang.z), 1e-3, "%s: stands", solvers[s]);
        yard_end(&y);
    }
}

/* Below tan a = rolling / R it stays; above it rolls at (g sin a - rolling g cos a / R) / (7/5). */
Test(turning, rolling_resistance_holds_a_ball_on_slopes_up_to_its_part_of_the_radius) {
    double rolling = 0.03;
    for (int s = 0; s < SOLVERS; s++) {
        for (int steep = 0; steep < 2; steep++) {
            double a = atan(rolling / radius * (steep ? 1.05 : 0.99));
            yard y = ground(v3_make(g * sin(a), 0, -g * cos(a)), 0.8, rolling, 0);
            yard_add(&y, "ball", SIM_SPHERE, radius, 0, 0, 2, v3_make(0, 0, radius), v3_make(0, 0, 0));
            yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
            step_until(&y, 0.5);
            double x = place_of(&y, "ball").x, due = 0.5 * 0.25 * g * (sin(a) - rolling * cos(a) / radius) / 1.4;
            if (steep) {
                cr_expect_float_eq(x, due, 0.02 * due, "%s: rolled %.9g m, not %.9g", solvers[s], x, due);
            } else {
                cr_expect_leq(fabs(x), s == 3 ? 1e-4 : 2e-6, "%s: moved by %g m", solvers[s], x);
            }
            yard_end(&y);
        }
    }
}

/* Two balls press on each other from both sides: the resistance acts between moving bodies, and momentum stays. */
Test(turning, torsion_between_two_bodies_keeps_their_angular_momentum) {
    yard y = ground(v3_make(0, 0, -g), 0.5, 0.01, 0.02);
    yard_add(&y, "plate", SIM_BOX, 1, 1, 0.1, 5, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    yard_add(&y, "ball", SIM_SPHERE, radius, 0, 0, 2, v3_make(0, 0, 0.1 + radius), v3_make(0, 0, 0));
    yard_open(&y, "auto", SIM_MIDPOINT, dt);
    sim_state state = *sim_world_state(y.world);
    double v[12];
    memcpy(v, state.v, sizeof v);
    v[y.model->body[sim_model_find_body(y.model, "ball")].v0 + 5] = 20;
    state.v = v;
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    double energy = energy_of(&y);
    for (int k = 0; k < 600; k++) {
        yard_step(&y);
        double now = energy_of(&y);
        cr_expect_leq(now, energy + 1e-8, "step %d: %g J from nothing", k, now - energy);
        energy = now;
    }
    cr_expect_leq(fabs(motion_of(&y, "ball").ang.z - motion_of(&y, "plate").ang.z), 1e-5);
    cr_expect_eq(y.unsolved, 0);
    yard_end(&y);
}

static yard dropped_balls(double rolling, const char *solver, int sleep) {
    random_source r = {21};
    yard y = ground(v3_make(0, 0, -g), 0.6, rolling, rolling / 2);
    for (int k = 0; k < 12; k++) {
        char name[16];
        snprintf(name, sizeof name, "ball%d", k);
        yard_add(&y, name, SIM_SPHERE, 0.05, 0, 0, 0.5,
                 v3_make(random_uniform(&r, -0.1, 0.1), random_uniform(&r, -0.1, 0.1), 0.1 + 0.12 * k),
                 v3_make(0, 0, 0));
    }
    y.options.sleep = sleep;
    yard_open(&y, solver, SIM_MIDPOINT, 2e-3);
    return y;
}

static int count_asleep(const yard *y) {
    int count = 0;
    for (int t = 0; t < y->model->ntree; t++) {
        count += sim_world_state(y->world)->rest[t].island != 0;
    }
    return count;
}

Test(turning, a_heap_of_balls_comes_to_rest_and_sleeps_by_rolling_resistance_alone) {
    static const char *const of[] = {"auto", "sap"};
    for (int s = 0; s < part_of(2); s++) {
        yard y = dropped_balls(0.005, of[s], 1), free = dropped_balls(0, of[s], 1);
        for (int k = 0; k < part_of(3000); k++) {
            yard_step(&y);
            yard_step(&free);
        }
        cr_expect(count_asleep(&y) == 12 || is_part(), "%s: %d asleep", of[s], count_asleep(&y));
        cr_expect_lt(count_asleep(&free), 6, "%s: without it %d", of[s], count_asleep(&free));
        cr_expect_leq(y.unsolved, 2, "%s: %d unsolved", of[s], y.unsolved);
        yard_end(&y);
        yard_end(&free);
    }
}

/* The moments of the last step are part of the state. */
Test(turning, a_copied_state_goes_on_with_the_same_bits_on_any_number_of_threads) {
    yard a = dropped_balls(0.005, "auto", 0), b = dropped_balls(0.005, "auto", 0);
    for (int k = 0; k < 600; k++) {
        yard_step(&a);
    }
    sim_options two = b.options;
    sim_error error = {0};
    two.threads = 2;
    two.solver_option = NULL;
    sim_world *c = sim_world_create(b.model, &two, &error);
    cr_assert(c, "%s", error.text);
    const sim_state *state = sim_world_state(a.world);
    double moments = 0;
    for (int k = 0; k < state->ncontact; k++) {
        moments += v3_norm(state->contact[k].moment);
    }
    cr_expect_gt(moments, 0);
    cr_assert_eq(sim_world_set_state(b.world, state, NULL), SIM_OK);
    cr_assert_eq(sim_world_set_state(c, state, NULL), SIM_OK);
    for (int k = 0; k < 200; k++) {
        yard_step(&a);
        yard_step(&b);
        cr_assert_eq(sim_world_step(c, &error), SIM_OK, "%s", error.text);
    }
    size_t size = (size_t)a.model->nv * sizeof(double);
    cr_expect_eq(memcmp(sim_world_state(a.world)->v, sim_world_state(b.world)->v, size), 0, "copied");
    cr_expect_eq(memcmp(sim_world_state(a.world)->v, sim_world_state(c)->v, size), 0, "two threads");
    sim_world_free(c);
    yard_end(&a);
    yard_end(&b);
}

Test(turning, a_solver_that_cannot_take_it_is_refused_with_the_material) {
    yard y = ground(v3_make(0, 0, -g), 0.5, 0.01, 0);
    yard_add(&y, "ball", SIM_SPHERE, radius, 0, 0, 2, v3_make(0, 0, radius), v3_make(0, 0, 0));
    sim_error error = {0};
    y.model = sim_builder_finish(y.builder, &error);
    y.options.solver = sim_solver_find("incp");
    cr_assert_null(sim_world_create(y.model, &y.options, &error));
    cr_expect(strstr(error.text, "incp") && strstr(error.text, "rolling") && strstr(error.text, "soft"), "%s",
              error.text);
    yard_end(&y);
}

/* ---- turntables ---- */

/* A table of radius 1 m about z, with its surface at z = 0: its surface turns, or all of it about a hinge. */
static yard turntable(double turn, bool surface_alone, double friction, double rolling, double torsion) {
    yard y = soft_yard(v3_make(0, 0, -g), friction, rolling, torsion);
    sim_shape table = sim_shape_default();
    table.type = SIM_CYLINDER;
    table.size[0] = 1;
    table.size[1] = 0.2;
    table.pose.p = v3_make(0, 0, -0.1);
    table.material = y.material;
    if (surface_alone) {
        table.surface_spin = v3_make(0, 0, turn);
    } else {
        sim_body_def def = sim_body_default();
        def.name = "table";
        def.joint = SIM_HINGE;
        def.axis = v3_make(0, 0, 1);
        def.inertia = (sim_inertia){.mass = 1e6, .moment = {1e6, 1e6, 1e6, 0, 0, 0}};
        def.v[0] = turn;
        table.body = sim_builder_add_body(y.builder, &def);
    }
    sim_builder_add_shape(y.builder, &table);
    return y;
}

/* In the middle of a turntable torsion gives a ball the moment torsion m g until it turns as fast. */
Test(turning, a_turntable_takes_a_ball_along_by_torsion) {
    double torsion = 0.002, turn = 3, rate = torsion * g / (0.4 * radius * radius), due = turn / rate;
    for (int s = 0; s < SOLVERS; s++) {
        yard y = turntable(turn, true, 0.5, 0, torsion);
        yard_add(&y, "ball", SIM_SPHERE, radius, 0, 0, 2, v3_make(0, 0, radius), v3_make(0, 0, 0));
        yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
        step_until(&y, due / 2);
        double half = motion_of(&y, "ball").ang.z;
        cr_expect_float_eq(half, turn / 2, 2 * rate * dt, "%s: %.9g", solvers[s], half);
        cr_expect_leq(sim_world_info(y.world)->certificate.excess, 1e-9, "%s", solvers[s]);
        step_until(&y, due + 0.2);
        double end = motion_of(&y, "ball").ang.z;
        cr_expect_float_eq(end, turn, 1e-3 * turn, "%s: %.9g", solvers[s], end);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* Surfaces of both bodies turn, each about an axis of its own body: the ball ends at the table's velocity less its own.  The
 * table lies on its side in a body that is turned the other way. */
Test(turning, surfaces_of_both_bodies_turn_about_axes_of_theirs) {
    double torsion = 0.002, turn = 3, own = 1, rate = torsion * g / (0.4 * radius * radius);
    yard y = soft_yard(v3_make(0, 0, -g), 0.5, 0, torsion);
    sim_body_def def = sim_body_default();
    def.name = "table";
    def.joint = SIM_FIXED;
    def.placement.R = (m3){{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}; /* y up */
    sim_shape table = sim_shape_default();
    table.type = SIM_CYLINDER;
    table.size[0] = 1;
    table.size[1] = 0.2;
    table.pose = (sim_pose){{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}, {0, -0.1, 0}};
    table.material = y.material;
    table.surface_spin = v3_make(0, turn, 0);
    table.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &table);
    sim_shape ball = sim_shape_default();
    ball.type = SIM_SPHERE;
    ball.size[0] = radius;
    ball.material = y.material;
    ball.surface_spin = v3_make(0, 0, own);
    def = sim_body_default();
    def.name = "ball";
    def.inertia = sim_shape_inertia(&ball, 500);
    def.q[2] = radius;
    ball.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &ball);
    yard_open(&y, "auto", SIM_MIDPOINT, dt);
    step_until(&y, (turn - own) / rate + 0.2);
    double end = motion_of(&y, "ball").ang.z;
    cr_expect_float_eq(end, turn - own, 1e-3 * turn, "%.9g", end);
    cr_expect_eq(y.unsolved, 0);
    yard_end(&y);
}

/* A ball that rolls outwards, against rolling resistance and torsion, goes the same way on both. */
Test(turning, a_surface_that_turns_is_a_table_that_turns) {
    for (int s = 0; s < SOLVERS; s++) {
        v3 at[2], v[2], w[2];
        for (int k = 0; k < 2; k++) {
            yard y = turntable(2, k == 0, 0.5, 0.002, 0.004);
            yard_add(&y, "ball", SIM_SPHERE, radius, 0, 0, 2, v3_make(0.3, 0, radius), v3_make(0.2, 0.1, 0));
            yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
            step_until(&y, 0.8);
            at[k] = place_of(&y, "ball");
            v[k] = motion_of(&y, "ball").lin;
            w[k] = motion_of(&y, "ball").ang;
            cr_expect_eq(y.unsolved, 0);
            yard_end(&y);
        }
        cr_expect_gt(v3_norm(v3_sub(at[0], v3_make(0.3, 0, radius))), 0.1);
        cr_expect_lt(v3_norm(v3_sub(at[0], at[1])), 1e-3, "%s: %g m", solvers[s], v3_norm(v3_sub(at[0], at[1])));
        cr_expect_lt(v3_norm(v3_sub(v[0], v[1])), 1e-3, "%s: %g m/s", solvers[s], v3_norm(v3_sub(v[0], v[1])));
        cr_expect_lt(v3_norm(v3_sub(w[0], w[1])), 1e-2, "%s: %g rad/s", solvers[s], v3_norm(v3_sub(w[0], w[1])));
    }
}
