/* CANAL: its rounds are SAP's problems, where they end is the strict law, and it does not claim more than it has. */
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, ROUNDS, PENALTY, ACCELERATION, FACTORISATION, INNER, MOST_OPTIONS = 16 };

static const problem_recipe mixed = {
    .bodies = 4, .chain = 7, .contacts = 8, .friction = 0.4, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.5};

static double apart(int count, const double *x, const double *y) {
    double most = 0, size = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k] - y[k]));
        size = fmax(size, fmax(fabs(x[k]), fabs(y[k])));
    }
    return most / size;
}

static double own_error(const answer *a) {
    return certificate_of(a->problem, &a->law, SIM_CONE_STRICT, a->v, a->impulse).own;
}

Test(canal, obeys_the_strict_law_with_all_kinds_of_rows) {
    random_source r = {1};
    for (int trial = 0; trial < 60; trial++) {
        problem_recipe recipe = mixed;
        recipe.friction = 0.15 * (trial % 6);
        recipe.chain = trial % 2 ? 7 : 0;
        sim_problem *p = random_problem(&r, &recipe);
        answer a = trial % 3 ? rigid_entry(p) : answer_create(p, 1, 1e-3);
        double option[] = {1e-11, 1e5, 1e4, 100, 1, 0, 0, 5e3};
        answer_find(&a, "canal", option);
        sim_certificate found = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse);
        cr_expect_leq(found.own, 1e-10, "trial %d: E %g, %s", trial, found.own, sim_outcome_name(a.out.outcome));
        cr_expect_leq(found.momentum, 1e-13, "trial %d: momentum %g", trial, found.momentum);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* lambda = 0, and p = 0 since nothing slides at v = 0: what is left of the round is R + w / kappa. */
Test(canal, its_first_round_is_saps_problem_step_by_step) {
    random_source r = {2};
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *made = random_problem(&r, &mixed), p = *made;
        double kappa = pow(10, trial % 3), still[64] = {0};
        p.v_guess = still;
        answer a = rigid_entry(&p), b = rigid_entry(&p);
        double canal[] = {0, 1000, 1, kappa, 1, 0, 0, 5e3}, sap[] = {1e-4, 1000, 0, 0, 1e4, 0}, *W = b.W;
        for (int i = 0; i < p.nconstraint; i++) {
            const sim_constraint *c = &p.constraint[i];
            double trace = 0;
            for (int k = 0; k < c->rows; k++) {
                trace += W[k * c->rows + k];
            }
            for (int k = c->row; k < c->row + c->rows; k++) {
                double e = trace / c->rows / kappa;
                b.R[k] = c->kind == SIM_CONTACT || b.R[k] < e ? b.R[k] + e : b.R[k];
            }
            W += c->rows * c->rows;
        }
        answer_find(&a, "canal", canal);
        answer_find(&b, "sap", sap);
        cr_expect_gt(b.out.iterations, 1);
        cr_expect_eq(a.out.iterations, b.out.iterations, "%d and %d steps", a.out.iterations, b.out.iterations);
        cr_expect_eq(a.out.factorisations, b.out.factorisations);
        cr_expect_leq(apart(p.nrow, a.impulse, b.impulse), 1e-11, "trial %d: %g apart", trial,
                      apart(p.nrow, a.impulse, b.impulse));
        cr_expect_eq(a.out.outcome, SIM_AT_LIMIT);
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(made);
    }
}

/* Few contacts, little friction: v is the only one there is. */
Test(canal, its_answer_does_not_depend_on_the_penalty) {
    problem_recipe few = mixed;
    few.contacts = 5;
    few.friction = 0.2;
    random_source r = {3};
    for (int trial = 0; trial < 10; trial++) {
        sim_problem *p = random_problem(&r, &few);
        answer first = rigid_entry(p);
        for (int k = 0; k < 6; k++) {
            answer a = rigid_entry(p);
            double option[] = {1e-13, 1e5, 1e4, pow(10, k), 1, 0, 0, 5e3};
            answer_find(&a, "canal", option);
            cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "kappa 1e%d: %g", k, a.out.residual);
            cr_expect(k == 0 || apart(p->nv, a.v, first.v) <= 1e-9, "kappa 1e%d: %g apart", k,
                      apart(p->nv, a.v, first.v));
            memcpy(k ? a.v : first.v, a.v, (size_t)p->nv * sizeof *a.v);
            answer_free(&a);
        }
        answer_free(&first);
        sim_problem_free(p);
    }
}

