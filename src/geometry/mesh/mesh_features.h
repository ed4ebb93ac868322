/* Features of triangles for contact, computed once: convex edges, flat edges, the corners that a triangle represents,
 * and its flat part. */
#ifndef GEOMETRY_MESH_MESH_FEATURES_H
#define GEOMETRY_MESH_MESH_FEATURES_H

#include "base/pool.h"
#include "geometry/mesh/bvh.h"
#include <sim/geometry.h>
#include <stdint.h>

/* Bits of a triangle, the first of three for its corner or edge 0. */
enum {
    RELIEF_RIDGE = 1,   /* the edge sticks out or is a border, and of its two triangles this is the lower */
    RELIEF_LEVEL = 8,   /* the surface runs on flat across the edge */
    RELIEF_OWNS = 64,   /* of the triangles round the corner this is the lowest */
    RELIEF_PLAIN = 512, /* the surface is flat all round the corner */
    RELIEF_FLAT = 7 * RELIEF_LEVEL,
};

/* Bits of a node of the tree. */
enum {
    RELIEF_RIDGES = 1, /* it holds a triangle with a RIDGE bit */
    RELIEF_POINTS = 2, /* it holds one that owns a corner which is not plain */
};

typedef struct sim_relief {
    const uint16_t *flag; /* [ntriangle] */
    const int *patch;     /* [ntriangle] the lowest triangle of the flat part; NULL where each is one by itself */
    const uint8_t *node;  /* [nnode] */
    int up; /* all normals have a component along x, y, z (0, 1, 2), or against it (3, 4, 5); -1: no such axis */
} sim_relief;

/* Angles by which a surface counts as flat, and from which on an edge sticks out, as sines. */
#define RELIEF_SLACK 1e-6
#define RELIEF_SHARP 1e-4

/* Of one of the two, the other is NULL; `bvh` over its triangles. NULL without memory. */
sim_relief *relief_build(memory_pool *pool, const sim_mesh *mesh, const sim_heights *heights, const sim_bvh *bvh);

/* Triangle k of a leaf of the tree over a height field. */
static inline int heights_leaf(const sim_heights *h, const bvh_node *leaf, int k) {
    int columns = h->columns - 1, left = columns - leaf->first % columns;
    int across = left < BVH_CELLS ? left : BVH_CELLS, cell = k / 2;
    return 2 * (leaf->first + cell / across * columns + cell % across) + k % 2;
}

/* ---- triangles of a height field: 2 cell + half, cells in rows as heights are; half 0 lies below the diagonal ---- */

static inline int heights_triangles(const sim_heights *h) { return 2 * (h->columns - 1) * (h->rows - 1); }

static inline void heights_triangle(const sim_heights *h, int t, int corner[3]) {
    int columns = h->columns, i = t / 2 % (columns - 1), j = t / 2 / (columns - 1), v = j * columns + i;
    corner[0] = v;
    corner[1] = t % 2 ? v + columns + 1 : v + 1;
    corner[2] = t % 2 ? v + columns : v + columns + 1;
}

static inline v3 heights_vertex(const sim_heights *h, int v) {
    int i = v % h->columns, j = v / h->columns;
    return v3_make(((double)i / (h->columns - 1) - 0.5) * h->size[0], ((double)j / (h->rows - 1) - 0.5) * h->size[1],
                   h->height[v]);
}

/* The corners of a triangle: as heights_vertex says, with fewer divisions. */
static inline void heights_corners(const sim_heights *h, int t, v3 corner[3]) {
    int cell = t / 2, j = cell / (h->columns - 1), i = cell - j * (h->columns - 1);
    const double *z = h->height + (size_t)j * (size_t)h->columns + (size_t)i;
    double x0 = ((double)i / (h->columns - 1) - 0.5) * h->size[0],
           x1 = ((double)(i + 1) / (h->columns - 1) - 0.5) * h->size[0];
    double y0 = ((double)j / (h->rows - 1) - 0.5) * h->size[1],
           y1 = ((double)(j + 1) / (h->rows - 1) - 0.5) * h->size[1];
    corner[0] = v3_make(x0, y0, z[0]);
    corner[1] = t % 2 ? v3_make(x1, y1, z[h->columns + 1]) : v3_make(x1, y0, z[1]);
    corner[2] = t % 2 ? v3_make(x0, y1, z[h->columns]) : v3_make(x1, y1, z[h->columns + 1]);
}

static inline int heights_across(const sim_heights *h, int t, int k) {
    int columns = h->columns - 1, rows = h->rows - 1, i = t / 2 % columns, j = t / 2 / columns;
    if (t % 2 == 0) {
        return k == 0 ? (j > 0 ? t - 2 * columns + 1 : -1) : k == 1 ? (i + 1 < columns ? t + 3 : -1) : t + 1;
    }
    return k == 0 ? t - 1 : k == 1 ? (j + 1 < rows ? t + 2 * columns - 1 : -1) : (i > 0 ? t - 3 : -1);
}

#endif
