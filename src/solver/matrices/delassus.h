/* Delassus operator W = J A^-1 J', which maps impulses to velocities. */
#ifndef SOLVER_MATRICES_DELASSUS_H
#define SOLVER_MATRICES_DELASSUS_H

#include "base/arena.h"
#include <sim/solver.h>
#include <stdbool.h>

/* y = W x; `v` holds nv numbers of work. */
void delassus_times(const sim_problem *problem, const double *x, double *v, double *y);

/* The block of constraints i and j of a local problem; NULL: all zeros */
const double *delassus_block(const sim_problem *problem, int i, int j);

/* Response of the trees to unit impulses along the rows: whole, Y' = J A^-1, W_ij = J_i Y_j; or half, Z' = J B' with
 * A^-1 = B' B, W_ij = Z_i' Z_j, which costs less.  The rows x nv block of constraint i and its side s is at
 * value + at[2 i + s], row-major. */
typedef struct delassus_response {
    ptrdiff_t *at; /* [2 nconstraint]; -1: no tree on that side */
    double *value;
    bool half;
} delassus_response;

/* These return false without memory; their results live in the arena. */
/* `half`: the half response, if the problem has B. */
bool delassus_response_make(const sim_problem *problem, bool half, sim_arena *scratch, delassus_response *Y);
/* W_ij += the part of the tree on side s of i, which is on side r of j. */
void delassus_add(const sim_problem *problem, const delassus_response *Y, int i, int s, int j, int r, double *W);
/* Diagonal blocks one after the other, from Y (NULL: those of the problem, or computed here) or from the W of a local problem. */
bool delassus_diagonal(const sim_problem *problem, const delassus_response *Y, sim_arena *scratch, double *W);

/* Scales of every constraint: w_i = trace W_ii / rows, its inverse mass (1 where the trace is 0), and rho_i = rows /
 * trace(W_ii + R_i) of E (natural_map.h); infinite R counts as 0. */
bool delassus_scales(const sim_problem *problem, const double *R, sim_arena *scratch, double *w, double *rho);

/* Block-sparse W: first its pattern, then its blocks.  A pattern of more than `max_blocks` blocks is not listed, and
 * *too_many becomes true. */
bool delassus_pattern(const sim_problem *problem, size_t max_blocks, sim_arena *scratch, sim_delassus *W,
                      bool *too_many);
bool delassus_assemble(const sim_problem *problem, const delassus_response *Y, sim_arena *scratch, sim_delassus *W);
/* Pattern and blocks; W itself of a local problem. */
bool delassus_whole(const sim_problem *problem, sim_arena *scratch, sim_delassus *W);

#endif
