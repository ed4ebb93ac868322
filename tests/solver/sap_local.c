/* Problems of W and q alone: a factor of W stands in for bodies, and what it leaves out comes in rounds. */
#include "solver/nonsmooth_newton/delassus_krylov.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double exact[] = {1e-12, 200, 0, 0, 1e4, 1};

typedef struct local {
    sim_problem problem;
    sim_delassus W;
    int *start, *column;
    ptrdiff_t *at;
    double *value, *q;
} local;

/* Rows of a constraint over all velocities. */
static void full_row(const sim_problem *p, const sim_constraint *c, int row, double *out) {
    memset(out, 0, (size_t)p->nv * sizeof *out);
    for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
        const sim_problem_tree *t = &p->tree[c->tree[side]];
        memcpy(out + t->v0, p->J + c->block[side] + row * t->nv, (size_t)t->nv * sizeof *out);
    }
}

/* W = J A^-1 J', q = J v* + w; blocks that are zero are left out. */
static local make_local(const sim_problem *p) {
    int n = p->nconstraint, blocks = 0;
    ptrdiff_t at = 0;
    local l = {
        .problem = {.step = p->step, .nconstraint = n, .nrow = p->nrow, .constraint = p->constraint, .gap = p->gap}};
    l.start = calloc((size_t)n + 1, sizeof *l.start);
    l.column = calloc((size_t)(n * n), sizeof *l.column);
    l.at = calloc((size_t)(n * n), sizeof *l.at);
    l.value = calloc((size_t)(p->nrow * p->nrow), sizeof *l.value);
    l.q = calloc((size_t)p->nrow, sizeof *l.q);
    double *x = calloc((size_t)p->nv, sizeof *x), *y = calloc((size_t)p->nv, sizeof *y);
    for (int i = 0; i < n; i++) {
        const sim_constraint *a = &p->constraint[i];
        for (int j = 0; j < n; j++) {
            const sim_constraint *b = &p->constraint[j];
            int any = i == j;
            for (int s = 0; s < 4; s++) {
                any |= a->tree[s / 2] >= 0 && a->tree[s / 2] == b->tree[s % 2];
            }
            if (!any) {
                continue;
            }
            l.column[blocks] = j;
            l.at[blocks++] = at;
            for (int k = 0; k < a->rows * b->rows; k++) {
                full_row(p, a, k / b->rows, x);
                full_row(p, b, k % b->rows, y);
                for (int t = 0; t < p->ntree; t++) {
                    p->mass.solve(p->mass.self, t, y + p->tree[t].v0);
                }
                for (int m = 0; m < p->nv; m++) {
                    l.value[at] += x[m] * y[m];
                }
                at++;
            }
        }
        l.start[i + 1] = blocks;
        for (int k = 0; k < a->rows; k++) {
            full_row(p, a, k, x);
            l.q[a->row + k] = p->offset[a->row + k];
            for (int m = 0; m < p->nv; m++) {
                l.q[a->row + k] += x[m] * p->v_free[m];
            }
        }
    }
    free(x);
    free(y);
    l.W = (sim_delassus){l.start, l.column, l.at, l.value, 1};
    return l;
}

static void free_local(local *l) {
    free(l->start);
    free(l->column);
    free(l->at);
    free(l->value);
    free(l->q);
}

static double worst_difference(const double *x, const double *y, int n, double *size) {
    double worst = 0;
    *size = 0;
    for (int k = 0; k < n; k++) {
        worst = fmax(worst, fabs(x[k] - y[k]));
        *size = fmax(*size, fabs(y[k]));
    }
    return worst;
}

