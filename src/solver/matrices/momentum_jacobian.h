/* Jacobian M = A + J' G J of the momentum balance under the strict contact law, and its factor. */
#ifndef SOLVER_MATRICES_MOMENTUM_JACOBIAN_H
#define SOLVER_MATRICES_MOMENTUM_JACOBIAN_H

#include "base/threads.h"
#include "solver/core/cone_convex.h"
#include "solver/core/patches.h"

typedef struct momentum_jacobian momentum_jacobian;

/* NULL without memory. */
momentum_jacobian *momentum_jacobian_create(void);
void momentum_jacobian_free(momentum_jacobian *m);
/* Finds the patches of a problem, copies A and analyses the factor.  The structure of the last problem is reused if
 * trees and constraints connect in the same way.  The threads share the work on this problem; NULL: the caller's own.
 * false without memory. */
bool momentum_jacobian_prepare(momentum_jacobian *m, const sim_problem *problem, sim_threads *threads);
/* Multiplications of a whole factor. */
double momentum_jacobian_work(const momentum_jacobian *m);
/* Sets M for G [nconstraint] as strict_project gives it; only patches whose G changed are summed again. */
void momentum_jacobian_set(momentum_jacobian *m, const cone_hessian *G);
/* false: singular. */
bool momentum_jacobian_factor(momentum_jacobian *m);
/* x <- M^-1 x for all trees with constraints; not finite if that needs another factor, which is singular. */
void momentum_jacobian_solve(momentum_jacobian *m, double *x);

/* y = G u of the strict law */
void strict_hessian_times(const sim_constraint *c, const cone_hessian *G, const double *u, double *y);

#endif
