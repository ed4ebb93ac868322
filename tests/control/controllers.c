/* Controllers against closed forms: stiffness and damping of a frame, its null space, gravity; and phases. */
#include "control/nut.h"
#include "math/spatial.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    sim_scene *scene;
    sim_world *world;
} run;

/* A scene as text with ' for ", at the root of the repository. */
static run begin(const char *text) {
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    for (size_t k = 0; k <= length; k++) {
        copy[k] = text[k] == '\'' ? '"' : text[k];
    }
    sim_error error;
    run r = {sim_scene_parse(copy, length, "test.json", NULL, NULL, &error), NULL};
    free(copy);
    cr_assert_not_null(r.scene, "%s", error.text);
    r.world = sim_world_create(r.scene->model, &r.scene->options, &error);
    cr_assert_not_null(r.world, "%s", error.text);
    return r;
}

static void steps(run *r, int count) {
    sim_error error;
    for (int n = 0; n < count; n++) {
        cr_assert_eq(sim_world_step(r->world, &error), SIM_OK, "%s", error.text);
    }
}

static void end(run *r) {
    sim_world_free(r->world);
    sim_scene_free(r->scene);
}

static pose site_pose(const run *r, const char *name) {
    const sim_site *s = &r->scene->model->site[sim_model_find_site(r->scene->model, name)];
    return pose_product(sim_world_derived(r->world)->pose[s->body], s->pose);
}

static void refuses(const char *text, const char *words) {
    char copy[8192];
    size_t length = strlen(text);
    cr_assert_lt(length, sizeof copy);
    for (size_t k = 0; k <= length; k++) {
        copy[k] = text[k] == '\'' ? '"' : text[k];
    }
    sim_error error = {0};
    cr_expect_null(sim_scene_parse(copy, length, "test.json", NULL, NULL, &error), "%s", words);
    cr_expect_not_null(strstr(error.text, words), "\"%s\" is not in: %s", words, error.text);
}

/* ---- impedance of a frame ---- */

/* The iiwa without the friction of its joints, bent. */
#define FREE(link) "'bodies/" link "/joint/damping': 0, "
#define IIWA                                                                                                           \
    "'instances': [{'file': 'scenes/robots/iiwa14.json', 'overrides': {" FREE("link1") FREE("link2") FREE("link3")     \
        FREE("link4") FREE("link5") FREE("link6") FREE("link7") "'initial': {'link2': 0.6, 'link4': -1.4, 'link6': "   \
                                                                "0.8, 'link7': 0.3}}}]"

Test(task_impedance, static_deflection_is_force_over_stiffness) {
    run r =
        begin("{'sim': 1, 'world': {'step': 0.002}, " IIWA ", 'controllers': [{'name': 'c', 'type': 'task_impedance', "
              "'site': 'flange', 'stiffness': [400, 500, 800, 30, 20, 10]}], 'loads': [{'site': 'flange', 'force': "
              "[12, -15, 20]}]}");
    pose before = site_pose(&r, "flange");
    steps(&r, 6000);
    v3 moved = v3_sub(site_pose(&r, "flange").p, before.p), due = v3_make(12.0 / 400, -15.0 / 500, 20.0 / 800);
    cr_expect_lt(v3_norm(v3_sub(moved, due)), 1e-6 * v3_norm(due), "off by %g of %g m", v3_norm(v3_sub(moved, due)),
                 v3_norm(due));
    v3 turned = quat_log(quat_from_matrix(m3_product(site_pose(&r, "flange").R, m3_transpose(before.R))));
    cr_expect_lt(v3_norm(turned), 1e-7, "turned by %g", v3_norm(turned));
    end(&r);
}

/* A gantry of three sliders: 3 kg move along x, 2 along y, 1 along z. */
#define GANTRY(step, more)                                                                                             \
    "{'sim': 1, 'world': {'step': " step ", 'tolerance': 1e-13}, 'bodies': ["                                          \
    "{'name': 'x', 'joint': {'type': 'slider', 'axis': [1, 0, 0]}, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}},"     \
    "{'name': 'y', 'parent': 'x', 'joint': {'type': 'slider', 'axis': [0, 1, 0]}, 'inertia': {'mass': 1, 'moments': "  \
    "[1, 1, 1]}}, {'name': 'z', 'parent': 'y', 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'inertia': {'mass': "   \
    "1, 'moments': [1, 1, 1]}, 'sites': [{'name': 'tip'}, {'name': 'side', 'pose': {'position': [0, 0.5, 0]}}]}], "    \
    "'actuators': [{'joint': '*'}]" more "}"

/* x of a step by d at the rate and damping ratio of the mode. */
static double step_response(double t, double d, double k, double mass, double zeta) {
    double w = sqrt(k / mass), wd = w * sqrt(1 - zeta * zeta);
    return d * (1 - exp(-zeta * w * t) * (cos(wd * t) + zeta * w / wd * sin(wd * t)));
}

