/* Block-sparse systems that are not symmetric: the solution satisfies them, and parts kept from an earlier factor
 * change no bit of it. */
#include "linalg/block_lu.h"
#include "base/threads.h"
#include "linalg/dense/strip.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_NODES = 24, MAX_NODES = 120, MAX_EDGES = MAX_NODES * (MAX_NODES - 1) / 2 };

typedef struct sparse_system {
    int size[MAX_NODES], first[MAX_NODES + 1], n;
    spd_edge edge[MAX_EDGES];
    spd_graph graph;
    double *H; /* dense, n x n */
} sparse_system;

/* Random blocks on nodes and edges; diagonal blocks dominate, as those of a mass matrix do. */
static void random_sparse_system(sparse_system *s, random_source *r, int nodes, double density) {
    int edges = 0;
    memset(s, 0, sizeof *s);
    for (int t = 0; t < nodes; t++) {
        s->size[t] = random_index(r, 3) ? 6 : 1 + random_index(r, 11);
        s->first[t + 1] = s->first[t] + s->size[t];
    }
    s->n = s->first[nodes];
    s->H = calloc((size_t)s->n * (size_t)s->n + 1, sizeof *s->H);
    for (int a = 0; a < nodes; a++) {
        for (int b = a; b < nodes; b++) {
            bool edge = b > a && random_uniform(r, 0, 1) < density;
            if (edge) {
                s->edge[edges++] = (spd_edge){a, b};
            }
            for (int i = s->first[a]; i < s->first[a + 1] && (edge || a == b); i++) {
                for (int j = s->first[b]; j < s->first[b + 1]; j++) {
                    s->H[i * s->n + j] = random_normal(r);
                    s->H[j * s->n + i] = random_normal(r);
                }
                s->H[i * s->n + i] += a == b ? 40 : 0;
            }
        }
    }
    s->graph = (spd_graph){nodes, edges, s->size, s->edge};
}

static void fill_diagonal(const sparse_system *s, block_lu *lu, int node) {
    int n = s->size[node], stride = strip_stride(n), v0 = s->first[node];
    double *D = block_lu_diagonal(lu, node);
    memset(D, 0, (size_t)n * (size_t)stride * sizeof *D);
    for (int i = 0; i < n; i++) {
        memcpy(D + i * stride, s->H + (v0 + i) * s->n + v0, (size_t)n * sizeof *D);
    }
}

static void fill_edge(const sparse_system *s, block_lu *lu, int edge) {
    block_lu_mark(lu, edge);
    block_lu_edge e = block_lu_between(lu, edge);
    int rows = s->size[e.row], columns = s->size[e.column];
    memset(e.upper, 0, (size_t)rows * (size_t)e.stride * sizeof *e.upper);
    memset(e.lower_transposed, 0, (size_t)rows * (size_t)e.stride * sizeof *e.upper);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            int row = s->first[e.row] + i, column = s->first[e.column] + j;
            e.upper[i * e.stride + j] = s->H[row * s->n + column];
            e.lower_transposed[i * e.stride + j] = s->H[column * s->n + row];
        }
    }
}

static void fill_system(const sparse_system *s, block_lu *lu) {
    for (int t = 0; t < s->graph.nodes; t++) {
        fill_diagonal(s, lu, t);
    }
    for (int e = 0; e < s->graph.edges; e++) {
        fill_edge(s, lu, e);
    }
}

static double greatest_residual(const sparse_system *s, const double *x, const double *b) {
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < s->n; j++) {
            sum += s->H[i * s->n + j] * x[j];
            size += fabs(s->H[i * s->n + j] * x[j]);
        }
        most = fmax(most, fabs(sum) / size);
    }
    return most;
}

Test(block_lu, solves_random_systems) {
    random_source r = {1};
    block_lu *lu = block_lu_create();
    for (int trial = 0; trial < 200; trial++) {
        sparse_system s;
        double x[11 * MAX_NODES], b[11 * MAX_NODES];
        random_sparse_system(&s, &r, 1 + random_index(&r, FEW_NODES), random_uniform(&r, 0, 0.6));
        cr_assert_eq(block_lu_analyse(lu, &s.graph, NULL), SIM_OK);
        fill_system(&s, lu);
        cr_assert(block_lu_factor(lu), "trial %d", trial);
        for (int i = 0; i < s.n; i++) {
            x[i] = b[i] = random_normal(&r);
        }
        block_lu_solve(lu, x);
        double residual = greatest_residual(&s, x, b);
        cr_assert_lt(residual, 100 * DBL_EPSILON, "trial %d, %d unknowns: %g", trial, s.n, residual);
        free(s.H);
    }
    block_lu_free(lu);
}

