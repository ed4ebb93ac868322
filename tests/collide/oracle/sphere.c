/* The gap of any two convex solids, by branch and bound over the sphere of directions.
 *
 * g(n) = n.w(n) with w(n) the point of the Minkowski difference A - B least far along n; the gap is the greatest g over
 * unit n.  For any n at an angle t from c, g(n) <= n.w(c) <= cos t (c.w(c)) + sin t |w(c) - (c.w(c)) c|, so one support
 * bounds a whole cell of directions; so does any mean of such points. A mean that lies near the line along c bounds it
 * well where the support jumps from corner to corner.  Cells of a cube's faces are cut in four, the most promising
 * first, until none promises more than what is found. */
#include "oracle.h"

#include <stdlib.h>

typedef struct cell {
    double bound, u, v, half;
    double z[3]; /* a point of A - B, mean of supports nearby */
    int side;
} cell;

typedef struct search {
    const solid *a, *b;
    cell *heap;
    int count, room;
    real best;
    real nearest; /* of the points of A - B met, the distance from the origin: where the solids are apart, a bound */
    vec normal;
    long work;
} search;

static void push(search *s, cell c) {
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 4096;
        s->heap = realloc(s->heap, (size_t)s->room * sizeof *s->heap);
    }
    int k = s->count++;
    for (; k > 0 && s->heap[(k - 1) / 2].bound < c.bound; k = (k - 1) / 2) {
        s->heap[k] = s->heap[(k - 1) / 2];
    }
    s->heap[k] = c;
}

static cell pop(search *s) {
    cell top = s->heap[0], last = s->heap[--s->count];
    int k = 0;
    for (;;) {
        int child = 2 * k + 1;
        if (child + 1 < s->count && s->heap[child + 1].bound > s->heap[child].bound) {
            child++;
        }
        if (child >= s->count || s->heap[child].bound <= last.bound) {
            break;
        }
        s->heap[k] = s->heap[child];
        k = child;
    }
    s->heap[k] = last;
    return top;
}

static vec on_side(int side, real u, real v) {
    real w = side & 1 ? -1 : 1;
    return side < 2 ? vec_of(w, u, v) : side < 4 ? vec_of(v, w, u) : vec_of(u, v, w);
}

/* The most that n.w reaches over unit n within t of c. */
static real cap_bound(vec w, vec c, real t) {
    real g = dot(c, w), across = length(along(w, -g, c));
    return g > 0 && tanl(t) * g >= across ? length(w) : g * cosl(t) + sinl(t) * across;
}

/* Of the points of the segment from w to z the one nearest to the line along c. */
static vec nearest_to_line(vec w, vec z, vec c) {
    vec p = along(w, -dot(c, w), c), d = minus(along(z, -dot(c, z), c), p);
    real dd = dot(d, d), t = dd > 0 ? -dot(p, d) / dd : 0;
    return along(w, real_max(0, real_min(1, t)), minus(z, w));
}

static void attain(search *s, vec c, real g) {
    s->work++;
    if (g > s->best) {
        s->best = g;
        s->normal = c;
    }
}

/* The directions that see two corners equally far are a ridge of g: step onto it. */
static void try_ridge(search *s, vec c, vec corner, vec other) {
    vec e = minus(corner, other);
    real ee = dot(e, e);
    if (ee > 0) {
        vec n = unit(along(c, -dot(c, e) / ee, e));
        attain(s, n, dot(n, minus(solid_support(s->a, times(-1, n)), solid_support(s->b, n))));
    }
}

static vec difference(const search *s, vec n) {
    return minus(solid_support(s->a, times(-1, n)), solid_support(s->b, n));
}

/* Where a ridge of g crosses a cell or passes close by, points a little beyond its corners see both sides of it. */
static vec mean_of_corners(search *s, const cell *q, vec c, vec z) {
    vec w[4];
    double h = 1.6 * q->half;
    for (int k = 0; k < 4; k++) {
        w[k] = difference(s, on_side(q->side, q->u + (k & 1 ? h : -h), q->v + (k & 2 ? h : -h)));
        s->work++;
    }
    for (int k = 0; k < 8; k++) {
        z = nearest_to_line(w[k & 3], z, c);
    }
    return z;
}

