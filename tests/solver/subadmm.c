/* SubADMM: what it promises beside the law (which consistency.c holds it to) and its equations (subadmm_slots.c). */
#include "support/answers.h"
#include "support/contenders.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/touched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double standing[MOST_OPTIONS];

/* All options as they stand, but for one or two. */
static const double *with(const char *name, double value, const char *other, double second) {
    const sim_solver_info *info = sim_solver_find("subadmm");
    for (int k = 0; k < info->noptions; k++) {
        standing[k] = info->option[k].default_value;
    }
    standing[option_of(info, name)] = value;
    if (other) {
        standing[option_of(info, other)] = second;
    }
    return standing;
}

static const problem_recipe mixed = {
    .bodies = 4, .chain = 9, .contacts = 8, .friction = 0.4, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.5};

Test(subadmm, what_it_says_of_E_is_what_the_judge_says) {
    random_source r = {1};
    for (int trial = 0; trial < 10; trial++) {
        sim_problem *p = random_problem(&r, &mixed);
        answer a = rigid_entry(p);
        answer_find(&a, "subadmm", with("iterations", trial, NULL, 0));
        cr_expect_eq(a.out.iterations, trial ? trial : a.out.iterations);
        sim_certificate found = certificate_of(p, NULL, SIM_CONE_STRICT, a.v, a.impulse);
        cr_expect_float_eq(a.out.residual, found.E, 1e-9 * found.E + 1e-13, "%g, not %g", a.out.residual, found.E);
        cr_expect_leq(found.momentum, 1e-13);
        cr_expect(trial || (a.out.outcome == SIM_SOLVED && found.E <= 1e-6));
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(subadmm, the_ways_to_split_lead_to_one_answer) {
    random_source r = {2};
    for (int trial = 0; trial < 6; trial++) {
        sim_problem *p = random_problem(&r, &mixed);
        answer of[3];
        for (int split = 0; split < 3; split++) {
            of[split] = contest_entry(p, 0.05);
            answer_find(&of[split], "subadmm", with("tolerance", 1e-12, "split", split));
            cr_expect_leq(of[split].out.outcome, SIM_AT_ROUNDING, "split %d", split);
            cr_expect_leq(apart(p->nv, of[split].v, of[0].v), 1e-10, "split %d", split);
            cr_expect_leq(apart(p->nrow, of[split].impulse, of[0].impulse), 1e-9, "split %d", split);
        }
        for (int split = 0; split < 3; split++) {
            answer_free(&of[split]);
        }
        sim_problem_free(p);
    }
}

/* Robots, contacts within and between them: the same iterations along branches and joint by joint, and one answer. */
Test(subadmm, trees_are_the_same_along_branches_and_joint_by_joint) {
    sim_contact contact[64];
    sim_model *m = quadruped_model();
    int count = standing_contacts(m, 2, contact);
    touched *t = touched_create(m, NULL, NULL, 1, contact, count, "subadmm", 1);
    const sim_problem *p = touched_build(t, 0);
    for (int few = 0; few < 2; few++) {
        answer a = contest_entry(p, 0.02), b = contest_entry(p, 0.02), c = contest_entry(p, 0.02);
        const char *stop = few ? "iterations" : "tolerance";
        double when = few ? 4 : 1e-11;
        answer_find(&a, "subadmm", with(stop, when, NULL, 0));
        answer_find(&b, "subadmm", with(stop, when, "factorisation", 1));
        answer_find(&c, "subadmm", with(stop, when, "split", 1));
        cr_expect_leq(apart(p->nrow, a.impulse, b.impulse), 1e-8);
        cr_expect_leq(apart(p->nv, a.v, b.v), 1e-8);
        cr_expect(few || apart(p->nv, a.v, c.v) < 1e-8);
        answer_free(&a);
        answer_free(&b);
        answer_free(&c);
    }
    touched_free(t);
}

/* From the exact answer, with penalties that change all the time, as residuals are but rounding. */
Test(subadmm, another_penalty_leaves_the_answer_where_it_is) {
    random_source r = {4};
    sim_problem *p = random_problem(&r, &mixed);
    sim_problem from = *p;
    answer a = contest_entry(p, 0.05), b = contest_entry(p, 0.05);
    answer_find(&a, "subadmm", with("tolerance", 1e-14, NULL, 0));
    from.impulse_guess = a.impulse;
    b.problem = &from;
    answer_find(&b, "subadmm", with("iterations", 400, NULL, 0));
    cr_expect_gt(b.out.factorisations, 3, "%d", b.out.factorisations);
    cr_expect_leq(apart(p->nrow, a.impulse, b.impulse), 1e-9, "%g", apart(p->nrow, a.impulse, b.impulse));
    answer_free(&a);
    answer_free(&b);
    sim_problem_free(p);
}

Test(subadmm, where_the_guess_is_right_nothing_is_left_to_do) {
    double mass[] = {1, 2, 0.5, 1};
    sim_problem *p = box_stack(4, mass, 0.6, 0.01, 0.2), again = *p;
    answer a = rigid_entry(p), b = rigid_entry(p);
    answer_find(&a, "subadmm", NULL);
    cr_expect_eq(a.out.outcome, SIM_SOLVED);
    again.impulse_guess = a.impulse;
    b.problem = &again;
    answer_find(&b, "subadmm", NULL);
    cr_expect_eq(b.out.outcome, SIM_SOLVED);
    cr_expect_eq(b.out.iterations, 0);
    answer_free(&a);
    answer_free(&b);
    sim_problem_free(p);
}

/* One ton on seven kilograms, at rest: penalties in proportion to what each contact feels. */
Test(subadmm, heavy_boxes_stand_on_light_ones) {
    for (int power = 0; power < 4; power++) {
        double mass[8] = {1, 1, 1, 1, 1, 1, 1, pow(10, power)};
        sim_problem *p = box_stack(8, mass, 0.5, 0.01, 0);
        answer a = rigid_entry(p);
        answer_find(&a, "subadmm", NULL);
        cr_expect_eq(a.out.outcome, SIM_SOLVED, "10^%d: %s, E %g", power, sim_outcome_name(a.out.outcome),
                     a.out.residual);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* Masses times a: impulses times a, the same velocities after as many iterations. */
Test(subadmm, units_of_mass_do_not_matter) {
    double light[] = {1, 2, 0.5}, heavy[] = {4096, 8192, 2048};
    sim_problem *p = box_stack(3, light, 0.6, 0.01, 0.5), *h = box_stack(3, heavy, 0.6, 0.01, 2048);
    answer a = rigid_entry(p), b = rigid_entry(h);
    answer_find(&a, "subadmm", with("iterations", 60, NULL, 0));
    answer_find(&b, "subadmm", with("iterations", 60, NULL, 0));
    cr_expect_eq(a.out.factorisations, b.out.factorisations);
    for (int k = 0; k < p->nrow; k++) {
        cr_expect_float_eq(b.impulse[k] / 4096, a.impulse[k], 1e-9, "%d: %g, %g", k, b.impulse[k] / 4096, a.impulse[k]);
    }
    answer_free(&a);
    answer_free(&b);
    sim_problem_free(p);
    sim_problem_free(h);
}

Test(subadmm, a_law_that_is_none_is_refused) {
    double mass[] = {1};
    sim_problem *p = box_stack(1, mass, 0.6, 0.01, 0);
    answer a = rigid_entry(p);
    a.R[1] = 1; /* of two tangents but one yields */
    answer_find(&a, "subadmm", NULL);
    cr_expect_eq(a.out.outcome, SIM_BROKEN_DOWN);
    cr_expect_arr_eq(a.v, p->v_free, (size_t)p->nv * sizeof *a.v);
    answer_free(&a);
    sim_problem_free(p);
}

static bool enough(void *context) { return ++*(int *)context > 7; }

Test(subadmm, who_waits_may_have_had_enough) {
    random_source r = {6};
    sim_problem *p = random_problem(&r, &mixed);
    answer a = rigid_entry(p);
    int asked = 0;
    sim_solver *s = sim_solver_create(sim_solver_find("subadmm"), with("tolerance", 0, NULL, 0), NULL);
    a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .stop = enough, .stop_context = &asked};
    cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
    cr_expect_eq(a.out.outcome, SIM_AT_LIMIT);
    cr_expect_leq(a.out.iterations, 9);
    cr_expect_lt(a.out.residual, 1);
    sim_solver_free(s);
    answer_free(&a);
    sim_problem_free(p);
}

/* Rows of all kinds on a chain of twelve joints, most of them beside the lanes: the penalties of these steer how fast
 * they converge, and kappa changes on the way. */
Test(subadmm, rows_on_a_chain_of_joints_converge_within_the_limit) {
    random_source r = {5};
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe recipe = {.bodies = 3,
                                 .chain = 12,
                                 .contacts = 6,
                                 .friction = 0.4,
                                 .kinds = 63,
                                 .more = 2,
                                 .impact = 1,
                                 .scatter = 0.3};
        sim_problem *p = random_problem(&r, &recipe);
        answer a = rigid_entry(p);
        answer_find(&a, "subadmm", NULL);
        cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "trial %d: %s after %d iterations", trial,
                      sim_outcome_name(a.out.outcome), a.out.iterations);
        answer_free(&a);
        sim_problem_free(p);
    }
}
