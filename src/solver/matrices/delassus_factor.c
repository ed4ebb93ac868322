/* Problem with velocities from a local one: W = L L' by pivoted Cholesky factorisation.
 *
 *     u = W gamma + q,   W = L L'   <=>   A (v - v*) = J' gamma,  u = J v + w   with   A = 1,  J = L,  v* = 0,  w = q
 *
 * Many systems of bodies have the same W; this one has unit masses and as many velocities as W has rank.  Each
 * connected component of W becomes a tree.  The pivot is the row with the largest remaining diagonal.  Rows that remain
 * below rounding are redundant: sums of pivot rows.  Cost: rows^2 rank / 2 multiplications per component. */
#include "solver/matrices/delassus_factor.h"
#include "base/disjoint_set.h"
#include "math/dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Remainder that W may have from rounding, over its largest diagonal entry. */
static const double MAX_REMAINDER_RATIO = 1e-6;
/* Mark in `left` of a row that has been a pivot. */
#define PIVOTED (-HUGE_VAL)

typedef struct conversion {
    const sim_problem *local;
    sim_problem *global;
    sim_arena *scratch;
    int *first, *next; /* constraints of a component, in rising order, as linked lists; -1 ends */
    int *root;         /* union-find: first constraint of the component of a constraint */
    int *row;          /* first row of a constraint in its component */
    sim_problem_tree *tree;
    sim_constraint *constraint;
    double *J, *v;
    ptrdiff_t used; /* of J */
} conversion;

static void find_components(conversion *c) {
    const sim_delassus *W = c->local->W;
    int n = c->local->nconstraint;
    for (int i = 0; i < n; i++) {
        c->root[i] = i;
        c->first[i] = c->next[i] = -1;
    }
    for (int i = 0; i < n; i++) {
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            disjoint_set_unite(c->root, i, W->column[k]);
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        int root = disjoint_set_find(c->root, i);
        c->next[i] = c->first[root];
        c->first[root] = i;
    }
}

/* Number of rows of a component; sets the first row of each constraint. */
static int number_rows(conversion *c, int root) {
    int rows = 0;
    for (int i = c->first[root]; i >= 0; i = c->next[i]) {
        c->row[i] = rows;
        rows += c->local->constraint[i].rows;
    }
    return rows;
}

/* Symmetric part of W of a component, dense. */
static void expand_component(const conversion *c, int root, int n, double *W) {
    const sim_delassus *from = c->local->W;
    memset(W, 0, (size_t)n * n * sizeof *W);
    for (int i = c->first[root]; i >= 0; i = c->next[i]) {
        for (int k = from->start[i]; k < from->start[i + 1]; k++) {
            int j = from->column[k], rows = c->local->constraint[i].rows, columns = c->local->constraint[j].rows;
            for (int r = 0; r < rows; r++) {
                memcpy(W + (ptrdiff_t)(c->row[i] + r) * n + c->row[j], from->value + from->at[k] + r * columns,
                       (size_t)columns * sizeof *W);
            }
        }
    }
    for (int i = 0; i < n && !from->symmetric; i++) {
        for (int j = 0; j < i; j++) {
            double *a = W + (ptrdiff_t)i * n + j, *b = W + (ptrdiff_t)j * n + i;
            *a = *b = 0.5 * (*a + *b);
        }
    }
}

/* True if the remainder of W in rows without a pivot is rounding. */
static bool remainder_vanishes(int n, int rank, const double *W, const double *L, const double *left, double limit) {
    for (int i = 0; i < n; i++) {
        if (left[i] != PIVOTED && left[i] < -limit) {
            return false;
        }
        for (int j = 0; j < i && left[i] != PIVOTED; j++) {
            const double *a = L + (ptrdiff_t)i * n, *b = L + (ptrdiff_t)j * n;
            if (left[j] != PIVOTED && fabs(W[(ptrdiff_t)i * n + j] - dense_dot(rank, a, b)) > limit) {
                return false;
            }
        }
    }
    return true;
}

