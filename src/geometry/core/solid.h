/* Common properties of solids: bounds, mass properties, a name by content. */
#ifndef GEOMETRY_CORE_SOLID_H
#define GEOMETRY_CORE_SOLID_H

#include "base/hash.h"
#include "math/v3.h"
#include <sim/geometry.h>

/* Mass properties, at density 1, of what a closed surface of triangles encloses; negative mass if it is inside out. */
sim_inertia solid_inertia(const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle);
/* Bounds of points, and the radius of the ball about the origin that holds them. */
void solid_bounds(const v3 *vertex, int nvertex, v3 *low, v3 *high, double *radius);

#endif
