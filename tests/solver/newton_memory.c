/* Solvers that factor a Hessian take no memory in a step like the one before, and say so wherever it runs out. */
#include "support/answers.h"
#include "support/problems.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { DENSE = 1, BLOCKS = 2, METHODS = 4 };
static const problem_recipe recipe = {
    .bodies = 8, .chain = 18, .contacts = 25, .friction = 0.6, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.6};

/* Solvers, and how canal puts its rounds. */
static const char *const name[] = {"sap", "canal", "canal",    "canal",        "canal",     "auto",
                                   "nsn", "incp",  "mncp-rlm", "mlcp-pfb-plm", "mlcp-pivot"};
static const int inner[] = {0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0};
enum { SOLVERS = sizeof name / sizeof *name };

/* To 1e-9, by one way to factor. */
static sim_solver *solver_of(int which, int method, sim_error *error) {
    const sim_solver_info *info = sim_solver_find(name[which]);
    double option[16];
    for (int k = 0; k < info->noptions; k++) {
        const char *is = info->option[k].name;
        option[k] = strcmp(is, "tolerance") == 0       ? 1e-9
                    : strcmp(is, "factorisation") == 0 ? method
                    : strcmp(is, "inner") == 0         ? inner[which]
                                                       : info->option[k].default_value;
    }
    return sim_solver_create(info, option, error);
}

Test(newton_memory, a_warm_solve_allocates_nothing) {
    random_source r = {1};
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    for (int k = 0; k < 2 * SOLVERS; k++) {
        sim_solver *s = solver_of(k / 2, k % 2 ? BLOCKS : DENSE, NULL);
        a.out = (sim_solution){.v = a.v, .impulse = a.impulse};
        cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
        long before = watched.calls;
        for (int again = 0; again < 5; again++) {
            a.target[2] += 1e-3;
            cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
            cr_expect_gt(a.out.iterations, 0);
        }
        cr_expect_eq(watched.calls, before, "%ld allocations", watched.calls - before);
        sim_solver_free(s);
    }
    cr_expect_gt(watched.calls, 0, "the allocations are not watched at all");
    answer_free(&a);
    sim_problem_free(p);
}

Test(newton_memory, running_out_of_it_anywhere_is_said_and_survived) {
    random_source r = {2};
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    for (int k = 0; k < METHODS * SOLVERS; k++) {
        int failures = 0;
        for (long n = 1;; n++) {
            sim_error error = {0};
            watched.calls = 0;
            watched.fail_at = n;
            sim_solver *s = solver_of(k / METHODS, k % METHODS, &error);
            a.out = (sim_solution){.v = a.v, .impulse = a.impulse};
            sim_status status = s ? sim_solver_solve(s, p, &a.law, &a.out, &error) : error.status;
            int reached = watched.calls >= n;
            watched.fail_at = 0;
            if (s && status) { /* and goes on when there is memory again */
                cr_expect_eq(sim_solver_solve(s, p, &a.law, &a.out, &error), SIM_OK);
                cr_expect_eq(a.out.outcome, SIM_SOLVED);
            }
            sim_solver_free(s);
            if (!reached) {
                cr_expect_eq(status, SIM_OK);
                break;
            }
            failures += status == SIM_NO_RESOURCE;
            cr_expect(status == SIM_NO_RESOURCE || status == SIM_OK, "call %ld: status %d", n, (int)status);
        }
        cr_expect_gt(failures, 3);
    }
    answer_free(&a);
    sim_problem_free(p);
}
