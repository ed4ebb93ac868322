/* How does a method that works on velocities answer a problem that has W alone?  By W = L L', L with as many columns as W
 * has rank: then
 *
 *     A = 1,   J = L,   v* = 0,   w = q:      u = J v + w,   v = J' gamma     <=>     u = W gamma + q.
 *
 * Each connected part of W is a tree.  L by Cholesky's method with pivots, largest first; it ends where what is left of
 * the diagonal is no more than rounding, eps n times its greatest (Higham 2002, sec. 10.3). */
#include "base/pool.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <sim/problem.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    int n, rank;
    int *row;      /* [n] of the problem */
    double *W, *L; /* [n][n], the remainder of W; the rank leading columns of L */
} part;

static int root_of(int *above, int i) {
    while (above[i] != i) {
        above[i] = above[above[i]];
        i = above[i];
    }
    return i;
}

/* Connected constraints have the same number, in order; how many numbers. */
static int number_parts(const sim_problem *p, int *above, int *number) {
    int count = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        above[i] = i;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = p->W->start[i]; k < p->W->start[i + 1]; k++) {
            int a = root_of(above, i), b = root_of(above, p->W->column[k]);
            above[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        int root = root_of(above, i);
        number[i] = root == i ? count++ : number[root];
    }
    return count;
}

/* Rows of a part, and where they stand in it. */
static int fill_part(const sim_problem *p, const int *number, int which, sim_pool *pool, int *place, part *s) {
    *s = (part){0};
    for (int i = 0; i < p->nconstraint; i++) {
        s->n += number[i] == which ? p->constraint[i].rows : 0;
    }
    s->row = POOL_NEW(pool, int, s->n);
    s->W = POOL_NEW(pool, double, (ptrdiff_t)s->n * s->n);
    s->L = POOL_NEW(pool, double, (ptrdiff_t)s->n * s->n);
    if (!s->row || !s->W || !s->L) {
        return 0;
    }
    for (int i = 0, at = 0; i < p->nconstraint; i++) {
        for (int k = 0; number[i] == which && k < p->constraint[i].rows; k++) {
            place[p->constraint[i].row + k] = at;
            s->row[at++] = p->constraint[i].row + k;
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = p->W->start[i]; number[i] == which && k < p->W->start[i + 1]; k++) {
            const sim_constraint *a = &p->constraint[i], *b = &p->constraint[p->W->column[k]];
            for (int e = 0; e < a->rows * b->rows; e++) {
                ptrdiff_t row = place[a->row + e / b->rows], column = place[b->row + e % b->rows];
                s->W[row * s->n + column] = p->W->value[p->W->at[k] + e];
            }
        }
    }
    return 1;
}

static int greatest(const part *s) {
    int best = 0;
    for (int i = 1; i < s->n; i++) {
        best = s->W[(ptrdiff_t)i * s->n + i] > s->W[(ptrdiff_t)best * s->n + best] ? i : best;
    }
    return best;
}

/* L, column after column: W loses l l' each time. */
static void factor(part *s) {
    ptrdiff_t n = s->n;
    double least = n ? DBL_EPSILON * (double)n * s->W[greatest(s) * (n + 1)] : 0;
    for (s->rank = 0; s->rank < s->n; s->rank++) {
        ptrdiff_t k = greatest(s);
        double pivot = s->W[k * (n + 1)];
        if (!(pivot > least) || !(pivot > 0)) {
            return;
        }
        double *l = s->L + s->rank * n, size = sqrt(pivot);
        for (ptrdiff_t i = 0; i < n; i++) {
            l[i] = s->W[i * n + k] / size;
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            for (ptrdiff_t j = 0; l[i] != 0 && j < n; j++) {
                s->W[i * n + j] -= l[i] * l[j];
            }
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            s->W[i * n + k] = s->W[k * n + i] = 0; /* done with */
        }
    }
}

typedef struct draft {
    sim_problem parts;
    sim_problem_tree *tree;
    sim_constraint *constraint;
    double *J, *A;
} draft;

