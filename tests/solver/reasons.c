/* Why did it give up?  A problem planted for each reason there is; who solves nothing says why, hands out the best
 * there was, and nobody calls an answer what is none.  All that can be asked of every solver of the table is asked
 * of all. */
#include "solver/core/natural_map.h"
#include "support/contenders.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A point between floor and ceiling, both of which it stands 1 cm deep in: each is to push it out, and it has no way
 * to go. */
static sim_problem *squeezed(void) { return point_between_walls(2, 0.5, -0.01, 0.01, (double[3]){0, 0, 0}); }

static int gave_up(const answer *a) { return a->out.outcome > SIM_AT_ROUNDING; }

static const char *word(const answer *a) { return sim_reason_name(a->out.reason); }

/* No number of the answer is none. */
static int is_finite(const answer *a) {
    double sum = 0;
    for (int k = 0; k < a->problem->nrow; k++) {
        sum += a->impulse[k] * 0;
    }
    for (int k = 0; k < a->problem->nv; k++) {
        sum += a->v[k] * 0;
    }
    return sum == 0;
}

Test(reasons, each_has_a_name_and_a_sentence_of_its_own) {
    for (int k = 0; k < SIM_REASONS; k++) {
        cr_assert(strlen(sim_reason_name((sim_reason)k)) > 2 && strlen(sim_reason_name((sim_reason)k)) <= 18);
        cr_assert(strlen(sim_reason_text((sim_reason)k)) > 10);
        for (int i = 0; i < k; i++) {
            cr_expect_str_neq(sim_reason_name((sim_reason)i), sim_reason_name((sim_reason)k));
            cr_expect_str_neq(sim_reason_text((sim_reason)i), sim_reason_text((sim_reason)k));
        }
    }
}

/* docs/solving.md has a row for each, in its own words. */
Test(reasons, the_table_of_the_docs_has_the_words_of_the_program) {
    static char page[64 * 1024];
    FILE *file = fopen("docs/solving.md", "r");
    cr_assert(file);
    size_t length = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[length] = 0;
    char *row = strstr(page, "| word | cause |"), *end = row ? strstr(row, "\n\n") : NULL;
    cr_assert(end && length < sizeof page - 1);
    *end = 0;
    int rows = -2; /* the head has two lines */
    for (const char *c = row; c; c = strchr(c + 1, '\n')) {
        rows++;
    }
    cr_expect_eq(rows, SIM_REASONS - 1, "%d rows", rows);
    for (int k = SIM_REASON_NONE + 1; k < SIM_REASONS; k++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted, "\n| %s | %s", sim_reason_name((sim_reason)k), sim_reason_text((sim_reason)k));
        cr_expect(strstr(row, wanted), "no row begins with %s", wanted + 1);
    }
}

Test(reasons, who_solves_it_has_none_and_who_does_not_has_one) {
    random_source r = {31};
    int given_up = 0;
    for (int trial = 0; trial < part_of(10); trial++) {
        problem_recipe recipe = {
            .bodies = 1 + trial % 3, .contacts = 8, .friction = 1, .bias = 0.1, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        for (int s = 0; s < sim_solver_count(); s++) {
            answer a = contest_entry(p, sim_solver_at(s)->default_law != SIM_NEAR_RIGID ? 0 : -1);
            answer_find(&a, sim_solver_at(s)->name, NULL);
            cr_expect_eq(a.out.reason != SIM_REASON_NONE, gave_up(&a), "%s: %s, %s", sim_solver_at(s)->name,
                         sim_outcome_name(a.out.outcome), word(&a));
            cr_expect(is_finite(&a), "%s: %s", sim_solver_at(s)->name, word(&a));
            given_up += gave_up(&a);
            answer_free(&a);
        }
        sim_problem_free(p);
    }
    cr_log_info("%d gave up", given_up);
    cr_expect(given_up > 10 || is_part());
}

/* Impacts from all sides: more than one iteration for everybody. */
static sim_problem *hard(void) {
    random_source r = {11};
    problem_recipe recipe = {.bodies = 4, .contacts = 12, .friction = 1, .bias = 0.1, .impact = 1, .scatter = 0.6};
    return random_problem(&r, &recipe);
}

Test(reasons, out_of_iterations_is_who_may_have_but_one) {
    sim_problem *p = hard();
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all), seen = 0;
    for (int i = 0; i < count; i++) {
        int limit = option_of(all[i].info, "max_iterations");
        if (limit < 0) {
            continue; /* auto, which ends by what its methods come to */
        }
        all[i].option[limit] = fmax(1, all[i].info->option[limit].low);
        answer a = contest_entry(p, contender_is_rigid(&all[i]) ? 0 : -1);
        answer_find(&a, all[i].info->name, all[i].option);
        cr_expect_eq(a.out.outcome, SIM_AT_LIMIT, "%s: %s", all[i].name, sim_outcome_name(a.out.outcome));
        cr_expect_eq(a.out.reason, SIM_REASON_ITERATIONS, "%s: %s", all[i].name, word(&a));
        seen++;
        answer_free(&a);
    }
    cr_expect_geq(seen, sim_solver_count() - 1);
    sim_problem_free(p);
}

