/* The signed distance of two convex solids: exact, for every pose. */
#include "collide/convex/minkowski.h"
#include "support/brute_convex.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <float.h>
#include <string.h>

enum { BOX, CAPSULE, TRIANGLE, SPHERE, HULL, POLYTOPES, CYLINDER = POLYTOPES, ELLIPSOID, KINDS };

enum { HULLS = 6 };
static sim_geometry *hull[HULLS];

static void setup(void) {
    random_source r = {77};
    for (int k = 0; k < HULLS; k++) {
        v3 point[16];
        int count = 4 + 2 * k;
        for (int i = 0; i < count; i++) {
            point[i] = v3_scale(random_uniform(&r, 0.3, 0.9), random_unit(&r));
        }
        hull[k] = sim_geometry_hull(point, count, NULL);
        cr_assert(hull[k]);
    }
}

static void teardown(void) {
    for (int k = 0; k < HULLS; k++) {
        sim_geometry_free(hull[k]);
    }
}

TestSuite(convex, .init = setup, .fini = teardown);

/* Each case has its own random numbers, so that one can be looked at alone. */
static uint64_t case_seed(uint64_t test, int k) { return test << 32 | (uint64_t)k; }

static convex solid(sim_shape_type type, double x, double y, double z) {
    sim_shape s = {.type = type, .size = {x, y, z}};
    convex c;
    cr_assert(convex_of_shape(&s, &c));
    return c;
}

static convex of_hull(const sim_geometry *g) {
    sim_shape s = {.type = SIM_CONVEX, .geometry = g};
    convex c;
    cr_assert(convex_of_shape(&s, &c));
    return c;
}

static convex random_solid(random_source *r, int kind) {
    double x = random_uniform(r, 0.2, 1), y = random_uniform(r, 0.2, 1), z = random_uniform(r, 0.2, 1);
    switch (kind) {
    case BOX:
        return solid(SIM_BOX, x, y, z);
    case CAPSULE:
        return solid(SIM_CAPSULE, 0.5 * x, y, 0);
    case SPHERE:
        return solid(SIM_SPHERE, x, 0, 0);
    case CYLINDER:
        return solid(SIM_CYLINDER, x, y, 0);
    case ELLIPSOID:
        return solid(SIM_ELLIPSOID, x, y, z);
    case HULL:
        return of_hull(hull[random_index(r, HULLS)]);
    default: {
        v3 a = v3_scale(x, random_unit(r)), b = v3_scale(y, random_unit(r)), c = v3_scale(z, random_unit(r));
        return convex_triangle(a, b, c);
    }
    }
}

static pose random_pose(random_source *r, double reach) {
    m3 R = random_rotation(r);
    return (pose){R, v3_scale(random_uniform(r, 0, reach), random_unit(r))};
}

static convex_gap gap_of(const convex *a, const convex *b, pose X) {
    convex_gap g;
    cr_assert(convex_distance(a, b, &X, HUGE_VAL, v3_make(0, 0, 0), &g));
    return g;
}

static double size_of(const convex *a, const convex *b) { return a->extent + b->extent; }

/* Properties of every answer: unit normal; the planes at right angles to it that bound the two solids lie `gap` apart
 * and hold the two points; the points lie in the solids.  Apart, that is a proof that the gap is the distance. */
static void check_answer(const convex *a, const convex *b, pose X, convex_gap g, double tolerance, random_source *r) {
    cr_assert(isfinite(g.gap) && v3_finite(g.normal) && v3_finite(g.on_a) && v3_finite(g.on_b));
    cr_assert_float_eq(v3_norm(g.normal), 1, 1e-14);
    double radii = a->radius + b->radius;
    cr_assert_float_eq(-difference_support(a, b, &X, v3_neg(g.normal)) - radii, g.gap, tolerance);
    cr_assert(v3_norm(v3_sub(v3_sub(g.on_a, g.on_b), v3_scale(g.gap, g.normal))) <= tolerance);
    cr_assert(g.iterations <= 1200, "%d", g.iterations);
    for (int k = -1; k < 12; k++) {
        v3 u = k < 0 ? g.normal : random_unit(r), v = m3_transposed_times(X.R, u);
        uint32_t vertex;
        double ha = v3_dot(u, convex_support(a, u, &vertex)) + a->radius;
        double hb = v3_dot(u, pose_point(X, convex_support(b, v, &vertex))) + b->radius;
        cr_assert(v3_dot(u, g.on_a) <= ha + tolerance, "%g", v3_dot(u, g.on_a) - ha);
        cr_assert(v3_dot(u, g.on_b) <= hb + tolerance, "%g", v3_dot(u, g.on_b) - hb);
    }
}

