/* Options of all commands that read robots in URDF. */
#include "app/cli/robots.h"

#include <string.h>

const char *const robot_bases[] = {"fixed", "free", "planar", NULL};
const char *const robot_meshes[] = {"convex", "exact", "decomposed", NULL};

sim_status robot_request_check(const robot_request *request, sim_error *error) {
    for (int k = 0; k < request->package.count; k++) {
        const char *given = request->package.item[k], *equals = strchr(given, '=');
        if (!equals || equals == given || !equals[1]) {
            return sim_fail(error, SIM_BAD_INPUT, "--package takes NAME=DIR, not '%s'", given);
        }
    }
    return SIM_OK;
}

static int index_of(const char *const *names, const char *name) {
    for (int k = 0; name && names[k]; k++) {
        if (strcmp(names[k], name) == 0) {
            return k;
        }
    }
    return 0;
}

sim_import_options robot_import(const robot_request *request) {
    return (sim_import_options){.base = (sim_base)index_of(robot_bases, request->base),
                                .mesh = (sim_mesh_use)index_of(robot_meshes, request->mesh),
                                .repair_inertia = request->repair_inertia,
                                .strict = request->strict,
                                .nallow = request->allow.count,
                                .allow = request->allow.item,
                                .npackage = request->package.count,
                                .package = request->package.item};
}
