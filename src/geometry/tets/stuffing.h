/* Tetrahedra that fill a solid given by its depth function. */
#ifndef GEOMETRY_TETS_STUFFING_H
#define GEOMETRY_TETS_STUFFING_H

#include "math/v3.h"
#include <sim/base.h>

/* Depth below the surface, m: positive inside, negative outside, 0 on it. */
typedef double depth_function(const void *solid, v3 p);

/* Corners of tetrahedra, four in a row, any orientation; equal points have equal bits. */
typedef struct stuffing {
    int count; /* of points: four times that of tetrahedra */
    v3 *point; /* to be freed */
    double *depth;
    double volume; /* m^3 */
} stuffing;

/* Fills the solid within [low, high].  `edge`: of the lattice, m.  Fails without memory. */
sim_status stuff_solid(depth_function *depth, const void *solid, v3 low, v3 high, double edge, stuffing *out);
/* Cuts each tetrahedron across which the depth hardly changes in four, at its centroid with the depth there: across the
 * middle of a wall all corners of the lattice may be as deep.  Fails without memory. */
sim_status split_flat_tets(depth_function *depth, const void *solid, stuffing *s);
/* Points of the lattice that it takes. */
double stuffing_size(v3 low, v3 high, double edge);

#endif
