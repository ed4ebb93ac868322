/* Surfaces of triangles by brute force: every triangle is asked. */
#ifndef ORACLE_TRIANGLES_H
#define ORACLE_TRIANGLES_H

#include "scene.h"

typedef struct triangles {
    int count, room;
    vec (*corner)[3]; /* where they stand, anticlockwise from outside */
    int closed;
} triangles;

/* Of a mesh or a height field at X, seen from `origin`. The memory of `out` is used again. */
void triangles_of(const sim_geometry *geometry, const sim_pose *X, vec origin, triangles *out);
void triangles_free(triangles *t);

/* A triangle as a solid. */
void triangle_solid(solid *s, const vec corner[3]);
/* The least distance of the solid from any triangle (0 where it cuts one), the triangle, and the normal towards the
 * solid. */
real triangles_gap(const triangles *t, const solid *a, vec *normal, int *which);
real triangles_distance(const triangles *t, vec p);
/* How often the surface winds round p: 1 inside a closed one, 0 outside (van Oosterom and Strackee 1983: solid
 * angles). */
real triangles_winding(const triangles *t, vec p);

/* Meshes that are not convex, and rolling ground. NULL where the library refuses. */
sim_geometry *torus_mesh(double major, double minor, int round, int across);
sim_geometry *ell_mesh(void);  /* an L of six squares, extruded */
sim_geometry *star_mesh(void); /* a ball with dents and spikes */
sim_geometry *ground_heights(void);

#endif
