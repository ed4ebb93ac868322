/* Tree with eight boxes a node, in single precision rounded outwards.
 *
 * After the packed R-tree of Kamel and Faloutsos, "On packing R-trees" (CIKM 1993): the items in the order of a
 * space-filling curve, cut into runs of eight.  The caller fills the slots, and so gives the order. */
#include "collide/broadphase/box_tree.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static size_t round_to_cache_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

bool box_tree_create(box_tree *tree, int count) {
    memset(tree, 0, sizeof *tree);
    int total = 0;
    for (int n = count; n > 0;) {
        n = n / TREE_WIDTH + (n % TREE_WIDTH != 0);
        tree->first[tree->nlevel] = total;
        tree->nnode[tree->nlevel++] = n;
        total += n;
        n = n > 1 ? n : 0;
    }
    if (total == 0) {
        return true;
    }
    size_t nodes = (size_t)total * sizeof(tree_node);
    size_t items = round_to_cache_lines((size_t)tree->nnode[0] * TREE_WIDTH * sizeof(int)),
           stale = round_to_cache_lines((size_t)total);
    tree->node = aligned_alloc(64, nodes);
    tree->item = aligned_alloc(64, items);
    tree->stale = aligned_alloc(64, stale);
    if (!tree->node || !tree->item || !tree->stale) {
        box_tree_free(tree);
        return false;
    }
    tree->count = count;
    tree->bytes = nodes + items + stale;
    memset(tree->item, -1, items);
    memset(tree->stale, 0, stale);
    float_box none = box_none();
    for (int slot = 0; slot < TREE_WIDTH * total; slot++) {
        box_tree_set(tree, slot, &none); /* the nodes of all levels follow each other */
    }
    return true;
}

void box_tree_free(box_tree *tree) {
    free(tree->node);
    free(tree->item);
    free(tree->stale);
    memset(tree, 0, sizeof *tree);
}

void box_tree_set(box_tree *tree, int slot, const float_box *box) {
    tree_node *node = &tree->node[slot / TREE_WIDTH];
    int i = slot % TREE_WIDTH;
    for (int k = 0; k < 3; k++) {
        node->low[k][i] = box->low[k];
        node->high[k][i] = box->high[k];
    }
}

float_box box_bounds(const tree_node *node) {
    float_box b = node_entry(node, 0);
    for (int k = 0; k < 3; k++) {
        for (int i = 1; i < TREE_WIDTH; i++) {
            b.low[k] = node->low[k][i] < b.low[k] ? node->low[k][i] : b.low[k];
            b.high[k] = node->high[k][i] > b.high[k] ? node->high[k][i] : b.high[k];
        }
    }
    return b;
}

static void fit_above(box_tree *tree, int level, int k) {
    float_box bounds = box_bounds(&tree->node[tree->first[level] + k]);
    box_tree_set(tree, TREE_WIDTH * tree->first[level + 1] + k, &bounds);
}

void box_tree_fit(box_tree *tree) {
    for (int level = 0; level + 1 < tree->nlevel; level++) {
        for (int k = 0; k < tree->nnode[level]; k++) {
            fit_above(tree, level, k);
        }
    }
}

void box_tree_refit(box_tree *tree) {
    for (int level = 0; level + 1 < tree->nlevel; level++) {
        uint8_t *stale = tree->stale + tree->first[level], *above = tree->stale + tree->first[level + 1];
        for (int k = 0; k < tree->nnode[level]; k++) {
            if (stale[k]) {
                fit_above(tree, level, k);
                above[k / TREE_WIDTH] = 1;
                stale[k] = 0;
            }
        }
    }
    if (tree->nlevel) {
        tree->stale[tree->first[tree->nlevel - 1]] = 0;
    }
}

float_box box_none(void) { return (float_box){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}}; }

/* One unit in the last place or a little more below (above) the nearest float, which is at most half a unit off. */
static float rounded_down(double x) {
    float f = (float)box_cut_off(x);
    return f - (fabsf(f) * FLT_EPSILON + FLT_MIN);
}
static float rounded_up(double x) {
    float f = (float)box_cut_off(x);
    return f + (fabsf(f) * FLT_EPSILON + FLT_MIN);
}

float_box box_round(const aabb *box, const float_box *grow, v3 origin) {
    v3 l = box->low, h = box->high;
    if (!(l.x <= h.x && l.y <= h.y && l.z <= h.z)) {
        return box_none();
    }
    return (float_box){
        {rounded_down(l.x - origin.x - (double)grow->low[0]), rounded_down(l.y - origin.y - (double)grow->low[1]),
         rounded_down(l.z - origin.z - (double)grow->low[2])},
        {rounded_up(h.x - origin.x + (double)grow->high[0]), rounded_up(h.y - origin.y + (double)grow->high[1]),
         rounded_up(h.z - origin.z + (double)grow->high[2])}};
}

float_box box_shift(const float_box *box, v3 from, v3 to) {
    double origins[3][2] = {{from.x, to.x}, {from.y, to.y}, {from.z, to.z}};
    float_box shifted;
    for (int k = 0; k < 3; k++) {
        double shift = origins[k][0] - origins[k][1], size = fabs(origins[k][0]) + fabs(origins[k][1]);
        double low = (double)box->low[k], high = (double)box->high[k];
        /* Bound of the rounding of differences from two origins. */
        shifted.low[k] = rounded_down(low + shift - 8 * DBL_EPSILON * (size + fabs(low)));
        shifted.high[k] = rounded_up(high + shift + 8 * DBL_EPSILON * (size + fabs(high)));
    }
    return shifted;
}

void node_shift(const tree_node *node, v3 from, v3 to, tree_node *shifted) {
    for (int i = 0; i < TREE_WIDTH; i++) {
        float_box box = node_entry(node, i);
        box = box_is_none(&box) ? box : box_shift(&box, from, to);
        for (int k = 0; k < 3; k++) {
            shifted->low[k][i] = box.low[k];
            shifted->high[k][i] = box.high[k];
        }
    }
}
