/* A problem that owns its data: one block of memory holds the copies, the trees' matrices and their factors L L'. */
#include "base/pool.h"
#include <math.h>
#include <sim/problem.h>
#include <string.h>

typedef struct owned {
    sim_problem problem; /* first: what the caller holds */
    sim_pool *pool;
    const double **A; /* [ntree] dense, row-major */
    double **L;       /* [ntree] lower triangle, row-major */
} owned;

static void times(const void *self, int tree, const double *x, double *y) {
    const owned *o = self;
    int n = o->problem.tree[tree].nv;
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) {
            y[i] += o->A[tree][i * n + j] * x[j];
        }
    }
}

static void solve(const void *self, int tree, double *x) {
    const owned *o = self;
    int n = o->problem.tree[tree].nv;
    const double *L = o->L[tree];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            x[i] -= L[i * n + j] * x[j];
        }
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= L[i * n + i];
        for (int j = 0; j < i; j++) {
            x[j] -= L[i * n + j] * x[i];
        }
    }
}

static void matrix(const void *self, int tree, double *A) {
    const owned *o = self;
    size_t n = (size_t)o->problem.tree[tree].nv;
    memcpy(A, o->A[tree], n * n * sizeof *A);
}

/* L L' = A; 0 if A is not positive definite. */
static int factor(int n, const double *A, double *L) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            if (i == j && !(sum > 0)) {
                return 0;
            }
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    }
    return 1;
}

static int finite(const double *x, ptrdiff_t count) {
    for (ptrdiff_t k = 0; k < count && x; k++) {
        if (!isfinite(x[k])) {
            return 0;
        }
    }
    return 1;
}

static sim_status check_constraint(const sim_problem *p, int i, int row, ptrdiff_t nJ, sim_error *error) {
    const sim_constraint *c = &p->constraint[i];
    if ((unsigned)c->kind >= SIM_CONSTRAINT_KINDS || c->rows < 1 || c->rows > SIM_MAX_ROWS || c->row != row ||
        (c->kind == SIM_CONTACT && c->rows != 3)) {
        return sim_fail(error, SIM_BAD_INPUT, "constraint %d: kind %d with rows [%d, %d) does not fit", i, (int)c->kind,
                        c->row, c->row + c->rows);
    }
    for (int side = 0; side < 2; side++) {
        int t = c->tree[side];
        if (t >= p->ntree || (t >= 0 && (c->block[side] < 0 || c->block[side] + c->rows * p->tree[t].nv > nJ))) {
            return sim_fail(error, SIM_BAD_INPUT, "constraint %d: tree %d or its block of J is not there", i, t);
        }
        sim_columns of = c->columns[side];
        if (t >= 0 && (of.first < 0 || of.count < 0 || of.count > p->tree[t].nv - of.first)) {
            return sim_fail(error, SIM_BAD_INPUT, "constraint %d: columns [%d, %d) do not fit tree %d", i, of.first,
                            of.first + of.count, t);
        }
    }
    if (!sim_problem_local(p) && c->tree[0] < 0) {
        return sim_fail(error, SIM_BAD_INPUT, "constraint %d touches no tree", i);
    }
    if (c->tree[0] == c->tree[1] && c->tree[0] >= 0) {
        return sim_fail(error, SIM_BAD_INPUT, "constraint %d names tree %d twice", i, c->tree[0]);
    }
    double bound = c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR ? c->bound : 0;
    if (!(c->friction >= 0) || isinf(c->friction) || !(c->stiffness >= 0) || !(c->dissipation >= 0) ||
        !(c->restitution >= 0 && c->restitution <= 1) || !(bound >= 0) || !(c->damping >= 0) || !isfinite(c->force)) {
        return sim_fail(error, SIM_BAD_INPUT, "constraint %d (%s) has a number out of its range", i,
                        sim_constraint_name(c->kind));
    }
    return SIM_OK;
}

static ptrdiff_t length_of_J(const sim_problem *p) {
    ptrdiff_t end = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2; side++) {
            if (c->tree[side] >= 0 && c->tree[side] < p->ntree) {
                ptrdiff_t past = c->block[side] + (ptrdiff_t)c->rows * p->tree[c->tree[side]].nv;
                end = past > end ? past : end;
            }
        }
    }
    return end;
}

static ptrdiff_t length_of_W(const sim_problem *p) {
    ptrdiff_t end = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            ptrdiff_t past = p->W->at[k] + p->constraint[i].rows * p->constraint[p->W->column[k]].rows;
            end = past > end ? past : end;
        }
    }
    return end;
}

static sim_status check_delassus(const sim_problem *p, sim_error *error) {
    const sim_delassus *W = p->W;
    if (!W || !p->q || W->start[0] != 0) {
        return sim_fail(error, SIM_BAD_INPUT, "a problem without trees needs W and q");
    }
    for (int i = 0; i < p->nconstraint; i++) {
        int diagonal = 0;
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            int j = W->column[k], rises = k == W->start[i] || j > W->column[k - 1];
            if (j < 0 || j >= p->nconstraint || !rises || W->at[k] < 0) {
                return sim_fail(error, SIM_BAD_INPUT, "row %d of W: block %d is out of place", i, j);
            }
            diagonal |= j == i;
        }
        if (!diagonal) {
            return sim_fail(error, SIM_BAD_INPUT, "row %d of W has no block on the diagonal", i);
        }
    }
    return SIM_OK;
}

