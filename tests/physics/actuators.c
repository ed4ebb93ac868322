/* Laws of actuators against closed forms. */
#include "support/models.h"
#include "support/worlds.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef struct bench {
    sim_model *model;
    sim_world *world;
} bench;

/* A body of 2 kg on a slider along x, without gravity, driven by one actuator. */
static bench bench_open(const sim_actuator *actuator, sim_integrator integrator, double step, double q, double v) {
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_body_def def = sim_body_default();
    def.joint = SIM_SLIDER;
    def.axis = (v3){1, 0, 0};
    def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
    def.q[0] = q;
    def.v[0] = v;
    sim_builder_add_actuator(builder, sim_builder_add_body(builder, &def), actuator);
    sim_error error = {0};
    bench b = {.model = sim_builder_finish(builder, &error)};
    cr_assert(b.model, "%s", error.text);
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    b.world = sim_world_create(b.model, &options, &error);
    cr_assert(b.world, "%s", error.text);
    return b;
}

static void bench_close(bench *b) {
    sim_world_free(b->world);
    sim_model_free(b->model);
}

static void run(bench *b, int steps) {
    sim_error error = {0};
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(b->world, &error), SIM_OK, "%s", error.text);
    }
}

static double q_of(const bench *b) { return sim_world_state(b->world)->q[0]; }
static double v_of(const bench *b) { return sim_world_state(b->world)->v[0]; }

static const double at_once[] = {0};

static sim_track constant(const double *value) {
    return (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = at_once, .values = value};
}

/* Force kp (ctrl - l) - kv l'. */
static sim_actuator position_servo(double kp, double kv, const double *ctrl) {
    sim_actuator a = sim_actuator_default();
    a.gain[0] = kp;
    a.bias[1] = -kp;
    a.bias[2] = -kv;
    a.ctrl = constant(ctrl);
    return a;
}

Test(actuators, a_motor_accelerates_by_gear_times_control_over_mass) {
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        sim_actuator motor = sim_actuator_default();
        motor.gear = -3;
        motor.ctrl_range[0] = -1;
        motor.ctrl_range[1] = 5;
        bench b = bench_open(&motor, (sim_integrator)integrator, 1e-3, 0, 0);
        sim_world_inputs(b.world, SIM_CTRL)[0] = 8; /* clamped to 5 */
        run(&b, 1000);
        cr_expect_float_eq(v_of(&b), -3 * 5 / 2.0, 1e-12, "%s: %.15g", sim_integrator_name((sim_integrator)integrator),
                           v_of(&b));
        cr_expect_eq(sim_world_efforts(b.world)[0], 5);
        bench_close(&b);
    }
}

/* Midpoint integrates a force that rises in a straight line without error: v = t^2 / 2 3 / 2. */
Test(actuators, a_control_input_follows_its_track_until_it_is_set_and_again_when_it_is_released) {
    const double times[] = {0, 10}, values[] = {0, 30};
    sim_actuator motor = sim_actuator_default();
    motor.ctrl = (sim_track){.interpolation = SIM_LINEAR, .keys = 2, .width = 1, .times = times, .values = values};
    bench b = bench_open(&motor, SIM_MIDPOINT, 1e-3, 0, 0);
    run(&b, 1000);
    cr_expect_float_eq(v_of(&b), 0.75, 1e-12);
    double *ctrl = sim_world_inputs(b.world, SIM_CTRL), before = v_of(&b);
    ctrl[0] = -2;
    run(&b, 1000);
    cr_expect_float_eq(v_of(&b), before - 1, 1e-12);
    cr_expect_eq(ctrl, sim_world_inputs(b.world, SIM_CTRL), "the array stays where it is");
    ctrl[0] = NAN;
    before = v_of(&b);
    run(&b, 1000);
    cr_expect_float_eq(v_of(&b), before + 1.5 * (9 - 4) / 2, 1e-12);
    bench_close(&b);
}

