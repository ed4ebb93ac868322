/* Actuators of sites and slider-cranks, and muscles, against geometry and closed forms. */
#include "support/models.h"
#include "support/worlds.h"

#include "math/spatial.h"
#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double at_once[] = {0};

static sim_track constant(const double *value) {
    return (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = at_once, .values = value};
}

static void run(sim_world *w, int steps) {
    sim_error error = {0};
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
}

static sim_world *world_of(sim_builder *builder, sim_model **model, sim_integrator integrator, double step) {
    sim_error error = {0};
    *model = sim_builder_finish(builder, &error);
    cr_assert(*model, "%s", error.text);
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    options.tolerance = 1e-12;
    sim_world *w = sim_world_create(*model, &options, &error);
    cr_assert(w, "%s", error.text);
    return w;
}

/* A chain of four bodies on random joints, with random sites on the world and on each. */
static sim_builder *random_chain(random_source *r) {
    const sim_joint_type types[] = {SIM_FREE, SIM_HINGE, SIM_UNIVERSAL, SIM_BALL};
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i <= 4; i++) {
        static const char *const name[] = {"s0", "s1", "s2", "s3", "s4"};
        sim_site site = {.name = name[i], .body = i, .pose = {random_rotation(r), v3_scale(0.4, random_unit(r))}};
        if (i > 0) {
            sim_body_def def = sim_body_default();
            def.joint = types[i - 1];
            def.parent = i - 1;
            def.placement = (sim_pose){random_rotation(r), v3_scale(0.3, random_unit(r))};
            def.axis = random_unit(r);
            def.axis2 = v3_cross(def.axis, random_unit(r));
            def.inertia = random_inertia(r);
            cr_assert_eq(sim_builder_add_body(builder, &def), i);
        }
        cr_assert_eq(sim_builder_add_site(builder, &site), i);
    }
    return builder;
}

static double length_at(sim_derived *d, int actuator, const double *q, double *moment) {
    sim_kinematics(d, sim_all(d->model), q);
    return sim_actuator_length(d, actuator, q, moment);
}

Test(transmissions, moments_are_the_derivatives_of_lengths) {
    int beyond = 0;
    for (int trial = 0; trial < 200; trial++) {
        random_source r = {(uint64_t)trial};
        sim_builder *builder = random_chain(&r);
        sim_actuator a = sim_actuator_default();
        a.gear = 1.7;
        a.transmission = trial % 2 ? SIM_BY_SLIDER_CRANK : SIM_BY_SITE;
        a.site[0] = trial % 3 ? 4 : 0;
        a.site[1] = trial % 3 ? trial / 2 % 4 : 3;
        a.rod = 1 + trial % 5;
        for (int k = 0; k < 3; k++) { /* forces alone: those of torques are exact at rest only */
            a.wrench[k] = random_uniform(&r, -1, 1);
        }
        sim_builder_add_actuator(builder, 0, &a);
        sim_error error = {0};
        sim_model *m = sim_builder_finish(builder, &error);
        cr_assert(m, "%s", error.text);
        sim_derived *d = sim_derived_create(m, NULL);
        double q[32], q1[32], v[32], moment[32], none[32], rate = 0, h = 1e-5;
        for (int j = 0; j < m->nv; j++) {
            v[j] = random_uniform(&r, -1, 1);
        }
        sim_advance(m, sim_all(m), m->q_initial, v, 1, q);
        double l = length_at(d, 0, q, moment), difference = 0;
        for (int j = 0; j < m->nv; j++) {
            v[j] = random_uniform(&r, -1, 1);
            rate += moment[j] * v[j];
        }
        for (int side = -1; side <= 1; side += 2) {
            sim_advance(m, sim_all(m), q, v, side * h, q1);
            difference += side * length_at(d, 0, q1, none) / (2 * h);
        }
        beyond += l > 0;
        cr_assert_float_eq(rate, difference, 1e-8 * (1 + fabs(rate)), "%d: %.12g, not %.12g", trial, rate, difference);
        sim_derived_free(d);
        sim_model_free(m);
    }
    cr_expect(beyond > 20 && beyond < 180);
}