Test(sap_local, impulses_are_those_of_the_bodies_that_gave_W) {
    random_source r = {1};
    for (int trial = 0; trial < 30; trial++) {
        /* one body with eight contacts: 24 rows of rank 6 */
        problem_recipe recipe = {.bodies = trial % 3 ? 4 : 1,
                                 .contacts = trial % 2 ? 8 : 3,
                                 .friction = 0.6,
                                 .bias = 0.1,
                                 .kinds = trial % 5 ? 0 : 63,
                                 .impact = 1,
                                 .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        answer a = answer_create(p, 1, 1e-3), b = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", exact);
        local l = make_local(p);
        l.problem.W = &l.W;
        l.problem.q = l.q;
        b.problem = &l.problem;
        answer_find(&b, "sap", exact);
        double size, worst = worst_difference(b.impulse, a.impulse, p->nrow, &size);
        cr_expect_leq(b.out.outcome, SIM_AT_ROUNDING);
        cr_expect_lt(worst, 1e-8 * size, "trial %d: %g of %g", trial, worst, size);
        /* its own impulses are a good guess */
        l.problem.impulse_guess = a.impulse;
        answer_find(&b, "sap", NULL);
        cr_expect_eq(b.out.iterations, 0, "%d", b.out.iterations);
        free_local(&l);
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(p);
    }
}

Test(sap_local, a_W_that_no_bodies_give_is_refused_honestly) {
    static const int start[] = {0, 1}, column[] = {0};
    static const ptrdiff_t at[] = {0};
    static const double indefinite[2][9] = {{1, 0, 0, 0, 1, 0, 0, 0, -1}, {0, 1, 0, 1, 0, 0, 0, 0, 0}};
    static const double q[3] = {0.1, 0, -1}, gap[3];
    sim_constraint c = {.kind = SIM_CONTACT, .rows = 3, .tree = {-1, -1}, .friction = 0.5, .stiffness = INFINITY};
    for (int k = 0; k < 2; k++) {
        sim_delassus W = {start, column, at, indefinite[k], 1};
        sim_problem p = {.step = 0.01, .nconstraint = 1, .nrow = 3, .constraint = &c, .gap = gap, .W = &W, .q = q};
        double R[3] = {1e-3, 1e-3, 1e-3}, target[3] = {0}, impulse[3] = {NAN, NAN, NAN};
        sim_regularisation law = {R, target};
        sim_solution out = {.impulse = impulse};
        sim_solver *s = sim_solver_create(sim_solver_find("sap"), NULL, NULL);
        cr_assert_eq(sim_solver_accepts(s, &p, NULL), SIM_OK);
        cr_assert_eq(sim_solver_solve(s, &p, &law, &out, NULL), SIM_OK);
        cr_expect_eq(out.outcome, SIM_BROKEN_DOWN);
        cr_expect(isfinite(impulse[0] + impulse[1] + impulse[2]));
        sim_solver_free(s);
    }
}

/* W gets size sqrt(w_i w_j) (a_i b_j' - b_i a_j'), with a and b what an impulse does to two velocities of a tree. */
static void twist(local *l, const sim_problem *p, double size) {
    double *Y = calloc((size_t)(p->nrow * p->nv), sizeof *Y), *e = calloc((size_t)p->nv, sizeof *e);
    double *A = calloc((size_t)p->nv, sizeof *A);
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = 0; k < p->constraint[i].rows; k++) {
            double *y = Y + (p->constraint[i].row + k) * p->nv;
            full_row(p, &p->constraint[i], k, y);
            for (int t = 0; t < p->ntree; t++) {
                p->mass.solve(p->mass.self, t, y + p->tree[t].v0);
            }
        }
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int k = l->start[i]; k < l->start[i + 1]; k++) {
            const sim_constraint *a = &p->constraint[i], *b = &p->constraint[l->column[k]];
            for (int n = 0; n < a->rows * b->rows; n++) {
                const double *x = Y + (a->row + n / b->rows) * p->nv, *y = Y + (b->row + n % b->rows) * p->nv;
                for (int t = 0; t < p->ntree; t++) {
                    int v = p->tree[t].v0;
                    memset(e, 0, (size_t)p->nv * sizeof *e);
                    e[v] = 1;
                    p->mass.times(p->mass.self, t, e + v, A + v);
                    l->value[l->at[k] + n] += size * A[v] * (x[v] * y[v + 1] - x[v + 1] * y[v]);
                }
            }
        }
    }
    l->W.symmetric = 0;
    free(Y);
    free(e);
    free(A);
}

static void to_single_precision(local *l, int rows) {
    int blocks = l->start[rows];
    ptrdiff_t numbers = l->at[blocks - 1] + 1; /* the last block is on the diagonal */
    for (ptrdiff_t k = 0; k < numbers; k++) {
        l->value[k] = (double)(float)l->value[k];
    }
}

