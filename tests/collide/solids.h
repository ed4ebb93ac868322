/* Solids as a test sees them, written apart from the code under test: the support function h(d) = max d . x, and
 * whether a point is inside. With both a contact can be proven right: planes of normal n part the solids by the gap
 * that support functions say, no distance can be less; and when the points at either end lie in the solids, none can be
 * more. */
#ifndef COLLIDE_SOLIDS_H
#define COLLIDE_SOLIDS_H

#include "collide/contact/pair.h"
#include "support/models.h"

static inline sim_shape shape_of(sim_shape_type type, double x, double y, double z) {
    return (sim_shape){.type = type, .size = {x, y, z}};
}

/* d unit, in the solid's frame. A half-space has one direction only. */
static inline double solid_support(const sim_shape *s, v3 d) {
    const double *e = s->size;
    switch (s->type) {
    case SIM_SPHERE:
        return e[0];
    case SIM_BOX:
        return (e[0] * fabs(d.x) + e[1] * fabs(d.y) + e[2] * fabs(d.z)) / 2;
    case SIM_CAPSULE:
        return e[0] + e[1] / 2 * fabs(d.z);
    case SIM_CYLINDER:
        return e[0] * hypot(d.x, d.y) + e[1] / 2 * fabs(d.z);
    case SIM_ELLIPSOID:
        return hypot(hypot(e[0] * d.x, e[1] * d.y), e[2] * d.z);
    case SIM_CONVEX: {
        double most = -HUGE_VAL;
        for (int k = 0; k < s->geometry->hull->nvertex; k++) {
            most = fmax(most, v3_dot(d, s->geometry->hull->vertex[k]));
        }
        return most;
    }
    default:
        return v3_norm(v3_sub(d, v3_make(0, 0, 1))) < 1e-9 ? 0 : HUGE_VAL;
    }
}

/* How far x is outside, roughly: exact in sign, and near the surface to first order. */
static inline double solid_outside(const sim_shape *s, v3 x) {
    const double *e = s->size;
    switch (s->type) {
    case SIM_SPHERE:
        return v3_norm(x) - e[0];
    case SIM_BOX:
        return fmax(fabs(x.x) - e[0] / 2, fmax(fabs(x.y) - e[1] / 2, fabs(x.z) - e[2] / 2));
    case SIM_CAPSULE:
        return hypot(hypot(x.x, x.y), fmax(fabs(x.z) - e[1] / 2, 0)) - e[0];
    case SIM_CYLINDER:
        return fmax(hypot(x.x, x.y) - e[0], fabs(x.z) - e[1] / 2);
    case SIM_ELLIPSOID: {
        v3 q = {x.x / e[0], x.y / e[1], x.z / e[2]};
        v3 slope = {q.x / e[0], q.y / e[1], q.z / e[2]};
        return v3_norm(q) * (v3_norm(q) - 1) / fmax(v3_norm(slope), 1e-300);
    }
    case SIM_CONVEX: {
        double most = -HUGE_VAL;
        for (int f = 0; f < s->geometry->hull->nface; f++) {
            most = fmax(most, v3_dot(s->geometry->hull->normal[f], x) - s->geometry->hull->offset[f]);
        }
        return most;
    }
    default:
        return x.z;
    }
}

/* By how much planes of unit normal n, in A's frame, part A (ahead) and B (behind). */
static inline double solid_parted(const sim_shape *a, const sim_shape *b, const sim_pose *X, v3 n) {
    return -solid_support(a, v3_neg(n)) - (v3_dot(n, X->p) + solid_support(b, m3_transposed_times(X->R, n)));
}

static inline v3 to_frame(const sim_pose *X, v3 x) { return m3_transposed_times(X->R, v3_sub(x, X->p)); }

static inline double solid_radius(const sim_shape *s) {
    const double *e = s->size;
    switch (s->type) {
    case SIM_SPHERE:
        return e[0];
    case SIM_BOX:
        return v3_norm(v3_make(e[0], e[1], e[2])) / 2;
    case SIM_CAPSULE:
        return e[0] + e[1] / 2;
    case SIM_CYLINDER:
        return hypot(e[0], e[1] / 2);
    case SIM_ELLIPSOID:
        return fmax(e[0], fmax(e[1], e[2]));
    case SIM_CONVEX:
        return s->geometry->radius;
    default:
        return 0;
    }
}

/* A size between 1/1000 and 1, all scales alike. */
static inline double random_size(random_source *r) { return exp(random_uniform(r, log(1e-3), 0)); }

static inline sim_shape random_solid(random_source *r, sim_shape_type type) {
    double scale = random_size(r), x[3];
    int slender = random_index(r, 3) == 0;
    for (int k = 0; k < 3; k++) {
        x[k] = scale * (slender ? random_size(r) : random_uniform(r, 0.3, 1));
    }
    return shape_of(type, x[0], x[1], x[2]);
}

/* A rotation of the kinds that occur: any, none, about one axis, by quarters of a turn, by very little. */
static inline m3 random_placing(random_source *r) {
    switch (random_index(r, 6)) {
    case 0:
        return m3_identity();
    case 1:
        return m3_axis_angle(v3_make(0, 0, 1), random_uniform(r, -4, 4));
    case 2: {
        static const m3 quarter[3] = {
            {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}};
        return quarter[random_index(r, 3)];
    }
    case 3:
        return m3_axis_angle(random_unit(r), pow(10, random_uniform(r, -14, -1)));
    default:
        return random_rotation(r);
    }
}

#endif
