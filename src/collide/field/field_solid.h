/* Solids for contact of distance fields: signed distance, and triangles of the surface. */
#ifndef COLLIDE_FIELD_FIELD_SOLID_H
#define COLLIDE_FIELD_FIELD_SOLID_H

#include "collide/contact/pair.h"
#include "geometry/mesh/bvh.h"

typedef struct solid solid;
/* Signed distance, negative inside, and its gradient; in the solid's own frame. */
typedef double solid_distance(const solid *s, v3 p, v3 *gradient);

struct solid {
    solid_distance *distance; /* NULL: a surface without inside cannot act as a field */
    double size[3];           /* of the closed forms, as in the shape */
    const sim_geometry *geometry;
    const sim_mesh *mesh; /* NULL: no triangles */
    const sim_bvh *bvh;   /* NULL: few triangles, all are looked at */
    const int *number;    /* feature number of each triangle; NULL: its place */
    const int *vertex_number;
    const struct sim_skin *skin; /* of `mesh`, or NULL */
    bool convex;                 /* the distance has one minimum on a triangle */
    bool curved;                 /* the triangles only stand for the surface where the distance is 0 */
    double extent;               /* half the size of what there is: lengths are judged by it */
};

/* Half-spaces, spheres, capsules, boxes, cylinders, ellipsoids, hulls, closed meshes and fields. */
solid solid_of_shape(const sim_shape *shape);

/* Triangles of the cells of a height field under [low, high]; with indices of the whole field. False without memory. */
bool solid_heights(solid *s, const sim_heights *heights, v3 low, v3 high, sim_arena *arena);

/* A box around the solid of a shape that is no half-space, in its own frame. */
void solid_box(const sim_shape *shape, const solid *s, v3 *low, v3 *high);

/* The closest point of the surface of `s` to p (exactly so where the distance is exact), and the normal there. False:
 * not found, or farther than `reach`. */
bool solid_project(const solid *s, v3 p, double reach, v3 *on, v3 *normal);

#endif