/* The same force, by a target, its rate and a feed-forward that are set, and by a control input. */
Test(actuators, a_servo_moves_the_same_by_control_input_and_by_target) {
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        double zero = 0;
        sim_actuator by_ctrl = position_servo(300, 20, &zero), by_target = sim_actuator_default();
        by_target.kp = 300;
        by_target.kd = 20;
        by_target.gear = by_ctrl.gear = 2;
        bench one = bench_open(&by_ctrl, (sim_integrator)integrator, 1e-3, 0.3, -1),
              two = bench_open(&by_target, (sim_integrator)integrator, 1e-3, 0.3, -1);
        sim_world_inputs(one.world, SIM_CTRL)[0] = 0.5;
        sim_world_inputs(one.world, SIM_FEEDFORWARD)[0] = 20 * 0.25 + 7;
        sim_world_inputs(two.world, SIM_TARGET)[0] = 0.5;
        sim_world_inputs(two.world, SIM_TARGET_RATE)[0] = 0.25;
        sim_world_inputs(two.world, SIM_FEEDFORWARD)[0] = 7;
        for (int k = 0; k < 200; k++) {
            run(&one, 1);
            run(&two, 1);
            cr_assert_float_eq(q_of(&one), q_of(&two), 1e-13, "%d", k);
            cr_assert_float_eq(sim_world_efforts(one.world)[0], sim_world_efforts(two.world)[0], 1e-9);
        }
        bench_close(&one);
        bench_close(&two);
    }
}

/* m x'' = -g^2 (kp x + kv x'): period and decay of the damped oscillator. */
Test(actuators, a_position_servo_swings_with_the_period_and_decay_of_its_gains) {
    double zero = 0, gear = 2, kp = 50, kv = 0.5, m = 2, q0 = 0.1;
    sim_actuator servo = position_servo(kp, kv, &zero);
    servo.gear = gear;
    double decay = gear * gear * kv / (2 * m), omega = sqrt(gear * gear * kp / m - decay * decay), worst[2] = {0, 0};
    for (int half = 0; half < 2; half++) {
        double dt = half ? 0.5e-4 : 1e-4;
        bench b = bench_open(&servo, SIM_MIDPOINT, dt, q0, 0);
        for (int k = 1; k <= (half ? 40000 : 20000); k++) {
            run(&b, 1);
            double t = k * dt, due = q0 * exp(-decay * t) * (cos(omega * t) + decay / omega * sin(omega * t));
            worst[half] = fmax(worst[half], fabs(q_of(&b) - due));
        }
        bench_close(&b);
    }
    cr_expect_lt(worst[0], 5e-4 * q0 * 10, "%g", worst[0]);
    cr_expect_float_eq(worst[0] / worst[1], 2, 0.1, "of first order: %g", worst[0] / worst[1]);
}

/* v' = -k u v / m, implicit: a factor 1 / (1 + dt k u / m) a step. */
Test(actuators, a_damper_brakes_by_its_control_input) {
    sim_actuator damper = sim_actuator_default();
    damper.gain[0] = 0;
    damper.gain[2] = -4;
    bench b = bench_open(&damper, SIM_MIDPOINT, 1e-3, 0, 3);
    sim_world_inputs(b.world, SIM_CTRL)[0] = 5;
    run(&b, 100);
    cr_expect_float_eq(v_of(&b), 3 * pow(1 + 1e-3 * 4 * 5 / 2, -100), 1e-12);
    sim_world_inputs(b.world, SIM_CTRL)[0] = 0;
    double kept = v_of(&b);
    run(&b, 100);
    cr_expect_float_eq(v_of(&b), kept, 1e-15);
    bench_close(&b);
}

