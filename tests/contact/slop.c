/* A body that rests for long sinks in by the slop and no more; one that began deeper is pushed out to it. */
#include "math/v3.h"
#include "support.h"
#include <sim/scene.h>

#include <criterion/criterion.h>
#include <math.h>

static const double g = 9.81;

static yard box_in_the_ground(const char *solver, sim_integrator integrator, double dt, double depth) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    yard_ground(&y);
    yard_add(&y, "box", SIM_BOX, 0.2, 0.2, 0.2, 1, v3_make(0, 0, 0.1 - depth), v3_make(0, 0, 0));
    y.options.compliance = SIM_RIGID;
    yard_open(&y, solver, integrator, dt);
    return y;
}

Test(slop, bounds_how_deep_a_box_is_after_a_long_rest) {
    static const char *const solver[] = {"pgs", "canal", "auto"};
    const double dt = 0.01, slop = sim_law_options_default().slop * g * dt * dt;
    for (int k = 0; k < 6; k++) {
        yard y = box_in_the_ground(solver[k % 3], k % 2 ? SIM_MIDPOINT : SIM_SYMPLECTIC_EULER, dt, 0);
        double worst = 0;
        for (int i = 0; i < 3000; i++) {
            yard_step(&y);
            worst = fmax(worst, deepest_overlap(&y));
        }
        cr_assert_lt(worst, slop, "%s: %g of %g m", solver[k % 3], worst, slop);
        cr_assert_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

Test(slop, is_what_remains_of_a_deeper_overlap) {
    const double dt = 0.01, slop = sim_law_options_default().slop * g * dt * dt, push = sim_law_options_default().push;
    yard y = box_in_the_ground("canal", SIM_SYMPLECTIC_EULER, dt, 5 * slop);
    double deep = 4 * slop;
    for (int i = 0; i < 60; i++) {
        yard_step(&y);
        deep *= 1 - push;
        cr_assert_float_eq(deepest_overlap(&y), slop + deep, 1e-4 * slop, "step %d", i);
    }
    yard_end(&y);
}

/* A wedge that friction locks moves neither out of its overlap nor deeper: without the slop hardly a step has an
 * answer. */
Test(slop, lets_every_step_of_a_locked_wedge_have_an_answer) {
    static const char *const solver[] = {"canal", "auto"};
    sim_error error = {0};
    for (int k = 0; k < 2; k++) {
        sim_scene *scene = sim_scene_load("scenes/contact/wedge.json", NULL, NULL, &error);
        cr_assert(scene, "%s", error.text);
        scene->options.solver = sim_solver_find(solver[k]);
        scene->options.solver_option = NULL;
        scene->options.compliance = SIM_RIGID;
        sim_world *w = sim_world_create(scene->model, &scene->options, &error);
        cr_assert(w, "%s", error.text);
        for (int i = 0; i < 1000; i++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            cr_assert_eq(sim_world_info(w)->unsolved, 0, "%s, step %d", solver[k], i);
        }
        sim_world_free(w);
        sim_scene_free(scene);
    }
}
