/* Jacobian of r(v) = A (v - v*) - J' gamma(v) with the strict law, and its LU factor.
 *
 *     H = A + sum_i J_i' G_i J_i = A + sum over rows of weight (J' l) (J' r)'
 *
 * l = r: unit vector of a row; for a sliding contact (l, r) = (a, n) and (b, b) of cone_strict.c.  A pair of trees
 * gives four blocks, one for each order of its nodes.  H is not symmetric, and its symmetric part may be indefinite.
 * So pivots are sought in the whole matrix: one dense D H D with D = diag(A)^-1/2, in which a pivot does not depend on
 * units. Cost: n^3 / 3 multiplications; for hundreds of unknowns. */
#include "solver/newton/canal/canal_jacobian.h"
#include "linalg/dense/lu.h"
#include "linalg/dense/strip.h"
#include "math/dense.h"

#include <string.h>

enum { BATCH_ROWS = 96 }; /* summed at a time, in the cache */

static bool reserve_sides(jacobian *j, const patches *o, sim_arena *scratch) {
    int widest = 0;
    for (int node = 0; node < o->nodes; node++) {
        widest = o->graph.size[node] > widest ? o->graph.size[node] : widest;
    }
    size_t numbers = (BATCH_ROWS + SIM_MAX_ROWS) * (size_t)strip_stride(widest);
    for (int s = 0; s < 2; s++) {
        j->side[s].left = ARENA_NEW(scratch, double, numbers);
        j->side[s].right = ARENA_NEW(scratch, double, numbers);
        if (!j->side[s].left || !j->side[s].right) {
            return false;
        }
    }
    return true;
}

bool jacobian_make(jacobian *j, const sim_problem *problem, const hessian *mass, const double *D, sim_arena *scratch) {
    const patches *o = hessian_patches(mass);
    j->problem = problem;
    j->mass = mass;
    j->n = o->start[o->nodes];
    j->stride = strip_stride(j->n) + 4; /* a padded block may exceed the columns by three */
    size_t n = (size_t)j->n, numbers = n * (size_t)j->stride;
    j->at = ARENA_NEW(scratch, int, n);
    j->swap = ARENA_NEW(scratch, int, n);
    j->D = ARENA_NEW(scratch, double, n);
    j->H = ARENA_NEW(scratch, double, numbers);
    j->LU = ARENA_NEW(scratch, double, numbers);
    j->work = ARENA_NEW(scratch, double, lu_work(j->n));
    if (!j->at || !j->swap || !j->D || !j->H || !j->LU || !j->work || !reserve_sides(j, o, scratch)) {
        return false;
    }
    for (int node = 0; node < o->nodes; node++) {
        for (int k = 0; k < o->graph.size[node]; k++) {
            int v = problem->tree[o->tree[node]].v0 + k;
            j->at[o->start[node] + k] = v;
            j->D[o->start[node] + k] = D[v];
        }
    }
    return true;
}

/* x = factor sum_k q_k J_k */
static void combine_rows(int n, int stride, const double *J, int count, const double *q, double factor, double *x) {
    memset(x, 0, (size_t)stride * sizeof *x);
    for (int k = 0; k < count; k++) {
        if (q[k] != 0) {
            dense_axpy(n, factor * q[k], J + (ptrdiff_t)k * n, x);
        }
    }
}

/* One row, weight l r', of both sides. */
static void add_jacobian_row(jacobian *j, const double *const J[2], int count, const double *l, const double *r,
                             double weight) {
    for (int s = 0; s < 2 && J[s]; s++) {
        jacobian_side *side = &j->side[s];
        ptrdiff_t at = (ptrdiff_t)j->rows * side->stride;
        combine_rows(side->n, side->stride, J[s], count, l, -weight, side->left + at);
        combine_rows(side->n, side->stride, J[s], count, r, 1, side->right + at);
    }
    j->rows++;
}

