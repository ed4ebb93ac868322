/* Convex hull of points.
 *
 * Points that are one to within rounding are joined, then qhull (Barber, Dobkin, Huhdanpaa: The quickhull algorithm for
 * convex hulls, ACM Trans. Math. Softw. 22, 1996) finds the hull, on coordinates taken from the middle of the bounds
 * and scaled to 1.  These are moved by a fixed pattern, far above qhull's own rounding and far below HULL_FLAT, because
 * qhull takes quadratic time on flat faces. hull_faces.c finds flat faces afterwards, on the original points.  Should
 * the facets not close or not be convex, the pattern grows, and in the end qhull may join facets. qhull is asked for
 * nothing random; its messages go into a buffer; its failures are exit codes.
 *
 * Lengths: `extent` is the diagonal of the bounds.  Corners within `tolerance` of a plane are in it: HULL_FLAT of the
 * extent, or 1/THICKNESS_OVER_TOLERANCE of the thickness where that is less. It is no less than `floor`, which the
 * pattern and the rounding of coordinates far from the origin need. */
#include "geometry/hull/hull.h"
#include "geometry/core/solid.h"
#include "geometry/core/weld.h"

#include <float.h>
#include <libqhull_r/libqhull_r.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 1 << 24, MAX_TRIES = 4, THICKNESS_OVER_TOLERANCE = 1000 };

typedef struct cloud {
    const v3 *point;
    int count;
    v3 middle;
    double extent, floor, tolerance;
    int *kept, nkept; /* points that stand for those around them */
} cloud;

/* ---- qhull ---- */

/* The corners of a facet with more than three, from its ridges; `next` [count of points] is work. */
static int walk_ridges(facetT *facet, const coordT *first_point, int *next, int *loop, int room) {
    /* ridges as directed edges of the facet */
    ridgeT *ridge, **ridgep;
    int begin = -1, count = 0;
    FOREACHridge_(facet->ridges) {
        const vertexT *a = SETfirstt_(ridge->vertices, vertexT), *b = SETsecondt_(ridge->vertices, vertexT);
        int from = (int)((a->point - first_point) / 3), to = (int)((b->point - first_point) / 3);
        if (ridge->top != facet) {
            int swap = from;
            from = to;
            to = swap;
        }
        next[from] = to;
        begin = from;
        count++;
    }
    /* follow them around */
    int at = begin;
    for (int i = 0; i < count && i < room; i++) {
        loop[i] = at;
        at = next[at];
        if (at < 0 || (at == begin) != (i == count - 1)) {
            count = -1;
        }
    }
    /* clear the work space */
    FOREACHridge_(facet->ridges) {
        const vertexT *a = SETfirstt_(ridge->vertices, vertexT), *b = SETsecondt_(ridge->vertices, vertexT);
        next[(a->point - first_point) / 3] = next[(b->point - first_point) / 3] = -1;
    }
    return count <= room ? count : -1;
}

static int count_corners(const qhT *qh) {
    int corners = 0;
    const facetT *facet;
    FORALLfacets { corners += facet->simplicial ? 3 : facet->ridges ? qh_setsize((qhT *)qh, facet->ridges) : 0; }
    return corners;
}

static hull_outcome copy_facets(const qhT *qh, const coordT *coordinate, int count, memory_pool *scratch,
                                polygons *out) {
    /* memory */
    int corners = count_corners(qh), *next = POOL_NEW(scratch, int, count), f = 0, k = 0;
    out->start = POOL_NEW(scratch, int, qh->num_facets + 1);
    out->loop = POOL_NEW(scratch, int, corners);
    if (!next || !out->start || !out->loop) {
        return HULL_NO_MEMORY;
    }
    for (int i = 0; i < count; i++) {
        next[i] = -1;
    }
    /* corners of each facet in order; Qhull lists those of a simplex only up to orientation */
    facetT *facet;
    FORALLfacets {
        int n = 3;
        if (facet->simplicial) {
            for (int i = 0; i < 3; i++) {
                const vertexT *v = SETelemt_(facet->vertices, i, vertexT);
                out->loop[k + (facet->toporient ? i : 2 - i)] = (int)((v->point - coordinate) / 3);
            }
        } else {
            n = walk_ridges(facet, coordinate, next, out->loop + k, corners - k);
        }
        if (n < 3 || f == qh->num_facets) {
            return HULL_BROKEN;
        }
        k += n;
        out->start[++f] = k;
    }
    /* number of faces */
    out->nface = f;
    return HULL_BUILT;
}

