/* The whole derivative of nonsmooth Newton's rows, and what its rounds are worth. */
#include "solver/nonsmooth_newton/newton.h"
#include "support/answers.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 96 };

static double furthest(const double *a, const double *b) {
    double most = 0;
    for (int k = 0; k < 9; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

static void differences(double mu, const double *y, double *slope) {
    const double step = 1e-6;
    for (int j = 0; j < 3; j++) {
        double at[3] = {y[0], y[1], y[2]}, up[3], down[3], unused[9];
        at[j] = y[j] + step;
        nsn_contact_slope(mu, at, up, unused);
        at[j] = y[j] - step;
        nsn_contact_slope(mu, at, down, unused);
        for (int i = 0; i < 3; i++) {
            slope[3 * i + j] = (up[i] - down[i]) / (2 * step);
        }
    }
}

Test(nsn_newton, slope_of_a_contact_is_that_of_differences) {
    random_source r = {21};
    int seen[3] = {0};
    for (int trial = 0; trial < 300; trial++) {
        double mu = random_uniform(&r, 0, 1.5), y[3], P[3], slope[9], told[9];
        for (int k = 0; k < 3; k++) {
            y[k] = random_normal(&r);
        }
        double size = hypot(y[0], y[1]);
        if (fabs(y[2]) < 1e-3 || fabs(size - mu * y[2]) < 1e-3 || size < 1e-2) {
            continue;
        }
        seen[y[2] < 0 ? 0 : size < mu * y[2] ? 1 : 2]++;
        nsn_contact_slope(mu, y, P, slope);
        differences(mu, y, told);
        cr_expect_leq(furthest(slope, told), 1e-6, "trial %d: %g", trial, furthest(slope, told));
        cr_expect(P[2] >= 0 && hypot(P[0], P[1]) <= mu * P[2] * (1 + 1e-14));
    }
    cr_expect(seen[0] > 50 && seen[1] > 20 && seen[2] > 50);
}

/* Where it begins to slide, and where it opens: a share of the slopes on both sides. */
Test(nsn_newton, slope_at_a_kink_lies_between_those_of_its_sides) {
    random_source r = {22};
    for (int trial = 0; trial < 100; trial++) {
        int opens = trial % 2;
        double mu = random_uniform(&r, 0.1, 1.5), y[3] = {random_normal(&r), random_normal(&r), 0};
        y[2] = opens ? 0 : hypot(y[0], y[1]) / mu;
        double P[3], here[9], above[9], below[9], off[3] = {y[0], y[1], y[2] * (1 + 1e-9) + 1e-12};
        nsn_contact_slope(mu, y, P, here);
        nsn_contact_slope(mu, off, P, above);
        off[2] = y[2] * (1 - 1e-9) - 1e-12;
        nsn_contact_slope(mu, off, P, below);
        double across = 0, along = 0, left = 0;
        for (int k = 0; k < 9; k++) {
            across += (here[k] - below[k]) * (above[k] - below[k]);
            along += (above[k] - below[k]) * (above[k] - below[k]);
        }
        double share = across / along;
        for (int k = 0; k < 9; k++) {
            left = fmax(left, fabs(here[k] - below[k] - share * (above[k] - below[k])));
        }
        cr_expect_gt(along, 0.01);
        cr_expect(share >= -1e-6 && share <= 1 + 1e-6, "trial %d: %g", trial, share);
        cr_expect_leq(left, 1e-6, "trial %d: off by %g", trial, left);
    }
}

typedef struct setting {
    sim_problem *problem;
    answer entry;
    sim_arena *scratch;
    double option[32];
    nsn m;
    nsn_newton newton;
    solver_call call;
} setting;

static void begin(setting *t, random_source *r, int trial) {
    problem_recipe recipe = {.bodies = 3,
                             .chain = 5,
                             .contacts = 6,
                             .friction = 0.2 * (1 + trial % 4),
                             .kinds = 63,
                             .impact = 1,
                             .scatter = 0.5};
    *t = (setting){.problem = random_problem(r, &recipe), .scratch = arena_create()};
    t->entry = answer_create(t->problem, 1, 1e-3);
    options_with("nsn", (option_setting[]){{NULL, 0}}, t->option);
    t->call = (solver_call){.problem = t->problem,
                            .R = t->entry.R,
                            .target = t->entry.target,
                            .option = t->option,
                            .out = &t->entry.out,
                            .scratch = t->scratch};
    cr_assert(t->problem->nrow <= MOST);
    cr_assert(nsn_make(&t->m, &t->call) && schur_make(&t->m.matrix, t->problem, SCHUR_PCR, t->scratch) &&
              nsn_newton_make(&t->newton, &t->m, t->scratch));
    nsn_begin(&t->m);
}

static void end(setting *t) {
    answer_free(&t->entry);
    sim_problem_free(t->problem);
    arena_free(t->scratch);
}

/* Along the step F falls as 1 - t: all of W, R, alpha and P' are in it, for every kind of row. */
Test(nsn_newton, a_step_leads_where_its_rows_are_zero_to_first_order) {
    const double part = 1e-7;
    random_source r = {23};
    int smooth = 0;
    for (int trial = 0; trial < 40; trial++) {
        setting t;
        double from[MOST], step[MOST], F[MOST], most = 0, size = 0;
        begin(&t, &r, trial);
        size_t bytes = (size_t)t.m.n * sizeof *from;
        t.newton.alpha = trial % 2 ? 0.3 : 1e-3;
        for (int k = 0; k < t.m.n; k++) {
            t.newton.centre[k] = random_normal(&r);
            t.m.gamma[k] = nsn_is_given(&t.m, k) ? t.m.gamma[k] : random_normal(&r);
        }
        memcpy(from, t.m.gamma, bytes);
        nsn_eval_error(&t.m);
        nsn_newton_eval(&t.newton);
        memcpy(F, t.newton.F, bytes);
        cr_assert(nsn_newton_step(&t.newton));
        for (int k = 0; k < t.m.n; k++) {
            step[k] = t.m.gamma[k] - from[k];
            t.m.gamma[k] = from[k] + part * step[k];
        }
        nsn_eval_error(&t.m);
        nsn_newton_eval(&t.newton);
        for (int k = 0; k < t.m.n; k++) {
            most = fmax(most, fabs((t.newton.F[k] - F[k]) / part + F[k]));
            size = fmax(size, fabs(F[k]));
        }
        smooth += most <= 1e-4 * size; /* a kink may stand in between */
        end(&t);
    }
    cr_expect_geq(smooth, 38, "%d of 40", smooth);
}

/* Three quarters, as Macklin et al. have it, until the rows that hold have stayed the same. */
Test(nsn_newton, steps_are_damped_until_their_rows_have_settled) {
    nsn m = {.steady = 0};
    cr_expect_eq(nsn_step_length(&m), 0.75);
    m.steady = 1000;
    cr_expect_eq(nsn_step_length(&m), 1);
}

/* A heap on too many points that is pushed until much of it slides: as a fixed point friction goes round in circles. */
Test(nsn_newton, rounds_answer_redundant_sliding_problems_that_the_fixed_point_does_not) {
    random_source r = {24};
    problem_recipe recipe = {.bodies = 4, .contacts = 10, .friction = 2, .bias = 0.1, .impact = 1, .scatter = 0.6};
    int solved[NSN_FRICTIONS] = {0};
    long steps[NSN_FRICTIONS] = {0};
    for (int trial = 0; trial < part_of(40); trial++) {
        sim_problem *p = random_problem(&r, &recipe);
        for (int way = 0; way < NSN_FRICTIONS; way++) {
            double option[32];
            options_with("nsn", (option_setting[]){{"friction", way}, {NULL, 0}}, option);
            answer a = answer_create(p, 0, 0);
            answer_find(&a, "nsn", option);
            solved[way] += a.out.outcome == SIM_SOLVED;
            steps[way] += a.out.iterations;
            cr_expect_eq(a.out.whole_steps > 0, way != NSN_FRICTION_FIXED_POINT);
            answer_free(&a);
        }
        sim_problem_free(p);
    }
    if (!is_part()) {
        cr_expect_geq(solved[NSN_FRICTION_NEWTON], 34, "%d of 40", solved[NSN_FRICTION_NEWTON]);
        cr_expect_leq(solved[NSN_FRICTION_FIXED_POINT], 30, "%d of 40", solved[NSN_FRICTION_FIXED_POINT]);
        cr_expect_lt(2 * steps[NSN_FRICTION_NEWTON], steps[NSN_FRICTION_FIXED_POINT]);
    }
    cr_expect_geq(solved[NSN_FRICTION_AUTO], solved[NSN_FRICTION_NEWTON]);
}

/* A guess that is the answer is left as it is; one that is far off does no harm. */
Test(nsn_newton, begins_with_the_guess_if_that_is_any_better_than_nothing) {
    double mass[] = {1, 1, 1}, option[32], found[MOST];
    sim_problem *p = box_stack(3, mass, 0.5, 0.01, 2);
    options_with("nsn", (option_setting[]){{NULL, 0}}, option);
    answer cold = answer_create(p, 0, 0);
    answer_find(&cold, "nsn", option);
    cr_assert_eq(cold.out.outcome, SIM_SOLVED);
    cr_assert(p->nrow <= MOST && cold.out.iterations > 2);
    memcpy(found, cold.impulse, (size_t)p->nrow * sizeof *found);
    const double *kept = p->impulse_guess;
    for (int far = 0; far < 2; far++) {
        p->impulse_guess = found;
        answer warm = answer_create(p, 0, 0);
        answer_find(&warm, "nsn", option);
        cr_expect_eq(warm.out.outcome, SIM_SOLVED);
        cr_expect(far ? warm.out.iterations == cold.out.iterations : warm.out.iterations == 0, "%d: %d for %d", far,
                  warm.out.iterations, cold.out.iterations);
        answer_free(&warm);
        for (int k = 0; k < p->nrow; k++) {
            found[k] = 1e6;
        }
    }
    p->impulse_guess = kept;
    answer_free(&cold);
    sim_problem_free(p);
}
