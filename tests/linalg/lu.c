/* Dense systems that are not symmetric. */
#include "linalg/dense/lu.h"
#include "linalg/dense/strip.h"
#include "support/answers.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct system_of {
    int n, stride;
    double *H, *LU, *x, *b, *work;
    int *swap;
} system_of;

static system_of make(random_source *r, int n) {
    system_of s = {.n = n, .stride = strip_stride(n) + 4};
    s.H = calloc((size_t)n * (size_t)s.stride, sizeof *s.H);
    s.LU = calloc((size_t)n * (size_t)s.stride, sizeof *s.LU);
    s.x = calloc((size_t)n, sizeof *s.x);
    s.b = calloc((size_t)n, sizeof *s.b);
    s.work = calloc((size_t)lu_work(n) + 1, sizeof *s.work);
    s.swap = calloc((size_t)n, sizeof *s.swap);
    for (int i = 0; i < n; i++) {
        s.b[i] = random_normal(r);
        for (int j = 0; j < n; j++) {
            s.H[i * s.stride + j] = random_normal(r);
        }
    }
    return s;
}

static int factor(system_of *s) {
    memcpy(s->LU, s->H, (size_t)s->n * (size_t)s->stride * sizeof *s->H);
    return lu_factor(s->n, s->stride, s->LU, s->swap, s->work, NULL);
}

/* |H x - b| over |H| |x|, greatest row; of H and of H' */
static double residual_of(system_of *s, int transposed) {
    double most = 0, size = 0;
    memcpy(s->x, s->b, (size_t)s->n * sizeof *s->x);
    (transposed ? lu_solve_transposed : lu_solve)(s->n, s->stride, s->LU, s->swap, s->x);
    for (int i = 0; i < s->n; i++) {
        double sum = -s->b[i], row = 0;
        for (int j = 0; j < s->n; j++) {
            double H = transposed ? s->H[j * s->stride + i] : s->H[i * s->stride + j];
            sum += H * s->x[j];
            row += fabs(H * s->x[j]);
        }
        most = fmax(most, fabs(sum));
        size = fmax(size, row);
    }
    return most / size;
}

static double residual(system_of *s) { return fmax(residual_of(s, 0), residual_of(s, 1)); }

static void drop(system_of *s) {
    free(s->H);
    free(s->LU);
    free(s->x);
    free(s->b);
    free(s->work);
    free(s->swap);
}

Test(lu, solves_systems_of_all_sizes_to_rounding) {
    random_source r = {1};
    for (int n = 1; n <= 80; n++) {
        system_of s = make(&r, n);
        cr_assert(factor(&s));
        double error = residual(&s);
        cr_expect_leq(error, 8 * n * DBL_EPSILON, "%d unknowns: %g", n, error);
        drop(&s);
    }
}

Test(lu, solves_systems_too_large_for_its_bands) {
    random_source r = {4};
    system_of s = make(&r, PANELS_WHOLE + 5);
    cr_assert(factor(&s));
    double error = residual(&s);
    cr_expect_leq(error, 1e-12, "%g", error);
    drop(&s);
}

/* Without pivots these have none, or worse, a tiny one. */
Test(lu, swaps_rows_where_pivots_are_small) {
    random_source r = {2};
    for (int n = 2; n <= 60; n += 7) {
        for (int tiny = 0; tiny < 2; tiny++) {
            system_of s = make(&r, n);
            for (int i = 0; i < n; i++) {
                s.H[i * s.stride + i] = tiny ? 1e-18 : 0;
            }
            cr_assert(factor(&s));
            double error = residual(&s);
            cr_expect_leq(error, 8 * n * DBL_EPSILON, "%d unknowns: %g", n, error);
            drop(&s);
        }
    }
}

Test(lu, says_that_a_matrix_is_singular_or_none) {
    random_source r = {3};
    for (int n = 1; n <= 40; n += 13) {
        for (int what = 0; what < 3; what++) {
            system_of s = make(&r, n);
            for (int j = 0; j < n; j++) {
                int column = what == 0, i = n / 2;
                s.H[column ? j * s.stride + i : i * s.stride + j] = what == 2 ? NAN : 0;
            }
            cr_expect_eq(factor(&s), 0, "%d unknowns, %d", n, what);
            drop(&s);
        }
    }
}
