/* Memory: none is taken in a step, and wherever it runs out the failure is said and nothing leaks. */
#include "support/models.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(memory, a_step_allocates_nothing_with_any_integrator) {
    random_source r = {3};
    sim_model *m = random_forest(&r, 40);
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        sim_options options = sim_options_default();
        options.integrator = (sim_integrator)integrator;
        options.threads = 2;
        sim_world *w = sim_world_create(m, &options, NULL);
        long before = watched.calls;
        for (int k = 0; k < 20; k++) {
            cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
            sim_world_energy(w);
        }
        cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
        sim_world_free(w);
    }
    cr_expect_gt(watched.calls, 0, "the allocations are not watched at all");
    sim_model_free(m);
}

/* Every type of sensor on a body, in as far as its joint lets it. */
static void add_sensors(sim_builder *b, int body, sim_joint_type joint) {
    for (int type = 0; type < SIM_SENSOR_TYPES; type++) {
        char name[32];
        bool of_actuator = type == SIM_SENSE_ACTUATOR_FORCE || type == SIM_SENSE_ACTUATOR_LENGTH ||
                           type == SIM_SENSE_ACTUATOR_VELOCITY;
        bool of_joint = type <= SIM_SENSE_JOINT_EFFORT || of_actuator;
        bool of_tendon = type == SIM_SENSE_TENDON_LENGTH || type == SIM_SENSE_TENDON_VELOCITY;
        bool of_ball = type == SIM_SENSE_BALL_ORIENTATION || type == SIM_SENSE_BALL_ANGULAR_VELOCITY;
        if (of_ball || of_tendon || (of_joint && joint != SIM_HINGE)) {
            continue;
        }
        snprintf(name, sizeof name, "s%d_%d", body, type);
        sim_sensor sensor = sim_sensor_default();
        sensor.name = name;
        sensor.type = (sim_sensor_type)type;
        sensor.body = body;
        sim_builder_add_sensor(b, &sensor);
    }
}

