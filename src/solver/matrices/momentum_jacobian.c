/* Jacobian of the momentum balance A (v - v*) = J' gamma(J v) under the strict contact law.
 *
 *     M = A + J' G J,     G = sum_r weight_r l_r q_r'
 *
 * l and q are the unit vectors of a row; in a sliding contact (a, n) and (b, b) of cone_strict.c, so that M is not
 * symmetric.  A patch between the trees i and j adds, with x = J_i' l, y = J_i' q, z = J_j' l, s = J_j' q,
 *
 *     M_ii += sum weight x y',   M_ij += sum weight x s',   M_ji += sum weight z y',   M_jj += sum weight z s'.
 *
 * The part of every patch in diagonal blocks is kept, so that a patch whose G has not changed needs no work. */
#include "solver/matrices/momentum_jacobian.h"
#include "linalg/block_lu.h"
#include "linalg/strip.h"

#include <stdlib.h>
#include <string.h>

/* Rows x, z (weighted, negative) and y, s of a patch, for one of its trees. */
typedef struct patch_rows {
    int n, stride;
    double *left, *right; /* [rows] padded */
} patch_rows;

struct momentum_jacobian {
    sim_arena *kept, *scratch;
    block_lu *system;
    patches patches;
    const sim_problem *problem;
    bool known;
    sim_problem_tree *tree; /* copies for the comparison with the next problem */
    int ntree, nconstraint;
    int (*touched)[3]; /* [nconstraint] trees and rows */
    double **A;        /* [nodes] padded */
    double **part;     /* [2 patches] of the diagonal blocks */
    cone_hessian *G;   /* [nconstraint] as of the last sum */
    char *stale;       /* [nodes] */
    bool summed;       /* since A and J were set */
    double *rows[4];   /* left and right of both sides */
    double *x;
};

momentum_jacobian *momentum_jacobian_create(void) {
    momentum_jacobian *m = calloc(1, sizeof *m);
    if (m) {
        m->kept = arena_create();
        m->scratch = arena_create();
        m->system = block_lu_create();
        if (!m->kept || !m->scratch || !m->system) {
            momentum_jacobian_free(m);
            m = NULL;
        }
    }
    return m;
}

void momentum_jacobian_free(momentum_jacobian *m) {
    if (m) {
        block_lu_free(m->system);
        arena_free(m->scratch);
        arena_free(m->kept);
        free(m);
    }
}

double momentum_jacobian_work(const momentum_jacobian *m) { return block_lu_multiplications(m->system); }

static int size_of(const momentum_jacobian *m, int node) { return node >= 0 ? m->patches.graph.size[node] : 0; }
static size_t block_numbers(const momentum_jacobian *m, int node) {
    return (size_t)size_of(m, node) * (size_t)strip_stride(size_of(m, node));
}

static bool has_structure(const momentum_jacobian *m, const sim_problem *p) {
    bool same = m->known && m->ntree == p->ntree && m->nconstraint == p->nconstraint;
    for (int t = 0; t < p->ntree && same; t++) {
        same = m->tree[t].nv == p->tree[t].nv;
    }
    for (int i = 0; i < p->nconstraint && same; i++) {
        const sim_constraint *c = &p->constraint[i];
        same = m->touched[i][0] == c->tree[0] && m->touched[i][1] == c->tree[1] && m->touched[i][2] == c->rows;
    }
    return same;
}

static bool keep_structure(momentum_jacobian *m, const sim_problem *p) {
    m->ntree = p->ntree;
    m->nconstraint = p->nconstraint;
    m->tree = ARENA_NEW(m->kept, sim_problem_tree, p->ntree);
    m->touched = arena_alloc(m->kept, (size_t)p->nconstraint, sizeof *m->touched);
    if (!m->tree || !m->touched) {
        return false;
    }
    memcpy(m->tree, p->tree, (size_t)p->ntree * sizeof *m->tree);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        m->touched[i][0] = c->tree[0];
        m->touched[i][1] = c->tree[1];
        m->touched[i][2] = c->rows;
    }
    return true;
}

