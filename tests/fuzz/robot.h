/* A robot in any format through its reader: it must not crash, leak or hang, and must say why it refuses.  The scene
 * that is written from a robot must load, to a model of the same size. */
#ifndef TESTS_FUZZ_ROBOT_H
#define TESTS_FUZZ_ROBOT_H

#include "geometry/import/mesh_file.h"
#include "scene/loader/loader.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

typedef struct robot_part {
    const char *text;
    size_t length;
} robot_part;

static void demand(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

/* Every other file of a model holds what follows the first zero byte of the input. */
static sim_status read_part(void *context, const char *path, bool included, char **content, size_t *length,
                            sim_error *error) {
    (void)path, (void)included;
    const robot_part *part = context;
    if (!part->text) {
        return sim_fail(error, SIM_NO_RESOURCE, "No such file");
    }
    *content = malloc(part->length + 1);
    demand(*content, "there is memory");
    memcpy(*content, part->text, part->length);
    (*content)[part->length] = 0;
    *length = part->length;
    return SIM_OK;
}

static sim_status read_mesh(void *context, const char *path, sim_v3 scale, int64_t *room, sim_triangles *out,
                            sim_error *error) {
    (void)context;
    *room -= (int64_t)sizeof tetrahedron;
    return mesh_parse(path, tetrahedron, sizeof tetrahedron - 1, scale, out, error);
}

static sim_status read_bytes(void *context, const char *path, int64_t *room, char **content, size_t *size,
                             sim_error *error) {
    sim_status status = read_part(context, path, true, content, size, error);
    *room -= status ? 0 : (int64_t)*size;
    return status;
}

static bool has_file(void *context, const char *path) {
    (void)context;
    return !strstr(path, "absent");
}

static const scene_limits limits = {.bodies = 2000,
                                    .copied_nodes = 20000,
                                    .work = 1000000,
                                    .solids = 10000000,
                                    .mesh_bytes = 100000,
                                    .files = 6,
                                    .bytes = 100000};

static void check_again(const sim_scene *robot, const file_reader *files) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *scene =
        load_scene_text(robot->text, robot->text_length, "fuzz/robot.json", NULL, &limits, files, &found, &error);
    demand(scene, "the scene of a robot loads");
    demand(scene->model->nv == robot->model->nv && scene->model->nbody == robot->model->nbody, "models are alike");
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
}

/* The first byte chooses options; the robot follows, then behind a zero byte any other file. */
static void fuzz_robot(const char *path, bool one_base, const uint8_t *data, size_t size) {
    if (size < 2) {
        return;
    }
    const char *allow[] = {"mesh", "gazebo"}, *text = (const char *)data + 1;
    sim_import_options import = {.base = one_base ? SIM_BASE_FIXED : (sim_base)(data[0] % 3),
                                 .mesh = data[0] & 4 ? SIM_MESH_EXACT : SIM_MESH_CONVEX,
                                 .repair_inertia = data[0] & 8,
                                 .strict = data[0] & 16,
                                 .nallow = data[0] & 32 ? 2 : 0,
                                 .allow = allow};
    sim_scene_overrides overrides = {.import = &import};
    const char *zero = one_base ? memchr(text, 0, size - 1) : NULL;
    size_t length = zero ? (size_t)(zero - text) : size - 1;
    robot_part part = {zero ? zero + 1 : NULL, zero ? size - 2 - length : 0};
    file_reader files = {read_part, read_mesh, has_file, read_bytes, &part};
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *scene = load_scene_text(text, length, path, &overrides, &limits, &files, &found, &error);
    bool refused = error.status == SIM_BAD_INPUT || error.status == SIM_NO_RESOURCE; /* no resource: a file is absent */
    demand(scene || (refused && error.text[0] && found.count >= 1), "a refusal has a reason");
    if (scene && scene->text_length < (1u << 16)) {
        check_again(scene, &files);
    }
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
}

#endif
