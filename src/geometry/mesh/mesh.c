/* Checks of a triangle mesh: closed, oriented, without degenerate triangles.
 *
 * Vertices nearer to each other than `tolerance` (a ten-thousand-millionth of the surface's size: the difference of one
 * number computed in two ways) are one vertex.  For surfaces of users the tolerance is that of single precision.
 * Triangles with two equal corners are left out, and those given twice, as in a file that holds a part twice.  Edge flips
 * (mesh_slivers.c) remove those without height, or with a height of rounding; the former are left out where that fails.
 * Then neighbours are found, and with them whether the surface closes. */
#include "geometry/mesh/mesh.h"

#include "geometry/core/solid.h"
#include "geometry/core/weld.h"
#include "geometry/hull/hull.h"
#include "geometry/mesh/mesh_features.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_LENGTH = 1e15; /* m: squares of squares stay finite, single-precision boxes too */
static const double WELD_OVER_SIZE = 1e-10;
static const double FLAT_OVER_TOLERANCE =
    2e4; /* of the tolerance: heights that six digits of a coordinate do not tell from 0 */
enum { MAX_INDICES = 1 << 30 };

/* one[v]: the vertex that stands for v.  Fails without memory. */
static sim_status join_vertices(const v3 *vertex, int nvertex, int rounded, int *one, double *tolerance) {
    v3 low, high;
    double radius;
    solid_bounds(vertex, nvertex, &low, &high, &radius);
    double size = v3_norm(v3_sub(high, low));
    *tolerance = WELD_OVER_SIZE * size + 4 * DBL_EPSILON * radius + DBL_MIN;
    return weld_points(vertex, nvertex, rounded ? fmax(FLT_EPSILON * size, *tolerance) : *tolerance, one);
}

/* ---- the surface ---- */

static sim_status check_mesh(const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle, sim_error *error) {
    /* counts */
    if (nvertex < 3 || ntriangle < 1) {
        return sim_fail(error, SIM_BAD_INPUT, "a mesh needs at least 3 vertices and a triangle, not %d and %d", nvertex,
                        ntriangle);
    }
    if (ntriangle > MAX_INDICES / 3 || nvertex > MAX_INDICES) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "a mesh of %d vertices and %d triangles is too large: at most 2^30 indices", nvertex,
                        ntriangle);
    }
    /* vertices */
    for (int v = 0; v < nvertex; v++) {
        v3 p = vertex[v];
        if (!v3_finite(p) || fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) > MAX_LENGTH) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "vertex %d of the mesh is (%g, %g, %g): expected finite numbers of at most %g m", v, p.x,
                            p.y, p.z, MAX_LENGTH);
        }
    }
    /* indices */
    for (int t = 0; t < ntriangle; t++) {
        for (int k = 0; k < 3; k++) {
            if (triangle[t][k] < 0 || triangle[t][k] >= nvertex) {
                return sim_fail(error, SIM_BAD_INPUT, "triangle %d of the mesh names vertex %d, of %d", t,
                                triangle[t][k], nvertex);
            }
        }
    }
    return SIM_OK;
}

/* The corners, the lowest first. */
static void from_lowest(const int i[3], int out[3]) {
    int low = i[0] < i[1] && i[0] < i[2] ? 0 : i[1] < i[2] ? 1 : 2;
    for (int k = 0; k < 3; k++) {
        out[k] = i[(low + k) % 3];
    }
}

/* Drops triangles with the corners and the front of an earlier one.  Returns how many are left; -1 without memory. */
static int drop_repeated(int (*triangle)[3], int count) {
    unsigned mask = 15;
    while (mask < 2 * (unsigned)count) {
        mask = 2 * mask + 1;
    }
    int *slot = calloc((size_t)mask + 1, sizeof *slot), kept = 0; /* 1 + a triangle; 0: free */
    for (int t = 0; slot && t < count; t++) {
        int corner[3], other[3];
        from_lowest(triangle[t], corner);
        uint64_t h = hash_bytes(HASH_START, corner, sizeof corner);
        unsigned at = (unsigned)(h ^ h >> 32) & mask;
        for (; slot[at]; at = (at + 1) & mask) {
            from_lowest(triangle[slot[at] - 1], other);
            if (memcmp(corner, other, sizeof corner) == 0) {
                break;
            }
        }
        if (!slot[at]) {
            memmove(triangle[kept++], triangle[t], sizeof *triangle);
            slot[at] = kept;
        }
    }
    free(slot);
    return slot ? kept : -1;
}

/* Triangles with area, their corners renumbered to the vertices they use.  Fails without memory. */
static sim_status keep_triangles(sim_mesh *m, v3 *kept, int (*triangle)[3], const v3 *vertex, int nvertex,
                                 const int (*given)[3], int ngiven, int *one, double tolerance, int rounded) {
    /* corners after welding */
    int count = 0, whole = 0;
    for (int t = 0; t < ngiven; t++) {
        int *i = triangle[whole];
        for (int k = 0; k < 3; k++) {
            i[k] = one[given[t][k]];
        }
        whole += i[0] != i[1] && i[1] != i[2] && i[2] != i[0];
    }
    /* flip slivers, drop triangles without area */
    ngiven = drop_repeated(triangle, whole);
    if (ngiven < 0 || mesh_flip_slivers(vertex, nvertex, triangle, ngiven, tolerance,
                                        rounded ? FLAT_OVER_TOLERANCE * tolerance : 0)) {
        return SIM_NO_RESOURCE;
    }
    for (int t = 0; t < ngiven; t++) {
        if (triangle_has_area(vertex, triangle[t], tolerance)) {
            memmove(triangle[count++], triangle[t], sizeof *triangle);
        }
    }
    /* number the vertices in use */
    memset(one, 0, (size_t)nvertex * sizeof *one);
    for (int t = 0; t < count; t++) {
        for (int k = 0; k < 3; k++) {
            one[triangle[t][k]] = 1;
        }
    }
    int used = 0;
    for (int v = 0; v < nvertex; v++) {
        if (one[v]) {
            one[v] = used;
            kept[used++] = vertex[v];
        }
    }
    /* renumber the corners */
    for (int t = 0; t < count; t++) {
        for (int k = 0; k < 3; k++) {
            triangle[t][k] = one[triangle[t][k]];
        }
    }
    m->nvertex = used;
    m->ntriangle = count;
    m->vertex = kept;
    m->triangle = (const int(*)[3])triangle;
    return SIM_OK;
}

