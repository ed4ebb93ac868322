/* CANAL's rounds without the cascade: the derivative, the merit, where they end, and what they share with the
 * others. */
#include "solver/newton/canal/canal_strict.h"
#include "solver/core/cone_strict.h"
#include "solver/newton/canal/canal_inner.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, ROUNDS, PENALTY, ACCELERATION, FACTORISATION, INNER, MOST_WORK, OPTIONS };
enum { CASCADED, DOGLEG, SEMISMOOTH, MIXED, INNERS };

static const problem_recipe mixed = {
    .bodies = 4, .chain = 7, .contacts = 8, .friction = 0.4, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.5};
static const problem_recipe hard = {
    .bodies = 6, .contacts = 24, .friction = 0.9, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 1};

/* One inner problem and the state of its solution. */
typedef struct midst {
    const sim_problem *problem;
    answer a;
    double *inverse_compliance, *constant;
    convex_law law;
    hessian *hessian;
    sim_arena *scratch;
    sim_solution out;
    primal primal;
    strict_newton strict;
} midst;

/* The law of `a` as it stands, from v*. */
static void begin(midst *m, const sim_problem *p, strict_method method) {
    size_t rows = (size_t)p->nrow;
    m->problem = p;
    m->inverse_compliance = calloc(rows, sizeof *m->inverse_compliance);
    m->constant = calloc(rows, sizeof *m->constant);
    for (size_t k = 0; k < rows; k++) {
        m->inverse_compliance[k] = 1 / m->a.R[k];
    }
    m->law = (convex_law){p, m->a.R, m->inverse_compliance, m->a.target, m->constant};
    m->hessian = hessian_create();
    m->scratch = arena_create();
    m->primal = (primal){.at = {.v = m->a.v, .gamma = m->a.impulse}};
    m->strict = (strict_newton){.noise = 1e-12};
    m->out = (sim_solution){.history = &m->a.history};
    m->a.history.count = 0;
    primal_options o = {1e-12, 200, 0, SPD_AUTO, HUGE_VAL, 0, 0, 0};
    cr_assert(hessian_prepare(m->hessian, p, SPD_AUTO));
    cr_assert(primal_begin(&m->primal, &m->law, m->hessian, &o, &m->out, m->scratch));
    cr_assert(strict_begin(&m->strict, &m->primal, method, m->scratch));
    m->primal.project = strict_project;
    memcpy(m->a.v, p->v_free, (size_t)p->nv * sizeof *m->a.v);
}

static void begin_near_rigid(midst *m, const sim_problem *p, double beta, strict_method method) {
    m->a = answer_create(p, beta, 1e-2);
    begin(m, p, method);
}

static void end(midst *m) {
    free(m->inverse_compliance);
    free(m->constant);
    hessian_free(m->hessian);
    arena_free(m->scratch);
    answer_free(&m->a);
}

static double apart(int count, const double *x, const double *y) {
    double most = 0, size = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k] - y[k]));
        size = fmax(size, fmax(fabs(x[k]), fabs(y[k])));
    }
    return most / size;
}

static int same_pieces(int count, const cone_hessian *a, const cone_hessian *b) {
    int same = 1;
    for (int i = 0; i < count; i++) {
        same &= a[i].sliding == b[i].sliding;
        for (int k = 0; k < SIM_MAX_ROWS && !a[i].sliding; k++) {
            same &= (a[i].weight[k] > 0) == (b[i].weight[k] > 0);
        }
    }
    return same;
}

/* D r in all unknowns at v + alpha D x. */
static void residual_along(midst *m, const double *v, double alpha, const double *x, double *r) {
    jacobian_move(&m->strict.J, v, alpha, x, m->a.v);
    primal_eval_at(&m->primal);
    jacobian_pack(&m->strict.J, m->primal.at.gradient, r);
}