Test(task_impedance, step_response_of_decoupled_axes_is_the_closed_form_to_second_order) {
    const char *const text[] = {
        GANTRY("0.004",
               ", 'controllers': [{'name': 'c', 'type': 'task_impedance', 'site': 'tip', 'stiffness': [300, 200, 400, "
               "0, 0, 0], "
               "'damping_ratio': 0.3, 'posture_rate': 0, 'target': {'poses': [{'position': [0.1, 0.2, -0.1]}]}}]"),
        GANTRY("0.002",
               ", 'controllers': [{'name': 'c', 'type': 'task_impedance', 'site': 'tip', 'stiffness': [300, 200, 400, "
               "0, 0, 0], "
               "'damping_ratio': 0.3, 'posture_rate': 0, 'target': {'poses': [{'position': [0.1, 0.2, -0.1]}]}}]")};
    double worst[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        run r = begin(text[k]);
        while (sim_world_state(r.world)->time < 1) {
            steps(&r, 1);
            double t = sim_world_state(r.world)->time;
            const double *q = sim_world_state(r.world)->q;
            const double due[3] = {step_response(t, 0.1, 300, 3, 0.3), step_response(t, 0.2, 200, 2, 0.3),
                                   step_response(t, -0.1, 400, 1, 0.3)};
            for (int i = 0; i < 3; i++) {
                worst[k] = fmax(worst[k], fabs(q[i] - due[i]));
            }
        }
        end(&r);
    }
    cr_expect_lt(worst[1], 2e-4, "off by %g m", worst[1]);
    cr_expect(worst[0] / worst[1] > 3.3 && worst[0] / worst[1] < 5, "%g m, then %g m", worst[0], worst[1]);
}

/* Stiff against the step: 1e6 N/m, 577 to 1000 rad/s at 250 steps a second. */
Test(task_impedance, any_stiffness_is_stable) {
    run r = begin(GANTRY(
        "0.004", ", 'controllers': [{'name': 'c', 'type': 'task_impedance', 'site': 'tip', 'stiffness': [1e6, 0], "
                 "'posture_rate': 0, 'target': {'times': [0, 0.5], 'poses': [{}, {'position': [0.1, 0.2, -0.1]}]}}]"));
    steps(&r, 500);
    const double *q = sim_world_state(r.world)->q;
    cr_expect(fabs(q[0] - 0.1) < 1e-6 && fabs(q[1] - 0.2) < 1e-6, "%g %g", q[0] - 0.1, q[1] - 0.2);
    cr_expect_float_eq(q[2], -0.1, 1e-6);
    end(&r);
}

/* The posture of keyframe `bent` is another: joints go there while the flange stays. */
static double null_motion(const char *step, double *joints) {
    char text[2048];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'step': %s, 'tolerance': 1e-13}, " IIWA
             ", 'keyframes': [{'name': 'bent', 'initial': "
             "{'link1': 0.5, 'link2': 0.6, 'link3': -0.9, 'link4': -1.4, 'link5': 0.4, 'link6': 0.8, 'link7': 0.3}}], "
             "'controllers': "
             "[{'name': 'c', 'type': 'task_impedance', 'site': 'flange', 'stiffness': [0, 0], 'posture': 'bent', "
             "'posture_rate': 3}]}",
             step);
    run r = begin(text);
    pose before = site_pose(&r, "flange");
    double moved = 0;
    while (sim_world_state(r.world)->time < 1) {
        steps(&r, 1);
        moved = fmax(moved, v3_norm(v3_sub(site_pose(&r, "flange").p, before.p)));
    }
    *joints = 0;
    for (int k = 0; k < r.scene->model->nq; k++) {
        *joints = fmax(*joints, fabs(sim_world_state(r.world)->q[k] - r.scene->model->q_initial[k]));
    }
    end(&r);
    return moved;
}

Test(task_impedance, motion_in_the_null_space_does_not_move_the_frame) {
    double joints, coarse = null_motion("0.004", &joints), fine = null_motion("0.001", &joints);
    cr_expect_gt(joints, 0.2);
    cr_expect_lt(fine, 1e-3 * joints, "the flange moves by %g m, joints by %g rad", fine, joints);
    cr_expect_gt(coarse / fine, 3, "%g m, then %g m", coarse, fine);
}

