/* Ray casting against a solid given by its signed distance: sphere tracing.
 *
 *     t <- t + |phi(o + t d)|      until |phi| <= 1e-9 R, or phi has changed its sign: then bisection
 *
 *     phi    signed distance, m, never steeper than 1: no surface is nearer than |phi|
 *     R      radius of the solid, m
 *
 * A ray that grazes the surface advances ever less: the step is at least 1e-6 R, so that a solid thinner than that may
 * be missed.
 * Reference: Hart, Sphere tracing, The Visual Computer 12 (1996), 527-545.
 * Cost: some ten evaluations of phi; at most 2e6. */
#include "collide/ray/ray.h"

#include <math.h>

static const double SURFACE_TOLERANCE = 1e-9, MIN_STEP = 1e-6; /* over the radius of the solid */

static double field_along(const ray *r, const sim_geometry *g, double t) {
    return sim_field_distance(g->field, v3_axpy(r->o, t, r->d), NULL);
}

/* The zero of phi between a, where it is phi_a, and b, where it has the other sign. */
static double bisect_field(const ray *r, const sim_geometry *g, double a, double phi_a, double b) {
    for (int k = 0; k < 60 && a < 0.5 * (a + b) && 0.5 * (a + b) < b; k++) {
        double t = 0.5 * (a + b), phi = field_along(r, g, t);
        if ((phi > 0) == (phi_a > 0)) {
            a = t;
        } else {
            b = t;
        }
    }
    return 0.5 * (a + b);
}

double ray_field(const ray *r, const sim_geometry *g) {
    /* the part of the ray within the bounds */
    double enter, leave, R = g->radius;
    if (!ray_in_box(r, g->low, g->high, &enter, &leave)) {
        return INFINITY;
    }
    double t = fmax(enter - MIN_STEP * R, 0), end = fmin(leave + MIN_STEP * R, r->max), phi = field_along(r, g, t);
    /* steps that pass no surface */
    while (fabs(phi) > SURFACE_TOLERANCE * R) {
        double next = t + fmax(fabs(phi), MIN_STEP * R), phi_next;
        if (t >= end) {
            return INFINITY;
        }
        next = fmin(next, end);
        phi_next = field_along(r, g, next);
        if ((phi_next > 0) != (phi > 0)) {
            return bisect_field(r, g, t, phi, next);
        }
        t = next;
        phi = phi_next;
    }
    return t;
}
