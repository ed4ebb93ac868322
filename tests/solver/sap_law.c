/* The convex law as a function of velocity: the projection, its cost and its derivative. */
#include "solver/core/cone_convex.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROWS = 3 };

typedef struct law_of_one {
    sim_constraint constraint;
    sim_problem problem;
    double R[ROWS], yield[ROWS], target[ROWS], constant[ROWS];
    convex_law law;
} law_of_one;

static void make(law_of_one *l, random_source *r, sim_constraint_kind kind, double mu, double Rt, double Rn) {
    *l = (law_of_one){.constraint = {.kind = kind, .rows = kind == SIM_CONTACT ? 3 : 1, .tree = {-1, -1}}};
    l->constraint.friction = mu;
    l->constraint.bound = 100 * random_uniform(r, 0.1, 1);
    l->problem =
        (sim_problem){.step = 0.01, .nconstraint = 1, .nrow = l->constraint.rows, .constraint = &l->constraint};
    for (int k = 0; k < ROWS; k++) {
        l->R[k] = k == 2 ? Rn : Rt;
        l->yield[k] = 1 / l->R[k];
        l->target[k] = k == 2 || kind != SIM_CONTACT ? random_normal(r) : 0;
    }
    l->law = (convex_law){&l->problem, l->R, l->yield, l->target, l->constant};
}

/* R_t / R_n over four decades. */
static void make_contact(law_of_one *l, random_source *r, double mu) {
    double Rn = pow(10, random_uniform(r, -3, 1));
    make(l, r, SIM_CONTACT, mu, Rn * pow(10, random_uniform(r, -3, 1)), Rn);
}

/* u such that y is of order one in every direction. */
static void random_velocity(law_of_one *l, random_source *r, double *u) {
    for (int k = 0; k < l->constraint.rows; k++) {
        u[k] = l->target[k] - l->R[k] * random_normal(r);
    }
}

static void y_of(const law_of_one *l, const double *u, double *y) {
    for (int k = 0; k < l->constraint.rows; k++) {
        y[k] = (l->target[k] - u[k]) / l->R[k];
    }
}

/* Of cone_hessian the matrix. */
static void matrix_of(const law_of_one *l, const cone_hessian *b, double *G) {
    int n = l->constraint.rows;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double plus[ROWS] = {0}, minus[ROWS] = {0};
            plus[i] = 1;
            plus[j] += 1;
            minus[i] = 1;
            minus[j] -= 1;
            G[n * i + j] =
                0.25 * (convex_curvature(&l->constraint, b, plus) - convex_curvature(&l->constraint, b, minus));
        }
    }
}

static int region(const cone_hessian *b) { return b->sliding ? 2 : b->weight[2] > 0; }

Test(convex_law, gives_the_point_of_the_cone_that_is_nearest_in_the_norm_of_R) {
    random_source r = {1};
    int seen[3] = {0};
    for (int trial = 0; trial < 3000; trial++) {
        law_of_one l;
        double u[ROWS], y[ROWS], gamma[ROWS];
        cone_hessian bend;
        make_contact(&l, &r, trial % 10 ? random_uniform(&r, 0.05, 2) : 0);
        random_velocity(&l, &r, u);
        y_of(&l, u, y);
        convex_project(&l.law, 0, u, gamma, &bend);
        double mu = l.constraint.friction;
        seen[region(&bend)]++;
        cr_assert_leq(hypot(gamma[0], gamma[1]), mu * gamma[2] * (1 + 1e-15));
        /* (y - gamma)' R (z - gamma) <= 0 for all z in the cone */
        for (int k = 0; k < 30; k++) {
            double angle = random_uniform(&r, 0, 2 * M_PI), n = fabs(random_normal(&r)) * (k ? 1 : 0);
            double t = mu * n * (k % 2 ? 1 : random_uniform(&r, 0, 1));
            double z[ROWS] = {t * cos(angle), t * sin(angle), n}, sum = 0, size = 0;
            for (int j = mu == 0 ? 2 : 0; j < 3; j++) {
                sum += (y[j] - gamma[j]) * l.R[j] * (z[j] - gamma[j]);
                size += (fabs(y[j]) + fabs(gamma[j])) * l.R[j] * fabs(z[j] - gamma[j]);
            }
            cr_assert_leq(sum, 1e-15 * size, "trial %d: %g", trial, sum);
        }
    }
    for (int k = 0; k < 3; k++) {
        cr_expect_gt(seen[k], 300, "region %d: %d", k, seen[k]);
    }
}

