/* Every kind of mistake in the keys and values of a scene is refused at its place, with a sentence that helps. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BODY(more)                                                                                                     \
    "{'sim': 1, 'bodies': [\n {'name': 'a', 'joint': 'hinge', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}" more "}]}"
#define JOINT(text)                                                                                                    \
    "{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'joint':\n{" text "}}]}"
#define HELD(text)                                                                                                     \
    "{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'joint': 'hinge'}, {'name': "   \
    "'c', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'joint': 'ball'}], 'constraints': [\n{" text "}]}"
#define SHAPE(text) "{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [\n" text "\n]}]}"

/* ---- keys and values ---- */

Test(scene_keys, refuses_an_unknown_key_and_names_the_nearest) {
    refused("{'sim': 1, 'world': {\n  'integratr': 'midpoint'}}", "scene.json:2:3",
            "/world/integratr: unknown key \"integratr\" (did you mean \"integrator\"?)");
    refused("{'sim': 1, 'World': {}}", "scene.json:1:12", "did you mean \"world\"?");
    refused("{'sim': 1, 'zzz': {}}", "scene.json:1:12", "known here: sim, ");
}

Test(scene_keys, refuses_a_missing_key) {
    refused("{'world': {}}", "scene.json:1:1", "\"sim\" is missing");
    refused("{'sim': 1, 'bodies': [\n {'joint': 'fixed'}]}", "scene.json:2:2",
            "/bodies/0: the key \"name\" is missing");
    refused(SHAPE("{'type': 'sphere'}"), "scene.json:2:1", "\"radius\" is missing");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 1]},\n'joint': 'screw'}]}",
            "scene.json:2:10",
            "/bodies/0/joint: the key \"pitch\" is missing (write {\"type\": \"screw\", \"pitch\": ...})");
}

Test(scene_keys, reports_a_misspelt_required_key_once_with_the_suggestion) {
    refused("{'simm': 1}", "scene.json:1:2", "unknown key \"simm\" (did you mean \"sim\"?)");
    refused("{'sim': 1, 'bodies': [\n {'nmae': 'a'}]}", "scene.json:2:3", "did you mean \"name\"?");
    refused(SHAPE("{'tpye': 'sphere', 'radius': 1}"), "scene.json:2:2", "did you mean \"type\"?");
    refused(SHAPE("{'type': 'sphere', 'raduis': 1}"), "scene.json:2:20", "did you mean \"radius\"?");
    refused(SHAPE("{'type': 'sphere', 'diameter': 1}"), "scene.json:2:20", "that is \"radius\", half of it");
    refused(BODY("}], 'loads': [{'bdy': 'a', 'force': [0, 0, 1]"), "scene.json:2:93", "did you mean \"body\"?");
}

Test(scene_keys, reports_a_missing_key_that_no_unknown_key_resembles) {
    sim_diagnostics found;
    cr_assert_null(load_text(SHAPE("{'type': 'sphere', 'flavour': 1}"), NULL, NULL, &found, NULL));
    cr_assert_eq(found.count, 2);
    cr_expect_str_eq(found.item[0].message, "the key \"radius\" is missing");
    cr_expect_str_eq(found.item[1].message, "unknown key \"flavour\"");
    sim_diagnostics_free(&found);
}

Test(scene_keys, reports_a_wrong_key_of_a_material_or_body_once_though_others_name_it) {
    refused(
        "{'sim': 1, 'materials': [{'name': 'm', 'frictoin': 1}], 'material_pairs': [{'first': 'm', 'second': 'm'}]}",
        "scene.json:1:40", "did you mean \"friction\"?");
    refused("{'sim': 1, 'materials': [{'nmae': 'm'}], 'material_pairs': [{'first': 'm', 'second': 'm'}]}",
            "scene.json:1:27", "did you mean \"name\"?");
    refused("{'sim': 1, 'materials': [{'name': 'm', 'friction': '1'}], 'bodies': [{'name': 'a', 'shapes': [{'type': "
            "'sphere', 'radius': 1, 'material': 'm'}]}]}",
            "scene.json:1:52", "expected a number");
    refused("{'sim': 1, 'bodies': [{'nmae': 'a'}, {'name': 'b', 'parent': 'a'}]}", "scene.json:1:24",
            "did you mean \"name\"?");
}

