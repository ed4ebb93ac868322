/* Controllers and loads. */
#include "support/models.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static sim_body_def arm_link(int parent, double x) {
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.parent = parent;
    def.axis = (v3){0, 1, 0};
    def.placement.p = (v3){x, 0, 0};
    def.inertia = box_inertia(2, 0.5, 0.1, 0.1);
    def.inertia.com = (v3){0.25, 0, 0};
    return def;
}

static sim_world *two_links(sim_model **model, sim_integrator integrator, double step, sim_actuator actuator,
                            const sim_load *load) {
    sim_builder *builder = sim_builder_create();
    sim_body_def upper = arm_link(0, 0), lower = arm_link(1, 0.5);
    sim_builder_add_body(builder, &upper);
    sim_builder_add_body(builder, &lower);
    for (int body = 1; body <= 2; body++) {
        sim_builder_add_actuator(builder, body, &actuator);
    }
    if (load) {
        sim_builder_add_load(builder, load, 2);
    }
    sim_error error;
    *model = sim_builder_finish(builder, &error);
    cr_assert_not_null(*model, "%s", error.text);
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    return sim_world_create(*model, &options, &error);
}

static void run(sim_world *w, int steps) {
    sim_error error;
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
}

static const double origin_time[] = {0}, origin_value[] = {0.4};

static sim_actuator holding(double kp, double kd, double effort, int gravity) {
    sim_actuator a = sim_actuator_default();
    a.kp = kp;
    a.kd = kd;
    a.effort = effort;
    a.gravity_compensation = gravity;
    a.target =
        (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = origin_time, .values = origin_value};
    return a;
}

