/* Common part of all geometries. */
#include "base/pool.h"
#include <sim/geometry.h>

void sim_geometry_free(sim_geometry *geometry) {
    if (geometry) {
        pool_free(geometry->memory);
    }
}