Test(task_impedance, gravity_compensation_holds_exactly_still) {
    const char *const controller[] = {
        "{'name': 'c', 'type': 'task_impedance', 'site': 'flange', 'stiffness': [0, 0], 'posture_rate': 0}",
        "{'name': 'c', 'type': 'joint_impedance', 'actuators': ['link*'], 'stiffness': 0, 'damping': 0}"};
    for (int k = 0; k < 2; k++) {
        char text[1024];
        snprintf(text, sizeof text, "{'sim': 1, 'world': {'step': 0.002}, " IIWA ", 'controllers': [%s]}",
                 controller[k]);
        run r = begin(text);
        steps(&r, 500);
        for (int i = 0; i < r.scene->model->nq; i++) {
            cr_expect_float_eq(sim_world_state(r.world)->q[i], r.scene->model->q_initial[i], 1e-11, "%s: %g",
                               controller[k], sim_world_state(r.world)->q[i] - r.scene->model->q_initial[i]);
        }
        end(&r);
    }
}

/* ---- joints ---- */

Test(joint_impedance, has_the_damping_ratio_asked_for) {
    run r = begin(
        GANTRY("0.0005",
               ", 'controllers': [{'name': 'c', 'type': 'joint_impedance', 'actuators': ['x', 'y', 'z'], 'stiffness': "
               "[300, 200, 400], 'damping_ratio': 0.3, 'gravity_compensation': true, 'target': {'values': [0.1, 0.2, "
               "-0.1]}}]"));
    double worst = 0;
    while (sim_world_state(r.world)->time < 1) {
        steps(&r, 1);
        double t = sim_world_state(r.world)->time;
        worst = fmax(worst, fabs(sim_world_state(r.world)->q[0] - step_response(t, 0.1, 300, 3, 0.3)));
        worst = fmax(worst, fabs(sim_world_state(r.world)->q[2] - step_response(t, -0.1, 400, 1, 0.3)));
    }
    cr_expect_lt(worst, 2e-3, "off by %g m", worst); /* the law of joints is implicit: of first order */
    end(&r);
}

Test(joint_impedance, follows_poses_by_inverse_kinematics) {
    run r = begin("{'sim': 1, 'world': {'step': 0.002}, " IIWA
                  ", 'controllers': [{'name': 'c', 'type': 'joint_impedance', 'actuators': "
                  "['link*'], 'stiffness': 3000, 'target': {'site': 'flange', 'times': [0, 1, 2], 'poses': "
                  "[{'position': [0.5, 0, 0.5], 'rpy_deg': "
                  "[180, 0, 0]}, {'position': [0.5, 0.2, 0.4], 'rpy_deg': [180, 0, 0]}, {'position': [0.5, -0.1, 0.6], "
                  "'rpy_deg': [180, 0, 30]}]}}]}");
    steps(&r, 500);
    cr_expect_lt(v3_norm(v3_sub(site_pose(&r, "flange").p, v3_make(0.5, 0.2, 0.4))), 0.02);
    steps(&r, 1500);
    cr_expect_lt(v3_norm(v3_sub(site_pose(&r, "flange").p, v3_make(0.5, -0.1, 0.6))), 1e-4);
    end(&r);
}

Test(gripper, pushes_with_its_force) {
    run r = begin(GANTRY("0.001", ", 'controllers': [{'name': 'c', 'type': 'gripper', 'actuators': ['x'], 'damping': "
                                  "5, 'target': {'values': 2}}]"));
    steps(&r, 5000);
    cr_expect_float_eq(sim_world_state(r.world)->v[0], 0.4 * (1 - exp(-5.0 / 3 * 5)), 1e-6); /* f / d */
    end(&r);
}

/* Behind a gear of -20 the stiffness, targets and forces are still those of the joint. */
Test(controllers, speak_of_joints_behind_gears) {
    static const char *const frame =
        "{'sim': 1, 'world': {'step': 0.002, 'gravity': [0, 0, 0]}, 'bodies': [{'name': 'x', 'joint': {'type': "
        "'slider', "
        "'axis': [1, 0, 0]}, 'inertia': {'mass': 2, 'moments': [1, 1, 1]}}], 'actuators': [{'joint': 'x', 'gear': "
        "-20}], "
        "'loads': [{'joint': 'x', 'value': %s}], 'controllers': [{'name': 'c', 'actuators': ['x'], %s}]}";
    static const struct {
        const char *load, *keys;
        double q, v; /* after 5 s; NAN: whatever */
    } given[] = {
        {"0", "'type': 'joint_impedance', 'stiffness': 200, 'target': {'values': 0.3}", 0.3, 0},
        {"20", "'type': 'joint_impedance', 'stiffness': 200, 'damping': 30", 0.1, 0},
        {"0", "'type': 'gripper', 'target': {'values': 6}", NAN, 15},
        {"0", "'type': 'gripper', 'damping': 8, 'target': {'times': [0, 1], 'values': [6, 6]}", NAN, 0.75},
        {"0",
         "'type': 'gripper'}, {'name': 'p', 'type': 'phases', 'phases': [{'name': 'a', 'targets': [{'controller': "
         "'c', 'values': 6}]}]",
         NAN, 15},
        {"0",
         "'type': 'joint_impedance', 'stiffness': 200}, {'name': 'p', 'type': 'phases', 'phases': [{'name': 'a', "
         "'targets': [{'controller': 'c', 'values': 0.3}]}]",
         0.3, 0},
    };
    for (size_t k = 0; k < sizeof given / sizeof given[0]; k++) {
        char text[2000];
        snprintf(text, sizeof text, frame, given[k].load, given[k].keys);
        run r = begin(text);
        steps(&r, 2500);
        const sim_state *state = sim_world_state(r.world);
        cr_expect(isnan(given[k].q) || fabs(state->q[0] - given[k].q) < 1e-6, "case %zu: at %g m", k, state->q[0]);
        cr_expect(fabs(state->v[0] - given[k].v) < 1e-6, "case %zu: %g m/s", k, state->v[0]);
        end(&r);
    }
}

