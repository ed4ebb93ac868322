/* Where do two surfaces of triangles touch, neither of them convex?
 *
 * Polyhedra touch with a vertex on a face (edge, vertex), or with an edge across an edge.
 *
 * Vertices: v of one at the signed distance d(v) of the other, along its gradient n, counts when the surface of v falls
 * away from v against n, so that v is the first to touch.  d is never steeper than 1, so a box of A whose middle is
 * farther from B than half its diagonal holds no vertex that touches (a branch and bound over A's tree).
 *
 * Edges: two that stick out, n across both, in the normal cones of both; they lie n.(a - b) apart.  Where they have
 * passed through each other the point of one must be inside the other solid with no way out that is shorter than through
 * the faces that meet in the edge: else the two merely cross deep inside.
 *
 * Flat on flat, corners in a face and crossings of the outlines are the corners of the patch in common. */
#include "collide/surface.h"

#include <float.h>

enum { MOST = 120, EACH = 4, NOOK = 16 };
static const double ALIKE = 0.996;
static const double PARALLEL = 1e-6;   /* sine between edges that have no crossing */
static const double SHARP = 1e-4;      /* sine of the bend from which on an edge sticks out */
static const double ASIDE = 8;         /* another way out may be so many times as deep, */
static const double ASIDE_MOST = 0.02; /* and by so much of the smaller one's size */
static const double BEHIND = 0.1;      /* of one's size: how far behind an open surface vertices are looked for */
static const double LOST = 0.25;       /* the deepest that counts must be so deep, of the deepest vertex inside */

/* One side asks about the other: points stand in the frame of `s`, X takes `other` there. */
typedef struct side {
    const pair *p;
    const surface *s, *other;
    pose X, back;
    v3 middle; /* of s */
    double noise;
    int swapped;            /* s is B */
    manifold *out, *inside; /* inside: every vertex that the other holds, whether it counts or not */
    double aside;           /* how deep another way out may be */
    v3 last;                /* a vertex that was asked about, and how far it lies outside */
    double clear;
} side;

/* The contact of point x of `s` with the other surface, n: out of the other, in the frame of s. */
static void add(const side *e, v3 x, v3 n, double gap, uint32_t own, uint32_t others, manifold *to) {
    contact_point c = {.position = v3_axpy(x, -0.5 * gap, n), .normal = n, .gap = gap};
    c.feature = e->swapped ? feature_pair(others, own) : feature_pair(own, others);
    if (e->swapped) {
        c.position = pose_point(e->p->X_ab, c.position);
        c.normal = v3_neg(m3_times(e->p->X_ab.R, n));
    }
    manifold_add(to, e->p->arena, &c);
}

static void emit(const side *e, v3 x, v3 n, double gap, uint32_t own, uint32_t others) {
    add(e, x, n, gap, own, others, e->out);
}

/* Does an open surface let the other pass? It holds what has its middle before it. */
static int passes(const side *e, const surface_place *place, v3 normal) {
    return !e->other->solid && v3_dot(normal, v3_sub(e->middle, pose_point(e->X, place->point))) <= 0;
}

/* ---- vertices ---- */

typedef struct way_out {
    const side *e;
    int triangle, corner; /* the vertex, by a triangle of s */
    v3 there;             /* in the other's frame */
    double gap;
    v3 normal; /* in the other's frame */
    int by;
} way_out;

static int try_face(void *context, int t) {
    way_out *w = context;
    const surface *other = w->e->other;
    v3 c[3], n = surface_normal(other, t);
    surface_corners(other, t, c);
    double gap = v3_dot(n, v3_sub(w->there, c[0]));
    if (gap >= 0 || gap <= w->gap) {
        return 1;
    }
    for (int k = 0; k < 3; k++) {
        if (v3_dot(v3_cross(n, v3_sub(c[(k + 1) % 3], c[k])), v3_sub(w->there, c[k])) < 0) {
            return 1;
        }
    }
    if (surface_faces(w->e->s, w->triangle, w->corner + 4, v3_neg(m3_times(w->e->X.R, n)))) {
        w->gap = gap;
        w->normal = n;
        w->by = t;
    }
    return 1;
}

/* The shortest way out through a face that lets the surface round the vertex out as well. */
static void leave_aside(const side *e, int t, int corner, v3 x, v3 there, double d) {
    way_out w = {.e = e, .triangle = t, .corner = corner, .there = there, .by = -1};
    w.gap = -fmin(-ASIDE * d, e->aside);
    v3 reach = v3_make(-w.gap, -w.gap, -w.gap);
    surface_in_box(e->other, v3_sub(there, reach), v3_add(there, reach), try_face, &w);
    if (w.by >= 0) {
        emit(e, x, m3_times(e->X.R, w.normal), w.gap, surface_feature(e->s, t, corner + 4),
             surface_feature(e->other, w.by, 0));
    }
}

