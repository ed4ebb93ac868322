/* Words and files of other formats, and angles that look like degrees. */
#include "scene/format/foreign.h"
#include "scene/format/keys.h"
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INERTIA "'inertia': {'mass': 1, 'moments': [1, 1, 1]}"
#define BODY(more) "{'sim': 1, 'bodies': [{'name': 'a', " INERTIA ", 'joint': 'hinge',\n" more "}]}"
#define JOINT(more) "{'sim': 1, 'bodies': [{'name': 'a', " INERTIA ", 'joint': {\n" more "}}]}"
#define SHAPE(more) "{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [{\n" more "}]}]}"

/* ---- words ---- */

Test(scene_foreign, types_of_joints_and_shapes_are_told_by_their_name_here) {
    static const char *const joints[][2] = {{"revolute", "hinge"}, {"continuous", "hinge"}, {"prismatic", "slider"},
                                            {"Revolute", "hinge"}, {"floating", "free"},    {"spherical", "ball"},
                                            {"weld", "fixed"},     {"linear", "slider"}};
    static const char *const shapes[][2] = {{"plane", "half_space"},    {"cube", "box"},     {"ball", "sphere"},
                                            {"hfield", "height_field"}, {"trimesh", "mesh"}, {"hull", "convex"}};
    char text[400], words[80];
    for (int k = 0; k < 8; k++) {
        snprintf(text, sizeof text, JOINT("'type': '%s'"), joints[k][0]);
        snprintf(words, sizeof words, "here that is \"%s\"", joints[k][1]);
        refused(text, "scene.json:2:9", words);
    }
    for (int k = 0; k < 6; k++) {
        snprintf(text, sizeof text, SHAPE("'type': '%s'"), shapes[k][0]);
        snprintf(words, sizeof words, "here that is \"%s\"", shapes[k][1]);
        refused(text, "scene.json:2:9", words);
    }
    refused("{'sim': 1, 'world': {'integrator':\n'semi_implicit_euler'}}", "scene.json:2:1",
            "here that is \"symplectic\"");
}

Test(scene_foreign, keys_are_told_by_their_name_and_place_here) {
    refused(BODY("'mass': 1"), "scene.json:2:1", "\"inertia\": {\"mass\": ..., \"moments\": [...]}");
    refused(BODY("'position': [0, 0, 1]"), "scene.json:2:1", "\"pose\": {\"position\": [x, y, z]");
    refused(BODY("'geom': []"), "scene.json:2:1", "\"shapes\": [{\"type\": ...}]");
    refused(BODY("'static': true"), "scene.json:2:1", "its motion is set by \"joint\"");
    refused(BODY("'range': [0, 1]"), "scene.json:2:1", "that belongs into the body's \"joint\"");
    refused(JOINT("'type': 'hinge', 'limits': [0, 1]"), "scene.json:2:18", "\"range\": [low, high], or \"range_deg\"");
    refused(JOINT("'type': 'hinge', 'lower': 0"), "scene.json:2:18", "\"range\": [low, high]");
    refused(SHAPE("'type': 'sphere', 'radius': 1, 'mu': 0.5"), "scene.json:2:32",
            "surfaces are \"materials\" of the scene");
    refused(SHAPE("'type': 'sphere', 'radius': 1, 'friction': 0.5"), "scene.json:2:32", "surfaces are \"materials\"");
    refused(SHAPE("'type': 'sphere', 'radius': 1, 'rgba': [1, 0, 0, 1]"), "scene.json:2:32", "that is \"color\"");
    refused("{'sim': 1,\n'gravity': [0, 0, 0]}", "scene.json:2:1", "that belongs into \"world\"");
    refused("{'sim': 1,\n'links': []}", "scene.json:2:1", "they are \"bodies\"");
    refused("{'sim': 1, 'world': {\n'dt': 0.1}}", "scene.json:2:1", "that is \"step\"");
    refused("{'sim': 1, 'materials': [{'name': 'm',\n'mu': 0.1}]}", "scene.json:2:1", "that is \"friction\"");
    refused(BODY("'q': 0}], 'actuators': [{'joint': 'a',\n'kv': 1"), "scene.json:3:1", "that is \"kd\"");
    refused(BODY("'q': 0}], 'actuators': [{'joint': 'a',\n'gear_ratio': 1"), "scene.json:3:1", "that is \"gear\"");
    refused(BODY("'q': 0}], 'exclusions': [{'first': 'a', 'second': 'world',\n'body1': 'a'"), "scene.json:3:1",
            "that is \"first\"");
}

