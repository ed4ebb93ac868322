/* Conversion of FCLIB's local form to W and q, block by block:  u = K (r, l) + q.
 *
 * FCLIB's contacts have their rows as (n, t1, t2), ours as (t1, t2, n); those of rolling follow in both.  A bilateral row becomes an equality of one
 * row. */
#include "record/problem/problem_file.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

sim_constraint *problem_constraints(sim_problem_file *file, const fclib *p, memory_pool *work) {
    /* a constraint of 3 or 5 rows a contact, of 1 row a bilateral equation */
    int count = p->contacts + p->bilateral;
    sim_constraint *constraint = POOL_NEW(work, sim_constraint, count);
    file->contacts = p->contacts;
    file->bilateral = p->bilateral;
    file->contact_rows = p->contact_rows;
    file->fclib_row = POOL_NEW(file->pool, int, p->contact_rows *(ptrdiff_t)p->contacts + p->bilateral);
    if (!constraint || !file->fclib_row) {
        return NULL;
    }
    /* FCLIB orders a contact (normal, tangents), the problem (tangents, normal) */
    for (int i = 0, row = 0; i < count; i++) {
        int contact = i < p->contacts, rows = contact ? p->contact_rows : 1;
        constraint[i] = (sim_constraint){.kind = contact ? SIM_CONTACT : SIM_EQUALITY,
                                         .row = row,
                                         .rows = rows,
                                         .tree = {-1, -1},
                                         .body = {-1, -1},
                                         .id = (uint64_t)i,
                                         .friction = contact ? p->mu[i] : 0,
                                         .rolling = contact && p->mu_r ? p->mu_r[i] : 0,
                                         .stiffness = INFINITY};
        for (int k = 0; k < rows; k++) {
            file->fclib_row[row + k] = row + (contact && k < 3 ? (k + 1) % 3 : k);
        }
        row += rows;
    }
    return constraint;
}

const double *problem_impulse_guess(const sim_problem_file *file, const fclib *p, memory_pool *work) {
    int m = p->contact_rows * p->contacts, nrow = m + p->bilateral;
    double *guess = p->r_guess && (p->l_guess || !p->bilateral) ? POOL_NEW(work, double, nrow) : NULL;
    for (int k = 0; guess && k < nrow; k++) {
        int at = file->fclib_row[k];
        guess[k] = at < m ? p->r_guess[at] : p->l_guess[at - m];
    }
    return guess;
}

typedef struct blocks {
    const sim_constraint *constraint;
    int contacts, constraints;
    const sparse *K;
    const int *fclib_row;
    int *problem_row; /* the other way */
    int *start, *column, *mark;
    ptrdiff_t *at;
    double *value;
} blocks;

static int constraint_of(const blocks *b, int fclib_row) {
    return fclib_row < 3 * b->contacts ? fclib_row / 3 : fclib_row - 2 * b->contacts;
}

static int compare_ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The constraints j for which row block i of K holds a number, and i itself; rising, into `column` if it is there. */
static int list_row_columns(blocks *b, int i, int *column) {
    /* the diagonal first */
    const sim_constraint *c = &b->constraint[i];
    int count = 0;
    b->mark[i] = i;
    if (column) {
        column[count] = i;
    }
    count++;
    /* constraints in whose columns a row has an entry */
    for (int k = 0; k < c->rows; k++) {
        int row = b->fclib_row[c->row + k];
        for (ptrdiff_t e = b->K->start[row]; e < b->K->start[row + 1]; e++) {
            int j = constraint_of(b, b->K->column[e]);
            if (b->mark[j] != i) {
                b->mark[j] = i;
                if (column) {
                    column[count] = j;
                }
                count++;
            }
        }
    }
    /* rising */
    if (column) {
        qsort(column, (size_t)count, sizeof *column, compare_ints);
    }
    return count;
}

static void clear_column_marks(blocks *b) {
    for (int i = 0; i < b->constraints; i++) {
        b->mark[i] = -1;
    }
}

static bool find_blocks(blocks *b, memory_pool *work) {
    /* count the blocks that hold an entry */
    ptrdiff_t count = 0, length = 0;
    clear_column_marks(b);
    for (int i = 0; i < b->constraints; i++) {
        count += list_row_columns(b, i, NULL);
    }
    /* columns and offsets of each block row, a matrix in block compressed rows */
    b->start = POOL_NEW(work, int, (ptrdiff_t)b->constraints + 1);
    b->column = POOL_NEW(work, int, count);
    b->at = POOL_NEW(work, ptrdiff_t, count);
    if (!b->start || !b->column || !b->at || count > INT_MAX) {
        return false;
    }
    clear_column_marks(b);
    for (int i = 0; i < b->constraints; i++) {
        b->start[i + 1] = b->start[i] + list_row_columns(b, i, b->column + b->start[i]);
        for (int k = b->start[i]; k < b->start[i + 1]; k++) {
            b->at[k] = length;
            length += b->constraint[i].rows * b->constraint[b->column[k]].rows;
        }
    }
    b->value = POOL_NEW(work, double, length);
    return b->value != NULL;
}

