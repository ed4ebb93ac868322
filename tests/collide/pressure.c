/* Pressure fields: forces, moments and stiffnesses of soft solids against their integrals. */
#include "collide/support.h"
#include "math/angle.h"
#include "math/spatial.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MAX_POINTS = 40000 };
static const double E = 1e5; /* Pa */

static sim_geometry *made[64];
static int nmade;

static sim_geometry *keep(sim_geometry *g) {
    cr_assert(g && nmade < 64);
    return made[nmade++] = g;
}

static void free_made(void) {
    while (nmade > 0) {
        sim_geometry_free(made[--nmade]);
    }
}

static sim_shape soft(sim_shape s, double edge, double modulus) {
    s.pressure = keep(sim_shape_pressure(&s, edge, NULL));
    s.modulus = modulus;
    return s;
}

static sim_shape rigid(sim_shape s, double edge) {
    s.facets = keep(sim_shape_facets(&s, edge, NULL));
    return s;
}

/* Force and moment about the origin on A at rest, the stiffness along the normals, and the number of polygons. */
typedef struct load {
    v3 force, moment;
    double stiffness, area;
    int count;
} load;

static load load_between(const sim_shape *a, pose X_a, const sim_shape *b, pose X_b) {
    static sim_contact_point point[MAX_POINTS];
    load sum = {0};
    sum.count = sim_collide_shapes(a, &X_a, b, &X_b, 0, point, MAX_POINTS);
    cr_assert(sum.count >= 0 && sum.count <= MAX_POINTS);
    for (int k = 0; k < sum.count; k++) {
        cr_assert(point[k].gap <= 0 && point[k].stiffness > 0 && point[k].area > 0);
        cr_assert_float_eq(v3_norm(point[k].normal), 1, 1e-12);
        v3 f = v3_scale(-point[k].gap * point[k].stiffness, point[k].normal);
        sum.force = v3_add(sum.force, f);
        sum.moment = v3_add(sum.moment, v3_cross(point[k].position, f));
        sum.stiffness += point[k].stiffness;
        sum.area += point[k].area;
    }
    return sum;
}

/* Ball of radius R pressed by the depth d into a plane: integral of E (1 - s/R) 2 pi s ds, s from R - d to R. */
static double ball_on_plane(double R, double d) {
    double s = R - d;
    return 2 * PI * E * (R * R / 6 - s * s / 2 + s * s * s / (3 * R));
}

Test(pressure, force_of_a_ball_on_a_plane_converges_to_its_integral, .fini = free_made) {
    const double R = 0.05, d = 0.006;
    sim_shape plane = plain_shape(SIM_HALF_SPACE, 0, 0, 0);
    double error[3], due = ball_on_plane(R, d);
    for (int fine = 0; fine < 3; fine++) {
        /* mean over placings: single ones depend on where facets stand */
        sim_shape ball = soft(sphere_shape(R), 0.0135 / (1 << fine), E);
        random_source r = {7};
        double mean = 0, worst = 0;
        for (int k = 0; k < 40; k++) {
            pose X = {random_rotation(&r), {0.01, -0.02, R - d}};
            load at = load_between(&ball, X, &plane, pose_identity());
            mean += at.force.z / 40;
            worst = fmax(worst, fabs(at.force.z / due - 1));
            cr_expect(fabs(at.force.x) + fabs(at.force.y) < 1e-12 * due);
        }
        error[fine] = fabs(mean / due - 1);
        cr_expect(worst < 0.06 / (1 << 2 * fine), "edge %d: %g", fine, worst);
    }
    cr_expect(error[1] < 0.35 * error[0] && error[2] < 0.35 * error[1], "%g %g %g", error[0], error[1], error[2]);
}

Test(pressure, two_equal_balls_meet_half_way_and_each_bears_the_other, .fini = free_made) {
    const double R = 0.05, d = 0.008;
    sim_shape ball = soft(sphere_shape(R), 0.004, E);
    random_source r = {3};
    for (int k = 0; k < 10; k++) {
        pose A = {random_rotation(&r), {0, 0, 0}}, B = {random_rotation(&r), {0, 0, 2 * R - d}};
        load on_a = load_between(&ball, A, &ball, B), on_b = load_between(&ball, B, &ball, A);
        cr_expect_float_eq(on_a.force.z, -ball_on_plane(R, d / 2), 0.02 * ball_on_plane(R, d / 2), "%g, due %g",
                           on_a.force.z, -ball_on_plane(R, d / 2));
        cr_expect_eq(on_a.count, on_b.count);
        cr_expect(v3_norm(v3_add(on_a.force, on_b.force)) < 1e-11 * v3_norm(on_a.force));
        cr_expect(v3_norm(v3_add(on_a.moment, on_b.moment)) < 1e-11 * R * v3_norm(on_a.force));
    }
}