Test(control, very_stiff_gains_are_stable_at_large_steps_with_every_implicit_scheme) {
    for (int integrator = 0; integrator < SIM_RK4; integrator++) {
        sim_model *m;
        sim_world *w = two_links(&m, (sim_integrator)integrator, 0.01, holding(1e7, 1e4, INFINITY, 0), NULL);
        run(w, 500);
        for (int j = 0; j < 2; j++) {
            cr_expect(fabs(sim_world_state(w)->q[j] - 0.4) < 1e-5, "%s: %g",
                      sim_integrator_name((sim_integrator)integrator), sim_world_state(w)->q[j]);
            cr_expect(fabs(sim_world_state(w)->v[j]) < 1e-6);
        }
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* With gravity compensation the links come to rest on their targets. */
static void expect_no_droop(sim_integrator integrator, double step, int steps) {
    sim_model *m;
    sim_world *w = two_links(&m, integrator, step, holding(100, 30, INFINITY, 1), NULL);
    run(w, steps);
    for (int j = 0; j < 2; j++) {
        cr_expect(fabs(sim_world_state(w)->q[j] - 0.4) < 1e-9, "%g", sim_world_state(w)->q[j] - 0.4);
    }
    sim_world_free(w);
    sim_model_free(m);
}

Test(control, gravity_compensation_leaves_no_droop) { expect_no_droop(SIM_MIDPOINT, 2e-3, 10000); }
Test(control, gravity_compensation_acts_under_runge_kutta_too) { expect_no_droop(SIM_RK4, 1e-3, 20000); }

/* Without compensation the droop is the gravity torque over the gain. */
Test(control, without_it_the_droop_is_gravity_torque_over_gain) {
    sim_model *m;
    sim_world *w = two_links(&m, SIM_MIDPOINT, 2e-3, holding(400, 60, INFINITY, 0), NULL);
    run(w, 10000);
    double gravity[2], rest[2] = {0, 0};
    sim_derived *d = sim_derived_create(m, NULL);
    sim_kinematics(d, sim_all(m), sim_world_state(w)->q);
    sim_velocities(d, sim_all(m), rest);
    sim_rnea(d, sim_all(m), NULL, NULL, m->gravity, gravity);
    for (int j = 0; j < 2; j++) {
        cr_expect(fabs(400 * (0.4 - sim_world_state(w)->q[j]) - gravity[j]) < 1e-6);
    }
    sim_derived_free(d);
    sim_world_free(w);
    sim_model_free(m);
}

/* The arm hangs down from 4 N m against a gravity torque that is larger: both joints sit at their limit and fall. */
Test(control, an_actuator_never_exceeds_its_effort) {
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        sim_model *m;
        double step = integrator == SIM_RK4 ? 1e-4 : 1e-3;
        sim_world *w = two_links(&m, (sim_integrator)integrator, step, holding(1e4, 100, 2, 0), NULL);
        sim_derived *d = sim_derived_create(m, NULL);
        int saturated = 0, steps = (int)(0.3 / step + 0.5);
        for (int k = 0; k < steps; k++) {
            run(w, 1);
            saturated += sim_world_info(w)->saturated > 0;
            cr_assert_eq(sim_world_info(w)->nonconverged, 0);
        }
        cr_expect(saturated > steps / 2, "%s: %d", sim_integrator_name((sim_integrator)integrator), saturated);
        cr_expect(sim_world_state(w)->q[0] > 0.01, "falls under gravity towards positive angles");
        sim_derived_free(d);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* With the effort limit the step must satisfy the clamped law itself: M (v1 - v0) + dt C = dt clamp(...). */
Test(control, the_saturated_step_obeys_the_clamped_law) {
    sim_model *m;
    sim_world *w = two_links(&m, SIM_SYMPLECTIC_EULER, 5e-3, holding(300, 20, 15, 0), NULL);
    sim_derived *d = sim_derived_create(m, NULL);
    double worst = 0;
    int at_limit = 0, inside = 0;
    for (int k = 0; k < 400; k++) {
        double q[2], v[2], a[2], needed[2];
        for (int j = 0; j < 2; j++) {
            q[j] = sim_world_state(w)->q[j];
            v[j] = sim_world_state(w)->v[j];
        }
        run(w, 1);
        for (int j = 0; j < 2; j++) {
            a[j] = (sim_world_state(w)->v[j] - v[j]) / 5e-3;
        }
        sim_kinematics(d, sim_all(m), q);
        sim_velocities(d, sim_all(m), v);
        sim_rnea(d, sim_all(m), a, NULL, m->gravity, needed);
        for (int j = 0; j < 2; j++) {
            double law = 300 * (0.4 - sim_world_state(w)->q[j]) - 20 * sim_world_state(w)->v[j];
            double clamped = fmax(-15, fmin(15, law));
            at_limit += clamped != law;
            inside += clamped == law;
            worst = fmax(worst, fabs(needed[j] - clamped));
        }
    }
    cr_expect(worst < 1e-7, "%g", worst);
    cr_expect(at_limit > 10 && inside > 10, "%d %d", at_limit, inside);
    sim_derived_free(d);
    sim_world_free(w);
    sim_model_free(m);
}

/* A chain of hinges and sliders, each on a stiff actuator that most of the time is at its limit. */
static sim_model *strained_chain(random_source *r, int links, double effort, sim_actuator actuator[]) {
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i < links; i++) {
        sim_body_def def = sim_body_default();
        def.joint = random_index(r, 2) ? SIM_HINGE : SIM_SLIDER;
        def.parent = i;
        def.placement = (sim_pose){random_rotation(r), {0.2, 0, 0.1}};
        def.axis = random_unit(r);
        def.inertia = random_inertia(r);
        def.v[0] = random_uniform(r, -3, 3);
        actuator[i] = holding(pow(10, random_uniform(r, 1, 6)), pow(10, random_uniform(r, 0, 3)), effort, 0);
        sim_builder_add_actuator(builder, sim_builder_add_body(builder, &def), &actuator[i]);
    }
    return sim_builder_finish(builder, NULL);
}

/* The largest difference between the force that the last step's motion needs and the clamped law at its end. */
static double law_gap(sim_world *w, sim_derived *d, const double *q0, const double *v0, const sim_actuator actuator[]) {
    const sim_model *m = sim_world_model(w);
    const sim_state *end = sim_world_state(w);
    const sim_options *options = sim_world_options(w);
    double q[8], v[8], needed[8], worst = 0;
    for (int j = 0; j < m->nv; j++) { /* the starred point of each scheme */
        const double at[SIM_RK4][2] = {
            [SIM_MIDPOINT] = {0.5 * (q0[j] + end->q[j]), 0.5 * (v0[j] + end->v[j])},
            [SIM_SYMPLECTIC_EULER] = {q0[j], v0[j]},
            [SIM_IMPLICIT_EULER] = {end->q[j], end->v[j]},
            [SIM_MOREAU] = {q0[j] + 0.5 * options->step * v0[j], v0[j]},
        };
        q[j] = at[options->integrator][0];
        v[j] = at[options->integrator][1];
    }
    sim_kinematics(d, sim_all(m), q);
    sim_velocities(d, sim_all(m), v);
    sim_rnea(d, sim_all(m), end->a, NULL, m->gravity, needed);
    for (int j = 0; j < m->nv; j++) {
        double law = actuator[j].kp * (0.4 - end->q[j]) - actuator[j].kd * end->v[j];
        worst = fmax(worst, fabs(needed[j] - fmax(-actuator[j].effort, fmin(actuator[j].effort, law))));
    }
    return worst;
}

Test(control, many_stiff_actuators_at_their_limits_obey_the_clamped_law_in_every_scheme) {
    const double efforts[] = {2, 20}, steps[] = {1e-3, 1e-2};
    for (int trial = 0; trial < 160; trial++) {
        random_source r = {500 + (uint64_t)trial};
        double effort = efforts[trial / 4 % 2], q[8], v[8], worst = 0;
        int links = 2 + trial % 7, at_limit = 0;
        sim_actuator actuator[8];
        sim_model *m = strained_chain(&r, links, effort, actuator);
        sim_options options = sim_options_default();
        options.integrator = (sim_integrator)(trial % SIM_RK4);
        options.step = steps[trial / 8 % 2];
        sim_world *w = sim_world_create(m, &options, NULL);
        sim_derived *d = sim_derived_create(m, NULL);
        for (int k = 0; k < 60; k++) {
            memcpy(q, sim_world_state(w)->q, (size_t)links * sizeof *q);
            memcpy(v, sim_world_state(w)->v, (size_t)links * sizeof *v);
            run(w, 1);
            at_limit += sim_world_info(w)->saturated;
            cr_expect_eq(sim_world_info(w)->nonconverged, 0, "%s, trial %d, step %d",
                         sim_integrator_name(options.integrator), trial, k);
            worst = fmax(worst, law_gap(w, d, q, v, actuator));
        }
        cr_expect(worst < 1e-4 * effort, "%s, trial %d: off by %g N m", sim_integrator_name(options.integrator), trial,
                  worst);
        cr_expect(at_limit > 0);
        sim_derived_free(d);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Midpoint integrates a force that rises in a straight line without error: m v = 1/2 F t^2. */
Test(control, feed_forward_follows_its_track) {
    const double times[] = {0, 1}, force[] = {0, 3};
    for (int with_target = 0; with_target < 2; with_target++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.joint = SIM_SLIDER;
        def.axis = (v3){1, 0, 0};
        def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
        sim_actuator actuator = holding(0, 0, INFINITY, 0);
        actuator.target.keys = with_target;
        actuator.feedforward =
            (sim_track){.interpolation = SIM_LINEAR, .keys = 2, .width = 1, .times = times, .values = force};
        sim_builder_add_actuator(builder, sim_builder_add_body(builder, &def), &actuator);
        sim_model *m = sim_builder_finish(builder, NULL);
        sim_world *w = sim_world_create(m, NULL, NULL);
        run(w, 1000);
        cr_expect(fabs(sim_world_state(w)->v[0] - 0.75) < 1e-12, "%.15g", sim_world_state(w)->v[0]);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* 2 kg on a slider, pushed by 3 t newtons for a second: by a load in the joint (0) or on the body (1). */
static sim_model *pushed_slider(int which) {
    static const double times[] = {0, 1}, along[] = {0, 3}, wrench[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0};
    const sim_load loads[] = {
        {.body = -1,
         .dof = 0,
         .track = {.interpolation = SIM_LINEAR, .keys = 2, .width = 1, .times = times, .values = along}},
        {.body = 1,
         .dof = -1,
         .track = {.interpolation = SIM_LINEAR, .keys = 2, .width = 6, .times = times, .values = wrench}}};
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_SLIDER;
    def.axis = (v3){1, 0, 0};
    def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
    sim_builder_add_load(builder, &loads[which], sim_builder_add_body(builder, &def));
    return sim_builder_finish(builder, NULL);
}

Test(control, loads_are_taken_at_the_stages_of_runge_kutta) {
    for (int which = 0; which < 2; which++) {
        sim_model *m = pushed_slider(which);
        sim_options options = sim_options_default();
        options.integrator = SIM_RK4;
        options.step = 0.1;
        sim_world *w = sim_world_create(m, &options, NULL);
        run(w, 10);
        cr_expect(fabs(sim_world_state(w)->v[0] - 0.75) < 1e-12, "%.15g", sim_world_state(w)->v[0]);
        cr_expect(fabs(sim_world_state(w)->q[0] - 0.25) < 1e-12, "%.15g", sim_world_state(w)->q[0]);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* m v = sum of dt F(t*): in the middle of the step exact, at its start 10 steps of 0.1 s lose 3/2 t (t - dt), ... */
Test(control, each_scheme_takes_loads_at_its_own_time) {
    static const struct {
        sim_integrator integrator;
        double speed;
    } due[] = {{SIM_MIDPOINT, 0.75}, {SIM_MOREAU, 0.75}, {SIM_SYMPLECTIC_EULER, 0.675}, {SIM_IMPLICIT_EULER, 0.825}};
    for (int k = 0; k < 8; k++) {
        sim_model *m = pushed_slider(k % 2);
        sim_options options = sim_options_default();
        options.integrator = due[k / 2].integrator;
        options.step = 0.1;
        sim_world *w = sim_world_create(m, &options, NULL);
        run(w, 10);
        double v = sim_world_state(w)->v[0];
        cr_expect(fabs(v - due[k / 2].speed) < 1e-12, "%s: %.15g", sim_integrator_name(options.integrator), v);
        sim_world_free(w);
        sim_model_free(m);
    }
}

Test(control, a_target_changes_in_the_step_that_ends_at_its_key) {
    for (int key = 1; key <= 20; key++) {
        const double times[] = {0, key * 0.01}, values[] = {0, 1};
        sim_actuator actuator = holding(1e3, 10, INFINITY, 0);
        actuator.target =
            (sim_track){.interpolation = SIM_HOLD, .keys = 2, .width = 1, .times = times, .values = values};
        sim_builder *builder = sim_builder_create();
        sim_builder_gravity(builder, (v3){0, 0, 0});
        sim_body_def def = arm_link(0, 0);
        sim_builder_add_actuator(builder, sim_builder_add_body(builder, &def), &actuator);
        sim_model *m = sim_builder_finish(builder, NULL);
        sim_options options = sim_options_default();
        options.step = 0.01; /* 6 * 0.01 + 0.01 < 7 * 0.01 */
        sim_world *w = sim_world_create(m, &options, NULL);
        run(w, key - 1);
        cr_expect_eq(sim_world_state(w)->q[0], 0, "key %d", key);
        run(w, 1);
        cr_expect_gt(sim_world_state(w)->q[0], 0, "key %d", key);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Large forces in balance leave accelerations of rounding's size: no sweep can settle their digits, none should try. */
Test(control, an_arm_that_stands_still_under_large_forces_counts_as_converged) {
    const sim_integrator implicit[] = {SIM_MIDPOINT, SIM_IMPLICIT_EULER};
    for (int k = 0; k < 2; k++) {
        sim_builder *builder = sim_builder_create();
        sim_actuator actuator = holding(1e7, 1e4, INFINITY, 0);
        for (int i = 0; i < 6; i++) {
            sim_body_def def = arm_link(i, 0.2);
            def.joint = i % 2 ? SIM_HINGE : SIM_SLIDER;
            sim_builder_add_actuator(builder, sim_builder_add_body(builder, &def), &actuator);
        }
        sim_model *m = sim_builder_finish(builder, NULL);
        sim_options options = sim_options_default();
        options.integrator = implicit[k];
        options.step = 0.01;
        sim_world *w = sim_world_create(m, &options, NULL);
        for (int j = 0; j < 6; j++) {
            sim_world_applied(w)[j] = 1e5;
        }
        int failures = 0;
        for (int n = 0; n < 3000; n++) {
            run(w, 1);
            failures += sim_world_info(w)->nonconverged;
        }
        cr_expect_eq(failures, 0, "%s: %d of 3000 steps", sim_integrator_name(implicit[k]), failures);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Reported efforts are those that moved the joints: inverse dynamics asks for them. */
Test(control, reported_efforts_are_those_that_inverse_dynamics_asks_for) {
    for (int integrator = 0; integrator < 2; integrator++) { /* midpoint, symplectic */
        for (int limited = 0; limited < 2; limited++) {
            sim_model *m;
            double step = 2e-3;
            sim_world *w = two_links(&m, integrator ? SIM_SYMPLECTIC_EULER : SIM_MIDPOINT, step,
                                     holding(300, 20, limited ? 15 : INFINITY, 1), NULL);
            sim_derived *d = sim_derived_create(m, NULL);
            double worst = 0;
            cr_expect_eq(sim_world_efforts(w)[0], 0);
            for (int k = 0; k < 300; k++) {
                double q[2], v[2], a[2], asked[2], point = integrator ? 0 : 0.5;
                for (int j = 0; j < 2; j++) {
                    q[j] = sim_world_state(w)->q[j];
                    v[j] = sim_world_state(w)->v[j];
                }
                run(w, 1);
                for (int j = 0; j < 2; j++) {
                    a[j] = (sim_world_state(w)->v[j] - v[j]) / step;
                    q[j] += point * (sim_world_state(w)->q[j] - q[j]);
                    v[j] += point * step * a[j];
                }
                sim_kinematics(d, sim_all(m), q);
                sim_velocities(d, sim_all(m), v);
                sim_rnea(d, sim_all(m), a, NULL, m->gravity, asked);
                for (int j = 0; j < 2; j++) {
                    worst = fmax(worst, fabs(asked[j] - sim_world_efforts(w)[j]));
                    cr_assert(!limited || fabs(sim_world_efforts(w)[j]) <= 15);
                }
            }
            cr_expect(worst < 1e-6, "%d %d: %g", integrator, limited, worst);
            sim_derived_free(d);
            sim_world_free(w);
            sim_model_free(m);
        }
    }
}

Test(control, a_joint_follows_a_quintic_path_between_keys) {
    const double times[] = {0, 1, 2}, values[] = {0, 1, -0.5};
    sim_actuator actuator = holding(1e6, 1e4, INFINITY, 1);
    actuator.target =
        (sim_track){.interpolation = SIM_QUINTIC, .keys = 3, .width = 1, .times = times, .values = values};
    sim_model *m;
    sim_world *w = two_links(&m, SIM_MIDPOINT, 1e-3, actuator, NULL);
    double worst = 0;
    for (int k = 0; k < 2500; k++) {
        double target;
        run(w, 1);
        sim_track_at(&actuator.target, sim_world_state(w)->time, &target, NULL);
        worst = fmax(worst, fabs(sim_world_state(w)->q[1] - target));
    }
    cr_expect(worst < 1e-4, "%g", worst);
    sim_world_free(w);
    sim_model_free(m);
}

/* A constant wrench on a free body, in world axes at its centre: v = F t / m, w = T t / I. */
Test(control, a_wrench_accelerates_a_free_body_as_newton_says) {
    const double times[] = {0}, wrench[] = {0, 0, 0.3, 4, 0, 0};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(2, 0.3, 0.3, 0.3);
    sim_load load = {.body = 1,
                     .dof = -1,
                     .track = {.interpolation = SIM_HOLD, .keys = 1, .width = 6, .times = times, .values = wrench}};
    sim_builder_add_body(builder, &def);
    sim_builder_add_load(builder, &load, 1);
    sim_model *m = sim_builder_finish(builder, NULL);
    sim_world *w = sim_world_create(m, NULL, NULL);
    run(w, 1000);
    cr_expect(fabs(sim_world_state(w)->v[0] - 2) < 1e-12);
    cr_expect(fabs(sim_world_state(w)->v[5] - 0.3 / 0.03) < 1e-11, "%g", sim_world_state(w)->v[5]);
    sim_world_free(w);
    sim_model_free(m);
}

/* A force in body axes at a point turns with the body; its moment is lever times force. */
Test(control, a_force_in_body_axes_turns_with_the_body) {
    const double times[] = {0}, wrench[] = {0, 0, 0, 0, 0.5, 0};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(2, 0.3, 0.3, 0.3);
    sim_load load = {.body = 1,
                     .dof = -1,
                     .local = 1,
                     .point = {0.2, 0, 0},
                     .track = {.interpolation = SIM_HOLD, .keys = 1, .width = 6, .times = times, .values = wrench}};
    sim_builder_add_body(builder, &def);
    sim_builder_add_load(builder, &load, 1);
    sim_model *m = sim_builder_finish(builder, NULL);
    sim_world *w = sim_world_create(m, NULL, NULL);
    run(w, 2000);
    cr_expect(fabs(sim_world_state(w)->v[5] - 2 * 0.2 * 0.5 / 0.03) < 1e-10);
    sim_world_free(w);
    sim_model_free(m);
}

Test(control, a_moment_in_body_axes_turns_with_the_body) {
    const double times[] = {0}, wrench[] = {0, 0, 0.3, 0, 0, 0};
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.inertia = box_inertia(2, 0.3, 0.3, 0.3);
    def.q[3] = def.q[4] = sqrt(0.5); /* tipped over: the body's z lies along the world's -y */
    sim_load load = {.body = 1,
                     .dof = -1,
                     .local = 1,
                     .track = {.interpolation = SIM_HOLD, .keys = 1, .width = 6, .times = times, .values = wrench}};
    sim_builder_add_body(builder, &def);
    sim_builder_add_load(builder, &load, 1);
    sim_model *m = sim_builder_finish(builder, NULL);
    sim_world *w = sim_world_create(m, NULL, NULL);
    run(w, 1000);
    cr_expect(fabs(sim_world_state(w)->v[5] - 0.3 / 0.03) < 1e-11, "%g", sim_world_state(w)->v[5]);
    cr_expect(fabs(sim_world_state(w)->v[4]) < 1e-11);
    sim_world_free(w);
    sim_model_free(m);
}

Test(control, a_torque_on_a_dof_adds_to_the_applied_force) {
    const double times[] = {0, 1}, torque[] = {0, 2};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_body_def def = arm_link(0, 0);
    sim_load load = {.body = -1,
                     .dof = 0,
                     .track = {.interpolation = SIM_LINEAR, .keys = 2, .width = 1, .times = times, .values = torque}};
    sim_builder_add_body(builder, &def);
    sim_builder_add_load(builder, &load, 1);
    sim_model *m = sim_builder_finish(builder, NULL);
    sim_world *w = sim_world_create(m, NULL, NULL);
    sim_world_applied(w)[0] = 1;
    run(w, 1000);
    double I = def.inertia.moment.yy + 2 * 0.25 * 0.25;
    cr_expect(fabs(sim_world_state(w)->v[0] - (1 + 1) / I) < 1e-10, "%g %g", sim_world_state(w)->v[0], 2 / I);
    sim_world_free(w);
    sim_model_free(m);
}
