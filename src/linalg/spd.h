/* Symmetric positive definite systems with a dense block for every node of a graph and for every edge.
 *
 *     H x = b
 *
 * The nodes are the kinematic trees of a problem; constraints between two trees are edges.  The order of elimination
 * and the places of blocks follow from the graph alone, and are kept while it does not change.  Results do not depend
 * on earlier calls. */
#ifndef LINALG_SPD_H
#define LINALG_SPD_H

#include <sim/base.h>

#include <stddef.h>

/*   dense        one matrix, for few nodes or full graphs
 *   blocks       node by node, in an order of small fill
 *   supernodal   CHOLMOD: nodes with equal neighbours in large dense blocks
 *   auto         the fastest by the count of multiplications */
typedef enum spd_method { SPD_AUTO, SPD_DENSE, SPD_BLOCKS, SPD_SUPERNODAL, SPD_METHODS } spd_method;

typedef struct spd_edge {
    int a, b; /* a < b */
} spd_edge;

typedef struct spd_graph {
    int nodes, edges;
    const int *size;      /* unknowns of each node */
    const spd_edge *edge; /* rising in (a, b), each once */
} spd_graph;

/* A block of H: rows x columns, row-major, each row padded with zeros to `stride` numbers, a multiple of four. */
typedef struct spd_block {
    int row, column; /* nodes: of an edge, the row is the one that is eliminated first */
    int stride;
    double *value;
} spd_block;

/* Cost of a factorisation, counted on the graph. */
typedef struct spd_work {
    spd_method method;
    double multiplications;
    double numbers; /* of the factor */
} spd_work;

typedef enum spd_outcome { SPD_FACTORED, SPD_NOT_POSITIVE, SPD_NO_MEMORY } spd_outcome;

typedef struct spd spd;

/* NULL without memory. */
spd *spd_create(void);
void spd_free(spd *s);

/* The graphs to come last, as those of meshes do: a better order of elimination is worth its time. */
void spd_expect_lasting(spd *s);
/* Prepares for a graph; SIM_NO_RESOURCE without memory.  The values of H are lost only if graph or method changed. */
sim_status spd_analyse(spd *s, const spd_graph *graph, spd_method method);
/* Did the last analysis change the graph?  Then H must be filled again. */
bool spd_renewed(const spd *s);
spd_work spd_expected(const spd *s);
/* Bytes held. */
size_t spd_bytes(const spd *s);

/* Blocks of H to be filled: all numbers of a diagonal block, zeros in the padding.  A request marks the block as
 * changed: only parts of the factor that depend on changed blocks are computed again. */
spd_block spd_diagonal(spd *s, int node);
spd_block spd_between(spd *s, int edge);

/* Factors H, which is unchanged. */
spd_outcome spd_factor(spd *s);
/* x <- H^-1 x, node after node; SIM_NO_RESOURCE without memory. */
sim_status spd_solve(spd *s, double *x);
/* W [count][count]: the numbers of H^-1 between these unknowns, counted node after node; symmetric to the bit.
 * SIM_NO_RESOURCE without memory. */
sim_status spd_inverse_part(spd *s, int count, const int *unknown, double *W);

#endif
