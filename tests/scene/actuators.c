/* Actuators of scenes: keys to the model, and what is refused. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MASS "'inertia': {'mass': 1, 'moments': [0.1, 0.1, 0.1]}"
#define BODY "'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'effort': 12}, " MASS "}]"
#define SCENE(keys) "{'sim': 1, " BODY ",\n'actuators': [{'joint': 'a', " keys "}]}"

Test(scene_actuators, have_all_their_keys_in_the_model) {
    sim_scene *s = load_good(SCENE("'gear': -3, 'ctrl': {'times': [0, 1], 'values': [2, 5]}, 'ctrl_range': [-1, 4], "
                                   "'gain': [1, 2, 3], 'bias': [4, 5, 6], 'force_range': [-7, 3], 'activation': "
                                   "{'type': 'filter', 'time_constant': 0.1, 'range': [0, 8], 'initial': 1}"));
    const sim_actuator *a = &s->model->actuator[0];
    cr_expect(a->gear == -3 && a->ctrl.keys == 2 && a->ctrl.values[1] == 5);
    cr_expect(a->ctrl_range[0] == -1 && a->ctrl_range[1] == 4);
    cr_expect(a->gain[0] == 1 && a->gain[1] == 2 && a->gain[2] == 3);
    cr_expect(a->bias[0] == 4 && a->bias[1] == 5 && a->bias[2] == 6);
    cr_expect(a->force_range[0] == -4 && a->force_range[1] == 3, "an effort of 12 behind a gear of 3 is a force of 4");
    cr_expect(a->activation.type == SIM_FILTERED && a->activation.time_constant[0] == 0.1);
    cr_expect(a->activation.range[0] == 0 && a->activation.range[1] == 8 && a->activation.initial == 1);
    sim_scene_free(s);
    s = load_good(SCENE("'activation': {'type': 'muscle', 'time_constant': [0.01, 0.04]}"));
    a = &s->model->actuator[0];
    cr_expect(a->gear == 1 && a->gain[0] == 1 && a->gain[1] == 0 && isinf(a->ctrl_range[0]));
    cr_expect(a->activation.type == SIM_MUSCULAR && a->activation.time_constant[1] == 0.04);
    cr_expect(a->activation.range[0] == 0 && a->activation.range[1] == 1);
    sim_scene_free(s);
}

Test(scene_actuators, and_joints_have_limits_of_velocity_and_effort) {
    sim_scene *s = load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'cylindrical', 'velocity_limit': "
                             "[2, 3], 'effort_range': [[-1, 2], [-3, 4]]}, " MASS
                             "}, {'name': 'b', 'joint': {'type': 'planar', 'axis2': [1, 0, 0], 'velocity_limit': 5, "
                             "'effort_range': [-6, 8]}, " MASS
                             "}], 'actuators': [{'joint': 'a', 'dof': 1, 'gear': -2}, {'joint': 'b', 'dof': 2}]}");
    const double limit[] = {2, 3, 5, 5, 5};
    for (int j = 0; j < 5; j++) {
        cr_expect_eq(s->model->dof[j].velocity_limit, limit[j]);
    }
    const sim_actuator *a = s->model->actuator;
    cr_expect(a[0].force_range[0] == -2 && a[0].force_range[1] == 1.5, "%g, %g", a[0].force_range[0],
              a[0].force_range[1]);
    cr_expect(a[1].force_range[0] == -6 && a[1].force_range[1] == 8);
    sim_scene_free(s);
#define JOINT(keys) "{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'hinge',\n" keys "}, " MASS "}]}"
    refused(JOINT("'velocity_limit': 0"), "scene.json:2:19", "above 0");
    refused(JOINT("'velocity_limit': [1, 2]"), "scene.json:2:19", "2 numbers");
    refused(JOINT("'effort_range': [2, 1]"), "scene.json:2:17", "the lesser number first");
    refused(JOINT("'effort_range': [[1, 2], [1, 2]]"), "scene.json:2:17", "2 pairs for 1 degree");
    refused(JOINT("'effort': 1, 'effort_range': [1, 2]"), "scene.json:2:14", "effort");
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'ball', 'velocity_limit': 1}, " MASS "}]}",
            "scene.json:1:63", "velocity_limit");
}

Test(scene_actuators, that_cannot_act_are_refused) {
    static const struct {
        const char *keys, *place, *text;
    } bad[] = {
        {"'gear': 0", "scene.json:2:38", "a gear of 0 transmits nothing"},
        {"'gear': [1, 2]", "scene.json:2:38", "is one number"},
        {"'ctrl_range': [1, -1]", "scene.json:2:44", "the lesser number first"},
        {"'force_range': [2, 2]", "scene.json:2:45", "the lesser number first"},
        {"'force_range': [20, 30]", "scene.json:2:45", "within the limits of both"},
        {"'gain': [1]", "scene.json:2:38", "an array of 3 numbers"},
        {"'activation': {'type': 'filter'}", "scene.json:2:44", "time_constant"},
        {"'activation': {'type': 'filter', 'time_constant': [1, 2]}", "scene.json:2:80", "one time constant"},
        {"'activation': {'type': 'muscle', 'time_constant': 1}", "scene.json:2:80", "two time constants"},
        {"'activation': {'type': 'integrator', 'range': [1, 2]}", "scene.json:2:44", "starts at 0, out of its range"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[1000];
        snprintf(text, sizeof text, "{'sim': 1, " BODY ",\n'actuators': [{'joint': 'a', %s}]}", bad[k].keys);
        refused(text, bad[k].place, bad[k].text);
    }
}

#define SITES                                                                                                          \
    "'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'range': [-1, 2]}, " MASS                                     \
    ", 'sites': [{'name': 'tip'}]}, {'name': 'b', 'joint': 'free', " MASS                                              \
    ", 'sites': [{'name': 'far'}]}, {'name': 'c', 'joint': 'fixed', 'sites': [{'name': 'wall'}]}]"

Test(scene_actuators, act_on_sites_and_cranks_and_as_muscles) {
    sim_scene *s = load_good("{'sim': 1, " SITES ", 'actuators': [{'site': 'tip', 'gear': [1, 2, 3, 4, 5, 6]}, "
                             "{'name': 'pull', 'site': 'tip', 'reference_site': 'wall', 'gear': [1, 0, 0, 0, 0, 0], "
                             "'kp': 3}, {'slider_crank': {'crank_site': 'tip', 'slider_site': 'wall', 'length': 0.5}, "
                             "'gear': 2}, {'joint': 'a', 'gear': -0.1, 'muscle': {'force': 30}}]}");
    const sim_actuator *a = s->model->actuator;
    cr_expect(a[0].transmission == SIM_BY_SITE && a[0].site[0] == 0 && a[0].site[1] == -1 && a[0].wrench[5] == 6);
    cr_expect_str_eq(a[0].name, "tip");
    cr_expect(a[1].site[1] == sim_model_find_site(s->model, "wall") && a[1].kp == 3 && a[1].dof == -1);
    cr_expect(a[2].transmission == SIM_BY_SLIDER_CRANK && a[2].rod == 0.5 && a[2].gear == 2);
    cr_expect(a[3].muscle.force == 30 && a[3].muscle.lmax == 1.6);
    cr_expect_float_eq(a[3].muscle.length_range[0], -0.2, 1e-15, "the range of its joint times the gear");
    cr_expect_float_eq(a[3].muscle.length_range[1], 0.1, 1e-15);
    sim_scene_free(s);
}

Test(scene_actuators, pull_at_the_contacts_of_a_body) {
    sim_scene *s = load_good("{'sim': 1, " SITES ", 'actuators': [{'contacts_of': 'b', 'gain': [20, 0, 0], "
                             "'ctrl_range': [0, 1]}]}");
    const sim_actuator *a = s->model->actuator;
    cr_expect(a[0].transmission == SIM_BY_CONTACTS && a[0].gain[0] == 20 && a[0].dof == -1);
    cr_expect_str_eq(s->model->body[a[0].body].name, "b");
    cr_expect_str_eq(a[0].name, "b");
    sim_scene_free(s);
    static const struct {
        const char *keys, *place, *text;
    } bad[] = {
        {"'contacts_of': 'c'", "scene.json:2:15", "does not move"},
        {"'contacts_of': 'd'", "scene.json:2:31", "there is no body"},
        {"'contacts_of': 'b', 'kp': 3", "scene.json:2:42", "an actuator of contacts has no \"kp\""},
        {"'contacts_of': 'b', 'gear': 3", "scene.json:2:44", "an actuator of contacts has no \"gear\""},
        {"'contacts_of': 'b', 'gain': [1, 2, 0]", "scene.json:2:44", "has no length"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[1000];
        snprintf(text, sizeof text, "{'sim': 1, " SITES ",\n'actuators': [{%s}]}", bad[k].keys);
        refused(text, bad[k].place, bad[k].text);
    }
}

/* A unit force on the joint of inertia 0.1 gives 10 rad/s^2, through a gear of 2 gives 20. */
Test(scene_actuators, muscles_without_a_force_have_one_that_accelerates_their_joint_by_the_scale) {
    sim_scene *s = load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'range': [0, 1]}, " MASS
                             "}], 'actuators': [{'joint': 'a', 'gear': 2, 'muscle': {}}, {'joint': 'a', 'muscle': "
                             "{'scale': 5}}]}");
    cr_expect_float_eq(s->model->actuator[0].muscle.force, 200 / 20.0, 1e-12);
    cr_expect_float_eq(s->model->actuator[1].muscle.force, 5 / 10.0, 1e-13);
    sim_scene_free(s);
}

