/* auto: each problem is finished by the method that it suits, in the same way every time, and nothing is claimed
 * that is not so. */
#include "solver/portfolio/auto.h"
#include "solver/core/call.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PGS, SUBADMM, CANAL, ACN };

static double own_error(const answer *a) {
    return certificate_of(a->problem, &a->law, SIM_CONE_STRICT, a->v, a->impulse).own;
}

Test(auto_turns, whole_newton_steps_finish_what_is_easy_and_what_carries_loads) {
    random_source r = {1};
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe easy = {.bodies = 8, .contacts = 8, .friction = 0.3, .impact = 1, .scatter = 0.3};
        sim_problem *p = trial < 10 ? random_problem(&r, &easy) : loaded_stack(pow(10, trial % 5));
        answer a = rigid_entry(p);
        answer_find(&a, "auto", NULL);
        cr_expect_eq(a.out.outcome, SIM_SOLVED, "trial %d: %s", trial, sim_outcome_name(a.out.outcome));
        cr_expect_leq(own_error(&a), 1e-8 * (1 + 1e-6));
        cr_expect_eq(a.out.finished_by, ACN, "trial %d: %d", trial, a.out.finished_by);
        cr_expect_leq(a.out.iterations, 20, "trial %d: %d", trial, a.out.iterations);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* Neither alone answers all of these within what both have together. */
Test(auto_turns, obeys_the_strict_law_with_all_kinds_of_rows) {
    random_source r = {2};
    int finished[SIM_MAX_BRANCHES] = {0};
    for (int trial = 0; trial < 40; trial++) {
        problem_recipe recipe = mixed_recipe;
        recipe.friction = 0.15 * (trial % 6);
        recipe.chain = trial % 2 ? 7 : 0;
        sim_problem *p = random_problem(&r, &recipe);
        answer a = trial % 3 ? rigid_entry(p) : answer_create(p, 1, 1e-3);
        answer_find(&a, "auto", (double[]){1e-10});
        sim_certificate found = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse);
        cr_expect_leq(found.own, 1.01e-10, "trial %d: E %g, %s", trial, found.own, sim_outcome_name(a.out.outcome));
        cr_expect_leq(found.momentum, 1e-13, "trial %d: momentum %g", trial, found.momentum);
        cr_assert(a.out.finished_by >= PGS && a.out.finished_by <= ACN);
        finished[a.out.finished_by]++;
        answer_free(&a);
        sim_problem_free(p);
    }
    cr_expect_gt(finished[ACN], 30, "%d", finished[ACN]);
}

Test(auto_turns, a_guess_that_is_right_costs_no_iteration_and_one_of_nonsense_no_answer) {
    sim_problem *made = loaded_stack(100), p = *made;
    answer a = rigid_entry(&p);
    answer_find(&a, "auto", NULL);
    double *guess = malloc((size_t)p.nrow * sizeof *guess);
    memcpy(guess, a.impulse, (size_t)p.nrow * sizeof *guess);
    p.impulse_guess = guess;
    answer_find(&a, "auto", NULL);
    cr_expect_eq(a.out.iterations, 0);
    cr_expect_eq(a.out.outcome, SIM_SOLVED);
    cr_expect_arr_eq(a.impulse, guess, (size_t)p.nrow * sizeof *guess);
    for (int k = 0; k < p.nrow; k++) {
        guess[k] = k % 5 == 0 ? NAN : k % 5 == 1 ? 1e30 : -guess[k];
    }
    answer_find(&a, "auto", NULL);
    cr_expect_eq(a.out.outcome, SIM_SOLVED, "%s", sim_outcome_name(a.out.outcome));
    cr_expect_leq(own_error(&a), 1e-8 * (1 + 1e-6));
    free(guess);
    answer_free(&a);
    sim_problem_free(made);
}

/* A point between two walls that are steeper than friction lets it slide: what presses them apart has no bound.
 * Sunk into both, it cannot be freed. */
static sim_problem *stuck_wedge(double angle, double overlap) {
    const double c = cos(angle), s = sin(angle), v[3] = {0, 0, -0.1};
    /* rows along t1 = y, t2 = n x t1, n */
    const double J[18] = {0, 1, 0, -s, 0, c, c, 0, s, 0, 1, 0, -s, 0, -c, -c, 0, s};
    return point_at_walls(1, 1, J, -overlap, 0.01, v, v);
}

