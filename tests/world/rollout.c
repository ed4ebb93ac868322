/* Rollouts: the bits of worlds stepped alone, whatever the threads; failures, and interruption. */
#include "support/models.h"
#include "support/share.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/rollout.h>
#include <sim/scene.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, STEPS = 45, EVERY = 10, RECORDS = STEPS / EVERY };

/* Room for the paths of a rollout. */
typedef struct paths {
    double *q, *v, *sensor;
    sim_rollout_end end[RUNS];
} paths;

static double *room(int width) { return calloc((size_t)(RUNS * RECORDS * width + 1), sizeof(double)); }

static paths paths_create(const sim_model *m) {
    return (paths){.q = room(m->nq), .v = room(m->nv), .sensor = room(m->nsensor_value)};
}

static void paths_free(paths *p) {
    free(p->q);
    free(p->v);
    free(p->sensor);
}

static sim_rollout rollout_into(paths *p) {
    sim_rollout r = sim_rollout_default();
    r.runs = RUNS;
    r.steps = STEPS;
    r.every = EVERY;
    r.q_path = p->q;
    r.v_path = p->v;
    r.sensor_path = p->sensor;
    r.end = p->end;
    return r;
}

static sim_scene *open_scene(const char *name) {
    char path[80];
    snprintf(path, sizeof path, "scenes/%s.json", name);
    sim_scene *scene = sim_scene_load(path, NULL, NULL, NULL);
    cr_assert_not_null(scene, "%s", name);
    return scene;
}

/* Velocities of the runs, near those of the model. */
static double *run_velocities(const sim_model *m) {
    random_source r = {11};
    double *v = calloc((size_t)(RUNS * m->nv), sizeof *v);
    for (int k = 0; k < RUNS * m->nv; k++) {
        v[k] = m->v_initial[k % m->nv] + random_uniform(&r, -0.1, 0.1);
    }
    return v;
}

static void same_numbers(const double *a, const double *b, int width, int run, int record, const char *name) {
    size_t at = (size_t)(run * RECORDS + record) * (size_t)width;
    cr_expect(width == 0 || !memcmp(a + at, b, (size_t)width * sizeof *b), "%s: run %d, record %d", name, run, record);
}

/* Against worlds that are new for each run. */
static void compare_alone(const sim_scene *s, const double *v, const double *control, const paths *p,
                          const char *name) {
    const sim_model *m = s->model;
    for (int run = 0; run < RUNS; run++) {
        sim_world *w = sim_world_create(m, &s->options, NULL);
        sim_state begin = *sim_world_state(w);
        begin.v = (double *)v + run * m->nv;
        begin.trail = NULL;
        begin.sensor = NULL;
        cr_assert_eq(sim_world_set_state(w, &begin, NULL), SIM_OK);
        for (int step = 0; step < STEPS; step++) {
            if (control && step % 3 == 0) {
                memcpy(sim_world_inputs(w, SIM_TARGET), control + (run * STEPS / 3 + step / 3) * m->nactuator,
                       (size_t)m->nactuator * sizeof *control);
            }
            cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
            if ((step + 1) % EVERY == 0) {
                int record = (step + 1) / EVERY - 1;
                same_numbers(p->q, sim_world_state(w)->q, m->nq, run, record, name);
                same_numbers(p->v, sim_world_state(w)->v, m->nv, run, record, name);
                same_numbers(p->sensor, sim_world_sensors(w), m->nsensor_value, run, record, name);
            }
        }
        sim_world_free(w);
    }
}

Test(rollout, has_the_bits_of_worlds_stepped_alone_for_any_number_of_threads) {
    const char *const names[] = {"contact/cards", "articulated/tendon_finger", "articulated/arm", "articulated/sensors",
                                 "articulated/muscle_arm"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        sim_scene *s = open_scene(names[n]);
        const sim_model *m = s->model;
        double *v = run_velocities(m);
        double *control = calloc((size_t)(RUNS * STEPS * m->nactuator + 1), sizeof *control);
        for (int k = 0; k < RUNS * STEPS * m->nactuator; k++) {
            control[k] = k % 5 ? 0.01 * (k % 13) : NAN;
        }
        for (int threads = is_part() ? 3 : 1; threads < 4; threads++) {
            paths p = paths_create(m);
            sim_rollout r = rollout_into(&p);
            sim_error error;
            r.v = v;
            r.input = SIM_TARGET;
            r.control = m->nactuator ? control : NULL;
            r.hold = 3;
            cr_assert_eq(sim_rollout_run(m, &s->options, threads, &r, &error), SIM_OK, "%s", error.text);
            compare_alone(s, v, r.control, &p, names[n]);
            cr_expect_eq(p.end[RUNS - 1].steps, STEPS);
            paths_free(&p);
        }
        free(control);
        free(v);
        sim_scene_free(s);
    }
}

