/* Building models: order, names, refusals. */
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static sim_body_def hinge(const char *name, int parent) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.parent = parent;
    def.joint = SIM_HINGE;
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    return def;
}

Test(model, bodies_stand_depth_first_whatever_order_they_came_in) {
    sim_builder *builder = sim_builder_create();
    sim_body_def a = hinge("a", 0), b = hinge("b", 0);
    int ia = sim_builder_add_body(builder, &a), ib = sim_builder_add_body(builder, &b);
    sim_body_def a1 = hinge("a1", ia), b1 = hinge("b1", ib), a2 = hinge("a2", ia);
    int ia1 = sim_builder_add_body(builder, &a1);
    sim_builder_add_body(builder, &b1);
    sim_builder_add_body(builder, &a2);
    sim_body_def a11 = hinge("a11", ia1);
    sim_builder_add_body(builder, &a11);
    sim_model *m = sim_builder_finish(builder, NULL);
    const char *expected[] = {"world", "a", "a1", "a11", "a2", "b", "b1"};
    for (int i = 0; i < 7; i++) {
        cr_expect_str_eq(m->body[i].name, expected[i]);
    }
    cr_expect_eq(m->ntree, 2);
    cr_expect_eq(m->body[1].subtree_end, 5);
    cr_expect_eq(m->dof[3].parent, 0);
    cr_expect_eq(m->dof[3].depth, 2);
    cr_expect_eq(m->tree[1].v0, 4);
    sim_model_free(m);
}

static void expect_refusal(sim_body_def def, const char *part) {
    sim_builder *builder = sim_builder_create();
    sim_error error = {0};
    sim_builder_add_body(builder, &def);
    sim_model *m = sim_builder_finish(builder, &error);
    cr_expect_null(m, "%s", part);
    cr_expect_eq(error.status, SIM_BAD_INPUT);
    cr_expect_not_null(strstr(error.text, part), "'%s' not in '%s'", part, error.text);
    sim_model_free(m);
}

Test(model, impossible_bodies_are_refused_with_a_reason) {
    sim_body_def def = hinge("x", 0);
    def.inertia.moment = (sim_sym3){1, 1, 3, 0, 0, 0};
    expect_refusal(def, "A + B >= C by 33.3 %"); /* 2 / 3 of the third */
    def.inertia.moment = (sim_sym3){1, 1, -1, 0, 0, 0};
    expect_refusal(def, "negative principal moment");
    def = hinge("x", 0);
    def.inertia.mass = 0;
    expect_refusal(def, "mass must be positive");
    def = hinge("x", 0);
    def.inertia.mass = NAN;
    expect_refusal(def, "not finite");
    def = hinge("x", 5);
    expect_refusal(def, "parent 5");
    def = hinge("x", 0);
    def.axis = (sim_v3){0, 0, 0};
    expect_refusal(def, "axis");
    def = hinge("x", 0);
    def.damping[0] = -1;
    expect_refusal(def, "damping");
    def = hinge("x", 0);
    def.placement.R.x.x = 2;
    expect_refusal(def, "proper rotation");
    def = hinge("x", 0);
    def.joint = SIM_BALL;
    def.q[0] = 2;
    expect_refusal(def, "quaternion");
    def = hinge("x", 0);
    def.joint = SIM_FREE;
    def.stiffness[0] = 1;
    expect_refusal(def, "one stiffness for all directions, and one for all turns");
}

Test(model, a_welded_frame_without_mass_has_no_inertia_at_all) {
    sim_body_def def = sim_body_default();
    def.joint = SIM_FIXED;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    sim_model *m = sim_builder_finish(builder, NULL);
    cr_expect_not_null(m);
    sim_model_free(m);
    def.inertia.moment.xx = 1;
    expect_refusal(def, "mass must be positive");
    def.inertia.moment.xx = NAN;
    expect_refusal(def, "not finite");
    def.inertia.moment.xx = 0;
    def.inertia.com.y = NAN;
    expect_refusal(def, "not finite");
}

Test(model, couplings_act_on_coordinates_and_so_on_neither_ball_nor_free_joints) {
    const sim_joint_type refused[] = {SIM_BALL, SIM_FREE};
    for (int k = 0; k < 4; k++) {
        sim_builder *builder = sim_builder_create();
        sim_body_def a = hinge("a", 0), b = hinge("b", 0);
        (k % 2 ? &a : &b)->joint = refused[k / 2];
        sim_equality coupling = sim_equality_default();
        coupling.type = SIM_COUPLING;
        coupling.body[0] = sim_builder_add_body(builder, &a);
        coupling.body[1] = sim_builder_add_body(builder, &b);
        sim_error error = {0};
        cr_expect_eq(sim_builder_add_equality(builder, &coupling), -1);
        cr_expect_null(sim_builder_finish(builder, &error));
        cr_expect_not_null(strstr(error.text, "a coupling cannot act on a"), "%s", error.text);
        cr_expect_not_null(strstr(error.text, k % 2 ? "body \"a\"" : "body \"b\""), "%s", error.text);
    }
}

