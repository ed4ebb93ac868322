/* Values over time in scenes: keys, sines and formulas, wherever a scene takes a track. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/world.h>
#include <stdio.h>
#include <string.h>

#define SLIDER "{'name': 'a', 'joint': 'slider', 'inertia': {'mass': 2, 'moments': [1, 1, 1]}}"
#define FREE "{'name': 'b', 'joint': 'free', 'inertia': {'mass': 2, 'moments': [1, 1, 1]}}"
#define SCENE(more)                                                                                                    \
    "{'sim': 1, 'world': {'gravity': [0, 0, 0], 'step': 0.001, 'duration': 2}, 'bodies': [" SLIDER ", " FREE           \
    "],\n" more "}"
#define TARGET(track) SCENE("'actuators': [{'joint': 'a', 'kp': 1, 'target':\n" track "}]")
#define FORCE(track) SCENE("'loads': [{'body': 'b', 'force':\n" track "}]")

static const double pi = 3.14159265358979323846;

static void is(const sim_track *track, double time, int component, double value, double rate) {
    double x[6], v[6];
    sim_track_at(track, time, x, v);
    cr_assert(fabs(x[component] - value) < 1e-13 * (1 + fabs(value)), "%.17g, due %.17g", x[component], value);
    cr_assert(fabs(v[component] - rate) < 1e-13 * (1 + fabs(rate)), "rate %.17g, due %.17g", v[component], rate);
}

static void target_is(const char *text, double time, double value, double rate) {
    sim_scene *s = load_good(text);
    is(&s->model->actuator[0].target, time, 0, value, rate);
    sim_scene_free(s);
}

Test(scene_tracks, are_sines) {
    const double w = 2 * pi * 1.5, angle = w * 0.3 + 0.7;
    target_is(TARGET("{'sine': {'amplitude': 3, 'frequency': 1.5, 'phase': 0.7, 'offset': -2}}"), 0.3,
              3 * sin(angle) - 2, 3 * w * cos(angle));
    target_is(TARGET("{'sine': {'amplitude': 3, 'frequency': 1.5, 'phase_deg': 90}}"), 0.3, 3 * cos(w * 0.3),
              -3 * w * sin(w * 0.3));
}

Test(scene_tracks, are_formulas) {
    const char *const same[] = {TARGET("'t^2 + sin(t)'"), TARGET("{'expression': 't^2 + sin(t)'}"),
                                TARGET("'t^2\\u0020+\\tsin(t)'")};
    for (int k = 0; k < 3; k++) {
        target_is(same[k], 0.6, 0.36 + sin(0.6), 1.2 + cos(0.6));
    }
}

Test(scene_tracks, are_splines) {
    target_is(TARGET("{'times': [0, 1, 2], 'values': [0, 1, 0], 'interpolation': 'spline'}"), 1, 1, 0);
    target_is(TARGET("{'times': [0, 1, 2], 'values': [0, 1, 2], 'interpolation': 'spline'}"), 1, 1, 1.5);
}

Test(scene_tracks, act_as_force_and_torque_in_three_directions) {
    sim_scene *s =
        load_good(SCENE("'loads': [{'body': 'b', 'force': ['t', 2, '-t^2']}, {'body': 'b', 'torque': {'sine': "
                        "{'amplitude': [1, 2, 3], 'frequency': 0.5, 'offset': [0, 0, 5]}}}, {'joint': 'a', "
                        "'value': 'exp(t)'}]"));
    const sim_track *force = &s->model->load[0].track, *torque = &s->model->load[1].track;
    for (int k = 0; k < 3; k++) {
        is(force, 3, k, 0, 0);
        is(torque, 0.5, 3 + k, 0, 0);
    }
    is(force, 3, 3, 3, 1);
    is(force, 3, 4, 2, 0);
    is(force, 3, 5, -9, -6);
    is(torque, 0.5, 1, 2, 0);
    is(torque, 0.5, 2, 8, 0);
    is(torque, 1, 2, 5, -3 * pi);
    is(&s->model->load[2].track, 1, 0, exp(1), exp(1));
    sim_scene_free(s);
}

Test(scene_tracks, can_be_set_and_taken_over_by_path) {
    sim_diagnostics found;
    sim_error error = {0};
    const char *set[] = {"actuators/0/target=3*t", "loads/0/force=[\"t\", 0, 0]"};
    sim_scene_overrides overrides = {.count = 2, .set = set};
    sim_scene *s = load_text(SCENE("'actuators': [{'joint': 'a', 'kp': 1, 'target': 1}], 'loads': [{'body': 'b', "
                                   "'force': [1, 2, 3]}]"),
                             NULL, &overrides, &found, &error);
    cr_assert(s, "%s", error.text);
    is(&s->model->actuator[0].target, 2, 0, 6, 3);
    is(&s->model->load[0].track, 2, 3, 2, 1);
    sim_diagnostics_free(&found);
    sim_scene_free(s);
}

/* ---- what they move ---- */

