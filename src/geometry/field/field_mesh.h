/* The triangles with which a field meets other solids: fewer than those of its drawing. */
#ifndef GEOMETRY_FIELD_FIELD_MESH_H
#define GEOMETRY_FIELD_FIELD_MESH_H

#include "geometry/field/field.h"
#include "geometry/mesh/mesh.h"

/* Of a triangle: its edges, from corner k to the next, and its corners at which the solid is not smooth. */
enum { SKIN_EDGE = 1, SKIN_CORNER = 8 };

typedef struct sim_skin {
    const sim_mesh *mesh; /* corners on the surface */
    const sim_bvh *bvh;
    const v3 (*normal)[3];      /* of the surface at each triangle's corners, on the triangle's side of an edge; unit */
    const unsigned char *sharp; /* SKIN_EDGE << k | SKIN_CORNER << k */
    double bulge;               /* about how far edges of the solid stray from those of triangles */
} sim_skin;

/* The skin of a field in `pool`, made from its drawing.  Triangles grow to edges of `spacing` where they stay close to
 * the surface; 0: the drawing's own.  NULL without memory. */
sim_skin *skin_build(memory_pool *pool, const sim_field *field, const sim_mesh *drawing, const sim_bvh *bvh,
                     double spacing);

/* Triangles of a closed surface made fewer: see field_mesh_coarsen.c. `triangle` is changed; returns how many are left,
 * -1 without memory. */
int skin_coarsen(const sim_field *field, const v3 *vertex, int nvertex, int (*triangle)[3], int ntriangle,
                 double spacing);

#endif
