/* Factors that can be left, above the size at which they are: right, and asked for in good time. */
#include "linalg/dense/panels.h"
#include "solver/matrices/least_squares.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = PANELS_WHOLE + 137 };

/* Says enough at the ask number `at`. */
typedef struct patience {
    int asked, at;
} patience;

static bool is_over(void *context) {
    patience *p = context;
    return ++p->asked == p->at;
}

static double *random_matrix(int rows, int columns) {
    random_source s = {7};
    double *A = malloc((size_t)rows * (size_t)columns * sizeof *A);
    cr_assert(A);
    for (size_t k = 0; k < (size_t)rows * (size_t)columns; k++) {
        A[k] = random_normal(&s);
    }
    return A;
}

static double entry(const double *A, int row, int column) { return A[(size_t)N * (size_t)column + (size_t)row]; }

/* Row i of P A, by what was swapped. */
static int *rows_after(const int *swap) {
    int *row = malloc(N * sizeof *row);
    for (int k = 0; k < N; k++) {
        row[k] = k;
    }
    for (int k = 0; k < N; k++) {
        int other = row[swap[k] - 1];
        row[swap[k] - 1] = row[k];
        row[k] = other;
    }
    return row;
}

Test(panels, lu_gives_the_matrix_back) {
    double *A = random_matrix(N, N), *LU = malloc((size_t)N * N * sizeof *LU);
    memcpy(LU, A, (size_t)N * N * sizeof *LU);
    int *swap = malloc(N * sizeof *swap);
    cr_assert(panels_lu(N, N, LU, swap, NULL));
    int *row = rows_after(swap);
    for (int i = 0; i < N; i += 97) {
        for (int j = 0; j < N; j += 89) {
            double sum = i <= j ? entry(LU, i, j) : 0;
            for (int k = 0; k < i && k <= j; k++) {
                sum += entry(LU, i, k) * entry(LU, k, j);
            }
            cr_expect_float_eq(sum, entry(A, row[i], j), 1e-10, "%d %d", i, j);
        }
    }
    free(row);
    free(swap);
    free(LU);
    free(A);
}

Test(panels, cholesky_of_a_square_gives_the_square_back) {
    double *A = random_matrix(N, N), *C = malloc((size_t)N * N * sizeof *C), *L = malloc((size_t)N * N * sizeof *L);
    cr_assert(panels_square(N, A, C, NULL));
    memcpy(L, C, (size_t)N * N * sizeof *L);
    cr_assert(panels_cholesky(N, L, NULL));
    for (int i = 0; i < N; i += 97) {
        for (int j = 0; j <= i; j += 89) {
            double square = 0, sum = 0;
            for (int k = 0; k < N; k++) {
                square += entry(A, i, k) * entry(A, j, k);
                sum += k <= j ? entry(L, i, k) * entry(L, j, k) : 0;
            }
            cr_expect_float_eq(entry(C, i, j), square, 1e-9, "%d %d", i, j);
            cr_expect_float_eq(sum, square, 1e-9, "%d %d", i, j);
        }
    }
    free(L);
    free(C);
    free(A);
}

/* J of N columns and more rows, beside its right side, as least_squares_solve takes it. */
static double *least_squares_of(const double *J, int rows) {
    double *A = malloc(least_squares_work(rows, N) * sizeof *A);
    for (size_t j = 0; j <= N; j++) {
        memcpy(A + (size_t)(rows + N) * j, J + (size_t)rows * j, (size_t)rows * sizeof *A);
    }
    return A;
}

Test(panels, least_squares_leave_no_gradient) {
    enum { ROWS = N + 60 };
    const double lambda = 0.5;
    double *J = random_matrix(ROWS, N + 1), *A = least_squares_of(J, ROWS), *dx = malloc(N * sizeof *dx), range;
    cr_assert(least_squares_solve(ROWS, N, A, lambda, dx, &range, NULL));
    double *left = malloc(ROWS * sizeof *left);
    for (int i = 0; i < ROWS; i++) {
        left[i] = -J[(size_t)ROWS * N + (size_t)i];
        for (int j = 0; j < N; j++) {
            left[i] += J[(size_t)ROWS * (size_t)j + (size_t)i] * dx[j];
        }
    }
    for (int j = 0; j < N; j++) {
        double gradient = lambda * dx[j];
        for (int i = 0; i < ROWS; i++) {
            gradient += J[(size_t)ROWS * (size_t)j + (size_t)i] * left[i];
        }
        cr_expect_float_eq(gradient, 0, 1e-9, "%d", j);
    }
    free(left);
    free(dx);
    free(A);
    free(J);
}

/* Every factor is left at whichever ask, and none asks so seldom that a panel would be a large part of it. */
Test(panels, are_left_when_they_are_told_to) {
    enum { LEAST_ASKS = 12 };
    double *J = random_matrix(N, N + 1), *C = malloc((size_t)N * N * sizeof *C), *dx = malloc(N * sizeof *dx), range;
    int *swap = malloc(N * sizeof *swap);
    for (int which = 0; which < 4; which++) {
        for (int at = 1; at <= LEAST_ASKS; at += LEAST_ASKS - 1) {
            patience p = {0, at};
            panels_watch watch = {is_over, &p};
            double *A = which == 3 ? least_squares_of(J, N) : malloc((size_t)N * N * sizeof *A);
            if (which != 3) {
                memcpy(A, J, (size_t)N * N * sizeof *A);
            }
            for (size_t k = 0; k < N && which == 1; k++) {
                A[k * (N + 1)] += 1000; /* its lower half is that of a positive definite matrix */
            }
            int done = which == 0   ? panels_lu(N, N, A, swap, &watch)
                       : which == 1 ? panels_cholesky(N, A, &watch)
                       : which == 2 ? panels_square(N, A, C, &watch)
                                    : least_squares_solve(N, N, A, 1, dx, &range, &watch);
            cr_expect(!done && p.asked == at, "%d: asked %d times, to end at %d", which, p.asked, at);
            free(A);
        }
    }
    free(swap);
    free(dx);
    free(C);
    free(J);
}
