/* Two faces lie against each other: how large is what they have in common, and how much of it do the contact points
 * span?
 *
 * The largest quadrilateral in any convex figure has at least 2/pi of its area, so four points can always span more
 * than half. */
#include "check.h"

enum { CORNERS = 2 * POLY_CORNERS };

typedef struct figure {
    int count;
    vec at[CORNERS];
} figure;

static int facing(const solid *s, vec n, figure *out) {
    for (int f = 0; f < s->poly.nf; f++) {
        if (length(minus(s->poly.normal[f], n)) < 1e-12L) {
            out->count = s->poly.corners[f];
            for (int k = 0; k < out->count; k++) {
                out->at[k] = s->poly.v[s->poly.loop[f][k]];
            }
            return 1;
        }
    }
    return 0;
}

/* The part of the figure with (x - p).out <= 0. */
static void cut(figure *f, vec p, vec out) {
    figure kept = {0};
    for (int k = 0; k < f->count; k++) {
        vec u = f->at[k], w = f->at[(k + 1) % f->count];
        real du = dot(minus(u, p), out), dw = dot(minus(w, p), out);
        if (du <= 0 && kept.count < CORNERS) {
            kept.at[kept.count++] = u;
        }
        if (du * dw < 0 && kept.count < CORNERS) {
            kept.at[kept.count++] = along(u, du / (du - dw), minus(w, u));
        }
    }
    *f = kept;
}

static real area_of(const vec *at, int count, vec n) {
    vec sum = {0, 0, 0};
    for (int k = 1; k + 1 < count; k++) {
        sum = plus(sum, cross(minus(at[k], at[0]), minus(at[k + 1], at[0])));
    }
    return fabsl(dot(sum, n)) / 2;
}

real faces_in_common(const solid *a, const solid *b, vec n, real *smaller) {
    figure f, g;
    if (a->radius > 0 || b->radius > 0 || (a->kind != SOLID_POLY && a->kind != SOLID_HALF_SPACE) ||
        (b->kind != SOLID_POLY && b->kind != SOLID_HALF_SPACE)) {
        return -1;
    }
    int on_a = a->kind == SOLID_HALF_SPACE || facing(a, times(-1, n), &f);
    int on_b = b->kind == SOLID_HALF_SPACE || facing(b, n, &g);
    if (!on_a || !on_b) {
        return -1;
    }
    f = a->kind == SOLID_HALF_SPACE ? g : f;
    g = b->kind == SOLID_HALF_SPACE ? f : g;
    *smaller = real_min(area_of(f.at, f.count, n), area_of(g.at, g.count, n));
    vec middle = {0, 0, 0};
    for (int k = 0; k < g.count; k++) {
        middle = along(middle, 1 / (real)g.count, g.at[k]);
    }
    for (int k = 0; k < g.count; k++) {
        vec u = g.at[k], out = unit(cross(minus(g.at[(k + 1) % g.count], u), n));
        cut(&f, u, dot(minus(middle, u), out) > 0 ? times(-1, out) : out);
    }
    return area_of(f.at, f.count, n);
}

/* Of four points at most: of all ways round the largest. */
real spanned_area(const sim_contact_point *c, int count, vec n) {
    static const int way[7][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 1, 2, 2},
                                  {0, 1, 3, 3}, {0, 2, 3, 3}, {1, 2, 3, 3}};
    real best = 0;
    for (int w = 0; w < 7; w++) {
        vec at[4];
        for (int k = 0; k < 4; k++) {
            at[k] = vec_from(c[way[w][k] < count ? way[w][k] : count - 1].position);
        }
        best = real_max(best, area_of(at, 4, n));
    }
    return best;
}
