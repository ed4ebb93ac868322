/* One solid of each type, whose contacts several tests differentiate. */
#ifndef WORLD_SOLID_H
#define WORLD_SOLID_H

#include "support/models.h"

static const sim_v3 SOLID = {0.2, 0.3, 0.16}; /* m: radius and length, or edges */

/* The hull of 16 points on the ellipsoid with these axes. */
static inline sim_geometry *make_stone(void) {
    random_source r = {7};
    sim_v3 point[16];
    for (int k = 0; k < 16; k++) {
        sim_v3 u = random_unit(&r);
        point[k] = (sim_v3){0.5 * SOLID.x * u.x, 0.5 * SOLID.y * u.y, 0.5 * SOLID.z * u.z};
    }
    return sim_geometry_hull(point, 16, NULL);
}

/* The shape of that type on a body; the hull keeps its size. */
static inline sim_shape make_solid(sim_builder *b, int body, sim_shape_type type, double scale) {
    sim_shape shape = sim_shape_default();
    shape.type = type;
    shape.body = body;
    shape.size[0] = SOLID.x * scale;
    shape.size[1] = SOLID.y * scale;
    shape.size[2] = SOLID.z * scale;
    shape.geometry = type == SIM_CONVEX ? sim_builder_add_geometry(b, make_stone()) : NULL;
    return shape;
}

#endif