Test(actuators, stiff_gains_are_stable_at_large_steps_in_every_implicit_scheme) {
    for (int integrator = 0; integrator < SIM_RK4; integrator++) {
        double here = 0.4;
        sim_actuator servo = position_servo(1e8, 1e4, &here);
        bench b = bench_open(&servo, (sim_integrator)integrator, 0.01, 0, 1);
        run(&b, 2000);
        cr_expect_float_eq(q_of(&b), 0.4, 1e-9);
        cr_expect_float_eq(v_of(&b), 0, 1e-9);
        bench_close(&b);
    }
}

/* m x'' = k x: what drives away is taken where the step starts, and x = x0 cosh(sqrt(k/m) t) in the limit. */
Test(actuators, a_force_that_grows_with_its_length_drives_away_as_it_should) {
    sim_actuator away = sim_actuator_default();
    away.bias[1] = 8;
    double error[2];
    for (int half = 0; half < 2; half++) {
        double dt = half ? 0.5e-4 : 1e-4;
        bench b = bench_open(&away, SIM_MIDPOINT, dt, 0.01, 0);
        run(&b, half ? 20000 : 10000);
        error[half] = q_of(&b) - 0.01 * cosh(2);
        bench_close(&b);
    }
    cr_expect_lt(fabs(error[0]), 1e-5);
    cr_expect_float_eq(error[0] / error[1], 2, 0.05, "of first order");
}

/* Far off, the servo pulls with exactly the end of its range, and the body moves with constant acceleration; near its
 * target it leaves the range and comes to rest there. */
Test(actuators, forces_stay_within_their_range_exactly_and_leave_its_ends) {
    const double start[] = {-4, 4}, end[] = {2.5, -1.5}, accelerations[] = {5.0, -3.0};
    for (int side = 0; side < 2; side++) {
        double zero = 0;
        sim_actuator servo = position_servo(100, 40, &zero);
        servo.gear = 2;
        servo.force_range[0] = -1.5;
        servo.force_range[1] = 2.5;
        servo.effort = 3; /* beyond the range: of no effect */
        bench b = bench_open(&servo, SIM_MIDPOINT, 1e-3, start[side], 0);
        run(&b, 100);
        cr_expect_eq(sim_world_efforts(b.world)[0], end[side]);
        cr_expect_eq(sim_world_info(b.world)->saturated, 1);
        cr_expect_float_eq(v_of(&b), accelerations[side] * 0.1 / 2, 1e-12, "%g", v_of(&b));
        run(&b, 20000);
        cr_expect_eq(sim_world_info(b.world)->saturated, 0);
        cr_expect_float_eq(q_of(&b), 0, 1e-9);
        bench_close(&b);
    }
}

/* ---- several on one joint, whose summed effort has a range ---- */

enum { TEAM = 3 };
static const double team_mass = 2, team_step = 2e-3;

typedef struct team {
    sim_actuator drive[TEAM];
    double target[TEAM], range[2];
} team;

/* Servos of stiff and soft gains; one in three is a constant force.  Two in three have ranges of their own. */
static team random_team(random_source *r) {
    team t;
    t.range[0] = -random_uniform(r, 0, 20);
    t.range[1] = random_uniform(r, 0.1, 20);
    for (int k = 0; k < TEAM; k++) {
        sim_actuator *a = &t.drive[k];
        *a = sim_actuator_default();
        a->gear = random_uniform(r, 0, 1) < 0.5 ? -random_uniform(r, 0.5, 3) : random_uniform(r, 0.5, 3);
        bool constant_force = random_uniform(r, 0, 3) < 1;
        a->gain[0] = constant_force ? 1 : pow(10, random_uniform(r, 0, 4));
        a->bias[1] = constant_force ? 0 : -a->gain[0];
        a->bias[2] = constant_force ? 0 : -pow(10, random_uniform(r, -1, 2));
        t.target[k] = constant_force ? random_uniform(r, -15, 15) : random_uniform(r, -0.5, 0.5) * a->gear;
        if (random_uniform(r, 0, 3) < 2) {
            a->force_range[0] = -random_uniform(r, 0.1, 15);
            a->force_range[1] = random_uniform(r, 0.1, 15);
        }
    }
    return t;
}