static bool at_once(void *context) {
    ++*(int *)context;
    return true;
}

Test(reasons, out_of_time_is_who_is_told_to_stop) {
    sim_problem *p = hard();
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        int asked = 0;
        sim_error error;
        answer a = contest_entry(p, contender_is_rigid(&all[i]) ? 0 : -1);
        sim_solver *s = sim_solver_create(all[i].info, all[i].option, &error);
        sim_solution out = {.v = a.v, .impulse = a.impulse, .stop = at_once, .stop_context = &asked};
        cr_assert_eq(sim_solver_solve(s, p, &a.law, &out, &error), SIM_OK);
        cr_expect_eq(out.reason, SIM_REASON_TIME, "%s: %s", all[i].name, sim_reason_name(out.reason));
        cr_expect_eq(asked, 1, "%s asked %d times of who had said so", all[i].name, asked);
        cr_expect(out.stop == at_once && out.stop_context == &asked, "%s: they are the caller's", all[i].name);
        cr_expect(is_finite(&a), "%s", all[i].name);
        sim_solver_free(s);
        answer_free(&a);
    }
    sim_problem_free(p);
}

typedef struct patience {
    int left, told;
} patience;

static bool after_a_while(void *context) {
    patience *p = context;
    p->told |= p->left-- <= 0;
    return p->told;
}

/* At any place of the way, between two starts, too: who was told to stop and has no answer ran out of time. */
Test(reasons, out_of_time_is_who_is_told_to_stop_anywhere_on_its_way) {
    sim_problem *p = squeezed();
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all), stopped = 0;
    for (int i = 0; i < count; i++) {
        int told = 1;
        for (int left = 0; left < 100 && told && contender_is_rigid(&all[i]); left++) {
            sim_error error;
            patience waits = {left, 0};
            answer a = contest_entry(p, 0);
            sim_solver *solver = sim_solver_create(all[i].info, all[i].option, &error);
            sim_solution out = {.v = a.v, .impulse = a.impulse, .stop = after_a_while, .stop_context = &waits};
            cr_assert_eq(sim_solver_solve(solver, p, &a.law, &out, &error), SIM_OK);
            told = waits.told;
            stopped += told;
            cr_expect(!told || (out.reason == SIM_REASON_TIME && out.outcome == SIM_AT_LIMIT), "%s, %d: %s, %s",
                      all[i].name, left, sim_outcome_name(out.outcome), sim_reason_name(out.reason));
            sim_solver_free(solver);
            answer_free(&a);
        }
    }
    cr_expect_gt(stopped, 300);
    sim_problem_free(p);
}

/* Methods that make |r|^2 less: where there is no answer all they can find is where it is least. */
Test(reasons, local_minimum_is_where_a_descent_ends_that_has_no_root_to_find) {
    static const char *const descends[] = {"incp", "mncp-rlm", "mncp-plm", "mlcp-pfb-rlm", "mlcp-pfb-plm"};
    sim_problem *p = squeezed();
    for (size_t k = 0; k < sizeof descends / sizeof descends[0]; k++) {
        answer a = contest_entry(p, 0);
        answer_find(&a, descends[k], NULL);
        cr_expect_eq(a.out.outcome, SIM_STALLED, "%s: %s", descends[k], sim_outcome_name(a.out.outcome));
        cr_expect_eq(a.out.reason, SIM_REASON_MINIMUM, "%s: %s", descends[k], word(&a));
        cr_expect_gt(certificate_of(p, NULL, SIM_CONE_STRICT, NULL, a.impulse).E, 1e-3, "%s", descends[k]);
        answer_free(&a);
    }
    sim_problem_free(p);
}

