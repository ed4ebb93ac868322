/* Many points made few: what is always kept, and what the choice may depend on. */
#include "collide/manifold/cluster.h"

#include "support/models.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000, MOST = 120 };

typedef struct bench {
    sim_arena *arena;
    pair pair;
    manifold m;
} bench;

static bench begin(void) {
    bench b = {.arena = arena_create()};
    b.pair = (pair){.arena = b.arena, .margin = 1};
    return b;
}

static void put(bench *b, v3 x, v3 n, double gap, uint64_t feature) {
    contact_point c = {.position = x, .normal = n, .gap = gap, .feature = feature};
    manifold_add(&b->m, b->arena, &c);
}

/* A ring of radius 0.1 with normals that lean outwards, gaps at random, and points about its middle. */
static void fill(bench *b, uint64_t seed) {
    random_source r = {seed};
    for (int k = 0; k < MANY; k++) {
        double angle = random_uniform(&r, 0, 6.283185307179586), radius = k % 3 ? 0.1 : random_uniform(&r, 0, 0.1);
        v3 x = {radius * cos(angle), radius * sin(angle), 0}, n = {0.5 * cos(angle), 0.5 * sin(angle), sqrt(0.75)};
        put(b, x, n, random_uniform(&r, -1e-4, 1e-3), (uint64_t)(7 * k + 3));
    }
}

static void shuffle(bench *b, uint64_t seed) {
    random_source r = {seed};
    for (int k = b->m.count - 1; k > 0; k--) {
        int j = random_index(&r, k + 1);
        contact_point swap = b->m.point[k];
        b->m.point[k] = b->m.point[j];
        b->m.point[j] = swap;
    }
}

static double deepest(const manifold *m) {
    double gap = HUGE_VAL;
    for (int k = 0; k < m->count; k++) {
        gap = fmin(gap, m->point[k].gap);
    }
    return gap;
}

static double farthest(const manifold *m, v3 d) {
    double far = -HUGE_VAL;
    for (int k = 0; k < m->count; k++) {
        far = fmax(far, v3_dot(m->point[k].position, d));
    }
    return far;
}

static v3 compass(int k) { return v3_make(cos(k * 0.78539816339744831), sin(k * 0.78539816339744831), 0); }

Test(cluster, keeps_the_deepest_point_and_the_extent) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bench b = begin();
        fill(&b, seed);
        double gap = deepest(&b.m), far[8];
        for (int k = 0; k < 8; k++) {
            far[k] = farthest(&b.m, compass(k));
        }
        cluster_points(&b.pair, &b.m, 0, MOST, 1e-9);
        cr_assert_eq(b.m.count, MOST);
        cr_assert_eq(deepest(&b.m), gap);
        for (int k = 0; k < 8; k++) {
            cr_assert_float_eq(farthest(&b.m, compass(k)), far[k], 1e-12);
        }
        arena_free(b.arena);
    }
}

/* Every point that was there has one that stays nearby: 120 points cover the ring and its inside. */
Test(cluster, leaves_no_point_without_one_near_it) {
    bench b = begin(), all = begin();
    fill(&b, 5);
    fill(&all, 5);
    cluster_points(&b.pair, &b.m, 0, MOST, 1e-9);
    for (int k = 0; k < all.m.count; k++) {
        double near = HUGE_VAL;
        for (int j = 0; j < b.m.count; j++) {
            near = fmin(near, v3_norm(v3_sub(all.m.point[k].position, b.m.point[j].position)));
        }
        cr_assert_lt(near, 0.03);
    }
    arena_free(b.arena);
    arena_free(all.arena);
}

Test(cluster, does_not_depend_on_the_order_of_points) {
    bench a = begin(), b = begin();
    fill(&a, 3);
    fill(&b, 3);
    shuffle(&b, 99);
    cluster_points(&a.pair, &a.m, 0, MOST, 1e-3);
    cluster_points(&b.pair, &b.m, 0, MOST, 1e-3);
    cr_assert_eq(a.m.count, b.m.count);
    cr_assert_eq(memcmp(a.m.point, b.m.point, (size_t)a.m.count * sizeof *a.m.point), 0);
    arena_free(a.arena);
    arena_free(b.arena);
}

Test(cluster, joins_points_at_one_place_unless_they_face_different_ways) {
    bench b = begin();
    v3 up = {0, 0, 1}, side = {1, 0, 0};
    put(&b, v3_make(0, 0, 0), up, 2e-4, 12);
    put(&b, v3_make(1e-7, 0, 0), up, 1e-4, 40);
    put(&b, v3_make(0, 1e-7, 0), side, 1e-4, 9);
    put(&b, v3_make(1e-2, 0, 0), up, 1e-4, 8);
    cluster_points(&b.pair, &b.m, 0, MOST, 1e-6);
    cr_assert_eq(b.m.count, 3);
    cr_assert_eq(b.m.point[0].feature, 8);
    cr_assert_eq(b.m.point[1].feature, 9);
    cr_assert_eq(b.m.point[2].feature, 12); /* the lower name, of the deeper point */
    cr_assert_eq(b.m.point[2].gap, 1e-4);
    arena_free(b.arena);
    b = begin();
    uint64_t kept = 40;
    b.pair.kept = &kept;
    b.pair.nkept = 1;
    put(&b, v3_make(0, 0, 0), up, 2e-4, 12);
    put(&b, v3_make(1e-7, 0, 0), up, 1e-4, 40);
    cluster_points(&b.pair, &b.m, 0, MOST, 1e-6);
    cr_assert_eq(b.m.count, 1);
    cr_assert_eq(b.m.point[0].feature, 40); /* what was kept keeps its name */
    arena_free(b.arena);
}