/* Of two ways out that differ by less, either may be taken where a solid is round. */
static double near_enough(const convex *a, const convex *b) {
    int round = a->kind == CONVEX_CYLINDER || a->kind == CONVEX_ELLIPSOID || b->kind == CONVEX_CYLINDER ||
                b->kind == CONVEX_ELLIPSOID;
    return round ? 1e-6 * fmin(a->least, b->least) + 1e-13 : 1e-13;
}

Test(convex, polytopes_are_as_deep_and_as_far_as_every_face_corner_and_pair_of_edges_says) {
    random_source r;
    int inside = 0, trials = trials_of(40000);
    for (int k = 0; k < trials; k++) {
        r.state = case_seed(1, k);
        convex a = random_solid(&r, k % POLYTOPES), b = random_solid(&r, k / POLYTOPES % POLYTOPES);
        pose X = random_pose(&r, 1.6);
        convex_gap g = gap_of(&a, &b, X);
        check_answer(&a, &b, X, g, 1e-13, &r);
        cr_assert_float_eq(g.gap, brute_polytopes(&a, &b, &X), 1e-13);
        cr_assert(g.certain);
        inside += g.gap < 0;
    }
    cr_assert(inside > 0.2 * trials && inside < 0.8 * trials, "%d of %d", inside, trials);
}

/* Sizes, turns and places on a coarse grid: parallel faces, touching, in line, coincident, all the time. */
static convex grid_solid(random_source *r, int kind) {
    double x = 0.5 * (1 + random_index(r, 4)), y = 0.5 * (1 + random_index(r, 4)), z = 0.5 * (1 + random_index(r, 4));
    if (kind == TRIANGLE) {
        v3 c[3];
        for (int k = 0; k < 3; k++) {
            c[k] = v3_make(0.5 * random_index(r, 4), 0.5 * random_index(r, 4), 0.5 * random_index(r, 3));
        }
        return convex_triangle(c[0], c[1], c[2]);
    }
    return kind == CAPSULE     ? solid(SIM_CAPSULE, 0.25, y, 0)
           : kind == SPHERE    ? solid(SIM_SPHERE, x / 2, 0, 0)
           : kind == CYLINDER  ? solid(SIM_CYLINDER, x / 2, z, 0)
           : kind == ELLIPSOID ? solid(SIM_ELLIPSOID, x / 2, y / 2, z / 2)
                               : solid(SIM_BOX, x, y, z);
}

static pose grid_pose(random_source *r) {
    static const v3 axis[4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.6, 0, 0.8}};
    m3 R = m3_axis_angle(axis[random_index(r, 4)], M_PI / 4 * random_index(r, 8));
    double x = random_index(r, 7) - 3, y = random_index(r, 7) - 3, z = random_index(r, 7) - 3;
    return (pose){R, v3_scale(0.5, v3_make(x, y, z))};
}

Test(convex, polytopes_in_line_touching_or_coincident_are_exact_too) {
    random_source r;
    int touching = 0, trials = trials_of(40000);
    for (int k = 0; k < trials; k++) {
        r.state = case_seed(2, k);
        convex a = grid_solid(&r, k % HULL), b = grid_solid(&r, k / HULL % HULL);
        pose X = grid_pose(&r);
        convex_gap g = gap_of(&a, &b, X);
        check_answer(&a, &b, X, g, 1e-12, &r);
        cr_assert_float_eq(g.gap, brute_polytopes(&a, &b, &X), 1e-12);
        cr_assert(g.certain);
        touching += fabs(g.gap) < 1e-12;
    }
    cr_assert(touching > 0.025 * trials, "%d of %d", touching, trials);
}

