/* Block-sparse systems: every way of solving them gives the same answer, and what is kept changes no bit of it. */
#include "linalg/spd.h"
#include "support/models.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, MOST_EDGES = MOST * (MOST - 1) / 2 };

typedef struct system {
    int size[MOST], first[MOST + 1];
    spd_edge edge[MOST_EDGES];
    spd_graph graph;
    double *H; /* dense, n x n */
    int n;
} spd_system;

/* H = I + the sum over edges and nodes of B'B, with B of a few rows over the unknowns they join. */
static void add_rows(spd_system *s, random_source *r, int a, int b) {
    double *x = calloc((size_t)s->n, sizeof *x);
    for (int row = 0; row < 3; row++) {
        for (int k = 0; k < 2; k++) {
            int t = k ? b : a;
            for (int j = s->first[t]; j < s->first[t + 1]; j++) {
                x[j] = random_normal(r);
            }
        }
        for (int i = 0; i < s->n; i++) {
            for (int j = 0; j < s->n; j++) {
                s->H[i * s->n + j] += x[i] * x[j];
            }
        }
    }
    free(x);
}

static spd_system random_system(random_source *r, int nodes, double density, const int *sizes, int kinds) {
    spd_system s = {0};
    int edges = 0;
    for (int t = 0; t < nodes; t++) {
        s.size[t] = sizes[random_index(r, kinds)];
        s.first[t + 1] = s.first[t] + s.size[t];
    }
    s.n = s.first[nodes];
    s.H = calloc((size_t)s.n * s.n + 1, sizeof *s.H);
    for (int i = 0; i < s.n; i++) {
        s.H[i * s.n + i] = 1;
    }
    for (int a = 0; a < nodes; a++) {
        for (int b = a + 1; b < nodes; b++) {
            if (random_uniform(r, 0, 1) < density) {
                s.edge[edges++] = (spd_edge){a, b};
                add_rows(&s, r, a, b);
            }
        }
    }
    s.graph = (spd_graph){nodes, edges, NULL, NULL};
    return s;
}

static void put(const spd_system *s, spd_block b) {
    for (int i = 0; i < s->size[b.row]; i++) {
        for (int j = 0; j < b.stride; j++) {
            b.value[i * b.stride + j] =
                j < s->size[b.column] ? s->H[(s->first[b.row] + i) * s->n + s->first[b.column] + j] : 0;
        }
    }
}

static void fill(const spd_system *s, spd *by) {
    for (int t = 0; t < s->graph.nodes; t++) {
        put(s, spd_diagonal(by, t));
    }
    for (int e = 0; e < s->graph.edges; e++) {
        put(s, spd_between(by, e));
    }
}

static void solve(spd_system *s, spd *by, spd_method method, double *x) {
    s->graph.size = s->size;
    s->graph.edge = s->edge;
    cr_assert_eq(spd_analyse(by, &s->graph, method), SIM_OK);
    fill(s, by);
    cr_assert_eq(spd_factor(by), SPD_FACTORED);
    cr_assert_eq(spd_solve(by, x), SIM_OK);
}

static double error_of(const spd_system *s, const double *x, const double *b) {
    double worst = 0, scale = 0;
    for (int i = 0; i < s->n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < s->n; j++) {
            sum += s->H[i * s->n + j] * x[j];
            size += fabs(s->H[i * s->n + j] * x[j]);
        }
        worst = fmax(worst, fabs(sum));
        scale = fmax(scale, size);
    }
    return s->n ? worst / scale : 0;
}

