/* Two boxes: the depth, the distance, and what stands still while they move. */
#include "collide/contact/pair.h"
#include "solids.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static manifold collide(sim_arena *arena, const sim_shape *a, const sim_shape *b, sim_pose X, double margin) {
    pair p = {.a = a, .b = b, .X_ab = X, .margin = margin, .arena = arena};
    manifold m = {0};
    pair_collide(&p, &m);
    cr_assert(!m.failed);
    return m;
}

static double least_gap(const manifold *m) {
    double least = HUGE_VAL;
    for (int k = 0; k < m->count; k++) {
        least = fmin(least, m->point[k].gap);
    }
    return least;
}

static v3 column(m3 R, int k) { return k == 0 ? R.x : k == 1 ? R.y : R.z; }

/* Greatest separation over the fifteen axes, each by support functions; both senses, so that no sign is assumed. */
static double exhaustive(const sim_shape *a, const sim_shape *b, const sim_pose *X) {
    double best = -HUGE_VAL;
    for (int k = 0; k < 30; k++) {
        int i = k / 2 % 3, j = k / 6 - 1;
        v3 n = k < 6 ? column(m3_identity(), i) : column(X->R, i);
        if (k >= 12) {
            n = v3_cross(column(m3_identity(), (k - 12) / 6), n);
            j = 1;
        }
        double length = v3_norm(n);
        if (j < 2 && length > 1e-13) {
            best = fmax(best, solid_parted(a, b, X, v3_scale((k & 1 ? 1 : -1) / length, n)));
        }
    }
    return best;
}

static v3 held(v3 x, const double e[3]) {
    return v3_make(fmin(fmax(x.x, -e[0] / 2), e[0] / 2), fmin(fmax(x.y, -e[1] / 2), e[1] / 2),
                   fmin(fmax(x.z, -e[2] / 2), e[2] / 2));
}

/* A distance that two points of the boxes have, from a start: each goes to the nearest point to the other. */
static double reached_distance(const sim_shape *a, const sim_shape *b, const sim_pose *X, v3 start) {
    v3 on_a = held(start, a->size), on_b = start;
    for (int k = 0; k < 100; k++) {
        v3 in_b = held(to_frame(X, on_a), b->size);
        on_b = v3_add(X->p, m3_times(X->R, in_b));
        on_a = held(on_b, a->size);
    }
    return v3_norm(v3_sub(on_a, on_b));
}

static sim_pose placed(random_source *r, const sim_shape *a, const sim_shape *b) {
    sim_pose X = {random_placing(r), {0, 0, 0}};
    double small = fmin(solid_radius(a), solid_radius(b));
    v3 d = random_index(r, 2) ? random_unit(r) : column(X.R, random_index(r, 3));
    double shift = random_uniform(r, -1, 1) * small * pow(10, -random_index(r, 12));
    X.p = v3_scale(solid_parted(a, b, &X, d) - shift, d);
    if (random_index(r, 2)) {
        X.p = v3_axpy(X.p, small, random_unit(r));
    }
    return X;
}

