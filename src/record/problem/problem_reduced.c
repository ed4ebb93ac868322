/* Reduction of a global problem with unsymmetric M (gyroscopic terms, rounding in a finite element program) to local
 * form.
 *
 * Contact problems of this program have a symmetric A.  But W and q do not need it,
 *
 *     K = (H, G)' M^-1 (H, G),   q = (H, G)' M^-1 f + (w, b),
 *
 * so it becomes a local problem, with a K that is not symmetric either; M^-1 by elimination with pivots, component by
 * component.  M^-1 (H, G) is stored: v = v0 + M^-1 (H, G) (r, l) then follows from the solution. */
#include "math/dense.h"
#include "record/problem/problem_file.h"

#include <math.h>
#include <string.h>

enum { MAX_ROWS = 8192 };

static sim_status fail_singular(sim_error *error) { return sim_fail(error, SIM_BAD_INPUT, "M is singular"); }

static sim_status report_too_long(sim_error *error) { return sim_fail(error, SIM_FAILED, "reading it took too long"); }

/* X <- M^-1 X for one component of n rows: M in the first n numbers of each row, X in those after. */
static sim_status eliminate_component(const store *s, int n, int width, double **row, sim_error *error) {
    /* forward elimination with partial pivoting */
    for (int k = 0; k < n; k++) {
        if (store_stopped(s)) {
            return report_too_long(error);
        }
        int pivot = k;
        for (int i = k + 1; i < n; i++) {
            pivot = fabs(row[i][k]) > fabs(row[pivot][k]) ? i : pivot;
        }
        double *taken = row[pivot];
        row[pivot] = row[k];
        row[k] = taken;
        if (!(fabs(taken[k]) > 0) || isinf(taken[k])) {
            return fail_singular(error);
        }
        for (int i = k + 1; i < n; i++) {
            double factor = row[i][k] / taken[k];
            if (factor != 0) {
                dense_axpy(width - k, -factor, taken + k, row[i] + k);
            }
        }
    }
    /* back substitution */
    for (int k = n - 1; k >= 0; k--) {
        if (store_stopped(s)) {
            return report_too_long(error);
        }
        for (int i = k + 1; i < n; i++) {
            dense_axpy(width - n, -row[k][i], row[i] + n, row[k] + n);
        }
        for (int j = n; j < width; j++) {
            row[k][j] /= row[k][k];
        }
    }
    return SIM_OK;
}

typedef struct reduction {
    const store *store;
    const fclib *p;
    memory_pool *work;
    int columns; /* 3 nc + p, and one for f */
    double *X;   /* [n][columns] */
    int *member; /* of the component at hand */
} reduction;

static int find_component(const reduction *r, const int *tree, int t) {
    int n = 0;
    for (int i = 0; i < r->p->dofs; i++) {
        if (tree[i] == t) {
            r->member[n++] = i;
        }
    }
    return n;
}

static sim_status solve_component(const reduction *r, int n, int *place, sim_error *error) {
    /* dense augmented matrix [M | X] of the component */
    int width = n + r->columns;
    memory_pool *pool = pool_create();
    double **row = pool ? POOL_NEW(pool, double *, n) : NULL;
    double *all = row ? POOL_NEW(pool, double, (ptrdiff_t)n *width) : NULL;
    if (!all) {
        pool_free(pool);
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the inverse of M");
    }
    for (int i = 0; i < n; i++) {
        place[r->member[i]] = i;
    }
    for (int i = 0; i < n; i++) {
        int dof = r->member[i];
        row[i] = all + (ptrdiff_t)i * width;
        for (ptrdiff_t k = r->p->M.start[dof]; k < r->p->M.start[dof + 1]; k++) {
            row[i][place[r->p->M.column[k]]] = r->p->M.value[k];
        }
        memcpy(row[i] + n, r->X + (ptrdiff_t)dof * r->columns, (size_t)r->columns * sizeof *r->X);
    }
    /* Gaussian elimination leaves M^-1 X on the right */
    sim_status status = eliminate_component(r->store, n, width, row, error);
    for (int i = 0; i < n && !status; i++) {
        memcpy(r->X + (ptrdiff_t)r->member[i] * r->columns, row[i] + n, (size_t)r->columns * sizeof *r->X);
    }
    pool_free(pool);
    return status;
}

/* X = (H, G, f) */
static void fill_right_sides(const reduction *r) {
    const fclib *p = r->p;
    int m = 3 * p->contacts;
    for (int i = 0; i < p->dofs; i++) {
        double *row = r->X + (ptrdiff_t)i * r->columns;
        for (ptrdiff_t k = p->H.start[i]; k < p->H.start[i + 1]; k++) {
            row[p->H.column[k]] = p->H.value[k];
        }
        for (ptrdiff_t k = p->bilateral ? p->G.start[i] : 0; p->bilateral && k < p->G.start[i + 1]; k++) {
            row[m + p->G.column[k]] = p->G.value[k];
        }
        row[r->columns - 1] = p->f[i];
    }
}

