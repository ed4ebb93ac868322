/* Coarsening of the triangles of a field.
 *
 * Edges are collapsed onto one of their ends (H. Hoppe, T. DeRose, T. Duchamp, J. McDonald, W. Stuetzle 1993, "Mesh
 * optimization"; the half-edge form keeps corners on the surface), the shortest first, under two conditions.  Its two
 * ends have just two neighbours in common, so the topology stays (Dey, Edelsbrunner, Guha, Nekhayev 1999).  Each new
 * triangle lies along the field's surface: distance small, gradient along the normal.  So flanks, walls and rims keep
 * their shape, while triangles grow along them. */
#include "geometry/field/field_mesh.h"

#include <stdlib.h>

enum { MAX_RING_TRIANGLES = 48, MAX_PASSES = 16 };
/* How far triangles may be off the surface: of the spacing, and of the thinnest walls and ridges. */
static const double MAX_OFF_OVER_SPACING = 0.05, MAX_OFF_OVER_DETAIL = 0.3;
static const double MIN_GRADIENT_COSINE = 0.85; /* cosine between a triangle's normal and the gradient over it */
static const double MIN_AREA_OVER_EDGE2 = 0.04, EDGE_GROWTH_FACTOR = 1.3;

/* How a triangle stands to the surface: the least cosine between its normal and the gradient over it, and how far it is
 * off. */
typedef struct stand {
    double along, off;
} stand;

typedef struct coarsener {
    const sim_field *field;
    const v3 *vertex;
    int (*triangle)[3];
    int ntriangle;
    int *head, *next; /* corners at each vertex, chained; corner 3 t + k; dead triangles have triangle[t][0] < 0 */
    stand *stand;     /* of each triangle */
    double spacing, off;
} coarsener;

/* Triangles alive at vertex v; forgets dead ones.  More than `room`: -1. */
static int ring_of(coarsener *c, int v, int ring[MAX_RING_TRIANGLES]) {
    int count = 0, *from = &c->head[v];
    while (*from >= 0) {
        int corner = *from, t = corner / 3;
        if (c->triangle[t][0] < 0) {
            *from = c->next[corner];
            continue;
        }
        if (count == MAX_RING_TRIANGLES) {
            return -1;
        }
        ring[count++] = t;
        from = &c->next[corner];
    }
    return count;
}

static int place_in(const int t[3], int v) { return t[0] == v ? 0 : t[1] == v ? 1 : t[2] == v ? 2 : -1; }

/* Corners of the ring other than `v`, each once. */
static int neighbours_of(const coarsener *c, const int *ring, int count, int v, int found[2 * MAX_RING_TRIANGLES]) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            int w = c->triangle[ring[i]][k], known = w == v;
            for (int j = 0; j < n && !known; j++) {
                known = found[j] == w;
            }
            if (!known) {
                found[n++] = w;
            }
        }
    }
    return n;
}

static v3 area_of(v3 a, v3 b, v3 c) { return v3_cross(v3_sub(b, a), v3_sub(c, a)); }

static stand stand_of(const coarsener *c, v3 u, v3 v, v3 w) {
    v3 area = area_of(u, v, w), middle = v3_scale(1.0 / 3, v3_add(u, v3_add(v, w))), g;
    double size = v3_norm(area);
    v3 n = v3_scale(size > 0 ? 1 / size : 0, area);
    stand s;
    s.off = fabs(sim_field_distance(c->field, middle, &g));
    s.along = v3_dot(g, n);
    for (int k = 0; k < 3; k++) { /* towards the corners too: next to sharp edges the middle says little */
        v3 corner = k == 0 ? u : k == 1 ? v : w;
        s.off = fmax(s.off, fabs(sim_field_distance(c->field, v3_axpy(middle, 0.7, v3_sub(corner, middle)), &g)));
        s.along = fmin(s.along, v3_dot(g, n));
    }
    return s;
}

/* May a triangle have these corners?  `old`: twice the area vector it comes from; `worst`: of the triangles that go. */
static bool is_good(const coarsener *c, v3 v, v3 a, v3 b, v3 old, stand worst) {
    double va = v3_norm(v3_sub(a, v)), vb = v3_norm(v3_sub(b, v)), ab = v3_norm(v3_sub(b, a));
    double longest = fmax(va, fmax(vb, ab));
    v3 area = area_of(v, a, b);
    double size = v3_norm(area);
    if (!(va <= c->spacing && vb <= c->spacing && size > MIN_AREA_OVER_EDGE2 * longest * longest) ||
        v3_dot(area, old) < 0.5 * size * v3_norm(old)) {
        return false;
    }
    stand s = stand_of(c, v, a, b);
    if (!(s.off <= worst.off && s.along >= worst.along)) {
        return false;
    }
    for (int k = 0; k < 2; k++) {
        v3 middle = v3_scale(0.5, v3_add(v, k ? b : a));
        if (!(fabs(sim_field_distance(c->field, middle, NULL)) <= worst.off)) {
            return false;
        }
    }
    return true;
}

