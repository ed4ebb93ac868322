/* Separation by lifting: a convex solid and a surface that overlap so that no triangle by itself shows how.
 *
 * The solid is lifted along m until it first comes clear.  A triangle and the solid, both convex, meet for one interval
 * of lifts L.  Its upper end is found from above: where they are g apart along n they stay apart while L sinks by g /
 * n.m (the ray cast of G. van den Bergen 2004, "Ray casting against general convex objects with application to
 * continuous collision detection").  A triangle that still overlaps raises the lift to its end, till none does.  Then
 * again along the normal with which the last one was left, till both points lie on their surfaces.
 *
 * There the solid stands a hair's breadth apart and contacts are plain.  A pair of features with the normal n that lies
 * g apart then lies g - L n.m apart where the solid really is. */
#include "collide/mesh/surface.h"

enum { MAX_ROUNDS = 64, MAX_STEPS = 40, MAX_AIMS = 5 };
/* Set in the features of lifted contacts: the same pair of features may also touch unlifted, elsewhere. */
#define LIFTED (UINT64_C(1) << 63)

static const double CLEARANCE_OVER_WIDTH = 1e-7; /* of the least width */
static const double MAX_AIM_SINE = 1e-6;         /* sine between lift and normal */
static const double MAX_LIFT_OVER_EXTENT = 4;    /* of the extent: how far a lift may lead */

typedef struct lift {
    const pair *p;
    const convex *a;
    const surface *s;
    v3 m;
    double height; /* of the lift */
    double bottom; /* of the solid along m, unlifted */
    double hair;
    v3 normal; /* with which it came clear of the last triangle */
    bool raised;
} lift;

static bool distance_when_lifted(const lift *l, const convex *triangle, double height, double margin, convex_gap *gap) {
    pose X = pose_identity();
    X.p = v3_scale(-height, l->m);
    return convex_distance(l->a, triangle, &X, margin, v3_make(0, 0, 0), gap);
}

/* The upper end of the triangle's interval, the solid a hair away; `top`: its highest corner along m. */
static double find_lift_end(lift *l, const convex *triangle, double top) {
    double height = top - l->bottom + l->hair;
    l->normal = l->m;
    for (int k = 0; k < MAX_STEPS; k++) {
        convex_gap g;
        if (!distance_when_lifted(l, triangle, height, 4 * l->a->extent, &g) || !(g.gap > 0)) {
            break;
        }
        l->normal = g.normal;
        double along = v3_dot(g.normal, l->m), sink = g.gap - 0.5 * l->hair;
        if (g.gap <= l->hair || sink >= along * (height - l->height)) {
            break;
        }
        height -= sink / along;
    }
    return height;
}

static bool raise_over_triangle(void *context, int t) {
    /* triangle in the frame of A, and its top */
    lift *l = context;
    v3 c[3];
    double top = -HUGE_VAL;
    surface_corners(l->s, t, c);
    for (int k = 0; k < 3; k++) {
        c[k] = pose_point(l->p->X_ab, c[k]);
        double h = v3_dot(l->m, c[k]);
        top = h > top ? h : top;
    }
    if (top - l->bottom <= l->height) {
        return true;
    }
    /* is it met at the present height? */
    convex triangle = convex_triangle(c[0], c[1], c[2]);
    v3 apart = v3_sub(triangle.centre, v3_axpy(l->a->centre, l->height, l->m));
    double reach = triangle.extent + l->a->extent;
    convex_gap g;
    if (v3_dot(apart, apart) >= reach * reach || !distance_when_lifted(l, &triangle, l->height, 0, &g)) {
        return true;
    }
    /* height at which it is clear */
    double height = find_lift_end(l, &triangle, top);
    if (height > l->height) {
        l->height = height;
        l->raised = true;
    }
    return true;
}

/* Lifts until nothing is met; false if that leads too far. */
static bool lift_clear(lift *l, v3 m) {
    /* heights begin at the lowest point of A */
    const convex *a = l->a;
    const pose *X = &l->p->X_ab;
    uint32_t vertex;
    v3 low, high, up = m3_transposed_times(X->R, m), centre = m3_transposed_times(X->R, v3_sub(a->centre, X->p));
    l->m = m;
    l->normal = m;
    l->height = 0;
    l->bottom = v3_dot(m, convex_support(a, v3_neg(m), &vertex)) - a->radius;
    convex_bounds(a, X, 0, &low, &high);
    /* raise over each triangle that is met, and out of the solid */
    for (int k = 0; k < MAX_ROUNDS && l->height < MAX_LIFT_OVER_EXTENT * a->extent; k++) {
        double inside;
        surface_place place;
        l->raised = false;
        surface_in_box(l->s, v3_axpy(low, l->height, up), v3_axpy(high, l->height, up), raise_over_triangle, l);
        if (!l->raised && surface_holds(l->s, v3_axpy(centre, l->height, up), &inside, &place)) {
            l->height += fmax(-inside, l->hair);
            l->raised = true;
        }
        if (!l->raised) {
            return true;
        }
    }
    return false;
}

/* Contacts of the lifted solid, as they are where it really stands. */
static void lower_contacts(const lift *l, int first, manifold *out) {
    int kept = first;
    for (int k = first; k < out->count; k++) {
        contact_point c = out->point[k];
        v3 on_a = v3_axpy(c.position, 0.5 * c.gap, c.normal);
        c.gap -= l->height * v3_dot(c.normal, l->m);
        c.position = v3_axpy(on_a, -0.5 * c.gap, c.normal);
        c.feature |= LIFTED;
        if (c.gap <= l->p->margin) {
            out->point[kept++] = c;
        }
    }
    out->count = kept;
}

bool convex_lifted(const pair *p, const convex *a, const surface *s, v3 m, surface_pass *pass, manifold *out) {
    /* aim along the normal found until it settles */
    lift l = {.p = p, .a = a, .s = s, .hair = CLEARANCE_OVER_WIDTH * a->least};
    int first = out->count;
    for (int aim = 0; aim < MAX_AIMS; aim++) {
        lift next = l;
        if (!lift_clear(&next, m)) {
            break;
        }
        l = next;
        if (v3_norm(v3_cross(m, l.normal)) < MAX_AIM_SINE) {
            break;
        }
        m = l.normal;
    }
    if (!(l.height > 0)) {
        return false;
    }
    /* contacts at the lifted place, lowered again */
    pair q = *p;
    q.X_ab.p = v3_axpy(q.X_ab.p, -l.height, l.m);
    q.X_ba = NULL;
    q.margin = fmax(p->margin, 1e3 * l.hair);
    pass(&q, a, s, out);
    lower_contacts(&l, first, out);
    return out->count > first;
}
