/* How far apart, or how deep, are two polytopes?  By every candidate.
 *
 * Overlap: the Minkowski difference is a polytope whose face normals are those of A, those of B reversed, and the
 * crosses of an edge of A with an edge of B; the least depth belongs to one of them.  Apart: the nearest points are a
 * vertex and a face, two edges, or less; all are tried. */
#include "oracle.h"

#include <assert.h>

static int same_plane(const poly *p, vec n, real offset, real slack) {
    for (int f = 0; f < p->nf; f++) {
        if (dot(p->normal[f], n) > 0 && length(cross(p->normal[f], n)) < 1e-9L &&
            fabsl(dot(p->normal[f], p->v[p->loop[f][0]]) - offset) < slack) {
            return 1;
        }
    }
    return 0;
}

static void order_loop(poly *p, int f) {
    int *loop = p->loop[f], count = p->corners[f];
    vec n = p->normal[f], centre = {0, 0, 0};
    for (int k = 0; k < count; k++) {
        centre = along(centre, 1 / (real)count, p->v[loop[k]]);
    }
    vec e = unit(minus(p->v[loop[0]], centre)), g = cross(n, e);
    real at[POLY_CORNERS];
    for (int k = 0; k < count; k++) {
        vec d = minus(p->v[loop[k]], centre);
        at[k] = atan2l(dot(d, g), dot(d, e));
    }
    for (int k = 1; k < count; k++) {
        for (int j = k; j > 0 && at[j] < at[j - 1]; j--) {
            real t = at[j];
            int i = loop[j];
            at[j] = at[j - 1];
            loop[j] = loop[j - 1];
            at[j - 1] = t;
            loop[j - 1] = i;
        }
    }
}

/* Points of the plane that are no corners (on an edge or inside) are left out. */
static void drop_flat_corners(poly *p, int f, real slack) {
    for (int again = 1; again;) {
        again = 0;
        for (int k = 0; k < p->corners[f] && p->corners[f] > 3; k++) {
            int count = p->corners[f], *loop = p->loop[f];
            vec a = p->v[loop[(k + count - 1) % count]], b = p->v[loop[k]], c = p->v[loop[(k + 1) % count]];
            if (dot(cross(minus(b, a), minus(c, b)), p->normal[f]) <= slack * length(minus(c, a))) {
                for (int j = k; j + 1 < count; j++) {
                    loop[j] = loop[j + 1];
                }
                p->corners[f]--;
                again = 1;
            }
        }
    }
}

static void add_face(poly *p, vec n, real offset, real slack) {
    assert(p->nf < POLY_FACES);
    int f = p->nf++;
    p->normal[f] = n;
    p->corners[f] = 0;
    for (int k = 0; k < p->nv; k++) {
        if (fabsl(dot(n, p->v[k]) - offset) <= slack) {
            assert(p->corners[f] < POLY_CORNERS);
            p->loop[f][p->corners[f]++] = k;
        }
    }
    order_loop(p, f);
    drop_flat_corners(p, f, slack);
}

static void try_plane(poly *p, int i, int j, int k, real slack) {
    vec n = cross(minus(p->v[j], p->v[i]), minus(p->v[k], p->v[i]));
    real size = length(n);
    if (size < slack) {
        return;
    }
    n = times(1 / size, n);
    real offset = dot(n, p->v[i]), above = 0, below = 0;
    for (int m = 0; m < p->nv; m++) {
        real s = dot(n, p->v[m]) - offset;
        above = real_max(above, s);
        below = real_min(below, s);
    }
    if (above <= slack && !same_plane(p, n, offset, 2 * slack)) {
        add_face(p, n, offset, slack);
    } else if (below >= -slack && !same_plane(p, times(-1, n), -offset, 2 * slack)) {
        add_face(p, times(-1, n), -offset, slack);
    }
}