/* A crank of radius R about y, at the angle t, with a rod L to the axis z through its bearing, turned to x: the slider is
 * at R cos t - sqrt(L^2 - R^2 sin^2 t). */
static sim_builder *crank(double angle, sim_actuator *a) {
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.axis = (v3){0, 1, 0};
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    def.q[0] = angle;
    int body = sim_builder_add_body(builder, &def);
    sim_site pin = {.name = "pin", .body = body, .pose = pose_identity()};
    sim_site axis = {.name = "axis", .body = 0, .pose = pose_identity()};
    pin.pose.p = (v3){0.3, 0, 0};
    axis.pose.R = m3_axis_angle((v3){0, 1, 0}, asin(1)); /* z to x */
    a->transmission = SIM_BY_SLIDER_CRANK;
    a->site[0] = sim_builder_add_site(builder, &pin);
    a->site[1] = sim_builder_add_site(builder, &axis);
    a->rod = 0.5;
    sim_builder_add_actuator(builder, 0, a);
    return builder;
}

static double slider_at(double t) { return 0.3 * cos(t) - sqrt(0.25 - 0.09 * sin(t) * sin(t)); }

Test(transmissions, a_slider_crank_has_the_length_of_its_geometry) {
    for (int k = 0; k < 32; k++) {
        double angle = 0.2 * k, moment[1];
        sim_actuator a = sim_actuator_default();
        a.gear = -2;
        sim_model *m = sim_builder_finish(crank(angle, &a), NULL);
        sim_derived *d = sim_derived_create(m, NULL);
        double l = length_at(d, 0, m->q_initial, moment);
        cr_assert_float_eq(l, -2 * slider_at(angle), 1e-14);
        double slope = -0.3 * sin(angle) + 0.09 * sin(angle) * cos(angle) / sqrt(0.25 - 0.09 * sin(angle) * sin(angle));
        cr_assert_float_eq(moment[0], -2 * slope, 1e-14);
        sim_derived_free(d);
        sim_model_free(m);
    }
}

