/* Keyframes: named states of the joints of a model, and runs that start there. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>
#include <string.h>

#define MASS "'inertia': {'mass': 1, 'moments': [0.1, 0.1, 0.1]}"
#define HINGE(name, more) "{'name': '" name "', 'joint': 'hinge', " MASS more "}"
#define FREE(name) "{'name': '" name "', 'joint': 'free', 'pose': {'position': [1, 2, 3]}, " MASS "}"
#define BALL(name) "{'name': '" name "', 'joint': 'ball', " MASS "}"

/* Two hinges, then a ball joint, then a fixed body. */
#define SCENE(keyframes)                                                                                               \
    "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'bodies': [" HINGE("ha", ", 'q': 0.5, 'v': 3") ", " HINGE(            \
        "hb", "") ", " BALL("c") ", {'name': 'hull'}], 'keyframes': [\n" keyframes "]}"
#define HOME "{'name': 'home', 'time': 1.5, 'initial': {'ha': 1, 'c': {'v': [1, 2, 3]}}}"
#define AWAY "{'name': 'away', 'initial': {'h*': {'q_deg': 90, 'v': 1}, 'hb': {'v': 2}, 'c': [0, 1, 0, 0]}}"

static sim_scene *load_at(const char *text, const char *start) {
    sim_diagnostics found;
    sim_scene_overrides overrides = {.start = start};
    sim_scene *s = load_text(text, NULL, &overrides, &found, NULL);
    cr_assert_not_null(s, "%s", found.count ? found.item[0].message : "");
    sim_diagnostics_free(&found);
    return s;
}

static void state_is(const sim_model *m, int keyframe, const double *q, const double *v) {
    double q_found[6], v_found[5];
    cr_assert(m->nq == 6 && m->nv == 5);
    sim_model_keyframe_state(m, keyframe, q_found, v_found);
    for (int k = 0; k < 6; k++) {
        cr_expect_float_eq(q_found[k], q[k], 1e-15, "q[%d] = %g", k, q_found[k]);
    }
    for (int j = 0; j < 5; j++) {
        cr_expect_float_eq(v_found[j], v[j], 1e-15, "v[%d] = %g", j, v_found[j]);
    }
}

Test(scene_keyframes, replace_the_states_of_the_joints_that_they_list) {
    sim_scene *s = load_good(SCENE(HOME ", " AWAY));
    const sim_model *m = s->model;
    cr_assert_eq(m->nkeyframe, 2);
    state_is(m, -1, (double[]){0.5, 0, 1, 0, 0, 0}, (double[]){3, 0, 0, 0, 0});
    state_is(m, sim_model_find_keyframe(m, "home"), (double[]){1, 0, 1, 0, 0, 0}, (double[]){3, 0, 1, 2, 3});
    state_is(m, sim_model_find_keyframe(m, "away"), (double[]){M_PI / 2, M_PI / 2, 0, 1, 0, 0},
             (double[]){1, 2, 0, 0, 0});
    cr_expect_eq(sim_model_find_keyframe(m, "hom"), -1);
    cr_expect_eq(m->time_initial, 0);
    sim_scene_free(s);
}

Test(scene_keyframes, are_where_a_run_starts_that_asks_for_one) {
    sim_scene *s = load_at(SCENE(HOME ", " AWAY), "home");
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    const sim_state *now = sim_world_state(w);
    cr_expect_eq(now->time, 1.5);
    cr_expect_eq(now->q[0], 1);
    cr_expect_eq(now->v[4], 3);
    cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    cr_expect_float_eq(sim_world_state(w)->time, 1.501, 1e-15);
    /* the text of the scene names it, so that a recording starts there again */
    sim_scene *again = sim_scene_parse(s->text, s->text_length, "kept.json", NULL, NULL, NULL);
    cr_expect_eq(again->model->q_initial[0], 1);
    cr_expect_str_eq(again->hash, s->hash);
    sim_world_free(w);
    sim_scene_free(again);
    sim_scene_free(s);
}

Test(scene_keyframes, can_be_entered_again_as_if_no_step_had_been) {
    sim_scene *s = load_good(SCENE(HOME ", " AWAY));
    sim_world *w = sim_world_create(s->model, &s->options, NULL), *fresh;
    sim_scene *at_home = load_at(SCENE(HOME ", " AWAY), "home");
    fresh = sim_world_create(at_home->model, &at_home->options, NULL);
    for (int k = 0; k < 30; k++) {
        sim_world_step(w, NULL);
    }
    sim_world_start(w, sim_model_find_keyframe(s->model, "home"));
    for (int k = 0; k < 30; k++) {
        sim_world_step(w, NULL);
        sim_world_step(fresh, NULL);
    }
    const sim_state *a = sim_world_state(w), *b = sim_world_state(fresh);
    cr_expect_eq(a->time, b->time);
    cr_expect_eq(memcmp(a->q, b->q, 6 * sizeof *a->q), 0);
    sim_world_start(w, -1);
    cr_expect_eq(sim_world_state(w)->q[0], 0.5);
    cr_expect_eq(sim_world_state(w)->time, 0);
    sim_world_free(w);
    sim_world_free(fresh);
    sim_scene_free(s);
    sim_scene_free(at_home);
}

