/* A convex solid and a surface overlap so that no triangle by itself shows how.  Where would they touch?
 *
 * The solid is lifted along m until it is clear of every triangle, then let down again by its distance from the surface,
 * over and over, which never makes it touch (conservative advancement; B. Mirtich 1996, "Impulse-based dynamic simulation
 * of rigid body systems", 2.3).  There it stands a hair's breadth apart and contacts are plain.  A pair of features with
 * the normal n that lies g apart then lies g - L n.m apart where the solid really is, L the lift.  Again with m = n, till
 * both points lie on their surfaces. */
#include "collide/surface.h"

enum { DOUBLINGS = 24, STEPS = 40, AIMS = 5 };
/* Set in the features of lifted contacts: the same pair of features may also touch unlifted, elsewhere. */
#define LIFTED (UINT64_C(1) << 63)

static const double HAIR = 1e-7;  /* of the least width */
static const double AIMED = 1e-6; /* sine between lift and normal */

typedef struct clearance {
    const convex *a;
    const surface *s;
    pose X_ab;
    double least;
} clearance;

static int visit(void *context, int t) {
    clearance *c = context;
    v3 corner[3];
    surface_corners(c->s, t, corner);
    for (int k = 0; k < 3; k++) {
        corner[k] = pose_point(c->X_ab, corner[k]);
    }
    convex tri = convex_triangle(corner[0], corner[1], corner[2]);
    if (v3_norm(v3_sub(tri.centre, c->a->centre)) - tri.extent - c->a->extent >= c->least) {
        return 1;
    }
    convex_gap g;
    pose still = pose_identity();
    if (convex_distance(c->a, &tri, &still, c->least, v3_make(0, 0, 0), &g)) {
        c->least = fmin(c->least, g.gap);
    }
    return c->least > 0;
}

/* How far the solid, lifted by L along m, is from the surface: not positive if it overlaps, at most `reach`. */
static double clear_of(const pair *p, const convex *a, const surface *s, v3 m, double L, double reach) {
    clearance c = {a, s, p->X_ab, reach};
    c.X_ab.p = v3_axpy(c.X_ab.p, -L, m);
    double half = a->extent + reach, inside;
    v3 centre = m3_transposed_times(c.X_ab.R, v3_sub(a->centre, c.X_ab.p)), h = {half, half, half};
    surface_place place;
    if (surface_holds(s, centre, &inside, &place)) {
        return 0;
    }
    surface_in_box(s, v3_sub(centre, h), v3_add(centre, h), visit, &c);
    return c.least;
}

/* The lift along m at which the solid stands clear by a hair; negative if there is none. */
static double lift(const pair *p, const convex *a, const surface *s, v3 m, double depth) {
    double hair = HAIR * a->least, L = fmax(depth, 8 * hair), reach = 0.5 * a->extent, clear = 0;
    for (int k = 0; k < DOUBLINGS && L < 4 * a->extent; k++) {
        clear = clear_of(p, a, s, m, L, reach);
        if (clear > 0) {
            break;
        }
        L *= 1.5;
    }
    if (!(clear > 0)) {
        return -1;
    }
    for (int k = 0; k < STEPS && clear > hair; k++) {
        double lower = L - clear * (1 - 1e-3), next = clear_of(p, a, s, m, lower, reach);
        if (!(next > 0)) {
            break;
        }
        L = lower;
        clear = next;
    }
    return L;
}

int convex_lifted(const pair *p, const convex *a, const surface *s, v3 m, double depth, surface_pass *pass,
                  manifold *out) {
    int first = out->count;
    for (int aim = 0; aim < AIMS; aim++) {
        double L = lift(p, a, s, m, depth);
        if (L < 0) {
            break;
        }
        pair q = *p;
        q.X_ab.p = v3_axpy(q.X_ab.p, -L, m);
        q.margin = fmax(p->margin, 1e3 * HAIR * a->least);
        int before = out->count, nearest = -1;
        pass(&q, a, s, out);
        for (int k = before; k < out->count; k++) {
            nearest = nearest < 0 || out->point[k].gap < out->point[nearest].gap ? k : nearest;
        }
        if (nearest < 0) {
            break;
        }
        v3 n = out->point[nearest].normal;
        for (int k = before; k < out->count; k++) {
            contact_point *c = &out->point[k];
            v3 on_a = v3_axpy(c->position, 0.5 * c->gap, c->normal);
            c->gap -= L * v3_dot(c->normal, m);
            c->position = v3_axpy(on_a, -0.5 * c->gap, c->normal);
            c->feature |= LIFTED;
        }
        int kept = first; /* the last answer replaces those before */
        for (int k = before; k < out->count; k++) {
            if (out->point[k].gap <= p->margin) {
                out->point[kept++] = out->point[k];
            }
        }
        out->count = kept;
        double stray = v3_norm(v3_cross(m, n));
        m = n;
        depth = L;
        if (stray < AIMED) {
            break;
        }
    }
    return out->count > first;
}
