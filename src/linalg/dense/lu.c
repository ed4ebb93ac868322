/* Dense LU factorisation: Gaussian elimination with partial pivoting, a band of columns at a time.
 *
 *     P (H_1 H_2) = (L_11    ) (U_11  U_12),    H_22 <- H_22 - L_21 U_12
 *                   (L_21  1 ) (      H_22)
 *
 * The last product has all the work of size n^3; strip.h computes it.  Above PANELS_WHOLE unknowns LAPACK factors H',
 * panel by panel (panels.c), and the caller can stop it.  Bands presume that the matrix fits the cache.
 *
 * Reference: Golub, Van Loan 2013, Matrix Computations, sections 3.2 and 3.4.
 * Cost: n^3 / 3 multiplications. */
#include "linalg/dense/lu.h"
#include "linalg/dense/lapack.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"

#include <math.h>

enum { BAND_COLUMNS = 12 }; /* a multiple of four */

int lu_work(int n) { return BAND_COLUMNS * strip_stride(n); }

static void swap_rows(int n, double *a, double *b) {
    for (int j = 0; j < n; j++) {
        double x = a[j];
        a[j] = b[j];
        b[j] = x;
    }
}

/* The columns [first, last) from row `first` on; whole rows are swapped. */
static inline bool factor_lu_band(int n, int stride, int first, int last, double *H, int *swap) {
    for (int k = first; k < last; k++) {
        /* partial pivoting */
        int pivot = k;
        for (int i = k + 1; i < n; i++) {
            pivot = fabs(H[(long)i * stride + k]) > fabs(H[(long)pivot * stride + k]) ? i : pivot;
        }
        double *row = H + (long)k * stride;
        swap[k] = pivot;
        if (pivot != k) {
            swap_rows(n, row, H + (long)pivot * stride);
        }
        if (!(fabs(row[k]) > 0) || !isfinite(row[k])) {
            return false;
        }
        /* eliminate the column below, within the band */
        double over = 1 / row[k];
        for (int i = k + 1; i < n; i++) {
            double *below = H + (long)i * stride;
            below[k] *= over;
            for (int j = k + 1; j < last; j++) {
                below[j] -= below[k] * row[j];
            }
        }
    }
    return true;
}

/* U_12 and H_22. */
static void update_trailing(int n, int stride, int first, int last, double *H, double *work) {
    int rows = n - last, columns = stride - last, width = strip_stride(rows);
    for (int r = first; r < last; r++) {
        for (int s = first; s < r; s++) {
            dense_axpy(columns, -H[(long)r * stride + s], H + (long)s * stride + last, H + (long)r * stride + last);
        }
        for (int i = 0; i < rows; i++) {
            work[(r - first) * width + i] = H[(long)(last + i) * stride + r];
        }
    }
    strip_update(rows, columns, last - first, work, width, H + (long)first * stride + last, stride,
                 H + (long)last * stride + last, stride);
}

static bool factor_bands(int n, int stride, double *H, int *swap, double *work) {
    for (int first = 0; first < n; first += BAND_COLUMNS) {
        int last = first + BAND_COLUMNS < n ? first + BAND_COLUMNS : n;
        if (!factor_lu_band(n, stride, first, last, H, swap)) {
            return false;
        }
        if (last < n) {
            update_trailing(n, stride, first, last, H, work);
        }
    }
    return true;
}

bool lu_factor(int n, int stride, double *H, int *swap, double *work, const panels_watch *watch) {
    if (n == 6 && stride == 8) { /* of constant size */
        return factor_lu_band(6, 8, 0, 6, H, swap);
    }
    return n > PANELS_WHOLE ? panels_lu(n, stride, H, swap, watch) : factor_bands(n, stride, H, swap, work);
}

/* LAPACK's factors are those of H', whose columns are the rows of H. */
static void solve_panels(const char *transposed, int n, int stride, const double *LU, const int *swap, double *x) {
    int one = 1, info;
    dgetrs_(transposed, &n, &one, LU, &stride, swap, x, &n, &info);
}

/* Six unknowns, permuted: quotients first, so that none waits for another. */
static void solve_six_unknowns(int stride, const double *LU, double *x) {
    double over[6], y[6];
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) {
        over[k] = 1 / LU[(long)k * stride + k];
        y[k] = x[k];
#pragma GCC unroll 6
        for (int j = 0; j < k; j++) {
            y[k] -= LU[(long)k * stride + j] * y[j];
        }
    }
#pragma GCC unroll 6
    for (int k = 5; k >= 0; k--) {
#pragma GCC unroll 6
        for (int j = k + 1; j < 6; j++) {
            y[k] -= LU[(long)k * stride + j] * y[j];
        }
        y[k] *= over[k];
        x[k] = y[k];
    }
}

