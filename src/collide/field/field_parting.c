/* Separating plane of two overlapping solids with the least motion.
 *
 * Moved along the unit vector n by
 *     t(n) = max_{b in B} n.b - min_{a in A} n.a = n.w(n),    w: the farthest point of B - A along n,
 * Then A is wholly on one side of a plane and B on the other.  Of convex solids the least t is the depth of their
 * overlap (Cameron & Culley 1986).  Directions that the solids suggest come first.  Steps against w - (n.w) n, the
 * slope of t on the sphere, lead the best of them to a local minimum. */
#include "collide/convex/convex.h"
#include "collide/field/field_contact.h"

enum { MAX_DESCENTS = 32, MAX_CLIMBS = 8, MAX_NORMALS = 32 };

typedef struct two {
    const pair *pair;
    const solid *a, *b;
    convex core_a, core_b;
    int plain_a, plain_b; /* has a core */
    pose X_ba;
    int exact; /* farthest points of fields are brought to their surfaces */
} two;

/* The vertex farthest along d, and from there on the true surface. */
static v3 farthest_vertex(const solid *s, v3 d, int exact) {
    const sim_mesh *m = s->mesh;
    int best = 0;
    double most = -HUGE_VAL;
    for (int k = 0; k < m->nvertex; k++) {
        double along = v3_dot(d, m->vertex[k]);
        best = along > most ? k : best;
        most = fmax(most, along);
    }
    v3 x = m->vertex[best], on, ignored;
    for (int k = 0; exact && s->curved && k < MAX_CLIMBS; k++) {
        double step = 4 * s->extent; /* the longer, the faster on round ones */
        if (!solid_project(s, v3_axpy(x, step, d), 2 * step, &on, &ignored) || !(v3_dot(d, on) > most)) {
            break;
        }
        x = on;
        most = v3_dot(d, on);
    }
    return x;
}

/* Of a solid, along the unit vector d, in its own frame. */
static v3 farthest_point(const solid *s, const convex *core, int plain, v3 d, int exact) {
    uint32_t ignored;
    return plain ? v3_axpy(convex_support(core, d, &ignored), core->radius, d) : farthest_vertex(s, d, exact);
}

static v3 support_difference(const two *t, v3 n) {
    v3 a = farthest_point(t->a, &t->core_a, t->plain_a, v3_neg(n), t->exact);
    v3 b = farthest_point(t->b, &t->core_b, t->plain_b, m3_transposed_times(t->pair->X_ab.R, n), t->exact);
    return v3_sub(pose_point(t->pair->X_ab, b), a);
}

static void offer_normal(const two *t, v3 n, parting *best) {
    double length = v3_norm(n);
    if (length > 0.1) {
        n = v3_scale(1 / length, n);
        double depth = v3_dot(n, support_difference(t, n));
        if (depth < best->depth * (1 - 1e-9)) { /* of equal ones the first */
            best->depth = depth;
            best->normal = n;
        }
    }
}

static void offer_both(const two *t, v3 n, parting *best) {
    offer_normal(t, n, best);
    offer_normal(t, v3_neg(n), best);
}

/* Which ways out the solids' distances know, from x. */
static void offer_slopes(const two *t, v3 x, parting *best) {
    v3 g;
    t->b->distance(t->b, pose_point(t->X_ba, x), &g);
    offer_normal(t, m3_transposed_times(t->X_ba.R, g), best);
    t->a->distance(t->a, x, &g);
    offer_normal(t, v3_neg(g), best);
}

static v3 middle_of(const solid *s) {
    return s->geometry ? v3_scale(0.5, v3_add(s->geometry->low, s->geometry->high)) : v3_make(0, 0, 0);
}

static void offer_suggestions(const two *t, v3 x, const contact_point *point, int count, parting *best) {
    v3 a = middle_of(t->a), b = pose_point(t->pair->X_ab, middle_of(t->b)), apart = v3_sub(a, b);
    m3 R = t->pair->X_ab.R;
    double distance = v3_norm(apart);
    if (distance > 1e-9 * fmin(t->a->extent, t->b->extent)) {
        offer_both(t, v3_scale(1 / distance, apart), best);
    }
    offer_slopes(t, x, best);
    offer_slopes(t, a, best);
    offer_slopes(t, b, best);
    const v3 axis[6] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, R.x, R.y, R.z};
    for (int k = 0; k < 6; k++) {
        offer_both(t, axis[k], best);
    }
    for (int k = 0; k < count && k < MAX_NORMALS; k++) {
        offer_both(t, point[k].normal, best);
    }
}

/* Normals of a hull's faces: the least way out of a polytope is one of those, or between two edges. */
static void offer_faces(const two *t, const solid *s, const m3 *R, double sign, parting *best) {
    enum { MAX_FACES = 64 };
    const sim_hull *h = s->geometry ? s->geometry->hull : NULL;
    for (int f = 0; h && h->nface <= MAX_FACES && f < h->nface; f++) {
        v3 n = v3_scale(sign, h->normal[f]);
        offer_normal(t, R ? m3_times(*R, n) : n, best);
    }
}

/* Projected gradient descent of the support function of the difference, with a step that adapts. */
static void slide_down(const two *t, parting *best) {
    double turn = 0.5;
    v3 w = support_difference(t, best->normal);
    best->depth = v3_dot(w, best->normal);
    for (int k = 0; k < MAX_DESCENTS; k++) {
        v3 slope = v3_axpy(w, -best->depth, best->normal);
        double steep = v3_norm(slope);
        if (!(steep > 1e-9 * (steep + fabs(best->depth)))) {
            return;
        }
        v3 n = v3_axpy(best->normal, -turn / fmax(steep, best->depth), slope);
        n = v3_scale(1 / v3_norm(n), n);
        v3 there = support_difference(t, n);
        double depth = v3_dot(n, there);
        if (depth < best->depth) {
            w = there;
            best->depth = depth;
            best->normal = n;
            turn *= 1.5;
        } else {
            turn *= 0.5;
        }
    }
}

/* Does each have farthest points? */
static bool make_two(const pair *p, const solid *a, const solid *b, two *t) {
    *t = (two){.pair = p, .a = a, .b = b, .X_ba = pose_inverse(p->X_ab)};
    t->plain_a = convex_of_shape(p->a, &t->core_a);
    t->plain_b = convex_of_shape(p->b, &t->core_b);
    return (t->plain_a || a->mesh) && (t->plain_b || b->mesh);
}

double parting_depth(const pair *p, const solid *a, const solid *b, v3 n) {
    two t;
    bool known = make_two(p, a, b, &t);
    t.exact = 1;
    return known ? v3_dot(n, support_difference(&t, n)) : HUGE_VAL;
}

parting parting_of(const pair *p, const solid *a, const solid *b, v3 x, const contact_point *point, int count) {
    two t;
    parting best = {.depth = HUGE_VAL};
    if (!make_two(p, a, b, &t)) {
        return best;
    }
    offer_suggestions(&t, x, point, count, &best);
    offer_faces(&t, a, NULL, -1, &best);
    offer_faces(&t, b, &p->X_ab.R, 1, &best);
    if (isfinite(best.depth)) {
        t.exact = 1;
        slide_down(&t, &best);
        v3 n = best.normal, low = farthest_point(a, &t.core_a, t.plain_a, v3_neg(n), 1);
        best.middle = v3_axpy(x, v3_dot(n, low) + 0.5 * best.depth - v3_dot(n, x), n);
    }
    return best;
}
