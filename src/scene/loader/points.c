/* Mesh files, each read once: early, where a robot names it and would leave it out, or as its shape is built.  Files of
 * points alone are the surface of their convex hull.
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
    *t = (sim_triangles){.nvertex = (int)vertices,
                         .ntriangle = (int)triangles,
                         .vertex = malloc(vertices * sizeof *t->vertex),
                         .triangle = malloc(triangles * sizeof *t->triangle)};
    bool room = t->vertex && t->triangle;
    if (room) {
        memcpy(t->vertex, hull->mesh->vertex, vertices * sizeof *t->vertex);
        memcpy(t->triangle, hull->mesh->triangle, triangles * sizeof *t->triangle);
    }
    sim_geometry_free(hull);
    return room ? SIM_OK : sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
}

static early_mesh **find_early(loader *l, const char *path, sim_v3 scale) {
    early_mesh **at = &l->early;
    while (*at && (strcmp((*at)->path, path) != 0 || memcmp(&(*at)->scale, &scale, sizeof scale) != 0)) {
        at = &(*at)->next;
    }
    return at;
}

sim_status read_mesh_early(loader *l, const char *path, sim_v3 scale, sim_error *why) {
    early_mesh *e = *find_early(l, path, scale);
    if (e || ++l->nearly > l->limits.files) { /* too many: refused as shapes are built */
        return SIM_OK;
    }
    e = POOL_NEW(l->work, early_mesh, 1);
    const char *kept = pool_text(l->work, path);
    if (!e || !kept) {
        l->report.no_memory = true;
        return sim_fail(why, SIM_NO_RESOURCE, "no memory for a mesh");
    }
    *e = (early_mesh){.path = kept, .scale = scale, .next = l->early};
    sim_status status = read_mesh_or_hull(l, path, scale, &e->triangles, why);
    l->early = status ? l->early : e;
    return status;
}

void drop_early_meshes(loader *l) {
    for (early_mesh *e = l->early; e; e = e->next) {
        free(e->triangles.vertex);
        free(e->triangles.triangle);
    }
    l->early = NULL;
}

sim_status read_mesh_or_hull(loader *l, const char *path, sim_v3 scale, sim_triangles *t, sim_error *why) {
    early_mesh **early = find_early(l, path, scale);
    if (*early) {
        *t = (*early)->triangles;
        *early = (*early)->next;
        return SIM_OK;
    }
    sim_status status = l->files.mesh(l->files.context, path, scale, &l->mesh_bytes_left, t, why);
    return !status && t->ntriangle == 0 ? surround_points(t, why) : status;
}