static void add_edges(poly *p) {
    p->ne = 0;
    for (int f = 0; f < p->nf; f++) {
        for (int k = 0; k < p->corners[f]; k++) {
            int i = p->loop[f][k], j = p->loop[f][(k + 1) % p->corners[f]];
            if (i < j) { /* the face on the other side has it the other way round */
                assert(p->ne < POLY_EDGES);
                p->edge[p->ne][0] = i;
                p->edge[p->ne++][1] = j;
            }
        }
    }
}

void poly_hull(poly *p, const vec *point, int count) {
    assert(count <= POLY_VERTICES);
    p->nv = count;
    p->nf = 0;
    real size = 0;
    for (int k = 0; k < count; k++) {
        p->v[k] = point[k];
        size = real_max(size, length(minus(point[k], point[0])));
    }
    real slack = 1e-13L * size;
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            for (int k = j + 1; k < count; k++) {
                try_plane(p, i, j, k, slack);
            }
        }
    }
    add_edges(p);
}

/* ---- apart: every feature against every feature ---- */

typedef struct closest {
    real distance;
    vec difference; /* from the point of B to the point of A */
    long tried;
} closest;

static void try_points(closest *best, vec a, vec b) {
    vec d = minus(a, b);
    real l = length(d);
    best->tried++;
    if (l < best->distance) {
        best->distance = l;
        best->difference = d;
    }
}

static real clamp(real s) { return s < 0 ? 0 : s > 1 ? 1 : s; }

static void point_edge(closest *best, vec p, const poly *q, int e, int p_of_a) {
    vec u = q->v[q->edge[e][0]], d = minus(q->v[q->edge[e][1]], u);
    vec at = along(u, clamp(dot(minus(p, u), d) / dot(d, d)), d);
    try_points(best, p_of_a ? p : at, p_of_a ? at : p);
}

/* Inside the face's prism only; edges have the rest. */
static void point_face(closest *best, vec p, const poly *q, int f, int p_of_a) {
    vec n = q->normal[f];
    for (int k = 0; k < q->corners[f]; k++) {
        vec u = q->v[q->loop[f][k]], w = q->v[q->loop[f][(k + 1) % q->corners[f]]];
        if (dot(cross(n, minus(w, u)), minus(p, u)) < 0) {
            return;
        }
    }
    vec at = along(p, -dot(n, minus(p, q->v[q->loop[f][0]])), n);
    try_points(best, p_of_a ? p : at, p_of_a ? at : p);
}

/* Inner points of both lines only; ends are vertices against edges. */
static void edge_edge(closest *best, const poly *a, int i, const poly *b, int j) {
    vec p = a->v[a->edge[i][0]], u = minus(a->v[a->edge[i][1]], p);
    vec q = b->v[b->edge[j][0]], w = minus(b->v[b->edge[j][1]], q), r = minus(p, q);
    real uu = dot(u, u), ww = dot(w, w), uw = dot(u, w), ur = dot(u, r), wr = dot(w, r);
    vec n = cross(u, w);
    real det = dot(n, n);
    if (det <= 1e-30L * uu * ww) {
        return;
    }
    real s = (uw * wr - ww * ur) / det, t = (uu * wr - uw * ur) / det;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
        try_points(best, along(p, s, u), along(q, t, w));
    }
}

static closest features(const poly *a, const poly *b) {
    closest best = {.distance = HUGE_VALL};
    for (int i = 0; i < a->nv; i++) {
        for (int j = 0; j < b->nv; j++) {
            try_points(&best, a->v[i], b->v[j]);
        }
        for (int j = 0; j < b->ne; j++) {
            point_edge(&best, a->v[i], b, j, 1);
        }
        for (int j = 0; j < b->nf; j++) {
            point_face(&best, a->v[i], b, j, 1);
        }
    }
    for (int j = 0; j < b->nv; j++) {
        for (int i = 0; i < a->ne; i++) {
            point_edge(&best, b->v[j], a, i, 0);
        }
        for (int i = 0; i < a->nf; i++) {
            point_face(&best, b->v[j], a, i, 0);
        }
    }
    for (int i = 0; i < a->ne; i++) {
        for (int j = 0; j < b->ne; j++) {
            edge_edge(&best, a, i, b, j);
        }
    }
    return best;
}

