/* Symmetric positive definite systems with a dense block for every node of a graph and for every edge.
 *
 *     H x = b
 *
 * The nodes are the kinematic trees of a problem; two that touch share an edge.  The order of elimination and the places
 * of the blocks follow from the graph alone and are kept while it stays the same.  What is computed does not depend on
 * what was computed before. */
#ifndef LINALG_SPD_H
#define LINALG_SPD_H

#include <stddef.h>

/*   dense        one matrix: a few nodes, or all touch all
 *   blocks       eliminates node by node, in an order that keeps the fill small
 *   supernodal   CHOLMOD: gathers nodes that share their neighbours into large dense blocks
 *   auto         whichever is likely to be quickest, by the work that the graph asks for */
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

/* What a factorisation costs, by the graph. */
typedef struct spd_work {
    spd_method method;
    double multiplications;
    double numbers; /* of the factor */
} spd_work;

typedef struct spd spd;

/* NULL without memory. */
spd *spd_create(void);
void spd_free(spd *s);

/* Prepare for a graph; 0 without memory.  The values of H are lost only if the graph or the method is another. */
int spd_analyse(spd *s, const spd_graph *graph, spd_method method);
/* Was the last analysis one of another graph?  Then H has to be filled anew. */
int spd_renewed(const spd *s);
spd_work spd_expected(const spd *s);

/* Where H is to be filled in: all numbers of a block on the diagonal, zeros in the padding.  Who asks for a block is taken
 * to change it: what does not depend on it is not factored again. */
spd_block spd_diagonal(spd *s, int node);
spd_block spd_between(spd *s, int edge);

/* Factor H, which stays as it is; 0 if a pivot was not positive, -1 without memory. */
int spd_factor(spd *s);
/* x <- H^-1 x, node after node; 0 without memory. */
int spd_solve(spd *s, double *x);

#endif