static sim_status solve_components(const reduction *r, sim_error *error) {
    fclib alone = *r->p;
    sparse none = {alone.dofs, 0, POOL_NEW(r->work, ptrdiff_t, (ptrdiff_t)alone.dofs + 1), POOL_NEW(r->work, int, 0),
                   POOL_NEW(r->work, double, 0)};
    int *tree = POOL_NEW(r->work, int, alone.dofs), *place = POOL_NEW(r->work, int, alone.dofs);
    alone.H = none; /* components of M alone: no constraint merges them */
    alone.contacts = alone.bilateral = 0;
    int trees = tree && place && sparse_there(&none) ? problem_trees(r->work, &alone, tree) : -1;
    if (trees < 0) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the inverse of M");
    }
    sim_status status = SIM_OK;
    for (int t = 0; t < trees && !status; t++) {
        status = solve_component(r, find_component(r, tree, t), place, error);
    }
    return status;
}

/* Adds the rows of (H, G)' X for one of the two matrices. */
static sim_status add_rows_product(const reduction *r, const sparse *rows, int first, double *row, triplets *t,
                                   double *q, sim_error *error) {
    int last = r->columns - 1;
    for (int i = 0; i < rows->rows; i++) {
        if (store_stopped(r->store)) {
            return report_too_long(error);
        }
        memset(row, 0, (size_t)r->columns * sizeof *row);
        for (ptrdiff_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            dense_axpy(r->columns, rows->value[k], r->X + (ptrdiff_t)rows->column[k] * r->columns, row);
        }
        for (int j = 0; j < last; j++) {
            if (row[j] != 0) {
                triplets_add(t, first + i, j, row[j]);
            }
        }
        q[first + i] += row[last];
    }
    return SIM_OK;
}

static sim_status reduce_problem(sim_problem_file *file, const reduction *r, sim_error *error) {
    /* right sides w and b */
    const fclib *p = r->p;
    int m = 3 * p->contacts, nrow = r->columns - 1;
    sparse H = sparse_transposed(r->work, &p->H), G = {0}, K;
    G = p->bilateral ? sparse_transposed(r->work, &p->G) : G;
    triplets t = triplets_make(r->work, (ptrdiff_t)nrow * nrow);
    double *q = POOL_NEW(r->work, double, nrow), *row = POOL_NEW(r->work, double, r->columns);
    if (!sparse_there(&H) || (p->bilateral && !sparse_there(&G)) || !t.row || !t.column || !t.value || !q || !row) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    memcpy(q, p->w, (size_t)m * sizeof *q);
    memcpy(q + m, p->bilateral ? p->b : p->w, (size_t)p->bilateral * sizeof *q);
    /* add H^T M^-1 H and its right side, row by row */
    sim_status status = add_rows_product(r, &H, 0, row, &t, q, error);
    status = status || !p->bilateral ? status : add_rows_product(r, &G, m, row, &t, q, error);
    if (status) {
        return status;
    }
    /* local problem W = H^T M^-1 H, q */
    K = sparse_of(r->work, nrow, nrow, &t);
    return sparse_there(&K) ? problem_local(file, p, r->work, &K, q, error)
                            : sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
}

static bool keep_response(sim_problem_file *file, const reduction *r) {
    int n = r->p->dofs, nrow = r->columns - 1;
    double *v0 = POOL_NEW(file->pool, double, n), *response = POOL_NEW(file->pool, double, (ptrdiff_t)n *nrow);
    for (int i = 0; v0 && response && i < n; i++) {
        const double *row = r->X + (ptrdiff_t)i * r->columns;
        memcpy(response + (ptrdiff_t)i * nrow, row, (size_t)nrow * sizeof *row);
        v0[i] = row[nrow];
    }
    file->v0 = v0;
    file->response = response;
    file->dofs = n;
    return v0 && response;
}

sim_status problem_reduced(sim_problem_file *file, const fclib *p, memory_pool *work, sim_error *error) {
    /* the dense inverse bounds the size */
    int nrow = 3 * p->contacts + p->bilateral;
    if (nrow > MAX_ROWS || p->dofs > MAX_ROWS) {
        return sim_fail(error, SIM_BAD_INPUT,
                        "M is not symmetric; such problems may have %d rows and velocities, this has %d and %d",
                        MAX_ROWS, nrow, p->dofs);
    }
    /* X = M^-1 [H G f] */
    reduction r = {&file->store,
                   p,
                   work,
                   nrow + 1,
                   POOL_NEW(work, double, (ptrdiff_t)p->dofs *(nrow + 1)),
                   POOL_NEW(work, int, p->dofs)};
    if (!r.X || !r.member) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the inverse of M");
    }
    fill_right_sides(&r);
    sim_status status = solve_components(&r, error);
    /* local problem, and X for the velocities that follow from its solution */
    status = status ? status : reduce_problem(file, &r, error);
    return status || keep_response(file, &r) ? status : sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
}
