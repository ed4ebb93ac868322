/* Nonsmooth Newton: where it ends does not depend on how it gets there, and it says why when it does not. */
#include "solver/nonsmooth_newton/delassus_krylov.h"
#include "solver/nonsmooth_newton/newton.h"
#include "support/answers.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 64 };

/* v is unique where impulses in the cone are those of sticking or friction is little: three impacts on three bodies. */
Test(nsn, ends_at_one_velocity_whatever_r_function_epsilon_and_linear_method) {
    static const option_setting ways[][3] = {
        {{"function", 0}},
        {{"preconditioned", 0}},
        {{"r", 1}},
        {{"r", 1}, {"function", 0}},
        {{"epsilon", 1e-3}},
        {{"epsilon", 1e-12}},
        {{"linear", SCHUR_CHOLESKY}},
        {{"linear_tolerance", 1e-9}, {"preconditioned", 0}},
        {{"friction", NSN_FRICTION_NEWTON}},
        {{"friction", NSN_FRICTION_AUTO}},
    };
    random_source r = {11};
    problem_recipe recipe = {.bodies = 3, .contacts = 3, .friction = 0.2, .impact = 1, .scatter = 0.2};
    for (int trial = 0; trial < 5; trial++) {
        double option[MOST], v[MOST];
        sim_problem *p = random_problem(&r, &recipe);
        cr_assert_leq(p->nv, MOST);
        for (int k = -1; k < (int)(sizeof ways / sizeof *ways); k++) {
            option_setting tight[6] = {{"tolerance", 1e-11}, {"max_iterations", 5000}, {"friction", 0}};
            memcpy(tight + 3, k < 0 ? (option_setting[2]){{NULL, 0}} : ways[k], 2 * sizeof *tight);
            options_with("nsn", tight, option);
            answer a = answer_create(p, 0, 0);
            answer_find(&a, "nsn", option);
            cr_expect_eq(a.out.outcome, SIM_SOLVED, "trial %d, way %d: %s, E %g", trial, k,
                         sim_outcome_name(a.out.outcome), a.out.residual);
            for (int j = 0; j < p->nv; j++) {
                v[j] = k < 0 ? a.v[j] : v[j];
                cr_expect_float_eq(a.v[j], v[j], 1e-8, "trial %d, way %d: v[%d] off by %g", trial, k, j, a.v[j] - v[j]);
            }
            answer_free(&a);
        }
        sim_problem_free(p);
    }
}

static sim_outcome outcome_of(const sim_problem *p, const option_setting *set, int *iterations) {
    double option[MOST];
    options_with("nsn", set, option);
    answer a = answer_create(p, 0, 0);
    answer_find(&a, "nsn", option);
    *iterations = a.out.iterations;
    cr_expect(isfinite(a.out.residual));
    answer_free(&a);
    return a.out.outcome;
}

/* Four corners share what three would: without epsilon Cholesky's method meets a pivot of nothing, conjugate
 * residuals do not mind. */
Test(nsn, says_whether_it_ran_out_of_steps_or_the_matrix_was_singular) {
    double mass[] = {1, 1, 1};
    int steps;
    sim_problem *p = box_stack(3, mass, 0.5, 0.01, 0);
    const option_setting few[] = {{"max_iterations", 3}, {"friction", 0}, {NULL, 0}};
    const option_setting singular[] = {{"epsilon", 0}, {"linear", SCHUR_CHOLESKY}, {"friction", 0}, {NULL, 0}};
    const option_setting regular[] = {{"epsilon", 1e-6}, {"linear", SCHUR_CHOLESKY}, {"friction", 0}, {NULL, 0}};
    const option_setting residuals[] = {{"epsilon", 0}, {"friction", 0}, {NULL, 0}};
    const option_setting rounds[] = {{"max_iterations", 3}, {NULL, 0}};
    cr_expect_eq(outcome_of(p, few, &steps), SIM_AT_LIMIT);
    cr_expect_eq(steps, 3);
    cr_expect_eq(outcome_of(p, rounds, &steps), SIM_AT_LIMIT);
    cr_expect_eq(steps, 3);
    cr_expect_eq(outcome_of(p, singular, &steps), SIM_BROKEN_DOWN);
    cr_expect_eq(outcome_of(p, regular, &steps), SIM_SOLVED);
    cr_expect_eq(outcome_of(p, residuals, &steps), SIM_SOLVED);
    sim_problem_free(p);
}

