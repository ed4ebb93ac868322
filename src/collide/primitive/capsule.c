/* Contact of two capsules.
 *
 * Their axes are segments; gap = distance - r_a - r_b, along the line between the nearest points. Where the axes cross,
 * the difference of the two is a flat parallelogram about the origin, and the way out is across it. */
#include "collide/primitive/primitives.h"

static const double CROSSING_OVER_SIZE = 1e-13; /* of the size: nearer axes cross, their difference is rounding */
static const double MIN_ASKEW_SINE = 1e-3;      /* sine of the angle above which the common normal is well determined */

/* From B's point at t to A's at s: the distance, and the unit normal, which is at right angles to an axis that goes on
 * there. `across` is at right angles to both. */
static double distance_of_axes(v3 z_a, v3 z_b, v3 d, int a_goes_on, int b_goes_on, v3 across, double size, v3 *normal) {
    if (a_goes_on) {
        d = v3_axpy(d, -v3_dot(d, z_a), z_a);
    }
    if (b_goes_on) {
        d = v3_axpy(d, -v3_dot(d, z_b), z_b);
    }
    double length = v3_norm(d);
    *normal = length > CROSSING_OVER_SIZE * size ? v3_scale(1 / length, d) : across;
    return length;
}

void capsule_capsule(const pair *p, manifold *out) {
    /* bounding balls */
    convex a, b;
    convex_of_shape(p->a, &a);
    convex_of_shape(p->b, &b);
    v3 z = {0, 0, 1}, e = p->X_ab.R.z, centre = p->X_ab.p;
    double half_a = a.half[2], half_b = b.half[2], size = a.extent + b.extent, s = 0, t = 0;
    if (v3_norm(centre) > size + p->margin) {
        return;
    }
    /* nearest points of the axes */
    segments_nearest(v3_make(0, 0, 0), z, half_a, centre, e, half_b, &s, &t);
    v3 on_a = v3_scale(s, z), on_b = v3_axpy(centre, t, e), across = v3_cross(z, e);
    double sine = v3_norm(across), distance;
    across = sine > 1e-14 ? v3_scale((v3_dot(across, centre) > 0 ? -1 : 1) / sine, across) : v3_make(1, 0, 0);
    /* normal: the common perpendicular, or between the nearest points */
    int a_goes_on = fabs(s) < half_a, b_goes_on = fabs(t) < half_b;
    convex_gap gap = {.certain = true};
    if (a_goes_on && b_goes_on && sine > MIN_ASKEW_SINE) {
        distance = fabs(v3_dot(across, centre));
        gap.normal = across;
    } else {
        distance = distance_of_axes(z, e, v3_sub(on_a, on_b), a_goes_on, b_goes_on, across, size, &gap.normal);
    }
    /* surfaces */
    gap.gap = distance - a.radius - b.radius;
    gap.on_a = v3_axpy(on_a, -a.radius, gap.normal);
    gap.on_b = v3_axpy(on_b, b.radius, gap.normal);
    if (gap.gap <= p->margin) {
        convex_manifold(p, &a, &b, &gap, out);
    }
}
