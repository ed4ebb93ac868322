/* The five methods say what became of their search, and hand out the best that they had. */
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { METHODS = 5 };
static const char *const method[METHODS] = {"mlcp-pivot", "mlcp-pfb-rlm", "mlcp-pfb-plm", "mncp-rlm", "mncp-plm"};

static answer entry_of(const sim_problem *p) {
    answer a = answer_create(p, 1, 1e-3);
    sim_law_options o = sim_law_options_default();
    o.undo = INFINITY;
    sim_regularise(p, SIM_RIGID, &o, NULL, a.R, a.target);
    return a;
}

/* All options as they stand but for the one named. */
static void find_with(answer *a, const char *solver, const char *name, double value) {
    const sim_solver_info *info = sim_solver_find(solver);
    double option[16];
    for (int k = 0; k < info->noptions; k++) {
        option[k] = strcmp(info->option[k].name, name) == 0 ? value : info->option[k].default_value;
    }
    answer_find(a, solver, option);
}

static double greatest(const sim_problem *p, const double *impulse) {
    double most = 0;
    for (int k = 0; k < p->nrow; k++) {
        cr_assert(isfinite(impulse[k]));
        most = fmax(most, fabs(impulse[k]));
    }
    return most;
}

/* A ball between two walls that both want it at 1 m/s from them: no impulse gives that.  LM methods end in a minimum of
 * |r| that is no root, Lemke's on a ray. */
Test(failures, what_has_no_answer_is_stalled_and_moves_nothing_faster_than_it_came) {
    double v[3] = {0.3, 0, 0};
    sim_problem *p = point_between_walls(1, 0.5, -0.05, 0.01, v);
    for (int k = 0; k < METHODS; k++) {
        answer a = entry_of(p);
        answer_find(&a, method[k], NULL);
        cr_expect_eq(a.out.outcome, SIM_STALLED, "%s: %s after %d iterations", method[k],
                     sim_outcome_name(a.out.outcome), a.out.iterations);
        cr_expect_gt(a.out.residual, 0.1, "%s: %g", method[k], a.out.residual);
        cr_expect_leq(greatest(p, a.impulse), 1e6, "%s: impulses of %g N s", method[k], greatest(p, a.impulse));
        for (int j = 0; j < 3; j++) {
            cr_expect_leq(fabs(a.v[j]), 2, "%s: %g m/s", method[k], a.v[j]);
        }
        for (int most = 20; most <= 500; most += 40) { /* starts anew and from softer problems count, too */
            find_with(&a, method[k], "max_iterations", most);
            cr_expect_leq(a.out.iterations, most, "%s: %d iterations of %d", method[k], a.out.iterations, most);
        }
        answer_free(&a);
    }
    sim_problem_free(p);
}

static sim_problem *heap(random_source *r, int trial) {
    problem_recipe recipe = {
        .bodies = 6, .chain = 5, .contacts = 10, .friction = 0.6, .kinds = 63, .impact = 1, .scatter = 1};
    recipe.friction = 0.3 * (1 + trial % 3);
    return random_problem(r, &recipe);
}

Test(failures, who_has_no_more_iterations_is_at_its_limit) {
    random_source r = {1};
    for (int trial = 0; trial < 20; trial++) {
        sim_problem *p = heap(&r, trial);
        for (int k = 0; k < METHODS; k++) {
            answer a = entry_of(p);
            find_with(&a, method[k], "max_iterations", 2);
            cr_expect_eq(a.out.outcome, SIM_AT_LIMIT, "%s: %s", method[k], sim_outcome_name(a.out.outcome));
            cr_expect_gt(a.out.residual, 1e-8);
            greatest(p, a.impulse);
            answer_free(&a);
        }
        sim_problem_free(p);
    }
}

static bool enough(void *count) { return --*(int *)count < 0; }