/* The slider of the bench with all of them, or a string to it; `walls`: a range of coordinates. */
static bench team_open(const team *t, bool string, sim_integrator integrator, double q, double v, double walls) {
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_body_def def = sim_body_default();
    def.joint = SIM_SLIDER;
    def.axis = (v3){1, 0, 0};
    def.inertia = box_inertia(team_mass, 0.1, 0.1, 0.1);
    def.q[0] = q;
    def.v[0] = v;
    sim_tendon pull = sim_tendon_default();
    double *effort = string ? pull.effort_range : def.effort_range[0];
    effort[0] = t->range[0];
    effort[1] = t->range[1];
    def.limit[0].low = -walls;
    def.limit[0].high = walls;
    int body = sim_builder_add_body(builder, &def);
    const sim_tendon_joint term = {body, 0, 1};
    pull.name = "string";
    pull.njoint = 1;
    pull.joint = &term;
    int tendon = string ? sim_builder_add_tendon(builder, &pull) : -1;
    for (int k = 0; k < TEAM; k++) {
        sim_actuator a = t->drive[k];
        a.transmission = string ? SIM_BY_TENDON : SIM_BY_JOINT;
        a.tendon = tendon;
        a.dof = string ? -1 : 0;
        sim_builder_add_actuator(builder, body, &a);
    }
    sim_error error = {0};
    bench b = {.model = sim_builder_finish(builder, &error)};
    cr_assert(b.model, "%s", error.text);
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = integrator == SIM_RK4 ? 1e-9 : team_step;
    options.tolerance = 1e-13;
    b.world = sim_world_create(b.model, &options, &error);
    cr_assert(b.world, "%s", error.text);
    for (int k = 0; k < TEAM; k++) {
        sim_world_inputs(b.world, SIM_CTRL)[k] = t->target[k];
    }
    return b;
}

/* The effort of all, with the coordinate q and the velocity v at which their forces act. */
static double team_effort(const team *t, double q, double v, double *asked) {
    double sum = 0;
    for (int k = 0; k < TEAM; k++) {
        const sim_actuator *a = &t->drive[k];
        double force = a->gain[0] * t->target[k] + a->bias[1] * a->gear * q + a->bias[2] * a->gear * v;
        sum += a->gear * fmax(a->force_range[0], fmin(a->force_range[1], force));
    }
    *asked = sum;
    return fmax(t->range[0], fmin(t->range[1], sum));
}

/* The sum of the efforts that the world reports, and those that are beyond their own range. */
static double reported_effort(const bench *b, const team *t) {
    double sum = 0;
    for (int k = 0; k < TEAM; k++) {
        double force = sim_world_efforts(b->world)[k];
        sum += t->drive[k].gear * force;
        cr_assert(force >= t->drive[k].force_range[0] && force <= t->drive[k].force_range[1], "%g", force);
    }
    return sum;
}

