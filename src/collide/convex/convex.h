/* Convex solids as contact sees them: a core and a rounding radius.
 *
 * The solid is every point within `radius` of the core. A sphere is a point with a radius, a capsule a segment with a
 * radius. Boxes, cylinders, ellipsoids, hulls and triangles have radius 0. Each stands in its own frame. */
#ifndef COLLIDE_CONVEX_CONVEX_H
#define COLLIDE_CONVEX_CONVEX_H

#include "collide/contact/pair.h"

typedef enum convex_kind {
    CONVEX_POINT,
    CONVEX_SEGMENT,   /* half[2] to each side along z */
    CONVEX_BOX,       /* half edges */
    CONVEX_CYLINDER,  /* half[0] radius, half[2] half the length, along z */
    CONVEX_ELLIPSOID, /* half: semi-axes */
    CONVEX_HULL,
    CONVEX_TRIANGLE,
} convex_kind;

typedef struct convex {
    convex_kind kind;
    double half[3];
    double radius;
    const sim_hull *hull;
    v3 corner[3];  /* of a triangle, anticlockwise seen from outside */
    v3 centre;     /* a point well inside the core */
    double extent; /* of the solid: no point is farther from `centre`; of a hull at most sqrt(3) times too great */
    double least;  /* smallest width of the solid, of a hull roughly: the reference of tolerances */
} convex;

/* The shape as a convex solid; shapes that are none (half-space, non-convex mesh, heights, field) give 0. */
bool convex_of_shape(const sim_shape *shape, convex *out);
convex convex_triangle(v3 a, v3 b, v3 c);

/* The farthest point of the core along d (any length, not zero), and its number. Equal numbers mean equal points: hull
 * vertices and box corners by index, 0 on curved parts. */
v3 convex_support(const convex *c, v3 d, uint32_t *vertex);
/* The same, of a hull from the vertex on that is given: fast where that is near. */
v3 convex_support_from(const convex *c, v3 d, uint32_t *vertex);

/* The part of the core's surface that faces along the unit vector d: a polygon, a segment or a point, anticlockwise
 * seen from outside (looking against d).  A disc is given by FACE_DISC points that stand still while d barely turns. */
enum { FACE_CORNERS = 64, FACE_DISC = 8 };
typedef struct face {
    int count; /* 1: a point; 2: a segment */
    v3 corner[FACE_CORNERS];
    uint32_t vertex[FACE_CORNERS]; /* feature number of each corner */
    uint32_t edge[FACE_CORNERS];   /* feature number of the edge from a corner to the next */
    uint32_t number;               /* feature number of the face itself */
    v3 normal;                     /* unit; of a polygon, else along d */
    bool disc;                     /* corners lie on a circle: the rim is curved */
} face;
/* Faces, then edges, whose normal is within an angle of `slack` of d count as facing it. A disc counts only where its
 * far side lies behind its near one by `reach` at most: else it rolls on its rim. */
void convex_face(const convex *c, v3 d, double slack, double reach, face *out);

/* Distance of two convex solids, B placed at X_ab in the frame of A: the greatest over unit n of
 *     min_{a in A} n.a - max_{b in B} n.b,
 * which is the distance when they are apart and minus the least translation that parts them when not. */
typedef struct convex_gap {
    double gap;
    v3 normal;     /* unit, from B to A */
    v3 on_a, on_b; /* the points of the two surfaces, on_a - on_b = gap normal */
    bool certain;  /* no other direction can be better by more than the tolerance: proven, not only found */
    int iterations;
} convex_gap;

/* Returns false when they are farther apart than `margin`.  Then only gap and normal are set; the gap lies between the
 * margin and the distance. `guess` (may be zero): a direction near the normal.  Never NaN. */
bool convex_distance(const convex *a, const convex *b, const pose *X_ab, double margin, v3 guess, convex_gap *out);

/* Contact of any two shapes that are convex solids. */
void pair_convex(const pair *p, manifold *out);

/* The points of contact of two convex solids with known gap and normal.  Supporting faces are clipped against each
 * other; at most four points remain, well spread.  Where the faces have nothing in common that is as near as the gap
 * says, the nearest points themselves are added.  Returns 1 where they have, and not only up to the tolerance of
 * clipping: then the gap is proven to be no less than the distance. */
bool convex_manifold(const pair *p, const convex *a, const convex *b, const convex_gap *gap, manifold *out);
/* Of the points from `first` on keep at most `most`: the deepest, and those that span the greatest area; where that
 * leaves a choice, those kept a step ago. */
void manifold_reduce(const pair *p, manifold *out, int first, int most);

/* The box of the solid, grown, in the frame of a surface placed at X_ab. */
void convex_bounds(const convex *a, const pose *X_ab, double grow, v3 *low, v3 *high);

#endif
