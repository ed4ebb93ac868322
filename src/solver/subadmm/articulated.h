/* Trees that SubADMM splits over their bodies: factors joint by joint. */
#ifndef SOLVER_SUBADMM_ARTICULATED_H
#define SOLVER_SUBADMM_ARTICULATED_H

#include "solver/subadmm/subadmm.h"

/* False without memory. */
bool subadmm_make_articulated(subadmm *s, subadmm_tree *t);
/* C: terms of the contacts in the lanes; of one side of another constraint. */
void subadmm_begin_articulated(subadmm *s, const subadmm_tree *t);
void subadmm_add_articulated(subadmm *s, const subadmm_tree *t, const subadmm_side *side, int rows, double weight);
/* False: not positive definite. */
bool subadmm_factor_articulated(subadmm *s, const subadmm_tree *t);
/* D of a dof. */
double subadmm_stiffness_articulated(const subadmm_tree *t, int dof);
/* x <- x + K^-1 (push - A x), with velocities of bodies as x gives them. */
void subadmm_step_articulated(subadmm *s, const subadmm_tree *t);

#endif
