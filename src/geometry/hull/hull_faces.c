/* Facets of a hull merged into flat faces.
 *
 * Facets that rounding has cut out of one polygon lie in one plane but for the rounding.  From the largest on, each
 * facet takes in neighbours whose corners all lie within the tolerance of its plane.  The union must stay a disc: the
 * neighbour meets it along one unbroken chain of edges.  The plane follows the union (its area vector is the sum of its
 * parts').  Vertices inside a union, or between two faces only, are left out.  A union whose outline is not convex
 * beyond the tolerance is taken apart and grown again with a smaller one.
 *
 * Half-edge k runs from loop[k] to the next corner of its face; twin[k] is the other half. */
#include "geometry/hull/hull.h"

#include <stdlib.h>
#include <string.h>

enum { SHRINKING_ROUNDS = 8, MAX_ROUNDS = 100 };

typedef struct half_edges {
    const v3 *vertex;
    int nvertex, nface, nedge;
    const int *start, *loop;
    int *face, *twin;
    int *region; /* [nface] the facet that stands for the union */
    int *degree; /* [nvertex] unions that meet there; below 3: no corner */
    int *parts;  /* [nface] facets of a region */
    int *first;  /* [nface] of a region: a half-edge of its outline that starts at a corner, or -1 */
    int *mark;   /* [nvertex] region that last touched the vertex */
    v3 *area;    /* [nface] area vector */
    double tolerance;
} half_edges;

static int next_half(const half_edges *e, int k) {
    int f = e->face[k];
    return k + 1 < e->start[f + 1] ? k + 1 : e->start[f];
}

/* ---- topology ---- */

/* Stable counting sort of half-edges by the larger or the smaller of their ends. */
static void sort_by_end(const half_edges *e, int larger, const int *from, int *to, int *count) {
    memset(count, 0, ((size_t)e->nvertex + 1) * sizeof(int));
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < e->nedge; i++) {
            int a = e->loop[from[i]], b = e->loop[next_half(e, from[i])];
            int key = (a > b) == larger ? a : b;
            if (pass == 0) {
                count[key + 1]++;
            } else {
                to[count[key]++] = from[i];
            }
        }
        for (int v = 0; pass == 0 && v < e->nvertex; v++) {
            count[v + 1] += count[v];
        }
    }
}

/* False where an edge has not exactly two halves that run against each other. */
static bool find_twins(half_edges *e, int *one, int *two, int *count) {
    for (int k = 0; k < e->nedge; k++) {
        one[k] = k;
    }
    sort_by_end(e, 1, one, two, count);
    sort_by_end(e, 0, two, one, count);
    for (int i = 0; i < e->nedge; i += 2) {
        int k = one[i], l = i + 1 < e->nedge ? one[i + 1] : k;
        if (e->loop[k] != e->loop[next_half(e, l)] || e->loop[l] != e->loop[next_half(e, k)] ||
            e->face[k] == e->face[l]) {
            return false;
        }
        e->twin[k] = l;
        e->twin[l] = k;
    }
    return true;
}

/* ---- unions ---- */

typedef struct patch {
    int region;
    v3 area, moment; /* sums of area vectors, and of middles weighted with areas */
    double weight, tolerance;
} patch;

static void take_face_in(half_edges *e, patch *p, int f) {
    v3 middle = {0, 0, 0};
    int count = e->start[f + 1] - e->start[f];
    double weight = v3_norm(e->area[f]);
    for (int k = e->start[f]; k < e->start[f + 1]; k++) {
        e->mark[e->loop[k]] = p->region;
        middle = v3_axpy(middle, 1.0 / count, e->vertex[e->loop[k]]);
    }
    e->region[f] = p->region;
    p->area = v3_add(p->area, e->area[f]);
    p->moment = v3_axpy(p->moment, weight, middle);
    p->weight += weight;
}

