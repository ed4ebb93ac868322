/* Systems that are not symmetric, with a dense block for every node of a graph and two for every edge.
 *
 *     H x = b,     H_ij != 0 only where H_ji != 0
 *
 * Order, layout and unchanged parts of the factor are kept as in spd.h.  Rows are exchanged within a diagonal block
 * only. */
#ifndef LINALG_BLOCK_LU_H
#define LINALG_BLOCK_LU_H

#include "base/threads.h"
#include "linalg/spd.h"

#include <stdbool.h>

typedef struct block_lu block_lu;

/* The two blocks of an edge, each rows x columns with rows padded to `stride`: H between the nodes (row, column), and
 * the transpose of H between (column, row). */
typedef struct block_lu_edge {
    int row, column, stride;
    double *upper, *lower_transposed;
} block_lu_edge;

/* NULL without memory. */
block_lu *block_lu_create(void);
void block_lu_free(block_lu *s);
/* Prepares for a graph; the values of H are lost if it changed, or if there are more threads.  The threads share the
 * factors that follow, until the next analysis; NULL: the caller's own.  SIM_NO_RESOURCE without memory. */
sim_status block_lu_analyse(block_lu *s, const spd_graph *graph, sim_threads *threads);
/* Multiplications of a whole factor. */
double block_lu_multiplications(const block_lu *s);
/* Blocks of H to be filled, zeros in the padding.  Those of a node count as changed then, those of an edge once it is
 * marked, so that several threads may fill blocks of marked edges. */
double *block_lu_diagonal(block_lu *s, int node);
void block_lu_mark(block_lu *s, int edge);
block_lu_edge block_lu_between(const block_lu *s, int edge);
/* false: a diagonal block is singular. */
bool block_lu_factor(block_lu *s);
/* x <- H^-1 x, node after node. */
void block_lu_solve(block_lu *s, double *x);

#endif
