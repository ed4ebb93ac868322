/* Any bytes at all through the scene loader: it must not crash, leak or hang, and must say why it refuses.  A scene
 * that loads takes a step, and its contacts must be sound.
 *
 * The input holds up to three parts, divided by zero bytes: the scene; the file that every include and every mesh
 * finds; options as `--set` takes them, one a line.  Built with libFuzzer (meson option `fuzz`), or alone with a main
 * that runs the files and folders it is given. */
#include "geometry/import/mesh_file.h"
#include "scene/loader/loader.h"

#include <sim/world.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 8, MAX_SHAPES = 24, MAX_DOFS = 40 };
static const double LARGE = 1e4;

typedef struct included {
    const char *text;
    size_t length;
} included;

static sim_status read_included(void *context, const char *path, bool by_scene, char **content, size_t *length,
                                sim_error *error) {
    const included *from = context;
    (void)by_scene;
    if (!from->text || strstr(path, "absent")) {
        return sim_fail(error, SIM_NO_RESOURCE, "No such file");
    }
    *content = malloc(from->length + 1);
    if (!*content) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory");
    }
    memcpy(*content, from->text, from->length);
    *length = from->length;
    return SIM_OK;
}

static void demand(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

static void check_messages(const sim_diagnostics *d, int warnings) {
    for (int i = 0; i < d->count; i++) {
        demand(d->item[i].warning == warnings, "a scene that loads has warnings at most, any other none");
        char line[4096];
        sim_diagnostic_print(&d->item[i], line, sizeof line);
        for (const unsigned char *c = (const unsigned char *)line; c[0] && c[1]; c++) {
            demand(*c >= 0x20 && *c != 0x7f, "messages are printable, on one line");
        }
    }
}

static int stands_before(const sim_contact *a, const sim_contact *b) {
    return a->shape_a != b->shape_a   ? a->shape_a < b->shape_a
           : a->shape_b != b->shape_b ? a->shape_b < b->shape_b
                                      : a->at.feature <= b->at.feature;
}

static void check_contacts(sim_world *world, int tame) {
    const sim_contact *contact;
    int count = 0;
    sim_error error;
    if (sim_world_contacts(world, &contact, &count, &error)) {
        return;
    }
    for (int k = 0; k < count && tame; k++) {
        const sim_contact *c = &contact[k];
        demand(v3_finite(c->at.position) && isfinite(c->at.gap), "contacts are finite");
        demand(fabs(v3_norm(c->at.normal) - 1) < 1e-9, "normals are of unit length");
        demand(c->shape_a < c->shape_b, "pairs are ordered");
        demand(k == 0 || stands_before(&contact[k - 1], c), "contacts are sorted");
    }
}

static int is_between(double x, double low, double high) { return fabs(x) >= low && fabs(x) <= high; }

static int is_tame_shape(const sim_shape *shape) {
    int good = is_between(v3_norm(shape->pose.p), 0, LARGE);
    for (int k = 0; k < 3; k++) {
        good &= shape->size[k] == 0 || is_between(shape->size[k], 1 / LARGE, LARGE);
    }
    return good && (!shape->geometry || is_between(shape->geometry->radius, 1 / LARGE, LARGE));
}

/* Very large, far or fast bodies are no mistake, but leave no digits for small ones. */
static int is_tame(const sim_scene *scene, sim_world *world) {
    const sim_model *m = scene->model;
    const sim_state *state = sim_world_state(world);
    const sim_derived *derived = sim_world_derived(world);
    int good = scene->options.step <= 1;
    for (int k = 0; k < m->nbody; k++) {
        good &= is_between(v3_norm(derived->pose[k].p), 0, LARGE);
    }
    for (int k = 0; k < m->nshape; k++) {
        good &= is_tame_shape(&m->shape[k]);
    }
    for (int k = 0; k < m->nv; k++) {
        good &= is_between(state->v[k], 0, LARGE);
    }
    return good;
}

static void take_a_step(const sim_scene *scene) {
    sim_options options = scene->options;
    sim_error error;
    if (scene->model->nv > MAX_DOFS) {
        return;
    }
    options.threads = 1;
    options.max_iterations = options.max_iterations < 5 ? options.max_iterations : 5;
    sim_world *world = sim_world_create(scene->model, &options, &error);
    if (world && scene->model->nshape <= MAX_SHAPES) {
        check_contacts(world, is_tame(scene, world));
    }
    if (world) {
        (void)!sim_world_step(world, &error);
    }
    sim_world_free(world);
}

static char *part(const char **from, size_t *left, size_t *length) {
    const char *end = *left ? memchr(*from, 0, *left) : NULL;
    *length = end ? (size_t)(end - *from) : *left;
    char *copy = malloc(*length + 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, *from, *length);
    copy[*length] = 0;
    *left -= *length + (end ? 1 : 0);
    *from += *length + (end ? 1 : 0);
    return copy;
}

static sim_status read_mesh(void *context, const char *path, sim_v3 scale, int64_t *room, sim_triangles *out,
                            sim_error *error) {
    const included *from = context;
    if (!from->text || strstr(path, "absent") || (int64_t)from->length > *room) {
        return sim_fail(error, SIM_BAD_INPUT, "%.100s: No such file", path);
    }
    *room -= (int64_t)from->length;
    return mesh_parse(path, from->text, from->length, scale, out, error);
}

static sim_status read_bytes(void *context, const char *path, int64_t *room, char **content, size_t *size,
                             sim_error *error) {
    sim_status status = read_included(context, path, true, content, size, error);
    *room -= status ? 0 : (int64_t)*size;
    return status;
}

static bool has_file(void *context, const char *path) {
    const included *from = context;
    return from->text && !strstr(path, "absent");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *from = (const char *)data;
    size_t scene_length, included_length, options_length;
    bool has_included = memchr(data ? (const char *)data : "", 0, size) != NULL;
    char *scene_text = part(&from, &size, &scene_length);
    char *included_text = part(&from, &size, &included_length);
    char *options_text = part(&from, &size, &options_length);
    const char *set[MAX_OPTIONS];
    sim_scene_overrides overrides = {.set = set};
    for (char *line = strtok(options_text, "\n"); line && overrides.count < MAX_OPTIONS; line = strtok(NULL, "\n")) {
        set[overrides.count++] = line;
    }
    included file = {has_included ? included_text : NULL, included_length};
    file_reader files = {read_included, read_mesh, has_file, read_bytes, &file};
    scene_limits limits = {.bodies = 2000,
                           .copied_nodes = 20000,
                           .work = 1000000,
                           .solids = 10000000,
                           .mesh_bytes = 100000,
                           .files = 6,
                           .bytes = 100000};
    sim_diagnostics diagnostics;
    sim_error error = {0};
    sim_scene *scene =
        load_scene_text(scene_text, scene_length, "fuzz/scene.json", &overrides, &limits, &files, &diagnostics, &error);
    if (scene) {
        demand(scene->model != NULL, "a scene that loads has a model");
        check_messages(&diagnostics, 1);
        take_a_step(scene);
    } else {
        demand((error.status == SIM_BAD_INPUT || error.status == SIM_NO_RESOURCE) && error.text[0],
               "a refusal has a reason");
        demand(diagnostics.count >= 1, "a refusal has a diagnostic");
        check_messages(&diagnostics, 0);
    }
    sim_scene_free(scene);
    sim_diagnostics_free(&diagnostics);
    free(scene_text);
    free(included_text);
    free(options_text);
    return 0;
}
