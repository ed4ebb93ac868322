/* Frames of models in MJCF: the orientation that counts among several, those that exclude each other, and coordinates. */
#include "math/angle.h"
#include "mjcf_model.h"

#include <sim/dynamics.h>

#include <math.h>
#include <stdio.h>

static double dot(sim_quat a, sim_quat b) { return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z; }

/* The body b of a class k within the main class turns by `angle` degrees about an axis. */
static void check_turn(const char *main, const char *class_k, const char *own, double angle, sim_v3 axis) {
    char text[600];
    snprintf(text, sizeof text,
             "<mujoco><default><site %s/><default class='k'><site %s/></default></default><worldbody><body><freejoint/>"
             "<geom size='1'/><site name='s' class='k' %s/></body></worldbody></mujoco>",
             main, class_k, own);
    sim_scene *s = load_model(text, NULL, NULL);
    sim_quat q = quat_from_matrix(s->model->site[sim_model_find_site(s->model, "s")].pose.R);
    double half = angle * PI / 360, sine = sin(half);
    cr_expect(fabs(fabs(dot(q, (sim_quat){cos(half), sine * axis.x, sine * axis.y, sine * axis.z})) - 1) < 1e-12,
              "%s, %s, %s: %g %g %g %g", main, class_k, own, q.w, q.x, q.y, q.z);
    sim_scene_free(s);
}

Test(mjcf_frames, the_nearest_orientation_counts_and_a_quaternion_after_all_others) {
    const sim_v3 x = {1, 0, 0}, z = {0, 0, 1};
    check_turn("euler='10 0 0'", "", "", 10, x);
    check_turn("euler='10 0 0'", "", "axisangle='0 0 1 20'", 20, z);
    check_turn("axisangle='0 0 1 20'", "", "euler='10 0 0'", 10, x);
    check_turn("axisangle='0 0 1 20'", "euler='10 0 0'", "", 10, x);
    check_turn("xyaxes='0 1 0 -1 0 0'", "", "axisangle='1 0 0 30'", 30, x);
    check_turn("", "quat='0 1 0 0'", "euler='10 0 0'", 10, x);
    check_turn("euler='10 0 0'", "", "quat='0 0 0 1'", 10, x);
    check_turn("euler='10 0 0'", "quat='0 0 0 1'", "", 10, x);
    check_turn("quat='0 1 0 0'", "", "quat='0 0 0 1'", 180, z);
}

/* Body, joint, mass, site and shapes alike, to rounding. */
static void check_alike(const sim_model *a, const sim_model *b) {
    sim_derived *d[2] = {sim_derived_create(a, NULL), sim_derived_create(b, NULL)};
    const double q[3] = {0.3, -0.7, 0.4};
    cr_assert(d[0] && d[1] && a->nq == 3 && b->nq == 3 && a->nbody == b->nbody && a->nshape == b->nshape);
    double off = 0;
    for (int k = 0; k < 2; k++) {
        sim_kinematics(d[k], sim_all(k ? b : a), q);
    }
    for (int k = 0; k < a->nbody; k++) {
        const sim_body_inertia *I = &d[0]->I[k], *J = &d[1]->I[k];
        const sim_v3 x = d[0]->pose[k].p, y = d[1]->pose[k].p;
        off = fmax(off, fabs(x.x - y.x) + fabs(x.y - y.y) + fabs(x.z - y.z));
        for (size_t i = 0; i < sizeof *I / sizeof(double); i++) {
            off = fmax(off, fabs(((const double *)I)[i] - ((const double *)J)[i]));
        }
    }
    for (int k = 0; k < a->nshape; k++) {
        sim_pose x = pose_product(d[0]->pose[a->shape[k].body], a->shape[k].pose),
                 y = pose_product(d[1]->pose[b->shape[k].body], b->shape[k].pose);
        bool round = a->shape[k].type == SIM_CAPSULE; /* it has no axis x */
        off = fmax(off, v3_norm(v3_sub(x.p, y.p)) + v3_norm(v3_sub(x.R.z, y.R.z)));
        off = fmax(off, round ? 0 : v3_norm(v3_sub(x.R.x, y.R.x)));
    }
    cr_expect(off < 1e-14, "%g", off);
    sim_derived_free(d[0]), sim_derived_free(d[1]);
}

