/* Solids deep in each other, and flat on each other: never nothing, never a number that is none, few points. */
#include "collide/field/field_contact.h"
#include "support/contacts.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { PLAIN = 7, FIELDS = 4 };

typedef struct stock {
    sim_shape plain[PLAIN], field[FIELDS];
} stock;

static sim_geometry *built(sim_geometry *g, const sim_error *error) {
    cr_assert(g, "%s", error->text);
    return g;
}

/* A wedge as a hull, and an L as a mesh that is not convex. */
static sim_geometry *wedge(void) {
    static const v3 corner[6] = {{-0.03, -0.03, -0.02}, {0.03, -0.03, -0.02}, {-0.03, 0.03, -0.02},
                                 {0.03, 0.03, -0.02},   {-0.03, 0, 0.03},     {0.03, 0, 0.03}};
    sim_error error = {0};
    return built(sim_geometry_hull(corner, 6, &error), &error);
}

static sim_geometry *angle_iron(void) {
    static const double outline[6][2] = {{-0.03, -0.03}, {0.03, -0.03}, {0.03, -0.01},
                                         {-0.01, -0.01}, {-0.01, 0.03}, {-0.03, 0.03}};
    static const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    v3 vertex[12];
    int triangle[20][3], n = 0;
    for (int k = 0; k < 12; k++) {
        vertex[k] = v3_make(outline[k % 6][0], outline[k % 6][1], k < 6 ? -0.03 : 0.03);
    }
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 3; j++) {
            triangle[n][j] = cap[k][2 - j];
            triangle[n + 1][j] = cap[k][j] + 6;
        }
        n += 2;
    }
    for (int k = 0; k < 6; k++) {
        int next = (k + 1) % 6;
        int side[2][3] = {{k, next, next + 6}, {k, next + 6, k + 6}};
        for (int i = 0; i < 2; i++, n++) {
            for (int j = 0; j < 3; j++) {
                triangle[n][j] = side[i][j];
            }
        }
    }
    sim_error error = {0};
    return built(sim_geometry_mesh(vertex, 12, (const int(*)[3])triangle, n, &error), &error);
}

static stock begin(void) {
    stock s = {.plain = {sized_shape(SIM_SPHERE, 0.03, 0, 0), sized_shape(SIM_BOX, 0.1, 0.06, 0.08),
                         sized_shape(SIM_CAPSULE, 0.02, 0.1, 0), sized_shape(SIM_CYLINDER, 0.03, 0.1, 0),
                         sized_shape(SIM_ELLIPSOID, 0.02, 0.03, 0.05), geometry_shape(SIM_CONVEX, wedge()),
                         geometry_shape(SIM_MESH, angle_iron())}};
    sim_field_def def[3] = {field_sphere(0.05), field_box(0.1, 0.08, 0.06), field_cylinder(0.04, 0.1)};
    for (int k = 0; k < 3; k++) {
        s.field[k] = field_shape(&def[k], 0);
    }
    s.field[3] = dish_shape(1, 0);
    return s;
}

static void end(stock *s) {
    for (int k = 0; k < FIELDS; k++) {
        shape_free(&s->field[k]);
    }
    shape_free(&s->plain[5]);
    shape_free(&s->plain[6]);
}

/* How deep both are at the deepest of many points. */
static double common_depth(const sim_shape *a, const sim_shape *b, pose X, random_source *r) {
    solid sa = solid_of_shape(a), sb = solid_of_shape(b);
    pose Y = pose_inverse(X);
    double deepest = 0;
    v3 g;
    for (int k = 0; k < trials_of(2000); k++) {
        v3 p = {random_uniform(r, -0.1, 0.1), random_uniform(r, -0.1, 0.1), random_uniform(r, -0.1, 0.1)};
        double m = sa.distance(&sa, p, &g);
        m = m < deepest ? fmax(m, sb.distance(&sb, pose_point(Y, p), &g)) : 0;
        deepest = fmin(deepest, m);
    }
    return -deepest;
}

static void check(const sim_shape *a, const sim_shape *b, pose X, double depth, const char *what, int k) {
    contacts c = contacts_of(a, b, X, 1e-3, NULL, 0);
    cr_assert(c.count >= 0 && c.count <= 120);
    for (int i = 0; i < c.count; i++) {
        cr_assert(v3_finite(c.point[i].position) && isfinite(c.point[i].gap));
        cr_assert_float_eq(v3_norm(c.point[i].normal), 1, 1e-9);
        for (int j = 0; j < i; j++) {
            cr_assert_neq(c.point[i].feature, c.point[j].feature, "%s: one feature twice", what);
        }
    }
    if (depth > 2e-3) {
        cr_assert(c.count && c.point[deepest_of(&c)].gap <= -0.5 * depth, "%s, pose %d: %g deep, found %g", what, k,
                  depth, c.count ? c.point[deepest_of(&c)].gap : 0);
    }
    free(c.point);
}

