/* Jacobian of the momentum balance A (v - v*) = J' gamma(J v) under the strict contact law.
 *
 *     M = A + J' G J,     G = sum_r weight_r l_r q_r'
 *
 * l and q are the unit vectors of a row; in a sliding contact (a, n) and (b, b) of cone_strict.c, so that M is not
 * symmetric.  A patch between the trees i and j adds, with x = J_i' l, y = J_i' q, z = J_j' l, s = J_j' q,
 *
 *     M_ii += sum weight x y',   M_ij += sum weight x s',   M_ji += sum weight z y',   M_jj += sum weight z s'.
 *
 * patch_sums.c keeps the parts of every patch as long as its G does not change.  One large tree alone is factored along
 * its branches (tree_lu.c), and by patches where the residual is too large. */
#include "solver/matrices/momentum_jacobian.h"
#include "linalg/block_lu.h"
#include "linalg/blocks.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"
#include "solver/core/cone_discs.h"
#include "solver/core/products.h"
#include "solver/matrices/patch_sums.h"
#include "solver/matrices/tree_lu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a solution along branches, over |b|, |A x| and |J' G J x|: products with A of long chains round by 1e-12. */
static const double MAX_RESIDUAL = 1e-10;

/* Rows x, z (weighted, negative) and y, s of a patch, for one of its trees. */
typedef struct patch_rows {
    int n, stride;
    double *left, *right; /* [rows] padded */
    tree_lu *tree;        /* NULL, or the pairs go there, of this constraint */
    int constraint;
} patch_rows;

struct momentum_jacobian {
    patch_sums sums;
    block_lu *system;
    sim_threads *threads;
    double *(*rows)[4]; /* of a thread, left and right of both sides, of the patch at work */
    tree_lu *tree;
    bool along; /* the factor follows the branches of one large tree: */
    const sim_problem *problem;
    const cone_hessian *G;
    sim_arena *scratch;
    double *b, *residual, *product; /* [nv] */
    double *u, *pushed;             /* [nrow] */
};

/* x = factor sum_k q_k J_k */
static inline void combine_rows(const double *J, int n, int count, const double *q, double factor, int stride,
                                double *x) {
    memset(x, 0, (size_t)stride * sizeof *x);
    for (int k = 0; k < count; k++) {
        if (q[k] != 0) {
            for (int j = 0; j < n; j++) {
                x[j] += factor * q[k] * J[k * n + j];
            }
        }
    }
}

/* The same of a contact and a free body: three rows of six numbers. */
static inline void combine_six(const double *J, const double *q, double factor, double *x) {
    double a = factor * q[0], b = factor * q[1], c = factor * q[2];
    simd4 head = a * simd4_load(J) + b * simd4_load(J + 6) + c * simd4_load(J + 12);
    simd4_store(x, head);
    x[4] = a * J[4] + b * J[10] + c * J[16];
    x[5] = a * J[5] + b * J[11] + c * J[17];
    x[6] = x[7] = 0;
}

static void add_pair(const sim_constraint *c, const double *J, patch_rows *r, int at, const double *l, const double *q,
                     double weight) {
    if (r->tree) {
        tree_lu_add(r->tree, r->constraint, l, q, weight);
        return;
    }
    ptrdiff_t to = (ptrdiff_t)at * r->stride;
    if (r->n == BODY_DOFS && c->rows == 3) {
        combine_six(J, l, -weight, r->left + to);
        combine_six(J, q, 1, r->right + to);
        return;
    }
    combine_rows(J, r->n, c->rows, l, -weight, r->stride, r->left + to);
    combine_rows(J, r->n, c->rows, q, 1, r->stride, r->right + to);
}

/* Those of a contact that resists turning, where a disc slides. */
static int add_disc_pairs(const sim_constraint *c, const cone_hessian *G, const double *J, patch_rows *r, int at) {
    static const double n[SIM_MAX_ROWS] = {0, 0, 1};
    double vector[SIM_MAX_ROWS][SIM_MAX_ROWS], weight[SIM_MAX_ROWS];
    int count = discs_vectors(c, G, vector, weight);
    for (int k = 0; k < count; k++) {
        add_pair(c, J, r, at + k, vector[k], vector[k][2] != 0 ? n : vector[k], weight[k]);
    }
    return at + count;
}

