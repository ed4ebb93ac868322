/* Matrix M = A + J' G J of an interior point step, G a full symmetric block of every contact. */
#ifndef SOLVER_INTERIOR_POINT_BARRIER_MATRIX_H
#define SOLVER_INTERIOR_POINT_BARRIER_MATRIX_H

#include "solver/matrices/patch_sums.h"

typedef struct barrier_matrix barrier_matrix;

/* NULL without memory; the same as `create` and `destroy` of a sim_solver_method. */
void *barrier_matrix_create(void);
void barrier_matrix_free(void *matrix);

/* Copies A and analyses the factor; false without memory. */
bool barrier_matrix_prepare(barrier_matrix *m, const sim_problem *problem);
const patches *barrier_matrix_patches(const barrier_matrix *m);
/* Multiplications of a factor. */
double barrier_matrix_work(const barrier_matrix *m);
/* diag(A) of all trees with constraints; other entries stay unchanged. */
void barrier_matrix_mass_diagonal(const barrier_matrix *m, double *diagonal);

/* `weight` of G: the diagonal of rows on their own; of a contact (G_11, G_22, G_33, G_12, G_13, G_23). */
void barrier_matrix_set(barrier_matrix *m, const cone_hessian *G);
spd_outcome barrier_matrix_factor(barrier_matrix *m);
/* x <- M^-1 x for all trees with constraints; false without memory. */
bool barrier_matrix_solve(barrier_matrix *m, double *x);

#endif
