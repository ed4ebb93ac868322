/* What does it cost to ask a distance field, and to build one?
 *
 * Points within 2 mm of the surface, where contact asks; then all over the box. */
#include "support/fields.h"
#include "support/meshes.h"
#include "support/quick.h"

#include "geometry/mesh/bvh.h"

#include <stdio.h>
#include <time.h>

enum { POINTS = 20000, BATCHES = 10 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static v3 near_surface(random_source *r, const sim_geometry *g) {
    const sim_mesh *m = g->mesh;
    v3 p = m->vertex[random_index(r, m->nvertex)];
    return v3_axpy(p, random_uniform(r, 0, 2e-3), random_unit(r));
}

/* Nanoseconds a question, the best of some batches. */
static double ask(const sim_geometry *g, int near, int exact_mesh, int points) {
    static v3 point[POINTS];
    random_source r = {1};
    double best = HUGE_VAL, sum = 0;
    for (int k = 0; k < points; k++) {
        point[k] = near ? near_surface(&r, g) : field_point(&r, g, 0);
    }
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = seconds();
        for (int k = 0; k < points; k++) {
            v3 gradient;
            sum +=
                exact_mesh ? mesh_distance(g, point[k], &gradient) : sim_field_distance(g->field, point[k], &gradient);
            sum += gradient.x;
        }
        best = fmin(best, seconds() - start);
    }
    return sum == 0.5 ? 0 : best / points * 1e9;
}

static void report(const char *name, const sim_field_def *def, double resolution, int points) {
    double start = seconds();
    sim_geometry *g = field_geometry(def, resolution);
    double build = seconds() - start;
    printf("%-28s %8.0f %8.0f %10d %10.1f %8.2f\n", name, ask(g, 1, 0, points), ask(g, 0, 0, points),
           g->mesh->ntriangle, 1e3 * build, 1e-6 * (double)g->bytes);
    sim_geometry_free(g);
}

int main(int count, char **word) {
    int quick = asked_quick(count, word), points = quick ? 200 : POINTS;
    sim_field_def part[4], sphere = field_sphere(0.05), box = field_box(0.1, 0.2, 0.05),
                           rod = field_cylinder(0.05, 0.1);
    sim_field_def bolt = field_bolt(0.1), nut = field_nut(1e-4, 75e-3, 38e-3, part), bowl = field_dish(1);
    printf("sim %s, %s\n", sim_version(), sim_build_info());
    printf("%-28s %8s %8s %10s %10s %8s\n", "", "near", "in box", "triangles", "build", "");
    printf("%-28s %8s %8s %10s %10s %8s\n", "", "[ns]", "[ns]", "", "[ms]", "[MB]");
    report("sphere", &sphere, 0, points);
    report("box", &box, 0, points);
    report("cylinder", &rod, 0, points);
    report("bowl (profile, 2 segments)", &bowl, 0, points);
    if (!quick) { /* the nut has the thread, too */
        report("bolt M48 (thread)", &bolt, 0, points);
        report("bolt M48, 0.5 mm", &bolt, 0.5e-3, points);
    }
    report("nut M48 (3 boxes, thread)", &nut, 0, points);
    sim_geometry *mesh = soup_geometry(soup_torus(0.05, 0.015, quick ? 50 : 200, quick ? 20 : 80));
    sim_field_def grid = sim_field_default();
    grid.type = SIM_FIELD_GRID;
    grid.mesh = mesh;
    report(quick ? "torus, 2,000 triangles" : "torus, 32,000 triangles", &grid, 0, points);
    printf("%-28s %8.0f %8.0f\n", "  its mesh, exactly", ask(mesh, 1, 1, points), ask(mesh, 0, 1, points));
    sim_geometry_free(mesh);
    return 0;
}
