/* Contacts between edges of two surfaces.
 *
 * Edges that stick out, n across both, in the normal cones of both, lie n.(a - b) apart.  Where they have passed
 * through each other, the point of one must be inside the other solid. No way out may be shorter than through the faces
 * that meet in the edge: else the two merely cross deep inside. */
#include "collide/mesh/surface_side.h"

static const double PARALLEL_SINE = 1e-6; /* sine between edges that have no crossing */

typedef struct edge {
    v3 at, along; /* in A's frame */
    int triangle, feature;
} edge;

/* The edge k of triangle t, a ridge. */
static edge edge_of(const pose *X, int t, int k, const v3 c[3]) {
    return (edge){pose_point(*X, c[k]), m3_times(X->R, v3_sub(c[(k + 1) % 3], c[k])), t, k + 1};
}

/* Normals of the triangles that meet in an edge, in A's frame. */
static void faces_of(const surface *s, const pose *X, const edge *e, v3 across[2]) {
    int other = surface_across(s, e->triangle, e->feature - 1);
    v3 own = surface_normal(s, e->triangle), next = other >= 0 ? surface_normal(s, other) : own;
    across[0] = m3_times(X->R, own);
    across[1] = m3_times(X->R, next);
}

/* The ridges of triangle t that it speaks for; returns how many. */
static int ridges_of(const surface *s, const pose *X, int t, edge out[3]) {
    int flag = surface_flag(s, t), count = 0;
    if (!(flag & 7 * RELIEF_RIDGE)) {
        return 0;
    }
    v3 c[3];
    surface_corners(s, t, c);
    for (int k = 0; k < 3; k++) {
        if (flag & RELIEF_RIDGE << k) {
            out[count++] = edge_of(X, t, k, c);
        }
    }
    return count;
}

/* Where two lines come nearest; false if that is not within both edges. */
static bool find_edge_crossing(const edge *a, const edge *b, v3 *on_a, v3 *on_b, v3 *n) {
    double aa = v3_dot(a->along, a->along), bb = v3_dot(b->along, b->along), ab = v3_dot(a->along, b->along);
    *n = v3_cross(a->along, b->along);
    double D = v3_dot(*n, *n);
    if (D <= PARALLEL_SINE * PARALLEL_SINE * aa * bb) {
        return false;
    }
    v3 d = v3_sub(b->at, a->at);
    double da = v3_dot(d, a->along), db = v3_dot(d, b->along);
    double s = (da * bb - db * ab) / D, t = (da * ab - db * aa) / D;
    if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) {
        return false;
    }
    *on_a = v3_axpy(a->at, s, a->along);
    *on_b = v3_axpy(b->at, t, b->along);
    *n = v3_scale(1 / sqrt(D), *n);
    return true;
}

/* A place inside a solid, and an edge of the other. */
typedef struct enclosed {
    const surface *s, *other;
    const edge *f;
    v3 x;        /* in the frame of s */
    m3 R;        /* turns vectors of the other there */
    double deep; /* nothing nearer than this should lead out */
    double slack;
    bool free; /* no way out is nearer */
} enclosed;

/* Does the other's edge come to a face with the normal n, in the frame of s, from inside? */
static bool comes_from_inside(const enclosed *q, v3 n) {
    return surface_ends(q->other, q->f->triangle, q->f->feature, m3_transposed_times(q->R, n), SURFACE_INWARDS);
}

static bool test_way_out(void *context, int t) {
    enclosed *q = context;
    v3 c[3], n = surface_normal(q->s, t);
    surface_corners(q->s, t, c);
    double gap = v3_dot(n, v3_sub(q->x, c[0]));
    q->free = gap > q->slack || gap <= -q->deep || !is_over(c, n, q->x, q->slack) || comes_from_inside(q, n);
    return q->free;
}

enum { PLACES_ALONG_EDGES = 4 }; /* places between two edges that are asked about */

/* Signed distance of a place inside a solid, or outside by no more than `reach`; else HUGE_VAL. */
static double depth_at(const surface *s, v3 x, double reach, surface_place *place) {
    double d;
    return surface_holds(s, x, &d, place) ? d : s->heights ? HUGE_VAL : surface_distance(s, x, reach, place);
}

/* Edges have passed each other, by `depth`. e is an edge of the solid `s`, placed at X; x, inside it, is the point of
 * the edge f of `other`, placed at Y. A little farther in, the two faces of the edge should be the nearest ones.  Faces
 * that f reaches from inside do not count. */