/* A ball of radius `depth` is in both: they are at least that deep in each other. */
Test(field_overlap, is_never_missed) {
    stock s = begin();
    random_source r = {41};
    for (int k = 0; k < trials_of(700); k++) {
        int i = k % (PLAIN + FIELDS), j = random_index(&r, FIELDS);
        const sim_shape *a = i < PLAIN ? &s.plain[i] : &s.field[i - PLAIN];
        pose X = {k % 3 ? random_rotation(&r) : m3_identity(),
                  v3_scale(k % 5 ? random_uniform(&r, 0, 0.08) : 0, random_unit(&r))};
        check(a, &s.field[j], X, common_depth(a, &s.field[j], X, &r), sim_shape_name(a->type), k);
    }
    end(&s);
}

/* All corners and edges of one lie in the surface of the other. */
Test(field_overlap, of_a_solid_with_its_like_at_the_same_place_is_contact) {
    sim_field_def def[2] = {field_cylinder(0.03, 0.1), field_box(0.1, 0.06, 0.08)};
    sim_shape plain[2] = {sized_shape(SIM_CYLINDER, 0.03, 0.1, 0), sized_shape(SIM_BOX, 0.1, 0.06, 0.08)};
    for (int k = 0; k < 2; k++) {
        sim_shape field = field_shape(&def[k], 0);
        check(&plain[k], &field, pose_identity(), 0.029, "coaxial", k);
        check(&field, &field, pose_identity(), 0.029, "itself", k);
        shape_free(&field);
    }
}

/* Pushes B out along the deepest contact. Steps that took, or -1: still inside after 60. */
static int steps_out(const sim_shape *a, const sim_shape *b, pose X) {
    for (int step = 0; step < 60; step++) {
        contacts c = contacts_of(a, b, X, 1e-3, NULL, 0);
        int d = deepest_of(&c), out = !c.count || c.point[d].gap > -1e-4;
        if (!out) { /* B the other way */
            X.p = v3_axpy(X.p, c.point[d].gap, c.point[d].normal);
        }
        free(c.point);
        if (out) {
            return step;
        }
    }
    return -1;
}

/* Deep inside: pushed along the deepest contact's normal by its depth, again and again, it comes out. */
static void come_out(const stock *s, uint64_t seed, int poses, int solids, int fields, int most) {
    random_source r = {seed};
    int stuck = 0;
    for (int k = 0; k < trials_of(poses); k++) {
        int i = k % solids;
        const sim_shape *a = i < PLAIN ? &s->plain[i] : &s->field[i - PLAIN], *b = &s->field[random_index(&r, fields)];
        pose X = {random_rotation(&r), v3_scale(random_uniform(&r, 0.001, 0.04), random_unit(&r))};
        int steps = steps_out(a, b, X);
        cr_expect_leq(steps, most, "%s, pose %d of seed %d: %d steps", sim_shape_name(a->type), k, (int)seed, steps);
        stuck += steps < 0;
    }
    cr_assert_eq(stuck, 0, "%d stuck", stuck);
}

Test(field_overlap, always_has_a_way_out) {
    stock s = begin();
    for (uint64_t seed = 43; seed < (is_part() ? 44 : 46); seed++) {
        come_out(&s, seed, 400, PLAIN, FIELDS - 1, 10);
    }
    end(&s);
}

/* Walls of a few millimetres have two ways out nearly everywhere. */
Test(field_overlap, with_thin_walls_has_a_way_out) {
    stock s = begin();
    come_out(&s, 47, 300, PLAIN + FIELDS, FIELDS, 50);
    end(&s);
}

/* ---- the least translation that parts two convex solids, where it can be written down ---- */