Test(box_box, depth_equals_exhaustive_separating_axes_and_distance_is_reached) {
    sim_arena *arena = arena_create();
    random_source r = {3};
    int apart = 0, overlapping = 0;
    for (int trial = 0; trial < trials_of(200000); trial++) {
        arena_release(arena, 0);
        sim_shape a = random_solid(&r, SIM_BOX), b = random_solid(&r, SIM_BOX);
        sim_pose X = placed(&r, &a, &b);
        manifold m = collide(arena, &a, &b, X, HUGE_VAL);
        cr_assert(m.count > 0 && m.count <= 4);
        double gap = least_gap(&m), axes = exhaustive(&a, &b, &X), size = solid_radius(&a) + solid_radius(&b);
        if (axes < 0) {
            overlapping++;
            cr_assert_float_eq(gap, axes, 1e-12 * size, "%d: %g, axes say %g, size %g", trial, gap, axes, size);
        } else {
            apart++;
            int k = 0;
            while (m.point[k].gap > gap) {
                k++;
            }
            v3 start = m.point[k].position, toward = v3_sub(m.point[m.count - 1 - k].position, start);
            double distance = HUGE_VAL; /* of edges that lie along each other the crossing is somewhere between */
            for (int i = 0; i <= 64 && distance > gap + 1e-12 * size; i++) {
                v3 x = v3_axpy(v3_axpy(start, i / 64.0, toward), gap / 2, m.point[k].normal);
                distance = fmin(distance, reached_distance(&a, &b, &X, x));
            }
            cr_assert(distance <= gap + 1e-12 * size, "%d: %g, but points are nearer by %g of %g", trial, gap,
                      gap - distance, size);
            double parted = solid_parted(&a, &b, &X, m.point[k].normal); /* a direction is as sure as gap / size */
            cr_assert_float_eq(parted, gap, (1e-12 + 1e-15 * size / fmax(gap, 1e-13 * size)) * size, "%d: %g %g", trial,
                               gap, parted);
        }
    }
    cr_assert(apart > trials_of(40000) && overlapping > trials_of(40000), "%d %d", apart, overlapping);
    arena_free(arena);
}

Test(box_box, answers_for_coincident_aligned_and_touching_boxes_are_finite_and_right) {
    sim_arena *arena = arena_create();
    sim_shape unit = shape_of(SIM_BOX, 2, 2, 2), tiny = shape_of(SIM_BOX, 2e-3, 2e-3, 2e-3);
    static const struct {
        v3 p;
        double gap;
        int count;
    } rows[] = {
        {{0, 0, 0}, -2, 4}, {{0, 0, 1.9}, -0.1, 4},      {{0.3, -0.2, 1.9}, -0.1, 4},
        {{0, 0, 2}, 0, 4},  {{2, 2, 0}, 0, 2},           {{2, 2, 2}, 0, 1},
        {{2, 0, 2}, 0, 2},  {{0, 0, 2.5}, 0.5, 4},       {{2 + 3e-3, 2 + 4e-3, 0}, 5e-3, 2},
        {{3, 4, 4}, 3, 1},  {{2 + 1e-9, 2, 2}, 1e-9, 1},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        manifold m = collide(arena, &unit, &unit, (sim_pose){m3_identity(), rows[k].p}, 4);
        cr_assert_float_eq(least_gap(&m), rows[k].gap, 1e-15, "row %zu: %.17g", k, least_gap(&m));
        int touching = 0;
        for (int i = 0; i < m.count; i++) {
            touching += m.point[i].gap <= rows[k].gap + 1e-12;
            cr_assert(v3_finite(m.point[i].position) && v3_finite(m.point[i].normal));
        }
        cr_assert(touching >= rows[k].count, "row %zu: %d", k, touching);
    }
    manifold m = collide(arena, &unit, &tiny, (sim_pose){m3_identity(), {0.2, 0.3, 1.0005}}, 0);
    cr_assert_eq(m.count, 4);
    cr_assert_float_eq(least_gap(&m), -5e-4, 1e-16);
    for (int i = 0; i < m.count; i++) {
        cr_assert_float_eq(fabs(m.point[i].position.x - 0.2), 1e-3, 1e-15);
    }
    arena_free(arena);
}

