/* The strict law as a function of velocity: what it obeys, its derivative, and how it hangs together with the convex
 * one. */
#include "solver/core/cone_strict.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROWS = 3 };
enum { OPEN, STICK, SLIDE };

typedef double project(const convex_law *law, int i, const double *u, double *gamma, cone_hessian *bend);
static project *const laws[] = {convex_project, strict_project};
static const char *const name_of[] = {"convex", "strict"};

typedef struct law_of_one {
    sim_constraint constraint;
    sim_problem problem;
    double R[ROWS], yield[ROWS], target[ROWS], constant[ROWS];
    convex_law law;
} law_of_one;

/* R_t / R_n over four decades. */
static void make(law_of_one *l, random_source *r, sim_constraint_kind kind, double mu) {
    int rows = kind == SIM_CONTACT || kind == SIM_EQUALITY ? 3 : 1;
    double Rn = pow(10, random_uniform(r, -3, 1)), Rt = Rn * pow(10, random_uniform(r, -3, 1));
    *l = (law_of_one){.constraint = {.kind = kind, .rows = rows, .tree = {-1, -1}, .friction = mu}};
    l->constraint.bound = 100 * random_uniform(r, 0.1, 1);
    l->problem = (sim_problem){.step = 0.01, .nconstraint = 1, .nrow = rows, .constraint = &l->constraint};
    for (int k = 0; k < ROWS; k++) {
        l->R[k] = k == 2 ? Rn : Rt;
        l->yield[k] = 1 / l->R[k];
        l->target[k] = k == 2 || kind != SIM_CONTACT ? random_normal(r) : 0;
    }
    l->law = (convex_law){&l->problem, l->R, l->yield, l->target, l->constant};
}

/* u with this y. */
static void velocity_at(const law_of_one *l, const double *y, double *u) {
    for (int k = 0; k < l->constraint.rows; k++) {
        u[k] = l->target[k] - l->R[k] * y[k];
    }
}

/* -d gamma / d y of what `bend` says, scaled so that it is of order one: G R. */
static void matrix_of(const law_of_one *l, int strict, const cone_hessian *b, double *G) {
    const double mu = l->constraint.friction, t[2] = {b->t[0], b->t[1]};
    int n = l->constraint.rows;
    double a[3] = {mu * t[0], mu * t[1], 1}, across[3] = {-t[1], t[0], 0}, normal[3] = {0, 0, 1};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = i == j ? b->weight[i] : 0;
            if (b->sliding) {
                sum = b->weight[0] * a[i] * (strict ? normal : a)[j] + b->weight[1] * across[i] * across[j];
            }
            G[n * i + j] = sum * l->R[j];
        }
    }
}

static int region(const cone_hessian *b) { return b->sliding ? SLIDE : b->weight[2] > 0 ? STICK : OPEN; }

/* By differences of half a width h in y, where they stay on the piece of `y`; their number. */
static int compare(const law_of_one *l, int strict, const double *y, double h, const char *where) {
    int n = l->constraint.rows, compared = 0;
    double u[ROWS], gamma[2][ROWS], G[9];
    cone_hessian bend, there[2];
    velocity_at(l, y, u);
    laws[strict](&l->law, 0, u, gamma[0], &bend);
    matrix_of(l, strict, &bend, G);
    for (int j = 0; j < n; j++) {
        int same = 1;
        for (int end = 0; end < 2; end++) {
            double at[ROWS];
            memcpy(at, y, sizeof at);
            at[j] += end ? h : -h;
            velocity_at(l, at, u);
            laws[strict](&l->law, 0, u, gamma[end], &there[end]);
            for (int k = 0; k < n; k++) {
                same &= there[end].sliding == bend.sliding && (there[end].weight[k] > 0) == (bend.weight[k] > 0);
            }
        }
        for (int i = 0; i < n && same; i++) {
            double slope = (gamma[1][i] - gamma[0][i]) / (2 * h), size = 1 + l->R[j] / l->R[i];
            cr_assert_float_eq(slope, G[n * i + j], 1e-5 * size, "%s %s, %s: d gamma_%d / d y_%d is %g, not %g",
                               name_of[strict], sim_constraint_name(l->constraint.kind), where, i, j, slope,
                               G[n * i + j]);
        }
        compared += same;
    }
    return compared;
}

static void random_y(random_source *r, double *y) {
    for (int k = 0; k < ROWS; k++) {
        y[k] = random_normal(r);
    }
}