static bool reserve_memory(momentum_jacobian *m) {
    const patches *o = &m->patches;
    size_t most = 0;
    m->A = ARENA_NEW(m->kept, double *, o->nodes);
    m->part = ARENA_NEW(m->kept, double *, 2 * o->count);
    m->G = ARENA_NEW(m->kept, cone_hessian, m->nconstraint);
    m->stale = ARENA_NEW(m->kept, char, o->nodes);
    m->x = ARENA_NEW(m->kept, double, o->start[o->nodes]);
    bool ok = m->A && m->part && m->G && m->stale && m->x;
    for (int node = 0; node < o->nodes && ok; node++) {
        m->A[node] = ARENA_NEW(m->kept, double, block_numbers(m, node));
        ok = m->A[node] != NULL;
    }
    for (int k = 0; k < o->count && ok; k++) {
        const patch *p = &o->patch[k];
        int wide = size_of(m, p->a) > size_of(m, p->b) ? size_of(m, p->a) : size_of(m, p->b);
        size_t numbers = (size_t)p->rows * (size_t)strip_stride(wide);
        most = numbers > most ? numbers : most;
        m->part[2 * k] = ARENA_NEW(m->kept, double, block_numbers(m, p->a));
        m->part[2 * k + 1] = ARENA_NEW(m->kept, double, block_numbers(m, p->b) + 1);
        ok = m->part[2 * k] && m->part[2 * k + 1];
    }
    for (int k = 0; k < 4 && ok; k++) {
        m->rows[k] = ARENA_NEW(m->kept, double, most);
        ok = m->rows[k] != NULL;
    }
    return ok;
}

/* A of every node, rows padded, from the last row to the first. */
static void copy_mass_blocks(momentum_jacobian *m) {
    const sim_mass *mass = &m->problem->mass;
    for (int node = 0; node < m->patches.nodes; node++) {
        int n = size_of(m, node), stride = strip_stride(n);
        double *A = m->A[node];
        mass->matrix(mass->self, m->patches.tree[node], A);
        for (int r = n - 1; r >= 0; r--) {
            memmove(A + (ptrdiff_t)r * stride, A + (ptrdiff_t)r * n, (size_t)n * sizeof *A);
            memset(A + (ptrdiff_t)r * stride + n, 0, (size_t)(stride - n) * sizeof *A);
        }
    }
}

bool momentum_jacobian_prepare(momentum_jacobian *m, const sim_problem *p) {
    m->problem = p;
    if (!has_structure(m, p)) {
        arena_release(m->kept, 0);
        m->known = keep_structure(m, p) && patches_find(p, m->kept, m->scratch, &m->patches) && reserve_memory(m);
    }
    m->summed = false;
    if (!m->known || block_lu_analyse(m->system, &m->patches.graph)) {
        return false;
    }
    copy_mass_blocks(m);
    return true;
}

/* ---- rows of a patch ---- */

/* x = factor sum_k q_k J_k */
static void combine_rows(const double *J, int n, int count, const double *q, double factor, int stride, double *x) {
    memset(x, 0, (size_t)stride * sizeof *x);
    for (int k = 0; k < count; k++) {
        if (q[k] != 0) {
            for (int j = 0; j < n; j++) {
                x[j] += factor * q[k] * J[k * n + j];
            }
        }
    }
}

static void add_pair(const sim_constraint *c, const double *J, patch_rows *r, int at, const double *l, const double *q,
                     double weight) {
    ptrdiff_t to = (ptrdiff_t)at * r->stride;
    combine_rows(J, r->n, c->rows, l, -weight, r->stride, r->left + to);
    combine_rows(J, r->n, c->rows, q, 1, r->stride, r->right + to);
}

/* The pairs (l, q) of a constraint; the count after them. */
static int add_constraint_pairs(const sim_constraint *c, const cone_hessian *G, const double *J, patch_rows *r,
                                int at) {
    if (G->sliding) {
        const double a[3] = {G->lean * G->t[0], G->lean * G->t[1], 1}, b[3] = {-G->t[1], G->t[0], 0}, n[3] = {0, 0, 1};
        add_pair(c, J, r, at, a, n, G->weight[0]);
        add_pair(c, J, r, at + 1, b, b, G->weight[1]);
        return at + 2;
    }
    for (int k = 0; k < c->rows; k++) {
        if (G->weight[k] > 0) {
            double unit[SIM_MAX_ROWS] = {0};
            unit[k] = 1;
            add_pair(c, J, r, at++, unit, unit, G->weight[k]);
        }
    }
    return at;
}

