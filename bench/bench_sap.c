/* What does SAP cost?
 *
 * Clutter with walls that has come to rest, or nearly: microseconds per solve and per Newton iteration, and those of
 * the parts of one iteration; then what the ways to factor its Hessian cost beside each other, and at chains of larger
 * trees. The least of several passes. */
#include "solver/newton/primal.h"
#include "support/clutter.h"
#include "support/quick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PASSES = 10, SETTLE = 250, MEASURED = 50 };

static double microseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* The least time of an expression. */
#define LEAST(best, expression)                                                                                        \
    double best = HUGE_VAL;                                                                                            \
    for (int pass = 0; pass < PASSES; pass++) {                                                                        \
        double begin_ = microseconds();                                                                                \
        expression;                                                                                                    \
        best = fmin(best, microseconds() - begin_);                                                                    \
    }

typedef struct run {
    clutter *clutter;
    const sim_problem *problem;
    sim_regularisation law;
    double *v, *impulse;
} run;

/* Tolerance, steps, exact search, any factorisation, work, no relaxation. */
static const double published[] = {1e-6, 100, 0, 0, 5e3, 0};

static void settle(run *r, int bodies) {
    int columns = 4;
    while (bodies / columns > 12) {
        columns = (int)pow(sqrt(columns) + 1, 2);
    }
    r->clutter = clutter_create(bodies, columns, 1, 0.01);
    r->v = calloc((size_t)(6 * bodies), sizeof *r->v);
    r->impulse = calloc((size_t)bodies * 300, sizeof *r->impulse);
    sim_solver *s = sim_solver_create(sim_solver_find("sap"), published, NULL);
    double us = 0, iterations = 0, contacts = 0, searches = 0;
    for (int k = 0; k < SETTLE + MEASURED; k++) {
        sim_solution out = {.v = r->v, .impulse = r->impulse};
        r->problem = clutter_problem(r->clutter, &r->law);
        double begin = microseconds();
        sim_solver_solve(s, r->problem, &r->law, &out, NULL);
        if (k >= SETTLE) {
            us += microseconds() - begin;
            iterations += out.iterations;
            searches += out.searches;
            contacts += r->problem->nconstraint;
        }
        if (k < SETTLE + MEASURED - 1) {
            clutter_step(r->clutter, r->v);
        }
    }
    printf("%6d %8.0f %8.2f %8.2f %9.1f %9.1f", bodies, contacts / MEASURED, iterations / MEASURED, searches / MEASURED,
           us / MEASURED, us / fmax(iterations, 1));
    sim_solver_free(s);
}

static void finish(run *r) {
    free(r->v);
    free(r->impulse);
    clutter_free(r->clutter);
}

/* Parts of an iteration, at the last problem. */
static void measure_parts(run *r) {
    const sim_problem *p = r->problem;
    double *yield = calloc((size_t)p->nrow, sizeof *yield), *constant = calloc((size_t)p->nrow, sizeof *constant);
    for (int k = 0; k < p->nrow; k++) {
        yield[k] = 1 / r->law.R[k];
    }
    convex_law law = {p, r->law.R, yield, r->law.target, constant};
    hessian *h = hessian_create();
    sim_arena *scratch = arena_create();
    sim_solution out = {.v = r->v, .impulse = r->impulse};
    primal_options o = {1e-6, 100, 0, SPD_AUTO, HUGE_VAL, 1, 1e-4, 0};
    primal n = {.at = {.v = r->v, .gamma = r->impulse}};
    sim_problem less = *p; /* another graph, every time */
    less.nconstraint -= 1;
    less.nrow -= 3;
    LEAST(fresh, hessian_prepare(h, pass % 2 ? p : &less, SPD_AUTO))
    LEAST(prepare, hessian_prepare(h, p, SPD_AUTO))
    LEAST(start, arena_release(scratch, 0); primal_begin(&n, &law, h, &o, &out, scratch))
    LEAST(look, primal_eval_at(&n))
    cone_hessian *other = malloc((size_t)p->nconstraint * sizeof *other);
    memcpy(other, n.at.G, (size_t)p->nconstraint * sizeof *other);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = 0; k < 3; k++) {
            other[i].weight[k] *= 1.01;
        }
    }
    LEAST(set, hessian_set(h, pass % 2 ? other : n.at.G))
    LEAST(factor, hessian_set(h, pass % 2 ? other : n.at.G); hessian_factor(h))
    LEAST(solve, hessian_solve(h, n.dv))
    cone_hessian *own = n.at.G;
    LEAST(direction, n.at.G = pass % 2 ? other : own; primal_direction(&n))
    n.at.G = own;
    LEAST(slope, double second; primal_slope(&n, 1 + 1e-3 * pass, &second))
    printf(" | %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f %9.1f %7.1f\n", fresh, prepare, start, look, set, factor,
           solve, direction, slope);
    free(other);
    free(yield);
    free(constant);
    arena_free(scratch);
    hessian_free(h);
}