static void round_pairs(uint64_t seed, int count, int on_grid) {
    for (int k = 0; k < trials_of(count); k++) {
        random_source source = {case_seed(seed, k)}, *r = &source;
        int one = POLYTOPES + k % 2, other = k / 2 % KINDS;
        convex a = on_grid ? grid_solid(r, one) : random_solid(r, one);
        convex b = on_grid ? grid_solid(r, other) : random_solid(r, other);
        pose X = on_grid ? grid_pose(r) : random_pose(r, 1.6);
        convex_gap g = gap_of(&a, &b, X);
        check_answer(&a, &b, X, g, on_grid ? 1e-11 : 1e-12, r);
        if (g.gap < 0) {
            double found = brute_any(&a, &b, &X, 500);
            cr_assert(g.gap >= found - 1e-6 * fmin(a.least, b.least) - 1e-13, "%d: %.17g, found %.17g", k, g.gap,
                      found);
        }
        cr_assert(g.certain || on_grid);
    }
}

Test(convex, no_direction_parts_round_solids_by_less) { round_pairs(3, 6000, 0); }

Test(convex, no_direction_parts_round_solids_by_less_where_they_are_in_line_touching_or_coincident) {
    round_pairs(4, 4000, 1);
}

Test(convex, apart_every_answer_carries_its_proof) {
    random_source r;
    for (int k = 0; k < trials_of(60000); k++) {
        r.state = case_seed(5, k);
        convex a = random_solid(&r, k % KINDS), b = random_solid(&r, k / KINDS % KINDS);
        pose X = random_pose(&r, 1);
        X.p = v3_scale(1 + size_of(&a, &b) / v3_norm(X.p), X.p);
        check_answer(&a, &b, X, gap_of(&a, &b, X), 1e-12, &r);
    }
}

/* From clear to overlapping along the normal, in steps down to rounding: the gap follows. */
Test(convex, the_gap_runs_smoothly_through_touching) {
    random_source r;
    for (int k = 0; k < trials_of(3000); k++) {
        r.state = case_seed(6, k);
        convex a = random_solid(&r, k % KINDS), b = random_solid(&r, k / KINDS % KINDS);
        pose X = random_pose(&r, 1);
        X.p = v3_scale(1 + size_of(&a, &b) / v3_norm(X.p), X.p);
        convex_gap g = gap_of(&a, &b, X);
        for (double h = 1e-2; h > 1e-17; h *= 0.04) {
            for (int side = -1; side <= 1; side++) {
                pose Y = X;
                Y.p = v3_axpy(X.p, g.gap - side * h, g.normal);
                convex_gap near = gap_of(&a, &b, Y);
                check_answer(&a, &b, Y, near, near_enough(&a, &b) + 1e-8, &r);
                /* apart it is the distance; inside, some other way out may be shorter */
                cr_assert(near.gap >= side * h - 1e-9, "%d: %g at %g", k, near.gap, side * h);
                cr_assert(near.gap <= h + 1e-12, "%d: %g at %g", k, near.gap, side * h);
            }
        }
    }
}

/* Cases that libccd 2.1 answers with directions that are no numbers, or with points outside the solids. */
Test(convex, cubes_in_line_overlapping_and_touching) {
    random_source r = {7};
    convex cube = solid(SIM_BOX, 2, 2, 2), slab = solid(SIM_BOX, 10, 10, 2), small = solid(SIM_BOX, 0.2, 0.2, 0.2);
    const struct {
        const convex *a, *b;
        v3 p;
        double gap;
    } known[] = {
        {&cube, &cube, {0, 0, 1.9}, -0.1},
        {&cube, &cube, {0.3, -0.2, 1.9}, -0.1},
        {&slab, &small, {3, 2, 1.05}, -0.05},
        {&cube, &cube, {0, 0, 2}, 0},
        {&cube, &cube, {0.5, 0, 2}, 0},
        {&cube, &cube, {2, 2, 0}, 0},
        {&cube, &cube, {2, 2, 2}, 0},
        {&cube, &cube, {0, 0, 0}, -2},
        {&cube, &cube, {0, 0, 2 - 1e-9}, -1e-9},
        {&cube, &cube, {0, 0, 2 + 1e-9}, 1e-9},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        pose X = {m3_identity(), known[k].p};
        convex_gap g = gap_of(known[k].a, known[k].b, X);
        cr_assert_float_eq(g.gap, known[k].gap, 1e-15);
        check_answer(known[k].a, known[k].b, X, g, 1e-14, &r);
        cr_assert(g.certain);
        if (known[k].p.z > 1 && known[k].p.x < 2) {
            cr_assert_float_eq(g.normal.z, -1, 1e-15);
        }
    }
}

