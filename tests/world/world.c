/* The world: options, states, failures, profile. */
#include "support/models.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(world, a_step_that_goes_non_finite_names_the_place_and_leaves_the_state) {
    sim_model *m = quadruped_model();
    sim_world *w = open_world(m, SIM_SYMPLECTIC_EULER, 1e-3, 1);
    run_world(w, 3);
    sim_world_applied(w)[9] = NAN;
    sim_error error;
    double time = sim_world_state(w)->time;
    cr_expect_eq(sim_world_step(w, &error), SIM_FAILED);
    cr_expect_not_null(strstr(error.text, m->body[m->dof[9].body].name), "%s", error.text);
    cr_expect_not_null(strstr(error.text, "step 4"), "%s", error.text);
    cr_expect_eq(sim_world_state(w)->time, time);
    cr_expect(isfinite(sim_world_energy(w).kinetic));
    sim_world_applied(w)[9] = 0;
    cr_expect_eq(sim_world_step(w, &error), SIM_OK);
    sim_world_free(w);
    sim_model_free(m);
}

Test(world, bad_options_and_states_are_refused) {
    sim_model *m = quadruped_model();
    sim_options options = sim_options_default();
    sim_error error;
    options.step = 0;
    cr_expect_null(sim_world_create(m, &options, &error));
    options.step = NAN;
    cr_expect_null(sim_world_create(m, &options, &error));
    options = sim_options_default();
    options.threads = 0;
    cr_expect_null(sim_world_create(m, &options, &error));
    cr_expect_eq(error.status, SIM_BAD_INPUT);

    options = sim_options_default();
    double *const law[] = {&options.law.beta, &options.law.sigma,   &options.law.push, &options.law.threshold,
                           &options.law.slop, &options.law.carried, &options.law.undo};
    for (size_t k = 0; k < sizeof law / sizeof *law; k++) {
        double before = *law[k];
        *law[k] = -1e-3;
        for (int contacts = 0; contacts < 2; contacts++) { /* rows of joints have the law, too */
            options.contacts = contacts;
            cr_expect_null(sim_world_create(m, &options, &error), "parameter %zu of the law", k);
        }
        *law[k] = before;
    }

    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-3, 1);
    sim_state state = *sim_world_state(w);
    double *q = malloc((size_t)m->nq * sizeof *q);
    memcpy(q, state.q, (size_t)m->nq * sizeof *q);
    state.q = q;
    q[3] = 2;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    q[3] = INFINITY;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    q[3] = 1;
    state.time = 3;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    state.time0 = 3;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_OK);
    free(q);
    sim_world_free(w);
    sim_model_free(m);
}

Test(world, contacts_get_the_compliance_asked_for_or_that_of_the_solver) {
    sim_options options = sim_options_default();
    cr_expect_eq(sim_options_compliance(&options), sim_solver_default()->default_law);
    options.solver = sim_solver_find("pgs");
    cr_expect_eq(sim_options_compliance(&options), SIM_RIGID);
    options.compliance = SIM_ELASTIC;
    cr_expect_eq(sim_options_compliance(&options), SIM_ELASTIC);
}

/* Two balls that overlap and stay where they are. */
static sim_model *two_balls(void) {
    sim_builder *b = sim_builder_create();
    sim_shape ball = sim_shape_default();
    ball.type = SIM_SPHERE;
    ball.size[0] = 1;
    for (int i = 0; i < 2; i++) {
        sim_body_def def = sim_body_default();
        def.inertia = sim_shape_inertia(&ball, 1);
        def.q[0] = 1.9 * i;
        def.q[3] = 1;
        ball.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &ball);
    }
    return sim_builder_finish(b, NULL);
}

