/* Velocity limits of joints. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { SOLVERS = 4 };
static const char *const solver[SOLVERS] = {"auto", "sap", "pgs", "nsn"};
static const double once[] = {0};

static sim_body_def slider(double limit) {
    sim_body_def def = sim_body_default();
    def.name = "block";
    def.joint = SIM_SLIDER;
    def.axis = v3_make(1, 0, 0);
    def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
    def.velocity_limit[0] = limit;
    return def;
}

static yard pushed(const sim_body_def *def, const double *force, const char *name, sim_integrator scheme, double dt) {
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    int body = sim_builder_add_body(y.builder, def);
    sim_load load = {.name = "push", .dof = 0, .body = -1};
    load.track = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = force};
    sim_builder_add_load(y.builder, &load, body);
    y.tolerance = 1e-13;
    yard_open(&y, name, scheme, dt);
    return y;
}

static double q_of(const yard *y) { return sim_world_state(y->world)->q[0]; }
static double v_of(const yard *y) { return sim_world_state(y->world)->v[0]; }

/* v = F/m t up to the limit, and the limit from there on; the row gives -F.  The compliance of the law lets it be passed
 * by beta^2 / (4 pi^2) of what the force adds in a step. */
Test(speed_limits, hold_under_a_load_in_both_directions_and_report_what_they_give) {
    for (int trial = 0; trial < 2 * SOLVERS * SIM_RK4; trial++) {
        int which = trial / 2 % SOLVERS;
        sim_integrator scheme = (sim_integrator)(trial / 2 / SOLVERS);
        double force = trial % 2 ? -10 : 10, sign = trial % 2 ? -1 : 1, dt = 1e-3, limit = 0.5;
        sim_body_def def = slider(limit);
        yard y = pushed(&def, &force, solver[which], scheme, dt);
        double passed = 0, step = dt * 10 / 2, compliance = 1 / (4 * M_PI * M_PI), before = 0;
        for (int k = 1; k <= 300; k++) {
            before = q_of(&y);
            yard_step(&y);
            double due = fmin(limit, k * step);
            passed = fmax(passed, sign * v_of(&y) - due);
            cr_assert_float_eq(sign * v_of(&y), due, 1.01 * compliance * step, "%s, %s, step %d: %.12g", solver[which],
                               sim_integrator_name(scheme), k, v_of(&y));
        }
        cr_expect_float_eq(sim_world_state(y.world)->joint_impulse[SIM_ROW_SPEED], -dt * force, 1e-12);
        cr_expect_float_eq(q_of(&y) - before, dt * v_of(&y), 1e-15, "positions move with the limit");
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

Test(speed_limits, are_exact_by_the_rigid_law) {
    for (int scheme = 0; scheme < SIM_RK4; scheme++) {
        double force = 10;
        sim_body_def def = slider(0.5);
        yard y = yard_begin(v3_make(0, 0, 0), rough(0));
        int body = sim_builder_add_body(y.builder, &def);
        sim_load load = {.name = "push", .dof = 0, .body = -1};
        load.track = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = &force};
        sim_builder_add_load(y.builder, &load, body);
        y.options.compliance = SIM_RIGID;
        yard_open(&y, "pgs", (sim_integrator)scheme, 1e-3);
        for (int k = 0; k < 300; k++) {
            yard_step(&y);
        }
        cr_expect_float_eq(v_of(&y), 0.5, 1e-12, "%.15g", v_of(&y));
        yard_end(&y);
    }
}

Test(speed_limits, brake_a_joint_that_begins_faster_in_one_step) {
    double none = 0;
    sim_body_def def = slider(0.5);
    def.v[0] = -3;
    yard y = pushed(&def, &none, "sap", SIM_SYMPLECTIC_EULER, 1e-3);
    yard_step(&y);
    cr_expect_float_eq(v_of(&y), -0.5, 2.5 / (4 * M_PI * M_PI) * 1.1);
    cr_expect_float_eq(sim_world_state(y.world)->joint_impulse[SIM_ROW_SPEED], 2 * (v_of(&y) + 3), 1e-9);
    for (int k = 0; k < 20; k++) {
        yard_step(&y);
    }
    cr_expect_float_eq(v_of(&y), -0.5, 1e-9);
    yard_end(&y);
}

/* A servo moves to its target at the limit, and arrives: its force is the one that its own law says. */
Test(speed_limits, are_kept_by_a_servo_on_its_way) {
    double target = 1;
    sim_body_def def = slider(0.5);
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    int body = sim_builder_add_body(y.builder, &def);
    sim_actuator servo = sim_actuator_default();
    servo.kp = 400;
    servo.kd = 60;
    servo.effort = 50;
    servo.target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = &target};
    sim_builder_add_actuator(y.builder, body, &servo);
    yard_open(&y, "auto", SIM_MIDPOINT, 1e-3);
    double fastest = 0;
    for (int k = 0; k < 4000; k++) {
        yard_step(&y);
        double law = 400 * (1 - q_of(&y)) - 60 * v_of(&y);
        fastest = fmax(fastest, v_of(&y));
        cr_assert_float_eq(sim_world_efforts(y.world)[0], fmin(50, law), 1e-6);
    }
    cr_expect_float_eq(fastest, 0.5, 1e-3);
    cr_expect_float_eq(q_of(&y), 1, 1e-6);
    yard_end(&y);
}