/* An arm of length 1 with a string from its tip to a point 2 away from the axis: lengths from 1 to 3, or between the
 * ends of the joint.  The pull starts from the reference state, which a keyframe does not move. */
#define ARM(range, more)                                                                                               \
    "{'sim': 1, " more "'bodies': [{'name': 'arm', 'joint': {'type': 'hinge'" range "}, 'q': 0.3, " MASS               \
    ", 'sites': [{'name': 'tip', 'pose': {'position': [1, 0, 0]}}]}, {'name': 'wall', 'joint': 'fixed', 'sites': "     \
    "[{'name': 'pin', 'pose': {'position': [2, 0, 0]}}]}], 'tendons': [{'name': 't', 'path': ['pin', 'tip'], "         \
    "'stiffness': 1}], 'keyframes': [{'name': 'k', 'initial': {'arm': 1.4}}], 'actuators': [{'tendon': 't', 'gear': "  \
    "-2, "                                                                                                             \
    "'muscle': {'force': 1}}]}"

Test(scene_actuators, muscles_without_lengths_find_those_at_which_the_mechanism_stops) {
    sim_scene *s = load_good(ARM("", ""));
    const double *ends = s->model->actuator[0].muscle.length_range;
    cr_expect_float_eq(ends[0], -6, 1e-9, "%.12g", ends[0]);
    cr_expect_float_eq(ends[1], -2, 1e-9, "%.12g", ends[1]);
    sim_scene_free(s);
    s = load_good(ARM(", 'range': [0.2, 1.5]", "'world': {'start': 'k'}, "));
    ends = s->model->actuator[0].muscle.length_range;
    cr_expect_float_eq(ends[0], -2 * sqrt(5 - 4 * cos(1.5)), 1e-12);
    cr_expect_float_eq(ends[1], -2 * sqrt(5 - 4 * cos(0.2)), 1e-12);
    sim_scene_free(s);
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'slider', " MASS
            "}], 'actuators': [{'joint': 'a',\n'muscle': {}}]}",
            "scene.json:2:11", "the length of the muscle \"a\" has no ends: from -inf to inf");
}

