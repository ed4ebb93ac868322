/* State machines: transitions, switches, tracks and postures of their targets, and what they refuse. */
#include "control/text_scene.h"
#include "support/share.h"

#include <math.h>
#include <stdio.h>

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
