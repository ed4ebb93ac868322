/* Does contact that yields ever less come to the rigid answer?  C2 and C4 of consistency.c once more, with every law
 * given what it is made for: near-rigid contact gives way by R ~ beta^2. Where v is unique, without friction and where
 * all sticks, it must come to that of rigid contact in proportion to R, whichever solvers answer.
 *
 * Pyramids take part: without friction they are cones, and where all sticks the impulses lie inside of them. */
#include "support/contenders.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>

enum { STAGES = 4 };

static double greatest(int count, const double *x) {
    double most = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

/* How far v of each stage is from the rigid one, over `size`; R falls by ten from stage to stage. */
static void distances(const sim_problem *p, const contender *soft, const double *rigid, double size,
                      double off[STAGES]) {
    for (int stage = 0; stage < STAGES; stage++) {
        double R = pow(10, -2 - stage), most = 0;
        answer a = answer_create(p, sqrt(R), 1e-3 * R);
        answer_find(&a, soft->info->name, soft->option);
        cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "%s, R ~ %g: %s at %g", soft->name, R,
                      sim_outcome_name(a.out.outcome), a.out.residual);
        for (int k = 0; k < p->nv; k++) {
            most = fmax(most, fabs(a.v[k] - rigid[k]));
        }
        off[stage] = most / size;
        answer_free(&a);
    }
}

/* Every solver that yields against every one that does not. */
static void comes_to_the_rigid_answer(const sim_problem *p, double size, double near, const char *what) {
    contender all[MOST_CONTENDERS];
    int count = contenders_all(all), pairs = 0;
    for (int i = 0; i < count; i++) {
        if (!contender_is_rigid(&all[i])) {
            continue;
        }
        answer rigid = contest_entry(p, 0);
        answer_find(&rigid, all[i].info->name, all[i].option);
        cr_expect_leq(rigid.out.outcome, SIM_AT_ROUNDING, "%s, %s: %s", what, all[i].name,
                      sim_reason_text(rigid.out.reason));
        for (int k = 0; k < count; k++) {
            double off[STAGES];
            if (contender_is_rigid(&all[k])) {
                continue;
            }
            distances(p, &all[k], rigid.v, size, off);
            for (int stage = 1; stage < STAGES; stage++) {
                cr_expect_float_eq(off[stage] / off[stage - 1], 0.1, 0.03, "%s, %s to %s: %g after %g", what,
                                   all[k].name, all[i].name, off[stage], off[stage - 1]);
            }
            cr_expect_leq(off[STAGES - 1], near, "%s, %s and %s: v %g apart", what, all[k].name, all[i].name,
                          off[STAGES - 1]);
            pairs++;
        }
        answer_free(&rigid);
    }
    cr_expect_geq(pairs, sim_solver_count() - 1);
}

Test(consistency, c4_what_sticks_and_yields_ever_less_comes_to_the_rigid_answer) {
    double mass[] = {1, 2, 0.5};
    for (int count = 1; count <= 3; count++) {
        sim_problem *p = box_stack(count, mass, 0.9, 0.01, 0.5);
        comes_to_the_rigid_answer(p, 0.0981, 1e-4, "a stack"); /* of what gravity gives in the step */
        sim_problem_free(p);
    }
}

Test(consistency, c2_what_slides_freely_and_yields_ever_less_comes_to_the_rigid_answer) {
    random_source r = {24};
    for (int trial = 0; trial < 6; trial++) {
        problem_recipe recipe = {
            .bodies = 4, .chain = trial % 2 ? 7 : 0, .contacts = 8, .bias = 0.1, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        comes_to_the_rigid_answer(p, greatest(p->nv, p->v_free), 1e-4, "without friction");
        sim_problem_free(p);
    }
}