#define DRIVEN(keyframes, more)                                                                                        \
    "{'sim': 1, " more "'bodies': [" HINGE(                                                                            \
        "a",                                                                                                           \
        "") "], 'actuators': [{'joint': 'a', 'ctrl': 9}, {'name': 'w', 'joint': "                                      \
            "'a', 'activation': {'type': 'integrator', 'initial': 1, 'range': [0, 5]}}], 'keyframes': [\n" keyframes   \
            "]}"
#define PUSHED "{'name': 'on', 'ctrl': {'a': 4, 'w': {'activation': 3}}}, {'name': 'off'}"

/* The control inputs of a start are those of a program: they stay, in place of the track. */
Test(scene_keyframes, set_control_inputs_and_activations) {
    for (int way = 0; way < 2; way++) {
        sim_scene *s = way ? load_at(DRIVEN(PUSHED, ""), "on") : load_good(DRIVEN(PUSHED, ""));
        sim_world *w = sim_world_create(s->model, &s->options, NULL);
        if (way == 0) {
            cr_expect(isnan(sim_world_state(w)->input[0]) && sim_world_state(w)->activation[1] == 1);
            sim_world_start(w, sim_model_find_keyframe(s->model, "on"));
        }
        const sim_state *now = sim_world_state(w);
        cr_expect(now->input[0] == 4 && isnan(now->input[1]) && now->activation[1] == 3);
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        cr_expect_float_eq(sim_world_efforts(w)[0], 4, 1e-12);
        cr_expect_float_eq(sim_world_efforts(w)[1], 3, 1e-12);
        sim_world_start(w, sim_model_find_keyframe(s->model, "off"));
        cr_expect(way ? now->input[0] == 4 : isnan(now->input[0]), "what a keyframe does not say is as at the start");
        sim_world_free(w);
        sim_scene_free(s);
    }
    refused(DRIVEN("{'name': 'k', 'ctrl': {'b': 1}}", ""), "scene.json:2:29", "there is no actuator \"b\"");
    refused(DRIVEN("{'name': 'k', 'ctrl': {'w': {'activation': 6}}}", ""), "scene.json:2:29", "has no activation 6");
    refused(DRIVEN("{'name': 'k', 'ctrl': {'a': {'activation': 0}}}", ""), "scene.json:2:29", "has no activation 0");
}

/* Copies of a model with their inputs: by the start of the instance, and by keyframes of the scene around. */
Test(scene_keyframes, of_copies_set_their_inputs) {
    sim_scene *s = load_good("{'sim': 1, 'models': {'m': {'bodies': [" HINGE(
        "a", "") "], 'actuators': [{'joint': 'a'}], 'keyframes': "
                 "[{'name': 'on', 'ctrl': {'a': 2}}]}}, 'instances': [{'model': 'm', 'prefix': 'l_', 'start': 'on'}, "
                 "{'model': "
                 "'m', 'prefix': 'r_'}], 'keyframes': [{'name': 'both', 'ctrl': {'l_a': 5, 'r_a': 6}}]}");
    const sim_model *m = s->model;
    double ctrl[2], activation[2];
    cr_expect(m->ctrl_initial[0] == 2 && isnan(m->ctrl_initial[1]));
    sim_model_keyframe_drives(m, sim_model_find_keyframe(m, "r_on"), ctrl, activation);
    cr_expect(ctrl[0] == 2 && ctrl[1] == 2);
    sim_model_keyframe_drives(m, sim_model_find_keyframe(m, "both"), ctrl, activation);
    cr_expect(ctrl[0] == 5 && ctrl[1] == 6);
    sim_scene_free(s);
}

/* A spring is slack at its length without the keyframe, wherever the run starts. */
Test(scene_keyframes, leave_lengths_at_rest_as_they_are) {
    const char *text =
        "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'slider', 'q': 0.1, " MASS
        "}], 'tendons': [{'name': 't', 'joints': "
        "[{'joint': 'a', 'coefficient': 2}], 'stiffness': 3}], 'keyframes': [{'name': 'out', 'initial': {'a': 1}}]}";
    sim_scene *s = load_at(text, "out");
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    const sim_derived *d = sim_world_derived(w);
    cr_expect_float_eq(sim_tendon_stretch(d, 0, 2), 2 * 0.9, 1e-15);
    sim_world_free(w);
    sim_scene_free(s);
}

/* A leg beside a foot of its own, in copies. */
#define LEGS(instance)                                                                                                 \
    "{'sim': 1, 'models': {'leg': {'bodies': [" HINGE("knee", ", 'q': 0.1") ", " FREE(                                 \
        "foot") "], 'keyframes': [\n{'name': 'bent', 'initial': {'knee': 2, 'foot': {'q': [0, 0, 1, 1, 0, 0, 0], "     \
                "'v': "                                                                                                \
                "[1, 0, 0, 0, 0, 0]}}}]}}, 'instances': [{'model': 'leg', 'prefix': 'l_'}, {'model': 'leg', "          \
                "'prefix': "                                                                                           \
                "'r_', 'pose': {'position': [10, 0, 0], 'rpy_deg': [0, 0, 90]}" instance "}]}"