/* `joining`: let qhull join facets where rounding leaves it in doubt (Q0: no), slow at vertices of many facets. */
static hull_outcome run_qhull(coordT *coordinate, int count, int joining, memory_pool *scratch, polygons *out) {
    char plain[] = "qhull Pp Q0", with_joining[] = "qhull Pp";
    char said[256];
    FILE *sink = fmemopen(said, sizeof said, "w");
    qhT *qh = POOL_NEW(scratch, qhT, 1);
    hull_outcome outcome = HULL_NO_MEMORY;
    if (qh && sink) {
        qh_zero(qh, sink);
        int code = qh_new_qhull(qh, 3, count, coordinate, False, joining ? with_joining : plain, NULL, sink);
        outcome = code == qh_ERRmem ? HULL_NO_MEMORY : HULL_BROKEN;
        /* A finished hull with valleys of a rounding is none the worse: hull_faces.c looks for valleys itself. */
        if (code == qh_ERRnone || (code == qh_ERRprec && qh->QHULLfinished)) {
            outcome = copy_facets(qh, coordinate, count, scratch, out);
        }
        int long_left, short_left;
        qh->NOerrexit = True;
        qh_freeqhull(qh, qh_ALL);
        if (!qh->qhmem.LASTsize) { /* it ran out of memory so early that it would forget these */
            qh_free(qh->qhmem.sizetable);
            qh_free(qh->qhmem.freelists);
        }
        qh_memfreeshort(qh, &long_left, &short_left);
    }
    if (sink) {
        fclose(sink);
    }
    return outcome;
}

/* ---- points ---- */

static int wrong_points(const v3 *point, int count, sim_error *error) {
    if (count < 4) {
        return sim_fail(error, SIM_BAD_INPUT, "a convex hull needs at least 4 points, got %d", count < 0 ? 0 : count);
    }
    if (count > MAX_POINTS) {
        return sim_fail(error, SIM_BAD_INPUT, "a convex hull takes at most %d points, got %d", MAX_POINTS, count);
    }
    for (int i = 0; i < count; i++) {
        if (!v3_finite(point[i])) {
            return sim_fail(error, SIM_BAD_INPUT, "point %d of a convex hull is not finite: (%g, %g, %g)", i,
                            point[i].x, point[i].y, point[i].z);
        }
        double size = fmax(fabs(point[i].x), fmax(fabs(point[i].y), fabs(point[i].z)));
        if (size > 1e30) {
            return sim_fail(error, SIM_BAD_INPUT, "point %d of a convex hull is %g m away, more than 1e30", i, size);
        }
    }
    return SIM_OK;
}

static void measure_cloud(cloud *c) {
    v3 low, high;
    double radius;
    solid_bounds(c->point, c->count, &low, &high, &radius);
    c->middle = v3_axpy(low, 0.5, v3_sub(high, low));
    c->extent = v3_norm(v3_sub(high, low));
    c->floor = 1e-10 * c->extent + 8 * DBL_EPSILON * radius;
}

/* The point farthest from `from`, from the line through it along `along`, or (`plane`) from the plane across that. */
static int find_farthest(const cloud *c, v3 from, v3 along, int plane, double *distance) {
    int best = 0;
    *distance = -1;
    for (int i = 0; i < c->count; i++) {
        v3 d = v3_sub(c->point[i], from);
        double t = v3_dot(d, along), far = plane ? fabs(t) : v3_norm(v3_axpy(d, -t, along));
        if (far > *distance) {
            *distance = far;
            best = i;
        }
    }
    return best;
}

static v3 exact_unit(v3 a) {
    v3 b = v3_scale(1 / v3_norm(a), a);
    return v3_scale(1 / v3_norm(b), b);
}

/* Refuses points without thickness; else settles the tolerance. */
/* farthest points: along a line, across it, across the plane */
static int flat_points(cloud *c, sim_error *error) {
    static const char *const shape[] = {"at one place", "on one line", "in one plane"};
    const v3 none = {0, 0, 0};
    double far = 0;
    const double least = THICKNESS_OVER_TOLERANCE * c->floor;
    int kind = 0, a = 0, b = 0;
    if (c->extent > 1e-30) {
        a = find_farthest(c, c->point[0], none, 0, &far);
        b = find_farthest(c, c->point[a], none, 0, &far);
    }
    if (far > least) {
        kind = 1;
        v3 along = exact_unit(v3_sub(c->point[b], c->point[a]));
        int third = find_farthest(c, c->point[a], along, 0, &far);
        if (far > least) {
            kind = 2;
            v3 aside = v3_sub(c->point[third], c->point[a]);
            v3 normal = exact_unit(v3_cross(along, exact_unit(v3_axpy(aside, -v3_dot(along, aside), along))));
            find_farthest(c, c->point[a], normal, 1, &far);
        }
    }
    /* tolerance */
    if (far > least) {
        c->tolerance = fmax(c->floor, fmin(HULL_FLAT * c->extent, far / THICKNESS_OVER_TOLERANCE));
        return SIM_OK;
    }
    return sim_fail(
        error, SIM_BAD_INPUT,
        "the %d points of a convex hull lie %s to within %.3g m, over an extent of %.3g m; a solid needs more "
        "than %.3g m",
        c->count, shape[kind], far, c->extent, least);
}

