/* Two surfaces, seen from one of them: shared by surface_surface.c (vertices) and surface_edges.c. */
#ifndef COLLIDE_MESH_SURFACE_SIDE_H
#define COLLIDE_MESH_SURFACE_SIDE_H

#include "collide/mesh/surface.h"

/* One side asks about the other: points stand in the frame of `s`, X takes `other` there. */
typedef struct side {
    const pair *p;
    const surface *s, *other;
    pose X, back;
    v3 middle;              /* of s */
    double noise, touching; /* m: of places, by rounding; so near, what is inside and what is not is the same */
    int swapped;            /* s is B */
    manifold *out, *inside; /* inside: every vertex that the other holds, whether it counts or not */
    double aside;           /* how deep another way out may be */
    double behind;          /* how deep vertices may be: infinite where the other is solid */
    v3 last;                /* a vertex that was asked about, and how far it lies outside */
    double clear;
    int way; /* the axis along which what lay outside was last seen to be free: x, y, z, -x, -y, -z; -1: of no use */
} side;

/* Is x over the triangle along its normal n (unit), or beside it by `slack` at most? */
static inline bool is_over(const v3 c[3], v3 n, v3 x, double slack) {
    for (int k = 0; k < 3; k++) {
        v3 edge = v3_sub(c[(k + 1) % 3], c[k]);
        if (v3_dot(v3_cross(n, edge), v3_sub(x, c[k])) < -slack * v3_norm(edge)) {
            return false;
        }
    }
    return true;
}

/* Sine of the angle by which what ends at a face, from inside of it, may yet rise over that. */
static const double SURFACE_INWARDS = 0.1;

/* The box along the axes of X's outer frame that holds a box of the inner one, grown. */
void box_over(const pose *X, v3 low, v3 high, double grow, v3 *to_low, v3 *to_high);
static inline double least_of(double a, double b, double c) {
    double d = a < b ? a : b;
    return c < d ? c : d;
}
static inline double most_of(double a, double b, double c) { return -least_of(-a, -b, -c); }

static inline void bounds_of_corners(const v3 c[3], v3 *low, v3 *high) {
    *low =
        v3_make(least_of(c[0].x, c[1].x, c[2].x), least_of(c[0].y, c[1].y, c[2].y), least_of(c[0].z, c[1].z, c[2].z));
    *high = v3_make(most_of(c[0].x, c[1].x, c[2].x), most_of(c[0].y, c[1].y, c[2].y), most_of(c[0].z, c[1].z, c[2].z));
}

/* Does a box, in the other's frame, reach its bounds? */
bool box_reaches(v3 low, v3 high, const surface *other);

static inline v3 node_low(const bvh_node *n) { return v3_make(n->low[0], n->low[1], n->low[2]); }
static inline v3 node_high(const bvh_node *n) { return v3_make(n->high[0], n->high[1], n->high[2]); }

/* Is there a triangle whose box meets this one? */
bool box_meets(const surface *s, v3 low, v3 high);

/* ---- nodes of one surface near a node of the other ----
 *
 * A simultaneous descent of two trees.  Each node of one lists the nodes of the other that its box meets, no larger
 * than itself where smaller ones exist.  Its children choose from it.  The tree of a height field has no lists:
 * neighbours are looked up cell by cell. */
enum { NEAR_ROOM = 4096 };
typedef struct near_list {
    const surface *of;
    int bits; /* nodes without them (relief.h) are left out; 0: none is */
    const int *node;
    int count;
} near_list;

/* Of `from` what meets the box, at `to`, with room for `room`. */
near_list near_choose(const near_list *from, v3 low, v3 high, int *to, int room);
/* Triangles under the nodes of the list in leaves that meet the box. */
void near_in_box(const near_list *list, v3 low, v3 high, bvh_visit *visit, void *context);
bool near_meets(const near_list *list, v3 low, v3 high);

/* Visits the leaves of `a`, a mesh, that have one of the bits `bits` (0: all) and come within `margin` of boxes of such
 * triangles of `b`, placed at X_ab.  low, high: the leaf's box, grown by the margin, in the frame of b. */
typedef bool leaf_visit(void *context, const bvh_node *leaf, v3 low, v3 high, const near_list *near);
void surface_near(const surface *a, int bits, const surface *b, const pose *X_ab, double margin, leaf_visit *visit,
                  void *context);

/* Contacts of ridges with ridges; the side of A. */
void edges_on_edges(side *e);

#endif
