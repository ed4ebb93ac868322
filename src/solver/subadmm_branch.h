/* Trees that SubADMM splits over their bodies. */
#ifndef SOLVER_SUBADMM_BRANCH_H
#define SOLVER_SUBADMM_BRANCH_H

#include "solver/subadmm.h"

/* 0 without memory. */
int subadmm_make_branch(subadmm *s, subadmm_tree *t);
/* What slots add: from nothing, side after side, to the end.  `t` is the tree of a side on joints; NULL: on a body. */
void subadmm_clear_branches(subadmm *s);
void subadmm_add_branch(subadmm *s, subadmm_tree *t, const subadmm_side *side, int rows, double weight);
void subadmm_sum_branches(subadmm *s);
/* 0 if not positive definite. */
int subadmm_factor_branch(subadmm *s, subadmm_tree *t);
void subadmm_spread_branch(subadmm *s, const subadmm_tree *t, double *x);
void subadmm_move_branch(subadmm *s, const subadmm_tree *t);

#endif