static void add_jacobian_constraint(jacobian *j, int i, const cone_hessian *G) {
    /* parts of J in the order of the patch */
    const sim_constraint *c = &j->problem->constraint[i];
    const double *t = G->t, *J[2] = {NULL, NULL};
    int flipped = hessian_patches(j->mass)->flipped[i];
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        J[side ^ flipped] = j->problem->J + c->block[side];
    }
    /* sliding: weights along the slip (with the normal's share) and across it */
    if (G->sliding) {
        double a[3] = {c->friction * t[0], c->friction * t[1], 1}, b[3] = {-t[1], t[0], 0}, n[3] = {0, 0, 1};
        add_jacobian_row(j, J, 3, a, n, G->weight[0]);
        add_jacobian_row(j, J, 3, b, b, G->weight[1]);
        return;
    }
    /* else a weight for each row */
    for (int k = 0; k < c->rows; k++) {
        double axis[SIM_MAX_ROWS] = {0};
        axis[k] = 1;
        if (G->weight[k] > 0) {
            add_jacobian_row(j, J, c->rows, axis, axis, G->weight[k]);
        }
    }
}

/* Adds the products of the collected rows to the blocks of their patch. */
static void flush_rows(jacobian *j, const patch *p) {
    const patches *o = hessian_patches(j->mass);
    int node[2] = {p->a, p->b};
    for (int a = 0; a < 2 && node[a] >= 0; a++) {
        for (int b = 0; b < 2 && node[b] >= 0; b++) {
            const jacobian_side *l = &j->side[a], *r = &j->side[b];
            strip_update(l->n, r->stride, j->rows, l->left, l->stride, r->right, r->stride,
                         j->H + (ptrdiff_t)o->start[node[a]] * j->stride + o->start[node[b]], j->stride);
        }
    }
    j->rows = 0;
}

static void add_patch(jacobian *j, const patch *p, const cone_hessian *G) {
    const patches *o = hessian_patches(j->mass);
    int node[2] = {p->a, p->b};
    for (int s = 0; s < 2 && node[s] >= 0; s++) {
        j->side[s].n = o->graph.size[node[s]];
        j->side[s].stride = strip_stride(j->side[s].n);
    }
    j->rows = 0;
    for (int k = 0; k < p->count; k++) {
        int i = o->constraint[p->first + k];
        add_jacobian_constraint(j, i, &G[i]);
        if (j->rows >= BATCH_ROWS || k == p->count - 1) {
            flush_rows(j, p);
        }
    }
}

void jacobian_set(jacobian *j, const cone_hessian *G) {
    /* A on the diagonal */
    const patches *o = hessian_patches(j->mass);
    memset(j->H, 0, (size_t)j->n * (size_t)j->stride * sizeof *j->H);
    for (int node = 0; node < o->nodes; node++) {
        int size = o->graph.size[node], first = o->start[node];
        const double *A = hessian_mass(j->mass, node);
        for (int r = 0; r < size; r++) {
            memcpy(j->H + (ptrdiff_t)(first + r) * j->stride + first, A + (ptrdiff_t)r * strip_stride(size),
                   (size_t)size * sizeof *A);
        }
    }
    /* constraints, patch by patch */
    for (int k = 0; k < o->count; k++) {
        add_patch(j, &o->patch[k], G);
    }
    /* scaling */
    for (int r = 0; r < j->n; r++) {
        double *row = j->H + (ptrdiff_t)r * j->stride;
        for (int k = 0; k < j->n; k++) {
            row[k] *= j->D[r] * j->D[k];
        }
    }
}

bool jacobian_factor(jacobian *j) {
    memcpy(j->LU, j->H, (size_t)j->n * (size_t)j->stride * sizeof *j->H);
    return lu_factor(j->n, j->stride, j->LU, j->swap, j->work, NULL);
}

void jacobian_solve(const jacobian *j, double *x) { lu_solve(j->n, j->stride, j->LU, j->swap, x); }

void jacobian_times(const jacobian *j, const double *x, double *y) {
    for (int r = 0; r < j->n; r++) {
        y[r] = dense_dot(j->n, j->H + (ptrdiff_t)r * j->stride, x);
    }
}

void jacobian_transposed(const jacobian *j, const double *x, double *y) {
    memset(y, 0, (size_t)j->n * sizeof *y);
    for (int r = 0; r < j->n; r++) {
        dense_axpy(j->n, x[r], j->H + (ptrdiff_t)r * j->stride, y);
    }
}

void jacobian_pack(const jacobian *j, const double *r, double *x) {
    for (int k = 0; k < j->n; k++) {
        x[k] = j->D[k] * r[j->at[k]];
    }
}

void jacobian_move(const jacobian *j, const double *v, double alpha, const double *x, double *to) {
    for (int k = 0; k < j->n; k++) {
        to[j->at[k]] = v[j->at[k]] + alpha * j->D[k] * x[k];
    }
}
