/* Bounding box and bounding ball of a shape. */
#ifndef COLLIDE_CONTACT_BOUNDS_H
#define COLLIDE_CONTACT_BOUNDS_H

#include "collide/contact/aabb.h"
#include "math/spatial.h"
#include <sim/model.h>

/* The least box along the world's axes that holds the shape placed at X (of hulls, meshes and fields: that holds their
 * own bounds).  A half-space is bounded across an axis it faces exactly, else not at all. */
aabb shape_bounds(const sim_shape *shape, const pose *X);

/* A ball that holds the shape, in its own frame; infinite for a half-space. */
typedef struct bounding_ball {
    v3 centre;
    double radius;
} bounding_ball;
bounding_ball shape_ball(const sim_shape *shape);

/* Convex, so that a plane parts it from any other convex solid it does not touch. */
bool shape_is_convex(const sim_shape *shape);

#endif