/* Eight contacts of one body that come at it from all sides at once, mu = 1: some have no answer at all.  A solver that
 * cycles until nothing is left to try says so before its steps are spent. */
Test(nsn, says_that_it_goes_round_in_circles) {
    random_source r = {7};
    problem_recipe recipe = {.bodies = 1, .contacts = 8, .friction = 1, .bias = 0.1, .impact = 1, .scatter = 0.6};
    int stalled[2] = {0}, solved[2] = {0};
    for (int trial = 0; trial < part_of(20); trial++) {
        sim_problem *p = random_problem(&r, &recipe);
        for (int way = NSN_FRICTION_FIXED_POINT; way <= NSN_FRICTION_NEWTON; way++) {
            const option_setting many[] = {{"max_iterations", 20000}, {"friction", way}, {NULL, 0}};
            int steps;
            sim_outcome outcome = outcome_of(p, many, &steps);
            stalled[way] += outcome == SIM_STALLED;
            solved[way] += outcome == SIM_SOLVED;
            cr_expect(outcome == SIM_SOLVED || outcome == SIM_STALLED, "%s", sim_outcome_name(outcome));
        }
        sim_problem_free(p);
    }
    cr_expect((stalled[0] >= 1 && stalled[1] >= 1) || is_part());
    cr_expect(solved[0] >= 5 || is_part(), "%d of 20", solved[0]);
    cr_expect(solved[1] >= 5 || is_part(), "%d of 20", solved[1]);
}

/* Every linear system of the way: from 1 down, in order. */
Test(nsn, keeps_the_residuals_of_its_linear_systems_for_those_who_ask) {
    enum { ROOM = 4000 };
    double mass[] = {1, 1, 1}, linear[ROOM], option[MOST];
    int step[ROOM];
    sim_problem *p = box_stack(3, mass, 0.5, 0.01, 2);
    const option_setting set[] = {{"linear_tolerance", 1e-10}, {"friction", 0}, {NULL, 0}};
    options_with("nsn", set, option);
    answer a = answer_create(p, 0, 0);
    a.history.linear_room = ROOM;
    a.history.linear = linear;
    a.history.linear_step = step;
    answer_find(&a, "nsn", option);
    cr_assert_gt(a.history.linear_count, 20);
    for (int k = 0; k < a.history.linear_count; k++) {
        int first = k == 0 || step[k] != step[k - 1];
        cr_expect(first ? linear[k] == 1 : linear[k] <= linear[k - 1] * (1 + 1e-9), "%d: %g", k, linear[k]);
        cr_expect(k == 0 || step[k] >= step[k - 1]);
    }
    answer_free(&a);
    sim_problem_free(p);
}

/* A row of a given force has a given impulse: it pushes the contacts through W, and no step of the fixed point takes it
 * away.  v is that of Newton's method on the whole derivative. */
