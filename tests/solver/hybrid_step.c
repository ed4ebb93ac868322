/* Steps of the contacts that push alone are those of the whole problem; softer problems have the derivative that
 * they say, and lead out of minima that are no answer. */
#include "solver/implicit/cone_kinks.h"
#include "solver/implicit/proximal.h"
#include "solver/implicit/residual_newton.h"
#include "solver/matrices/least_squares.h"
#include "solver/matrices/levenberg_marquardt.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 256, MOST_OPTIONS = 16 };

typedef struct setting {
    sim_problem *problem;
    answer entry;
    sim_arena *scratch;
    dual d;
    residual_map h;
    residual_newton step;
    double x[MOST_ROWS], r[MOST_ROWS], *F, *J; /* J: n x n */
} setting;

static void begin(setting *t, random_source *s, int bodies, int contacts, double friction, double soft) {
    problem_recipe recipe = {.bodies = bodies,
                             .contacts = contacts,
                             .friction = friction,
                             .kinds = 63,
                             .more = bodies > 10 ? 3 : 0,
                             .impact = 1,
                             .scatter = 0.5};
    *t = (setting){.problem = random_problem(s, &recipe), .scratch = arena_create()};
    t->entry = answer_create(t->problem, 1, 1e-3);
    solver_call call = {.problem = t->problem, .R = t->entry.R, .target = t->entry.target, .scratch = t->scratch};
    cr_assert(dual_make(&t->d, &call, t->scratch));
    cr_assert(residual_map_make(&t->h, &t->d, t->scratch) && residual_newton_make(&t->step, &t->h, t->scratch));
    cr_assert_leq(t->h.n, MOST_ROWS);
    size_t n = (size_t)t->h.n;
    t->J = arena_alloc(t->scratch, n * n, sizeof *t->J);
    t->F = ARENA_NEW(t->scratch, double, RESIDUAL_BLOCK * t->problem->nconstraint);
    double centre[MOST_ROWS];
    for (size_t k = 0; k < n; k++) {
        t->x[k] = random_normal(s);
        centre[k] = random_normal(s);
    }
    residual_map_soften(&t->h, soft, centre);
    residual_map_eval(&t->h, t->x, t->r);
    residual_map_slopes(&t->h, t->x, t->F);
    residual_map_apply_slopes(&t->h, t->F, t->J);
}

static void end(setting *t) {
    answer_free(&t->entry);
    sim_problem_free(t->problem);
    arena_free(t->scratch);
}

/* Of |a - b| over |b|. */
static double apart(int n, const double *a, const double *b) {
    double sum = 0, size = 0;
    for (int k = 0; k < n; k++) {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
        size += b[k] * b[k];
    }
    return sqrt(sum / size);
}

/* The step by all rows and columns of J. */
static void step_whole(const setting *t, const double *J, double lambda, double *dx) {
    double *work = calloc(levenberg_work(t->h.n), sizeof *work), range;
    cr_assert(levenberg_step(t->h.n, J, t->r, lambda, work, dx, &range, NULL));
    free(work);
}

static void check_steps(setting *t, int trial) {
    int n = t->h.n;
    double dx[MOST_ROWS], whole[MOST_ROWS], range;
    residual_newton_form(&t->step, t->F, NULL, NULL);
    double trace = 0;
    for (int k = 0; k < n * n; k++) {
        trace += t->J[k] * t->J[k];
    }
    cr_expect_float_eq(t->step.size, trace / n, 1e-12 * trace, "trial %d: mean of the diagonal", trial);
    for (double lambda = 1; lambda > 1e-9; lambda *= 1e-4) {
        step_whole(t, t->J, lambda, whole);
        cr_assert(residual_newton_least_squares(&t->step, t->r, lambda, dx, &range));
        cr_expect_leq(apart(n, dx, whole), 1e-11 / sqrt(lambda), "trial %d, lambda %g, %d of %d unknowns: %g", trial,
                      lambda, t->step.columns, n, apart(n, dx, whole));
    }
    if (t->h.soft > 0) {
        step_whole(t, t->J, 0, whole);
        cr_assert(residual_newton_solve(&t->step, t->r, dx));
        cr_expect_leq(apart(n, dx, whole), 1e-9, "trial %d: Newton's is off by %g", trial, apart(n, dx, whole));
    }
}

