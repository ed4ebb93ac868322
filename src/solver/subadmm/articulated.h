/* Trees that SubADMM splits over their bodies, joint by joint. */
#ifndef SOLVER_SUBADMM_ARTICULATED_H
#define SOLVER_SUBADMM_ARTICULATED_H

#include "solver/subadmm/subadmm.h"

/* 0 without memory. */
int subadmm_make_articulated(subadmm *s, subadmm_tree *t);
/* What the contacts of the lanes add, and the side of another constraint. */
void subadmm_begin_articulated(subadmm *s, const subadmm_tree *t);
void subadmm_add_articulated(subadmm *s, const subadmm_tree *t, const subadmm_side *side, int rows, double weight);
/* 0 if not positive definite. */
int subadmm_factor_articulated(subadmm *s, const subadmm_tree *t);
/* What stands against a dof: D. */
double subadmm_stiffness_articulated(const subadmm_tree *t, int dof);
/* x <- x + K^-1 (push - A x), with velocities of bodies as x gives them. */
void subadmm_move_articulated(subadmm *s, const subadmm_tree *t);

#endif
