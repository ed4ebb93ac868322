/* Scenes of boxes, for the tests of the broad phase. */
#ifndef TESTS_COLLIDE_BOXES_H
#define TESTS_COLLIDE_BOXES_H

#include "collide/broadphase/broadphase.h"
#include "support/models.h"

typedef enum box_layout {
    UNIFORM,
    CLUSTERED, /* ten heaps, their sizes and the distances between them far apart */
    ONE_SPOT,
    LINE,
    GRID,     /* touching faces, edges and corners, to the bit */
    POINTS,   /* no size at all, some on each other */
    GIANTS,   /* a few huge ones among tiny ones */
    SIZES,    /* 1 to 1e4, evenly in their logarithm */
    PLATES,   /* flat or long */
    INFINITE, /* half-spaces, slabs and all of space among others */
    ASTRAY,   /* a crowd, and some at 1e6 to 1e15 */
    LAYOUTS
} box_layout;

typedef enum box_walk {
    REST,
    TREMBLE,
    CREEP,
    FLY,
    DRIFT,   /* all together */
    JUMP,    /* one in ten to anywhere */
    SCATTER, /* all to anywhere */
    CROWD,   /* closer together, slowly */
    EXPLODE, /* apart, by half the distance in each frame */
    VANISH,  /* one in ten is not a number, or inside out, for a while */
    TUMBLE,  /* sizes change */
    WALKS
} box_walk;

typedef struct boxes {
    int count;
    random_source random;
    double offset, scale;
    box_layout layout;
    v3 *place, *half, *speed;
    uint8_t *moves;
    aabb *box;
} boxes;

boxes make_boxes(box_layout layout, int count, double offset, double scale, uint64_t seed);
void free_boxes(boxes *b);
/* One frame. Still boxes stay. */
void walk_boxes(boxes *b, box_walk how);

/* Every pair tested, one by one; to be freed. */
broad_pair *every_pair(const boxes *b, broad_filter *filter, void *context, int *count);
/* Where two lists of pairs differ first; -1: nowhere. */
int first_difference(const broad_pair *a, int na, const broad_pair *b, int nb);
/* Asserts that the broad phase finds every pair; `what`, `kind` and `frame` say where it did not. */
void expect_every_pair(broad_phase *b, const boxes *s, sim_threads *threads, const char *what, int kind, int frame);

#endif