static int shared(const uint64_t *a, int na, const manifold *m) {
    int count = 0;
    for (int k = 0; k < na; k++) {
        for (int j = 0; j < m->count; j++) {
            count += m->point[j].feature == a[k];
        }
    }
    return count;
}

/* A grid whose gaps tremble by less than a twentieth of their range: after the first few steps the choice stands. */
Test(cluster, choice_holds_while_gaps_tremble) {
    uint64_t kept[MOST];
    int nkept = 0;
    random_source r = {4};
    for (int step = 0; step < 20; step++) {
        bench b = begin();
        b.pair.kept = kept;
        b.pair.nkept = nkept;
        for (int k = 0; k < MANY; k++) {
            v3 x = {0.01 * (k % 40), 0.01 * (k / 40), 0};
            put(&b, x, v3_make(0, 0, 1), 1e-3 * (k % 7) / 7 + random_uniform(&r, -1e-5, 1e-5), (uint64_t)k);
        }
        cluster_points(&b.pair, &b.m, 0, MOST, 1e-6);
        cr_assert_eq(b.m.count, MOST);
        if (step > 0) {
            int same = shared(kept, nkept, &b.m);
            cr_assert_geq(same, step < 4 ? 105 : 117, "step %d keeps %d", step, same);
        }
        for (int k = 0; k < MOST; k++) {
            kept[k] = b.m.point[k].feature;
        }
        nkept = MOST;
        arena_free(b.arena);
    }
}

Test(cluster, leaves_alone_what_stands_before_the_first) {
    bench b = begin();
    for (int k = 0; k < 5; k++) {
        put(&b, v3_make(0, 0, 0), v3_make(0, 0, 1), 0, (uint64_t)(100 - k));
    }
    cluster_points(&b.pair, &b.m, 3, MOST, 1e-6);
    cr_assert_eq(b.m.count, 4);
    cr_assert_eq(b.m.point[0].feature, 100);
    cr_assert_eq(b.m.point[2].feature, 98);
    cr_assert_eq(b.m.point[3].feature, 96);
    arena_free(b.arena);
}

/* A plane disc on a plane: of 24 points on its rim and one within, those stay that are farthest in eight directions,
 * and the deepest. */
Test(flat_points, of_a_disc_are_the_farthest_in_eight_directions) {
    bench b = begin();
    const v3 up = {0, 0, 1};
    for (int k = 0; k < 24; k++) {
        double angle = 0.1 + k * 0.26179938779914944;
        put(&b, v3_make(0.1 * cos(angle), 0.1 * sin(angle), 0), up, -1e-5, (uint64_t)k + 1);
    }
    put(&b, v3_make(0.01, 0.02, 0), up, -2e-5, 99);
    double far[8];
    for (int k = 0; k < 8; k++) {
        far[k] = farthest(&b.m, compass(k));
    }
    flat_points(&b.pair, &b.m, 0, 1e-3);
    cr_expect(b.m.count >= 5 && b.m.count <= 9, "%d points", b.m.count);
    cr_expect_eq(deepest(&b.m), -2e-5);
    for (int k = 0; k < 8; k++) {
        cr_expect_float_eq(farthest(&b.m, compass(k)), far[k], 1e-15, "direction %d", k);
    }
    arena_free(b.arena);
}

/* Points of one feature are one where they lie at one place, the deepest of them; apart they are two, with features of
 * their own. */
Test(manifold_unique, points_of_one_feature_are_one_only_at_one_place) {
    const sim_shape ball = {.type = SIM_SPHERE, .size = {1}};
    for (int apart = 0; apart < 2; apart++) {
        bench b = begin();
        b.pair.a = b.pair.b = &ball;
        put(&b, v3_make(0, 0, 0), v3_make(0, 0, 1), -1e-5, 7);
        put(&b, v3_make(apart ? 0.05 : 1e-9, 0, 0), v3_make(0, 0, 1), -2e-5, 7);
        manifold_unique(&b.pair, &b.m, 0);
        cr_expect_eq(b.m.count, 1 + apart);
        cr_expect_eq(deepest(&b.m), -2e-5);
        cr_expect(!apart || b.m.point[0].feature != b.m.point[1].feature);
        arena_free(b.arena);
    }
}
