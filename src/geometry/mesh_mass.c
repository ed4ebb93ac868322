/* What does a closed surface of triangles enclose?
 *
 * The solid is the signed sum of tetrahedra from a point o to each triangle (a, b, c), d = (a - o) . (b - o) x (c - o):
 *     volume     V = sum d / 6
 *     centre     (1/V) sum d (a + b + c) / 24
 *     second moments   integral x_i x_j = sum d (s_i s_j + a_i a_j + b_i b_j + c_i c_j) / 120, s = a + b + c
 * which is exact, and what the divergence theorem gives (B. Mirtich 1996, "Fast and accurate computation of polyhedral
 * mass properties", J. Graphics Tools 1).  o is the middle of the surface, so that little cancels. */
#include "geometry/mesh.h"

static v3 middle(const sim_mesh *mesh) {
    v3 low, high;
    double radius;
    bounds_of_points(mesh->vertex, mesh->nvertex, &low, &high, &radius);
    return v3_scale(0.5, v3_add(low, high));
}

sim_inertia mesh_solid(const sim_mesh *mesh) {
    v3 o = middle(mesh), first = {0, 0, 0};
    double six_volume = 0;
    sym3 second = {0};
    for (int t = 0; t < mesh->ntriangle; t++) {
        const int *i = mesh->triangle[t];
        v3 a = v3_sub(mesh->vertex[i[0]], o), b = v3_sub(mesh->vertex[i[1]], o), c = v3_sub(mesh->vertex[i[2]], o);
        double d = v3_dot(a, v3_cross(b, c));
        v3 s = v3_add(a, v3_add(b, c));
        six_volume += d;
        first = v3_axpy(first, d, s);
        second = sym3_rank_one(second, d, s);
        second = sym3_rank_one(second, d, a);
        second = sym3_rank_one(second, d, b);
        second = sym3_rank_one(second, d, c);
    }
    if (six_volume == 0) {
        return (sim_inertia){0};
    }
    double volume = six_volume / 6;
    v3 com = v3_scale(1 / (4 * six_volume), first);
    double xx = second.xx / 120, yy = second.yy / 120, zz = second.zz / 120;
    sym3 about_o = {yy + zz, xx + zz, xx + yy, -second.xy / 120, -second.xz / 120, -second.yz / 120};
    return (sim_inertia){volume, v3_add(o, com), sym3_parallel_axis(about_o, -volume, com)};
}