/* ---- phases ---- */

static const char *phase_of(const run *r, const char *controller) {
    const sim_model *m = r->scene->model;
    int k = sim_model_find_controller(m, controller), phase = sim_world_phase(r->world, k);
    return phase < 0 ? "" : m->controller[k].phase[phase].name;
}

Test(phases, change_by_time_reading_distance_and_contact) {
    run r = begin(GANTRY(
        "0.001", ", 'sensors': [{'name': 'at', 'type': 'joint_position', 'joint': 'x'}], "
                 "'controllers': [{'name': 'go', 'type': 'joint_impedance', "
                 "'actuators': ['x'], 'stiffness': 4000}, {'name': 'm', 'type': 'phases', 'phases': ["
                 "{'name': 'wait', 'next': [{'to': 'out', 'after': 0.05}]},"
                 "{'name': 'out', 'targets': [{'controller': 'go', 'values': 0.2, 'duration': 0.4}], "
                 "'next': [{'to': 'never', 'sensor': 'at', 'above': 9}, {'to': 'never', 'sensor': 'at', 'below': -1}, "
                 "{'to': 'far', 'sensor': 'at', 'above': 0.1}]}, {'name': 'far', 'next': [{'to': "
                 "'late', 'first_site': 'tip', 'second_site': 'side', "
                 "'nearer': 0.6, 'at_time': 0.4}]}, {'name': 'late', 'next': [{'to': 'end', "
                 "'first_body': 'x', 'pressed': false}]}, "
                 "{'name': 'end'}, {'name': 'never'}]}]"));
    cr_expect_str_eq(phase_of(&r, "m"), "");
    steps(&r, 50);
    cr_expect_str_eq(phase_of(&r, "m"), "wait");
    steps(&r, 1);
    cr_expect_str_eq(phase_of(&r, "m"), "out");
    run late = begin(GANTRY(
        "0.001",
        ", 'controllers': [{'name': 'go', 'type': 'gripper', 'actuators': ['x']}, {'name': 'm', 'type': 'phases', "
        "'phases': [{'name': 'push', 'targets': [{'controller': 'go', 'values': 6, 'duration': 0.4}]}]}]"));
    for (int n = 0; n < 400; n++) { /* a force that grows as 10 u^3 - 15 u^4 + 6 u^5 */
        steps(&late, 1);
        double u = (n + 0.5) / 400;
        cr_assert_float_eq(sim_world_efforts(late.world)[0], 6 * u * u * u * (10 - 15 * u + 6 * u * u), 1e-9);
    }
    end(&late);
    while (sim_world_state(r.world)->q[0] < 0.1) {
        cr_expect_str_eq(phase_of(&r, "m"), "out");
        steps(&r, 1);
    }
    steps(&r, 1);
    cr_expect_str_eq(phase_of(&r, "m"), "far");
    cr_assert_lt(sim_world_state(r.world)->time, 0.399);
    while (sim_world_state(r.world)->time < 0.3995) {
        cr_expect_str_eq(phase_of(&r, "m"), "far");
        steps(&r, 1);
    }
    steps(&r, 1);
    cr_expect_str_eq(phase_of(&r, "m"), "late");
    steps(&r, 1);
    cr_expect_str_eq(phase_of(&r, "m"), "end");
    steps(&r, 500);
    cr_expect_float_eq(sim_world_state(r.world)->q[0], 0.2, 1e-4); /* the target stays */
    end(&r);
}

