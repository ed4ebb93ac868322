/* Levenberg's and Marquardt's method: its steps, its ends, and the derivatives that it is given. */
#include "solver/implicit/residual_map.h"
#include "solver/matrices/levenberg_marquardt.h"
#include "solver/pyramid/pfb.h"
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

/* The gradient of |J dx + r|^2 + lambda |dx|^2 at the step, and the size of what it sums up. */
static double gradient_left(int n, const double *J, const double *r, double lambda, const double *dx, double *size) {
    double *left = calloc((size_t)n, sizeof *left), worst = 0;
    *size = 0;
    for (int i = 0; i < n; i++) {
        left[i] = r[i];
        for (int k = 0; k < n; k++) {
            left[i] += J[i * n + k] * dx[k];
            *size = fmax(*size, fabs(J[i * n + k] * dx[k]));
        }
    }
    for (int j = 0; j < n; j++) {
        double gradient = lambda * dx[j];
        for (int i = 0; i < n; i++) {
            gradient += J[i * n + j] * left[i];
        }
        worst = fmax(worst, fabs(gradient));
    }
    free(left);
    return worst;
}

static void check_step(int n, double lambda, int rank, random_source *s) {
    double *J = calloc((size_t)n * (size_t)n + 2 * (size_t)n + levenberg_work(n), sizeof *J);
    double *r = J + n * n, *dx = r + n, *work = dx + n, range, size;
    for (int i = 0; i < n * n; i++) {
        J[i] = i % n < rank ? random_normal(s) : J[i - rank];
    }
    for (int i = 0; i < n; i++) {
        r[i] = random_normal(s);
    }
    cr_assert(levenberg_step(n, J, r, lambda, work, dx, &range, NULL));
    double left = gradient_left(n, J, r, lambda, dx, &size);
    cr_expect_leq(left, 1e-13 * (1 + n * size), "%d unknowns, lambda %g: %g of %g", n, lambda, left, size);
    if (rank < n) { /* of two columns that are one, with lambda, each takes half */
        cr_expect_float_eq(dx[n - 1], dx[n - 1 - rank], 1e-6 * fabs(dx[n - 1]));
    }
    free(J);
}

Test(levenberg, a_step_is_the_least_of_its_squares) {
    random_source s = {1};
    for (int trial = 0; trial < 200; trial++) {
        int n = 1 + trial % MOST;
        check_step(n, trial % 3 ? pow(10, -trial % 9) : 0, n, &s);
    }
}

/* Both ways there are to the triangle. */
Test(levenberg, steps_of_many_unknowns_too) {
    random_source s = {2};
    static const int many[] = {100, 160, 161, 200, 333};
    for (int k = 0; k < 5; k++) {
        check_step(many[k], 0, many[k], &s);
        check_step(many[k], 1e-3, many[k], &s);
        check_step(many[k], 1e-6, many[k] - 7, &s);
    }
}

Test(levenberg, a_column_of_zeros_gives_a_step_only_with_lambda) {
    double J[4] = {1, 0, 2, 0}, r[2] = {1, 1}, dx[2], range, work[16];
    cr_expect_not(levenberg_step(2, J, r, 0, work, dx, &range, NULL));
    cr_expect(levenberg_step(2, J, r, 1e-12, work, dx, &range, NULL));
    cr_expect_float_eq(dx[0], -0.6, 1e-9);
    cr_expect_eq(dx[1], 0);
}

/* x + offset, times itself in the second: a root, or, with the offset above 0, none. */
static double offset;
static void circle(void *self, const double *x, double *r) {
    (void)self;
    r[0] = x[0] * x[0] + x[1] * x[1] - 1 + offset;
    r[1] = x[0] - x[1];
}
static void circle_slope(void *self, const double *x, double *J) {
    (void)self;
    J[0] = 2 * x[0];
    J[1] = 2 * x[1];
    J[2] = 1;
    J[3] = -1;
}
static double circle_error(void *self, const double *x) {
    double r[2];
    circle(self, x, r);
    return fmax(fabs(r[0]), fabs(r[1]));
}

static sim_solution run(levenberg_kind kind, double *x, double costs[64], int *count) {
    sim_history history = {.room = 64, .residual = (double[64]){0}, .cost = costs};
    sim_solution out = {.history = &history};
    solver_call call = {.scratch = arena_create(), .out = &out};
    levenberg_problem p = {.n = 2,
                           .residual = circle,
                           .jacobian = circle_slope,
                           .error = circle_error,
                           .tolerance = 1e-13,
                           .max_iterations = 2000};
    cr_assert(levenberg_solve(&p, kind, &call, x));
    *count = history.count;
    arena_free(call.scratch);
    out.history = NULL;
    return out;
}