Test(convex_law, has_an_impulse_that_is_the_slope_of_its_cost) {
    random_source r = {2};
    for (int kind = 0; kind < SIM_CONSTRAINT_KINDS; kind++) {
        for (int trial = 0; trial < 500; trial++) {
            law_of_one l;
            make(&l, &r, (sim_constraint_kind)kind, 0.7, kind ? 1 : 0.1, 1);
            double u[ROWS], gamma[ROWS], other[ROWS], direction[ROWS];
            cone_hessian bend;
            random_velocity(&l, &r, u);
            convex_project(&l.law, 0, u, gamma, &bend);
            double h = 1e-6, cost[2], slope = 0;
            for (int k = 0; k < l.constraint.rows; k++) {
                direction[k] = random_normal(&r);
                slope -= gamma[k] * direction[k];
            }
            for (int end = 0; end < 2; end++) {
                double at[ROWS];
                for (int k = 0; k < l.constraint.rows; k++) {
                    at[k] = u[k] + (end ? h : -h) * direction[k];
                }
                cost[end] = convex_project(&l.law, 0, at, other, &bend);
            }
            cr_assert_float_eq((cost[1] - cost[0]) / (2 * h), slope, 1e-7 * (1 + fabs(slope) + cost[0]),
                               "kind %d: %g, not %g", kind, (cost[1] - cost[0]) / (2 * h), slope);
        }
    }
}

Test(convex_law, has_a_derivative_that_differences_confirm_in_every_region) {
    random_source r = {3};
    int compared[3] = {0};
    for (int trial = 0; trial < 4000; trial++) {
        law_of_one l;
        double u[ROWS], gamma[ROWS], G[9];
        cone_hessian bend, there;
        make_contact(&l, &r, trial % 10 ? random_uniform(&r, 0.1, 1.5) : 0);
        random_velocity(&l, &r, u);
        convex_project(&l.law, 0, u, gamma, &bend);
        matrix_of(&l, &bend, G);
        for (int j = 0; j < 3; j++) {
            double h = 1e-6 * l.R[j], gammas[2][ROWS];
            int inside = 1;
            for (int end = 0; end < 2; end++) {
                double at[ROWS] = {u[0], u[1], u[2]};
                at[j] += end ? h : -h;
                convex_project(&l.law, 0, at, gammas[end], &there);
                inside &= region(&there) == region(&bend);
            }
            compared[region(&bend)] += inside;
            for (int i = 0; i < 3 && inside; i++) {
                double difference = (gammas[0][i] - gammas[1][i]) / (2 * h);
                cr_assert_float_eq(difference, G[3 * i + j], 1e-6 / sqrt(l.R[i] * l.R[j]) + 1e-8 / l.R[j],
                                   "trial %d, %d %d: %g, not %g", trial, i, j, difference, G[3 * i + j]);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        cr_expect_gt(compared[k], 1000);
    }
}

/* Limits on and off, friction and actuators within and at both bounds, equalities and springs anywhere. */
Test(convex_law, of_other_rows_has_a_derivative_that_differences_confirm_within_and_beyond_their_bounds) {
    random_source r = {7};
    for (int kind = SIM_LIMIT; kind < SIM_CONSTRAINT_KINDS; kind++) {
        int seen[3] = {0}, bounded = kind == SIM_FRICTION || kind == SIM_ACTUATOR;
        for (int trial = 0; trial < 600; trial++) {
            law_of_one l;
            double u[ROWS], gamma[ROWS], G[9], R = pow(10, random_uniform(&r, -3, 1));
            cone_hessian bend, there;
            make(&l, &r, (sim_constraint_kind)kind, 0, R, R);
            l.constraint.rows = l.problem.nrow = kind == SIM_EQUALITY ? 3 : 1;
            random_velocity(&l, &r, u);
            convex_project(&l.law, 0, u, gamma, &bend);
            matrix_of(&l, &bend, G);
            int n = l.constraint.rows, side = gamma[0] == 0 ? 0 : bend.weight[0] > 0 ? 1 : 2;
            for (int j = 0; j < n; j++) {
                double h = 1e-6 * R, gammas[2][ROWS], weight[2];
                for (int end = 0; end < 2; end++) {
                    double at[ROWS] = {u[0], u[1], u[2]};
                    at[j] += end ? h : -h;
                    convex_project(&l.law, 0, at, gammas[end], &there);
                    weight[end] = there.weight[j];
                }
                for (int i = 0; i < n && weight[0] == weight[1]; i++) {
                    double difference = (gammas[0][i] - gammas[1][i]) / (2 * h);
                    cr_assert_float_eq(difference, G[n * i + j], 1e-8 / R + 1e-9 / (R * R), "%s: %g, not %g",
                                       sim_constraint_name(l.constraint.kind), difference, G[n * i + j]);
                    seen[side]++;
                }
            }
        }
        cr_expect_eq(seen[0] > 100, kind == SIM_LIMIT, "%d", seen[0]);
        cr_expect_gt(seen[1], 100);
        cr_expect_eq(seen[2] > 100, bounded, "%d", seen[2]);
    }
}

static double worst_of(const double *x, const double *y, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k] - y[k]));
    }
    return most;
}

