/* Solvers for the contact stage: the public contract, and threads for the work of one problem. */
#ifndef SOLVER_SOLVER_H
#define SOLVER_SOLVER_H

#include "base/threads.h"
#include <sim/method.h>

/* Lends threads to a solver, which no other call may use meanwhile; NULL: takes them back. */
void solver_set_threads(sim_solver *solver, sim_threads *threads);
/* Bytes of the memory of its calls, without what the method keeps for itself. */
size_t solver_bytes(const sim_solver *solver);
/* True if the method shares work among threads. */
bool solver_uses_threads(const sim_solver *solver);

#endif
