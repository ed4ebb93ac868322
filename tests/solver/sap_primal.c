/* The primal cost: its derivatives, along v and along lines, and what must not change the answer. */
#include "solver/newton/line_search.h"
#include "solver/newton/primal.h"
#include "support/answers.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double exact[] = {1e-13, 200, 0, 0, 1e4, 1};
static const problem_recipe recipe = {
    .bodies = 4, .chain = 7, .contacts = 12, .friction = 0.6, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.6};

/* A primal in the midst of its way. */
typedef struct midst {
    sim_problem *problem;
    answer a;
    double *inverse_compliance, *constant, *v0;
    convex_law law;
    hessian *hessian;
    sim_arena *scratch;
    sim_solution out;
    primal primal;
} midst;

static void begin(midst *m, random_source *r) {
    m->problem = random_problem(r, &recipe);
    m->a = answer_create(m->problem, 1, 1e-2);
    size_t rows = (size_t)m->problem->nrow;
    m->inverse_compliance = calloc(rows, sizeof *m->inverse_compliance);
    m->constant = calloc(rows, sizeof *m->constant);
    for (size_t k = 0; k < rows; k++) {
        m->inverse_compliance[k] = 1 / m->a.R[k];
    }
    m->law = (convex_law){m->problem, m->a.R, m->inverse_compliance, m->a.target, m->constant};
    m->hessian = hessian_create();
    m->scratch = arena_create();
    m->primal = (primal){.at = {.v = m->a.v, .gamma = m->a.impulse}};
    m->out = (sim_solution){0};
    primal_options o = {1e-9, 100, 0, SPD_AUTO, HUGE_VAL, 1, HUGE_VAL, 1};
    cr_assert(hessian_prepare(m->hessian, m->problem, SPD_AUTO));
    cr_assert(primal_begin(&m->primal, &m->law, m->hessian, &o, &m->out, m->scratch));
    m->v0 = calloc((size_t)m->problem->nv, sizeof *m->v0);
    for (int j = 0; j < m->problem->nv; j++) {
        m->v0[j] = m->a.v[j] = 0.3 * random_normal(r) + m->problem->v_free[j];
    }
    primal_eval_at(&m->primal);
}

static void end(midst *m) {
    free(m->inverse_compliance);
    free(m->constant);
    free(m->v0);
    hessian_free(m->hessian);
    arena_free(m->scratch);
    answer_free(&m->a);
    sim_problem_free(m->problem);
}

static void look_at(midst *m, const double *direction, double h) {
    for (int j = 0; j < m->problem->nv; j++) {
        m->a.v[j] = m->v0[j] + h * direction[j];
    }
    primal_eval_at(&m->primal);
}

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * y[k];
    }
    return sum;
}

Test(primal, gradient_equals_differences_of_the_cost) {
    random_source r = {1};
    for (int trial = 0; trial < 20; trial++) {
        midst m;
        begin(&m, &r);
        int n = m.problem->nv;
        double direction[64], gradient[64], cost[2], h = 1e-6;
        memcpy(gradient, m.primal.at.gradient, (size_t)n * sizeof *gradient);
        for (int j = 0; j < n; j++) {
            direction[j] = random_normal(&r);
        }
        for (int k = 0; k < 2; k++) {
            look_at(&m, direction, k ? h : -h);
            cost[k] = m.primal.at.cost;
        }
        double slope = dot(n, gradient, direction), found = (cost[1] - cost[0]) / (2 * h);
        cr_expect_float_eq(found, slope, 1e-7 * (fabs(slope) + cost[0]), "%g, not %g", found, slope);
        end(&m);
    }
}

/* Which regions the rows of the kinds are in: nothing, linear, sliding or at a bound. */
static void count_regions(const midst *m, int seen[SIM_CONSTRAINT_KINDS][3]) {
    for (int i = 0; i < m->problem->nconstraint; i++) {
        const sim_constraint *c = &m->problem->constraint[i];
        const cone_hessian *b = &m->primal.at.G[i];
        const double *gamma = m->a.impulse + c->row;
        int linear = !b->sliding && b->weight[c->rows - 1] > 0;
        seen[c->kind][linear ? 1 : gamma[c->rows - 1] == 0 ? 0 : 2]++;
    }
}

