/* The operator W: is it J A^-1 J', in every form in which it is given? */
#include "solver/matrices/delassus.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static sim_problem *everything(uint64_t seed) {
    random_source r = {seed};
    problem_recipe recipe = {
        .bodies = 5, .chain = 9, .contacts = 17, .friction = 0.5, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 1};
    return random_problem(&r, &recipe);
}

/* Columns of W from single impulses: nrow x nrow, row-major, to be freed. */
static double *dense(const sim_problem *p) {
    double *W = calloc((size_t)p->nrow * (size_t)p->nrow, sizeof *W), *x = calloc((size_t)p->nrow, sizeof *x);
    double *y = calloc((size_t)p->nrow, sizeof *y), *v = calloc((size_t)p->nv + 1, sizeof *v);
    for (int k = 0; k < p->nrow; k++) {
        x[k] = 1;
        delassus_times(p, x, v, y);
        x[k] = 0;
        for (int i = 0; i < p->nrow; i++) {
            W[i * p->nrow + k] = y[i];
        }
    }
    free(x);
    free(y);
    free(v);
    return W;
}

static double greatest(const double *W, int n) {
    double size = 0;
    for (int k = 0; k < n * n; k++) {
        size = fmax(size, fabs(W[k]));
    }
    return size;
}

/* Compare block (i, j) with the dense matrix. */
static double difference(const sim_problem *p, const double *W, int i, int j, const double *block) {
    const sim_constraint *a = &p->constraint[i], *b = &p->constraint[j];
    double worst = 0;
    for (int k = 0; k < a->rows; k++) {
        for (int l = 0; l < b->rows; l++) {
            double of = W[(a->row + k) * p->nrow + b->row + l];
            worst = fmax(worst, fabs(of - (block ? block[k * b->rows + l] : 0)));
        }
    }
    return worst;
}

static void assemble(const sim_problem *p, sim_arena *scratch, sim_delassus *W) {
    delassus_response Y;
    bool many = false;
    cr_assert(delassus_response_make(p, 1, scratch, &Y));
    cr_assert(delassus_pattern(p, SIZE_MAX, scratch, W, &many));
    cr_assert_not(many);
    cr_assert(delassus_assemble(p, &Y, scratch, W));
}

Test(delassus, assembled_equals_the_product_with_single_impulses) {
    sim_problem *p = everything(1);
    sim_arena *scratch = arena_create();
    sim_delassus W;
    double *of = dense(p), size = greatest(of, p->nrow);
    assemble(p, scratch, &W);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int j = 0; j < p->nconstraint; j++) {
            const double *block = NULL;
            for (int k = W.start[i]; k < W.start[i + 1]; k++) {
                block = W.column[k] == j ? W.value + W.at[k] : block;
                cr_assert(k == W.start[i] || W.column[k] > W.column[k - 1]);
            }
            cr_assert_leq(difference(p, of, i, j, block), 1e-14 * size, "block (%d, %d)", i, j);
        }
    }
    free(of);
    arena_free(scratch);
    sim_problem_free(p);
}

Test(delassus, assembled_is_symmetric_to_the_bit) {
    sim_problem *p = everything(2);
    sim_arena *scratch = arena_create();
    sim_delassus W;
    assemble(p, scratch, &W);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = W.start[i]; k < W.start[i + 1]; k++) {
            int j = W.column[k], rows = p->constraint[i].rows, columns = p->constraint[j].rows, other = W.start[j];
            while (W.column[other] != i) {
                cr_assert_lt(++other, W.start[j + 1], "block (%d, %d) is not there", j, i);
            }
            for (int a = 0; a < rows * columns; a++) {
                double here = W.value[W.at[k] + a], there = W.value[W.at[other] + a % columns * rows + a / columns];
                cr_assert_eq(here, there);
            }
        }
    }
    arena_free(scratch);
    sim_problem_free(p);
}

Test(delassus, diagonal_blocks_are_the_same_with_or_without_the_rest) {
    sim_problem *p = everything(3);
    sim_error error = {0};
    double *of = dense(p), size = greatest(of, p->nrow);
    double *W = calloc(sim_delassus_diagonal_size(p), sizeof *W), *at = W;
    cr_assert_eq(sim_delassus_diagonal(p, W, &error), SIM_OK);
    for (int i = 0; i < p->nconstraint; i++) {
        cr_assert_leq(difference(p, of, i, i, at), 1e-14 * size);
        at += p->constraint[i].rows * p->constraint[i].rows;
    }
    free(W);
    free(of);
    sim_problem_free(p);
}

/* w_i = trace W_ii / rows, rho_i = rows / trace (W_ii + R_i), against the dense matrix; bodies are no cubes. */
Test(delassus, scales_of_constraints_are_means_over_all_of_their_rows) {
    sim_problem *p = everything(5);
    sim_arena *scratch = arena_create();
    double *of = dense(p), *R = calloc((size_t)p->nrow, sizeof *R), *w = calloc((size_t)p->nconstraint, sizeof *w);
    double *rho = calloc((size_t)p->nconstraint, sizeof *rho);
    for (int k = 0; k < p->nrow; k++) {
        R[k] = 0.1 * (1 + k % 7);
    }
    cr_assert(delassus_scales(p, R, scratch, w, rho));
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double trace = 0, compliance = 0;
        for (int k = c->row; k < c->row + c->rows; k++) {
            trace += of[k * p->nrow + k];
            compliance += R[k];
        }
        cr_expect_float_eq(w[i], trace / c->rows, 1e-12 * trace);
        cr_expect_float_eq(rho[i] * (trace + compliance), c->rows, 1e-12 * c->rows);
    }
    free(of);
    free(R);
    free(w);
    free(rho);
    arena_free(scratch);
    sim_problem_free(p);
}

/* The same problem as W and q. */
Test(delassus, of_a_local_problem_is_the_one_it_holds) {
    sim_problem *p = everything(4);
    sim_arena *scratch = arena_create();
    sim_delassus W;
    sim_error error = {0};
    assemble(p, scratch, &W);
    double *q = calloc((size_t)p->nrow, sizeof *q);
    sim_problem parts = *p;
    parts.ntree = parts.nv = 0;
    parts.W = &W;
    parts.q = q;
    parts.tree = NULL;
    parts.J = parts.v_free = parts.v_start = NULL;
    sim_constraint *c = malloc((size_t)p->nconstraint * sizeof *c);
    for (int i = 0; i < p->nconstraint; i++) {
        c[i] = p->constraint[i];
        c[i].tree[0] = c[i].tree[1] = -1;
    }
    parts.constraint = c;
    sim_problem *local = sim_problem_create(&parts, NULL, &error);
    cr_assert(local, "%s", error.text);
    double *a = dense(p), *b = dense(local), size = greatest(a, p->nrow);
    for (int k = 0; k < p->nrow * p->nrow; k++) {
        cr_assert_float_eq(a[k], b[k], 1e-14 * size);
    }
    double *D = calloc(2 * sim_delassus_diagonal_size(p), sizeof *D), *E = D + sim_delassus_diagonal_size(p);
    sim_delassus_diagonal(p, D, &error);
    sim_delassus_diagonal(local, E, &error);
    for (size_t k = 0; k < sim_delassus_diagonal_size(p); k++) {
        cr_assert_float_eq(D[k], E[k], 1e-14 * size);
    }
    sim_problem_free(local);
    free(D);
    free(a);
    free(b);
    free(c);
    free(q);
    arena_free(scratch);
    sim_problem_free(p);
}