/* A grip whose force grows as 6 (10 u^3 - 15 u^4 + 6 u^5) N over 400 steps passes 3 N in the middle of the 201st. */
Test(phases, change_by_measured_efforts) {
    const char *sensor[] = {"'type': 'actuator_force', 'actuator': 'x'", "'type': 'joint_effort', 'joint': 'x'"};
    for (int k = 0; k < 2; k++) {
        char text[2000];
        snprintf(text, sizeof text,
                 GANTRY("0.001", ", 'sensors': [{'name': 'grip', %s}], 'controllers': [{'name': 'go', 'type': "
                                 "'gripper', 'actuators': ['x']}, {'name': 'm', 'type': 'phases', 'phases': ["
                                 "{'name': 'close', 'targets': [{'controller': 'go', 'values': 6, 'duration': 0.4}], "
                                 "'next': [{'to': 'hold', 'sensor': 'grip', 'above': 3}]}, {'name': 'hold', "
                                 "'targets': [{'controller': 'go', 'values': 1}]}]}]"),
                 sensor[k]);
        run r = begin(text);
        steps(&r, 201);
        cr_expect_str_eq(phase_of(&r, "m"), "close");
        cr_expect_gt(sim_world_efforts(r.world)[0], 3);
        steps(&r, 1);
        cr_expect_str_eq(phase_of(&r, "m"), "hold");
        cr_expect_float_eq(sim_world_efforts(r.world)[0], 1, 1e-12);
        end(&r);
    }
}

/* A force along the spline through 2, 3, 5 at 0, 0.1 and 0.2 s, whose rates are 0, 22.5 and 0 N/s, from a force of 1 N. */
Test(phases, tracks_run_from_the_start_of_the_phase_and_the_difference_there_fades) {
    run r = begin(GANTRY(
        "0.001",
        ", 'controllers': [{'name': 'go', 'type': 'gripper', 'actuators': ['x'], 'target': {'values': 1}}, {'name': "
        "'m', 'type': 'phases', 'phases': [{'name': 'wait', 'next': [{'to': 'along', 'after': 0.05}]}, {'name': "
        "'along', 'targets': [{'controller': 'go', 'duration': 0.08, 'track': {'times': [0, 0.1, 0.2], 'values': "
        "[2, 3, 5], 'interpolation': 'spline'}}]}]}]"));
    for (int n = 0; n < 300; n++) {
        steps(&r, 1);
        double t = (n + 0.5) * 1e-3 - 0.05, due = 1;
        if (t > 0) {
            double s = t < 0.1 ? t / 0.1 : t < 0.2 ? t / 0.1 - 1 : 1, u = fmin(t / 0.08, 1);
            double hermite = s * s * (3 - 2 * s), m = 0.1 * 22.5;
            double y = t < 0.1 ? 2 + hermite - m * s * s * (1 - s) : 3 + 2 * hermite + m * s * (1 - s) * (1 - s);
            due = y - (1 - u * u * u * (10 - 15 * u + 6 * u * u));
        }
        cr_assert_float_eq(sim_world_efforts(r.world)[0], due, 1e-9, "step %d", n);
    }
    end(&r);
}