/* W with gyroscopic terms, and from files in single precision. */
Test(sap_local, of_a_W_that_no_bodies_give_the_true_one_is_answered) {
    static const char *const solver[] = {"sap", "canal"};
    random_source r = {2};
    int rounded = 0;
    for (int trial = 0; trial < 24; trial++) {
        problem_recipe recipe = {.bodies = 4,
                                 .contacts = 3 + trial % 8,
                                 .friction = 0.5,
                                 .bias = 0.1,
                                 .kinds = trial % 3 ? 0 : 63,
                                 .impact = 1,
                                 .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        local l = make_local(p);
        if (trial % 4) {
            twist(&l, p, pow(10, -trial % 4));
        } else {
            to_single_precision(&l, p->nconstraint);
        }
        l.problem.W = &l.W;
        l.problem.q = l.q;
        for (int k = 0; k < 2; k++) {
            answer a = answer_create(p, 1, 1e-3);
            a.problem = &l.problem;
            double sap[] = {1e-11, 1000, 0, 0, 1e4, 1}, canal[] = {1e-11, 1e5, 1e4, 100, 1, 0, 0, 5e3};
            answer_find(&a, solver[k], k ? canal : sap);
            sim_cone cone = k ? SIM_CONE_STRICT : SIM_CONE_CONVEX;
            double own = certificate_of(&l.problem, &a.law, cone, NULL, a.impulse).own;
            cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "%s, trial %d: %s", solver[k], trial,
                          sim_outcome_name(a.out.outcome));
            cr_expect_leq(own, k ? 1e-11 : 1e-9, "%s, trial %d: %g", solver[k], trial, own);
            answer_free(&a);
        }
        rounded += trial % 4 == 0;
        free_local(&l);
        sim_problem_free(p);
    }
    cr_expect_gt(rounded, 3);
}

