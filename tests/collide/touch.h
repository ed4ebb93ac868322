/* Asking about two shapes, for tests. */
#ifndef COLLIDE_TOUCH_H
#define COLLIDE_TOUCH_H

#include "math/spatial.h"
#include "support/meshes.h"
#include <criterion/criterion.h>
#include <sim/collide.h>
#include <string.h>

enum { TOUCH_ROOM = 256 };

typedef struct touch {
    int count;
    sim_contact_point point[TOUCH_ROOM];
} touch;

static inline sim_shape shape_of(sim_shape_type type, double x, double y, double z) {
    sim_shape s = sim_shape_default();
    s.type = type;
    s.size[0] = x;
    s.size[1] = y;
    s.size[2] = z;
    return s;
}

static inline sim_shape shape_with(sim_shape_type type, const sim_geometry *g) {
    sim_shape s = shape_of(type, 0, 0, 0);
    s.geometry = g;
    return s;
}

static inline touch touching(const sim_shape *a, pose X_a, const sim_shape *b, pose X_b, double margin) {
    touch t;
    t.count = sim_collide_shapes(a, &X_a, b, &X_b, margin, t.point, TOUCH_ROOM);
    cr_assert(t.count >= 0 && t.count <= TOUCH_ROOM, "%d", t.count);
    for (int k = 0; k < t.count; k++) {
        const sim_contact_point *c = &t.point[k];
        cr_assert(v3_finite(c->position) && isfinite(c->gap) && c->gap <= margin, "gap %.17g at (%g, %g, %g)", c->gap,
                  c->position.x, c->position.y, c->position.z);
        cr_assert_float_eq(v3_norm(c->normal), 1, 1e-9);
    }
    return t;
}

static inline double least_gap(const touch *t) {
    double least = HUGE_VAL;
    for (int k = 0; k < t->count; k++) {
        least = fmin(least, t->point[k].gap);
    }
    return least;
}

static inline pose at(double x, double y, double z) { return (pose){m3_identity(), {x, y, z}}; }

#endif