Test(scene_keys, refuses_a_key_of_another_type) {
    refused(SHAPE("{'type': 'box', 'size': [1, 1, 1], 'radius': 2}"), "scene.json:2:36",
            "\"radius\" does not belong to the type \"box\"");
    refused(BODY(", 'joint2': 1"), "scene.json:2:80", "did you mean \"joint\"?");
}

Test(scene_keys, refuses_wrong_types) {
    refused("[1]", "scene.json:1:1", "expected an object, not an array");
    refused("{'sim': '1'}", "scene.json:1:9", "expected a whole number, not a text");
    refused("{'sim': 1, 'world': {'gravity': [0, 0]}}", "scene.json:1:33", "an array of 3 numbers in m/s^2, not of 2");
    refused("{'sim': 1, 'world': {'gravity': [0, null, 1]}}", "scene.json:1:37",
            "/world/gravity/1: expected a number in m/s^2, not null");
    refused("{'sim': 1, 'world': {'contacts': 0}}", "scene.json:1:34", "expected true or false, not a number");
    refused("{'sim': 1, 'bodies': {}}", "scene.json:1:22", "expected an array of objects, not an object");
    refused("{'sim': 1, 'world': {'threads': 1.5}}", "scene.json:1:33", "expected a whole number");
    refused("{'sim': 1, 'comment': 3}", "scene.json:1:23", "expected a text");
}

Test(scene_keys, refuses_values_out_of_range_with_the_numbers) {
    refused("{'sim': 2}", "scene.json:1:9", "must be 1, is 2");
    refused("{'sim': 1, 'world': {'step': 0}}", "scene.json:1:30", "must be above 0, is 0 s");
    refused("{'sim': 1, 'world': {'threads': 65}}", "scene.json:1:33", "must be from 1 to 64, is 65");
    refused(BODY(", 'parent': ''"), "scene.json:2:90", "must not be empty");
    refused("{'sim': 1, 'bodies': [{'name': 'a/b'}]}", "scene.json:1:32", "must not hold '/'");
}

Test(scene_keys, refuses_words_that_are_none_and_names_the_nearest) {
    refused("{'sim': 1, 'world': {'integrator': 'midpiont'}}", "scene.json:1:36", "did you mean \"midpoint\"?");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hing'}]}", "scene.json:1:46", "did you mean \"hinge\"?");
    refused("{'sim': 1, 'record': {'signals': ['pose']}}", "scene.json:1:35", "did you mean \"poses\"?");
}

Test(scene_keys, refuses_two_keys_that_say_the_same) {
    refused(BODY(", 'q': 1, 'q_deg': 2"), "scene.json:2:88", "\"q\" and \"q_deg\" are both given");
    refused(BODY(", 'pose': {'rpy': [0, 0, 0], 'quaternion': [1, 0, 0, 0]}"), "scene.json:2:107", "both given");
    refused("{'sim': 1, 'instances': [{'prefix': 'a'}]}", "scene.json:1:26",
            "one of \"model\", \"file\" must be given");
}

Test(scene_keys, refuses_by_name_what_is_not_simulated) {
    refused(JOINT("'type': 'ball', 'range': [0, 1]"), "scene.json:2:18",
            "\"range\" does not belong to the type \"ball\"");
    refused(JOINT("'type': 'fixed', 'stiffness': 1"), "scene.json:2:19", "does not belong to the type \"fixed\"");
    refused(JOINT("'type': 'fixed', 'friction': 1"), "scene.json:2:19",
            "\"friction\" does not belong to the type \"fixed\"");
}

Test(scene_bodies, refuses_efforts_of_joints_that_no_actuator_could_keep) {
    refused(JOINT("'type': 'hinge', 'effort': 0"), "scene.json:2:29", "above 0");
    refused(JOINT("'type': 'ball', 'effort': 1"), "scene.json:2:18", "ball");
    refused(JOINT("'type': 'hinge', 'effort': [1, 2]"), "scene.json:2:29", "2 numbers");
    refused(
        "{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'joint': {'type': 'hinge', "
        "'effort_range': [1, 2]}}],\n'actuators': [{'joint': 'a', 'kp': 1}, {'joint': 'a', 'kd': 1}]}",
        "scene.json:2:40", "has several actuators, and 0 is not in its range of efforts");
}