/* b turns by a right angle about z, c by another about x, seen from the world or from the body around. */
Test(mjcf_frames, coordinates_of_the_world_and_of_bodies_are_one_model) {
    sim_scene *local = load_model(
        MODEL("<worldbody><body name='b' pos='1 2 3' quat='1 0 0 1'><joint axis='1 0 0' pos='0 1 0'/>"
              "<joint type='slide' axis='0 0 1'/><geom size='0.1' pos='1 0 0'/><geom type='capsule' size='0.1' "
              "fromto='0 0 0 1 0 0'/><body name='c' pos='1 0 0' euler='0 90 0'><joint axis='0 1 0'/><inertial "
              "pos='0 0 1' mass='2' fullinertia='2 3 4 0.1 0.2 0.3'/><geom type='box' size='1 2 3' pos='0 1 0'/>"
              "<site name='s' pos='1 0 0'/></body></body></worldbody>"),
        NULL, NULL);
    sim_scene *global = load_model(
        MODEL("<compiler coordinate='global'/><worldbody><body name='b' pos='1 2 3' quat='1 0 0 1'><joint axis='0 1 0' "
              "pos='0 2 3'/><joint type='slide' axis='0 0 1'/><geom size='0.1' pos='1 3 3' quat='1 0 0 1'/><geom "
              "type='capsule' size='0.1' fromto='1 2 3 1 3 3'/><body name='c' pos='1 3 3' xyaxes='0 0 -1 -1 0 0'>"
              "<joint axis='-1 0 0' pos='1 3 3'/><inertial pos='1 4 3' mass='2' fullinertia='3 4 2 -0.3 0.1 -0.2'/>"
              "<geom type='box' size='1 2 3' pos='0 3 3' xyaxes='0 0 -1 -1 0 0'/><site name='s' pos='1 3 2' "
              "xyaxes='0 0 -1 -1 0 0'/></body></body></worldbody>"),
        NULL, NULL);
    check_alike(local->model, global->model);
    sim_scene_free(local), sim_scene_free(global);
}

Test(mjcf_frames, two_orientations_of_an_element_are_refused) {
    refused(WORLD("<body quat='1 0 0 0' euler='0 0 30'/>"), "scene.json:3:7", "\"euler\" and \"quat\" exclude");
    refused(WORLD("<site axisangle='1 0 0 3' xyaxes='1 0 0 0 1 0'/>"), "scene.json:3:27",
            "\"axisangle\" and \"xyaxes\"");
    refused(WORLD("<frame zaxis='1 0 0' euler='0 0 1'/>"), "scene.json:3:22", "\"zaxis\" and \"euler\"");
    refused(MODEL("<default>\n<geom quat='1 0 0 0' zaxis='0 0 1'/></default>"), "scene.json:3:7",
            "\"zaxis\" and \"quat\"");
    refused(BODY("<freejoint/>\n<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' quat='1 0 0 0'/>"),
            "scene.json:4:32", "\"quat\" and \"fullinertia\"");
}

Test(mjcf_frames, two_points_exclude_a_position_and_replace_an_orientation) {
    refused(WORLD("<geom type='capsule' size='1' fromto='0 0 0 1 1 1' pos='1 0 0'/>"), "scene.json:3:31",
            "\"fromto\" and \"pos\" exclude");
    refused(WORLD("<site type='box' size='1 1 1' fromto='0 0 0 1 1 1' pos='0 0 1'/>"), "scene.json:3:31",
            "\"fromto\" and \"pos\" exclude");
    refused(MODEL("<default><geom fromto='0 0 0 0 0 1'/></default><worldbody>\n"
                  "<geom type='capsule' size='1' pos='0 1 0'/></worldbody>"),
            "scene.json:2:16", "\"fromto\" and \"pos\" exclude");
    sim_scene *s = load_model(BODY("<freejoint/>" BALL "<site name='s' type='capsule' size='1' pos='0 0 0' "
                                   "fromto='0 0 4 0 0 2' euler='30 0 0'/>"),
                              NULL, NULL);
    const sim_site *site = &s->model->site[sim_model_find_site(s->model, "s")];
    cr_expect(close_to(site->pose.p, 0, 0, 3) && close_to(m3_times(site->pose.R, (sim_v3){0, 0, 1}), 0, 0, 1));
    sim_scene_free(s);
}

/* A tendon of three joints ties their trees, which then stand together; the key has the order of the file. */
Test(mjcf_frames, coordinates_of_tied_trees_are_found_by_name_and_keyframes_have_the_order_of_the_file) {
    sim_scene *s = load_model(
        MODEL("<worldbody><body><joint name='a'/>" BALL "</body><body pos='1 0 0'><joint name='b'/>" BALL
              "</body><body pos='2 0 0'><joint name='c'/>" BALL "</body><body pos='3 0 0'><joint name='d'/>" BALL
              "</body></worldbody><tendon><fixed stiffness='1'><joint joint='a' coef='1'/><joint joint='c' coef='1'/>"
              "<joint joint='d' coef='1'/></fixed></tendon><keyframe><key name='k' qpos='1 2 3 4' qvel='5 6 7 8'/>"
              "</keyframe>"),
        NULL, NULL);
    double q[4], v[4];
    sim_model_keyframe_state(s->model, sim_model_find_keyframe(s->model, "k"), q, v);
    for (int k = 0; k < 4; k++) {
        const sim_body *b =
            &s->model->body[sim_model_find_joint(s->model, (const char *const[]){"a", "b", "c", "d"}[k])];
        cr_expect(q[b->q0] == 1 + k && v[b->v0] == 5 + k, "joint %d: %g, %g", k, q[b->q0], v[b->v0]);
        cr_expect_eq(b->q0, ((const int[]){0, 3, 1, 2})[k]);
    }
    sim_scene_free(s);
}