Test(reasons, what_has_no_answer_is_called_one_by_nobody) {
    sim_problem *p = squeezed();
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        if (!contender_is_rigid(&all[i])) {
            continue; /* yields, and so has an answer */
        }
        answer a = contest_entry(p, 0);
        cr_assert_gt(fmin(a.target[2], a.target[5]), 0.05, "both push");
        answer_find(&a, all[i].info->name, all[i].option);
        cr_expect(gave_up(&a), "%s: %s at %g", all[i].name, sim_outcome_name(a.out.outcome), a.out.residual);
        cr_expect(is_finite(&a), "%s", all[i].name);
        cr_log_info("%s: %s after %d", all[i].name, word(&a), a.out.iterations);
        answer_free(&a);
    }
    sim_problem_free(p);
}

Test(reasons, ray_and_standstill_are_how_pivots_and_multipliers_end_there) {
    static const struct {
        const char *solver;
        sim_reason reason;
    } due[] = {{"mlcp-pivot", SIM_REASON_RAY}, {"canal", SIM_REASON_STANDSTILL}, {"auto", SIM_REASON_STANDSTILL}};
    sim_problem *p = squeezed();
    for (size_t k = 0; k < sizeof due / sizeof due[0]; k++) {
        answer a = contest_entry(p, 0);
        answer_find(&a, due[k].solver, NULL);
        cr_expect_eq(a.out.reason, due[k].reason, "%s: %s", due[k].solver, word(&a));
        answer_free(&a);
    }
    sim_problem_free(p);
}

/* W = -1 has no factor L L', and no step of Newton's method leads down it. */
Test(reasons, singular_is_a_W_that_is_not_positive) {
    static const char *const factors[] = {"sap", "canal", "subadmm", "auto"};
    static const double W[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1}, q[3] = {0.1, 0, -1};
    static const int start[] = {0, 1}, column[] = {0};
    static const ptrdiff_t at[] = {0};
    sim_delassus matrix = {start, column, at, W, 1};
    sim_constraint c = {
        .kind = SIM_CONTACT, .rows = 3, .tree = {-1, -1}, .body = {-1, -1}, .friction = 0.5, .stiffness = INFINITY};
    double gap[3] = {0}, R[3] = {0}, target[3] = {0};
    sim_problem p = {.step = 1, .nconstraint = 1, .nrow = 3, .constraint = &c, .gap = gap, .W = &matrix, .q = q};
    sim_regularisation law = {R, target};
    for (int s = 0; s < sim_solver_count(); s++) {
        double gamma[3] = {0};
        sim_error error;
        sim_solver *solver = sim_solver_create(sim_solver_at(s), NULL, &error);
        sim_solution out = {.impulse = gamma};
        cr_assert_eq(sim_solver_solve(solver, &p, &law, &out, &error), SIM_OK);
        cr_expect_gt(out.outcome, SIM_AT_ROUNDING, "%s", sim_solver_at(s)->name);
        cr_expect(isfinite(gamma[0] + gamma[1] + gamma[2]), "%s", sim_solver_at(s)->name);
        for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
            cr_expect(strcmp(factors[k], sim_solver_at(s)->name) != 0 || out.reason == SIM_REASON_SINGULAR, "%s: %s",
                      factors[k], sim_reason_name(out.reason));
        }
        sim_solver_free(solver);
    }
}

Test(reasons, not_finite_is_a_free_velocity_that_is_no_number) {
    double bad[3] = {NAN, 0, -1};
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    sim_problem *made = point_on_ground(2, 0.5, 0, 0.01, (double[3]){0.3, 0, -1}), p = *made;
    p.v_free = bad;
    for (int i = 0; i < count; i++) {
        answer a = contest_entry(&p, contender_is_rigid(&all[i]) ? 0 : -1);
        answer_find(&a, all[i].info->name, all[i].option);
        cr_expect(gave_up(&a), "%s calls it %s", all[i].name, sim_outcome_name(a.out.outcome));
        cr_expect_eq(a.out.reason, SIM_REASON_NONFINITE, "%s: %s", all[i].name, word(&a));
        answer_free(&a);
    }
    sim_problem_free(made);
}

