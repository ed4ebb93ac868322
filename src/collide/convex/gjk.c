/* GJK: distance and nearest points of two convex cores.
 *
 * The point v of D = A - B nearest to the origin, by the algorithm of Gilbert, Johnson and Keerthi (1988). v lies on a
 * simplex of at most four points of D. The point of D farthest against v joins it until none is nearer. |v| bounds the
 * distance from above.  From below u.w does, with u = v/|v| and w the new point (Frank and Wolfe's duality gap).  The
 * loop ends when the two meet, relative to the distance or to rounding.  The nearest point of a simplex is the best
 * over its sides, each by its own barycentric coordinates.  No case is excluded by a sign, which rounding may turn.
 *
 * Cost: a support point of both cores an iteration. */
#include "collide/convex/minkowski.h"
#include "collide/convex/polytope.h"

enum { MAX_ITERATIONS = 128 };

/* Rounding: of the foot on a plane against the farthest corner, and of a height against the corners; squares of ratios. */
static const double MAX_FOOT_RATIO_SQUARED = 1e-26, MAX_FLAT_RATIO_SQUARED = 1e-28;

/* The nearest point of a segment, triangle or tetrahedron: its corners by index, and weights. */
typedef struct nearest {
    double square; /* |v|^2 */
    v3 v;
    int count, corner[4];
    double weight[4];
} nearest;

static void nearest_of_point(const v3 *p, int i, nearest *out) {
    double square = v3_dot(p[i], p[i]);
    if (square < out->square) {
        *out = (nearest){square, p[i], 1, {i}, {1}};
    }
}

static void nearest_of_segment(const v3 *p, int i, int j, nearest *out) {
    v3 e = v3_sub(p[j], p[i]);
    double length = v3_dot(e, e), t = -v3_dot(p[i], e);
    if (t <= 0 || !(length > 0)) {
        nearest_of_point(p, i, out);
        return;
    }
    if (t >= length) {
        nearest_of_point(p, j, out);
        return;
    }
    t /= length;
    v3 v = v3_axpy(p[i], t, e);
    v = v3_axpy(v, -v3_dot(v, e) / length, e); /* at right angles to e even where p is long */
    double square = v3_dot(v, v);
    if (square < out->square) {
        *out = (nearest){square, v, 2, {i, j}, {1 - t, t}};
    }
}

/* A point nearer than before has a part of the newest corner in it: the sides without that one are left out.  Here that
 * is k; n stands at right angles to the triangle.  The foot of the origin on the plane counts only where the weighted
 * corners add up to it.  The normal of a sliver may point anywhere. */
static void nearest_of_triangle(const v3 *p, int i, int j, int k, v3 n, nearest *out) {
    double area = v3_dot(n, n), x = v3_dot(p[i], p[i]), y = v3_dot(p[j], p[j]), z = v3_dot(p[k], p[k]);
    if (area > 0) {
        v3 near = x <= y && x <= z ? p[i] : y <= z ? p[j] : p[k], foot = v3_scale(v3_dot(n, near) / area, n);
        v3 a = v3_sub(p[i], foot), b = v3_sub(p[j], foot), c = v3_sub(p[k], foot);
        double s[3] = {v3_dot(n, v3_cross(b, c)), v3_dot(n, v3_cross(c, a)), v3_dot(n, v3_cross(a, b))};
        if (s[0] > 0 && s[1] > 0 && s[2] > 0) {
            double over = 1 / (s[0] + s[1] + s[2]), square = v3_dot(foot, foot);
            v3 off = v3_axpy(v3_axpy(v3_scale(over * s[0], a), over * s[1], b), over * s[2], c);
            if (v3_dot(off, off) <= MAX_FOOT_RATIO_SQUARED * max_of(x, max_of(y, z))) {
                if (square < out->square) {
                    *out = (nearest){square, foot, 3, {i, j, k}, {over * s[0], over * s[1], over * s[2]}};
                }
                return;
            }
        }
    }
    nearest_of_segment(p, j, k, out);
    nearest_of_segment(p, i, k, out);
}

