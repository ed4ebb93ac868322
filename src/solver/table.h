/* Table of the library's solvers. */
#ifndef SOLVER_TABLE_H
#define SOLVER_TABLE_H

#include "solver/core/call.h"

const solver_type *solver_type_of(const sim_solver_info *info);

#endif