/* A matrix with little beside its diagonal. */
static void refill(spd *s, const spd_graph *g) {
    for (int t = 0; t < g->nodes; t++) {
        spd_block b = spd_diagonal(s, t);
        memset(b.value, 0, (size_t)g->size[t] * (size_t)b.stride * sizeof *b.value);
        for (int j = 0; j < g->size[t]; j++) {
            b.value[j * (b.stride + 1)] = 1e3;
        }
    }
    for (int e = 0; e < g->edges; e++) {
        spd_block b = spd_between(s, e);
        memset(b.value, 0, (size_t)g->size[b.row] * (size_t)b.stride * sizeof *b.value);
        for (int j = 0; j < g->size[b.row]; j++) {
            b.value[j * b.stride + j % g->size[b.column]] = 1;
        }
    }
}

/* Analysis, and filling, factor and solve on a graph. */
static void measure_factor(const spd_graph *g) {
    static const char *const name[] = {"auto", "dense", "blocks", "supernodal"};
    int n = 0;
    for (int t = 0; t < g->nodes; t++) {
        n += g->size[t];
    }
    double *x = calloc((size_t)n, sizeof *x);
    for (int method = SPD_AUTO; method < SPD_METHODS; method++) {
        if (method == SPD_DENSE && n > 1500) {
            printf(" %18s", "-");
            continue;
        }
        spd *s = spd_create();
        double begin = microseconds();
        spd_analyse(s, g, (spd_method)method);
        double analysis = microseconds() - begin;
        LEAST(best, refill(s, g); spd_factor(s); spd_solve(s, x))
        if (method == SPD_AUTO) {
            spd_work w = spd_expected(s);
            printf("%7d %7d %10s %9.0f |", g->nodes, g->edges, name[w.method], 1e-3 * w.multiplications);
        } else {
            printf(" %9.1f %8.1f", analysis, best);
        }
        spd_free(s);
    }
    printf("\n");
    free(x);
}

static void measure_clutter_factor(const sim_problem *p) {
    hessian *h = hessian_create();
    hessian_prepare(h, p, SPD_BLOCKS);
    measure_factor(&hessian_patches(h)->graph);
    hessian_free(h);
}

/* Trees in a row, each touching the next two. */
static void measure_chain(int nodes, int size) {
    int *sizes = calloc((size_t)nodes, sizeof *sizes), edges = 0;
    spd_edge *edge = calloc((size_t)(2 * nodes), sizeof *edge);
    for (int t = 0; t < nodes; t++) {
        sizes[t] = size;
        for (int k = 1; k < 3 && t + k < nodes; k++) {
            edge[edges++] = (spd_edge){t, t + k};
        }
    }
    spd_graph g = {nodes, edges, sizes, edge};
    printf("%4d x", size);
    measure_factor(&g);
    free(sizes);
    free(edge);
}

/* Bodies in a cubic lattice, each touching six: more fill than any heap has. */
static void measure_lattice(int side) {
    int nodes = side * side * side, edges = 0;
    int *sizes = calloc((size_t)nodes, sizeof *sizes);
    spd_edge *edge = calloc((size_t)(3 * nodes), sizeof *edge);
    for (int t = 0; t < nodes; t++) {
        int at[] = {t % side, t / side % side, t / side / side}, step = 1;
        sizes[t] = 6;
        for (int axis = 0; axis < 3; axis++, step *= side) {
            if (at[axis] + 1 < side) {
                edge[edges++] = (spd_edge){t, t + step};
            }
        }
    }
    spd_graph g = {nodes, edges, sizes, edge};
    printf("%4d x", 6);
    measure_factor(&g);
    free(sizes);
    free(edge);
}

int main(int count, char **word) {
    static const int bodies[] = {1, 3, 10, 40, 80, 160, 640, 2000};
    int quick = asked_quick(count, word), most = quick ? 10 : count > 1 ? atoi(word[1]) : 640;
    run r[8];
    int runs = 0;
    printf("clutter with walls, us:\nbodies contacts    iter.   search     solve iteration |     new prepare   start   "
           " look "
           "    set +factor   solve direction   slope\n");
    for (; runs < 8 && bodies[runs] <= most; runs++) {
        settle(&r[runs], bodies[runs]);
        measure_parts(&r[runs]);
        fflush(stdout);
    }
    printf("\nanalysis, and factor with solve, us:\n dof x  trees   edges       auto thousand* |%18s %18s %18s\n",
           "dense", "blocks", "supernodal");
    for (int k = 0; k < runs; k++) {
        printf("%4d x", 6);
        measure_clutter_factor(r[k].problem);
        finish(&r[k]);
    }
    for (int size = 18; size <= 36; size += 18) {
        for (int nodes = 1; nodes <= (quick ? 4 : 64); nodes *= 4) {
            measure_chain(nodes, size);
        }
    }
    for (int side = 2; side <= (quick ? 3 : 12); side += side < 4 ? 1 : 4) {
        measure_lattice(side);
    }
    return 0;
}
