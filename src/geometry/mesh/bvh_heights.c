/* Bounding volume hierarchy over a height field.
 *
 * Rectangles of blocks of cells, halved across their longer side down to one block. */
#include "geometry/mesh/mesh.h"

#include <float.h>

/* In blocks: [i0, i1) by [j0, j1). */
typedef struct rectangle {
    int i0, i1, j0, j1;
} rectangle;

static double side_at(double size, int count, int k) { return ((double)k / count - 0.5) * size; }

/* The block at (i, j). */
static void set_cell_leaf(const sim_heights *h, int i, int j, bvh_node *node) {
    int columns = h->columns - 1, rows = h->rows - 1, i0 = BVH_CELLS * i, j0 = BVH_CELLS * j;
    int i1 = i0 + BVH_CELLS < columns ? i0 + BVH_CELLS : columns, j1 = j0 + BVH_CELLS < rows ? j0 + BVH_CELLS : rows;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int v = j0; v <= j1; v++) {
        for (int u = i0; u <= i1; u++) {
            double z = h->height[(size_t)v * (size_t)h->columns + (size_t)u];
            least = z < least ? z : least;
            most = z > most ? z : most;
        }
    }
    const double low[3] = {side_at(h->size[0], columns, i0), side_at(h->size[1], rows, j0), least};
    const double high[3] = {side_at(h->size[0], columns, i1), side_at(h->size[1], rows, j1), most};
    for (int k = 0; k < 3; k++) {
        node->low[k] = bvh_round_down(low[k]);
        node->high[k] = bvh_round_up(high[k]);
    }
    node->first = j0 * columns + i0;
    node->count = 2 * (i1 - i0) * (j1 - j0);
}

/* Children stand after their parents, so from the last node back each box is the union of two known ones. */
static void fit_parents(bvh_node *node, int nnode) {
    for (int n = nnode - 1; n >= 0; n--) {
        if (node[n].count == 0) {
            const bvh_node *a = &node[node[n].first], *b = a + 1;
            for (int k = 0; k < 3; k++) {
                node[n].low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
                node[n].high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
            }
        }
    }
}

sim_bvh *bvh_build_heights(memory_pool *pool, const sim_heights *h) {
    /* memory; a leaf is a square of cells */
    rectangle all = {0, (h->columns - 2) / BVH_CELLS + 1, 0, (h->rows - 2) / BVH_CELLS + 1};
    sim_bvh *bvh = POOL_NEW(pool, sim_bvh, 1);
    bvh_node *node = POOL_NEW(pool, bvh_node, 2 * (size_t)all.i1 * (size_t)all.j1 - 1);
    if (!bvh || !node) {
        return NULL;
    }
    /* halve the longer side, depth first */
    struct {
        int node;
        rectangle of;
    } waiting[BVH_MAX_DEPTH + 1] = {{0, all}};
    int nwaiting = 1, nnode = 1;
    while (nwaiting > 0) {
        int n = waiting[--nwaiting].node;
        rectangle r = waiting[nwaiting].of, a = r, b = r;
        int across = r.i1 - r.i0, along = r.j1 - r.j0;
        if (across == 1 && along == 1) {
            set_cell_leaf(h, r.i0, r.j0, &node[n]);
            continue;
        }
        if (across >= along) {
            a.i1 = b.i0 = r.i0 + across / 2;
        } else {
            a.j1 = b.j0 = r.j0 + along / 2;
        }
        node[n].first = nnode;
        waiting[nwaiting].node = nnode + 1;
        waiting[nwaiting++].of = b;
        waiting[nwaiting].node = nnode;
        waiting[nwaiting++].of = a;
        nnode += 2;
    }
    /* boxes from the leaves up */
    fit_parents(node, nnode);
    *bvh = (sim_bvh){node, NULL, nnode};
    return bvh;
}
