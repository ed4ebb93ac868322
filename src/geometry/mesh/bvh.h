/* A tree of boxes over the triangles of a mesh, for questions of place. */
#ifndef GEOMETRY_MESH_BVH_H
#define GEOMETRY_MESH_BVH_H

#include "math/v3.h"
#include <float.h>
#include <sim/geometry.h>

typedef struct bvh_node {
    float low[3], high[3]; /* rounded outwards */
    int first;             /* inner: its first child, the second follows it; leaf: first of its triangles in `order` */
    int count;             /* of triangles; 0 for inner nodes */
} bvh_node;

typedef struct sim_bvh {
    const bvh_node *node; /* node[0] is the root; children stand after their parents */
    const int *order;     /* [ntriangle] triangles, those of a leaf in one run; NULL for a height field */
    int nnode;
} sim_bvh;

/* A leaf of a height field is a block of BVH_CELLS by BVH_CELLS cells (fewer at the far ends). Of it `first` is its
 * first cell, `count` twice the number of its cells. */
enum { BVH_MAX_DEPTH = 64, BVH_CELLS = 8 };

/* The nearest number of single precision that is not above x, not below x. */
static inline float bvh_round_down(double x) {
    float f = (float)x;
    return f > x ? nextafterf(f, -FLT_MAX) : f;
}

static inline float bvh_round_up(double x) {
    float f = (float)x;
    return f < x ? nextafterf(f, FLT_MAX) : f;
}

/* A box in single precision, rounded outwards or a little farther. */
typedef struct bvh_box {
    float low[3], high[3];
} bvh_box;

static inline float bvh_below(double x) {
    float f = (float)x;
    return f > x ? f - fabsf(f) * FLT_EPSILON - FLT_MIN : f;
}

static inline bvh_box bvh_box_of(v3 low, v3 high) {
    return (bvh_box){{bvh_below(low.x), bvh_below(low.y), bvh_below(low.z)},
                     {-bvh_below(-high.x), -bvh_below(-high.y), -bvh_below(-high.z)}};
}

static inline bool bvh_box_meets(const bvh_node *n, const bvh_box *b) {
    return n->low[0] <= b->high[0] && n->high[0] >= b->low[0] && n->low[1] <= b->high[1] && n->high[1] >= b->low[1] &&
           n->low[2] <= b->high[2] && n->high[2] >= b->low[2];
}

/* Calls `visit` for each triangle below the node `root` whose leaf's box meets [low, high], in an order that depends on
 * the mesh alone. Stops when it returns false. `bits` (may be NULL): only nodes that have one of the bits `of`. */
typedef bool bvh_visit(void *context, int triangle);
void bvh_in_box(const sim_bvh *bvh, int root, const uint8_t *bits, int of, v3 low, v3 high, bvh_visit *visit,
                void *context);

/* Of triangles whose leaf's box comes within `reach` of p. */
void bvh_in_ball(const sim_bvh *bvh, v3 p, double reach, bvh_visit *visit, void *context);

/* The nearest point of the surface to p, no farther than `reach`: its triangle, or -1. `feature`: where on the triangle
 * it lies, 0 inside, 1 2 3 on the edge from corner 0 1 2, 4 5 6 at corner 0 1 2. */
int bvh_nearest(const sim_bvh *bvh, const sim_mesh *mesh, v3 p, double reach, v3 *nearest, int *feature);

/* Signed distance to a closed mesh (negative inside), its gradient (unit).  Exact. */
double mesh_distance(const sim_geometry *mesh, v3 p, v3 *gradient);

#endif
