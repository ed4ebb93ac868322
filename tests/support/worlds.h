/* Worlds: creation, steps. */
#ifndef SUPPORT_WORLDS_H
#define SUPPORT_WORLDS_H

#include <sim/world.h>

sim_world *open_world(const sim_model *m, sim_integrator integrator, double step, int threads);
void run_world(sim_world *w, int steps);

#endif