Test(convex, triangles_without_thickness_or_area) {
    random_source r = {8};
    convex t = convex_triangle(v3_make(0, 0, 0), v3_make(1, 0, 0), v3_make(0, 1, 0));
    convex other[] = {
        t,
        convex_triangle(v3_make(0.2, 0.2, 0), v3_make(0.9, 0.2, 0), v3_make(0.2, 0.9, 0)),
        convex_triangle(v3_make(0.2, 0.2, 0), v3_make(0.2, 0.2, 1), v3_make(0.2, 0.9, 1)),
        convex_triangle(v3_make(0, 0, 0), v3_make(1, 0, 0), v3_make(0.5, 1e-9, 0)),
        convex_triangle(v3_make(0, 0, 0), v3_make(1, 0, 0), v3_make(0.5, 0, 0)),
        convex_triangle(v3_make(0.1, 0.1, 0), v3_make(0.1, 0.1, 0), v3_make(0.1, 0.1, 0)),
    };
    pose X = pose_identity();
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        convex_gap g = gap_of(&t, &other[k], X);
        check_answer(&t, &other[k], X, g, 1e-14, &r);
        cr_assert_float_eq(g.gap, 0, 1e-14);
        check_answer(&other[k], &other[k], X, gap_of(&other[k], &other[k], X), 1e-14, &r);
        for (int kind = 0; kind < KINDS; kind++) {
            convex c = random_solid(&r, kind);
            g = gap_of(&other[k], &c, X);
            check_answer(&other[k], &c, X, g, 1e-12, &r);
        }
    }
}

static convex scaled(convex c, double s) {
    for (int k = 0; k < 3; k++) {
        c.half[k] *= s;
        c.corner[k] = v3_scale(s, c.corner[k]);
    }
    c.radius *= s;
    c.extent *= s;
    c.least *= s;
    c.centre = v3_scale(s, c.centre);
    return c;
}

Test(convex, micrometres_and_kilometres_are_alike) {
    random_source r;
    for (int k = 0; k < trials_of(4000); k++) {
        r.state = case_seed(9, k);
        convex a = random_solid(&r, k % KINDS), b = random_solid(&r, k / KINDS % KINDS);
        if (a.kind == CONVEX_HULL || b.kind == CONVEX_HULL) {
            continue;
        }
        pose X = random_pose(&r, 1.6), Y = X;
        convex_gap g = gap_of(&a, &b, X);
        for (double s = 1e-6; s < 2e6; s *= 1e3) {
            convex as = scaled(a, s), bs = scaled(b, s);
            Y.p = v3_scale(s, X.p);
            convex_gap h = gap_of(&as, &bs, Y);
            cr_assert_float_eq(h.gap, s * g.gap, near_enough(&a, &b) * s, "%d: %g", k, h.gap / s - g.gap);
            check_answer(&as, &bs, Y, h, 1e-12 * s, &r);
        }
    }
}

Test(convex, named_the_other_way_round_it_is_the_same_gap) {
    random_source r;
    int turned = 0; /* to another way out as short */
    for (int k = 0; k < trials_of(10000); k++) {
        r.state = case_seed(10, k);
        convex a = random_solid(&r, k % KINDS), b = random_solid(&r, k / KINDS % KINDS);
        pose X = random_pose(&r, 1.6), Y = {m3_transpose(X.R), v3_neg(m3_transposed_times(X.R, X.p))};
        convex_gap g = gap_of(&a, &b, X), h = gap_of(&b, &a, Y);
        cr_assert_float_eq(g.gap, h.gap, near_enough(&a, &b), "%d: %g", k, g.gap - h.gap);
        v3 n = v3_neg(m3_times(X.R, h.normal));
        turned += v3_norm(v3_sub(n, g.normal)) > 1e-6;
    }
    cr_assert(turned <= 5, "%d", turned);
}