Test(block_lu, keeps_unchanged_parts_without_changing_a_bit) {
    random_source r = {2};
    for (int trial = 0; trial < 50; trial++) {
        sparse_system s;
        double x[11 * MAX_NODES], y[11 * MAX_NODES];
        block_lu *kept = block_lu_create(), *fresh = block_lu_create();
        random_sparse_system(&s, &r, FEW_NODES, 0.15);
        cr_assert(!block_lu_analyse(kept, &s.graph, NULL) && !block_lu_analyse(fresh, &s.graph, NULL));
        fill_system(&s, kept);
        cr_assert(block_lu_factor(kept));
        /* one diagonal block changes */
        int node = random_index(&r, FEW_NODES);
        s.H[s.first[node] * (s.n + 1)] += 1;
        fill_diagonal(&s, kept, node);
        fill_system(&s, fresh);
        cr_assert(block_lu_factor(kept) && block_lu_factor(fresh));
        for (int i = 0; i < s.n; i++) {
            x[i] = y[i] = random_normal(&r);
        }
        block_lu_solve(kept, x);
        block_lu_solve(fresh, y);
        cr_assert_eq(memcmp(x, y, (size_t)s.n * sizeof *x), 0, "trial %d", trial);
        free(s.H);
        block_lu_free(kept);
        block_lu_free(fresh);
    }
}

/* Panels are those of single threads or of all together; after a change of one block only some of them are stale. */
Test(block_lu, any_number_of_threads_gives_the_same_bits) {
    random_source r = {4};
    for (int trial = 0; trial < 12; trial++) {
        sparse_system s;
        double x[4][11 * MAX_NODES], b[11 * MAX_NODES];
        random_sparse_system(&s, &r, MAX_NODES - random_index(&r, 20), trial % 2 ? 0.05 : 0.015);
        for (int i = 0; i < s.n; i++) {
            b[i] = random_normal(&r);
        }
        int node = random_index(&r, MAX_NODES - 20);
        for (int threads = 1; threads <= 4; threads++) {
            block_lu *lu = block_lu_create();
            sim_threads *team = threads_create(threads);
            cr_assert_eq(block_lu_analyse(lu, &s.graph, team), SIM_OK);
            fill_system(&s, lu);
            cr_assert(block_lu_factor(lu));
            s.H[s.first[node] * (s.n + 1)] += 1;
            fill_diagonal(&s, lu, node);
            cr_assert(block_lu_factor(lu));
            s.H[s.first[node] * (s.n + 1)] -= 1;
            memcpy(x[threads - 1], b, sizeof b);
            block_lu_solve(lu, x[threads - 1]);
            cr_assert_eq(memcmp(x[threads - 1], x[0], (size_t)s.n * sizeof *b), 0, "trial %d, %d", trial, threads);
            block_lu_free(lu);
            threads_free(team);
        }
        s.H[s.first[node] * (s.n + 1)] += 1;
        cr_assert_lt(greatest_residual(&s, x[0], b), 1000 * DBL_EPSILON, "trial %d", trial);
        free(s.H);
    }
}

Test(block_lu, says_that_a_diagonal_block_is_singular) {
    random_source r = {3};
    sparse_system s;
    block_lu *lu = block_lu_create();
    random_sparse_system(&s, &r, 5, 0);
    cr_assert_eq(block_lu_analyse(lu, &s.graph, NULL), SIM_OK);
    fill_system(&s, lu);
    memset(block_lu_diagonal(lu, 3), 0, sizeof(double) * (size_t)s.size[3] * (size_t)strip_stride(s.size[3]));
    cr_assert(!block_lu_factor(lu));
    /* the factor that follows is whole again */
    fill_diagonal(&s, lu, 3);
    cr_assert(block_lu_factor(lu));
    free(s.H);
    block_lu_free(lu);
}
