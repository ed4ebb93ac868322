/* Contacts that stay the same from step to step: features, normals and gaps of things at rest, rolling and rocking. The
 * test moves the bodies; noise stands for the residual of a solver. */
#include "collide/support.h"
#include "math/spatial.h"

#include <criterion/criterion.h>

enum { STEPS = 10000, MOST = 64 };

static void jitter(random_source *r, sim_pose *X, double length, double angle) {
    X->p.x += random_uniform(r, -length, length);
    X->p.y += random_uniform(r, -length, length);
    X->p.z += random_uniform(r, -length, length);
    X->R = m3_product(m3_axis_angle(random_unit(r), random_uniform(r, -angle, angle)), X->R);
}

static void same_features_all_along(stage *s, int moving, int expected, double noise) {
    random_source r = {17};
    uint64_t feature[MOST];
    sim_pose home[MOST];
    cr_assert(s->model->nbody <= MOST);
    for (int i = 0; i < s->model->nbody; i++) {
        home[i] = s->pose[i];
    }
    for (int step = 0; step < STEPS; step++) {
        for (int i = 1; i < s->model->nbody; i++) {
            s->pose[i] = home[i];
            if (i >= moving) {
                jitter(&r, &s->pose[i], noise, noise);
            }
        }
        stage_look(s, 1);
        cr_assert_eq(s->count, expected, "step %d: %d contacts, not %d", step, s->count, expected);
        for (int k = 0; k < s->count; k++) {
            feature[k] = step ? feature[k] : s->contact[k].at.feature;
            cr_assert_eq(s->contact[k].at.feature, feature[k], "step %d, contact %d: its feature changed", step, k);
            cr_assert(v3_finite(s->contact[k].at.position) && fabs(v3_norm(s->contact[k].at.normal) - 1) < 1e-12);
        }
    }
}

