/* Trees that SubADMM splits over their bodies: sparse factors along the branches. */
#ifndef SOLVER_SUBADMM_BRANCH_H
#define SOLVER_SUBADMM_BRANCH_H

#include "solver/subadmm/subadmm.h"

/* Allocates and computes A; false without memory. */
bool subadmm_make_branch(subadmm *s, subadmm_tree *t);
/* C: terms of the contacts in the lanes; of one side of another constraint; their sum, carried to the joints. */
void subadmm_begin_branch(subadmm *s, const subadmm_tree *t);
void subadmm_add_branch(subadmm *s, const subadmm_side *side, int rows, double weight);
void subadmm_sum_branch(subadmm *s, const subadmm_tree *t);
/* False: not positive definite. */
bool subadmm_factor_branch(subadmm *s, subadmm_tree *t);
/* Velocities of its bodies from x, into rows of the lanes and V. */
void subadmm_spread_branch(const subadmm *s, const subadmm_tree *t, const double *x, double *rows, double *V);
/* Joint forces += those of the forces on bodies. */
void subadmm_gather_branch(subadmm *s, const subadmm_tree *t);
/* x <- x + K^-1 (push - A x) */
void subadmm_step_branch(subadmm *s, const subadmm_tree *t);

#endif