static sim_status check(const sim_problem *p, sim_error *error) {
    int v0 = 0, row = 0;
    ptrdiff_t nJ = length_of_J(p);
    for (int t = 0; t < p->ntree; t++) {
        if (p->tree[t].v0 != v0 || p->tree[t].nv < 0) {
            return sim_fail(error, SIM_BAD_INPUT, "the velocities of tree %d do not follow on those before", t);
        }
        v0 += p->tree[t].nv;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        sim_status status = check_constraint(p, i, row, nJ, error);
        if (status) {
            return status;
        }
        row += p->constraint[i].rows;
    }
    if (v0 != p->nv || row != p->nrow || !(p->step > 0) || isinf(p->step)) {
        return sim_fail(error, SIM_BAD_INPUT, "%d velocities, %d rows and a step of %g s do not fit the parts", p->nv,
                        p->nrow, p->step);
    }
    sim_status status = sim_problem_local(p) ? check_delassus(p, error) : SIM_OK;
    if (status) {
        return status;
    }
    if (!finite(p->gap, p->nrow) || !finite(p->J, nJ) || !finite(p->v_free, p->nv) || !finite(p->v_start, p->nv) ||
        !finite(p->offset, p->nrow) || !finite(p->q, p->nrow) || (p->W && !finite(p->W->value, length_of_W(p)))) {
        return sim_fail(error, SIM_BAD_INPUT, "the problem holds a number that is not finite");
    }
    return SIM_OK;
}

/* A copy in the pool; NULL stays NULL.  `ok` becomes 0 without memory. */
static const void *copy(sim_pool *pool, const void *from, ptrdiff_t count, size_t size, int *ok) {
    if (!from) {
        return NULL;
    }
    void *to = sim_pool_alloc(pool, (size_t)count, size);
    *ok &= to != NULL;
    if (to && count) {
        memcpy(to, from, (size_t)count * size);
    }
    return to;
}

#define COPY(field, count) o->problem.field = copy(o->pool, p->field, (count), sizeof *p->field, &ok)

static int copy_delassus(owned *o, const sim_problem *p) {
    int ok = 1;
    sim_delassus *W = POOL_NEW(o->pool, sim_delassus, 1);
    if (!W) {
        return 0;
    }
    ptrdiff_t blocks = p->W->start[p->nconstraint];
    *W = *p->W;
    W->start = copy(o->pool, p->W->start, p->nconstraint + 1, sizeof *W->start, &ok);
    W->column = copy(o->pool, p->W->column, blocks, sizeof *W->column, &ok);
    W->at = copy(o->pool, p->W->at, blocks, sizeof *W->at, &ok);
    W->value = copy(o->pool, p->W->value, length_of_W(p), sizeof *W->value, &ok);
    o->problem.W = W;
    return ok;
}

static int copy_parts(owned *o, const sim_problem *p) {
    int ok = 1;
    COPY(tree, p->ntree);
    COPY(constraint, p->nconstraint);
    COPY(gap, p->nrow);
    COPY(J, length_of_J(p));
    COPY(v_free, p->nv);
    COPY(v_start, p->nv);
    COPY(offset, p->nrow);
    COPY(q, p->nrow);
    COPY(v_guess, p->nv);
    COPY(impulse_guess, p->nrow);
    return ok && (!p->W || copy_delassus(o, p));
}

static sim_status copy_mass(owned *o, const double *A, sim_error *error) {
    const sim_problem *p = &o->problem;
    o->A = POOL_NEW(o->pool, const double *, p->ntree);
    o->L = POOL_NEW(o->pool, double *, p->ntree);
    int ok = o->A && o->L;
    for (int t = 0; t < p->ntree && ok; t++) {
        int n = p->tree[t].nv;
        ptrdiff_t size = (ptrdiff_t)n * n;
        o->A[t] = copy(o->pool, A, size, sizeof *A, &ok);
        o->L[t] = POOL_NEW(o->pool, double, size);
        ok = ok && o->L[t];
        if (ok && !factor(n, A, o->L[t])) {
            return sim_fail(error, SIM_BAD_INPUT, "the matrix of tree %d is not positive definite", t);
        }
        A += size;
    }
    return ok ? SIM_OK : sim_fail(error, SIM_NO_RESOURCE, "no memory for a contact problem");
}

sim_problem *sim_problem_create(const sim_problem *parts, const double *A, sim_error *error) {
    if (check(parts, error)) {
        return NULL;
    }
    sim_pool *pool = sim_pool_create();
    owned *o = pool ? POOL_NEW(pool, owned, 1) : NULL;
    if (!o) {
        sim_pool_free(pool);
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a contact problem");
        return NULL;
    }
    o->problem = *parts;
    o->problem.bodies = NULL;
    o->pool = pool;
    o->problem.mass = (sim_mass){o, times, solve, matrix, NULL};
    sim_status status = copy_parts(o, parts) ? copy_mass(o, A, error)
                                             : sim_fail(error, SIM_NO_RESOURCE, "no memory for a contact problem");
    if (status) {
        sim_pool_free(pool);
        return NULL;
    }
    return &o->problem;
}

void sim_problem_free(sim_problem *problem) {
    if (problem) {
        sim_pool_free(((owned *)problem)->pool);
    }
}
