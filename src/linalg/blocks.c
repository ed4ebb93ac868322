/* Cholesky by blocks: U'U = H, row of blocks by row of blocks.
 *
 *     C_ik = H_ik - sum_j U_ji' U_jk   over the rows j < i that have a block in column i,   k >= i
 *     U_ii' U_ii = C_ii,   U_ik = U_ii^-T C_ik
 *
 * The upper factor by rows, and not the lower by columns, because then both factors of every product are read along their
 * rows: a product of two blocks of a free body is thirty-six multiplications of a number with a row. */
#include "linalg/blocks.h"
#include "linalg/cholesky.h"
#include "linalg/strip.h"

#include <string.h>

/* Places of all blocks, row by row; the number of doubles they take. */
static ptrdiff_t place(spd_blocks *b) {
    const spd_order *o = b->order;
    ptrdiff_t at = 0;
    for (int i = 0; i < b->rows; i++) {
        b->diagonal[i] = at;
        at += (ptrdiff_t)b->size[i] * b->stride[i];
        for (int q = o->start[i]; q < o->start[i + 1]; q++) {
            b->at[q] = at;
            at += (ptrdiff_t)b->size[i] * b->stride[o->column[q]];
        }
    }
    return at;
}

/* For every column the rows above the diagonal, rising. */
static void transpose(spd_blocks *b) {
    const spd_order *o = b->order;
    int blocks = o->start[b->rows];
    memset(b->above_start, 0, (size_t)(b->rows + 2) * sizeof *b->above_start);
    for (int q = 0; q < blocks; q++) {
        b->above_start[o->column[q] + 2]++;
    }
    for (int k = 0; k < b->rows; k++) {
        b->above_start[k + 2] += b->above_start[k + 1];
    }
    for (int i = 0; i < b->rows; i++) {
        for (int q = o->start[i]; q < o->start[i + 1]; q++) {
            int slot = b->above_start[o->column[q] + 1]++;
            b->above_row[slot] = i;
            b->above[slot] = q;
        }
    }
}

int spd_blocks_prepare(spd_blocks *b, const spd_order *order, int rows, const int *size, sim_arena *kept) {
    int blocks = order->start[rows];
    b->rows = rows;
    b->order = order;
    b->size = size;
    b->stride = ARENA_NEW(kept, int, rows);
    b->diagonal = ARENA_NEW(kept, ptrdiff_t, rows);
    b->at = ARENA_NEW(kept, ptrdiff_t, blocks);
    b->inverse_at = ARENA_NEW(kept, int, rows + 1);
    b->above_start = ARENA_NEW(kept, int, rows + 2);
    b->above_row = ARENA_NEW(kept, int, blocks);
    b->above = ARENA_NEW(kept, int, blocks);
    b->target = ARENA_NEW(kept, ptrdiff_t, rows);
    b->stale = ARENA_NEW(kept, char, rows);
    b->stale_all = 1;
    if (!b->stride || !b->diagonal || !b->at || !b->inverse_at || !b->above_start || !b->above_row || !b->above ||
        !b->target || !b->stale) {
        return 0;
    }
    b->inverse_at[0] = 0;
    for (int i = 0; i < rows; i++) {
        b->stride[i] = strip_stride(size[i]);
        b->inverse_at[i + 1] = b->inverse_at[i] + b->stride[i];
    }
    transpose(b);
    b->U = ARENA_NEW(kept, double, place(b));
    b->inverse = ARENA_NEW(kept, double, b->inverse_at[rows]);
    return b->U && b->inverse;
}

static void fetch(double *to, const double *from, ptrdiff_t count) {
    if (from) {
        memcpy(to, from, (size_t)count * sizeof *to);
    } else {
        memset(to, 0, (size_t)count * sizeof *to);
    }
}

/* Row i as it stands in H. */
static void load_row(spd_blocks *b, int i) {
    const spd_order *o = b->order;
    ptrdiff_t n = b->size[i];
    fetch(b->U + b->diagonal[i], b->H_diagonal[i], n * b->stride[i]);
    b->target[i] = b->diagonal[i];
    for (int q = o->start[i]; q < o->start[i + 1]; q++) {
        fetch(b->U + b->at[q], b->H[q], n * b->stride[o->column[q]]);
        b->target[o->column[q]] = b->at[q];
    }
}

