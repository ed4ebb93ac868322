/* CANAL's guesses ahead: Newton's method on rounds, and what solves its systems. */
#include "solver/newton/canal/gmres.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { SIZE = 12, NONE = 0, NEWTON = 2 };

typedef struct dense {
    int n, products;
    double M[SIZE][SIZE];
} dense;

static sim_status product(void *self, const double *x, double *y) {
    dense *d = self;
    for (int i = 0; i < d->n; i++) {
        y[i] = 0;
        for (int j = 0; j < d->n; j++) {
            y[i] += d->M[i][j] * x[j];
        }
    }
    d->products++;
    return SIM_OK;
}

static double solve(dense *d, const double *b, double enough, double *x) {
    double basis[(GMRES_MAX_PRODUCTS + 1) * SIZE], y[SIZE], left = 0, size = 0;
    memcpy(basis, b, (size_t)d->n * sizeof *b);
    d->products = 0;
    cr_assert(!gmres_solve(d->n, product, d, enough, basis, x));
    int products = d->products;
    product(d, x, y);
    d->products = products;
    for (int k = 0; k < d->n; k++) {
        left += (b[k] - y[k]) * (b[k] - y[k]);
        size += b[k] * b[k];
    }
    return size > 0 ? sqrt(left / size) : sqrt(left);
}

static void fill(dense *d, random_source *r, int n, double *b) {
    d->n = n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            d->M[i][j] = random_normal(r);
        }
        b[i] = random_normal(r);
    }
}

Test(gmres, solves_systems_without_symmetry_in_as_many_products_as_they_have_unknowns) {
    random_source r = {1};
    for (int trial = 0; trial < 200; trial++) {
        dense d;
        double b[SIZE], x[SIZE];
        fill(&d, &r, 1 + trial % SIZE, b);
        double left = solve(&d, b, 1e-10, x);
        cr_expect_leq(left, 1e-9, "%d unknowns: %g", d.n, left);
        cr_expect_leq(d.products, d.n);
        left = solve(&d, b, 0.5, x);
        cr_expect_leq(left, 0.5 * (1 + 1e-12));
    }
}

/* M + 1 of rank one needs two products, whatever its size; nothing to solve none. */
Test(gmres, ends_when_the_space_is_exhausted) {
    random_source r = {2};
    for (int trial = 0; trial < 50; trial++) {
        dense d;
        double b[SIZE], x[SIZE], a[SIZE];
        fill(&d, &r, SIZE, b);
        for (int i = 0; i < SIZE; i++) {
            a[i] = random_normal(&r);
        }
        for (int i = 0; i < SIZE; i++) {
            for (int j = 0; j < SIZE; j++) {
                d.M[i][j] = (i == j) + a[i] * b[j];
            }
        }
        cr_expect_leq(solve(&d, b, 0, x), 1e-10);
        cr_expect_leq(d.products, 3);
    }
    dense d = {.n = 3};
    double none[3] = {0}, b[3] = {1, 2, 3}, x[3] = {1, 1, 1};
    cr_expect_eq(solve(&d, none, 0.1, x), 0);
    cr_expect_eq(d.products, 0);
    cr_expect_float_eq(solve(&d, b, 0.1, x), 1, 1e-15, "M = 0: nothing is better than 0");
    cr_expect(x[0] == 0 && x[1] == 0 && x[2] == 0);
}

/* Twice the same row: the part of b that can be had is had. */
Test(gmres, of_a_singular_system_leaves_no_more_than_cannot_be_undone) {
    random_source r = {3};
    for (int trial = 0; trial < 50; trial++) {
        dense d;
        double b[SIZE], x[SIZE];
        fill(&d, &r, SIZE, b);
        for (int i = 0; i < SIZE; i++) { /* symmetric with a null space: range and null space do not meet */
            for (int j = 0; j < i; j++) {
                d.M[i][j] = d.M[j][i];
            }
            d.M[i][SIZE - 1] = d.M[SIZE - 1][i] = 0;
        }
        b[SIZE - 1] = 0;
        cr_expect_leq(solve(&d, b, 1e-9, x), 1e-8);
    }
}

static const problem_recipe mixed = {
    .bodies = 4, .chain = 7, .contacts = 6, .friction = 0.4, .bias = 0.1, .kinds = 63, .impact = 1, .scatter = 0.5};

/* E round by round from impulses and velocities that are wrong by a part in 10^4. */
static int rounds_from_near(const sim_problem *made, const answer *exact, int acceleration, double *least) {
    sim_problem p = *made;
    double impulse[128], v[64];
    random_source r = {9};
    for (int k = 0; k < p.nrow; k++) {
        impulse[k] = exact->impulse[k] * (1 + 1e-4 * random_normal(&r));
    }
    for (int j = 0; j < p.nv; j++) {
        v[j] = exact->v[j] * (1 + 1e-4 * random_normal(&r));
    }
    p.impulse_guess = impulse;
    p.v_guess = v;
    answer a = rigid_entry(&p);
    answer_find(&a, "canal", (double[]){1e-11, 1e5, 1e4, 100, acceleration, 0, 0, 5e3});
    int rounds = a.history.count;
    *least = a.out.residual;
    answer_free(&a);
    return rounds;
}

