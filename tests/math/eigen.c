/* Eigenvalues and eigenvectors of symmetric matrices: A = E diag(m) E', E' E = 1.  Singular values: F = U diag(s) V'. */
#include "math/eigen.h"
#include "math/svd.h"
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

/* F of the sizes that elements take: near a rotation, needles, flat, inverted, zero. */
static m3 random_deformation(random_source *r, int trial) {
    const double sizes[5][3] = {{1, 1, 1}, {1, 1e-4, 1e-9}, {2, 1, 0}, {1, 0.5, -0.5}, {0, 0, 0}};
    const double *s = sizes[trial % 5];
    m3 V = m3_transpose(random_rotation(r));
    m3 scaled = {{s[0] * V.x.x, s[1] * V.x.y, s[2] * V.x.z},
                 {s[0] * V.y.x, s[1] * V.y.y, s[2] * V.y.z},
                 {s[0] * V.z.x, s[1] * V.z.y, s[2] * V.z.z}};
    return m3_product(random_rotation(r), scaled);
}

static void expect_rotation(m3 R) {
    m3 one = m3_product(m3_transpose(R), R);
    cr_expect_float_eq(v3_dot(v3_cross(R.x, R.y), R.z), 1, 1e-14);
    cr_expect_float_eq(fabs(one.x.x - 1) + fabs(one.y.y - 1) + fabs(one.z.z - 1), 0, 1e-14);
    cr_expect_float_eq(fabs(one.x.y) + fabs(one.x.z) + fabs(one.y.z), 0, 1e-14);
}

Test(svd, rotations_and_values_make_the_matrix) {
    random_source r = {4};
    const double expected[5][3] = {{1, 1, 1}, {1, 1e-4, 1e-9}, {2, 1, 0}, {1, 0.5, -0.5}, {0, 0, 0}};
    for (int trial = 0; trial < 1000; trial++) {
        m3 F = random_deformation(&r, trial), U, V;
        double s[3];
        svd_rotations(F, &U, s, &V);
        expect_rotation(U);
        expect_rotation(V);
        m3 scaled = {v3_scale(s[0], U.x), v3_scale(s[1], U.y), v3_scale(s[2], U.z)};
        m3 made = m3_product(scaled, m3_transpose(V));
        double error = v3_norm(v3_sub(made.x, F.x)) + v3_norm(v3_sub(made.y, F.y)) + v3_norm(v3_sub(made.z, F.z));
        cr_expect(error < 2e-14, "trial %d: wrong by %g", trial, error);
        for (int k = 0; k < 3; k++) {
            cr_expect_float_eq(s[k], expected[trial % 5][k], 1e-14, "trial %d: value %d is %g", trial, k, s[k]);
        }
    }
}