Test(levenberg, finds_a_root_and_tells_a_minimum_that_is_none) {
    for (int kind = 0; kind < 2; kind++) {
        double x[2] = {3, -2}, costs[64];
        int count;
        offset = 0;
        sim_solution out = run((levenberg_kind)kind, x, costs, &count);
        cr_expect_eq(out.outcome, SIM_SOLVED, "kind %d: %s", kind, sim_outcome_name(out.outcome));
        cr_expect_float_eq(x[0], sqrt(0.5), 1e-12);
        for (int k = 1; k < count && kind == LEVENBERG_REGULAR; k++) {
            cr_expect_lt(costs[k], costs[k - 1], "psi grows in step %d", k);
        }
        offset = 2; /* |r| is least at 0, where it is 1 */
        x[0] = 3;
        x[1] = -2;
        out = run((levenberg_kind)kind, x, costs, &count);
        cr_expect_eq(out.outcome, SIM_STALLED, "kind %d: %s", kind, sim_outcome_name(out.outcome));
        cr_expect_float_eq(out.residual, 1, 1e-3, "kind %d: %g", kind, out.residual);
    }
}

/* x - 20, and x + 3 with x >= 0. */
static void straight(void *self, const double *x, double *r) { r[0] = x[0] - *(const double *)self; }
static void straight_slope(void *self, const double *x, double *J) {
    (void)self, (void)x;
    J[0] = 1;
}
static double straight_error(void *self, const double *x) { return fabs(x[0] - *(const double *)self); }

static sim_solution run_straight(double root, int bounded, double *x, double costs[64], int *count) {
    sim_history history = {.room = 64, .residual = (double[64]){0}, .cost = costs};
    sim_solution out = {.history = &history};
    solver_call call = {.scratch = arena_create(), .out = &out};
    levenberg_problem p = {.n = 1,
                           .bounded = bounded,
                           .self = &root,
                           .residual = straight,
                           .jacobian = straight_slope,
                           .error = straight_error,
                           .tolerance = 1e-13,
                           .max_iterations = 20};
    cr_assert(levenberg_solve(&p, LEVENBERG_PROJECTED, &call, x));
    *count = history.count;
    arena_free(call.scratch);
    out.history = NULL;
    return out;
}

/* The box is 5 wide on either side, and twice that after a good step: to 5, 15, 20. */
Test(levenberg, first_steps_of_the_projected_method_stay_within_a_box_and_the_bounds) {
    double x = 0, costs[64], due[] = {200, 112.5, 12.5, 0};
    int count;
    sim_solution out = run_straight(20, 0, &x, costs, &count);
    cr_assert_eq(out.outcome, SIM_SOLVED);
    cr_assert_eq(count, 4, "%d records", count);
    for (int k = 0; k < 4; k++) {
        cr_expect_float_eq(costs[k], due[k], 1e-9, "record %d: %g", k, costs[k]);
    }
    x = 1; /* psi is 8, and 4.5 on the bound, short of the root -3 */
    run_straight(-3, 1, &x, costs, &count);
    cr_assert_geq(count, 2);
    cr_expect_float_eq(costs[1], 4.5, 1e-12, "%g", costs[1]);
}

/* Waves on a slope: 1.5 sin of a random mixture of all unknowns, and each unknown. */
enum { WAVES = 4 };
typedef struct waves {
    double mix[WAVES][WAVES];
} waves;
static void wave(void *self, const double *x, double *r) {
    const waves *w = self;
    for (int i = 0; i < WAVES; i++) {
        double sum = 0;
        for (int j = 0; j < WAVES; j++) {
            sum += w->mix[i][j] * x[j];
        }
        r[i] = 0.3 * x[i] + 1.5 * sin(sum);
    }
}
static void wave_slope(void *self, const double *x, double *J) {
    const waves *w = self;
    for (int i = 0; i < WAVES; i++) {
        double sum = 0;
        for (int j = 0; j < WAVES; j++) {
            sum += w->mix[i][j] * x[j];
        }
        for (int j = 0; j < WAVES; j++) {
            J[WAVES * i + j] = 0.3 * (i == j) + 1.5 * cos(sum) * w->mix[i][j];
        }
    }
}
static double wave_error(void *self, const double *x) {
    double r[WAVES], most = 0;
    wave(self, x, r);
    for (int i = 0; i < WAVES; i++) {
        most = fmax(most, fabs(r[i]));
    }
    return most;
}

