/* IPM: the convex solution by a way that shares nothing with SAP but products and factor. */
#include "solver/interior_point/cone_scaling.h"
#include "support/answers.h"
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const option_setting exact[] = {{"tolerance", 3e-9}, {NULL, 0}};

/* A point inside the second-order cone, at times close to its boundary. */
static cone_point random_inside(random_source *r) {
    double size = pow(10, random_uniform(r, -3, 3)), angle = random_uniform(r, 0, 2 * M_PI);
    return (cone_point){{size * cos(angle), size * sin(angle)}, size * pow(10, random_uniform(r, -6, 2))};
}

static void plain_of(const cone_point *x, double y[3]) {
    y[0] = x->t[0];
    y[1] = x->t[1];
    y[2] = cone_point_normal(x);
}

Test(ipm, scaling_takes_both_points_of_a_cone_to_the_same) {
    random_source r = {1};
    for (int trial = 0; trial < 2000; trial++) {
        cone_point x = random_inside(&r), z = random_inside(&r);
        double plain_x[3], plain_z[3], y[3];
        plain_of(&x, plain_x);
        plain_of(&z, plain_z);
        cone_scaling s = cone_scaling_of(&x, &z);
        cone_unscale(&s, plain_z, y);
        double size = norm_of(s.lambda, 3), slack = 1e-13 * s.stretch * s.stretch;
        cr_assert_leq(distance_between(s.lambda, y, 3), slack * size, "trial %d: P x and P^-1 z", trial);
        cone_scale(&s, s.lambda, y);
        cr_assert_leq(distance_between(plain_z, y, 3), slack * norm_of(plain_z, 3), "trial %d: z = P^2 x", trial);
        cone_product(s.lambda, plain_x, y);
        cone_divide(s.lambda, y, y);
        double shape = s.lambda[2] / (s.lambda[2] - hypot(s.lambda[0], s.lambda[1]));
        cr_assert_leq(distance_between(plain_x, y, 3), 1e-14 * shape * shape * norm_of(plain_x, 3), "trial %d", trial);
    }
}

/* G (R + D P^2 D) = 1, column by column. */
Test(ipm, blocks_of_the_matrix_are_inverses) {
    random_source r = {5};
    for (int trial = 0; trial < 500; trial++) {
        cone_point x = random_inside(&r), z = random_inside(&r);
        cone_scaling s = cone_scaling_of(&x, &z);
        double mu = random_uniform(&r, 0.1, 2), R[3] = {0.3, 0.3, 0.7}, G[6];
        cone_scaling_block(&s, R, mu, G);
        const double full[3][3] = {{G[0], G[3], G[4]}, {G[3], G[1], G[5]}, {G[4], G[5], G[2]}}, D[3] = {1, 1, mu};
        for (int k = 0; k < 3; k++) {
            double y[3] = {0, 0, 0}, M[3];
            y[k] = D[k];
            cone_scale(&s, y, y);
            cone_scale(&s, y, y);
            for (int i = 0; i < 3; i++) {
                M[i] = D[i] * y[i] + (i == k ? R[i] : 0);
            }
            for (int i = 0; i < 3; i++) {
                double sum = full[i][0] * M[0] + full[i][1] * M[1] + full[i][2] * M[2];
                double size = fabs(full[i][0] * M[0]) + fabs(full[i][1] * M[1]) + fabs(full[i][2] * M[2]);
                cr_assert_float_eq(sum, i == k, 1e-12 * (1 + size), "trial %d: %g", trial, sum);
            }
        }
    }
}

Test(ipm, steps_end_on_the_boundary_of_the_cone) {
    random_source r = {2};
    int ends = 0;
    for (int trial = 0; trial < 2000; trial++) {
        cone_point x = random_inside(&r);
        double dx[3], size = cone_point_normal(&x);
        for (int k = 0; k < 3; k++) {
            dx[k] = size * random_normal(&r);
        }
        double length = cone_step_length(&x, dx), part = isinf(length) ? 1e6 : length;
        cone_point at = cone_point_moved(&x, dx, part), before = cone_point_moved(&x, dx, 0.999 * part);
        cr_assert(isinf(length) || fabs(at.over) <= 1e-9 * (size + cone_point_normal(&at)), "trial %d: %g", trial,
                  at.over);
        cr_assert_geq(before.over, 0, "trial %d", trial);
        cr_assert_float_eq(cone_point_normal(&at), size + part * dx[2], 1e-12 * (size + part * fabs(dx[2])));
        ends += !isinf(length);
    }
    cr_expect(ends > 500 && ends < 1999);
}