/* All that row j takes from row i: its block in column i against itself and those after it. */
static void take(spd_blocks *b, int i, int j, int block) {
    const spd_order *o = b->order;
    const double *P = b->U + b->at[block];
    int n = b->size[i], inner = b->size[j], stride = b->stride[i];
    if (n == 6 && inner == 6) {
        strip_update_6(6, P, P, b->U + b->diagonal[i]);
    } else {
        strip_update_upper(n, inner, P, stride, P, stride, b->U + b->diagonal[i], stride);
    }
    for (int q = block + 1; q < o->start[j + 1]; q++) {
        int k = o->column[q], width = b->stride[k];
        const double *Q = b->U + b->at[q];
        double *C = b->U + b->target[k];
        if (n == 6 && inner == 6 && width == 8) {
            strip_update_6(6, P, Q, C);
        } else {
            strip_update(n, width, inner, P, stride, Q, width, C, width);
        }
    }
}

/* Does row i come out as the last time? */
static int kept(spd_blocks *b, int i) {
    for (int slot = b->above_start[i]; slot < b->above_start[i + 1] && !b->stale[i]; slot++) {
        b->stale[i] = b->stale[b->above_row[slot]];
    }
    return !b->stale[i];
}

static int factor_row(spd_blocks *b, int i) {
    const spd_order *o = b->order;
    double *D = b->U + b->diagonal[i], *inverse = b->inverse + b->inverse_at[i];
    load_row(b, i);
    for (int slot = b->above_start[i]; slot < b->above_start[i + 1]; slot++) {
        take(b, i, b->above_row[slot], b->above[slot]);
    }
    if (!cholesky_upper(b->size[i], b->stride[i], D, inverse)) {
        return 0;
    }
    for (int q = o->start[i]; q < o->start[i + 1]; q++) {
        cholesky_panel(b->size[i], D, b->stride[i], inverse, b->U + b->at[q], b->stride[o->column[q]]);
    }
    return 1;
}

int spd_blocks_factor(spd_blocks *b) {
    if (b->stale_all) {
        memset(b->stale, 1, (size_t)b->rows);
    }
    b->stale_all = 1; /* until all rows are done */
    for (int i = 0; i < b->rows; i++) {
        if (!kept(b, i) && !factor_row(b, i)) {
            return 0;
        }
    }
    memset(b->stale, 0, (size_t)b->rows);
    b->stale_all = 0;
    return 1;
}

/* y <- y - C x, C rows x stride */
static void subtract_rows(int rows, int stride, const double *C, const double *x, double *y) {
    for (int r = 0; r < rows; r++) {
        strip_quad sum = {0, 0, 0, 0};
        for (int j = 0; j < stride; j += 4) {
            sum += strip_load4(C + (ptrdiff_t)r * stride + j) * strip_load4(x + j);
        }
        y[r] -= (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

void spd_blocks_solve(spd_blocks *b, double *x) {
    const spd_order *o = b->order;
    for (int i = 0; i < b->rows; i++) {
        double *own = x + b->inverse_at[i];
        cholesky_forward(b->size[i], b->U + b->diagonal[i], b->stride[i], b->inverse + b->inverse_at[i], own);
        for (int q = o->start[i]; q < o->start[i + 1]; q++) {
            int k = o->column[q], width = b->stride[k];
            if (b->size[i] == 6 && width == 8) {
                strip_8(1, 6, own, 1, b->U + b->at[q], 8, x + b->inverse_at[k], 8);
                continue;
            }
            strip_update(1, width, b->size[i], own, 1, b->U + b->at[q], width, x + b->inverse_at[k], width);
        }
    }
    for (int i = b->rows - 1; i >= 0; i--) {
        double *own = x + b->inverse_at[i];
        for (int q = o->start[i]; q < o->start[i + 1]; q++) {
            int k = o->column[q];
            subtract_rows(b->size[i], b->stride[k], b->U + b->at[q], x + b->inverse_at[k], own);
        }
        cholesky_backward(b->size[i], b->U + b->diagonal[i], b->stride[i], b->inverse + b->inverse_at[i], own);
    }
}
