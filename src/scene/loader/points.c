/* Mesh files of points alone: the surface of their convex hull.
 *
 * Cost: that of the hull, about n log n in the number n of points. */
#include "scene/loader/loader.h"

#include <stdlib.h>
#include <string.h>

/* Points become the triangles of their hull. */
static sim_status surround_points(sim_triangles *t, sim_error *why) {
    sim_geometry *hull = sim_geometry_hull(t->vertex, t->nvertex, why);
    free(t->vertex);
    free(t->triangle);
    *t = (sim_triangles){0};
    if (!hull) {
        return why->status;
    }
    /* copies that outlive it */
    size_t vertices = (size_t)hull->mesh->nvertex, triangles = (size_t)hull->mesh->ntriangle;
    *t = (sim_triangles){(int)vertices, (int)triangles, malloc(vertices * sizeof *t->vertex),
                         malloc(triangles * sizeof *t->triangle)};
    bool room = t->vertex && t->triangle;
    if (room) {
        memcpy(t->vertex, hull->mesh->vertex, vertices * sizeof *t->vertex);
        memcpy(t->triangle, hull->mesh->triangle, triangles * sizeof *t->triangle);
    }
    sim_geometry_free(hull);
    return room ? SIM_OK : sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
}

sim_status read_mesh_or_hull(loader *l, const char *path, sim_v3 scale, sim_triangles *t, sim_error *why) {
    sim_status status = l->files.mesh(l->files.context, path, scale, &l->mesh_bytes_left, t, why);
    return !status && t->ntriangle == 0 ? surround_points(t, why) : status;
}