Test(failures, who_is_stopped_is_at_its_limit) {
    random_source r = {2};
    for (int k = 0; k < METHODS; k++) {
        sim_problem *p = heap(&r, k);
        answer a = entry_of(p);
        sim_solver *solver = sim_solver_create(sim_solver_find(method[k]), NULL, NULL);
        int count = 2;
        a.law = (sim_regularisation){a.R, a.target};
        a.out = (sim_solution){.v = a.v, .impulse = a.impulse};
        a.out.stop = enough;
        a.out.stop_context = &count;
        cr_assert_eq(sim_solver_solve(solver, p, &a.law, &a.out, NULL), SIM_OK);
        cr_expect_eq(a.out.outcome, SIM_AT_LIMIT, "%s: %s", method[k], sim_outcome_name(a.out.outcome));
        cr_expect_leq(a.out.iterations, 4, "%s: %d iterations", method[k], a.out.iterations);
        sim_solver_free(solver);
        answer_free(&a);
        sim_problem_free(p);
    }
}

static bool at_once(void *nothing) {
    (void)nothing;
    return true;
}

/* A solver that took all the time to set up still hands out numbers. */
Test(failures, who_is_stopped_before_the_first_step_hands_out_numbers) {
    random_source r = {4};
    problem_recipe recipe = {.bodies = 40, .contacts = 80, .friction = 0.5, .impact = 1, .scatter = 0.5};
    sim_problem *p = random_problem(&r, &recipe);
    for (int k = 0; k < sim_solver_count(); k++) {
        const sim_solver_info *info = sim_solver_at(k);
        answer a = entry_of(p);
        sim_solver *solver = sim_solver_create(info, NULL, NULL);
        a.law = info->default_law != SIM_NEAR_RIGID ? (sim_regularisation){a.R, a.target} : a.law;
        a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .stop = at_once};
        cr_assert_eq(sim_solver_solve(solver, p, &a.law, &a.out, NULL), SIM_OK);
        cr_expect_eq(a.out.outcome, SIM_AT_LIMIT, "%s: %s", info->name, sim_outcome_name(a.out.outcome));
        cr_expect_gt(a.out.residual, 1e-3, "%s: E %g", info->name, a.out.residual);
        greatest(p, a.impulse);
        sim_solver_free(solver);
        answer_free(&a);
    }
    sim_problem_free(p);
}

/* Of all that was met what is handed out errs least, or as good as. */
Test(failures, the_best_is_handed_out_whenever_it_ends) {
    random_source r = {3};
    int limited = 0;
    for (int trial = 0; trial < 20; trial++) {
        sim_problem *p = heap(&r, trial);
        for (int k = 1; k < METHODS; k++) {
            for (int most = 1; most <= 64; most *= 2) {
                answer a = entry_of(p);
                find_with(&a, method[k], "max_iterations", most);
                double least = HUGE_VAL, psi = HUGE_VAL;
                for (int i = 0; i < a.history.count; i++) {
                    psi = fmin(psi, a.history.cost[i]);
                    least = a.history.cost[i] <= psi ? fmin(least, a.history.residual[i]) : least;
                }
                limited += a.out.outcome == SIM_AT_LIMIT;
                cr_expect(a.out.residual <= least / 0.9, "%s: %g, and %g was met", method[k], a.out.residual, least);
                cr_expect_leq(a.out.iterations, most, "%s: %d iterations of %d", method[k], a.out.iterations, most);
                answer_free(&a);
            }
        }
        sim_problem_free(p);
    }
    cr_expect_gt(limited, 50);
}

/* Velocities so great that their squares are no numbers. */
Test(failures, what_overflows_is_no_answer_and_its_impulses_are_numbers) {
    double v[3] = {1e170, 0, -1e170};
    sim_problem *p = point_on_ground(1, 0.5, 0, 0.01, v);
    for (int k = 0; k < METHODS; k++) {
        answer a = entry_of(p);
        answer_find(&a, method[k], NULL);
        double most = greatest(p, a.impulse);
        cr_expect(a.out.outcome > SIM_AT_ROUNDING || (most > 0.9e170 && most < 1.6e170), "%s: %s, %g N s", method[k],
                  sim_outcome_name(a.out.outcome), most);
        answer_free(&a);
    }
    sim_problem_free(p);
}
