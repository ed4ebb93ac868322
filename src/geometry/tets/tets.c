/* Tetrahedra with a linear field: the geometry of a soft solid.
 *
 *     e(x) = level + slope . x,     slope = sum over corners k of e_k grad b_k,     grad b_k = n_k / 6V
 *
 *     e      extent of the pressure field, 0 on the surface, 1 on the medial set
 *     b_k    barycentric coordinate of corner k
 *     n_k    twice the area vector of the opposite face, towards the corner, m^2;  V: volume, m^3
 *
 * Tetrahedra are numbered in the order of the bounding volume hierarchy, so that queries visit them in ascending order.
 * Those without volume are left out.  Cost: linear, but for the hierarchy. */
#include "geometry/core/solid.h"
#include "geometry/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

static const double MIN_VOLUME_OVER_SIZE3 = 1e-15; /* of the solid: flatter tetrahedra are rounding */

static double six_volumes(const v3 *x, const int t[4]) {
    v3 a = x[t[0]];
    return v3_dot(v3_cross(v3_sub(x[t[1]], a), v3_sub(x[t[2]], a)), v3_sub(x[t[3]], a));
}

static sim_status check_tets(const v3 *vertex, int nvertex, const int (*tet)[4], int ntet, const double *extent,
                             sim_error *error) {
    for (int k = 0; k < nvertex; k++) {
        if (!v3_finite(vertex[k]) || !isfinite(extent[k])) {
            return sim_fail(error, SIM_BAD_INPUT, "vertex %d of the tetrahedra is not finite", k);
        }
    }
    for (int k = 0; k < 4 * ntet; k++) {
        if (tet[k / 4][k % 4] < 0 || tet[k / 4][k % 4] >= nvertex) {
            return sim_fail(error, SIM_BAD_INPUT, "tetrahedron %d names vertex %d; there are %d vertices", k / 4,
                            tet[k / 4][k % 4], nvertex);
        }
    }
    return SIM_OK;
}

/* Copies tetrahedra of positive volume, turning round those of negative; returns how many. */
static int copy_proper(const v3 *vertex, const int (*tet)[4], int ntet, double least, int (*out)[4]) {
    int count = 0;
    for (int k = 0; k < ntet; k++) {
        double six = six_volumes(vertex, tet[k]);
        if (fabs(six) > least) {
            memcpy(out[count], tet[k], sizeof out[count]);
            if (six < 0) {
                out[count][0] = tet[k][1];
                out[count][1] = tet[k][0];
            }
            count++;
        }
    }
    return count;
}

/* Slope and level of the extent within a tetrahedron. */
static void find_slope(const sim_tets *t, int k, v3 *slope, double *level) {
    const int *i = t->tet[k];
    v3 a = t->vertex[i[0]], b = v3_sub(t->vertex[i[1]], a), c = v3_sub(t->vertex[i[2]], a),
       d = v3_sub(t->vertex[i[3]], a);
    double e = t->extent[i[0]], six = v3_dot(v3_cross(b, c), d);
    v3 sum = v3_scale(t->extent[i[1]] - e, v3_cross(c, d));
    sum = v3_axpy(sum, t->extent[i[2]] - e, v3_cross(d, b));
    sum = v3_axpy(sum, t->extent[i[3]] - e, v3_cross(b, c));
    *slope = v3_scale(1 / six, sum);
    *level = e - v3_dot(*slope, a);
}

/* Volume, centre of mass and inertia: sums over tetrahedra about the origin. */
static sim_inertia tets_inertia(const sim_tets *t) {
    double mass = 0, xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    v3 first = {0, 0, 0};
    for (int k = 0; k < t->ntet; k++) {
        double V = six_volumes(t->vertex, t->tet[k]) / 6;
        v3 sum = {0, 0, 0};
        mass += V;
        for (int i = 0; i < 4; i++) {
            sum = v3_add(sum, t->vertex[t->tet[k][i]]);
        }
        first = v3_axpy(first, V / 4, sum);
        /* integral of x x' = V / 20 (s s' + sum of x_i x_i'), s the sum of the corners */
        for (int i = 0; i < 5; i++) {
            v3 x = i < 4 ? t->vertex[t->tet[k][i]] : sum;
            xx += V / 20 * x.x * x.x;
            yy += V / 20 * x.y * x.y;
            zz += V / 20 * x.z * x.z;
            xy += V / 20 * x.x * x.y;
            xz += V / 20 * x.x * x.z;
            yz += V / 20 * x.y * x.z;
        }
    }
    v3 com = v3_scale(1 / mass, first);
    sym3 about_origin = {yy + zz, xx + zz, xx + yy, -xy, -xz, -yz};
    return (sim_inertia){mass, com, sym3_parallel_axis(about_origin, -mass, com)};
}

