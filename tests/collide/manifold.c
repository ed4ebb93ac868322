/* The points of contact of two convex solids: how many, where, and what they are called. */
#include "collide/convex/convex.h"
#include "solids.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

static convex convex_from(const sim_shape *s) {
    convex c;
    cr_assert(convex_of_shape(s, &c));
    return c;
}

/* A stands on B, whose normal is known: the gap and its points by support alone. */
static convex_gap known_gap(const convex *a, const convex *b, const pose *X, v3 n) {
    uint32_t vertex;
    v3 on_a = v3_axpy(convex_support(a, v3_neg(n), &vertex), -a->radius, n);
    v3 on_b = pose_point(*X, convex_support(b, m3_transposed_times(X->R, n), &vertex));
    on_b = v3_axpy(on_b, b->radius, n);
    double gap = v3_dot(n, v3_sub(on_a, on_b));
    return (convex_gap){.gap = gap, .normal = n, .on_a = on_a, .on_b = v3_axpy(on_a, -gap, n), .certain = 1};
}

/* A on B, which lies below. */
static manifold touch(sim_arena *arena, const sim_shape *a, const sim_shape *b, pose X, v3 n, double margin) {
    convex ca = convex_from(a), cb = convex_from(b);
    pair p = {.a = a, .b = b, .X_ab = X, .margin = margin, .arena = arena};
    convex_gap gap = known_gap(&ca, &cb, &X, n), other = known_gap(&ca, &cb, &X, m3_times(X.R, n));
    gap = other.gap > gap.gap ? other : gap; /* of the two faces that lie on each other */
    manifold m = {0};
    convex_manifold(&p, &ca, &cb, &gap, &m);
    cr_assert(!m.failed);
    double least = HUGE_VAL;
    for (int k = 0; k < m.count; k++) {
        least = fmin(least, m.point[k].gap);
        cr_assert(m.point[k].gap <= margin);
        cr_assert(v3_finite(m.point[k].position));
        for (int j = 0; j < k; j++) {
            cr_assert_neq(m.point[j].feature, m.point[k].feature);
        }
    }
    cr_assert(m.count > 0 && m.count <= 4);
    cr_assert_float_eq(least, gap.gap, 1e-11 * (ca.extent + cb.extent));
    return m;
}

static const v3 UP = {0, 0, 1};

Test(manifold, a_box_resting_flat_has_its_four_corners_and_always_the_same) {
    sim_arena *arena = arena_create();
    random_source r = {1};
    const double sizes[3] = {10, 1, 0.7}; /* of the box below: larger, equal, smaller */
    for (int which = 0; which < 3; which++) {
        sim_shape a = shape_of(SIM_BOX, 1, 1, 1), b = shape_of(SIM_BOX, sizes[which], sizes[which], 1);
        uint64_t first[4];
        for (int trial = 0; trial < trials_of(10000); trial++) {
            arena_release(arena, 0);
            double noise = trial ? 1e-9 : 0;
            v3 axis = random_unit(&r);
            pose X = {m3_axis_angle(axis, noise * random_uniform(&r, -1, 1)),
                      v3_axpy(v3_make(0, 0, -1 + 1e-4), noise, random_unit(&r))};
            /* the normal of the face of A, as separating axes give it */
            manifold m = touch(arena, &a, &b, X, UP, 1e-3);
            cr_assert_eq(m.count, 4);
            for (int k = 0; k < 4; k++) {
                first[k] = trial ? first[k] : m.point[k].feature;
                cr_assert_eq(m.point[k].feature, first[k], "box %g, trial %d, point %d: %" PRIx64 ", was %" PRIx64,
                             sizes[which], trial, k, m.point[k].feature, first[k]);
                v3 x = m.point[k].position;
                double half = fmin(0.5, sizes[which] / 2);
                cr_assert_float_eq(fabs(x.x), half, 1e-8);
                cr_assert_float_eq(fabs(x.y), half, 1e-8);
                cr_assert_float_eq(x.z, -0.5 + 5e-5, 1e-8);
                cr_assert_float_eq(m.point[k].gap, -1e-4, 1e-8);
            }
        }
    }
    arena_free(arena);
}

