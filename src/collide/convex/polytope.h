/* A convex polytope of triangles that grows point by point, and the plane of it that is nearest to the origin. */
#ifndef COLLIDE_CONVEX_POLYTOPE_H
#define COLLIDE_CONVEX_POLYTOPE_H

#include "math/v3.h"

/* Normal of a triangle, of twice its area, from its two shorter edges: the longest would cost digits in a sliver. */
static inline v3 triangle_normal(v3 a, v3 b, v3 c) {
    v3 ab = v3_sub(b, a), bc = v3_sub(c, b), ca = v3_sub(a, c);
    double x = v3_dot(ab, ab), y = v3_dot(bc, bc), z = v3_dot(ca, ca);
    return x >= y && x >= z ? v3_cross(bc, ca) : y >= z ? v3_cross(ca, ab) : v3_cross(ab, bc);
}

enum { POLYTOPE_POINTS = 512, POLYTOPE_FACETS = 2 * POLYTOPE_POINTS };

typedef struct facet {
    int corner[3]; /* anticlockwise from outside */
    int across[3]; /* the facet beyond the edge from corner k to the next */
    v3 normal;
} facet;

typedef struct polytope {
    int npoint, nfacet;
    double grain; /* points that stand out by less lie in the plane */
    v3 point[POLYTOPE_POINTS];
    facet facet[POLYTOPE_FACETS];
    double offset[POLYTOPE_FACETS]; /* of the plane from the origin; HUGE_VAL for what is no facet (any more) */
    int mark[POLYTOPE_FACETS];      /* the number of points when it was last seen from a new one */
} polytope;

/* The tetrahedron of four points that do not lie in a plane. */
void polytope_start(polytope *p, const v3 corner[4], double grain);
/* Grows by a point that stands out over `facet`.  0: full, or rounding has made a knot; then it is as it was. */
bool polytope_grow(polytope *p, int facet, v3 point);
/* The facet with the least offset. */
int polytope_nearest(const polytope *p);

#endif
