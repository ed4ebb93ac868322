/* Problems of W and q alone, for solvers that want velocities: solved with the symmetric part of W, the rest by rounds. */
#ifndef SOLVER_MATRICES_SYMMETRIC_SPLIT_H
#define SOLVER_MATRICES_SYMMETRIC_SPLIT_H

#include "solver/core/call.h"

/* 0 without memory. */
int symmetric_split_solve(const solver_type *type, solver_call *call);

#endif