Test(strict_law, is_that_of_signorini_and_coulomb) {
    random_source r = {1};
    int seen[3] = {0};
    for (int trial = 0; trial < 5000; trial++) {
        law_of_one l;
        double y[ROWS], u[ROWS], g[ROWS], s[ROWS];
        cone_hessian bend;
        make(&l, &r, SIM_CONTACT, trial % 10 ? random_uniform(&r, 0.05, 2) : 0);
        random_y(&r, y);
        velocity_at(&l, y, u);
        strict_project(&l.law, 0, u, g, &bend);
        for (int k = 0; k < 3; k++) {
            s[k] = u[k] - l.target[k] + l.R[k] * g[k];
        }
        double mu = l.constraint.friction, slip = hypot(s[0], s[1]), push = hypot(g[0], g[1]), tiny = 1e-14;
        double size = fabs(u[0]) + fabs(u[1]) + fabs(u[2]) + fabs(l.target[2]);
        cr_assert_geq(g[2], 0);
        cr_assert_geq(s[2], -tiny * size);
        cr_assert_leq(fmin(g[2] * l.R[2], s[2]), tiny * size);
        cr_assert_leq(push, mu * g[2] * (1 + tiny));
        /* work of friction: the most that the disc allows */
        cr_assert_float_eq(g[0] * s[0] + g[1] * s[1], -mu * g[2] * slip, tiny * size * (1 + mu) * g[2] + tiny * tiny);
        seen[region(&bend)]++;
    }
    for (int k = 0; k < 3; k++) {
        cr_expect_gt(seen[k], 500, "region %d: %d", k, seen[k]);
    }
}

/* Both say the same where the normal velocity is raised by mu |s_t| for the convex one (Lee et al. 2024, eq. 20). */
Test(strict_law, is_the_convex_one_with_the_normal_shifted_by_the_slip) {
    random_source r = {2};
    for (int trial = 0; trial < 2000; trial++) {
        law_of_one l;
        double y[ROWS], u[ROWS], g[ROWS], other[ROWS];
        cone_hessian bend;
        make(&l, &r, SIM_CONTACT, random_uniform(&r, 0.05, 2));
        random_y(&r, y);
        velocity_at(&l, y, u);
        strict_project(&l.law, 0, u, g, &bend);
        l.target[2] -= l.constraint.friction * hypot(u[0] + l.R[0] * g[0], u[1] + l.R[1] * g[1]);
        convex_project(&l.law, 0, u, other, &bend);
        double size = (1 + l.R[0] / l.R[2]) * (1 + l.R[2] / l.R[0]);
        for (int k = 0; k < 3; k++) {
            cr_assert_float_eq(g[k], other[k], 1e-14 * size * (1 + fabs(g[2])), "trial %d: %g, not %g", trial, other[k],
                               g[k]);
        }
    }
}

Test(strict_law, without_friction_and_of_other_rows_is_the_convex_one) {
    random_source r = {3};
    for (int trial = 0; trial < 600; trial++) {
        law_of_one l;
        double y[ROWS], u[ROWS], g[2][SIM_MAX_ROWS] = {{0}};
        cone_hessian bend[2];
        make(&l, &r, (sim_constraint_kind)(trial % SIM_CONSTRAINT_KINDS), 0);
        random_y(&r, y);
        velocity_at(&l, y, u);
        for (int strict = 0; strict < 2; strict++) {
            memset(&bend[strict], 0, sizeof *bend);
            laws[strict](&l.law, 0, u, g[strict], &bend[strict]);
        }
        cr_assert_arr_eq(g[0], g[1], sizeof g[0]);
        cr_assert_arr_eq(&bend[0], &bend[1], sizeof *bend);
    }
}

Test(laws, have_derivatives_that_differences_confirm_in_every_region) {
    random_source r = {4};
    int compared[2][3] = {{0}};
    for (int trial = 0; trial < 6000; trial++) {
        law_of_one l;
        double y[ROWS], u[ROWS], gamma[ROWS];
        cone_hessian bend;
        int strict = trial % 2;
        make(&l, &r, SIM_CONTACT, trial % 20 < 2 ? 0 : random_uniform(&r, 0.1, 1.5));
        random_y(&r, y);
        velocity_at(&l, y, u);
        laws[strict](&l.law, 0, u, gamma, &bend);
        if (!bend.sliding || hypot(y[0], y[1]) > 1e-2) {
            compared[strict][region(&bend)] += compare(&l, strict, y, 1e-6, "anywhere");
        }
    }
    for (int k = 0; k < 6; k++) {
        cr_expect_gt(compared[k / 3][k % 3], 500, "%s, region %d: %d", name_of[k / 3], k % 3, compared[k / 3][k % 3]);
    }
}

/* y_n at which a contact with |y_t| = 1 begins to slide, and at which it opens. */
static double edge_of(const law_of_one *l, int strict, int opens) {
    double mu = l->constraint.friction;
    return !opens ? 1 / mu : strict ? 0 : -mu * l->R[0] / l->R[2];
}