/* All kinds of rows, free bodies and a chain, contacts that stick, slide and are open. */
Test(canal_strict, its_derivative_is_what_differences_of_the_residual_say) {
    random_source r = {1};
    int compared = 0, seen[3] = {0};
    for (int trial = 0; trial < 60; trial++) {
        problem_recipe recipe = mixed;
        recipe.friction = trial % 2 ? 0.4 : 2;
        sim_problem *p = random_problem(&r, &recipe);
        midst m;
        begin_near_rigid(&m, p, 1, STRICT_DOGLEG);
        int n = m.strict.J.n;
        double v[64], x[64], y[64], yt[64], ends[2][64], across = 0, along = 0, h = 1e-7;
        for (int j = 0; j < p->nv; j++) {
            v[j] = m.a.v[j] = p->v_free[j] + 0.3 * random_normal(&r);
        }
        primal_eval_at(&m.primal);
        jacobian_set(&m.strict.J, m.primal.at.G);
        cone_hessian G[64];
        memcpy(G, m.primal.at.G, (size_t)p->nconstraint * sizeof *G);
        for (int j = 0; j < n; j++) {
            x[j] = random_normal(&r);
        }
        jacobian_times(&m.strict.J, x, y);
        int same = 1;
        for (int end = 0; end < 2; end++) {
            residual_along(&m, v, end ? h : -h, x, ends[end]);
            same &= same_pieces(p->nconstraint, G, m.primal.at.G);
        }
        double size = 0;
        for (int j = 0; j < n; j++) {
            size = fmax(size, fabs(y[j]));
        }
        for (int j = 0; j < n && same; j++) {
            double slope = (ends[1][j] - ends[0][j]) / (2 * h);
            cr_assert_float_eq(slope, y[j], 1e-6 * size, "trial %d, %d: %g, not %g", trial, j, slope, y[j]);
        }
        jacobian_transposed(&m.strict.J, ends[0], yt);
        for (int j = 0; j < n; j++) {
            across += ends[0][j] * y[j];
            along += yt[j] * x[j];
        }
        cr_assert_float_eq(across, along, 1e-12 * (fabs(across) + size));
        for (int i = 0; i < p->nconstraint && same; i++) {
            seen[G[i].sliding ? 2 : G[i].weight[0] > 0] += p->constraint[i].kind == SIM_CONTACT;
        }
        compared += same;
        end(&m);
        sim_problem_free(p);
    }
    cr_expect_gt(compared, 40);
    for (int k = 0; k < 3; k++) {
        cr_expect_gt(seen[k], 20, "region %d: %d", k, seen[k]);
    }
}

Test(canal_strict, every_step_makes_the_merit_less) {
    random_source r = {2};
    int steps = 0;
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, trial % 2 ? &mixed : &hard);
        midst m;
        begin_near_rigid(&m, p, 1, trial / 2 % 2 ? STRICT_DOGLEG : STRICT_SEMISMOOTH);
        strict_minimise(&m.strict);
        const sim_history *h = &m.a.history;
        for (int k = 1; k < h->count; k++) {
            cr_assert_lt(h->cost[k], h->cost[k - 1], "trial %d, step %d", trial, k);
            steps++;
        }
        /* and what is handed out is the last of them */
        double merit = 0;
        primal_eval_at(&m.primal);
        for (int j = 0; j < m.strict.J.n; j++) {
            int at = m.strict.J.at[j];
            merit += 0.5 * pow(m.strict.J.D[j] * m.primal.at.gradient[at], 2);
        }
        cr_expect_float_eq(merit, h->cost[h->count - 1], 1e-9 * merit);
        end(&m);
        sim_problem_free(p);
    }
    cr_expect_gt(steps, 200);
}

/* The root obeys the strict law with this R, and nothing is claimed that is not so. */
Test(canal_strict, what_is_said_to_be_solved_obeys_the_strict_law_of_the_round) {
    random_source r = {3};
    int seen[2] = {0};
    for (int trial = 0; trial < 80; trial++) {
        sim_problem *p = random_problem(&r, trial % 2 ? &mixed : &hard);
        midst m;
        begin_near_rigid(&m, p, trial % 4 < 2 ? 1 : 0.1, trial / 4 % 2 ? STRICT_DOGLEG : STRICT_SEMISMOOTH);
        strict_minimise(&m.strict);
        int solved = m.out.outcome == SIM_SOLVED || m.out.outcome == SIM_AT_ROUNDING;
        sim_certificate c = certificate_of(p, &m.a.law, SIM_CONE_STRICT, m.a.v, m.a.impulse);
        cr_expect(!solved || (c.own <= 1e-9 && c.momentum <= 1e-11), "%s: own %g, momentum %g",
                  sim_outcome_name(m.out.outcome), c.own, c.momentum);
        cr_expect(solved || m.out.residual > 1e-12);
        seen[solved]++;
        end(&m);
        sim_problem_free(p);
    }
    cr_log_info("%d solved, %d not", seen[1], seen[0]);
    cr_expect_gt(seen[1], 40);
}