Test(rollout, begins_at_whole_states_with_their_warm_starts) {
    sim_scene *s = open_scene("contact/cards");
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    sim_world *other = sim_world_create(s->model, &s->options, NULL);
    run_world(w, 30);
    const sim_state *state[RUNS];
    for (int k = 0; k < RUNS; k++) {
        state[k] = sim_world_state(k % 2 ? w : other);
    }
    paths p = paths_create(s->model);
    sim_rollout r = rollout_into(&p);
    r.state = state;
    cr_assert_eq(sim_rollout_run(s->model, &s->options, 2, &r, NULL), SIM_OK);
    run_world(w, RECORDS * EVERY);
    run_world(other, RECORDS * EVERY);
    for (int k = 0; k < RUNS; k++) {
        same_numbers(p.q, sim_world_state(k % 2 ? w : other)->q, s->model->nq, k, RECORDS - 1, "cards");
    }
    paths_free(&p);
    sim_world_free(w);
    sim_world_free(other);
    sim_scene_free(s);
}

Test(rollout, keeps_the_failure_of_a_run_apart_from_the_others) {
    sim_model *m = quadruped_model();
    sim_options options = sim_options_default();
    double *v = run_velocities(m);
    v[2 * m->nv + 9] = 1e200;
    paths p = paths_create(m);
    sim_rollout r = rollout_into(&p);
    r.v = v;
    cr_assert_eq(sim_rollout_run(m, &options, 2, &r, NULL), SIM_OK);
    for (int k = 0; k < RUNS; k++) {
        cr_expect(k == 2 ? p.end[k].steps < STEPS : p.end[k].steps == STEPS, "run %d: %d", k, (int)p.end[k].steps);
        cr_expect_eq(p.end[k].why.status, k == 2 ? SIM_FAILED : SIM_OK);
        cr_expect_eq(isnan(p.q[k * RECORDS * m->nq]), k == 2);
    }
    cr_expect_not_null(strstr(p.end[2].why.text, "body"), "%s", p.end[2].why.text);
    paths_free(&p);
    free(v);
    sim_model_free(m);
}

Test(rollout, names_the_first_run_whose_state_is_refused) {
    sim_model *m = quadruped_model();
    sim_options options = sim_options_default();
    double *v = run_velocities(m);
    v[5 * m->nv] = v[3 * m->nv + 1] = NAN;
    paths p = paths_create(m);
    for (int threads = 1; threads < 4; threads++) {
        sim_error error;
        sim_rollout r = rollout_into(&p);
        r.v = v;
        cr_assert_eq(sim_rollout_run(m, &options, threads, &r, &error), SIM_BAD_INPUT);
        cr_expect_eq(strncmp(error.text, "run 3: ", 7), 0, "%s", error.text);
        cr_expect_eq(p.end[4].steps, STEPS);
    }
    paths_free(&p);
    free(v);
    sim_model_free(m);
}

Test(rollout, refuses_what_makes_no_sense) {
    sim_model *m = quadruped_model();
    sim_options options = sim_options_default();
    const sim_state *none[1] = {NULL};
    const double zero[64] = {0};
    struct {
        int threads;
        sim_rollout r;
    } const bad[] = {{0, {.hold = 1, .every = 1}},
                     {65, {.hold = 1, .every = 1}},
                     {1, {.runs = -1, .hold = 1, .every = 1}},
                     {1, {.steps = -1, .hold = 1, .every = 1}},
                     {1, {.hold = 0, .every = 1}},
                     {1, {.hold = 1, .every = 0}},
                     {1, {.state = none, .q = zero, .hold = 1, .every = 1}}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        cr_expect_eq(sim_rollout_run(m, &options, bad[k].threads, &bad[k].r, NULL), SIM_BAD_INPUT, "%zu", k);
    }
    sim_rollout nothing = sim_rollout_default();
    cr_expect_eq(sim_rollout_run(m, &options, 3, &nothing, NULL), SIM_OK);
    options.step = -1;
    cr_expect_eq(sim_rollout_run(m, &options, 1, &nothing, NULL), SIM_BAD_INPUT);
    sim_model_free(m);
}

static bool stop_after_100(void *context) { return atomic_fetch_add((atomic_int *)context, 1) >= 100; }

Test(rollout, ends_when_the_caller_says_so) {
    sim_model *m = quadruped_model();
    sim_options options = sim_options_default();
    paths p = paths_create(m);
    sim_rollout r = rollout_into(&p);
    atomic_int asked = 0;
    r.stop = stop_after_100;
    r.context = &asked;
    cr_assert_eq(sim_rollout_run(m, &options, 2, &r, NULL), SIM_OK);
    int64_t steps = 0;
    for (int k = 0; k < RUNS; k++) {
        steps += p.end[k].steps;
        cr_expect_eq(p.end[k].why.status, SIM_OK);
    }
    cr_expect_eq(steps, 100);
    paths_free(&p);
    sim_model_free(m);
}
