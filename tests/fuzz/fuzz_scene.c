/* Any bytes at all through the scene loader: it must not crash, leak or hang, and must say why it refuses.
 *
 * The input holds up to three parts, divided by zero bytes: the scene; the file that every include finds; options as
 * `--set` takes them, one a line.  Built with libFuzzer (meson option `fuzz`), or alone with a main that runs the files and
 * folders it is given. */
#include "scene/loader.h"

#include <sim/world.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 8 };

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

static void check_refusal(const sim_diagnostics *d, const sim_error *error) {
    demand(error->status == SIM_BAD_INPUT && error->text[0], "a refusal has a reason");
    demand(d->count >= 1, "a refusal has a diagnostic");
    for (int i = 0; i < d->count; i++) {
        char line[4096];
        sim_diagnostic_print(&d->item[i], line, sizeof line);
        for (const unsigned char *c = (const unsigned char *)line; c[0] && c[1]; c++) {
            demand(*c >= 0x20 && *c != 0x7f, "messages are printable, on one line");
        }
    }
}

static void take_a_step(const sim_scene *scene) {
    sim_options options = scene->options;
    sim_error error;
    if (scene->model->nv > 40) {
        return;
    }
    options.threads = 1;
    options.max_iterations = options.max_iterations < 5 ? options.max_iterations : 5;
    sim_world *world = sim_world_create(scene->model, &options, &error);
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

static sim_status no_mesh(void *context, const char *path, sim_v3 scale, sim_triangles *out, sim_error *error) {
    (void)context, (void)scale, (void)out;
    return sim_fail(error, SIM_NO_RESOURCE, "%.100s: there are no mesh files here", path);
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
    file_reader files = {read_included, no_mesh, &file};
    scene_limits limits = {.bodies = 2000, .copied_nodes = 20000, .work = 1000000, .files = 6, .bytes = 100000};
    sim_diagnostics diagnostics;
    sim_error error = {0};
    sim_scene *scene =
        sim_load_scene(scene_text, scene_length, "fuzz/scene.json", &overrides, &limits, &files, &diagnostics, &error);
    if (scene) {
        demand(diagnostics.count == 0 && scene->model, "a scene that loads has nothing wrong");
        take_a_step(scene);
    } else {
        check_refusal(&diagnostics, &error);
    }
    sim_scene_free(scene);
    sim_diagnostics_free(&diagnostics);
    free(scene_text);
    free(included_text);
    free(options_text);
    return 0;
}
