/* Hessian H = A + J' G J of the primal cost and its factor. */
#ifndef SOLVER_MATRICES_HESSIAN_H
#define SOLVER_MATRICES_HESSIAN_H

#include "solver/core/cone_convex.h"
#include "solver/core/patches.h"

typedef struct hessian hessian;

/* Names of its factorisations, by spd_method; ends with NULL. */
extern const char *const hessian_methods[];
#define HESSIAN_METHOD_OPTION                                                                                          \
    {                                                                                                                  \
        .name = "factorisation", .help = "factorisation of the Hessian", .high = SPD_METHODS - 1,                      \
        .default_value = SPD_AUTO, .integer = true, .choices = hessian_methods, .study = true                          \
    }

/* NULL without memory. */
hessian *hessian_create(void);
void hessian_free(hessian *h);
/* The same as `create` and `destroy` of a sim_solver_method. */
void *hessian_create_workspace(void);
void hessian_free_workspace(void *h);

/* Finds the patches of a problem, copies A and analyses the factor.  The structure of the last problem is reused if
 * trees and constraints connect in the same way.  false without memory. */
bool hessian_prepare(hessian *h, const sim_problem *problem, spd_method method);
const patches *hessian_patches(const hessian *h);
spd_work hessian_work(const hessian *h);

/* A of a node, rows padded. */
const double *hessian_mass(const hessian *h, int node);
/* y = A x, and the diagonal of A, for all trees with constraints; other entries stay unchanged. */
void hessian_mass_times(const hessian *h, const double *x, double *y);
void hessian_mass_diagonal(const hessian *h, double *diagonal);

/* Sets H for G [nconstraint]; only patches whose G changed since the last call are summed again. */
void hessian_set(hessian *h, const cone_hessian *G);
typedef enum hessian_result { HESSIAN_FACTORED, HESSIAN_INDEFINITE, HESSIAN_NO_MEMORY } hessian_result;
hessian_result hessian_factor(hessian *h);
/* x <- H^-1 x for all trees with constraints; false without memory. */
bool hessian_solve(hessian *h, double *x);

#endif
