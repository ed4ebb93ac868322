/* The factor of a symmetric positive definite matrix by the blocks of a graph. */
#ifndef LINALG_BLOCKS_H
#define LINALG_BLOCKS_H

#include "linalg/order.h"

#include <stdbool.h>
#include <string.h>

enum { BODY_DOFS = 6, BODY_STRIDE = 8 }; /* the block of a free body: rows of six numbers and two zeros */

/* The columns of an earlier panel that are rows of a later one: entries [first, end) of the earlier. */
typedef struct spd_above {
    int panel, first, end;
} spd_above;

/* All rows of a panel in one column make a tall block: row-major, padded to the column's stride.  Its
 * numbers below the diagonal of U are undefined. */
typedef struct spd_blocks {
    int rows;        /* of blocks */
    const int *size; /* [rows] unknowns */
    int *stride;     /* [rows] padded */
    const spd_order *order;
    int *panel, *offset; /* [rows] its panel, and its first unknown there */
    int *height;         /* [panels] unknowns */
    ptrdiff_t *at;       /* [entries] places of tall blocks in U */
    ptrdiff_t numbers;   /* of U */
    double *U, *inverse;
    int *x_at; /* [rows + 1] places in `inverse` and in x: panel by panel, each with room behind it */
    int *above_start;
    spd_above *above;               /* for every panel, those before it */
    const double **H_diagonal, **H; /* [rows], [entries of H_row]: NULL is zero */
    size_t H_count;
    int *H_row;      /* [rows] first block of a row in H, one for each entry of its panel */
    double **target; /* [rows] at work: the tall block in this column */
    char *stale;     /* [panels] H has changed there since the last factor */
    bool stale_all;  /* H has changed everywhere */
} spd_blocks;

/* Arrays in `kept`; the caller then connects the blocks of H.  SIM_NO_RESOURCE without memory. */
sim_status spd_blocks_prepare(spd_blocks *b, const spd_order *order, int rows, const int *size, sim_arena *kept);
/* H is the block in row i and column k >= i. */
void spd_blocks_connect(spd_blocks *b, int i, int k, const double *H);
/* Factors the stale panels, and those that depend on them; false: not positive definite. */
bool spd_blocks_factor(spd_blocks *b);
/* The same with another factorisation of a panel, which returns false to end. */
typedef bool spd_blocks_factor_panel(void *self, int panel);
bool spd_blocks_factor_stale(spd_blocks *b, spd_blocks_factor_panel *factor, void *self);
/* Its two ends: finds all stale panels; and all are factored. */
void spd_blocks_begin_factor(spd_blocks *b);
void spd_blocks_end_factor(spd_blocks *b);
/* x [x_at[rows]], row by row of the factor; padding must be finite. */
void spd_blocks_solve(const spd_blocks *b, double *x);
/* The downward half for many: x <- U^-T x, each [x_at[rows]] and one after the other.  Panels where one is zero are left
 * out. */
void spd_blocks_half(const spd_blocks *b, int count, double *x);
/* y <- y - C' x, C a tall block of `height` rows; y is padded. */
void spd_blocks_subtract_transposed(int height, int stride, const double *C, const double *x, double *y);
/* own[r .. r + rows) -= sum over the entries [first, end) of the tall blocks in U times x. */
void spd_blocks_subtract_rows(const spd_blocks *b, int r, int rows, int first, int end, const double *x, double *own);

/* A block of H, NULL for zero. */
static inline void spd_blocks_copy(double *to, const double *from, int rows, int stride) {
    size_t bytes = (size_t)rows * (size_t)stride * sizeof *to;
    if (rows == BODY_DOFS && stride == BODY_STRIDE) { /* constant sizes are copied without a call */
        if (from) {
            memcpy(to, from, BODY_DOFS * BODY_STRIDE * sizeof *to);
        } else {
            memset(to, 0, BODY_DOFS * BODY_STRIDE * sizeof *to);
        }
    } else if (from) {
        memcpy(to, from, bytes);
    } else {
        memset(to, 0, bytes);
    }
}

#endif