/* As a solver would feel it: no jump of the least gap, along motions that lead through touching. */
Test(box_box, the_gap_changes_no_faster_than_the_boxes_move) {
    sim_arena *arena = arena_create();
    random_source r = {5};
    for (int path = 0; path < trials_of(400); path++) {
        sim_shape a = random_solid(&r, SIM_BOX), b = random_solid(&r, SIM_BOX);
        sim_pose X = placed(&r, &a, &b);
        double small = fmin(solid_radius(&a), solid_radius(&b)), step = 0.01 * small, before = 0;
        v3 along = random_unit(&r), axis = random_unit(&r);
        for (int k = 0; k < 200; k++) {
            arena_release(arena, 0);
            manifold m = collide(arena, &a, &b, X, HUGE_VAL);
            double gap = least_gap(&m), turned = 0.003;
            double far = step + turned * solid_radius(&b);
            cr_assert(k == 0 || fabs(gap - before) <= far * (1 + 1e-9), "%d, %d: %g, then %g", path, k, before, gap);
            before = gap;
            X.p = v3_axpy(X.p, step, along);
            X.R = m3_product(m3_axis_angle(axis, turned), X.R);
        }
    }
    arena_free(arena);
}

Test(box_box, a_scene_scaled_by_a_power_of_two_gives_the_same_bits_scaled) {
    sim_arena *arena = arena_create();
    random_source r = {6};
    for (int trial = 0; trial < trials_of(20000); trial++) {
        arena_release(arena, 0);
        sim_shape a = random_solid(&r, SIM_BOX), b = random_solid(&r, SIM_BOX), a2 = a, b2 = b;
        sim_pose X = placed(&r, &a, &b), X2 = X;
        double scale = ldexp(1, random_index(&r, 60) - 30), margin = 0.3 * solid_radius(&a);
        for (int k = 0; k < 3; k++) {
            a2.size[k] *= scale;
            b2.size[k] *= scale;
        }
        X2.p = v3_scale(scale, X.p);
        manifold m = collide(arena, &a, &b, X, margin), m2 = collide(arena, &a2, &b2, X2, scale * margin);
        cr_assert_eq(m.count, m2.count);
        for (int k = 0; k < m.count; k++) {
            v3 position = v3_scale(scale, m.point[k].position);
            cr_assert(memcmp(&position, &m2.point[k].position, sizeof position) == 0);
            cr_assert(m.point[k].feature == m2.point[k].feature && scale * m.point[k].gap == m2.point[k].gap);
        }
    }
    arena_free(arena);
}

/* The box on top turns about the vertical with its load; how often does a point change its name? */
Test(box_box, points_of_a_box_that_turns_on_another_change_only_where_edges_pass_corners) {
    sim_arena *arena = arena_create();
    sim_shape top = shape_of(SIM_BOX, 1, 1, 1), wide = shape_of(SIM_BOX, 3, 3, 1), same = top;
    const sim_shape *below[2] = {&wide, &same};
    for (int which = 0; which < 2; which++) {
        uint64_t kept[4] = {0};
        int nkept = 0, changes = 0, steps = 100000;
        for (int k = 0; k < steps; k++) {
            arena_release(arena, 0);
            double angle = 2 * M_PI * k / steps;
            m3 turned = m3_transpose(m3_axis_angle(v3_make(0, 0, 1), angle));
            sim_pose X = {turned, {0, 0, -1 + 1e-4}};
            pair p = {
                .a = &top, .b = below[which], .X_ab = X, .margin = 1e-3, .kept = kept, .nkept = nkept, .arena = arena};
            manifold m = {0};
            pair_collide(&p, &m);
            cr_assert_eq(m.count, 4, "%d at %g", m.count, angle);
            for (int i = 0; i < 4; i++) {
                int known = k == 0;
                for (int j = 0; j < nkept; j++) {
                    known |= kept[j] == m.point[i].feature;
                }
                changes += !known;
            }
            for (int i = 0; i < 4; i++) {
                kept[i] = m.point[i].feature;
            }
            nkept = 4;
        }
        /* On a wide box the corners stay. On an equal one the common octagon has eight crossings of edges; four carry,
         * and hand over to the other four when those span more, near the middle of each quarter; when all edges lie on
         * edges, the four corners. */
        cr_assert(changes <= (which ? 4 * 12 : 0), "%d changes", changes);
    }
    arena_free(arena);
}