/* From inside the nearest place is an edge or a vertex only in a nook: each of its faces holds by itself. */
static void in_nook(const side *e, int t, int corner, v3 x, v3 there, const surface_place *place) {
    int around[NOOK], count = surface_faces_at(e->other, place->triangle, place->feature, around, NOOK);
    for (int k = 0; k < count; k++) {
        v3 n = surface_normal(e->other, around[k]), here = m3_times(e->X.R, n);
        double gap = v3_dot(n, v3_sub(there, place->point));
        if (gap < 0 && surface_faces(e->s, t, corner + 4, v3_neg(here))) {
            emit(e, x, here, gap, surface_feature(e->s, t, corner + 4), surface_feature(e->other, around[k], 0));
        }
    }
}

/* How far x, in the other's frame, lies outside the bounds of a mesh, squared. */
static double outside_bounds(const surface *s, v3 x) {
    double dx = fmax(0, fmax(s->low.x - x.x, x.x - s->high.x)), dy = fmax(0, fmax(s->low.y - x.y, x.y - s->high.y)),
           dz = fmax(0, fmax(s->low.z - x.z, x.z - s->high.z));
    return dx * dx + dy * dy + dz * dz;
}

/* Signed distance of the other surface at x; HUGE_VAL where it is outside by more than `reach`. */
static double distance_of_other(const side *e, v3 x, double reach, surface_place *place) {
    const surface *other = e->other;
    double d;
    if (other->heights) {
        return surface_holds(other, x, &d, place) ? d : surface_distance(other, x, reach, place);
    }
    if (!other->solid) {
        return surface_distance(other, x, reach, place);
    }
    return outside_bounds(other, x) > reach * reach ? HUGE_VAL : surface_distance(other, x, HUGE_VAL, place);
}

static void try_vertex(side *e, int t, int corner, v3 x) {
    v3 there = pose_point(e->back, x), away = v3_sub(x, e->last);
    double margin = e->p->margin;
    if (e->clear > 0 && v3_dot(away, away) < e->clear * e->clear) {
        return; /* within the ball that is known to be free */
    }
    surface_place place;
    double d = distance_of_other(e, there, e->other->solid ? margin : HUGE_VAL, &place);
    e->last = x;
    e->clear = isfinite(d) ? d - margin : 0;
    if (d > margin || !isfinite(d)) {
        return;
    }
    v3 from = v3_sub(there, place.point);
    int clear = fabs(d) > 1e3 * e->noise && place.feature;
    v3 n = m3_times(e->X.R, clear ? v3_scale(1 / d, from) : place.normal);
    if (passes(e, &place, n) || (d < 0 && !e->other->solid && v3_dot(from, place.normal) > -0.9 * fabs(d))) {
        return;
    }
    uint32_t own = surface_feature(e->s, t, corner + 4),
             others = surface_feature(e->other, place.triangle, place.feature);
    if (d < 0) {
        add(e, x, n, d, own, others, e->inside);
    }
    if (d < 0 && place.feature) {
        in_nook(e, t, corner, x, there, &place);
    } else if (surface_faces(e->s, t, corner + 4, v3_neg(n))) {
        emit(e, x, n, d, own, others);
    } else if (d < 0) {
        leave_aside(e, t, corner, x, there, d);
    }
}

static int visit_vertices(void *context, int t) {
    side *e = context;
    int i[3];
    surface_triangle(e->s, t, i);
    for (int k = 0; k < 3; k++) {
        if (surface_owns(e->s, t, k)) {
            try_vertex(e, t, k, surface_vertex(e->s, i[k]));
        }
    }
    return !e->out->failed;
}

/* ---- the box of a node, seen from the other side ---- */

static void box_over(const pose *X, v3 low, v3 high, double grow, v3 *to_low, v3 *to_high) {
    v3 c = pose_point(*X, v3_scale(0.5, v3_add(low, high))), h = v3_scale(0.5, v3_sub(high, low));
    const m3 *R = &X->R;
    v3 half = {fabs(R->x.x) * h.x + fabs(R->y.x) * h.y + fabs(R->z.x) * h.z + grow,
               fabs(R->x.y) * h.x + fabs(R->y.y) * h.y + fabs(R->z.y) * h.z + grow,
               fabs(R->x.z) * h.x + fabs(R->y.z) * h.y + fabs(R->z.z) * h.z + grow};
    *to_low = v3_sub(c, half);
    *to_high = v3_add(c, half);
}

static int boxes_meet(v3 low, v3 high, const surface *s) {
    return low.x <= s->high.x && high.x >= s->low.x && low.y <= s->high.y && high.y >= s->low.y && low.z <= s->high.z &&
           (s->heights || high.z >= s->low.z);
}

