/* Which dx is least in |J dx + r|^2 + lambda |dx|^2?
 *
 *     [J; sqrt(lambda) 1] dx = [-r; 0]   in the sense of least squares,
 *
 * by Householder's reflections.  J' J, whose condition is the square of J's, is never formed.  The lower part is a diagonal
 * that fills from above: column k is zero below row n + k, and above row k it is done with, so that every reflection
 * touches n + 1 numbers of each column, which stand side by side.
 *
 * What does not fit the caches takes LAPACK's reflections by blocks: first J = Q R, then [R; sqrt(lambda) 1]. */
#include "linalg/lapack.h"
#include "math/dense.h"
#include "solver/levenberg.h"

#include <math.h>
#include <string.h>

enum { FEW = 160, BLOCK = 32 }; /* unknowns up to which LAPACK is the slower way; reflections of a block */

size_t levenberg_work(int n) {
    size_t m = (size_t)n;
    return n <= FEW ? 2 * m * (m + 1) : 2 * m * (m + 1) + 2 * BLOCK * m + m;
}

/* Columns of 2 n numbers, the last of them the right side. */
static void fill(size_t n, const double *J, const double *r, double lambda, double *A) {
    double damping = sqrt(lambda);
    memset(A, 0, 2 * n * (n + 1) * sizeof *A);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            A[2 * n * j + i] = J[i * n + j];
        }
        A[2 * n * i + n + i] = damping;
        A[2 * n * n + i] = -r[i];
    }
}

/* u, of which column k's part is made, with u . u = 2; what is left of the column is a diagonal entry; 0 if there was
 * nothing. */
static int reflector(size_t size, double *u, double *diagonal) {
    double length = sqrt(dense_dot((int)size, u, u));
    *diagonal = u[0] > 0 ? -length : length;
    if (!(length > 0)) {
        return 0;
    }
    u[0] -= *diagonal;
    double scale = 1 / sqrt(length * fabs(u[0]));
    for (size_t i = 0; i < size; i++) {
        u[i] *= scale;
    }
    return 1;
}

/* In place of A, b: the triangle, and what of [-r; 0] is left above it. */
static void by_one(size_t n, double *A) {
    size_t height = 2 * n;
    for (size_t k = 0; k < n; k++) {
        double diagonal, *u = A + (height + 1) * k;
        if (reflector(n + 1, u, &diagonal)) {
            for (size_t j = k + 1; j <= n; j++) {
                double *column = A + height * j + k;
                dense_axpy((int)n + 1, -dense_dot((int)n + 1, u, column), u, column);
            }
        }
        *u = diagonal;
    }
}

/* A and the diagonal below it share their columns' length, 2 n. */
static void by_blocks(int n, double *A) {
    const int height = 2 * n, block = BLOCK, one = 1;
    size_t m = (size_t)n;
    double *b = A + 2 * m * m, *tau = b + 2 * m, *T = tau + m, *work = T + BLOCK * m;
    int info, size = BLOCK * n;
    dgeqrf_(&n, &n, A, &height, tau, work, &size, &info);
    dormqr_("L", "T", &n, &one, &n, A, &height, tau, b, &n, work, &size, &info);
    dtpqrt_(&n, &n, &n, &block, A, &height, A + m, &height, T, &block, work, &info);
    dtpmqrt_("L", "T", &n, &one, &n, &n, &block, A + m, &height, T, &block, b, &n, b + m, &n, work, &info);
}

int levenberg_step(int count, const double *J, const double *r, double lambda, double *work, double *dx,
                   double *range) {
    size_t n = (size_t)count, height = 2 * n;
    double *A = work, *b = A + height * n, least = HUGE_VAL, greatest = 0;
    fill(n, J, r, lambda, A);
    if (count <= FEW) {
        by_one(n, A);
    } else {
        by_blocks(count, A);
    }
    for (size_t k = 0; k < n; k++) {
        least = fmin(least, fabs(A[(height + 1) * k]));
        greatest = fmax(greatest, fabs(A[(height + 1) * k]));
    }
    *range = greatest / least;
    for (size_t k = n; k-- > 0;) {
        const double *column = A + height * k;
        dx[k] = b[k] / column[k];
        dense_axpy((int)k, -dx[k], column, b);
    }
    return least > 0 && isfinite(*range);
}
