/* Contacts of two surfaces of triangles that are not convex.
 *
 * Polyhedra touch with a vertex on a face (edge, vertex), or with an edge across an edge.
 *
 * Vertices: a vertex v of one solid is at the signed distance d(v) of the other, along its gradient n.  It counts
 * when the surface of v falls away from v against n, so that v is the first to touch. d is never steeper than 1.  So
 * a box of A whose middle is farther from B than half its diagonal holds no vertex that touches (a branch and bound
 * over A's tree).  One distance bounds those near by: most boxes and vertices are decided without asking.
 *
 * Edges: surface_edges.c.
 *
 * Flat on flat, corners in a face and crossings of the outlines are the corners of the patch in common. */
#include "collide/mesh/surface_side.h"

#include <float.h>

enum { MAX_POINTS = 120, MAX_POINTS_PER_GROUP = 4, MAX_NOOK_POINTS = 16 };
static const double SAME_NORMAL_COSINE = 0.996;
static const double MIN_DISTANCE_OVER_NOISE = 1e5; /* of the noise: nearer places do not say which way they are apart */
static const double MAX_OTHER_DEPTH_RATIO = 8;     /* another way out may be so many times as deep, */
static const double MAX_OTHER_DEPTH_OVER_SIZE = 0.02; /* and by so much of the smaller one's size */
static const double MAX_DEPTH_BEHIND_OVER_SIZE =
    0.3; /* of one's size: so far behind an open surface vertices are held */
static const double MIN_DEPTH_OVER_VERTEX_DEPTH =
    0.25; /* the deepest that counts must be so deep, of the deepest vertex inside */

/* The contact of point x of `s` with the other surface, n: out of the other, in the frame of s. */
static void add_vertex_point(const side *e, v3 x, v3 n, double gap, uint32_t own, uint32_t others, manifold *to) {
    contact_point c = {.position = v3_axpy(x, -0.5 * gap, n), .normal = n, .gap = gap};
    c.feature = e->swapped ? feature_pair(others, own) : feature_pair(own, others);
    if (e->swapped) {
        c.position = pose_point(e->p->X_ab, c.position);
        c.normal = v3_neg(m3_times(e->p->X_ab.R, n));
    }
    manifold_add(to, e->p->arena, &c);
}

static void add_counted_point(const side *e, v3 x, v3 n, double gap, uint32_t own, uint32_t others) {
    add_vertex_point(e, x, n, gap, own, others, e->out);
}