/* A hint names keys that there are. */
Test(scene_foreign, hints_name_no_key_that_there_is_not) {
    static const struct {
        const table *t;
        const char *word, *key;
    } some[] = {{&table_joint, "limits", "range_deg"},
                {&table_joint, "dynamics", "damping"},
                {&table_shape, "rgba", "color"},
                {&table_shape, "contype", "group"},
                {&table_actuator, "ctrlrange", "ctrl_range"},
                {&table_world, "timestep", "step"},
                {&table_world, "horizon", "duration"},
                {&table_pose, "xyz", "position"},
                {&table_inertia, "diaginertia", "moments"},
                {&table_scene, "equality", "constraints"},
                {&table_load, "moment", "torque"},
                {&table_constraint, "polycoef", "ratio"},
                {&table_camera, "lookat", "target"},
                {&table_record, "rate", "every"},
                {&table_instance, "name", "prefix"},
                {&table_material, "e", "restitution"},
                {&table_material, "youngs_modulus", "modulus"},
                {&table_material, "rolling_resistance", "rolling"},
                {&table_material, "spinning_friction", "torsion"},
                {&table_shape, "hydroelastic", "compliance"},
                {&table_joint, "restitution", "limit_restitution"}};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        char quoted[64];
        const char *said = foreign_find_key(some[k].t, some[k].word);
        snprintf(quoted, sizeof quoted, "\"%s\"", some[k].key);
        cr_assert(said && strstr(said, quoted), "%s of %s: %s", some[k].word, some[k].t->name, said ? said : "nothing");
        cr_assert(table_field(some[k].t, some[k].key), "there is no %s in %s", some[k].key, some[k].t->name);
    }
}

Test(scene_foreign, misspelt_words_keep_their_hints) {
    refused(JOINT("'type': 'hing'"), "scene.json:2:9", "did you mean \"hinge\"?");
    refused(JOINT("'type': 'hinge', 'dampling': 1"), "scene.json:2:18", "did you mean \"damping\"?");
    cr_assert(!foreign_find_key(&table_body, "") && !foreign_find_key(&table_body, " mass "));
    cr_assert(!foreign_find_key(&table_body, "a word of more than thirty-two letters, mass"));
}

/* ---- angles ---- */

Test(scene_foreign, angles_of_more_than_a_turn_are_doubted) {
    warned(JOINT("'type': 'hinge', 'range': [-90, 90]"), "scene.json:2:27: warning: /bodies/0/joint/range: 90 rad are "
                                                         "14.3 turns (for degrees use \"range_deg\")");
    warned(JOINT("'type': 'universal', 'axis2': [1, 0, 0], 'range': [[0, 1], [0, 45]]"), "45 rad are 7.16 turns");
    warned(BODY("'q': 45"), "for degrees use \"q_deg\"");
    warned(BODY("'pose': {'rpy': [0, 90, 0]}"),
           "scene.json:2:17: warning: /bodies/0/pose/rpy: 90 rad are 14.3 turns (for degrees use \"rpy_deg\")");
    warned(BODY("'pose': {'axis_angle': [0, 0, 1, 90]}"), "the angle is in radians");
}