Test(auto_turns, no_solver_of_the_rigid_law_calls_itself_converged_with_an_error_over_1e_6) {
    random_source r = {4};
    int unsolved = 0;
    for (int trial = 0; trial < trials_of(16); trial++) {
        sim_problem *p = trial == 0  ? stuck_wedge(0.3, 1e-3)
                         : trial < 4 ? loaded_stack(pow(10, trial + 1))
                                     : random_problem(&r, trial % 2 ? &hard_recipe : &mixed_recipe);
        for (int k = 0; k < sim_solver_count(); k++) {
            const sim_solver_info *info = sim_solver_at(k);
            if (info->default_law != SIM_NEAR_RIGID && info->cone == SIM_CONE_STRICT) {
                answer a = rigid_entry(p);
                answer_find(&a, info->name, NULL);
                double E = own_error(&a);
                int claimed = a.out.outcome == SIM_SOLVED || a.out.outcome == SIM_AT_ROUNDING;
                cr_expect(!claimed || E <= 1e-6, "trial %d, %s: %s, E %g", trial, info->name,
                          sim_outcome_name(a.out.outcome), E);
                unsolved += !claimed;
                answer_free(&a);
            }
        }
        sim_problem_free(p);
    }
    cr_expect_gt(unsolved, 0, "all is solved: nothing was tested");
}

/* Held by friction between two upright walls.  The forces that press these apart cancel, here to the last bit; but of
 * 1e14 N s nobody knows that, and it is not 1e-8 that rounding would leave. */
Test(auto_turns, nobody_believes_impulses_so_great_that_rounding_may_hide_the_error) {
    static const struct {
        const char *name;
        double option[8]; /* tolerance, no iteration, ... */
    } solver[] = {{"pgs", {1e-8, 0, 1, 0, 0, 0, 1, 300}}, {"subadmm", {1e-8, 0, 0, 0, 0, 1, 0, 300}}};
    for (int k = 0; k < 4; k++) {
        sim_problem *made = stuck_wedge(0, 0), p = *made;
        double size = k % 2 ? 1e14 : 1, guess[6] = {0, 0.05, size, 0, -0.05, size};
        p.impulse_guess = guess;
        answer a = rigid_entry(&p);
        answer_find(&a, solver[k / 2].name, solver[k / 2].option);
        int believed = a.out.outcome == SIM_SOLVED && a.impulse[2] == size;
        cr_expect_eq(believed, k % 2 == 0, "%s, %g: %s, %g", solver[k / 2].name, size, sim_outcome_name(a.out.outcome),
                     a.out.residual);
        answer_free(&a);
        sim_problem_free(made);
    }
}

static bool at_once(void *context) {
    (void)context;
    return true;
}

Test(auto_turns, says_when_it_was_cut_short_and_what_it_had) {
    random_source r = {6};
    sim_problem *p = random_problem(&r, &hard_recipe);
    answer a = rigid_entry(p);
    sim_solver *s = sim_solver_create(sim_solver_find("auto"), NULL, NULL);
    a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .stop = at_once};
    cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
    cr_expect_eq(a.out.outcome, SIM_AT_LIMIT, "%s, %d, %g", sim_outcome_name(a.out.outcome), a.out.iterations,
                 a.out.residual);
    cr_expect(isfinite(own_error(&a)));
    sim_solver_free(s);
    answer_free(&a);
    sim_problem_free(p);
}

