/* A = M + diag(extra) of one tree as an operator.
 *
 * Small trees have it branch-sparse, with its factor L' D L; of six dofs in a row, as every free body has, the rows are
 * those of a packed triangle, and all loops are known beforehand.  Large trees go by the recursions over bodies, in O(n). */
#include "contact/parts.h"

#include <string.h>

enum { SMALL = 48 };

static const sim_tree *tree_of(const mass_operator *m, int tree) { return &m->model->tree[m->tree[tree]]; }

void mass_prepare(const mass_operator *m, int tree) {
    const sim_tree *t = &m->model->tree[tree];
    if (t->nv == 0 || t->nv > SMALL) {
        return;
    }
    sim_range bodies = sim_tree_range(m->model, tree);
    const sim_dof *first = &m->model->dof[t->v0], *last = &m->model->dof[t->v0 + t->nv - 1];
    size_t count = (size_t)(last->row + last->depth - first->row);
    sim_crba(m->derived, bodies, m->extra, NULL, m->M);
    memcpy(m->L + first->row, m->M + first->row, count * sizeof *m->M);
    sim_ltdl(m->model, bodies, m->L);
}

void mass_change(const mass_operator *m, int tree) {
    if (m->model->tree[tree].nv > SMALL) {
        sim_articulated_factor(m->derived, sim_tree_range(m->model, tree), m->extra, NULL);
    }
    mass_prepare(m, tree);
}

/* ---- six dofs, each the parent of the next ---- */

static int is_six(const mass_operator *m, const sim_tree *t) {
    return t->nv == 6 && m->model->dof[t->v0 + 5].depth == 6;
}

static inline double triangle(const double *rows, int i, int j) { return rows[i * (i + 1) / 2 + j]; }

static void six_times(const double *M, const double *x, double *y) {
    double sum[6] = {0};
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        sum[i] += triangle(M, i, i) * x[i];
#pragma GCC unroll 6
        for (int j = 0; j < i; j++) {
            sum[i] += triangle(M, i, j) * x[j];
            sum[j] += triangle(M, i, j) * x[i];
        }
    }
    memcpy(y, sum, sizeof sum);
}

/* L' D L x = x; the diagonal holds 1/D. */
static void six_solve(const double *L, double *x) {
    double y[6];
    memcpy(y, x, sizeof y);
#pragma GCC unroll 6
    for (int i = 5; i > 0; i--) {
#pragma GCC unroll 6
        for (int j = 0; j < i; j++) {
            y[j] -= triangle(L, i, j) * y[i];
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        y[i] *= triangle(L, i, i);
    }
#pragma GCC unroll 6
    for (int j = 0; j < 5; j++) {
#pragma GCC unroll 6
        for (int i = j + 1; i < 6; i++) {
            y[i] -= triangle(L, i, j) * y[j];
        }
    }
    memcpy(x, y, sizeof y);
}

static void six_matrix(const double *M, double *A) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
#pragma GCC unroll 6
        for (int j = 0; j <= i; j++) {
            A[6 * i + j] = A[6 * j + i] = triangle(M, i, j);
        }
    }
}

/* ---- any ---- */

static void times(const void *self, int tree, const double *x, double *y) {
    const mass_operator *m = self;
    const sim_tree *t = tree_of(m, tree);
    if (is_six(m, t)) {
        six_times(m->M + m->model->dof[t->v0].row, x, y);
        return;
    }
    sim_range bodies = sim_tree_range(m->model, m->tree[tree]);
    size_t size = (size_t)t->nv * sizeof *x;
    memcpy(m->x + t->v0, x, size);
    if (t->nv <= SMALL) {
        sim_branch_times(m->model, bodies, m->M, m->x, m->y);
    } else {
        sim_mass_times(m->derived, bodies, m->extra, m->x, m->y);
    }
    memcpy(y, m->y + t->v0, size);
}

static void solve(const void *self, int tree, double *x) {
    const mass_operator *m = self;
    const sim_tree *t = tree_of(m, tree);
    if (is_six(m, t)) {
        six_solve(m->L + m->model->dof[t->v0].row, x);
        return;
    }
    sim_range bodies = sim_tree_range(m->model, m->tree[tree]);
    size_t size = (size_t)t->nv * sizeof *x;
    memcpy(m->x + t->v0, x, size);
    if (t->nv <= SMALL) {
        sim_ltdl_solve(m->model, bodies, m->L, m->x);
    } else {
        sim_articulated_solve(m->derived, bodies, m->x);
    }
    memcpy(x, m->x + t->v0, size);
}

static void matrix(const void *self, int tree, double *A) {
    const mass_operator *m = self;
    const sim_tree *t = tree_of(m, tree);
    size_t n = (size_t)t->nv;
    if (is_six(m, t)) {
        six_matrix(m->M + m->model->dof[t->v0].row, A);
        return;
    }
    if (t->nv > SMALL) {
        sim_crba(m->derived, sim_tree_range(m->model, m->tree[tree]), m->extra, NULL, m->M);
    }
    memset(A, 0, n * n * sizeof *A);
    for (int i = 0; i < t->nv; i++) {
        const sim_dof *dof = &m->model->dof[t->v0 + i];
        const double *row = m->M + dof->row;
        for (int j = t->v0 + i, k = dof->depth - 1; j >= 0; j = m->model->dof[j].parent, k--) {
            A[i * t->nv + j - t->v0] = A[(j - t->v0) * t->nv + i] = row[k];
        }
    }
}

sim_mass mass_interface(const mass_operator *mass) { return (sim_mass){mass, times, solve, matrix}; }
