/* Branch-sparse factorisation M = L' D L, without fill: entries exist only between a dof and its ancestors.
 *
 *     a = M_ki / M_kk,   row_i <- row_i - a row_k[0 .. depth(i)),   M_ki <- a
 *
 * for each dof k, last to first, and each ancestor i of k.
 *
 * Rows hold the ancestors from the root on, so the row of an ancestor i of k is a prefix of row k, entry for entry.
 * Runs of four dofs, each the parent of the next, are eliminated together.  The operations and their order stay, but
 * each ancestor's row is loaded and stored once.  The factor holds 1/D on the diagonal.
 *
 * Reference: Featherstone 2008, section 6.5.  Cost: O(n d^2) for n dofs of depth d; a solve O(n d). */
#include "math/dense.h"
#include <sim/dynamics.h>

typedef struct path {
    const sim_dof *dof;
    double *M;
} path;

static inline double *row_of(path p, int i) { return p.M + p.dof[i].row; }

/* Subtracts the product with row k from the row of an ancestor. */
static inline double eliminate_one(double *restrict to, const double *restrict row, int depth, double inverse) {
    double a = row[depth - 1] * inverse;
    for (int j = 0; j < depth; j++) {
        to[j] -= a * row[j];
    }
    return a;
}

static inline void eliminate_four(double *restrict to, double *const row[4], int depth, const double a[4]) {
    const double *restrict r0 = row[0], *restrict r1 = row[1], *restrict r2 = row[2], *restrict r3 = row[3];
    double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    for (int j = 0; j < depth; j++) {
        to[j] = (((to[j] - a0 * r0[j]) - a1 * r1[j]) - a2 * r2[j]) - a3 * r3[j];
    }
}

static void eliminate_branch_dof(path p, int k) {
    double *row = row_of(p, k);
    double inverse = 1 / row[p.dof[k].depth - 1];
    for (int i = p.dof[k].parent; i >= 0; i = p.dof[i].parent) {
        int depth = p.dof[i].depth;
        row[depth - 1] = eliminate_one(row_of(p, i), row, depth, inverse);
    }
    row[p.dof[k].depth - 1] = inverse;
}

/* Dofs k, k-1, k-2, k-3, each the parent of the one before. */
static void eliminate_run(path p, int k) {
    /* four rows against each other */
    double *row[4], inverse[4];
    for (int s = 0; s < 4; s++) {
        row[s] = row_of(p, k - s);
        inverse[s] = 1 / row[s][p.dof[k - s].depth - 1];
        for (int t = s + 1; t < 4; t++) {
            int depth = p.dof[k - t].depth;
            row[s][depth - 1] = eliminate_one(row_of(p, k - t), row[s], depth, inverse[s]);
        }
    }
    /* all four from each ancestor at once */
    for (int i = p.dof[k - 3].parent; i >= 0; i = p.dof[i].parent) {
        int depth = p.dof[i].depth;
        double a[4];
        for (int s = 0; s < 4; s++) {
            a[s] = row[s][depth - 1] * inverse[s];
        }
        eliminate_four(row_of(p, i), row, depth, a);
        for (int s = 0; s < 4; s++) {
            row[s][depth - 1] = a[s];
        }
    }
    /* 1 / D on the diagonal */
    for (int s = 0; s < 4; s++) {
        row[s][p.dof[k - s].depth - 1] = inverse[s];
    }
}

void sim_ltdl(const sim_model *m, sim_range range, double *M) {
    path p = {m->dof, M};
    sim_range rows = sim_dof_range(m, range);
    int first = rows.first;
    for (int k = rows.end - 1; k >= first;) {
        bool run = k - first >= 3 && m->dof[k].parent == k - 1 && m->dof[k - 1].parent == k - 2 &&
                   m->dof[k - 2].parent == k - 3 && m->dof[k].depth > 6;
        if (run) {
            eliminate_run(p, k);
            k -= 4;
        } else {
            eliminate_branch_dof(p, k);
            k--;
        }
    }
}

void sim_ltdl_solve(const sim_model *m, sim_range range, const double *L, double *x) {
    /* x := L^-T x, leaves first */
    const sim_dof *dof = m->dof;
    sim_range rows = sim_dof_range(m, range);
    int first = rows.first, end = rows.end;
    for (int k = end - 1; k >= first; k--) {
        const double *row = L + dof[k].row;
        for (int i = dof[k].parent; i >= 0;) {
            int run = dof[i].run, base = i - run + 1;
            dense_axpy(run, -x[k], row + dof[i].depth - run, x + base);
            i = dof[base].parent;
        }
    }
    /* x := L^-1 D^-1 x, root first */
    for (int k = first; k < end; k++) {
        const double *row = L + dof[k].row;
        double sum = x[k] * row[dof[k].depth - 1];
        for (int i = dof[k].parent; i >= 0;) {
            int run = dof[i].run, base = i - run + 1;
            sum -= dense_dot(run, row + dof[i].depth - run, x + base);
            i = dof[base].parent;
        }
        x[k] = sum;
    }
}

void sim_branch_times(const sim_model *m, sim_range range, const double *M, const double *x, double *y) {
    const sim_dof *dof = m->dof;
    sim_range rows = sim_dof_range(m, range);
    int first = rows.first, end = rows.end;
    for (int k = first; k < end; k++) {
        const double *row = M + dof[k].row;
        double sum = row[dof[k].depth - 1] * x[k];
        for (int i = dof[k].parent; i >= 0;) {
            int run = dof[i].run, base = i - run + 1;
            const double *part = row + dof[i].depth - run;
            sum += dense_dot(run, part, x + base);
            dense_axpy(run, x[k], part, y + base);
            i = dof[base].parent;
        }
        y[k] = sum;
    }
}
