/* Delays of control inputs and of readings: a shift by whole steps, to the bit. */
#include "support/models.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROOM = 8, STEPS = 40 };
static const double STEP = 0.01;

typedef struct bench {
    sim_model *model;
    sim_world *world;
} bench;

/* A mass on a slider with a spring, driven by the control input alone or through an activation, with two sensors of its
 * acceleration: at once, and delayed. */
static bench bench_open(double delay, double reading_delay, sim_activation_type type) {
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_SLIDER;
    def.axis = (v3){1, 0, 0};
    def.stiffness[0] = 20;
    def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
    int body = sim_builder_add_body(builder, &def);
    sim_actuator a = sim_actuator_default();
    a.name = "motor";
    a.delay = delay;
    a.delay_steps = delay > 0 ? ROOM : 0;
    a.activation.type = type;
    a.activation.time_constant[0] = 0.05;
    sim_builder_add_actuator(builder, body, &a);
    for (int k = 0; k < 2; k++) {
        sim_sensor s = sim_sensor_default();
        s.name = k ? "late" : "prompt";
        s.type = SIM_SENSE_ACCELEROMETER;
        s.body = body;
        s.delay = k ? reading_delay : 0;
        s.delay_steps = s.delay > 0 ? ROOM : 0;
        sim_builder_add_sensor(builder, &s);
    }
    sim_error error = {0};
    bench b = {.model = sim_builder_finish(builder, &error)};
    cr_assert(b.model, "%s", error.text);
    sim_options options = sim_options_default();
    options.step = STEP;
    b.world = sim_world_create(b.model, &options, &error);
    cr_assert(b.world, "%s", error.text);
    return b;
}

static void bench_close(bench *b) {
    sim_world_free(b->world);
    sim_model_free(b->model);
}

static double input_of(int step) { return 3 * sin(1.7 * step) + step % 3; }

static void step_with(bench *b, double ctrl) {
    sim_error error = {0};
    sim_world_inputs(b->world, SIM_CTRL)[0] = ctrl;
    cr_assert_eq(sim_world_step(b->world, &error), SIM_OK, "%s", error.text);
}

/* Delays in steps: those of whole steps, also where a quotient is rounded, and rounded up between them. */
static const struct {
    double delay;
    int steps;
} due[] = {{0.001, 1}, {0.01, 1}, {0.0101, 2}, {0.03, 3}, {0.07, 7}, {0.0701, 8}, {0.08, 8}};
enum { DELAYS = sizeof due / sizeof due[0] };

Test(delays, of_inputs_are_those_of_so_many_steps_before_and_0_at_first) {
    for (int k = 0; k < DELAYS; k++) {
        for (int type = SIM_NO_ACTIVATION; type <= SIM_FILTERED; type++) {
            bench late = bench_open(due[k].delay, 0, (sim_activation_type)type),
                  prompt = bench_open(0, 0, (sim_activation_type)type);
            for (int n = 0; n < STEPS; n++) {
                step_with(&late, input_of(n));
                step_with(&prompt, n < due[k].steps ? 0 : input_of(n - due[k].steps));
                const sim_state *a = sim_world_state(late.world), *b = sim_world_state(prompt.world);
                cr_assert(a->q[0] == b->q[0] && a->v[0] == b->v[0] && a->activation[0] == b->activation[0],
                          "%g s, step %d: %.17g, not %.17g", due[k].delay, n, a->q[0], b->q[0]);
            }
            bench_close(&late);
            bench_close(&prompt);
        }
    }
}