/* An answer that a method takes from another may be its best from then on: impulses and velocities must agree. */
Test(auto_turns, what_is_taken_can_be_handed_out_at_once) {
    extern const solver_type solver_pgs, solver_subadmm, solver_canal, solver_acn;
    const solver_type *type[] = {&solver_pgs, &solver_subadmm, &solver_canal, &solver_acn};
    random_source r = {9};
    problem_recipe easy = {.bodies = 4, .contacts = 5, .friction = 0.4, .impact = 1, .scatter = 0.3};
    sim_problem *p = random_problem(&r, &easy);
    answer a = rigid_entry(p);
    answer_find(&a, "auto", (double[]){1e-9});
    cr_assert_leq(own_error(&a), 1e-9);
    for (int k = 0; k < 4; k++) {
        double option[32], *v = calloc((size_t)p->nv, sizeof *v), *impulse = calloc((size_t)p->nrow, sizeof *impulse);
        for (int o = 0; o < type[k]->info.noptions; o++) {
            option[o] = type[k]->info.option[o].default_value;
        }
        sim_solution out = {.v = v, .impulse = impulse};
        solver_call call = {p,    a.R, a.target, option, arena_create(), type[k]->create ? type[k]->create() : NULL,
                            &out, 0,   0,        NULL};
        void *state = type[k]->begin(&call);
        cr_assert(state);
        type[k]->restart_from(state, a.impulse);
        double E = certificate_of(p, &a.law, SIM_CONE_STRICT, v, impulse).own;
        cr_expect_leq(out.residual, 1.1e-9, "%s says %g", type[k]->info.name, out.residual);
        cr_expect_leq(E, 1.1e-9, "%s hands out an answer with E %g", type[k]->info.name, E);
        if (call.workspace) {
            type[k]->destroy(call.workspace);
        }
        arena_free(call.scratch);
        free(v);
        free(impulse);
    }
    answer_free(&a);
    sim_problem_free(p);
}

/* Impulses that are no help. */
static void mislead(random_source *r, const sim_problem *p, double *guess) {
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *k = &p->constraint[i];
        for (int row = k->row; row < k->row + k->rows; row++) {
            guess[row] = random_uniform(r, -1, 1);
        }
        if (k->kind == SIM_CONTACT) {
            guess[k->row + 2] = random_uniform(r, 0, 2);
        }
    }
}

/* Hard ones, from a guess that misleads: auto solves all that any of its methods, nsn or incp solves from there. */
Test(auto_turns, what_one_of_its_parts_answers_alone_it_answers) {
    static const char *const part[] = {"acn", "nsn", "incp", "canal", "pgs", "subadmm"}; /* the quick ones first */
    static const problem_recipe heap = {
        .bodies = 8, .contacts = 32, .friction = 1, .bias = 0.1, .impact = 1, .scatter = 1};
    random_source r = {31};
    int alone = 0, missed = 0, taken = 0;
    for (int trial = 0; trial < trials_of(50); trial++) {
        sim_problem *made = random_problem(&r, &heap), p = *made;
        double *guess = calloc((size_t)p.nrow, sizeof *guess);
        mislead(&r, &p, guess);
        p.impulse_guess = guess;
        answer a = rigid_entry(&p);
        bool one = false;
        for (int k = 0; k < 6 && !one; k++) {
            answer_find(&a, part[k], k == 5 ? (double[]){1e-8, 5000, 0, 0, 0, 1, 0, 300} : NULL);
            one = a.out.outcome == SIM_SOLVED && own_error(&a) <= 1.0001e-8;
        }
        answer_find(&a, "auto", NULL);
        alone += one;
        taken += a.out.outcome == SIM_SOLVED && a.out.finished_by != ACN;
        missed += one && a.out.outcome != SIM_SOLVED;
        answer_free(&a);
        free(guess);
        sim_problem_free(made);
    }
    cr_expect_eq(missed, 0, "%d of %d", missed, alone);
    cr_expect_gt(alone, trials_of(30), "%d", alone);
    cr_expect(taken > 0 || trials_of(50) < 50); /* the others take turns, too */
}

/* With patience P a rigid problem costs at most P H, H = 40 sqrt(contacts) Newton steps of acn, solved or not.  An outer
 * iteration under way is finished.  Without patience auto goes on until all has been tried. */