static void nearest_of_tetrahedron(const v3 *p, nearest *out) {
    static const int side[4][4] = {
        {1, 2, 3, 0}, {0, 2, 3, 1}, {0, 1, 3, 2}, {0, 1, 2, 3}}; /* the last stands opposite */
    bool inside = true;
    double reach =
        max_of(max_of(v3_dot(p[0], p[0]), v3_dot(p[1], p[1])), max_of(v3_dot(p[2], p[2]), v3_dot(p[3], p[3])));
    for (int f = 0; f < 4; f++) {
        const int *c = side[f];
        v3 n = triangle_normal(p[c[0]], p[c[1]], p[c[2]]);
        double origin = -v3_dot(n, p[c[0]]), corner = v3_dot(n, v3_sub(p[c[3]], p[c[0]]));
        bool flat =
            corner * corner <= MAX_FLAT_RATIO_SQUARED * v3_dot(n, n) * reach; /* the side is decided by rounding */
        if (flat || !(origin * corner > 0)) {
            inside = false;
            if (f < 3) {
                nearest_of_triangle(p, c[0], c[1], c[2], n, out);
            }
        }
    }
    if (inside) {
        *out = (nearest){0, {0, 0, 0}, 4, {0, 1, 2, 3}, {0.25, 0.25, 0.25, 0.25}};
    }
}

/* Johnson's subproblem: the point of the simplex nearest to the origin, by the number of corners. */
static void nearest_of_simplex(const gjk_result *g, nearest *out) {
    v3 p[4];
    for (int k = 0; k < g->count; k++) {
        p[k] = g->corner[k].d;
    }
    out->square = HUGE_VAL;
    out->count = 0;
    switch (g->count) {
    case 1:
        nearest_of_point(p, 0, out);
        break;
    case 2:
        nearest_of_segment(p, 0, 1, out);
        break;
    case 3:
        nearest_of_triangle(p, 0, 1, 2, triangle_normal(p[0], p[1], p[2]), out);
        break;
    default:
        nearest_of_tetrahedron(p, out);
    }
}

/* Corners keep their order. */
static void keep_nearest(gjk_result *g, const nearest *n) {
    for (int k = 0; k < n->count; k++) {
        if (n->corner[k] != k) {
            g->corner[k] = g->corner[n->corner[k]];
        }
        g->weight[k] = n->weight[k];
    }
    g->count = n->count;
    g->nearest = n->v;
    g->above = sqrt(n->square);
}

static bool has_corner(const gjk_result *g, v3 d) {
    for (int k = 0; k < g->count; k++) {
        v3 e = g->corner[k].d;
        if (e.x == d.x && e.y == d.y && e.z == d.z) {
            return true;
        }
    }
    return false;
}

void gjk_start(const minkowski *m, v3 against, gjk_result *g) {
    v3 u = v3_scale(-1 / v3_norm(against), against);
    *g = (gjk_result){.count = 1, .weight = {1}, .below = -HUGE_VAL, .axis = u};
    g->corner[0] = mink_support(m, u);
    g->below = -v3_dot(u, g->corner[0].d);
    g->nearest = g->corner[0].d;
    g->above = v3_norm(g->nearest);
}

/* Of directions that are as good to rounding the last: it comes from the nearest point. */
static void update_lower_bound(gjk_result *g, v3 u, double h, double grain) {
    if (-h > g->below - grain) {
        g->below = max_of(-h, g->below);
        g->axis = u;
    }
}

/* Takes a point of D into the simplex.  0 when that brings nothing nearer. */
static bool add_to_simplex(gjk_result *g, const mink_point *w) {
    if (has_corner(g, w->d)) {
        return false;
    }
    g->corner[g->count++] = *w;
    nearest next;
    nearest_of_simplex(g, &next);
    if (next.count < 4 && !(next.square < (1 - 8 * DBL_EPSILON) * g->above * g->above)) { /* corners are as they were */
        g->count--;
        return false;
    }
    keep_nearest(g, &next);
    return true;
}

bool gjk_offer(const minkowski *m, v3 u, gjk_result *g) {
    mink_point w = mink_support(m, u);
    update_lower_bound(g, u, v3_dot(u, w.d), m->grain);
    return add_to_simplex(g, &w);
}

void gjk_go(const minkowski *m, double far, double tolerance, gjk_result *g) {
    for (; g->iterations < MAX_ITERATIONS && g->count < 4 && g->above > m->grain; g->iterations++) {
        v3 u = v3_scale(-1 / g->above, g->nearest);
        mink_point w = mink_support(m, u);
        update_lower_bound(g, u, v3_dot(u, w.d), m->grain);
        g->beyond = g->below > far;
        if (g->beyond || g->above - g->below <= tolerance || !add_to_simplex(g, &w)) {
            return;
        }
    }
}
