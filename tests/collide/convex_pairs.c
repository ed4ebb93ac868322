/* Contact of any two convex shapes: distance, faces, points, whichever is named first. */
#include "collide/convex/convex.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <string.h>

enum { KINDS = 5, POINTS = 16 };

static sim_geometry *box_hull, *stone;

static void setup(void) {
    random_source r = {3};
    v3 corner[24];
    for (int k = 0; k < 8; k++) {
        corner[k] = v3_make(k & 1 ? 0.3 : -0.3, k & 2 ? 0.2 : -0.2, k & 4 ? 0.25 : -0.25);
    }
    box_hull = sim_geometry_hull(corner, 8, NULL);
    for (int k = 0; k < 24; k++) {
        corner[k] = v3_scale(random_uniform(&r, 0.3, 0.5), random_unit(&r));
    }
    stone = sim_geometry_hull(corner, 24, NULL);
    cr_assert(box_hull && stone);
}

static void teardown(void) {
    sim_geometry_free(box_hull);
    sim_geometry_free(stone);
}

TestSuite(convex_pairs, .init = setup, .fini = teardown);

static sim_shape shape_of(random_source *r, int kind) {
    static const sim_shape_type type[KINDS] = {SIM_BOX, SIM_CAPSULE, SIM_CYLINDER, SIM_ELLIPSOID, SIM_CONVEX};
    sim_shape s = {.type = type[kind]};
    for (int k = 0; k < 3; k++) {
        s.size[k] = random_uniform(r, 0.2, 0.6);
    }
    s.geometry = kind == 4 ? (random_index(r, 2) ? stone : box_hull) : NULL;
    return s;
}

static manifold touch(sim_arena *arena, const sim_shape *a, const sim_shape *b, pose X, double margin) {
    arena_release(arena, 0);
    pair p = {.a = a, .b = b, .X_ab = X, .margin = margin, .arena = arena};
    manifold m = {0};
    pair_convex(&p, &m);
    cr_assert(!m.failed);
    return m;
}

static double deepest(const manifold *m) {
    double least = HUGE_VAL;
    for (int k = 0; k < m->count; k++) {
        least = fmin(least, m->point[k].gap);
    }
    return least;
}

Test(convex_pairs, the_deepest_point_is_as_deep_as_the_solids_and_none_is_beyond_the_margin) {
    sim_arena *arena = arena_create();
    int touching = 0;
    for (int k = 0; k < 20000; k++) {
        random_source r = {(uint64_t)k};
        sim_shape a = shape_of(&r, k % KINDS), b = shape_of(&r, k / KINDS % KINDS);
        pose X = {random_rotation(&r), v3_scale(random_uniform(&r, 0, 1.2), random_unit(&r))};
        convex ca, cb;
        convex_gap gap;
        cr_assert(convex_of_shape(&a, &ca) && convex_of_shape(&b, &cb));
        int hit = convex_distance(&ca, &cb, &X, 0.05, v3_make(0, 0, 0), &gap);
        manifold m = touch(arena, &a, &b, X, 0.05);
        cr_assert_eq(m.count > 0, hit);
        cr_assert(m.count <= 4);
        touching += hit;
        if (hit) {
            cr_assert_float_eq(deepest(&m), gap.gap, 1e-6, "%d: %g, not %g", k, deepest(&m), gap.gap);
        }
        for (int i = 0; i < m.count; i++) {
            const contact_point *c = &m.point[i];
            cr_assert(c->gap <= 0.05 && v3_finite(c->position));
            cr_assert_float_eq(v3_norm(c->normal), 1, 1e-12);
            cr_assert(v3_norm(v3_sub(c->position, ca.centre)) <= ca.extent + fabs(c->gap) / 2 + 0.05,
                      "%d: kinds %d %d gap %g: %g beyond %g", k, ca.kind, cb.kind, c->gap,
                      v3_norm(v3_sub(c->position, ca.centre)), ca.extent);
        }
    }
    cr_assert(touching > 4000, "%d", touching);
    arena_free(arena);
}