/* The deepest contact of A at the identity and B at p, and of both exchanged: this deep, out along this normal. */
static void parts(const sim_shape *a, const sim_shape *b, v3 p, double depth, v3 normal, double within) {
    for (int swap = 0; swap < 2; swap++) {
        pose X = {m3_identity(), swap ? v3_neg(p) : p};
        contacts c = contacts_of(swap ? b : a, swap ? a : b, X, 1e-3, NULL, 0);
        cr_assert(c.count, "nothing at (%g, %g, %g)", p.x, p.y, p.z);
        const contact_point *d = &c.point[deepest_of(&c)];
        cr_expect_float_eq(d->gap, -depth, within, "at (%g, %g, %g): %.9g deep, not %g", p.x, p.y, p.z, -d->gap, depth);
        double along = v3_dot(d->normal, swap ? v3_neg(normal) : normal);
        cr_expect(v3_norm(normal) == 0 || along > 1 - 1e-8, "at (%g, %g, %g), %s: normal (%g, %g, %g)", p.x, p.y, p.z,
                  swap ? "exchanged" : "as named", d->normal.x, d->normal.y, d->normal.z);
        for (int k = 0; k < c.count; k++) {
            cr_expect_gt(v3_dot(c.point[k].normal, d->normal), -0.1, "two that oppose each other");
        }
        free(c.point);
    }
}

Test(field_overlap, of_balls_is_as_deep_as_their_centres_say) {
    static const double apart[] = {1.5, 1, 0.5, 0.1, 0};
    sim_field_def def = field_sphere(1);
    sim_shape field = field_shape(&def, 0), ball = sized_shape(SIM_SPHERE, 1, 0, 0);
    random_source r = {47};
    for (int k = 0; k < 5; k++) {
        for (int turn = 0; turn < 3; turn++) {
            v3 u = turn ? random_unit(&r) : v3_make(1, 0, 0), n = apart[k] > 0 ? v3_neg(u) : v3_make(0, 0, 0);
            parts(&field, &field, v3_scale(apart[k], u), 2 - apart[k], n, 1e-6);
            parts(&ball, &field, v3_scale(apart[k], u), 2 - apart[k], n, 1e-9);
        }
    }
    shape_free(&field);
}

Test(field_overlap, of_cubes_is_as_deep_as_the_nearest_face_is_far) {
    static const double apart[] = {0.9, 0.7, 0.5, 0.3, 0.1, 0};
    sim_field_def def = field_box(1, 1, 1);
    sim_shape field = field_shape(&def, 0), box = sized_shape(SIM_BOX, 1, 1, 1);
    for (int k = 0; k < 6; k++) {
        for (int way = 0; way < 6; way += is_part() ? 5 : 1) {
            v3 u = {way / 2 == 0, way / 2 == 1, way / 2 == 2}, n = {0, 0, 0};
            u = way % 2 ? v3_neg(u) : u;
            n = apart[k] > 0 ? v3_neg(u) : n;
            parts(&field, &field, v3_scale(apart[k], u), 1 - apart[k], n, 1e-6);
            parts(&box, &field, v3_scale(apart[k], u), 1 - apart[k], n, 1e-6);
            v3 beside = v3_add(v3_scale(apart[k] + 0.05, u), v3_scale(0.02, v3_make(u.y, u.z, u.x)));
            parts(&field, &field, beside, 0.95 - apart[k], v3_neg(u), 1e-6);
            parts(&box, &field, beside, 0.95 - apart[k], v3_neg(u), 1e-6);
        }
    }
    shape_free(&field);
}

/* Neither has a vertex under the other's surface. */
Test(field_overlap, of_two_angle_irons_at_one_place_is_parted) {
    stock s = begin();
    const sim_shape *iron = &s.plain[6];
    contacts c = contacts_of(iron, iron, pose_identity(), 1e-3, NULL, 0);
    cr_assert(c.count && c.point[deepest_of(&c)].gap < -0.019, "%d points", c.count);
    free(c.point);
    for (int k = 0; k < 30; k++) {
        pose X = pose_identity();
        X.p = v3_make(k % 3 * 1e-4, k / 3 % 2 * 1e-3, k / 6 * 2e-3);
        int steps = steps_out(iron, iron, X);
        cr_expect(steps > 0 && steps <= 10, "shift %d: %d steps", k, steps);
    }
    end(&s);
}