/* In every region of every kind. */
Test(primal, direction_undoes_the_gradient_as_differences_of_it_tell) {
    static const int there[SIM_CONSTRAINT_KINDS] = {[SIM_CONTACT] = 7,  [SIM_LIMIT] = 3,  [SIM_FRICTION] = 6,
                                                    [SIM_EQUALITY] = 2, [SIM_SPRING] = 2, [SIM_ACTUATOR] = 6};
    int seen[SIM_CONSTRAINT_KINDS][3] = {{0}};
    random_source r = {2};
    for (int trial = 0; trial < 20; trial++) {
        midst m;
        begin(&m, &r);
        int n = m.problem->nv;
        double direction[64], gradient[64], ends[2][64], error = 0, h = 1e-7;
        cr_assert_eq(primal_direction(&m.primal), HESSIAN_FACTORED);
        memcpy(direction, m.primal.dv, sizeof(double) * (size_t)n);
        memcpy(gradient, m.primal.at.gradient, sizeof(double) * (size_t)n);
        for (int k = 0; k < 2; k++) {
            look_at(&m, direction, k ? h : -h);
            memcpy(ends[k], m.primal.at.gradient, sizeof(double) * (size_t)n);
        }
        for (int j = 0; j < n; j++) {
            double difference = (ends[1][j] - ends[0][j]) / (2 * h);
            error = fmax(error, fabs(difference + gradient[j]));
        }
        cr_expect_lt(error, 1e-5 * sqrt(dot(n, gradient, gradient)), "%g", error);
        look_at(&m, direction, 0);
        count_regions(&m, seen);
        end(&m);
    }
    for (int kind = 0; kind < SIM_CONSTRAINT_KINDS; kind++) {
        for (int k = 0; k < 3; k++) {
            cr_expect(!(there[kind] >> k & 1) || seen[kind][k] > 0, "no %s in region %d",
                      sim_constraint_name((sim_constraint_kind)kind), k);
        }
    }
}

Test(primal, slope_and_curvature_along_a_line_equal_differences) {
    random_source r = {3};
    for (int trial = 0; trial < 20; trial++) {
        midst m;
        begin(&m, &r);
        cr_assert_eq(primal_direction(&m.primal), HESSIAN_FACTORED);
        cr_expect_float_eq(primal_slope(&m.primal, 0, NULL), dot(m.problem->nv, m.primal.at.gradient, m.primal.dv),
                           1e-13 * fabs(m.primal.slope0));
        for (int k = 0; k < 8; k++) {
            double alpha = 0.15 * (k + 0.5), h = 1e-6, second = 0;
            double slope = primal_slope(&m.primal, alpha, &second);
            double rise = (primal_rise(&m.primal, alpha + h) - primal_rise(&m.primal, alpha - h)) / (2 * h);
            double G = (primal_slope(&m.primal, alpha + h, NULL) - primal_slope(&m.primal, alpha - h, NULL)) / (2 * h);
            cr_expect_float_eq(rise, slope, 1e-7 * (fabs(m.primal.slope0) + m.primal.at.cost), "%g, not %g", rise,
                               slope);
            cr_expect_float_eq(G, second, 1e-5 * second + 1e-7 * fabs(m.primal.slope0), "%g, not %g", G, second);
        }
        end(&m);
    }
}

/* The slope at the minimum along a line, as the direction gets short: increments keep its digits. */
Test(primal, slope_keeps_its_digits_near_the_answer) {
    random_source r = {4};
    midst m;
    begin(&m, &r);
    m.primal.options.tolerance = 1e-10;
    cr_assert(!primal_minimise(&m.primal));
    memcpy(m.v0, m.a.v, (size_t)m.problem->nv * sizeof *m.v0);
    double nudge[64];
    for (int j = 0; j < m.problem->nv; j++) {
        nudge[j] = random_normal(&r);
    }
    for (int k = 4; k < 10; k++) {
        look_at(&m, nudge, pow(10, -k));
        cr_assert_eq(primal_direction(&m.primal), HESSIAN_FACTORED);
        /* the problem is quadratic here, so that alpha = 1 ends the descent */
        cr_expect_lt(fabs(primal_slope(&m.primal, 1, NULL)), 1e-3 * fabs(m.primal.slope0), "1e-%d: %g of %g", k,
                     primal_slope(&m.primal, 1, NULL), m.primal.slope0);
    }
    end(&m);
}

