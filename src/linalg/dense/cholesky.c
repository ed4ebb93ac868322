/* Dense Cholesky factorisation U'U = H, in bands of six rows.
 *
 *     U_bb' U_bb = H_bb - sum_a U_ab' U_ab,   U_bc = U_bb^-T (H_bc - sum_a U_ab' U_ac),   a < b < c
 *
 * The sums, of order n^3, are strip products (strip.h).  Blocks of six unknowns, as of free bodies, stay in registers.
 *
 * Reference: Golub, Van Loan 2013, Matrix Computations, section 4.2.  Cost: n^3 / 6 multiplications. */
#include "linalg/dense/cholesky.h"
#include "linalg/dense/strip.h"

#include <math.h>

/* row <- row - factor * upper over the columns [from, to). */
static void subtract_row(double factor, const double *upper, double *row, int from, int to) {
    for (int j = from; j < to; j += 4) {
        simd4 sum = simd4_load(row + j) - factor * simd4_load(upper + j);
        memcpy(row + j, &sum, sizeof sum);
    }
}

static void scale_row(double factor, double *row, int from, int to) {
    for (int j = from; j < to; j += 4) {
        simd4 out = factor * simd4_load(row + j);
        memcpy(row + j, &out, sizeof out);
    }
}

/* Six rows of eight: a free body. */
static bool factor_six(double *H, double *inverse) {
    for (int r = 0; r < 6; r++) {
        double *row = H + 8 * r;
        if (!(row[r] > 0)) {
            return false;
        }
        double over = 1 / row[r]; /* independent of the root, which is slow */
        simd4 left = simd4_load(row), right = simd4_load(row + 4);
        for (int s = r + 1; s < 6; s++) {
            double factor = row[s] * over;
            simd4_store(H + 8 * s, simd4_load(H + 8 * s) - factor * left);
            simd4_store(H + 8 * s + 4, simd4_load(H + 8 * s + 4) - factor * right);
        }
        inverse[r] = sqrt(over);
        simd4_store(row, inverse[r] * left);
        simd4_store(row + 4, inverse[r] * right);
    }
    return true;
}

static bool factor_cholesky_band(int n, int stride, int first, double *H, double *inverse) {
    int last = first + STRIP_ROWS < n ? first + STRIP_ROWS : n, from = first & ~3;
    for (int r = first; r < last; r++) {
        double *row = H + (long)r * stride, pivot = row[r];
        if (!(pivot > 0)) {
            return false;
        }
        inverse[r] = 1 / sqrt(pivot);
        scale_row(inverse[r], row, from, stride);
        for (int s = r + 1; s < last; s++) {
            subtract_row(row[s], row, H + (long)s * stride, from, stride);
        }
    }
    return true;
}

bool cholesky_upper(int n, int stride, double *H, double *inverse) {
    if (n == 6 && stride == 8) {
        return factor_six(H, inverse);
    }
    for (int b = 0; b < n; b += STRIP_ROWS) {
        int m = n - b < STRIP_ROWS ? n - b : STRIP_ROWS, from = b & ~3;
        strip_update(m, stride - from, b, H + b, stride, H + from, stride, H + (long)b * stride + from, stride);
        if (!factor_cholesky_band(n, stride, b, H, inverse)) {
            return false;
        }
    }
    return true;
}

/* Half of the columns at a time. */
static void solve_panel_six(const double *U, const double *inverse, double *C) {
    for (int half = 0; half < 8; half += 4) {
        simd4 row[6];
#pragma GCC unroll 6
        for (int r = 0; r < 6; r++) {
            row[r] = simd4_load(C + 8 * r + half);
        }
#pragma GCC unroll 6
        for (int r = 0; r < 6; r++) {
            row[r] *= inverse[r];
#pragma GCC unroll 6
            for (int s = r + 1; s < 6; s++) {
                row[s] -= U[8 * r + s] * row[r];
            }
        }
#pragma GCC unroll 6
        for (int r = 0; r < 6; r++) {
            simd4_store(C + 8 * r + half, row[r]);
        }
    }
}

void cholesky_panel(int n, const double *U, int stride, const double *inverse, double *C, int width) {
    if (n == 6 && width == 8) {
        solve_panel_six(U, inverse, C);
        return;
    }
    for (int b = 0; b < n; b += STRIP_ROWS) {
        int m = n - b < STRIP_ROWS ? n - b : STRIP_ROWS;
        strip_update(m, width, b, U + b, stride, C, width, C + (long)b * width, width);
        for (int r = b; r < b + m; r++) {
            double *row = C + (long)r * width;
            scale_row(inverse[r], row, 0, width);
            for (int s = r + 1; s < b + m; s++) {
                subtract_row(U[(long)r * stride + s], row, C + (long)s * width, 0, width);
            }
        }
    }
}

static void solve_forward(int n, const double *U, int stride, const double *inverse, double *x) {
    for (int r = 0; r < n; r++) {
        const double *row = U + (long)r * stride;
        x[r] *= inverse[r];
        for (int s = r + 1; s < n; s++) {
            x[s] -= row[s] * x[r];
        }
    }
}

static void solve_backward(int n, const double *U, int stride, const double *inverse, double *x) {
    for (int r = n - 1; r >= 0; r--) {
        const double *row = U + (long)r * stride;
        double sum = x[r];
        for (int s = r + 1; s < n; s++) {
            sum -= row[s] * x[s];
        }
        x[r] = sum * inverse[r];
    }
}

/* Free bodies: all six unknowns in registers. */
static void solve_forward_six(const double *U, const double *inverse, double *x) {
    double y[6];
    memcpy(y, x, sizeof y);
#pragma GCC unroll 6
    for (int r = 0; r < 6; r++) {
        y[r] *= inverse[r];
#pragma GCC unroll 6
        for (int s = r + 1; s < 6; s++) {
            y[s] -= U[8 * r + s] * y[r];
        }
    }
    memcpy(x, y, sizeof y);
}

static void solve_backward_six(const double *U, const double *inverse, double *x) {
    double y[6];
    memcpy(y, x, sizeof y);
#pragma GCC unroll 6
    for (int s = 5; s >= 0; s--) {
        y[s] *= inverse[s];
#pragma GCC unroll 6
        for (int r = 0; r < s; r++) {
            y[r] -= U[8 * r + s] * y[s];
        }
    }
    memcpy(x, y, sizeof y);
}

void cholesky_forward(int n, const double *U, int stride, const double *inverse, double *x) {
    if (n == 6) {
        solve_forward_six(U, inverse, x);
    } else {
        solve_forward(n, U, stride, inverse, x);
    }
}

void cholesky_backward(int n, const double *U, int stride, const double *inverse, double *x) {
    if (n == 6) {
        solve_backward_six(U, inverse, x);
    } else {
        solve_backward(n, U, stride, inverse, x);
    }
}