static sim_world *run_steps(const sim_scene *s, int steps) {
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    cr_assert_not_null(w);
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    return w;
}

#define HALVES "'world': {'gravity': [0, 0, 0], 'step': 0.001}, 'bodies': [{'name': 'a', 'joint': "

/* A force F on the length q_a - 2 q_b, and between two free bodies along the line of their centres. */
Test(scene_actuators, act_between_trees) {
    sim_scene *s =
        load_good("{'sim': 1, " HALVES "'slider', 'inertia': {'mass': 2, 'moments': [1, 1, 1]}}, {'name': 'b', "
                  "'joint': 'slider', 'inertia': {'mass': 3, 'moments': [1, 1, 1]}}], 'tendons': [{'name': "
                  "'t', 'joints': [{'joint': 'a'}, {'joint': 'b', 'coefficient': -2}]}], 'actuators': "
                  "[{'name': 'm', 'tendon': 't', 'ctrl': 6}]}");
    sim_world *w = run_steps(s, 500);
    const sim_state *now = sim_world_state(w);
    cr_expect_float_eq(now->q[0], 0.5 * 6 / 2 * 0.25, 1e-12, "%g", now->q[0]);
    cr_expect_float_eq(now->q[1], -0.5 * 12 / 3 * 0.25, 1e-12, "%g", now->q[1]);
    sim_world_free(w);
    sim_scene_free(s);
    s = load_good("{'sim': 1, " HALVES
                  "'free', 'inertia': {'mass': 2, 'moments': [1, 1, 1]}, 'sites': [{'name': 'left'}]}, "
                  "{'name': 'b', 'joint': 'free', 'pose': {'position': [1, 0, 0]}, 'inertia': {'mass': 3, 'moments': "
                  "[1, 1, 1]}, 'sites': [{'name': 'right'}]}], 'actuators': [{'name': 'm', 'site': 'left', "
                  "'reference_site': 'right', 'gear': [1, 0, 0, 0, 0, 0], 'ctrl': 6}]}");
    w = run_steps(s, 500);
    now = sim_world_state(w);
    cr_expect_float_eq(now->q[0], 0.5 * 6 / 2 * 0.25, 1e-12, "%g", now->q[0]);
    cr_expect_float_eq(now->q[7] - 1, -0.5 * 6 / 3 * 0.25, 1e-12, "%g", now->q[7]);
    sim_world_free(w);
    sim_scene_free(s);
}

