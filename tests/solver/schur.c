/* (W + C) x = b: five ways, one answer; and what each does where W is singular. */
#include "solver/nonsmooth_newton/delassus_krylov.h"
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>

enum { MOST = 400 };

typedef struct setting {
    sim_problem *problem;
    sim_arena *scratch;
    schur s;
    double b[MOST], x[MOST], y[MOST];
} setting;

static void begin(setting *t, sim_problem *p, schur_method method, random_source *r, double C) {
    t->problem = p;
    t->scratch = arena_create();
    cr_assert(p->nrow <= MOST && schur_make(&t->s, p, method, t->scratch));
    for (int k = 0; k < p->nrow; k++) {
        t->s.C[k] = C * t->s.diagonal[k];
        t->s.out[k] = k % 7 == 6;
        t->x[k] = random_normal(r);
        t->b[k] = 0;
    }
}

/* Greatest of |b - (W + C) x| in the rows that are there. */
static double off(setting *t) {
    double most = 0;
    schur_times(&t->s, t->x, t->y);
    for (int k = 0; k < t->s.n; k++) {
        most = fmax(most, t->s.out[k] ? fabs(t->x[k]) : fabs(t->b[k] - t->y[k] - t->s.C[k] * t->x[k]));
    }
    return most;
}

Test(schur, five_ways_give_one_answer) {
    random_source r = {1};
    problem_recipe recipe = {.bodies = 6, .chain = 7, .contacts = 9, .friction = 0.5, .kinds = 63, .impact = 1};
    for (int method = 0; method < SCHUR_METHODS; method++) {
        setting t;
        sim_problem *p = random_problem(&r, &recipe);
        begin(&t, p, (schur_method)method, &r, 0.3);
        for (int k = 0; k < t.s.n; k++) {
            t.b[k] = random_normal(&r);
        }
        schur_solve_info course = {.max_iterations = 20000, .tolerance = 1e-12};
        cr_assert(schur_solve(&t.s, (schur_method)method, t.b, t.x, &course));
        cr_expect_leq(off(&t), 1e-9, "method %d: off by %g after %d", method, off(&t), course.iterations);
        arena_free(t.scratch);
        sim_problem_free(p);
    }
}

/* Two more contacts than a stack of boxes can tell apart in each face: W is singular, b is in its range. */
Test(schur, conjugate_residuals_fall_in_every_iteration_and_reach_what_can_be_reached) {
    random_source r = {2};
    double mass[] = {0.1, 0.1, 5};
    setting t;
    sim_problem *p = box_stack(3, mass, 0.5, 0.01, 0);
    begin(&t, p, SCHUR_PCR, &r, 0);
    for (int k = 0; k < t.s.n; k++) {
        t.s.out[k] = 0;
    }
    schur_times(&t.s, t.x, t.b);
    double history[201];
    schur_solve_info course = {.max_iterations = 200, .tolerance = 1e-13, .history = history};
    cr_assert(schur_solve(&t.s, SCHUR_PCR, t.b, t.x, &course));
    cr_expect_leq(course.reached, 1e-13, "%g after %d", course.reached, course.iterations);
    cr_expect_leq(course.iterations, 60);
    for (int k = 1; k <= course.iterations; k++) {
        cr_expect_leq(history[k], history[k - 1], "grows in iteration %d", k);
    }
    arena_free(t.scratch);
    sim_problem_free(p);
}

Test(schur, cholesky_says_that_a_singular_matrix_is_one) {
    random_source r = {3};
    double mass[] = {1, 1};
    setting t;
    sim_problem *p = box_stack(2, mass, 0.5, 0.01, 0);
    begin(&t, p, SCHUR_CHOLESKY, &r, 0);
    for (int k = 0; k < t.s.n; k++) {
        t.s.out[k] = 0;
        t.s.C[k] = -1e-9 * t.s.diagonal[k]; /* so that rounding does not hide it */
        t.b[k] = 1;
    }
    schur_solve_info course = {.max_iterations = 1, .tolerance = 0};
    cr_expect_not(schur_solve(&t.s, SCHUR_CHOLESKY, t.b, t.x, &course));
    arena_free(t.scratch);
    sim_problem_free(p);
}

Test(schur, nothing_to_do_is_done_at_once) {
    random_source r = {4};
    double mass[] = {1};
    for (int method = 0; method < SCHUR_METHODS; method++) {
        setting t;
        sim_problem *p = box_stack(1, mass, 0.5, 0.01, 0);
        begin(&t, p, (schur_method)method, &r, 0.1);
        schur_solve_info course = {.max_iterations = 10, .tolerance = 1e-10};
        cr_expect(schur_solve(&t.s, (schur_method)method, t.b, t.x, &course));
        for (int k = 0; k < t.s.n; k++) {
            cr_expect_eq(t.x[k], 0);
        }
        arena_free(t.scratch);
        sim_problem_free(p);
    }
}

/* With each linear solver and each function the end is the same. */
Test(schur, nonsmooth_newton_ends_where_the_law_holds_by_every_way) {
    random_source r = {5};
    problem_recipe recipe = {.bodies = 3, .contacts = 3, .friction = 0.2, .kinds = 63, .impact = 1, .scatter = 0.3};
    for (int trial = 0; trial < 6; trial++) {
        sim_problem *p = random_problem(&r, &recipe);
        for (int k = 0; k < 2 * SCHUR_METHODS; k++) {
            double option[] = {1e-7, 500,  k % 2, k / 2, 2000, 1e-6, 1,
                               0,    1e-6, 0,     0,     0,    4}; /* friction as the paper has it */
            answer a = answer_create(p, 1, 1e-3);
            answer_find(&a, "nsn", option);
            cr_expect_eq(a.out.outcome, SIM_SOLVED, "trial %d, function %d, method %d: %s, E %g", trial, k % 2, k / 2,
                         sim_outcome_name(a.out.outcome), a.out.residual);
            answer_free(&a);
        }
        sim_problem_free(p);
    }
}