static int has_place(const manifold *m, double x, double y) {
    for (int k = 0; k < m->count; k++) {
        v3 q = m->point[k].position;
        if (hypot(q.x - x, q.y - y) < 1e-12) {
            return 1;
        }
    }
    return 0;
}

/* A solid of each kind on a wide box, its middle over the box's; the number of points. */
static manifold on_a_box(sim_arena *arena, sim_shape a, m3 turned, double size, v3 offset) {
    sim_shape floor = shape_of(SIM_BOX, size, size, 1);
    m3 into = m3_transpose(turned);
    double low = solid_support(&a, m3_times(into, v3_make(0, 0, -1)));
    sim_pose X = {into, m3_times(into, v3_sub(v3_make(0, 0, -low - 0.5 + 1e-4), offset))};
    manifold m = touch(arena, &a, &floor, X, m3_times(into, UP), 1e-3);
    for (int k = 0; k < m.count; k++) { /* shown upright, from above the middle of the box */
        m.point[k].position = v3_add(m3_times(turned, m.point[k].position), offset);
        m.point[k].normal = m3_times(turned, m.point[k].normal);
    }
    return m;
}

Test(manifold, each_kind_stands_on_as_many_points_as_it_has) {
    sim_arena *arena = arena_create();
    m3 up = m3_identity(), lying = m3_axis_angle(v3_make(1, 0, 0), M_PI / 2);
    m3 leaning = m3_axis_angle(v3_make(1, 0, 0), 0.6), aside = m3_axis_angle(v3_make(0.6, 0.8, 0), 0.6);
    static const v3 middle = {0.1, -0.2, 0};
    const struct {
        sim_shape shape;
        m3 turned;
        int count;
    } rows[] = {
        {shape_of(SIM_SPHERE, 1, 0, 0), up, 1},
        {shape_of(SIM_ELLIPSOID, 1, 2, 3), aside, 1},
        {shape_of(SIM_CAPSULE, 0.2, 1, 0), lying, 2},
        {shape_of(SIM_CAPSULE, 0.2, 1, 0), up, 1},
        {shape_of(SIM_CAPSULE, 0.2, 1, 0), leaning, 1},
        {shape_of(SIM_CYLINDER, 0.2, 1, 0), lying, 2},
        {shape_of(SIM_CYLINDER, 0.2, 1, 0), up, 4},
        {shape_of(SIM_CYLINDER, 0.2, 1, 0), leaning, 1},
        {shape_of(SIM_BOX, 1, 1, 1), up, 4},
        {shape_of(SIM_BOX, 1, 1, 1), leaning, 2},
        {shape_of(SIM_BOX, 1, 1, 1), aside, 1},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        manifold m = on_a_box(arena, rows[k].shape, rows[k].turned, 10, middle);
        cr_assert_eq(m.count, rows[k].count, "row %zu: %d points", k, m.count);
        for (int i = 0; i < m.count; i++) {
            cr_assert_float_eq(m.point[i].gap, -1e-4, 1e-14);
            cr_assert_float_eq(m.point[i].normal.z, 1, 1e-14);
        }
    }
    manifold m = on_a_box(arena, rows[6].shape, up, 10, middle); /* a coin: spread over its whole rim */
    double x = 0, y = 0;
    for (int i = 0; i < 4; i++) {
        v3 from = v3_sub(m.point[i].position, middle);
        cr_assert_float_eq(hypot(from.x, from.y), 0.2, 1e-12);
        x += from.x;
        y += from.y;
    }
    cr_assert(hypot(x, y) < 1e-12);
    arena_free(arena);
}

