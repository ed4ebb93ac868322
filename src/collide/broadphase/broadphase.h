/* Broad phase: pairs of overlapping boxes.
 *
 * Boxes with axes along the world's, some still, some moving.  Two still ones are never reported.  The answer is a set:
 * it depends on the boxes of the moment and on nothing else, neither on how they came there nor on threads. */
#ifndef COLLIDE_BROADPHASE_BROADPHASE_H
#define COLLIDE_BROADPHASE_BROADPHASE_H

#include "base/arena.h"
#include "base/threads.h"
#include "collide/contact/aabb.h"
#include <stddef.h>
#include <stdint.h>

typedef struct broad_pair {
    int a, b; /* a < b */
} broad_pair;

/* Pairs the caller wants to hear of at all: a pure function of a < b, since its answers are kept.  Asked from any
 * thread, when two boxes come near each other. */
typedef bool broad_filter(void *context, int a, int b);

typedef struct broad_phase broad_phase;

/* `moves[i]`: box i may change from call to call. NULL without memory. */
broad_phase *broadphase_create(int count, const uint8_t *moves, broad_filter *filter, void *context);
void broadphase_free(broad_phase *broadphase);
size_t broadphase_bytes(const broad_phase *broadphase);

/* The pairs of boxes that meet (touching counts), sorted by a, then b; they stay until the next call.  Boxes may be
 * infinite; one that has a NaN or is inside out meets nothing.  Boxes of still shapes are read in the first call only.
 * `threads` may be NULL.  Returns their number, -1 without memory: the next call then starts afresh. */
int broadphase_update(broad_phase *broadphase, const aabb *box, sim_threads *threads, const broad_pair **pairs);

#endif
