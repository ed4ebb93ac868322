/* What surface do these triangles make?
 *
 * Vertices nearer to each other than `tolerance` (a ten-thousand-millionth of the surface's size: what is left when one
 * number is computed in two ways) are one vertex, found in a grid of cubes by hashing.  Triangles with two equal corners
 * or no height are left out.  Then neighbours are found, and with them whether the surface closes. */
#include "geometry/mesh.h"

#include "geometry/hull.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

static const double LARGEST = 1e15; /* m: squares of squares stay finite, single-precision boxes too */
static const double JOINED = 1e-10, CUBE = 32;
enum { MOST_INDICES = 1 << 30 };

void bounds_of_points(const v3 *point, int count, v3 *low, v3 *high, double *radius) {
    double far = 0;
    *low = *high = count ? point[0] : v3_make(0, 0, 0);
    for (int k = 0; k < count; k++) {
        v3 p = point[k];
        *low = v3_make(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
        *high = v3_make(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
        far = fmax(far, v3_dot(p, p));
    }
    *radius = sqrt(far);
}

/* 64-bit words, multiplied and folded one after the other. */
uint64_t content_hash(uint64_t start, const void *data, size_t length) {
    const unsigned char *byte = data;
    uint64_t h = start ^ (0x9e3779b97f4a7c15u * (length + 1));
    for (size_t k = 0; k < length; k += 8) {
        uint64_t word = 0;
        memcpy(&word, byte + k, length - k < 8 ? length - k : 8);
        h = (h ^ word) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
    }
    return h;
}

/* ---- joining vertices ---- */

typedef struct grid {
    v3 low;
    double cube, tolerance;
    uint32_t mask;
    int *first; /* [mask + 1] of the chain of a hash, -1 for none */
    int *next;  /* [nvertex] */
} grid;

static uint32_t grid_hash(const grid *g, const int64_t c[3]) {
    uint64_t h = (uint64_t)c[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)c[1] * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)c[2] * 0x165667b19e3779f9u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32) & g->mask;
}

static int grid_open(grid *g, const v3 *vertex, int nvertex) {
    v3 high;
    double radius;
    bounds_of_points(vertex, nvertex, &g->low, &high, &radius);
    g->tolerance = JOINED * v3_norm(v3_sub(high, g->low)) + 4 * DBL_EPSILON * radius + DBL_MIN;
    g->cube = CUBE * g->tolerance;
    uint32_t size = 16;
    while (size < 2 * (uint32_t)nvertex) {
        size *= 2;
    }
    g->mask = size - 1;
    g->first = malloc(size * sizeof *g->first);
    g->next = malloc((size_t)nvertex * sizeof *g->next);
    if (!g->first || !g->next) {
        return 0;
    }
    memset(g->first, 0xff, size * sizeof *g->first);
    return 1;
}

/* The lowest-numbered vertex so far within the tolerance of p, or -1. */
static int grid_find(const grid *g, const v3 *vertex, v3 p) {
    const double at[3] = {p.x - g->low.x, p.y - g->low.y, p.z - g->low.z};
    int64_t from[3], to[3], c[3];
    int found = -1;
    for (int k = 0; k < 3; k++) {
        from[k] = (int64_t)floor((at[k] - g->tolerance) / g->cube);
        to[k] = (int64_t)floor((at[k] + g->tolerance) / g->cube);
    }
    for (c[0] = from[0]; c[0] <= to[0]; c[0]++) {
        for (c[1] = from[1]; c[1] <= to[1]; c[1]++) {
            for (c[2] = from[2]; c[2] <= to[2]; c[2]++) {
                for (int v = g->first[grid_hash(g, c)]; v >= 0; v = g->next[v]) {
                    if ((found < 0 || v < found) && v3_norm(v3_sub(vertex[v], p)) <= g->tolerance) {
                        found = v;
                    }
                }
            }
        }
    }
    return found;
}

static void grid_add(grid *g, const v3 *vertex, int v) {
    const double at[3] = {vertex[v].x - g->low.x, vertex[v].y - g->low.y, vertex[v].z - g->low.z};
    int64_t c[3];
    for (int k = 0; k < 3; k++) {
        c[k] = (int64_t)floor(at[k] / g->cube);
    }
    uint32_t h = grid_hash(g, c);
    g->next[v] = g->first[h];
    g->first[h] = v;
}

/* one[v]: the vertex that stands for v.  Returns the tolerance, negative without memory. */
static double join_vertices(const v3 *vertex, int nvertex, int *one) {
    grid g = {0};
    if (!grid_open(&g, vertex, nvertex)) {
        free(g.first);
        free(g.next);
        return -1;
    }
    for (int v = 0; v < nvertex; v++) {
        int found = grid_find(&g, vertex, vertex[v]);
        one[v] = found >= 0 ? found : v;
        if (found < 0) {
            grid_add(&g, vertex, v);
        }
    }
    free(g.first);
    free(g.next);
    return g.tolerance;
}

/* ---- the surface ---- */

static sim_status check(const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle, sim_error *error) {
    if (nvertex < 3 || ntriangle < 1) {
        return sim_fail(error, SIM_BAD_INPUT, "a mesh needs at least 3 vertices and a triangle, not %d and %d", nvertex,
                        ntriangle);
    }
    if (ntriangle > MOST_INDICES / 3 || nvertex > MOST_INDICES) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "a mesh of %d vertices and %d triangles is too large: at most 2^30 indices", nvertex,
                        ntriangle);
    }
    for (int v = 0; v < nvertex; v++) {
        v3 p = vertex[v];
        if (!v3_finite(p) || fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) > LARGEST) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "vertex %d of the mesh is (%g, %g, %g): expected finite numbers of at most %g m", v, p.x,
                            p.y, p.z, LARGEST);
        }
    }
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