/* A point: the error of p falls by mu^2 / (1 + mu^2) a round, whatever the penalty is (Lee et al. 2024). */
Test(canal, without_guesses_ahead_the_shift_of_a_sliding_point_contracts_as_the_theory_says) {
    double v[3] = {3, 1, -0.5};
    for (int m = 1; m <= 4; m++) {
        int seen = 0;
        double mu = 0.4 * m, rate = mu * mu / (1 + mu * mu), option[] = {1e-13, 1e5, 500, 1e4, 0, 0, 0, 5e3};
        sim_problem *p = point_on_ground(2, mu, 0, 0.01, v);
        answer a = rigid_entry(p);
        answer_find(&a, "canal", option);
        for (int k = 1; k < a.history.count; k++) {
            double before = a.history.residual[k - 1], fell = a.history.residual[k] / before;
            if (before < 1e-4 && before > 1e-7) {
                cr_expect_float_eq(fell, rate, 1e-3, "mu %g: %g, not %g", mu, fell, rate);
                seen++;
            }
        }
        cr_expect_gt(seen, 2);
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(canal, its_own_measure_is_that_of_the_judge) {
    random_source r = {4};
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, &mixed);
        answer a = trial % 2 ? rigid_entry(p) : answer_create(p, 1, 1e-3);
        double option[] = {0, 1000, 1 + trial % 4, 100, 1, 0, 0, 5e3};
        answer_find(&a, "canal", option);
        double E = own_error(&a);
        cr_expect_float_eq(a.out.residual, E, 1e-9 * E, "%g, not %g", a.out.residual, E);
        answer_free(&a);
        sim_problem_free(p);
    }
}

static bool at_once(void *context) {
    (void)context;
    return true;
}

Test(canal, says_when_it_was_cut_short_and_hands_out_the_best_it_had) {
    random_source r = {5};
    for (int trial = 0; trial < 30; trial++) {
        sim_problem *p = random_problem(&r, &mixed);
        answer a = rigid_entry(p);
        double option[] = {1e-12, trial % 3 ? 1e5 : trial, trial % 3 == 1 ? 4 : 1e4, 100, 1, 0, 0, 5e3},
               least = HUGE_VAL;
        sim_solver *s = sim_solver_create(sim_solver_find("canal"), option, NULL);
        a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .history = &a.history};
        a.out.stop = trial % 3 == 2 ? at_once : NULL;
        cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
        for (int k = 0; k < a.history.count; k++) {
            least = fmin(least, a.history.residual[k]);
        }
        cr_expect_eq(a.out.outcome, SIM_AT_LIMIT, "%s", sim_outcome_name(a.out.outcome));
        cr_expect(a.out.iterations <= (int)option[MAX_ITERATIONS]);
        cr_expect(a.history.count >= 1 && a.history.count <= (int)option[ROUNDS]);
        cr_expect_eq(a.out.residual, least);
        cr_expect_float_eq(a.out.residual, own_error(&a), 1e-9 * least + 1e-14);
        sim_solver_free(s);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* An answer reported as solved is; one reported at rounding is near it. */
Test(canal, hard_problems_are_solved_or_said_not_to_be) {
    problem_recipe hard = {
        .bodies = 6, .contacts = 24, .friction = 0.9, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 1};
    random_source r = {6};
    int seen[SIM_OUTCOMES] = {0};
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, &hard);
        answer a = rigid_entry(p);
        double option[] = {trial % 2 ? 1e-8 : 0, 300, 100, 100, 1, 0, 0, 5e3};
        answer_find(&a, "canal", option);
        double E = own_error(&a), due[SIM_OUTCOMES] = {option[TOLERANCE], 1e-8, HUGE_VAL, 0};
        cr_expect_leq(E, due[a.out.outcome] * (1 + 1e-6), "%s with E %g", sim_outcome_name(a.out.outcome), E);
        seen[a.out.outcome]++;
        answer_free(&a);
        sim_problem_free(p);
    }
    cr_log_info("solved %d, to rounding %d, at its limit %d", seen[0], seen[1], seen[2]);
    cr_expect_gt(seen[SIM_SOLVED], 5);
    cr_expect_gt(seen[SIM_AT_LIMIT], 0);
}

/* Where the strict inner problem is stuck a lower penalty helps on: nine in ten heaps with friction 1.4 are solved, and
 * no more than three in four with a penalty that only grows. */