/* Where contacts stick r is linear: as soon as all do, one step is the last.  Else the digits double. */
Test(canal_strict, near_the_root_the_error_is_squared) {
    random_source r = {4};
    const double mass[] = {1, 1, 1, 1};
    for (int method = 0; method < 2; method++) {
        sim_problem *p = box_stack(4, mass, 0.6, 0.01, 0.5);
        midst m;
        begin_near_rigid(&m, p, 1, (strict_method)method);
        strict_minimise(&m.strict);
        const sim_history *h = &m.a.history;
        int last = h->count - 1;
        cr_assert_geq(last, 1);
        cr_expect(h->residual[last] < 1e-12 && h->residual[last - 1] > 1e-4, "%g, then %g", h->residual[last - 1],
                  h->residual[last]);
        for (int i = 0; i < p->nconstraint; i++) {
            cr_expect(!m.primal.at.G[i].sliding && m.primal.at.G[i].weight[2] > 0);
        }
        end(&m);
        sim_problem_free(p);
    }
    int seen = 0;
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, &mixed);
        midst m;
        begin_near_rigid(&m, p, 1, (strict_method)(trial % 2));
        strict_minimise(&m.strict);
        const sim_history *h = &m.a.history;
        for (int k = 1; k < h->count && m.out.outcome == SIM_SOLVED; k++) {
            double before = h->residual[k - 1], after = h->residual[k];
            if (before < 1e-5 && before > 1e-9) {
                cr_expect_leq(log10(fmax(after, 1e-13)), fmax(-13, 1.6 * log10(before)), "%g, then %g", before, after);
                seen++;
            }
        }
        end(&m);
        sim_problem_free(p);
    }
    cr_expect_gt(seen, 10, "%d", seen);
}

/* A problem in other units: of velocities, powers of two each, and of mass, a sixteenth (a power of four, so that
 * its root rounds nothing either). */
typedef struct other_units {
    sim_problem *made, problem;
    double A[512], J[4096], v[64];
    sim_constraint constraint[64];
} other_units;

static void change_units(other_units *o, const sim_problem *p, int seed) {
    double unit[64];
    sim_problem parts = *p;
    ptrdiff_t at = 0;
    for (int j = 0; j < p->nv; j++) {
        unit[j] = ldexp(1, (j * 7 + seed) % 9 - 4);
        o->v[j] = p->v_free[j] / unit[j];
    }
    for (int t = 0; t < p->ntree; t++) {
        const double *of = unit + p->tree[t].v0;
        int n = p->tree[t].nv;
        cr_assert_leq(at + n * n, 512);
        p->mass.matrix(p->mass.self, t, o->A + at);
        for (int i = 0; i < n * n; i++) {
            o->A[at + i] *= 16 * of[i / n] * of[i % n];
        }
        at += n * n;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int side = 0; side < 2 && c->tree[side] >= 0; side++) {
            int n = p->tree[c->tree[side]].nv;
            ptrdiff_t block = c->block[side];
            cr_assert_leq(block + c->rows * n, 4096);
            for (int k = 0; k < c->rows * n; k++) {
                o->J[block + k] = p->J[block + k] * unit[p->tree[c->tree[side]].v0 + k % n];
            }
        }
    }
    parts.J = o->J;
    parts.v_free = o->v;
    o->made = sim_problem_create(&parts, o->A, NULL);
    cr_assert_not_null(o->made);
    o->problem = *o->made;
    o->problem.constraint = o->constraint;
    for (int i = 0; i < p->nconstraint; i++) {
        o->constraint[i] = p->constraint[i];
        o->constraint[i].bound *= 16;
    }
}