/* Does an open surface let the other pass? It holds what has its middle before it. */
static bool lets_pass(const side *e, const surface_place *place, v3 normal) {
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

static bool try_way_out(void *context, int t) {
    way_out *w = context;
    const surface *other = w->e->other;
    v3 c[3], n = surface_normal(other, t);
    surface_corners(other, t, c);
    double gap = v3_dot(n, v3_sub(w->there, c[0]));
    if (gap >= w->e->touching || gap <= w->gap || !is_over(c, n, w->there, w->e->touching)) {
        return true;
    }
    if (surface_faces(w->e->s, w->triangle, w->corner + 4, v3_neg(m3_times(w->e->X.R, n)))) {
        w->gap = gap;
        w->normal = n;
        w->by = t;
    }
    return true;
}

/* The shortest way out through a face that lets the surface round the vertex out as well.  `blind`: the nearest face is
 * none for the surface round the vertex, which comes to it from inside. So it tells nothing of how deep others may be.
 * Returns whether there is one. */
static bool add_way_out_aside(const side *e, int t, int corner, v3 x, v3 there, double d, int blind) {
    way_out w = {.e = e, .triangle = t, .corner = corner, .there = there, .by = -1};
    w.gap = blind ? -e->aside : -fmin(-MAX_OTHER_DEPTH_RATIO * d, e->aside);
    v3 reach = v3_make(-w.gap, -w.gap, -w.gap);
    surface_in_box(e->other, v3_sub(there, reach), v3_add(there, reach), try_way_out, &w);
    if (w.by >= 0) {
        add_counted_point(e, x, m3_times(e->X.R, w.normal), w.gap, surface_feature(e->s, t, corner + 4),
                          surface_feature(e->other, w.by, 0));
    }
    return w.by >= 0;
}

/* From inside the nearest place is an edge or a vertex only in a nook: each of its faces holds by itself. */
static void add_nook_contacts(const side *e, int t, int corner, v3 x, v3 there, const surface_place *place) {
    int around[MAX_NOOK_POINTS],
        count = surface_faces_at(e->other, place->triangle, place->feature, around, MAX_NOOK_POINTS);
    for (int k = 0; k < count; k++) {
        v3 n = surface_normal(e->other, around[k]), here = m3_times(e->X.R, n);
        double gap = v3_dot(n, v3_sub(there, place->point));
        if (gap < 0 && surface_faces(e->s, t, corner + 4, v3_neg(here))) {
            add_counted_point(e, x, here, gap, surface_feature(e->s, t, corner + 4),
                              surface_feature(e->other, around[k], 0));
        }
    }
}

/* ---- which vertices matter ---- */

/* A point whose distance is known; centre in the frame of s. */
typedef struct known {
    v3 centre;
    double distance; /* signed; NAN: nothing is known */
} known;

/* Between these the distance (without sign) of a point lies that is `away` from the known one. */
static double at_least(const known *k, double away) {
    return isnan(k->distance) ? -HUGE_VAL : fabs(k->distance) - away;
}
static double at_most(const side *e, const known *k, double away) {
    return isnan(k->distance) ? HUGE_VAL : (fabs(k->distance) + away) * (1 + 1e-9) + e->noise;
}

/* Signed distance of the other surface at x; HUGE_VAL where it is outside by more than `reach`. */
static double distance_of_other(const side *e, v3 x, double reach, surface_place *place) {
    double d;
    if (e->other->heights && surface_holds(e->other, x, &d, place)) {
        return d;
    }
    return surface_distance(e->other, x, reach, place);
}

/* Is a box, seen from the other, outside it, because nothing is met from there on along an axis?  An open surface shows
 * that only along its normals. */
static bool is_free_along(const side *e, v3 low, v3 high, int way) {
    double *to[6] = {&high.x, &high.y, &high.z, &low.x, &low.y, &low.z};
    if (way < 0) {
        return false;
    }
    *to[way] = way < 3 ? HUGE_VAL : -HUGE_VAL;
    return !box_meets(e->other, low, high);
}

/* The way most likely to be free. */
static int likely_way(const surface *other, v3 middle, v3 middle_of_other) {
    if (other->heights || !other->solid) {
        return other->relief->up;
    }
    v3 d = v3_sub(middle, middle_of_other);
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    return x >= y && x >= z ? (d.x > 0 ? 0 : 3) : y >= z ? (d.y > 0 ? 1 : 4) : d.z > 0 ? 2 : 5;
}

/* Where vertices are looked for: a node with what of the other is near it, and what is known of a point near by. */
typedef struct whereabouts {
    int node, used; /* used: of the buffer that lists are kept in */
    near_list near;
    known from;
    bool inside; /* all of it is inside the other, and far from its surface */
} whereabouts;

/* Is a vertex certainly clear of the other by more than the margin? */
static bool is_clear(const side *e, v3 x, v3 there, const whereabouts *w) {
    double margin = e->p->margin;
    v3 away = v3_sub(x, e->last), grow = {margin, margin, margin}, low = v3_sub(there, grow),
       high = v3_add(there, grow);
    if (w->inside) {
        return false;
    }
    if ((e->clear > 0 && v3_dot(away, away) < e->clear * e->clear) ||
        (w->from.distance > 0 && at_least(&w->from, v3_norm(v3_sub(x, w->from.centre))) > margin)) {
        return true; /* within a ball that is known to be free */
    }
    return (e->other->heights || !near_meets(&w->near, low, high)) && is_free_along(e, low, high, e->way);
}

static void try_surface_vertex(side *e, int t, int corner, v3 x, const whereabouts *w) {
    v3 there = pose_point(e->back, x);
    if (is_clear(e, x, there, w)) {
        return;
    }
    double margin = e->p->margin, most = fmin(at_most(e, &w->from, v3_norm(v3_sub(x, w->from.centre))), e->behind);
    surface_place place;
    double d = distance_of_other(e, there, e->other->heights ? margin : most, &place);
    e->last = x;
    e->clear = isfinite(d) ? d - margin : 0;
    if (d > margin || !isfinite(d)) {
        return;
    }
    v3 off = v3_sub(there, place.point);
    int clear = fabs(d) > e->touching && place.feature;
    v3 n = m3_times(e->X.R, clear ? v3_scale(1 / d, off) : place.normal);
    if (lets_pass(e, &place, n) || (d < 0 && !e->other->solid && v3_dot(off, place.normal) > -0.9 * fabs(d))) {
        return;
    }
    uint32_t own = surface_feature(e->s, t, corner + 4),
             others = surface_feature_along(e->other, place.triangle, place.feature, m3_transposed_times(e->X.R, n));
    int on = e->s->solid && e->other->solid && fabs(d) <= e->touching; /* which side of it, rounding decides */
    if (d < 0 || on) {
        add_vertex_point(e, x, n, d, own, others, e->inside);
    }
    if (on && place.feature && add_way_out_aside(e, t, corner, x, there, d, 1)) {
        return; /* of an edge no other normal is more than a guess */
    }
    if (d < 0 && !on && place.feature) {
        add_nook_contacts(e, t, corner, x, there, &place);
    } else if (surface_faces(e->s, t, corner + 4, v3_neg(n))) {
        add_counted_point(e, x, n, d, own, others);
    } else if (d < 0 || on) {
        add_way_out_aside(e, t, corner, x, there, d, on || surface_ends(e->s, t, corner + 4, n, SURFACE_INWARDS));
    }
}

/* May a vertex in the node's box, [low, high] in the other's frame, touch the other, though no triangle is near?  Then
 * it is inside, or behind. */
static bool may_be_within(side *e, const bvh_node *n, v3 low, v3 high, whereabouts *w) {
    v3 l = node_low(n), h = node_high(n), c = v3_scale(0.5, v3_add(l, h));
    double away = v3_norm(v3_sub(c, w->from.centre)), half = 0.5 * v3_norm(v3_sub(h, l));
    double least = at_least(&w->from, away), most = at_most(e, &w->from, away), reach = half + e->p->margin;
    double deep = e->other->solid ? 0 : e->behind; /* beyond the bounds of an open surface may still be behind it */
    v3 grow = {deep, deep, deep};
    if (!box_reaches(v3_sub(low, grow), v3_add(high, grow), e->other) || is_free_along(e, low, high, e->way)) {
        return false;
    }
    if (least > 0 && w->from.distance < 0 && most <= half + e->behind) {
        return true;
    }
    if (least > (w->from.distance > 0 ? reach : half + e->behind)) {
        return false;
    }
    for (int way = 0; e->other->solid && way < 6; way++) {
        if (is_free_along(e, low, high, way)) {
            e->way = way;
            return false;
        }
    }
    surface_place place;
    w->from = (known){c, surface_distance(e->other, pose_point(e->back, c), most, &place)};
    return w->from.distance > 0 ? w->from.distance <= reach : -w->from.distance <= half + e->behind;
}

static int may_node_touch(side *e, const bvh_node *n, whereabouts *w, int *buffer) {
    v3 low, high;
    if (w->inside) {
        return 1;
    }
    box_over(&e->back, node_low(n), node_high(n), e->p->margin, &low, &high);
    if (e->other->heights) {
        return box_reaches(low, high, e->other) && !is_free_along(e, low, high, e->way);
    }
    w->near = near_choose(&w->near, low, high, buffer + w->used, NEAR_ROOM - w->used);
    w->used += w->near.node == buffer + w->used ? w->near.count : 0;
    if (w->near.count > 0) {
        return 1;
    }
    int within = may_be_within(e, n, low, high, w);
    w->inside = within && e->other->solid;
    return within;
}

static void find_vertex_contacts(side *e) {
    static const int root = 0;
    int buffer[NEAR_ROOM], nwaiting = 1, all = e->s->solid && e->other->solid; /* else no depth of plain ones counts */
    whereabouts waiting[BVH_MAX_DEPTH + 1] = {{0, 0, {e->other, 0, &root, 1}, {{0, 0, 0}, NAN}, 0}};
    while (nwaiting > 0 && !e->out->failed) {
        whereabouts w = waiting[--nwaiting];
        const bvh_node *n = &e->s->bvh->node[w.node];
        if (!(all || e->s->relief->node[w.node] & RELIEF_POINTS) || !may_node_touch(e, n, &w, buffer)) {
            continue;
        }
        for (int k = 1; k >= 0 && n->count == 0; k--) {
            w.node = n->first + k;
            waiting[nwaiting++] = w;
        }
        for (int k = 0; k < n->count; k++) {
            int t = surface_leaf(e->s, n, k), i[3], flag = surface_flag(e->s, t);
            surface_triangle(e->s, t, i);
            for (int c = 0; c < 3; c++) {
                if (flag & RELIEF_OWNS << c && (all || !(flag & RELIEF_PLAIN << c))) {
                    try_surface_vertex(e, t, c, surface_vertex(e->s, i[c]), &w);
                }
            }
        }
    }
}

/* Overlap that nothing that counts accounts for? */
static bool has_lost_overlap(const manifold *out, int first, const manifold *inside) {
    double deepest = 0, least = HUGE_VAL;
    for (int k = 0; k < inside->count; k++) {
        deepest = fmin(deepest, inside->point[k].gap);
    }
    for (int k = first; k < out->count; k++) {
        least = fmin(least, out->point[k].gap);
    }
    return least >= MIN_DEPTH_OVER_VERTEX_DEPTH * deepest;
}

void surface_on_surface(const pair *p, const surface *a, const surface *b, manifold *out) {
    /* tolerances from the sizes */
    int first = out->count;
    pose X_ba = pose_inverse(p->X_ab);
    v3 middle_a = v3_scale(0.5, v3_add(a->low, a->high)), middle_b = v3_scale(0.5, v3_add(b->low, b->high));
    double size_a = v3_norm(v3_sub(a->high, a->low)), size_b = v3_norm(v3_sub(b->high, b->low));
    double noise = 16 * DBL_EPSILON * (size_a + v3_norm(p->X_ab.p)),
           aside = MAX_OTHER_DEPTH_OVER_SIZE * fmin(size_a, size_b);
    /* both sides */
    manifold inside = {0};
    side of_a = {p, a,   b,       p->X_ab, X_ba,     middle_a,  noise, MIN_DISTANCE_OVER_NOISE * noise,
                 0, out, &inside, aside,   HUGE_VAL, {0, 0, 0}, 0,     0};
    side of_b = {p, b,   a,       X_ba,  p->X_ab,  middle_b,  noise, MIN_DISTANCE_OVER_NOISE * noise,
                 1, out, &inside, aside, HUGE_VAL, {0, 0, 0}, 0,     0};
    /* depth behind a surface, and the way out */
    of_a.behind = b->solid ? HUGE_VAL : fmax(p->margin, MAX_DEPTH_BEHIND_OVER_SIZE * size_a);
    of_b.behind = a->solid ? HUGE_VAL : fmax(p->margin, MAX_DEPTH_BEHIND_OVER_SIZE * size_b);
    of_a.way = likely_way(b, pose_point(X_ba, middle_a), middle_b);
    of_b.way = likely_way(a, pose_point(p->X_ab, middle_b), middle_a);
    /* vertices against faces, edges against edges */
    find_vertex_contacts(&of_a);
    find_vertex_contacts(&of_b);
    edges_on_edges(&of_a);
    /* overlaps that neither has found */
    if (a->solid && b->solid && has_lost_overlap(out, first, &inside)) {
        surface_overlap(p, a, b, &inside, out);
    }
    /* reduce */
    out->failed |= inside.failed;
    manifold_group(p, out, first, SAME_NORMAL_COSINE, 1e-6 * fmin(size_a, size_b), MAX_POINTS_PER_GROUP, MAX_POINTS);
}
