/* Solution of U'U x = b by the panels of a factor: y = U^-T b downwards, x = U^-1 y upwards.
 *
 * The unknowns of a panel are contiguous.  Its contribution to a column further down, or from it on the way back, is
 * one product with the tall block there.  Blocks are padded with zeros, so products beyond the unknowns of a column
 * change nothing.  A right side is zero but for the panels on its path to the root, which the downward half keeps to.
 *
 * Cost: two multiplications for each number of the factor. */
#include "linalg/blocks.h"
#include "linalg/dense/cholesky.h"
#include "linalg/dense/strip.h"

#include <string.h>

void spd_blocks_subtract_transposed(int height, int stride, const double *C, const double *x, double *y) {
    if (stride != BODY_STRIDE) {
        strip_update(1, stride, height, x, 1, C, stride, y, stride);
        return;
    }
    /* four independent sums, of a left and a right half */
    simd4 left[4] = {{0}, {0}, {0}, {0}}, right[4] = {{0}, {0}, {0}, {0}};
    int r = 0;
    for (; r + 4 <= height; r += 4) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            const double *row = C + (ptrdiff_t)BODY_STRIDE * (r + k);
            left[k] += x[r + k] * simd4_load(row);
            right[k] += x[r + k] * simd4_load(row + 4);
        }
    }
    for (; r < height; r++) {
        left[0] += x[r] * simd4_load(C + (ptrdiff_t)BODY_STRIDE * r);
        right[0] += x[r] * simd4_load(C + (ptrdiff_t)BODY_STRIDE * r + 4);
    }
    simd4_store(y, simd4_load(y) - ((left[0] + left[1]) + (left[2] + left[3])));
    simd4_store(y + 4, simd4_load(y + 4) - ((right[0] + right[1]) + (right[2] + right[3])));
}

static void solve_panel_forward(const spd_blocks *b, int s, double *x) {
    const spd_order *o = b->order;
    double *own = x + b->x_at[o->first[s]];
    for (int i = o->first[s], e = o->start[s]; i < o->first[s + 1]; i++, e++) {
        int stride = b->stride[i], above = b->offset[i];
        const double *C = b->U + b->at[e];
        if (above > 0) {
            spd_blocks_subtract_transposed(above, stride, C, own, own + above);
        }
        cholesky_forward(b->size[i], C + (ptrdiff_t)above * stride, stride, b->inverse + b->x_at[i], own + above);
    }
    for (int e = o->start[s] + o->first[s + 1] - o->first[s]; e < o->start[s + 1]; e++) {
        int k = o->column[e];
        spd_blocks_subtract_transposed(b->height[s], b->stride[k], b->U + b->at[e], own, x + b->x_at[k]);
    }
}

static bool is_zero(int n, const double *x) {
    for (int k = 0; k < n; k++) {
        if (x[k] != 0) {
            return false;
        }
    }
    return true;
}

void spd_blocks_half(const spd_blocks *b, int count, double *x) {
    int size = b->x_at[b->rows];
    for (int s = 0; s < b->order->panels; s++) {
        for (int k = 0; k < count; k++) {
            double *one = x + (ptrdiff_t)k * size;
            if (!is_zero(b->height[s], one + b->x_at[b->order->first[s]])) {
                solve_panel_forward(b, s, one);
            }
        }
    }
}

/* own[r .. r + rows) -= sum over the entries [first, end) of C x, at most six rows at once */
static inline void subtract_rows(const spd_blocks *b, int r, int rows, int first, int end, const double *x,
                                 double *own) {
    simd4 sum[STRIP_ROWS];
    for (int k = 0; k < rows; k++) {
        sum[k] = (simd4){0, 0, 0, 0};
    }
    for (int e = first; e < end; e++) {
        int column = b->order->column[e], stride = b->stride[column];
        const double *C = b->U + b->at[e] + (ptrdiff_t)r * stride, *y = x + b->x_at[column];
        for (int j = 0; j < stride; j += 4) {
            simd4 part = simd4_load(y + j);
            for (int k = 0; k < rows; k++) {
                sum[k] += simd4_load(C + (ptrdiff_t)k * stride + j) * part;
            }
        }
    }
    for (int k = 0; k < rows; k++) {
        own[r + k] -= (sum[k][0] + sum[k][1]) + (sum[k][2] + sum[k][3]);
    }
}

void spd_blocks_subtract_rows(const spd_blocks *b, int r, int rows, int first, int end, const double *x, double *own) {
    for (; rows >= STRIP_ROWS && first < end; r += STRIP_ROWS, rows -= STRIP_ROWS) {
        subtract_rows(b, r, STRIP_ROWS, first, end, x, own);
    }
    for (; rows > 0 && first < end; r++, rows--) {
        subtract_rows(b, r, 1, first, end, x, own);
    }
}

static void solve_panel_backward(const spd_blocks *b, int s, double *x) {
    const spd_order *o = b->order;
    double *own = x + b->x_at[o->first[s]];
    int first = o->start[s] + o->first[s + 1] - o->first[s];
    spd_blocks_subtract_rows(b, 0, b->height[s], first, o->start[s + 1], x, own);
    for (int i = o->first[s + 1] - 1, e = first - 1; i >= o->first[s]; i--, e--) {
        int stride = b->stride[i], above = b->offset[i];
        spd_blocks_subtract_rows(b, above, b->size[i], e + 1, first, x, own);
        cholesky_backward(b->size[i], b->U + b->at[e] + (ptrdiff_t)above * stride, stride, b->inverse + b->x_at[i],
                          own + above);
    }
}

void spd_blocks_solve(const spd_blocks *b, double *x) {
    for (int s = 0; s < b->order->panels; s++) {
        solve_panel_forward(b, s, x);
    }
    for (int s = b->order->panels - 1; s >= 0; s--) {
        solve_panel_backward(b, s, x);
    }
}
