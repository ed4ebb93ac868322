/* Surfaces of triangles that several tests share. */
#ifndef SUPPORT_MESHES_H
#define SUPPORT_MESHES_H

#include "support/models.h"
#include <sim/geometry.h>

/* Vertices and triangles by hand; free() both. */
typedef sim_triangles soup;

soup soup_box(double x, double y, double z);
/* 20 * 4^level triangles, vertices on the sphere. */
soup soup_sphere(double radius, int level);
/* About the z axis: `ring` the radius of the circle of middles, `tube` of the tube. */
soup soup_torus(double ring, double tube, int around, int across);
/* A flat rectangle in z = 0, cut in nx by ny cells of two triangles, normals up. */
soup soup_plane(double x, double y, int nx, int ny);
/* Moved by R and p. */
void soup_move(soup *s, sim_pose X);
/* b's triangles added to a's; b is freed. */
void soup_add(soup *a, soup b);
/* Every triangle gets corners of its own. */
soup soup_torn(const soup *s);
void soup_free(soup *s);

/* The geometry; frees the soup; stops the test where it is refused. */
sim_geometry *soup_geometry(soup s);

/* Of a closed surface, outwards: the volume of the solid, and its first moments. */
double volume_of_surface(const sim_triangles *surface, sim_v3 *moment);

#endif
