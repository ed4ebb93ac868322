/* Worlds: creation, steps, comparison of states. */
#ifndef SUPPORT_WORLDS_H
#define SUPPORT_WORLDS_H

#include <sim/world.h>

sim_world *open_world(const sim_model *m, sim_integrator integrator, double step, int threads);
void run_world(sim_world *w, int steps);
/* Every bit of motion, contacts, impulses and efforts. */
int same_state(const sim_model *m, const sim_state *a, const sim_state *b);

#endif