/* ---- overlap: every axis ---- */

static real core_separation(const poly *a, const poly *b, vec n, real enough) {
    real low = HUGE_VALL, high = -HUGE_VALL;
    for (int j = 0; j < b->nv; j++) {
        high = real_max(high, dot(n, b->v[j]));
    }
    for (int i = 0; i < a->nv; i++) {
        low = real_min(low, dot(n, a->v[i]));
        if (low - high < enough) {
            break; /* this axis is worse than what there is */
        }
    }
    return low - high;
}

typedef struct axes {
    real best, second; /* of an axis clearly different */
    vec normal;
    long tried;
} axes;

static void try_axis(axes *x, const poly *a, const poly *b, vec n, real slack) {
    real s = core_separation(a, b, n, x->second - slack);
    x->tried++;
    int same = x->tried > 1 && dot(n, x->normal) > 1 - 1e-9L;
    if (s > x->best) {
        x->second = same ? x->second : real_max(x->second, x->best);
        x->best = s;
        x->normal = n;
    } else if (!same) {
        x->second = real_max(x->second, s);
    }
}

static axes all_axes(const poly *a, const poly *b, real size) {
    axes x = {.best = -HUGE_VALL, .second = -HUGE_VALL};
    for (int f = 0; f < a->nf; f++) {
        try_axis(&x, a, b, times(-1, a->normal[f]), size);
    }
    for (int f = 0; f < b->nf; f++) {
        try_axis(&x, a, b, b->normal[f], size);
    }
    for (int i = 0; i < a->ne; i++) {
        vec u = unit(minus(a->v[a->edge[i][1]], a->v[a->edge[i][0]]));
        for (int j = 0; j < b->ne; j++) {
            vec n = cross(u, unit(minus(b->v[b->edge[j][1]], b->v[b->edge[j][0]])));
            real s = length(n);
            if (s > 1e-15L) {
                try_axis(&x, a, b, times(1 / s, n), size);
                try_axis(&x, a, b, times(-1 / s, n), size);
            }
        }
    }
    return x;
}

/* Points and segments leave a Minkowski difference without inside: their distance is the whole answer. */
static truth flat_gap(const poly *a, const poly *b, real size) {
    closest c = features(a, b);
    truth t = {.core = c.distance, .core_apart = c.distance > 0, .work = c.tried};
    vec u = a->ne ? minus(a->v[1], a->v[0]) : vec_of(0, 0, 0), w = b->ne ? minus(b->v[1], b->v[0]) : vec_of(0, 0, 0);
    vec n = cross(u, w);
    if (c.distance > 1e-16L * size) {
        t.normal = times(1 / c.distance, c.difference);
        t.unique = c.distance > 1e-9L * size;
    } else if (length(n) > 1e-12L * length(u) * length(w)) {
        t.normal = unit(n);
    } else {
        vec line = a->ne ? u : w;
        t.normal = aside(length(line) > 0 ? line : vec_of(0, 0, 1));
    }
    return t;
}

truth poly_gap(const solid *a, const solid *b) {
    real size = real_min(a->least, b->least);
    truth t;
    if (a->poly.nf == 0 && b->poly.nf == 0) {
        t = flat_gap(&a->poly, &b->poly, size);
    } else {
        axes x = all_axes(&a->poly, &b->poly, 0.01L * size);
        t = (truth){.core = x.best, .normal = x.normal, .unique = x.second < x.best - 1e-3L * size, .work = x.tried};
        if (x.best > 0) {
            closest c = features(&a->poly, &b->poly);
            t.core = c.distance;
            t.core_apart = 1;
            t.unique |= c.distance > 1e-9L * size; /* two corners that touch have many */
            t.work += c.tried;
            if (c.distance > 1e-15L * size) { /* of two points that nearly touch the difference is rounded off */
                vec n = times(1 / c.distance, c.difference);
                t.normal = core_separation(&a->poly, &b->poly, n, -HUGE_VALL) > x.best ? n : x.normal;
            }
        }
    }
    t.gap = t.core - a->radius - b->radius;
    return t;
}