/* m (v1 - v0) = dt times the clamped sum of the clamped forces at the end of the step, and so is the report. */
Test(actuators, that_share_the_effort_range_of_their_joint_sum_to_it_and_no_more) {
    int spent = 0, free = 0;
    for (int trial = 0; trial < 240; trial++) {
        random_source r = {(uint64_t)trial};
        sim_integrator scheme = (sim_integrator)(trial % SIM_INTEGRATORS);
        team t = random_team(&r);
        bench b = team_open(&t, false, scheme, random_uniform(&r, -0.5, 0.5), random_uniform(&r, -2, 2), INFINITY);
        for (int k = 0; k < 40 && scheme != SIM_RK4; k++) {
            double q0 = q_of(&b), v0 = v_of(&b), asked;
            run(&b, 1);
            double theta = scheme == SIM_MIDPOINT || scheme == SIM_MOREAU ? 0.5 : 1, v1 = v_of(&b);
            double due = team_effort(&t, q0 + team_step * (v0 + theta * (v1 - v0)), v1, &asked);
            double found = team_mass * (v1 - v0) / team_step;
            cr_assert_float_eq(found, due, 1e-8, "%d, %d: %.15g, not %.15g", trial, k, found, due);
            cr_assert_float_eq(reported_effort(&b, &t), due, 1e-8, "%d, %d", trial, k);
            spent += asked != due;
            free += asked == due;
            cr_assert(asked == due || sim_world_info(b.world)->saturated > 0, "%d, %d", trial, k);
        }
        /* explicit: at the start of a very small step */
        if (scheme == SIM_RK4) {
            double asked, due = team_effort(&t, q_of(&b), v_of(&b), &asked);
            run(&b, 1);
            cr_assert_float_eq(sim_world_state(b.world)->a[0] * team_mass, due, 1e-3, "%d", trial);
            cr_assert_float_eq(reported_effort(&b, &t), due, 1e-3, "%d", trial);
        }
        bench_close(&b);
    }
    cr_assert(spent > 500 && free > 500, "%d %d", spent, free);
}

/* Walls change the velocity that free motion found: the law holds at the velocity that they leave. */
static void obey_between(double walls, bool string, int *stopped) {
    int spent = 0, free = 0;
    for (int trial = 0; trial < 120; trial++) {
        random_source r = {(uint64_t)trial};
        sim_integrator scheme = (sim_integrator)(trial % SIM_RK4);
        team t = random_team(&r);
        bench b = team_open(&t, string, scheme, random_uniform(&r, -0.05, 0.05), random_uniform(&r, -5, 5), walls);
        for (int k = 0; k < 40; k++) {
            double q0 = q_of(&b), v0 = v_of(&b), asked;
            run(&b, 1);
            double theta = scheme == SIM_MIDPOINT || scheme == SIM_MOREAU ? 0.5 : 1, v1 = v_of(&b);
            double due = team_effort(&t, q0 + team_step * (v0 + theta * (v1 - v0)), v1, &asked);
            double found = reported_effort(&b, &t), wall = team_mass * (v1 - v0) / team_step - found;
            cr_assert_float_eq(found, due, 1e-6 * fmax(1, fabs(due)), "%d, %d: %.15g, not %.15g", trial, k, found, due);
            cr_assert(wall * q0 <= 1e-6, "%d, %d: %g at %g", trial, k, wall, q0);
            *stopped += fabs(wall) > 1e-6;
            spent += asked != due;
            free += asked == due;
        }
        bench_close(&b);
    }
    cr_assert(spent > 200 && free > 200, "%d %d", spent, free);
}

Test(actuators, that_share_a_range_obey_it_where_an_end_of_the_joint_stops_them) {
    int stopped = 0;
    obey_between(0.05, false, &stopped);
    cr_assert(stopped > 200, "%d", stopped);
}

Test(actuators, that_share_the_effort_range_of_their_tendon_obey_it_likewise) {
    int stopped = 0, never = 0;
    obey_between(0.05, true, &stopped);
    obey_between(INFINITY, true, &never);
    cr_assert(stopped > 200 && never == 0, "%d %d", stopped, never);
}

Test(actuators, that_share_a_range_without_zero_are_refused) {
    for (int count = 1; count <= 2; count++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.joint = SIM_HINGE;
        def.inertia = box_inertia(1, 1, 1, 1);
        def.effort_range[0][0] = 1;
        def.effort_range[0][1] = 4;
        sim_actuator motor = sim_actuator_default();
        motor.gear = -2;
        int body = sim_builder_add_body(builder, &def);
        for (int k = 0; k < count; k++) {
            sim_builder_add_actuator(builder, body, &motor);
        }
        sim_error error = {0};
        sim_model *m = sim_builder_finish(builder, &error);
        cr_assert_eq(m != NULL, count == 1);
        cr_expect(count == 1 || strstr(error.text, "0 is not in its range of efforts"), "%s", error.text);
        cr_expect(count == 2 || (m->actuator[0].force_range[0] == -2 && m->actuator[0].force_range[1] == -0.5));
        cr_expect(count == 2 || isinf(m->dof[0].effort_range[1]), "the range of one actuator is that of its forces");
        sim_model_free(m);
    }
}

