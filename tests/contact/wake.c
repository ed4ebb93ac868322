/* Events that wake sleeping bodies, and their motion from there on. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double g = 9.81;

static int tree_of(const sim_model *m, const char *body) { return m->body[sim_model_find_body(m, body)].tree; }

static int asleep(const yard *y, const char *body) {
    return sim_world_state(y->world)->rest[tree_of(y->model, body)].island != 0;
}

static void until_asleep(yard *y, const char *body) {
    for (int n = 0; !asleep(y, body); n++) {
        cr_assert_lt(n, 20000);
        yard_step(y);
    }
}

Test(wake, stack_that_is_hit_topples_as_it_would_have_awake) {
    const char *solver[] = {"pgs", "sap"};
    for (int k = 0; k < part_of(2); k++) {
        yard on = yard_stack(solver[k], 1, 1), off = yard_stack(solver[k], 0, 1);
        int woken = 0, slept = 0;
        for (int n = 0, after = 0; after < part_of(300); n++) {
            yard_step(&on);
            yard_step(&off);
            slept += asleep(&on, "box3");
            woken += sim_world_info(on.world)->woken;
            after += woken > 0;
            cr_assert_lt(n, 3000);
        }
        cr_expect(slept > 500 && woken == YARD_STACK, "%s: slept %d steps, %d woke", solver[k], slept, woken);
        cr_expect(asleep(&on, "alone") && !asleep(&on, "box3"));
        double moved = 0, differ = 0;
        for (int b = 0; b < YARD_STACK; b++) {
            char name[] = {'b', 'o', 'x', (char)('0' + b), 0};
            v3 at = place_of(&off, name);
            differ = fmax(differ, v3_norm(v3_sub(place_of(&on, name), at)));
            moved = fmax(moved, v3_norm(v3_sub(at, v3_make(0, 0, 0.1 + 0.2 * b))));
        }
        cr_expect(moved > 0.1 || is_part());
        cr_expect(differ < 0.02 * moved || is_part(), "%s: they differ by %g m", solver[k], differ);
        yard_end(&on);
        yard_end(&off);
    }
}

/* A force on the lowest box wakes the whole stack in the very step, and nobody else. */
Test(wake, applied_force_wakes_the_island_in_the_step_and_no_other) {
    yard y = yard_stack("sap", 1, 0);
    until_asleep(&y, "box0");
    until_asleep(&y, "alone");
    double *applied = sim_world_applied(y.world);
    int dof = y.model->tree[tree_of(y.model, "box0")].v0;
    applied[dof] = 0.5; /* less than friction holds */
    yard_step(&y);
    cr_expect_eq(sim_world_info(y.world)->woken, YARD_STACK);
    cr_expect(!asleep(&y, "box3") && asleep(&y, "alone"));
    cr_expect_neq(sim_world_state(y.world)->v[dof], 0);
    until_asleep(&y, "box3"); /* a constant force may be slept under */
    applied[dof] = 60;
    yard_step(&y);
    cr_expect(!asleep(&y, "box0"));
    double before = place_of(&y, "box0").x;
    for (int n = 0; n < 200; n++) {
        yard_step(&y);
    }
    cr_expect_gt(place_of(&y, "box0").x - before, 0.1);
    yard_end(&y);
}

Test(wake, force_that_changes_slowly_lets_nobody_sleep_before_it_makes_them_slide) {
    yard y = yard_stack("pgs", 1, 0), off = yard_stack("pgs", 0, 0);
    int dof = y.model->tree[tree_of(y.model, "alone")].v0;
    for (int n = 0; n < part_of(3000); n++) {
        sim_world_applied(y.world)[dof] = sim_world_applied(off.world)[dof] = 3e-3 * n; /* slides from 4.9 N on */
        yard_step(&y);
        yard_step(&off);
        cr_assert(!asleep(&y, "alone"));
    }
    cr_expect(place_of(&y, "alone").x > 0.1 || is_part());
    cr_expect_float_eq(place_of(&y, "alone").x, place_of(&off, "alone").x, 1e-9);
    yard_end(&y);
    yard_end(&off);
}

