/* A contact problem that owns its data: one block of memory holds the copies, the matrices of the trees and their
 * factors.
 *
 *     A = L' L,     half of a solve passes from the last dofs to the first
 *
 * Each row of A and L is passed from its first number other than zero on: A of a soft body is a band, and its L stays
 * within it (Jennings 1966, variable band).  Cost: n b^2 for n dofs and a band of b. */
#include "base/pool.h"
#include "math/dense.h"
#include "problem/check.h"
#include "problem/laws.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct owned {
    sim_problem problem; /* first: the caller holds a pointer to it */
    memory_pool *pool;
    const double **A;           /* [ntree] dense, row-major */
    double **L;                 /* [ntree] lower triangle, row-major */
    sim_columns **of_A, **of_L; /* [ntree][nv] columns of each row that may be other than zero */
} owned;

static void owned_times(const void *self, int tree, const double *x, double *y) {
    const owned *o = self;
    int n = o->problem.tree[tree].nv;
    for (int i = 0; i < n; i++) {
        sim_columns of = o->of_A[tree][i];
        const double *row = o->A[tree] + (ptrdiff_t)i * n;
        y[i] = 0;
        for (int j = of.first; j < of.first + of.count; j++) {
            y[i] += row[j] * x[j];
        }
    }
}

/* X <- X L^-1 row by row, half of a solve; all columns from `end` on are and stay zero.  Rows of one constraint are
 * zero together in branches that it does not reach. */
static void solve_half(int n, int rows, int end, const double *L, const sim_columns *of, double *X) {
    for (int i = end - 1; i >= 0; i--) {
        const double *row = L + (ptrdiff_t)i * n;
        int first = of[i].first;
        double greatest = 0;
        for (int r = 0; r < rows; r++) {
            greatest = fmax(greatest, fabs(X[(ptrdiff_t)r * n + i]));
        }
        for (int r = 0; r < rows && greatest > 0; r++) {
            double *x = X + (ptrdiff_t)r * n;
            x[i] /= row[i];
            dense_axpy(i - first, -x[i], row + first, x + first);
        }
    }
}

static void owned_solve(const void *self, int tree, double *x) {
    const owned *o = self;
    int n = o->problem.tree[tree].nv;
    const double *L = o->L[tree];
    solve_half(n, 1, n, L, o->of_L[tree], x);
    for (int i = 0; i < n; i++) {
        const double *row = L + (ptrdiff_t)i * n;
        int first = o->of_L[tree][i].first;
        x[i] = (x[i] - dense_dot(i - first, row + first, x + first)) / row[i];
    }
}

static void owned_half(const void *self, int tree, int rows, sim_columns columns, double *X) {
    const owned *o = self;
    int n = o->problem.tree[tree].nv;
    solve_half(n, rows, columns.first + columns.count, o->L[tree], o->of_L[tree], X);
}

static void owned_matrix(const void *self, int tree, double *A) {
    const owned *o = self;
    size_t n = (size_t)o->problem.tree[tree].nv;
    memcpy(A, o->A[tree], n * n * sizeof *A);
}

static void owned_diagonal(const void *self, int tree, double *d) {
    const owned *o = self;
    int n = o->problem.tree[tree].nv;
    for (int j = 0; j < n; j++) {
        d[j] = o->A[tree][(ptrdiff_t)j * (n + 1)];
    }
}

/* First number other than zero of a row, and how many columns to the last. */
static sim_columns columns_of_row(int n, const double *row) {
    int first = 0, end = n;
    while (first < n && row[first] == 0) {
        first++;
    }
    while (end > first && row[end - 1] == 0) {
        end--;
    }
    return (sim_columns){first, end - first};
}

