/* Sampled distance fields. */
#ifndef GEOMETRY_FIELD_GRID_H
#define GEOMETRY_FIELD_GRID_H

#include "geometry/field/field.h"

struct field_grid {
    int size[3]; /* samples along each axis */
    double cell, inverse_cell;
    v3 origin;    /* of sample (0, 0, 0) */
    v3 low, high; /* where it is interpolated: a cell inside the outermost samples */
    v3 mesh_low, mesh_high;
    const float *sample; /* x runs fastest */
    char key[65];        /* of the content: see grid_file.h */
};

/* The signed distance of a closed mesh, sampled at the corners of cubes of edge `cell` (0: a hundredth of the mesh's
 * longest side).  `cache`: see grid_file.h; `where` names the node in errors; `room`: see
 * field.h.  NULL on failure. */
field_grid *grid_build(memory_pool *pool, const sim_geometry *mesh, double cell, const char *cache, const char *where,
                       int64_t *room, sim_error *error);
uint64_t grid_hash(const field_grid *grid);

#endif