Test(scene_bodies, refuses_ranges_that_are_none) {
    refused(JOINT("'type': 'hinge', 'range': [2, 1]"), "scene.json:2:28",
            "a range needs the lower end first, not 2, 1");
    refused(JOINT("'type': 'hinge', 'range': [2, 1, 3]"), "scene.json:2:28", "3");
    refused(JOINT("'type': 'planar', 'range': [[0, 1], [0, 1]]"), "scene.json:2:29",
            "2 pairs for a joint with 3 degrees of freedom");
    refused(JOINT("'type': 'slider', 'range_deg': [0, 1]"), "scene.json:2:20", "slider");
    refused(JOINT("'type': 'hinge', 'friction': -1"), "scene.json:2:31", "-1");
}

Test(scene_constraints, are_not_for_rk4) {
    refused("{'sim': 1, 'world': {\n'integrator': 'rk4'}, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': "
            "[1, 1, "
            "1]}, 'joint': {'type': 'hinge', 'friction': 1}}]}",
            "scene.json:2:15", "the integrator rk4 takes no joint ranges, no dry friction");
}

Test(scene_constraints, refuses_what_cannot_be_held) {
    refused(HELD("'type': 'weld', 'first': 'b'"), "scene.json:2:27", "\"b\"");
    refused(HELD("'type': 'weld', 'first': 'a', 'second': 'a'"), "scene.json:2:42", "both are \"a\"");
    refused(HELD("'type': 'weld', 'first': 'world'"), "scene.json:2:1", "both are \"world\"");
    refused(HELD("'type': 'distance', 'first': 'a'"), "scene.json:2:1", "distance");
    refused(HELD("'type': 'connect', 'first': 'a', 'distance': 1"), "scene.json:2:35", "distance");
    refused(HELD("'type': 'coupling', 'first': 'a'"), "scene.json:2:1", "the world has none");
    refused(HELD("'type': 'coupling', 'first': 'a', 'second': 'c'"), "scene.json:2:46",
            "the ball joint of \"c\" has no coordinate 0");
    refused(HELD("'type': 'spring', 'first': 'a', 'rest': 1"), "scene.json:2:1", "a spring needs a stiffness");
    refused(HELD("'type': 'spring', 'first': 'a', 'stiffness': 1"), "scene.json:2:1", "rest");
    refused(HELD("'type': 'spring', 'first': 'a', 'rest': 1, 'stiffness': 1, 'dissipation': 1"), "scene.json:2:61",
            "dissipation");
}

/* ---- bodies ---- */

Test(scene_bodies, refuses_an_impossible_inertia_with_its_numbers) {
    refused("{'sim': 1, 'bodies': [\n {'name': 'a', 'inertia':\n  {'mass': 1, 'moments': [0.1, 0.1, 0.3]}}]}",
            "scene.json:3:3", "/bodies/0/inertia: principal moments (0.1, 0.1, 0.3) kg m^2 violate A + B >= C");
    refused("{'sim': 1, 'bodies': [\n {'name': 'a', 'inertia':\n  {'mass': 1, 'matrix': [1, 1, 1, 2, 0, 0]}}]}",
            "scene.json:3:3", "negative principal moment");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': -1, 'moments': [1, 1, 1]}}]}", "scene.json:1:57",
            "must be above 0, is -1 kg");
}

Test(scene_bodies, refuses_a_body_that_moves_without_mass) {
    refused("{'sim': 1, 'bodies': [\n{'name': 'a', 'joint': 'free'}]}", "scene.json:2:1", "moves but has no mass");
}

Test(scene_bodies, refuses_mass_from_two_places) {
    refused(BODY(", 'shapes': [{'type': 'sphere', 'radius': 1, 'density': 5}]"), "scene.json:2:134",
            "inertia is given, and so is the density");
    refused(SHAPE("{'type': 'sphere', 'radius': 1, 'density': 5, 'mass': 2}"), "scene.json:2:47", "both given");
}

Test(scene_bodies, refuses_an_unknown_parent_and_names_the_nearest) {
    refused(BODY(", 'parent': 'b'}, {'name': 'base'"), "scene.json:2:90", "there is no body \"b\"");
    refused(BODY("}, {'name': 'hand', 'parent': 'arn'}, {'name': 'arm'"), "scene.json:2:108", "did you mean \"arm\"?");
}

