/* A step with contacts takes no memory once there has been one like it, and says so wherever it runs out. */
#include "math/v3.h"
#include "support/container.h"
#include "support/share.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static sim_world *clutter(sim_model **model, const char *solver, int threads, int settled) {
    random_source r = {1};
    sim_error error = {0};
    sim_options o = sim_options_default();
    double option[32];
    o.step = 0.01;
    o.threads = threads;
    o.solver = sim_solver_find(solver);
    for (int k = 0; k < o.solver->noptions; k++) {
        int sweeps = strcmp(solver, "pgs") == 0 && strcmp(o.solver->option[k].name, "max_iterations") == 0;
        option[k] = sweeps ? 100 : o.solver->option[k].default_value;
    }
    o.solver_option = option;
    *model = clutter_model(&r, 12, 1, INFINITY, o.step);
    sim_world *w = sim_world_create(*model, &o, &error);
    for (int k = 0; k < settled; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
    return w;
}

Test(contact_memory, a_step_like_those_before_allocates_nothing) {
    for (int k = 0; k < 4; k += is_part() ? 3 : 1) {
        sim_model *m;
        sim_world *w = clutter(&m, k / 2 ? "pgs" : "sap", 1 + k % 2, 500);
        long before = watched.calls;
        for (int step = 0; step < 100; step++) {
            cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        }
        cr_expect_eq(watched.calls, before, "%s: %ld allocations", k / 2 ? "pgs" : "sap", watched.calls - before);
        cr_expect_gt(sim_world_info(w)->contacts, 10);
        sim_world_free(w);
        sim_model_free(m);
    }
    cr_expect_gt(watched.calls, 0, "the allocations are not watched at all");
}