/* All kinds of rows; few rows, dense; many, of a W that is sparse, by J' J and by Gauss. */
Test(hybrid_step, of_few_unknowns_is_that_of_all) {
    random_source s = {1};
    int left_out = 0, sparse = 0, squares = 0;
    for (int trial = 0; trial < 60; trial++) {
        setting t;
        int large = trial % 3 == 2;
        begin(&t, &s, large ? 40 : 4, large ? 50 : 8, 0.3 * (1 + trial % 3), trial % 2 ? 0 : 0.05);
        check_steps(&t, trial);
        left_out += t.step.columns < t.h.n;
        sparse += t.h.start != NULL;
        squares += t.h.start != NULL && t.step.columns > 48;
        end(&t);
    }
    cr_expect(left_out > 50 && sparse >= 20 && squares >= 20, "%d left something out, %d sparse, %d by squares",
              left_out, sparse, squares);
}

/* Contacts held to an edge: J B without the column across, then B. */
Test(hybrid_step, along_edges_is_that_of_all) {
    random_source s = {2};
    for (int trial = 0; trial < 40; trial++) {
        setting t;
        int large = trial % 4 == 3;
        begin(&t, &s, large ? 40 : 4, large ? 50 : 8, 0.5, trial % 2 ? 0 : 0.05);
        size_t n = (size_t)t.h.n, contacts = (size_t)t.problem->nconstraint;
        int *held = calloc(contacts, sizeof *held);
        double *basis = calloc(9 * contacts, sizeof *basis), *JB = calloc(n * n, sizeof *JB);
        double dx[MOST_ROWS], whole[MOST_ROWS], range;
        memcpy(JB, t.J, n * n * sizeof *JB);
        for (size_t i = 0; i < contacts; i += 2) {
            const sim_constraint *c = &t.problem->constraint[i];
            if (c->kind != SIM_CONTACT) {
                continue;
            }
            double *B = basis + 9 * i, x[3] = {t.x[c->row], t.x[c->row + 1], -fabs(t.x[c->row + 2])};
            project_to_edge(EDGE_CONE, c->friction, x);
            make_edge_basis(EDGE_CONE, c->friction, x, B);
            held[i] = 1;
            for (size_t row = 0; row < n; row++) {
                double *at = JB + row * n + c->row, old[3] = {at[0], at[1], at[2]};
                for (int j = 0; j < 3; j++) {
                    at[j] = j == 2 ? 0 : old[0] * B[j] + old[1] * B[3 + j] + old[2] * B[6 + j];
                }
            }
        }
        residual_newton_form(&t.step, t.F, held, basis);
        cr_expect_not(residual_newton_solve(&t.step, t.r, dx), "not square");
        for (double lambda = 1; lambda > 1e-7; lambda *= 1e-3) {
            step_whole(&t, JB, lambda, whole);
            for (size_t i = 0; i < contacts; i++) {
                double *at = whole + t.problem->constraint[i].row, old[2] = {at[0], at[1]};
                for (int k = 0; k < 3 && held[i]; k++) {
                    at[k] = basis[9 * i + 3 * k] * old[0] + basis[9 * i + 3 * k + 1] * old[1];
                }
            }
            cr_assert(residual_newton_least_squares(&t.step, t.r, lambda, dx, &range));
            cr_expect_leq(apart((int)n, dx, whole), 1e-11 / sqrt(lambda), "trial %d, lambda %g: %g", trial, lambda,
                          apart((int)n, dx, whole));
        }
        free(held);
        free(basis);
        free(JB);
        end(&t);
    }
}

/* Products with J and its parts are those of the dense ones. */
Test(hybrid_step, products_are_those_of_the_dense_matrices) {
    random_source s = {3};
    for (int trial = 0; trial < 20; trial++) {
        setting t;
        begin(&t, &s, trial % 2 ? 40 : 4, trial % 2 ? 50 : 8, 0.5, 0.1);
        size_t n = (size_t)t.h.n;
        double image[MOST_ROWS], dense[MOST_ROWS], back[MOST_ROWS], other[MOST_ROWS];
        residual_map_jacobian_times(&t.h, t.F, t.r, image);
        residual_map_transposed(&t.h, t.r, back); /* J' r = F' ((W + soft)' r - r) - r */
        for (size_t k = 0; k < n; k++) {
            back[k] -= t.r[k];
        }
        residual_map_slope_times(&t.h, t.F, 1, back, other);
        for (size_t i = 0; i < n; i++) {
            dense[i] = back[i] = 0;
            other[i] -= t.r[i];
            for (size_t k = 0; k < n; k++) {
                dense[i] += t.J[i * n + k] * t.r[k];
                back[i] += t.J[k * n + i] * t.r[k];
            }
        }
        cr_expect_leq(apart((int)n, image, dense), 1e-13);
        cr_expect_leq(apart((int)n, other, back), 1e-13);
        end(&t);
    }
}

/* ---- softer problems ---- */