Test(scene_bodies, refuses_a_cycle_of_parents) {
    refused(
        "{'sim': 1, 'bodies': [{'name': 'a', 'parent': 'c'},\n{'name': 'b', 'parent': 'a'},\n{'name': 'c', 'parent': "
        "'b'}]}",
        "scene.json:2:25", "a cycle: \"b\" is its own ancestor");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'parent': 'a'}]}", "scene.json:1:47", "a cycle");
}

Test(scene_bodies, refuses_a_name_that_is_taken) {
    refused("{'sim': 1, 'bodies': [{'name': 'a'},\n{'name': 'a'}]}", "scene.json:2:10",
            "\"a\" is taken (scene.json:1)");
    refused("{'sim': 1, 'bodies': [{'name': 'world'}]}", "scene.json:1:32", "cannot be called \"world\"");
}

Test(scene_bodies, refuses_frames_without_direction) {
    refused(BODY(", 'pose': {'quaternion': [0, 0, 0, 0]}"), "scene.json:2:103", "has length 1, not 0");
    refused(BODY(", 'pose': {'quaternion': [1, 1, 0, 0]}"), "scene.json:2:103", "has length 1, not 1.41421");
    refused(BODY(", 'pose': {'axis_angle': [0, 0, 0, 1]}"), "scene.json:2:103", "the axis has length 0");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'joint':\n"
            "{'type': 'hinge', 'axis': [0, 0, 0]}}]}",
            "scene.json:2:27", "the axis has length 0");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'joint':\n"
            "{'type': 'planar', 'axis': [1, 0, 1]}}]}",
            "scene.json:2:28", "not at 45 degrees");
}

Test(scene_bodies, refuses_wrong_numbers_of_coordinates) {
    refused(BODY(", 'q': [1, 2]"), "scene.json:2:85", "2 numbers for the hinge joint of \"a\", which takes 1");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'q': 0}]}", "scene.json:1:42", "is fixed: it has no coordinates");
    refused(
        "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'free', 'q': 0, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}]}",
        "scene.json:1:59", "a free body starts at its pose");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}, 'joint':\n"
            "{'type': 'cylindrical', 'damping': [1, 2, 3]}}]}",
            "scene.json:2:36", "3 numbers for a joint with 2 degrees of freedom");
}

/* ---- contacts ---- */

#define WORLD(keys) "{'sim': 1, 'world': {" keys "}}"

Test(scene_contacts, refuse_a_solver_that_there_is_not_and_list_those_there_are) {
    char all[200] = "\"newton\" is none of: ";
    for (int k = 0; k < sim_solver_count(); k++) {
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k ? ", " : "", sim_solver_at(k)->name);
    }
    refused(WORLD("'solver': 'newton'"), "scene.json:1:32", all);
    refused(WORLD("'solver': 'sapp'"), "scene.json:1:32", "did you mean \"sap\"?");
    refused_with("{'sim': 1}", NULL, "world/solver=pgss", "--set world/solver=pgss", "did you mean \"pgs\"?");
}

Test(scene_contacts, refuse_options_that_the_solver_does_not_have) {
    refused(WORLD("'solver': 'pgs', 'solver_options': {\n'relaxatoin': 1}"), "scene.json:2:1",
            "the solver pgs has no option \"relaxatoin\" (did you mean \"relaxation\"?)");
    refused(WORLD("'solver_options': {\n'relaxation': 1}"), "scene.json:2:1", "the solver auto has no option");
    char all[300] = "(it has ";
    const sim_solver_info *info = sim_solver_find("pgs");
    for (int k = 0; k < info->noptions; k++) {
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k ? ", " : "", info->option[k].name);
    }
    refused(WORLD("'solver': 'pgs', 'solver_options': {\n'xyz': 1}"), "scene.json:2:1", all);
    refused_with(WORLD("'solver': 'pgs', 'solver_options': {\n'cone': 'pyramid'}"), NULL, "world/solver=sap",
                 "scene.json:2:1", "the solver sap has no option \"cone\"");
}

