/* Broad phase and memory: none is taken in a frame like the last; where it runs out, an error is returned. */
#include "collide/boxes.h"
#include "support/share.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(broadphase_memory, a_frame_like_the_last_allocates_nothing) {
    static const int teams[] = {1, 2, 8};
    static const box_walk walks[] = {REST, TREMBLE, CREEP};
    for (int t = 0; t < 3; t++) {
        for (int w = 0; w < 3; w++) {
            boxes s = make_boxes(UNIFORM, is_part() ? 2000 : 8000, 0, 1, 3);
            sim_threads *threads = threads_create(teams[t]);
            broad_phase *b = broadphase_create(s.count, s.moves, NULL, NULL);
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
            threads_free(threads);
            free_boxes(&s);
        }
    }
    cr_expect_gt(watched.calls, 0, "the allocations are not watched at all");
}

enum { FRAMES = 48 };

typedef struct recorded_frame {
    aabb *box;
    broad_pair *pairs;
    int count;
} recorded_frame;

/* Some frames with the allocation `fail_at` failing; how often that was said. */
static int live(const boxes *s, const recorded_frame *frames, sim_threads *threads, long fail_at, int *reached) {
    watched.calls = 0;
    watched.fail_at = fail_at;
    broad_phase *b = broadphase_create(s->count, s->moves, NULL, NULL);
    int said = !b;
    for (int k = 0; b && k < FRAMES; k++) {
        const broad_pair *pairs;
        int count = broadphase_update(b, frames[k].box, threads, &pairs);
        said += count < 0;
        if (count >= 0 && first_difference(pairs, count, frames[k].pairs, frames[k].count) != -1) {
            watched.fail_at = 0;
            cr_expect(0, "wrong pairs after allocation %ld failed, frame %d", fail_at, k);
        }
    }
    *reached = watched.calls >= fail_at;
    watched.fail_at = 0;
    broadphase_free(b);
    return said;
}

Test(broadphase_memory, running_out_of_it_anywhere_is_said_once_and_survived) {
    static const box_walk walks[] = {REST, CREEP, CREEP, JUMP, CREEP, SCATTER, CREEP};
    enum { WALKED = sizeof walks / sizeof *walks };
    boxes s = make_boxes(UNIFORM, is_part() ? 1000 : 3000, 0, 1, 5);
    recorded_frame frames[FRAMES];
    for (int k = 0; k < FRAMES; k++) {
        walk_boxes(&s, k < WALKED ? walks[k] : CROWD);
        frames[k].box = malloc((size_t)s.count * sizeof *s.box);
        memcpy(frames[k].box, s.box, (size_t)s.count * sizeof *s.box);
        frames[k].pairs = every_pair(&s, NULL, NULL, &frames[k].count);
    }
    int failures = 0, reached = 1;
    sim_threads *threads = threads_create(2);
    for (long n = 1; reached; n += is_part() ? 10 : 1) {
        int said = live(&s, frames, threads, n, &reached);
        cr_expect_eq(said, reached, "allocation %ld", n);
        failures += said;
    }
    cr_expect_gt(failures, part_of(20));
    threads_free(threads);
    for (int k = 0; k < FRAMES; k++) {
        free(frames[k].box);
        free(frames[k].pairs);
    }
    free_boxes(&s);
}
