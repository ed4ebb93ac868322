/* Elements of lists by the names they go by: --set and overrides. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HINGE(name) "{'name': '" name "', 'joint': 'hinge', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}"
#define LISTS                                                                                                          \
    "'bodies': [" HINGE("a") ", " HINGE("b") ", " HINGE("arm1") ", " HINGE(                                            \
        "arm2") "], "                                                                                                  \
                "'actuators': [{'joint': 'a', 'kp': 1}, {'joint': 'b', 'name': 'motor', 'kp': 1}, {'joint': 'arm*', "  \
                "'kp': 1}], "                                                                                          \
                "'loads': [{'body': 'a', 'force': [1, 2, 3]}, {'joint': 'b', 'value': 1}, {'joint': 'b', 'name': "     \
                "'pull', 'value': 1}], "                                                                               \
                "'constraints': [{'type': 'distance', 'first': 'a', 'second': 'b', 'second_point': [1, 0, 0], "        \
                "'distance': 1}]"

static sim_scene *with(const char *text, const char *set) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene_overrides overrides = {.count = 1, .set = &set};
    sim_scene *s = load_text(text, NULL, &overrides, &found, &error);
    cr_assert(s, "%s: %s", set, error.text);
    sim_diagnostics_free(&found);
    return s;
}

#define SCENE "{'sim': 1, 'world': {'contacts': false}, " LISTS "}"

Test(scene_paths, find_elements_by_the_names_they_go_by) {
    sim_scene *s = with(SCENE, "actuators/a/kp=7");
    cr_assert(s->model->actuator[0].kp == 7 && s->model->actuator[1].kp == 1);
    sim_scene_free(s);
    s = with(SCENE, "actuators/motor/kp=7");
    cr_assert(s->model->actuator[0].kp == 1 && s->model->actuator[1].kp == 7);
    sim_scene_free(s);
    s = with(SCENE, "actuators/arm*/kp=7");
    cr_assert(s->model->actuator[2].kp == 7 && s->model->actuator[3].kp == 7);
    sim_scene_free(s);
    s = with(SCENE, "loads/a/force=[4, 5, 6]");
    cr_assert(s->model->load[0].track.values[3] == 4);
    sim_scene_free(s);
    s = with(SCENE, "loads/b/value=9");
    cr_assert(s->model->load[1].track.values[0] == 9 && s->model->load[2].track.values[0] == 1);
    sim_scene_free(s);
    s = with(SCENE, "constraints/a/distance=2");
    cr_assert(s->model->equality[0].distance == 2);
    sim_scene_free(s);
}

Test(scene_paths, find_instances_by_prefix_or_model) {
    const char *text =
        "{'sim': 1, 'models': {'m': {'bodies': [" HINGE("x") "]}}, 'instances': [{'model': 'm'}, {'model': 'm', "
                                                             "'prefix': 'left_'}]}";
    sim_scene *s = with(text, "instances/left_/pose/position=[1, 2, 3]");
    cr_assert(s->model->body[sim_model_find_body(s->model, "left_x")].placement.p.y == 2);
    sim_scene_free(s);
    s = with(text, "instances/m/pose/position=[1, 2, 3]");
    cr_assert(s->model->body[sim_model_find_body(s->model, "x")].placement.p.y == 2);
    sim_scene_free(s);
}

Test(scene_paths, find_elements_in_models_too) {
    sim_scene *s = load_good("{'sim': 1, 'models': {'m': {" LISTS
                             "}}, 'world': {'contacts': false}, 'instances': [{'model': 'm', 'prefix': 'p', "
                             "'overrides': {'actuators/a/kp': 7, 'loads/a/force/0': 8}}]}");
    cr_assert(s->model->actuator[0].kp == 7 && s->model->load[0].track.values[3] == 8);
    sim_scene_free(s);
}

Test(scene_paths, that_are_ambiguous_or_lead_nowhere_are_refused) {
    refused_with(
        "{'sim': 1, 'bodies': [" HINGE("a") "], 'loads': [{'joint': 'a', 'value': 1}, {'body': 'a', 'force': [1, 2, "
                                            "3]}]}",
        NULL, "loads/a/value=3", "--set loads/a/value=3", "2 elements have the name \"a\" (give its number, from 0)");
    refused_with(
        SCENE, NULL, "actuators/arm1/kp=3", "--set actuators/arm1/kp=3",
        "\"arm1\" is neither the name nor the number of an element (the element that makes it makes others, too, and "
        "goes by \"arm*\")");
    refused_with(SCENE, NULL, "actuators/moter/kp=3", "--set actuators/moter/kp=3", "did you mean \"motor\"?");
    refused_with(SCENE, NULL, "actuators/b/kp=3", "--set actuators/b/kp=3", "\"b\" is neither the name nor the number");
}
