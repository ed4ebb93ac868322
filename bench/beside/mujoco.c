/* A scene in MuJoCo, with its default options: Newton's method, pyramidal cones, semi-implicit Euler; or elliptic cones.
 *
 * The friction of a pair is the greater of the two, and all are the same.  A step counts as unsolved if the solver used
 * up its iterations, or if MuJoCo warned (a full buffer, or bad coordinates, after which it starts again). */
#include "beside.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct theirs {
    mjModel *model;
    mjData *data;
    int warnings;
} theirs;

static void write_geom(FILE *out, const beside_body *b, double friction) {
    const double *s = b->size, *p = b->start.position, *q = b->start.quaternion;
    fprintf(out, "<geom friction='%.17g' ", friction);
    if (b->shape == BESIDE_BALL) {
        fprintf(out, "type='sphere' size='%.17g' ", s[0]);
    } else if (b->shape == BESIDE_BOX) {
        fprintf(out, "type='box' size='%.17g %.17g %.17g' ", s[0] / 2, s[1] / 2, s[2] / 2);
    } else {
        fprintf(out, "type='plane' size='5 5 1' ");
    }
    if (b->mass > 0) {
        fprintf(out, "mass='%.17g'/>\n", b->mass);
    } else {
        fprintf(out, "pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'/>\n", p[0], p[1], p[2], q[0], q[1], q[2],
                q[3]);
    }
}

static void write_model(FILE *out, const beside_scene *s, const char *cone) {
    fprintf(out, "<mujoco><option timestep='%.17g' gravity='%.17g %.17g %.17g' cone='%s'/>\n", s->step, s->gravity[0],
            s->gravity[1], s->gravity[2], cone);
    fprintf(out, "<size njmax='%d' nconmax='%d'/><worldbody>\n", 60 * s->count + 100, 15 * s->count + 25);
    for (int k = 0; k < s->count; k++) {
        fprintf(out, s->body[k].mass > 0 ? "<body><freejoint/>" : "");
        write_geom(out, &s->body[k], s->friction);
        fprintf(out, s->body[k].mass > 0 ? "</body>\n" : "");
    }
    fprintf(out, "</worldbody></mujoco>\n");
}

/* The model of an XML text, through MuJoCo's file system in memory. */
static mjModel *load(const char *text, size_t length) {
    char why[500] = "no memory";
    mjModel *model = NULL;
    mjVFS *files = malloc(sizeof *files);
    if (files) {
        mj_defaultVFS(files);
        if (mj_makeEmptyFileVFS(files, "scene.xml", (int)length) == 0) {
            memcpy(files->filedata[mj_findFileVFS(files, "scene.xml")], text, length);
            model = mj_loadXML("scene.xml", files, why, sizeof why);
            mj_deleteVFS(files);
        }
        free(files);
    }
    if (!model) {
        fprintf(stderr, "MuJoCo: %s\n", why);
    }
    return model;
}

static void set_state(const beside_scene *s, mjData *d) {
    for (int k = 0; k < s->moving; k++) {
        const beside_state *x = &s->body[k].start;
        mjtNum *q = d->qpos + 7 * k, *v = d->qvel + 6 * k;
        memcpy(q, x->position, sizeof x->position);
        memcpy(q + 3, x->quaternion, sizeof x->quaternion);
        memcpy(v, x->velocity, sizeof x->velocity);
        beside_rotate_back(x->quaternion, x->spin, v + 3);
    }
}

static void destroy(void *world) {
    theirs *t = world;
    mj_deleteData(t->data);
    mj_deleteModel(t->model);
    free(t);
}

static void *make(const beside_scene *scene, const char *variant) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    theirs *t = calloc(1, sizeof *t);
    if (!out || !t) {
        fprintf(stderr, "MuJoCo: no memory\n");
        exit(1);
    }
    write_model(out, scene, strcmp(variant, "elliptic") == 0 ? "elliptic" : "pyramidal");
    fclose(out);
    t->model = load(text, length);
    free(text);
    if (!t->model) {
        free(t);
        return NULL;
    }
    t->data = mj_makeData(t->model);
    set_state(scene, t->data);
    return t;
}

static int step(void *world) {
    theirs *t = world;
    int warnings = 0;
    mj_step(t->model, t->data);
    for (int k = 0; k < mjNWARNING; k++) {
        warnings += t->data->warning[k].number;
    }
    int unsolved = warnings != t->warnings || t->data->solver_iter >= t->model->opt.iterations;
    t->warnings = warnings;
    return unsolved;
}

static void read_state(const void *world, int body, beside_state *state) {
    const mjData *d = ((const theirs *)world)->data;
    const mjtNum *q = d->qpos + 7 * body, *v = d->qvel + 6 * body;
    memcpy(state->position, q, sizeof state->position);
    memcpy(state->quaternion, q + 3, sizeof state->quaternion);
    memcpy(state->velocity, v, sizeof state->velocity);
    beside_rotate(state->quaternion, v + 3, state->spin);
}

int main(int count, char **word) {
    static const beside_engine engine = {"MuJoCo", "default elliptic", make,   mj_versionString,
                                         step,     read_state,         destroy};
    return beside_main(count, word, &engine);
}