/* A chain falls with a limit on its second joint alone: the impulse that is reported is the one that its motion needs. */
Test(speed_limits, of_a_chain_give_what_its_motion_needs) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0));
    int parent = 0;
    for (int i = 0; i < 3; i++) {
        sim_body_def def = sim_body_default();
        def.joint = SIM_HINGE;
        def.parent = parent;
        def.axis = v3_make(0, 1, 0);
        def.placement.p = v3_make(parent ? 0.4 : 0, 0, 0);
        def.inertia = box_inertia(1, 0.4, 0.05, 0.05);
        def.inertia.com = v3_make(0.2, 0, 0);
        def.velocity_limit[0] = i == 1 ? 0.4 : INFINITY;
        parent = sim_builder_add_body(y.builder, &def);
    }
    y.tolerance = 1e-13;
    yard_open(&y, "sap", SIM_SYMPLECTIC_EULER, 1e-3);
    sim_derived *d = sim_derived_create(y.model, NULL);
    int held = 0;
    for (int k = 0; k < 1500; k++) {
        double q[3], v[3], a[3], needed[3];
        memcpy(q, sim_world_state(y.world)->q, sizeof q);
        memcpy(v, sim_world_state(y.world)->v, sizeof v);
        yard_step(&y);
        const sim_state *now = sim_world_state(y.world);
        for (int j = 0; j < 3; j++) {
            a[j] = (now->v[j] - v[j]) / 1e-3;
        }
        sim_kinematics(d, sim_all(y.model), q);
        sim_velocities(d, sim_all(y.model), v);
        sim_rnea(d, sim_all(y.model), a, NULL, y.model->gravity, needed);
        double gave = now->joint_impulse[SIM_JOINT_ROWS + SIM_ROW_SPEED] / 1e-3;
        held += gave != 0;
        cr_assert_float_eq(needed[0], 0, 1e-7);
        cr_assert_float_eq(needed[1], gave, 1e-7, "%d: %g, not %g", k, gave, needed[1]);
        cr_assert_float_eq(needed[2], 0, 1e-7);
        cr_assert_lt(fabs(now->v[1]), 0.4 + 0.005, "%d: %g", k, now->v[1]);
    }
    cr_expect(held > 100 && held < 1450, "%d", held);
    sim_derived_free(d);
    yard_end(&y);
}

Test(speed_limits, that_are_none_are_refused) {
    for (int k = 0; k < 2; k++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def def = slider(k ? 1 : 0);
        def.joint = k ? SIM_BALL : SIM_SLIDER;
        sim_builder_add_body(builder, &def);
        sim_error error = {0};
        cr_expect_null(sim_builder_finish(builder, &error));
        cr_expect(strstr(error.text, "velocity limit"), "%s", error.text);
    }
}