/* A triangle or a hull moved within its own frame, the frame moved back. */
Test(convex, where_the_frames_stand_plays_no_part) {
    random_source r;
    int turned = 0; /* to another way out as short */
    for (int k = 0; k < trials_of(10000); k++) {
        r.state = case_seed(11, k);
        convex a = random_solid(&r, TRIANGLE), b = random_solid(&r, k % KINDS), moved = a;
        pose X = random_pose(&r, 1.2), M = random_pose(&r, 3);
        moved = convex_triangle(pose_point(M, a.corner[0]), pose_point(M, a.corner[1]), pose_point(M, a.corner[2]));
        convex_gap g = gap_of(&a, &b, X), h = gap_of(&moved, &b, pose_product(M, X));
        cr_assert_float_eq(g.gap, h.gap, near_enough(&a, &b), "%d: %g", k, g.gap - h.gap);
        turned += v3_norm(v3_sub(m3_times(M.R, g.normal), h.normal)) > 1e-6;
    }
    cr_assert(turned <= 5, "%d", turned);
}

Test(convex, the_margin_decides_and_the_guess_does_not) {
    random_source r;
    for (int k = 0; k < trials_of(20000); k++) {
        r.state = case_seed(12, k);
        convex a = random_solid(&r, k % KINDS), b = random_solid(&r, k / KINDS % KINDS);
        pose X = random_pose(&r, 2);
        double margin = random_uniform(&r, 0, 0.3);
        convex_gap all = gap_of(&a, &b, X), g, h;
        v3 guess = k % 3 ? random_unit(&r) : v3_scale(1e-3, all.normal);
        int hit = convex_distance(&a, &b, &X, margin, v3_make(0, 0, 0), &g);
        cr_assert_eq(hit, all.gap <= margin);
        cr_assert_eq(convex_distance(&a, &b, &X, margin, guess, &h), hit);
        if (hit) {
            cr_assert_eq(memcmp(&g, &h, sizeof g), 0);
        } else {
            cr_assert(g.gap > margin && g.gap <= all.gap + 1e-13);
            cr_assert(h.gap > margin && h.gap <= all.gap + 1e-13);
        }
    }
}

Test(convex, a_grain_on_a_boulder) {
    random_source r;
    for (int k = 0; k < trials_of(6000); k++) {
        r.state = case_seed(13, k);
        convex a = scaled(random_solid(&r, k % POLYTOPES == HULL ? BOX : k % POLYTOPES), 1000);
        convex b = random_solid(&r, k / POLYTOPES % KINDS);
        pose X = random_pose(&r, 1);
        v3 u = random_unit(&r), on_a;
        uint32_t vertex;
        on_a = v3_axpy(convex_support(&a, u, &vertex), a.radius, u);
        X.p = v3_add(on_a, X.p);
        convex_gap g = gap_of(&a, &b, X);
        check_answer(&a, &b, X, g, 1e-9, &r);
        cr_assert(g.certain, "%d", k);
        if (b.kind != CONVEX_CYLINDER && b.kind != CONVEX_ELLIPSOID) {
            cr_assert_float_eq(g.gap, brute_polytopes(&a, &b, &X), 1e-9);
        }
    }
}

