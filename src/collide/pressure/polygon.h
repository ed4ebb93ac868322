/* Convex polygons in space: sections of tetrahedra, triangles, and their parts within tetrahedra. */
#ifndef COLLIDE_PRESSURE_POLYGON_H
#define COLLIDE_PRESSURE_POLYGON_H

#include "math/v3.h"

/* A section of a tetrahedron has four corners at most; each of four cuts adds one at most. */
enum { MAX_POLYGON_CORNERS = 8 };

typedef struct polygon {
    int count;
    v3 corner[MAX_POLYGON_CORNERS];
} polygon;

/* The section of a tetrahedron where a linear function with the given values at its corners is 0.  A corner of value 0
 * counts as above: of two tetrahedra that share a face in the section, one has it. */
void polygon_of_section(const v3 corner[4], const double value[4], polygon *out);
/* Cuts off what is outside the plane n . x = d: keeps n . x <= d. */
void polygon_clip(polygon *p, v3 n, double d);
/* Cuts off what is outside a tetrahedron with ((b - a) x (c - a)) . (d - a) > 0. */
void polygon_clip_to_tet(polygon *p, const v3 corner[4]);
/* Area, m^2, and centroid. */
double polygon_area(const polygon *p, v3 *centroid);

#endif