/* psi may rise, to no more than the greatest of the last ten iterates.  After 20 iterations a run may restart. */
Test(levenberg, the_projected_search_may_climb_as_high_as_it_has_been_of_late) {
    random_source s = {5};
    int rises = 0;
    for (int trial = 0; trial < 300; trial++) {
        waves w;
        double x[WAVES], costs[64];
        for (int i = 0; i < WAVES * WAVES; i++) {
            w.mix[i / WAVES][i % WAVES] = random_normal(&s);
        }
        for (int i = 0; i < WAVES; i++) {
            x[i] = 10 * random_normal(&s);
        }
        sim_history history = {.room = 64, .residual = (double[64]){0}, .cost = costs};
        sim_solution out = {.history = &history};
        solver_call call = {.scratch = arena_create(), .out = &out};
        levenberg_problem p = {.n = WAVES,
                               .self = &w,
                               .residual = wave,
                               .jacobian = wave_slope,
                               .error = wave_error,
                               .tolerance = 1e-10,
                               .max_iterations = 60};
        cr_assert(levenberg_solve(&p, LEVENBERG_PROJECTED, &call, x));
        for (int k = 1; k < history.count && k < 20; k++) {
            double most = 0;
            for (int j = k > 10 ? k - 10 : 0; j < k; j++) {
                most = fmax(most, costs[j]);
            }
            rises += costs[k] > costs[k - 1];
            cr_expect_leq(costs[k], most, "trial %d, iteration %d: %g above %g", trial, k, costs[k], most);
        }
        arena_free(call.scratch);
    }
    cr_expect_gt(rises, 0);
}

Test(levenberg, fischer_and_burmeister_are_zero_only_where_the_law_holds) {
    random_source s = {2};
    for (int trial = 0; trial < 1000; trial++) {
        double a = random_normal(&s), b = random_normal(&s), d = 1e-6, da, db, lam = trial % 4 ? 0.25 * (trial % 4) : 1;
        cr_expect_eq(eval_pfb(lam, 0, 0), 0);
        cr_expect_eq(eval_pfb(lam, fabs(a), 0), 0);
        cr_expect_eq(eval_pfb(lam, 0, fabs(b)), 0);
        cr_expect_neq(eval_pfb(lam, a, b), 0);
        cr_expect_eq(eval_pfb(lam, a, b) > 0, a > 0 && b > 0);
        if (fabs(a) > 1e-3 && fabs(b) > 1e-3) {
            pfb_slopes(lam, a, b, &da, &db);
            cr_expect_float_eq(da, (eval_pfb(lam, a + d, b) - eval_pfb(lam, a - d, b)) / (2 * d), 1e-7, "at %g %g", a,
                               b);
            cr_expect_float_eq(db, (eval_pfb(lam, a, b + d) - eval_pfb(lam, a, b - d)) / (2 * d), 1e-7, "at %g %g", a,
                               b);
        }
    }
}

typedef struct setting {
    sim_problem *problem;
    answer entry;
    sim_arena *scratch;
    dual d;
    residual_map h;
} setting;

static void begin(setting *t, random_source *s, double friction) {
    problem_recipe recipe = {
        .bodies = 4, .chain = 7, .contacts = 6, .friction = friction, .kinds = 63, .impact = 1, .scatter = 0.5};
    *t = (setting){.problem = random_problem(s, &recipe), .scratch = arena_create()};
    t->entry = answer_create(t->problem, 1, 1e-3);
    solver_call call = {.problem = t->problem, .R = t->entry.R, .target = t->entry.target, .scratch = t->scratch};
    cr_assert(dual_make(&t->d, &call, t->scratch));
    cr_assert(residual_map_make(&t->h, &t->d, t->scratch));
}

static void end(setting *t) {
    answer_free(&t->entry);
    sim_problem_free(t->problem);
    arena_free(t->scratch);
}

