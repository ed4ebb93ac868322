/* Constraints that are switched on and off while the world runs. */
#include "math/spatial.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 200 };

/* Two boxes that drift apart and turn, without gravity, and a constraint between points of both. */
static yard two_boxes(sim_equality_type type, bool off, const char *solver) {
    yard y = yard_begin((v3){0, 0, 0}, rough(0));
    int a = yard_add(&y, "a", SIM_BOX, 0.2, 0.1, 0.1, 2, v3_make(0, 0, 1), v3_make(0.3, 0, 0.1));
    int b = yard_add(&y, "b", SIM_BOX, 0.1, 0.3, 0.1, 1, v3_make(0.6, 0.1, 1), v3_make(0.5, -0.2, 0));
    sim_equality e = sim_equality_default();
    e.name = "grasp";
    e.type = type;
    e.body[0] = a;
    e.body[1] = b;
    e.frame[0].p = v3_make(0.1, 0, 0);
    e.frame[1].p = v3_make(-0.05, 0.1, 0);
    e.distance = 0.4;
    e.stiffness = type == SIM_SPRING_DAMPER ? 50 : INFINITY;
    e.off = off;
    cr_assert_geq(sim_builder_add_equality(y.builder, &e), 0);
    sim_builder_add_exclusion(y.builder, a, b);
    y.options.law.beta = 1;
    y.options.compliance = SIM_RIGID;
    y.tolerance = 1e-12;
    yard_open(&y, solver, SIM_MIDPOINT, 1e-3);
    sim_state state = *sim_world_state(y.world);
    double v[12];
    memcpy(v, state.v, sizeof v);
    v[3] = 0.7, v[4] = -0.4, v[11] = 0.9;
    state.v = v;
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    return y;
}

static void run_yard(yard *y, int steps) {
    for (int n = 0; n < steps; n++) {
        yard_step(y);
    }
}

static pose relative_pose(const yard *y) {
    const sim_derived *d = sim_world_derived(y->world);
    return pose_relative(d->pose[sim_model_find_body(y->model, "b")], d->pose[sim_model_find_body(y->model, "a")]);
}

/* Farthest distance of two poses: m and rad. */
static double pose_change(pose A, pose B) {
    return fmax(v3_norm(v3_sub(A.p, B.p)), v3_norm(quat_log(quat_from_matrix(m3_product(A.R, m3_transpose(B.R))))));
}

static void switch_to(yard *y, sim_switch to) {
    sim_error error;
    int k = sim_model_find_equality(y->model, "grasp");
    cr_assert_eq(sim_world_switch(y->world, k, to, &error), SIM_OK, "%s", error.text);
}

Test(switches, weld_that_is_off_moves_bodies_as_if_it_were_not_there) {
    yard y = two_boxes(SIM_WELD, true, "auto");
    sim_force before = sim_world_momentum(y.world);
    const double *v = sim_world_state(y.world)->v;
    run_yard(&y, ROUNDS);
    v = sim_world_state(y.world)->v;
    cr_expect(fabs(v[0] - 0.3) < 1e-14 && fabs(v[7] + 0.2) < 1e-14, "%g %g", v[0] - 0.3, v[7] + 0.2);
    cr_expect_lt(v3_norm(v3_sub(sim_world_momentum(y.world).lin, before.lin)), 1e-13);
    cr_expect_eq(sim_world_info(y.world)->islands, 0);
    yard_end(&y);
}

