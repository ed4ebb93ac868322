/* Two surfaces, seen from one of them: what surface_surface.c (vertices) and surface_edges.c share. */
#ifndef COLLIDE_SURFACE_SIDE_H
#define COLLIDE_SURFACE_SIDE_H

#include "collide/surface.h"

/* One side asks about the other: points stand in the frame of `s`, X takes `other` there. */
typedef struct side {
    const pair *p;
    const surface *s, *other;
    pose X, back;
    v3 middle; /* of s */
    double noise;
    int swapped;            /* s is B */
    manifold *out, *inside; /* inside: every vertex that the other holds, whether it counts or not */
    double aside;           /* how deep another way out may be */
    v3 last;                /* a vertex that was asked about, and how far it lies outside */
    double clear;
    int way; /* the axis along which what lay outside was last seen to be free: x, y, z, -x, -y, -z; -1: of no use */
} side;

/* The box along the axes of X's outer frame that holds a box of the inner one, grown. */
void box_over(const pose *X, v3 low, v3 high, double grow, v3 *to_low, v3 *to_high);
/* Does a box, in the other's frame, reach its bounds? */
int box_reaches(v3 low, v3 high, const surface *other);

static inline v3 node_low(const sim_bvh_node *n) { return v3_make(n->low[0], n->low[1], n->low[2]); }
static inline v3 node_high(const sim_bvh_node *n) { return v3_make(n->high[0], n->high[1], n->high[2]); }

/* Is there a triangle whose box meets this one? */
int box_meets(const surface *s, v3 low, v3 high);
/* Visits the triangles of `a` in nodes that have one of the bits `of` (relief.h) and come within `margin` of boxes of
 * triangles of `b`, placed at X_ab. */
void surface_near(const surface *a, int of, const surface *b, const pose *X_ab, double margin, bvh_visit *visit,
                  void *context);

/* Contacts of ridges with ridges; the side of A. */
void edges_on_edges(side *e);

#endif