Test(model, tracks_of_another_width_than_their_use_are_refused) {
    const double times[] = {0}, values[] = {1, 2, 3, 4, 5, 6};
    for (int which = 0; which < 4; which++) {
        sim_track one = {.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = times, .values = values},
                  six = {.interpolation = SIM_HOLD, .keys = 1, .width = 6, .times = times, .values = values};
        sim_body_def def = hinge("x", 0);
        sim_builder *builder = sim_builder_create();
        int body = sim_builder_add_body(builder, &def);
        sim_actuator actuator = sim_actuator_default();
        actuator.kp = actuator.effort = 1;
        actuator.target = which == 0 ? six : one;
        actuator.feedforward = which == 1 ? six : one;
        sim_load load = {.dof = which == 2 ? -1 : 0, .track = which == 3 ? six : one};
        sim_builder_add_actuator(builder, body, &actuator);
        sim_builder_add_load(builder, &load, body);
        sim_error error = {0};
        cr_expect_null(sim_builder_finish(builder, &error), "%d", which);
        cr_expect_not_null(strstr(error.text, "values a key"), "%s", error.text);
    }
}

Test(model, matrices_of_chains_of_70000_links_have_more_entries_than_an_int_counts) {
    const int links = 70000;
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i < links; i++) {
        sim_body_def def = hinge(NULL, i);
        sim_builder_add_body(builder, &def);
    }
    sim_model *m = sim_builder_finish(builder, NULL);
    cr_assert_not_null(m);
    cr_expect_eq(m->nl, (long long)links * (links + 1) / 2);
    cr_expect_eq(m->dof[links - 1].row, m->nl - links);
    sim_model_free(m);
}

Test(model, two_bodies_of_one_name_are_refused) {
    sim_builder *builder = sim_builder_create();
    sim_body_def def = hinge("twin", 0);
    sim_builder_add_body(builder, &def);
    sim_builder_add_body(builder, &def);
    sim_error error;
    cr_expect_null(sim_builder_finish(builder, &error));
    cr_expect_not_null(strstr(error.text, "twin"));
}

Test(model, coordinates_and_dofs_have_names) {
    sim_builder *builder = sim_builder_create();
    sim_body_def base = hinge("base", 0), arm = hinge("arm", 1);
    base.joint = SIM_FREE;
    sim_builder_add_body(builder, &base);
    sim_builder_add_body(builder, &arm);
    sim_model *m = sim_builder_finish(builder, NULL);
    char text[64];
    sim_model_coordinate_name(m, 3, text, sizeof text);
    cr_expect_str_eq(text, "base.qw");
    sim_model_coordinate_name(m, 7, text, sizeof text);
    cr_expect_str_eq(text, "arm");
    sim_model_dof_name(m, 5, text, sizeof text);
    cr_expect_str_eq(text, "base.wz");
    cr_expect_eq(sim_model_find_body(m, "arm"), 2);
    cr_expect_eq(sim_model_find_body(m, "leg"), -1);
    sim_model_free(m);
}

Test(model, tracks_pass_through_their_keys_with_the_promised_smoothness) {
    const double times[] = {1, 2, 4}, values[] = {0, 3, -1};
    for (int kind = SIM_HOLD; kind <= SIM_QUINTIC; kind++) {
        sim_track track = {
            .interpolation = (sim_interpolation)kind, .keys = 3, .width = 1, .times = times, .values = values};
        double x, rate;
        sim_track_at(&track, 0, &x, &rate);
        cr_expect(x == 0 && rate == 0);
        sim_track_at(&track, 2, &x, &rate);
        cr_expect_eq(x, 3);
        sim_track_at(&track, 9, &x, &rate);
        cr_expect(x == -1 && rate == 0);
        for (double t = 1.05; t < 4; t += 0.1) {
            double before, after;
            sim_track_at(&track, t - 1e-6, &before, NULL);
            sim_track_at(&track, t + 1e-6, &after, NULL);
            sim_track_at(&track, t, &x, &rate);
            cr_expect(fabs((after - before) / 2e-6 - rate) < 1e-6);
        }
        sim_track_at(&track, 2 + 1e-9, &x, &rate);
        cr_expect(kind != SIM_CUBIC || fabs(rate) < 1e-7);
        cr_expect(kind != SIM_QUINTIC || fabs(rate) < 1e-15);
    }
}

Test(model, inertias_add_like_masses) {
    random_source r = {5};
    sim_inertia whole = box_inertia(2, 0.4, 0.2, 0.1), half = box_inertia(1, 0.2, 0.2, 0.1);
    sim_inertia left = half, right = half;
    left.com.x = -0.1;
    right.com.x = 0.1;
    sim_inertia sum = sim_inertia_add(&left, &right);
    cr_expect(fabs(sum.moment.yy - whole.moment.yy) < 1e-15);
    cr_expect(fabs(sum.moment.zz - whole.moment.zz) < 1e-15);
    cr_expect(fabs(sum.com.x) < 1e-15);
    for (int k = 0; k < 100; k++) {
        sim_inertia some = random_inertia(&r);
        cr_expect_eq(sim_inertia_check(&some, NULL), SIM_OK);
    }
}