Test(box_box, a_box_on_an_edge_has_two_points_and_on_a_corner_one) {
    sim_arena *arena = arena_create();
    sim_shape box = shape_of(SIM_BOX, 1, 1, 1), floor = shape_of(SIM_BOX, 10, 10, 1);
    for (int degrees = 1; degrees <= 45; degrees++) {
        double tilt = degrees * M_PI / 180;
        for (int corner = 0; corner < 2; corner++) {
            m3 R = m3_axis_angle(v3_make(0, 1, 0), tilt);
            R = corner ? m3_product(m3_axis_angle(v3_make(1, 0, 0), tilt), R) : R;
            double low = 0.5 * (fabs(R.x.z) + fabs(R.y.z) + fabs(R.z.z));
            /* the box is A, its frame that of the pair; the floor's centre in it */
            m3 into = m3_transpose(R);
            sim_pose X = {into, m3_times(into, v3_make(0, 0, -(low + 0.5) + 1e-4))};
            arena_release(arena, 0);
            manifold m = collide(arena, &box, &floor, X, 1e-3);
            cr_assert_eq(m.count, corner ? 1 : 2, "%d points at %d degrees", m.count, degrees);
            for (int k = 0; k < m.count; k++) {
                cr_assert_float_eq(m.point[k].gap, -1e-4, 1e-14);
                v3 x = m3_times(R, m.point[k].position); /* in a frame that stands upright */
                cr_assert_float_eq(x.z, -low + 5e-5, 1e-14);
                cr_assert_float_eq(v3_norm(m3_times(R, v3_sub(m.point[k].normal, m3_times(into, v3_make(0, 0, 1))))), 0,
                                   1e-15);
            }
        }
    }
    arena_free(arena);
}

Test(box_box, crossed_edges_touch_in_their_one_point) {
    sim_arena *arena = arena_create();
    sim_shape a = shape_of(SIM_BOX, 1, 1, 4), b = shape_of(SIM_BOX, 1, 1, 4);
    /* both on edge: A's along z, B's along y, facing each other along x */
    m3 quarter = m3_axis_angle(v3_make(0, 0, 1), M_PI / 4);
    m3 lying = m3_product(m3_axis_angle(v3_make(1, 0, 0), M_PI / 2), quarter);
    m3 into = m3_transpose(quarter);
    double half = sqrt(0.5);
    for (int k = -1; k <= 1; k++) {
        double gap = 0.01 * k;
        sim_pose X = {m3_product(into, lying), m3_times(into, v3_make(-2 * half - gap, 0.3, 0.4))};
        manifold m = collide(arena, &a, &b, X, 0.1);
        cr_assert_eq(m.count, 1);
        cr_assert_float_eq(m.point[0].gap, gap, 1e-14);
        v3 x = m3_times(quarter, m.point[0].position), n = m3_times(quarter, m.point[0].normal);
        cr_assert_float_eq(v3_norm(v3_sub(x, v3_make(-half - gap / 2, 0, 0.4))), 0, 1e-14, "%g %g %g", x.x, x.y, x.z);
        cr_assert_float_eq(n.x, 1, 1e-14);
    }
    arena_free(arena);
}

Test(box_box, named_the_other_way_round_the_points_are_the_same) {
    sim_arena *arena = arena_create();
    random_source r = {8};
    for (int trial = 0; trial < trials_of(20000); trial++) {
        arena_release(arena, 0);
        sim_shape a = random_solid(&r, SIM_BOX), b = random_solid(&r, SIM_BOX);
        sim_pose X = placed(&r, &a, &b), Y = {m3_transpose(X.R), v3_neg(to_frame(&X, v3_make(0, 0, 0)))};
        Y.p = to_frame(&X, v3_make(0, 0, 0));
        double size = solid_radius(&a) + solid_radius(&b);
        manifold m = collide(arena, &a, &b, X, HUGE_VAL), w = collide(arena, &b, &a, Y, HUGE_VAL);
        cr_assert_float_eq(least_gap(&m), least_gap(&w), 1e-12 * size);
    }
    arena_free(arena);
}