static ptrdiff_t set_blocks(draft *d, const part *s, const int *number) {
    ptrdiff_t at = 0;
    for (int i = 0; i < d->parts.nconstraint; i++) {
        sim_constraint *c = &d->constraint[i];
        c->tree[0] = number[i];
        c->tree[1] = -1;
        c->block[0] = at;
        c->columns[0] = (sim_columns){0, 0};
        at += (ptrdiff_t)c->rows * s[number[i]].rank;
    }
    return at;
}

static void fill_J(draft *d, const part *s, const int *number, const int *place) {
    for (int i = 0; i < d->parts.nconstraint; i++) {
        const sim_constraint *c = &d->constraint[i];
        const part *mine = &s[number[i]];
        for (int k = 0; k < c->rows; k++) {
            double *row = d->J + c->block[0] + (ptrdiff_t)k * mine->rank;
            for (int j = 0; j < mine->rank; j++) {
                row[j] = mine->L[(ptrdiff_t)j * mine->n + place[c->row + k]];
            }
        }
    }
}

static int fill_trees(draft *d, const part *s, int count, sim_pool *pool) {
    ptrdiff_t size = 0;
    for (int t = 0; t < count; t++) {
        size += (ptrdiff_t)s[t].rank * s[t].rank;
        d->tree[t] = (sim_problem_tree){d->parts.nv, s[t].rank};
        d->parts.nv += s[t].rank;
    }
    d->A = POOL_NEW(pool, double, size);
    d->parts.v_free = POOL_NEW(pool, double, d->parts.nv);
    double *A = d->A;
    for (int t = 0; A && t < count; t++) {
        for (ptrdiff_t k = 0; k < s[t].rank; k++) {
            A[k * (s[t].rank + 1)] = 1;
        }
        A += (ptrdiff_t)s[t].rank * s[t].rank;
    }
    return d->A && d->parts.v_free;
}

static int make(draft *d, const sim_problem *p, sim_pool *pool) {
    int *above = POOL_NEW(pool, int, p->nconstraint), *number = POOL_NEW(pool, int, p->nconstraint);
    int *place = POOL_NEW(pool, int, p->nrow), count = above && number ? number_parts(p, above, number) : 0;
    part *s = POOL_NEW(pool, part, count);
    d->tree = POOL_NEW(pool, sim_problem_tree, count);
    d->constraint = POOL_NEW(pool, sim_constraint, p->nconstraint);
    if (!above || !number || !place || !s || !d->tree || !d->constraint) {
        return 0;
    }
    for (int t = 0; t < count; t++) {
        if (!fill_part(p, number, t, pool, place, &s[t])) {
            return 0;
        }
        factor(&s[t]);
    }
    memcpy(d->constraint, p->constraint, (size_t)p->nconstraint * sizeof *d->constraint);
    d->parts = *p;
    d->parts.W = NULL;
    d->parts.q = NULL;
    d->parts.ntree = count;
    d->J = POOL_NEW(pool, double, set_blocks(d, s, number));
    if (!d->J || !fill_trees(d, s, count, pool)) {
        return 0;
    }
    fill_J(d, s, number, place);
    d->parts.tree = d->tree;
    d->parts.constraint = d->constraint;
    d->parts.J = d->J;
    d->parts.v_start = d->parts.v_free;
    d->parts.offset = p->q;
    d->parts.v_guess = NULL;
    return 1;
}

sim_problem *sim_problem_factored(const sim_problem *p, sim_error *error) {
    if (!sim_problem_local(p) || !p->W || !p->W->symmetric || !p->nrow) {
        sim_fail(error, SIM_BAD_INPUT, "W is not symmetric, and has no factor for solvers that work on velocities");
        return NULL;
    }
    draft d = {0};
    sim_pool *pool = sim_pool_create();
    sim_problem *made = NULL;
    if (!pool || !make(&d, p, pool)) {
        sim_fail(error, SIM_NO_RESOURCE, "no memory for a factor of W");
    } else {
        made = sim_problem_create(&d.parts, d.A, error);
    }
    sim_pool_free(pool);
    return made;
}
