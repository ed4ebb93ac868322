/* Sensors in scenes: names, prefixes, and what they are fixed to. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/world.h>
#include <string.h>

#define MASS "'inertia': {'mass': 1, 'moments': [0.1, 0.1, 0.1]}"
#define BODIES                                                                                                         \
    "'bodies': [{'name': 'arm', 'joint': {'type': 'hinge', 'name': 'elbow'}, " MASS                                    \
    ", 'sites': [{'name': 'tip', 'pose': {'position': [1, 0, 0]}}]}, {'name': 'ball', 'joint': 'ball', " MASS "}], "   \
    "'actuators': [{'name': 'motor', 'joint': 'elbow'}]"
#define SENSOR(text) "{'sim': 1, " BODIES ", 'sensors': [\n{'name': 's', " text "}]}"

Test(scene_sensors, of_a_model_have_the_prefix_and_the_parts_of_its_copies) {
    sim_scene *s = load_good("{'sim': 1, 'models': {'m': {" BODIES
                             ", 'sensors': [{'name': 'q', 'type': 'joint_position', 'joint': 'elbow'}, {'name': 'x', "
                             "'type': 'frame_position', 'site': 'tip', 'reference': 'world'}, {'name': 'f', 'type': "
                             "'actuator_force', 'actuator': 'motor'}]}}, 'instances': [{'model': 'm', 'prefix': 'l_'}, "
                             "{'model': 'm', 'prefix': 'r_', 'pose': {'position': [5, 0, 0]}}]}");
    const sim_model *m = s->model;
    char name[64];
    cr_assert(m->nsensor == 6 && m->nsensor_value == 10);
    int q = sim_model_find_sensor(m, "r_q"), x = sim_model_find_sensor(m, "r_x"), f = sim_model_find_sensor(m, "r_f");
    cr_assert(q >= 0 && x >= 0 && f >= 0 && sim_model_find_sensor(m, "q") < 0);
    cr_expect_eq(m->sensor[q].body, sim_model_find_body(m, "r_arm"));
    cr_expect_eq(m->sensor[f].actuator, 1);
    cr_expect_eq(m->sensor[x].reference_frame.p.x, 5); /* the world of a copy is where it stands */
    sim_model_sensor_value_name(m, m->sensor[x].first + 2, name, sizeof name);
    cr_expect_str_eq(name, "r_x.z");
    sim_model_sensor_value_name(m, m->sensor[q].first, name, sizeof name);
    cr_expect_str_eq(name, "r_q");
    cr_expect_str_eq(sim_model_sensor_value_unit(m, m->sensor[q].first), "rad");
    cr_expect_str_eq(sim_model_sensor_value_unit(m, m->sensor[x].first), "m");
    sim_scene_free(s);
}

Test(scene_sensors, with_wrong_parts_are_refused) {
    refused(SENSOR("'type': 'gyro', 'site': 'tpi'"), "scene.json:2:39", "no site \"tpi\" (did you mean \"tip\"?)");
    refused(SENSOR("'type': 'gyro'"), "scene.json:2:1", "\"site\" is missing");
    refused(SENSOR("'type': 'joint_position', 'joint': 'ball'"), "scene.json:2:50",
            "the joint of \"ball\" (ball) has no coordinate 0");
    refused(SENSOR("'type': 'joint_position', 'joint': 'arm', 'dof': 1"), "scene.json:2:64", "has no coordinate 1");
    refused(SENSOR("'type': 'ball_orientation', 'joint': 'arm'"), "scene.json:2:52", "is hinge, not a ball joint");
    refused(SENSOR("'type': 'actuator_force', 'actuator': 'moto'"), "scene.json:2:53", "there is no actuator \"moto\"");
    refused(SENSOR("'type': 'tendon_length', 'tendon': 'rope'"), "scene.json:2:50", "there is no tendon \"rope\"");
    refused(SENSOR("'type': 'touch'"), "scene.json:2:1", "one of \"site\", \"body\" must be given");
    refused(SENSOR("'type': 'momentum', 'body': 'leg'"), "scene.json:2:43", "there is no body \"leg\"");
    refused(SENSOR("'type': 'gyroscope', 'site': 'tip'"), "scene.json:2:23",
            "\"gyroscope\" is none of: joint_position");
    refused(SENSOR("'type': 'gyro', 'site': 'tip'}, {'name': 's', 'type': 'gyro', 'site': 'tip'"), "scene.json:2:56",
            "a second sensor has the name \"s\"");
}

Test(scene_sensors, given_to_the_builder_are_checked) {
    const char *said[] = {"there is no body 9", "no coordinate", "there is no actuator 3",         "not a ball joint",
                          "needs a name",       "range > 0",     "two sensors have the name \"s\""};
    const sim_sensor_type type[] = {SIM_SENSE_GYRO,
                                    SIM_SENSE_JOINT_POSITION,
                                    SIM_SENSE_ACTUATOR_FORCE,
                                    SIM_SENSE_BALL_ORIENTATION,
                                    SIM_SENSE_GYRO,
                                    SIM_SENSE_RANGEFINDER,
                                    SIM_SENSE_GYRO};
    for (int k = 0; k < 7; k++) {
        sim_error error = {0};
        sim_builder *b = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.inertia = (sim_inertia){1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}};
        sim_sensor s = sim_sensor_default();
        int body = sim_builder_add_body(b, &def);
        s.name = k == 4 ? NULL : "s";
        s.type = type[k];
        s.body = k == 0 ? 9 : body;
        s.dof = 3;
        s.actuator = 3;
        s.range = k == 5 ? -1 : 1;
        sim_builder_add_sensor(b, &s);
        if (k == 6) {
            sim_builder_add_sensor(b, &s);
        }
        cr_expect_null(sim_builder_finish(b, &error));
        cr_expect_not_null(strstr(error.text, said[k]), "%s", error.text);
    }
}
