/* Which triangles stand for a shape? */
#include "view/mesh.h"
#include "view/mesh_parts.h"

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

/* A face has the axis k as its normal, and the two that follow k span it. */
static view_mesh *box(const double edge[3]) {
    view_mesh *mesh = view_mesh_room(24, 12);
    for (int face = 0; mesh && face < 6; face++) {
        int k = face / 2, i = (k + 1) % 3, j = (k + 2) % 3, first = mesh->nvertex;
        double side = face % 2 ? -1 : 1, normal[3] = {0};
        normal[k] = side;
        for (int corner = 0; corner < 4; corner++) {
            double p[3];
            p[k] = 0.5 * side * edge[k];
            p[i] = (corner == 1 || corner == 2 ? 0.5 : -0.5) * side * edge[i];
            p[j] = (corner >= 2 ? 0.5 : -0.5) * edge[j];
            view_mesh_vertex(mesh, p[0], p[1], p[2], normal[0], normal[1], normal[2]);
        }
        view_mesh_triangle(mesh, first, first + 1, first + 2);
        view_mesh_triangle(mesh, first, first + 2, first + 3);
    }
    return mesh;
}

static view_mesh *square(void) {
    static const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    view_mesh *mesh = view_mesh_room(4, 2);
    if (mesh) {
        for (int k = 0; k < 4; k++) {
            view_mesh_vertex(mesh, corner[k][0], corner[k][1], 0, 0, 0, 1);
        }
        view_mesh_triangle(mesh, 0, 1, 2);
        view_mesh_triangle(mesh, 0, 2, 3);
    }
    return mesh;
}

view_mesh *view_mesh_create(const sim_shape *shape, int detail) {
    const double *size = shape->size;
    const sim_geometry *geometry = shape->geometry;
    int turn = detail < 8 ? 8 : (detail + 3) / 4 * 4;
    switch (shape->type) {
    case SIM_SPHERE:
        return view_mesh_ellipsoid((double[]){size[0], size[0], size[0]}, turn);
    case SIM_ELLIPSOID:
        return view_mesh_ellipsoid(size, turn);
    case SIM_BOX:
        return box(size);
    case SIM_CAPSULE:
        return view_mesh_capsule(size[0], size[1], turn);
    case SIM_CYLINDER:
        return view_mesh_cylinder(size[0], size[1], turn);
    case SIM_HALF_SPACE:
        return square();
    case SIM_CONVEX:
        return view_mesh_hull(geometry->hull);
    case SIM_MESH:
    case SIM_SDF:
        return view_mesh_creased(geometry->mesh->vertex, geometry->mesh->nvertex, geometry->mesh->triangle,
                                 geometry->mesh->ntriangle);
    case SIM_HEIGHT_FIELD:
        return view_mesh_heights(geometry->heights);
    case SIM_SHAPE_TYPES:
        break;
    }
    return NULL;
}