Test(nsn, given_impulses_stay_while_contacts_answer_them) {
    random_source r = {13};
    problem_recipe recipe = {.bodies = 3,
                             .contacts = 3,
                             .friction = 0.2,
                             .kinds = 1 << SIM_SPRING | 1 << SIM_ACTUATOR,
                             .impact = 1,
                             .scatter = 0.2};
    for (int trial = 0; trial < 6; trial++) {
        sim_problem *p = random_problem(&r, &recipe);
        double option[MOST], v[MOST] = {0}, pushed = 0;
        for (int way = NSN_FRICTION_FIXED_POINT; way <= NSN_FRICTION_NEWTON; way++) {
            const option_setting set[] = {{"tolerance", 1e-11}, {"max_iterations", 5000}, {"friction", way}, {NULL, 0}};
            answer a = answer_create(p, 0, 0);
            for (int i = 0; i < p->nconstraint; i++) {
                const sim_constraint *c = &p->constraint[i];
                if (c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR) {
                    a.R[c->row] = INFINITY;
                }
            }
            options_with("nsn", set, option);
            answer_find(&a, "nsn", option);
            cr_expect_eq(a.out.outcome, SIM_SOLVED, "trial %d, way %d: %s, E %g", trial, way,
                         sim_outcome_name(a.out.outcome), a.out.residual);
            for (int j = 0; j < p->nv; j++) {
                cr_expect(way == NSN_FRICTION_FIXED_POINT || fabs(a.v[j] - v[j]) <= 1e-8, "trial %d: v[%d] off by %g",
                          trial, j, a.v[j] - v[j]);
                v[j] = a.v[j];
            }
            for (int i = 0; i < p->nconstraint; i++) {
                const sim_constraint *c = &p->constraint[i];
                double force = c->kind == SIM_ACTUATOR ? fmin(fmax(c->force, -c->bound), c->bound) : c->force;
                if (c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR) {
                    cr_expect_float_eq(a.impulse[c->row], p->step * force, 1e-15, "trial %d", trial);
                    pushed += fabs(a.impulse[c->row]);
                }
            }
            answer_free(&a);
        }
        cr_expect_gt(pushed, 0);
        sim_problem_free(p);
    }
}

/* The caller is asked before the solve and before the first step: here the third question comes from the linear
 * solve. */
static bool third_time(void *asked) { return ++*(int *)asked > 2; }

Test(nsn, leaves_a_linear_solve_when_its_time_is_over) {
    double mass[] = {1, 1e3, 1, 1e3}, option[MOST];
    int asked = 0;
    sim_problem *p = box_stack(4, mass, 0.5, 0.01, 2);
    sim_error error = {0};
    const option_setting set[] = {{"linear_tolerance", 0}, {"friction", 0}, {NULL, 0}};
    options_with("nsn", set, option);
    answer a = answer_create(p, 0, 0);
    a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .stop = third_time, .stop_context = &asked};
    sim_solver *s = sim_solver_create(sim_solver_find("nsn"), option, &error);
    cr_assert(s && !sim_solver_solve(s, p, &a.law, &a.out, &error), "%s", error.text);
    cr_expect_eq(a.out.searches, 1, "%d iterations of the linear solve", (int)a.out.searches);
    cr_expect_eq(a.out.outcome, SIM_AT_LIMIT);
    cr_expect_eq(a.out.reason, SIM_REASON_TIME);
    sim_solver_free(s);
    answer_free(&a);
    sim_problem_free(p);
}

/* A point on the ground, whose way is no number from its second step on. */
typedef struct path {
    int looks;
} path;

static void lost(void *self, const double *v, double *u) {
    path *p = self;
    memcpy(u, v, 3 * sizeof *u);
    u[2] = p->looks++ ? NAN : u[2];
}

Test(nsn, says_that_a_number_on_its_way_is_none) {
    double option[MOST];
    sim_problem *made = point_on_ground(2, 0.5, 0, 0.01, (double[3]){0.3, 0, -1}), p = *made;
    path way = {0};
    sim_positions ahead = {&way, lost, made->J};
    p.positions = &ahead;
    options_with("nsn", (option_setting[]){{"positions", 1}, {NULL, 0}}, option);
    answer a = answer_create(&p, 0, 0);
    answer_find(&a, "nsn", option);
    cr_expect_eq(a.out.outcome, SIM_BROKEN_DOWN, "%s", sim_outcome_name(a.out.outcome));
    cr_expect_eq(a.out.reason, SIM_REASON_NONFINITE, "%s", sim_reason_name(a.out.reason));
    answer_free(&a);
    sim_problem_free(made);
}
