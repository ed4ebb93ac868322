/* Soft solids in motion: rest, oscillation, loss of energy, slip under a changing grip. */
#include "math/angle.h"
#include "math/v3.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static sim_scene *parse(const char *text, const char *solver, double step) {
    sim_error error = {0};
    sim_scene *scene = sim_scene_parse(text, strlen(text), "test.json", NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    if (solver) {
        scene->options.solver = sim_solver_find(solver);
        scene->options.solver_option = NULL;
    }
    scene->options.step = step > 0 ? step : scene->options.step;
    return scene;
}

static sim_world *open_world_of(const sim_scene *scene) {
    sim_error error = {0};
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(world, "%s", error.text);
    return world;
}

static void step_to(sim_world *world, double time) {
    sim_error error = {0};
    while (sim_world_state(world)->time < time - 1e-9) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_world_info(world)->unsolved, 0, "%g s", sim_world_state(world)->time);
    }
}

/* A ball of radius 0.05 m and 1 kg on the ground: 2 pi E (R^2/6 - s^2/2 + s^3/3R) = m g, s = R - depth. */
static const char ball[] =
    "{'sim': 1, 'world': {'step': 0.002},"
    "'materials': [{'name': 'rubber', 'modulus': 1e5, 'dissipation': 0.05}],"
    "'bodies': [{'name': 'ground', 'joint': 'fixed', 'shapes': [{'type': 'half_space'}]},"
    "{'name': 'ball', 'joint': 'free', 'pose': {'position': [0, 0, 0.049]}, 'shapes': [{'type': 'sphere',"
    "'radius': 0.05, 'mass': 1, 'material': 'rubber', 'compliance': 'field', 'field_edge': 0.01}]}]}";