Test(manifold, what_sticks_out_over_an_edge_is_cut_off_there) {
    sim_arena *arena = arena_create();
    m3 up = m3_identity(), lying = m3_axis_angle(v3_make(0, 1, 0), M_PI / 2);
    manifold m = on_a_box(arena, shape_of(SIM_BOX, 1, 1, 1), up, 2, v3_make(0.8, -0.7, 0));
    cr_assert(m.count == 4 && has_place(&m, 0.3, -1) && has_place(&m, 1, -1) && has_place(&m, 1, -0.2) &&
              has_place(&m, 0.3, -0.2));
    m = on_a_box(arena, shape_of(SIM_CAPSULE, 0.1, 1, 0), lying, 2, v3_make(0.8, 0.5, 0));
    cr_assert(m.count == 2 && has_place(&m, 0.3, 0.5) && has_place(&m, 1, 0.5));
    /* a coin with its middle over an edge: half a disc, cut through exactly where rim and edge cross */
    m = on_a_box(arena, shape_of(SIM_CYLINDER, 0.25, 0.1, 0), up, 2, v3_make(1, 0.125, 0));
    cr_assert(m.count == 4 && has_place(&m, 1, 0.375) && has_place(&m, 1, -0.125), "%d", m.count);
    /* a coin wider than the box: the box's corners */
    m = on_a_box(arena, shape_of(SIM_CYLINDER, 2, 0.1, 0), up, 2, v3_make(0.2, 0.1, 0));
    cr_assert(m.count == 4 && has_place(&m, 1, 1) && has_place(&m, 1, -1) && has_place(&m, -1, 1) &&
              has_place(&m, -1, -1));
    arena_free(arena);
}

Test(manifold, two_coins_share_a_lens) {
    sim_arena *arena = arena_create();
    sim_shape coin = shape_of(SIM_CYLINDER, 0.5, 0.1, 0);
    for (int k = 0; k <= 9; k++) {
        double aside = 0.1 * k, half = sqrt(fmax(0.25 - aside * aside / 4, 0));
        sim_pose X = {m3_axis_angle(UP, 0.3 * k), {aside, 0, -0.1 + 1e-4}};
        manifold m = touch(arena, &coin, &coin, X, UP, 1e-3);
        cr_assert_eq(m.count, 4);
        for (int i = 0; i < 4; i++) {
            v3 x = m.point[i].position;
            cr_assert(hypot(x.x, x.y) < 0.5 + 1e-6 && hypot(x.x - aside, x.y) < 0.5 + 1e-6);
        }
        cr_assert(k < 6 || (has_place(&m, aside / 2, half) && has_place(&m, aside / 2, -half)), "%d", k);
    }
    arena_free(arena);
}

static double quadrilateral(const manifold *m) {
    double most = 0;
    const contact_point *c = m->point;
    for (int order = 0; m->count >= 3 && order < 3; order++) { /* the ring is the greatest of the three orders */
        static const int ring[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 3, 2}};
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            v3 p = c[ring[order][k] % m->count].position, q = c[ring[order][(k + 1) % 4] % m->count].position;
            sum += 0.5 * (p.x * q.y - p.y * q.x);
        }
        most = fmax(most, fabs(sum));
    }
    return most;
}

/* Solids with flat faces lying on each other anyhow: the points are in both faces and span most of what these share. */
Test(manifold, flat_faces_share_what_counting_points_of_a_grid_says) {
    sim_arena *arena = arena_create();
    random_source r = {4};
    int tried = 0;
    for (int trial = 0; trial < trials_of(5000); trial++) {
        arena_release(arena, 0);
        sim_shape_type kind[2] = {random_index(&r, 2) ? SIM_BOX : SIM_CYLINDER,
                                  random_index(&r, 2) ? SIM_BOX : SIM_CYLINDER};
        sim_shape a = shape_of(kind[0], random_uniform(&r, 0.2, 1), random_uniform(&r, 0.2, 1), 0.5);
        sim_shape b = shape_of(kind[1], random_uniform(&r, 0.2, 1), random_uniform(&r, 0.2, 1), 0.5);
        double ra = hypot(a.size[0], a.size[1]) / 2, rb = hypot(b.size[0], b.size[1]) / 2, small = fmin(ra, rb);
        double heights = (a.size[kind[0] == SIM_BOX ? 2 : 1] + b.size[kind[1] == SIM_BOX ? 2 : 1]) / 2;
        sim_pose X = {m3_axis_angle(UP, random_uniform(&r, -4, 4)), {0, 0, -heights + 1e-4 * small}};
        X.p.x = random_uniform(&r, -1, 1) * ra;
        X.p.y = random_uniform(&r, -1, 1) * rb;
        int inside = 0, grid = 100;
        sim_shape flat_a = a, flat_b = b;
        flat_a.size[kind[0] == SIM_BOX ? 2 : 1] = flat_b.size[kind[1] == SIM_BOX ? 2 : 1] = 1;
        double wide = solid_radius(&flat_a);
        for (int k = 0; k < grid * grid; k++) {
            v3 x = {wide * (2.0 * (k % grid) / grid - 1), wide * (2.0 * (k / grid) / grid - 1), 0};
            v3 y = to_frame(&X, x);
            y.z = 0;
            inside += solid_outside(&flat_a, x) < 0 && solid_outside(&flat_b, y) < 0;
        }
        if (inside < 100) {
            continue;
        }
        tried++;
        double area = inside * 4 * wide * wide / grid / grid;
        manifold m = touch(arena, &a, &b, X, UP, 1e-3 * small);
        for (int k = 0; k < m.count; k++) {
            v3 x = m.point[k].position, y = to_frame(&X, x);
            x.z = y.z = 0;
            cr_assert(solid_outside(&flat_a, x) < 1e-5 * small && solid_outside(&flat_b, y) < 1e-5 * small);
        }
        cr_assert(quadrilateral(&m) > 0.5 * area, "%d: %d points, %g of %g", trial, m.count, quadrilateral(&m), area);
        cr_assert(quadrilateral(&m) < 1.25 * area);
    }
    cr_assert(tried > trials_of(500), "%d", tried);
    arena_free(arena);
}