/* Can `u` move to `v`?  `ring`: the triangles of u. */
static bool may_collapse(coarsener *c, int u, int v, const int *ring, int count, stand worst) {
    /* triangles around both vertices */
    int other[MAX_RING_TRIANGLES], near_u[2 * MAX_RING_TRIANGLES], near_v[2 * MAX_RING_TRIANGLES], common = 0;
    int nother = ring_of(c, v, other);
    if (nother < 0 || nother + count > MAX_RING_TRIANGLES) {
        return false;
    }
    /* link condition: the ends share two neighbours, and three are left */
    int nu = neighbours_of(c, ring, count, u, near_u), nv = neighbours_of(c, other, nother, v, near_v);
    for (int i = 0; i < nu; i++) {
        for (int j = 0; j < nv; j++) {
            common += near_u[i] == near_v[j];
        }
    }
    if (common != 2 || nu + nv - 4 < 3) {
        return false;
    }
    /* no triangle turns over or thins out */
    for (int i = 0; i < count; i++) {
        const int *t = c->triangle[ring[i]];
        int k = place_in(t, u);
        if (place_in(t, v) < 0) {
            v3 a = c->vertex[t[(k + 1) % 3]], b = c->vertex[t[(k + 2) % 3]];
            if (!is_good(c, c->vertex[v], a, b, area_of(c->vertex[u], a, b), worst)) {
                return false;
            }
        }
    }
    return true;
}

static int collapse_edge(coarsener *c, int u, int v, const int *ring, int count) {
    int gone = 0;
    for (int i = 0; i < count; i++) {
        int *t = c->triangle[ring[i]], k = place_in(t, u);
        if (place_in(t, v) >= 0) {
            t[0] = -1;
            gone++;
        } else {
            t[k] = v;
            c->next[3 * ring[i] + k] = c->head[v];
            c->head[v] = 3 * ring[i] + k;
            c->stand[ring[i]] = stand_of(c, c->vertex[t[0]], c->vertex[t[1]], c->vertex[t[2]]);
        }
    }
    c->head[u] = -1;
    return gone;
}

/* Moves `u` to the nearest of its neighbours that it may go to. */
static int try_collapse_vertex(coarsener *c, int u, double longest) {
    int ring[MAX_RING_TRIANGLES], near[2 * MAX_RING_TRIANGLES], count = ring_of(c, u, ring);
    int n = count > 0 ? neighbours_of(c, ring, count, u, near) : 0;
    double done = -1;
    stand worst = {MIN_GRADIENT_COSINE, c->off};
    for (int k = 0; n > 0 && k < count; k++) { /* where the drawing itself is poor its triangles may go all the same */
        worst.along = fmin(worst.along, c->stand[ring[k]].along);
        worst.off = fmax(worst.off, c->stand[ring[k]].off);
    }
    for (int tries = 0; tries < n; tries++) {
        int best = -1;
        double least = longest;
        for (int k = 0; k < n; k++) { /* in order of length; of equal ones the first only */
            double length = v3_norm(v3_sub(c->vertex[near[k]], c->vertex[u]));
            if (length > done && length < least) {
                least = length;
                best = near[k];
            }
        }
        if (best < 0) {
            return 0;
        }
        if (may_collapse(c, u, best, ring, count, worst)) {
            return collapse_edge(c, u, best, ring, count);
        }
        done = least;
    }
    return 0;
}

static double mean_edge(const coarsener *c) {
    double sum = 0;
    for (int t = 0; t < c->ntriangle; t++) {
        sum += v3_norm(v3_sub(c->vertex[c->triangle[t][1]], c->vertex[c->triangle[t][0]]));
    }
    return sum / c->ntriangle;
}

static int coarsen_mesh(coarsener *c, int nvertex) {
    double longest = 0.7 * mean_edge(c);
    for (int pass = 0; pass < MAX_PASSES && longest < c->spacing * EDGE_GROWTH_FACTOR;
         pass++, longest *= EDGE_GROWTH_FACTOR) {
        for (int v = 0; v < nvertex; v++) {
            try_collapse_vertex(c, v, fmin(longest, c->spacing));
        }
    }
    int left = 0;
    for (int t = 0; t < c->ntriangle; t++) {
        if (c->triangle[t][0] >= 0) {
            for (int k = 0; k < 3; k++) {
                c->triangle[left][k] = c->triangle[t][k];
            }
            left++;
        }
    }
    return left;
}

int skin_coarsen(const sim_field *field, const v3 *vertex, int nvertex, int (*triangle)[3], int ntriangle,
                 double spacing) {
    /* memory */
    coarsener c = {.field = field, .vertex = vertex, .triangle = triangle, .ntriangle = ntriangle, .spacing = spacing};
    c.off = fmin(MAX_OFF_OVER_SPACING * spacing, MAX_OFF_OVER_DETAIL * field->detail);
    c.head = malloc((size_t)nvertex * sizeof *c.head);
    c.next = malloc((size_t)ntriangle * 3 * sizeof *c.next);
    c.stand = malloc((size_t)ntriangle * sizeof *c.stand);
    int left = -1;
    if (c.head && c.next && c.stand) {
        /* standing of each triangle, and the triangles around each vertex */
        for (int t = 0; t < ntriangle; t++) {
            c.stand[t] = stand_of(&c, vertex[triangle[t][0]], vertex[triangle[t][1]], vertex[triangle[t][2]]);
        }
        for (int v = 0; v < nvertex; v++) {
            c.head[v] = -1;
        }
        for (int corner = 0; corner < 3 * ntriangle; corner++) {
            int v = triangle[corner / 3][corner % 3];
            c.next[corner] = c.head[v];
            c.head[v] = corner;
        }
        /* collapse edges */
        left = coarsen_mesh(&c, nvertex);
    }
    free(c.head);
    free(c.next);
    free(c.stand);
    return left;
}
