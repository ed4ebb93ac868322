/* Actuators of scenes: keys to the model, and what is refused. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

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

Test(scene_actuators, that_cannot_act_are_refused) {
    static const struct {
        const char *keys, *place, *text;
    } bad[] = {
        {"'gear': 0", "scene.json:2:38", "a gear of 0 transmits nothing"},
        {"'gear': [1, 2]", "scene.json:2:38", "is one number"},
        {"'ctrl_range': [1, -1]", "scene.json:2:44", "the lesser number first"},
        {"'force_range': [2, 2]", "scene.json:2:45", "the lesser number first"},
        {"'force_range': [20, 30]", "scene.json:2:45", "beyond the effort"},
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
