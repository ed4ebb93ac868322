/* Two arms that open a jar and pour marbles out of it, scenes/robots/iiwas_open_jar*.json: where jar, lid, marbles and bowl are. */
#ifndef TESTS_CONTROL_JAR_H
#define TESTS_CONTROL_JAR_H

#include "math/spatial.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <string.h>

#define MARBLES 16
#define JAR_HEIGHT 0.16 /* m: of the scene, from the jar's origin to its rim; the seated lid's origin is there */
#define BOWL_RADIUS 0.1
#define BOWL_HEIGHT 0.06

typedef struct opening {
    sim_scene *scene;
    sim_world *world;
    int jar, lid, bowl; /* bodies */
    v3 place;           /* m: of the jar at first */
} opening;

static inline pose pose_in(const opening *o, int body) { return sim_world_derived(o->world)->pose[body]; }

static inline opening begin_opening(const char *scene) {
    char path[200];
    sim_error error;
    snprintf(path, sizeof path, "scenes/robots/%s.json", scene);
    opening o = {.scene = sim_scene_load(path, NULL, NULL, &error)};
    cr_assert_not_null(o.scene, "%s", error.text);
    o.world = sim_world_create(o.scene->model, &o.scene->options, &error);
    cr_assert_not_null(o.world, "%s", error.text);
    o.jar = sim_model_find_body(o.scene->model, "jar");
    o.lid = sim_model_find_body(o.scene->model, "lid");
    o.bowl = sim_model_find_body(o.scene->model, "bowl");
    o.place = pose_in(&o, o.jar).p;
    return o;
}

static inline void open_on(opening *o, int steps) {
    sim_error error;
    for (int n = 0; n < steps; n++) {
        cr_assert_eq(sim_world_step(o->world, &error), SIM_OK, "%s", error.text);
    }
}

/* Marbles with their centre in the jar or the bowl. */
static inline int marbles_within(const opening *o, int body, double radius, double height) {
    const sim_model *m = o->scene->model;
    int count = 0;
    for (int i = 1; i < m->nbody; i++) {
        v3 at = pose_point(pose_inverse(pose_in(o, body)), pose_in(o, i).p);
        bool within = hypot(at.x, at.y) < radius && at.z > 0 && at.z < height;
        count += within && strstr(m->body[i].name, "_marble");
    }
    return count;
}

static inline void end_opening(opening *o) {
    sim_world_free(o->world);
    sim_scene_free(o->scene);
}

#endif