/* A step along the boundary: the distance to it has all its digits. */
Test(ipm, distances_to_the_boundary_keep_their_digits) {
    cone_point x = {{3, 4}, 1e-12};
    const double along[3] = {0.6e-3, 0.8e-3, 1e-3}, away[3] = {0, 0, 1e-20}, across[3] = {-0.8e-8, 0.6e-8, 0};
    cr_expect_float_eq(cone_point_moved(&x, along, 1).over, 1e-12, 2e-19);
    cr_expect_float_eq(cone_point_moved(&x, away, 1).over, 1e-12 + 1e-20, 1e-27);
    cr_expect_float_eq(cone_point_moved(&x, across, 1).over, 1e-12 - 1e-17, 1e-24);
    cone_point z = {{-0.3, -0.4}, 1e-14};
    cr_expect_float_eq(cone_point_product(&x, &z), 1e-12 * 0.5 + 1e-14 * 5, 1e-26);
}

/* sqrt(dv . A dv) of the difference of two velocities. */
static double energy_distance(const sim_problem *p, const double *v, const double *w) {
    double sum = 0, *d = calloc(2 * (size_t)p->nv, sizeof *d), *Ad = d + p->nv;
    for (int j = 0; j < p->nv; j++) {
        d[j] = v[j] - w[j];
    }
    for (int t = 0; t < p->ntree; t++) {
        p->mass.times(p->mass.self, t, d + p->tree[t].v0, Ad + p->tree[t].v0);
    }
    for (int j = 0; j < p->nv; j++) {
        sum += d[j] * Ad[j];
    }
    free(d);
    return sqrt(sum);
}

/* The convex problem has one minimum. */
Test(ipm, agrees_with_sap_on_random_problems_of_every_kind_of_row) {
    static const double friction[] = {0, 0.1, 0.5, 1, 2};
    random_source r = {3};
    double sap[32], ipm[32];
    options_with("sap", (option_setting[]){{"tolerance", 1e-13}, {NULL, 0}}, sap);
    options_with("ipm", exact, ipm);
    double worst = 0;
    int steps = 0, count = 0, stopped = 0;
    for (int trial = 0; trial < 150; trial++) {
        problem_recipe recipe = {.bodies = 1 + trial % 7,
                                 .contacts = 4 + trial % 11,
                                 .chain = trial % 3 ? 0 : 14,
                                 .friction = friction[trial % 5],
                                 .bias = 0.1,
                                 .kinds = trial % 2 ? (1 << SIM_CONSTRAINT_KINDS) - 1 : 0,
                                 .impact = 1,
                                 .scatter = 0.6};
        sim_problem *p = random_problem(&r, &recipe);
        answer a = answer_create(p, 1, 1e-3), b = answer_create(p, 1, 1e-3);
        answer_find(&a, "sap", sap);
        answer_find(&b, "ipm", ipm);
        double apart = energy_distance(p, a.v, b.v) / energy_distance(p, a.v, p->v_free);
        /* at rounding it may stop before: then it says how near, and that holds */
        bool early = b.out.outcome == SIM_AT_ROUNDING && apart > 1e-8;
        stopped += early;
        cr_expect_leq(apart, early ? b.out.residual : 1e-8, "trial %d: %g after %d steps, %s at %g", trial, apart,
                      b.out.iterations, sim_outcome_name(b.out.outcome), b.out.residual);
        cr_expect_leq(b.out.outcome, SIM_AT_ROUNDING, "trial %d: %s", trial, sim_outcome_name(b.out.outcome));
        worst = fmax(worst, apart);
        steps += b.out.iterations;
        count++;
        answer_free(&a);
        answer_free(&b);
        sim_problem_free(p);
    }
    cr_log_warn("%g apart at most, %g steps in the mean", worst, (double)steps / count);
    cr_expect_leq(stopped, 3, "%d of 150 stopped at rounding before 1e-8", stopped);
}

Test(ipm, takes_about_as_many_steps_whatever_the_stiffness) {
    random_source r = {4};
    double fewest = HUGE_VAL, most = 0;
    for (int decade = -6; decade <= 0; decade++) {
        double steps = 0;
        for (int trial = 0; trial < 20; trial++) {
            problem_recipe recipe = {
                .bodies = 5, .contacts = 14, .friction = 0.7, .bias = 0.1, .impact = 1, .scatter = 0.5};
            sim_problem *p = random_problem(&r, &recipe);
            answer a = answer_create(p, 1, pow(10, decade));
            answer_find(&a, "ipm", NULL);
            cr_expect_leq(a.out.outcome, SIM_AT_ROUNDING, "sigma 1e%d: %s at %g", decade,
                          sim_outcome_name(a.out.outcome), a.out.residual);
            steps += a.out.iterations / 20.0;
            answer_free(&a);
            sim_problem_free(p);
        }
        fewest = fmin(fewest, steps);
        most = fmax(most, steps);
    }
    cr_expect_leq(most, 2 * fewest, "%g to %g steps", fewest, most);
}
