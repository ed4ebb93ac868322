/* A scene in this library: SCENE.json holds the same bodies; the variant names the solver. */
#include "beside.h"

#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ours {
    sim_scene *scene;
    sim_world *world;
} ours;

static void destroy(void *world) {
    ours *o = world;
    sim_world_free(o->world);
    sim_scene_free(o->scene);
    free(o);
}

static void *make(const beside_scene *scene, const char *variant) {
    char path[4096], solver[256];
    sim_error error = {0};
    const char *set[] = {solver};
    sim_scene_overrides overrides = {.count = 1, .set = set};
    snprintf(path, sizeof path, "%s.json", scene->path);
    snprintf(solver, sizeof solver, "world/solver=%s", variant);
    ours *o = calloc(1, sizeof *o);
    if (o) {
        o->scene = sim_scene_load(path, strcmp(variant, "default") == 0 ? NULL : &overrides, NULL, &error);
        o->world = o->scene ? sim_world_create(o->scene->model, &o->scene->options, &error) : NULL;
    }
    if (!o || !o->world) {
        fprintf(stderr, "sim: %s\n", error.text);
        if (o) {
            destroy(o);
        }
        return NULL;
    }
    return o;
}

static int step(void *world) {
    ours *o = world;
    sim_error error;
    if (sim_world_step(o->world, &error) != SIM_OK) {
        fprintf(stderr, "sim: %s\n", error.text);
        exit(1);
    }
    const sim_step_info *info = sim_world_info(o->world);
    return info->unsolved > 0 || info->nonconverged > 0;
}

/* Bodies are free, in the order of the scene: q has position and quaternion, v the spin in body axes. */
static void read_state(const void *world, int body, beside_state *state) {
    const sim_state *s = sim_world_state(((const ours *)world)->world);
    const double *q = s->q + 7 * body, *v = s->v + 6 * body;
    memcpy(state->position, q, sizeof state->position);
    memcpy(state->quaternion, q + 3, sizeof state->quaternion);
    memcpy(state->velocity, v, sizeof state->velocity);
    beside_rotate(state->quaternion, v + 3, state->spin);
}

int main(int count, char **word) {
    static const beside_engine engine = {"sim", "default SOLVER", make, sim_version, step, read_state, destroy};
    return beside_main(count, word, &engine);
}
