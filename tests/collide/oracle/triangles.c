/* Distance of a convex solid from a surface of triangles: the least over all of them. */
#include "triangles.h"

#include <stdlib.h>

static void add(triangles *t, vec a, vec b, vec c) {
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        t->corner = realloc(t->corner, (size_t)t->room * sizeof *t->corner);
    }
    t->corner[t->count][0] = a;
    t->corner[t->count][1] = b;
    t->corner[t->count++][2] = c;
}

static vec height_at(const sim_heights *h, int i, int j) {
    return vec_of((i / (h->columns - 1.0L) - 0.5L) * h->size[0], (j / (h->rows - 1.0L) - 0.5L) * h->size[1],
                  h->height[j * h->columns + i]);
}

void triangles_of(const sim_geometry *g, const sim_pose *X, vec origin, triangles *t) {
    t->count = 0;
    t->closed = g->mesh ? g->mesh->closed : 0;
    for (int k = 0; g->mesh && k < g->mesh->ntriangle; k++) {
        const int *c = g->mesh->triangle[k];
        add(t, vec_from(g->mesh->vertex[c[0]]), vec_from(g->mesh->vertex[c[1]]), vec_from(g->mesh->vertex[c[2]]));
    }
    for (int j = 0; g->heights && j + 1 < g->heights->rows; j++) {
        for (int i = 0; i + 1 < g->heights->columns; i++) {
            vec p = height_at(g->heights, i, j), q = height_at(g->heights, i + 1, j);
            vec r = height_at(g->heights, i + 1, j + 1), s = height_at(g->heights, i, j + 1);
            add(t, p, q, r);
            add(t, p, r, s);
        }
    }
    mat R = mat_from(X->R);
    vec p = minus(vec_from(X->p), origin);
    for (int k = 0; k < t->count; k++) {
        for (int i = 0; i < 3; i++) {
            t->corner[k][i] = plus(p, turn(R, t->corner[k][i]));
        }
    }
}

void triangles_free(triangles *t) {
    free(t->corner);
    *t = (triangles){0};
}

void triangle_solid(solid *s, const vec c[3]) {
    vec n = cross(minus(c[1], c[0]), minus(c[2], c[0]));
    s->kind = SOLID_POLY;
    s->radius = 0;
    s->poly.nv = s->poly.ne = 3;
    s->poly.nf = 2;
    s->extent = 0;
    s->p = c[0];
    for (int i = 0; i < 3; i++) {
        s->poly.v[i] = c[i];
        s->poly.edge[i][0] = i;
        s->poly.edge[i][1] = (i + 1) % 3;
        s->poly.loop[0][i] = i;
        s->poly.loop[1][i] = 2 - i;
        s->extent = real_max(s->extent, length(minus(c[i], c[0])));
    }
    s->least = s->extent;
    s->poly.corners[0] = s->poly.corners[1] = 3;
    s->poly.normal[0] = unit(n);
    s->poly.normal[1] = times(-1, s->poly.normal[0]);
}

/* Nothing of the triangle can be nearer to p than this. */
static real at_least(const vec c[3], vec p) {
    vec middle = times(1 / 3.0L, plus(c[0], plus(c[1], c[2])));
    real r = 0;
    for (int i = 0; i < 3; i++) {
        r = real_max(r, length(minus(c[i], middle)));
    }
    return length(minus(p, middle)) - r;
}

real triangles_gap(const triangles *t, const solid *a, vec *normal, int *which) {
    static solid s;
    real best = HUGE_VALL;
    for (int k = 0; k < t->count; k++) {
        if (a->kind != SOLID_HALF_SPACE && at_least(t->corner[k], a->p) - a->extent >= best) {
            continue;
        }
        triangle_solid(&s, t->corner[k]);
        truth g = solid_gap(a, &s);
        if (g.gap < best) {
            best = g.gap;
            *normal = g.normal;
            *which = k;
        }
    }
    return real_max(best, 0);
}

real triangles_distance(const triangles *t, vec p) {
    static solid point;
    point.kind = SOLID_POLY;
    point.poly.nv = 1;
    point.poly.v[0] = point.p = p;
    point.least = 1;
    vec normal;
    int which;
    return triangles_gap(t, &point, &normal, &which);
}

real triangles_winding(const triangles *t, vec p) {
    real sum = 0;
    for (int k = 0; k < t->count; k++) {
        vec a = minus(t->corner[k][0], p), b = minus(t->corner[k][1], p), c = minus(t->corner[k][2], p);
        real la = length(a), lb = length(b), lc = length(c);
        sum += atan2l(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
    }
    return sum / (2 * acosl(-1.0L));
}
