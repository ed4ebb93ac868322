/* A field as a geometry: the tree of nodes, its surface in triangles, bounds and mass. */
#include "geometry/field.h"

static sim_geometry *fill(sim_pool *pool, const sim_field_def *def, double resolution, const char *cache,
                          sim_error *error) {
    sim_geometry *g = POOL_NEW(pool, sim_geometry, 1);
    if (!g) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a field");
        return NULL;
    }
    (void)resolution;
    g->type = SIM_GEOMETRY_FIELD;
    g->field = field_build(pool, def, cache, &g->low, &g->high, error);
    if (!g->field) {
        return NULL;
    }
    v3 far = {fmax(-g->low.x, g->high.x), fmax(-g->low.y, g->high.y), fmax(-g->low.z, g->high.z)};
    g->radius = v3_norm(far);
    g->memory = pool;
    g->bytes = sim_pool_bytes(pool);
    return g;
}

sim_geometry *sim_geometry_field(const sim_field_def *def, double resolution, const char *cache, sim_error *error) {
    sim_pool *pool = sim_pool_create();
    if (!pool) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a field");
        return NULL;
    }
    sim_geometry *g = fill(pool, def, resolution, cache, error);
    if (!g) {
        sim_pool_free(pool);
    }
    return g;
}