/* L' L = A, from the last row on; false if A is not positive definite. */
static bool factor_tree(int n, const double *A, double *L, sim_columns *of_L) {
    memcpy(L, A, (size_t)n * (size_t)n * sizeof *L);
    for (int k = n - 1; k >= 0; k--) {
        double *row = L + (ptrdiff_t)k * n;
        if (!(row[k] > 0)) {
            return false;
        }
        row[k] = sqrt(row[k]);
        int first = columns_of_row(k + 1, row).first & ~3; /* sums of four as over the whole row: the same bits */
        of_L[k] = (sim_columns){first, k + 1 - first};
        for (int i = first; i < k; i++) {
            row[i] /= row[k];
        }
        for (int i = first; i < k; i++) {
            if (row[i] != 0) {
                dense_axpy(i + 1 - first, -row[i], row + first, L + (ptrdiff_t)i * n + first);
            }
        }
    }
    return true;
}

/* A copy in the pool; NULL stays NULL.  `ok` becomes false without memory. */
static const void *copy_array(memory_pool *pool, const void *from, ptrdiff_t count, size_t size, bool *ok) {
    if (!from) {
        return NULL;
    }
    void *to = pool_alloc(pool, (size_t)count, size);
    *ok &= to != NULL;
    if (to && count) {
        memcpy(to, from, (size_t)count * size);
    }
    return to;
}

#define COPY(field, count) o->problem.field = copy_array(o->pool, p->field, (count), sizeof *p->field, &ok)

