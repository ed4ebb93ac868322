/* State of the broad phase between steps. */
#ifndef COLLIDE_BROADPHASE_CANDIDATES_H
#define COLLIDE_BROADPHASE_CANDIDATES_H

#include "collide/broadphase/box_order.h"
#include "collide/broadphase/pair_sort.h"

/* One thread's share. */
typedef struct part {
    pair_list found;
    int left, far; /* boxes that left their fat box, and those that do not even touch where they last were */
    int failed;
    size_t begin, count; /* of what it wrote in the common list */
} part;

struct broad_phase {
    int count, nmoving, nstill, bits;
    broad_filter *filter;
    void *context;
    uint8_t *moves, *left; /* [count] */
    int *mover;            /* [nmoving] */
    int *leaver;           /* [nmoving] slots, in order */
    int nleaver;
    const aabb *shown; /* [count] the caller's */
    aabb *box;         /* [count] of this frame; of the still: of the first */
    aabb *known;       /* [count] when its fat box was made */
    float_box *fat;    /* [count] */
    uint32_t *since;   /* [count] frame in which the fat box was made */
    uint32_t frame;
    double typical; /* size */
    double worn;    /* moves since the tree of the moving was put in order */
    bool cold;      /* candidates do not hold */
    bool read_still;
    box_tree still, moving;
    box_order order;
    pair_list candidate, spare, fresh;
    broad_pair *pairs;
    size_t room; /* of pairs, and at least that of these lists */
    pair_sort sort;
    part *parts;
    int nparts, parts_room;
    sim_threads *threads;
    size_t bytes;
};

/* One share of a stage of the work; shares write to different places, and what they write does not depend on how many
 * there are. */
typedef void part_work(broad_phase *b, int p);
void in_parts(broad_phase *b, part_work *work);
static inline size_t share_begin(const broad_phase *b, size_t items, int p) {
    return items * (size_t)p / (size_t)b->nparts;
}
/* Closes the gaps between what the parts wrote; returns how many items it is. */
size_t close_gaps(const broad_phase *b, void *items, size_t size);

/* The candidates anew, from the trees; or again, where some boxes (`leaver`, `left`) have new fat boxes.  0 without
 * memory. */
bool candidates_find(broad_phase *b);
bool candidates_mend(broad_phase *b);

#endif