/* The pairs (l, q) of a constraint; the count after them. */
static int add_constraint_pairs(const sim_constraint *c, const cone_hessian *G, const double *J, patch_rows *r,
                                int at) {
    if (G->sliding && sim_contact_turns(c)) {
        return add_disc_pairs(c, G, J, r, at);
    }
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

static int collect_patch_rows(const momentum_jacobian *m, int thread, const patch *p, int side, patch_rows *r) {
    const patch_sums *s = &m->sums;
    const sim_problem *problem = s->problem;
    int count = 0;
    r->tree = NULL;
    r->n = patch_sums_size(s, side ? p->b : p->a);
    r->stride = strip_stride(r->n);
    r->left = m->rows[thread][2 * side];
    r->right = m->rows[thread][2 * side + 1];
    for (int k = 0; k < p->count; k++) {
        int i = s->patches.constraint[p->first + k];
        const sim_constraint *c = &problem->constraint[i];
        count = add_constraint_pairs(c, &s->G[i], problem->J + c->block[side ^ s->patches.flipped[i]], r, count);
    }
    return count;
}

/* C = sum_r x_r y_r', x weighted and negative */
static void sum_products(const patch_rows *x, const patch_rows *y, const double *left, const double *right, int count,
                         double *C) {
    if (x->n == BODY_DOFS && y->n == BODY_DOFS) {
        strip_product_6(count, left, right, C);
        return;
    }
    memset(C, 0, (size_t)x->n * (size_t)y->stride * sizeof *C);
    strip_update(x->n, y->stride, count, left, x->stride, right, y->stride, C, y->stride);
}

static void mark_jacobian_patch(void *self, int k) {
    momentum_jacobian *m = self;
    const patch *p = &m->sums.patches.patch[k];
    if (p->b >= 0) {
        block_lu_mark(m->system, p->edge);
    }
}

static void sum_jacobian_patch(void *self, int thread, int k) {
    momentum_jacobian *m = self;
    const patch *p = &m->sums.patches.patch[k];
    double **part = m->sums.part + 2 * k;
    patch_rows side[2];
    int count = collect_patch_rows(m, thread, p, 0, &side[0]);
    sum_products(&side[0], &side[0], side[0].left, side[0].right, count, part[0]);
    if (p->b < 0) {
        return;
    }
    collect_patch_rows(m, thread, p, 1, &side[1]);
    sum_products(&side[1], &side[1], side[1].left, side[1].right, count, part[1]);
    /* M between row and column, and the transpose of that between column and row: x s', and y z' */
    block_lu_edge e = block_lu_between(m->system, p->edge);
    const patch_rows *row = &side[e.row == p->b], *column = &side[e.row != p->b];
    sum_products(row, column, row->left, column->right, count, e.upper);
    sum_products(row, column, row->right, column->left, count, e.lower_transposed);
}

static double *jacobian_diagonal_block(void *self, int node) {
    momentum_jacobian *m = self;
    return block_lu_diagonal(m->system, node);
}

static bool reserve_jacobian_rows(void *self, int threads) {
    momentum_jacobian *m = self;
    const patches *o = &m->sums.patches;
    size_t most = 0;
    for (int k = 0; k < o->count; k++) {
        const patch *p = &o->patch[k];
        int a = o->graph.size[p->a], b = p->b >= 0 ? o->graph.size[p->b] : 0;
        size_t numbers = (size_t)p->rows * (size_t)strip_stride(a > b ? a : b);
        most = numbers > most ? numbers : most;
    }
    m->rows = arena_alloc(m->sums.kept, (size_t)threads, sizeof *m->rows);
    bool ok = m->rows;
    for (int k = 0; k < 4 * threads && ok; k++) {
        m->rows[k / 4][k % 4] = ARENA_NEW(m->sums.kept, double, most);
        ok = m->rows[k / 4][k % 4];
    }
    return ok;
}

momentum_jacobian *momentum_jacobian_create(void) {
    momentum_jacobian *m = calloc(1, sizeof *m);
    if (m) {
        bool ok = patch_sums_open(&m->sums, (patch_sums_matrix){m, reserve_jacobian_rows, mark_jacobian_patch,
                                                                sum_jacobian_patch, jacobian_diagonal_block});
        m->system = block_lu_create();
        m->tree = tree_lu_create();
        m->scratch = arena_create();
        if (!ok || !m->system || !m->tree || !m->scratch) {
            momentum_jacobian_free(m);
            m = NULL;
        }
    }
    return m;
}

void momentum_jacobian_free(momentum_jacobian *m) {
    if (m) {
        arena_free(m->scratch);
        tree_lu_free(m->tree);
        block_lu_free(m->system);
        patch_sums_close(&m->sums);
        free(m);
    }
}

double momentum_jacobian_work(const momentum_jacobian *m) {
    return m->along ? tree_lu_multiplications(m->tree) : block_lu_multiplications(m->system);
}

static bool prepare_patches(momentum_jacobian *m, const sim_problem *p) {
    m->along = false;
    return patch_sums_prepare(&m->sums, p, m->threads) &&
           !block_lu_analyse(m->system, &m->sums.patches.graph, m->threads);
}

static bool allocate_vectors(momentum_jacobian *m, const sim_problem *p) {
    double **of_v[] = {&m->b, &m->residual, &m->product}, **of_rows[] = {&m->u, &m->pushed};
    bool ok = true;
    arena_release(m->scratch, 0);
    for (int k = 0; k < 3; k++) {
        *of_v[k] = ARENA_NEW(m->scratch, double, p->nv);
        ok = ok && *of_v[k];
    }
    for (int k = 0; k < 2; k++) {
        *of_rows[k] = ARENA_NEW(m->scratch, double, p->nrow);
        ok = ok && *of_rows[k];
    }
    return ok;
}

bool momentum_jacobian_prepare(momentum_jacobian *m, const sim_problem *p, sim_threads *threads) {
    m->problem = p;
    m->threads = threads;
    switch (tree_lu_prepare(m->tree, p)) {
    case TREE_LU_FITS:
        m->along = true;
        return allocate_vectors(m, p);
    case TREE_LU_UNFIT:
        return prepare_patches(m, p);
    default:
        return false;
    }
}

void momentum_jacobian_set(momentum_jacobian *m, const cone_hessian *G) {
    m->G = G;
    if (!m->along) {
        patch_sums_set(&m->sums, G);
    }
}

/* By patches, after the factor along the branches has failed. */
static bool factor_patches(momentum_jacobian *m) {
    if (m->along) {
        if (!prepare_patches(m, m->problem)) {
            return false;
        }
        patch_sums_set(&m->sums, m->G);
    }
    return block_lu_factor(m->system);
}

static bool factor_along(momentum_jacobian *m) {
    patch_rows rows = {.tree = m->tree};
    tree_lu_reset(m->tree);
    for (int i = 0; i < m->problem->nconstraint; i++) {
        rows.constraint = i;
        add_constraint_pairs(&m->problem->constraint[i], &m->G[i], NULL, &rows, 0);
    }
    return tree_lu_factor(m->tree);
}

bool momentum_jacobian_factor(momentum_jacobian *m) { return (m->along && factor_along(m)) || factor_patches(m); }

void strict_hessian_times(const sim_constraint *c, const cone_hessian *G, const double *u, double *y) {
    if (!G->sliding) {
        cone_hessian_times(c, G, u, y);
        return;
    }
    if (sim_contact_turns(c)) {
        discs_times(c, G, true, u, y);
        return;
    }
    double along = G->lean * G->weight[0] * u[2], across = G->weight[1] * (G->t[0] * u[1] - G->t[1] * u[0]);
    y[0] = G->t[0] * along - G->t[1] * across;
    y[1] = G->t[1] * along + G->t[0] * across;
    y[2] = G->weight[0] * u[2];
}

/* residual = b - M x; its norm over those of the three parts. */
static double find_residual(momentum_jacobian *m, const double *x) {
    const sim_problem *p = m->problem;
    double sum = 0, size = 0;
    problem_jacobian_times(p, x, m->u);
    for (int i = 0; i < p->nconstraint; i++) {
        int row = p->constraint[i].row;
        strict_hessian_times(&p->constraint[i], &m->G[i], m->u + row, m->pushed + row);
    }
    problem_jacobian_transposed(p, m->pushed, m->residual);
    problem_mass_times(p, x, m->product);
    for (int j = 0; j < p->nv; j++) {
        double pushed = m->residual[j];
        size += m->b[j] * m->b[j] + m->product[j] * m->product[j] + pushed * pushed;
        m->residual[j] = m->b[j] - m->product[j] - pushed;
        sum += m->residual[j] * m->residual[j];
    }
    return sum == 0 ? 0 : sqrt(sum / size); /* not finite where x is not */
}

/* With a step of iterative refinement where it is needed; false: the factor has lost too much. */
static bool solve_along(momentum_jacobian *m, double *x) {
    int n = m->problem->nv;
    memcpy(m->b, x, (size_t)n * sizeof *x);
    tree_lu_solve(m->tree, x);
    if (find_residual(m, x) <= MAX_RESIDUAL) {
        return true;
    }
    tree_lu_solve(m->tree, m->residual);
    dense_axpy(n, 1, m->residual, x);
    return find_residual(m, x) <= MAX_RESIDUAL;
}

void momentum_jacobian_solve(momentum_jacobian *m, double *x) {
    if (m->along) {
        if (solve_along(m, x)) {
            return;
        }
        memcpy(x, m->b, (size_t)m->problem->nv * sizeof *x);
        if (!factor_patches(m)) {
            x[0] = NAN;
            return;
        }
    }
    patch_sums_gather(&m->sums, x);
    block_lu_solve(m->system, m->sums.x);
    patch_sums_scatter(&m->sums, x);
}