Test(world, finds_what_stands_still_though_nobody_looked) {
    for (int integrator = 0; integrator < SIM_RK4; integrator++) {
        sim_builder *b = sim_builder_create();
        sim_shape ball = sim_shape_default(), floor = sim_shape_default();
        ball.type = SIM_SPHERE;
        ball.size[0] = 0.1;
        floor.type = SIM_HALF_SPACE;
        sim_body_def def = sim_body_default(), fixed = sim_body_default();
        fixed.joint = SIM_FIXED;
        fixed.placement.p.z = 5;
        floor.body = sim_builder_add_body(b, &fixed);
        def.inertia = sim_shape_inertia(&ball, 1000);
        def.q[2] = 5.1;
        def.q[3] = 1;
        ball.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &floor);
        sim_builder_add_shape(b, &ball);
        sim_model *m = sim_builder_finish(b, NULL);
        sim_world *w = open_world(m, (sim_integrator)integrator, 1e-3, 1);
        run_world(w, 100);
        cr_expect_float_eq(sim_world_state(w)->q[2], 5.1, 1e-5, "%s", sim_integrator_name((sim_integrator)integrator));
        sim_world_free(w);
        sim_model_free(m);
    }
}

Test(world, takes_contacts_only_if_finite_in_order_and_of_its_own_shapes) {
    sim_model *m = two_balls();
    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-3, 1);
    run_world(w, 1);
    sim_state state = *sim_world_state(w);
    cr_assert_eq(state.ncontact, 1);
    sim_error error;
    sim_contact two[2] = {state.contact[0], state.contact[0]};
    sim_v3 impulse[2] = {state.impulse[0], state.impulse[0]}, trend[2] = {{0}};
    state.contact = two;
    state.impulse = impulse;
    state.impulse_trend = trend;
    state.ncontact = 2;
    two[1].at.feature++;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_OK, "%s", error.text);
    struct {
        size_t at;
        double value;
        const char *words;
    } wrong[] = {{offsetof(sim_contact, at.gap), NAN, "contact 0 of the state holds a number that is not finite"},
                 {offsetof(sim_contact, at.normal.y), INFINITY, "not finite"},
                 {offsetof(sim_contact, at.position.z), NAN, "not finite"},
                 {offsetof(sim_contact, at.apart.x), NAN, "not finite"},
                 {offsetof(sim_contact, friction), NAN, "not finite"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        sim_contact good = two[0];
        memcpy((char *)two + wrong[k].at, &wrong[k].value, sizeof wrong[k].value);
        cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
        cr_expect_not_null(strstr(error.text, wrong[k].words), "%s", error.text);
        two[0] = good;
    }
    two[1].shape_b = 2;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    cr_expect_not_null(strstr(error.text, "contact 1 of the state has shapes"), "%s", error.text);
    two[1].shape_b = 1;
    two[1].body_a = 0;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    two[1] = two[0];
    two[0].at.feature++;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    cr_expect_not_null(strstr(error.text, "contact 1 of the state is out of order"), "%s", error.text);
    two[0] = two[1];
    two[1].at.feature++;
    impulse[1].z = NAN;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    state.ncontact = -1;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    state.ncontact = 1;
    state.impulse = NULL;
    cr_expect_eq(sim_world_set_state(w, &state, &error), SIM_BAD_INPUT);
    sim_world_free(w);
    sim_model_free(m);
}

Test(world, keeps_its_solver_s_options_in_memory_of_its_own) {
    sim_model *m = two_balls();
    sim_options options = sim_options_default();
    options.solver = sim_solver_find("pgs");
    double value[64];
    for (int k = 0; k < options.solver->noptions; k++) {
        value[k] = options.solver->option[k].default_value;
    }
    value[0] = 1e-3;
    options.solver_option = value;
    sim_world *given = sim_world_create(m, &options, NULL);
    options.solver_option = NULL;
    sim_world *standard = sim_world_create(m, &options, NULL);
    memset(value, 0xff, sizeof value);
    cr_assert(given && standard);
    cr_expect_eq(sim_world_options(given)->solver_option[0], 1e-3);
    for (int k = 0; k < options.solver->noptions; k++) {
        double own = options.solver->option[k].default_value;
        cr_expect_eq(sim_world_options(standard)->solver_option[k], own);
        cr_expect(k == 0 || sim_world_options(given)->solver_option[k] == own);
    }
    sim_world_free(given);
    sim_world_free(standard);
    sim_model_free(m);
}