/* Solids that lie flat on a table, with sizes that differ and a turn about the vertical: places and numbers of
 * contacts. */
Test(convex_pairs, what_lies_flat_has_points_that_hold_it) {
    sim_arena *arena = arena_create();
    const sim_shape table = {.type = SIM_BOX, .size = {4, 4, 1}};
    const struct {
        sim_shape shape;
        double half; /* height */
        m3 R;
        int points;
    } on[] = {
        {{.type = SIM_CYLINDER, .size = {0.3, 0.4}}, 0.2, m3_identity(), 4},
        {{.type = SIM_CYLINDER, .size = {0.3, 0.4}}, 0.3, m3_axis_angle(v3_make(1, 0, 0), M_PI / 2), 2},
        {{.type = SIM_CONVEX, .geometry = box_hull}, 0.25, m3_identity(), 4},
        {{.type = SIM_ELLIPSOID, .size = {0.3, 0.2, 0.1}}, 0.1, m3_identity(), 1},
    };
    for (size_t k = 0; k < sizeof on / sizeof *on; k++) {
        for (double gap = -1e-3; gap < 2e-3; gap += 1e-3) {
            pose X = {m3_product(m3_axis_angle(v3_make(0, 0, 1), 0.3), on[k].R), {0.1, -0.2, 0.5 + on[k].half + gap}};
            manifold m = touch(arena, &table, &on[k].shape, X, 0.01);
            cr_assert_eq(m.count, on[k].points, "%zu: %d", k, m.count);
            v3 middle = {0, 0, 0};
            for (int i = 0; i < m.count; i++) {
                cr_assert_float_eq(m.point[i].gap, gap, 1e-12);
                cr_assert_float_eq(m.point[i].normal.z, -1, 1e-12);
                cr_assert_float_eq(m.point[i].position.z, 0.5 + gap / 2, 1e-12);
                middle = v3_axpy(middle, 1.0 / m.count, m.point[i].position);
            }
            cr_assert(hypot(middle.x - 0.1, middle.y + 0.2) < 0.02, "%zu: %g %g", k, middle.x, middle.y);
        }
    }
    arena_free(arena);
}

Test(convex_pairs, a_box_as_a_hull_touches_like_a_box) {
    sim_arena *arena = arena_create();
    const sim_shape box = {.type = SIM_BOX, .size = {0.6, 0.4, 0.5}}, hull = {.type = SIM_CONVEX, .geometry = box_hull};
    for (int k = 0; k < 4000; k++) {
        random_source r = {(uint64_t)k << 20};
        sim_shape other = shape_of(&r, k % KINDS);
        pose X = {random_rotation(&r), v3_scale(random_uniform(&r, 0.2, 1), random_unit(&r))};
        manifold m = touch(arena, &other, &box, X, 0.1);
        double gap = deepest(&m);
        m = touch(arena, &other, &hull, X, 0.1);
        cr_assert(gap == deepest(&m) || fabs(gap - deepest(&m)) < 1e-9, "%d: %g %g", k, gap, deepest(&m));
    }
    arena_free(arena);
}

Test(convex_pairs, the_same_question_has_the_same_bits_for_an_answer) {
    sim_arena *arena = arena_create();
    for (int k = 0; k < 2000; k++) {
        random_source r = {(uint64_t)k << 24};
        sim_shape a = shape_of(&r, k % KINDS), b = shape_of(&r, k / KINDS % KINDS);
        pose X = {random_rotation(&r), v3_scale(random_uniform(&r, 0, 0.8), random_unit(&r))};
        contact_point first[POINTS];
        manifold m = touch(arena, &a, &b, X, 0.05);
        int count = m.count;
        for (int i = 0; i < count; i++) {
            first[i] = m.point[i];
        }
        m = touch(arena, &a, &b, X, 0.05);
        cr_assert_eq(m.count, count);
        cr_assert(!count || memcmp(first, m.point, (size_t)count * sizeof *first) == 0);
    }
    arena_free(arena);
}
