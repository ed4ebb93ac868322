/* Numbers at the ends of the range of doubles: what is said of them is true, and what has an answer gets one. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

Test(scene_far, a_mass_that_underflows_is_no_open_surface) {
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'free', 'shapes': [{'type': 'sphere', 'radius': 1e-12, "
            "'density':\n1e-300}]}]}",
            "scene.json:2:1", "below the smallest double");
}

Test(scene_far, bounds_too_far_apart_are_not_said_to_be_in_the_wrong_order) {
    const char *scatter = "{'sim': 1, 'models': {'m': {'bodies': [{'name': 'b'}]}}, 'instances': [{'model': 'm', "
                          "'prefix': 'x', 'repeat': {'placement': 'scatter', 'count': 3, 'min': [-1e308, 0, 0], "
                          "'max':\n[1e308, 1, 1]}}]}";
    refused(scatter, "scene.json:2:1", "the distance from -1e+308 to 1e+308 exceeds the largest double");
}

Test(scene_far, a_far_part_of_a_field_is_not_said_to_be_infinite) {
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'shapes': [{'type': 'sdf', 'resolution': 0.1, 'field':\n{'type': "
            "'sphere', 'radius': 1, 'pose': {'position': [1e15, 0, 0]}}}]}]}",
            "scene.json:2:1", "must be within 1e+09 m of the origin");
}

static const char *with_axis(const char *axis) {
    static char text[300];
    snprintf(text, sizeof text,
             "{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'axis':\n%s}, 'inertia': {'mass': 1, "
             "'moments': [1, 1, 1]}}]}",
             axis);
    return text;
}

Test(scene_far, an_axis_has_a_direction_whatever_its_length) {
    static const char *const axis[] = {"[3e200, 0, 4e200]", "[3e-200, 0, 4e-200]", "[3e-320, 0, 4e-320]",
                                       "[1.2e308, 0, 1.6e308]"};
    for (int k = 0; k < 4; k++) {
        sim_scene *s = load_good(with_axis(axis[k]));
        sim_v3 unit = s->model->body[1].axis;
        cr_expect(fabs(unit.x - 0.6) < 1e-3 && fabs(unit.z - 0.8) < 1e-3 && unit.y == 0, "%s: %g %g", axis[k], unit.x,
                  unit.z);
        cr_expect(fabs(unit.x * unit.x + unit.z * unit.z - 1) < 1e-15);
        sim_scene_free(s);
    }
    refused(with_axis("[0, 0, 0]"), "scene.json:2:1", "");
}

Test(scene_far, finite_numbers_whose_sum_is_not_are_finite) {
    sim_scene *s =
        load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'armature': 1.5e308, "
                  "'damping': 1.5e308}, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}], 'actuators': [{'joint': "
                  "'a', 'kp': 1.5e308, 'kd': 1.5e308}]}");
    sim_scene_free(s);
}
