/* Local problems with an unsymmetric W for solvers that need velocities: the symmetric part of W, the rest by an outer
 * iteration. */
#ifndef SOLVER_MATRICES_SYMMETRIC_SPLIT_H
#define SOLVER_MATRICES_SYMMETRIC_SPLIT_H

#include "solver/core/call.h"

/* Fails without memory. */
sim_status symmetric_split_solve(const solver_type *type, solver_call *call);

#endif
