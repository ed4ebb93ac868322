/* Which x of the space spanned by b, M b, M^2 b, ... leaves the least of b - M x? (Saad, Schultz 1986)
 *
 * Arnoldi's process gives an orthonormal basis q_0, q_1, ... of that space with M q_m = sum_j Q_jm q_j, j <= m + 1; rotations
 * make Q triangular as it grows, and what they leave of b's length is the error.  It never grows, also where M is
 * singular, so that no more is needed to end safely than a bound on the products. */
#include "solver/newton/gmres.h"
#include "math/dense.h"

#include <math.h>
#include <stddef.h>

static const double NONE = 1e-14; /* of what a product should have been: the space is exhausted */

typedef struct triangle {
    double Q[GMRES_MOST][GMRES_MOST + 1]; /* column by column */
    double cosine[GMRES_MOST], sine[GMRES_MOST], left[GMRES_MOST + 1];
} triangle;

/* q less its parts along the basis, which go into the column; their lengths before and after. */
static double make_orthogonal(int n, int m, const double *basis, double *q, double *column, double *before) {
    *before = sqrt(dense_dot(n, q, q));
    for (int j = 0; j <= m; j++) {
        const double *b = basis + (ptrdiff_t)j * n;
        column[j] = dense_dot(n, b, q);
        dense_axpy(n, -column[j], b, q);
    }
    return sqrt(dense_dot(n, q, q));
}

static void rotate(triangle *t, int m, double below) {
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

static void combine(int n, int m, triangle *t, const double *basis, double *x) {
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) {
            t->left[i] -= t->Q[j][i] * t->left[j];
        }
        t->left[i] /= t->Q[i][i];
        dense_axpy(n, t->left[i], basis + (ptrdiff_t)i * n, x);
    }
}

int gmres_solve(int n, gmres_times *times, void *self, double enough, double *basis, double *x) {
    triangle t;
    int m = 0;
    double size = sqrt(dense_dot(n, basis, basis)), last = size;
    t.left[0] = size;
    while (m < GMRES_MOST && fabs(t.left[m]) > enough * size) {
        double *q = basis + (ptrdiff_t)m * n, *next = q + n, before;
        for (int k = 0; k < n; k++) {
            q[k] /= last;
        }
        if (!times(self, q, next)) {
            return 0;
        }
        last = make_orthogonal(n, m, basis, next, t.Q[m], &before);
        rotate(&t, m, last);
        if (!(fabs(t.Q[m][m]) > NONE * before)) {
            break;
        }
        m++;
        if (!(last > NONE * before)) {
            break;
        }
    }
    combine(n, m, &t, basis, x);
    return 1;
}
