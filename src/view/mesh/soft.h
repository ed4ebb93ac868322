/* Surfaces of soft bodies, which change from frame to frame. */
#ifndef VIEW_MESH_SOFT_H
#define VIEW_MESH_SOFT_H

#include "view/mesh/mesh.h"

/* Triangles of the surface at rest; a node stands there once for each smooth part that it is a corner of. */
typedef struct view_soft {
    view_mesh *mesh;
    int *node; /* [mesh->nvertex] of the soft body */
} view_soft;

/* false: no memory; free it either way. */
bool view_soft_create(view_soft *v, const sim_soft *soft);
void view_soft_free(view_soft *v);
/* Puts corners and normals where the nodes are, relative to `eye`; `pose` of all bodies of the model. */
void view_soft_place(view_soft *v, const sim_soft *soft, const sim_pose *pose, sim_v3 eye);

#endif