void lu_solve(int n, int stride, const double *LU, const int *swap, double *x) {
    if (n > PANELS_WHOLE) {
        solve_panels("T", n, stride, LU, swap, x);
        return;
    }
    /* permute */
    for (int k = 0; k < n; k++) {
        double y = x[swap[k]];
        x[swap[k]] = x[k];
        x[k] = y;
    }
    if (n == 6) {
        solve_six_unknowns(stride, LU, x);
        return;
    }
    /* forward substitution, unit diagonal; back substitution */
    for (int k = 1; k < n; k++) {
        x[k] -= dense_dot(k, LU + (long)k * stride, x);
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *row = LU + (long)k * stride;
        x[k] = (x[k] - dense_dot(n - k - 1, row + k + 1, x + k + 1)) / row[k];
    }
}

/* row <- row - factor * other */
static void subtract_lu_row(int width, double factor, const double *other, double *row) {
    if (factor == 0) { /* outside the band of a chain of bodies */
        return;
    }
    for (int j = 0; j < width; j += 4) {
        simd4_store(row + j, simd4_load(row + j) - factor * simd4_load(other + j));
    }
}

/* Column by column, for LAPACK's factors. */
static void solve_columns(int n, int stride, const double *LU, const int *swap, int width, double *C, double *work) {
    for (int j = 0; j < width; j++) {
        for (int i = 0; i < n; i++) {
            work[i] = C[(long)i * width + j];
        }
        lu_solve(n, stride, LU, swap, work);
        for (int i = 0; i < n; i++) {
            C[(long)i * width + j] = work[i];
        }
    }
}

/* Six rows: half of eight columns at a time, rows permuted before. */
static void solve_six(int stride, const double *LU, double *C) {
    for (int half = 0; half < 8; half += 4) {
        simd4 row[6];
#pragma GCC unroll 6
        for (int k = 0; k < 6; k++) {
            row[k] = simd4_load(C + 8 * k + half);
#pragma GCC unroll 6
            for (int j = 0; j < k; j++) {
                row[k] -= LU[(long)k * stride + j] * row[j];
            }
        }
#pragma GCC unroll 6
        for (int k = 5; k >= 0; k--) {
#pragma GCC unroll 6
            for (int j = k + 1; j < 6; j++) {
                row[k] -= LU[(long)k * stride + j] * row[j];
            }
            row[k] *= 1 / LU[(long)k * stride + k];
        }
#pragma GCC unroll 6
        for (int k = 0; k < 6; k++) {
            simd4_store(C + 8 * k + half, row[k]);
        }
    }
}

void lu_solve_block(int n, int stride, const double *LU, const int *swap, int width, double *C, double *work) {
    /* large matrices: by LAPACK */
    if (n > PANELS_WHOLE) {
        solve_columns(n, stride, LU, swap, width, C, work);
        return;
    }
    /* permute the rows */
    for (int k = 0; k < n; k++) {
        if (swap[k] != k) {
            swap_rows(width, C + (long)k * width, C + (long)swap[k] * width);
        }
    }
    if (n == 6 && width == 8) {
        solve_six(stride, LU, C);
        return;
    }
    /* forward substitution, unit diagonal */
    for (int k = 1; k < n; k++) {
        for (int j = 0; j < k; j++) {
            subtract_lu_row(width, LU[(long)k * stride + j], C + (long)j * width, C + (long)k * width);
        }
    }
    /* back substitution */
    for (int k = n - 1; k >= 0; k--) {
        double *row = C + (long)k * width, over = 1 / LU[(long)k * stride + k];
        for (int j = k + 1; j < n; j++) {
            subtract_lu_row(width, LU[(long)k * stride + j], C + (long)j * width, row);
        }
        for (int j = 0; j < width; j += 4) {
            simd4_store(row + j, over * simd4_load(row + j));
        }
    }
}

/* H' = U' L' P: forward through U', backward through L', then the swaps in reverse order. */
void lu_solve_transposed(int n, int stride, const double *LU, const int *swap, double *x) {
    if (n > PANELS_WHOLE) {
        solve_panels("N", n, stride, LU, swap, x);
        return;
    }
    for (int k = 0; k < n; k++) {
        const double *row = LU + (long)k * stride;
        x[k] /= row[k];
        dense_axpy(n - k - 1, -x[k], row + k + 1, x + k + 1);
    }
    for (int k = n - 1; k > 0; k--) {
        dense_axpy(k, -x[k], LU + (long)k * stride, x);
    }
    for (int k = n - 1; k >= 0; k--) {
        double y = x[swap[k]];
        x[swap[k]] = x[k];
        x[k] = y;
    }
}
