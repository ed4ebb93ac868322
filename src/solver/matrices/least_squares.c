/* Damped linear least squares by Householder reflections.
 *
 *     min over dx  |J dx + r|^2 + lambda |dx|^2:   [J; sqrt(lambda) 1] dx = [-r; 0]   in the least-squares sense
 *
 * J has at least as many rows as columns.  J' J, whose condition number is the square of J's, is never formed.  The
 * lower part is diagonal and fills from above: column k is zero below row m + k and finished above row k.  So every
 * reflection touches m + 1 consecutive numbers of each column.
 *
 * Systems beyond the cache use LAPACK's block reflections: first J = Q R, then [R; sqrt(lambda) 1].  The largest go
 * panel by panel, and can be interrupted.  Cost: about 2 m n^2 multiplications. */
#include "solver/matrices/least_squares.h"
#include "linalg/dense/lapack.h"
#include "math/dense.h"
#include "solver/matrices/levenberg_marquardt.h"

#include <math.h>
#include <string.h>

enum { BLOCK_REFLECTIONS = 32 };

size_t least_squares_work(int rows, int n) {
    size_t m = (size_t)n, height = (size_t)rows + m;
    return n <= LEAST_SQUARES_MAX_UNBLOCKED ? height * (m + 1) : height * (m + 1) + 2 * BLOCK_REFLECTIONS * m + m;
}

/* Sets the rows [sqrt(lambda) 1, 0] below J and r. */
static void append_damping(size_t rows, size_t n, double lambda, double *A) {
    for (size_t j = 0; j <= n; j++) {
        double *below = A + (rows + n) * j + rows;
        memset(below, 0, n * sizeof *below);
        if (j < n) {
            below[j] = sqrt(lambda);
        }
    }
}

/* Reflection vector u in place of a column, u . u = 2, and the diagonal entry that remains; false for a zero column. */
static bool make_reflector(size_t size, double *u, double *diagonal) {
    double length = sqrt(dense_dot((int)size, u, u));
    *diagonal = u[0] > 0 ? -length : length;
    if (!(length > 0)) {
        return false;
    }
    u[0] -= *diagonal;
    double scale = 1 / sqrt(length * fabs(u[0]));
    for (size_t i = 0; i < size; i++) {
        u[i] *= scale;
    }
    return true;
}

/* A: the triangle, and Q' [-r; 0] in the last column. */
static void reduce_unblocked(size_t rows, size_t n, double *A) {
    size_t height = rows + n;
    for (size_t k = 0; k < n; k++) {
        double diagonal, *u = A + (height + 1) * k;
        if (make_reflector(rows + 1, u, &diagonal)) {
            for (size_t j = k + 1; j <= n; j++) {
                double *column = A + height * j + k;
                dense_axpy((int)rows + 1, -dense_dot((int)rows + 1, u, column), u, column);
            }
        }
        *u = diagonal;
    }
}

/* false: the caller stopped it. */
static bool reduce_by_panels(int rows, int n, double *A, const panels_watch *watch) {
    const int height = rows + n, total = n + 1;
    size_t m = (size_t)n;
    double *tau = A + (size_t)height * (m + 1), *T = tau + m, *work = T + BLOCK_REFLECTIONS * m;
    panels_reflections q = {rows, n, total, height, A, tau, work, BLOCK_REFLECTIONS * n};
    panels_stack stack = {n, n, n, total, BLOCK_REFLECTIONS, height, height, A, A + rows, T, work};
    return panels_reflect(&q, watch) && panels_reflect_stack(&stack, watch);
}

/* A and the diagonal below it have one leading dimension. */
static void reduce_by_blocks(int rows, int n, double *A) {
    const int height = rows + n, block = BLOCK_REFLECTIONS, one = 1;
    size_t m = (size_t)n;
    double *b = A + (size_t)height * m, *tau = b + height, *T = tau + m, *work = T + BLOCK_REFLECTIONS * m;
    int info, size = BLOCK_REFLECTIONS * n;
    dgeqrf_(&rows, &n, A, &height, tau, work, &size, &info);
    dormqr_("L", "T", &rows, &one, &n, A, &height, tau, b, &rows, work, &size, &info);
    dtpqrt_(&n, &n, &n, &block, A, &height, A + rows, &height, T, &block, work, &info);
    dtpmqrt_("L", "T", &n, &one, &n, &n, &block, A + rows, &height, T, &block, b, &n, b + rows, &n, work, &info);
}

static bool write_zero(int n, double *dx, double *range) {
    memset(dx, 0, (size_t)n * sizeof *dx);
    *range = HUGE_VAL;
    return false;
}

bool least_squares_solve(int rows, int count, double *A, double lambda, double *dx, double *range,
                         const panels_watch *watch) {
    size_t n = (size_t)count, height = (size_t)rows + n;
    double *b = A + height * n, least = HUGE_VAL, greatest = 0;
    /* triangular R by reflections, in one of three forms */
    append_damping((size_t)rows, n, lambda, A);
    if (count <= LEAST_SQUARES_MAX_UNBLOCKED) {
        reduce_unblocked((size_t)rows, n, A);
    } else if (count <= PANELS_WHOLE) {
        reduce_by_blocks(rows, count, A);
    } else if (!reduce_by_panels(rows, count, A, watch)) {
        return write_zero(count, dx, range);
    }
    /* range of the diagonal of R bounds the condition number from below */
    for (size_t k = 0; k < n; k++) {
        least = fmin(least, fabs(A[(height + 1) * k]));
        greatest = fmax(greatest, fabs(A[(height + 1) * k]));
    }
    *range = greatest / least;
    /* back substitution: R dx = b */
    for (size_t k = n; k-- > 0;) {
        const double *column = A + height * k;
        dx[k] = b[k] / column[k];
        dense_axpy((int)k, -dx[k], column, b);
    }
    return n == 0 || (least > 0 && isfinite(*range));
}

size_t levenberg_work(int n) { return least_squares_work(n, n); }

bool levenberg_step(int count, const double *J, const double *r, double lambda, double *work, double *dx, double *range,
                    const panels_watch *watch) {
    size_t n = (size_t)count;
    if (panels_stopped(count, watch)) {
        return write_zero(count, dx, range);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            work[2 * n * j + i] = J[i * n + j];
        }
        work[2 * n * n + i] = -r[i];
    }
    return least_squares_solve(count, count, work, lambda, dx, range, watch);
}
