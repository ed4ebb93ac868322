/* All contacts of a model: who may touch, what moves fast. */
#include "collide/contact/bounds.h"
#include "collide/convex/convex.h"
#include "collide/support.h"
#include "math/spatial.h"
#include "support/meshes.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <string.h>

/* ---- who may touch ---- */

/* Links along x that overlap each other: hinge by hinge, all of them through one another and through the floor. */
static sim_builder *overlapping_chain(int links, int first_fixed) {
    sim_builder *b = sim_builder_create();
    sim_shape ball = sphere_shape(1), floor = plain_shape(SIM_HALF_SPACE, 0, 0, 0);
    sim_builder_add_shape(b, &floor);
    for (int i = 1; i <= links; i++) {
        sim_body_def def = sim_body_default();
        char name[8] = {(char)('a' + i - 1), 0};
        def.name = name;
        def.parent = i - 1;
        def.joint = i == 1 && first_fixed ? SIM_FIXED : SIM_HINGE;
        def.inertia = box_inertia(1, 1, 1, 1);
        def.placement = pose_at(0.1, 0, 0);
        ball.body = sim_builder_add_body(b, &def);
        sim_builder_add_shape(b, &ball);
    }
    return b;
}

Test(filters, a_body_does_not_touch_what_it_hangs_on_but_its_grandparent_and_the_world) {
    stage s = stage_create(finished(overlapping_chain(3, 0)), NAN, 1);
    stage_look(&s, 0);
    cr_expect_eq(stage_contacts_of(&s, "a", "b"), 0);
    cr_expect_eq(stage_contacts_of(&s, "b", "c"), 0);
    cr_expect_eq(stage_contacts_of(&s, "a", "c"), 1);
    cr_expect_eq(stage_contacts_of(&s, "world", "a"), 1, "the world is no parent in this sense");
    cr_expect_eq(stage_contacts_of(&s, "world", "c"), 1);
    stage_free(&s);
}

Test(filters, what_is_fixed_together_is_one_body) {
    stage s = stage_create(finished(overlapping_chain(3, 1)), NAN, 1);
    stage_look(&s, 0);
    cr_expect_eq(stage_contacts_of(&s, "world", "a"), 0, "two still shapes");
    cr_expect_eq(stage_contacts_of(&s, "a", "b"), 1, "b hangs on the world, which a is part of");
    cr_expect_eq(stage_contacts_of(&s, "b", "c"), 0);
    cr_expect_eq(stage_contacts_of(&s, "a", "c"), 1);
    stage_free(&s);
}

Test(filters, named_exclusions_hold_both_ways_and_for_no_one_else) {
    sim_builder *b = overlapping_chain(4, 0);
    sim_builder_add_exclusion(b, 3, 1);
    sim_builder_add_exclusion(b, 1, 3);
    sim_builder_add_exclusion(b, 0, 2);
    stage s = stage_create(finished(b), NAN, 1);
    cr_expect_eq(s.model->nexclusion, 2, "said twice, kept once");
    stage_look(&s, 0);
    cr_expect_eq(stage_contacts_of(&s, "a", "c"), 0);
    cr_expect_eq(stage_contacts_of(&s, "world", "b"), 0);
    cr_expect_eq(stage_contacts_of(&s, "a", "d"), 1);
    cr_expect_eq(stage_contacts_of(&s, "b", "d"), 1);
    cr_expect_eq(stage_contacts_of(&s, "world", "c"), 1);
    stage_free(&s);
}

Test(filters, both_masks_must_agree) {
    sim_builder *b = sim_builder_create();
    sim_shape ball = sphere_shape(1);
    const uint32_t group[3] = {1, 2, 4}, mask[3] = {2 | 4, 1, 2};
    const char *const name[3] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        ball.group = group[i];
        ball.mask = mask[i];
        add_solid(b, name[i], &ball, (sim_v3){0.3 * i, 0, 0}, 0);
    }
    stage s = stage_create(finished(b), NAN, 1);
    stage_look(&s, 0);
    cr_expect_eq(stage_contacts_of(&s, "a", "b"), 1);
    cr_expect_eq(stage_contacts_of(&s, "a", "c"), 0, "a would, c would not");
    cr_expect_eq(stage_contacts_of(&s, "b", "c"), 0);
    stage_free(&s);
}

/* ---- margin and motion ---- */