/* B is the derivative of a round, with all kinds of rows open, sticking, sliding and at their bounds. So the error
 * falls as by Newton's steps: at least ten times a round, as GMRES leaves no more. */
Test(canal_newton, near_the_answer_each_round_makes_the_error_many_times_less) {
    random_source r = {4};
    int solved = 0, quick = 0, slow[2] = {0};
    for (int trial = 0; trial < 40; trial++) {
        problem_recipe recipe = mixed;
        recipe.friction = 0.1 + 0.15 * (trial % 6);
        sim_problem *p = random_problem(&r, &recipe);
        answer exact = rigid_entry(p);
        answer_find(&exact, "canal", (double[]){1e-13, 1e5, 1e4, 100, NEWTON, 0, 0, 5e3});
        if (exact.out.residual <= 1e-12) {
            double least;
            int rounds = rounds_from_near(p, &exact, NEWTON, &least);
            solved++;
            quick += rounds <= 10;
            slow[0] += rounds;
            slow[1] += rounds_from_near(p, &exact, NONE, &least);
        }
        answer_free(&exact);
        sim_problem_free(p);
    }
    cr_log_info("of %d quick %d; rounds %d, without guesses %d", solved, quick, slow[0], slow[1]);
    cr_expect_gt(solved, 30);
    cr_expect_geq(quick, solved * 9 / 10, "%d of %d", quick, solved);
    cr_expect_lt(2 * slow[0], slow[1]);
}

/* Friction of at most 0.3 and a row of contacts on each of its own bodies: one answer. */
Test(canal_newton, where_v_is_unique_it_is_that_of_gauss_seidel) {
    problem_recipe few = mixed;
    few.bodies = 6;
    few.contacts = 5;
    few.friction = 0.3;
    random_source r = {5};
    int compared = 0;
    for (int trial = 0; trial < 20; trial++) {
        sim_problem *p = random_problem(&r, &few);
        answer a = rigid_entry(p), b = rigid_entry(p);
        answer_find(&a, "canal", (double[]){1e-12, 1e5, 1e4, 100, NEWTON, 0, 0, 5e3});
        answer_find(&b, "pgs", (double[]){1e-12, 1e6, 1, 0, 0, 0, 1, 300});
        sim_certificate found = certificate_of(p, &a.law, SIM_CONE_STRICT, a.v, a.impulse);
        cr_expect_leq(found.own, 1e-10, "E %g", found.own);
        double most = 0, size = 0;
        for (int j = 0; j < p->nv; j++) {
            most = fmax(most, fabs(a.v[j] - b.v[j]));
            size = fmax(size, fabs(b.v[j]));
        }
        if (b.out.outcome == SIM_SOLVED) {
            cr_expect_leq(most, 1e-8 * size, "trial %d: %g of %g", trial, most, size);
            compared++;
        }
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(p);
    }
    cr_expect_gt(compared, 15, "%d", compared);
}

/* A block between two walls that overlap it, held by friction more than pushed out: no answer, and it is said soon. */
Test(canal_newton, what_is_jammed_ends_soon_and_at_its_limit) {
    static const double A[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, gap[6] = {0, 0, -1e-3, 0, 0, -1e-3};
    static const double fall[3] = {0, 0, -0.01}, still[3], guess[6];
    double lean = 0.17, c = cos(lean), s = sin(lean);
    /* rows t1, t2, n over (x, y, z): walls that lean outwards on both sides */
    const double J[18] = {0, 1, 0, s, 0, -c, c, 0, s, 0, 1, 0, s, 0, c, -c, 0, s};
    sim_problem_tree tree = {0, 3};
    sim_constraint contact[2];
    for (int k = 0; k < 2; k++) {
        contact[k] = (sim_constraint){.kind = SIM_CONTACT,
                                      .row = 3 * k,
                                      .rows = 3,
                                      .tree = {0, -1},
                                      .block = {9 * k},
                                      .body = {0, -1},
                                      .friction = 1,
                                      .stiffness = INFINITY};
    }
    sim_problem parts = {.step = 0.01,
                         .ntree = 1,
                         .nv = 3,
                         .nconstraint = 2,
                         .nrow = 6,
                         .tree = &tree,
                         .constraint = contact,
                         .gap = gap,
                         .J = J,
                         .v_free = fall,
                         .v_start = still,
                         .impulse_guess = guess};
    sim_error error = {0};
    sim_problem *p = sim_problem_create(&parts, A, &error);
    cr_assert_not_null(p, "%s", error.text);
    answer a = rigid_entry(p);
    answer_find(&a, "canal", NULL);
    cr_expect_eq(a.out.outcome, SIM_AT_LIMIT, "%s, E %g", sim_outcome_name(a.out.outcome), a.out.residual);
    cr_expect_leq(a.history.count, 120, "%d rounds", a.history.count);
    for (int k = 0; k < p->nrow; k++) {
        cr_expect(isfinite(a.impulse[k]));
    }
    answer_free(&a);
    sim_problem_free(p);
}