static void right_leg_is_bent(const sim_model *m, const double *q, const double *v) {
    const sim_body *knee = &m->body[sim_model_find_body(m, "r_knee")],
                   *foot = &m->body[sim_model_find_body(m, "r_foot")];
    cr_expect_eq(q[knee->q0], 2);
    cr_expect_float_eq(q[foot->q0], 10, 1e-14);
    cr_expect_float_eq(q[foot->q0 + 2], 1, 1e-14);
    cr_expect_float_eq(q[foot->q0 + 6], sqrt(0.5), 1e-14);
    cr_expect_float_eq(v[foot->v0 + 1], 1, 1e-14);
    cr_expect_eq(q[m->body[sim_model_find_body(m, "l_knee")].q0], 0.1);
}

Test(scene_keyframes, of_a_model_have_the_prefix_and_the_frame_of_its_copies) {
    sim_scene *s = load_good(LEGS(""));
    const sim_model *m = s->model;
    double q[16], v[14];
    cr_assert(m->nq == 16 && m->nv == 14);
    cr_assert_eq(m->nkeyframe, 2);
    sim_model_keyframe_state(m, sim_model_find_keyframe(m, "r_bent"), q, v);
    right_leg_is_bent(m, q, v);
    sim_scene_free(s);
}

Test(scene_keyframes, of_a_model_are_where_a_copy_starts_that_asks_for_one) {
    sim_scene *s = load_good(LEGS(", 'start': 'bent'"));
    right_leg_is_bent(s->model, s->model->q_initial, s->model->v_initial);
    sim_scene_free(s);
    refused(LEGS(",\n'start': 'bend'"), "scene.json:3:10",
            "the model has no keyframe \"bend\" (did you mean \"bent\"?)");
}

Test(scene_keyframes, that_are_not_there_are_refused_with_a_list_of_those_that_are) {
    sim_diagnostics found;
    sim_scene_overrides overrides = {.start = "hme"};
    cr_expect_null(load_text(SCENE(HOME ", " AWAY), NULL, &overrides, &found, NULL));
    cr_assert_eq(found.count, 1);
    cr_expect_str_eq(found.item[0].file, "--start hme");
    cr_expect_str_eq(found.item[0].message, "there is no keyframe \"hme\": there are \"home\", \"away\"");
    cr_expect_str_eq(found.item[0].hint, "did you mean \"home\"?");
    sim_diagnostics_free(&found);
    refused("{'sim': 1, 'world': {\n'start': 'x'}}", "scene.json:2:10",
            "there is no keyframe \"x\": the scene has none");
}

Test(scene_keyframes, with_wrong_states_are_refused) {
    refused(SCENE("{'name': 'a', 'initial': {'hx': 1}}"), "scene.json:2:33", "there is no joint or body \"hx\"");
    refused(SCENE("{'name': 'a', 'initial': {'ha': [1, 2]}}"), "scene.json:2:33", "2 numbers for the hinge joint");
    refused(SCENE("{'name': 'a', 'initial': {'hull': 1}}"), "scene.json:2:35", "is fixed: it has no coordinates");
    refused(SCENE("{'name': 'a', 'initial': {'c': [2, 0, 0, 0]}}"), "scene.json:2:32", "has length 1, not 2");
    refused(SCENE("{'name': 'a'},\n{'name': 'a'}"), "scene.json:3:10", "a second keyframe has the name \"a\"");
    refused(SCENE("{'initial': {}}"), "scene.json:2:1", "\"name\" is missing");
}

Test(scene_keyframes, given_to_the_builder_need_a_name_a_body_and_finite_numbers) {
    const char *said[] = {"two keyframes have the name \"k\"",
                          "not finite",
                          "there is no body 7",
                          "no finite time",
                          "to start at",
                          "has length 2, not 1"};
    for (int k = 0; k < 6; k++) {
        sim_error error = {0};
        sim_builder *b = sim_builder_create();
        sim_body_def def = sim_body_default();
        double q[7] = {0, 0, k == 1 ? NAN : 0, k == 5 ? 2 : 1, 0, 0, 0};
        def.inertia = (sim_inertia){1, {0, 0, 0}, {1, 1, 1, 0, 0, 0}};
        int body = sim_builder_add_body(b, &def);
        int frame = sim_builder_add_keyframe(b, "k", k == 3 ? INFINITY : 0);
        sim_builder_set_keyframe(b, frame, k == 2 ? 7 : body, q, NULL);
        if (k == 0) {
            sim_builder_add_keyframe(b, "k", 0);
        }
        sim_builder_start_at(b, k == 4 ? 3 : 0);
        cr_expect_null(sim_builder_finish(b, &error));
        cr_expect_eq(error.status, SIM_BAD_INPUT);
        cr_expect_not_null(strstr(error.text, said[k]), "%s", error.text);
    }
}
