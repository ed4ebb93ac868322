/* Contact of two boxes.
 *
 * Along a unit vector n the boxes are apart by
 *     s(n) = |n . c| - sum_i a_i |n . x_i| - sum_j b_j |n . y_j|,
 * c from centre to centre, a, b half edges, x, y axes. The greatest s over the faces' normals x_i, y_j and the edges'
 * x_i cross y_j is the depth where it is negative (S. Gottschalk, M. C. Lin, D. Manocha, OBBTree, SIGGRAPH 1996,
 * section 5). Where it is positive it is the distance if the parts that face each other along n overlap. If not, the
 * nearest points are sought among corners and boxes, and edges and edges.
 *
 * Faces go before edges where both are as good up to rounding. The points come from both faces alike, so nearly equal
 * normals give the same points.
 *
 * Cost: six directions where a face parts the boxes, else 15. */
#include "collide/convex/convex.h"
#include "collide/primitive/primitives.h"

static const double ROUNDING_OVER_SIZE = 1e-14; /* of the size */
static const double MIN_EDGE_SINE = 1e-12; /* sine of the angle of two edges below which they have no common normal */
static const double MIN_ASKEW_SINE = 1e-3; /* sine of the angle above which the common normal is well determined */
static const double CLOSER_LOOK_RATIO2 = 1.01; /* squares of distances worth a closer look */
static const double LOOK_RATIO2 = 1.02;        /* squares of bounds of distances worth a look */
static const double REACHED_OVER_SIZE =
    1e-13; /* of the size: a point of contact is as near as the separating planes say */

typedef struct boxes {
    double a[3], b[3], size;
    v3 axis_a[3], axis_b[3], c; /* in A's frame; c from A to B */
    double R[3][3];             /* axis_a[i] . axis_b[j] */
} boxes;

static double axis_component(v3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

static boxes boxes_of(const convex *a, const convex *b, const pose *X) {
    boxes x = {.axis_a = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .axis_b = {X->R.x, X->R.y, X->R.z}, .c = X->p};
    for (int i = 0; i < 3; i++) {
        x.a[i] = a->half[i];
        x.b[i] = b->half[i];
        for (int j = 0; j < 3; j++) {
            x.R[i][j] = axis_component(x.axis_b[j], i);
        }
    }
    x.size = a->extent + b->extent;
    return x;
}

static double separation_along(const boxes *x, v3 n) {
    double s = fabs(v3_dot(n, x->c));
    for (int k = 0; k < 3; k++) {
        s -= x->a[k] * fabs(axis_component(n, k)) + x->b[k] * fabs(v3_dot(n, x->axis_b[k]));
    }
    return s;
}

/* Keeps the better of two axes; later ones have to be better by more than rounding. */
static void keep_wider(const boxes *x, v3 n, double s, double *best, v3 *normal) {
    if (s > *best + ROUNDING_OVER_SIZE * x->size) {
        *best = s;
        *normal = n;
    }
}

/* Greatest separation, and its normal from B to A; stops early beyond the margin. */
static double find_widest_axis(const boxes *x, double margin, v3 *normal) {
    /* face normals of A */
    double best = -HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        const double *R = x->R[i];
        double s = fabs(axis_component(x->c, i)) - x->a[i] - x->b[0] * fabs(R[0]) - x->b[1] * fabs(R[1]) -
                   x->b[2] * fabs(R[2]);
        keep_wider(x, x->axis_a[i], s, &best, normal);
    }
    /* face normals of B */
    for (int j = 0; j < 3; j++) {
        double s = fabs(v3_dot(x->axis_b[j], x->c)) - x->b[j] - x->a[0] * fabs(x->R[0][j]) -
                   x->a[1] * fabs(x->R[1][j]) - x->a[2] * fabs(x->R[2][j]);
        keep_wider(x, x->axis_b[j], s, &best, normal);
    }
    /* cross products of edges */
    for (int k = 0; k < 9 && best <= margin; k++) {
        v3 n = v3_cross(x->axis_a[k / 3], x->axis_b[k % 3]);
        double sine = v3_norm(n);
        if (sine > MIN_EDGE_SINE) {
            n = v3_scale(1 / sine, n);
            keep_wider(x, n, separation_along(x, n), &best, normal);
        }
    }
    /* from B to A */
    if (v3_dot(*normal, x->c) > 0) {
        *normal = v3_neg(*normal);
    }
    return best;
}