Test(scene_foreign, what_has_no_effect_is_told) {
    /* a start past the range */
    warned("{'sim': 1, 'bodies': [{'name': 'a', " INERTIA
           ", 'q': 1.25, 'joint': {'type': 'hinge', 'range': [-0.5, 1]}}]}",
           "the joint of \"a\" starts at 1.25 rad, past its range by 0.25 rad");
    warned("{'sim': 1, 'bodies': [{'name': 'a', " INERTIA ", 'q': -1, 'joint': {'type': 'slider', 'range': [0, 1]}}, "
           "{'name': 'b', " INERTIA ", 'q': 3, 'joint': {'type': 'hinge', 'range': [0, 1]}}]}",
           "\"a\" starts at -1 m, past its range by 1 m, and 1 more starts so");
    /* constraints that do not hold: an arm that reaches 1 m, tied to a point at 3 m; a frame turned by half a turn */
    warned("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', " INERTIA "}], 'constraints': [\n{'type': 'connect', "
           "'first': 'a', 'first_point': [1, 0, 0], 'second_point': [3, 0, 0]}]}",
           "scene.json:2:1: warning: /constraints/0: the connect of \"a\" and \"world\" is open by 2 m at the start, "
           "and closes at law/undo, 0.1 m/s");
    warned("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'free', " INERTIA "}], 'constraints': [{'type': 'connect', "
           "'first': 'a', 'name': 'c'},\n{'type': 'weld', 'first': 'a', 'second_pose': {'rpy_deg': [0, 0, 90]}}, "
           "{'type': 'distance', 'first': 'a', 'name': 'd', 'distance': 0.5}]}",
           "scene.json:2:1: warning: /constraints/1: the weld of \"a\" and \"world\" is open by 1.57 rad at the start, "
           "and closes at law/undo, 0.1 m/s, and 1 "
           "more is");
    /* a modulus of contact at points */
    warned(
        "{'sim': 1, 'materials': [{'name': 'm', 'modulus': 1e5}], 'bodies': [{'name': 'a', 'joint': 'free', 'shapes': "
        "[{'type': 'sphere', 'radius': 1, 'mass': 1, 'material': 'm'}]}]}",
        "no shape of the material \"m\" uses its modulus: they touch at points");
}

static void silent(const char *text) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *s = load_text(text, NULL, NULL, &found, &error);
    cr_assert(s && found.count == 0, "%s: %s", text, found.count ? found.item[0].message : error.text);
    sim_diagnostics_free(&found);
    sim_scene_free(s);
}

Test(scene_foreign, constraints_that_hold_or_are_springs_or_off_are_not_doubted) {
    static const char *const more[] = {"", ", 'stiffness': 1000", ", 'active': false"};
    for (int k = 0; k < 3; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', " INERTIA "}], 'constraints': [{'type': "
                 "'connect', 'first': 'a', 'first_point': [1, 0, 0], 'second_point': [%s, 0, 0]%s}]}",
                 k ? "3" : "1.0000001", more[k]);
        silent(text);
    }
}

Test(scene_foreign, angles_within_a_turn_lengths_and_screws_are_not) {
    silent(JOINT("'type': 'hinge', 'range': [-6.2, 6.283]"));
    silent(JOINT("'type': 'hinge', 'range_deg': [-90, 90]"));
    silent(JOINT("'type': 'slider', 'range': [-90, 90]"));
    silent(JOINT("'type': 'screw', 'pitch': 1, 'range': [-90, 90]"));
    silent(JOINT("'type': 'planar', 'axis2': [1, 0, 0], 'range': [[-90, 90], [-90, 90], [-1e9, 1e9]]"));
    silent(BODY("'q_deg': 90"));
    silent(BODY("'q': -6.28"));
}

/* ---- files ---- */

static void is_told(const char *name, const char *content, size_t length, const char *words) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/sim_foreign_%d_%s", (int)getpid(), name);
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(content, 1, length, file) == length && fclose(file) == 0);
    sim_error error = {0};
    sim_diagnostics found = {0};
    sim_scene *s = sim_scene_load(path, NULL, &found, &error);
    remove(path);
    cr_assert(!s && error.status == SIM_BAD_INPUT && found.count == 1, "%s", error.text);
    cr_assert(strstr(found.item[0].message, words), "%s: %s", name, found.item[0].message);
    cr_assert(strstr(found.item[0].message, ", not a scene: ") && found.item[0].line == 0);
    sim_diagnostics_free(&found);
}

#define TOLD(name, content, words) is_told(name, content, sizeof content - 1, words)