Test(reasons, unfit_is_friction_that_yields_along_one_tangent_more_than_along_the_other) {
    static const char *const laws[] = {"sap", "canal", "subadmm"};
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, (double[3]){0.3, 0, -1});
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
        answer a = contest_entry(p, 0.1);
        a.R[0] = 0.2;
        answer_find(&a, laws[k], NULL);
        cr_expect_eq(a.out.reason, SIM_REASON_UNFIT, "%s: %s", laws[k], word(&a));
        answer_free(&a);
    }
    sim_problem_free(p);
}

/* Answered with patience for so many iterations; was all of it used up? */
static int outlasts(const sim_problem *p, const contender *who, int patience_of, answer *a) {
    sim_error error;
    patience waits = {patience_of, 0};
    sim_solver *solver = sim_solver_create(who->info, who->option, &error);
    *a = contest_entry(p, contender_is_rigid(who) ? 0 : -1);
    a->out = (sim_solution){.v = a->v, .impulse = a->impulse, .stop = after_a_while, .stop_context = &waits};
    cr_assert_eq(sim_solver_solve(solver, p, &a->law, &a->out, &error), SIM_OK);
    sim_solver_free(solver);
    return waits.told;
}

static sim_problem *thrown_about(void) {
    random_source r = {12};
    problem_recipe recipe = {.bodies = 20, .contacts = 60, .friction = 0.5, .impact = 1, .scatter = 0.6};
    return random_problem(&r, &recipe);
}

/* Velocities whose squares, or whose products with masses, are no numbers: with a guess and without. */
Test(reasons, not_finite_is_found_before_the_first_iteration_where_velocities_overflow) {
    static const double speed[] = {1e155, 1e200, 1e300, 1e307, INFINITY};
    sim_problem *made = thrown_about(), p = *made;
    double *v = malloc((size_t)p.nv * sizeof *v), *guess = malloc((size_t)p.nrow * sizeof *guess);
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int k = 0; k < p.nrow; k++) {
        guess[k] = k % 3 == 2;
    }
    p.v_free = v;
    for (size_t t = 0; t < 2 * sizeof speed / sizeof *speed; t++) {
        p.impulse_guess = t % 2 ? guess : NULL;
        memcpy(v, made->v_free, (size_t)p.nv * sizeof *v);
        v[4] = speed[t / 2];
        for (int i = 0; i < count; i++) {
            answer a;
            int stays = outlasts(&p, &all[i], 10, &a);
            cr_expect(!stays && a.out.iterations == 0, "%s: %d iterations", all[i].name, a.out.iterations);
            cr_expect_eq(a.out.outcome, SIM_BROKEN_DOWN, "%s: %s", all[i].name, sim_outcome_name(a.out.outcome));
            cr_expect_eq(a.out.reason, SIM_REASON_NONFINITE, "%s: %s", all[i].name, word(&a));
            answer_free(&a);
        }
    }
    free(v);
    free(guess);
    sim_problem_free(made);
}

/* W of which a block is no number, though all that it is made of is one. */
Test(reasons, nobody_looks_on_for_long_at_a_matrix_that_overflows) {
    sim_problem *made = thrown_about(), p = *made;
    double *v = malloc((size_t)p.nv * sizeof *v);
    size_t size = 0;
    for (int i = 0; i < p.nconstraint; i++) {
        for (int side = 0; side < 2 && p.constraint[i].tree[side] >= 0; side++) {
            size = (size_t)p.constraint[i].block[side] + 18 > size ? (size_t)p.constraint[i].block[side] + 18 : size;
        }
    }
    double *J = malloc(size * sizeof *J);
    memcpy(J, p.J, size * sizeof *J);
    memcpy(v, p.v_free, (size_t)p.nv * sizeof *v);
    v[4] = 0;
    for (int i = 0; i < p.nconstraint; i++) {
        for (int side = 0; side < 2 && p.constraint[i].tree[side] >= 0; side++) {
            for (int r = 0; r < 3 && p.constraint[i].tree[side] == 0; r++) {
                J[p.constraint[i].block[side] + 6 * r + 4] *= 1e160;
            }
        }
    }
    p.v_free = v;
    p.J = J;
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all);
    for (int i = 0; i < count; i++) {
        if (!contender_is_rigid(&all[i])) {
            continue; /* its law yields as W does: without bound */
        }
        answer a;
        cr_expect(!outlasts(&p, &all[i], 1000, &a), "%s: %d iterations", all[i].name, a.out.iterations);
        cr_expect(gave_up(&a), "%s: %s", all[i].name, sim_outcome_name(a.out.outcome));
        answer_free(&a);
    }
    free(v);
    free(J);
    sim_problem_free(made);
}

