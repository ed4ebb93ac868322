/* Construction of a bounding volume hierarchy over the triangles of a mesh.
 *
 * Top down.  A run of triangles is cut across the longest side of the box of their middles, at the one of SPLIT_BINS - 1
 * planes that makes
 *     area(left) count(left) + area(right) count(right)
 * least, which is what a question of place costs (I. Wald 2007, "On fast construction of SAH-based bounding volume
 * hierarchies", IEEE Symposium on Interactive Ray Tracing).  From depth HALVING_DEPTH on runs are halved instead, so
 * that depth is bounded whatever the triangles. */
#include "geometry/mesh/bvh.h"

#include "geometry/mesh/mesh.h"
#include <float.h>
#include <stdlib.h>

enum { SPLIT_BINS = 16, MAX_LEAF_TRIANGLES = 4, HALVING_DEPTH = 32 };

/* A triangle on its way into the tree. */
typedef struct item {
    float low[3], high[3];
    int triangle, unused;
} item;

typedef struct box {
    float low[3], high[3];
} box;

static const box EMPTY = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

static void box_add(box *b, const float low[3], const float high[3]) {
    for (int k = 0; k < 3; k++) {
        b->low[k] = low[k] < b->low[k] ? low[k] : b->low[k];
        b->high[k] = high[k] > b->high[k] ? high[k] : b->high[k];
    }
}

static double half_area(const box *b) {
    double x = (double)b->high[0] - b->low[0], y = (double)b->high[1] - b->low[1], z = (double)b->high[2] - b->low[2];
    return x * y + y * z + z * x;
}

/* Twice the middle. */
static float twice_middle(const item *t, int axis) { return t->low[axis] + t->high[axis]; }

