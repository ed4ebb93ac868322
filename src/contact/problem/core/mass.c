/* A = M + diag(extra) + J' E J of one tree as an operator: products, solves, half solves.
 *
 *     A = L' D L, branch-sparse (Featherstone 2008, section 6.5)     for trees of few dofs
 *     articulated bodies, whose factors the free motion leaves behind     from MAX_BRANCH_DOFS + 1 dofs on
 *
 *     A of soft bodies (dyn/soft), with a sparse factor of its own, of any size
 *
 * Six dofs in a row, as every free body has, use packed triangles with loops of constant length.  From some eight dofs
 * on articulated bodies solve as fast, and the factor of A costs more than it saves.  Large trees do not store A.
 *
 *     M, L    [kg, kg m^2] packed by branches;  extra: implicit terms of dampers, springs and actuators on the diagonal
 *     E       [kg, kg m, kg m^2] symmetric, at the origin of a body: implicit terms of the fluid
 *
 * Cost: O(n d) a solve with n dofs of depth d by branches, O(n) by bodies. */
#include "contact/problem/core/assembly.h"
#include "dyn/motion/added.h"

#include <math.h>
#include <string.h>

/* Trees beyond these sizes use articulated bodies, and do not store A. */
enum { MAX_BRANCH_DOFS = 8, MAX_STORED_DOFS = 48 };

static const sim_tree *operator_tree(const mass_operator *m, int tree) { return &m->model->tree[m->tree[tree]]; }

static soft_system *soft_tree(const mass_operator *m, int model_tree) { return m->soft ? m->soft[model_tree] : NULL; }

static void factor_branches(const mass_operator *m, const sim_tree *t, sim_range bodies) {
    const sim_dof *first = &m->model->dof[t->v0], *last = &m->model->dof[t->v0 + t->nv - 1];
    size_t count = (size_t)(last->row + last->depth - first->row);
    memcpy(m->L + first->row, m->M + first->row, count * sizeof *m->M);
    sim_ltdl(m->model, bodies, m->L);
}

void mass_prepare(const mass_operator *m, int tree) {
    if (soft_tree(m, tree)) { /* the free motion leaves the factor behind */
        return;
    }
    const sim_tree *t = &m->model->tree[tree];
    sim_range bodies = sim_tree_range(m->model, tree);
    if (t->nv > 0 && t->nv <= MAX_STORED_DOFS) {
        sim_crba(m->derived, bodies, m->extra, m->body_extra, m->M);
    }
    if (t->nv > 0 && t->nv <= MAX_BRANCH_DOFS) {
        factor_branches(m, t, bodies);
    }
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        const sim_dof *dof = &m->model->dof[j];
        m->root[j] = sqrt(t->nv <= MAX_BRANCH_DOFS ? m->L[dof->row + dof->depth - 1] : m->derived->Dinv[j]);
    }
}

void mass_change(const mass_operator *m, int tree) {
    if (m->model->tree[tree].nv > MAX_BRANCH_DOFS) {
        sim_articulated_factor(m->derived, sim_tree_range(m->model, tree), m->extra, m->body_extra);
    }
    mass_prepare(m, tree);
}

/* ---- six dofs, each the parent of the next ---- */

static bool is_six(const mass_operator *m, const sim_tree *t) {
    return t->nv == 6 && m->model->dof[t->v0 + 5].depth == 6;
}

static inline double packed_entry(const double *rows, int i, int j) { return rows[i * (i + 1) / 2 + j]; }

static void packed_six_times(const double *M, const double *x, double *y) {
    double sum[6] = {0};
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        sum[i] += packed_entry(M, i, i) * x[i];
#pragma GCC unroll 6
        for (int j = 0; j < i; j++) {
            sum[i] += packed_entry(M, i, j) * x[j];
            sum[j] += packed_entry(M, i, j) * x[i];
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
            y[j] -= packed_entry(L, i, j) * y[i];
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        y[i] *= packed_entry(L, i, i);
    }
#pragma GCC unroll 6
    for (int j = 0; j < 5; j++) {
#pragma GCC unroll 6
        for (int i = j + 1; i < 6; i++) {
            y[i] -= packed_entry(L, i, j) * y[j];
        }
    }
    memcpy(x, y, sizeof y);
}

static void six_matrix(const double *M, double *A) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
#pragma GCC unroll 6
        for (int j = 0; j <= i; j++) {
            A[6 * i + j] = A[6 * j + i] = packed_entry(M, i, j);
        }
    }
}

/* ---- any ---- */