/* Two layers of moduli E, 3 E and half thickness h in series: 1/k = h/(E A) + h/(3 E A). */
Test(pressure, a_box_on_a_layer_is_a_spring_of_stiffness_E_A_over_H, .fini = free_made) {
    const double h = 0.01;
    sim_shape layer = soft(box_shape(0.4, 0.3, 2 * h), 0.05, E), block = rigid(box_shape(0.1, 0.08, 0.05), HUGE_VAL);
    for (double d = 1e-7; d < 0.5 * h; d *= 10) {
        load at = load_between(&block, pose_at(0.03, 0.02, h + 0.025 - d), &layer, pose_identity());
        double k = E * 0.1 * 0.08 / h;
        cr_expect_float_eq(at.force.z, k * d, 1e-9 * k * d, "%g: %.12g, due %.12g", d, at.force.z, k * d);
        cr_expect_float_eq(at.stiffness, k, 1e-9 * k);
        cr_expect_float_eq(at.area, 0.1 * 0.08, 1e-12);
        cr_expect(v3_norm(v3_sub(at.moment, v3_cross(v3_make(0.03, 0.02, h - d), at.force))) < 1e-9 * k * d * 0.1);
    }
    sim_shape stiff = soft(box_shape(0.1, 0.08, 2 * h), 0.03, 3 * E);
    load at = load_between(&stiff, pose_at(0, 0, 2 * h - 1e-6), &layer, pose_identity());
    double k = 0.75 * E * 0.1 * 0.08 / h;
    cr_expect_float_eq(at.force.z, k * 1e-6, 1e-4 * k * 1e-6, "%g, due %g", at.force.z, k * 1e-6);
    cr_expect_float_eq(at.stiffness, k, 1e-4 * k, "%g, due %g", at.stiffness, k);
}

/* A block on a layer, pressed by d in the middle and tilted by t about y: moment E/h t a^3 b / 12. */
Test(pressure, moment_of_an_off_centre_load_is_right_to_a_thousandth, .fini = free_made) {
    const double h = 0.01, a = 0.1, b = 0.08, d = 2e-4, tilt = 2e-3;
    sim_shape layer = soft(box_shape(0.2, 0.2, 2 * h), 0.004, E), block = rigid(box_shape(a, b, 0.05), HUGE_VAL);
    pose X = {m3_axis_angle(v3_make(0, 1, 0), tilt), {0, 0, 0}};
    X.p = v3_sub(v3_make(0, 0, h - d), m3_times(X.R, v3_make(0, 0, -0.025)));
    load at = load_between(&block, X, &layer, pose_identity());
    v3 about = v3_sub(at.moment, v3_cross(v3_make(0, 0, h - d), at.force));
    double due = E / h * a * b * d, moment = -E / h * tilt * a * a * a * b / 12;
    cr_expect_float_eq(at.force.z, due, 1e-3 * due, "%g, due %g", at.force.z, due);
    cr_expect_float_eq(about.y, moment, 1e-3 * fabs(moment), "%.9g, due %.9g", about.y, moment);
}

/* The force on a rigid ball of radius a in a soft one: integral of p n over its surface. */
static double ball_in_ball(double R, double a, double distance) {
    double sum = 0;
    enum { PARTS = 20000 };
    for (int k = 0; k < PARTS; k++) {
        double angle = (k + 0.5) * PI / PARTS, s = sqrt(distance * distance + a * a - 2 * a * distance * cos(angle));
        sum += fmax(0, E * (1 - s / R)) * cos(angle) * 2 * PI * a * a * sin(angle) * PI / PARTS;
    }
    return sum;
}

Test(pressure, a_rigid_ball_in_a_soft_one_is_pushed_out_as_the_integral_says, .fini = free_made) {
    const double R = 0.05, a = 0.02, distance = 0.062;
    sim_shape ball = soft(sphere_shape(R), 0.003, E), small = rigid(sphere_shape(a), 0.0012);
    random_source r = {5};
    double due = ball_in_ball(R, a, distance);
    for (int k = 0; k < 5; k++) {
        pose A = {random_rotation(&r), {0, 0, 0}}, B = {random_rotation(&r), {distance, 0, 0}};
        load at = load_between(&ball, A, &small, B);
        cr_expect_float_eq(at.force.x, -due, 0.02 * due, "%g, due %g", at.force.x, -due);
        load other = load_between(&small, B, &ball, A);
        cr_expect(v3_norm(v3_add(at.force, other.force)) < 1e-11 * due);
    }
}

