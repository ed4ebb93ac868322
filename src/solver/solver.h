/* The face of the solvers for the contact stage: the public contract, and threads that a solver may spread problems over. */
#ifndef SOLVER_SOLVER_H
#define SOLVER_SOLVER_H

#include "base/threads.h"
#include <sim/method.h>

/* Lets a solver spread problems over threads, which nobody else may use meanwhile; NULL: no more.  Has it use for them? */
void solver_set_threads(sim_solver *solver, sim_threads *threads);
int solver_uses_threads(const sim_solver *solver);

#endif