/* L L' = W, n x rank in rows of n.  Returns the rank; -1 if W is not positive semidefinite.  left [n]: work */
static int factor_pivoted(int n, const double *W, double *L, double *left) {
    double largest = 0;
    int rank = 0;
    /* remaining diagonal: that of W */
    for (int i = 0; i < n; i++) {
        left[i] = W[(ptrdiff_t)i * (n + 1)];
        largest = fmax(largest, fabs(left[i]));
    }
    for (; rank < n; rank++) {
        /* pivot: the largest remaining diagonal */
        int pivot = 0;
        for (int i = 1; i < n; i++) {
            pivot = left[i] > left[pivot] ? i : pivot;
        }
        if (!(left[pivot] > n * DBL_EPSILON * largest)) {
            break;
        }
        /* column of L: L_ik = (W_ip - sum_(j<k) L_ij L_pj) / L_pk */
        double root = sqrt(left[pivot]);
        const double *row = L + (ptrdiff_t)pivot * n;
        for (int i = 0; i < n; i++) {
            double *own = L + (ptrdiff_t)i * n;
            if (left[i] == PIVOTED) {
                own[rank] = 0;
            } else if (i != pivot) {
                own[rank] = (W[(ptrdiff_t)i * n + pivot] - dense_dot(rank, own, row)) / root;
                left[i] -= own[rank] * own[rank];
            }
        }
        L[(ptrdiff_t)pivot * n + rank] = root;
        left[pivot] = PIVOTED;
    }
    return remainder_vanishes(n, rank, W, L, left, MAX_REMAINDER_RATIO * largest) ? rank : -1;
}

/* Appends the component to the global problem as a tree. */
static void append_tree(conversion *c, int root, int n, int rank, const double *L) {
    sim_problem *p = c->global;
    c->tree[p->ntree] = (sim_problem_tree){p->nv, rank};
    for (int i = c->first[root]; i >= 0; i = c->next[i]) {
        sim_constraint *k = &c->constraint[i];
        *k = c->local->constraint[i];
        k->tree[0] = p->ntree;
        k->tree[1] = -1;
        k->block[0] = c->used;
        k->columns[0] = (sim_columns){0, 0};
        for (int r = 0; r < k->rows; r++, c->used += rank) {
            memcpy(c->J + c->used, L + (ptrdiff_t)(c->row[i] + r) * n, (size_t)rank * sizeof *L);
        }
    }
    p->ntree++;
    p->nv += rank;
}

static delassus_factor_result convert_component(conversion *c, int root) {
    int n = number_rows(c, root), rank = 0;
    size_t mark = arena_mark(c->scratch), square = (size_t)n * n;
    double *W = ARENA_NEW(c->scratch, double, square), *L = ARENA_NEW(c->scratch, double, square);
    double *left = ARENA_NEW(c->scratch, double, n);
    delassus_factor_result result = DELASSUS_NO_MEMORY;
    if (W && L && left) {
        expand_component(c, root, n, W);
        rank = factor_pivoted(n, W, L, left);
        result = rank < 0 ? DELASSUS_INDEFINITE : DELASSUS_FACTORED;
    }
    if (result == DELASSUS_FACTORED) {
        append_tree(c, root, n, rank, L);
    }
    arena_release(c->scratch, mark);
    return result;
}

static void identity_times(const void *self, int tree, const double *x, double *y) {
    const sim_problem_tree *t = self;
    memcpy(y, x, (size_t)t[tree].nv * sizeof *y);
}

static void identity_solve(const void *self, int tree, double *x) {
    (void)self;
    (void)tree;
    (void)x;
}

static void identity_diagonal(const void *self, int tree, double *d) {
    const sim_problem_tree *t = self;
    for (int j = 0; j < t[tree].nv; j++) {
        d[j] = 1;
    }
}

