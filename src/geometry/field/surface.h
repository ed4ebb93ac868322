/* The surface of a distance field, in triangles. */
#ifndef GEOMETRY_FIELD_SURFACE_H
#define GEOMETRY_FIELD_SURFACE_H

#include "geometry/field/field.h"

typedef struct surface {
    int nvertex, ntriangle;
    v3 *vertex; /* on the surface */
    int (*triangle)[3];
    v3 low, high;  /* a box that holds the solid, thin tips and all, to within a triangle's edge or so */
    double radius; /* of the ball about the origin that holds it */
} surface;

/* Triangles with edges of about `edge` around the solid within [low, high]; parts thinner than `edge` may be missing.
 * `room`: see geometry_field_within. */
sim_status surface_extract(const sim_field *field, v3 low, v3 high, double edge, surface *out, int64_t *room,
                           sim_error *error);
void surface_free(surface *s);

/* The surface of a field's geometry for pictures: walls and ridges that triangles as coarse as those of the geometry may
 * leave out.  SIM_OK without triangles: those of the geometry are fine enough. */
sim_status surface_of_drawing(const sim_geometry *geometry, surface *out, sim_error *error);

/* The point of the surface to which Newton's method along the gradient leads; false if it does not get there. */
bool surface_project(const sim_field *field, double size, v3 *p);

#endif
