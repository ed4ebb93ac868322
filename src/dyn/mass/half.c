/* Inverse factor of A or of the articulated inertia: x <- B x, where A^-1 = B' B.
 *
 *     A = L' D L                   B = D^-1/2 L^-T                                              (ltdl.c)
 *     articulated bodies           B x = (u_j / sqrt(D_j))_j                                    (aba.c)
 *                                  u_j = x_j - S_j . p,    p <- p + U_j u_j / D_j
 *
 * Solves with A pass from the tips of a tree to its root, and then repeat that half transposed.  B x is nonzero only on
 * the paths from the dofs of x to the root, so x' A^-1 y = (B x) . (B y) costs those paths and no second half.  For a
 * force f on a body x = J' f: the force is propagated to the root, and two forces share their common path.
 * Several rows are computed together, one in each vector lane.
 *
 *     D_j, U_j, S_j, p   as in aba.c;  x: N s or N m s;  B x: sqrt(J)
 *
 * References: Featherstone 2008, section 6.5; Featherstone 2010 (L^-T J' by sparsity); Rodriguez, Jain, Kreutz-Delgado
 * 1991 (innovations factor of A); Wensing, Featherstone, Orin 2012 (extended force propagators, EFPA).
 * Cost: one pass over the paths to the root. */
#include "dyn/motion/lanes.h"
#include "math/dense.h"

#include <string.h>

/* The numbers of one dof, a lane for each row. */
static inline simd4 load_column(int rows, int n, const double *X) {
    simd4 x = {X[0], 0, 0, 0};
    for (int r = 1; r < rows; r++) {
        x[r] = X[(ptrdiff_t)r * n];
    }
    return x;
}

static inline void store_column(int rows, int n, simd4 x, double *X) {
    for (int r = 0; r < rows; r++) {
        X[(ptrdiff_t)r * n] = x[r];
    }
}

/* ---- by branches ---- */

/* Three rows on a chain of six dofs: a contact of a free body. */
static inline void half_solve_six(const double *L, const double *root, double *X) {
    simd4 x[6];
    for (int k = 0; k < 6; k++) {
        x[k] = (simd4){X[k], X[6 + k], X[12 + k], 0};
    }
    for (int k = 5; k >= 0; k--) {
        const double *row = L + k * (k + 1) / 2;
        for (int i = 0; i < k; i++) {
            x[i] -= row[i] * x[k];
        }
        x[k] *= root[k];
    }
    for (int k = 0; k < 6; k++) {
        X[k] = x[k][0];
        X[6 + k] = x[k][1];
        X[12 + k] = x[k][2];
    }
}

void sim_ltdl_half(const sim_model *m, sim_range range, const double *L, const double *root, int rows,
                   sim_range columns, double *X) {
    /* free body: closed form */
    const sim_dof *dof = m->dof;
    sim_range dofs = sim_dof_range(m, range);
    int n = dofs.end - dofs.first;
    if (n == 6 && rows == 3 && dof[dofs.end - 1].run == 6) {
        half_solve_six(L + dof[dofs.first].row, root + dofs.first, X);
        return;
    }
    /* L^-T along the branch, then D^-1/2 */
    for (int k = columns.end - 1; k >= dofs.first; k--) {
        const double *row = L + dof[k].row;
        for (int r = 0; r < rows; r++) {
            double *x = X + (ptrdiff_t)r * n, value = x[k - dofs.first];
            if (value == 0) {
                continue;
            }
            for (int i = dof[k].parent; i >= 0;) {
                int run = dof[i].run, base = i - run + 1;
                dense_axpy(run, -value, row + dof[i].depth - run, x + (base - dofs.first));
                i = dof[base].parent;
            }
            x[k - dofs.first] = value * root[k];
        }
    }
}

/* ---- by articulated bodies ---- */

typedef struct wrenches {
    simd4 ang[3], lin[3];
} wrenches;

/* S . p of every lane. */
static inline simd4 axis_dot(motion S, const sim_dof *dof, const wrenches *p) {
    simd4 sum = {0, 0, 0, 0};
    if (dof->turns) {
        sum = S.ang.x * p->ang[0] + (S.ang.y * p->ang[1] + S.ang.z * p->ang[2]);
    }
    if (dof->slides) {
        sum += S.lin.x * p->lin[0] + (S.lin.y * p->lin[1] + S.lin.z * p->lin[2]);
    }
    return sum;
}