Test(scene_contacts, refuse_values_that_an_option_cannot_have) {
    refused(WORLD("'solver': 'pgs', 'solver_options': {'relaxation':\n3}"), "scene.json:2:1",
            "must be a number from 0.1 to 1.95, is 3");
    refused(WORLD("'solver': 'pgs', 'solver_options': {'relaxation':\n'much'}"), "scene.json:2:1",
            "expected a number, not a text");
    refused(WORLD("'solver': 'sap', 'solver_options': {'max_iterations':\n1.5}"), "scene.json:2:1",
            "must be a whole number from 0 to 10000, is 1.5");
    refused(WORLD("'solver': 'pgs', 'solver_options': {'cone':\n'piramid'}"), "scene.json:2:1",
            "\"piramid\" is none of: cone, pyramid (did you mean \"pyramid\"?)");
    refused(WORLD("'solver': 'pgs', 'solver_options': {'cone':\n1}"), "scene.json:2:1",
            "expected one of cone, pyramid, not a number");
    refused_with(WORLD("'solver': 'pgs'"), NULL, "world/solver_options/relaxation=3",
                 "--set world/solver_options/relaxation=3", "must be a number from 0.1 to 1.95");
}

Test(scene_contacts, refuse_laws_that_cannot_be) {
    refused(WORLD("'law': {'beta': 0}"), "scene.json:1:38", "must be above 0, is 0");
    refused(WORLD("'law': {'push': 2}"), "scene.json:1:38", "must be from 0 to 1, is 2");
    refused(WORLD("'law': {'alpha': 1}"), "scene.json:1:30", "unknown key \"alpha\"");
    refused(WORLD("'compliance': 'soft'"), "scene.json:1:36", "is none of: auto, rigid, near-rigid");
}

