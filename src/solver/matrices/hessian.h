/* H = A + J' G J and its factor, for solvers whose unknowns are velocities. */
#ifndef SOLVER_MATRICES_HESSIAN_H
#define SOLVER_MATRICES_HESSIAN_H

#include "solver/core/cone_convex.h"
#include "solver/core/patches.h"

typedef struct hessian hessian;

/* Names of the ways to factor it, by spd_method; ends with NULL. */
extern const char *const hessian_methods[];

/* NULL without memory. */
hessian *hessian_create(void);
void hessian_free(hessian *h);
/* The same as `create` and `destroy` of a sim_solver_method. */
void *hessian_create_workspace(void);
void hessian_free_workspace(void *h);

/* For a problem: finds its patches, takes A in, prepares the factor.  What was found for the last problem is kept where
 * the trees and who touches whom are the same.  0 without memory. */
int hessian_prepare(hessian *h, const sim_problem *problem, spd_method method);
const patches *hessian_patches(const hessian *h);
spd_work hessian_work(const hessian *h);

/* A of a node, rows padded. */
const double *hessian_mass(const hessian *h, int node);
/* y = A x and the diagonal of A, for all trees that are touched; of the others y stays as it is. */
void hessian_mass_times(const hessian *h, const double *x, double *y);
void hessian_mass_diagonal(const hessian *h, double *diagonal);

/* H with G given by `G` [nconstraint]: only patches where it changed since the last call are summed anew. */
void hessian_set(hessian *h, const cone_hessian *G);
/* 0 if not positive definite, -1 without memory. */
int hessian_factor(hessian *h);
/* x <- H^-1 x for all trees that are touched; 0 without memory. */
int hessian_solve(hessian *h, double *x);

#endif
