/* Which dx is least in |J dx + r|^2 + lambda |dx|^2?
 *
 *     [J; sqrt(lambda) 1] dx = [-r; 0]   in the sense of least squares,
 *
 * by Householder's reflections.  J' J, whose condition is the square of J's, is never formed.  The lower part is a diagonal
 * that fills from above: in column k its rows 0 .. k alone have something. */
#include "math/dense.h"
#include "solver/levenberg.h"

#include <math.h>
#include <string.h>

size_t levenberg_work(int n) {
    size_t m = (size_t)n;
    return m * m + 6 * m;
}

typedef struct triangle {
    size_t n;
    double *upper, *lower; /* n x n each: of J; of sqrt(lambda) 1 */
    double *b, *c;         /* right sides of the two */
    double *u, *w;         /* [2 n] what is reflected along; [n] its product with the columns right of it */
} triangle;

/* u for column k, with u . u = 2, or 0 if there is nothing below the diagonal or on it. */
static int reflector(const triangle *t, size_t k, double *diagonal) {
    size_t n = t->n, above = n - k;
    double square = 0;
    for (size_t i = k; i < n; i++) {
        t->u[i - k] = t->upper[i * n + k];
        square += t->u[i - k] * t->u[i - k];
    }
    for (size_t i = 0; i <= k; i++) {
        t->u[above + i] = t->lower[i * n + k];
        square += t->u[above + i] * t->u[above + i];
    }
    double size = sqrt(square);
    *diagonal = t->u[0] > 0 ? -size : size;
    if (!(size > 0)) {
        return 0;
    }
    double first = t->u[0] - *diagonal, scale = 1 / sqrt(size * fabs(first));
    t->u[0] = first;
    for (size_t i = 0; i < above + k + 1; i++) {
        t->u[i] *= scale;
    }
    return 1;
}

/* The columns right of k, and the right sides, less u (u . them). */
static void reflect(const triangle *t, size_t k) {
    size_t n = t->n, above = n - k, from = k + 1;
    int width = (int)(n - from);
    double side = 0;
    memset(t->w, 0, (n - from) * sizeof *t->w);
    for (size_t i = 0; i < above; i++) {
        dense_axpy(width, t->u[i], t->upper + (k + i) * n + from, t->w);
        side += t->u[i] * t->b[k + i];
    }
    for (size_t i = 0; i <= k; i++) {
        dense_axpy(width, t->u[above + i], t->lower + i * n + from, t->w);
        side += t->u[above + i] * t->c[i];
    }
    for (size_t i = 0; i < above; i++) {
        dense_axpy(width, -t->u[i], t->w, t->upper + (k + i) * n + from);
        t->b[k + i] -= t->u[i] * side;
    }
    for (size_t i = 0; i <= k; i++) {
        dense_axpy(width, -t->u[above + i], t->w, t->lower + i * n + from);
        t->c[i] -= t->u[above + i] * side;
    }
}

int levenberg_step(int count, double *J, const double *r, double lambda, double *work, double *dx, double *range) {
    size_t n = (size_t)count;
    triangle t = {n, J, work, work + n * n, NULL, NULL, NULL};
    double least = HUGE_VAL, greatest = 0;
    t.c = t.b + n;
    t.u = t.c + n;
    t.w = t.u + 2 * n + 1;
    memset(t.lower, 0, n * n * sizeof *t.lower);
    for (size_t i = 0; i < n; i++) {
        t.lower[i * n + i] = sqrt(lambda);
        t.b[i] = -r[i];
        t.c[i] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        double diagonal;
        if (reflector(&t, k, &diagonal)) {
            reflect(&t, k);
        }
        t.upper[k * n + k] = diagonal;
        least = fmin(least, fabs(diagonal));
        greatest = fmax(greatest, fabs(diagonal));
    }
    *range = greatest / least;
    for (size_t k = n; k-- > 0;) {
        const double *row = t.upper + k * n;
        dx[k] = (t.b[k] - dense_dot((int)(n - k - 1), row + k + 1, dx + k + 1)) / row[k];
    }
    return least > 0 && isfinite(*range);
}