Test(scene_foreign, files_of_other_kinds_are_told_in_a_sentence) {
    TOLD("a.URDF", "robot", "a robot in URDF by its name");
    TOLD("a.xml", "text", "an XML file by its name");
    TOLD("a.svg", "<svg>", "a picture");
    TOLD("a.csv", "time [s],q\n0,0\n", "a trajectory in CSV, not a scene: sim plot draws it");
    TOLD("a.csv", "x;y\n", "a table in CSV");
    TOLD("a.mp4",
         "\0\0\0\x18"
         "ftypisom",
         "a film");
    TOLD("a.h5", "\x89HDF\r\n\x1a\n", "an HDF5 file, not a scene: sim view and sim plot show it");
    TOLD("a.json", "\x89HDF\r\n\x1a\n", "an HDF5 file");
    TOLD("a.obj", "v 0 0 0\n",
         "a mesh in OBJ by its name, not a scene: it goes into a scene as the \"file\" of a shape");
    TOLD("a.stl", "solid x\nfacet normal", "a mesh in STL");
    TOLD("a.stl", "\0\0\0", "a mesh in STL by its name");
    TOLD("a.yaml", "a: 1", "a YAML file");
    TOLD("c", "sim checkpoint\n\0", "a checkpoint, not a scene: sim SCENE.json --resume FILE continues from it");
    TOLD("a.png", "\x89PNG", "a picture");
}

/* Its first bytes are known only once it is read. */
Test(scene_foreign, a_pipe_of_another_kind_is_told_too) {
    int end[2];
    char path[64];
    cr_assert_eq(pipe(end), 0);
    cr_assert_eq(write(end[1], "\x89HDF\r\n\x1a\n", 8), 8);
    close(end[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", end[0]);
    sim_error error = {0};
    sim_diagnostics found = {0};
    sim_scene *s = sim_scene_load(path, NULL, &found, &error);
    close(end[0]);
    cr_assert(!s && found.count == 1 && strstr(found.item[0].message, "an HDF5 file, not a scene"), "%s", error.text);
    sim_diagnostics_free(&found);
}

Test(scene_foreign, xml_of_other_formats_is_told_by_its_root) {
    refused("<mujocoinclude/>", "scene.json:1:1", "a part of a model of MuJoCo (MJCF) is not read");
    refused("<?xml version='1.0'?>\n<mujocoinclude/>", "scene.json:2:1",
            "a part of a model of MuJoCo (MJCF) is not read");
    refused("<note/>", "scene.json:1:1", "expected <robot> as the outermost element, not <note>");
}

Test(scene_foreign, files_too_large_for_scenes_are_told_too) {
    size_t length = 20u << 20;
    char *film = calloc(length, 1);
    memcpy(film,
           "\0\0\0\x18"
           "ftypisom",
           12);
    is_told("large.mp4", film, length, "a film");
    free(film);
}

Test(scene_foreign, scenes_are_scenes_whatever_their_name) {
    cr_assert(!foreign_find_kind("a.urdf", " {\"sim\": 1}", 11));
    cr_assert(!foreign_find_kind("a.json", "sim", 3));
    cr_assert(!foreign_find_kind("a.json", "", 0));
}

Test(scene_foreign, files_named_by_instances_are_told_too) {
    char path[64], text[200];
    snprintf(path, sizeof path, "/tmp/sim_foreign_%d.urdf", (int)getpid());
    FILE *file = fopen(path, "wb");
    cr_assert(file && fputs("robot", file) >= 0 && fclose(file) == 0);
    sim_error error = {0};
    sim_diagnostics found = {0};
    snprintf(text, sizeof text, "{\"sim\": 1, \"instances\": [\n{\"file\": \"%s\"}]}", path);
    sim_scene *s = sim_scene_parse(text, strlen(text), "scene.json", NULL, &found, &error);
    remove(path);
    cr_assert(!s && found.count == 1 && found.item[0].line == 2 && strstr(found.item[0].message, "a robot in URDF"),
              "%s", error.text);
    sim_diagnostics_free(&found);
}
