/* SubADMM and memory: a solve like the last takes none, and wherever it runs out this is said. */
#include "support/answers.h"
#include "support/problems.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <string.h>

static const problem_recipe recipe = {
    .bodies = 8, .chain = 18, .contacts = 25, .friction = 0.6, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.6};
enum { SPLITS = 3 };

static sim_solver *solver_of(int split, sim_error *error) {
    const sim_solver_info *info = sim_solver_find("subadmm");
    double option[16];
    for (int k = 0; k < info->noptions; k++) {
        option[k] = strcmp(info->option[k].name, "split") == 0 ? split : info->option[k].default_value;
    }
    return sim_solver_create(info, option, error);
}

Test(subadmm_memory, a_warm_solve_allocates_nothing) {
    random_source r = {1};
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    for (int split = 0; split < SPLITS; split++) {
        sim_solver *s = solver_of(split, NULL);
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

Test(subadmm_memory, running_out_of_it_anywhere_is_said_and_survived) {
    random_source r = {2};
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    for (int split = 0; split < SPLITS; split++) {
        int failures = 0;
        for (long n = 1;; n++) {
            sim_error error = {0};
            watched.calls = 0;
            watched.fail_at = n;
            sim_solver *s = solver_of(split, &error);
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