static bool may_join(const half_edges *e, const patch *p, int f) {
    int shared_edges = 0, shared_corners = 0;
    double size = v3_norm(p->area);
    v3 normal = v3_scale(1 / size, p->area), middle = v3_scale(1 / p->weight, p->moment);
    for (int k = e->start[f]; k < e->start[f + 1]; k++) {
        if (fabs(v3_dot(normal, v3_sub(e->vertex[e->loop[k]], middle))) > p->tolerance) {
            return false;
        }
        shared_edges += e->region[e->face[e->twin[k]]] == p->region;
        shared_corners += e->mark[e->loop[k]] == p->region;
    }
    return shared_corners == shared_edges + 1;
}

static int push_neighbours(const half_edges *e, int f, int *stack, int top) {
    for (int k = e->start[f]; k < e->start[f + 1]; k++) {
        int g = e->face[e->twin[k]];
        if (e->region[g] < 0) {
            stack[top++] = g;
        }
    }
    return top;
}

static void grow_region(half_edges *e, int seed, double tolerance, int *stack) {
    patch p = {.region = seed, .tolerance = tolerance};
    take_face_in(e, &p, seed);
    if (!(p.weight > 0)) {
        return;
    }
    int top = push_neighbours(e, seed, stack, 0);
    while (top) {
        int f = stack[--top];
        if (e->region[f] < 0 && may_join(e, &p, f)) {
            take_face_in(e, &p, f);
            top = push_neighbours(e, f, stack, top);
        }
    }
}

typedef struct facet_size {
    double size;
    int face;
} facet_size;

static int larger_first(const void *a, const void *b) {
    const facet_size *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : (x->face > y->face) - (x->face < y->face);
}

static void prepare_faces(half_edges *e, facet_size *order) {
    for (int f = 0; f < e->nface; f++) {
        e->region[f] = -1;
        e->area[f] = hull_area(e->vertex, e->loop + e->start[f], e->start[f + 1] - e->start[f]);
        order[f] = (facet_size){v3_norm(e->area[f]), f};
    }
    for (int v = 0; v < e->nvertex; v++) {
        e->mark[v] = -1;
    }
    qsort(order, (size_t)e->nface, sizeof(facet_size), larger_first);
}

/* Unions of all facets that are in none.  A facet is pushed at most once for each of its edges, so the stack holds as
 * many as there are half-edges. */
static void grow_all(half_edges *e, const facet_size *order, double tolerance, int *stack) {
    for (int i = 0; i < e->nface; i++) {
        if (e->region[order[i].face] < 0) {
            grow_region(e, order[i].face, tolerance, stack);
        }
    }
}

/* ---- outlines ---- */

static int region_of(const half_edges *e, int k) { return e->region[e->face[k]]; }
static bool on_outline(const half_edges *e, int k) { return region_of(e, k) != region_of(e, e->twin[k]); }

static int next_on_outline(const half_edges *e, int k) {
    k = next_half(e, k);
    for (int turns = 0; !on_outline(e, k) && turns < e->nedge; turns++) {
        k = next_half(e, e->twin[k]);
    }
    return k;
}

static void find_outlines(half_edges *e) {
    memset(e->degree, 0, (size_t)e->nvertex * sizeof(int));
    for (int k = 0; k < e->nedge; k++) {
        e->degree[e->loop[k]] += on_outline(e, k);
    }
    for (int f = 0; f < e->nface; f++) {
        e->first[f] = -1;
        e->parts[f] = 0;
    }
    for (int f = 0; f < e->nface; f++) {
        e->parts[e->region[f]]++;
    }
    for (int k = e->nedge; k-- > 0;) {
        if (on_outline(e, k) && e->degree[e->loop[k]] >= 3) {
            e->first[region_of(e, k)] = k;
        }
    }
}

/* The half-edges of a region's outline that start at corners. */
static int list_outline_corners(const half_edges *e, int region, int *corner) {
    int k = e->first[region], count = 0;
    for (int steps = 0; k >= 0 && steps < e->nedge; steps++) {
        if (e->degree[e->loop[k]] >= 3) {
            corner[count++] = k;
        }
        k = next_on_outline(e, k);
        if (k == e->first[region]) {
            break;
        }
    }
    return count;
}