/* An arm of a hinge held up by its controller, a target that moves at 3 s; a slider on which a load starts at 4 s; both
 * far from each other. */
static yard driven(int sleep) {
    static const double at[] = {0, 3, 3.2}, target[] = {0.5, 0.5, 0.8}, start[] = {0, 4}, push[] = {0, 1};
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    sim_body_def def = sim_body_default();
    def.name = "arm";
    def.joint = SIM_HINGE;
    def.axis = v3_make(0, 1, 0);
    def.inertia = box_inertia(1, 0.4, 0.02, 0.02);
    def.inertia.com = v3_make(0.2, 0, 0);
    def.q[0] = 0.5;
    int arm = sim_builder_add_body(y.builder, &def);
    sim_actuator motor = sim_actuator_default();
    motor.name = "motor";
    motor.kp = 200;
    motor.kd = 20;
    motor.target = (sim_track){.interpolation = SIM_LINEAR, .keys = 3, .width = 1, .times = at, .values = target};
    sim_builder_add_actuator(y.builder, arm, &motor);
    def = sim_body_default();
    def.name = "slider";
    def.joint = SIM_SLIDER;
    def.axis = v3_make(1, 0, 0);
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    int slider = sim_builder_add_body(y.builder, &def);
    sim_load load = {.name = "push", .dof = 0, .body = -1};
    load.track = (sim_track){.interpolation = SIM_HOLD, .keys = 2, .width = 1, .times = start, .values = push};
    sim_builder_add_load(y.builder, &load, slider);
    y.options.sleep = sleep;
    yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
    return y;
}

Test(wake, target_that_moves_and_load_that_starts_wake_what_they_drive_in_time) {
    yard on = driven(1), off = driven(0);
    int arm = tree_of(on.model, "arm"), slider = tree_of(on.model, "slider");
    int q = on.model->tree[arm].q0, s = on.model->tree[slider].q0;
    for (int n = 0; n < 5000; n++) {
        yard_step(&on);
        yard_step(&off);
        double time = sim_world_state(on.world)->time;
        double effort = sim_world_efforts(on.world)[0], awake = sim_world_efforts(off.world)[0];
        cr_assert_float_eq(effort, awake, 2e-3 * fabs(awake), "%g s: %g N m, not %g", time, effort, awake);
        cr_assert(!(time > 2.5 && time < 2.999) || asleep(&on, "arm"), "%g s", time);
        cr_assert(!(time > 3.002 && time < 3.3) || !asleep(&on, "arm"), "%g s", time);
        cr_assert(!(time > 1 && time < 3.999) || asleep(&on, "slider"), "%g s", time);
        cr_assert(!(time > 4.002) || !asleep(&on, "slider"), "%g s", time);
    }
    const sim_state *a = sim_world_state(on.world), *b = sim_world_state(off.world);
    cr_expect_float_eq(a->q[q], b->q[q], 1e-4);
    cr_expect_float_eq(a->q[s], b->q[s], 1e-12);
    cr_expect_gt(a->q[s], 0.4);
    yard_end(&on);
    yard_end(&off);
}

/* A copy knows only the state. */
Test(wake, what_holds_who_sleeps_is_known_to_a_copy) {
    yard y = driven(1);
    until_asleep(&y, "arm");
    yard_step(&y);
    sim_world *copy = sim_world_create(y.model, sim_world_options(y.world), NULL);
    cr_assert_eq(sim_world_set_state(copy, sim_world_state(y.world), NULL), SIM_OK);
    yard_step(&y);
    cr_assert_eq(sim_world_step(copy, NULL), SIM_OK);
    cr_expect_eq(sim_world_info(copy)->woken, 0);
    cr_expect_neq(sim_world_efforts(copy)[0], 0);
    cr_expect_eq(sim_world_efforts(copy)[0], sim_world_efforts(y.world)[0]);
    sim_world_free(copy);
    yard_end(&y);
}