Test(spd, all_methods_solve_random_graphs_of_all_block_sizes) {
    static const int mixed[] = {0, 1, 2, 3, 5, 6, 6, 6, 7, 13, 18}, free_bodies[] = {6};
    random_source r = {1};
    for (int trial = 0; trial < trials_of(60); trial++) {
        int nodes = trial ? 1 + random_index(&r, MOST) : 0;
        spd_system s =
            random_system(&r, nodes, random_uniform(&r, 0, 0.4), trial % 2 ? mixed : free_bodies, trial % 2 ? 11 : 1);
        double b[MOST * 18], x[MOST * 18];
        for (int i = 0; i < s.n; i++) {
            b[i] = random_normal(&r);
        }
        for (int method = 0; method < SPD_METHODS; method++) {
            spd *by = spd_create();
            memcpy(x, b, sizeof x);
            solve(&s, by, (spd_method)method, x);
            cr_expect_lt(error_of(&s, x, b), 1e-14, "trial %d, method %d: %g", trial, method, error_of(&s, x, b));
            spd_free(by);
        }
        free(s.H);
    }
}

/* Against whole solves, whatever the unknowns and their order. */
Test(spd, parts_of_the_inverse_are_those_of_whole_solves) {
    enum { PART = 10 };
    static const int mixed[] = {0, 1, 2, 3, 5, 6, 7, 13};
    random_source r = {9};
    for (int trial = 0; trial < trials_of(40); trial++) {
        spd_system s = random_system(&r, 2 + random_index(&r, MOST - 2), random_uniform(&r, 0, 0.2), mixed, 8);
        int count = s.n < PART ? s.n : PART, unknown[PART];
        for (int k = 0; k < count; k++) {
            unknown[k] = (random_index(&r, 7) + 7 * k) % s.n;
        }
        for (int method = 0; method < SPD_METHODS; method++) {
            spd *by = spd_create();
            double W[PART * PART], x[MOST * 18] = {0}, worst = 0, size = 0;
            solve(&s, by, (spd_method)method, x);
            cr_assert_eq(spd_inverse_part(by, count, unknown, W), SIM_OK);
            for (int j = 0; j < count; j++) {
                memset(x, 0, sizeof x);
                x[unknown[j]] = 1;
                cr_assert_eq(spd_solve(by, x), SIM_OK);
                for (int i = 0; i < count; i++) {
                    worst = fmax(worst, fabs(W[i * count + j] - x[unknown[i]]));
                    size = fmax(size, fabs(x[unknown[i]]));
                    cr_expect_eq(W[i * count + j], W[j * count + i]);
                }
            }
            cr_expect(worst <= 1e-13 * size, "trial %d, method %d: %g of %g", trial, method, worst, size);
            spd_free(by);
        }
        free(s.H);
    }
}

Test(spd, a_kept_analysis_changes_no_bit) {
    static const int sizes[] = {6, 6, 3};
    random_source r = {2};
    spd_system one = random_system(&r, 20, 0.2, sizes, 3), other = random_system(&r, 25, 0.2, sizes, 3);
    for (int method = SPD_DENSE; method < SPD_METHODS; method++) {
        spd *fresh = spd_create(), *used = spd_create();
        double x[MOST * 6], y[MOST * 6], z[MOST * 6];
        for (int i = 0; i < MOST * 6; i++) {
            x[i] = y[i] = z[i] = sin(i);
        }
        solve(&one, fresh, (spd_method)method, x);
        cr_expect(spd_renewed(fresh));
        solve(&other, used, (spd_method)method, z);
        solve(&one, used, (spd_method)method, y);
        cr_expect(spd_renewed(used));
        cr_expect_arr_eq(x, y, (size_t)one.n * sizeof *x);
        for (int i = 0; i < MOST * 6; i++) {
            y[i] = sin(i);
        }
        solve(&one, used, (spd_method)method, y);
        cr_expect_not(spd_renewed(used));
        cr_expect_arr_eq(x, y, (size_t)one.n * sizeof *x);
        spd_free(fresh);
        spd_free(used);
    }
    free(one.H);
    free(other.H);
}

