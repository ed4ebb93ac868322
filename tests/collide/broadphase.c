/* Broad phase: the pairs of all boxes that meet, whatever came before. */
#include "collide/boxes.h"
#include "collide/broadphase/pair_sort.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const double offsets[] = {0, 1e4, 1e6}, scales[] = {1, 1e-3, 1e5};
enum { PLACES = 3, FRAMES = 6, SMALL = 300 };

/* One walk after the other, the same broad phase all the time. */
static void walk_through(box_layout kind, double offset, double scale, uint64_t seed) {
    boxes s = make_boxes(kind, is_part() ? SMALL / 2 : SMALL, offset, scale, seed);
    broad_phase *b = broadphase_create(s.count, s.moves, NULL, NULL);
    expect_every_pair(b, &s, NULL, "first frame of layout", (int)kind, 0);
    for (int w = 0; w < 2 * WALKS; w++) {
        box_walk how = w < WALKS ? (box_walk)w : (box_walk)random_index(&s.random, WALKS);
        for (int frame = 0; frame < FRAMES; frame++) {
            walk_boxes(&s, how);
            expect_every_pair(b, &s, NULL, "layout", (int)kind, 100 * (int)how + frame);
        }
    }
    broadphase_free(b);
    free_boxes(&s);
}

Test(broadphase, finds_exactly_the_pairs_that_meet_in_every_layout_and_walk) {
    for (box_layout kind = 0; kind < LAYOUTS; kind++) {
        for (int k = 0; k < part_of(PLACES); k++) {
            walk_through(kind, offsets[k], 1, 3 + (uint64_t)k);
            walk_through(kind, 0, scales[k], 30 + (uint64_t)k);
        }
    }
}

Test(broadphase, finds_exactly_the_pairs_that_meet_over_a_long_walk) {
    for (box_layout kind = UNIFORM; kind <= CLUSTERED; kind++) {
        boxes s = make_boxes(kind, SMALL, 0, 1, 17);
        broad_phase *b = broadphase_create(s.count, s.moves, NULL, NULL);
        for (int frame = 0; frame < part_of(600); frame++) {
            walk_boxes(&s, frame % 200 < 190 ? (frame / 200 ? CREEP : FLY) : JUMP);
            expect_every_pair(b, &s, NULL, "long walk, layout", (int)kind, frame);
        }
        broadphase_free(b);
        free_boxes(&s);
    }
}

Test(broadphase, few_boxes_or_none_are_no_special_case) {
    for (int count = 0; count <= 70; count++) {
        boxes s = make_boxes(UNIFORM, count, 0, 1, 5 + (uint64_t)count);
        for (int kind = 0; kind < 3; kind++) { /* some, all, none of them moving */
            if (count && kind) {
                memset(s.moves, kind == 1, (size_t)count);
            }
            broad_phase *b = broadphase_create(count, s.moves, NULL, NULL);
            for (int frame = 0; frame < 4; frame++) {
                expect_every_pair(b, &s, NULL, "boxes", count, frame);
                walk_boxes(&s, frame % 2 ? JUMP : CREEP);
            }
            broadphase_free(b);
        }
        free_boxes(&s);
    }
}

Test(broadphase, boxes_that_touch_meet_and_boxes_a_rounding_apart_do_not) {
    static const uint8_t moves[2] = {1, 0};
    for (double x = 1e-300; x < 1e300; x *= 1e3) {
        aabb box[2] = {{{-x, -x, -x}, {x, x, x}}, {{x, x, x}, {2 * x, 2 * x, 2 * x}}};
        const broad_pair *pairs;
        for (int apart = 0; apart < 2; apart++) {
            box[0].high.y = apart ? nextafter(x, 0) : x;
            broad_phase *b = broadphase_create(2, moves, NULL, NULL);
            cr_expect_eq(broadphase_update(b, box, NULL, &pairs), !apart, "at %g", x);
            broadphase_free(b);
        }
    }
}

Test(broadphase, boxes_of_still_shapes_are_read_in_the_first_call_only) {
    boxes s = make_boxes(UNIFORM, SMALL, 0, 1, 23);
    aabb *spoilt = malloc((size_t)s.count * sizeof *spoilt);
    broad_phase *b = broadphase_create(s.count, s.moves, NULL, NULL);
    expect_every_pair(b, &s, NULL, "still", 0, 0);
    for (int frame = 1; frame < 10; frame++) {
        walk_boxes(&s, frame < 5 ? CREEP : SCATTER);
        for (int i = 0; i < s.count; i++) {
            spoilt[i] = s.moves[i] ? s.box[i] : (aabb){{NAN, 0, 0}, {0, 0, 0}};
        }
        const broad_pair *pairs;
        int n, count = broadphase_update(b, spoilt, NULL, &pairs);
        broad_pair *expected = every_pair(&s, NULL, NULL, &n);
        cr_expect_eq(first_difference(pairs, count, expected, n), -1);
        free(expected);
    }
    free(spoilt);
    broadphase_free(b);
    free_boxes(&s);
}

