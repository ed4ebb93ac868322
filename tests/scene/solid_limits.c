/* A small scene must not ask for endless work: what solids and copies may take, and that what is the same is built once. */
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE(text) "{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [\n" text "\n]}]}"
#define BALL(resolution) "{'type': 'sdf', 'resolution': " resolution ", 'field': {'type': 'sphere', 'radius': 1}}"

/* The files all hold one tetrahedron. */
static sim_status read_mesh(void *context, const char *path, sim_v3 scale, int64_t *room, sim_triangles *out,
                            sim_error *error) {
    static const sim_v3 vertex[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    ++*(int *)context;
    if (*room < 100) {
        return sim_fail(error, SIM_BAD_INPUT, "%s: a file of 100 bytes, there is room for %d", path, (int)*room);
    }
    *room -= 100;
    *out = (sim_triangles){
        .nvertex = 4, .ntriangle = 4, .vertex = malloc(sizeof vertex), .triangle = malloc(sizeof triangle)};
    cr_assert(out->vertex && out->triangle);
    for (int k = 0; k < 4; k++) {
        out->vertex[k] = (sim_v3){scale.x * vertex[k].x, scale.y * vertex[k].y, scale.z * vertex[k].z};
    }
    memcpy(out->triangle, triangle, sizeof triangle);
    return SIM_OK;
}

static sim_scene *load_within(const char *text, const scene_limits *limits, int *files_read, sim_diagnostics *found) {
    char *json = strdup(text);
    cr_assert(json);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    int count = 0;
    file_reader files = {NULL, read_mesh, NULL, NULL, &count};
    sim_error error = {0};
    sim_scene *scene = load_scene_text(json, strlen(json), "scene.json", NULL, limits, &files, found, &error);
    cr_assert(scene || error.status == SIM_BAD_INPUT, "%s", error.text);
    if (files_read) {
        *files_read = count;
    }
    free(json);
    return scene;
}

static void refused_within(const char *text, const scene_limits *limits, const char *words) {
    sim_diagnostics found;
    cr_assert_null(load_within(text, limits, NULL, &found), "this was not refused: %.200s", text);
    char said[2000];
    sim_diagnostic_print(&found.item[0], said, sizeof said);
    cr_assert(strstr(said, words), "expected \"%s\" in %s", words, said);
    sim_diagnostics_free(&found);
}

/* ---- one solid ---- */

Test(solid_limits, a_surface_too_fine_is_refused_with_what_would_do) {
    refused(SHAPE(BALL("1e-5")), "scene.json:2:46", "8.9e+06 are the most: 0.0028 m would do");
    refused(SHAPE(BALL("1e-4")), "scene.json:2:46", "makes about 3.9e+09 triangles");
    refused(SHAPE(BALL("1e-12")), "scene.json:2:47", "are the most");
}

/* Very many parts, in long runs as many as there may be, all over one another: each distance is a walk through all of
 * them. */
Test(solid_limits, a_field_of_very_many_parts_is_refused_in_time) {
    enum { MOST = 66000, ROOM = 60 };
    char *text = malloc((MOST + 1000) * ROOM);
    cr_assert(text);
    const int count[2] = {long_runs() ? 65000 : part_of(20000), 66000};
    for (int i = 0; i < 2; i++) {
        int parts = count[i];
        size_t length = (size_t)sprintf(text, "{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [\n{'type': 'sdf', "
                                              "'resolution': 0.02, 'field': {'type': 'union', 'fields': [");
        for (int k = 0; k < parts; k++) {
            length += (size_t)sprintf(text + length, "%s{'type': 'sphere', 'radius': %d}", k ? "," : "", 1 + k % 2);
        }
        strcpy(text + length, "]}}]}]}");
        refused(text, "scene.json:2:46", parts < 65535 ? "triangles of this field" : "more than 65536 parts");
    }
    free(text);
}

Test(solid_limits, a_grid_too_fine_is_refused_with_what_would_do) {
    scene_limits limits = scene_limits_default();
    refused_within(SHAPE("{'type': 'sdf', 'field': {'type': 'grid', 'file': 'a.obj', 'cell': 1e-5}}"), &limits,
                   "makes 1e+15 samples of this mesh, 2.5e+07 are the most: 0.0041 m would do");
    refused_within(SHAPE("{'type': 'sdf', 'field': {'type': 'grid', 'file': 'a.obj', 'cell': 1e-12}}"), &limits,
                   "are the most");
}

Test(solid_limits, fields_nested_too_deep_are_refused) {
    char text[4000] = "{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [\n{'type': 'sdf', 'field': ";
    for (int k = 0; k < 40; k++) {
        strcat(text, "{'type': 'union', 'fields': [");
    }
    refused(text, "scene.json:2:895", "nested more than 64 deep");
}

/* Ten to the power of 13 bodies; as many as may be take seconds. */
Test(solid_limits, refuse_models_in_models_that_grow_beyond_all_bounds) {
    char text[2000] = "{'sim': 1, 'models': {'m0': {'bodies': [{'name': 'a'}]}";
    for (int i = 1; i < 20; i++) {
        char more[200];
        snprintf(more, sizeof more,
                 ", 'm%d': {'instances': [{'model': 'm%d', 'repeat': {'placement': 'line', 'count': 10, 'offset': [0, "
                 "0, 0]}}]}",
                 i, i - 1);
        if (strlen(text) + strlen(more) + 60 > sizeof text) {
            break;
        }
        strcat(text, more);
    }
    char *last = strstr(text, "'m13'");
    cr_assert(last);
    strcat(text, "}, 'instances': [{'model': 'm13'}]}");
    scene_limits limits = scene_limits_default();
    cr_expect_eq(limits.bodies, 1000000);
    limits.bodies = 10000;
    refused_within(text, &limits, "more than 10000 bodies and copies");
}

/* ---- all of them ---- */

/* Steps of work that a scene of one such shape takes, by trying. */
static int64_t steps_of(const char *shape) {
    char text[2000];
    snprintf(text, sizeof text, SHAPE("%s"), shape);
    int64_t low = 0, high = 1000000000;
    while (high - low > 1) {
        scene_limits limits = scene_limits_default();
        sim_diagnostics found;
        limits.solids = (low + high) / 2;
        sim_scene *scene = load_within(text, &limits, NULL, &found);
        *(scene ? &high : &low) = limits.solids;
        sim_diagnostics_free(&found);
        sim_scene_free(scene);
    }
    return high;
}

static void add_up(const char *shape) {
    int64_t one = steps_of(shape);
    char text[8000] = "{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [\n";
    for (int k = 0; k < 10; k++) {
        strcat(text, k ? ",\n" : "");
        strcat(text, shape);
    }
    strcat(text, "]}]}");
    scene_limits limits = scene_limits_default();
    sim_diagnostics found;
    limits.solids = 11 * one;
    sim_scene *scene = load_within(text, &limits, NULL, &found);
    cr_assert(scene, "%s: %s", shape, found.item[0].message);
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
    limits.solids = 9 * one;
    cr_assert_null(load_within(text, &limits, NULL, &found), "%s", shape);
    cr_assert_eq(found.item[0].line, 11, "the tenth is one too many");
    sim_diagnostics_free(&found);
}

Test(solid_limits, the_work_of_all_solids_adds_up) {
    add_up(BALL("0.3"));
    add_up("{'type': 'convex', 'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[1,1,1]]}");
    add_up("{'type': 'mesh', 'points': [[0,0,0],[1,0,0],[0,1,0]], 'triangles': [[0,1,2],[0,2,1]]}");
    add_up("{'type': 'sdf', 'resolution': 0.1, 'field': {'type': 'grid', 'file': 'a.obj', 'cell': 0.3}}");
}

Test(solid_limits, what_the_others_have_used_up_is_said) {
    scene_limits limits = scene_limits_default();
    limits.solids = steps_of(BALL("0.3")) + 2000;
    refused_within(SHAPE(BALL("0.3") ",\n" BALL("0.3")), &limits, "have used up most");
}

Test(solid_limits, bytes_of_mesh_files_add_up) {
    scene_limits limits = scene_limits_default();
    limits.mesh_bytes = 250;
    refused_within(
        SHAPE("{'type': 'mesh', 'file': 'a'}, {'type': 'mesh', 'file': 'b'},\n{'type': 'mesh', 'file': 'c'}"), &limits,
        "c: a file of 100 bytes, there is room for 50");
}

Test(solid_limits, shapes_of_copies_are_counted) {
    scene_limits limits = scene_limits_default();
    limits.work = 1000000;
    refused_within("{'sim': 1, 'world': {'contacts': false}, 'models': {'m': {'bodies': [{'name': 'a', 'shapes': "
                   "[{'type': 'sphere', 'radius': 1}]}]}}, 'instances': [{'model': 'm', 'prefix': 'p', 'repeat': "
                   "{'placement': 'line', 'count': 100000, 'offset': [2, 0, 0]}}]}",
                   &limits, "too much work");
}

/* ---- once each ---- */

static int geometries_of(const char *text, int shapes, int *files_read) {
    scene_limits limits = scene_limits_default();
    sim_diagnostics found;
    sim_scene *scene = load_within(text, &limits, files_read, &found);
    cr_assert(scene, "%s", found.count ? found.item[0].message : "");
    cr_assert_eq(scene->model->nshape, shapes);
    int count = scene->model->ngeometry;
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
    return count;
}

#define MODEL                                                                                                          \
    "{'sim': 1, 'world': {'contacts': false}, 'models': {'m': {'bodies': [{'name': 'a', 'joint': 'free', 'shapes': "   \
    "[{'type': 'sdf', 'resolution': 0.3, 'density': 1, 'field': {'type': 'sphere', 'radius': 1}}, {'type': 'mesh', "   \
    "'file': 'a.obj'}]}]}}, 'instances': [{'model': 'm', 'prefix': 'p'}, "

Test(solid_limits, copies_with_other_values_share_what_is_the_same) {
    int files;
    cr_assert_eq(geometries_of(MODEL "{'model': 'm', 'prefix': 'q', 'overrides': {'bodies/a/shapes/0/density': 2}}]}",
                               4, &files),
                 2);
    cr_assert_eq(files, 1);
    cr_assert_eq(geometries_of(MODEL
                               "{'model': 'm', 'prefix': 'q', 'overrides': {'bodies/a/shapes/0/field/radius': 2}}]}",
                               4, &files),
                 3);
    cr_assert_eq(
        geometries_of(MODEL "{'model': 'm', 'prefix': 'q', 'overrides': {'bodies/a/shapes/1/scale': 2}}]}", 4, &files),
        3);
    cr_assert_eq(files, 2);
}

Test(solid_limits, parts_of_a_field_read_a_file_once) {
    int files;
    cr_assert_eq(
        geometries_of(SHAPE("{'type': 'sdf', 'resolution': 0.3, 'field': {'type': 'union', 'fields': [{'type': "
                            "'grid', 'file': 'a', 'cell': 0.2}, {'type': 'grid', 'file': 'a', 'cell': 0.2, "
                            "'pose': {'position': [0.2, 0, 0]}}]}}"),
                      1, &files),
        1);
    cr_assert_eq(files, 1);
}
