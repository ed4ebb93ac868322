/* A quadruped that trots: a scene of scenes/robots, what its motors do and how it stands. */
#ifndef TESTS_CONTROL_TROT_H
#define TESTS_CONTROL_TROT_H

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct walk {
    sim_scene *scene;
    sim_world *world;
    int trunk;
    double work;    /* J, of the motors, without regard to sign */
    double upright; /* least cosine of the tilt of the trunk */
    double pushed;  /* N s, vertical, of the ground on the feet: what their sensors read */
} walk;

static inline walk begin_walk(const char *path, const char *solver, double step) {
    char set[60];
    snprintf(set, sizeof set, "world/solver=\"%s\"", solver);
    const char *const words[] = {set};
    sim_scene_overrides overrides = {.count = 1, .set = words};
    sim_error error;
    walk w = {.scene = sim_scene_load(path, &overrides, NULL, &error), .upright = 1};
    cr_assert_not_null(w.scene, "%s", error.text);
    w.scene->options.step = step;
    w.world = sim_world_create(w.scene->model, &w.scene->options, &error);
    cr_assert_not_null(w.world, "%s", error.text);
    w.trunk = sim_model_find_body(w.scene->model, "dog_trunk");
    return w;
}

static inline void go_on(walk *w, int steps) {
    const sim_model *m = w->scene->model;
    double *before = malloc((size_t)m->nq * sizeof *before);
    sim_error error;
    for (int n = 0; n < steps; n++) {
        for (int k = 0; k < m->nq; k++) {
            before[k] = sim_world_state(w->world)->q[k];
        }
        cr_assert_eq(sim_world_step(w->world, &error), SIM_OK, "%s", error.text);
        for (int k = 0; k < m->nactuator; k++) {
            int q = m->dof[m->actuator[k].dof].coordinate;
            w->work += fabs(sim_world_efforts(w->world)[k] * (sim_world_state(w->world)->q[q] - before[q]));
        }
        for (int k = 0; k < m->nsensor; k++) {
            const sim_sensor *s = &m->sensor[k];
            w->pushed +=
                s->type == SIM_SENSE_TOUCH ? sim_world_sensors(w->world)[s->first] * w->scene->options.step : 0;
        }
        w->upright = fmin(w->upright, sim_world_derived(w->world)->pose[w->trunk].R.z.z);
    }
    free(before);
}

static inline void end_walk(walk *w) {
    sim_world_free(w->world);
    sim_scene_free(w->scene);
}

#endif
