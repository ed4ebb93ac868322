/* Broad phase and memory: none is taken in a frame like the last, and wherever it runs out this is said and survived. */
#include "collide/boxes.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The linker sends every allocation here; threads allocate too. */
static struct {
    atomic_long calls;
    long fail_at; /* this call fails; 0: none */
} watched;

static int refuse(void) { return atomic_fetch_add(&watched.calls, 1) + 1 == watched.fail_at; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return refuse() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuse() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return refuse() ? NULL : __real_realloc(old, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return refuse() ? NULL : __real_aligned_alloc(alignment, size);
}

Test(broadphase_memory, a_frame_like_the_last_allocates_nothing) {
    static const int teams[] = {1, 2, 8};
    static const box_walk walks[] = {REST, TREMBLE, CREEP};
    for (int t = 0; t < 3; t++) {
        for (int w = 0; w < 3; w++) {
            boxes s = make_boxes(UNIFORM, 8000, 0, 1, 3);
            sim_threads *threads = sim_threads_create(teams[t]);
            sim_broadphase *b = broadphase_create(s.count, s.moves, NULL, NULL);
            const broad_pair *pairs;
            long before = 0;
            for (int frame = 0; frame < 60; frame++) {
                before = frame == 10 ? watched.calls : before;
                walk_boxes(&s, walks[w]);
                cr_assert_gt(broadphase_update(b, s.box, threads, &pairs), 0);
            }
            cr_expect_eq(watched.calls, before, "%d threads, walk %d: %ld allocations", teams[t], w,
                         watched.calls - before);
            cr_expect_gt(broadphase_bytes(b), (size_t)s.count * sizeof(aabb));
            broadphase_free(b);
            sim_threads_free(threads);
            free_boxes(&s);
        }
    }
    cr_expect_gt(watched.calls, 0, "the allocations are not watched at all");
}

/* Some frames with the allocation `fail_at` failing; how often that was said. Afterwards all is as it should be. */
static int live(boxes *s, sim_threads *threads, long fail_at, int *reached) {
    const broad_pair *pairs = NULL;
    int said = 0;
    watched.calls = 0;
    watched.fail_at = fail_at;
    sim_broadphase *b = broadphase_create(s->count, s->moves, NULL, NULL);
    said += !b;
    static const box_walk walks[] = {REST, CREEP, CREEP, CREEP, JUMP, CREEP, SCATTER, CREEP};
    for (int frame = 0; b && frame < 8; frame++) {
        watched.fail_at = 0;
        long calls = watched.calls;
        walk_boxes(s, walks[frame]);
        int n = 0;
        broad_pair *expected = every_pair(s, NULL, NULL, &n);
        watched.calls = calls;
        watched.fail_at = fail_at;
        int count = broadphase_update(b, s->box, threads, &pairs);
        said += count < 0;
        if (count >= 0) {
            cr_expect_eq(first_difference(pairs, count, expected, n), -1, "allocation %ld, frame %d", fail_at, frame);
        }
        free(expected);
    }
    *reached = watched.calls >= fail_at;
    watched.fail_at = 0;
    broadphase_free(b);
    return said;
}

Test(broadphase_memory, running_out_of_it_anywhere_is_said_once_and_survived) {
    int failures = 0, reached = 1;
    sim_threads *threads = sim_threads_create(2);
    for (long n = 1; reached; n++) {
        boxes s = make_boxes(UNIFORM, 3000, 0, 1, 5);
        int said = live(&s, threads, n, &reached);
        cr_expect_eq(said, reached, "allocation %ld", n);
        failures += said;
        free_boxes(&s);
    }
    cr_expect_gt(failures, 20);
    sim_threads_free(threads);
}