Test(spd, a_matrix_that_is_not_positive_definite_is_noticed) {
    static const int sizes[] = {6, 4};
    random_source r = {3};
    spd_system s = random_system(&r, 12, 0.3, sizes, 2);
    s.graph.size = s.size;
    s.graph.edge = s.edge;
    for (int method = SPD_DENSE; method < SPD_METHODS; method++) {
        spd *by = spd_create();
        cr_assert_eq(spd_analyse(by, &s.graph, (spd_method)method), SIM_OK);
        fill(&s, by);
        spd_block b = spd_diagonal(by, 7);
        b.value[2 * b.stride + 2] = -1e-3;
        cr_expect_eq(spd_factor(by), SPD_NOT_POSITIVE, "method %d", method);
        fill(&s, by);
        cr_expect_eq(spd_factor(by), SPD_FACTORED);
        spd_free(by);
    }
    free(s.H);
}

Test(spd, a_factor_after_a_change_of_few_blocks_is_that_of_the_whole_to_the_bit) {
    static const int sizes[] = {6, 6, 3, 18};
    random_source r = {4};
    for (int trial = 0; trial < trials_of(20); trial++) {
        spd_system s = random_system(&r, 25, 0.1, sizes, 4);
        spd *used = spd_create(), *fresh = spd_create();
        double x[MOST * 18], y[MOST * 18];
        for (int i = 0; i < s.n; i++) {
            x[i] = y[i] = sin(i);
        }
        solve(&s, used, SPD_BLOCKS, x);
        for (int k = 0; k < 2 && s.graph.edges > 0; k++) {
            int node = random_index(&r, s.graph.nodes), e = random_index(&r, s.graph.edges);
            int at = s.first[node] * (s.n + 1), row = s.first[s.edge[e].a], column = s.first[s.edge[e].b];
            s.H[at] += 3;
            s.H[row * s.n + column] += 0.1;
            s.H[column * s.n + row] += 0.1;
            put(&s, spd_diagonal(used, node));
            put(&s, spd_between(used, e));
        }
        memcpy(x, y, sizeof x);
        cr_assert_eq(spd_factor(used), SPD_FACTORED);
        cr_assert_eq(spd_solve(used, x), SIM_OK);
        solve(&s, fresh, SPD_BLOCKS, y);
        cr_expect_arr_eq(x, y, (size_t)s.n * sizeof *x);
        spd_free(used);
        spd_free(fresh);
        free(s.H);
    }
}

Test(spd, a_chain_and_a_star_are_eliminated_without_fill) {
    enum { NODES = 30 };
    int size[NODES];
    spd_edge chain[NODES - 1], star[NODES - 1];
    for (int t = 0; t < NODES; t++) {
        size[t] = 6;
    }
    for (int t = 0; t + 1 < NODES; t++) {
        chain[t] = (spd_edge){t, t + 1};
        star[t] = (spd_edge){0, t + 1};
    }
    double numbers = NODES * 18.0 + (NODES - 1) * 36.0;
    spd *by = spd_create();
    for (int k = 0; k < 2; k++) {
        spd_graph g = {NODES, NODES - 1, size, k ? star : chain};
        cr_assert_eq(spd_analyse(by, &g, SPD_BLOCKS), SIM_OK);
        cr_expect_eq(spd_expected(by).numbers, numbers);
    }
    spd_free(by);
}

