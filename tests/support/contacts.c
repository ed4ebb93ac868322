#include "support/contacts.h"

#include <stdlib.h>
#include <string.h>

sim_shape field_shape(const sim_field_def *def, double resolution) {
    return geometry_shape(SIM_SDF, field_geometry(def, resolution));
}

sim_shape sized_shape(sim_shape_type type, double x, double y, double z) {
    return (sim_shape){.type = type, .size = {x, y, z}, .pose = pose_identity()};
}

sim_shape geometry_shape(sim_shape_type type, const sim_geometry *geometry) {
    return (sim_shape){.type = type, .geometry = geometry, .pose = pose_identity()};
}

void shape_free(sim_shape *shape) {
    sim_geometry_free((sim_geometry *)shape->geometry); /* built above, by the same hands */
    shape->geometry = NULL;
}

contacts contacts_of(const sim_shape *a, const sim_shape *b, pose X, double margin, const uint64_t *kept, int nkept) {
    sim_arena *arena = arena_create();
    pair p = {.a = a, .b = b, .X_ab = X, .margin = margin, .kept = kept, .nkept = nkept, .arena = arena};
    manifold m = {0};
    pair_collide(&p, &m);
    contacts out = {malloc(sizeof(contact_point) * (size_t)(m.count + 1)), m.failed ? -1 : m.count};
    if (m.count) {
        memcpy(out.point, m.point, sizeof(contact_point) * (size_t)m.count);
    }
    arena_free(arena);
    return out;
}

int deepest_of(const contacts *c) {
    int best = 0;
    for (int k = 1; k < c->count; k++) {
        best = c->point[k].gap < c->point[best].gap ? k : best;
    }
    return best;
}

sim_shape dish_shape(int which, double resolution) {
    sim_field_def def = field_dish(which);
    return field_shape(&def, resolution);
}

sim_shape bolt_shape(double clearance, double resolution) {
    sim_field_def def = field_bolt(0.06);
    def.thread.clearance = clearance;
    return field_shape(&def, resolution);
}

sim_shape nut_shape(double clearance, double resolution) {
    sim_field_def part[4], def = field_nut(clearance, 0.075, 0.038, part);
    return field_shape(&def, resolution);
}