/* Translations of a rigid solid in a soft one: the force has the potential of p over the overlap, so no closed path
 * does work.  A loop through a corner of a box in a ball, by the trapezoidal rule. */
Test(pressure, a_closed_path_without_friction_does_no_work, .fini = free_made) {
    sim_shape ball = soft(sphere_shape(0.05), 0, E), box = rigid(box_shape(0.06, 0.06, 0.06), HUGE_VAL);
    double work[2], stored = 0;
    for (int fine = 0; fine < 2; fine++) {
        int steps = fine ? 4000 : 2000;
        v3 before_x = {0}, before_f = {0};
        work[fine] = 0;
        for (int k = 0; k <= steps; k++) {
            double t = 2 * PI * k / steps;
            v3 x = v3_make(0.055 + 0.006 * cos(t), 0.056 + 0.005 * sin(t), 0.062 + 0.006 * sin(2 * t));
            pose X = {m3_identity(), x};
            load at = load_between(&box, X, &ball, pose_identity());
            if (k > 0) {
                double part = v3_dot(v3_scale(0.5, v3_add(at.force, before_f)), v3_sub(x, before_x));
                work[fine] += part;
                stored += fine ? fabs(part) : 0;
            }
            before_x = x;
            before_f = at.force;
        }
    }
    cr_expect(stored > 1e-3);
    cr_expect(fabs(work[1]) < 1e-6 * stored, "%g, then %g of %g J", work[0], work[1], stored);
}

/* The force is the integral of grad p over the part of the overlap on its own side of the surface of contact.  So it
 * changes by the greatest slope times the area of that surface, at most that of the ball, over the way. */
Test(pressure, force_is_continuous_along_random_slides, .fini = free_made) {
    const double R = 0.05, step = 1e-7;
    sim_shape ball = soft(sphere_shape(R), 0, E), box = soft(box_shape(0.1, 0.08, 0.06), 0, 2 * E),
              block = rigid(box_shape(0.1, 0.08, 0.06), HUGE_VAL);
    const sim_shape *other[2] = {&box, &block};
    random_source r = {9};
    double steepest = 0, worst = 0;
    for (int k = 0; k < ball.pressure->tets->ntet; k++) {
        steepest = fmax(steepest, E * v3_norm(ball.pressure->tets->slope[k]));
    }
    double stiffest = 4 * PI * R * R * steepest;
    for (int k = 0; k < trials_of(10000); k++) {
        pose A = {random_rotation(&r), {0, 0, 0}}, B = {random_rotation(&r), {0, 0, 0}};
        B.p = v3_scale(random_uniform(&r, 0.06, 0.085), random_unit(&r));
        load before = load_between(&ball, A, other[k % 2], B);
        B.p = v3_axpy(B.p, step, random_unit(&r));
        load after = load_between(&ball, A, other[k % 2], B);
        worst = fmax(worst, v3_norm(v3_sub(after.force, before.force)) / (stiffest * step));
    }
    cr_expect(worst < 1, "%g", worst);
}

/* Polygons of a ball that slides by a tenth of an edge in ten steps: most are there in the step before. */
Test(pressure, features_stay_from_step_to_step, .fini = free_made) {
    static sim_contact_point now[MAX_POINTS], next[MAX_POINTS];
    sim_shape ball = soft(sphere_shape(0.05), 0.01, E), plane = plain_shape(SIM_HALF_SPACE, 0, 0, 0);
    pose X = pose_at(0, 0, 0.044), world = pose_identity();
    int count = sim_collide_shapes(&ball, &X, &plane, &world, 0, now, MAX_POINTS);
    for (int step = 0; step < 10; step++) {
        X.R = m3_product(m3_axis_angle(v3_make(0, 1, 0), 1e-3 / 0.05), X.R);
        int other = sim_collide_shapes(&ball, &X, &plane, &world, 0, next, MAX_POINTS), same = 0;
        for (int k = 0; k < other; k++) {
            for (int i = 0; i < count; i++) {
                same += next[k].feature == now[i].feature;
            }
        }
        cr_expect(count > 20 && same > 0.6 * count, "%d of %d, %d", same, count, other);
        count = other;
        for (int k = 0; k < count; k++) {
            now[k] = next[k];
        }
    }
}

