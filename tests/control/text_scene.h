/* Scenes as text with ' for ", loaded and run: the iiwa, and a gantry of three sliders. */
#ifndef TESTS_CONTROL_TEXT_SCENE_H
#define TESTS_CONTROL_TEXT_SCENE_H

#include "math/spatial.h"

#include <criterion/criterion.h>
#include <sim/sim.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    sim_scene *scene;
    sim_world *world;
} run;

/* A scene as text with ' for ", at the root of the repository. */
static inline run begin(const char *text) {
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    for (size_t k = 0; k <= length; k++) {
        copy[k] = text[k] == '\'' ? '"' : text[k];
    }
    sim_error error;
    run r = {sim_scene_parse(copy, length, "test.json", NULL, NULL, &error), NULL};
    free(copy);
    cr_assert_not_null(r.scene, "%s", error.text);
    r.world = sim_world_create(r.scene->model, &r.scene->options, &error);
    cr_assert_not_null(r.world, "%s", error.text);
    return r;
}

static inline void steps(run *r, int count) {
    sim_error error;
    for (int n = 0; n < count; n++) {
        cr_assert_eq(sim_world_step(r->world, &error), SIM_OK, "%s", error.text);
    }
}

static inline void end(run *r) {
    sim_world_free(r->world);
    sim_scene_free(r->scene);
}

static inline pose site_pose(const run *r, const char *name) {
    const sim_site *s = &r->scene->model->site[sim_model_find_site(r->scene->model, name)];
    return pose_product(sim_world_derived(r->world)->pose[s->body], s->pose);
}

static inline void refuses(const char *text, const char *words) {
    char copy[8192];
    size_t length = strlen(text);
    cr_assert_lt(length, sizeof copy);
    for (size_t k = 0; k <= length; k++) {
        copy[k] = text[k] == '\'' ? '"' : text[k];
    }
    sim_error error = {0};
    cr_expect_null(sim_scene_parse(copy, length, "test.json", NULL, NULL, &error), "%s", words);
    cr_expect_not_null(strstr(error.text, words), "\"%s\" is not in: %s", words, error.text);
}
/* The iiwa without the friction of its joints, bent. */
#define FREE(link) "'bodies/" link "/joint/damping': 0, "
#define IIWA                                                                                                           \
    "'instances': [{'file': 'scenes/robots/iiwa14.json', 'overrides': {" FREE("link1") FREE("link2") FREE("link3")     \
        FREE("link4") FREE("link5") FREE("link6") FREE("link7") "'initial': {'link2': 0.6, 'link4': -1.4, 'link6': "   \
                                                                "0.8, 'link7': 0.3}}}]"

/* A gantry of three sliders: 3 kg move along x, 2 along y, 1 along z. */
#define GANTRY(step, more)                                                                                             \
    "{'sim': 1, 'world': {'step': " step ", 'tolerance': 1e-13}, 'bodies': ["                                          \
    "{'name': 'x', 'joint': {'type': 'slider', 'axis': [1, 0, 0]}, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}},"     \
    "{'name': 'y', 'parent': 'x', 'joint': {'type': 'slider', 'axis': [0, 1, 0]}, 'inertia': {'mass': 1, 'moments': "  \
    "[1, 1, 1]}}, {'name': 'z', 'parent': 'y', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'inertia': {'mass': "   \
    "1, 'moments': [1, 1, 1]}, 'sites': [{'name': 'tip'}, {'name': 'side', 'pose': {'position': [0, 0.5, 0]}}]}], "    \
    "'actuators': [{'joint': '*'}]" more "}"

#endif
