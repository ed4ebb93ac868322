/* A packed tree of boxes, eight to a node: built from an order of the boxes, refitted where they moved.
 *
 * Boxes are rounded outwards to single precision about an origin, so that two that meet still meet.  Slot s holds the
 * s-th item of the order.  Node k of level 0 holds slots 8k to 8k+7; node k of level l holds the bounds of nodes 8k to
 * 8k+7 of level l-1.  Nothing is linked: where a node lies follows from its number. */
#ifndef COLLIDE_BROADPHASE_BOX_TREE_H
#define COLLIDE_BROADPHASE_BOX_TREE_H

#include "collide/broadphase/broadphase.h"
#include "math/simd.h"

enum { TREE_WIDTH = 8, TREE_LEVELS = 11, TREE_ALL = 255 };

typedef struct float_box {
    float low[3], high[3];
} float_box;

typedef struct tree_node {
    simd8f low[3], high[3];
} tree_node;

typedef struct box_tree {
    int count;              /* of slots in use */
    int nlevel;             /* 0: no boxes */
    int first[TREE_LEVELS]; /* where the nodes of each level begin in `node` */
    int nnode[TREE_LEVELS];
    tree_node *node;
    int *item;      /* [8 nnode[0]], -1: an empty slot */
    uint8_t *stale; /* [all nodes] entries changed since the levels above were fitted */
    v3 origin;
    size_t bytes;
} box_tree;

/* Room for `count` boxes, all of them empty; false without memory. */
bool box_tree_create(box_tree *tree, int count);
void box_tree_free(box_tree *tree);

/* The box of slot s; the levels above do not know of it before they are fitted. */
void box_tree_set(box_tree *tree, int slot, const float_box *box);
/* Bounds of all nodes above level 0; of those above stale ones only. */
void box_tree_fit(box_tree *tree);
void box_tree_refit(box_tree *tree);

/* Never meets any box, not even another of its kind. */
float_box box_none(void);
/* Outwards: holds `box`, widened by `grow`, about the origin.  A box that has a NaN or is inside out becomes none. */
float_box box_round(const aabb *box, const float_box *grow, v3 origin);
float_box box_bounds(const tree_node *node);
/* Boxes as another tree sees them. */
float_box box_shift(const float_box *box, v3 from, v3 to);
void node_shift(const tree_node *node, v3 from, v3 to, tree_node *shifted);

/* Coordinates are clamped here, so that no arithmetic on nodes overflows; clamping keeps their order. */
#define BOX_FARTHEST 1e38
static inline double box_cut_off(double x) {
    return x > BOX_FARTHEST ? BOX_FARTHEST : x < -BOX_FARTHEST ? -BOX_FARTHEST : x;
}

/* Is the box inside? False for a NaN. */
static inline bool box_holds(const float_box *outer, const aabb *box, v3 origin) {
    v3 l = box->low, h = box->high;
    return (box_cut_off(l.x - origin.x) >= (double)outer->low[0]) &&
           (box_cut_off(h.x - origin.x) <= (double)outer->high[0]) &&
           (box_cut_off(l.y - origin.y) >= (double)outer->low[1]) &&
           (box_cut_off(h.y - origin.y) <= (double)outer->high[1]) &&
           (box_cut_off(l.z - origin.z) >= (double)outer->low[2]) &&
           (box_cut_off(h.z - origin.z) <= (double)outer->high[2]);
}

static inline bool box_is_none(const float_box *box) { return box->low[0] > box->high[0]; }

/* Bit i: entry i of the node meets the box. */
static inline unsigned node_hits(const tree_node *node, const float_box *box) {
    simd8f_mask m = node->low[0] <= simd8f_all(box->high[0]);
    m &= simd8f_all(box->low[0]) <= node->high[0];
    m &= node->low[1] <= simd8f_all(box->high[1]);
    m &= simd8f_all(box->low[1]) <= node->high[1];
    m &= node->low[2] <= simd8f_all(box->high[2]);
    m &= simd8f_all(box->low[2]) <= node->high[2];
    return simd8f_mask_bits(m);
}

static inline float_box node_entry(const tree_node *node, int i) {
    return (float_box){{node->low[0][i], node->low[1][i], node->low[2][i]},
                       {node->high[0][i], node->high[1][i], node->high[2][i]}};
}

/* The leaves (nodes of level 0) from number `from` on whose bounds meet a box, one after the other. */
typedef struct tree_cursor {
    const box_tree *tree;
    float_box box;
    int from, level;
    int entry; /* of the last leaf, in the node above it */
    int node[TREE_LEVELS];
    unsigned pending[TREE_LEVELS]; /* entries still to be visited */
} tree_cursor;

static inline void tree_cursor_enter(tree_cursor *c, int level, int node) {
    int lowest = (c->from >> (3 * (level - 1))) - TREE_WIDTH * node;
    unsigned later = lowest > 0 ? (unsigned)TREE_ALL << lowest : TREE_ALL;
    c->level = level;
    c->node[level] = node;
    c->pending[level] = node_hits(&c->tree->node[c->tree->first[level] + node], &c->box) & later;
}

static inline void tree_cursor_start(tree_cursor *c, const box_tree *tree, const float_box *box, int from) {
    c->tree = tree;
    c->box = *box;
    c->from = from;
    if (tree->nlevel > 1) {
        tree_cursor_enter(c, tree->nlevel - 1, 0);
    } else {
        c->level = 1;
        c->node[1] = 0;
        c->pending[1] = tree->nlevel == 1 && from == 0;
    }
}

/* -1: no more. */
static inline int tree_cursor_next(tree_cursor *c) {
    int top = c->tree->nlevel > 1 ? c->tree->nlevel - 1 : 1;
    for (;;) {
        while (!c->pending[c->level]) {
            if (c->level == top) {
                return -1;
            }
            c->level++;
        }
        c->entry = __builtin_ctz(c->pending[c->level]);
        c->pending[c->level] &= c->pending[c->level] - 1;
        int child = TREE_WIDTH * c->node[c->level] + c->entry;
        if (c->level == 1) {
            return child;
        }
        tree_cursor_enter(c, c->level - 1, child);
    }
}

/* Of the last leaf. */
static inline float_box tree_cursor_bounds(const tree_cursor *c) {
    const box_tree *tree = c->tree;
    return tree->nlevel > 1 ? node_entry(&tree->node[tree->first[1] + c->node[1]], c->entry)
                            : box_bounds(&tree->node[0]);
}

#endif
