/* Which dx is least in |J dx + r|^2 + lambda |dx|^2?
 *
 *     [J; sqrt(lambda) 1] dx = [-r; 0]   in the sense of least squares,
 *
 * by Householder's reflections.  J' J, whose condition is the square of J's, is never formed.  The lower part is a diagonal
 * that fills from above: column k is zero below row n + k, and above row k it is done with, so that every reflection
 * touches n + 1 numbers of each column, which stand side by side. */
#include "math/dense.h"
#include "solver/levenberg.h"

#include <math.h>
#include <string.h>

size_t levenberg_work(int n) {
    size_t m = (size_t)n;
    return 2 * m * (m + 1);
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

int levenberg_step(int count, const double *J, const double *r, double lambda, double *work, double *dx,
                   double *range) {
    size_t n = (size_t)count, height = 2 * n;
    double *A = work, *b = A + height * n, least = HUGE_VAL, greatest = 0;
    fill(n, J, r, lambda, A);
    for (size_t k = 0; k < n; k++) {
        double diagonal, *u = A + (height + 1) * k;
        if (reflector(n + 1, u, &diagonal)) {
            for (size_t j = k + 1; j <= n; j++) {
                double *column = A + height * j + k;
                dense_axpy(count + 1, -dense_dot(count + 1, u, column), u, column);
            }
        }
        *u = diagonal;
        least = fmin(least, fabs(diagonal));
        greatest = fmax(greatest, fabs(diagonal));
    }
    *range = greatest / least;
    for (size_t k = n; k-- > 0;) {
        const double *column = A + height * k;
        dx[k] = b[k] / column[k];
        dense_axpy((int)k, -dx[k], column, b);
    }
    return least > 0 && isfinite(*range);
}