Test(wake, state_that_the_caller_changes_wakes_whom_it_moves) {
    yard y = yard_stack("sap", 1, 0);
    until_asleep(&y, "box0");
    until_asleep(&y, "alone");
    sim_state state = *sim_world_state(y.world);
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK); /* as it is: nobody wakes */
    yard_step(&y);
    cr_expect_eq(sim_world_info(y.world)->woken, 0);
    double q[64], v[64] = {0};
    state = *sim_world_state(y.world);
    memcpy(q, state.q, (size_t)y.model->nq * sizeof *q);
    q[y.model->tree[tree_of(y.model, "box2")].q0] += 1e-3;
    state.q = q;
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    yard_step(&y);
    cr_expect_eq(sim_world_info(y.world)->woken, YARD_STACK);
    cr_expect(asleep(&y, "alone"));
    state = *sim_world_state(y.world);
    v[y.model->tree[tree_of(y.model, "alone")].v0 + 2] = 1;
    state.v = v;
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    yard_step(&y);
    cr_expect(!asleep(&y, "alone"));
    cr_expect_gt(motion_of(&y, "alone").lin.z, 0.9);
    until_asleep(&y, "alone");
    state = *sim_world_state(y.world);
    state.rest = NULL; /* nobody knows of sleep */
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    yard_step(&y);
    cr_expect_eq(sim_world_info(y.world)->asleep, 0);
    yard_end(&y);
}

Test(wake, sleep_that_no_world_can_have_is_refused) {
    yard y = yard_stack("sap", 1, 0);
    until_asleep(&y, "box0");
    sim_rest rest[8];
    sim_state state = *sim_world_state(y.world);
    memcpy(rest, state.rest, (size_t)y.model->ntree * sizeof *rest);
    state.rest = rest;
    cr_assert_eq(sim_world_set_state(y.world, &state, NULL), SIM_OK);
    const int64_t bad[] = {-1, y.model->ntree + 1, 2};
    for (int k = 0; k < 3; k++) {
        int64_t was = rest[1].island;
        rest[0].island = bad[k];
        rest[1].island = k == 2 ? 0 : was;
        sim_error error = {0};
        cr_expect_eq(sim_world_set_state(y.world, &state, &error), SIM_BAD_INPUT, "%lld", (long long)bad[k]);
        cr_expect_not_null(strstr(error.text, "cannot sleep"), "%s", error.text);
        rest[0].island = rest[1].island = was;
    }
    yard_end(&y);
}

/* Two boxes far apart in one weld. */
Test(wake, constraint_holds_an_island_together) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    sim_equality weld = sim_equality_default();
    for (int k = 0; k < 2; k++) {
        weld.body[k] = yard_add(&y, k ? "b" : "a", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(2 * k, 0, 0.1), v3_make(0, 0, 0));
        weld.frame[k].p.x = k ? -1 : 1;
    }
    sim_builder_add_equality(y.builder, &weld);
    y.options.sleep = 1;
    yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
    until_asleep(&y, "a");
    cr_expect(asleep(&y, "b"));
    double held[6], *kept = sim_world_state(y.world)->equality_impulse;
    memcpy(held, kept, sizeof held);
    for (int n = 0; n < 3; n++) {
        yard_step(&y);
        kept = sim_world_state(y.world)->equality_impulse;
        cr_expect(memcmp(held, kept, sizeof held) == 0);
    }
    sim_world_applied(y.world)[y.model->tree[tree_of(y.model, "b")].v0 + 2] = 1;
    yard_step(&y);
    cr_expect_eq(sim_world_info(y.world)->woken, 2);
    sim_rest rest[2];
    sim_error error = {0};
    until_asleep(&y, "a");
    sim_state state = *sim_world_state(y.world);
    memcpy(rest, state.rest, sizeof rest);
    state.rest = rest;
    int other = tree_of(y.model, "a") == 0; /* not the first, by which the island is called */
    rest[other].island = 0;
    cr_expect_eq(sim_world_set_state(y.world, &state, &error), SIM_BAD_INPUT, "%s", error.text);
    yard_end(&y);
}

static void place(yard *y, const char *body, double x, double z) {
    sim_state state = *sim_world_state(y->world);
    double q[14];
    memcpy(q, state.q, sizeof q);
    double *at = q + y->model->tree[tree_of(y->model, body)].q0;
    at[0] = x;
    at[2] = z;
    state.q = q;
    cr_assert_eq(sim_world_set_state(y->world, &state, NULL), SIM_OK);
}

