/* ACN: the steps of nsn in velocities, the strict law at the end, and no more claimed than reached. */
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>

static double own_error(const answer *a) {
    return certificate_of(a->problem, &a->law, SIM_CONE_STRICT, a->v, a->impulse).own;
}

Test(acn, obeys_the_strict_law_with_all_kinds_of_rows) {
    random_source r = {1};
    for (int trial = 0; trial < 60; trial++) {
        problem_recipe recipe = {.bodies = 4,
                                 .chain = trial % 2 ? 7 : 0,
                                 .contacts = 8,
                                 .friction = 0.15 * (trial % 6),
                                 .bias = 0.1,
                                 .kinds = 63,
                                 .impact = 1,
                                 .scatter = 0.5};
        sim_problem *p = random_problem(&r, &recipe);
        answer a = trial % 3 ? rigid_entry(p) : answer_create(p, 1, 1e-3);
        answer_find(&a, "acn", NULL);
        sim_certificate found = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse);
        cr_expect_leq(found.own, 2e-8, "trial %d: E %g, %s", trial, found.own, sim_outcome_name(a.out.outcome));
        cr_expect_leq(found.momentum, 1e-13, "trial %d: momentum %g", trial, found.momentum);
        answer_free(&a);
        sim_problem_free(p);
    }
}

/* Both take whole Newton steps on the same equations by the same rule, one in velocities and one in impulses: the
 * iterates are the same up to the rounding of their linear systems. */
Test(acn, takes_the_steps_of_nsn) {
    random_source r = {2};
    int same = 0;
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, &mixed_recipe);
        answer a = answer_create(p, 1, 1e-3), b = answer_create(p, 1, 1e-3);
        answer_find(&a, "acn", NULL);
        answer_find(&b, "nsn", NULL);
        if (a.out.iterations == b.out.iterations) {
            cr_expect_leq(own_error(&a), 2e-8, "trial %d", trial);
            double apart = distance_between(a.v, b.v, p->nv) / norm_of(b.v, p->nv);
            cr_expect_leq(apart, 1e-7, "trial %d: velocities differ by %g", trial, apart);
            same++;
        }
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(p);
    }
    cr_assert_geq(same, 36, "the same number of steps in %d of 40", same);
}

Test(acn, solves_a_load_of_ten_thousand_on_one) {
    for (double top = 1; top < 2e4; top *= 10) {
        sim_problem *p = loaded_stack(top);
        answer a = rigid_entry(p);
        answer_find(&a, "acn", NULL);
        cr_expect_eq(a.out.outcome, SIM_SOLVED, "%g kg: %s", top, sim_outcome_name(a.out.outcome));
        cr_expect_leq(own_error(&a), 2e-8, "%g kg", top);
        answer_free(&a);
        sim_problem_free(p);
    }
}

Test(acn, says_so_where_no_impulse_satisfies_the_law) {
    double at_rest[3] = {0, 0, -0.1};
    sim_problem *p = point_between_walls(1, 0.5, -0.01, 0.01, at_rest);
    answer a = rigid_entry(p);
    answer_find(&a, "acn", NULL);
    cr_assert(a.out.outcome != SIM_SOLVED && a.out.outcome != SIM_AT_ROUNDING, "%s", sim_outcome_name(a.out.outcome));
    cr_assert(isfinite(a.v[2]));
    answer_free(&a);
    sim_problem_free(p);
}