static bool is_way_out(const side *of, const surface *s, const pose *X, const edge *e, v3 on_edge, const surface *other,
                       const pose *Y, const edge *f, v3 x, double depth) {
    if (!s->solid) {
        return depth * depth <= 0.01 * v3_dot(e->along, e->along);
    }
    double d, expected = HUGE_VAL, deep = 0; /* deep: x */
    surface_place place;
    v3 across[2];
    faces_of(s, X, e, across);
    v3 in = v3_axpy(v3_axpy(x, -0.5 * depth, across[0]), -0.5 * depth, across[1]);
    for (int k = 0; k < 2; k++) {
        expected = fmin(expected, v3_dot(across[k], v3_sub(on_edge, in)));
    }
    for (int k = 0; k < PLACES_ALONG_EDGES; k++) { /* all the way from the one edge to the other */
        v3 at = v3_axpy(x, (double)k / PLACES_ALONG_EDGES, v3_sub(on_edge, x));
        d = depth_at(s, m3_transposed_times(X->R, v3_sub(at, X->p)), of->touching, &place);
        if (d > of->touching) {
            return false;
        }
        deep = k == 0 ? -d : deep;
    }
    v3 there = m3_transposed_times(X->R, v3_sub(in, X->p));
    d = depth_at(s, there, of->touching, &place);
    if (d > of->touching || -d >= 0.7 * expected || depth > of->aside || deep <= of->touching) {
        return -d >= 0.7 * expected;
    }
    enclosed q = {s, other, f, there, m3_product(m3_transpose(X->R), Y->R), 0.7 * expected, of->touching, true};
    if (!comes_from_inside(&q, place.normal) && place.feature == 0) {
        return false;
    }
    v3 reach = {q.deep, q.deep, q.deep};
    surface_in_box(s, v3_sub(there, reach), v3_add(there, reach), test_way_out, &q);
    return q.free;
}

static void try_edges(const side *e, const edge *a, const edge *b) {
    /* common perpendicular of the edges */
    v3 on_a, on_b, n, across[2];
    if (!find_edge_crossing(a, b, &on_a, &on_b, &n)) {
        return;
    }
    /* sign from the faces across the other edge */
    faces_of(e->other, &e->X, b, across);
    n = v3_dot(n, v3_add(across[0], across[1])) < 0 ? v3_neg(n) : n;
    /* gap within the margin, normal in both normal cones */
    double gap = v3_dot(n, v3_sub(on_a, on_b));
    if (gap > e->p->margin || !surface_faces(e->s, a->triangle, a->feature, v3_neg(n)) ||
        !surface_faces(e->other, b->triangle, b->feature, m3_transposed_times(e->X.R, n))) {
        return;
    }
    /* an overlap has to be the shortest way out on both sides */
    pose still = pose_identity();
    if (gap < -1e3 * e->noise && !(is_way_out(e, e->other, &e->X, b, on_b, e->s, &still, a, on_a, -gap) &&
                                   is_way_out(e, e->s, &still, a, on_a, e->other, &e->X, b, on_b, -gap))) {
        return;
    }
    /* contact midway */
    contact_point c = {.position = v3_scale(0.5, v3_add(on_a, on_b)),
                       .normal = n,
                       .gap = gap,
                       .feature = feature_pair(surface_feature(e->s, a->triangle, a->feature),
                                               surface_feature(e->other, b->triangle, b->feature))};
    manifold_add(e->out, e->p->arena, &c);
}

enum { MAX_EDGES = 96 };

/* The leaf of one side, and ridges of the other that are near it. */
typedef struct near_ridges {
    side *e;
    const bvh_node *leaf;
    edge b[MAX_EDGES];
    v3 low[MAX_EDGES], high[MAX_EDGES]; /* their boxes, in A's frame */
    int count;
} near_ridges;

static bool are_boxes_apart(v3 low, v3 high, v3 l, v3 h) {
    return low.x > h.x || high.x < l.x || low.y > h.y || high.y < l.y || low.z > h.z || high.z < l.z;
}

/* Edges that have passed through each other are no farther apart than a triangle is wide. */
static void try_near_edges(near_ridges *q) {
    pose still = pose_identity();
    for (int k = 0; k < q->leaf->count; k++) {
        edge a[3];
        int t = surface_leaf(q->e->s, q->leaf, k), count = ridges_of(q->e->s, &still, t, a);
        if (count == 0) {
            continue;
        }
        v3 c[3], low, high;
        surface_corners(q->e->s, t, c);
        bounds_of_corners(c, &low, &high);
        double grow = q->e->p->margin + 0.5 * v3_norm(v3_sub(high, low));
        low = v3_sub(low, v3_make(grow, grow, grow));
        high = v3_add(high, v3_make(grow, grow, grow));
        for (int j = 0; j < q->count; j++) {
            for (int i = 0; i < count && !are_boxes_apart(low, high, q->low[j], q->high[j]); i++) {
                try_edges(q->e, &a[i], &q->b[j]);
            }
        }
    }
    q->count = 0;
}

static bool collect_ridges(void *context, int t) {
    near_ridges *q = context;
    if (q->count > MAX_EDGES - 3) {
        try_near_edges(q);
    }
    int count = ridges_of(q->e->other, &q->e->X, t, q->b + q->count);
    for (int k = q->count; k < q->count + count; k++) {
        v3 end[3] = {q->b[k].at, v3_add(q->b[k].at, q->b[k].along), q->b[k].at};
        bounds_of_corners(end, &q->low[k], &q->high[k]);
    }
    q->count += count;
    return !q->e->out->failed;
}

static bool visit_edge_leaf(void *context, const bvh_node *leaf, v3 low, v3 high, const near_list *near) {
    near_ridges *q = context;
    q->leaf = leaf;
    near_in_box(near, low, high, collect_ridges, q);
    try_near_edges(q);
    return !q->e->out->failed;
}

void edges_on_edges(side *e) {
    near_ridges q;
    q.e = e;
    q.count = 0;
    surface_near(e->s, RELIEF_RIDGES, e->other, &e->X, e->p->margin, visit_edge_leaf, &q);
}
