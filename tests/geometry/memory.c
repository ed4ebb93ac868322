/* Without memory the builders of geometry fail cleanly: each allocation in turn is refused, qhull's too. */
#include "geometry/import/mesh_file.h"
#include "support/refusing.h"

#include <math.h>
#include <string.h>

#if REFUSING

static sim_status build_hull(sim_error *error) {
    static v3 p[500];
    for (int i = 0; i < 500; i++) {
        p[i] = (v3){cos(i), sin(i) * cos(0.3 * i), sin(i) * sin(0.3 * i)};
    }
    sim_geometry *g = sim_geometry_hull(p, 500, error);
    sim_geometry_free(g);
    return g ? SIM_OK : error->status;
}

static sim_status parse(const char *text, sim_error *error) {
    sim_triangles t;
    sim_status status = mesh_parse("test", text, strlen(text), (v3){1, 1, 1}, &t, error);
    free(t.vertex);
    free(t.triangle);
    return status;
}

static sim_status parse_obj(sim_error *error) {
    return parse("v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nv 1 1 1\nf 1 2 3 4 5\nf 5 6 1\n", error);
}

static sim_status parse_stl(sim_error *error) {
    return parse(
        "solid a\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet endsolid",
        error);
}

Test(geometry_memory, every_allocation_of_a_hull_may_fail) { cr_assert_gt(refuse_each(build_hull), 15); }

Test(geometry_memory, every_allocation_of_a_mesh_file_may_fail) {
    cr_assert_gt(refuse_each(parse_obj), 4);
    cr_assert_gt(refuse_each(parse_stl), 3);
}

#endif
