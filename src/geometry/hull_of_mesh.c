/* Which meshes are convex?  None, as long as hulls are not built: every mesh is then taken as one that is not. */
#include "geometry/hull.h"

sim_status hull_of_mesh(sim_pool *pool, const sim_mesh *mesh, const sim_hull **hull, sim_error *error) {
    (void)pool;
    (void)mesh;
    (void)error;
    *hull = NULL;
    return SIM_OK;
}