static void visit(search *s, int side, double u, double v, double half, const double *hint) {
    cell q = {.u = u, .v = v, .half = half, .side = side};
    vec c = on_side(side, u, v);
    real far = length(c), step = sqrtl(2.0L) * half / far;
    c = times(1 / far, c);
    vec w = difference(s, c), z = w;
    real g = dot(c, w), t = step / (1 - step), bound = cap_bound(w, c, t);
    attain(s, c, g);
    if (hint && bound > s->best) {
        z = nearest_to_line(w, vec_of(hint[0], hint[1], hint[2]), c);
        bound = real_min(bound, cap_bound(z, c, t));
        if (bound > s->best) {
            vec fresh = mean_of_corners(s, &q, c, w); /* without what farther cells left behind */
            if (cap_bound(fresh, c, t) < cap_bound(z, c, t)) {
                z = fresh;
            }
            bound = real_min(bound, cap_bound(z, c, t));
            s->nearest = real_min(s->nearest, length(z));
            try_ridge(s, c, w, z);
            if (dot(z, z) > 0) {
                vec n = times(dot(c, z) < 0 ? -1 / length(z) : 1 / length(z), z);
                attain(s, n, dot(n, difference(s, n)));
            }
        }
    }
    q.bound = (double)bound;
    q.z[0] = (double)z.x;
    q.z[1] = (double)z.y;
    q.z[2] = (double)z.z;
    push(s, q);
}

/* The most that any direction at least 0.2 rad away can reach. */
static real elsewhere(const search *s) {
    real second = -HUGE_VALL;
    enum { N = 12 };
    for (int side = 0; side < 6; side++) {
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                vec c = unit(on_side(side, (2 * i + 1.0L) / N - 1, (2 * j + 1.0L) / N - 1));
                if (dot(c, s->normal) < cosl(0.33L)) {
                    second = real_max(second, cap_bound(difference(s, c), c, 0.13L));
                }
            }
        }
    }
    return second;
}

truth sphere_gap(const solid *a, const solid *b, real tolerance, long budget) {
    search s = {.a = a, .b = b, .best = -HUGE_VALL, .nearest = HUGE_VALL};
    enum { N = 4 };
    for (int side = 0; side < 6; side++) {
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                visit(&s, side, (2 * i + 1.0) / N - 1, (2 * j + 1.0) / N - 1, 1.0 / N, NULL);
            }
        }
    }
    real top = s.heap[0].bound;
    while (s.count && s.work < budget) {
        top = s.heap[0].bound;
        if (s.best > 0) {
            top = real_min(top, s.nearest);
        }
        if (top <= s.best + tolerance) {
            break;
        }
        cell c = pop(&s);
        double h = c.half / 2;
        for (int k = 0; k < 4; k++) {
            visit(&s, c.side, c.u + (k & 1 ? h : -h), c.v + (k & 2 ? h : -h), h, c.z);
        }
    }
    truth t = {.core = s.best,
               .beyond = real_max(0.0L, top - s.best),
               .normal = s.normal,
               .core_apart = s.best > 0,
               .gap = s.best - a->radius - b->radius,
               .work = s.work};
    real size = real_min(a->least, b->least);
    t.unique = s.best > 1e-9L * size || elsewhere(&s) < s.best - 1e-3L * size;
    free(s.heap);
    return t;
}

static truth against_half_space(const solid *a, const solid *b) {
    const solid *ground = a->kind == SOLID_HALF_SPACE ? a : b, *other = ground == a ? b : a;
    vec up = unit(ground->R.z);
    real core = dot(up, minus(solid_support(other, times(-1, up)), ground->p));
    return (truth){.gap = core - other->radius,
                   .normal = ground == a ? times(-1, up) : up,
                   .unique = 1,
                   .core = core,
                   .core_apart = core > 0,
                   .work = 1};
}

truth solid_gap(const solid *a, const solid *b) {
    if (a->kind == SOLID_HALF_SPACE || b->kind == SOLID_HALF_SPACE) {
        return against_half_space(a, b);
    }
    if (a->kind == SOLID_POLY && b->kind == SOLID_POLY) {
        return poly_gap(a, b);
    }
    return sphere_gap(a, b, 1e-8L * real_min(a->least, b->least), 60000);
}

/* Nesterov's accelerated gradient on |a - b|^2 / 2, each step projected onto the solids; started anew where it
 * overshoots. */
real nearest_points(const solid *a, const solid *b, int iterations, vec *on_a, vec *on_b) {
    vec x = solid_nearest(a, b->p), y = solid_nearest(b, x), px = x, py = y;
    real momentum = 1, last = length(minus(x, y));
    for (int k = 0; k < iterations; k++) {
        vec d = minus(px, py);
        vec nx = solid_nearest(a, along(px, -0.5L, d)), ny = solid_nearest(b, along(py, 0.5L, d));
        real now = length(minus(nx, ny)), next = (1 + sqrtl(1 + 4 * momentum * momentum)) / 2;
        real push_on = now > last ? 0 : (momentum - 1) / next;
        px = along(nx, push_on, minus(nx, x));
        py = along(ny, push_on, minus(ny, y));
        momentum = now > last ? 1 : next;
        x = nx;
        y = ny;
        last = now;
    }
    *on_a = x;
    *on_b = y;
    return last;
}