/* u_j / sqrt(D_j) of the dofs of a body; p <- p + U_j u_j / D_j. */
static inline void eliminate_joint_rows(const sim_derived *d, const sim_body *b, const double *root, int v0, int rows,
                                        int n, double *X, wrenches *p) {
    for (int j = b->v0 + b->nv - 1; j >= b->v0; j--) {
        const lanes6 *U = &d->U[j];
        double *column = X + (j - v0);
        simd4 u = load_column(rows, n, column) - axis_dot(d->S[j], &d->model->dof[j], p), w = u * d->Dinv[j];
        for (int c = 0; c < 3; c++) {
            p->ang[c] += U->ang[c] * w;
            p->lin[c] += U->lin[c] * w;
        }
        store_column(rows, n, u * root[j], column);
    }
}

static inline void shift_to_parent(wrenches *p, v3 r) {
    p->ang[0] += r.y * p->lin[2] - r.z * p->lin[1];
    p->ang[1] += r.z * p->lin[0] - r.x * p->lin[2];
    p->ang[2] += r.x * p->lin[1] - r.y * p->lin[0];
}

static bool has_input(const sim_body *b, sim_range columns, int v0, int rows, int n, const double *X) {
    int first = b->v0 > columns.first ? b->v0 : columns.first;
    int end = b->v0 + b->nv < columns.end ? b->v0 + b->nv : columns.end;
    for (int j = first; j < end; j++) {
        for (int r = 0; r < rows; r++) {
            if (X[(ptrdiff_t)r * n + j - v0] != 0) {
                return true;
            }
        }
    }
    return false;
}

/* Wrenches of the children of body i: in the memory of the recursion, or in registers from the body behind it. */
typedef struct inheritance {
    wrenches carry;
    int carried; /* the body that `carry` is for */
} inheritance;

static inline wrenches collect_wrenches(sim_derived *d, int i, const inheritance *from) {
    wrenches p = {{{0}}, {{0}}};
    if (from->carried == i) {
        p = from->carry;
    }
    for (int c = 0; c < 3 && d->reached[i]; c++) {
        p.ang[c] += d->IA[i].A[c];
        p.lin[c] += d->IA[i].C[c];
    }
    return p;
}

static inline void pass_wrenches(sim_derived *d, int i, int parent, wrenches *p, inheritance *to) {
    shift_to_parent(p, d->r[i]);
    if (parent == i - 1) {
        to->carry = *p;
        to->carried = parent;
        return;
    }
    lanes66 *rest = &d->IA[parent];
    for (int c = 0; c < 3; c++) {
        rest->A[c] = d->reached[parent] ? rest->A[c] + p->ang[c] : p->ang[c];
        rest->C[c] = d->reached[parent] ? rest->C[c] + p->lin[c] : p->lin[c];
    }
    d->reached[parent] = 1;
}

static void pass_inwards(sim_derived *d, sim_range range, const double *root, int rows, sim_range columns, int n,
                         double *X) {
    const sim_model *m = d->model;
    int last = m->dof[columns.end - 1].body, v0 = sim_dof_range(m, range).first;
    inheritance children = {.carried = -1};
    memset(d->reached + range.first, 0, (size_t)last - (size_t)range.first + 1);
    for (int i = last; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        if (children.carried == i || d->reached[i] || has_input(b, columns, v0, rows, n, X)) {
            wrenches p = collect_wrenches(d, i, &children);
            eliminate_joint_rows(d, b, root, v0, rows, n, X, &p);
            if (b->parent) {
                pass_wrenches(d, i, b->parent, &p, &children);
            }
        }
    }
}

void sim_articulated_half(sim_derived *d, sim_range range, const double *root, int rows, sim_range columns, double *X) {
    sim_range dofs = sim_dof_range(d->model, range);
    int n = dofs.end - dofs.first;
    for (int r = 0; r < rows; r += 4) {
        pass_inwards(d, range, root, rows - r < 4 ? rows - r : 4, columns, n, X + (ptrdiff_t)r * n);
    }
}