/* The box of the `count` corners (3 or 4) of element t. */
static void set_item(const v3 *vertex, const int *corner, int count, int t, item *out) {
    v3 low = vertex[corner[0]], high = low;
    for (int k = 1; k < count; k++) {
        v3 x = vertex[corner[k]];
        low = v3_make(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3_make(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    *out = (item){{bvh_round_down(low.x), bvh_round_down(low.y), bvh_round_down(low.z)},
                  {bvh_round_up(high.x), bvh_round_up(high.y), bvh_round_up(high.z)},
                  t,
                  0};
}

/* Where to cut: the axis, and the place along it. */
typedef struct cut {
    int axis;
    float low, scale; /* bin of x: (x - low) scale */
    int last;         /* the last bin of the left side; -1: halve */
} cut;

static int bin_of(const cut *c, const item *t) {
    int bin = (int)((twice_middle(t, c->axis) - c->low) * c->scale);
    return bin < 0 ? 0 : bin >= SPLIT_BINS ? SPLIT_BINS - 1 : bin;
}

static void best_plane(const item *t, int count, cut *c) {
    /* boxes and counts of the bins */
    box bin[SPLIT_BINS], right[SPLIT_BINS], left = EMPTY;
    int many[SPLIT_BINS] = {0}, after[SPLIT_BINS], before = 0;
    for (int k = 0; k < SPLIT_BINS; k++) {
        bin[k] = EMPTY;
    }
    for (int k = 0; k < count; k++) {
        int b = bin_of(c, &t[k]);
        box_add(&bin[b], t[k].low, t[k].high);
        many[b]++;
    }
    /* boxes and counts from the right */
    right[SPLIT_BINS - 1] = bin[SPLIT_BINS - 1];
    after[SPLIT_BINS - 1] = many[SPLIT_BINS - 1];
    for (int k = SPLIT_BINS - 2; k > 0; k--) {
        right[k] = right[k + 1];
        after[k] = after[k + 1] + many[k];
        box_add(&right[k], bin[k].low, bin[k].high);
    }
    /* sweep from the left: the cut of least surface area cost */
    double least = DBL_MAX;
    for (int k = 0; k < SPLIT_BINS - 1; k++) {
        before += many[k];
        box_add(&left, bin[k].low, bin[k].high);
        if (before && after[k + 1]) {
            double cost = half_area(&left) * before + half_area(&right[k + 1]) * after[k + 1];
            if (cost < least) {
                least = cost;
                c->last = k;
            }
        }
    }
}

static cut choose_cut(const item *t, int count, int depth) {
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (int k = 0; k < count; k++) {
        for (int a = 0; a < 3; a++) {
            float m = twice_middle(&t[k], a);
            low[a] = m < low[a] ? m : low[a];
            high[a] = m > high[a] ? m : high[a];
        }
    }
    float side[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    int axis = side[0] >= side[1] && side[0] >= side[2] ? 0 : side[1] >= side[2] ? 1 : 2;
    cut c = {axis, low[axis], SPLIT_BINS * (1 - 1e-6f) / side[axis], -1};
    if (depth < HALVING_DEPTH && side[axis] > 0 && isfinite(c.scale)) {
        best_plane(t, count, &c);
    }
    return c;
}

/* Puts the left side first; returns how many it has. */
static int split_items(item *t, int count, int depth) {
    cut c = choose_cut(t, count, depth);
    if (c.last < 0) {
        return count / 2;
    }
    int left = 0, right = count;
    while (left < right) {
        if (bin_of(&c, &t[left]) <= c.last) {
            left++;
        } else {
            item swap = t[--right];
            t[right] = t[left];
            t[left] = swap;
        }
    }
    return left > 0 && left < count ? left : count / 2;
}

static void fit_leaf(bvh_node *node, const item *t) {
    box b = EMPTY;
    for (int k = 0; k < node->count; k++) {
        box_add(&b, t[k].low, t[k].high);
    }
    for (int k = 0; k < 3; k++) {
        node->low[k] = b.low[k];
        node->high[k] = b.high[k];
    }
}

/* Opens nodes until only leaves are left, the left side first; returns how many there are. */
static int grow_tree(bvh_node *node, item *t, int ntriangle) {
    /* the root holds all triangles */
    struct {
        int node, depth;
    } waiting[BVH_MAX_DEPTH + 1] = {{0, 0}};
    int nnode = 1, nwaiting = 1;
    node[0] = (bvh_node){.count = ntriangle};
    fit_leaf(&node[0], t);
    while (nwaiting > 0) {
        int n = waiting[--nwaiting].node, depth = waiting[nwaiting].depth;
        int first = node[n].first, count = node[n].count;
        if (count <= MAX_LEAF_TRIANGLES) {
            continue;
        }
        /* split by the surface area heuristic */
        int left = split_items(t + first, count, depth);
        node[n].first = nnode;
        node[n].count = 0;
        node[nnode] = (bvh_node){.first = first, .count = left};
        node[nnode + 1] = (bvh_node){.first = first + left, .count = count - left};
        fit_leaf(&node[nnode], t + first);
        fit_leaf(&node[nnode + 1], t + first + left);
        /* the left child is next */
        waiting[nwaiting].node = nnode + 1;
        waiting[nwaiting++].depth = depth + 1;
        waiting[nwaiting].node = nnode;
        waiting[nwaiting++].depth = depth + 1;
        nnode += 2;
    }
    return nnode;
}

/* Over n elements of `count` corners each. */
static sim_bvh *build_tree(memory_pool *pool, const v3 *vertex, const int *corner, int count, int n) {
    /* memory */
    size_t most = 2 * (size_t)n - 1;
    item *t = malloc((size_t)n * sizeof *t);
    bvh_node *grown = malloc(most * sizeof *grown);
    sim_bvh *bvh = NULL;
    if (t && grown) {
        /* boxes of the elements, and the tree */
        for (int k = 0; k < n; k++) {
            set_item(vertex, corner + (ptrdiff_t)count * k, count, k, &t[k]);
        }
        int nnode = grow_tree(grown, t, n);
        /* copy of the right size */
        bvh = POOL_NEW(pool, sim_bvh, 1);
        bvh_node *node = POOL_NEW(pool, bvh_node, nnode);
        int *order = POOL_NEW(pool, int, n);
        if (bvh && node && order) {
            for (int k = 0; k < n; k++) {
                order[k] = t[k].triangle;
            }
            for (int k = 0; k < nnode; k++) {
                node[k] = grown[k];
            }
            *bvh = (sim_bvh){node, order, nnode};
        } else {
            bvh = NULL;
        }
    }
    free(t);
    free(grown);
    return bvh;
}

sim_bvh *bvh_build(memory_pool *pool, const sim_mesh *mesh) {
    return build_tree(pool, mesh->vertex, &mesh->triangle[0][0], 3, mesh->ntriangle);
}

sim_bvh *bvh_build_tets(memory_pool *pool, const sim_tets *tets) {
    return build_tree(pool, tets->vertex, &tets->tet[0][0], 4, tets->ntet);
}
