#include "support/fields.h"

#include "math/v3.h"

#include <stdio.h>
#include <stdlib.h>

const dish dishes[DISHES] = {
    {"plate", {{0, 0}, {0.06, 0}, {0.10, 0.015}}, 0.003},
    {"bowl", {{0, 0}, {0.04, 0}, {0.075, 0.05}}, 0.003},
    {"pot", {{0, 0}, {0.09, 0}, {0.09, 0.10}}, 0.004},
};

static sim_field_def leaf(sim_field_type type, double a, double b, double c) {
    sim_field_def def = sim_field_default();
    def.type = type;
    def.size[0] = a;
    def.size[1] = b;
    def.size[2] = c;
    return def;
}

sim_field_def field_sphere(double radius) { return leaf(SIM_FIELD_SPHERE, radius, 0, 0); }
sim_field_def field_box(double x, double y, double z) { return leaf(SIM_FIELD_BOX, x, y, z); }
sim_field_def field_cylinder(double radius, double length) { return leaf(SIM_FIELD_CYLINDER, radius, length, 0); }

sim_field_def field_bolt(double length) {
    sim_field_def def = leaf(SIM_FIELD_THREAD, 0, 0, 0);
    def.thread.diameter = 48e-3;
    def.thread.pitch = 5e-3;
    def.thread.depth = 0.6134 * 5e-3;
    def.thread.length = length;
    return def;
}

sim_field_def field_bore(double clearance) {
    sim_field_def def = field_bolt(0);
    def.thread.internal = 1;
    def.thread.depth = 0.5413 * 5e-3;
    def.thread.clearance = clearance;
    return def;
}

sim_field_def field_dish(int which) {
    sim_field_def def = leaf(SIM_FIELD_PROFILE, 0, 0, 0);
    def.point = dishes[which].point;
    def.npoint = 3;
    def.thickness = dishes[which].thickness;
    return def;
}

sim_field_def field_nut(double clearance, double width, double height, sim_field_def part[4]) {
    for (int k = 0; k < 3; k++) {
        part[k] = field_box(width, 2 * width, height);
        part[k].pose.R = m3_axis_angle(v3_make(0, 0, 1), k * 1.0471975511965976);
    }
    part[3] = field_bore(clearance);
    sim_field_def def = leaf(SIM_FIELD_INTERSECTION, 0, 0, 0);
    def.child = part;
    def.nchild = 4;
    return def;
}

sim_geometry *field_geometry(const sim_field_def *def, double resolution) {
    sim_error error = {0};
    sim_geometry *g = sim_geometry_field(def, resolution, NULL, &error);
    if (!g) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return g;
}

sim_v3 field_point(random_source *r, const sim_geometry *g, double beyond) {
    double x = random_uniform(r, g->low.x - beyond, g->high.x + beyond);
    double y = random_uniform(r, g->low.y - beyond, g->high.y + beyond);
    double z = random_uniform(r, g->low.z - beyond, g->high.z + beyond);
    return v3_make(x, y, z);
}

field_slopes field_steepest(const sim_geometry *g, double beyond, int pairs) {
    random_source r = {11};
    field_slopes most = {0, 0};
    double size = v3_norm(v3_sub(g->high, g->low));
    for (int k = 0; k < pairs; k++) {
        v3 p = field_point(&r, g, beyond), gradient;
        double apart = size * pow(10, random_uniform(&r, -6, 0));
        v3 q = v3_axpy(p, apart, random_unit(&r));
        double difference = sim_field_distance(g->field, p, &gradient) - sim_field_distance(g->field, q, NULL);
        /* distances are known to rounding only */
        double slope = (fabs(difference) - 1e-14 * size) / apart;
        most.between = fmax(most.between, slope);
        most.gradient = fmax(most.gradient, v3_norm(gradient));
    }
    return most;
}

static v3 by_differences(const sim_field *f, v3 p, double h) {
    double d[3];
    for (int k = 0; k < 3; k++) {
        v3 step = {k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0};
        d[k] = (sim_field_distance(f, v3_add(p, step), NULL) - sim_field_distance(f, v3_sub(p, step), NULL)) / (2 * h);
    }
    return v3_make(d[0], d[1], d[2]);
}

double field_gradient_error(const sim_geometry *g, double beyond, int points, double h, double smooth, double *kept) {
    random_source r = {12};
    double worst = 0;
    int used = 0;
    for (int k = 0; k < points; k++) {
        v3 p = field_point(&r, g, beyond), gradient;
        sim_field_distance(g->field, p, &gradient);
        v3 wide = by_differences(g->field, p, h), narrow = by_differences(g->field, p, h / 2);
        if (v3_norm(v3_sub(wide, narrow)) < smooth) {
            worst = fmax(worst, v3_norm(v3_sub(gradient, narrow)));
            used++;
        }
    }
    *kept = (double)used / points;
    return worst;
}
