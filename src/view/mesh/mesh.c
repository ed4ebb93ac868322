/* Surface of a shape as triangles. */
#include "view/mesh/mesh.h"
#include "view/mesh/parts.h"

#include <math.h>
#include <stdlib.h>

/* A face has the axis k as its normal, and the two that follow k span it. */
static view_mesh *make_box(const double edge[3]) {
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

static view_mesh *make_square(void) {
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

/* Triangles of a shape; round ones have `detail` edges in a turn. */
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
        return make_box(size);
    case SIM_CAPSULE:
        return view_mesh_capsule(size[0], size[1], turn);
    case SIM_CYLINDER:
        return view_mesh_cylinder(size[0], size[1], turn);
    case SIM_HALF_SPACE:
        return make_square();
    case SIM_CONVEX:
        return view_mesh_hull(geometry->hull);
    case SIM_SDF:
        return view_mesh_field(geometry);
    case SIM_MESH:
        return view_mesh_creased(geometry->mesh->vertex, geometry->mesh->nvertex, geometry->mesh->triangle,
                                 geometry->mesh->ntriangle);
    case SIM_HEIGHT_FIELD:
        return view_mesh_heights(geometry->heights);
    case SIM_SHAPE_TYPES:
        break;
    }
    return NULL;
}
