/* Scratch memory of a step: taken in order, given back all at once or down to a mark, kept for the next step. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct sim_arena sim_arena;

/* NULL when there is no memory. */
sim_arena *arena_create(void);
void arena_free(sim_arena *arena);

/* `count` items of `size` bytes, not zeroed, aligned to a cache line; NULL when there is no memory or the product
 * overflows.  Grows when it must: a step like the one before allocates nothing. */
void *arena_alloc(sim_arena *arena, size_t count, size_t size);
/* How much is taken; give back all that was taken after a mark (0: everything). */
size_t arena_mark(const sim_arena *arena);
void arena_release(sim_arena *arena, size_t mark);
/* Bytes held. */
size_t arena_bytes(const sim_arena *arena);

#define ARENA_NEW(arena, type, count) ((type *)arena_alloc((arena), (size_t)(count), sizeof(type)))

#endif