Test(switches, weld_holds_the_pose_of_the_moment_and_conserves_momentum) {
    static const char *const solver[] = {"auto", "pgs", "sap"};
    for (int k = 0; k < 3; k++) {
        yard y = two_boxes(SIM_WELD, true, solver[k]);
        run_yard(&y, ROUNDS);
        sim_force before = sim_world_momentum(y.world);
        pose grasp = relative_pose(&y);
        switch_to(&y, SIM_SWITCH_HOLD);
        run_yard(&y, ROUNDS);
        cr_expect_lt(pose_change(relative_pose(&y), grasp), 2e-4, "%s: %g", solver[k],
                     pose_change(relative_pose(&y), grasp));
        cr_expect_eq(sim_world_info(y.world)->islands, 1);
        cr_expect_neq(sim_world_state(y.world)->equality_impulse[0], 0);
        sim_force after = sim_world_momentum(y.world);
        cr_expect_lt(v3_norm(v3_sub(after.lin, before.lin)), 1e-10, "%s", solver[k]);
        cr_expect_lt(v3_norm(v3_sub(after.ang, before.ang)), 1e-4, "%s: %g", solver[k],
                     v3_norm(v3_sub(after.ang, before.ang)));
        /* let go: the two fly on, each with its own momentum */
        switch_to(&y, SIM_SWITCH_OFF);
        v3 own = motion_of(&y, "a").lin;
        run_yard(&y, ROUNDS);
        cr_expect_lt(v3_norm(v3_sub(motion_of(&y, "a").lin, own)), 1e-13);
        cr_expect_gt(pose_change(relative_pose(&y), grasp), 1e-3);
        cr_expect_eq(sim_world_state(y.world)->equality_impulse[0], 0);
        cr_expect_eq(sim_world_info(y.world)->islands, 0);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* The length that a constraint of each type keeps, m. */
static double kept_length(const yard *y, sim_equality_type type) {
    const sim_equality *e = &y->model->equality[0];
    const sim_derived *d = sim_world_derived(y->world);
    v3 first = sim_point_position(d, (sim_point){e->body[0], e->frame[0].p});
    v3 second = sim_point_position(d, (sim_point){e->body[1], e->frame[1].p});
    pose B = d->pose[e->body[1]];
    return type == SIM_CONNECT ? m3_transposed_times(B.R, v3_sub(first, B.p)).x : v3_norm(v3_sub(first, second));
}

Test(switches, connect_and_distance_keep_point_and_distance_of_the_moment) {
    static const sim_equality_type type[] = {SIM_CONNECT, SIM_DISTANCE};
    for (int k = 0; k < 2; k++) {
        yard y = two_boxes(type[k], true, "auto");
        run_yard(&y, ROUNDS);
        double due = kept_length(&y, type[k]);
        cr_assert_gt(fabs(due - 0.4), 1e-2);
        switch_to(&y, SIM_SWITCH_HOLD);
        run_yard(&y, ROUNDS);
        cr_expect_float_eq(kept_length(&y, type[k]), due, 1e-5, "%g", kept_length(&y, type[k]) - due);
        /* on as the model has it: it closes the gap to the model's own distance */
        switch_to(&y, SIM_SWITCH_ON);
        run_yard(&y, 6000);
        double own = type[k] == SIM_CONNECT ? -0.05 : 0.4;
        cr_expect_float_eq(kept_length(&y, type[k]), own, 1e-4, "%g", kept_length(&y, type[k]) - own);
        yard_end(&y);
    }
}

Test(switches, spring_that_is_held_is_slack_at_the_distance_of_the_moment) {
    yard y = two_boxes(SIM_SPRING_DAMPER, true, "auto");
    run_yard(&y, ROUNDS);
    double due = kept_length(&y, SIM_SPRING_DAMPER), before = energy_of(&y);
    switch_to(&y, SIM_SWITCH_HOLD);
    cr_expect_float_eq(energy_of(&y), before, 1e-14);
    yard_step(&y);
    double pull = sim_world_state(y.world)->equality_impulse[0] / 1e-3;
    cr_expect_lt(fabs(pull), 50 * 1e-3, "%g N", pull); /* a millimetre of stretch at most in a step */
    run_yard(&y, 100);
    pull = sim_world_state(y.world)->equality_impulse[0] / 1e-3;
    cr_expect_float_eq(pull, -50 * (kept_length(&y, SIM_SPRING_DAMPER) - due), 50 * 1e-3);
    yard_end(&y);
}

/* Two hinges that turn freely, and a gear of ratio 2 between them. */
Test(switches, coupling_keeps_the_offset_of_the_moment) {
    yard y = yard_begin((v3){0, 0, 0}, rough(0));
    int body[2];
    for (int k = 0; k < 2; k++) {
        sim_body_def def = sim_body_default();
        def.joint = SIM_HINGE;
        def.inertia = box_inertia(1, 0.1, 0.2, 0.3);
        def.v[0] = k ? 0.7 : 1.1;
        body[k] = sim_builder_add_body(y.builder, &def);
    }
    sim_equality e = sim_equality_default();
    e.type = SIM_COUPLING;
    e.name = "grasp";
    memcpy(e.body, body, sizeof body);
    e.ratio = 2;
    e.higher[0] = 0.1;
    e.off = true;
    sim_builder_add_equality(y.builder, &e);
    yard_open(&y, "auto", SIM_MIDPOINT, 1e-3);
    run_yard(&y, 300);
    const double *q = sim_world_state(y.world)->q;
    double due = q[0] - 2 * q[1] - 0.1 * q[1] * q[1];
    switch_to(&y, SIM_SWITCH_HOLD);
    run_yard(&y, 300);
    q = sim_world_state(y.world)->q;
    cr_expect_float_eq(q[0] - 2 * q[1] - 0.1 * q[1] * q[1], due, 1e-5);
    yard_end(&y);
}

Test(switches, constraint_switched_on_at_the_start_moves_as_one_of_the_model) {
    yard own = two_boxes(SIM_WELD, false, "auto"), off = two_boxes(SIM_WELD, true, "auto");
    switch_to(&off, SIM_SWITCH_ON);
    run_yard(&own, ROUNDS);
    run_yard(&off, ROUNDS);
    cr_expect(sim_state_same(own.model, sim_world_state(own.world), sim_world_state(off.world)));
    yard_end(&own);
    yard_end(&off);
}

Test(switches, state_says_what_is_held_so_that_another_world_goes_on_with_the_same_bits) {
    yard y = two_boxes(SIM_WELD, true, "auto"), other = two_boxes(SIM_WELD, true, "auto");
    run_yard(&y, ROUNDS);
    switch_to(&y, SIM_SWITCH_HOLD);
    run_yard(&y, 10);
    cr_assert_eq(sim_world_set_state(other.world, sim_world_state(y.world), NULL), SIM_OK);
    run_yard(&y, ROUNDS);
    run_yard(&other, ROUNDS);
    cr_expect(sim_state_same(y.model, sim_world_state(y.world), sim_world_state(other.world)));
    yard_end(&y);
    yard_end(&other);
}

Test(switches, what_cannot_be_is_refused) {
    yard y = two_boxes(SIM_DISTANCE, true, "auto");
    sim_error error;
    cr_expect_eq(sim_world_switch(y.world, 1, SIM_SWITCH_ON, &error), SIM_BAD_INPUT);
    cr_expect_not_null(strstr(error.text, "no constraint 1"), "%s", error.text);
    cr_expect_eq(sim_world_switch(y.world, 0, (sim_switch)7, &error), SIM_BAD_INPUT);
    sim_state state = *sim_world_state(y.world);
    sim_switched wrong[] = {{.to = 3}, {.to = SIM_SWITCH_HOLD, .at = {NAN}}, {.to = SIM_SWITCH_HOLD, .at = {-1}}};
    for (int k = 0; k < 3; k++) {
        state.switched = &wrong[k];
        cr_expect_eq(sim_world_set_state(y.world, &state, &error), SIM_BAD_INPUT, "case %d", k);
        cr_expect_not_null(strstr(error.text, "constraint \"grasp\" cannot be switched"), "%s", error.text);
    }
    yard_end(&y);
}

/* A box at rest on the ground, tied to the world by a weld that is off. */
static yard sleeping_box(void) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
    yard_ground(&y);
    int a = yard_add(&y, "box", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(0, 0, 0.1), v3_make(0, 0, 0));
    sim_equality e = sim_equality_default();
    e.body[0] = a;
    e.body[1] = 0;
    e.name = "grasp";
    e.frame[0].p.z = 0.3;
    e.frame[1].p.z = 0.5;
    e.off = true;
    sim_builder_add_equality(y.builder, &e);
    y.options.sleep = true;
    yard_open(&y, "auto", SIM_MIDPOINT, 1e-3);
    for (int n = 0; !sim_world_info(y.world)->asleep; n++) {
        cr_assert_lt(n, 5000);
        yard_step(&y);
    }
    return y;
}

Test(switches, constraint_that_is_switched_wakes_what_it_holds) {
    yard y = sleeping_box();
    run_yard(&y, 5);
    cr_assert_eq(sim_world_info(y.world)->asleep, 1);
    switch_to(&y, SIM_SWITCH_ON); /* 0.1 m above */
    yard_step(&y);
    cr_expect_eq(sim_world_info(y.world)->woken, 1);
    run_yard(&y, 3000);
    cr_expect_float_eq(place_of(&y, "box").z, 0.2, 1e-4, "%g", place_of(&y, "box").z);
    switch_to(&y, SIM_SWITCH_OFF);
    yard_step(&y);
    run_yard(&y, 10);
    cr_expect_lt(motion_of(&y, "box").lin.z, -0.09);
    yard_end(&y);
}

Test(switches, wrench_on_a_body_wakes_it) {
    yard y = sleeping_box();
    int box = sim_model_find_body(y.model, "box");
    sim_world_wrenches(y.world)[box].lin.z = 0.1;
    yard_step(&y);
    cr_expect_eq(sim_world_info(y.world)->woken, 1);
    yard_end(&y);
}

/* Switched while it pulls, a weld keeps neither its impulse nor the forces with which its trees moved first. */
Test(switches, forget_what_the_constraint_gave_before) {
    yard y = two_boxes(SIM_WELD, false, "sap");
    run_yard(&y, 20);
    const sim_state *now = sim_world_state(y.world);
    double before = 0, after = 0;
    for (int k = 0; k < 6; k++) {
        before += fabs(now->equality_impulse[k]);
    }
    switch_to(&y, SIM_SWITCH_HOLD);
    for (int k = 0; k < 6; k++) {
        after += fabs(now->equality_impulse[k]);
    }
    for (int j = 0; j < y.model->nv; j++) {
        after += fabs(now->held[j]) + fabs(now->trail[2 * y.model->nv + j]) + fabs(now->trail[3 * y.model->nv + j]);
    }
    cr_expect_gt(before, 1e-6);
    cr_expect_eq(after, 0, "%g N s and N", after);
    yard_end(&y);
}