/* Other units of mass, length and time: kg, m and s times these. */
Test(primal, answer_is_the_same_in_other_units) {
    double mass[] = {1, 2, 0.3}, heavy[] = {1e6, 2e6, 0.3e6};
    sim_problem *p = box_stack(3, mass, 0.5, 0.01, 4), *q = box_stack(3, heavy, 0.5, 0.01, 4e6);
    answer a = answer_create(p, 1, 1e-3), b = answer_create(q, 1, 1e-3);
    answer_find(&a, "sap", exact);
    answer_find(&b, "sap", exact);
    cr_expect_eq(a.out.iterations, b.out.iterations);
    for (int j = 0; j < p->nv; j++) {
        cr_expect_float_eq(a.v[j], b.v[j], 1e-13);
    }
    for (int k = 0; k < p->nrow; k++) {
        cr_expect_float_eq(1e6 * a.impulse[k], b.impulse[k], 1e-6 * fabs(b.impulse[k]) + 1e-6);
    }
    answer_free(&a);
    answer_free(&b);
    sim_problem_free(p);
    sim_problem_free(q);
}

/* Values at v of the relaxed state, and those recomputed from its v. */
Test(primal, relaxation_of_bodies_lowers_the_cost_and_keeps_all_that_follows_from_v) {
    random_source r = {9};
    int lowered = 0;
    for (int trial = 0; trial < 20; trial++) {
        midst m;
        begin(&m, &r);
        double before = m.primal.at.cost, error[3] = {0}, size[3] = {0}, gradient[64], u[256], gamma[256];
        int n = m.problem->nv, rows = m.problem->nrow;
        cr_assert(n <= 64 && rows <= 256);
        primal_relax(&m.primal);
        memcpy(gradient, m.primal.at.gradient, (size_t)n * sizeof *gradient);
        memcpy(u, m.primal.at.u, (size_t)rows * sizeof *u);
        memcpy(gamma, m.primal.at.gamma, (size_t)rows * sizeof *gamma);
        primal_eval_at(&m.primal);
        for (int j = 0; j < n; j++) {
            error[0] = fmax(error[0], fabs(gradient[j] - m.primal.at.gradient[j]));
            size[0] = fmax(size[0], fabs(m.primal.change[j]) + fabs(m.primal.pushed[j]));
        }
        for (int k = 0; k < rows; k++) {
            error[1] = fmax(error[1], fabs(u[k] - m.primal.at.u[k]));
            size[1] = fmax(size[1], fabs(u[k]));
            error[2] = fmax(error[2], fabs(gamma[k] - m.primal.at.gamma[k]));
            size[2] = fmax(size[2], fabs(gamma[k]));
        }
        for (int k = 0; k < 3; k++) {
            cr_expect_leq(error[k], 1e-11 * size[k], "trial %d: %g of %g in vector %d", trial, error[k], size[k], k);
        }
        cr_expect_leq(m.primal.at.cost, before * (1 + 1e-13));
        lowered += m.primal.at.cost < 0.9 * before;
        end(&m);
    }
    cr_expect_geq(lowered, 15, "lowered by a tenth in %d of 20 trials", lowered);
}

/* ---- the exact search on l = (alpha - root)^2 / 2 ---- */

static double slope_of_parabola(void *root, double alpha, double *second) {
    *second = 1;
    return alpha - *(double *)root;
}

/* Newton's step from 1 is exact.  Where it leads beyond the longest step, that one is next, and the last. */
Test(line_search, takes_newtons_step_and_no_longer_one_than_it_may) {
    for (double root = 0.25; root < 4; root *= 2) {
        line l = {.self = &root, .slope = slope_of_parabola, .slope0 = -root};
        double alpha = line_exact(&l, 1.5, 1e-12);
        cr_expect_float_eq(alpha, fmin(root, 1.5), 1e-15, "%g for %g", alpha, root);
        cr_expect_eq(l.evaluations, root == 1 ? 1 : 2, "%d evaluations for %g", l.evaluations, root);
    }
}