/* The tetrahedra in the order in which the hierarchy holds them. */
static bool sort_by_tree(memory_pool *pool, sim_tets *t, sim_bvh **bvh) {
    *bvh = bvh_build_tets(pool, t);
    int(*sorted)[4] = *bvh ? (int(*)[4])POOL_NEW(pool, int, 4 * (size_t)t->ntet) : NULL;
    int *same = sorted ? POOL_NEW(pool, int, t->ntet) : NULL;
    if (!same) {
        return false;
    }
    for (int k = 0; k < t->ntet; k++) {
        memcpy(sorted[k], t->tet[(*bvh)->order[k]], sizeof sorted[k]);
        same[k] = k;
    }
    t->tet = (const int(*)[4])sorted;
    (*bvh)->order = same;
    return true;
}

static bool fill_tets(sim_geometry *g, memory_pool *pool, sim_tets *t) {
    sim_bvh *bvh;
    v3 *slope = POOL_NEW(pool, v3, t->ntet);
    double *level = POOL_NEW(pool, double, t->ntet);
    if (!slope || !level || !sort_by_tree(pool, t, &bvh)) {
        return false;
    }
    for (int k = 0; k < t->ntet; k++) {
        find_slope(t, k, &slope[k], &level[k]);
    }
    t->slope = slope;
    t->level = level;
    *g = (sim_geometry){.type = SIM_GEOMETRY_TETS, .tets = t, .bvh = bvh, .solid = tets_inertia(t), .memory = pool};
    solid_bounds(t->vertex, t->nvertex, &g->low, &g->high, &g->radius);
    uint64_t h = hash_bytes(HASH_START + SIM_GEOMETRY_TETS, t->vertex, (size_t)t->nvertex * sizeof *t->vertex);
    h = hash_bytes(h, t->extent, (size_t)t->nvertex * sizeof *t->extent);
    g->fingerprint = hash_bytes(h, t->tet, (size_t)t->ntet * sizeof *t->tet);
    g->bytes = pool_bytes(pool);
    return true;
}

/* NULL without memory, with status SIM_OK, or of tetrahedra without volume. */
static sim_geometry *make_tets(memory_pool *pool, const v3 *vertex, int nvertex, const int (*tet)[4], int ntet,
                               const double *extent, sim_error *error) {
    /* copies */
    sim_geometry *g = POOL_NEW(pool, sim_geometry, 1);
    sim_tets *t = POOL_NEW(pool, sim_tets, 1);
    v3 *x = POOL_NEW(pool, v3, nvertex);
    double *e = POOL_NEW(pool, double, nvertex);
    int(*corner)[4] = (int(*)[4])POOL_NEW(pool, int, 4 * (size_t)ntet);
    if (!g || !t || !x || !e || !corner) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for %d tetrahedra", ntet);
        return NULL;
    }
    memcpy(x, vertex, (size_t)nvertex * sizeof *x);
    memcpy(e, extent, (size_t)nvertex * sizeof *e);
    /* tetrahedra with a volume */
    v3 low, high;
    double radius;
    solid_bounds(vertex, nvertex, &low, &high, &radius);
    double size = v3_norm(v3_sub(high, low));
    int count = copy_proper(vertex, tet, ntet, MIN_VOLUME_OVER_SIZE3 * size * size * size, corner);
    if (count == 0) {
        sim_fail(error, SIM_BAD_INPUT, "none of the %d tetrahedra has a volume", ntet);
        return NULL;
    }
    *t = (sim_tets){.nvertex = nvertex, .ntet = count, .vertex = x, .tet = (const int(*)[4])corner, .extent = e};
    if (!fill_tets(g, pool, t)) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for %d tetrahedra", ntet);
        return NULL;
    }
    return g;
}

sim_geometry *sim_geometry_tets(const sim_v3 *vertex, int nvertex, const int (*tet)[4], int ntet, const double *extent,
                                sim_error *error) {
    if (nvertex < 4 || ntet < 1) {
        sim_fail(error, SIM_BAD_INPUT, "a soft solid needs four vertices and a tetrahedron, not %d and %d", nvertex,
                 ntet);
        return NULL;
    }
    if (check_tets(vertex, nvertex, tet, ntet, extent, error)) {
        return NULL;
    }
    memory_pool *pool = pool_create();
    sim_geometry *g = pool ? make_tets(pool, vertex, nvertex, tet, ntet, extent, error) : NULL;
    if (!pool) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for %d tetrahedra", ntet);
    } else if (!g) {
        pool_free(pool);
    }
    return g;
}