Test(canal, a_penalty_that_grew_too_far_is_relieved) {
    random_source r = {7};
    int solved = 0;
    for (int trial = 0; trial < 60; trial++) {
        problem_recipe recipe = {.bodies = 6, .contacts = 16, .friction = 1.4, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        answer a = rigid_entry(p);
        double option[MOST_OPTIONS];
        option_setting set[] = {{"inner", 3}, {"acceleration", 1}, {"max_iterations", 2000}, {NULL, 0}};
        options_with("canal", set, option);
        answer_find(&a, "canal", option);
        solved += a.out.outcome <= SIM_AT_ROUNDING;
        answer_free(&a);
        sim_problem_free(p);
    }
    cr_expect_geq(solved, 54, "%d of 60", solved);
}

/* Impulses of other contacts as its start: of the heaps that are solved without them, nearly all are, too.  With one start
 * alone 11 are not. */
Test(canal, a_start_that_misleads_is_given_up) {
    random_source r = {9};
    int solved = 0, misled = 0;
    for (int trial = 0; trial < part_of(100); trial++) {
        problem_recipe recipe = {.bodies = 6, .contacts = 16, .friction = 1.4, .impact = 1, .scatter = 0.6};
        sim_problem *owned = random_problem(&r, &recipe), p = *owned;
        answer cold = rigid_entry(&p);
        answer_find(&cold, "canal", NULL);
        double *guess = malloc((size_t)p.nrow * sizeof *guess);
        for (int k = 0; k < p.nrow; k++) {
            guess[k] = 100 * cold.impulse[(k + 3) % p.nrow];
        }
        p.impulse_guess = guess;
        answer warm = rigid_entry(&p);
        answer_find(&warm, "canal", NULL);
        solved += cold.out.outcome <= SIM_AT_ROUNDING;
        misled += cold.out.outcome <= SIM_AT_ROUNDING && warm.out.outcome > SIM_AT_ROUNDING;
        answer_free(&warm);
        answer_free(&cold);
        free(guess);
        sim_problem_free(owned);
    }
    cr_expect(solved > 80 || is_part(), "%d of 100", solved);
    cr_expect_leq(misled, 5, "%d of %d", misled, solved);
}

Test(canal, a_law_that_is_none_is_refused) {
    random_source r = {7};
    sim_problem *p = random_problem(&r, &mixed);
    for (int what = 0; what < 3; what++) {
        answer a = rigid_entry(p);
        (what == 2 ? a.target : a.R)[0] = what == 0 ? -1e-3 : what == 1 ? 1e-3 : NAN;
        answer_find(&a, "canal", NULL);
        cr_expect_eq(a.out.outcome, SIM_BROKEN_DOWN);
        cr_expect_arr_eq(a.v, p->v_free, (size_t)p->nv * sizeof *a.v);
        for (int k = 0; k < p->nrow; k++) {
            cr_expect_eq(a.impulse[k], 0);
        }
        answer_free(&a);
    }
    sim_problem_free(p);
}

/* R infinite: the force of a spring and its step, whatever the velocity is. */
Test(canal, a_row_that_is_forced_gives_its_force) {
    random_source r = {8};
    problem_recipe springs = mixed;
    springs.kinds = 1 << SIM_SPRING;
    for (int trial = 0; trial < 10; trial++) {
        sim_problem *p = random_problem(&r, &springs);
        answer a = rigid_entry(p);
        int forced = -1;
        for (int i = 0; i < p->nconstraint; i++) {
            forced = p->constraint[i].kind == SIM_SPRING ? i : forced;
        }
        cr_assert_geq(forced, 0);
        a.R[p->constraint[forced].row] = HUGE_VAL;
        answer_find(&a, "canal", (double[]){1e-10, 1e5, 1e4, 100, 1, 0, 0, 5e3});
        cr_expect_eq(a.out.outcome, SIM_SOLVED, "%s, %g", sim_outcome_name(a.out.outcome), a.out.residual);
        cr_expect_eq(a.impulse[p->constraint[forced].row], p->step * p->constraint[forced].force);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* A rod that flies and turns fast, whose end meets the ground slowly: the impulse that is due is 1e-6 of its
 * momentum.  The guess of a velocity with which the end just rises is as near to balance, and with it nothing seems
 * to be due. */
Test(canal, sees_what_is_small_beside_the_momentum_of_what_it_acts_on) {
    const double turn = 1000, z = -0.5, x = 0.2, slow = 1e-3;
    const double v_free[3] = {turn, -turn * z, turn * x - slow};
    sim_problem *owned = rod_on_ground(1, 0.1, x, z, 0.5, v_free), p = *owned;
    double guess[6], impulse_guess[3] = {0};
    memcpy(guess, p.v_free, sizeof guess);
    guess[5] += 2 * slow;
    p.v_guess = guess;
    p.impulse_guess = impulse_guess;
    answer a = rigid_entry(&p);
    answer_find(&a, "canal", NULL);
    double E = own_error(&a);
    cr_expect_eq(a.out.outcome, SIM_SOLVED, "%s", sim_outcome_name(a.out.outcome));
    cr_expect_leq(E, 1e-8, "%g", E);
    cr_expect_gt(a.impulse[2], 0.1 * slow, "%g", a.impulse[2]);
    answer_free(&a);
    sim_problem_free(owned);
}
