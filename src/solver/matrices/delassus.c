/* Delassus operator W = J A^-1 J': products and blocks.
 *
 *     W_ij = sum over the trees t that i and j share of J_it A_t^-1 J_jt'
 *
 * A constraint touches at most two trees.  So W comes from small blocks, one solve with A_t for each row.  It is the
 * response Y_it' = J_it A_t^-1, velocities of the tree per unit impulse, or the half response Z_it' = J_it B_t' with
 * A_t^-1 = B_t' B_t.  Nonzeros of the latter lie on paths to the root.  Then
 *
 *     W_ij = sum_t J_it Y_jt = sum_t Z_it' Z_jt.
 *
 * The upper half of a diagonal block is computed and mirrored: the block is symmetric to the bit.
 *
 * For the diagonal alone, free bodies need no solve per row. With A = U' U, W_ii = sum_t X' X, X = U^-T J_it', and U^-1
 * is computed once for all constraints of the body. */
#include "solver/matrices/delassus.h"
#include "linalg/blocks.h"
#include "linalg/dense/cholesky.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"
#include "solver/core/products.h"

#include <math.h>

const double *delassus_block(const sim_problem *p, int i, int j) {
    for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
        if (p->W->column[k] == j) {
            return p->W->value + p->W->at[k];
        }
    }
    return NULL;
}

static void assembled_times(const sim_problem *p, const double *x, double *y) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        memset(y + c->row, 0, (size_t)c->rows * sizeof *y);
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            const sim_constraint *d = &p->constraint[p->W->column[k]];
            for (int row = 0; row < c->rows; row++) {
                y[c->row + row] += dense_dot(d->rows, p->W->value + p->W->at[k] + row * d->rows, x + d->row);
            }
        }
    }
}

void delassus_times(const sim_problem *p, const double *x, double *v, double *y) {
    if (sim_problem_local(p)) {
        assembled_times(p, x, y);
    } else {
        problem_jacobian_transposed(p, x, v);
        problem_mass_solve(p, v);
        problem_jacobian_times(p, v, y);
    }
}

/* Response rows of one constraint and tree, whole or half. */
static void compute_response(const sim_problem *p, const sim_constraint *c, int side, int half, double *Y) {
    int nv = p->tree[c->tree[side]].nv;
    memcpy(Y, p->J + c->block[side], (size_t)c->rows * (size_t)nv * sizeof *Y);
    if (half) {
        p->mass.half(p->mass.self, c->tree[side], c->rows, sim_block_columns(p, c, side), Y);
        return;
    }
    for (int row = 0; row < c->rows; row++) {
        p->mass.solve(p->mass.self, c->tree[side], Y + row * nv);
    }
}

bool delassus_response_make(const sim_problem *p, bool half, sim_arena *scratch, delassus_response *Y) {
    /* size of A^-1 J^T, a block a side */
    ptrdiff_t size = 0;
    Y->half = half && p->mass.half;
    Y->at = ARENA_NEW(scratch, ptrdiff_t, 2 * (size_t)p->nconstraint);
    if (!Y->at) {
        return false;
    }
    for (int k = 0; k < 2 * p->nconstraint; k++) {
        const sim_constraint *c = &p->constraint[k / 2];
        int tree = sim_problem_local(p) ? -1 : c->tree[k % 2];
        Y->at[k] = tree >= 0 ? size : -1;
        size += tree >= 0 ? (ptrdiff_t)c->rows * p->tree[tree].nv : 0;
    }
    /* solve for each block */
    Y->value = ARENA_NEW(scratch, double, size);
    for (int k = 0; k < 2 * p->nconstraint && Y->value; k++) {
        if (Y->at[k] >= 0) {
            compute_response(p, &p->constraint[k / 2], k % 2, Y->half, Y->value + Y->at[k]);
        }
    }
    return Y->value != NULL;
}

/* End of the nonzero columns of a half response: those from the root to the bodies of the constraint. */
static inline int end_of_half(const sim_problem *p, const sim_constraint *c, int side) {
    sim_columns of = sim_block_columns(p, c, side);
    return of.first + of.count;
}

