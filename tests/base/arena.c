/* Scratch memory: aligned, distinct, reused. */
#include "base/arena.h"
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(arena, items_are_aligned_and_apart_and_a_mark_gives_back) {
    sim_arena *a = arena_create();
    unsigned char *item[200];
    for (int k = 0; k < 200; k++) {
        item[k] = arena_alloc(a, 1, (size_t)(1 + 97 * k));
        cr_assert_eq((uintptr_t)item[k] % 64, 0);
        memset(item[k], k, (size_t)(1 + 97 * k));
    }
    for (int k = 0; k < 200; k++) {
        for (int i = 0; i < 1 + 97 * k; i++) {
            cr_assert_eq(item[k][i], k);
        }
    }
    arena_free(a);
}

Test(arena, the_same_step_again_takes_the_same_memory) {
    sim_arena *a = arena_create();
    size_t held = 0;
    for (int step = 0; step < 5; step++) {
        arena_release(a, 0);
        for (int k = 0; k < 100; k++) {
            size_t mark = arena_mark(a);
            void *first = arena_alloc(a, 3000, 8);
            arena_release(a, mark);
            void *again = arena_alloc(a, 3000, 8);
            cr_assert_eq(first, again);
        }
        cr_assert(step == 0 || arena_bytes(a) == held);
        held = arena_bytes(a);
    }
    arena_free(a);
}

Test(arena, too_much_is_refused_not_wrapped_around) {
    sim_arena *a = arena_create();
    cr_assert_null(arena_alloc(a, SIZE_MAX / 2, 8));
    cr_assert_not_null(arena_alloc(a, 0, 8));
    arena_free(a);
}