Test(world, a_step_cut_short_says_how_far_it_was_from_the_end) {
    random_source r = {80};
    sim_model *m = random_forest(&r, 20);
    sim_options options = sim_options_default();
    for (int k = 0; k < 2; k++) {
        options.max_iterations = k ? 50 : 1;
        sim_world *w = sim_world_create(m, &options, NULL);
        run_world(w, 1);
        const sim_step_info *info = sim_world_info(w);
        cr_expect(k ? info->nonconverged == 0 : info->nonconverged > 0);
        cr_expect(info->residual > 0 && (info->residual <= options.tolerance) == k, "%g", info->residual);
        cr_expect(k || info->sweeps <= m->ntree);
        sim_world_free(w);
    }
    sim_model_free(m);
}

Test(world, time_is_counted_not_summed) {
    sim_model *m = arm_model();
    sim_world *w = open_world(m, SIM_SYMPLECTIC_EULER, 0.001, 1);
    run_world(w, 1000);
    cr_expect_eq(sim_world_state(w)->time, 1000 * 0.001);
    sim_world_free(w);
    sim_model_free(m);
}

Test(world, a_model_without_bodies_steps_too) {
    sim_model *m = sim_builder_finish(sim_builder_create(), NULL);
    sim_world *w = open_world(m, SIM_MIDPOINT, 0.001, 2);
    run_world(w, 3);
    cr_expect_eq(sim_world_energy(w).kinetic, 0);
    sim_world_free(w);
    sim_model_free(m);
}

/* ---- the profile ---- */

/* A clock that goes on by one at each reading. */
static double tick(void *context) {
    double *readings = context;
    return (*readings)++;
}

static sim_model *boxes_on_ground(void) {
    sim_builder *b = sim_builder_create();
    sim_shape ground = sim_shape_default();
    ground.type = SIM_HALF_SPACE;
    sim_builder_add_shape(b, &ground);
    for (int i = 0; i < 5; i++) {
        sim_body_def def = sim_body_default();
        sim_shape box = sim_shape_default();
        box.type = SIM_BOX;
        box.size[0] = box.size[1] = box.size[2] = 0.1;
        def.inertia = sim_shape_inertia(&box, 1000);
        def.q[0] = i;
        def.q[2] = 0.05;
        box.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &box);
    }
    return sim_builder_finish(b, NULL);
}

Test(world, a_profile_gives_every_moment_of_a_step_to_one_stage) {
    sim_model *m = boxes_on_ground();
    sim_world *w = open_world(m, SIM_SYMPLECTIC_EULER, 1e-2, 1);
    double readings = 0, sum = 0;
    sim_profile profile = {.clock = {tick, &readings}};
    sim_world_profile(w, &profile);
    run_world(w, 10);
    for (int k = 0; k <= SIM_TIME_INTEGRATE; k++) {
        cr_assert_eq(profile.seconds[k], 10, "%s", sim_time_name((sim_time)k));
    }
    cr_assert_eq(profile.seconds[SIM_TIME_SOLVER], 0);
    profile = (sim_profile){.clock = profile.clock, .parts = 1};
    readings = 0;
    run_world(w, 1);
    for (int k = 0; k <= SIM_TIME_INTEGRATE; k++) {
        sum += profile.seconds[k];
    }
    cr_assert_eq(sum, readings - 1); /* from the first to the last */
    cr_assert_eq(sim_world_info(w)->islands, 5);
    cr_assert_eq(profile.seconds[SIM_TIME_REGULARISE], 5);
    cr_assert_eq(profile.seconds[SIM_TIME_JUDGE], 5);
    cr_assert_eq(profile.seconds[SIM_TIME_FACTOR], sim_world_info(w)->factorisations);
    sim_world_profile(w, NULL);
    readings = 0;
    run_world(w, 1);
    cr_assert_eq(readings, 0);
    sim_world_free(w);
    sim_model_free(m);
}

Test(world, nothing_depends_on_the_clock) {
    sim_model *m = boxes_on_ground();
    sim_world *timed = open_world(m, SIM_MIDPOINT, 1e-2, 1), *plain = open_world(m, SIM_MIDPOINT, 1e-2, 1);
    double readings = 0;
    sim_profile profile = {.clock = {tick, &readings}, .parts = 1};
    sim_world_profile(timed, &profile);
    run_world(timed, 20);
    run_world(plain, 20);
    cr_assert(sim_state_same(m, sim_world_state(timed), sim_world_state(plain)));
    cr_assert_gt(readings, 100);
    sim_world_free(timed);
    sim_world_free(plain);
    sim_model_free(m);
}