/* Too large for an order of ours, and where all touch all and are many: CHOLMOD, which says what it costs. */
Test(spd, work_is_known_whoever_factors) {
    enum { CHAIN = 9000, ALL = 400 };
    int *size = malloc(CHAIN * sizeof *size), edges = 0;
    spd_edge *edge = malloc(sizeof *edge * ALL * ALL / 2);
    spd *by = spd_create();
    for (int t = 0; t < CHAIN; t++) {
        size[t] = 6;
        edge[t] = (spd_edge){t, t + 1};
    }
    cr_assert_eq(spd_analyse(by, &(spd_graph){CHAIN, CHAIN - 1, size, edge}, SPD_AUTO), SIM_OK);
    cr_expect_eq(spd_expected(by).method, SPD_SUPERNODAL);
    /* half the squares of the columns' lengths: 12 to 7 where one neighbour is left, 18 to 13 where there are two */
    double work = spd_expected(by).multiplications;
    cr_expect(work > 279 * (CHAIN - 1) && work < 730 * CHAIN, "%g", work);
    cr_expect_geq(spd_expected(by).numbers, CHAIN * 18);
    for (int a = 0; a < ALL; a++) {
        for (int b = a + 1; b < ALL; b++) {
            edge[edges++] = (spd_edge){a, b};
        }
    }
    cr_assert_eq(spd_analyse(by, &(spd_graph){ALL, edges, size, edge}, SPD_AUTO), SIM_OK);
    cr_expect_eq(spd_expected(by).method, SPD_SUPERNODAL);
    double n = 6.0 * ALL;
    work = spd_expected(by).multiplications;
    cr_expect(fabs(work - n * n * n / 6) < 0.01 * work, "%g, %g", work, n * n * n / 6);
    spd_free(by);
    free(edge);
    free(size);
}

/* A lattice whose nodes touch all 26 around them, in rising order; edges of it. */
static int lattice_edges(int side, spd_edge *edge) {
    int edges = 0, square = side * side;
    for (int a = 0; a < side * square; a++) {
        int x = a % side, y = a / side % side, z = a / square;
        for (int step = 1; step <= square + side + 1; step++) {
            int b = a + step, far = b >= side * square;
            if (!far && abs(b % side - x) < 2 && abs(b / side % side - y) < 2 && abs(b / square - z) < 2) {
                edge[edges++] = (spd_edge){a, b};
            }
        }
    }
    return edges;
}

/* The order of large graphs draws random numbers; who else draws some does not notice, and gets the same order each
 * time. */
Test(spd, a_large_lattice_is_solved_and_leaves_random_numbers_as_they_were) {
    enum { SIDE = 21, N = SIDE * SIDE * SIDE, DRAWS = 5 };
    int *size = malloc(N * sizeof *size), expected[DRAWS];
    spd_edge *edge = malloc(sizeof *edge * N * 13);
    double *b = malloc(N * sizeof *b), *x = malloc(N * sizeof *x), work = 0;
    for (int t = 0; t < N; t++) {
        size[t] = 1;
        b[t] = sin(t);
    }
    int edges = lattice_edges(SIDE, edge);
    spd_graph graph = {N, edges, size, edge};
    srand(5);
    for (int k = 0; k < DRAWS; k++) {
        expected[k] = rand();
    }
    srand(5);
    for (int trial = 0; trial < 2; trial++) {
        spd *by = spd_create();
        cr_expect_eq(rand(), expected[2 * trial]);
        cr_assert_eq(spd_analyse(by, &graph, SPD_AUTO), SIM_OK);
        cr_expect_eq(rand(), expected[2 * trial + 1]);
        cr_expect_eq(spd_expected(by).method, SPD_SUPERNODAL);
        cr_expect(trial == 0 || spd_expected(by).multiplications == work);
        work = spd_expected(by).multiplications;
        for (int t = 0; t < N; t++) {
            spd_block D = spd_diagonal(by, t);
            D.value[0] = 30;
            memset(D.value + 1, 0, (size_t)(D.stride - 1) * sizeof *D.value);
        }
        for (int e = 0; e < edges; e++) {
            spd_block B = spd_between(by, e);
            B.value[0] = -1;
            memset(B.value + 1, 0, (size_t)(B.stride - 1) * sizeof *B.value);
        }
        memcpy(x, b, N * sizeof *x);
        cr_assert(spd_factor(by) == SPD_FACTORED && spd_solve(by, x) == SIM_OK);
        spd_free(by);
    }
    for (int t = 0; t < N; t++) {
        b[t] -= 30 * x[t];
    }
    for (int e = 0; e < edges; e++) {
        b[edge[e].a] += x[edge[e].b];
        b[edge[e].b] += x[edge[e].a];
    }
    for (int t = 0; t < N; t++) {
        cr_expect_float_eq(b[t], 0, 1e-13, "%d: %g", t, b[t]);
    }
    /* columns in their own order: a band of SIDE (SIDE + 1) + 1 */
    double band = SIDE * (SIDE + 1) + 1;
    cr_expect_lt(work, 0.5 * 0.5 * N * band * band, "%g", work);
    free(x);
    free(b);
    free(edge);
    free(size);
}

