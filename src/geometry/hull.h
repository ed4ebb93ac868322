/* Convex hulls, for other geometries. */
#ifndef GEOMETRY_HULL_H
#define GEOMETRY_HULL_H

#include "base/pool.h"
#include <sim/geometry.h>

/* Whether a closed mesh is the boundary of its own convex hull; if so, `*hull` is that hull, in `pool`; else it stays
 * NULL.  SIM_NO_RESOURCE without memory. */
sim_status hull_of_mesh(sim_pool *pool, const sim_mesh *mesh, const sim_hull **hull, sim_error *error);

#endif
