/* What does it cost to judge an answer?
 *
 * Stacks of boxes and heaps of free bodies with random contacts; nanoseconds for each contact, best of many, for the
 * whole judgement, beside one product J v and one J' gamma of the same problem, and one A^-1 x. */
#include "solver/core/products.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/quick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

typedef struct bench {
    const sim_problem *p;
    sim_regularisation rigid, near;
    double *v, *gamma, *u, *j, *work;
    sim_judgement judgement;
    int effort; /* constraints judged in a batch */
} bench;

static void judge_same(bench *b) {
    sim_judge(b->p, &b->rigid, &b->rigid, SIM_CONE_STRICT, b->v, b->gamma, b->work, &b->judgement);
}
static void judge_convex(bench *b) {
    sim_judge(b->p, &b->rigid, &b->near, SIM_CONE_CONVEX, b->v, b->gamma, b->work, &b->judgement);
}
static void times(bench *b) { problem_jacobian_times(b->p, b->v, b->u); }
static void transposed(bench *b) { problem_jacobian_transposed(b->p, b->gamma, b->j); }
static void solve(bench *b) { problem_mass_solve(b->p, b->j); }

static double best(bench *b, void (*what)(bench *)) {
    double least = INFINITY;
    int repeat = 1 + b->effort / (b->p->nconstraint + 1);
    for (int k = 0; k < 30; k++) {
        double begin = now();
        for (int i = 0; i < repeat; i++) {
            what(b);
        }
        least = fmin(least, (now() - begin) / repeat);
    }
    return least / b->p->nconstraint;
}

static double *numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static void measure(const char *name, sim_problem *p, int effort) {
    size_t rows = (size_t)p->nrow, nv = (size_t)p->nv;
    double *R = numbers(rows), *yield = numbers(rows), *target = numbers(rows);
    sim_law_options options = sim_law_options_default();
    sim_regularise(p, SIM_RIGID, &options, NULL, R, target);
    bench b = {.p = p, .rigid = {R, target}, .near = {yield, target}, .effort = effort};
    b.v = numbers(nv);
    b.gamma = numbers(rows);
    b.u = numbers(rows);
    b.j = numbers(nv);
    b.work = numbers(sim_judge_work(p));
    random_source r = {4};
    for (size_t k = 0; k < rows; k++) {
        yield[k] = 1e-3;
        b.gamma[k] = 0.1 * random_normal(&r) + (k % 3 == 2);
    }
    velocity_after(p, b.gamma, b.v);
    double same = best(&b, judge_same), convex = best(&b, judge_convex), Jv = best(&b, times);
    printf("%-28s %5d %5d %10.1f %10.1f %8.1f %8.1f %8.1f\n", name, p->ntree, p->nconstraint, same, convex, Jv,
           best(&b, transposed), best(&b, solve));
    free(R);
    free(yield);
    free(target);
    free(b.v);
    free(b.gamma);
    free(b.u);
    free(b.j);
    free(b.work);
    sim_problem_free(p);
}

int main(int count, char **word) {
    int effort = asked_quick(count, word) ? 100 : 20000;
    random_source r = {9};
    double mass[60];
    for (int k = 0; k < 60; k++) {
        mass[k] = 1;
    }
    printf("%-28s %5s %5s %10s %10s %8s %8s %8s   ns for each contact\n", "", "trees", "conts", "judge", "two laws",
           "J v", "J' g", "A^-1 x");
    measure("one box on the ground", box_stack(1, mass, 0.5, 0.01, 0.1), effort);
    measure("stack of 60 boxes", box_stack(60, mass, 0.5, 0.01, 0.1), effort);
    problem_recipe heap = {.bodies = 40, .contacts = 120, .friction = 0.5, .impact = 1};
    measure("heap of 40", random_problem(&r, &heap), effort);
    heap.contacts = 400;
    measure("heap of 40, ten times met", random_problem(&r, &heap), effort);
    problem_recipe large = {.bodies = 1, .chain = 36, .contacts = 1, .friction = 0.5, .kinds = -1};
    measure("36 velocities, all kinds", random_problem(&r, &large), effort);
    return 0;
}
