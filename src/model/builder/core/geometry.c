/* Geometries of a model, and facets of its rigid solids where it has soft ones: these meet surfaces of triangles. */
#include "model/builder/core/builder.h"

#include <math.h>

const sim_geometry *sim_builder_add_geometry(sim_builder *b, sim_geometry *geometry) {
    if (!b || !geometry || b->error.status ||
        builder_grow(b, (void **)&b->geometry, b->ngeometry, &b->geometry_room, sizeof *b->geometry)) {
        sim_geometry_free(geometry);
        return NULL;
    }
    b->geometry[b->ngeometry++] = geometry;
    return geometry;
}

/* Meshes, distance fields and height fields have triangles; a half-space is a plane. */
static bool needs_facets(const sim_shape *s) {
    return !s->pressure && !s->facets && (s->type < SIM_HALF_SPACE || s->type == SIM_CONVEX) && s->group && s->mask;
}

sim_status builder_add_facets(sim_builder *b) {
    bool soft = false;
    for (int k = 0; k < b->nshape; k++) {
        soft |= b->shape[k].pressure != NULL;
    }
    for (int k = 0; soft && k < b->nshape; k++) {
        sim_shape *s = &b->shape[k];
        if (needs_facets(s)) {
            bool flat = s->type == SIM_BOX || s->type == SIM_CONVEX;
            sim_error why;
            sim_geometry *g = sim_shape_facets(s, flat ? HUGE_VAL : 0, &why);
            if (!g) {
                return builder_refuse(b, why.status, "a shape of body \"%s\": %s", b->body[s->body].name, why.text);
            }
            s->facets = sim_builder_add_geometry(b, g);
        }
    }
    return b->error.status;
}