sim_mesh *mesh_build(memory_pool *pool, const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                     int rounded, sim_error *error) {
    /* check */
    if (check_mesh(vertex, nvertex, triangle, ntriangle, error)) {
        return NULL;
    }
    /* memory */
    sim_mesh *m = POOL_NEW(pool, sim_mesh, 1);
    v3 *kept = POOL_NEW(pool, v3, nvertex < 3 * ntriangle ? nvertex : 3 * ntriangle);
    int(*corner)[3] = pool_alloc(pool, (size_t)ntriangle, sizeof *corner);
    int(*across)[3] = pool_alloc(pool, (size_t)ntriangle, sizeof *across);
    int *one = malloc((size_t)nvertex * sizeof *one);
    /* weld vertices, keep triangles with area */
    double tolerance;
    bool failed = !m || !kept || !corner || !across || !one;
    failed = failed || join_vertices(vertex, nvertex, rounded, one, &tolerance);
    failed = failed || keep_triangles(m, kept, corner, vertex, nvertex, triangle, ntriangle, one, tolerance, rounded);
    free(one);
    if (!failed && m->ntriangle == 0) {
        sim_fail(error, SIM_BAD_INPUT, "none of the %d triangles of the mesh has an area", ntriangle);
        return NULL;
    }
    /* neighbours */
    if (failed || mesh_neighbours(m->vertex, m->nvertex, m->triangle, m->ntriangle, across, &m->closed)) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a mesh of %d triangles", ntriangle);
        return NULL;
    }
    m->across = (const int(*)[3])across;
    return m;
}

/* ---- the geometry ---- */

/* No edge bends inwards, and every vertex is on the way round: necessary for a convex surface, and a cheap test before
 * the hull is built. */
static bool looks_convex(const sim_mesh *m, double tolerance) {
    if (!m->closed || m->nvertex - m->ntriangle / 2 != 2) {
        return false;
    }
    for (int t = 0; t < m->ntriangle; t++) {
        v3 n = triangle_cross(m, t);
        double slack = tolerance * v3_norm(n), offset = v3_dot(n, m->vertex[m->triangle[t][0]]);
        for (int k = 0; k < 3; k++) {
            const int *u = m->triangle[m->across[t][k]];
            for (int c = 0; c < 3; c++) {
                if (v3_dot(n, m->vertex[u[c]]) - offset > slack) {
                    return false;
                }
            }
        }
    }
    return true;
}

static double mesh_area(const sim_mesh *m) {
    double area = 0;
    for (int t = 0; t < m->ntriangle; t++) {
        area += 0.5 * v3_norm(triangle_cross(m, t));
    }
    return area;
}

static sim_status fill_mesh_geometry(sim_geometry *g, memory_pool *pool, sim_mesh *m, sim_error *error) {
    solid_bounds(m->vertex, m->nvertex, &g->low, &g->high, &g->radius);
    double size = v3_norm(v3_sub(g->high, g->low));
    if (m->closed) {
        g->solid = solid_inertia(m->vertex, m->nvertex, m->triangle, m->ntriangle);
        if (fabs(g->solid.mass) <= WELD_OVER_SIZE * mesh_area(m) * size) {
            m->closed = false; /* a sheet folded onto itself has no inside */
            g->solid = (sim_inertia){0};
        } else if (g->solid.mass < 0) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "the mesh is turned inside out: it encloses %g m^3; name the corners of each triangle "
                            "anticlockwise as seen from outside",
                            g->solid.mass);
        }
    }
    g->type = SIM_GEOMETRY_MESH;
    g->mesh = m;
    uint64_t h = hash_bytes(HASH_START + SIM_GEOMETRY_MESH, m->vertex, (size_t)m->nvertex * sizeof *m->vertex);
    g->fingerprint = hash_bytes(h, m->triangle, (size_t)m->ntriangle * sizeof *m->triangle);
    g->memory = pool;
    g->bvh = bvh_build(pool, m);
    g->relief = g->bvh ? relief_build(pool, m, NULL, g->bvh) : NULL;
    if (!g->relief) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a mesh of %d triangles", m->ntriangle);
    }
    if (looks_convex(m, HULL_FLAT * size) && hull_of_mesh(m, pool, &g->hull)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a mesh of %d triangles", m->ntriangle);
    }
    m->convex = g->hull != NULL;
    return SIM_OK;
}

sim_geometry *sim_geometry_mesh(const sim_v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                                sim_error *error) {
    memory_pool *pool = pool_create();
    sim_geometry *g = pool ? POOL_NEW(pool, sim_geometry, 1) : NULL;
    if (!g) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a mesh");
        return NULL;
    }
    sim_mesh *m = mesh_build(pool, vertex, nvertex, triangle, ntriangle, 1, error);
    if (!m || fill_mesh_geometry(g, pool, m, error)) {
        pool_free(pool);
        return NULL;
    }
    g->bytes = pool_bytes(pool);
    return g;
}
