/* Growing lists of vertices and triangles of a mesh file. */
#include "geometry/import/parts/parts.h"

#include <stdlib.h>

static bool grow_list(void **items, size_t count, size_t *room, size_t size) {
    if (count < *room) {
        return true;
    }
    size_t more = *room ? 2 * *room : 64;
    void *larger = more > SIZE_MAX / 2 / size ? NULL : realloc(*items, more * size);
    if (!larger) {
        return false;
    }
    *items = larger;
    *room = more;
    return true;
}

int mesh_add_vertex(mesh_parts *parts, v3 p) {
    void *items = parts->vertex;
    int fits = grow_list(&items, parts->nvertex, &parts->vertex_room, sizeof(v3));
    parts->vertex = items;
    if (fits) {
        parts->vertex[parts->nvertex++] = p;
    }
    return fits;
}

int mesh_add_triangle(mesh_parts *parts, int a, int b, int c) {
    void *items = parts->triangle;
    int fits = grow_list(&items, parts->ntriangle, &parts->triangle_room, sizeof *parts->triangle);
    parts->triangle = items;
    if (fits) {
        int *t = parts->triangle[parts->ntriangle++];
        t[0] = a;
        t[1] = b;
        t[2] = c;
    }
    return fits;
}