/* Where regions meet the derivative jumps: there it is one of the two, and along any way into a region that
 * region's. */
Test(convex_law, has_the_derivative_of_one_side_where_its_regions_meet) {
    random_source r = {8};
    for (int trial = 0; trial < 1000; trial++) {
        law_of_one l;
        make_contact(&l, &r, random_uniform(&r, 0.1, 1.5));
        memset(l.target, 0, sizeof l.target);
        double mu = l.constraint.friction, mh = mu * l.R[0] / l.R[2], angle = random_uniform(&r, 0, 2 * M_PI);
        for (int boundary = 0; boundary < 2; boundary++) {
            double n = boundary ? -mh : 1 / mu, y[ROWS] = {cos(angle), sin(angle), n}, at[ROWS], here[ROWS], G[3][9];
            cone_hessian bend;
            for (int side = 0; side < 3; side++) { /* at the boundary, below it, above it */
                for (int k = 0; k < 3; k++) {
                    at[k] = -l.R[k] * (y[k] + (k == 2) * (side == 1 ? -1e-9 : side == 2 ? 1e-9 : 0) * (1 + fabs(n)));
                }
                convex_project(&l.law, 0, at, here, &bend);
                matrix_of(&l, &bend, G[side]);
            }
            double scale = 1 / fmin(l.R[0], l.R[2]);
            cr_expect_lt(fmin(worst_of(G[0], G[1], 9), worst_of(G[0], G[2], 9)), 1e-7 * scale);
            for (int way = 0; way < 6; way++) {
                double h = 1e-7, into[ROWS], to[ROWS], found[ROWS];
                for (int k = 0; k < 3; k++) {
                    into[k] = random_normal(&r);
                    at[k] = -l.R[k] * y[k];
                    to[k] = -l.R[k] * (y[k] + h * into[k]);
                }
                convex_project(&l.law, 0, at, here, &bend);
                convex_project(&l.law, 0, to, found, &bend);
                /* d (edge - y_n) / d y along the way tells on which side it is */
                double radial = y[0] * into[0] + y[1] * into[1], rises = into[2] - (boundary ? -mh : 1 / mu) * radial;
                const double *of = G[rises > 0 ? 2 : 1];
                for (int i = 0; i < 3 && fabs(rises) > 1e-3; i++) {
                    double slope = 0, scale_of = 0;
                    for (int j = 0; j < 3; j++) {
                        slope += of[3 * i + j] * l.R[j] * into[j];
                        scale_of += fabs(of[3 * i + j] * l.R[j] * into[j]);
                    }
                    cr_assert_float_eq((found[i] - here[i]) / h, slope, 1e-5 * (1 + scale_of + mu + mh),
                                       "boundary %d: %g, not %g", boundary, (found[i] - here[i]) / h, slope);
                }
            }
        }
    }
}