/* No corner stands inwards of the line through its neighbours. */
static bool convex_outline(const half_edges *e, int region, const int *corner, int count) {
    v3 normal = {0, 0, 0};
    for (int i = 2; i < count; i++) {
        v3 a = e->vertex[e->loop[corner[0]]], b = e->vertex[e->loop[corner[i - 1]]], c = e->vertex[e->loop[corner[i]]];
        normal = v3_add(normal, v3_cross(v3_sub(b, a), v3_sub(c, a)));
    }
    double size = v3_norm(normal);
    if (!(size > 0) || v3_dot(normal, e->area[region]) <= 0) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        v3 a = e->vertex[e->loop[corner[i]]], b = e->vertex[e->loop[corner[(i + 1) % count]]],
           c = e->vertex[e->loop[corner[(i + 2) % count]]];
        v3 chord = v3_sub(c, a);
        double inwards = v3_dot(normal, v3_cross(v3_sub(b, a), chord)) / size;
        if (inwards < -4 * e->tolerance * v3_norm(chord)) {
            return false;
        }
    }
    return true;
}

/* Marks in `bad` the unions that must be taken apart: they themselves, or, where a facet alone has lost its corners or
 * its area, those around it.  0 when all is well. */
static bool find_bad(const half_edges *e, int *corner, unsigned char *bad) {
    bool found = false;
    for (int r = 0; r < e->nface; r++) {
        bad[r] = 0;
    }
    for (int r = 0; r < e->nface; r++) {
        if (e->region[r] != r) {
            continue;
        }
        int count = list_outline_corners(e, r, corner);
        if (count >= 3 && (e->parts[r] > 1 ? convex_outline(e, r, corner, count) : v3_norm(e->area[r]) > 0)) {
            continue;
        }
        found = true;
        bad[r] = e->parts[r] > 1;
        for (int k = e->start[r]; !bad[r] && k < e->start[r + 1]; k++) {
            bad[region_of(e, e->twin[k])] = 1;
        }
    }
    return found;
}

/* Leaves the facets of bad unions in none; 0 if each was alone already. */
static int take_apart(half_edges *e, const unsigned char *bad) {
    int several = 0;
    for (int v = 0; v < e->nvertex; v++) {
        if (e->mark[v] >= 0 && bad[e->mark[v]]) {
            e->mark[v] = -1;
        }
    }
    for (int f = 0; f < e->nface; f++) {
        if (bad[e->region[f]]) {
            several |= e->parts[e->region[f]] > 1;
            e->region[f] = -1;
        }
    }
    return several;
}

/* Unions that end where the surface bends away by just the tolerance have ragged outlines. They are grown again with
 * less of it, in the end with none. */
static bool settle_regions(half_edges *e, const facet_size *order, int *work, unsigned char *bad) {
    double tolerance = e->tolerance;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        grow_all(e, order, tolerance, work);
        find_outlines(e);
        if (!find_bad(e, work, bad)) {
            return true;
        }
        if (!take_apart(e, bad)) {
            return false;
        }
        tolerance = round < SHRINKING_ROUNDS ? tolerance / 4 : -1;
    }
    return false;
}

/* ---- results ---- */

typedef struct builder {
    const half_edges *e;
    memory_pool *pool;
    int nvertex, nface, ncorner;
    int *new_vertex, *new_face; /* of vertices, of regions; -1: left out */
    int *new_corner;            /* of half-edges that start a side */
    int *old_corner;            /* [ncorner] */
    int *twin;                  /* [ncorner] the side's other half */
    v3 *vertex, *normal;
    double *offset;
    int *start, *loop, *across, *ring_start, *ring;
} builder;