/* Tracks are read at the start of each step. */
Test(delays, of_tracks_are_those_of_inputs) {
    static const double times[] = {0, 0.1, 0.2}, values[] = {1, 5, -2};
    bench late = bench_open(0.03, 0, SIM_NO_ACTIVATION), prompt = bench_open(0, 0, SIM_NO_ACTIVATION);
    sim_actuator *a = (sim_actuator *)&late.model->actuator[0];
    sim_track track = {.interpolation = SIM_LINEAR, .keys = 3, .width = 1, .times = times, .values = values};
    a->ctrl = track;
    for (int n = 0; n < STEPS; n++) {
        double ctrl = 0;
        sim_track_at(&track, sim_world_state(prompt.world)->time - 3 * STEP, &ctrl, NULL);
        step_with(&late, NAN);
        step_with(&prompt, n < 3 ? 0 : ctrl);
        cr_assert_float_eq(sim_world_state(late.world)->q[0], sim_world_state(prompt.world)->q[0], 1e-14);
    }
    bench_close(&late);
    bench_close(&prompt);
}

Test(delays, of_readings_are_those_of_so_many_steps_before_and_0_at_first) {
    for (int k = 0; k < DELAYS; k++) {
        bench b = bench_open(0, due[k].delay, SIM_NO_ACTIVATION);
        double seen[STEPS + 1][3];
        memcpy(seen[0], sim_world_sensors(b.world), sizeof seen[0]);
        for (int n = 1; n <= STEPS; n++) {
            step_with(&b, input_of(n));
            const double none[3] = {0, 0, 0}, *now = sim_world_sensors(b.world);
            memcpy(seen[n], now, sizeof seen[n]);
            const double *then = n < due[k].steps ? none : seen[n - due[k].steps];
            cr_assert(memcmp(now + 3, then, sizeof none) == 0, "%g s, step %d: %g, not %g", due[k].delay, n, now[3],
                      then[0]);
        }
        bench_close(&b);
    }
}

/* A state that is copied goes on with the same bits. */
Test(delays, are_part_of_the_state) {
    bench a = bench_open(0.03, 0.05, SIM_FILTERED), b = bench_open(0.03, 0.05, SIM_FILTERED);
    for (int n = 0; n < 10; n++) {
        step_with(&a, input_of(n));
    }
    sim_error error = {0};
    cr_assert_eq(sim_world_set_state(b.world, sim_world_state(a.world), &error), SIM_OK, "%s", error.text);
    for (int n = 10; n < STEPS; n++) {
        step_with(&a, input_of(n));
        step_with(&b, input_of(n));
        cr_assert(sim_state_same(a.model, sim_world_state(a.world), sim_world_state(b.world)), "step %d", n);
    }
    sim_world_start(a.world, -1); /* forgets them */
    step_with(&a, 5);
    cr_expect_eq(sim_world_state(a.world)->effort[0], 0);
    bench_close(&a);
    bench_close(&b);
}

/* Inputs that have not acted yet tell two states apart. */
Test(delays, are_compared_with_the_state) {
    bench b[2];
    for (int k = 0; k < 2; k++) {
        b[k] = bench_open(0.03, 0, SIM_NO_ACTIVATION);
        step_with(&b[k], k);
        sim_world_inputs(b[k].world, SIM_CTRL)[0] = 0;
    }
    const sim_state *now[2] = {sim_world_state(b[0].world), sim_world_state(b[1].world)};
    cr_expect_eq(now[0]->v[0], now[1]->v[0]);
    cr_expect_eq(now[0]->effort[0], now[1]->effort[0]);
    cr_expect_not(sim_state_same(b[0].model, now[0], now[1]));
    bench_close(&b[0]);
    bench_close(&b[1]);
}

Test(delays, longer_than_their_room_are_refused_by_name) {
    bench b = bench_open(0.08, 0, SIM_NO_ACTIVATION);
    sim_options options = *sim_world_options(b.world);
    options.step = STEP / 2;
    sim_error error = {0};
    cr_assert_null(sim_world_create(b.model, &options, &error));
    cr_expect(strstr(error.text, "the actuator \"motor\" has a delay of 0.08 s, but room for 8 steps"), "%s",
              error.text);
    bench_close(&b);
}