Test(convex_law, is_continuous_where_its_regions_meet) {
    random_source r = {4};
    for (int trial = 0; trial < 1000; trial++) {
        law_of_one l;
        make_contact(&l, &r, random_uniform(&r, 0.1, 1.5));
        double mu = l.constraint.friction, mh = mu * l.R[0] / l.R[2], angle = random_uniform(&r, 0, 2 * M_PI);
        for (int boundary = 0; boundary < 2; boundary++) {
            double gammas[2][ROWS], cost[2];
            for (int end = 0; end < 2; end++) {
                double n = boundary ? -mh : 1 / mu, u[ROWS];
                n += (end ? 1 : -1) * 1e-9;
                double y[ROWS] = {cos(angle), sin(angle), n};
                cone_hessian bend;
                for (int k = 0; k < 3; k++) {
                    u[k] = l.target[k] - l.R[k] * y[k];
                }
                cost[end] = convex_project(&l.law, 0, u, gammas[end], &bend);
                cr_assert_eq(region(&bend), boundary ? (end ? 2 : 0) : (end ? 1 : 2));
            }
            for (int k = 0; k < 3; k++) {
                cr_assert_float_eq(gammas[0][k], gammas[1][k], 2e-8 * (1 + mu));
            }
            cr_assert_float_eq(cost[0], cost[1], 1e-7 * (cost[0] + cost[1]) + 1e-16);
        }
    }
}

Test(convex_law, of_scalar_rows_is_continuous_at_their_bounds) {
    static const sim_constraint_kind kinds[] = {SIM_LIMIT, SIM_FRICTION, SIM_ACTUATOR};
    random_source r = {6};
    for (int trial = 0; trial < 300; trial++) {
        law_of_one l;
        make(&l, &r, kinds[trial % 3], 0, pow(10, random_uniform(&r, -3, 1)), 1);
        double L = l.constraint.bound * l.problem.step, edge = l.constraint.kind == SIM_LIMIT ? 0 : L, gamma[2],
               cost[2];
        for (int end = 0; end < 2; end++) {
            cone_hessian bend;
            double u = l.target[0] - l.R[0] * (edge + (end ? 1 : -1) * 1e-9);
            cost[end] = convex_project(&l.law, 0, &u, &gamma[end], &bend);
        }
        cr_assert_float_eq(gamma[0], gamma[1], 3e-9);
        cr_assert_float_eq(cost[0], cost[1], 1e-8 * l.R[0]);
    }
}

Test(convex_law, increments_agree_with_differences_of_the_impulse) {
    random_source r = {5};
    for (int kind = 0; kind < SIM_CONSTRAINT_KINDS; kind++) {
        for (int trial = 0; trial < 500; trial++) {
            law_of_one l;
            make(&l, &r, (sim_constraint_kind)kind, 0.7, 1, 1);
            double u[ROWS], to[ROWS], du[ROWS], gamma[ROWS], gamma_to[ROWS], sum = 0;
            cone_hessian bend, bend_to;
            random_velocity(&l, &r, u);
            random_velocity(&l, &r, to);
            for (int k = 0; k < l.constraint.rows; k++) {
                du[k] = (to[k] - u[k]) / 0.7;
            }
            convex_project(&l.law, 0, u, gamma, &bend);
            convex_project(&l.law, 0, to, gamma_to, &bend_to);
            for (int k = 0; k < l.constraint.rows; k++) {
                sum += du[k] * (gamma_to[k] - gamma[k]);
            }
            double found = convex_increment(&l.constraint, &bend, &bend_to, 0.7, du, gamma, gamma_to);
            cr_assert_float_eq(found, sum, 1e-12 * (1 + fabs(sum)), "kind %d: %g, not %g", kind, found, sum);
        }
    }
}
