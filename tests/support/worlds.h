/* Worlds: options, creation, steps. */
#ifndef SUPPORT_WORLDS_H
#define SUPPORT_WORLDS_H

#include <sim/world.h>

sim_world *open_world(const sim_model *m, sim_integrator integrator, double step, int threads);
void run_world(sim_world *w, int steps);

enum { SOLVER_OPTIONS = 32 };
/* `solver` with its options by default but the tolerance; the values live in `value`. */
void set_solver(sim_options *options, const char *solver, double tolerance, double value[SOLVER_OPTIONS]);

#endif