/* The same steps, the same impulses to the last bit. */
Test(canal_strict, does_not_depend_on_the_units_of_velocities_and_masses) {
    random_source r = {5};
    for (int trial = 0; trial < 24; trial++) {
        sim_problem *p = random_problem(&r, trial % 2 ? &mixed : &hard);
        strict_method method = trial / 2 % 2 ? STRICT_DOGLEG : STRICT_SEMISMOOTH;
        other_units units;
        change_units(&units, p, trial);
        midst m, o;
        begin_near_rigid(&m, p, 1, method);
        o.a = answer_create(units.made, 1, 1e-2);
        for (int k = 0; k < p->nrow; k++) {
            o.a.R[k] = m.a.R[k] / 16;
            o.a.target[k] = m.a.target[k];
        }
        begin(&o, &units.problem, method);
        strict_minimise(&m.strict);
        strict_minimise(&o.strict);
        cr_expect_eq(m.out.iterations, o.out.iterations, "%d and %d", m.out.iterations, o.out.iterations);
        cr_expect_eq(m.out.outcome, o.out.outcome);
        for (int k = 0; k < p->nrow; k++) {
            cr_assert_eq(16 * m.a.impulse[k], o.a.impulse[k]);
        }
        end(&m);
        end(&o);
        sim_problem_free(units.made);
        sim_problem_free(p);
    }
}

/* Few contacts, little friction: there is one answer. */
Test(canal_strict, all_come_to_the_same_answer_where_there_is_one) {
    problem_recipe few = mixed;
    few.contacts = 5;
    few.friction = 0.2;
    random_source r = {6};
    for (int trial = 0; trial < 15; trial++) {
        sim_problem *p = random_problem(&r, &few);
        answer first = rigid_entry(p);
        for (int inner = 0; inner < INNERS; inner++) {
            answer a = rigid_entry(p);
            double option[OPTIONS] = {1e-11, 1e5, 1e3, 100, 1, 0, inner, 5e3};
            answer_find(&a, "canal", option);
            sim_certificate c = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse);
            cr_expect_eq(a.out.outcome, SIM_SOLVED, "trial %d, %d: %s", trial, inner, sim_outcome_name(a.out.outcome));
            cr_expect_leq(c.E, 1.1e-11, "trial %d, %d: E %g", trial, inner, c.E);
            cr_expect(inner == 0 || apart(p->nv, a.v, first.v) <= 1e-8, "trial %d, %d: %g apart", trial, inner,
                      apart(p->nv, a.v, first.v));
            if (inner == 0) {
                memcpy(first.v, a.v, (size_t)p->nv * sizeof *a.v);
            }
            answer_free(&a);
        }
        answer_free(&first);
        sim_problem_free(p);
    }
}

/* Without friction there is no shift, and both laws are one: what is left is the loop around, which all share. */
Test(canal_strict, without_friction_all_go_through_the_same_rounds) {
    problem_recipe smooth = mixed;
    smooth.friction = 0;
    random_source r = {7};
    for (int trial = 0; trial < 10; trial++) {
        sim_problem *p = random_problem(&r, &smooth);
        answer a[INNERS];
        for (int inner = 0; inner < INNERS; inner++) {
            a[inner] = rigid_entry(p);
            double option[OPTIONS] = {0, 1e4, 5, 100, trial % 2, 0, inner, 5e3};
            answer_find(&a[inner], "canal", option);
            cr_expect_eq(a[inner].out.failures, 0);
            cr_expect_eq(a[inner].history.count, 5);
            for (int k = 0; k < a[0].history.count; k++) {
                double of = a[0].history.residual[k];
                cr_expect_float_eq(a[inner].history.residual[k], of, 0.05 * of + 1e-10,
                                   "trial %d, round %d: %g, not %g", trial, k, a[inner].history.residual[k], of);
            }
        }
        for (int inner = 0; inner < INNERS; inner++) {
            answer_free(&a[inner]);
        }
        sim_problem_free(p);
    }
}