Test(laws, have_derivatives_that_differences_confirm_near_both_boundaries) {
    random_source r = {5};
    for (int trial = 0; trial < 8000; trial++) {
        law_of_one l;
        int strict = trial % 2, opens = trial / 2 % 2, above = trial / 4 % 2;
        make(&l, &r, SIM_CONTACT, random_uniform(&r, 0.1, 1.5));
        double angle = random_uniform(&r, 0, 2 * M_PI), edge = edge_of(&l, strict, opens);
        double far = (1 + fabs(edge)) * pow(10, random_uniform(&r, -4, -2)), u[ROWS], gamma[ROWS];
        double y[ROWS] = {cos(angle), sin(angle), edge + (above ? far : -far)};
        cone_hessian bend;
        velocity_at(&l, y, u);
        laws[strict](&l.law, 0, u, gamma, &bend);
        cr_assert_eq(region(&bend), above ? (opens ? SLIDE : STICK) : (opens ? OPEN : SLIDE));
        double h = 0.1 * far / (1 + fabs(edge));
        cr_assert_eq(compare(&l, strict, y, fmin(h, 1e-5), opens ? "near open" : "near stick"), 3);
    }
}

/* Of every kind but contacts both laws are one: within its bounds, beyond them, and near them on both sides. */
Test(laws, of_other_rows_have_derivatives_that_differences_confirm_near_their_bounds) {
    random_source r = {6};
    for (int trial = 0; trial < 5000; trial++) {
        law_of_one l;
        sim_constraint_kind kind = (sim_constraint_kind)(SIM_LIMIT + trial % (SIM_CONSTRAINT_KINDS - SIM_LIMIT));
        make(&l, &r, kind, 0);
        int bounded = kind == SIM_FRICTION || kind == SIM_ACTUATOR, near = kind == SIM_LIMIT || bounded;
        double bound = bounded ? l.problem.step * l.constraint.bound : 0, y[ROWS] = {0};
        random_y(&r, y);
        double far = pow(10, random_uniform(&r, -4, -2)) * (trial % 2 ? 1 : -1);
        y[0] = near ? (trial / 5 % 2 ? bound : -bound) + far : y[0];
        cr_assert_eq(compare(&l, 1, y, 0.1 * fabs(far), near ? "near its bound" : "anywhere"), l.constraint.rows);
    }
}

/* Where pieces meet, what is taken for the derivative is that of one of them; along any way it is what one sees. */
Test(laws, have_the_derivative_of_one_side_where_their_regions_meet) {
    random_source r = {7};
    for (int trial = 0; trial < 4000; trial++) {
        law_of_one l;
        int strict = trial % 2, opens = trial / 2 % 2;
        make(&l, &r, SIM_CONTACT, random_uniform(&r, 0.1, 1.5));
        double edge = edge_of(&l, strict, opens), angle = random_uniform(&r, 0, 2 * M_PI);
        double G[3][9], worst[2] = {0}, size = 0;
        for (int side = 0; side < 3; side++) { /* below, above, at the boundary */
            double shift = side == 2 ? 0 : (side ? 1e-9 : -1e-9) * (1 + fabs(edge)), u[ROWS], gamma[ROWS];
            double y[ROWS] = {cos(angle), sin(angle), edge + shift};
            cone_hessian bend;
            velocity_at(&l, y, u);
            laws[strict](&l.law, 0, u, gamma, &bend);
            matrix_of(&l, strict, &bend, G[side]);
        }
        for (int k = 0; k < 9; k++) {
            size = fmax(size, fmax(fabs(G[0][k]), fabs(G[1][k])));
            for (int side = 0; side < 2; side++) {
                worst[side] = fmax(worst[side], fabs(G[2][k] - G[side][k]));
            }
        }
        cr_assert_leq(fmin(worst[0], worst[1]), 1e-7 * size);
    }
}

Test(strict_law, is_continuous_where_its_regions_meet) {
    random_source r = {8};
    for (int trial = 0; trial < 1000; trial++) {
        law_of_one l;
        make(&l, &r, SIM_CONTACT, random_uniform(&r, 0.1, 1.5));
        double edge = edge_of(&l, 1, trial % 2), angle = random_uniform(&r, 0, 2 * M_PI), gamma[2][ROWS], u[ROWS];
        for (int end = 0; end < 2; end++) {
            double y[ROWS] = {cos(angle), sin(angle), edge + (end ? 1e-9 : -1e-9)};
            cone_hessian bend;
            velocity_at(&l, y, u);
            strict_project(&l.law, 0, u, gamma[end], &bend);
        }
        for (int k = 0; k < 3; k++) {
            cr_assert_float_eq(gamma[0][k], gamma[1][k], 1e-8 * (1 + l.constraint.friction));
        }
    }
}

/* NaN stays NaN. */
Test(strict_law, hides_no_velocity_that_is_none) {
    random_source r = {9};
    for (int row = 0; row < 3; row++) {
        law_of_one l;
        double y[ROWS] = {1, 1, 1}, u[ROWS], gamma[ROWS];
        cone_hessian bend;
        make(&l, &r, SIM_CONTACT, 0.5);
        velocity_at(&l, y, u);
        u[row] = NAN;
        strict_project(&l.law, 0, u, gamma, &bend);
        cr_expect(isnan(gamma[0] + gamma[1] + gamma[2]));
    }
}
