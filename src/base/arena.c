/* Scratch memory of a step: an arena of at most MAX_BLOCKS blocks, each at least twice the size of the one before.
 *
 * Blocks stay allocated until arena_free: a step that needs no more than the one before allocates nothing. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE_BYTES = 64, FIRST_BLOCK_BYTES = 64 * 1024, MAX_BLOCKS = 48 };

/* Blocks in the order they are filled, each at least twice the one before; a mark counts bytes over all of them. */
typedef struct block {
    char *bytes;
    size_t size, start; /* start: sizes of the blocks before it, summed */
} block;

struct sim_arena {
    block blocks[MAX_BLOCKS];
    int count, current;
    size_t used; /* of the current block */
};

sim_arena *arena_create(void) { return calloc(1, sizeof(sim_arena)); }

void arena_free(sim_arena *arena) {
    if (!arena) {
        return;
    }
    for (int k = 0; k < arena->count; k++) {
        free(arena->blocks[k].bytes);
    }
    free(arena);
}

static bool add_arena_block(sim_arena *arena, size_t need) {
    const block *last = arena->count ? &arena->blocks[arena->count - 1] : NULL;
    size_t size = last ? 2 * last->size : FIRST_BLOCK_BYTES;
    size = size > need ? size : need;
    if (arena->count == MAX_BLOCKS) {
        return false;
    }
    char *bytes = aligned_alloc(CACHE_LINE_BYTES, size);
    if (!bytes) {
        return false;
    }
    arena->blocks[arena->count++] = (block){bytes, size, last ? last->start + last->size : 0};
    return true;
}

void *arena_alloc(sim_arena *arena, size_t count, size_t size) {
    if (size && count > (SIZE_MAX / 4) / size) {
        return NULL;
    }
    size_t need = (count * size + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    while (arena->current >= arena->count || arena->blocks[arena->current].size - arena->used < need) {
        if (arena->current + 1 < arena->count) {
            arena->current++;
        } else if (add_arena_block(arena, need)) {
            arena->current = arena->count - 1;
        } else {
            return NULL;
        }
        arena->used = 0;
    }
    char *item = arena->blocks[arena->current].bytes + arena->used;
    arena->used += need;
#ifdef SIM_FILL_SCRATCH
    memset(item, 0xff, count * size); /* doubles read before they are written are NaN */
#endif
    return item;
}

size_t arena_mark(const sim_arena *arena) {
    return arena->count ? arena->blocks[arena->current].start + arena->used : 0;
}

void arena_release(sim_arena *arena, size_t mark) {
    while (arena->current > 0 && arena->blocks[arena->current].start > mark) {
        arena->current--;
    }
    arena->used = arena->count ? mark - arena->blocks[arena->current].start : 0;
}

size_t arena_bytes(const sim_arena *arena) {
    const block *last = arena->count ? &arena->blocks[arena->count - 1] : NULL;
    return last ? last->start + last->size : 0;
}
