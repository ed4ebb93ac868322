/* The caller's limit of iterations: sim_solution.most_iterations holds for every solver, whatever its options are. */
#include "support/contenders.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Impacts from all sides, with far more contacts than velocities. */
static sim_problem *impacts(unsigned seed) {
    random_source r = {seed};
    problem_recipe recipe = {.bodies = 5, .contacts = 14, .friction = 1, .bias = 0.1, .impact = 1, .scatter = 0.6};
    return random_problem(&r, &recipe);
}

static answer solve_within(const contender *who, const sim_problem *p, int most) {
    sim_error error;
    answer a = contest_entry(p, contender_is_rigid(who) ? 0 : -1);
    sim_solver *s = sim_solver_create(who->info, who->option, &error);
    cr_assert(s, "%s", error.text);
    a.out.v = a.v;
    a.out.impulse = a.impulse;
    a.out.most_iterations = most;
    cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, &error), SIM_OK);
    sim_solver_free(s);
    return a;
}

static bool is_finite(const answer *a) {
    double sum = 0;
    for (int k = 0; k < a->problem->nrow; k++) {
        sum += 0 * a->impulse[k];
    }
    for (int k = 0; k < a->problem->nv; k++) {
        sum += 0 * a->v[k];
    }
    return sum == 0;
}

Test(budget, no_solver_exceeds_its_iterations) {
    static const int budgets[] = {1, 2, 3, 5, 8, 13, 40, 200, 1000000};
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all), spent = 0, whole = 0;
    for (unsigned seed = 1; seed <= 3; seed++) {
        sim_problem *p = impacts(seed);
        for (int i = 0; i < count; i++) {
            answer free = solve_within(&all[i], p, 0);
            for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
                answer a = solve_within(&all[i], p, budgets[b]);
                bool gave_up = a.out.outcome > SIM_AT_ROUNDING;
                cr_expect_leq(a.out.iterations, budgets[b], "%s: %d of %d", all[i].name, a.out.iterations, budgets[b]);
                cr_expect(is_finite(&a), "%s", all[i].name);
                /* a limit that ends the solve is the reason; one that is not reached changes no bit */
                if (free.out.iterations > budgets[b]) {
                    cr_expect(gave_up && a.out.reason == SIM_REASON_BUDGET, "%s, %d: %s, %s", all[i].name, budgets[b],
                              sim_outcome_name(a.out.outcome), sim_reason_name(a.out.reason));
                    spent++;
                } else if (free.out.iterations < budgets[b]) {
                    cr_expect_eq(a.out.outcome, free.out.outcome, "%s, %d", all[i].name, budgets[b]);
                    cr_expect_eq(a.out.reason, free.out.reason, "%s, %d", all[i].name, budgets[b]);
                    cr_expect_eq(memcmp(a.impulse, free.impulse, (size_t)p->nrow * sizeof *a.impulse), 0, "%s, %d",
                                 all[i].name, budgets[b]);
                    whole++;
                }
                answer_free(&a);
            }
            answer_free(&free);
        }
        sim_problem_free(p);
    }
    cr_log_info("%d ended by the budget, %d before it", spent, whole);
    cr_expect(spent > 100 && whole > 100);
}

/* More iterations leave a smaller error: the best iterate is kept, not the last. */
Test(budget, a_larger_budget_never_gives_a_worse_answer_of_auto) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        if (strcmp(all[i].info->name, "auto") == 0) {
            sim_problem *p = impacts(7);
            double before = HUGE_VAL;
            for (int most = 1; most < 200; most = most + 1 + most / 4) {
                answer a = solve_within(&all[i], p, most);
                cr_expect_leq(a.out.residual, before, "%d: %g after %g", most, a.out.residual, before);
                before = a.out.residual;
                answer_free(&a);
            }
            cr_expect_leq(before, 1e-8);
            sim_problem_free(p);
            return;
        }
    }
    cr_assert_fail("no auto");
}
