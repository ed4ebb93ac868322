/* LU factor of A + J' G J for one large tree of bodies, along its branches. */
#ifndef SOLVER_MATRICES_TREE_LU_H
#define SOLVER_MATRICES_TREE_LU_H

#include "base/arena.h"
#include <sim/problem.h>
#include <stdbool.h>

enum { TREE_LU_MIN_DOFS = 64 }; /* below, a dense factor fits the cache */

typedef struct tree_lu tree_lu;

/* NULL without memory. */
tree_lu *tree_lu_create(void);
void tree_lu_free(tree_lu *s);

/*   fits     the factor along the branches takes less time than a dense one
 *   unfit    several trees, bodies not known, constraints between branches, or a dense factor takes less time */
typedef enum tree_lu_fit { TREE_LU_FITS, TREE_LU_UNFIT, TREE_LU_NO_MEMORY } tree_lu_fit;

/* Analyses a problem, which must last as long as the factor is used. */
tree_lu_fit tree_lu_prepare(tree_lu *s, const sim_problem *problem);
/* Multiplications of a factor. */
double tree_lu_multiplications(const tree_lu *s);

/* H = A;  H += weight (J_i' l) (J_i' q)' of constraint i, l and q on its rows. */
void tree_lu_reset(tree_lu *s);
void tree_lu_add(tree_lu *s, int constraint, const double *l, const double *q, double weight);
/* false: a pivot is zero or not finite. */
bool tree_lu_factor(tree_lu *s);
/* x <- H^-1 x */
void tree_lu_solve(tree_lu *s, double *x);

#endif
