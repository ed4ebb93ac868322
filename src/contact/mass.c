/* A = M + diag(extra) of one tree as an operator.
 *
 * Small trees have it branch-sparse, with its factor L' D L: a solve costs a few dozen operations for a free body.  Large
 * ones go by the recursions over bodies, in O(n). */
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

static void times(const void *self, int tree, const double *x, double *y) {
    const mass_operator *m = self;
    const sim_tree *t = tree_of(m, tree);
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
