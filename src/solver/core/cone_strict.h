/* Strict contact law of one constraint: impulse and derivative as functions of its velocity. */
#ifndef SOLVER_CORE_CONE_STRICT_H
#define SOLVER_CORE_CONE_STRICT_H

#include "solver/core/cone_convex.h"

/* As convex_project, from which it differs only in contacts with friction.  There is no cost: it returns 0.  A sliding
 * contact has G = weight[0] a n' + weight[1] b b', with a and b of cone_hessian and n = (0, 0, 1). */
double strict_project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G);

#endif
