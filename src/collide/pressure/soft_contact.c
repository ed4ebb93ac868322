/* One polygon of the surface of contact as a compliant point.
 *
 *     g_A = grad p_A . n,   g_B = -grad p_B . n,   1/g = 1/g_A + 1/g_B      (a rigid side: 1/g = 0)
 *     k = A g,              gap = -p / g,          force at rest: k (-gap) = A p
 *
 *     p      pressure at the centroid, Pa;  A: area, m^2
 *     n      normal from B to A;  g: rise of pressure over approach, Pa/m;  k: stiffness, N/m
 *
 * A polygon with g_A <= 0 or g_B <= 0 bears nothing: there the field falls along the normal into its own solid.
 *
 * References: A. Castro, F. Permenter, X. Han, An unconstrained convex formulation of compliant contact, 2021, VI-D;
 * J. Masterjohn, D. Guoy, J. Shepherd, A. Castro, Velocity level approximation of pressure field contact patches, 2021,
 * eqs. 10-13. */
#include "collide/pressure/soft_contact.h"

/* Cosine of the angle between slope and normal below which a polygon counts as that steep: gaps stay within a few depths. */
static const double MIN_SLOPE_COSINE = 0.2;
static const double MIN_AREA_OVER_SIZE2 = 1e-12; /* of the tetrahedron: smaller polygons are rounding */

void soft_corners(const sim_tets *tets, int t, const pose *X, v3 corner[4]) {
    for (int k = 0; k < 4; k++) {
        v3 x = tets->vertex[tets->tet[t][k]];
        corner[k] = X ? pose_point(*X, x) : x;
    }
}

static void grow_box(v3 x, v3 *low, v3 *high) {
    *low = v3_make(fmin(low->x, x.x), fmin(low->y, x.y), fmin(low->z, x.z));
    *high = v3_make(fmax(high->x, x.x), fmax(high->y, x.y), fmax(high->z, x.z));
}

void soft_box_of(const v3 corner[4], const pose *X, v3 *low, v3 *high) {
    *low = *high = pose_point(*X, corner[0]);
    for (int k = 1; k < 4; k++) {
        grow_box(pose_point(*X, corner[k]), low, high);
    }
}

void soft_box_in(const pose *X, v3 low, v3 high, v3 *out_low, v3 *out_high) {
    *out_low = *out_high = pose_point(*X, low);
    for (int k = 1; k < 8; k++) {
        grow_box(pose_point(*X, v3_make(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z)),
                 out_low, out_high);
    }
}

double soft_size(const v3 x[4]) {
    double most = 0;
    for (int k = 1; k < 4; k++) {
        v3 d = v3_sub(x[k], x[0]);
        most = fmax(most, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    return most;
}

void soft_add_contact(const pair *p, const polygon *patch, v3 n, v3 slope_a, v3 slope_b, double level, v3 slope,
                      double size, uint64_t feature, manifold *out) {
    v3 centroid;
    double area = polygon_area(patch, &centroid), rise_a = v3_dot(slope_a, n), rise_b = -v3_dot(slope_b, n),
           softness = 0;
    if (!(area > MIN_AREA_OVER_SIZE2 * size * size) || (p->a->pressure && !(rise_a > 0)) ||
        (p->b->pressure && !(rise_b > 0))) {
        return;
    }
    softness += p->a->pressure ? 1 / fmax(rise_a, MIN_SLOPE_COSINE * v3_norm(slope_a)) : 0;
    softness += p->b->pressure ? 1 / fmax(rise_b, MIN_SLOPE_COSINE * v3_norm(slope_b)) : 0;
    double pressure = fmax(0, level + v3_dot(slope, centroid));
    contact_point c = point_between(centroid, n, -pressure * softness, feature);
    c.stiffness = area / softness;
    c.area = area;
    manifold_add(out, p->arena, &c);
}