static void identity_matrix(const void *self, int tree, double *A) {
    const sim_problem_tree *t = self;
    size_t n = (size_t)t[tree].nv;
    memset(A, 0, n * n * sizeof *A);
    for (size_t k = 0; k < n; k++) {
        A[k * (n + 1)] = 1;
    }
}

/* Warm start of the velocities: v = J' gamma. */
static void set_warm_start(conversion *c) {
    const sim_problem *p = c->global;
    const double *gamma = c->local->impulse_guess;
    double *v = c->v + p->nv;
    memset(v, 0, (size_t)p->nv * sizeof *v);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &c->constraint[i];
        const sim_problem_tree *t = &c->tree[k->tree[0]];
        for (int r = 0; r < k->rows; r++) {
            dense_axpy(t->nv, gamma[k->row + r], c->J + k->block[0] + (ptrdiff_t)r * t->nv, v + t->v0);
        }
    }
    c->global->v_guess = v;
}

static ptrdiff_t count_J(conversion *c) {
    ptrdiff_t numbers = 0;
    for (int i = 0; i < c->local->nconstraint; i++) {
        if (c->first[i] >= 0) {
            ptrdiff_t rows = number_rows(c, i);
            numbers += rows * rows;
        }
    }
    return numbers;
}

static bool reserve_components(conversion *c) {
    size_t n = (size_t)c->local->nconstraint;
    c->first = ARENA_NEW(c->scratch, int, n);
    c->next = ARENA_NEW(c->scratch, int, n);
    c->root = ARENA_NEW(c->scratch, int, n);
    c->row = ARENA_NEW(c->scratch, int, n);
    return c->first && c->next && c->root && c->row;
}

double delassus_factor_cubes(const sim_problem *local, sim_arena *scratch) {
    conversion c = {.local = local, .scratch = scratch};
    size_t mark = arena_mark(scratch);
    double sum = -1;
    if (reserve_components(&c)) {
        find_components(&c);
        sum = 0;
        for (int i = 0; i < local->nconstraint; i++) {
            double rows = c.first[i] >= 0 ? number_rows(&c, i) : 0;
            sum += rows * rows * rows;
        }
    }
    arena_release(scratch, mark);
    return sum;
}

delassus_factor_result problem_from_delassus(const sim_problem *local, sim_arena *scratch, sim_problem *global) {
    size_t n = (size_t)local->nconstraint;
    conversion c = {.local = local, .global = global, .scratch = scratch};
    /* memory */
    if (!reserve_components(&c)) {
        return DELASSUS_NO_MEMORY;
    }
    c.tree = ARENA_NEW(scratch, sim_problem_tree, n);
    c.constraint = ARENA_NEW(scratch, sim_constraint, n);
    c.v = ARENA_NEW(scratch, double, 2 * (size_t)local->nrow);
    if (!c.tree || !c.constraint || !c.v) {
        return DELASSUS_NO_MEMORY;
    }
    /* connected components of W */
    find_components(&c);
    c.J = ARENA_NEW(scratch, double, count_J(&c));
    if (!c.J) {
        return DELASSUS_NO_MEMORY;
    }
    /* one tree for each component: W = L L', J = L */
    *global = *local;
    global->ntree = global->nv = 0;
    for (int i = 0; i < local->nconstraint; i++) {
        delassus_factor_result result = c.first[i] >= 0 ? convert_component(&c, i) : DELASSUS_FACTORED;
        if (result != DELASSUS_FACTORED) {
            return result;
        }
    }
    /* A = 1, v* = 0, w = q */
    memset(c.v, 0, (size_t)global->nv * sizeof *c.v);
    global->tree = c.tree;
    global->constraint = c.constraint;
    global->J = c.J;
    global->mass = (sim_mass){c.tree, identity_times, identity_solve, identity_matrix, identity_diagonal, NULL};
    global->v_free = global->v_start = c.v;
    global->v_guess = NULL;
    global->offset = local->q;
    global->W = NULL;
    global->q = NULL;
    if (local->impulse_guess) {
        set_warm_start(&c);
    }
    return DELASSUS_FACTORED;
}
