/* Contacts of a ball with a surface of triangles.
 *
 * Outside: a contact wherever the distance from its centre c has a local minimum q over the surface.  The gap is d - r
 * with d = |c - q|, the normal (c - q) / d.  A plane gives one contact, a groove two, an edge one. q is such a place if
 * none of the triangles that meet there comes nearer.  An edge between two triangles of one plane is none.  Inside a
 * solid: the nearest point of the surface, which is the shortest way out. */
#include "collide/mesh/surface.h"

#include "geometry/mesh/mesh.h"
#include <float.h>

enum { MAX_POINTS = 32 };
static const double SAME_NORMAL_COSINE = 1 - 1e-8; /* cosine: normals within 1.4e-4 rad are one */

typedef struct ball {
    const pair *p;
    const surface *s;
    manifold *out;
    v3 centre; /* in the surface's frame */
    double radius, reach;
    double noise; /* of a distance */
} ball;

static double distance_to_triangle(const ball *b, int t) {
    v3 c[3];
    int feature;
    surface_corners(b->s, t, c);
    return v3_norm(v3_sub(b->centre, triangle_nearest(c[0], c[1], c[2], b->centre, &feature)));
}

/* Does no triangle that meets the feature come nearer than `distance`? */
static bool is_local_minimum(const ball *b, int triangle, int feature, double distance) {
    if (feature == 0) {
        return true;
    }
    if (feature < 4) {
        int other = surface_across(b->s, triangle, feature - 1);
        return other < 0 || distance_to_triangle(b, other) >= distance - b->noise;
    }
    for (int back = 0; back < 2; back++) {
        int t = triangle, k = feature - 4;
        for (int left = surface_triangles(b->s); left > 0 && surface_turn(b->s, &t, &k, back) && t != triangle;
             left--) {
            if (distance_to_triangle(b, t) < distance - b->noise) {
                return false;
            }
        }
        if (t == triangle) {
            break; /* all the way round */
        }
    }
    return true;
}

/* The point at q of the surface; n: the unit normal there. */
static void add_ball_point(const ball *b, v3 q, v3 n, double distance, int triangle, int feature) {
    v3 normal = m3_times(b->p->X_ab.R, n), on_surface = pose_point(b->p->X_ab, q);
    contact_point c = {.normal = normal,
                       .gap = distance - b->radius,
                       .position = v3_axpy(on_surface, 0.5 * (distance - b->radius), normal),
                       .feature = feature_pair(0, surface_feature_along(b->s, triangle, feature, n))};
    if (c.gap <= b->p->margin) {
        manifold_add(b->out, b->p->arena, &c);
    }
}

static bool visit_ball_triangle(void *context, int t) {
    ball *b = context;
    v3 c[3];
    int feature;
    surface_corners(b->s, t, c);
    v3 q = triangle_nearest(c[0], c[1], c[2], b->centre, &feature), d = v3_sub(b->centre, q);
    double distance = v3_norm(d);
    if (distance > b->reach || !is_local_minimum(b, t, feature, distance)) {
        return true;
    }
    v3 outwards = surface_feature_normal(b->s, t, feature);
    if (v3_dot(d, outwards) < -b->noise) {
        return true; /* seen from behind: another side of what the ball touches */
    }
    /* Very near the surface rounding decides where d points. A face's normal is better known at any distance. */
    int clear = feature && distance > 1e3 * b->noise;
    add_ball_point(b, q, clear ? v3_scale(1 / distance, d) : outwards,
                   feature ? distance : fmin(v3_dot(d, outwards), distance), t, feature);
    return !b->out->failed;
}

void ball_on_surface(const pair *p, double radius, const surface *s, manifold *out) {
    pose X_ba = pose_inverse(p->X_ab);
    ball b = {p, s, out, X_ba.p, radius, radius + p->margin, 0};
    b.noise = 16 * DBL_EPSILON * (v3_norm(b.centre) + b.reach);
    double distance;
    surface_place place;
    if (surface_holds(s, b.centre, &distance, &place)) {
        v3 d = v3_sub(place.point, b.centre);
        add_ball_point(&b, place.point, distance < -1e3 * b.noise ? v3_scale(-1 / distance, d) : place.normal, distance,
                       place.triangle, place.feature);
        return;
    }
    if (!(b.reach >= 0)) {
        return;
    }
    int first = out->count;
    surface_in_ball(s, b.centre, b.reach + b.noise, visit_ball_triangle, &b);
    manifold_group(p, out, first, SAME_NORMAL_COSINE, 1e-6 * radius, 1, MAX_POINTS);
}