Test(field_overlap, below_the_ground_and_inside_a_mesh_there_is_contact) {
    static const v3 corner[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                 {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {0.9, 0.9, 0.9}};
    static const int face[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    double height[25], size[2] = {2, 2};
    sim_error error = {0};
    for (int k = 0; k < 25; k++) {
        height[k] = 0.01 * (k % 3);
    }
    sim_shape ground =
        geometry_shape(SIM_HEIGHT_FIELD, built(sim_geometry_heights(5, 5, size, height, &error), &error));
    sim_shape room = geometry_shape(SIM_MESH, built(sim_geometry_mesh(corner, 8, face, 12, &error), &error));
    sim_shape bowl = dish_shape(1, 0);
    for (int k = 1; k <= 8; k++) {
        pose X = {m3_axis_angle(v3_make(1, 0, 0), 0.4 * k), {0.05, 0.03, -0.12 * k}};
        contacts c = contacts_of(&ground, &bowl, X, 1e-3, NULL, 0);
        cr_assert(c.count, "nothing %g below the ground", 0.12 * k);
        const contact_point *p = &c.point[deepest_of(&c)];
        cr_assert(p->gap < -0.12 * k && p->gap > -0.12 * k - 0.15, "%g", p->gap);
        cr_assert_lt(p->normal.z, -0.9);
        free(c.point);
        X.p.z *= 0.5;
        c = contacts_of(&room, &bowl, X, 1e-3, NULL, 0);
        cr_assert(c.count && c.point[deepest_of(&c)].gap < -0.3, "nothing in the mesh");
        free(c.point);
    }
    shape_free(&ground);
    shape_free(&room);
    shape_free(&bowl);
}

/* ---- flat on flat ---- */

static void stands_on_few(const sim_shape *below, const sim_shape *above, double height, double reach, int corners) {
    uint64_t kept[16];
    int nkept = 0;
    for (int k = 0; k < 12; k++) {
        double turn = 1e-4 * k, tilt = 1e-7 * (k % 3);
        m3 R = m3_product(m3_axis_angle(v3_make(1, 0, 0), tilt), m3_axis_angle(v3_make(0, 0, 1), turn));
        pose X = {R, {0, 0, height - 1e-5}};
        contacts c = contacts_of(below, above, X, 1e-4, kept, nkept);
        cr_assert(c.count >= corners && c.count <= 9, "%d points", c.count);
        double far[4] = {0, 0, 0, 0};
        int same = 0;
        for (int i = 0; i < c.count; i++) {
            v3 x = c.point[i].position;
            far[0] = fmax(far[0], x.x), far[1] = fmax(far[1], -x.x);
            far[2] = fmax(far[2], x.y), far[3] = fmax(far[3], -x.y);
            for (int j = 0; j < nkept; j++) {
                same += kept[j] == c.point[i].feature;
            }
        }
        for (int i = 0; i < 4; i++) {
            cr_assert_gt(far[i], reach, "reaches %g of %g", far[i], reach);
        }
        if (k && same < c.count - 1)
            for (int i = 0; i < c.count; i++)
                cr_log_warn("kept %llx now %llx at %g %g gap %g", i < nkept ? (unsigned long long)kept[i] : 0,
                            (unsigned long long)c.point[i].feature, c.point[i].position.x, c.point[i].position.y,
                            c.point[i].gap);
        cr_assert(k == 0 || same >= c.count - 1, "step %d: %d of %d stay", k, same, c.count);
        nkept = c.count;
        for (int i = 0; i < c.count; i++) {
            kept[i] = c.point[i].feature;
        }
        free(c.point);
    }
}

Test(field_overlap, flat_contacts_keep_few_corners_from_step_to_step) {
    sim_shape ground = sized_shape(SIM_HALF_SPACE, 0, 0, 0), table = sized_shape(SIM_BOX, 0.5, 0.5, 0.1);
    sim_field_def def[2] = {field_box(0.1, 0.08, 0.06), field_cylinder(0.04, 0.06)};
    sim_shape slab_on = field_shape(&def[0], 0), rod = field_shape(&def[1], 0), bowl = dish_shape(1, 0),
              nut = nut_shape(5e-5, 0), box = sized_shape(SIM_BOX, 0.06, 0.06, 0.06);
    stands_on_few(&ground, &slab_on, 0.03, 0.039, 4);
    stands_on_few(&table, &slab_on, 0.08, 0.039, 4);
    stands_on_few(&ground, &rod, 0.03, 0.037, 6);
    stands_on_few(&table, &bowl, 0.053, 0.03, 6); /* its rim is round: no edge marks where the flat ends */
    stands_on_few(&ground, &nut, 0.019, 0.037, 6);
    stands_on_few(&box, &slab_on, 0.06, 0.0299, 4);
    shape_free(&slab_on);
    shape_free(&rod);
    shape_free(&bowl);
    shape_free(&nut);
}