/* W += X Y' of rows x nv blocks, over some columns; `upper`: only from the diagonal on. */
static inline void add_product(int rows, int columns, int upper, int nv, sim_columns of, const double *X,
                               const double *Y, double *W) {
    X += of.first;
    Y += of.first;
    for (int row = 0; row < rows; row++) {
        for (int column = upper ? row : 0; column < columns; column++) {
            W[row * columns + column] += dense_dot(of.count, X + (ptrdiff_t)row * nv, Y + (ptrdiff_t)column * nv);
        }
    }
}

void delassus_add(const sim_problem *p, const delassus_response *Y, int i, int s, int j, int r, double *W) {
    const sim_constraint *a = &p->constraint[i], *b = &p->constraint[j];
    int nv = p->tree[a->tree[s]].nv;
    const double *y = Y->value + Y->at[2 * j + r], *x = p->J + a->block[s];
    sim_columns of = sim_block_columns(p, a, s);
    if (Y->half) {
        int end = end_of_half(p, a, s), other = end_of_half(p, b, r);
        of = (sim_columns){0, end < other ? end : other};
        x = Y->value + Y->at[2 * i + s];
    }
    add_product(a->rows, b->rows, i == j, nv, of, x, y, W);
}

static void mirror_upper(int n, double *W) {
    for (int row = 1; row < n; row++) {
        for (int column = 0; column < row; column++) {
            W[row * n + column] = W[column * n + row];
        }
    }
}

/* ---- free bodies ---- */

typedef struct inverse_root {
    double row[BODY_DOFS * BODY_STRIDE]; /* U^-1, padded */
    bool made;                           /* false: A is singular within rounding, or no free body's */
} inverse_root;

static void factor_free_body(const sim_problem *p, int tree, inverse_root *root) {
    double A[BODY_DOFS * BODY_DOFS], U[BODY_DOFS * BODY_STRIDE] = {0}, inverse[BODY_STRIDE] = {0},
                                                   X[BODY_DOFS * BODY_STRIDE] = {0};
    p->mass.matrix(p->mass.self, tree, A);
    for (int i = 0; i < BODY_DOFS; i++) {
        memcpy(U + BODY_STRIDE * i, A + BODY_DOFS * i, BODY_DOFS * sizeof *A);
        X[BODY_STRIDE * i + i] = 1;
    }
    root->made = cholesky_upper(BODY_DOFS, BODY_STRIDE, U, inverse);
    cholesky_panel(BODY_DOFS, U, BODY_STRIDE, inverse, X, BODY_STRIDE);
    for (int i = 0; i < BODY_DOFS; i++) {
        for (int j = 0; j < BODY_STRIDE; j++) {
            root->row[BODY_STRIDE * i + j] = j < BODY_DOFS ? X[BODY_STRIDE * j + i] : 0;
        }
    }
}

static inverse_root *factor_free_bodies(const sim_problem *p, sim_arena *scratch) {
    inverse_root *root = ARENA_NEW(scratch, inverse_root, p->ntree);
    for (int t = 0; t < p->ntree && root; t++) {
        root[t].made = 0;
        if (p->tree[t].nv == BODY_DOFS) {
            factor_free_body(p, t, &root[t]);
        }
    }
    return root;
}

/* x = J times the root, of a row */
static inline void root_of_row(const inverse_root *root, const double *J, simd4 x[2]) {
    x[0] = J[0] * simd4_load(root->row);
    x[1] = J[0] * simd4_load(root->row + 4);
    for (int r = 1; r < BODY_DOFS; r++) {
        x[0] += J[r] * simd4_load(root->row + BODY_STRIDE * r);
        x[1] += J[r] * simd4_load(root->row + BODY_STRIDE * r + 4);
    }
}

static inline double root_product(const simd4 x[2], const simd4 y[2]) {
    simd4 left = x[0] * y[0], right = x[1] * y[1];
    return ((left[0] + right[0]) + left[2]) + ((left[1] + right[1]) + left[3]);
}

