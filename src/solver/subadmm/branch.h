/* Trees that SubADMM splits over their bodies. */
#ifndef SOLVER_SUBADMM_BRANCH_H
#define SOLVER_SUBADMM_BRANCH_H

#include "solver/subadmm/subadmm.h"

/* A and its memory; 0 without memory. */
int subadmm_make_branch(subadmm *s, subadmm_tree *t);
/* C: what the contacts of the lanes add; what the side of another constraint adds; all of it, carried to the joints. */
void subadmm_begin_branch(subadmm *s, const subadmm_tree *t);
void subadmm_add_branch(subadmm *s, const subadmm_side *side, int rows, double weight);
void subadmm_sum_branch(subadmm *s, const subadmm_tree *t);
/* 0 if not positive definite. */
int subadmm_factor_branch(subadmm *s, subadmm_tree *t);
/* Velocities of its bodies from x, into rows of the lanes and V. */
void subadmm_spread_branch(const subadmm *s, const subadmm_tree *t, const double *x, double *rows, double *V);
/* What pushes on bodies, added to what pushes on joints. */
void subadmm_gather_branch(subadmm *s, const subadmm_tree *t);
/* x <- x + K^-1 (push - A x) */
void subadmm_move_branch(subadmm *s, const subadmm_tree *t);

#endif