Test(persistence, a_resting_box_keeps_four_features_for_ten_thousand_steps) {
    sim_builder *b = sim_builder_create();
    sim_shape floor = plain_shape(SIM_HALF_SPACE, 0, 0, 0), box = box_shape(0.2, 0.3, 0.1);
    sim_builder_add_shape(b, &floor);
    add_solid(b, "box", &box, (sim_v3){0, 0, 0.05}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    same_features_all_along(&s, 1, 4, 1e-6);
    stage_free(&s);
}

Test(persistence, so_does_one_on_a_table_with_its_corners_over_the_edge) {
    sim_builder *b = sim_builder_create();
    sim_shape table = box_shape(0.3, 0.3, 0.1), box = box_shape(0.4, 0.1, 0.1);
    add_solid(b, "table", &table, (sim_v3){0, 0, -0.05}, 1);
    add_solid(b, "box", &box, (sim_v3){0, 0, 0.05}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    same_features_all_along(&s, 2, 4, 1e-6);
    stage_free(&s);
}

/* Equal boxes on top of each other: every corner and edge of one coincides with one of the other. */
Test(persistence, so_does_a_stack_of_ten) {
    sim_builder *b = sim_builder_create();
    sim_shape floor = plain_shape(SIM_HALF_SPACE, 0, 0, 0), box = box_shape(0.1, 0.1, 0.1);
    sim_builder_add_shape(b, &floor);
    for (int k = 0; k < 10; k++) {
        add_solid(b, NULL, &box, (sim_v3){0, 0, 0.05 + 0.1 * k}, 0);
    }
    stage s = stage_create(finished(b), NAN, 1);
    for (int step = 0; step < 3; step++) {
        stage_look(&s, 1);
    }
    same_features_all_along(&s, 1, 40, 1e-9);
    stage_free(&s);
}

Test(persistence, a_capsule_across_an_edge_keeps_its_one_point_and_along_it_its_two) {
    for (int along = 0; along < 2; along++) {
        sim_builder *b = sim_builder_create();
        sim_shape block = box_shape(1, 1, 1), capsule = plain_shape(SIM_CAPSULE, 0.05, 0.4, 0);
        add_solid(b, "block", &block, (sim_v3){0, 0, 0}, 1);
        add_solid(b, "capsule", &capsule, (sim_v3){0.5 + 0.05 * sqrt(0.5), 0, 0.5 + 0.05 * sqrt(0.5)}, 0);
        stage s = stage_create(finished(b), NAN, 1);
        int body = sim_model_find_body(s.model, "capsule");
        double angle = along ? 1.5707963267948966 : 0.78539816339744831;
        s.pose[body].R = along ? m3_axis_angle(v3_make(1, 0, 0), angle) : m3_axis_angle(v3_make(0, 1, 0), -angle);
        same_features_all_along(&s, 2, along ? 2 : 1, 1e-7);
        cr_expect_float_eq(fabs(s.contact[0].at.normal.x), sqrt(0.5), 1e-4);
        stage_free(&s);
    }
}

Test(persistence, a_box_on_its_edge_has_two_and_on_its_corner_one) {
    for (int corner = 0; corner < 2; corner++) {
        sim_builder *b = sim_builder_create();
        sim_shape floor = box_shape(4, 4, 1), box = box_shape(0.2, 0.2, 0.2);
        add_solid(b, "floor", &floor, (sim_v3){0, 0, -0.5}, 1);
        add_solid(b, "box", &box, (sim_v3){0, 0, 0.1 * sqrt(corner ? 3 : 2)}, 0);
        stage s = stage_create(finished(b), NAN, 1);
        int body = sim_model_find_body(s.model, "box");
        v3 axis = corner ? v3_make(sqrt(0.5), -sqrt(0.5), 0) : v3_make(1, 0, 0);
        s.pose[body].R = m3_axis_angle(axis, corner ? acos(1 / sqrt(3)) : 0.78539816339744831);
        same_features_all_along(&s, 2, corner ? 1 : 2, 1e-7);
        stage_free(&s);
    }
}

/* Rolled once around on its side, then rocked up on its rim: the gap under it stays what it is. */
Test(persistence, a_rolling_cylinder_has_two_points_on_one_line_below_it) {
    sim_builder *b = sim_builder_create();
    sim_shape floor = box_shape(4, 4, 1), cylinder = plain_shape(SIM_CYLINDER, 0.1, 0.3, 0);
    add_solid(b, "floor", &floor, (sim_v3){0, 0, -0.5}, 1);
    add_solid(b, "roll", &cylinder, (sim_v3){0, 0, 0.1}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    int body = sim_model_find_body(s.model, "roll");
    m3 lying = m3_axis_angle(v3_make(1, 0, 0), 1.5707963267948966);
    for (int k = 0; k <= 720; k++) {
        double turn = k * 3.14159265358979323846 / 360;
        s.pose[body].R = m3_product(m3_axis_angle(v3_make(0, 1, 0), turn), lying);
        s.pose[body].p = v3_make(0.1 * turn, 0, 0.1 - 1e-6);
        stage_look(&s, 1);
        cr_assert_eq(s.count, 2, "turned by %g", turn);
        double reach = 0;
        for (int c = 0; c < 2; c++) {
            const sim_contact_point *at = &s.contact[c].at;
            cr_assert_float_eq(at->gap, -1e-6, 1e-9);
            cr_assert_float_eq(fabs(at->normal.z), 1, 1e-9);
            cr_assert_float_eq(at->position.x, 0.1 * turn, 1e-6);
            reach += fabs(at->position.y);
        }
        cr_assert_float_eq(reach, 0.3, 1e-6);
    }
    stage_free(&s);
}

Test(persistence, a_cylinder_on_its_cap_stands_on_points_spread_around_the_rim) {
    sim_builder *b = sim_builder_create();
    sim_shape floor = box_shape(4, 4, 1), cylinder = plain_shape(SIM_CYLINDER, 0.1, 0.3, 0);
    add_solid(b, "floor", &floor, (sim_v3){0, 0, -0.5}, 1);
    add_solid(b, "can", &cylinder, (sim_v3){0, 0, 0.15}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    int body = sim_model_find_body(s.model, "can");
    random_source r = {4};
    for (int k = 0; k < 2000; k++) {
        s.pose[body] = pose_at(0, 0, 0.15);
        s.pose[body].R = m3_axis_angle(v3_make(0, 0, 1), 0.01 * k);
        jitter(&r, &s.pose[body], 1e-7, 1e-7);
        stage_look(&s, 1);
        cr_assert(s.count == 3 || s.count == 4);
        v3 middle = {0, 0, 0};
        for (int c = 0; c < s.count; c++) {
            v3 p = s.contact[c].at.position;
            cr_assert_float_eq(hypot(p.x, p.y), 0.1, 1e-3);
            middle = v3_add(middle, p);
        }
        cr_assert_lt(hypot(middle.x, middle.y) / s.count, 0.04, "they surround its axis");
    }
    stage_free(&s);
}