static hull_outcome keep_distinct(cloud *c, memory_pool *scratch) {
    int *to = POOL_NEW(scratch, int, c->count);
    c->kept = POOL_NEW(scratch, int, c->count);
    if (!to || !c->kept || weld_points(c->point, c->count, c->tolerance, to)) {
        return HULL_NO_MEMORY;
    }
    for (int i = 0; i < c->count; i++) {
        if (to[i] == i) {
            c->kept[c->nkept++] = i;
        }
    }
    return HULL_BUILT;
}

/* Coordinates from -1 to 1, each moved by a pattern that grows from try to try. */
static coordT *perturbed_coordinates(const cloud *c, int attempt, memory_pool *scratch) {
    static const double growth[MAX_TRIES] = {1, 10, 100, 10};
    double amplitude = fmin(1e-11 * growth[attempt], 0.2 * c->tolerance / c->extent);
    coordT *x = POOL_NEW(scratch, coordT, 3 * (size_t)c->nkept);
    uint64_t pattern = (uint64_t)attempt;
    for (int i = 0; x && i < c->nkept; i++) {
        v3 p = v3_scale(2 / c->extent, v3_sub(c->point[c->kept[i]], c->middle));
        const double from[3] = {p.x, p.y, p.z};
        for (int j = 0; j < 3; j++) {
            pattern = pattern * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            x[3 * i + j] = from[j] + amplitude * ((double)(pattern >> 11) * 0x1p-52 - 1);
        }
    }
    return x;
}

static void turn_outwards(const polygons *p, const coordT *x) {
    double volume = 0;
    for (int f = 0; f < p->nface; f++) {
        v3 corner[3];
        for (int k = p->start[f]; k + 2 < p->start[f + 1]; k++) {
            for (int i = 0; i < 3; i++) {
                const coordT *at = x + 3 * p->loop[i == 0 ? p->start[f] : k + i];
                corner[i] = (v3){at[0], at[1], at[2]};
            }
            volume += v3_dot(corner[0], v3_cross(corner[1], corner[2]));
        }
    }
    for (int f = 0; f < p->nface && volume < 0; f++) {
        for (int i = p->start[f], j = p->start[f + 1] - 1; i < j; i++, j--) {
            int swap = p->loop[i];
            p->loop[i] = p->loop[j];
            p->loop[j] = swap;
        }
    }
}

static hull_outcome try_once(const cloud *c, int attempt, memory_pool *pool, sim_hull *hull, sim_mesh *mesh) {
    hull_outcome outcome = HULL_NO_MEMORY;
    memory_pool *scratch = pool_create();
    coordT *x = scratch ? perturbed_coordinates(c, attempt, scratch) : NULL;
    if (x) {
        polygons p = {c->count, 0, c->point, NULL, NULL};
        outcome = run_qhull(x, c->nkept, attempt == MAX_TRIES - 1, scratch, &p);
        if (outcome == HULL_BUILT) {
            turn_outwards(&p, x);
            for (int k = 0; k < p.start[p.nface]; k++) {
                p.loop[k] = c->kept[p.loop[k]];
            }
            outcome = hull_join_faces(&p, c->tolerance, pool, scratch, hull, mesh);
        }
    }
    pool_free(scratch);
    return outcome;
}

static hull_outcome build_hull(cloud *c, memory_pool *pool, sim_hull *hull, sim_mesh *mesh) {
    memory_pool *scratch = pool_create();
    hull_outcome outcome = scratch ? keep_distinct(c, scratch) : HULL_NO_MEMORY;
    if (outcome == HULL_BUILT) {
        outcome = HULL_BROKEN;
        for (int attempt = 0; attempt < MAX_TRIES && outcome == HULL_BROKEN; attempt++) {
            outcome = try_once(c, attempt, pool, hull, mesh);
        }
    }
    pool_free(scratch);
    return outcome;
}

/* ---- results ---- */

