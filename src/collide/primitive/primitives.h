/* Pair functions of primitives in closed form. */
#ifndef COLLIDE_PRIMITIVE_PRIMITIVES_H
#define COLLIDE_PRIMITIVE_PRIMITIVES_H

#include "collide/convex/convex.h"

pair_function sphere_sphere, sphere_box, sphere_capsule, sphere_cylinder, sphere_ellipsoid;
pair_function sphere_half_space, box_half_space, capsule_half_space, cylinder_half_space, ellipsoid_half_space,
    half_space_convex;
pair_function capsule_capsule, box_capsule, box_box;

/* A contact where A's surface is at `on_a`, unless it is farther than the margin. */
static inline void add_contact(const pair *p, manifold *out, v3 on_a, v3 normal, double gap, uint64_t feature) {
    if (gap <= p->margin) {
        contact_point c = point_between(v3_axpy(on_a, -0.5 * gap, normal), normal, gap, feature);
        manifold_add(out, p->arena, &c);
    }
}

/* d at unit length, or `otherwise` where it has none. */
static inline v3 direction_or(v3 d, double length, v3 otherwise) {
    return length > 1e-140 ? v3_scale(1 / length, d) : otherwise; /* below, its square has lost digits */
}

/* The signed distance from a point to an ellipsoid about the origin, and the outward normal where it is nearest. */
double ellipsoid_distance(const double semi[3], v3 point, v3 *normal);

/* Nearest points p + s d and q + t e of two segments: d, e unit, |s| <= s_most, |t| <= t_most. */
void segments_nearest(v3 p, v3 d, double s_most, v3 q, v3 e, double t_most, double *s, double *t);

/* From gap and normal the points where two polyhedral cores with radii face each other. Exact where one of them has a
 * single corner there, or both an edge; where faces overlap some point of the plane. */
void facing_points(const convex *a, const convex *b, const pose *X, convex_gap *gap);

#endif