/* Needles, discs and sheets a millionth as thick as they are long, in every pose. */
Test(convex, thin_solids_have_finite_answers_with_their_points_where_they_belong) {
    random_source r;
    convex thin[] = {
        solid(SIM_BOX, 1, 1, 1e-6),          solid(SIM_BOX, 1, 1e-6, 1e-6),
        solid(SIM_CYLINDER, 0.5, 1e-6, 0),   solid(SIM_CYLINDER, 1e-6, 1, 0),
        solid(SIM_CAPSULE, 1e-6, 1, 0),      solid(SIM_ELLIPSOID, 0.5, 0.5, 1e-6),
        solid(SIM_ELLIPSOID, 1, 1e-6, 1e-6), convex_triangle(v3_make(0, 0, 0), v3_make(1, 0, 0), v3_make(0.3, 1e-6, 0)),
    };
    int count = sizeof thin / sizeof *thin;
    for (int k = 0; k < trials_of(3000); k++) {
        r.state = case_seed(14, k);
        const convex *a = &thin[k % count], *b = &thin[k / count % count];
        convex other = random_solid(&r, k % KINDS);
        b = k % 5 ? b : &other;
        pose X = k % 2 ? random_pose(&r, 0.3) : grid_pose(&r);
        X.p = k % 3 ? X.p : v3_make(0, 0, 0);
        convex_gap g = gap_of(a, b, X);
        check_answer(a, b, X, g, 2e-7, &r);
        if (g.gap < 0) {
            double found = brute_any(a, b, &X, 200);
            cr_assert(g.gap >= found - 1e-9, "%d: %.17g, found %.17g", k, g.gap, found);
        }
    }
}

Test(convex, hulls_of_many_corners_deep_in_each_other) {
    random_source r = {15};
    for (int k = 0; k < 4; k++) {
        sim_geometry *g[2];
        for (int i = 0; i < 2; i++) {
            v3 point[60];
            for (int j = 0; j < 60; j++) {
                point[j] = random_unit(&r);
            }
            g[i] = sim_geometry_hull(point, 60, NULL);
            cr_assert(g[i]);
        }
        convex a = of_hull(g[0]), b = of_hull(g[1]);
        pose X = random_pose(&r, k ? 0.2 : 0);
        convex_gap gap = gap_of(&a, &b, X);
        cr_assert_float_eq(gap.gap, brute_polytopes(&a, &b, &X), 1e-13);
        cr_assert(gap.certain);
        check_answer(&a, &b, X, gap, 1e-13, &r);
        sim_geometry_free(g[0]);
        sim_geometry_free(g[1]);
    }
}

/* libccd's loops end, and whatever it says is checked. */
Test(convex, all_but_round_solids_about_one_centre_are_settled_with_room_to_spare) {
    random_source r = {61};
    for (int k = 0; k < 400; k++) {
        double x = random_uniform(&r, 1, 1.01), y = random_uniform(&r, 1, 1.01), off = k % 2 ? 1e-3 : 0;
        convex a = k % 4 < 2 ? solid(SIM_ELLIPSOID, 1, x, y) : solid(k % 8 < 4 ? SIM_CYLINDER : SIM_BOX, 1.2, 3, 2.4);
        convex b = k % 4 < 2 ? solid(SIM_ELLIPSOID, y, 1.005, x) : solid(SIM_ELLIPSOID, 1, 1, 1);
        pose X = {random_rotation(&r), v3_scale(off, random_unit(&r))};
        convex_gap g = gap_of(&a, &b, X);
        cr_assert(g.certain);
        cr_assert_lt(g.iterations, 450, "%d", g.iterations);
        check_answer(&a, &b, X, g, 1e-6, &r);
    }
}

Test(convex, what_the_portal_finds_is_a_direction_with_its_own_depth_or_nothing) {
    random_source r;
    int found = 0, trials = trials_of(20000);
    for (int k = 0; k < trials; k++) {
        r.state = case_seed(16, k);
        convex a = k % 2 ? grid_solid(&r, k % KINDS) : random_solid(&r, k % KINDS);
        convex b = k % 2 ? grid_solid(&r, k / KINDS % KINDS) : random_solid(&r, k / KINDS % KINDS);
        pose X = k % 2 ? grid_pose(&r) : random_pose(&r, 1);
        minkowski m = {.a = &a, .b = &b, .X_ab = X, .grain = 1e-15};
        mink_direction x;
        if (mink_portal(&m, k % 3 ? random_unit(&r) : v3_make(0, 0, 1), random_uniform(&r, 0, 0.1), &x)) {
            cr_assert_float_eq(v3_norm(x.u), 1, 1e-14);
            cr_assert_float_eq(x.h, difference_support(&a, &b, &X, x.u), 1e-14);
            found++;
        }
    }
    cr_assert(found > 0.2 * trials, "%d of %d", found, trials);
}