/* A ball falls on a box, in a world that saw it sleep elsewhere since, and in one that knows only the state. */
Test(wake, who_sleeps_in_a_state_taken_up_again_is_met_where_it_is) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    yard_add(&y, "box", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(0, 0, 0.1), v3_make(0, 0, 0));
    yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 1), v3_make(0, 0, 0));
    y.options.sleep = 1;
    y.options.sleep_time = 0.05;
    y.options.sleep_speed = 0.1;
    yard_open(&y, "sap", SIM_MIDPOINT, 1e-3);
    sim_world *copy = sim_world_create(y.model, sim_world_options(y.world), NULL);
    until_asleep(&y, "box");
    cr_assert_eq(sim_world_set_state(copy, sim_world_state(y.world), NULL), SIM_OK);
    place(&y, "box", 0.5, 0.1);
    yard_step(&y);
    cr_assert(!asleep(&y, "box"));
    until_asleep(&y, "box");
    yard_step(&y);
    cr_assert_eq(sim_world_set_state(y.world, sim_world_state(copy), NULL), SIM_OK);
    int woken = 0;
    for (int n = 0; n < 500; n++) {
        yard_step(&y);
        cr_assert_eq(sim_world_step(copy, NULL), SIM_OK);
        woken += sim_world_info(copy)->woken;
        const sim_state *a = sim_world_state(y.world), *b = sim_world_state(copy);
        cr_assert(memcmp(a->q, b->q, 14 * sizeof(double)) == 0, "step %d", n);
    }
    cr_expect_eq(woken, 1);
    sim_world_free(copy);
    yard_end(&y);
}

/* The problem of the next step is that of those awake, and asking for it changes nothing. */
Test(wake, problem_of_a_step_leaves_out_who_sleeps_and_asking_for_it_wakes_nobody) {
    yard y = yard_stack("sap", 1, 1), twin = yard_stack("sap", 1, 1);
    int woken = 0;
    for (int n = 0; n < 1900; n++) { /* the twin is a step ahead */
        yard_step(&twin);
        const sim_step_info *info = sim_world_info(twin.world);
        int awake = info->contacts - info->asleep_contacts;
        woken += info->woken;
        if (awake && (n % 100 == 99 || n > 1400)) {
            sim_step_info before = *sim_world_info(y.world);
            sim_problem *p = sim_world_problem(y.world, NULL);
            cr_assert_not_null(p);
            cr_assert_eq(p->nconstraint, awake, "step %d: %d constraints, %d contacts", n, p->nconstraint, awake);
            cr_assert(memcmp(&before, sim_world_info(y.world), sizeof before) == 0);
            sim_problem_free(p);
        }
        yard_step(&y);
    }
    cr_expect_eq(woken, YARD_STACK);
    cr_expect(memcmp(sim_world_state(y.world)->q, sim_world_state(twin.world)->q, (size_t)y.model->nq * 8) == 0);
    yard_end(&y);
    yard_end(&twin);
}

/* Contacts of the sleeping and the awake stand in one order, and the state is one that a world takes. */
Test(wake, contacts_of_the_sleeping_keep_their_place_among_the_others) {
    yard y = yard_stack("sap", 1, 0);
    until_asleep(&y, "box0");
    int dof = y.model->tree[tree_of(y.model, "alone")].v0;
    for (int n = 0; n < 50; n++) {
        sim_world_applied(y.world)[dof] = (n + 1) % 2;
        yard_step(&y);
        const sim_step_info *info = sim_world_info(y.world);
        cr_assert(info->asleep_contacts == 4 * YARD_STACK && info->contacts == 4 * YARD_STACK + 4);
        sim_state state = *sim_world_state(y.world);
        sim_error error = {0};
        cr_assert_eq(sim_world_set_state(y.world, &state, &error), SIM_OK, "%s", error.text);
        v3 impulse = impulse_on(&y, "box0");
        cr_assert_float_eq(impulse.z, g * 1e-3, 1e-6, "%g N s", impulse.z);
    }
    yard_end(&y);
}
