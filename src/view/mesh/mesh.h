/* The surface of a shape as triangles, to be drawn. */
#ifndef VIEW_MESH_MESH_H
#define VIEW_MESH_MESH_H

#include <sim/model.h>
#include <stdint.h>

/* In the shape's own frame, metres.  A corner where faces meet sharply stands there once for each normal. */
typedef struct view_mesh {
    int nvertex, ntriangle;
    float (*position)[3], (*normal)[3]; /* [nvertex]; normals unit, outwards */
    uint32_t (*triangle)[3];            /* anticlockwise from outside */
} view_mesh;

/* `detail`: segments of a full turn, at least 8; geometries keep their own triangles.  A half-space is the square of
 * corners (+-1, +-1, 0), which the caller scales.  NULL without memory. */
view_mesh *view_mesh_create(const sim_shape *shape, int detail);
void view_mesh_free(view_mesh *mesh);

#endif
