/* Sampled distance fields. */
#ifndef GEOMETRY_GRID_H
#define GEOMETRY_GRID_H

#include "geometry/field.h"

/* The signed distance of a closed mesh, sampled at the corners of cubes of edge `cell` (0: a hundredth of the mesh's
 * longest side).  `cache`: see grid_file.h; `where` names the node in errors.  NULL on failure. */
field_grid *grid_build(sim_pool *pool, const sim_geometry *mesh, double cell, const char *cache, const char *where,
                       sim_error *error);
/* A box that holds the solid. */
void grid_bounds(const field_grid *grid, v3 *low, v3 *high);

uint64_t grid_hash(const field_grid *grid);

#endif
