/* Meshes from files: where they are looked for, what is wrong with them, and how much a scene may ask for. */
#include "support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TETRAHEDRON "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
#define INSIDE_OUT "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n"
#define TRIANGLE "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
#define SCENE(shape) "{\"sim\": 1, \"bodies\": [{\"name\": \"a\", \"shapes\": [\n" shape "\n]}]}"

static char folder[64];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/sim_scene_XXXXXX");
    cr_assert(mkdtemp(folder));
}

static void remove_all(const char *path) {
    DIR *d = opendir(path);
    char inside[600];
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            snprintf(inside, sizeof inside, "%s/%s", path, e->d_name);
            remove_all(inside);
        }
    }
    if (d) {
        closedir(d);
    }
    remove(path);
}

static void remove_folder(void) { remove_all(folder); }

TestSuite(solid_files, .init = make_folder, .fini = remove_folder);

static const char *path_of(const char *name) {
    static char path[4][300];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put_bytes(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(path_of(name), "wb");
    cr_assert(file);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

static void put(const char *name, const char *text) { put_bytes(name, text, strlen(text)); }

static sim_scene *load(const char *text, const sim_scene_overrides *overrides, sim_diagnostics *found,
                       sim_error *error) {
    put("scene.json", text);
    return sim_scene_load(path_of("scene.json"), overrides, found, error);
}

static sim_scene *load_right(const char *text, const sim_scene_overrides *overrides) {
    sim_error error = {0};
    sim_scene *scene = load(text, overrides, NULL, &error);
    cr_assert(scene, "%s", error.text);
    return scene;
}

/* Two files with the same triangles, as left and right links of robots have them, are one hull. */
Test(solid_files, with_the_same_content_are_one_geometry) {
    static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    put("left.obj", tetrahedron);
    put("right.obj", tetrahedron);
    put("other.obj", "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    sim_scene *s = load_right(SCENE("{\"type\": \"convex\", \"file\": \"left.obj\"}, {\"type\": \"convex\", \"file\": "
                                    "\"right.obj\"}, {\"type\": \"convex\", \"file\": \"other.obj\"}, {\"type\": "
                                    "\"mesh\", \"file\": \"right.obj\"}, {\"type\": \"convex\", \"file\": "
                                    "\"right.obj\", \"scale\": 2}"),
                              NULL);
    const sim_shape *shape = s->model->shape;
    cr_expect_eq(s->model->ngeometry, 4);
    cr_expect_eq(shape[0].geometry, shape[1].geometry);
    cr_expect(shape[2].geometry != shape[0].geometry && shape[3].geometry != shape[0].geometry &&
              shape[4].geometry != shape[0].geometry);
    sim_scene_free(s);
}

/* Refused with one sentence, which starts at "NAME:LINE:COLUMN" and holds `words`. */
static void is_refused(const char *text, const char *place, const char *words) {
    sim_diagnostics found;
    sim_error error = {0};
    cr_assert_null(load(text, NULL, &found, &error), "this was not refused: %s", text);
    cr_assert_eq(error.status, status_of_refusal(&found), "%s", error.text);
    char said[2000], expected[400];
    sim_diagnostic_print(&found.item[0], said, sizeof said);
    snprintf(expected, sizeof expected, "%s: error: ", path_of(place));
    cr_assert_eq(found.count, 1, "%d diagnostics, the first: %s", found.count, said);
    cr_assert_eq(strncmp(said, expected, strlen(expected)), 0, "expected %s, got %s", expected, said);
    cr_assert(strstr(said, words), "expected \"%s\" in %s", words, said);
    sim_diagnostics_free(&found);
}

/* ---- where ---- */

Test(solid_files, are_looked_for_beside_the_file_that_names_them) {
    cr_assert_eq(mkdir(path_of("arm"), 0700), 0);
    put("tip.obj", TRIANGLE);
    put("arm/tip.obj", TETRAHEDRON);
    put("arm/arm.json", "{\"sim\": 1, \"bodies\": [{\"name\": \"b\", \"shapes\": [{\"type\": \"mesh\", "
                        "\"file\": \"tip.obj\"}, {\"type\": \"mesh\", \"file\": \"../tip.obj\"}]}]}");
    sim_scene *scene = load_right("{\"sim\": 1, \"instances\": [{\"file\": \"arm/arm.json\", \"prefix\": \"x\"}], "
                                  "\"bodies\": [{\"name\": \"a\", \"shapes\": [{\"type\": \"mesh\", "
                                  "\"file\": \"./arm/tip.obj\"}]}], \"world\": {\"contacts\": false}}",
                                  NULL);
    int closed[3] = {0};
    for (int k = 0; k < 3; k++) {
        closed[k] = scene->model->shape[k].geometry->mesh->closed;
    }
    cr_assert(closed[0] && closed[1] && !closed[2]);
    cr_assert_eq(scene->model->shape[0].geometry, scene->model->shape[1].geometry, "one file is one geometry");
    sim_scene_free(scene);
}

Test(solid_files, missing_in_an_included_file_are_reported_there) {
    cr_assert_eq(mkdir(path_of("arm"), 0700), 0);
    put("arm/arm.json", "{\"sim\": 1, \"bodies\": [{\"name\": \"b\", \"shapes\": [\n {\"type\": \"mesh\", "
                        "\"file\": \"tip.obj\"}]}]}");
    is_refused("{\"sim\": 1, \"instances\": [{\"file\": \"arm/arm.json\", \"prefix\": \"x\"}]}", "arm/arm.json:2:27",
               "arm/tip.obj: No such file");
}

/* ---- what is wrong with them ---- */

static void put_stl(const char *name, unsigned claimed, int triangles, float x) {
    struct {
        char bytes[84 + 2 * 50];
    } file = {{0}};
    float corner[12] = {0, 0, 0, x, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(file.bytes + 80, &claimed, 4);
    for (int k = 0; k < triangles; k++) {
        memcpy(file.bytes + 84 + 50 * k, corner, sizeof corner);
    }
    put_bytes(name, file.bytes, (size_t)(84 + 50 * triangles));
}

Test(solid_files, that_are_no_surfaces_are_refused_with_the_reason) {
    cr_assert_eq(mkdir(path_of("folder.obj"), 0700), 0);
    put("empty.obj", "");
    put("words.txt", "hello\n");
    put("nan.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n");
    put("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n");
    put("cut.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0");
    put_stl("short.stl", 4, 2, 1);
    put_stl("nan.stl", 1, 1, NAN);
    const char *const wrong[][2] = {{"absent.obj", "No such file"},
                                    {"folder.obj", "a folder, not a file"},
                                    {"empty.obj", "the file is empty"},
                                    {"words.txt", "neither an OBJ, STL, MSH, COLLADA nor glTF file"},
                                    {"nan.obj", "nan.obj:2:3: expected a number, found \"nan\""},
                                    {"index.obj", "index.obj:4:7: vertex 9"},
                                    {"cut.stl", "cut.stl:5:11: expected a number"},
                                    {"short.stl", "4 triangles"},
                                    {"nan.stl", "not finite"},
                                    {"", "expected the name of a file"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char text[400];
        snprintf(text, sizeof text, SCENE("{\"type\": \"mesh\", \"file\": \"%s\"}"), wrong[k][0]);
        is_refused(text, "scene.json:2:26", wrong[k][1]);
        snprintf(text, sizeof text, SCENE("{\"type\": \"sdf\", \"field\": {\"type\": \"grid\", \"file\": \"%s\"}}"),
                 wrong[k][0]);
        is_refused(text, "scene.json:2:51", wrong[k][1]);
    }
}

Test(solid_files, turned_inside_out_are_refused_and_open_ones_weigh_nothing) {
    put("inside.obj", INSIDE_OUT);
    put("open.obj", TRIANGLE);
    is_refused(SCENE("{\"type\": \"mesh\", \"file\": \"inside.obj\"}"), "scene.json:2:26", "turned inside out");
    is_refused(SCENE("{\"type\": \"mesh\", \"file\": \"open.obj\", \"mass\": 1}"), "scene.json:2:46",
               "the surface is open");
    is_refused(SCENE("{\"type\": \"sdf\", \"field\": {\"type\": \"grid\", \"file\": \"open.obj\"}}"), "scene.json:2:51",
               "the surface is open");
    is_refused(SCENE("{\"type\": \"convex\", \"file\": \"open.obj\"}"), "scene.json:2:28", "at least 4 points");
    sim_scene *scene = load_right(SCENE("{\"type\": \"mesh\", \"file\": \"open.obj\"}"), NULL);
    cr_assert(scene->model->shape[0].geometry->solid.mass == 0);
    sim_scene_free(scene);
}

Test(solid_files, mirrored_by_their_scale_stay_the_right_way_out) {
    put("a.obj", TETRAHEDRON);
    sim_scene *scene =
        load_right(SCENE("{\"type\": \"mesh\", \"file\": \"a.obj\", \"scale\": [2, 3, -1], \"density\": 1}"), NULL);
    cr_assert_float_eq(scene->model->shape[0].geometry->solid.mass, 1, 1e-12);
    cr_assert_float_eq(scene->model->shape[0].geometry->solid.com.z, -0.25, 1e-12);
    sim_scene_free(scene);
}

/* ---- what is kept ---- */

static int files_in(const char *name, char found[300]) {
    DIR *d = opendir(path_of(name));
    int count = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (e->d_name[0] != '.') {
            snprintf(found, 300, "%s/%.200s", path_of(name), e->d_name);
            count++;
        }
    }
    if (d) {
        closedir(d);
    }
    return count;
}

static double probe(const sim_scene *scene) {
    return sim_field_distance(scene->model->shape[0].geometry->field, (sim_v3){0.31, 0.27, 0.19}, NULL);
}

#define SAMPLED                                                                                                        \
    SCENE("{\"type\": \"sdf\", \"resolution\": 0.2, \"field\": {\"type\": \"grid\", \"file\": \"a.obj\", \"cell\": "   \
          "0.1}}")

Test(solid_files, sampled_once_are_kept_and_found_again) {
    put("a.obj", TETRAHEDRON);
    char kept[300], cache[300];
    snprintf(cache, sizeof cache, "%s/some/where", folder);
    sim_scene_overrides with = {.cache = cache};
    sim_scene *plain = load_right(SAMPLED, NULL), *first = load_right(SAMPLED, &with);
    cr_assert_eq(files_in("some/where", kept), 1, "the folder is made, and a file in it");
    sim_scene *second = load_right(SAMPLED, &with);
    cr_assert(probe(plain) == probe(first) && probe(first) == probe(second), "the same bits");
    cr_assert_str_eq(plain->hash, second->hash);

    struct stat before, after;
    cr_assert_eq(stat(kept, &before), 0);
    cr_assert_eq(truncate(kept, before.st_size / 2), 0);
    sim_scene *third = load_right(SAMPLED, &with);
    cr_assert_eq(stat(kept, &after), 0);
    cr_assert(probe(third) == probe(first) && after.st_size == before.st_size, "half a file is made whole");

    put("no_folder", "");
    snprintf(cache, sizeof cache, "%s/no_folder", folder);
    sim_scene *fourth = load_right(SAMPLED, &with);
    cr_assert(probe(fourth) == probe(first), "a cache that cannot be is no error");
    sim_scene *const all[] = {plain, first, second, third, fourth};
    for (int k = 0; k < 5; k++) {
        sim_scene_free(all[k]);
    }
}

/* The first warning of a file that loads. */
static void is_loaded_with(const char *path, const sim_import_options *import, const char *words) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene_overrides overrides = {.import = import};
    sim_scene *scene = sim_scene_load(path, &overrides, &found, &error);
    cr_assert(scene, "%s", error.text);
    char said[2000] = "";
    if (found.count) {
        sim_diagnostic_print(&found.item[0], said, sizeof said);
    }
    cr_expect(found.count == 1 && strstr(said, words), "%d diagnostics, the first: %s", found.count, said);
    sim_diagnostics_free(&found);
    sim_scene_free(scene);
}

Test(solid_files, with_faces_that_cross_themselves_are_named_with_the_first) {
    char words[400];
    put("bow.obj", TETRAHEDRON "v 4 4 0\nv 4 0 0\nv 0 3 0\nf 1 5 6 7\nf 7 6 5 1\n");
    put("robot.urdf", "<robot name='r'><link name='a'><collision><geometry><mesh filename='bow.obj'/></geometry>"
                      "</collision></link></robot>");
    snprintf(words, sizeof words,
             "%s:12:1: the outline of this face, the first of several, crosses itself: cut into triangles that overlap",
             path_of("bow.obj"));
    is_loaded_with(path_of("robot.urdf"), NULL, words);
    put("bow.obj", TETRAHEDRON "v 4 4 0\nv 4 0 0\nv 0 3 0\nf 1 5 6 7\n");
    is_loaded_with(path_of("robot.urdf"), NULL, ":12:1: the outline of this face crosses itself: cut into triangles");
}

/* A mesh of a link that is drawn, or touches, in URDF, SDFormat and MJCF. */
static void put_robots(const char *mesh, bool drawn) {
    char text[1000];
    const char *kind = drawn ? "visual" : "collision";
    snprintf(text, sizeof text,
             "<robot name='r'><link name='a'><%s><geometry><mesh filename='%s'/></geometry></%s></link></robot>", kind,
             mesh, kind);
    put("robot.urdf", text);
    snprintf(text, sizeof text,
             "<sdf version='1.8'><model name='m'><static>true</static><link name='a'><%s name='v'><geometry><mesh>"
             "<uri>%s</uri></mesh></geometry></%s></link></model></sdf>",
             kind, mesh, kind);
    put("robot.sdf", text);
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='m' file='%s'/></asset><worldbody><geom type='mesh' mesh='m' %s/></worldbody>"
             "</mujoco>",
             mesh, drawn ? "contype='0' conaffinity='0'" : "");
    put("robot.xml", text);
}

/* Drawn: left out with a notice.  Touching: an error, unless it may be left out. */
static void is_left_out_or_refused(const char *mesh, sim_status status, const char *words, const char *const *robots) {
    const char *allow = "mesh";
    sim_import_options allowing = {.nallow = 1, .allow = &allow};
    for (const char *const *name = robots; *name; name++) {
        sim_diagnostics found;
        sim_error error = {0};
        put_robots(mesh, true);
        is_loaded_with(path_of(*name), NULL, words);
        put_robots(mesh, false);
        cr_expect_null(sim_scene_load(path_of(*name), NULL, &found, &error), "%s", *name);
        cr_expect(error.status == status && strstr(error.text, words), "%s: %s", *name, error.text);
        sim_diagnostics_free(&found);
        is_loaded_with(path_of(*name), &allowing, words);
    }
}

Test(solid_files, that_cannot_be_read_are_left_out_of_pictures_with_the_reason) {
    static const char *const all[] = {"robot.urdf", "robot.sdf", "robot.xml", NULL}, *const two[] = {"robot.urdf",
                                                                                                     "robot.sdf", NULL};
    put("wrong.obj", "v 0 0 0\nv 1 0\n");
    is_left_out_or_refused("wrong.obj", SIM_BAD_INPUT, "wrong.obj:2:6: expected a number", all);
    /* one that is there without the file of its data */
    put("bare.gltf", "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": 36, \"uri\": "
                     "\"bare.bin\"}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}], \"accessors\": "
                     "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}], "
                     "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"nodes\": "
                     "[{\"mesh\": 0}], \"scenes\": [{\"nodes\": [0]}]}");
    is_left_out_or_refused("bare.gltf", SIM_NO_RESOURCE, "bare.bin: No such file or directory", two);
    static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    put_bytes("bare.bin", triangle, sizeof triangle);
    put_robots("bare.gltf", true);
    for (const char *const *name = two; *name; name++) {
        sim_error error = {0};
        sim_scene *scene = sim_scene_load(path_of(*name), NULL, NULL, &error);
        cr_assert(scene && scene->model->nshape == 1, "%s: %s", *name, error.text);
        sim_scene_free(scene);
    }
}

/* The scene that is written from a robot leaves them out, too. */
Test(solid_files, left_out_of_a_robot_are_not_in_its_scene) {
    put("wrong.obj", "v 0 0 0\nv 1 0\n");
    put_robots("wrong.obj", true);
    sim_error error = {0};
    sim_scene *robot = sim_scene_load(path_of("robot.urdf"), NULL, NULL, &error);
    cr_assert(robot, "%s", error.text);
    sim_scene *again = sim_scene_parse(robot->text, robot->text_length, path_of("robot.json"), NULL, NULL, &error);
    cr_assert(again && again->model->nshape == 0, "%s", error.text);
    sim_scene_free(robot);
    sim_scene_free(again);
}

Test(solid_files, of_collada_keep_their_unit_and_stand_upright_in_a_robot) {

    put("tetra.dae",
        "<COLLADA><asset><unit meter='0.01'/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id='g'><mesh>"
        "<source id='s'><float_array id='f' count='12'>0 0 0 1 0 0 0 2 0 0 0 3</float_array></source><vertices id='v'>"
        "<input semantic='POSITION' source='#s'/></vertices><triangles><input semantic='VERTEX' source='#v' "
        "offset='0'/>"
        "<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries></COLLADA>");
    put("robot.urdf", "<robot name='r'><link name='a'><collision><geometry><mesh filename='tetra.dae' scale='2 2 2'/>"
                      "</geometry></collision></link></robot>");
    sim_error error = {0};
    sim_scene *scene = sim_scene_load(path_of("robot.urdf"), NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    cr_assert_eq(scene->model->nshape, 1);
    const sim_geometry *g = scene->model->shape[0].geometry;
    cr_expect(fabs(g->high.x - 0.02) < 1e-15 && fabs(g->low.y + 0.06) < 1e-15 && fabs(g->high.z - 0.04) < 1e-15);
    sim_scene_free(scene);
}
