/* Two arms that pour balls from one bottle into another, scenes/robots/g1_pours.json: where balls, bottles and hands are. */
#ifndef TESTS_CONTROL_POUR_H
#define TESTS_CONTROL_POUR_H

#include "math/spatial.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <string.h>

#define BOTTLE_RADIUS 0.0237 /* m: of the scene, outside */
#define BOTTLE_HEIGHT 0.12

typedef struct pouring {
    sim_scene *scene;
    sim_world *world;
    int full, empty; /* bodies of the bottles */
} pouring;

static inline pouring begin_pouring(const char *solver, int layers) {
    char set[80], counts[80];
    snprintf(set, sizeof set, "world/solver=\"%s\"", solver);
    snprintf(counts, sizeof counts, "instances/3/repeat/counts=[3, 3, %d]", layers);
    const char *const words[] = {set, counts};
    sim_scene_overrides overrides = {.count = 2, .set = words};
    sim_error error;
    pouring p = {.scene = sim_scene_load("scenes/robots/g1_pours.json", &overrides, NULL, &error)};
    cr_assert_not_null(p.scene, "%s", error.text);
    p.world = sim_world_create(p.scene->model, &p.scene->options, &error);
    cr_assert_not_null(p.world, "%s", error.text);
    p.full = sim_model_find_body(p.scene->model, "full_bottle");
    p.empty = sim_model_find_body(p.scene->model, "empty_bottle");
    return p;
}

static inline void pour_on(pouring *p, int steps) {
    sim_error error;
    for (int n = 0; n < steps; n++) {
        cr_assert_eq(sim_world_step(p->world, &error), SIM_OK, "%s", error.text);
    }
}

static inline pose pose_of_site(const pouring *p, const char *name) {
    const sim_site *s = &p->scene->model->site[sim_model_find_site(p->scene->model, name)];
    return pose_product(sim_world_derived(p->world)->pose[s->body], s->pose);
}

/* Balls with their centre within a bottle. */
static inline int balls_within(const pouring *p, int bottle) {
    const sim_model *m = p->scene->model;
    const pose *X = sim_world_derived(p->world)->pose;
    int count = 0;
    for (int i = 1; i < m->nbody; i++) {
        v3 at = pose_point(pose_inverse(X[bottle]), X[i].p);
        bool within = hypot(at.x, at.y) < BOTTLE_RADIUS && at.z > 0 && at.z < BOTTLE_HEIGHT;
        count += within && strncmp(m->body[i].name, "ball", 4) == 0;
    }
    return count;
}

static inline void end_pouring(pouring *p) {
    sim_world_free(p->world);
    sim_scene_free(p->scene);
}

#endif