static bool odd_sum(void *context, int a, int b) {
    cr_assert_lt(a, b);
    cr_assert(((const uint8_t *)context)[a] || ((const uint8_t *)context)[b], "asked about two that are still");
    return (a + b) % 2 != 0;
}

Test(broadphase, pairs_that_the_filter_refuses_are_not_reported) {
    boxes s = make_boxes(UNIFORM, SMALL, 0, 1, 29);
    broad_phase *b = broadphase_create(s.count, s.moves, odd_sum, s.moves);
    for (int frame = 0; frame < 40; frame++) {
        const broad_pair *pairs;
        int n, count = broadphase_update(b, s.box, NULL, &pairs);
        broad_pair *expected = every_pair(&s, odd_sum, s.moves, &n);
        cr_expect_eq(first_difference(pairs, count, expected, n), -1);
        free(expected);
        walk_boxes(&s, frame % 8 ? CREEP : JUMP);
    }
    broadphase_free(b);
    free_boxes(&s);
}

static bool count_question(void *context, int a, int b) {
    (void)a;
    (void)b;
    ++*(long *)context;
    return true;
}

/* Questions to the filter are pairs of fat boxes: the work that is done for pairs that do not meet. */
Test(broadphase, few_pairs_beyond_those_that_meet_are_ever_looked_at) {
    for (box_layout kind = 0; kind < LAYOUTS; kind++) {
        boxes s = make_boxes(kind, 2000, 0, 1, 37);
        long asked = 0;
        broad_phase *b = broadphase_create(s.count, s.moves, count_question, &asked);
        const broad_pair *pairs;
        int n = broadphase_update(b, s.box, NULL, &pairs);
        cr_expect_leq(asked, 2L * n + 5L * s.count, "layout %d: %ld pairs looked at, %d meet", (int)kind, asked, n);
        broadphase_free(b);
        free_boxes(&s);
    }
}

Test(broadphase, each_pair_is_asked_about_once_while_it_lasts) {
    boxes s = make_boxes(UNIFORM, 2000, 0, 1, 41);
    long asked = 0;
    broad_phase *b = broadphase_create(s.count, s.moves, count_question, &asked);
    const broad_pair *pairs;
    broadphase_update(b, s.box, NULL, &pairs);
    long first = asked;
    for (int frame = 0; frame < 50; frame++) {
        walk_boxes(&s, TREMBLE);
        broadphase_update(b, s.box, NULL, &pairs);
    }
    cr_expect_gt(first, 0);
    cr_expect_eq(asked, first);
    broadphase_free(b);
    free_boxes(&s);
}

static int by_key(const void *a, const void *b) {
    pair_key p = *(const pair_key *)a, q = *(const pair_key *)b;
    return (p > q) - (p < q);
}

/* `pairs` random ones of `count` boxes, a third of them of the first box, in `nlist` lists of different lengths. */
static void sort_random_pairs(random_source *r, int count, int bits, size_t pairs, int nlist) {
    pair_list list[3] = {{0}};
    pair_sort sort = {.nlist = nlist, .at = calloc((size_t)nlist, sizeof *sort.at)};
    pair_key *expected = malloc(pairs * sizeof *expected);
    sort.to = malloc(pairs * sizeof *sort.to);
    sort.spare = malloc(pairs * sizeof *sort.spare);
    for (size_t k = 0; k < pairs; k++) {
        expected[k] = pair_key_of(random_index(r, 3) ? random_index(r, count) : 0, random_index(r, count), bits);
        pair_list *l = &list[k < pairs / 2 ? 0 : random_index(r, nlist)];
        cr_assert(pair_list_grow(l, l->count + 1));
        l->key[l->count++] = expected[k];
    }
    qsort(expected, pairs, sizeof *expected, by_key);
    pair_sort_start(&sort, count, bits);
    for (int k = 0; k < nlist; k++) {
        pair_sort_tally(&sort, k, &list[k]);
    }
    cr_expect_eq(pair_sort_divide(&sort), pairs);
    for (int k = 0; k < nlist; k++) {
        pair_sort_scatter(&sort, k, &list[k]);
        pair_list_free(&list[k]);
    }
    for (int k = 0; k < sort.buckets; k++) {
        pair_sort_bucket(&sort, k);
    }
    cr_expect_arr_eq(sort.to, expected, pairs * sizeof *expected, "%d boxes, %d lists", count, nlist);
    free(expected);
    free(sort.at);
    free(sort.to);
    free(sort.spare);
}

Test(broadphase, pairs_are_sorted_however_many_boxes_there_are) {
    random_source r = {43};
    for (int bits = 1; bits < 31; bits++) {
        for (int nlist = 1; nlist <= 3; nlist++) {
            sort_random_pairs(&r, 1 << bits, bits, 1 + (size_t)random_index(&r, 20000), nlist);
            sort_random_pairs(&r, (1 << bits) - 1, bits, 50, nlist);
        }
    }
}
