/* The strict law of a row block as a function of its velocity: impulse and derivative. */
#ifndef SOLVER_CORE_CONE_STRICT_H
#define SOLVER_CORE_CONE_STRICT_H

#include "solver/core/cone_convex.h"

/* As convex_project, of which it differs for contacts with friction alone.  Nothing is minimised: it returns 0.  What
 * slides has G = weight[0] a n' + weight[1] b b', a and b as there, n = (0, 0, 1). */
double strict_project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *G);

#endif
