/* Parts of the surfaces of shapes. */
#ifndef VIEW_MESH_PARTS_H
#define VIEW_MESH_PARTS_H

#include "view/mesh/mesh.h"
#include <sim/geometry.h>

/* Room for so many; counts start at zero.  NULL without memory. */
view_mesh *view_mesh_room(int nvertex, int ntriangle);
/* Both return the index. */
int view_mesh_vertex(view_mesh *mesh, double x, double y, double z, double nx, double ny, double nz);
int view_mesh_triangle(view_mesh *mesh, int a, int b, int c);

/* mesh_round.c: `size` as in sim_shape. */
view_mesh *view_mesh_ellipsoid(const double semi_axes[3], int detail);
view_mesh *view_mesh_capsule(double radius, double length, int detail);
view_mesh *view_mesh_cylinder(double radius, double length, int detail);

/* mesh_geometry.c */
view_mesh *view_mesh_hull(const sim_hull *hull);
view_mesh *view_mesh_heights(const sim_heights *heights);
/* A field: finer than its contacts' triangles, where these may leave out walls. */
view_mesh *view_mesh_field(const sim_geometry *geometry);
/* mesh_crease.c */
view_mesh *view_mesh_creased(const sim_v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle);

#endif