Test(scene_actuators, of_sites_that_make_no_sense_are_refused) {
    static const struct {
        const char *keys, *text;
    } bad[] = {
        {"'site': 'top', 'gear': [1, 0, 0, 0, 0, 0]", "there is no site \"top\""},
        {"'site': 'tip', 'gear': 3", "six numbers"},
        {"'site': 'wall', 'gear': [1, 0, 0, 0, 0, 0]", "does not move"},
        {"'site': 'tip', 'dof': 1, 'gear': [1, 0, 0, 0, 0, 0]", "belongs to the actuator of a joint"},
        {"'site': 'tip', 'joint': 'a'", "joint"},
        {"'joint': 'a', 'reference_site': 'tip'", "belongs to the actuator of a site"},
        {"'joint': 'a', 'bias': [1, 0, 0], 'muscle': {'force': 1}", "its curves give the force"},
        {"'site': 'tip', 'gear': [1, 0, 0, 0, 0, 0], 'muscle': {'force': 1}", "has no ends: from 0 to 0"},
        {"'joint': 'a', 'muscle': {'force': 1, 'scale': 2}", "with a force has no scale"},
        {"'slider_crank': {'crank_site': 'tip', 'slider_site': 'wall', 'length': 0}", "from 1e-12"},
        {"'kp': 1", "joint"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[2000];
        sim_diagnostics found;
        sim_error error = {0};
        snprintf(text, sizeof text, "{'sim': 1, " SITES ",\n'actuators': [{%s}]}", bad[k].keys);
        cr_expect_null(load_text(text, NULL, NULL, &found, &error), "%s", bad[k].keys);
        cr_expect(found.count == 1 && strstr(found.item[0].message, bad[k].text), "%s: %s", bad[k].keys,
                  found.count ? found.item[0].message : error.text);
        sim_diagnostics_free(&found);
    }
}
