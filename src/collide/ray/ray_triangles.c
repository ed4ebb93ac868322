/* Ray casting against triangles of a mesh or a height field, found by a tree of boxes.
 *
 *     o + t d = a + u (b - a) + v (c - a),     u, v >= 0,  u + v <= 1
 *
 *     solved by Cramer's rule with the determinant (b - a) x (c - a) . d.
 *
 * Edges count to both of their triangles, up to rounding: a ray through an edge hits.
 * Reference: Moeller, Trumbore, Fast, minimum storage ray-triangle intersection (1997).
 * Cost: O(log triangles) for surfaces that the ray crosses a few times. */
#include "collide/ray/ray.h"
#include "geometry/mesh/bvh.h"

#include <math.h>

static const double EDGE_TOLERANCE = 1e-12; /* of u and v: the rounding of their quotients */

/* t at which the ray crosses a triangle; INFINITY: it does not. */
static double meet_triangle(const ray *r, v3 a, v3 b, v3 c) {
    v3 e = v3_sub(b, a), f = v3_sub(c, a), across = v3_cross(r->d, f), s = v3_sub(r->o, a);
    double det = v3_dot(e, across);
    if (det == 0) {
        return INFINITY;
    }
    double u = v3_dot(s, across) / det;
    v3 q = v3_cross(s, e);
    double v = v3_dot(r->d, q) / det, t = v3_dot(f, q) / det;
    bool inside = u >= -EDGE_TOLERANCE && v >= -EDGE_TOLERANCE && u + v <= 1 + EDGE_TOLERANCE;
    return inside && t >= 0 && t <= r->max ? t : INFINITY;
}

/* The least t over the triangles of a leaf. */
typedef double meet_leaf(const ray *r, const sim_geometry *g, const bvh_node *leaf);

static double meet_mesh_leaf(const ray *r, const sim_geometry *g, const bvh_node *leaf) {
    double best = INFINITY;
    for (int k = leaf->first; k < leaf->first + leaf->count; k++) {
        const int *corner = g->mesh->triangle[g->bvh->order[k]];
        const v3 *x = g->mesh->vertex;
        best = fmin(best, meet_triangle(r, x[corner[0]], x[corner[1]], x[corner[2]]));
    }
    return best;
}

static v3 height_point(const sim_heights *h, int i, int j) {
    return v3_make(((double)i / (h->columns - 1) - 0.5) * h->size[0], ((double)j / (h->rows - 1) - 0.5) * h->size[1],
                   h->height[(ptrdiff_t)j * h->columns + i]);
}

/* A block of cells, each of two triangles that meet along the diagonal from (i, j) to (i + 1, j + 1). */
static double meet_height_leaf(const ray *r, const sim_geometry *g, const bvh_node *leaf) {
    const sim_heights *h = g->heights;
    int across = h->columns - 1, i0 = leaf->first % across, j0 = leaf->first / across;
    int wide = across - i0 < BVH_CELLS ? across - i0 : BVH_CELLS, deep = leaf->count / 2 / wide;
    double best = INFINITY;
    for (int j = j0; j < j0 + deep; j++) {
        for (int i = i0; i < i0 + wide; i++) {
            v3 a = height_point(h, i, j), b = height_point(h, i + 1, j), c = height_point(h, i + 1, j + 1);
            best = fmin(best, fmin(meet_triangle(r, a, b, c), meet_triangle(r, a, c, height_point(h, i, j + 1))));
        }
    }
    return best;
}

/* Depth first; a box that the ray enters beyond the best hit is passed over. */
static double meet_tree(const ray *r, const sim_geometry *g, meet_leaf *meet) {
    int waiting[BVH_MAX_DEPTH + 2] = {0}, count = 1;
    ray left = *r;
    double best = INFINITY;
    while (count > 0) {
        const bvh_node *n = &g->bvh->node[waiting[--count]];
        double enter, leave;
        if (!ray_in_box(&left, v3_make(n->low[0], n->low[1], n->low[2]), v3_make(n->high[0], n->high[1], n->high[2]),
                        &enter, &leave)) {
            continue;
        }
        if (n->count) {
            best = fmin(best, meet(&left, g, n));
            left.max = fmin(left.max, best);
        } else {
            waiting[count++] = n->first + 1;
            waiting[count++] = n->first;
        }
    }
    return best;
}

double ray_mesh(const ray *r, const sim_geometry *g) { return meet_tree(r, g, meet_mesh_leaf); }
double ray_heights(const ray *r, const sim_geometry *g) { return meet_tree(r, g, meet_height_leaf); }
