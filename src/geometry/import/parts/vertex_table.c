/* Vertices by their coordinates: a hash table with open addressing, at most half full.  Corners with equal coordinates become
 * one vertex, so that triangles that meet share their edges. */
#include "base/hash.h"
#include "geometry/import/parts/parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t table_place(const vertex_table *t, const v3 *vertex, v3 p) {
    uint64_t h = hash_number(hash_number(hash_number(HASH_START, p.x), p.y), p.z);
    size_t place = (size_t)hash_finish(h) & (t->size - 1);
    while (t->slot[place] >= 0) {
        v3 q = vertex[t->slot[place]];
        if (q.x == p.x && q.y == p.y && q.z == p.z) {
            break;
        }
        place = (place + 1) & (t->size - 1);
    }
    return place;
}

bool vertex_table_grow(vertex_table *t, size_t size, const mesh_parts *parts) {
    vertex_table larger = {NULL, size};
    larger.slot = malloc(larger.size * sizeof(int));
    if (!larger.slot) {
        return false;
    }
    memset(larger.slot, 0xff, larger.size * sizeof(int));
    for (size_t v = 0; v < parts->nvertex; v++) {
        larger.slot[table_place(&larger, parts->vertex, parts->vertex[v])] = (int)v;
    }
    free(t->slot);
    *t = larger;
    return true;
}

int vertex_table_find(vertex_table *t, mesh_parts *parts, v3 p) {
    p = (v3){p.x + 0.0, p.y + 0.0, p.z + 0.0}; /* -0 becomes 0 */
    if (2 * parts->nvertex >= t->size && !vertex_table_grow(t, t->size ? 2 * t->size : 64, parts)) {
        return -1;
    }
    size_t place = table_place(t, parts->vertex, p);
    if (t->slot[place] < 0) {
        if (parts->nvertex == INT_MAX || !mesh_add_vertex(parts, p)) {
            return -1;
        }
        t->slot[place] = (int)parts->nvertex - 1;
    }
    return t->slot[place];
}
