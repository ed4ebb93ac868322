/* Axis-aligned bounding boxes, in world axes [m]. */
#ifndef COLLIDE_CONTACT_AABB_H
#define COLLIDE_CONTACT_AABB_H

#include "math/v3.h"

typedef struct aabb {
    v3 low, high;
} aabb;

#endif