static int found_one(void *context, int t) {
    (void)t;
    *(int *)context = 1;
    return 0;
}

/* May a vertex in this box touch the other? */
static int near_vertices(const side *e, v3 low, v3 high) {
    v3 l, h, c = v3_scale(0.5, v3_add(low, high));
    double reach = 0.5 * v3_norm(v3_sub(high, low)) + e->p->margin;
    if (!e->other->solid) {
        reach += BEHIND * v3_norm(v3_sub(e->s->high, e->s->low));
    }
    surface_place place;
    box_over(&e->back, low, high, e->p->margin, &l, &h);
    return boxes_meet(l, h, e->other) && distance_of_other(e, pose_point(e->back, c), reach, &place) <= reach;
}

/* May a triangle in this box meet one of the other's? */
static int near_triangles(const side *e, v3 low, v3 high) {
    v3 l, h;
    int found = 0;
    box_over(&e->back, low, high, e->p->margin, &l, &h);
    if (boxes_meet(l, h, e->other)) {
        surface_in_box(e->other, l, h, found_one, &found);
    }
    return found;
}

/* Visits the triangles of s, a mesh, in nodes whose boxes may matter. */
static void descend(side *e, int (*near)(const side *, v3, v3), bvh_visit *visit) {
    const sim_bvh *bvh = e->s->bvh;
    int waiting[BVH_MAX_DEPTH + 1] = {0}, nwaiting = 1;
    while (nwaiting > 0) {
        const sim_bvh_node *n = &bvh->node[waiting[--nwaiting]];
        if (!near(e, v3_make(n->low[0], n->low[1], n->low[2]), v3_make(n->high[0], n->high[1], n->high[2]))) {
            continue;
        }
        if (n->count == 0) {
            waiting[nwaiting++] = n->first + 1;
            waiting[nwaiting++] = n->first;
        }
        for (int k = 0; k < n->count; k++) {
            if (!visit(e, bvh->order[n->first + k])) {
                return;
            }
        }
    }
}

static void vertices(side *e) {
    if (e->s->mesh) {
        descend(e, near_vertices, visit_vertices);
        return;
    }
    v3 low, high;
    box_over(&e->X, e->other->low, e->other->high, e->p->margin, &low, &high);
    surface_in_box(e->s, low, high, visit_vertices, e);
}

/* ---- edges ---- */

typedef struct edge {
    v3 at, along; /* in A's frame */
    v3 face[2];   /* normals of the triangles that meet there */
    int triangle, feature;
} edge;

/* The edge k of triangle t, if it sticks out and t is the lower of the two that have it. */
static int edge_of(const surface *s, const pose *X, int t, int k, edge *out) {
    int other = surface_across(s, t, k);
    if (other >= 0 && other < t) {
        return 0;
    }
    v3 c[3];
    surface_corners(s, t, c);
    v3 along = v3_sub(c[(k + 1) % 3], c[k]), own = surface_normal(s, t);
    v3 next = other >= 0 ? surface_normal(s, other) : own;
    if (other >= 0 && v3_dot(v3_cross(own, next), along) <= SHARP * v3_norm(along)) {
        return 0;
    }
    *out = (edge){pose_point(*X, c[k]), m3_times(X->R, along), {m3_times(X->R, own), m3_times(X->R, next)}, t, k + 1};
    return 1;
}

/* Where two lines come nearest; 0 if that is not within both edges. */
static int crossing(const edge *a, const edge *b, v3 *on_a, v3 *on_b, v3 *n) {
    double aa = v3_dot(a->along, a->along), bb = v3_dot(b->along, b->along), ab = v3_dot(a->along, b->along);
    *n = v3_cross(a->along, b->along);
    double D = v3_dot(*n, *n);
    if (D <= PARALLEL * PARALLEL * aa * bb) {
        return 0;
    }
    v3 d = v3_sub(b->at, a->at);
    double da = v3_dot(d, a->along), db = v3_dot(d, b->along);
    double s = (da * bb - db * ab) / D, t = (da * ab - db * aa) / D;
    if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) {
        return 0;
    }
    *on_a = v3_axpy(a->at, s, a->along);
    *on_b = v3_axpy(b->at, t, b->along);
    *n = v3_scale(1 / sqrt(D), *n);
    return 1;
}

/* Edges have passed each other, by `depth`.  e is an edge of the solid `s`; x, inside it, is the other edge's point.  A little farther in, the two faces of the edge should be the nearest ones. */
static int is_way_out(const surface *s, const pose *X, const edge *e, v3 on_edge, v3 x, double depth) {
    if (!s->solid) {
        return depth * depth <= 0.01 * v3_dot(e->along, e->along);
    }
    double d, expected = HUGE_VAL;
    surface_place place;
    v3 in = v3_axpy(v3_axpy(x, -0.5 * depth, e->face[0]), -0.5 * depth, e->face[1]);
    for (int k = 0; k < 2; k++) {
        expected = fmin(expected, v3_dot(e->face[k], v3_sub(on_edge, in)));
    }
    return surface_holds(s, pose_point(*X, in), &d, &place) && -d >= 0.7 * expected;
}