static stage ball_over_plate(double height, sim_v3 velocity, double plate) {
    sim_builder *b = sim_builder_create();
    sim_shape ball = sphere_shape(0.005), slab = box_shape(plate, plate, 0.01);
    add_solid(b, "plate", &slab, (sim_v3){0, 0, -0.005}, 1);
    add_solid(b, "ball", &ball, (sim_v3){0, 0, height + 0.005}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    s.step = 5e-3;
    s.velocity[sim_model_find_body(s.model, "ball")].lin = velocity;
    return s;
}

Test(margin, a_resting_pair_is_in_contact_within_it_and_not_beyond) {
    for (int k = 0; k < 2; k++) {
        stage s = ball_over_plate(k ? 0.99 * 5e-6 : 1.01 * 5e-6, (sim_v3){0, 0, 0}, 1);
        stage_look(&s, 0);
        cr_expect_eq(s.count, k, "a thousandth of 5 mm is the margin");
        stage_free(&s);
    }
}

/* The ball, freed of what would take it through: v_n >= -gap/step at each contact. */
static sim_v3 stopped(const stage *s, sim_v3 v, int ball) {
    for (int k = 0; k < s->count; k++) {
        const sim_contact *c = &s->contact[k];
        double side = c->body_a == ball ? 1 : -1;
        sim_v3 n = {side * c->at.normal.x, side * c->at.normal.y, side * c->at.normal.z};
        double missing = -c->at.gap / s->step - (v.x * n.x + v.y * n.y + v.z * n.z);
        if (missing > 0) {
            v = (sim_v3){v.x + missing * n.x, v.y + missing * n.y, v.z + missing * n.z};
        }
    }
    return v;
}

Test(motion, a_small_ball_at_100_m_per_s_does_not_pass_a_thin_plate) {
    random_source r = {11};
    for (int k = 0; k < 500; k++) {
        sim_v3 v = {random_uniform(&r, -20, 20), random_uniform(&r, -20, 20), -100};
        stage s = ball_over_plate(random_uniform(&r, 0, 0.7), v, 1);
        int ball = sim_model_find_body(s.model, "ball");
        double height = s.pose[ball].p.z - 0.005, arrives = height + v.z * s.step;
        stage_look(&s, 0);
        if (arrives > 5.1e-6) {
            cr_assert_eq(s.count, 0, "%g m above at the end of the step, yet in contact", arrives);
        } else {
            cr_assert_eq(s.count, 1);
            cr_assert_float_eq(s.contact[0].at.gap, height, 1e-12);
            sim_v3 slow = stopped(&s, v, ball);
            cr_assert_float_eq(height + slow.z * s.step, 0, 1e-12, "it is stopped at the surface");
            cr_assert(slow.x == v.x && slow.y == v.y);
        }
        stage_free(&s);
    }
}

Test(motion, what_passes_by_is_not_touched) {
    /* The plane of the plate's top goes on for ever, the plate does not. */
    stage s = ball_over_plate(0.02, (sim_v3){100, 0, -10}, 0.1);
    s.pose[sim_model_find_body(s.model, "ball")].p.x = 0.048;
    stage_look(&s, 0);
    cr_expect_eq(s.count, 0);
    stage_free(&s);
}

Test(motion, a_spinning_rod_finds_what_its_end_will_hit) {
    sim_builder *b = sim_builder_create();
    sim_shape rod = plain_shape(SIM_CAPSULE, 0.01, 2, 0), ball = sphere_shape(0.05);
    add_solid(b, "rod", &rod, (sim_v3){0, 0, 0}, 0);
    add_solid(b, "ball", &ball, (sim_v3){0.5, 0, 0.8}, 1);
    stage s = stage_create(finished(b), NAN, 1);
    s.step = 0.01;
    int body = sim_model_find_body(s.model, "rod");
    s.velocity[body].ang = (sim_v3){0, 100, 0}; /* a radian in the step: the ball stands at 0.56 rad */
    stage_look(&s, 0);
    cr_expect_eq(s.count, 1);
    s.velocity[body].ang = (sim_v3){0, 45, 0};
    stage_look(&s, 0);
    cr_expect_eq(s.count, 0, "it gets no farther than 0.45 rad");
    s.velocity[body].ang = (sim_v3){0, -100, 0};
    stage_look(&s, 0);
    cr_expect_eq(s.count, 0, "it turns away");
    stage_free(&s);
}

Test(motion, a_box_that_tips_over_finds_the_corners_it_will_land_on) {
    sim_builder *b = sim_builder_create();
    sim_shape floor = box_shape(4, 4, 1), box = box_shape(0.2, 0.2, 0.2);
    add_solid(b, "floor", &floor, (sim_v3){0, 0, -0.5}, 1);
    add_solid(b, "box", &box, (sim_v3){0, 0, 0.1}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    int body = sim_model_find_body(s.model, "box");
    s.step = 0.01;
    s.pose[body].R = m3_axis_angle(v3_make(0, 1, 0), 0.05); /* one edge down, the other 10 mm up */
    s.pose[body].p.z = 0.1 * (cos(0.05) + sin(0.05));
    for (int k = 0; k < 3; k++) {
        s.velocity[body].ang = (sim_v3){0, (const double[]){0, -12, 12}[k], 0};
        stage_look(&s, 0);
        cr_assert_eq(s.count, k == 1 ? 4 : 2, "turning at %g rad/s", s.velocity[body].ang.y);
    }
    stage_free(&s);
}

/* Contacts of the two boxes now, with these velocities; the deepest gap. */
static int look_at_boxes(stage *s, const sim_motion *velocity, double *deepest) {
    *deepest = INFINITY;
    for (int k = 0; k < 2; k++) {
        s->velocity[k + 1] = velocity ? velocity[k] : (sim_motion){{0, 0, 0}, {0, 0, 0}};
    }
    stage_look(s, 0);
    for (int k = 0; k < s->count; k++) {
        *deepest = fmin(*deepest, s->contact[k].at.gap);
    }
    return s->count;
}

/* Boxes of 10 cm a little apart, spinning at up to 30 rad/s: the bound on their approach is far above it, so that it
 * takes many small advances to be sure of the gap. */
Test(motion, spinning_boxes_that_will_overlap_are_in_contact_however_slowly_their_gap_closes) {
    random_source r = {1};
    sim_builder *b = sim_builder_create();
    sim_shape box = box_shape(0.1, 0.1, 0.1);
    add_solid(b, "a", &box, (sim_v3){0, 0, 0}, 0);
    add_solid(b, "b", &box, (sim_v3){0, 0, 0}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    int overlap = 0, missed = 0;
    s.step = 0.01;
    for (int trial = 0; trial < trials_of(200000); trial++) {
        /* apart at the start */
        double gap;
        sim_motion v[2];
        s.pose[1] = random_pose(&r, 0);
        s.pose[2] = random_pose(&r, 0.1);
        for (int k = 0; k < 2; k++) {
            v[k].lin = random_pose(&r, 0.5).p;
            v[k].ang = random_pose(&r, 30).p;
        }
        if (look_at_boxes(&s, NULL, &gap)) {
            continue;
        }
        /* in contact, or no overlap in the end */
        int found = look_at_boxes(&s, v, &gap);
        for (int k = 0; k < 2; k++) {
            sim_pose *X = &s.pose[k + 1];
            X->R = m3_product(quat_matrix(quat_exp(v3_scale(s.step, v[k].ang))), X->R);
            X->p = v3_axpy(X->p, s.step, v[k].lin);
        }
        look_at_boxes(&s, NULL, &gap);
        overlap += gap < -1e-3;
        missed += gap < -1e-3 && !found;
    }
    cr_assert_gt(overlap, trials_of(1000));
    cr_assert_eq(missed, 0, "%d of %d", missed, overlap);
    stage_free(&s);
}

Test(motion, a_ball_on_its_way_to_a_mesh_or_a_field_is_stopped_there_too) {
    sim_field_def slab = sim_field_default();
    slab.type = SIM_FIELD_BOX;
    slab.size[0] = slab.size[1] = 1, slab.size[2] = 0.01;
    for (int kind = 0; kind < 2; kind++) {
        sim_builder *b = sim_builder_create();
        sim_geometry *own = kind ? sim_geometry_field(&slab, 0, NULL, NULL) : soup_geometry(soup_plane(1, 1, 20, 20));
        sim_shape plate = plain_shape(kind ? SIM_SDF : SIM_MESH, 0, 0, 0), ball = sphere_shape(0.005);
        plate.geometry = sim_builder_add_geometry(b, own);
        add_solid(b, "plate", &plate, (sim_v3){0, 0, kind ? -0.005 : 0}, 1);
        add_solid(b, "ball", &ball, (sim_v3){0.01, 0.02, 0.305}, 0);
        stage s = stage_create(finished(b), NAN, 1);
        s.step = 5e-3;
        s.velocity[sim_model_find_body(s.model, "ball")].lin = (sim_v3){10, -5, -100};
        stage_look(&s, 0);
        cr_assert_eq(s.count, 1);
        cr_assert_float_eq(s.contact[0].at.gap, 0.3, 1e-9);
        stage_free(&s);
    }
}

/* ---- the whole ---- */

Test(collision, contacts_are_sorted_and_complete) {
    random_source r = {6};
    stage s = stage_create(scattered_solids(&r, 120, 0.5), NAN, 2);
    stage_look(&s, 0);
    const sim_model *m = s.model;
    int found = 0;
    for (int k = 1; k < s.count; k++) {
        const sim_contact *a = &s.contact[k - 1], *b = &s.contact[k];
        cr_assert(a->shape_a < b->shape_a || (a->shape_a == b->shape_a && a->shape_b < b->shape_b) ||
                  (a->shape_a == b->shape_a && a->shape_b == b->shape_b && a->at.feature < b->at.feature));
    }
    for (int i = 0; i < m->nshape; i++) {
        for (int j = i + 1; j < m->nshape; j++) {
            sim_contact_point point[8];
            double margin = fmin(shape_ball(&m->shape[i]).radius, shape_ball(&m->shape[j]).radius) / 1000;
            found += sim_collide_shapes(&m->shape[i], &s.pose[m->shape[i].body], &m->shape[j],
                                        &s.pose[m->shape[j].body], margin, point, 8);
        }
    }
    cr_expect_eq(found, s.count, "every pair on its own gives %d", found);
    stage_free(&s);
}

Test(collision, carries_what_the_two_materials_are_together) {
    sim_builder *b = sim_builder_create();
    sim_material ice = sim_material_default(), wood = ice;
    ice.name = "ice", ice.friction = 0.01, ice.stiffness = 1e5;
    wood.name = "wood", wood.friction = 0.36, wood.restitution = 0.4;
    sim_shape x = sphere_shape(1), y = sphere_shape(1);
    x.material = sim_builder_add_material(b, &ice);
    y.material = sim_builder_add_material(b, &wood);
    add_solid(b, "x", &x, (sim_v3){0, 0, 0}, 0);
    add_solid(b, "y", &y, (sim_v3){1.5, 0, 0}, 0);
    stage s = stage_create(finished(b), NAN, 1);
    stage_look(&s, 0);
    cr_assert_eq(s.count, 1);
    cr_expect_float_eq(s.contact[0].friction, 0.06, 1e-15);
    cr_expect_float_eq(s.contact[0].stiffness, 1e5, 1e-9);
    cr_expect_float_eq(s.contact[0].restitution, 0.4, 1e-15);
    stage_free(&s);
}

/* A wall turned upright has a rounding of its normal along the others; what is on its far side is not near. */
Test(bounds, a_plane_straight_but_for_rounding_ends_where_it_stands) {
    sim_shape wall = plain_shape(SIM_HALF_SPACE, 0, 0, 0);
    for (int k = 0; k < 8; k++) {
        double turn = k / 2 * M_PI / 2 + (k % 2 ? 1e-6 : 0), c = cos(turn), s = sin(turn);
        pose X = {{{1, 0, 0}, {0, c, s}, {0, -s, c}}, {5, 4, 3}}; /* faces along (0, -s, c) */
        aabb box = shape_bounds(&wall, &X);
        const double low[3] = {box.low.x, box.low.y, box.low.z}, high[3] = {box.high.x, box.high.y, box.high.z};
        int ends = 0;
        for (int axis = 0; axis < 3; axis++) {
            ends += isfinite(low[axis]) + isfinite(high[axis]);
        }
        cr_expect_eq(ends, k % 2 == 0, "%d quarter turns: %d ends", k / 2, ends);
        for (int axis = 0; axis < 3 && k % 2 == 0; axis++) {
            double facing = axis == 0 ? 0 : axis == 1 ? -s : c, place = axis == 0 ? 5 : axis == 1 ? 4 : 3;
            double end = facing > 0.5 ? high[axis] - place : facing < -0.5 ? place - low[axis] : 0;
            cr_expect(end >= 0 && end <= 1e-5, "%d quarter turns: ends %g beyond", k / 2, end);
        }
    }
}

Test(bounds, boxes_hold_every_support_point_and_touch_one_on_each_side) {
    random_source r = {9};
    for (int k = 0; k < 5000; k++) {
        sim_shape_type type = (sim_shape_type)random_index(&r, SIM_HALF_SPACE);
        sim_shape shape =
            plain_shape(type, random_uniform(&r, 0.1, 2), random_uniform(&r, 0.1, 2), random_uniform(&r, 0.1, 2));
        pose X = random_pose(&r, 10);
        aabb box = shape_bounds(&shape, &X);
        convex c;
        cr_assert(convex_of_shape(&shape, &c));
        for (int axis = 0; axis < 6; axis++) {
            double sign = axis % 2 ? 1 : -1;
            v3 d = v3_make(axis / 2 == 0 ? sign : 0, axis / 2 == 1 ? sign : 0, axis / 2 == 2 ? sign : 0);
            uint32_t vertex;
            v3 far = pose_point(X, convex_support(&c, m3_transposed_times(X.R, d), &vertex));
            double reach = v3_dot(d, far) + c.radius, side = v3_dot(d, axis % 2 ? box.high : box.low);
            cr_assert_float_eq(reach, side, 1e-12, "%s", sim_shape_name(type));
        }
        bounding_ball around = shape_ball(&shape);
        cr_assert(v3_norm(around.centre) + around.radius >= c.extent - 1e-12);
    }
}