/* Large penalties and hard impacts are where the strict rounds get stuck and the convex ones do not. */
Test(canal_strict, rounds_that_fail_are_counted_and_nothing_is_called_solved_that_is_not) {
    random_source r = {8};
    int failures[INNERS] = {0}, solved[INNERS] = {0};
    for (int trial = 0; trial < part_of(6); trial++) {
        sim_problem *p = random_problem(&r, &hard);
        for (int inner = 0; inner < INNERS; inner++) {
            answer a = rigid_entry(p);
            double option[OPTIONS] = {1e-8, 1000, 10, 1e4, 0, 0, inner, 5e3};
            answer_find(&a, "canal", option);
            double own = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse).own;
            cr_expect(a.out.outcome == SIM_AT_LIMIT || own <= 1.001e-8, "%s with E %g", sim_outcome_name(a.out.outcome),
                      own);
            cr_expect_float_eq(a.out.residual, own, 1e-6 * own + 1e-14);
            cr_expect_leq(a.out.failures, a.history.count);
            failures[inner] += a.out.failures;
            solved[inner] += a.out.outcome == SIM_SOLVED;
            answer_free(&a);
        }
        sim_problem_free(p);
    }
    for (int inner = 0; inner < INNERS; inner++) {
        cr_log_info("%d: rounds that failed %d, solved %d", inner, failures[inner], solved[inner]);
    }
    cr_expect_eq(failures[CASCADED], 0);
    cr_expect_eq(failures[MIXED], 0);
    cr_expect(failures[DOGLEG] > 0 || is_part());
    cr_expect(failures[SEMISMOOTH] > 0 || is_part());
}

static bool at_once(void *context) {
    (void)context;
    return true;
}

/* A round that is to tell whether a guess is any good: no more steps than it was given, and the caller has to judge it.
 * Others that get stuck are told as such, or cascaded. */
Test(canal_strict, a_trial_is_not_helped_on_where_it_gets_stuck) {
    enum { STEPS = 4 };
    random_source r = {9};
    int stuck[2] = {0};
    for (int trial = 0; trial < 40; trial++) {
        sim_problem *p = random_problem(&r, &hard);
        double *shift = calloc((size_t)p->nconstraint, sizeof *shift);
        for (int way = 0; way < 2; way++) {
            midst m;
            canal_inner n = {.way = INNER_MIXED, .max_steps = 1000};
            begin_near_rigid(&m, p, 0.1, STRICT_DOGLEG);
            cr_assert(inner_begin(&n, &m.primal, m.scratch));
            m.primal.options.max_iterations = STEPS;
            n.trial = way;
            cr_assert(!inner_solve(&n, m.a.target, shift, 1e-12));
            stuck[way] += n.stuck;
            cr_expect(!n.trial || (n.strictly && n.pause == 0 && m.out.iterations <= STEPS), "%d steps",
                      m.out.iterations);
            end(&m);
        }
        free(shift);
        sim_problem_free(p);
    }
    cr_expect(stuck[0] > 20 && stuck[1] == 0, "%d, %d", stuck[0], stuck[1]);
}

Test(canal_strict, stops_when_it_is_told_to) {
    random_source r = {9};
    for (int inner = DOGLEG; inner < INNERS; inner++) {
        sim_problem *p = random_problem(&r, &hard);
        answer a = rigid_entry(p);
        for (int most = 0; most < 3; most++) {
            double option[OPTIONS] = {1e-12, most ? most : 100, 100, 100, 1, 0, inner, 5e3};
            sim_solver *s = sim_solver_create(sim_solver_find("canal"), option, NULL);
            a.out = (sim_solution){.v = a.v, .impulse = a.impulse, .stop = most ? NULL : at_once};
            cr_assert_eq(sim_solver_solve(s, p, &a.law, &a.out, NULL), SIM_OK);
            cr_expect_eq(a.out.outcome, SIM_AT_LIMIT);
            cr_expect_eq(a.out.iterations, most);
            sim_solver_free(s);
        }
        answer_free(&a);
        sim_problem_free(p);
    }
}
