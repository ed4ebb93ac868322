#include "support/brute_convex.h"

#include <stdlib.h>

enum { MOST = 4096 };

double difference_support(const convex *a, const convex *b, const pose *X, v3 u) {
    uint32_t vertex;
    v3 on_a = convex_support(a, u, &vertex);
    v3 on_b = pose_point(*X, convex_support(b, v3_neg(m3_transposed_times(X->R, u)), &vertex));
    return v3_dot(u, v3_sub(on_a, on_b));
}

/* Corners, edges and triangles of a polytope, in the frame of A. */
typedef struct parts {
    int ncorner, nedge, ntriangle;
    v3 corner[512], edge[MOST][2], triangle[MOST][3];
} parts;

static void add_polygon(parts *p, const v3 *corner, int count) {
    for (int k = 0; k < count; k++) {
        p->edge[p->nedge][0] = corner[k];
        p->edge[p->nedge++][1] = corner[(k + 1) % count];
        if (k > 1) {
            v3 *t = p->triangle[p->ntriangle++];
            t[0] = corner[0], t[1] = corner[k - 1], t[2] = corner[k];
        }
    }
}

static void parts_of(const convex *c, const pose *X, parts *p) {
    p->ncorner = p->nedge = p->ntriangle = 0;
    v3 polygon[64];
    switch (c->kind) {
    case CONVEX_POINT:
        p->corner[p->ncorner++] = X->p;
        break;
    case CONVEX_SEGMENT:
        for (int s = -1; s < 2; s += 2) {
            p->edge[0][s > 0] = p->corner[p->ncorner++] = pose_point(*X, v3_make(0, 0, s * c->half[2]));
        }
        p->nedge = 1;
        break;
    case CONVEX_BOX:
        for (int k = 0; k < 8; k++) {
            v3 q = {k & 1 ? c->half[0] : -c->half[0], k & 2 ? c->half[1] : -c->half[1],
                    k & 4 ? c->half[2] : -c->half[2]};
            p->corner[p->ncorner++] = pose_point(*X, q);
        }
        for (int k = 0; k < 6; k++) {
            static const int side[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                           {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
            for (int i = 0; i < 4; i++) {
                polygon[i] = p->corner[side[k][i]];
            }
            add_polygon(p, polygon, 4);
        }
        break;
    case CONVEX_TRIANGLE:
        for (int k = 0; k < 3; k++) {
            polygon[k] = p->corner[p->ncorner++] = pose_point(*X, c->corner[k]);
        }
        add_polygon(p, polygon, 3);
        break;
    case CONVEX_HULL:
        for (int k = 0; k < c->hull->nvertex; k++) {
            p->corner[p->ncorner++] = pose_point(*X, c->hull->vertex[k]);
        }
        for (int f = 0; f < c->hull->nface; f++) {
            int first = c->hull->face_start[f], count = c->hull->face_start[f + 1] - first;
            for (int k = 0; k < count; k++) {
                polygon[k] = p->corner[c->hull->loop[first + k]];
            }
            add_polygon(p, polygon, count);
        }
        break;
    default:
        abort();
    }
}

static double segments_apart(const v3 a[2], const v3 b[2]) {
    v3 d = v3_sub(a[1], a[0]), e = v3_sub(b[1], b[0]), r = v3_sub(a[0], b[0]);
    double dd = v3_dot(d, d), ee = v3_dot(e, e), de = v3_dot(d, e), dr = v3_dot(d, r), er = v3_dot(e, r);
    double det = dd * ee - de * de, best = HUGE_VAL;
    double s[5], t[5];
    int n = 0;
    if (det > 1e-14 * dd * ee) {
        s[n] = (de * er - ee * dr) / det;
        t[n++] = (dd * er - de * dr) / det;
    }
    for (int k = 0; k < 2; k++) { /* an end of one with the nearest point of the other */
        s[n] = k;
        t[n++] = ee > 0 ? (er + k * de) / ee : 0;
        t[n] = k;
        s[n++] = dd > 0 ? (k * de - dr) / dd : 0;
    }
    for (int k = 0; k < n; k++) {
        double x = fmin(fmax(s[k], 0), 1), y = fmin(fmax(t[k], 0), 1);
        best = fmin(best, v3_norm(v3_sub(v3_axpy(r, x, d), v3_scale(y, e))));
    }
    return best;
}

static double point_over_triangle(v3 p, const v3 t[3]) {
    v3 n = v3_cross(v3_sub(t[1], t[0]), v3_sub(t[2], t[0]));
    double area = v3_norm(n);
    if (!(area > 0)) {
        return HUGE_VAL;
    }
    for (int k = 0; k < 3; k++) {
        if (v3_dot(n, v3_cross(v3_sub(t[(k + 1) % 3], t[k]), v3_sub(p, t[k]))) < -1e-12 * area * area) {
            return HUGE_VAL;
        }
    }
    return fabs(v3_dot(n, v3_sub(p, t[0]))) / area;
}

/* At right angles to two edges that are not parallel. */
static void try_direction(const convex *a, const convex *b, const pose *X, v3 d, v3 e, double *least) {
    v3 n = v3_cross(d, e);
    double length = v3_norm(n);
    if (length > 1e-7 * v3_norm(d) * v3_norm(e)) {
        n = v3_scale(1 / length, n);
        *least = fmin(*least, fmin(difference_support(a, b, X, n), difference_support(a, b, X, v3_neg(n))));
    }
}

static double apart_by(const parts *p, const parts *q) {
    double best = HUGE_VAL;
    for (int i = 0; i < p->ncorner; i++) {
        for (int j = 0; j < q->ncorner; j++) {
            best = fmin(best, v3_norm(v3_sub(p->corner[i], q->corner[j])));
        }
    }
    for (int i = 0; i < p->nedge; i++) {
        for (int j = 0; j < q->nedge; j++) {
            best = fmin(best, segments_apart(p->edge[i], q->edge[j]));
        }
    }
    for (int way = 0; way < 2; way++) {
        const parts *x = way ? q : p, *y = way ? p : q;
        for (int i = 0; i < x->ncorner; i++) {
            for (int k = 0; k < y->nedge; k++) {
                v3 point[2] = {x->corner[i], x->corner[i]};
                best = fmin(best, segments_apart(point, y->edge[k]));
            }
            for (int k = 0; k < y->ntriangle; k++) {
                best = fmin(best, point_over_triangle(x->corner[i], y->triangle[k]));
            }
        }
    }
    return best;
}

double brute_polytopes(const convex *a, const convex *b, const pose *X) {
    static parts p, q;
    pose one = pose_identity();
    double least = HUGE_VAL;
    parts_of(a, &one, &p);
    parts_of(b, X, &q);
    for (int k = 0; k < p.ntriangle + q.ntriangle; k++) {
        const v3 *t = k < p.ntriangle ? p.triangle[k] : q.triangle[k - p.ntriangle];
        try_direction(a, b, X, v3_sub(t[1], t[0]), v3_sub(t[2], t[0]), &least);
    }
    for (int i = 0; i < p.nedge; i++) {
        for (int j = 0; j < q.nedge; j++) {
            v3 d = v3_sub(p.edge[i][1], p.edge[i][0]), e = v3_sub(q.edge[j][1], q.edge[j][0]);
            try_direction(a, b, X, d, e, &least);
        }
    }
    int inside = least > 1e-13 * (a->extent + b->extent) && least < HUGE_VAL; /* a flat difference is wide nowhere */
    double core = inside ? -least : apart_by(&p, &q);
    return core - a->radius - b->radius;
}

static v3 spread(int k, int count) { /* a spiral of equal areas */
    double z = 1 - (2 * k + 1.0) / count, r = sqrt(1 - z * z), angle = k * 2.399963229728653;
    return v3_make(r * cos(angle), r * sin(angle), z);
}

static double refine(const convex *a, const convex *b, const pose *X, v3 u, double h, double step) {
    for (int level = 0; level < 60; level++, step *= 0.65) {
        v3 s = v3_perpendicular(u), t = v3_cross(u, s), best = u;
        for (int i = -3; i <= 3; i++) {
            for (int j = -3; j <= 3; j++) {
                v3 x = v3_axpy(v3_axpy(u, i * step / 3, s), j * step / 3, t);
                x = v3_scale(1 / v3_norm(x), x);
                double hx = difference_support(a, b, X, x);
                if (hx < h) {
                    h = hx;
                    best = x;
                }
            }
        }
        u = best;
    }
    return h;
}

double brute_any(const convex *a, const convex *b, const pose *X, int directions) {
    enum { STARTS = 3 };
    v3 start[STARTS];
    double h[STARTS] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, least = HUGE_VAL, step = 4 / sqrt(directions);
    for (int k = 0; k < directions; k++) {
        v3 u = spread(k, directions);
        double x = difference_support(a, b, X, u);
        int at = STARTS;
        for (int i = 0; i < STARTS; i++) { /* one start a neighbourhood */
            if (h[i] < HUGE_VAL && v3_dot(start[i], u) > cos(2 * step)) {
                at = x < h[i] ? i : -1;
                break;
            }
        }
        if (at == STARTS) {
            at = 0;
            for (int i = 1; i < STARTS; i++) {
                at = h[i] > h[at] ? i : at;
            }
            at = x < h[at] ? at : -1;
        }
        if (at >= 0) {
            start[at] = u;
            h[at] = x;
        }
    }
    for (int i = 0; i < STARTS; i++) {
        if (h[i] < HUGE_VAL) {
            least = fmin(least, refine(a, b, X, start[i], h[i], step));
        }
    }
    return -least - a->radius - b->radius;
}
