/* Height field: bounds, fingerprint, bounding volume hierarchy and convex edges of a grid of heights.
 *
 * The grid spans size about the origin; each cell is two triangles (bvh_heights.c, mesh_features.c). */
#include "geometry/core/solid.h"
#include "geometry/mesh/mesh.h"
#include "geometry/mesh/mesh_features.h"

#include <string.h>

static const double MAX_LENGTH = 1e15; /* m */

static sim_status check_heights(int columns, int rows, const double size[2], const double *height, sim_error *error) {
    /* size of the grid */
    if (columns < 2 || rows < 2 || columns > (1 << 28) / rows) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "a height field needs at least 2 columns and 2 rows, and at most 2^28 heights, not %d by %d",
                        columns, rows);
    }
    /* sides */
    for (int k = 0; k < 2; k++) {
        if (!(size[k] > 0 && size[k] <= MAX_LENGTH)) {
            return sim_fail(error, SIM_BAD_INPUT,
                            "side %c of the height field must be positive and at most %g m, not %g m", "xy"[k],
                            MAX_LENGTH, size[k]);
        }
    }
    /* heights */
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++) {
            double h = height[(size_t)j * (size_t)columns + (size_t)i];
            if (!(fabs(h) <= MAX_LENGTH)) {
                return sim_fail(error, SIM_BAD_INPUT,
                                "height %g at column %d, row %d: expected a number of at most %g m", h, i, j,
                                MAX_LENGTH);
            }
        }
    }
    return SIM_OK;
}

static sim_geometry *make_heights(memory_pool *pool, int columns, int rows, const double size[2],
                                  const double *height) {
    /* memory */
    size_t count = (size_t)columns * (size_t)rows;
    sim_geometry *g = POOL_NEW(pool, sim_geometry, 1);
    sim_heights *h = POOL_NEW(pool, sim_heights, 1);
    double *copy = POOL_NEW(pool, double, count);
    if (!g || !h || !copy) {
        return NULL;
    }
    /* heights and their range */
    memcpy(copy, height, count * sizeof *copy);
    *h = (sim_heights){columns, rows, {size[0], size[1]}, copy, copy[0], copy[0]};
    for (size_t k = 1; k < count; k++) {
        h->lowest = fmin(h->lowest, copy[k]);
        h->highest = fmax(h->highest, copy[k]);
    }
    /* bounds */
    *g = (sim_geometry){.type = SIM_GEOMETRY_HEIGHTS, .heights = h, .memory = pool};
    g->low = v3_make(-size[0] / 2, -size[1] / 2, h->lowest);
    g->high = v3_make(size[0] / 2, size[1] / 2, h->highest);
    g->radius = v3_norm(v3_make(size[0] / 2, size[1] / 2, fmax(fabs(h->lowest), fabs(h->highest))));
    /* fingerprint */
    const int64_t grid[2] = {columns, rows};
    uint64_t hash = hash_bytes(HASH_START + SIM_GEOMETRY_HEIGHTS, grid, sizeof grid);
    hash = hash_bytes(hash, size, 2 * sizeof *size);
    g->fingerprint = hash_bytes(hash, copy, count * sizeof *copy);
    /* tree and convex edges */
    g->bvh = bvh_build_heights(pool, h);
    g->relief = g->bvh ? relief_build(pool, NULL, h, g->bvh) : NULL;
    g->bytes = pool_bytes(pool);
    return g->relief ? g : NULL;
}

sim_geometry *sim_geometry_heights(int columns, int rows, const double size[2], const double *height,
                                   sim_error *error) {
    if (check_heights(columns, rows, size, height, error)) {
        return NULL;
    }
    memory_pool *pool = pool_create();
    sim_geometry *g = pool ? make_heights(pool, columns, rows, size, height) : NULL;
    if (!g) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a height field of %d by %d", columns, rows);
    }
    return g;
}