Test(scene_contacts, refuse_an_integrator_that_takes_none_only_where_something_could_touch) {
    const char *form = "{'sim': 1, 'world': {'integrator':\n'rk4'%s}, 'bodies': ["
                       "{'name': 'a', 'joint': 'hinge', 'shapes': [{'type': 'sphere', 'radius': 1, 'mass': 1}]},"
                       "{'name': 'b', 'parent': '%s', 'joint': 'hinge', 'shapes': [{'type': 'sphere', 'radius': 1, "
                       "'mass': 1%s}]}]%s}";
    static const struct {
        const char *world, *parent, *shape, *scene;
    } cannot[] = {{", 'contacts': false", "world", "", ""},
                  {"", "a", "", ""},
                  {"", "world", ", 'mask': 0", ""},
                  {"", "world", "", ", 'exclusions': [{'first': 'a', 'second': 'b'}]"}};
    char text[800];
    snprintf(text, sizeof text, form, "", "world", "", "");
    refused(text, "scene.json:2:1",
            "the integrator rk4 takes no contacts: choose another, or set /world/contacts to false");
    for (size_t k = 0; k < sizeof cannot / sizeof cannot[0]; k++) {
        snprintf(text, sizeof text, form, cannot[k].world, cannot[k].parent, cannot[k].shape, cannot[k].scene);
        sim_scene *scene = load_good(text);
        sim_error error = {0};
        sim_world *world = sim_world_create(scene->model, &scene->options, &error);
        cr_expect_not_null(world, "%s", error.text);
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

Test(scene_bodies, refuses_a_half_space_that_moves) {
    refused(BODY(", 'shapes': [\n{'type': 'half_space'}]"), "scene.json:3:1", "needs a body that cannot move");
}

/* De Saxce's s_n + mu |s_t| would round the normal velocity away, and all that slides would fall through the floor. */
Test(scene_bodies, refuses_friction_that_is_written_for_infinite) {
    refused("{'sim': 1, 'materials': [{'name': 'glue', 'friction': 1e40}]}", "scene.json:1:55", "from 0 to 1000");
    refused(
        "{'sim': 1, 'materials': [{'name': 'a'}], 'material_pairs': [{'first': 'a', 'second': 'a', 'friction': 1001}]}",
        "scene.json:1:103", "from 0 to 1000");
}

Test(scene_bodies, refuses_an_unknown_material) {
    refused("{'sim': 1, 'materials': [{'name': 'steel'}], 'bodies': [{'name': 'a', 'shapes': [\n"
            "{'type': 'sphere', 'radius': 1, 'material': 'stel'}]}]}",
            "scene.json:2:45", "did you mean \"steel\"?");
    refused("{'sim': 1, 'materials': [{'name': 'a'}, {'name': 'a'}]}", "scene.json:1:50", "already");
    refused("{'sim': 1, 'materials': [{'name': 'ice'}], 'material_pairs': [\n{'first': 'ice', 'second': 'icy'}]}",
            "scene.json:2:28", "did you mean \"ice\"?");
}

/* ---- models, instances, files ---- */

Test(scene_models, refuses_an_unknown_model_and_names_the_nearest) {
    refused("{'sim': 1, 'models': {'leg': {}}, 'instances': [{'model': 'legs'}]}", "scene.json:1:59",
            "did you mean \"leg\"?");
}

Test(scene_models, refuses_models_that_hold_themselves) {
    refused("{'sim': 1, 'models': {'a': {'instances': [{'model': 'b'}]}, 'b': {'instances': [\n{'model': 'a'}]}},\n"
            "'instances': [{'model': 'a'}]}",
            "scene.json:2:11", "the model contains itself");
}

Test(scene_models, refuses_files_that_include_themselves) {
    const test_file files[] = {{"b.json", "{'sim': 1, 'instances': [\n{'file': 'c.json'}]}"},
                               {"c.json", "{'sim': 1,\n'instances': [{'file': './b.json'}]}"},
                               {NULL, NULL}};
    refused_with("{'sim': 1, 'instances': [{'file': 'b.json'}]}", files, NULL, "c.json:2:24",
                 "the file contains itself");
}

Test(scene_models, names_the_file_in_which_an_error_stands) {
    const test_file files[] = {{"parts/arm.json", "{'sim': 1,\n 'bodies': [{'nam': 'a', 'name': 'b'}]}"}, {NULL, NULL}};
    refused_with("{'sim': 1, 'instances': [{'file': 'parts/arm.json'}]}", files, NULL, "parts/arm.json:2:14",
                 "/bodies/0/nam: unknown key \"nam\"");
    refused_with("{'sim': 1, 'instances': [{'file': 'none.json'}]}", files, NULL, "scene.json:1:35",
                 "\"none.json\": No such file");
}

Test(scene_models, says_an_error_of_a_model_once_for_all_copies) {
    refused("{'sim': 1, 'models': {'m': {'bodies': [\n{'name': 'a', 'inertia': {'mass': 1, 'moments': [1, 1, 9]}}]}},\n"
            "'instances': [{'model': 'm', 'repeat': {'placement': 'line', 'count': 50, 'offset': [1, 0, 0]}}]}",
            "scene.json:2:26", "A + B >= C");
}

Test(scene_models, refuses_copies_whose_names_collide) {
    refused("{'sim': 1, 'models': {'m': {'bodies': [\n{'name': 'a'}]}}, 'instances': [{'model': 'm'}, {'model': 'm'}]}",
            "scene.json:2:10", "give each instance a prefix");
}

Test(scene_models, refuses_more_bodies_than_there_may_be) {
    refused("{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a'}]}}, 'instances': [{'model': 'm', 'repeat':\n"
            "{'placement': 'grid', 'counts': [1e6, 1e6, 1e6], 'spacing': [1, 1, 1]}}]}",
            "scene.json:2:1", "1e+18 copies; the limit");
}

Test(scene_models, refuses_a_scatter_that_has_no_room) {
    refused("{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a'}]}}, 'instances': [{'model': 'm', 'repeat':\n"
            "{'placement': 'scatter', 'count': 100, 'min': [0, 0, 0], 'max': [1, 1, 1], 'radius': 0.5}}]}",
            "scene.json:2:1", "no room for copy");
}

Test(scene_models, refuses_a_joint_for_two_roots) {
    refused("{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a'}, {'name': 'b'}]}},\n"
            "'instances': [{'model': 'm', 'joint': 'fixed'}]}",
            "scene.json:2:39", "several roots");
}

Test(scene_models, refuses_overrides_that_lead_nowhere) {
    const char *text =
        "{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a'}]}}, 'instances': [{'model': 'm', 'overrides':\n"
        "{'%s': 3}}]}";
    static const struct {
        const char *path, *place, *words;
    } wrong[] = {{"bodies/b/inertia", "scene.json:2:22", "neither the name nor the number"},
                 {"bodies//inertia", "scene.json:2:2", "expected a path"},
                 {"bodies/a/name/x", "scene.json:2:21", "no value can be set"},
                 {"bodies/a/inertai", "scene.json:2:2", "unknown key \"inertai\""}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char whole[300];
        snprintf(whole, sizeof whole, text, wrong[i].path);
        refused(whole, wrong[i].place, wrong[i].words);
    }
}

Test(scene_models, a_path_of_joints_names_the_right_one) {
    sim_diagnostics found;
    const char *set[] = {"joints/a/damping=3"};
    sim_scene_overrides overrides = {.count = 1, .set = set};
    cr_assert_null(load_text(
        "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}]}", NULL,
        &overrides, &found, NULL));
    cr_assert_eq(found.count, 1);
    cr_expect(strstr(found.item[0].message, "a joint is a key of its body"), "%s", found.item[0].message);
    cr_expect_str_eq(found.item[0].hint, "as in bodies/a/joint/damping");
    sim_diagnostics_free(&found);
}

Test(scene_models, says_nothing_of_names_in_a_file_that_is_not_there) {
    sim_diagnostics found;
    cr_assert_null(load_text("{'sim': 1, 'instances': [{'file': 'robot.json'}], 'actuators': [{'joint': 'elbow'}]}",
                             NULL, NULL, &found, NULL));
    cr_expect_eq(found.count, 1);
    cr_expect(strstr(found.item[0].message, "robot.json"), "%s", found.item[0].message);
    sim_diagnostics_free(&found);
}

Test(scene_models, a_path_of_bodies_names_that_of_an_instance) {
    sim_diagnostics found;
    const char *set[] = {"bodies/a/joint/damping=3"};
    sim_scene_overrides overrides = {.count = 1, .set = set};
    cr_assert_null(load_text("{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a'}]}}, 'instances': [{'model': 'm'}]}",
                             NULL, &overrides, &found, NULL));
    cr_expect_eq(found.count, 1);
    cr_expect(strstr(found.item[0].hint, "instances/NUMBER/overrides"), "%s", found.item[0].hint);
    sim_diagnostics_free(&found);
}

/* ---- names in initial state, actuators, loads ---- */

Test(scene_output, refuses_two_points_or_cameras_of_one_name) {
    refused("{'sim': 1, 'bodies': [{'name': 'a'}], 'record': {'points': [{'name': 'p', 'body': 'a'},\n"
            "{'name': 'p', 'body': 'a'}]}}",
            "scene.json:2:10", "/record/points/1/name: the name \"p\" is taken");
    refused("{'sim': 1, 'cameras': [{'name': 'c', 'position': [1, 0, 0]},\n{'name': 'c', 'position': [1, 0, 0]}]}",
            "scene.json:2:10", "/cameras/1/name: the name \"c\" is taken");
}

Test(scene_control, refuses_initial_states_of_nobody) {
    refused(BODY("}], 'initial': {'b*': 1}, 'loads': [{'body': 'a', 'force': [0, 0, 1]"), "scene.json:2:100",
            "no body matches \"b*\"");
    refused(BODY("}], 'initial': {'aa': 1}, 'loads': [{'body': 'a', 'force': [0, 0, 1]"), "scene.json:2:100",
            "did you mean \"a\"?");
}

Test(scene_control, refuses_actuators_that_cannot_act) {
    const char *text =
        "{'sim': 1, 'bodies': [{'name': 'a', 'joint': '%s', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}],\n"
        "'actuators': [{'joint': 'a', 'dof': %d}]}";
    char whole[400];
    snprintf(whole, sizeof whole, text, "ball", 0);
    refused(whole, "scene.json:2:37", "a ball joint has no coordinates");
    snprintf(whole, sizeof whole, text, "hinge", 1);
    refused(whole, "scene.json:2:37", "has no degree of freedom 1; it has 0 to 0");
    snprintf(whole, sizeof whole, text, "fixed", 0);
    refused(whole, "scene.json:2:25", "is fixed");
}

Test(scene_control, refuses_tracks_that_do_not_run_forward) {
    const char *text =
        "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}],\n"
        "'actuators': [{'joint': 'a', 'target': {'times': %s, 'values': [1, 2]}}]}";
    char whole[400];
    snprintf(whole, sizeof whole, text, "[1, 1]");
    refused(whole, "scene.json:2:50", "times must increase: 1 s follows 1 s");
    snprintf(whole, sizeof whole, text, "[1, 2, 3]");
    refused(whole, "scene.json:2:50", "3 times for 2 values");
}

Test(scene_control, refuses_loads_that_mix_body_and_joint) {
    refused("{'sim': 1, 'bodies': [{'name': 'a'}], 'loads': [\n{'body': 'a', 'value': 1}]}", "scene.json:2:24",
            "does not belong to a load on a body");
    refused("{'sim': 1, 'bodies': [{'name': 'a'}], 'loads': [\n{'body': 'a'}]}", "scene.json:2:1",
            "needs \"force\" or \"torque\"");
}

/* ---- the command line, files, and many errors at once ---- */

Test(scene_options, places_errors_at_the_option) {
    refused_with("{'sim': 1}", NULL, "world/stp=1", "--set world/stp=1", "/world/stp: unknown key \"stp\"");
    refused_with("{'sim': 1}", NULL, "/world/step=fast", "--set /world/step=fast",
                 "expected a number in s, not a text");
    refused_with("{'sim': 1}", NULL, "world/step", "--set world/step", "expected PATH=VALUE");
    refused_with("{'sim': 1}", NULL, "bodies/a/joint=free", "--set bodies/a/joint=free",
                 "there are no \"bodies\" here");
    refused_with(BODY(""), NULL, "bodies/b/joint=free", "--set bodies/b/joint=free", "neither the name nor the number");
}

Test(scene_options, a_hundred_megabytes_are_refused_unread) {
    char path[] = "/tmp/sim_scene_test_XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0);
    cr_assert_eq(ftruncate(file, 100 * 1024 * 1024), 0);
    close(file);
    sim_diagnostics found;
    sim_error error = {0};
    cr_assert_null(sim_scene_load(path, NULL, &found, &error));
    unlink(path);
    cr_assert_eq(error.status, SIM_BAD_INPUT);
    cr_assert(strstr(error.text, "a file of 104857600 bytes; the limit is 16777216"), "%s", error.text);
    cr_assert_eq(found.count, 1);
    sim_diagnostics_free(&found);
}

Test(scene_options, a_missing_file_is_a_missing_resource) {
    sim_error error = {0};
    cr_assert_null(sim_scene_load("/no/such/scene.json", NULL, NULL, &error));
    cr_assert_eq(error.status, SIM_NO_RESOURCE);
    cr_assert_null(sim_scene_load("/tmp", NULL, NULL, &error));
    cr_assert_eq(error.status, SIM_NO_RESOURCE);
}

Test(scene_options, all_errors_come_at_once_in_order_of_place) {
    sim_diagnostics found;
    sim_error error = {0};
    const char *text =
        "{'sim': 1, 'world': {'stp': 1},\n'bodies': [{'name': 'a', 'parent': 'z', 'inertia': {'mass': 1, "
        "'moments': [1, 1, 9]}},\n{'name': 'b', 'joint': 'free', 'shapes': [{'type': 'cube'}]}],\n"
        "'actuators': [{'joint': 'c'}]}";
    cr_assert_null(load_text(text, NULL, NULL, &found, &error));
    const int line[] = {1, 2, 2, 3, 4};
    cr_assert_eq(found.count, 5);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(found.item[i].line, line[i]);
    }
    cr_assert(strncmp(error.text, "scene.json:1:22: error: /world/stp: ", 36) == 0, "%s", error.text);
    sim_diagnostics_free(&found);
}

Test(scene_options, twenty_errors_are_told_and_the_rest_counted) {
    char text[2000] = "{'sim': 1";
    for (int i = 0; i < 50; i++) {
        char more[32];
        snprintf(more, sizeof more, ", 'x%d': 1", i);
        strcat(text, more);
    }
    strcat(text, "}");
    sim_diagnostics found;
    cr_assert_null(load_text(text, NULL, NULL, &found, NULL));
    cr_assert_eq(found.count, 20);
    cr_assert_eq(found.more, 30);
    sim_diagnostics_free(&found);
}

Test(scene_options, messages_hold_no_control_characters) {
    sim_diagnostics found;
    cr_assert_null(load_text("{'sim': 1, 'a\\u001b[2Jb': 1}", NULL, NULL, &found, NULL));
    cr_assert(strstr(found.item[0].message, "a?[2Jb"), "%s", found.item[0].message);
    sim_diagnostics_free(&found);
}