/* For any x: gamma within its bounds, s = x + gamma as the law asks; all kinds of rows. */
Test(levenberg, every_hybrid_unknown_obeys_the_law) {
    random_source s = {3};
    for (int trial = 0; trial < 100; trial++) {
        setting t;
        begin(&t, &s, 0.3 * (trial % 4));
        double x[128], gamma[128];
        for (int k = 0; k < t.h.n; k++) {
            x[k] = random_normal(&s);
        }
        residual_map_impulse(&t.h, x, gamma);
        for (int i = 0; i < t.problem->nconstraint; i++) {
            const sim_constraint *c = &t.problem->constraint[i];
            const double *g = gamma + c->row, *y = x + c->row;
            if (c->kind == SIM_CONTACT) {
                double slip = hypot(y[0] + g[0], y[1] + g[1]), left = c->friction * g[2] - hypot(g[0], g[1]);
                double work = g[0] * (y[0] + g[0]) + g[1] * (y[1] + g[1]) + c->friction * g[2] * slip;
                cr_expect(g[2] >= 0 && y[2] + g[2] >= 0 && g[2] * (y[2] + g[2]) == 0);
                cr_expect(left >= -1e-15 && fabs(work) <= 1e-14, "left %g, work %g", left, work);
            } else if (c->kind == SIM_LIMIT) {
                cr_expect(g[0] >= 0 && y[0] + g[0] >= 0 && g[0] * (y[0] + g[0]) == 0);
            } else if (c->kind == SIM_EQUALITY || c->kind == SIM_SPRING) {
                cr_expect_eq(y[0] + g[0], 0);
            }
        }
        end(&t);
    }
}

Test(levenberg, the_hybrid_derivative_is_that_of_its_residual_for_every_kind_of_row) {
    random_source s = {4};
    int open = 0, slip = 0, stick = 0;
    for (int trial = 0; trial < 40; trial++) {
        setting t;
        begin(&t, &s, 0.3 * (1 + trial % 3));
        int n = t.h.n;
        double x[128], r[2][128], *J = calloc((size_t)(n * n), sizeof *J), d = 1e-6;
        for (int k = 0; k < n; k++) {
            x[k] = random_normal(&s);
        }
        residual_map_jacobian(&t.h, x, J);
        for (int i = 0; i < t.problem->nconstraint; i++) {
            const sim_constraint *c = &t.problem->constraint[i];
            const double *y = x + c->row;
            double off = c->kind == SIM_CONTACT ? hypot(y[0], y[1]) + c->friction * y[2] : 1;
            open += c->kind == SIM_CONTACT && y[2] > 0;
            slip += c->kind == SIM_CONTACT && y[2] < 0 && off > 0;
            stick += c->kind == SIM_CONTACT && y[2] < 0 && off < 0;
            for (int j = c->row; j < c->row + c->rows && fabs(off) > 1e-4; j++) {
                double here = x[j];
                for (int side = 0; side < 2; side++) {
                    x[j] = here + (side ? d : -d);
                    residual_map_eval(&t.h, x, r[side]);
                }
                x[j] = here;
                for (int k = 0; k < n; k++) {
                    double slope = (r[1][k] - r[0][k]) / (2 * d);
                    cr_expect_float_eq(J[k * n + j], slope, 1e-7 * (1 + fabs(slope)), "kind %d: %g, not %g",
                                       (int)c->kind, J[k * n + j], slope);
                }
            }
        }
        free(J);
        end(&t);
    }
    cr_expect(open > 10 && slip > 10 && stick > 10, "%d open, %d slip, %d stick", open, slip, stick);
}

/* A box on four corners, one of which has sunk in a little more than a plane allows: not all four can stick, and
 * where they are asked to, |r| has a minimum that is no root. */
Test(levenberg, corners_that_do_not_fit_a_plane_are_no_dead_end) {
    static const char *const solver[] = {"mncp-rlm", "mncp-plm", "incp"};
    double mass[] = {1, 2};
    for (int k = 0; k < 9; k++) {
        sim_problem *made = box_stack(2, mass, 0.7, 0.01, 0.3 * (k / 3)), p = *made;
        double gap[64];
        memcpy(gap, p.gap, (size_t)p.nrow * sizeof *gap);
        gap[2] = -3e-6;
        p.gap = gap;
        answer a = answer_create(&p, 1, 1e-3);
        sim_law_options o = sim_law_options_default();
        sim_regularise(&p, SIM_RIGID, &o, NULL, a.R, a.target);
        answer_find(&a, solver[k % 3], NULL);
        cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "%s, push %g: %s, E %g", solver[k % 3], 0.3 * (k / 3),
                      sim_outcome_name(a.out.outcome), a.out.residual);
        answer_free(&a);
        sim_problem_free(made);
    }
}
