/* Shapes as the oracle's convex solids: where they stand, how far they reach, where their surface is. */
#include "oracle.h"

#include <assert.h>

static void box_poly(poly *p, vec half) {
    vec corner[8];
    for (int k = 0; k < 8; k++) {
        corner[k] = vec_of(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
    }
    poly_hull(p, corner, 8);
}

static void segment_poly(poly *p, real half) {
    p->nv = half > 0 ? 2 : 1;
    p->v[0] = vec_of(0, 0, half);
    p->v[1] = vec_of(0, 0, -half);
    p->nf = 0;
    p->ne = half > 0 ? 1 : 0;
    p->edge[0][0] = 0;
    p->edge[0][1] = 1;
}

/* The same vertices are hulled again and again: the last few are remembered. */
static void cached_hull(poly *p, const sim_v3 *vertex, int count) {
    enum { KEPT = 48 };
    static struct {
        const void *of;
        sim_v3 last;
        poly poly;
    } kept[KEPT];
    static int next;
    for (int k = 0; k < KEPT; k++) {
        sim_v3 l = kept[k].last, v = vertex[count - 1];
        if (kept[k].of == vertex && kept[k].poly.nv == count && l.x == v.x && l.y == v.y && l.z == v.z) {
            *p = kept[k].poly;
            return;
        }
    }
    vec point[POLY_VERTICES];
    assert(count <= POLY_VERTICES);
    for (int k = 0; k < count; k++) {
        point[k] = vec_from(vertex[k]);
    }
    poly_hull(p, point, count);
    kept[next].of = vertex;
    kept[next].last = vertex[count - 1];
    kept[next].poly = *p;
    next = (next + 1) % KEPT;
}

static real narrowest(const poly *p) {
    real least = HUGE_VALL;
    for (int f = 0; f < p->nf; f++) {
        real low = HUGE_VALL, high = -HUGE_VALL;
        for (int k = 0; k < p->nv; k++) {
            real s = dot(p->normal[f], p->v[k]);
            low = real_min(low, s);
            high = real_max(high, s);
        }
        least = real_min(least, high - low);
    }
    return least;
}

static int fill(const sim_shape *shape, solid *s) {
    vec size = vec_of(shape->size[0], shape->size[1], shape->size[2]);
    switch (shape->type) {
    case SIM_SPHERE:
    case SIM_CAPSULE:
        s->kind = SOLID_POLY;
        s->radius = size.x;
        segment_poly(&s->poly, shape->type == SIM_SPHERE ? 0 : size.y / 2);
        s->least = 2 * s->radius;
        return 1;
    case SIM_BOX:
        s->kind = SOLID_POLY;
        box_poly(&s->poly, times(0.5L, size));
        s->least = real_min(size.x, real_min(size.y, size.z));
        return 1;
    case SIM_CYLINDER:
        s->kind = SOLID_CYLINDER;
        s->half = vec_of(size.x, size.x, size.y / 2);
        s->least = real_min(2 * size.x, size.y);
        s->extent = real_hypot(size.x, size.y / 2);
        return 1;
    case SIM_ELLIPSOID:
        s->kind = SOLID_ELLIPSOID;
        s->half = size;
        s->least = 2 * real_min(size.x, real_min(size.y, size.z));
        s->extent = real_max(size.x, real_max(size.y, size.z));
        return 1;
    case SIM_HALF_SPACE:
        s->kind = SOLID_HALF_SPACE;
        s->least = HUGE_VALL;
        return 1;
    case SIM_CONVEX:
    case SIM_MESH: {
        const sim_geometry *g = shape->geometry;
        if (shape->type == SIM_MESH && !g->mesh->convex) {
            return 0;
        }
        s->kind = SOLID_POLY;
        cached_hull(&s->poly, shape->type == SIM_MESH ? g->mesh->vertex : g->hull->vertex,
                    shape->type == SIM_MESH ? g->mesh->nvertex : g->hull->nvertex);
        s->least = narrowest(&s->poly);
        return 1;
    }
    default:
        return 0;
    }
}

int solid_of(const sim_shape *shape, const sim_pose *X, vec origin, solid *s) {
    s->radius = s->extent = 0;
    s->poly.nv = s->poly.nf = s->poly.ne = 0;
    s->R = mat_from(X->R);
    s->p = minus(vec_from(X->p), origin);
    if (!fill(shape, s)) {
        return 0;
    }
    for (int k = 0; k < s->poly.nv; k++) {
        s->extent = real_max(s->extent, length(s->poly.v[k]));
        s->poly.v[k] = plus(s->p, turn(s->R, s->poly.v[k]));
    }
    s->extent += s->radius;
    for (int f = 0; f < s->poly.nf; f++) {
        s->poly.normal[f] = turn(s->R, s->poly.normal[f]);
    }
    return 1;
}

void solid_move(solid *s, vec step) {
    s->p = plus(s->p, step);
    for (int k = 0; k < s->poly.nv; k++) {
        s->poly.v[k] = plus(s->poly.v[k], step);
    }
}

vec solid_support(const solid *s, vec n) {
    if (s->kind == SOLID_POLY) {
        int best = 0;
        real far = -HUGE_VALL;
        for (int k = 0; k < s->poly.nv; k++) {
            real d = dot(n, s->poly.v[k]);
            if (d > far) {
                far = d;
                best = k;
            }
        }
        return s->poly.v[best];
    }
    vec d = turn_back(s->R, n), h = s->half, at;
    if (s->kind == SOLID_CYLINDER) {
        real across = real_hypot(d.x, d.y), k = across > 0 ? h.x / across : 0;
        at = vec_of(k * d.x, k * d.y, d.z < 0 ? -h.z : h.z);
    } else {
        vec e = vec_of(h.x * d.x, h.y * d.y, h.z * d.z);
        real k = 1 / length(e);
        at = vec_of(k * h.x * e.x, k * h.y * e.y, k * h.z * e.z);
    }
    return plus(s->p, turn(s->R, at));
}

static real core_high(const solid *s, vec n) {
    if (s->kind == SOLID_HALF_SPACE) {
        return dot(n, s->R.z) > 1 - 1e-7L ? dot(s->R.z, s->p) : HUGE_VALL;
    }
    return dot(n, solid_support(s, n));
}

real solid_separation(const solid *a, const solid *b, vec n) {
    return -core_high(a, times(-1, n)) - core_high(b, n) - a->radius - b->radius;
}

static int inside_faces(const poly *p, vec x) {
    for (int f = 0; f < p->nf; f++) {
        if (dot(p->normal[f], minus(x, p->v[p->loop[f][0]])) > 0) {
            return 0;
        }
    }
    return p->nf > 0;
}

static vec nearest_of_poly(const poly *p, vec x) {
    if (inside_faces(p, x)) {
        return x;
    }
    static solid point, body;
    point.kind = body.kind = SOLID_POLY;
    point.poly.nv = 1;
    point.poly.v[0] = x;
    point.least = body.least = 1;
    body.poly = *p;
    truth t = poly_gap(&point, &body);
    return along(x, -t.core, t.normal);
}

/* Lagrange: x_i = h_i^2 y_i / (h_i^2 + t), with t >= 0 such that sum (h_i y_i / (h_i^2 + t))^2 = 1; by Newton. */
static vec nearest_of_ellipsoid(vec h, vec y) {
    vec hy = vec_of(h.x * y.x, h.y * y.y, h.z * y.z), hh = vec_of(h.x * h.x, h.y * h.y, h.z * h.z);
    real t = 0;
    for (int k = 0; k < 200; k++) {
        vec q = vec_of(hy.x / (hh.x + t), hy.y / (hh.y + t), hy.z / (hh.z + t));
        real f = dot(q, q) - 1;
        real slope = -2 * (q.x * q.x / (hh.x + t) + q.y * q.y / (hh.y + t) + q.z * q.z / (hh.z + t));
        if (f <= 1e-18L) {
            break;
        }
        t -= f / slope;
    }
    return t == 0 ? y : vec_of(hh.x * y.x / (hh.x + t), hh.y * y.y / (hh.y + t), hh.z * y.z / (hh.z + t));
}

vec solid_nearest(const solid *s, vec x) {
    if (s->kind == SOLID_POLY) {
        return nearest_of_poly(&s->poly, x);
    }
    vec y = turn_back(s->R, minus(x, s->p)), h = s->half;
    if (s->kind == SOLID_ELLIPSOID) {
        y = nearest_of_ellipsoid(h, y);
    } else if (s->kind == SOLID_HALF_SPACE) {
        y.z = real_min(y.z, 0.0L);
    } else {
        real r = real_hypot(y.x, y.y), k = r > h.x ? h.x / r : 1;
        y = vec_of(k * y.x, k * y.y, real_max(-h.z, real_min(h.z, y.z)));
    }
    return plus(s->p, turn(s->R, y));
}

real solid_surface(const solid *s, vec x) {
    vec y = turn_back(s->R, minus(x, s->p)), h = s->half;
    if (s->kind == SOLID_HALF_SPACE) {
        return y.z;
    }
    if (s->kind == SOLID_CYLINDER) {
        real r = real_hypot(y.x, y.y) - h.x, z = fabsl(y.z) - h.z;
        return r > 0 && z > 0 ? real_hypot(r, z) : real_max(r, z);
    }
    if (s->kind == SOLID_ELLIPSOID) {
        real k = length(vec_of(y.x / h.x, y.y / h.y, y.z / h.z));
        real g = length(vec_of(y.x / (h.x * h.x), y.y / (h.y * h.y), y.z / (h.z * h.z)));
        return g > 0 ? k * (k - 1) / g : -real_min(h.x, real_min(h.y, h.z));
    }
    if (inside_faces(&s->poly, x)) {
        real high = -HUGE_VALL;
        for (int f = 0; f < s->poly.nf; f++) {
            high = real_max(high, dot(s->poly.normal[f], minus(x, s->poly.v[s->poly.loop[f][0]])));
        }
        return high - s->radius;
    }
    return length(minus(x, nearest_of_poly(&s->poly, x))) - s->radius;
}