static uint64_t name_of(const sim_hull *h) {
    static const char kind[] = "hull";
    uint64_t hash = hash_bytes(HASH_START, kind, sizeof kind);
    hash = hash_bytes(hash, h->vertex, (size_t)h->nvertex * sizeof(v3));
    hash = hash_bytes(hash, h->face_start, ((size_t)h->nface + 1) * sizeof(int));
    return hash_bytes(hash, h->loop, (size_t)h->face_start[h->nface] * sizeof(int));
}

sim_geometry *sim_geometry_hull(const sim_v3 *point, int count, sim_error *error) {
    /* points that span a volume */
    cloud c = {.point = point, .count = count};
    if (wrong_points(point, count, error)) {
        return NULL;
    }
    measure_cloud(&c);
    if (flat_points(&c, error)) {
        return NULL;
    }
    /* hull */
    memory_pool *pool = pool_create();
    sim_geometry *g = pool ? POOL_NEW(pool, sim_geometry, 1) : NULL;
    sim_hull *hull = g ? POOL_NEW(pool, sim_hull, 1) : NULL;
    sim_mesh *mesh = hull ? POOL_NEW(pool, sim_mesh, 1) : NULL;
    hull_outcome outcome = mesh ? build_hull(&c, pool, hull, mesh) : HULL_NO_MEMORY;
    if (outcome != HULL_BUILT) {
        pool_free(pool);
        if (outcome == HULL_NO_MEMORY) {
            sim_fail(error, SIM_NO_RESOURCE, "no memory for the convex hull of %d points", count);
        } else {
            sim_fail(error, SIM_BAD_INPUT,
                     "no closed convex hull of the %d points was found: they may be too flat, %.3g m over", count,
                     c.extent);
        }
        return NULL;
    }
    /* bounds, mass properties, fingerprint */
    *g = (sim_geometry){.type = SIM_GEOMETRY_HULL, .hull = hull, .mesh = mesh, .fingerprint = name_of(hull)};
    solid_bounds(hull->vertex, hull->nvertex, &g->low, &g->high, &g->radius);
    g->solid = solid_inertia(mesh->vertex, mesh->nvertex, mesh->triangle, mesh->ntriangle);
    g->bytes = pool_bytes(pool);
    g->memory = pool;
    return g;
}

/* No edge of the surface is a valley deeper than the tolerance explains. A corner moved by it tilts a triangle of
 * height h so that its plane moves by d / h as much at the distance d. */
static bool no_valleys(const sim_mesh *m, double tolerance) {
    for (int t = 0; t < m->ntriangle; t++) {
        const int *v = m->triangle[t];
        v3 a = m->vertex[v[0]], b = v3_sub(m->vertex[v[1]], a), c = v3_sub(m->vertex[v[2]], a), n = v3_cross(b, c);
        double twice_area = v3_norm(n), longest = fmax(v3_norm(v3_sub(c, b)), fmax(v3_norm(b), v3_norm(c)));
        for (int k = 0; k < 9; k++) {
            v3 d = v3_sub(m->vertex[m->triangle[m->across[t][k / 3]][k % 3]], a);
            if (v3_dot(n, d) > 4 * tolerance * (twice_area + v3_norm(d) * longest)) {
                return false;
            }
        }
    }
    return true;
}

/* A closed surface of one piece without valleys that encloses as much as its hull is its hull's boundary. */
sim_status hull_of_mesh(const sim_mesh *mesh, memory_pool *pool, const sim_hull **hull) {
    cloud c = {.point = mesh->vertex, .count = mesh->nvertex};
    *hull = NULL;
    if (!mesh->closed || wrong_points(c.point, c.count, NULL)) {
        return SIM_OK;
    }
    measure_cloud(&c);
    if (flat_points(&c, NULL) || mesh->nvertex - mesh->ntriangle / 2 != 2 || !no_valleys(mesh, c.tolerance)) {
        return SIM_OK;
    }
    sim_hull *built = POOL_NEW(pool, sim_hull, 1);
    sim_mesh faces;
    hull_outcome outcome = built ? build_hull(&c, pool, built, &faces) : HULL_NO_MEMORY;
    if (outcome != HULL_BUILT) {
        return outcome == HULL_NO_MEMORY ? SIM_NO_RESOURCE : SIM_OK;
    }
    double own = solid_inertia(mesh->vertex, mesh->nvertex, mesh->triangle, mesh->ntriangle).mass;
    double full = solid_inertia(faces.vertex, faces.nvertex, faces.triangle, faces.ntriangle).mass;
    double area = c.extent * c.extent; /* of its bounds' order */
    if (fabs(own - full) > 8 * c.tolerance * area) {
        return SIM_OK;
    }
    *hull = built;
    return SIM_OK;
}
