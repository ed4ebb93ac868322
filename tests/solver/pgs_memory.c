/* Gauss-Seidel and memory: a solve like the last takes none, and wherever it runs out this is said. */
#include "support/problems.h"
#include "support/watched.h"

#include <criterion/criterion.h>
#include <sim/solver.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    sim_problem *problem;
    sim_solver *solver;
    double v[256], impulse[256], R[256], target[256];
} bench;

static bench *begin(int matrix) {
    random_source r = {1};
    problem_recipe recipe = {
        .bodies = 6, .chain = 8, .contacts = 20, .friction = 0.5, .kinds = 63, .impact = 1, .scatter = 0.5};
    sim_law_options law = sim_law_options_default();
    const sim_solver_info *info = sim_solver_find("pgs");
    double option[32];
    bench *b = calloc(1, sizeof *b);
    for (int k = 0; k < info->noptions; k++) {
        option[k] = strcmp(info->option[k].name, "matrix") ? info->option[k].default_value : matrix;
    }
    b->problem = random_problem(&r, &recipe);
    b->solver = sim_solver_create(info, option, NULL);
    sim_regularise(b->problem, SIM_RIGID, &law, NULL, b->R, b->target);
    return b;
}

static sim_status solve(bench *b, sim_error *error) {
    sim_regularisation law = {b->R, b->target};
    sim_solution out = {.v = b->v, .impulse = b->impulse};
    return sim_solver_solve(b->solver, b->problem, &law, &out, error);
}

static void end(bench *b) {
    sim_solver_free(b->solver);
    sim_problem_free(b->problem);
    free(b);
}

Test(pgs_memory, a_solve_like_the_last_allocates_nothing) {
    for (int matrix = 0; matrix <= 2; matrix++) {
        sim_error error = {0};
        bench *b = begin(matrix);
        cr_assert_eq(solve(b, &error), SIM_OK);
        long before = watched.calls;
        cr_assert_gt(before, 0);
        cr_assert_eq(solve(b, &error), SIM_OK);
        cr_assert_eq(watched.calls, before, "%ld allocations", watched.calls - before);
        end(b);
    }
}

Test(pgs_memory, running_out_of_it_anywhere_is_said_and_survived) {
    for (int matrix = 1; matrix <= 2; matrix++) {
        int failures = 0;
        for (long n = 1;; n++) {
            sim_error error = {0};
            bench *b = begin(matrix);
            watched.calls = 0;
            watched.fail_at = n;
            sim_status status = solve(b, &error);
            watched.fail_at = 0;
            int refused = watched.calls >= n;
            cr_assert_eq(status, refused ? SIM_NO_RESOURCE : SIM_OK, "allocation %ld", n);
            cr_assert_eq(solve(b, &error), SIM_OK, "and then it goes on");
            end(b);
            if (!refused) {
                break;
            }
            failures++;
        }
        cr_expect_geq(failures, 1);
    }
}