static sim_world *run(const char *text, double duration, sim_scene **scene) {
    sim_error error;
    *scene = load_good(text);
    sim_world *world = sim_world_create((*scene)->model, &(*scene)->options, &error);
    cr_assert(world, "%s", error.text);
    while (sim_world_state(world)->time < duration - 1e-9) {
        cr_assert(!sim_world_step(world, &error), "%s", error.text);
    }
    return world;
}

/* 2 kg under 2 cos(3 t) N: x = (1 - cos 3t)/9; the midpoint rule errs by dt^2 times what has a size of 1. */
Test(scene_tracks, push_as_the_law_of_motion_says) {
    const char *const same[] = {
        SCENE("'loads': [{'joint': 'a', 'value': '2*cos(3*t)'}]"),
        SCENE(
            "'loads': [{'joint': 'a', 'value': {'sine': {'amplitude': 2, 'frequency': 0.477464829275686, 'phase_deg': "
            "90}}}]"),
        SCENE("'actuators': [{'joint': 'a', 'feedforward': '2*cos(3*t)'}]"),
        SCENE("'loads': [{'body': 'a', 'force': [0, 0, '2*cos(3*t)']}]")};
    for (int k = 0; k < 4; k++) {
        sim_scene *scene;
        sim_world *world = run(same[k], 1, &scene);
        double x = sim_world_state(world)->q[0], due = (1 - cos(3)) / 9;
        cr_assert(fabs(x - due) < 1e-5, "scene %d: %.9g, due %.9g", k, x, due);
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

/* A pure damper towards the target's rate: v follows it but for m a/kd, 2e-6 m/s here. */
Test(scene_tracks, are_followed_by_their_rates) {
    const char *const same[] = {
        SCENE("'actuators': [{'joint': 'a', 'kd': 1e6, 'target': '0.3*sin(2*t)'}]"),
        SCENE("'actuators': [{'joint': 'a', 'kd': 1e6, 'target': {'sine': {'amplitude': 0.3, 'frequency': "
              "0.318309886183791}}}]")};
    for (int k = 0; k < 2; k++) {
        sim_scene *scene;
        sim_world *world = run(same[k], 1, &scene);
        double v = sim_world_state(world)->v[0], due = 0.6 * cos(2);
        cr_assert(fabs(v - due) < 1e-5, "scene %d: %.9g, due %.9g", k, v, due);
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

/* ---- what is refused ---- */

Test(scene_tracks, of_formulas_with_mistakes_are_refused_at_the_letter) {
    refused(TARGET("'2*sni(t)'"), "scene.json:3:4",
            "/actuators/0/target: 'sni' is neither t nor pi nor a function (did you mean 'sin'?)");
    refused(TARGET("{'expression': '1 + (t'}"), "scene.json:3:23",
            "/actuators/0/target/expression: expected ')', found the end");
    refused(TARGET("'\\u0074 + \\t*'"), "scene.json:3:13", "found '*'");
    refused(FORCE("['t', 0, 'x']"), "scene.json:3:11", "/loads/0/force/2: 'x' is neither");
    refused(FORCE("{'expression': ['t', 0, 'sin()']}"), "scene.json:3:30",
            "/loads/0/force/expression/2: expected a number");
    refused_with(TARGET("0"), NULL, "actuators/0/target=2*(t", "--set actuators/0/target=2*(t",
                 "expected ')', found the end, at character 5 of \"2*(t\"");
}

Test(scene_tracks, of_formulas_of_the_wrong_number_or_kind_are_refused) {
    refused(FORCE("['t', 0]"), "scene.json:3:1", "expected an array of 3 formulas");
    refused(FORCE("'t'"), "scene.json:3:1", "expected an array of 3 formulas, not a text");
    refused(FORCE("['t', 0, true]"), "scene.json:3:10", "expected a formula as text, not true or false");
    refused(TARGET("['t', 0]"), "scene.json:3:1", "expected a text, not an array");
    refused(TARGET("{'expression': 3}"), "scene.json:3:16", "expected a text, not a number");
    refused(TARGET("{'times': [0, 1]}"), "scene.json:3:1", "one of \"values\", \"sine\", \"expression\" must be given");
    refused(TARGET("{'values': 1, 'expression': 't'}"), "scene.json:3:15",
            "\"values\" and \"expression\" are both given");
    refused(TARGET("{'times': 0, 'expression': 't'}"), "scene.json:3:11",
            "the key \"times\" belongs to \"values\", not to \"expression\"");
    refused(TARGET("{'interpolation': 'hold', 'sine': {'amplitude': 1, 'frequency': 1}}"), "scene.json:3:19",
            "belongs to \"values\", not to \"sine\"");
    refused(TARGET("{'sine': {'amplitude': 1}}"), "scene.json:3:10", "the key \"frequency\" is missing");
    refused(TARGET("{'sine': {'amplitude': 1, 'frequency': -1}}"), "scene.json:3:40", "must be at least 0");
    refused(FORCE("{'sine': {'amplitude': 1, 'frequency': 1}}"), "scene.json:3:24", "expected an array of 3 numbers");
}

Test(scene_tracks, of_formulas_that_leave_the_numbers_during_the_run_are_refused) {
    refused(TARGET("'log(t - 1)'"), "scene.json:3:1", "there is no finite value at t = 0 s");
    refused(TARGET("'sqrt(1.5 - t)'"), "scene.json:3:1", "there is no finite rate at t = 1.5 s");
    refused(SCENE("'loads': [{'joint': 'a', 'value':\n'1/(t - 1)'}]"), "scene.json:3:1",
            "there is no finite value at t = 1 s");
    sim_scene_free(load_good(SCENE("'loads': [{'joint': 'a', 'value': 'sqrt(t)'}]"))); /* its rate is never asked for */
    sim_scene_free(load_good(TARGET("'sqrt(t)'"))); /* at t = 0 no target is followed */
}

/* Steps beyond the duration that the scene names: there is a limit that no check at the start can know. */
Test(scene_tracks, of_formulas_that_leave_the_numbers_later_end_the_run_in_a_failure) {
    sim_error error = {0};
    sim_scene *scene = load_good(SCENE("'loads': [{'joint': 'a', 'value': 'log(2.5 - t)'}]"));
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    sim_status status = SIM_OK;
    while (!status && sim_world_state(world)->time < 3) {
        status = sim_world_step(world, &error);
    }
    double time = sim_world_state(world)->time;
    cr_assert(status == SIM_FAILED && fabs(time - 2.5) < 0.002, "status %d at %g s: %s", status, time, error.text);
    cr_assert(strstr(error.text, "\"a\""), "%s", error.text);
    sim_world_free(world);
    sim_scene_free(scene);
}
