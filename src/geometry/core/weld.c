/* Welding of points that coincide.
 *
 * Points are put, in their order, into the cells of a grid of edge 4 x tolerance, kept in a hash table with chains.  A
 * point within reach of a kept one lies in the same cell or in one that the point's cube of edge 2 x tolerance touches:
 * at most eight. */
#include "geometry/core/weld.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct table {
    const v3 *point;
    double tolerance, per_cell; /* cells per metre; 0: points are their own cells */
    int *first, *next;          /* chains of kept points */
    uint32_t mask;
} table;

static uint32_t find_slot(const table *t, double x, double y, double z) {
    return (uint32_t)hash_finish(hash_number(hash_number(hash_number(HASH_START, x), y), z)) & t->mask;
}

static double cell_index(const table *t, double x) { return t->per_cell > 0 ? floor(x * t->per_cell) : x; }

/* The first kept point of a chain within reach of p, or `best` if that comes before it. */
static int find_in_chain(const table *t, uint32_t where, v3 p, int best) {
    for (int k = t->first[where]; k >= 0; k = t->next[k]) {
        v3 d = v3_sub(t->point[k], p);
        bool near = t->tolerance > 0 ? v3_norm(d) <= t->tolerance : d.x == 0 && d.y == 0 && d.z == 0;
        if (near && (best < 0 || k < best)) {
            best = k;
        }
    }
    return best;
}

static int find_vertex(const table *t, v3 p) {
    double at[3][2];
    const double x[3] = {p.x, p.y, p.z};
    int count[3], best = -1;
    for (int i = 0; i < 3; i++) {
        at[i][0] = cell_index(t, x[i] - t->tolerance);
        at[i][1] = cell_index(t, x[i] + t->tolerance);
        count[i] = at[i][0] == at[i][1] ? 1 : 2;
    }
    for (int i = 0; i < count[0]; i++) {
        for (int j = 0; j < count[1]; j++) {
            for (int k = 0; k < count[2]; k++) {
                best = find_in_chain(t, find_slot(t, at[0][i], at[1][j], at[2][k]), p, best);
            }
        }
    }
    return best;
}

sim_status weld_points(const v3 *point, int count, double tolerance, int *to) {
    /* hash grid with cells of four tolerances */
    size_t size = 16;
    while (size < 2 * (size_t)count) {
        size *= 2;
    }
    table t = {point,
               tolerance,
               tolerance > 0 ? 0.25 / tolerance : 0,
               malloc(size * sizeof(int)),
               malloc(((size_t)count + 1) * sizeof(int)),
               (uint32_t)(size - 1)};
    bool roomy = t.first && t.next;
    for (size_t i = 0; roomy && i < size; i++) {
        t.first[i] = -1;
    }
    /* each point to an earlier one within the tolerance, else to itself */
    for (int i = 0; roomy && i < count; i++) {
        to[i] = find_vertex(&t, point[i]);
        if (to[i] < 0) {
            uint32_t where =
                find_slot(&t, cell_index(&t, point[i].x), cell_index(&t, point[i].y), cell_index(&t, point[i].z));
            t.next[i] = t.first[where];
            t.first[where] = i;
            to[i] = i;
        }
    }
    free(t.first);
    free(t.next);
    return roomy ? SIM_OK : SIM_NO_RESOURCE;
}
