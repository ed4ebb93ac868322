/* A ray p(t) = o + t d, t >= 0, against one shape in the shape's own frame. */
#ifndef COLLIDE_RAY_RAY_H
#define COLLIDE_RAY_RAY_H

#include "math/v3.h"
#include <sim/geometry.h>

typedef struct ray {
    v3 o, d;    /* m; unit */
    double max; /* m: no hit beyond */
} ray;

/* Each gives the least t in [0, max] at which the ray crosses the surface, from outside or inside; INFINITY: none. */
double ray_mesh(const ray *r, const sim_geometry *g);
double ray_heights(const ray *r, const sim_geometry *g);
double ray_field(const ray *r, const sim_geometry *g);
/* The part of the ray within a box: false if there is none. */
bool ray_in_box(const ray *r, v3 low, v3 high, double *enter, double *leave);

#endif