static bool collect_vertices(builder *b, int *corner) {
    const half_edges *e = b->e;
    for (int v = 0; v < e->nvertex; v++) {
        b->new_vertex[v] = e->degree[v] >= 3 ? b->nvertex++ : -1;
    }
    for (int f = 0; f < e->nface; f++) {
        b->new_face[f] = -1;
        if (e->region[f] == f) {
            b->new_face[f] = b->nface++;
            int count = list_outline_corners(e, f, corner);
            for (int i = 0; i < count; i++) {
                b->new_corner[corner[i]] = b->ncorner;
                b->old_corner[b->ncorner++] = corner[i];
            }
        }
    }
    return b->nvertex - b->ncorner / 2 + b->nface == 2 && b->ncorner % 2 == 0;
}

static bool reserve_arrays(builder *b) {
    b->vertex = POOL_NEW(b->pool, v3, b->nvertex);
    b->normal = POOL_NEW(b->pool, v3, b->nface);
    b->offset = POOL_NEW(b->pool, double, b->nface);
    b->start = POOL_NEW(b->pool, int, b->nface + 1);
    b->loop = POOL_NEW(b->pool, int, b->ncorner);
    b->across = POOL_NEW(b->pool, int, b->ncorner);
    b->ring_start = POOL_NEW(b->pool, int, b->nvertex + 1);
    b->ring = POOL_NEW(b->pool, int, b->ncorner);
    return b->vertex && b->normal && b->offset && b->start && b->loop && b->across && b->ring_start && b->ring;
}

static void write_loops(builder *b) {
    const half_edges *e = b->e;
    for (int v = 0; v < e->nvertex; v++) {
        if (b->new_vertex[v] >= 0) {
            b->vertex[b->new_vertex[v]] = e->vertex[v];
        }
    }
    for (int c = 0; c < b->ncorner; c++) {
        int k = b->old_corner[c], last = k, other = e->twin[k];
        while (e->degree[e->loop[other]] < 3) { /* the chain's end is a corner, else it would be a closed ring */
            last = next_on_outline(e, last);
            other = e->twin[last];
        }
        b->loop[c] = b->new_vertex[e->loop[k]];
        b->across[c] = b->new_face[region_of(e, other)];
        b->twin[c] = b->new_corner[other];
        b->start[b->new_face[region_of(e, k)] + 1] = c + 1;
        b->ring_start[b->loop[c] + 1]++;
    }
}

/* Neighbours of each vertex in the order of its faces around it. */
static void write_rings(builder *b) {
    for (int v = 0; v < b->nvertex; v++) {
        b->ring_start[v + 1] += b->ring_start[v];
    }
    for (int c = 0; c < b->ncorner; c++) {
        b->ring[c] = -1;
    }
    for (int c = 0; c < b->ncorner; c++) {
        int v = b->loop[c], at = c;
        for (int i = b->ring_start[v]; b->ring[i] < 0;) {
            int other = b->twin[at], face = b->across[at];
            b->ring[i] = b->loop[other];
            at = other + 1 < b->start[face + 1] ? other + 1 : b->start[face];
            i += i + 1 < b->ring_start[v + 1];
        }
    }
}

/* Each face is cut into a fan about its first corner: triangle i of the face has the corners 0, i + 1, i + 2. */
static bool write_mesh(const builder *b, sim_mesh *mesh) {
    int count = b->ncorner - 2 * b->nface;
    int(*triangle)[3] = pool_alloc(b->pool, (size_t)count, sizeof *triangle);
    int(*across)[3] = pool_alloc(b->pool, (size_t)count, sizeof *across);
    if (!triangle || !across) {
        return false;
    }
    for (int f = 0; f < b->nface; f++) {
        int begin = b->start[f], n = b->start[f + 1] - begin;
        for (int i = 0; i < n - 2; i++) {
            int t = begin - 2 * f + i;
            const int side[3] = {i == 0 ? begin : -1, begin + i + 1, i == n - 3 ? begin + n - 1 : -1};
            const int inner[3] = {t - 1, -1, t + 1};
            triangle[t][0] = b->loop[begin];
            triangle[t][1] = b->loop[begin + i + 1];
            triangle[t][2] = b->loop[begin + i + 2];
            for (int s = 0; s < 3; s++) {
                across[t][s] = inner[s];
                if (side[s] >= 0) { /* side j of a face belongs to its triangle j - 1, within the fan */
                    int g = b->across[side[s]], j = b->twin[side[s]] - b->start[g];
                    int last = b->start[g + 1] - b->start[g] - 3;
                    across[t][s] = b->start[g] - 2 * g + (j == 0 ? 0 : j - 1 > last ? last : j - 1);
                }
            }
        }
    }
    *mesh = (sim_mesh){b->nvertex, count, b->vertex, (const int(*)[3])triangle, (const int(*)[3])across, 1, 1};
    return true;
}

