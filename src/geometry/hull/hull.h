/* Convex hulls: interface of hull.c (qhull), hull_faces.c (its facets to flat faces), hull_planes.c (planes of these)
 * and mesh.c. */
#ifndef GEOMETRY_HULL_HULL_H
#define GEOMETRY_HULL_HULL_H

#include "base/pool.h"
#include "math/v3.h"
#include <sim/geometry.h>

/* Corners within this part of the diagonal of the bounds from a plane lie in it, unless the solid is very thin. It is a
 * few roundings of single precision, the format of most files. */
#define HULL_FLAT 2e-7

/* The hull of a closed mesh that is the boundary of its own convex hull (to HULL_FLAT), in `pool`; NULL of others.
 * Fails without memory. */
sim_status hull_of_mesh(const sim_mesh *mesh, memory_pool *pool, const sim_hull **hull);

/* A closed surface of polygons, anticlockwise from outside: face f has the corners loop[start[f] .. start[f + 1]). */
typedef struct polygons {
    int nvertex, nface;
    const v3 *vertex;
    int *start, *loop;
} polygons;

typedef enum hull_outcome {
    HULL_BUILT,
    HULL_NO_MEMORY,
    HULL_BROKEN, /* no closed convex surface */
} hull_outcome;

/* The hull whose faces are those of `from`; neighbours are joined where they lie within `tolerance` of a plane. The
 * mesh of its faces cut in triangles (may be NULL).  Memory of the results in `pool`, of the work in `scratch`. */
hull_outcome hull_join_faces(const polygons *from, double tolerance, memory_pool *pool, memory_pool *scratch,
                             sim_hull *hull, sim_mesh *mesh);

/* Normals and offsets of the faces of `hull`, of which everything else is there. */
hull_outcome hull_find_planes(const sim_hull *hull, double tolerance, v3 *normal, double *offset);

/* Area times the normal of a polygon (of its mean plane if it is not flat). */
v3 hull_area(const v3 *vertex, const int *loop, int count);

#endif
