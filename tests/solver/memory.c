/* Solvers take no memory in a step like the one before, and say so wherever it runs out. */
#include "support/answers.h"
#include "support/problems.h"
#include "support/share.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const problem_recipe recipe = {
    .bodies = 8, .chain = 18, .contacts = 25, .friction = 0.6, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.6};

/* A solver with an option at each of its first `values` values; canal also by the form of its inner problem. */
static const struct {
    const char *name, *option;
    int values, inner;
} entry[] = {
    {"sap", "factorisation", 4, 0},
    {"canal", "factorisation", 4, 0},
    {"canal", "factorisation", 4, 1},
    {"canal", "factorisation", 4, 2},
    {"canal", "factorisation", 4, 3},
    {"pgs", "matrix", 3, 0},
    {"subadmm", "split", 3, 0},
    {"auto", NULL, 1, 0},
    {"acn", NULL, 1, 0},
    {"nsn", NULL, 1, 0},
    {"incp", NULL, 1, 0},
    {"mncp-rlm", NULL, 1, 0},
    {"mlcp-pfb-plm", NULL, 1, 0},
    {"mlcp-pivot", NULL, 1, 0},
};
enum { ENTRIES = sizeof entry / sizeof *entry };

/* `subadmm` and `pgs` with their own tolerance: to 1e-9 they need thousands of iterations. */
static sim_solver *solver_of(int which, int value, sim_error *error) {
    const sim_solver_info *info = sim_solver_find(entry[which].name);
    bool own = strcmp(info->name, "subadmm") == 0 || strcmp(info->name, "pgs") == 0;
    double option[16];
    for (int k = 0; k < info->noptions; k++) {
        const char *is = info->option[k].name;
        option[k] = entry[which].option && strcmp(is, entry[which].option) == 0 ? value
                    : strcmp(is, "tolerance") == 0 && !own                      ? 1e-9
                    : strcmp(is, "inner") == 0                                  ? entry[which].inner
                                                                                : info->option[k].default_value;
    }
    return sim_solver_create(info, option, error);
}

Test(solver_memory, a_warm_solve_allocates_nothing) {
    random_source r = {1};
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    for (int k = 0; k < ENTRIES; k++) {
        for (int value = 0; value < entry[k].values; value++) {
            sim_solver *s = solver_of(k, value, NULL);
            a.out = (sim_solution){.v = a.v, .impulse = a.impulse};
            cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
            long before = watched.calls;
            for (int again = 0; again < 5; again++) {
                a.target[2] += 1e-3;
                cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
                cr_expect_gt(a.out.iterations, 0);
            }
            cr_expect_eq(watched.calls, before, "%s %d: %ld allocations", entry[k].name, value, watched.calls - before);
            sim_solver_free(s);
        }
    }
    cr_expect_gt(watched.calls, 0, "the allocations are not watched at all");
    answer_free(&a);
    sim_problem_free(p);
}

/* Whether call n to the allocator was reached, which fails; *failures counts refusals. */
static bool fails_at(const sim_problem *p, answer *a, int which, int value, long n, int *failures) {
    /* a solve whose n-th allocation fails */
    sim_error error = {0};
    watched.calls = 0;
    watched.fail_at = n;
    sim_solver *s = solver_of(which, value, &error);
    a->out = (sim_solution){.v = a->v, .impulse = a->impulse};
    sim_status status = s ? sim_solver_solve(s, p, &a->law, &a->out, &error) : error.status;
    bool reached = watched.calls >= n;
    watched.fail_at = 0;
    /* it goes on when there is memory again */
    if (s && status) {
        cr_expect_eq(sim_solver_solve(s, p, &a->law, &a->out, &error), SIM_OK);
        cr_expect_eq(a->out.outcome, SIM_SOLVED, "%s %d", entry[which].name, value);
    }
    sim_solver_free(s);
    *failures += status == SIM_NO_RESOURCE;
    cr_expect(status == SIM_OK || (status == SIM_NO_RESOURCE && reached), "%s %d, call %ld: status %d",
              entry[which].name, value, n, (int)status);
    return reached;
}

Test(solver_memory, running_out_of_it_anywhere_is_said_and_survived) {
    random_source r = {2};
    sim_problem *p = random_problem(&r, &recipe);
    answer a = answer_create(p, 1, 1e-3);
    for (int k = 0; k < ENTRIES; k++) {
        for (int value = 0; value < entry[k].values; value++) {
            int failures = 0;
            for (long n = 1; fails_at(p, &a, k, value, n, &failures); n += is_part() ? 4 : 1) {
            }
            cr_expect_gt(failures, part_of(3), "%s %d", entry[k].name, value);
        }
    }
    answer_free(&a);
    sim_problem_free(p);
}