static const char *quoted(const char *text, char *out, size_t room) {
    snprintf(out, room, "%s", text);
    for (char *c = out; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return out;
}

Test(pressure, a_ball_rests_at_the_depth_of_its_weight_with_every_law) {
    char text[2000];
    double low = 0, high = 0.03, depth[5];
    for (int k = 0; k < 60; k++) {
        double d = (low + high) / 2, s = 0.05 - d;
        double f = 2 * PI * 1e5 * (0.05 * 0.05 / 6 - s * s / 2 + s * s * s / 0.15);
        *(f < 9.81 ? &low : &high) = d;
    }
    const char *solver[5] = {"sap", NULL, "canal", "pgs", "nsn"};
    for (int k = 0; k < part_of(5); k++) {
        sim_scene *scene = parse(quoted(ball, text, sizeof text), solver[k], 0);
        sim_world *world = open_world_of(scene);
        step_to(world, 1);
        depth[k] = 0.05 - sim_world_state(world)->q[2];
        cr_expect_float_eq(depth[k], low, 0.002 * low, "%s: %g m, due %g m", solver[k] ? solver[k] : "default",
                           depth[k], low);
        cr_expect_float_eq(depth[k], depth[0], 1e-5 * low);
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

/* A block of 8 kg on a layer of stiffness E A / h = 2e5 x 0.16 x 0.12 / 0.02 N/m swings by half its sag with the period
 * 2 pi sqrt(m / k). */
Test(pressure, a_block_on_a_layer_swings_with_the_period_of_its_spring) {
    static const char scene_text[] =
        "{'sim': 1, 'world': {'step': 0.0001}, 'materials': [{'name': 'foam', 'modulus': 2e5}], 'bodies': ["
        "{'name': 'mat', 'joint': 'fixed', 'shapes': [{'type': 'box', 'size': [0.4, 0.4, 0.04], 'material': 'foam',"
        "'compliance': 'field'}]},"
        "{'name': 'block', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'q': 0.0697956875, 'shapes': [{'type': "
        "'box',"
        "'size': [0.16, 0.12, 0.1], 'mass': 8}]}]}";
    char text[2000];
    double k = 2e5 * 0.16 * 0.12 / 0.02, sag = 8 * 9.81 / k, period = 2 * PI * sqrt(8 / k), error[2];
    for (int fine = 0; fine < 2; fine++) {
        sim_scene *scene = parse(quoted(scene_text, text, sizeof text), NULL, fine ? 5e-5 : 1e-4);
        sim_world *world = open_world_of(scene);
        /* from 0.07 - sag / 2 up through the middle: the second passage downwards ends a period */
        double middle = 0.07 - sag, before = sim_world_state(world)->q[0], passed = 0, last = 0;
        for (int passages = 0; passages < 3;) {
            last = sim_world_state(world)->time;
            cr_assert(last < 5 * period, "no passage");
            step_to(world, last + sim_world_options(world)->step);
            double now = sim_world_state(world)->q[0];
            if (before > middle && now <= middle) {
                double at = last + (before - middle) / (before - now) * sim_world_options(world)->step;
                passages++;
                passed = passages == 1 ? at : at - passed;
                if (passages == 2) {
                    break;
                }
            }
            before = now;
        }
        error[fine] = fabs(passed / period - 1);
        sim_world_free(world);
        sim_scene_free(scene);
    }
    cr_expect(error[0] < 1e-2 && error[1] < 0.6 * error[0] + 1e-5, "%g, %g", error[0], error[1]);
}

/* Press and release without friction, dissipation and gravity: the energy lost is of the first order in the step. */
Test(pressure, a_bounce_loses_nothing_as_the_step_goes_to_zero) {
    static const char scene_text[] =
        "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'materials': [{'name': 'rubber', 'modulus': 1e5, 'friction': 0}],"
        "'bodies': [{'name': 'ground', 'joint': 'fixed', 'shapes': [{'type': 'half_space'}]},"
        "{'name': 'ball', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'q': 0.0501, 'v': -0.3, 'shapes': [{'type': "
        "'sphere',"
        "'radius': 0.05, 'mass': 1, 'material': 'rubber', 'compliance': 'field'}]}]}";
    char text[2000];
    double lost[4];
    for (int fine = 0; fine < 4; fine++) {
        sim_scene *scene = parse(quoted(scene_text, text, sizeof text), NULL, 4e-4 / (1 << fine));
        sim_world *world = open_world_of(scene);
        step_to(world, 0.1);
        double v = sim_world_state(world)->v[0];
        lost[fine] = 1 - v * v / 0.09;
        sim_world_free(world);
        sim_scene_free(scene);
    }
    for (int k = 0; k < 3; k++) {
        cr_expect(lost[k + 1] < 0.55 * lost[k], "%g, %g", lost[k], lost[k + 1]);
    }
    /* twice extrapolated */
    double a = 2 * lost[2] - lost[1], b = 2 * lost[3] - lost[2], limit = (4 * b - a) / 3;
    cr_expect(fabs(limit) < 1e-4, "%g", limit);
}

/* Castro et al. 2021, VI-D: the pitch is constant to 0.01 degrees while the grip is firm, and changes by more than a degree
 * while it is loose. */
Test(pressure, a_firm_grip_holds_the_pitch_and_a_loose_one_slips) {
    sim_error error = {0};
    sim_scene *scene = sim_scene_load("scenes/papers/slip_control.json", NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    sim_world *world = open_world_of(scene);
    int body = sim_model_find_body(scene->model, "spatula"), q0 = scene->model->body[body].q0;
    double pitch[3][2];
    for (int phase = 0; phase < part_of(3); phase++) {
        for (int end = 0; end < 2; end++) {
            step_to(world, 6 * phase + (end ? 4.4 : 1));
            const double *q = sim_world_state(world)->q + q0;
            m3 R = quat_matrix((quat){q[3], q[4], q[5], q[6]});
            pitch[phase][end] = asin(R.x.z) * 180 / PI;
        }
        cr_expect(fabs(pitch[phase][1] - pitch[phase][0]) < 0.01, "firm %d: %g to %g degrees", phase, pitch[phase][0],
                  pitch[phase][1]);
        cr_expect(phase == 0 || pitch[phase][0] < pitch[phase - 1][1] - 1, "loose %d: %g to %g degrees", phase,
                  pitch[phase - 1][1], pitch[phase][0]);
    }
    sim_world_free(world);
    sim_scene_free(scene);
}
