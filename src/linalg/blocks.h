/* The factor of a symmetric positive definite matrix by the blocks of a graph. */
#ifndef LINALG_BLOCKS_H
#define LINALG_BLOCKS_H

#include "linalg/order.h"

/* A block of H as the factor sees it: where it stands and where it goes. */
typedef struct spd_blocks {
    int rows;        /* of blocks */
    const int *size; /* [rows] unknowns */
    int *stride;     /* [rows] padded */
    const spd_order *order;
    ptrdiff_t *diagonal, *at; /* [rows], [blocks]: places in U */
    double *U, *inverse;
    int *inverse_at;                            /* [rows + 1] places in `inverse` and in x */
    int *above_start, *above_row, *above;       /* for every column its rows, and the blocks there */
    const double *const *H_diagonal, *const *H; /* [rows], [blocks]: NULL is zero */
    ptrdiff_t *target;                          /* [rows] at work: where the blocks of a row stand */
    char *stale;                                /* [rows] H has changed there since the last factor */
    int stale_all;                              /* and everywhere */
} spd_blocks;

/* Arrays in `kept`; the places of H are to be filled in by the caller.  0 without memory. */
int spd_blocks_prepare(spd_blocks *b, const spd_order *order, int rows, const int *size, sim_arena *kept);
/* Only rows that are stale, and those that take from them; 0 if not positive definite. */
int spd_blocks_factor(spd_blocks *b);
/* x [inverse_at[rows]], row by row of the factor, padded with zeros */
void spd_blocks_solve(spd_blocks *b, double *x);

#endif
