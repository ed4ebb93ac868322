/* Eigenvalues and eigenvectors of symmetric matrices: A = E diag(m) E', E' E = 1. */
#include "math/eigen.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Random, with entries of very different sizes in every third. */
static void random_symmetric(random_source *r, int trial, double A[3][3]) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double size = trial % 3 ? 1 : pow(10, -3 * i - 2 * j);
            A[i][j] = A[j][i] = size * random_normal(r);
        }
    }
}

Test(eigen, vectors_and_values_make_the_matrix) {
    random_source r = {3};
    for (int trial = 0; trial < 1000; trial++) {
        double A[3][3], m[3][3], e[3][3], size = 0;
        random_symmetric(&r, trial, A);
        memcpy(m, A, sizeof m);
        eigen_symmetric(m, e);
        for (int i = 0; i < 9; i++) {
            size = fmax(size, fabs(A[i / 3][i % 3]));
        }
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double made = 0, dot = 0;
                for (int k = 0; k < 3; k++) {
                    made += e[i][k] * m[k][k] * e[j][k];
                    dot += e[k][i] * e[k][j];
                }
                cr_expect_float_eq(made, A[i][j], 1e-14 * size, "trial %d: %g for %g", trial, made, A[i][j]);
                cr_expect_float_eq(dot, i == j, 1e-14, "trial %d: columns %d, %d", trial, i, j);
                cr_expect(i == j || fabs(m[i][j]) <= 1e-15 * size, "trial %d: %g is left", trial, m[i][j]);
            }
        }
    }
}