static hull_outcome build_faces(builder *b, sim_hull *hull, sim_mesh *mesh) {
    if (!reserve_arrays(b)) {
        return HULL_NO_MEMORY;
    }
    write_loops(b);
    write_rings(b);
    *hull = (sim_hull){b->nvertex, b->nface, b->vertex, b->normal,     b->offset,
                       b->start,   b->loop,  b->across, b->ring_start, b->ring};
    hull_outcome outcome = hull_find_planes(hull, b->e->tolerance, b->normal, b->offset);
    if (outcome != HULL_BUILT) {
        return outcome;
    }
    return !mesh || write_mesh(b, mesh) ? HULL_BUILT : HULL_NO_MEMORY;
}

hull_outcome hull_join_faces(const polygons *from, double tolerance, memory_pool *pool, memory_pool *scratch,
                             sim_hull *hull, sim_mesh *mesh) {
    /* memory */
    int nv = from->nvertex, nf = from->nface, ne = nf > 3 ? from->start[nf] : 0;
    if (nv < 4 || ne < 12) {
        return HULL_BROKEN;
    }
    half_edges e = {from->vertex, nv, nf, ne, from->start, from->loop, .tolerance = tolerance};
    e.face = POOL_NEW(scratch, int, ne), e.twin = POOL_NEW(scratch, int, ne);
    e.region = POOL_NEW(scratch, int, nf), e.parts = POOL_NEW(scratch, int, nf);
    e.first = POOL_NEW(scratch, int, nf), e.area = POOL_NEW(scratch, v3, nf);
    e.degree = POOL_NEW(scratch, int, nv), e.mark = POOL_NEW(scratch, int, nv);
    int *one = POOL_NEW(scratch, int, ne), *two = POOL_NEW(scratch, int, ne), *count = POOL_NEW(scratch, int, nv + 1);
    facet_size *order = POOL_NEW(scratch, facet_size, nf);
    unsigned char *bad = POOL_NEW(scratch, unsigned char, nf);
    builder b = {.e = &e, .pool = pool};
    b.new_vertex = POOL_NEW(scratch, int, nv), b.new_face = POOL_NEW(scratch, int, nf);
    b.new_corner = POOL_NEW(scratch, int, ne), b.old_corner = POOL_NEW(scratch, int, ne);
    b.twin = POOL_NEW(scratch, int, ne);
    if (!e.face || !e.twin || !e.region || !e.parts || !e.first || !e.area || !e.degree || !e.mark || !one || !two ||
        !count || !order || !bad || !b.new_vertex || !b.new_face || !b.new_corner || !b.old_corner || !b.twin) {
        return HULL_NO_MEMORY;
    }
    /* half-edges and their twins */
    for (int f = 0; f < nf; f++) {
        for (int k = from->start[f]; k < from->start[f + 1]; k++) {
            e.face[k] = f;
        }
    }
    if (!find_twins(&e, one, two, count)) {
        return HULL_BROKEN;
    }
    /* merge coplanar facets into faces */
    prepare_faces(&e, order);
    if (!settle_regions(&e, order, one, bad) || !collect_vertices(&b, one)) {
        return HULL_BROKEN;
    }
    /* number vertices, corners and faces anew */
    return build_faces(&b, hull, mesh);
}
