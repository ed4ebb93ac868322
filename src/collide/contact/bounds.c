/* Axis-aligned bounding boxes (AABB) and bounding balls of shapes.
 *
 *     box = p +- reach,   reach_i = max of |e_i . R x| over the shape's x
 *     box with half edges h            reach_i = sum_k |R_ik| h_k
 *     ellipsoid with semi-axes a       reach_i = sqrt(sum_k (R_ik a_k)^2), a disc with a_3 = 0
 *     capsule, cylinder                segment, with a ball or a disc swept along it: the sum of both reaches
 *
 *     p, R   pose of the shape in the world, m;  e_i: the world's axes
 *
 * Hulls, meshes and fields have the box or the ball of their own bounds.  A height field is solid below, so its box
 * extends down by its greater side.  Reference: Ericson 2005, "Real-Time Collision Detection", section 4.2.
 * Cost: some 20 flops a shape. */
#include "collide/contact/bounds.h"

static aabb box_around(v3 centre, v3 reach) { return (aabb){v3_sub(centre, reach), v3_add(centre, reach)}; }

/* How far a box of half edges h reaches along the outer axes. */
static v3 reach_of_box(const m3 *R, v3 h) {
    return v3_make(fabs(R->x.x) * h.x + fabs(R->y.x) * h.y + fabs(R->z.x) * h.z,
                   fabs(R->x.y) * h.x + fabs(R->y.y) * h.y + fabs(R->z.y) * h.z,
                   fabs(R->x.z) * h.x + fabs(R->y.z) * h.y + fabs(R->z.z) * h.z);
}

/* |diag(a) R' e_i| for each outer axis: the reach of an ellipsoid; with a.z = 0 that of a disc. */
static v3 reach_of_ellipsoid(const m3 *R, v3 a) {
    v3 x = v3_scale(a.x, R->x), y = v3_scale(a.y, R->y), z = v3_scale(a.z, R->z);
    return v3_make(sqrt(x.x * x.x + y.x * y.x + z.x * z.x), sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
                   sqrt(x.z * x.z + y.z * y.z + z.z * z.z));
}

static v3 reach_of_segment(const m3 *R, double half) {
    return v3_make(half * fabs(R->z.x), half * fabs(R->z.y), half * fabs(R->z.z));
}

/* A plane that faces along an axis, but for the rounding of a rotation, rises by less than MAX_ROUNDED_RISE (m) within
 * MAX_COORDINATE (m) of the origin. Farther out coordinates are coarser than that. */
static const double MAX_ROUNDED_SLOPE = 1e-15, MAX_COORDINATE = 1e9, MAX_ROUNDED_RISE = 2e-6;

static aabb bounds_of_half_space(const pose *X) {
    v3 n = X->R.z;
    aabb box = {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
    const double facing[3] = {n.x, n.y, n.z}, at[3] = {X->p.x, X->p.y, X->p.z};
    double *low[3] = {&box.low.x, &box.low.y, &box.low.z}, *high[3] = {&box.high.x, &box.high.y, &box.high.z};
    for (int k = 0; k < 3; k++) {
        double slope = fabs(facing[(k + 1) % 3]) + fabs(facing[(k + 2) % 3]);
        if (slope <= MAX_ROUNDED_SLOPE && fabs(at[0]) + fabs(at[1]) + fabs(at[2]) <= MAX_COORDINATE) {
            double rise = slope > 0 ? MAX_ROUNDED_RISE : 0;
            *(facing[k] > 0 ? high : low)[k] = at[k] + (facing[k] > 0 ? rise : -rise);
        }
    }
    return box;
}

aabb shape_bounds(const sim_shape *shape, const pose *X) {
    const double *s = shape->size;
    switch (shape->type) {
    case SIM_SPHERE:
        return box_around(X->p, v3_make(s[0], s[0], s[0]));
    case SIM_BOX:
        return box_around(X->p, reach_of_box(&X->R, v3_make(s[0] / 2, s[1] / 2, s[2] / 2)));
    case SIM_CAPSULE:
        return box_around(X->p, v3_add(reach_of_segment(&X->R, s[1] / 2), v3_make(s[0], s[0], s[0])));
    case SIM_CYLINDER:
        return box_around(X->p, v3_add(reach_of_segment(&X->R, s[1] / 2), //
                                       reach_of_ellipsoid(&X->R, v3_make(s[0], s[0], 0))));
    case SIM_ELLIPSOID:
        return box_around(X->p, reach_of_ellipsoid(&X->R, v3_make(s[0], s[1], s[2])));
    case SIM_HALF_SPACE:
        return bounds_of_half_space(X);
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    v3 low = shape->geometry->low, high = shape->geometry->high;
    if (shape->type == SIM_HEIGHT_FIELD) { /* solid below */
        low.z -= fmax(high.x - low.x, high.y - low.y);
    }
    return box_around(pose_point(*X, v3_scale(0.5, v3_add(low, high))),
                      reach_of_box(&X->R, v3_scale(0.5, v3_sub(high, low))));
}

/* Ball about the origin of the shape, or about the middle of its box where that is smaller. */
bounding_ball shape_ball(const sim_shape *shape) {
    const double *s = shape->size;
    switch (shape->type) {
    case SIM_SPHERE:
        return (bounding_ball){.radius = s[0]};
    case SIM_BOX:
        return (bounding_ball){.radius = v3_norm(v3_make(s[0] / 2, s[1] / 2, s[2] / 2))};
    case SIM_CAPSULE:
        return (bounding_ball){.radius = s[0] + s[1] / 2};
    case SIM_CYLINDER:
        return (bounding_ball){.radius = hypot(s[0], s[1] / 2)};
    case SIM_ELLIPSOID:
        return (bounding_ball){.radius = fmax(s[0], fmax(s[1], s[2]))};
    case SIM_HALF_SPACE:
        return (bounding_ball){.radius = HUGE_VAL};
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    v3 low = shape->geometry->low, high = shape->geometry->high;
    double half_diagonal = 0.5 * v3_norm(v3_sub(high, low));
    return shape->geometry->radius < half_diagonal ? (bounding_ball){.radius = shape->geometry->radius}
                                                   : (bounding_ball){v3_scale(0.5, v3_add(low, high)), half_diagonal};
}

bool shape_is_convex(const sim_shape *shape) { return shape->type <= SIM_CONVEX || shape->geometry->hull; }