static int collect_patch_rows(const momentum_jacobian *m, const patch *p, int side, patch_rows *r) {
    int count = 0;
    r->n = size_of(m, side ? p->b : p->a);
    r->stride = strip_stride(r->n);
    r->left = m->rows[2 * side];
    r->right = m->rows[2 * side + 1];
    for (int k = 0; k < p->count; k++) {
        int i = m->patches.constraint[p->first + k];
        const sim_constraint *c = &m->problem->constraint[i];
        count = add_constraint_pairs(c, &m->G[i], m->problem->J + c->block[side ^ m->patches.flipped[i]], r, count);
    }
    return count;
}

/* C = sum_r x_r y_r', x weighted and negative */
static void sum_products(const patch_rows *x, const patch_rows *y, const double *left, const double *right, int count,
                         double *C) {
    memset(C, 0, (size_t)x->n * (size_t)y->stride * sizeof *C);
    strip_update(x->n, y->stride, count, left, x->stride, right, y->stride, C, y->stride);
}

static void sum_patch_blocks(momentum_jacobian *m, int k) {
    const patch *p = &m->patches.patch[k];
    patch_rows side[2];
    int count = collect_patch_rows(m, p, 0, &side[0]);
    sum_products(&side[0], &side[0], side[0].left, side[0].right, count, m->part[2 * k]);
    m->stale[p->a] = 1;
    if (p->b < 0) {
        return;
    }
    collect_patch_rows(m, p, 1, &side[1]);
    sum_products(&side[1], &side[1], side[1].left, side[1].right, count, m->part[2 * k + 1]);
    m->stale[p->b] = 1;
    /* M between row and column, and the transpose of that between column and row: x s', and y z' */
    block_lu_edge e = block_lu_between(m->system, p->edge);
    const patch_rows *row = &side[e.row == p->b], *column = &side[e.row != p->b];
    sum_products(row, column, row->left, column->right, count, e.upper);
    memset(e.lower_transposed, 0, (size_t)row->n * (size_t)column->stride * sizeof *e.lower_transposed);
    strip_update(row->n, column->stride, count, row->right, row->stride, column->left, column->stride,
                 e.lower_transposed, column->stride);
}

/* Copies G of a patch; true if it changed. */
static bool update_patch_G(momentum_jacobian *m, const patch *p, const cone_hessian *G) {
    bool any = !m->summed;
    for (int k = 0; k < p->count; k++) {
        int i = m->patches.constraint[p->first + k];
        if (!m->summed || memcmp(&m->G[i], &G[i], sizeof *G) != 0) {
            m->G[i] = G[i];
            any = true;
        }
    }
    return any;
}

void momentum_jacobian_set(momentum_jacobian *m, const cone_hessian *G) {
    const patches *o = &m->patches;
    memset(m->stale, 0, (size_t)o->nodes);
    /* patches whose G changed */
    for (int k = 0; k < o->count; k++) {
        if (update_patch_G(m, &o->patch[k], G)) {
            sum_patch_blocks(m, k);
        }
    }
    /* diagonal blocks of their nodes: A, and the parts of all patches */
    for (int node = 0; node < o->nodes; node++) {
        if (m->stale[node]) {
            memcpy(block_lu_diagonal(m->system, node), m->A[node], block_numbers(m, node) * sizeof(double));
        }
    }
    for (int k = 0; k < o->count; k++) {
        for (int side = 0; side < 2; side++) {
            int node = side ? o->patch[k].b : o->patch[k].a;
            if (node >= 0 && m->stale[node]) {
                double *M = block_lu_diagonal(m->system, node);
                const double *part = m->part[2 * k + side];
                for (size_t j = 0; j < block_numbers(m, node); j++) {
                    M[j] += part[j];
                }
            }
        }
    }
    m->summed = true;
}

bool momentum_jacobian_factor(momentum_jacobian *m) { return block_lu_factor(m->system); }

void momentum_jacobian_solve(momentum_jacobian *m, double *x) {
    const patches *o = &m->patches;
    for (int back = 0; back < 2; back++) {
        for (int node = 0; node < o->nodes; node++) {
            double *all = x + m->problem->tree[o->tree[node]].v0, *own = m->x + o->start[node];
            memcpy(back ? all : own, back ? own : all, (size_t)size_of(m, node) * sizeof *x);
        }
        if (!back) {
            block_lu_solve(m->system, m->x);
        }
    }
}
