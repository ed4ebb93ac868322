/* The surface of a solid as triangles, each with its image on an inner surface. */
#ifndef MODEL_SOFT_SOFT_SURFACE_H
#define MODEL_SOFT_SOFT_SURFACE_H

#include "math/v3.h"
#include <sim/model.h>

/* `outer`: anticlockwise from outside; `inner`: images of its corners on the medial set, some of which may coincide. */
typedef void soft_visit(void *context, const v3 outer[3], const v3 inner[3]);

/* Calls `visit` for every triangle, with edges of about `edge` at most, m.  False for shapes without such a surface:
 * half-spaces, height fields, meshes that are not convex, distance fields. */
bool soft_surface(const sim_shape *shape, double edge, soft_visit *visit, void *context);
/* About how many triangles that are. */
double soft_surface_count(const sim_shape *shape, double edge);

#endif
