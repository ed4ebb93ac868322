/* Collision of two shapes on their own: the pair function of their types, without broad phase or history. */
#include "collide/contact/pair.h"

#include <math.h>

static bool is_complete(const sim_shape *shape, const sim_pose *X) {
    int has_geometry = shape->geometry && shape->geometry->type == sim_shape_geometry(shape->type);
    return (unsigned)shape->type < SIM_SHAPE_TYPES && v3_finite(X->p) && v3_finite(X->R.x) && v3_finite(X->R.y) &&
           v3_finite(X->R.z) && (has_geometry || sim_shape_geometry(shape->type) == SIM_GEOMETRY_TYPES);
}

int sim_collide_shapes(const sim_shape *a, const sim_pose *X_a, const sim_shape *b, const sim_pose *X_b, double margin,
                       sim_contact_point *point, int capacity) {
    sim_arena *arena = is_complete(a, X_a) && is_complete(b, X_b) && !isnan(margin) ? arena_create() : NULL;
    if (!arena) {
        return -1;
    }
    pose X_ba = pose_relative(*X_b, *X_a);
    pair p = {.a = a, .b = b, .X_ab = pose_relative(*X_a, *X_b), .X_ba = &X_ba, .margin = margin, .arena = arena};
    manifold found = {0};
    pair_collide(&p, &found);
    int count = found.failed ? -1 : found.count;
    for (int k = 0; k < count && k < capacity; k++) {
        point[k] = found.point[k];
        point[k].position = pose_point(*X_a, found.point[k].position);
        point[k].normal = m3_times(X_a->R, found.point[k].normal);
    }
    arena_free(arena);
    return count;
}