/* w = u (1 - exp(-t/T)) to rounding; v = u/m (t - T (1 - exp(-t/T))) to second order. */
Test(actuators, a_filter_answers_a_step_of_its_input_by_the_exponential) {
    double error[2], T = 0.05, u = 4;
    for (int half = 0; half < 2; half++) {
        double dt = half ? 0.5e-2 : 1e-2;
        sim_actuator motor = sim_actuator_default();
        motor.activation.type = SIM_FILTERED;
        motor.activation.time_constant[0] = T;
        motor.ctrl = constant(&u);
        bench b = bench_open(&motor, SIM_MIDPOINT, dt, 0, 0);
        int steps = half ? 40 : 20;
        for (int k = 1; k <= steps; k++) {
            run(&b, 1);
            cr_assert_float_eq(sim_world_state(b.world)->activation[0], u * (1 - exp(-k * dt / T)), 1e-14);
        }
        double t = 0.2;
        error[half] = v_of(&b) - u / 2 * (t - T * (1 - exp(-t / T)));
        bench_close(&b);
    }
    cr_expect_lt(fabs(error[0]), 1e-3);
    cr_expect_float_eq(error[0] / error[1], 4, 0.1, "%g", error[0] / error[1]);
}

/* The activation is the target of a servo, and moves with the control input: after a while the body does, too. */
Test(actuators, an_integrated_velocity_moves_the_body_at_the_speed_of_its_control_input) {
    sim_actuator motor = position_servo(1e4, 200, at_once);
    motor.activation.type = SIM_INTEGRATED;
    motor.activation.range[0] = -0.5;
    motor.activation.range[1] = 0.5;
    motor.activation.initial = -0.25;
    bench b = bench_open(&motor, SIM_MIDPOINT, 1e-3, -0.25, 0);
    sim_world_inputs(b.world, SIM_CTRL)[0] = 0.5;
    run(&b, 1000);
    cr_expect_float_eq(sim_world_state(b.world)->activation[0], 0.25, 1e-12);
    cr_expect_float_eq(v_of(&b), 0.5, 1e-9);
    run(&b, 3000);
    cr_expect_eq(sim_world_state(b.world)->activation[0], 0.5);
    cr_expect_float_eq(q_of(&b), 0.5, 1e-9);
    bench_close(&b);
}

/* dw/dt of a muscle, for the reference by Runge-Kutta. */
static double muscle_rate(const sim_activation *a, double u, double w) {
    double s = 0.5 + 1.5 * w;
    return u > w ? (u - w) / (a->time_constant[0] * s) : (u - w) * s / a->time_constant[1];
}

Test(actuators, the_activation_of_a_muscle_solves_its_equation) {
    random_source r = {3};
    sim_activation a = {.type = SIM_MUSCULAR, .time_constant = {0.01, 0.04}, .range = {0, 1}};
    for (int trial = 0; trial < 200; trial++) {
        double u = random_uniform(&r, 0, 1), w0 = random_uniform(&r, 0, 1), dt = pow(10, random_uniform(&r, -5, 0));
        double w = w0, h = dt / 20000;
        for (int k = 0; k < 20000; k++) {
            double k1 = muscle_rate(&a, u, w), k2 = muscle_rate(&a, u, w + 0.5 * h * k1);
            double k3 = muscle_rate(&a, u, w + 0.5 * h * k2), k4 = muscle_rate(&a, u, w + h * k3);
            w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        }
        double found = sim_activation_after(&a, u, w0, dt), part = random_uniform(&r, 0, dt);
        cr_assert_float_eq(found, w, 1e-11, "u %g, w0 %g, dt %g: %.15g, not %.15g", u, w0, dt, found, w);
        double twice = sim_activation_after(&a, u, sim_activation_after(&a, u, w0, part), dt - part);
        cr_assert_float_eq(found, twice, 1e-14, "in two parts: %g", found - twice);
    }
    cr_expect_eq(sim_activation_after(&a, 7, 1, 1), 1, "inputs are clamped to 0 .. 1");
    cr_expect_float_eq(sim_activation_after(&a, 0.5, 0.5, 1), 0.5, 1e-16);
    cr_expect_float_eq(sim_activation_after(&a, 1, 0, 1e6), 1, 1e-15);
    cr_expect_float_eq(sim_activation_after(&a, 0, 1, 1e6), 0, 1e-15);
}

