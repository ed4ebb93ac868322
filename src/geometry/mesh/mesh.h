/* Parts of which geometries with triangles are made: meshes, the faces of hulls, the surfaces of fields. */
#ifndef GEOMETRY_MESH_MESH_H
#define GEOMETRY_MESH_MESH_H

#include "base/pool.h"
#include "geometry/mesh/bvh.h"
#include <stddef.h>
#include <stdint.h>

/* Vertices joined, triangles without area left out, neighbours found, in `pool`; `convex` stays 0.  `rounded`:
 * coordinates may have single precision or six digits only.  NULL on failure. */
sim_mesh *mesh_build(memory_pool *pool, const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                     int rounded, sim_error *error);

/* The tree over the triangles of the mesh, in `pool`; NULL without memory. */
sim_bvh *bvh_build(memory_pool *pool, const sim_mesh *mesh);

/* The same over tetrahedra. */
sim_bvh *bvh_build_tets(memory_pool *pool, const sim_tets *tets);

sim_bvh *bvh_build_heights(memory_pool *pool, const sim_heights *heights);

/* Fills `across`: see sim_mesh.  `closed`: the surface is closed and agrees which side is outside.  Fails without
 * memory. */
sim_status mesh_neighbours(const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle, int (*across)[3],
                           bool *closed);

/* Does a triangle have more height than the tolerance? */
bool triangle_has_area(const v3 *vertex, const int corner[3], double tolerance);
/* Rids the surface of triangles without area that it needs to be closed, and of thin ones no higher than `rounding`, by
 * flipping edges.  Fails without memory. */
sim_status mesh_flip_slivers(const v3 *vertex, int nvertex, int (*triangle)[3], int ntriangle, double tolerance,
                             double rounding);

static inline v3 triangle_cross(const sim_mesh *mesh, int t) {
    const int *i = mesh->triangle[t];
    v3 a = mesh->vertex[i[0]];
    return v3_cross(v3_sub(mesh->vertex[i[1]], a), v3_sub(mesh->vertex[i[2]], a));
}

/* The nearest point of a triangle to p; `feature` as in bvh_nearest. */
v3 triangle_nearest(v3 a, v3 b, v3 c, v3 p, int *feature);

v3 mesh_triangle_normal(const sim_mesh *mesh, int t);
/* Unit pseudonormal of a feature of a triangle, numbered as in bvh_nearest. */
v3 mesh_feature_normal(const sim_mesh *mesh, int triangle, int feature);
/* One triangle on round the vertex that is `corner` of triangle t, anticlockwise seen from outside, or `back`.  Returns
 * 0 at a border. */
bool mesh_turn(const sim_mesh *mesh, int *t, int *corner, int back);

#endif