/* From a pose at rest onto a track of poses: straight, and about fixed axes; the difference at its start fades. */
Test(phases, lead_a_frame_along_poses) {
    run r =
        begin("{'sim': 1, 'world': {'step': 0.001}, " IIWA
              ", 'controllers': [{'name': 'c', 'type': 'task_impedance', 'site': 'flange', 'stiffness': [1e7, 1e6]}, "
              "{'name': 'm', 'type': 'phases', 'phases': [{'name': 'go', 'targets': [{'controller': 'c', "
              "'duration': 0.5, 'track': {'times': [0, 1], 'poses': [{'position': [0.55, 0.05, 0.5], 'rpy_deg': "
              "[180, 0, 0]}, {'position': [0.5, -0.15, 0.6], 'rpy_deg': [180, 0, 40]}]}}]}]}]}");
    pose from = site_pose(&r, "flange");
    sim_m3 first = {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    v3 turn = quat_log(quat_from_matrix(m3_product(from.R, m3_transpose(first))));
    for (int n = 1; n <= 1200; n++) {
        steps(&r, 1);
        double t = fmin(n * 1e-3, 1), u = fmin(t / 0.5, 1), left = 1 - u * u * u * (10 - 15 * u + 6 * u * u);
        double s = t * t * t * (10 - 15 * t + 6 * t * t);
        v3 at = v3_axpy(v3_axpy(v3_make(0.55, 0.05, 0.5), s, v3_make(-0.05, -0.2, 0.1)), left,
                        v3_sub(from.p, v3_make(0.55, 0.05, 0.5)));
        quat round = quat_exp(v3_make(0, 0, s * 40 * M_PI / 180));
        sim_m3 R = m3_product(quat_matrix(quat_exp(v3_scale(left, turn))), m3_product(quat_matrix(round), first));
        pose X = site_pose(&r, "flange");
        v3 off = quat_log(quat_from_matrix(m3_product(R, m3_transpose(X.R))));
        cr_assert_lt(v3_norm(v3_sub(X.p, at)), 1e-4, "step %d: %g m", n, v3_norm(v3_sub(X.p, at)));
        cr_assert_lt(v3_norm(off), 1e-3, "step %d: %g rad", n, v3_norm(off));
    }
    end(&r);
}

/* The first joint coordinates of a target, and the last ones. */
static const double *row_of(const sim_target *target, int joints, bool last) {
    const sim_track *track = &target->track;
    return target->value ? target->value : track->values + (last ? (track->keys - 1) * joints : 0);
}

/* Of the many postures of seven joints at a pose, a phase takes the one in which the phase before it ends; one that
 * nothing before it leads to takes the one next to the initial state. */
Test(phases, keep_the_posture_of_a_redundant_arm) {
#define THERE "{'position': [0.3, -0.45, 0.5], 'rpy_deg': [150, 0, 40]}"
    run r = begin("{'sim': 1, 'world': {'step': 0.001}, " IIWA
                  ", 'controllers': [{'name': 'c', 'type': 'joint_impedance', 'actuators': ['link*'], 'stiffness': "
                  "3000}, {'name': 'm', 'type': 'phases', 'phases': ["
                  "{'name': 'go', 'targets': [{'controller': 'c', 'duration': 1, 'track': {'site': 'flange', 'times': "
                  "[0, 1, 2], 'poses': [{'position': [0.5, 0, 0.5], 'rpy_deg': [180, 0, 0]}, {'position': [0.5, 0.3, "
                  "0.6], 'rpy_deg': [180, 30, 90]}, " THERE "]}}], 'next': [{'to': 'wait', 'after': 2}]}, "
                  "{'name': 'wait', 'next': [{'to': 'back', 'after': 0.1}]}, "
                  "{'name': 'back', 'targets': [{'controller': 'c', 'track': {'site': 'flange', 'times': [0, 1], "
                  "'poses': [" THERE ", {'position': [0.5, 0, 0.5], 'rpy_deg': [180, 0, 0]}]}}], 'next': [{'to': "
                  "'stay', 'after': 1}]}, "
                  "{'name': 'stay', 'targets': [{'controller': 'c', 'duration': 1, 'site': 'flange', 'pose': "
                  "{'position': [0.5, 0, 0.5], 'rpy_deg': [180, 0, 0]}}]}, "
                  "{'name': 'apart', 'targets': [{'controller': 'c', 'duration': 1, 'site': 'flange', 'pose': " THERE
                  "}]}]}]}");
    const sim_model *m = r.scene->model;
    const sim_phase *phase = m->controller[sim_model_find_controller(m, "m")].phase;
    enum { JOINTS = 7 };
    const double *there = row_of(phase[0].target, JOINTS, true), *back = row_of(phase[2].target, JOINTS, false);
    const double *end_of_back = row_of(phase[2].target, JOINTS, true), *stay = row_of(phase[3].target, JOINTS, false);
    const double *apart = row_of(phase[4].target, JOINTS, false);
    double apart_off = 0;
    for (int k = 0; k < JOINTS; k++) {
        cr_expect_float_eq(back[k], there[k], 1e-9, "joint %d: %g, %g", k, back[k], there[k]);
        cr_expect_float_eq(stay[k], end_of_back[k], 1e-9, "joint %d: %g, %g", k, stay[k], end_of_back[k]);
        apart_off = fmax(apart_off, fabs(apart[k] - there[k]));
    }
    cr_expect_gt(apart_off, 0.01, "%g rad: the pose tells nothing apart", apart_off);
    end(&r);
}

/* The hand shuts a weld on the ball, lifts it, and lets go. */
static const char *const crane =
    "{'sim': 1, 'world': {'step': 0.002}, 'bodies': [{'name': 'ground', 'shapes': [{'type': 'half_space'}]}, {'name': "
    "'hook', 'pose': "
    "{'position': [0, 0, 0.4]}, 'joint': {'type': 'slider', 'axis': [0, 0, 1]}, 'inertia': {'mass': 1, 'moments': [1, "
    "1, 1]}}, "
    "{'name': 'ball', 'pose': {'position': [0.1, 0, 0.1]}, 'joint': 'free', 'shapes': [{'type': 'sphere', 'radius': "
    "0.1, 'mass': 2}]}], "
    "'actuators': [{'joint': 'hook'}], 'constraints': [{'name': 'magnet', 'type': 'weld', 'first': 'ball', 'second': "
    "'hook', 'active': false}], "
    "'controllers': [{'name': 'hoist', 'type': 'joint_impedance', 'actuators': ['hook'], 'stiffness': 5000}, {'name': "
    "'m', 'type': 'phases', "
    "'phases': [{'name': 'down', 'targets': [{'controller': 'hoist', 'values': -0.1, 'duration': 0.3}], 'next': "
    "[{'to': 'up', 'after': 0.4}]}, "
    "{'name': 'up', 'switches': [{'constraint': 'magnet', 'to': 'hold'}], 'targets': [{'controller': 'hoist', "
    "'values': 0.2, 'duration': 0.4}], "
    "'next': [{'to': 'drop', 'after': 0.6}]}, {'name': 'drop', 'switches': [{'constraint': 'magnet', 'to': 'off'}], "
    "'next': [{'to': 'done', "
    "'first_body': 'ball', 'second_body': 'ground', 'after': 0.05}]}, {'name': 'done'}]}]}";

Test(phases, switch_constraints) {
    run r = begin(crane);
    int ball = sim_model_find_body(r.scene->model, "ball");
    steps(&r, 490);
    cr_expect_str_eq(phase_of(&r, "m"), "up");
    cr_expect_float_eq(sim_world_derived(r.world)->pose[ball].p.z, 0.4, 0.02);
    steps(&r, 60);
    cr_expect_str_eq(phase_of(&r, "m"), "drop");
    steps(&r, 400);
    cr_expect_str_eq(phase_of(&r, "m"), "done");
    cr_expect_float_eq(sim_world_derived(r.world)->pose[ball].p.z, 0.1, 1e-4);
    end(&r);
}

Test(phases, give_the_same_bits_again_and_from_any_state) {
    run a = begin(crane), b = begin(crane);
    sim_snapshot *middle = NULL;
    for (int n = 0; n < 700; n++) {
        steps(&a, 1);
        steps(&b, 1);
        cr_assert(sim_state_same(a.scene->model, sim_world_state(a.world), sim_world_state(b.world)), "step %d", n);
        if (n == 300) {
            middle = sim_snapshot_create(a.world, NULL);
        }
    }
    sim_state state = *sim_snapshot_state(middle);
    cr_assert_eq(sim_world_set_state(b.world, &state, NULL), SIM_OK);
    steps(&b, 399);
    cr_expect(sim_state_same(a.scene->model, sim_world_state(a.world), sim_world_state(b.world)));
    sim_world_start(b.world, -1);
    steps(&b, 700);
    cr_expect(sim_state_same(a.scene->model, sim_world_state(a.world), sim_world_state(b.world)));
    /* what no phase leaves is refused */
    double *control = (double *)state.control, kept = control[0];
    for (int k = 0; k < 5; k++) {
        const double wrong[] = {-2, 0.5, 99, 1e300, NAN};
        sim_error error;
        control[0] = wrong[k];
        cr_expect_eq(sim_world_set_state(b.world, &state, &error), SIM_BAD_INPUT, "%g", wrong[k]);
        control[0] = kept;
        control[a.scene->model->controller[1].first] = wrong[k];
        cr_expect_eq(sim_world_set_state(b.world, &state, &error), SIM_BAD_INPUT, "%g", wrong[k]);
        control[a.scene->model->controller[1].first] = 1;
    }
    sim_snapshot_free(middle);
    end(&a);
    end(&b);
}

Test(phases, pick_a_cube_and_set_it_down_elsewhere) {
    sim_error error;
    run r = {sim_scene_load("scenes/robots/panda_picks_by_phases.json", NULL, NULL, &error), NULL};
    cr_assert_not_null(r.scene, "%s", error.text);
    r.world = sim_world_create(r.scene->model, &r.scene->options, &error);
    int cube = sim_model_find_body(r.scene->model, "cube");
    double highest = 0;
    while (sim_world_state(r.world)->time < (is_part() ? 3 : 9)) {
        steps(&r, 1);
        highest = fmax(highest, sim_world_derived(r.world)->pose[cube].p.z);
    }
    v3 at = sim_world_derived(r.world)->pose[cube].p;
    cr_expect(is_part() || strcmp(phase_of(&r, "task"), "back") == 0, "%s", phase_of(&r, "task"));
    cr_expect(is_part() || highest > 0.24, "%g m", highest);
    double off = v3_norm(v3_sub(at, v3_make(0.4, 0.3, 0.025)));
    cr_expect(is_part() || off < 0.004, "%g %g %g", at.x, at.y, at.z);
    end(&r);
}

/* ---- bad input ---- */

Test(controllers, refuse_what_they_cannot_lead) {
    refuses(GANTRY("0.001", ", 'controllers': [{'name': 'c', 'type': 'gripper', 'actuators': ['w']}]"),
            "no actuator of a joint has the name \"w\"");
    refuses(
        GANTRY(
            "0.001",
            ", 'controllers': [{'name': 'c', 'type': 'gripper', 'actuators': ['x']}, {'name': 'd', 'type': 'gripper', "
            "'actuators': ['*']}]"),
        "both lead the actuator \"x\"");
    refuses(GANTRY("0.001",
                   ", 'controllers': [{'name': 'c', 'type': 'task_impedance', 'site': 'toe', 'stiffness': [1, 1]}]"),
            "there is no site \"toe\"");
    refuses(GANTRY("0.001",
                   ", 'controllers': [{'name': 'c', 'type': 'task_impedance', 'site': 'tip', 'stiffness': [1, 1, 1]}]"),
            "expected [translation, rotation], or six numbers, not 3");
    refuses(
        GANTRY("0.001",
               ", 'controllers': [{'name': 'c', 'type': 'joint_impedance', 'actuators': ['*'], 'stiffness': [1, 1]}]"),
        "expected one number, or one for each of 3 actuators, not 2");
    refuses(GANTRY("0.001", ", 'controllers': [{'name': 'c', 'type': 'joint_impedance', 'actuators': ['*'], "
                            "'stiffness': 1, 'target': {'site': "
                            "'tip', 'poses': [{'rpy_deg': [90, 0, 0]}]}}]"),
            "out of reach of \"tip\": 0 m and 1.57 rad are left");
    refuses(
        GANTRY("0.001",
               ", 'controllers': [{'name': 'm', 'type': 'phases', 'phases': [{'name': 'a', 'next': [{'to': 'b'}]}]}]"),
        "there is no phase \"b\"");
    refuses(GANTRY("0.001", ", 'controllers': [{'name': 'm', 'type': 'phases', 'phases': [{'name': 'a', 'targets': "
                            "[{'controller': 'n', "
                            "'values': 1}]}]}]"),
            "there is no controller \"n\"");
    refuses(GANTRY("0.001", ", 'controllers': [{'name': 'c', 'type': 'gripper', 'actuators': ['x'], 'target': "
                            "{'times': [1, 0], 'values': [1, "
                            "2]}}]"),
            "times must increase");
    refuses(GANTRY("0.001", ", 'controllers': [{'name': 'c', 'type': 'joint_impedance', 'actuators': ['*'], "
                            "'stiffness': 1, 'target': {'site': 'tip', 'frame': 'w', 'points': [[9, 0, 0]]}}]"),
            "there is no body \"w\"");
    refuses(GANTRY("0.001", ", 'controllers': [{'name': 'c', 'type': 'task_impedance', 'site': 'tip', 'stiffness': "
                            "[1, 1], 'target': {'frame': 'x', 'poses': [{}]}}]"),
            "led by \"poses\" in the world");
}

#define NEXT(keys)                                                                                                     \
    GANTRY("0.001", ", 'sensors': [{'name': 's', 'type': 'joint_position', 'joint': 'x'}], 'controllers': [{'name': "  \
                    "'m', 'type': 'phases', 'phases': [{'name': 'a', 'next': [{'to': 'a', " keys "}]}]}]")

/* A condition that lacks a part would always hold. */
Test(phases, refuse_conditions_that_lack_a_part) {
    refuses(NEXT("'above': 5"), "a condition with \"above\" needs \"sensor\" beside it");
    refuses(NEXT("'sensor': 's'"), "a condition with \"sensor\" needs \"above\" or \"below\" beside it");
    refuses(NEXT("'component': 1"), "a condition with \"component\" needs \"sensor\" beside it");
    refuses(NEXT("'nearer': 0.1"), "a condition with \"nearer\" needs \"first_site\" beside it");
    refuses(NEXT("'first_site': 'tip', 'nearer': 1"),
            "a condition with \"first_site\" needs \"second_site\" beside it");
    refuses(NEXT("'first_site': 'tip', 'second_site': 'side'"), "needs \"nearer\" or \"farther\" beside it");
    refuses(NEXT("'second_body': 'x'"), "a condition with \"second_body\" needs \"first_body\" beside it");
    refuses(NEXT("'pressed': false"), "a condition with \"pressed\" needs \"first_body\" beside it");
}

Test(phases, refuse_bounds_that_no_number_keeps) {
    refuses(NEXT("'sensor': 's', 'above': 2, 'below': 1"), "must be at most \"below\", 1, is 2");
    refuses(NEXT("'first_site': 'tip', 'second_site': 'side', 'farther': 0.2, 'nearer': 0.1"),
            "must be at most \"nearer\", 0.1, is 0.2");
}

/* ---- a task ---- */

Test(controllers, arm_brings_a_nut_into_its_thread_in_the_first_second) {
    assembly a = begin_assembly("canal");
    double off = 0;
    for (int n = 1; n <= part_of(240); n++) {
        step_assembly(&a);
        off = n >= 216 ? fmax(off, fabs(a.slack)) : off; /* in the last tenth of a second the threads have met */
    }
    cr_expect_lt(off, NUT_PLAY, "%g", off);
    cr_expect(a.turns < -0.25 || is_part(), "%g", a.turns);
    cr_expect_lt(a.overlap, 0.00005, "%g", a.overlap);
    end_assembly(&a);
}