typedef struct edge_pair {
    side *e;
    edge a[3];
    int count;
} edge_pair;

static void try_edges(const side *e, const edge *a, const edge *b) {
    v3 on_a, on_b, n;
    if (!crossing(a, b, &on_a, &on_b, &n)) {
        return;
    }
    n = v3_dot(n, v3_add(b->face[0], b->face[1])) < 0 ? v3_neg(n) : n;
    double gap = v3_dot(n, v3_sub(on_a, on_b));
    if (gap > e->p->margin || !surface_faces(e->s, a->triangle, a->feature, v3_neg(n)) ||
        !surface_faces(e->other, b->triangle, b->feature, m3_transposed_times(e->X.R, n))) {
        return;
    }
    pose still = pose_identity();
    if (gap < -1e3 * e->noise &&
        !(is_way_out(e->other, &e->back, b, on_b, on_a, -gap) && is_way_out(e->s, &still, a, on_a, on_b, -gap))) {
        return;
    }
    contact_point c = {.position = v3_scale(0.5, v3_add(on_a, on_b)),
                       .normal = n,
                       .gap = gap,
                       .feature = feature_pair(surface_feature(e->s, a->triangle, a->feature),
                                               surface_feature(e->other, b->triangle, b->feature))};
    manifold_add(e->out, e->p->arena, &c);
}

static int visit_other_edges(void *context, int t) {
    edge_pair *q = context;
    for (int k = 0; k < 3; k++) {
        edge b;
        if (!edge_of(q->e->other, &q->e->X, t, k, &b)) {
            continue;
        }
        for (int i = 0; i < q->count; i++) {
            try_edges(q->e, &q->a[i], &b);
        }
    }
    return !q->e->out->failed;
}

static int visit_edges(void *context, int t) {
    side *e = context;
    edge_pair q = {.e = e};
    pose still = pose_identity();
    v3 c[3], low, high;
    for (int k = 0; k < 3; k++) {
        q.count += edge_of(e->s, &still, t, k, &q.a[q.count]);
    }
    if (q.count) {
        surface_corners(e->s, t, c);
        v3 l = {fmin(c[0].x, fmin(c[1].x, c[2].x)), fmin(c[0].y, fmin(c[1].y, c[2].y)),
                fmin(c[0].z, fmin(c[1].z, c[2].z))};
        v3 h = {fmax(c[0].x, fmax(c[1].x, c[2].x)), fmax(c[0].y, fmax(c[1].y, c[2].y)),
                fmax(c[0].z, fmax(c[1].z, c[2].z))};
        box_over(&e->back, l, h, e->p->margin, &low, &high);
        surface_in_box(e->other, low, high, visit_other_edges, &q);
    }
    return !e->out->failed;
}

/* Overlap that nothing that counts accounts for? */
static int is_lost(const manifold *out, int first, const manifold *inside) {
    double deepest = 0, least = HUGE_VAL;
    for (int k = 0; k < inside->count; k++) {
        deepest = fmin(deepest, inside->point[k].gap);
    }
    for (int k = first; k < out->count; k++) {
        least = fmin(least, out->point[k].gap);
    }
    return least >= LOST * deepest;
}

void surface_on_surface(const pair *p, const surface *a, const surface *b, manifold *out) {
    int first = out->count;
    pose X_ba = pose_inverse(p->X_ab);
    v3 middle_a = v3_scale(0.5, v3_add(a->low, a->high)), middle_b = v3_scale(0.5, v3_add(b->low, b->high));
    double size_a = v3_norm(v3_sub(a->high, a->low)), size_b = v3_norm(v3_sub(b->high, b->low));
    double noise = 16 * DBL_EPSILON * (size_a + v3_norm(p->X_ab.p)), aside = ASIDE_MOST * fmin(size_a, size_b);
    manifold inside = {0};
    side of_a = {p, a, b, p->X_ab, X_ba, middle_a, noise, 0, out, &inside, aside, {0, 0, 0}, 0};
    side of_b = {p, b, a, X_ba, p->X_ab, middle_b, noise, 1, out, &inside, aside, {0, 0, 0}, 0};
    vertices(&of_a);
    vertices(&of_b);
    descend(&of_a, near_triangles, visit_edges);
    if (a->solid && b->solid && is_lost(out, first, &inside)) {
        surface_overlap(p, a, b, &inside, out);
    }
    out->failed |= inside.failed;
    manifold_group(p, out, first, ALIKE, 1e-6 * fmin(size_a, size_b), EACH, MOST);
}