static v3 clamp_to_box(v3 x, const double half[3]) {
    return v3_make(fmin(fmax(x.x, -half[0]), half[0]), fmin(fmax(x.y, -half[1]), half[1]),
                   fmin(fmax(x.z, -half[2]), half[2]));
}

static v3 corner_of_bits(const double half[3], int bits) {
    return v3_make(bits & 1 ? half[0] : -half[0], bits & 2 ? half[1] : -half[1], bits & 4 ? half[2] : -half[2]);
}

/* Nearest points so far.  No direction parts the boxes by more than their distance, and no points are nearer than that.
 * So the right points are those whose distance and separation along it differ least.  Of touching boxes many points are
 * as near, but with a wrong direction. */
typedef struct search {
    const boxes *x;
    double square, doubt;
    convex_gap *gap;
} search;

/* Points of A and B and the step from B's to A's: where that has no part along an edge it is kept so. */
static void keep_nearer(search *f, v3 on_a, v3 on_b, v3 d) {
    double square = v3_dot(d, d), rounding = ROUNDING_OVER_SIZE * f->x->size;
    if (!(square > 0) || square > CLOSER_LOOK_RATIO2 * f->square + rounding * rounding) {
        f->square = fmin(f->square, square);
        return;
    }
    double length = sqrt(square);
    v3 n = v3_scale(1 / length, d);
    double doubt = length - separation_along(f->x, n);
    f->square = fmin(f->square, square);
    if (doubt < f->doubt && v3_dot(n, f->x->c) < 0) {
        f->doubt = doubt;
        f->gap->on_a = on_a;
        f->gap->on_b = on_b;
        f->gap->normal = n;
    }
}

/* The edges a and b of twelve: axis, and which of the four along it. */
static void try_edge_pair(search *f, const pose *X, int a, int b) {
    const boxes *x = f->x;
    int i = a / 4, j = b / 4, of_a = a % 4, of_b = b % 4;
    v3 p = corner_of_bits(x->a, (of_a & 1) << (i + 1) % 3 | of_a >> 1 << (i + 2) % 3);
    v3 q = corner_of_bits(x->b, (of_b & 1) << (j + 1) % 3 | of_b >> 1 << (j + 2) % 3);
    p = v3_axpy(p, x->a[i], x->axis_a[i]); /* to its middle */
    q = v3_axpy(pose_point(*X, q), x->b[j], x->axis_b[j]);
    v3 across = v3_cross(x->axis_a[i], x->axis_b[j]);
    double s = 0, t = 0, sine = v3_norm(across);
    segments_nearest(p, x->axis_a[i], x->a[i], q, x->axis_b[j], x->b[j], &s, &t);
    v3 on_a = v3_axpy(p, s, x->axis_a[i]), on_b = v3_axpy(q, t, x->axis_b[j]), d = v3_sub(on_a, on_b);
    if (fabs(s) < x->a[i] && fabs(t) < x->b[j] && sine > MIN_ASKEW_SINE) { /* at right angles to both */
        across = v3_scale(1 / sine, across);
        d = v3_scale(v3_dot(across, v3_sub(p, q)), across);
    }
    keep_nearer(f, on_a, on_b, d);
}

/* How far the parts of the boxes stand back from the plane between them: [k][0] on the negative side of axis k, [k][1]
 * on the other.  Edges are no nearer than the planes and both of theirs. */
typedef struct setback {
    double a[3][2], b[3][2];
} setback;

