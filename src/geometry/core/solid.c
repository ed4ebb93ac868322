/* Mass, centre of mass and inertia of a solid of density 1 bounded by triangles: the mass is its volume.
 *
 * Each triangle (a, b, c) and a reference point o span a tetrahedron, counted with the sign of its volume; their sum is
 * the solid.  With a, b, c taken from o and s = a + b + c,
 *
 *     volume            V = a . (b x c) / 6
 *     first moment      V s / 4
 *     second moment     V (s s' + a a' + b b' + c c') / 20 = C
 *     moment of inertia trace(C) 1 - C
 *
 * which are exact.  The reference point is the middle of the bounds, then, for the second moments, the centre of mass:
 * where the solid stands costs no digits.
 *
 * The tetrahedra's integrals: F. Tonon, Explicit exact formulas for the 3-D tetrahedron inertia tensor in terms of its
 * vertex coordinates, J. Math. Stat. 1 (2005) 8-11.
 *
 * Cost: two passes over the triangles. */
#include "geometry/core/solid.h"

static void shifted_corners(const v3 *vertex, const int triangle[3], v3 o, v3 corner[3]) {
    for (int i = 0; i < 3; i++) {
        corner[i] = v3_sub(vertex[triangle[i]], o);
    }
}

sim_inertia solid_inertia(const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle) {
    /* volume and first moment of tetrahedra from the middle of the box (divergence theorem) */
    v3 low, high, first = {0, 0, 0}, p[3];
    double radius, volume = 0;
    solid_bounds(vertex, nvertex, &low, &high, &radius);
    v3 middle = v3_axpy(low, 0.5, v3_sub(high, low));
    for (int t = 0; t < ntriangle; t++) {
        shifted_corners(vertex, triangle[t], middle, p);
        double v = v3_dot(p[0], v3_cross(p[1], p[2])) / 6;
        volume += v;
        first = v3_axpy(first, v / 4, v3_add(p[0], v3_add(p[1], p[2])));
    }
    if (volume == 0) {
        return (sim_inertia){.com = middle};
    }
    /* second moments about the centre of mass */
    v3 com = v3_axpy(middle, 1 / volume, first);
    sym3 C = {0};
    for (int t = 0; t < ntriangle; t++) {
        shifted_corners(vertex, triangle[t], com, p);
        double weight = v3_dot(p[0], v3_cross(p[1], p[2])) / 120; /* V / 20 */
        C = sym3_rank_one(C, weight, v3_add(p[0], v3_add(p[1], p[2])));
        for (int i = 0; i < 3; i++) {
            C = sym3_rank_one(C, weight, p[i]);
        }
    }
    return (sim_inertia){volume, com, {C.yy + C.zz, C.xx + C.zz, C.xx + C.yy, -C.xy, -C.xz, -C.yz}};
}

void solid_bounds(const v3 *vertex, int nvertex, v3 *low, v3 *high, double *radius) {
    *low = *high = nvertex ? vertex[0] : (v3){0, 0, 0};
    *radius = 0;
    for (int i = 0; i < nvertex; i++) {
        v3 p = vertex[i];
        *low = (v3){fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z)};
        *high = (v3){fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z)};
        *radius = fmax(*radius, v3_norm(p));
    }
}