/* A branch of the state goes on with the same bits; it takes inputs and activations along. */
Test(actuators, a_copied_state_takes_inputs_and_activations_along) {
    sim_actuator motor = sim_actuator_default();
    motor.activation = (sim_activation){.type = SIM_MUSCULAR, .time_constant = {0.01, 0.04}, .range = {0, 1}};
    motor.bias[1] = -30;
    bench a = bench_open(&motor, SIM_MIDPOINT, 1e-3, 0.2, 0), b = bench_open(&motor, SIM_MIDPOINT, 1e-3, 0, 0);
    sim_world_inputs(a.world, SIM_CTRL)[0] = 0.7;
    run(&a, 30);
    cr_assert_eq(sim_world_set_state(b.world, sim_world_state(a.world), NULL), SIM_OK);
    run(&a, 100);
    run(&b, 100);
    cr_expect(sim_state_same(a.model, sim_world_state(a.world), sim_world_state(b.world)));
    cr_expect_gt(sim_world_state(b.world)->activation[0], 0.6);
    bench_close(&a);
    bench_close(&b);
}

Test(actuators, inputs_that_are_infinite_are_refused_with_the_state) {
    sim_actuator motor = sim_actuator_default();
    bench b = bench_open(&motor, SIM_MIDPOINT, 1e-3, 0, 0);
    double inputs[SIM_INPUTS] = {INFINITY, NAN, NAN, NAN};
    sim_state state = *sim_world_state(b.world);
    state.input = inputs;
    cr_expect_eq(sim_world_set_state(b.world, &state, NULL), SIM_BAD_INPUT);
    inputs[0] = 1;
    cr_expect_eq(sim_world_set_state(b.world, &state, NULL), SIM_OK);
    cr_expect_eq(sim_world_inputs(b.world, SIM_CTRL)[0], 1);
    bench_close(&b);
}

Test(actuators, that_make_no_sense_are_refused) {
    sim_actuator good = sim_actuator_default(), bad[8];
    for (int k = 0; k < 8; k++) {
        bad[k] = good;
    }
    bad[0].gear = 0;
    bad[1].gain[1] = NAN;
    bad[2].force_range[0] = 0; /* its other end is infinite */
    bad[3].force_range[0] = 2;
    bad[3].force_range[1] = 3;
    bad[3].effort = 1;
    bad[4].ctrl_range[0] = 2;
    bad[4].ctrl_range[1] = 1;
    bad[5].activation.type = SIM_FILTERED;
    bad[6].activation.type = SIM_INTEGRATED;
    bad[6].activation.range[0] = 1;
    bad[7].activation = (sim_activation){.type = SIM_MUSCULAR, .time_constant = {1, 1}, .range = {0, 1}, .initial = 2};
    for (int k = 0; k < 8; k++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.joint = SIM_HINGE;
        def.inertia = box_inertia(1, 1, 1, 1);
        sim_builder_add_actuator(builder, sim_builder_add_body(builder, &def), &bad[k]);
        sim_error error = {0};
        cr_expect_null(sim_builder_finish(builder, &error), "%d", k);
        cr_expect_eq(error.status, SIM_BAD_INPUT);
    }
}
