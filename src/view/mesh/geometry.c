/* Surfaces of hulls, height fields and distance fields.  A hull has flat faces, each cut into a fan of triangles with
 * corners of its own.  A height field is drawn as it is in contact, two triangles a cell (sim/geometry.h), with the normals
 * of its slopes.  A distance field whose triangles are coarser than its walls gets finer ones. */
#include "geometry/field/surface.h"
#include "view/mesh/parts.h"

view_mesh *view_mesh_hull(const sim_hull *hull) {
    int corners = hull->face_start[hull->nface];
    view_mesh *mesh = view_mesh_room(corners, corners - 2 * hull->nface);
    for (int f = 0; mesh && f < hull->nface; f++) {
        int first = mesh->nvertex, count = hull->face_start[f + 1] - hull->face_start[f];
        sim_v3 n = hull->normal[f];
        for (int k = 0; k < count; k++) {
            sim_v3 p = hull->vertex[hull->loop[hull->face_start[f] + k]];
            view_mesh_vertex(mesh, p.x, p.y, p.z, n.x, n.y, n.z);
            if (k >= 2) {
                view_mesh_triangle(mesh, first, first + k - 1, first + k);
            }
        }
    }
    return mesh;
}

/* The rise from one neighbour of point k to the other, over their distance; one-sided at the border. */
static double height_slope(const double *height, int stride, int k, int count, double cell) {
    int low = k > 0 ? k - 1 : k, high = k + 1 < count ? k + 1 : k;
    return (height[high * stride] - height[low * stride]) / ((high - low) * cell);
}

view_mesh *view_mesh_heights(const sim_heights *h) {
    int columns = h->columns, rows = h->rows;
    double dx = h->size[0] / (columns - 1), dy = h->size[1] / (rows - 1);
    view_mesh *mesh = view_mesh_room(columns * rows, 2 * (columns - 1) * (rows - 1));
    for (int j = 0; mesh && j < rows; j++) {
        for (int i = 0; i < columns; i++) {
            double x = i * dx - 0.5 * h->size[0], y = j * dy - 0.5 * h->size[1];
            const double *row = h->height + (ptrdiff_t)j * columns, *column = h->height + i;
            view_mesh_vertex(mesh, x, y, row[i], -height_slope(row, 1, i, columns, dx),
                             -height_slope(column, columns, j, rows, dy), 1);
            if (i > 0 && j > 0) {
                int here = j * columns + i, left = here - 1, below = here - columns;
                view_mesh_triangle(mesh, below - 1, below, here);
                view_mesh_triangle(mesh, below - 1, here, left);
            }
        }
    }
    return mesh;
}

view_mesh *view_mesh_field(const sim_geometry *g) {
    surface s;
    sim_error why;
    sim_status status = surface_of_drawing(g, &s, &why);
    if (status == SIM_NO_RESOURCE) {
        return NULL;
    }
    if (status || !s.ntriangle) { /* fine enough, or there is no finer one within the limits of a field */
        return view_mesh_creased(g->mesh->vertex, g->mesh->nvertex, g->mesh->triangle, g->mesh->ntriangle);
    }
    view_mesh *mesh = view_mesh_creased(s.vertex, s.nvertex, (const int(*)[3])s.triangle, s.ntriangle);
    surface_free(&s);
    return mesh;
}