Test(proximal, a_softer_residual_has_the_derivative_that_is_said) {
    random_source s = {4};
    int pushing = 0;
    for (int trial = 0; trial < 20; trial++) {
        setting t;
        begin(&t, &s, 4, 8, 0.5, 0.3);
        double d = 1e-6, side[2][MOST_ROWS];
        for (int i = 0; i < t.problem->nconstraint; i++) {
            const sim_constraint *c = &t.problem->constraint[i];
            const double *y = t.x + c->row;
            int near = c->kind == SIM_CONTACT && fabs(hypot(y[0], y[1]) + c->friction * y[2]) < 1e-4;
            pushing += c->kind == SIM_CONTACT && y[2] < 0;
            for (int j = c->row; j < c->row + c->rows && !near; j++) {
                double here = t.x[j];
                for (int k = 0; k < 2; k++) {
                    t.x[j] = here + (k ? d : -d);
                    residual_map_eval(&t.h, t.x, side[k]);
                }
                t.x[j] = here;
                for (int k = 0; k < t.h.n; k++) {
                    double slope = (side[1][k] - side[0][k]) / (2 * d), said = t.J[k * t.h.n + j];
                    cr_expect_float_eq(slope, said, 1e-6 * (1 + fabs(said)), "trial %d, row %d, unknown %d: %g, not %g",
                                       trial, k, j, said, slope);
                }
            }
        }
        end(&t);
    }
    cr_expect_gt(pushing, 40);
}

/* A softer answer differs from the problem's own by alpha (gamma - c). */
Test(proximal, a_softer_answer_is_off_by_what_moved) {
    random_source s = {5};
    for (int trial = 0; trial < 20; trial++) {
        setting t;
        double soft = 0.05, centre[MOST_ROWS] = {0}, gamma[MOST_ROWS], own[MOST_ROWS];
        begin(&t, &s, 4, 8, 0.5, 0);
        residual_map_soften(&t.h, soft, centre);
        residual_map_eval(&t.h, t.x, t.r);
        residual_map_impulse(&t.h, t.x, gamma);
        double E = residual_map_error(&t.h, t.x);
        residual_map_soften(&t.h, 0, centre);
        residual_map_eval(&t.h, t.x, own);
        for (int k = 0; k < t.h.n; k++) {
            cr_expect_float_eq(own[k], t.r[k] - soft * (gamma[k] - centre[k]), 1e-13);
        }
        cr_expect_float_eq(E, residual_map_error(&t.h, t.x), 1e-13 * E, "E is that of the problem, however soft");
        end(&t);
    }
}

static sim_solution solve(const sim_problem *p, const char *solver, int restart, double *E) {
    const sim_solver_info *info = sim_solver_find(solver);
    double option[MOST_OPTIONS];
    sim_law_options law = sim_law_options_default();
    answer a = answer_create(p, 1, 1e-3);
    sim_regularise(p, SIM_RIGID, &law, NULL, a.R, a.target);
    for (int k = 0; k < info->noptions; k++) {
        option[k] = strcmp(info->option[k].name, "restart") || restart ? info->option[k].default_value : 0;
    }
    answer_find(&a, solver, option);
    *E = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse).E;
    sim_solution out = a.out;
    answer_free(&a);
    return out;
}

/* More rows than velocities: W is singular, and the plain methods end in minima that are no answer. */
Test(proximal, softer_rounds_solve_what_plain_descent_leaves) {
    static const char *const solver[] = {"incp", "mncp-rlm", "mncp-plm"};
    random_source s = {6};
    int solved[3][2] = {{0}};
    enum { TRIALS = 30 };
    for (int trial = 0; trial < TRIALS; trial++) {
        problem_recipe hard = {.bodies = 4, .contacts = 10, .friction = 1, .bias = 0.1, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&s, &hard);
        for (int k = 0; k < 3; k++) {
            for (int restart = 0; restart < 2; restart++) {
                double E;
                sim_solution out = solve(p, solver[k], restart, &E);
                solved[k][restart] += E <= 1e-8 * (1 + 1e-6);
                cr_expect_eq(out.outcome == SIM_SOLVED, E <= 1e-8 * (1 + 1e-6), "%s says %s at %g", solver[k],
                             sim_outcome_name(out.outcome), E);
            }
        }
        sim_problem_free(p);
    }
    for (int k = 0; k < 3; k++) {
        cr_log_info("%s: %d, with softer rounds %d", solver[k], solved[k][0], solved[k][1]);
        cr_expect_gt(solved[k][1], solved[k][0] + 1, "%s", solver[k]);
        cr_expect_geq(solved[k][1], TRIALS - 4, "%s: %d", solver[k], solved[k][1]);
    }
}
