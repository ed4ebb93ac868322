/* Removal of triangles without area from a closed surface.
 *
 * Triangles no higher than the rounding of coordinates with six digits, or of single precision, are removed too.
 * Rounding may have turned them over.
 *
 * Such a sliver (a, b, c), c on its longest edge from a to b, is a T-junction.  It joins an edge a b on one side to two
 * edges a c, c b on the other.  With its neighbour (b, a, d) across the longest edge it fills the same place as (c, a,
 * d) and (d, b, c), which have area: the edge a b is flipped to c d.  A neighbour that is a sliver itself has its turn
 * first.  Slivers that no flip removes stay.  The surface moves by no more than a sliver is high. */
#include "geometry/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 64 };

typedef struct flipper {
    const v3 *vertex;
    int (*triangle)[3], (*across)[3];
    double tolerance, rounding; /* heights, m */
} flipper;

static const double SLIVER_HEIGHT_OVER_EDGE = 1e-3; /* height of a sliver, of its longest edge */

/* Twice the area and the longest edge. */
static double area_of(const v3 *vertex, const int i[3], double *longest) {
    v3 a = v3_sub(vertex[i[1]], vertex[i[0]]), b = v3_sub(vertex[i[2]], vertex[i[0]]), c = v3_sub(b, a);
    *longest = sqrt(fmax(v3_dot(a, a), fmax(v3_dot(b, b), v3_dot(c, c))));
    return v3_norm(v3_cross(a, b));
}

bool triangle_has_area(const v3 *vertex, const int i[3], double tolerance) {
    double longest, area = area_of(vertex, i, &longest);
    return area > tolerance * longest;
}

/* Lower than rounding leaves it. */
static bool is_thin(const flipper *f, const int i[3]) {
    double longest, area = area_of(f->vertex, i, &longest);
    return area <= fmin(f->rounding, SLIVER_HEIGHT_OVER_EDGE * longest) * longest;
}

static bool is_sliver(const flipper *f, int t) {
    const int *i = f->triangle[t];
    return i[0] != i[1] && i[1] != i[2] && i[2] != i[0] &&
           (!triangle_has_area(f->vertex, i, f->tolerance) || is_thin(f, i));
}

static double height_of(const flipper *f, const int i[3]) {
    double longest, area = area_of(f->vertex, i, &longest);
    return longest > 0 ? area / longest : 0;
}

static v3 cross_of(const flipper *f, const int i[3]) {
    return v3_cross(v3_sub(f->vertex[i[1]], f->vertex[i[0]]), v3_sub(f->vertex[i[2]], f->vertex[i[0]]));
}

/* Would the sliver t and its neighbour u be better off as these two?  Which way what rounding made looks is for u to
 * say. */
static bool improves_triangles(const flipper *f, int t, int u, const int first[3], const int second[3]) {
    if (!triangle_has_area(f->vertex, first, f->tolerance) || !triangle_has_area(f->vertex, second, f->tolerance)) {
        return false;
    }
    if (!triangle_has_area(f->vertex, f->triangle[t], f->tolerance)) {
        return true;
    }
    v3 n = cross_of(f, f->triangle[u]);
    double least = fmin(height_of(f, first), height_of(f, second));
    return least > 2 * height_of(f, f->triangle[t]) && !is_thin(f, f->triangle[u]) &&
           v3_dot(n, cross_of(f, first)) > 0 && v3_dot(n, cross_of(f, second)) > 0;
}

static int sliver_longest_edge(const flipper *f, int t) {
    double length[3];
    for (int k = 0; k < 3; k++) {
        v3 e = v3_sub(f->vertex[f->triangle[t][(k + 1) % 3]], f->vertex[f->triangle[t][k]]);
        length[k] = v3_dot(e, e);
    }
    return length[0] >= length[1] && length[0] >= length[2] ? 0 : length[1] >= length[2] ? 1 : 2;
}

static void set_triangle(flipper *f, int t, const int corner[3], const int across[3]) {
    memcpy(f->triangle[t], corner, 3 * sizeof *corner);
    memcpy(f->across[t], across, 3 * sizeof *across);
}

/* Triangle t, if there is one, now has `now` for its neighbour across the edge from v to w. */
static void set_neighbour(flipper *f, int t, int v, int w, int now) {
    for (int k = 0; t >= 0 && k < 3; k++) {
        if (f->triangle[t][k] == v && f->triangle[t][(k + 1) % 3] == w) {
            f->across[t][k] = now;
        }
    }
}

/* Whether the sliver t is gone. */
static bool flip_sliver(flipper *f, int t) {
    /* the triangle across the longest edge */
    int k = sliver_longest_edge(f, t), u = f->across[t][k], e = 0;
    const int *i = f->triangle[t];
    if (u < 0 || u == t) {
        return false;
    }
    /* corners, and the place of the edge in both */
    int a = i[k], b = i[(k + 1) % 3], c = i[(k + 2) % 3];
    const int *j = f->triangle[u];
    while (e < 3 && !(j[e] == b && j[(e + 1) % 3] == a)) {
        e++;
    }
    if (e == 3) {
        return false;
    }
    /* the other diagonal is better for both */
    int d = j[(e + 2) % 3];
    const int first[3] = {c, a, d}, second[3] = {d, b, c};
    if (c == d || !improves_triangles(f, t, u, first, second)) {
        return false;
    }
    /* exchange the diagonal and mend the neighbours */
    int ca = f->across[t][(k + 2) % 3], bc = f->across[t][(k + 1) % 3], ad = f->across[u][(e + 1) % 3],
        db = f->across[u][(e + 2) % 3];
    set_triangle(f, t, first, (const int[3]){ca, ad, u});
    set_triangle(f, u, second, (const int[3]){db, bc, t});
    set_neighbour(f, ad, d, a, t);
    set_neighbour(f, bc, c, b, u);
    return true;
}

sim_status mesh_flip_slivers(const v3 *vertex, int nvertex, int (*triangle)[3], int ntriangle, double tolerance,
                             double rounding) {
    /* slivers */
    flipper f = {vertex, triangle, NULL, tolerance, rounding};
    int *sliver = NULL, count = 0;
    for (int t = 0; t < ntriangle; t++) {
        count += is_sliver(&f, t);
    }
    if (count == 0) {
        return SIM_OK;
    }
    /* memory and neighbours */
    sliver = malloc((size_t)count * sizeof *sliver);
    f.across = malloc((size_t)ntriangle * sizeof *f.across);
    bool closed, done = sliver && f.across &&
                        !mesh_neighbours(vertex, nvertex, (const int(*)[3])triangle, ntriangle, f.across, &closed);
    /* list them */
    count = 0;
    for (int t = 0; done && t < ntriangle; t++) {
        if (is_sliver(&f, t)) {
            sliver[count++] = t;
        }
    }
    /* flip their longest edges until nothing changes */
    for (int round = 0, before = 0; done && count != before && round < MAX_ROUNDS; round++) {
        int left = 0;
        before = count;
        for (int k = 0; k < count; k++) {
            if (!flip_sliver(&f, sliver[k])) {
                sliver[left++] = sliver[k];
            }
        }
        count = left;
    }
    free(sliver);
    free(f.across);
    return done ? SIM_OK : SIM_NO_RESOURCE;
}