static void tree_times(const void *self, int tree, const double *x, double *y) {
    const mass_operator *m = self;
    /* soft; six dofs; by branches or bodies */
    const sim_tree *t = operator_tree(m, tree);
    if (soft_tree(m, m->tree[tree])) {
        soft_system_times(soft_tree(m, m->tree[tree]), x, y);
        return;
    }
    if (is_six(m, t)) {
        packed_six_times(m->M + m->model->dof[t->v0].row, x, y);
        return;
    }
    sim_range bodies = sim_tree_range(m->model, m->tree[tree]);
    size_t size = (size_t)t->nv * sizeof *x;
    memcpy(m->x + t->v0, x, size);
    if (t->nv <= MAX_STORED_DOFS) {
        sim_branch_times(m->model, bodies, m->M, m->x, m->y);
    } else {
        sim_mass_times(m->derived, bodies, m->extra, m->x, m->y);
        if (m->body_extra) {
            added_mass_times(m->derived, bodies, m->body_extra, m->x, m->y);
        }
    }
    memcpy(y, m->y + t->v0, size);
}

static void solve_tree(const void *self, int tree, double *x) {
    const mass_operator *m = self;
    /* soft; six dofs; by branches or bodies */
    const sim_tree *t = operator_tree(m, tree);
    if (soft_tree(m, m->tree[tree])) {
        soft_system_solve(soft_tree(m, m->tree[tree]), x);
        return;
    }
    if (is_six(m, t)) {
        six_solve(m->L + m->model->dof[t->v0].row, x);
        return;
    }
    sim_range bodies = sim_tree_range(m->model, m->tree[tree]);
    size_t size = (size_t)t->nv * sizeof *x;
    memcpy(m->x + t->v0, x, size);
    if (t->nv <= MAX_BRANCH_DOFS) {
        sim_ltdl_solve(m->model, bodies, m->L, m->x);
    } else {
        sim_articulated_solve(m->derived, bodies, m->x);
    }
    memcpy(x, m->x + t->v0, size);
}

static void half_solve_tree(const void *self, int tree, int rows, sim_columns columns, double *X) {
    const mass_operator *m = self;
    const sim_tree *t = operator_tree(m, tree);
    sim_range bodies = sim_tree_range(m->model, m->tree[tree]);
    sim_range dofs = {t->v0 + columns.first, t->v0 + columns.first + columns.count};
    if (t->nv <= MAX_BRANCH_DOFS) {
        sim_ltdl_half(m->model, bodies, m->L, m->root, rows, dofs, X);
    } else {
        sim_articulated_half(m->derived, bodies, m->root, rows, dofs, X);
    }
}

/* A row by row along its branches; those of large trees are not stored. */
static const double *branch_rows(const mass_operator *m, int tree) {
    if (operator_tree(m, tree)->nv > MAX_STORED_DOFS) {
        sim_crba(m->derived, sim_tree_range(m->model, m->tree[tree]), m->extra, m->body_extra, m->M);
    }
    return m->M;
}

static void tree_diagonal(const void *self, int tree, double *d) {
    const mass_operator *m = self;
    const sim_tree *t = operator_tree(m, tree);
    if (soft_tree(m, m->tree[tree])) {
        soft_system_diagonal(soft_tree(m, m->tree[tree]), d);
        return;
    }
    const double *M = branch_rows(m, tree);
    for (int i = 0; i < t->nv; i++) {
        const sim_dof *dof = &m->model->dof[t->v0 + i];
        d[i] = M[dof->row + dof->depth - 1];
    }
}

static void tree_matrix(const void *self, int tree, double *A) {
    const mass_operator *m = self;
    const sim_tree *t = operator_tree(m, tree);
    size_t n = (size_t)t->nv;
    /* soft; six dofs; by branches */
    if (soft_tree(m, m->tree[tree])) {
        soft_system_matrix(soft_tree(m, m->tree[tree]), A);
        return;
    }
    if (is_six(m, t)) {
        six_matrix(m->M + m->model->dof[t->v0].row, A);
        return;
    }
    const double *M = branch_rows(m, tree);
    memset(A, 0, n * n * sizeof *A);
    for (int i = 0; i < t->nv; i++) {
        const sim_dof *dof = &m->model->dof[t->v0 + i];
        const double *row = M + dof->row;
        for (int j = t->v0 + i, k = dof->depth - 1; j >= 0; j = m->model->dof[j].parent, k--) {
            A[i * t->nv + j - t->v0] = A[(j - t->v0) * t->nv + i] = row[k];
        }
    }
}

sim_mass mass_interface(const mass_operator *mass) {
    /* `half` is of rigid trees: islands with soft ones are condensed (condense.c) */
    return (sim_mass){mass, tree_times, solve_tree, tree_matrix, tree_diagonal, half_solve_tree};
}
