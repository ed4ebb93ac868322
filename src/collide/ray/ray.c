/* Ray casting: the first point at which a ray p(t) = o + t d meets the surface of a shape.
 *
 *     sphere, ellipsoid   |S^-1 (o + t d)| = 1                 roots of a quadratic, S = diag(semi-axes)
 *     box, hull           t_in = max over faces entered, t_out = min over faces left     (clipping by half-spaces)
 *     cylinder            side |o + t d|_xy = r within the length, and its two discs
 *     capsule             side within the straight part, spheres beyond its ends
 *     half-space          o_z + t d_z = 0
 *     mesh, heights, sdf  ray_triangles.c, ray_field.c
 *
 *     t    distance along the unit vector d, m.  A ray that starts inside ends where it leaves.
 *
 * Reference: Haines, in Glassner, An Introduction to Ray Tracing (1989), chapter 2.
 * Cost: O(1); O(faces) of a hull. */
#include "collide/ray/ray.h"
#include "math/spatial.h"
#include <sim/collide.h>

#include <math.h>

/* The least of both that lies on the ray. */
static double first_of(const ray *r, double a, double b) {
    a = a >= 0 && a <= r->max ? a : INFINITY;
    b = b >= 0 && b <= r->max ? b : INFINITY;
    return fmin(a, b);
}

/* Roots of a t^2 + 2 b t + c, a > 0, without cancellation; false: none. */
static bool solve_quadratic(double a, double b, double c, double root[2]) {
    double D = b * b - a * c;
    if (!(D >= 0) || a == 0) {
        return false;
    }
    double q = -(b + copysign(sqrt(D), b));
    root[0] = q / a;
    root[1] = q != 0 ? c / q : 0;
    return true;
}

static double meet_ellipsoid(const ray *r, const double s[3]) {
    v3 o = v3_make(r->o.x / s[0], r->o.y / s[1], r->o.z / s[2]),
       d = v3_make(r->d.x / s[0], r->d.y / s[1], r->d.z / s[2]);
    double t[2];
    return solve_quadratic(v3_dot(d, d), v3_dot(o, d), v3_dot(o, o) - 1, t) ? first_of(r, t[0], t[1]) : INFINITY;
}

static double meet_sphere(const ray *r, v3 centre, double radius) {
    v3 o = v3_sub(r->o, centre);
    double t[2];
    return solve_quadratic(1, v3_dot(o, r->d), v3_dot(o, o) - radius * radius, t) ? first_of(r, t[0], t[1]) : INFINITY;
}

/* The side of a cylinder about z, from -half to half. */
static double meet_side(const ray *r, double radius, double half) {
    double a = r->d.x * r->d.x + r->d.y * r->d.y, b = r->o.x * r->d.x + r->o.y * r->d.y;
    double t[2], best = INFINITY;
    if (!solve_quadratic(a, b, r->o.x * r->o.x + r->o.y * r->o.y - radius * radius, t)) {
        return INFINITY;
    }
    for (int k = 0; k < 2; k++) {
        if (fabs(r->o.z + t[k] * r->d.z) <= half) {
            best = fmin(best, first_of(r, t[k], INFINITY));
        }
    }
    return best;
}

static double meet_cylinder(const ray *r, double radius, double half) {
    double best = meet_side(r, radius, half);
    for (int end = -1; end <= 1 && r->d.z != 0; end += 2) {
        double t = (end * half - r->o.z) / r->d.z, x = r->o.x + t * r->d.x, y = r->o.y + t * r->d.y;
        if (x * x + y * y <= radius * radius) {
            best = fmin(best, first_of(r, t, INFINITY));
        }
    }
    return best;
}

static double meet_capsule(const ray *r, double radius, double half) {
    double best = meet_side(r, radius, half);
    for (int end = -1; end <= 1; end += 2) {
        /* the half of the sphere beyond the end */
        v3 o = v3_make(r->o.x, r->o.y, r->o.z - end * half);
        double t[2];
        if (!solve_quadratic(1, v3_dot(o, r->d), v3_dot(o, o) - radius * radius, t)) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            if (end * (o.z + t[k] * r->d.z) >= 0) {
                best = fmin(best, first_of(r, t[k], INFINITY));
            }
        }
    }
    return best;
}

static double meet_box(const ray *r, v3 half) {
    double enter, leave;
    return ray_in_box(r, v3_neg(half), half, &enter, &leave) ? first_of(r, enter, leave) : INFINITY;
}

static double meet_hull(const ray *r, const sim_hull *hull) {
    double enter = -INFINITY, leave = INFINITY;
    for (int f = 0; f < hull->nface; f++) {
        double along = v3_dot(hull->normal[f], r->d), above = v3_dot(hull->normal[f], r->o) - hull->offset[f];
        if (along == 0 && above > 0) {
            return INFINITY;
        }
        if (along < 0) {
            enter = fmax(enter, -above / along);
        } else if (along > 0) {
            leave = fmin(leave, -above / along);
        }
    }
    return enter <= leave ? first_of(r, enter, leave) : INFINITY;
}

/* By the type of the shape. */
static double meet_shape(const sim_shape *s, const ray *r) {
    const v3 zero = {0, 0, 0};
    switch (s->type) {
    case SIM_SPHERE:
        return meet_sphere(r, zero, s->size[0]);
    case SIM_BOX:
        return meet_box(r, v3_make(s->size[0] / 2, s->size[1] / 2, s->size[2] / 2));
    case SIM_CAPSULE:
        return meet_capsule(r, s->size[0], s->size[1] / 2);
    case SIM_CYLINDER:
        return meet_cylinder(r, s->size[0], s->size[1] / 2);
    case SIM_ELLIPSOID:
        return meet_ellipsoid(r, s->size);
    case SIM_HALF_SPACE:
        return r->d.z != 0 ? first_of(r, -r->o.z / r->d.z, INFINITY) : INFINITY;
    case SIM_CONVEX:
        return meet_hull(r, s->geometry->hull);
    case SIM_MESH:
        return ray_mesh(r, s->geometry);
    case SIM_HEIGHT_FIELD:
        return ray_heights(r, s->geometry);
    case SIM_SDF:
        return ray_field(r, s->geometry);
    case SIM_SHAPE_TYPES:
        break;
    }
    return INFINITY;
}

double sim_ray_shape(const sim_shape *shape, const sim_pose *X, sim_v3 origin, sim_v3 direction, double max) {
    ray r = {m3_transposed_times(X->R, v3_sub(origin, X->p)), m3_transposed_times(X->R, direction), max};
    return meet_shape(shape, &r);
}

double sim_ray_model(const sim_model *model, const sim_pose *body_pose, int but_body, sim_v3 origin, sim_v3 direction,
                     double max, int *shape) {
    double nearest = INFINITY;
    for (int k = 0; k < model->nshape; k++) {
        const sim_shape *s = &model->shape[k];
        if (s->body == but_body || !s->group) {
            continue;
        }
        sim_pose X = pose_product(body_pose[s->body], s->pose);
        double t = sim_ray_shape(s, &X, origin, direction, fmin(max, nearest));
        if (t < nearest) {
            nearest = t;
            *shape = k;
        }
    }
    return nearest;
}
