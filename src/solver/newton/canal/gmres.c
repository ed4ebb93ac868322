/* GMRES: minimal residual of M x = b in the Krylov space of b, M b, M^2 b, ...
 *
 * Arnoldi's process gives an orthonormal basis with M q_m = sum_j Q_jm q_j, j <= m + 1.  Givens rotations keep Q
 * triangular; the last entry of the rotated right side is the residual.  It never grows, even where M is singular: a
 * limit on the products suffices.
 *
 * Reference: Saad, Schultz 1986.  Cost: m products, m^2 n multiplications. */
#include "solver/newton/canal/gmres.h"
#include "math/dense.h"

#include <math.h>
#include <stddef.h>

static const double MIN_NORM_RATIO =
    1e-14; /* of a product after over before orthogonalisation: the space is exhausted */

typedef struct triangle {
    double Q[GMRES_MAX_PRODUCTS][GMRES_MAX_PRODUCTS + 1]; /* column by column */
    double cosine[GMRES_MAX_PRODUCTS], sine[GMRES_MAX_PRODUCTS], left[GMRES_MAX_PRODUCTS + 1];
} triangle;

/* Gram-Schmidt: removes the basis from q, coefficients into `column`.  Returns the norm of q; *before: that before. */
static double make_orthogonal(int n, int m, const double *basis, double *q, double *column, double *before) {
    *before = sqrt(dense_dot(n, q, q));
    for (int j = 0; j <= m; j++) {
        const double *b = basis + (ptrdiff_t)j * n;
        column[j] = dense_dot(n, b, q);
        dense_axpy(n, -column[j], b, q);
    }
    return sqrt(dense_dot(n, q, q));
}

static void apply_rotations(triangle *t, int m, double below) {
    double *column = t->Q[m];
    for (int j = 0; j < m; j++) {
        double here = column[j], next = column[j + 1];
        column[j] = t->cosine[j] * here + t->sine[j] * next;
        column[j + 1] = t->cosine[j] * next - t->sine[j] * here;
    }
    double size = hypot(column[m], below);
    t->cosine[m] = size > 0 ? column[m] / size : 1;
    t->sine[m] = size > 0 ? below / size : 0;
    column[m] = size;
    t->left[m + 1] = -t->sine[m] * t->left[m];
    t->left[m] *= t->cosine[m];
}

static void back_substitute(int n, int m, triangle *t, const double *basis, double *x) {
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) {
            t->left[i] -= t->Q[j][i] * t->left[j];
        }
        t->left[i] /= t->Q[i][i];
        dense_axpy(n, t->left[i], basis + (ptrdiff_t)i * n, x);
    }
}

sim_status gmres_solve(int n, gmres_times *times, void *self, double tolerance, double *basis, double *x) {
    triangle t;
    int m = 0;
    double size = sqrt(dense_dot(n, basis, basis)), last = size;
    t.left[0] = size;
    while (m < GMRES_MAX_PRODUCTS && fabs(t.left[m]) > tolerance * size) {
        /* next direction of the basis: q_m = next / last */
        double *q = basis + (ptrdiff_t)m * n, *next = q + n, before;
        for (int k = 0; k < n; k++) {
            q[k] /= last;
        }
        /* next = M q_m, orthogonal to all before */
        sim_status status = times(self, q, next);
        if (status) {
            return status;
        }
        last = make_orthogonal(n, m, basis, next, t.Q[m], &before);
        /* Givens rotations keep Q triangular */
        apply_rotations(&t, m, last);
        /* zero diagonal after the rotations: M is singular on the Krylov space */
        if (!(fabs(t.Q[m][m]) > MIN_NORM_RATIO * before)) {
            break;
        }
        m++;
        /* M maps the Krylov space into itself: the solution is exact */
        if (!(last > MIN_NORM_RATIO * before)) {
            break;
        }
    }
    back_substitute(n, m, &t, basis, x);
    return SIM_OK;
}
