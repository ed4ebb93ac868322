/* Triangle meshes for drawing: memory, vertices, triangles. */
#include "view/mesh/mesh.h"
#include "view/mesh/parts.h"

#include <math.h>
#include <stdlib.h>

view_mesh *view_mesh_room(int nvertex, int ntriangle) {
    view_mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh) {
        return NULL;
    }
    mesh->position = calloc((size_t)nvertex + 1, sizeof *mesh->position);
    mesh->normal = calloc((size_t)nvertex + 1, sizeof *mesh->normal);
    mesh->triangle = calloc((size_t)ntriangle + 1, sizeof *mesh->triangle);
    if (!mesh->position || !mesh->normal || !mesh->triangle) {
        view_mesh_free(mesh);
        return NULL;
    }
    return mesh;
}

void view_mesh_free(view_mesh *mesh) {
    if (mesh) {
        free(mesh->position);
        free(mesh->normal);
        free(mesh->triangle);
        free(mesh);
    }
}

int view_mesh_vertex(view_mesh *mesh, double x, double y, double z, double nx, double ny, double nz) {
    double length = sqrt(nx * nx + ny * ny + nz * nz), scale = length > 0 ? 1 / length : 0;
    float *p = mesh->position[mesh->nvertex], *n = mesh->normal[mesh->nvertex];
    p[0] = (float)x;
    p[1] = (float)y;
    p[2] = (float)z;
    n[0] = (float)(nx * scale);
    n[1] = (float)(ny * scale);
    n[2] = (float)(length > 0 ? nz * scale : 1);
    return mesh->nvertex++;
}

int view_mesh_triangle(view_mesh *mesh, int a, int b, int c) {
    uint32_t *corner = mesh->triangle[mesh->ntriangle];
    corner[0] = (uint32_t)a;
    corner[1] = (uint32_t)b;
    corner[2] = (uint32_t)c;
    return mesh->ntriangle++;
}
