/* The points of contact of two convex solids: how many, where, and what they are called. */
#include "collide/convex.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

static sim_shape shape_of(sim_shape_type type, double x, double y, double z) {
    return (sim_shape){.type = type, .size = {x, y, z}};
}

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

/* B lies below A: its frame in A's turned by R and at p. */
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
    sim_arena *arena = sim_arena_create();
    random_source r = {1};
    const double sizes[3] = {10, 1, 0.7}; /* of the box below: larger, equal, smaller */
    for (int which = 0; which < 3; which++) {
        sim_shape a = shape_of(SIM_BOX, 1, 1, 1), b = shape_of(SIM_BOX, sizes[which], sizes[which], 1);
        uint64_t first[4];
        for (int trial = 0; trial < 10000; trial++) {
            sim_arena_release(arena, 0);
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
    sim_arena_free(arena);
}