/* auto begins with whole Newton steps, which take a factor of W; a W that is not symmetric has none. */
Test(sap_local, the_portfolio_begins_with_newton_steps_where_W_has_a_factor) {
    enum { ACN = 3 };
    random_source r = {4};
    for (int trial = 0; trial < 20; trial++) {
        bool twisted = trial % 2;
        problem_recipe recipe = {.bodies = 4, .contacts = 8, .friction = 0.5, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        local l = make_local(p);
        if (twisted) {
            twist(&l, p, 0.1);
        }
        l.problem.W = &l.W;
        l.problem.q = l.q;
        answer a = answer_create(p, 1, 1e-3);
        a.problem = &l.problem;
        answer_find(&a, "auto", NULL);
        double own = certificate_of(&l.problem, &a.law, SIM_CONE_STRICT, NULL, a.impulse).own;
        cr_expect_eq(a.out.outcome, SIM_SOLVED, "trial %d: %s", trial, sim_outcome_name(a.out.outcome));
        cr_expect_leq(own, 1e-8, "trial %d: %g", trial, own);
        cr_expect_eq(a.out.finished_by == ACN, !twisted, "trial %d: %d", trial, a.out.finished_by);
        answer_free(&a);
        free_local(&l);
        sim_problem_free(p);
    }
}

/* W far from symmetric: solved, or said not to be. */
Test(sap_local, a_W_whose_rounds_do_not_contract_is_solved_or_said_not_to_be) {
    random_source r = {3};
    int seen[SIM_OUTCOMES] = {0};
    for (int trial = 0; trial < 20; trial++) {
        problem_recipe recipe = {.bodies = 2, .contacts = 4, .friction = 0.5, .impact = 1, .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        local l = make_local(p);
        twist(&l, p, trial % 2 ? 1 : 10);
        l.problem.W = &l.W;
        l.problem.q = l.q;
        answer a = answer_create(p, 1, 1e-3);
        a.problem = &l.problem;
        answer_find(&a, "canal", NULL);
        double own = certificate_of(&l.problem, &a.law, SIM_CONE_STRICT, NULL, a.impulse).own;
        cr_expect(isfinite(own));
        cr_expect(a.out.outcome > SIM_AT_ROUNDING || own <= 1e-8, "%g", own);
        seen[a.out.outcome]++;
        answer_free(&a);
        free_local(&l);
        sim_problem_free(p);
    }
    cr_log_info("solved %d, at limit %d, broken %d", seen[SIM_SOLVED], seen[SIM_AT_LIMIT], seen[SIM_BROKEN_DOWN]);
    cr_expect_gt(seen[SIM_SOLVED], 0);
}

/* The outer iteration splits the tolerance between the solver and what D leaves: a claim holds for the sum.  The inner
 * method, a fixed point, ends just below what it is asked for. */
Test(sap_local, a_claim_of_the_outer_iteration_is_within_the_tolerance) {
    const double tolerance = 1e-5;
    random_source r = {4};
    int solved = 0;
    for (int trial = 0; trial < 40; trial++) {
        problem_recipe recipe = {.bodies = 4, .contacts = 6, .friction = 0.2, .impact = 1, .scatter = 0.2};
        sim_problem *p = random_problem(&r, &recipe);
        local l = make_local(p);
        twist(&l, p, pow(10, -1 - trial % 3));
        l.problem.W = &l.W;
        l.problem.q = l.q;
        double option[32];
        options_with("nsn", (option_setting[]){{"tolerance", tolerance}, {"friction", 0}, {NULL, 0}}, option);
        answer a = answer_create(p, 0, 0);
        a.problem = &l.problem;
        answer_find(&a, "nsn", option);
        double own = certificate_of(&l.problem, &a.law, SIM_CONE_STRICT, NULL, a.impulse).own;
        if (a.out.outcome == SIM_SOLVED) {
            cr_expect_leq(a.out.residual, tolerance, "trial %d: %g", trial, a.out.residual);
            cr_expect_leq(own, 1.01 * a.out.residual, "trial %d: E %g, not %g", trial, own, a.out.residual);
        }
        solved += a.out.outcome == SIM_SOLVED;
        answer_free(&a);
        free_local(&l);
        sim_problem_free(p);
    }
    cr_expect_geq(solved, 30, "%d", solved);
}

/* Where W is not symmetric, auto has no whole Newton steps, and its other methods take turns from each other's impulses.
 * It solves all that sweeps or nsn alone solve. */
Test(sap_local, of_an_unsymmetric_W_auto_solves_all_that_its_methods_alone_solve) {
    static const struct {
        const char *method;
        int iterations, contacts, trials, least;
        double friction;
    } row[] = {{"pgs", 5000, 12, 24, 20, 0.6}, {"pgs", 5000, 30, 12, 10, 0.9}, {"nsn", 300, 50, 16, 8, 0.7}};
    random_source r = {43};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        int alone = 0, missed = 0;
        for (int trial = 0; trial < part_of(row[k].trials); trial++) {
            problem_recipe recipe = {.bodies = row[k].contacts / 5 + trial % 2,
                                     .contacts = row[k].contacts,
                                     .friction = row[k].friction + 0.3 * (trial % 2),
                                     .bias = 0.1,
                                     .impact = 1,
                                     .scatter = 2.3};
            sim_problem *p = random_problem(&r, &recipe);
            local l = make_local(p);
            twist(&l, p, 0.1);
            l.problem.W = &l.W;
            l.problem.q = l.q;
            answer a = answer_create(p, 0, 0);
            a.problem = &l.problem;
            double option[32];
            options_with(row[k].method, (option_setting[]){{"max_iterations", row[k].iterations}, {NULL, 0}}, option);
            answer_find(&a, row[k].method, option);
            if (a.out.outcome == SIM_SOLVED) {
                answer_find(&a, "auto", NULL);
                double own = certificate_of(&l.problem, &a.law, SIM_CONE_STRICT, NULL, a.impulse).own;
                alone++;
                missed += a.out.outcome != SIM_SOLVED || own > 1.01e-8;
            }
            answer_free(&a);
            free_local(&l);
            sim_problem_free(p);
        }
        cr_expect(alone >= row[k].least || is_part(), "%s, %d contacts: %d", row[k].method, row[k].contacts, alone);
        cr_expect_eq(missed, 0, "%s, %d contacts: %d of %d", row[k].method, row[k].contacts, missed, alone);
    }
}

/* W far from symmetric is no matter for nsn, whichever way it solves its linear systems: conjugate residuals and
 * Cholesky's factor get the symmetric part alone. */
Test(sap_local, nsn_solves_an_unsymmetric_W_by_every_linear_method) {
    for (int way = 0; way < SCHUR_METHODS; way++) {
        random_source r = {43};
        for (int trial = 0; trial < 8; trial++) {
            problem_recipe recipe = {.bodies = 4, .contacts = 6, .friction = 0.2, .impact = 1, .scatter = 0.2};
            sim_problem *p = random_problem(&r, &recipe);
            local l = make_local(p);
            twist(&l, p, 0.5);
            l.problem.W = &l.W;
            l.problem.q = l.q;
            double option[32];
            options_with("nsn",
                         (option_setting[]){{"linear", way}, {"friction", 0}, {"max_iterations", 400}, {NULL, 0}},
                         option);
            answer a = answer_create(p, 0, 0);
            a.problem = &l.problem;
            answer_find(&a, "nsn", option);
            double own = certificate_of(&l.problem, &a.law, SIM_CONE_STRICT, NULL, a.impulse).own;
            cr_assert_eq(a.out.outcome, SIM_SOLVED, "way %d, trial %d: %s", way, trial,
                         sim_outcome_name(a.out.outcome));
            cr_expect_leq(own, 1.01e-8, "way %d, trial %d: %g", way, trial, own);
            answer_free(&a);
            free_local(&l);
            sim_problem_free(p);
        }
    }
}