Test(auto_turns, patience_bounds_the_work_on_what_stays_unsolved) {
    enum { CONTACTS = 150, LAST_STEPS = 12 };
    const double patience[] = {1, 4};
    random_source r = {11};
    int unsolved = 0, more = 0;
    for (int trial = 0; trial < trials_of(16); trial++) {
        problem_recipe recipe = hard_recipe;
        recipe.bodies = 40;
        recipe.contacts = CONTACTS;
        sim_problem *made = random_problem(&r, &recipe), p = *made;
        answer alone = rigid_entry(&p), all = rigid_entry(&p);
        double *guess = calloc((size_t)p.nrow + 1, sizeof *guess), option[32], used[2];
        for (int k = 0; k < p.nrow; k++) {
            guess[k] = random_uniform(&r, 0, 0.1);
        }
        p.impulse_guess = trial % 2 ? guess : NULL;
        options_with("acn", (option_setting[]){{"max_iterations", 1}, {NULL, 0}}, option);
        answer_find(&alone, "acn", option);
        double step = alone.out.multiplications / alone.out.factorisations;
        for (int k = 0; k < 2; k++) {
            sim_solver *s = sim_solver_create(sim_solver_find("auto"), NULL, NULL);
            all.out = (sim_solution){.v = all.v, .impulse = all.impulse, .patience = patience[k]};
            cr_assert_eq(sim_solver_solve(s, &p, &all.law, &all.out, NULL), SIM_OK);
            double most = patience[k] * 40 * sqrt(p.nconstraint) + LAST_STEPS;
            used[k] = all.out.multiplications / step;
            cr_expect_leq(used[k], most, "trial %d, patience %g: %g steps, not %g", trial, patience[k], used[k], most);
            unsolved += k == 1 && all.out.outcome > SIM_AT_ROUNDING;
            sim_solver_free(s);
        }
        more += used[1] > 1.5 * used[0];
        free(guess);
        answer_free(&alone);
        answer_free(&all);
        sim_problem_free(made);
    }
    cr_expect_geq(unsolved, trials_of(3), "%d: too few to say", unsolved);
    cr_expect_geq(more, trials_of(3), "%d: patience makes no difference", more);
}

/* Few rigid contacts have the patience of 200 Newton steps of acn each, of which an unsolved problem uses most. */
Test(auto_turns, few_rigid_contacts_have_the_steps_that_the_exact_rule_takes) {
    enum { STEPS = 200, LAST_STEPS = 12 };
    random_source r = {17};
    int unsolved = 0;
    for (int trial = 0; trial < trials_of(40); trial++) {
        sim_problem *made = random_problem(&r, &hard_recipe), p = *made;
        answer alone = rigid_entry(&p), all = rigid_entry(&p);
        double *guess = calloc((size_t)p.nrow + 1, sizeof *guess), option[32];
        mislead(&r, &p, guess);
        p.impulse_guess = guess;
        options_with("acn", (option_setting[]){{"max_iterations", 1}, {NULL, 0}}, option);
        answer_find(&alone, "acn", option);
        sim_solver *s = sim_solver_create(sim_solver_find("auto"), NULL, NULL);
        all.out = (sim_solution){.v = all.v, .impulse = all.impulse, .patience = 1};
        cr_assert_eq(sim_solver_solve(s, &p, &all.law, &all.out, NULL), SIM_OK);
        double used = all.out.multiplications * alone.out.factorisations / alone.out.multiplications;
        cr_expect_leq(used, STEPS + LAST_STEPS, "trial %d: %g steps", trial, used);
        if (all.out.outcome > SIM_AT_ROUNDING) {
            cr_expect_geq(used, 0.8 * STEPS, "trial %d: gave up after %g steps", trial, used);
            unsolved++;
        }
        sim_solver_free(s);
        free(guess);
        answer_free(&alone);
        answer_free(&all);
        sim_problem_free(made);
    }
    cr_log_info("%d unsolved", unsolved);
    cr_expect(unsolved >= 4 || trials_of(40) < 40, "%d: too few to say", unsolved);
}

enum { RECORDS = 8192 };

/* E at every Newton step. */
static int find_with_history(answer *a, const char *solver, const double *option, int most, double *E) {
    double cost[RECORDS];
    sim_history history = {.room = RECORDS, .residual = E, .cost = cost};
    sim_solver *s = sim_solver_create(sim_solver_find(solver), option, NULL);
    a->out = (sim_solution){.v = a->v, .impulse = a->impulse, .history = &history, .most_iterations = most};
    cr_assert_eq(sim_solver_solve(s, a->problem, &a->law, &a->out, NULL), SIM_OK);
    sim_solver_free(s);
    return history.count;
}

/* auto takes the steps that acn alone takes by its rules, to the bit, and may stand still as long: by the exact one 150
 * outer iterations.  Contacts that give way, if only by rounding, have the quick rule from no impulses second, rigid ones
 * after the plain one from there.  A run that would repeat the first is left out. */
