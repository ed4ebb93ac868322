/* Problems of W and q alone, made into problems with velocities. */
#ifndef SOLVER_MATRICES_DELASSUS_FACTOR_H
#define SOLVER_MATRICES_DELASSUS_FACTOR_H

#include "base/arena.h"
#include <sim/problem.h>

/* 1; 0 without memory; -1 if W is not positive semidefinite.  What it is made of stands in `scratch` and in `local`. */
int problem_from_delassus(const sim_problem *local, sim_arena *scratch, sim_problem *global);
/* Sum over the connected parts of W of their rows^3, to which what that takes is proportional; -1 without memory. */
double delassus_factor_cubes(const sim_problem *local, sim_arena *scratch);

#endif
