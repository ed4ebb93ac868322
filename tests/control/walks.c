/* Ten seconds of a trot, on the flat and over steps, by two solvers. */
#include "control/trot.h"

/* The cost of transport: work over weight and way. */
static double cost_of(const char *path, const char *solver) {
    walk w = begin_walk(path, solver, 0.002);
    const sim_model *m = w.scene->model;
    go_on(&w, 5000);
    double mass = 0, way = sim_world_derived(w.world)->pose[w.trunk].p.x;
    for (int i = 1; i < m->nbody; i++) {
        mass += m->body[i].tree == m->body[w.trunk].tree ? m->inertia[i].mass : 0;
    }
    cr_expect_gt(way, 2.7, "%s, %s: %g m, and the steps end at 2.7", path, solver, way);
    cr_expect_gt(w.upright, 0.866, "%s, %s: it leans by a cosine of %g", path, solver, w.upright);
    double cost = w.work / (9.81 * mass * way);
    end_walk(&w);
    return cost;
}

static void expect_same_cost(const char *path) {
    double ratio = cost_of(path, "sap") / cost_of(path, "auto");
    cr_expect(ratio > 0.8 && ratio < 1.2, "%s: %g", path, ratio);
}

Test(walks, on_the_flat_at_the_same_cost_by_two_solvers) { expect_same_cost("scenes/robots/a1_trots.json"); }

Test(walks, over_steps_at_the_same_cost_by_two_solvers) { expect_same_cost("scenes/robots/a1_trots_over_steps.json"); }