static setback setback_of(const boxes *x, v3 n) {
    setback s;
    for (int k = 0; k < 3; k++) {
        double on_a = axis_component(n, k), on_b = v3_dot(n, x->axis_b[k]);
        s.a[k][0] = x->a[k] * (fabs(on_a) - on_a);
        s.a[k][1] = x->a[k] * (fabs(on_a) + on_a);
        s.b[k][0] = x->b[k] * (fabs(on_b) + on_b);
        s.b[k][1] = x->b[k] * (fabs(on_b) - on_b);
    }
    return s;
}

/* Of the edge `of` of the four along axis i. */
static double edge_setback(double box[3][2], int i, int of) {
    return box[(i + 1) % 3][of & 1] + box[(i + 2) % 3][of >> 1];
}

/* Nearest points of boxes that a plane parts by `apart`, its normal n, and their normal; returns their distance. */
static double find_nearest_features(const boxes *x, const pose *X, v3 n, double apart, convex_gap *gap) {
    search f = {x, HUGE_VAL, HUGE_VAL, gap};
    setback back = setback_of(x, n);
    double surely = fmax(apart - 8 * ROUNDING_OVER_SIZE * x->size, 0);
    for (int k = 0; k < 8; k++) {
        v3 b = pose_point(*X, corner_of_bits(x->b, k)), on_a = clamp_to_box(b, x->a);
        keep_nearer(&f, on_a, b, v3_sub(on_a, b));
        v3 a = corner_of_bits(x->a, k), in_b = m3_transposed_times(X->R, v3_sub(a, X->p)),
           on_b = clamp_to_box(in_b, x->b);
        keep_nearer(&f, a, pose_point(*X, on_b), m3_times(X->R, v3_sub(in_b, on_b)));
    }
    for (int of_a = 0; of_a < 12; of_a++) {
        double from_a = surely + edge_setback(back.a, of_a / 4, of_a % 4);
        for (int of_b = 0; of_b < 12; of_b++) {
            double least = from_a + edge_setback(back.b, of_b / 4, of_b % 4);
            if (!(least * least > LOOK_RATIO2 * f.square)) {
                try_edge_pair(&f, X, of_a, of_b);
            }
        }
    }
    return f.doubt < HUGE_VAL ? sqrt(f.square) : 0;
}

/* Whether the two points of the gap lie in the boxes: then nothing can be nearer. */
static bool are_points_in_boxes(const boxes *x, const pose *X, const convex_gap *gap) {
    double tolerance = REACHED_OVER_SIZE * x->size;
    v3 in_b = m3_transposed_times(X->R, v3_sub(gap->on_b, X->p));
    return v3_norm(v3_sub(gap->on_a, clamp_to_box(gap->on_a, x->a))) <= tolerance &&
           v3_norm(v3_sub(in_b, clamp_to_box(in_b, x->b))) <= tolerance &&
           v3_norm(v3_sub(gap->on_a, gap->on_b)) <= gap->gap + tolerance;
}

void box_box(const pair *p, manifold *out) {
    convex a, b;
    convex_of_shape(p->a, &a);
    convex_of_shape(p->b, &b);
    double reach = a.extent + b.extent + p->margin;
    if (v3_dot(p->X_ab.p, p->X_ab.p) > reach * reach) {
        return;
    }
    boxes x = boxes_of(&a, &b, &p->X_ab);
    convex_gap gap = {.certain = true}, corner_gap = gap;
    gap.gap = find_widest_axis(&x, p->margin, &gap.normal);
    if (gap.gap > p->margin) {
        return;
    }
    int first = out->count;
    facing_points(&a, &b, &p->X_ab, &gap);
    if (convex_manifold(p, &a, &b, &gap, out) || gap.gap <= 0 || are_points_in_boxes(&x, &p->X_ab, &gap)) {
        return;
    }
    /* facing parts do not overlap: a corner is nearest to a corner or to an edge */
    corner_gap.gap = find_nearest_features(&x, &p->X_ab, gap.normal, gap.gap, &corner_gap);
    if (corner_gap.gap > gap.gap + REACHED_OVER_SIZE * x.size) {
        out->count = first;
        if (corner_gap.gap <= p->margin) {
            convex_manifold(p, &a, &b, &corner_gap, out);
        }
    }
}