static int compare_rules(bool stiff, int trials) {
    enum { QUICK, EXACT, PLAIN, RUNS = 4 };
    static const struct {
        int rule;
        bool cold;
    } order[2][RUNS] = {{{QUICK, false}, {QUICK, true}, {PLAIN, false}, {EXACT, false}},
                        {{QUICK, false}, {PLAIN, true}, {QUICK, true}, {EXACT, false}}};
    static double found[RUNS][RECORDS], all[RECORDS];
    random_source r = {23};
    int compared = 0;
    for (int trial = 0; trial < trials; trial++) {
        sim_problem *made = random_problem(&r, &hard_recipe), p = *made;
        double *guess = calloc((size_t)p.nrow + 1, sizeof *guess);
        mislead(&r, &p, guess);
        answer a = rigid_entry(&p);
        for (int k = 0; k < p.nrow && !stiff; k++) {
            a.R[k] = fmax(a.R[k], 1e-14);
        }
        bool rigid = false; /* a recipe may make no contact */
        for (int i = 0; i < p.nconstraint; i++) {
            rigid = rigid || (stiff && p.constraint[i].kind == SIM_CONTACT);
        }
        /* each alone; but for the first, the start is none of its steps */
        int count[RUNS], sum = -1;
        bool stalled = true, same = false;
        for (int k = 0; k < RUNS && stalled; k++) {
            int rule = order[rigid][k].rule;
            double option[32];
            option_setting few = {"most_stalled", AUTO_MAX_STALLED}, none = {NULL, 0};
            options_with(
                "acn",
                (option_setting[]){{"exact", rule}, {"max_iterations", RECORDS}, rule == EXACT ? none : few, none},
                option);
            p.impulse_guess = order[rigid][k].cold ? NULL : guess;
            count[k] = find_with_history(&a, "acn", option, 0, found[k]);
            stalled = a.out.reason == SIM_REASON_STANDSTILL;
            same = same || (order[rigid][k].cold && rule == QUICK && found[k][0] == found[0][0]);
            sum += count[k] - (k > 0);
        }
        /* all in turn */
        if (stalled && !same && sum < RECORDS) {
            p.impulse_guess = guess;
            find_with_history(&a, "auto", NULL, sum, all);
            const double *at = all;
            for (int k = 0; k < RUNS; k++) {
                int skipped = k > 0;
                cr_expect_arr_eq(at, found[k] + skipped, (size_t)(count[k] - skipped) * sizeof *at, "%d: run %d", trial,
                                 k);
                at += count[k] - skipped;
            }
            compared++;
        }
        answer_free(&a);
        free(guess);
        sim_problem_free(made);
    }
    return compared;
}

Test(auto_turns, rules_of_acn_run_and_stand_still_as_long_as_alone) {
    for (int stiff = 0; stiff < 2; stiff++) {
        int compared = compare_rules(stiff, trials_of(120));
        cr_log_info("%s: %d compared", stiff ? "rigid" : "giving way", compared);
        cr_expect(compared >= 3 || trials_of(120) < 120, "rigid %d, %d: too few to say", stiff, compared);
    }
}

/* A second Newton's method begins from what sweeps found, if that is much better than what the first has.  Once it runs,
 * it takes its turns, however far the first comes. */
Test(auto_turns, a_finisher_waits_for_much_better_impulses_and_then_goes_on) {
    extern const solver_type solver_pgs, solver_canal;
    auto_turns t = {.count = 3};
    t.branch[0] = (auto_branch){.type = &solver_pgs, .stage = AUTO_RUNNING, .out = {.residual = 1e-3}};
    auto_branch *own = &t.branch[1], *finisher = &t.branch[2];
    *own = (auto_branch){.type = &solver_canal, .stage = AUTO_RUNNING, .out = {.residual = 5e-3}};
    *finisher = (auto_branch){.type = &solver_canal, .out = {.residual = HUGE_VAL}, .taken_E = HUGE_VAL};
    cr_expect_not(auto_may_finish(&t, finisher, own), "not much better");
    own->out.residual = 5e-2;
    cr_expect(auto_may_finish(&t, finisher, own), "much better");
    finisher->stage = AUTO_RUNNING;
    finisher->taken_E = 1e-3;
    own->out.residual = 1e-4;
    cr_expect(auto_may_finish(&t, finisher, own), "it runs");
    finisher->stage = AUTO_ENDED;
    cr_expect_not(auto_may_finish(&t, finisher, own), "nothing new to begin from");
    t.branch[0].out.residual = 1e-4;
    cr_expect(auto_may_finish(&t, finisher, own), "it may begin again");
    finisher->stage = AUTO_DONE;
    cr_expect_not(auto_may_finish(&t, finisher, own), "it is done");
}