/* A constant force along the axis does the work f (l1 - l0). */
Test(transmissions, a_slider_crank_does_the_work_of_its_force) {
    for (int scheme = 0; scheme < SIM_INTEGRATORS; scheme++) {
        double pull = 2;
        sim_actuator a = sim_actuator_default();
        a.ctrl = constant(&pull);
        sim_model *m;
        sim_world *w = world_of(crank(-0.5, &a), &m, (sim_integrator)scheme, 1e-4);
        run(w, 3000);
        double q = sim_world_state(w)->q[0], due = pull * (slider_at(q) - slider_at(-0.5));
        double order = scheme == SIM_SYMPLECTIC_EULER || scheme == SIM_IMPLICIT_EULER ? 0.03 : 1e-3;
        cr_expect_float_eq(sim_world_energy(w).kinetic, due, order * due, "%s: %g, not %g",
                           sim_integrator_name((sim_integrator)scheme), sim_world_energy(w).kinetic, due);
        cr_expect_eq(sim_world_efforts(w)[0], 2);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* The same wrench as a load in axes of the body, at the point of the site. */
Test(transmissions, a_site_moves_as_under_the_load_that_it_stands_for) {
    for (int scheme = 0; scheme < SIM_INTEGRATORS; scheme++) {
        const double wrench[] = {0.3, -0.2, 0.1, 1, 2, -3}; /* torque, force */
        sim_world *w[2];
        sim_model *m[2];
        for (int which = 0; which < 2; which++) {
            sim_builder *builder = sim_builder_create();
            sim_body_def base = sim_body_default(), arm = sim_body_default();
            base.inertia = box_inertia(2, 0.3, 0.2, 0.1);
            arm.joint = SIM_HINGE;
            arm.axis = (v3){0, 1, 0};
            arm.inertia = box_inertia(1, 0.2, 0.1, 0.1);
            arm.parent = sim_builder_add_body(builder, &base);
            int body = sim_builder_add_body(builder, &arm);
            sim_site site = {.name = "thruster", .body = body, .pose = {m3_identity(), {0.1, 0.2, -0.1}}};
            sim_actuator a = sim_actuator_default();
            a.transmission = SIM_BY_SITE;
            a.site[0] = sim_builder_add_site(builder, &site);
            for (int k = 0; k < 6; k++) {
                a.wrench[k] = wrench[(k + 3) % 6] / 4;
            }
            double ctrl = 4;
            a.ctrl = constant(&ctrl);
            sim_load load = {.name = "thrust", .dof = -1, .point = site.pose.p, .local = true};
            load.track =
                (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 6, .times = at_once, .values = wrench};
            if (which) {
                sim_builder_add_load(builder, &load, body);
            } else {
                sim_builder_add_actuator(builder, 0, &a);
            }
            w[which] = world_of(builder, &m[which], (sim_integrator)scheme, 1e-3);
            run(w[which], 200);
        }
        for (int k = 0; k < m[0]->nq; k++) {
            cr_assert_float_eq(sim_world_state(w[0])->q[k], sim_world_state(w[1])->q[k], 1e-12, "%s, %d",
                               sim_integrator_name((sim_integrator)scheme), k);
        }
        for (int which = 0; which < 2; which++) {
            sim_world_free(w[which]);
            sim_model_free(m[which]);
        }
    }
}

/* A servo between a site and a reference along x is a servo of the slider: once a row, once part of A. */
static sim_world *servo_world(int by_site, const sim_actuator *law, sim_integrator scheme, double dt, sim_model **m) {
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_body_def def = sim_body_default();
    def.joint = SIM_SLIDER;
    def.axis = (v3){1, 0, 0};
    def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
    def.q[0] = 0.4;
    int body = sim_builder_add_body(builder, &def);
    sim_site site = {.name = "here", .body = body, .pose = pose_identity()};
    sim_site reference = {.name = "there", .body = 0, .pose = pose_identity()};
    sim_actuator a = *law;
    if (by_site) {
        a.transmission = SIM_BY_SITE;
        a.site[0] = sim_builder_add_site(builder, &site);
        a.site[1] = sim_builder_add_site(builder, &reference);
        a.wrench[0] = a.gear;
    }
    sim_builder_add_actuator(builder, body, &a);
    return world_of(builder, m, scheme, dt);
}

Test(transmissions, feedback_as_a_row_moves_as_that_of_a_joint) {
    for (int trial = 0; trial < 4 * SIM_RK4; trial++) {
        sim_integrator scheme = (sim_integrator)(trial / 4);
        double ctrl = 0.1, stiff = trial % 2 ? 1e6 : 1e3, dt = 2e-3;
        sim_actuator law = sim_actuator_default();
        law.gear = 2;
        law.gain[0] = stiff;
        law.bias[1] = -stiff;
        law.bias[2] = -20;
        law.ctrl = constant(&ctrl);
        if (trial / 2 % 2) {
            law.force_range[0] = -3;
            law.force_range[1] = 5;
        }
        sim_model *m[2];
        sim_world *w[2] = {servo_world(0, &law, scheme, dt, &m[0]), servo_world(1, &law, scheme, dt, &m[1])};
        for (int k = 0; k < 400; k++) {
            run(w[0], 1);
            run(w[1], 1);
            double q0 = sim_world_state(w[0])->q[0], q1 = sim_world_state(w[1])->q[0];
            cr_assert_float_eq(q0, q1, 1e-7, "trial %d, step %d: %.12g, %.12g", trial, k, q0, q1);
            double f0 = sim_world_efforts(w[0])[0], f1 = sim_world_efforts(w[1])[0];
            cr_assert_float_eq(f0, f1, 1e-4 * (1 + fabs(f0)), "trial %d, step %d: %.12g, %.12g", trial, k, f0, f1);
        }
        for (int which = 0; which < 2; which++) {
            sim_world_free(w[which]);
            sim_model_free(m[which]);
        }
    }
}

/* A fixed tendon over one slider is the slider; its servo is a row. */
Test(transmissions, a_servo_of_a_tendon_moves_as_that_of_its_joint) {
    sim_world *w[2];
    sim_model *m[2];
    double ctrl = -0.2;
    for (int which = 0; which < 2; which++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.joint = SIM_SLIDER;
        def.axis = (v3){0, 0, 1};
        def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
        int body = sim_builder_add_body(builder, &def);
        sim_tendon_joint joint = {.body = body, .dof = 0, .coefficient = 2};
        sim_tendon tendon = sim_tendon_default();
        tendon.name = "string";
        tendon.joint = &joint;
        tendon.njoint = 1;
        sim_actuator a = sim_actuator_default();
        a.gear = which ? 1.5 : 3;
        a.gain[0] = 1e4;
        a.bias[1] = -1e4;
        a.bias[2] = -50;
        a.ctrl = constant(&ctrl);
        if (which) {
            a.transmission = SIM_BY_TENDON;
            a.tendon = sim_builder_add_tendon(builder, &tendon);
        }
        sim_builder_add_actuator(builder, body, &a);
        w[which] = world_of(builder, &m[which], SIM_MIDPOINT, 1e-3);
    }
    for (int k = 0; k < 500; k++) {
        run(w[0], 1);
        run(w[1], 1);
        cr_assert_float_eq(sim_world_state(w[0])->q[0], sim_world_state(w[1])->q[0], 1e-9, "%d", k);
        cr_assert_float_eq(sim_world_efforts(w[0])[0], sim_world_efforts(w[1])[0], 1e-5, "%d", k);
    }
    for (int which = 0; which < 2; which++) {
        sim_world_free(w[which]);
        sim_model_free(m[which]);
    }
}

Test(transmissions, sites_that_do_not_move_and_cranks_without_slider_are_refused) {
    for (int k = 0; k < 2; k++) {
        sim_builder *builder = sim_builder_create();
        int site[2];
        for (int i = 0; i < 2; i++) {
            sim_body_def def = sim_body_default();
            def.inertia = box_inertia(1, 1, 1, 1);
            sim_site s = {
                .name = i ? "b" : "a", .body = i ? sim_builder_add_body(builder, &def) : 0, .pose = pose_identity()};
            site[i] = sim_builder_add_site(builder, &s);
        }
        sim_actuator a = sim_actuator_default();
        a.transmission = k ? SIM_BY_SLIDER_CRANK : SIM_BY_SITE;
        a.site[0] = site[k];
        a.site[1] = -1;
        sim_builder_add_actuator(builder, 0, &a);
        sim_error error = {0};
        cr_expect_null(sim_builder_finish(builder, &error), "%d", k);
        cr_expect_eq(error.status, SIM_BAD_INPUT);
    }
}

/* ---- muscles ---- */

static sim_muscle muscle(void) {
    sim_muscle m = sim_muscle_default();
    m.force = 50;
    m.length_range[0] = 0.1; /* L = 0.75 ... 1.05 */
    m.length_range[1] = 0.4;
    return m; /* the resting length is 1 m: L = l + 0.65 */
}

Test(muscles, have_the_values_of_their_curves_at_characteristic_points) {
    sim_muscle m = muscle();
    const struct {
        double L, V, w, force; /* parts of the peak force, pulling */
    } points[] = {
        {1, 0, 1, 1},      {1, 0, 0.3, 0.3},       {1, -1, 1, 0},           {1, -0.5, 1, 0.25},
        {1, 0.2, 1, 1.2},  {1, 3, 1, 1.2},         {1, 0.1, 1, 1.15},       {0.5, 0, 1, 0},
        {0.75, 0, 1, 0.5}, {0.3, 0, 1, 0},         {1.3, 0, 1, 0.5 + 0.65}, {1.3, 0, 0, 0.65},
        {1.6, 0, 1, 1.95}, {1.9, 0, 1, 1.3 * 2.5}, {0.9, 0, 0, 0},
    };
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        double f = sim_muscle_force(&m, points[k].w, points[k].L - 0.65, points[k].V * m.vmax, NULL);
        cr_expect_float_eq(f, -50 * points[k].force, 1e-12, "L %g, V %g, w %g: %g", points[k].L, points[k].V,
                           points[k].w, f);
    }
}

Test(muscles, have_slopes_that_are_the_derivatives_of_their_force) {
    random_source r = {5};
    sim_muscle m = muscle();
    for (int k = 0; k < 2000; k++) {
        double w = random_uniform(&r, 0, 1), l = random_uniform(&r, -0.3, 1.2), v = random_uniform(&r, -2, 1), h = 1e-6;
        double slope[2];
        sim_muscle_force(&m, w, l, v, slope);
        double by_l = (sim_muscle_force(&m, w, l + h, v, NULL) - sim_muscle_force(&m, w, l - h, v, NULL)) / (2 * h);
        double by_v = (sim_muscle_force(&m, w, l, v + h, NULL) - sim_muscle_force(&m, w, l, v - h, NULL)) / (2 * h);
        cr_assert_float_eq(slope[0], by_l, 1e-3, "%g, %g", slope[0], by_l); /* curves bend at their joints */
        cr_assert_float_eq(slope[1], by_v, 1e-3, "%g, %g", slope[1], by_v);
    }
}

/* A muscle holds a weight where its curves give that force: F (w FL(L) + FP(L)) = W. */
Test(muscles, hold_a_weight_where_their_curves_say) {
    for (int scheme = 0; scheme < SIM_RK4; scheme++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.joint = SIM_SLIDER;
        def.axis = (v3){0, 0, -1};
        def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
        def.damping[0] = 2;
        def.q[0] = 0.2;
        sim_actuator a = sim_actuator_default();
        a.muscle = muscle();
        a.activation = (sim_activation){.type = SIM_MUSCULAR, .time_constant = {0.01, 0.04}, .range = {0, 1}};
        sim_builder_add_actuator(builder, sim_builder_add_body(builder, &def), &a);
        sim_model *m;
        sim_world *w = world_of(builder, &m, (sim_integrator)scheme, 5e-3);
        sim_world_inputs(w, SIM_CTRL)[0] = 0.3;
        run(w, 6000);
        double l = sim_world_state(w)->q[0];
        cr_expect_float_eq(-sim_muscle_force(&a.muscle, 0.3, l, 0, NULL), 2 * 9.81, 1e-6);
        cr_expect_float_eq(sim_world_efforts(w)[0], -2 * 9.81, 1e-6);
        cr_expect(l > 0.35 && l < 0.95, "%g", l);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* From rest one step of a constant force f gives M v = g f dt: on a free body along the world and its own axes, with
 * `in_parent` along those of the parent. */
Test(transmissions, gears_of_orientations_are_forces_and_torques) {
    static const double ctrl[] = {1.5}, gear[6] = {0.3, -0.2, 0.5, 0.7, 0.1, -0.4};
    for (int trial = 0; trial < 4; trial++) {
        bool free = trial % 2, in_parent = trial / 2;
        sim_builder *builder = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.joint = free ? SIM_FREE : SIM_BALL;
        def.inertia = (sim_inertia){2, {0, 0, 0}, {0.3, 0.4, 0.5, 0, 0, 0}};
        /* turned by 1 about (1, 2, 2) / 3 */
        double c = cos(0.5), t = sin(0.5) / 3, q[7] = {0, 0, 0, c, t, 2 * t, 2 * t};
        memcpy(def.q, free ? q : q + 3, (free ? 7 : 4) * sizeof *q);
        int body = sim_builder_add_body(builder, &def);
        sim_actuator a = sim_actuator_default();
        a.transmission = SIM_BY_ORIENTATION;
        a.in_parent = in_parent;
        a.ctrl = constant(ctrl);
        memcpy(a.wrench, gear, sizeof gear);
        cr_assert_eq(sim_builder_add_actuator(builder, body, &a), 0);
        sim_builder_gravity(builder, v3_make(0, 0, 0));
        sim_model *m;
        double dt = 1e-5; /* gyroscopic terms are of second order */
        sim_world *w = world_of(builder, &m, SIM_SYMPLECTIC_EULER, dt);
        run(w, 1);
        const double *v = sim_world_state(w)->v, *turn = v + (free ? 3 : 0);
        const double I[3] = {0.3, 0.4, 0.5};
        /* in the axes of the parent: turned back by Rodrigues' formula */
        v3 n = v3_make(1. / 3, 2. / 3, 2. / 3), g = v3_make(gear[3], gear[4], gear[5]);
        v3 back = v3_add(v3_scale(cos(1), g), v3_scale((1 - cos(1)) * v3_dot(n, g), n));
        back = v3_sub(back, v3_scale(sin(1), v3_cross(n, g)));
        const double due[3] = {in_parent ? back.x : g.x, in_parent ? back.y : g.y, in_parent ? back.z : g.z};
        for (int k = 0; k < 3; k++) {
            if (free) {
                cr_expect_float_eq(v[k], gear[k] * 1.5 * dt / 2, 1e-15);
            }
            cr_expect_float_eq(turn[k], due[k] * 1.5 * dt / I[k], 1e-8 * fabs(turn[k]), "%d: %g", k, turn[k]);
        }
        /* length of a ball joint: the gear along the turn */
        sim_derived *d = sim_derived_create(m, NULL);
        double moment[6] = {0};
        double l = length_at(d, 0, free ? q : q + 3, moment);
        cr_expect_float_eq(l, free ? 0 : (gear[3] + 2 * gear[4] + 2 * gear[5]) / 3, 1e-15);
        for (int k = 0; k < 3; k++) {
            cr_expect_float_eq(moment[(free ? 3 : 0) + k], due[k], 1e-15);
            cr_expect(!free || moment[k] == gear[k]);
        }
        sim_derived_free(d);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* A pendulum on a ball joint whose angle ends at `most` leans against that end: the end bears m g L sin(most). */
Test(transmissions, the_range_of_a_ball_joint_holds_it_at_its_angle) {
    double most = 0.6, L = 0.5, mass = 2;
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_BALL;
    def.inertia = (sim_inertia){mass, {0, 0, -L}, {0.01, 0.01, 0.01, 0, 0, 0}};
    def.damping[0] = def.damping[1] = def.damping[2] = 3;
    int body = sim_builder_add_body(builder, &def);
    const sim_tendon_joint joint = {body, 0, 1};
    sim_tendon t = sim_tendon_default();
    t.name = "angle";
    t.njoint = 1;
    t.joint = &joint;
    t.limit.high = most;
    cr_assert_eq(sim_builder_add_tendon(builder, &t), 0);
    sim_builder_gravity(builder, v3_make(-6, -8, 0)); /* sideways */
    sim_model *m;
    sim_world *w = world_of(builder, &m, SIM_SYMPLECTIC_EULER, 1e-3);
    run(w, 3000);
    const double *q = sim_world_state(w)->q;
    double angle = 2 * acos(fmin(1, fabs(q[0])));
    cr_expect_float_eq(angle, most, 1e-6, "%.9g", angle);
    /* it leans along gravity: from -z towards (-0.6, -0.8, 0), about (0.8, -0.6, 0) or its opposite */
    double s = sin(most / 2);
    cr_expect_float_eq(fabs(q[1]), 0.8 * s, 1e-4, "%g", q[1]);
    cr_expect_float_eq(fabs(q[2]), 0.6 * s, 1e-4, "%g", q[2]);
    cr_expect_float_eq(q[3], 0, 1e-4);
    sim_world_free(w);
    sim_model_free(m);
}