/* x over a size that overflows would be nothing at all. */
Test(reasons, no_error_is_small_because_its_scale_is_no_number) {
    const natural_sum sound = {
        .one = 1, .velocity = 1, .impulse = 1, .gamma = 1, .s = 1, .q = 1, .n2 = 1, .undoing = 1, .moved = 1};
    for (size_t k = 0; k < sizeof sound / sizeof(double); k++) {
        double all[sizeof sound / sizeof(double)];
        natural_sum sum;
        memcpy(all, &sound, sizeof all);
        all[k] = INFINITY;
        memcpy(&sum, all, sizeof sum);
        cr_expect(!(natural_error(&sum) < HUGE_VAL), "sum %d: %g", (int)k, natural_error(&sum));
    }
    cr_expect_lt(natural_error(&sound), 2);
}

/* Dense matrices beyond what the option allows are refused before they are made, by whoever makes any, in one
 * sentence. */
Test(reasons, too_many_rows_for_dense_matrices_are_refused_before_they_are_made) {
    static const double least = 1e-9; /* GB: a byte */
    sim_problem *p = hard();
    int refused = 0;
    for (int s = 0; s < sim_solver_count(); s++) {
        const sim_solver_info *info = sim_solver_at(s);
        int place = option_of(info, "most_memory");
        if (place < 0) {
            continue;
        }
        double option[32];
        for (int k = 0; k < info->noptions; k++) {
            option[k] = k == place ? least : info->option[k].default_value;
        }
        sim_error error = {0};
        sim_solver *solver = sim_solver_create(info, option, &error);
        cr_expect_eq(sim_solver_accepts(solver, p, &error), SIM_NO_RESOURCE, "%s", info->name);
        cr_expect(strstr(error.text, info->name) && strstr(error.text, "GB") && strstr(error.text, "most_memory") &&
                      strstr(error.text, " rows, "),
                  "%s", error.text);
        answer a = contest_entry(p, 0);
        sim_regularisation law = {a.R, a.target};
        cr_expect_eq(sim_solver_solve(solver, p, &law, &a.out, &error), SIM_NO_RESOURCE, "%s", info->name);
        answer_free(&a);
        sim_solver_free(solver);
        refused++;
    }
    cr_expect_eq(refused, 7);
    sim_problem_free(p);
}

/* A solver with a bound on work and none left says so, however far it has come. */
Test(reasons, too_much_work_is_who_may_do_none) {
    sim_problem *p = hard();
    int bounded = 0;
    for (int s = 0; s < sim_solver_count(); s++) {
        const sim_solver_info *info = sim_solver_at(s);
        int place = option_of(info, "most_work");
        double option[32];
        for (int k = 0; k < info->noptions && place >= 0; k++) {
            option[k] = k == place ? 0 : info->option[k].default_value;
        }
        if (place >= 0) {
            answer a = contest_entry(p, info->default_law != SIM_NEAR_RIGID ? 0 : -1);
            answer_find(&a, info->name, option);
            cr_expect(a.out.outcome == SIM_AT_LIMIT && a.out.reason == SIM_REASON_WORK, "%s: %s, %s", info->name,
                      sim_outcome_name(a.out.outcome), word(&a));
            cr_expect(is_finite(&a), "%s", info->name);
            answer_free(&a);
            bounded++;
        }
    }
    cr_expect_eq(bounded, 6);
    sim_problem_free(p);
}
