/* An arm that turns a nut onto its bolt, scenes/robots/panda_turns_nut.json: how far the nut is off the path of the thread. */
#ifndef TESTS_CONTROL_NUT_H
#define TESTS_CONTROL_NUT_H

#include "math/spatial.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>

/* m: of the scene.  Both threads stand back by the clearance, and flanks of 30 degrees at a lead of p / (pi d) have normals whose axial part is
 * 1 / sqrt(1 + tan^2 30 + (p / (pi d))^2). */
#define NUT_PITCH 0.005
#define NUT_PLAY (2 * 0.00005 * sqrt(1 + 1 / 3. + pow(NUT_PITCH / (3.14159265358979 * 0.044752), 2)))

typedef struct assembly {
    sim_scene *scene;
    sim_world *world;
    int bolt, site;
    double turns, height; /* of the nut, about the bolt and above its middle; clockwise turns are negative */
    double slack;         /* m: height above the path of the thread */
    double overlap;       /* m: the deepest so far */
} assembly;

static inline assembly begin_assembly(const char *solver) {
    char set[80];
    snprintf(set, sizeof set, "world/solver=\"%s\"", solver);
    const char *const words[] = {set};
    sim_scene_overrides overrides = {.count = 1, .set = words};
    sim_error error;
    assembly a = {.scene = sim_scene_load("scenes/robots/panda_turns_nut.json", &overrides, NULL, &error)};
    cr_assert_not_null(a.scene, "%s", error.text);
    a.world = sim_world_create(a.scene->model, &a.scene->options, &error);
    cr_assert_not_null(a.world, "%s", error.text);
    a.bolt = sim_model_find_body(a.scene->model, "bolt");
    a.site = sim_model_find_site(a.scene->model, "nut");
    return a;
}

static inline void step_assembly(assembly *a) {
    sim_error error;
    cr_assert_eq(sim_world_step(a->world, &error), SIM_OK, "%s", error.text);
    const sim_site *s = &a->scene->model->site[a->site];
    const pose *X = sim_world_derived(a->world)->pose;
    pose nut = pose_product(pose_inverse(X[a->bolt]), pose_product(X[s->body], s->pose));
    double angle = atan2(nut.R.x.y, nut.R.x.x) / (2 * 3.14159265358979);
    a->turns += angle - a->turns - rint(angle - a->turns);
    a->height = nut.p.z;
    /* both threads have a ridge at angle 0 in their middle */
    a->slack = a->height - NUT_PITCH * a->turns;
    a->slack -= NUT_PITCH * rint(a->slack / NUT_PITCH);
    a->overlap = fmax(a->overlap, sim_world_info(a->world)->certificate.penetration);
}

static inline void end_assembly(assembly *a) {
    sim_world_free(a->world);
    sim_scene_free(a->scene);
}

#endif