Test(manifold, of_many_points_the_deepest_and_the_widest_stay_and_those_kept_a_step_ago) {
    sim_arena *arena = arena_create();
    random_source r = {9};
    uint64_t kept[8] = {0};
    for (int most = 4; most <= 8; most += 4) {
        int nkept = 0, changes = 0;
        for (int trial = 0; trial < trials_of(1000); trial++) {
            arena_release(arena, 0);
            manifold m = {0};
            for (int k = 0; k < 300; k++) { /* a disc full of points, all as deep but for noise */
                double turn = 2.399963 * k, far = sqrt(k / 300.0);
                contact_point c = {.position = {far * cos(turn), far * sin(turn), 0},
                                   .normal = UP,
                                   .gap = -0.01,
                                   .feature = (uint64_t)k};
                c.gap += 1e-9 * random_uniform(&r, -1, 1);
                c.position = v3_axpy(c.position, 1e-9, random_unit(&r));
                manifold_add(&m, arena, &c);
            }
            pair p = {.arena = arena, .kept = kept, .nkept = nkept};
            manifold_reduce(&p, &m, 0, most);
            cr_assert_eq(m.count, most);
            for (int k = 0; k < most; k++) {
                changes += trial > 100 && kept[k] != m.point[k].feature;
                kept[k] = m.point[k].feature;
                cr_assert(k == 0 || kept[k] > kept[k - 1]);
            }
            nkept = most;
            cr_assert(trial || most > 4 || quadrilateral(&m) > 0.75 * 2); /* a square in the circle has area 2 */
        }
        cr_assert_eq(changes, 0); /* once the first choice, which had to have the very deepest, has been bettered */
    }
    arena_free(arena);
}

Test(manifold, a_coin_that_leans_a_little_touches_where_its_rim_is_lowest) {
    sim_arena *arena = arena_create();
    random_source r = {10};
    for (int trial = 0; trial < trials_of(1000); trial++) {
        arena_release(arena, 0);
        double turn = random_uniform(&r, -4, 4), lean = pow(10, random_uniform(&r, -8, -1));
        m3 R = m3_axis_angle(v3_make(cos(turn), sin(turn), 0), lean);
        manifold m = on_a_box(arena, shape_of(SIM_CYLINDER, 0.2, 0.1, 0), R, 10, v3_make(0, 0, 0));
        int deepest = 0; /* `touch` has asked how deep; where is it? */
        for (int k = 0; k < m.count; k++) {
            deepest = m.point[k].gap < m.point[deepest].gap ? k : deepest;
        }
        v3 low = m3_times(R, v3_make(-0.2 * sin(turn), 0.2 * cos(turn), 0));
        low = low.z > 0 ? v3_neg(low) : low;
        v3 x = m.point[deepest].position;
        cr_assert(lean < 1e-4 || hypot(x.x - low.x, x.y - low.y) < 0.05 * lean + 1e-6, "%g", lean);
    }
    arena_free(arena);
}