/* W_ii += X' X, upper half. */
static void add_upper_six(const sim_constraint *c, const double *J, const inverse_root *root, double *W) {
    simd4 x[SIM_MAX_ROWS][2];
    for (int row = 0; row < c->rows; row++) {
        root_of_row(root, J + BODY_DOFS * row, x[row]);
        for (int above = 0; above <= row; above++) {
            W[above * c->rows + row] += root_product(x[above], x[row]);
        }
    }
}

/* `work` holds the response rows of one constraint where Y is NULL. */
static void diagonal_block(const sim_problem *p, const delassus_response *Y, const inverse_root *root, int i,
                           double *work, double *W) {
    const sim_constraint *c = &p->constraint[i];
    bool half = p->mass.half != NULL;
    memset(W, 0, (size_t)(c->rows * c->rows) * sizeof *W);
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        if (root && root[c->tree[side]].made) {
            add_upper_six(c, p->J + c->block[side], &root[c->tree[side]], W);
        } else if (Y) {
            delassus_add(p, Y, i, side, i, side, W);
        } else {
            compute_response(p, c, side, half, work);
            const double *x = half ? work : p->J + c->block[side];
            sim_columns of = sim_block_columns(p, c, side);
            of = half ? (sim_columns){0, of.first + of.count} : of;
            add_product(c->rows, c->rows, 1, p->tree[c->tree[side]].nv, of, x, work, W);
        }
    }
    mirror_upper(c->rows, W);
}

bool delassus_diagonal(const sim_problem *p, const delassus_response *Y, sim_arena *scratch, double *W) {
    if (p->diagonal && !Y) {
        memcpy(W, p->diagonal, sim_delassus_diagonal_size(p) * sizeof *W);
        return true;
    }
    size_t mark = arena_mark(scratch);
    /* memory for one block of the largest tree, and U^-1 of free bodies */
    int widest = 0;
    for (int t = 0; t < p->ntree; t++) {
        widest = p->tree[t].nv > widest ? p->tree[t].nv : widest;
    }
    double *work = Y ? NULL : ARENA_NEW(scratch, double, SIM_MAX_ROWS *(size_t)widest);
    inverse_root *root = Y ? NULL : factor_free_bodies(p, scratch);
    if (!Y && !(work && root)) {
        return false;
    }
    /* blocks: copied from a given W, or computed */
    for (int i = 0; i < p->nconstraint; i++) {
        int size = p->constraint[i].rows * p->constraint[i].rows;
        if (sim_problem_local(p)) {
            memcpy(W, delassus_block(p, i, i), (size_t)size * sizeof *W);
        } else {
            diagonal_block(p, Y, root, i, work, W);
        }
        W += size;
    }
    arena_release(scratch, mark);
    return true;
}

bool delassus_scales(const sim_problem *p, const double *R, sim_arena *scratch, double *w, double *rho) {
    /* diagonal blocks */
    size_t mark = arena_mark(scratch);
    double *own = p->diagonal ? NULL : ARENA_NEW(scratch, double, sim_delassus_diagonal_size(p));
    if (!p->diagonal && (!own || !delassus_diagonal(p, NULL, scratch, own))) {
        return false;
    }
    /* traces of W_ii and R_i */
    const double *W = p->diagonal ? p->diagonal : own;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double trace = 0, compliance = 0;
        for (int k = 0; k < c->rows; k++) {
            trace += W[k * c->rows + k];
            compliance += isinf(R[c->row + k]) ? 0 : R[c->row + k];
        }
        W += c->rows * c->rows;
        w[i] = trace > 0 ? trace / c->rows : 1;
        rho[i] = trace + compliance > 0 ? c->rows / (trace + compliance) : 1;
    }
    arena_release(scratch, mark);
    return true;
}

size_t sim_delassus_diagonal_size(const sim_problem *p) {
    size_t size = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        size += (size_t)p->constraint[i].rows * (size_t)p->constraint[i].rows;
    }
    return size;
}

sim_status sim_delassus_diagonal(const sim_problem *p, double *W, sim_error *error) {
    sim_arena *scratch = arena_create();
    bool done = scratch && delassus_diagonal(p, NULL, scratch, W);
    arena_free(scratch);
    return done ? SIM_OK
                : sim_fail(error, SIM_NO_RESOURCE, "no memory for the inverse masses of %d contact rows", p->nrow);
}
