/* The operator W = J A^-1 J' that takes impulses to velocities, as much of it as a solver asks for. */
#ifndef SOLVER_MATRICES_DELASSUS_H
#define SOLVER_MATRICES_DELASSUS_H

#include "base/arena.h"
#include <sim/solver.h>

/* y = W x; `v` holds nv numbers of work. */
void delassus_times(const sim_problem *problem, const double *x, double *v, double *y);

/* The block of constraints i and j of a local problem; NULL: all zeros */
const double *delassus_block(const sim_problem *problem, int i, int j);

/* Rows for every constraint and tree of which W is made: whole, Y' = J A^-1, what an impulse along a row does to the
 * velocities of a tree, W_ij = J_i Y_j; or half, Z' = J B' with A^-1 = B' B, W_ij = Z_i' Z_j, which costs less.  The rows
 * x nv block of constraint i and its side s stands at value + at[2 i + s], row-major. */
typedef struct delassus_response {
    ptrdiff_t *at; /* [2 nconstraint]; -1: no tree there */
    double *value;
    int half;
} delassus_response;

/* These return 0 without memory; what they give lives in the arena. */
/* `half`: if the problem knows B. */
int delassus_response_make(const sim_problem *problem, int half, sim_arena *scratch, delassus_response *Y);
/* W_ij += what the tree on side s of i gives, which is on side r of j. */
void delassus_add(const sim_problem *problem, const delassus_response *Y, int i, int s, int j, int r, double *W);
/* The diagonal blocks one after the other, from Y (NULL: made here) or from the W of a local problem. */
int delassus_diagonal(const sim_problem *problem, const delassus_response *Y, sim_arena *scratch, double *W);

/* All of W.  First which blocks there are, a few integers each; then their numbers.  `most` bounds the number of blocks
 * that is worth listing: beyond it `*many` becomes 1, and nothing is listed. */
int delassus_pattern(const sim_problem *problem, size_t most, sim_arena *scratch, sim_delassus *W, int *many);
int delassus_assemble(const sim_problem *problem, const delassus_response *Y, sim_arena *scratch, sim_delassus *W);
/* Both at once; of a local problem its own W. */
int delassus_whole(const sim_problem *problem, sim_arena *scratch, sim_delassus *W);

#endif