Test(memory, a_step_with_sensors_and_contacts_allocates_nothing) {
    sim_builder *b = sim_builder_create();
    sim_shape plane = sim_shape_default(), ball = plane;
    plane.type = SIM_HALF_SPACE;
    sim_builder_add_shape(b, &plane);
    for (int k = 0; k < 6; k++) {
        sim_body_def def = sim_body_default();
        def.joint = k % 2 ? SIM_HINGE : SIM_FREE;
        def.parent = k % 2 ? k : 0;
        def.placement.p.x = 0.3;
        def.q[0] = k;
        def.q[2] = 0.1;
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        ball.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &ball);
        sim_actuator drive = sim_actuator_default();
        if (def.joint == SIM_HINGE) {
            sim_builder_add_actuator(b, ball.body, &drive);
            add_sensors(b, ball.body, def.joint);
        }
    }
    sim_error error = {0};
    sim_model *m = sim_builder_finish(b, &error);
    cr_assert_not_null(m, "%s", error.text);
    cr_assert_eq(m->nsensor, 3 * (SIM_SENSOR_TYPES - 4)); /* all but those of balls and tendons */
    sim_world *w = sim_world_create(m, NULL, NULL);
    for (int k = 0; k < 100; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    long before = watched.calls;
    for (int k = 0; k < 20; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
    cr_expect(sim_world_state(w)->ncontact > 0);
    sim_world_free(w);
    sim_model_free(m);
}

/* A soft ball that lies on another, which is held at its lower half. */
Test(memory, a_step_with_soft_surfaces_on_each_other_allocates_nothing) {
    sim_builder *b = sim_builder_create();
    sim_shape shape = sim_shape_default();
    sim_soft_mesh mesh;
    sim_error error = {0};
    shape.size[0] = 0.04;
    cr_assert_eq(sim_shape_soft_mesh(&shape, 0.03, &mesh, &error), SIM_OK);
    bool *held = calloc((size_t)mesh.nnode, sizeof *held);
    sim_builder_gravity(b, (sim_v3){0, 0, -9.81});
    for (int k = 0; k < 2; k++) {
        sim_soft soft = sim_soft_default();
        soft.pose.p.z = 0.081 * k;
        soft.modulus = 3e4;
        soft.dissipation = 0.02;
        soft.thickness = 1e-3;
        soft.nnode = mesh.nnode;
        soft.node = mesh.node;
        soft.ntet = mesh.ntet;
        soft.tet = (const int(*)[4])mesh.tet;
        for (int n = 0; n < mesh.nnode; n++) {
            held[n] = k == 0 && mesh.node[n].z < 0;
        }
        soft.held = held;
        sim_builder_add_soft(b, &soft);
    }
    free(held);
    sim_soft_mesh_free(&mesh);
    sim_model *m = sim_builder_finish(b, &error);
    cr_assert_not_null(m, "%s", error.text);
    sim_options options = sim_options_default();
    options.step = 4e-3;
    options.solver = sim_solver_find("sap");
    size_t bytes = watched.bytes;
    sim_world *w = sim_world_create(m, &options, &error);
    cr_assert_not_null(w, "%s", error.text);
    for (int k = 0; k < 40; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    long before = watched.calls;
    for (int k = 0; k < 5; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
    cr_expect(sim_world_state(w)->ncontact > 0);
    /* the blocks of A are counted: by Euler's formula a mesh of V nodes and T tetrahedra has V + T - 1 edges and more */
    size_t edges = (size_t)(m->soft[1].ntet + m->soft[1].nnode - 1), world_bytes = sim_world_bytes(w);
    cr_expect_geq(world_bytes, 9 * sizeof(double) * (edges + (size_t)m->soft[1].nnode), "%zu bytes", world_bytes);
    cr_expect_leq(world_bytes, watched.bytes - bytes, "%zu bytes of %zu asked for", world_bytes,
                  (size_t)(watched.bytes - bytes));
    sim_world_free(w);
    sim_model_free(m);
}

Test(memory, a_caller_that_pushes_switches_and_branches_allocates_nothing) {
    /* two boxes on a plane and a weld between them, which is off */
    sim_builder *b = sim_builder_create();
    sim_builder_gravity(b, (sim_v3){0, 0, -9.81});
    sim_shape shape = sim_shape_default();
    shape.type = SIM_HALF_SPACE;
    sim_builder_add_shape(b, &shape);
    sim_equality weld = sim_equality_default();
    shape.type = SIM_BOX;
    shape.size[0] = shape.size[1] = shape.size[2] = 0.1;
    for (int k = 0; k < 2; k++) {
        sim_body_def def = sim_body_default();
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        def.q[0] = 0.3 * k;
        def.q[2] = 0.05;
        weld.body[k] = shape.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &shape);
    }
    weld.off = true;
    sim_builder_add_equality(b, &weld);
    sim_model *m = sim_builder_finish(b, NULL);
    sim_world *w = sim_world_create(m, NULL, NULL), *branch = sim_world_create(m, NULL, NULL);
    sim_snapshot *s = sim_snapshot_create(w, NULL);
    cr_assert(w && branch && s);
    /* twice the same, the second time warm */
    long before = 0;
    for (int k = 0; k < 200; k++) {
        before = k == 100 ? watched.calls : before;
        memset(sim_world_wrenches(w), 0, (size_t)m->nbody * sizeof(sim_force));
        sim_world_push(w, (sim_point){1, {0.05, 0, 0.05}}, (sim_force){{0, 0, 0}, {k % 3, 1, 0}});
        cr_assert_eq(sim_world_switch(w, 0, (sim_switch)(k / 10 % SIM_SWITCHES), NULL), SIM_OK);
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        cr_assert_eq(sim_snapshot_take(s, w, NULL), SIM_OK);
        cr_assert_eq(sim_world_set_state(branch, sim_snapshot_state(s), NULL), SIM_OK);
        cr_assert_eq(sim_world_step(branch, NULL), SIM_OK);
    }
    cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
    cr_expect_gt(sim_world_state(w)->ncontact, 0);
    sim_snapshot_free(s);
    sim_world_free(branch);
    sim_world_free(w);
    sim_model_free(m);
}

Test(memory, controllers_and_phases_allocate_nothing) {
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.inertia = box_inertia(1, 0.1, 0.2, 0.3);
    def.placement.p.x = 0.3;
    int actuator[4];
    for (int k = 0; k < 4; k++) {
        def.parent = k == 3 ? 0 : def.parent;
        def.axis = k % 2 ? (sim_v3){0, 1, 0} : (sim_v3){0, 0, 1};
        def.parent = sim_builder_add_body(b, &def);
        sim_actuator drive = sim_actuator_default();
        actuator[k] = sim_builder_add_actuator(b, def.parent, &drive);
        if (k == 2) {
            sim_builder_add_site(b, &(sim_site){.name = "tip", .body = def.parent, .pose = def.placement});
        }
    }
    sim_model *m = sim_builder_finish(b, NULL);
    const double gain[] = {10}, aim[] = {0.4};
    sim_controller task = {.name = "task",
                           .type = SIM_TASK_IMPEDANCE,
                           .nactuator = 3,
                           .actuator = actuator,
                           .task_stiffness = {100, 100, 100},
                           .damping_ratio = 1,
                           .posture_rate = 2};
    sim_controller joint = {.name = "joint",
                            .type = SIM_JOINT_IMPEDANCE,
                            .nactuator = 1,
                            .actuator = actuator + 3,
                            .stiffness = gain,
                            .damping = gain};
    sim_target target[] = {{.controller = 1, .duration = 0.02, .value = aim}};
    sim_condition soon = {.quantity = SIM_ELAPSED, .low = 0.03, .high = 1};
    sim_transition next = {.to = 0, .ncondition = 1, .condition = &soon};
    sim_phase phase = {.name = "again", .ntarget = 1, .target = target, .ntransition = 1, .transition = &next};
    sim_controller machine = {.name = "machine", .type = SIM_PHASES, .nphase = 1, .phase = &phase};
    sim_error error = {0};
    cr_assert_eq(sim_model_add_controller(m, &task, &error), SIM_OK, "%s", error.text);
    cr_assert_eq(sim_model_add_controller(m, &joint, &error), SIM_OK, "%s", error.text);
    cr_assert_eq(sim_model_add_controller(m, &machine, &error), SIM_OK, "%s", error.text);
    sim_world *w = sim_world_create(m, NULL, NULL);
    long before = watched.calls;
    for (int k = 0; k < 100; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
    cr_expect_eq(sim_world_phase(w, 2), 0);
    cr_expect_float_eq(sim_world_state(w)->q[3], 0.4, 0.4);
    sim_world_free(w);
    sim_model_free(m);
}

/* Model, world, snapshot, operational inertia and a few steps; SIM_OK or the status of what failed. */
static sim_status live(void) {
    static const double times[] = {0}, values[] = {0.1};
    sim_error error = {0};
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i < 40; i++) {
        sim_body_def def = sim_body_default();
        def.joint = i % 3 ? SIM_HINGE : SIM_FREE;
        def.parent = i % 3 ? i : 0;
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        int body = sim_builder_add_body(builder, &def);
        sim_actuator actuator = sim_actuator_default();
        actuator.kp = actuator.kd = 1;
        actuator.effort = 10;
        actuator.target =
            (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = times, .values = values};
        if (def.joint == SIM_HINGE) {
            sim_builder_add_actuator(builder, body, &actuator);
        }
        if (i < 2) {
            sim_site site = {.name = i % 2 ? "odd" : "even", .body = body, .pose = def.placement};
            sim_builder_add_keyframe(builder, site.name, i);
            sim_builder_set_keyframe(builder, i, body, NULL, NULL);
            sim_builder_add_site(builder, &site);
            add_sensors(builder, body, i % 3 ? SIM_HINGE : SIM_FREE);
        }
    }
    sim_model *m = sim_builder_finish(builder, &error);
    sim_world *w = m ? sim_world_create(m, NULL, &error) : NULL;
    sim_operational *work = w ? sim_operational_create(m, 4, &error) : NULL;
    sim_snapshot *snapshot = work ? sim_snapshot_create(w, &error) : NULL;
    sim_status status = snapshot ? sim_world_step(w, &error) : error.status;
    sim_snapshot_free(snapshot);
    sim_operational_free(work);
    sim_world_free(w);
    sim_model_free(m);
    return status;
}

Test(memory, running_out_of_it_anywhere_is_said_and_survived) {
    int failures = 0;
    for (long n = 1;; n++) {
        watched.calls = 0;
        watched.fail_at = n;
        sim_status status = live();
        int reached = watched.calls >= n;
        watched.fail_at = 0;
        if (!reached) {
            cr_expect_eq(status, SIM_OK);
            break;
        }
        cr_expect_eq(status, SIM_NO_RESOURCE, "allocation %ld", n);
        failures++;
    }
    cr_expect_gt(failures, 20);
}
