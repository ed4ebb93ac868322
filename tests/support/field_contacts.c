#include "support/field_contacts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

sim_field_def field_leaf(sim_field_type type, double x, double y, double z) {
    sim_field_def def = sim_field_default();
    def.type = type;
    def.size[0] = x;
    def.size[1] = y;
    def.size[2] = z;
    return def;
}

sim_shape field_shape(const sim_field_def *def, double resolution) {
    sim_error error = {0};
    sim_geometry *g = sim_geometry_field(def, resolution, NULL, &error);
    if (!g) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return geometry_shape(SIM_SDF, g);
}

sim_shape plain_shape(sim_shape_type type, double x, double y, double z) {
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
    sim_arena *arena = sim_arena_create();
    pair p = {a, b, X, margin, kept, nkept, arena};
    manifold m = {0};
    pair_collide(&p, &m);
    contacts out = {malloc(sizeof(contact_point) * (size_t)(m.count + 1)), m.failed ? -1 : m.count};
    if (m.count) {
        memcpy(out.point, m.point, sizeof(contact_point) * (size_t)m.count);
    }
    sim_arena_free(arena);
    return out;
}

int deepest_of(const contacts *c) {
    int best = 0;
    for (int k = 1; k < c->count; k++) {
        best = c->point[k].gap < c->point[best].gap ? k : best;
    }
    return best;
}

sim_shape dish_shape(dish which, double resolution) {
    static const double curve[3][3][2] = {
        {{0, 0}, {0.06, 0}, {0.10, 0.015}}, {{0, 0}, {0.04, 0}, {0.075, 0.05}}, {{0, 0}, {0.09, 0}, {0.09, 0.10}}};
    static const double thickness[3] = {0.003, 0.003, 0.004};
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_PROFILE;
    def.point = curve[which];
    def.npoint = 3;
    def.thickness = thickness[which];
    return field_shape(&def, resolution);
}

static sim_field_def m48(double clearance, int internal) {
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_THREAD;
    def.thread = (sim_thread){.diameter = 0.048,
                              .pitch = M48_PITCH,
                              .depth = 0.625 * M48_PITCH * sqrt(3) / 2,
                              .length = 0.06,
                              .flank_angle = PI / 3,
                              .clearance = clearance,
                              .internal = internal};
    return def;
}

sim_shape bolt_shape(double clearance, double resolution) {
    sim_field_def def = m48(clearance, 0);
    return field_shape(&def, resolution);
}

sim_shape nut_shape(double clearance, double resolution) {
    sim_field_def part[2] = {m48(clearance, 1), field_leaf(SIM_FIELD_CYLINDER, 0.0375, 0.038, 0)};
    sim_field_def def = sim_field_default();
    def.type = SIM_FIELD_INTERSECTION;
    def.child = part;
    def.nchild = 2;
    return field_shape(&def, resolution);
}