static void fill_local_blocks(blocks *b) {
    for (int i = 0; i < b->constraints; i++) {
        const sim_constraint *c = &b->constraint[i];
        for (int k = 0; k < c->rows; k++) {
            int row = b->fclib_row[c->row + k];
            for (ptrdiff_t e = b->K->start[row]; e < b->K->start[row + 1]; e++) {
                int j = constraint_of(b, b->K->column[e]), within = b->problem_row[b->K->column[e]];
                const int *found = bsearch(&j, b->column + b->start[i], (size_t)(b->start[i + 1] - b->start[i]),
                                           sizeof j, compare_ints);
                const sim_constraint *other = &b->constraint[j];
                b->value[b->at[found - b->column] + k * other->rows + within - other->row] = b->K->value[e];
            }
        }
    }
}

sim_status problem_local(sim_problem_file *file, const fclib *p, memory_pool *work, const sparse *K, const double *q,
                         sim_error *error) {
    /* rows in the problem's order */
    int nrow = p->contact_rows * p->contacts + p->bilateral;
    sim_problem parts = {.step = 1, .nconstraint = p->contacts + p->bilateral, .nrow = nrow};
    parts.constraint = problem_constraints(file, p, work);
    double *ordered = POOL_NEW(work, double, nrow);
    blocks b = {.constraint = parts.constraint,
                .contacts = p->contacts,
                .constraints = parts.nconstraint,
                .K = K,
                .fclib_row = file->fclib_row,
                .problem_row = POOL_NEW(work, int, nrow)};
    b.mark = POOL_NEW(work, int, parts.nconstraint);
    parts.gap = POOL_NEW(work, double, nrow);
    /* pattern of W, and the permutation of rows */
    if (!parts.constraint || !ordered || !parts.gap || !b.problem_row || !b.mark || !find_blocks(&b, work)) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    for (int k = 0; k < nrow; k++) {
        b.problem_row[file->fclib_row[k]] = k;
        ordered[k] = q[file->fclib_row[k]];
    }
    /* values of W */
    fill_local_blocks(&b);
    sim_delassus W = {b.start, b.column, b.at, b.value, sparse_symmetric(K)};
    parts.W = &W;
    parts.q = ordered;
    /* warm start */
    parts.impulse_guess = problem_impulse_guess(file, p, work);
    sim_error why = {0};
    file->problem = sim_problem_create(&parts, NULL, &why);
    return file->problem
               ? SIM_OK
               : sim_fail(error, why.status, "%s%s", p->global ? "/fclib_global: " : "/fclib_local/", why.text);
}

static void add_part(triplets *t, const sparse *a, int row0, int column0, int transposed) {
    for (int i = 0; i < a->rows; i++) {
        for (ptrdiff_t k = a->start[i]; k < a->start[i + 1]; k++) {
            int j = a->column[k];
            triplets_add(t, row0 + (transposed ? j : i), column0 + (transposed ? i : j), a->value[k]);
        }
    }
}

/* K = (W V; V' R), q = (q, s) */
sim_status problem_local_whole(sim_problem_file *file, const fclib *p, memory_pool *work, sim_error *error) {
    int m = p->contact_rows * p->contacts, n = m + p->bilateral;
    if (p->bilateral == 0) {
        return problem_local(file, p, work, &p->W, p->q, error);
    }
    triplets t = triplets_make(work, p->W.start[m] + 2 * p->V.start[m] + p->R.start[p->bilateral]);
    double *q = POOL_NEW(work, double, n);
    if (!t.row || !t.column || !t.value || !q) {
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
    }
    add_part(&t, &p->W, 0, 0, 0);
    add_part(&t, &p->V, 0, m, 0);
    add_part(&t, &p->V, m, 0, 1);
    add_part(&t, &p->R, m, m, 0);
    memcpy(q, p->q, (size_t)m * sizeof *q);
    memcpy(q + m, p->s, (size_t)p->bilateral * sizeof *q);
    sparse K = sparse_of(work, n, n, &t);
    return sparse_there(&K) ? problem_local(file, p, work, &K, q, error)
                            : sim_fail(error, SIM_NO_RESOURCE, "no memory for the problem");
}