Test(pressure, contacts_of_a_model_have_the_stiffness_of_their_polygons) {
    sim_builder *b = sim_builder_create();
    sim_material rubber = sim_material_default();
    rubber.name = "rubber";
    rubber.modulus = E;
    rubber.dissipation = 0.1;
    sim_shape ball = sphere_shape(0.05), plane = plain_shape(SIM_HALF_SPACE, 0, 0, 0), box = box_shape(0.1, 0.1, 0.1);
    ball.material = sim_builder_add_material(b, &rubber);
    ball.pressure = sim_builder_add_geometry(b, sim_shape_pressure(&ball, 0, NULL));
    sim_builder_add_shape(b, &plane);
    add_solid(b, "ball", &ball, v3_make(0, 0, 0.045), 0);
    add_solid(b, "box", &box, v3_make(0.095, 0, 0.05), 0);
    stage s = stage_create(finished(b), NAN, 2);
    stage_look(&s, 0);
    int on_ground = 0, on_box = 0;
    for (int k = 0; k < s.count; k++) {
        const sim_contact *c = &s.contact[k];
        if (c->at.area > 0) {
            cr_expect_eq(c->stiffness, c->at.stiffness);
            cr_expect_float_eq(c->dissipation, 0.1, 1e-15);
            on_ground += c->body_a == 0;
            on_box += c->body_a != 0;
        } else {
            cr_expect(isinf(c->stiffness)); /* the box on the ground */
        }
    }
    cr_expect(on_ground > 5 && on_box > 5, "%d, %d", on_ground, on_box);
    cr_expect_eq(stage_contacts_of(&s, "world", "box"), 4);
    stage_free(&s);
}

Test(pressure, a_model_refuses_a_field_without_a_modulus) {
    sim_builder *b = sim_builder_create();
    sim_shape ball = sphere_shape(0.05);
    ball.pressure = sim_builder_add_geometry(b, sim_shape_pressure(&ball, 0, NULL));
    cr_expect_eq(sim_builder_add_shape(b, &ball), -1);
    sim_error error;
    cr_expect(!sim_builder_finish(b, &error));
    cr_expect(error.status == SIM_BAD_INPUT);
}

/* A beam of L section, 0.1 m thick, flat on a plane: its lattice has the face but for a rim of one edge.  The greatest
 * ball inside touches the outer sides and the inner corner. */
Test(pressure, a_face_of_a_solid_that_is_not_convex_bears_its_area, .fini = free_made) {
    static const sim_v3 x[12] = {{0, 0, 0},        {0.2, 0, 0},       {0.2, 0.08, 0},   {0.08, 0.08, 0},
                                 {0.08, 0.2, 0},   {0, 0.2, 0},       {0, 0, 0.1},      {0.2, 0, 0.1},
                                 {0.2, 0.08, 0.1}, {0.08, 0.08, 0.1}, {0.08, 0.2, 0.1}, {0, 0.2, 0.1}};
    static const int triangle[20][3] = {{0, 3, 1},  {1, 3, 2},  {0, 5, 3},   {3, 5, 4}, {6, 7, 9},
                                        {7, 8, 9},  {6, 9, 11}, {9, 10, 11}, {0, 1, 7}, {0, 7, 6},
                                        {1, 2, 8},  {1, 8, 7},  {2, 3, 9},   {2, 9, 8}, {3, 4, 10},
                                        {3, 10, 9}, {4, 5, 11}, {4, 11, 10}, {5, 0, 6}, {5, 6, 11}};
    const double d = 0.002, A = 0.2 * 0.08 + 0.12 * 0.08, rim = 0.8, most = 0.08 * sqrt(2) / (1 + sqrt(2));
    sim_shape beam = plain_shape(SIM_MESH, 0, 0, 0), plane = plain_shape(SIM_HALF_SPACE, 0, 0, 0);
    beam.geometry = keep(sim_geometry_mesh(x, 12, triangle, 20, NULL));
    for (int fine = 0; fine < 3; fine++) {
        double edge = 0.02 / (1 << fine);
        sim_shape s = soft(beam, edge, E);
        pose X = {m3_identity(), {0, 0, -d}};
        load at = load_between(&s, X, &plane, pose_identity());
        double due = E * d / most * A, slack = rim * edge / A + edge / most;
        cr_expect(fabs(at.force.z / due - 1) < slack, "edge %g: %g N, due %g N", edge, at.force.z, due);
        /* its moment: about the centroid of the L */
        double lever = (0.2 * 0.08 * 0.1 + 0.12 * 0.08 * 0.04) / A;
        cr_expect_float_eq(-at.moment.y / at.force.z, lever, edge);
        cr_expect_float_eq(at.moment.x / at.force.z, -0 + (0.2 * 0.08 * 0.04 + 0.12 * 0.08 * 0.14) / A, edge);
    }
}