static int has_area(const v3 *vertex, const int i[3], double tolerance) {
    v3 a = v3_sub(vertex[i[1]], vertex[i[0]]), b = v3_sub(vertex[i[2]], vertex[i[0]]), c = v3_sub(b, a);
    double longest = sqrt(fmax(v3_dot(a, a), fmax(v3_dot(b, b), v3_dot(c, c))));
    return v3_norm(v3_cross(a, b)) > tolerance * longest;
}

/* Triangles with area, their corners renumbered to the vertices they use, kept in order; returns how many. */
static int keep(sim_mesh *m, v3 *kept, int (*triangle)[3], const v3 *vertex, int nvertex, const int (*given)[3],
                int ngiven, int *one, double tolerance) {
    int count = 0;
    for (int t = 0; t < ngiven; t++) {
        int i[3] = {one[given[t][0]], one[given[t][1]], one[given[t][2]]};
        if (has_area(vertex, i, tolerance)) {
            memcpy(triangle[count++], i, sizeof i);
        }
    }
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
    for (int t = 0; t < count; t++) {
        for (int k = 0; k < 3; k++) {
            triangle[t][k] = one[triangle[t][k]];
        }
    }
    m->nvertex = used;
    m->ntriangle = count;
    m->vertex = kept;
    m->triangle = (const int(*)[3])triangle;
    return count;
}

sim_mesh *mesh_build(sim_pool *pool, const v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                     sim_error *error) {
    if (check(vertex, nvertex, triangle, ntriangle, error)) {
        return NULL;
    }
    sim_mesh *m = POOL_NEW(pool, sim_mesh, 1);
    v3 *kept = POOL_NEW(pool, v3, nvertex < 3 * ntriangle ? nvertex : 3 * ntriangle);
    int(*corner)[3] = sim_pool_alloc(pool, (size_t)ntriangle, sizeof *corner);
    int(*across)[3] = sim_pool_alloc(pool, (size_t)ntriangle, sizeof *across);
    int *one = malloc((size_t)nvertex * sizeof *one);
    double tolerance = m && kept && corner && across && one ? join_vertices(vertex, nvertex, one) : -1;
    int count = tolerance < 0 ? -1 : keep(m, kept, corner, vertex, nvertex, triangle, ntriangle, one, tolerance);
    free(one);
    if (count > 0) {
        m->across = (const int(*)[3])across;
        m->closed = mesh_neighbours(m->vertex, m->nvertex, m->triangle, count, across);
        if (m->closed >= 0) {
            return m;
        }
    }
    if (count == 0) {
        sim_fail(error, SIM_BAD_INPUT, "none of the %d triangles of the mesh has an area", ntriangle);
    } else {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a mesh of %d triangles", ntriangle);
    }
    return NULL;
}

/* ---- the geometry ---- */

/* No edge bends inwards, and every vertex is on the way round: what a convex surface has, cheap to ask before the hull
 * is built. */
static int looks_convex(const sim_mesh *m, double tolerance) {
    if (!m->closed || m->nvertex - m->ntriangle / 2 != 2) {
        return 0;
    }
    for (int t = 0; t < m->ntriangle; t++) {
        v3 n = triangle_cross(m, t);
        double slack = tolerance * v3_norm(n), offset = v3_dot(n, m->vertex[m->triangle[t][0]]);
        for (int k = 0; k < 3; k++) {
            const int *u = m->triangle[m->across[t][k]];
            for (int c = 0; c < 3; c++) {
                if (v3_dot(n, m->vertex[u[c]]) - offset > slack) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

static double mesh_area(const sim_mesh *m) {
    double area = 0;
    for (int t = 0; t < m->ntriangle; t++) {
        area += 0.5 * v3_norm(triangle_cross(m, t));
    }
    return area;
}

static sim_status fill(sim_geometry *g, sim_pool *pool, sim_mesh *m, sim_error *error) {
    bounds_of_points(m->vertex, m->nvertex, &g->low, &g->high, &g->radius);
    double size = v3_norm(v3_sub(g->high, g->low));
    if (m->closed) {
        g->solid = mesh_solid(m);
        if (fabs(g->solid.mass) <= JOINED * mesh_area(m) * size) {
            m->closed = 0; /* a sheet folded onto itself has no inside */
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
    uint64_t h = content_hash(SIM_GEOMETRY_MESH, m->vertex, (size_t)m->nvertex * sizeof *m->vertex);
    g->fingerprint = content_hash(h, m->triangle, (size_t)m->ntriangle * sizeof *m->triangle);
    g->memory = pool;
    g->bvh = bvh_build(pool, m);
    if (!g->bvh) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for a mesh of %d triangles", m->ntriangle);
    }
    if (looks_convex(m, 1e-9 * size)) {
        sim_status status = hull_of_mesh(pool, m, &g->hull, error);
        m->convex = g->hull != NULL;
        return status;
    }
    return SIM_OK;
}

sim_geometry *sim_geometry_mesh(const sim_v3 *vertex, int nvertex, const int (*triangle)[3], int ntriangle,
                                sim_error *error) {
    sim_pool *pool = sim_pool_create();
    sim_geometry *g = pool ? POOL_NEW(pool, sim_geometry, 1) : NULL;
    if (!g) {
        sim_pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a mesh");
        return NULL;
    }
    sim_mesh *m = mesh_build(pool, vertex, nvertex, triangle, ntriangle, error);
    if (!m || fill(g, pool, m, error)) {
        sim_pool_free(pool);
        return NULL;
    }
    g->bytes = sim_pool_bytes(pool);
    return g;
}
