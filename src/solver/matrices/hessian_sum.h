/* Part of a patch of constraints in H = A + J' G J. */
#ifndef SOLVER_MATRICES_HESSIAN_SUM_H
#define SOLVER_MATRICES_HESSIAN_SUM_H

#include "solver/core/cone_convex.h"
#include "solver/core/patches.h"

#include <stdbool.h>

/* Rows x_r and -weight_r x_r of one side, of the columns [first, end) of its tree, padded. */
typedef struct hessian_rows {
    int n, first, end, stride, count;
    double *x, *weighted;
} hessian_rows;

typedef struct hessian_sum {
    hessian_rows side[2];
} hessian_sum;

/* Memory for all patches; false without memory. */
bool hessian_sum_make(hessian_sum *s, const patches *all, sim_arena *kept);
/* Parts of H_aa and, with a second tree, of H_bb and H_ab.  Of H_aa and H_bb only the upper triangle is defined. */
void hessian_sum_patch(hessian_sum *s, const sim_problem *problem, const patches *all, const patch *p,
                       const cone_hessian *G, double *aa, double *bb, const spd_block *between);

#endif