/* W; of a problem without constraints, which needs none, an empty one. */
static sim_status copy_delassus(owned *o, const sim_problem *p) {
    /* a problem without constraints */
    static const int start[1] = {0};
    static const ptrdiff_t at[1] = {0};
    static const double value[1] = {0};
    static const sim_delassus none = {start, start, at, value, 1};
    bool ok = true;
    sim_delassus *W = POOL_NEW(o->pool, sim_delassus, 1);
    if (!W) {
        return SIM_NO_RESOURCE;
    }
    if (!p->W) {
        *W = none;
        o->problem.W = W;
        o->problem.q = POOL_NEW(o->pool, double, 0);
        return o->problem.q ? SIM_OK : SIM_NO_RESOURCE;
    }
    /* copies */
    ptrdiff_t blocks = p->W->start[p->nconstraint];
    *W = *p->W;
    W->start = copy_array(o->pool, p->W->start, p->nconstraint + 1, sizeof *W->start, &ok);
    W->column = copy_array(o->pool, p->W->column, blocks, sizeof *W->column, &ok);
    W->at = copy_array(o->pool, p->W->at, blocks, sizeof *W->at, &ok);
    W->value = copy_array(o->pool, p->W->value, problem_length_of_W(p), sizeof *W->value, &ok);
    o->problem.W = W;
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

static sim_status copy_problem_bodies(owned *o, const sim_problem_bodies *from) {
    /* memory */
    const sim_problem *p = &o->problem;
    bool ok = true;
    sim_problem_bodies *to = POOL_NEW(o->pool, sim_problem_bodies, 1);
    if (!to) {
        return SIM_NO_RESOURCE;
    }
    /* arrays of bodies and both chains */
    *to = *from;
    to->fill = NULL;
    to->first = copy_array(o->pool, from->first, p->ntree + 1, sizeof *from->first, &ok);
    to->node = copy_array(o->pool, from->node, from->nbody, sizeof *from->node, &ok);
    to->I = copy_array(o->pool, from->I, from->nbody, sizeof *from->I, &ok);
    to->diagonal = copy_array(o->pool, from->diagonal, p->nv, sizeof *from->diagonal, &ok);
    for (int k = 0; k < SIM_CHAINS; k++) {
        const sim_body_chain *chain = &from->chain[k];
        to->chain[k].r = copy_array(o->pool, chain->r, from->nbody, sizeof *chain->r, &ok);
        to->chain[k].S = copy_array(o->pool, chain->S, p->nv, sizeof *chain->S, &ok);
    }
    /* rows on bodies */
    to->rows = copy_array(o->pool, from->rows, p->nconstraint, sizeof *from->rows, &ok);
    to->J = copy_array(o->pool, from->J, problem_length_on_bodies(p, from), sizeof *from->J, &ok);
    o->problem.bodies = to;
    return ok ? SIM_OK : SIM_NO_RESOURCE;
}

static sim_status copy_parts(owned *o, const sim_problem *p) {
    bool ok = true;
    COPY(tree, p->ntree);
    COPY(constraint, p->nconstraint);
    COPY(gap, p->nrow);
    COPY(J, problem_length_of_J(p));
    COPY(v_free, p->nv);
    COPY(v_start, p->nv);
    COPY(offset, p->nrow);
    COPY(q, p->nrow);
    COPY(v_guess, p->nv);
    COPY(impulse_guess, p->nrow);
    COPY(impulse_trend, p->nrow);
    o->problem.W = NULL;
    o->problem.positions = NULL; /* known to the step alone */
    o->problem.diagonal = NULL;  /* that of another factor of A */
    sim_status status = ok ? SIM_OK : SIM_NO_RESOURCE;
    status = status || !p->bodies ? status : copy_problem_bodies(o, sim_problem_find_bodies(p));
    return status || !sim_problem_local(p) ? status : copy_delassus(o, p);
}

static sim_status find_force_energy(owned *o) {
    sim_problem *p = &o->problem;
    if (!p->v_start || !p->v_free || p->nv == 0) {
        p->force_energy = NULL;
        return SIM_OK;
    }
    double *energy = POOL_NEW(o->pool, double, 1), *work = malloc(2 * (size_t)p->nv * sizeof *work);
    if (energy && work) {
        *energy = law_force_energy(p, work);
        p->force_energy = energy;
    }
    free(work);
    return energy && work ? SIM_OK : SIM_NO_RESOURCE;
}

static sim_status copy_owned_mass(owned *o, const double *A, sim_error *error) {
    /* memory */
    const sim_problem *p = &o->problem;
    o->A = POOL_NEW(o->pool, const double *, p->ntree);
    o->L = POOL_NEW(o->pool, double *, p->ntree);
    o->of_A = POOL_NEW(o->pool, sim_columns *, p->ntree);
    o->of_L = POOL_NEW(o->pool, sim_columns *, p->ntree);
    bool ok = o->A && o->L && o->of_A && o->of_L;
    /* A of each tree, its factor, and the columns of both */
    for (int t = 0; t < p->ntree && ok; t++) {
        int n = p->tree[t].nv;
        ptrdiff_t size = (ptrdiff_t)n * n;
        o->A[t] = copy_array(o->pool, A, size, sizeof *A, &ok);
        o->L[t] = POOL_NEW(o->pool, double, size);
        o->of_A[t] = POOL_NEW(o->pool, sim_columns, n);
        o->of_L[t] = POOL_NEW(o->pool, sim_columns, n);
        ok = ok && o->L[t] && o->of_A[t] && o->of_L[t];
        if (ok && !factor_tree(n, A, o->L[t], o->of_L[t])) {
            return sim_fail(error, SIM_BAD_INPUT, "A: the block of tree %d is not positive definite", t);
        }
        for (int i = 0; ok && i < n; i++) {
            o->of_A[t][i] = columns_of_row(n, A + (ptrdiff_t)i * n);
        }
        A += size;
    }
    ok = ok && !find_force_energy(o);
    return ok ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for a contact problem");
}

sim_problem *sim_problem_create(const sim_problem *parts, const double *A, sim_error *error) {
    /* check */
    if (problem_check(parts, A, error)) {
        return NULL;
    }
    /* memory */
    memory_pool *pool = pool_create();
    owned *o = pool ? POOL_NEW(pool, owned, 1) : NULL;
    if (!o) {
        pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a contact problem");
        return NULL;
    }
    /* copies, and A with its factor */
    o->problem = *parts;
    o->pool = pool;
    o->problem.mass = (sim_mass){o, owned_times, owned_solve, owned_matrix, owned_diagonal, owned_half};
    sim_status status = copy_parts(o, parts) ? sim_fail(error, SIM_NO_RESOURCE, "no memory for a contact problem")
                                             : copy_owned_mass(o, A, error);
    if (status) {
        pool_free(pool);
        return NULL;
    }
    return &o->problem;
}

void sim_problem_free(sim_problem *problem) {
    if (problem) {
        pool_free(((owned *)problem)->pool);
    }
}
