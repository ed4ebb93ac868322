/* Controllers against closed forms: stiffness and damping of a frame, its null space, gravity; joints, and a task. */
#include "control/nut.h"
#include "control/text_scene.h"
#include "support/share.h"

#include <math.h>
#include <stdio.h>

/* ---- impedance of a frame ---- */

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
