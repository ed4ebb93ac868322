/* Local problems (W and q alone) as problems with velocities. */
#ifndef SOLVER_MATRICES_DELASSUS_FACTOR_H
#define SOLVER_MATRICES_DELASSUS_FACTOR_H

#include "base/arena.h"
#include <sim/problem.h>

typedef enum delassus_factor_result {
    DELASSUS_FACTORED,
    DELASSUS_INDEFINITE,
    DELASSUS_NO_MEMORY
} delassus_factor_result;

/* `global` refers to memory in `scratch` and to arrays of `local`. */
delassus_factor_result problem_from_delassus(const sim_problem *local, sim_arena *scratch, sim_problem *global);
/* Sum of rows^3 over the connected components of W, to which its cost is proportional; -1 without memory. */
double delassus_factor_cubes(const sim_problem *local, sim_arena *scratch);

#endif