/* A cube of cells with their diagonals, as a mesh has them: where the graph lasts the order takes less work, and gives
 * the same solution. */
Test(spd, graphs_that_last_take_less_work) {
    enum { SIDE = 11, NODES = SIDE * SIDE * SIDE, LINKS = 7 * NODES };
    static const int step[7] = {
        1, SIDE, SIDE * SIDE, 1 + SIDE, SIDE + SIDE * SIDE, 1 + SIDE * SIDE, 1 + SIDE + SIDE * SIDE};
    spd_edge *edge = malloc(LINKS * sizeof *edge);
    int *size = malloc(NODES * sizeof *size), edges = 0;
    for (int a = 0; a < NODES; a++) {
        const int at[3] = {a % SIDE, a / SIDE % SIDE, a / SIDE / SIDE};
        size[a] = 3;
        for (int sum = 1; sum <= 1 + SIDE + SIDE * SIDE; sum++) { /* rising in b */
            for (int k = 0; k < 7; k++) {
                int dx = k == 0 || k == 3 || k == 5 || k == 6, dy = k == 1 || k == 3 || k == 4 || k == 6,
                    dz = k == 2 || k >= 4;
                if (step[k] == sum && at[0] + dx < SIDE && at[1] + dy < SIDE && at[2] + dz < SIDE) {
                    edge[edges++] = (spd_edge){a, a + sum};
                }
            }
        }
    }
    spd_graph graph = {NODES, edges, size, edge};
    double *x[2] = {malloc(3 * NODES * sizeof(double)), malloc(3 * NODES * sizeof(double))}, work[2], off = 0, most = 0;
    for (int lasting = 0; lasting < 2; lasting++) {
        spd *s = spd_create();
        if (lasting) {
            spd_expect_lasting(s);
        }
        cr_assert_eq(spd_analyse(s, &graph, SPD_AUTO), SIM_OK);
        work[lasting] = spd_expected(s).multiplications;
        /* a Laplacian, the same for each direction */
        for (int t = 0; t < NODES; t++) {
            spd_block b = spd_diagonal(s, t);
            for (int k = 0; k < 3 * b.stride; k++) {
                b.value[k] = k % (b.stride + 1) == 0 ? 15 : 0;
            }
        }
        for (int e = 0; e < edges; e++) {
            spd_block b = spd_between(s, e);
            for (int k = 0; k < 3 * b.stride; k++) {
                b.value[k] = k % (b.stride + 1) == 0 ? -1 : 0;
            }
        }
        for (int k = 0; k < 3 * NODES; k++) {
            x[lasting][k] = sin(k);
        }
        cr_assert_eq(spd_factor(s), SPD_FACTORED);
        cr_assert_eq(spd_solve(s, x[lasting]), SIM_OK);
        spd_free(s);
    }
    for (int k = 0; k < 3 * NODES; k++) {
        off = fmax(off, fabs(x[0][k] - x[1][k]));
        most = fmax(most, fabs(x[0][k]));
    }
    cr_expect(work[1] < 0.9 * work[0], "%g multiplications for %g", work[1], work[0]);
    cr_expect(off < 1e-12 * most, "off by %g of %g", off, most);
    for (int k = 0; k < 2; k++) {
        free(x[k]);
    }
    free(edge);
    free(size);
}
