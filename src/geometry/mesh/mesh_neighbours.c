/* Neighbours of triangles across their edges.
 *
 * Half-edges (triangle, corner) are dealt into a bucket for each lower vertex and sorted there by the higher one.  Two
 * in opposite directions are neighbours.  Where more than two meet (solids that touch along an edge), each is joined to
 * the one that bounds the same wedge of solid.  That is the first one in a turn about the edge through the inside. */
#include "geometry/mesh/mesh.h"
#include "math/angle.h"

#include <stdlib.h>

typedef const int (*triangles)[3];

enum { MAX_INSERTION_SORT_KEYS = 24 };

static int edge_start(triangles t, uint32_t half) { return t[half / 3][half % 3]; }
static int edge_end(triangles t, uint32_t half) { return t[half / 3][(half % 3 + 1) % 3]; }

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_keys(uint64_t *key, size_t count) {
    if (count > MAX_INSERTION_SORT_KEYS) {
        qsort(key, count, sizeof *key, by_number);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t k = key[i];
        size_t j = i;
        for (; j > 0 && key[j - 1] > k; j--) {
            key[j] = key[j - 1];
        }
        key[j] = k;
    }
}

/* The angle, in (0, 2 pi], through which the triangle of `half` turns about its edge, through the inside, to reach the
 * triangle of `other`. */
static double wedge_angle(const v3 *vertex, triangles t, uint32_t half, uint32_t other) {
    v3 u = vertex[edge_start(t, half)], v = vertex[edge_end(t, half)];
    v3 edge = v3_sub(v, u);
    v3 mine = v3_sub(vertex[t[half / 3][(half % 3 + 2) % 3]], u);
    v3 theirs = v3_sub(vertex[t[other / 3][(other % 3 + 2) % 3]], u);
    v3 normal = v3_cross(edge, mine);
    double angle = atan2(-v3_dot(normal, theirs) * v3_norm(edge), v3_dot(normal, v3_cross(edge, theirs)));
    return angle > 0 ? angle : angle + 2 * PI;
}

static void join_edges(int (*across)[3], uint32_t a, uint32_t b) {
    across[a / 3][a % 3] = (int)(b / 3);
    across[b / 3][b % 3] = (int)(a / 3);
}

/* Half-edges of one edge, joined in pairs; returns how many are left over. */
static size_t join_edge(const v3 *vertex, triangles t, uint64_t *key, size_t count, int (*across)[3]) {
    size_t left = count;
    for (size_t i = 0; i < count; i++) {
        /* half-edges that are not joined yet */
        uint32_t half = (uint32_t)key[i], best = 0;
        if (across[half / 3][half % 3] >= 0) {
            continue;
        }
        /* partner: of the other direction, across the least angle of solid */
        double least = HUGE_VAL;
        for (size_t j = i + 1; j < count; j++) {
            uint32_t other = (uint32_t)key[j];
            if (edge_start(t, other) == edge_start(t, half) || across[other / 3][other % 3] >= 0) {
                continue;
            }
            double angle = count == 2 ? 0 : wedge_angle(vertex, t, half, other);
            if (angle < least) {
                least = angle;
                best = other;
            }
        }
        if (least < HUGE_VAL) {
            join_edges(across, half, best);
            left -= 2;
        }
    }
    return left;
}

/* More half-edges at one edge than this are no surface; they stay borders, so that the work stays in proportion. */
enum { MAX_SHEETS = 64 };

static size_t join_bucket(const v3 *vertex, triangles t, uint64_t *key, size_t count, int (*across)[3]) {
    size_t left = 0;
    sort_keys(key, count);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && key[end] >> 32 == key[i] >> 32) {
            end++;
        }
        left += end - i > MAX_SHEETS ? end - i : join_edge(vertex, t, key + i, end - i, across);
        i = end;
    }
    return left;
}

sim_status mesh_neighbours(const v3 *vertex, int nvertex, triangles t, int ntriangle, int (*across)[3], bool *closed) {
    /* memory */
    uint32_t count = 3 * (uint32_t)ntriangle;
    uint32_t *start = calloc((size_t)nvertex + 2, sizeof *start);
    uint64_t *key = malloc((size_t)count * sizeof *key);
    if (!start || !key) {
        free(start);
        free(key);
        return SIM_NO_RESOURCE;
    }
    /* half-edges counted by their lower vertex */
    for (uint32_t half = 0; half < count; half++) {
        int a = edge_start(t, half), b = edge_end(t, half);
        start[(a < b ? a : b) + 2]++;
        across[half / 3][half % 3] = -1;
    }
    /* counting sort */
    for (int v = 0; v < nvertex; v++) {
        start[v + 2] += start[v + 1];
    }
    for (uint32_t half = 0; half < count; half++) {
        int a = edge_start(t, half), b = edge_end(t, half), low = a < b ? a : b;
        key[start[low + 1]++] = (uint64_t)(a < b ? b : a) << 32 | half;
    }
    /* join the half-edges of each bucket */
    size_t left = 0;
    for (int v = 0; v < nvertex; v++) {
        left += join_bucket(vertex, t, key + start[v], start[v + 1] - start[v], across);
    }
    free(start);
    free(key);
    *closed = left == 0;
    return SIM_OK;
}