/* Balls with rolling and torsion on a sticky belt with friction by direction. */
Test(contact_memory, surfaces_of_every_kind_allocate_nothing) {
    static const char *const solver[] = {"auto", "acn", "pgs", "sap"};
    for (int k = 0; k < part_of(4); k++) {
        sim_builder *b = sim_builder_create();
        sim_options o = sim_options_default();
        sim_error error = {0};
        sim_material all = sim_material_default();
        all.friction_across = 0.2;
        all.rolling = all.torsion = 0.01;
        all.adhesion = 1;
        sim_shape shape = sim_shape_default();
        shape.material = sim_builder_add_material(b, &all);
        shape.type = SIM_HALF_SPACE;
        shape.surface_velocity.x = 0.5;
        sim_builder_add_shape(b, &shape);
        for (int i = 0; i < 6; i++) {
            sim_body_def def = sim_body_default();
            def.inertia = box_inertia(1, 0.2, 0.2, 0.2);
            def.q[0] = 0.21 * i;
            def.q[2] = 0.1;
            shape.type = i % 2 ? SIM_SPHERE : SIM_BOX;
            shape.size[0] = i % 2 ? 0.1 : 0.2;
            shape.size[1] = shape.size[2] = 0.2;
            shape.surface_velocity.x = 0;
            shape.body = sim_builder_add_body(b, &def);
            sim_builder_add_shape(b, &shape);
        }
        sim_model *m = sim_builder_finish(b, &error);
        cr_assert(m, "%s", error.text);
        o.solver = sim_solver_find(solver[k]);
        o.budget.iterations = 30; /* of a step: sweeps of pgs would be thousands */
        sim_world *w = sim_world_create(m, &o, &error);
        cr_assert(w, "%s", error.text);
        long before = 0;
        for (int step = 0; step < 300; step++) {
            before = step < 200 ? watched.calls : before;
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        }
        cr_expect_eq(watched.calls, before, "%s: %ld allocations", solver[k], watched.calls - before);
        cr_expect_gt(sim_world_info(w)->contacts, 12);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Half of the steps all lie still, half they are shaken. */
Test(contact_memory, sleeping_and_waking_allocates_nothing) {
    sim_model *m;
    sim_world *settled = clutter(&m, "sap", 1, 500);
    sim_options o = *sim_world_options(settled);
    o.sleep = 1;
    o.sleep_speed = 10;
    o.sleep_time = 0.05;
    sim_world *w = sim_world_create(m, &o, NULL);
    cr_assert_eq(sim_world_set_state(w, sim_world_state(settled), NULL), SIM_OK);
    long before = 0;
    int asleep = 0, woken = 0;
    for (int step = 0; step < 200; step++) {
        before = step == 100 ? watched.calls : before;
        sim_world_applied(w)[0] = step / 20 % 2 ? 1e-3 * step : 0;
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        asleep += sim_world_info(w)->asleep == 12;
        woken += sim_world_info(w)->woken;
    }
    cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
    cr_expect(asleep > 50 && woken == 5, "%d steps asleep, %d woke", asleep, woken);
    sim_world_free(w);
    sim_world_free(settled);
    sim_model_free(m);
}

/* Grippers that are forced open and let go: their motors become rows, and no rows again. */
Test(contact_memory, motors_that_become_rows_allocate_nothing) {
    for (int k = 0; k < 2; k++) {
        sim_builder *b = sim_builder_create();
        sim_options o = sim_options_default();
        sim_error error = {0};
        sim_material rough = sim_material_default();
        rough.friction = 1;
        int material = sim_builder_add_material(b, &rough);
        add_gripper(b, 0, material, 20, 1e5, 1e3);
        add_gripper(b, 1, material, 20, 1e5, 1e3);
        sim_model *m = sim_builder_finish(b, &error);
        cr_assert(m, "%s", error.text);
        o.solver = sim_solver_find(k ? "pgs" : "sap");
        sim_world *w = sim_world_create(m, &o, &error);
        long before = 0, saturated = 0;
        for (int step = 0; step < 300; step++) {
            sim_world_applied(w)[1] = sim_world_applied(w)[9] = 30 * (step / 10 % 2);
            before = step < 150 ? watched.calls : before;
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            saturated += sim_world_info(w)->saturated;
        }
        cr_expect_eq(watched.calls, before, "%s: %ld allocations", o.solver->name, watched.calls - before);
        cr_expect(saturated > 100 && saturated < 1100, "%ld", saturated);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* A weight that swings on a rope, slack and taut by turns, and on a spring around a post. */
Test(contact_memory, tendons_that_become_taut_allocate_nothing) {
    sim_builder *b = sim_builder_create();
    sim_error error = {0};
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    def.q[0] = 0.5;
    sim_site eye = {"eye", sim_builder_add_body(b, &def), {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}}};
    sim_site hook = {"hook", 0, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 1}}};
    sim_shape post = sim_shape_default();
    post.group = post.mask = 0;
    const sim_path_point path[] = {{.site = sim_builder_add_site(b, &hook)},
                                   {.kind = SIM_PATH_AROUND, .shape = sim_builder_add_shape(b, &post), .site = -1},
                                   {.site = sim_builder_add_site(b, &eye)}};
    sim_tendon t = sim_tendon_default();
    t.name = "string";
    t.path = path;
    t.npoint = 3;
    t.limit.high = 1.3;
    t.limit.restitution = 0.9;
    t.stiffness = 1;
    t.armature = 0.1;
    sim_builder_add_tendon(b, &t);
    sim_model *m = sim_builder_finish(b, &error);
    cr_assert(m, "%s", error.text);
    sim_options o = sim_options_default();
    sim_world *w = sim_world_create(m, &o, &error);
    cr_assert(w, "%s", error.text);
    long before = 0;
    int taut = 0;
    for (int step = 0; step < 4000; step++) {
        before = step == 2000 ? watched.calls : before;
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        taut += sim_world_state(w)->tendon_impulse[1] > 0;
    }
    cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
    cr_expect(taut > 2 && taut < 4000, "%d", taut);
    sim_world_free(w);
    sim_model_free(m);
}

Test(contact_memory, running_out_of_it_anywhere_is_said_and_survived) {
    int failures = 0;
    for (long n = 1;; n++) {
        sim_model *m;
        sim_world *w = clutter(&m, n % 2 ? "sap" : "pgs", 1, 0);
        sim_error error = {0};
        sim_status status = SIM_OK;
        watched.calls = 0;
        watched.fail_at = n;
        for (int step = 0; step < 20 && !status; step++) {
            status = sim_world_step(w, &error);
        }
        int reached = watched.calls >= n;
        watched.fail_at = 0;
        if (status) {
            failures++;
            cr_expect_eq(status, SIM_NO_RESOURCE, "%d: %s", (int)status, error.text);
            cr_expect_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
        }
        sim_world_free(w);
        sim_model_free(m);
        if (!reached && n % 2) { /* both solvers have had their turn */
            break;
        }
    }
    cr_expect_gt(failures, 20);
}

/* A servo between two sites is a row in every step; a limit of velocity comes and goes. */
Test(contact_memory, rows_of_actuators_and_velocity_limits_allocate_nothing) {
    static const double at_once[] = {0}, swing[] = {1.5};
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.axis = v3_make(0, 1, 0);
    def.inertia = box_inertia(1, 0.2, 0.1, 0.1);
    def.inertia.com = v3_make(0.3, 0, 0);
    def.velocity_limit[0] = 1;
    int body = sim_builder_add_body(b, &def);
    sim_site tip = {.name = "tip", .body = body, .pose = {m3_identity(), {0.5, 0, 0}}};
    sim_site wall = {.name = "wall", .body = 0, .pose = {m3_identity(), {0, 0, 0}}};
    sim_actuator a = sim_actuator_default();
    a.transmission = SIM_BY_SITE;
    a.site[0] = sim_builder_add_site(b, &tip);
    a.site[1] = sim_builder_add_site(b, &wall);
    a.wrench[2] = 1;
    a.gain[0] = 40;
    a.bias[1] = -40;
    a.activation.type = SIM_FILTERED;
    a.activation.time_constant[0] = 0.1;
    a.ctrl = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = at_once, .values = swing};
    sim_builder_add_actuator(b, 0, &a);
    sim_error error = {0};
    sim_model *m = sim_builder_finish(b, &error);
    cr_assert(m, "%s", error.text);
    sim_world *w = sim_world_create(m, NULL, &error);
    int limited = 0;
    for (int step = 0; step < 1000; step++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    long before = watched.calls;
    for (int step = 0; step < 2000; step++) {
        sim_world_inputs(w, SIM_CTRL)[0] = step / 200 % 2 ? 0.4 : -0.4;
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        limited += sim_world_state(w)->joint_impulse[SIM_ROW_SPEED] != 0;
    }
    cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
    cr_expect(limited > 50 && limited < 1900, "%d", limited);
    sim_world_free(w);
    sim_model_free(m);
}
