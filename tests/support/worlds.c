/* Worlds: options, creation, steps. */
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <string.h>

sim_world *open_world(const sim_model *m, sim_integrator integrator, double step, int threads) {
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    options.threads = threads;
    sim_error error;
    sim_world *w = sim_world_create(m, &options, &error);
    cr_assert_not_null(w, "%s", error.text);
    return w;
}

void run_world(sim_world *w, int steps) {
    sim_error error;
    for (int k = 0; k < steps; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
}

void set_solver(sim_options *options, const char *solver, double tolerance, double value[SOLVER_OPTIONS]) {
    options->solver = sim_solver_find(solver);
    cr_assert(options->solver && options->solver->noptions <= SOLVER_OPTIONS, "no solver %s", solver);
    for (int k = 0; k < options->solver->noptions; k++) {
        const sim_solver_option *of = &options->solver->option[k];
        value[k] = strcmp(of->name, "tolerance") == 0 ? tolerance : of->default_value;
    }
    options->solver_option = value;
}
