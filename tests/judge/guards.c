/* Does the judge speak in numbers where there is little to judge: no impulse, no motion, no friction, no mass? */
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>

static void expect_numbers(const sim_certificate *c) {
    const double figure[] = {c->E,         c->e_sic, c->e_vel,      c->e_imp, c->e_paper,     c->own,  c->momentum,
                             c->slackness, c->lee,   c->lee_scaled, c->cone,  c->penetration, c->slip, c->drive};
    for (size_t k = 0; k < sizeof figure / sizeof *figure; k++) {
        cr_assert(!isnan(figure[k]) && figure[k] >= 0, "figure %zu: %g", k, figure[k]);
    }
}

Test(judge_guards, nothing_at_rest_is_right) {
    double still[3] = {0, 0, 0};
    for (int k = 0; k < 2; k++) {
        sim_problem *p = point_on_ground(2, k, 0, 0.01, still);
        for (sim_cone cone = 0; cone < SIM_CONES; cone++) {
            sim_certificate c = certificate_of(p, NULL, cone, NULL, still);
            expect_numbers(&c);
            cr_assert(c.E == 0 && c.own == 0 && c.momentum == 0 && c.slackness == 0 && c.e_paper == 0 && c.worst == -1);
        }
        sim_problem_free(p);
    }
}

Test(judge_guards, no_constraints_leave_the_momentum_to_judge) {
    sim_problem_tree tree = {0, 1};
    double A = 2, v_free = 3, v = 4;
    sim_problem parts = {.step = 0.01, .ntree = 1, .nv = 1, .tree = &tree, .v_free = &v_free, .v_start = &v_free};
    sim_problem *p = sim_problem_create(&parts, &A, NULL);
    sim_certificate c = certificate_of(p, NULL, SIM_CONE_STRICT, &v, NULL);
    expect_numbers(&c);
    cr_assert_eq(c.E, 0);
    cr_assert_eq(c.worst, -1);
    cr_assert_float_eq(c.momentum, 1. / 4, 1e-15);
    sim_problem_free(p);
}

Test(judge_guards, a_zero_judgement_has_no_errors) {
    sim_judgement none = {0};
    sim_certificate c = sim_judgement_finish(&none);
    expect_numbers(&c);
    cr_assert(c.E == 0 && c.worst == -1 && !c.nonfinite);
}

Test(judge_guards, motion_whose_square_is_below_all_numbers_is_rest) {
    double creeps[3] = {1e-160, 0, 0}, still[3] = {0, 0, 0};
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, creeps);
    sim_certificate c = certificate_of(p, NULL, SIM_CONE_STRICT, still, still);
    expect_numbers(&c);
    cr_assert(c.momentum == 0 && c.E == 0 && c.own == 0, "%g, %g, %g", c.momentum, c.E, c.own);
    sim_problem_free(p);
}

Test(judge_guards, an_error_beside_nothing_at_all_is_infinite) {
    double still[3] = {0, 0, 0}, v[3] = {0, 0, 1}, g[3] = {0, 0, 1};
    sim_problem *p = point_on_ground(2, 0.5, 0, 0.01, still);
    sim_certificate c = judged(p, g);
    expect_numbers(&c);
    cr_assert_float_eq(c.e_imp, 1, 1e-15);
    cr_assert_float_eq(c.E, 1, 1e-15);
    cr_assert(isinf(c.e_paper));
    v[2] = 0;
    double falls[3] = {0, 0, -1};
    sim_problem *q = point_on_ground(2, 0.5, 1, 0.01, falls);
    c = certificate_of(q, NULL, SIM_CONE_STRICT, v, still);
    cr_assert(isinf(c.momentum) && c.E == 0);
    sim_problem_free(p);
    sim_problem_free(q);
}

/* Rounding leaves 1e-17 m/s of approach that no impulse answers: no error, though beside gamma = 0. */
Test(judge_guards, a_touch_within_rounding_needs_no_impulse) {
    double v[3] = {1, 0, -1e-17}, none[3] = {0, 0, 0}, some[3] = {0, 0, 3e-17};
    sim_problem *p = point_on_ground(2, 0, 0, 0.01, v);
    cr_assert_lt(judged(p, none).E, 1e-8);
    cr_assert_lt(judged(p, some).E, 1e-8);
    sim_problem_free(p);
}

/* A trunk of 12 kg that falls at 2 m/s with joints that carry 0.08 kg m of its motion, the last with dry friction. */
static sim_certificate fall(int joints, double turning, double impulse) {
    int n = joints + 1;
    double A[81] = {0}, J[9] = {0}, v_free[9] = {-2}, gap = 0;
    A[0] = 12;
    for (int k = 1; k < n; k++) {
        A[k] = A[k * n] = 0.08;
        A[k * n + k] = 0.006;
    }
    J[joints] = 1;
    v_free[joints] = turning;
    sim_problem_tree tree = {0, n};
    sim_constraint c = {.kind = SIM_FRICTION, .rows = 1, .tree = {0, -1}, .stiffness = INFINITY, .bound = 10};
    sim_problem parts = {.step = 0.01,
                         .ntree = 1,
                         .nv = n,
                         .nconstraint = 1,
                         .nrow = 1,
                         .tree = &tree,
                         .constraint = &c,
                         .gap = &gap,
                         .J = J,
                         .v_free = v_free,
                         .v_start = v_free};
    sim_problem *p = sim_problem_create(&parts, A, NULL);
    sim_certificate found = judged(p, &impulse);
    sim_problem_free(p);
    return found;
}

/* The momentum 0.16 N m s of the joint rounds at 1e-17: so does its velocity, over 0.006 kg m^2. */
Test(judge_guards, a_joint_at_rest_in_a_robot_that_falls_needs_no_impulse) {
    for (int joints = 1; joints < 9; joints += 7) {
        cr_expect_lt(fall(joints, 1e-16, 0).E, 1e-8);
        cr_expect_lt(fall(joints, 1e-16, 1e-18).E, 1e-8);
        cr_expect_float_eq(fall(joints, 1e-3, 0).e_vel, 1, 1e-12);
        cr_expect_gt(fall(joints, 1e-3, 1e-9).E, 0.9);
    }
}

/* Local problem of one contact. */
static sim_problem *local_contact(const double W[9], const double q[3], double friction) {
    static const int start[2] = {0, 1}, column[1] = {0};
    static const ptrdiff_t at[1] = {0};
    sim_delassus delassus = {start, column, at, W, 0};
    sim_constraint c = {.kind = SIM_CONTACT, .rows = 3, .tree = {-1, -1}, .stiffness = INFINITY, .friction = friction};
    double gap[3] = {0};
    sim_problem parts = {
        .step = 0.01, .nconstraint = 1, .nrow = 3, .constraint = &c, .gap = gap, .W = &delassus, .q = q};
    sim_error error = {0};
    sim_problem *p = sim_problem_create(&parts, NULL, &error);
    cr_assert_not_null(p, "%s", error.text);
    return p;
}

Test(judge_guards, what_nothing_moves_is_judged_by_what_is_left_of_its_law) {
    double W[9] = {0}, closing[3] = {0, 0, -2}, opening[3] = {0, 0, 2}, none[3] = {0}, pulls[3] = {0, 0, -1};
    sim_problem *p = local_contact(W, opening, 0.5), *q = local_contact(W, closing, 0.5);
    sim_certificate c = judged(p, none);
    expect_numbers(&c);
    cr_assert_eq(c.E, 0);
    c = judged(p, pulls);
    expect_numbers(&c);
    cr_assert_eq(c.e_imp, 1);
    c = judged(q, none);
    expect_numbers(&c);
    cr_assert_eq(c.e_vel, 1);
    sim_problem_free(p);
    sim_problem_free(q);
}

Test(judge_guards, an_unbounded_actuator_is_a_spring_even_where_nothing_moves) {
    static const int start[2] = {0, 1}, column[1] = {0};
    static const ptrdiff_t at[1] = {0};
    double W = 0, q = 1, gap = 0, g = 0;
    sim_delassus delassus = {start, column, at, &W, 1};
    sim_constraint c = {.kind = SIM_ACTUATOR, .rows = 1, .tree = {-1, -1}, .stiffness = 1e300, .bound = INFINITY};
    sim_problem parts = {
        .step = 1, .nconstraint = 1, .nrow = 1, .constraint = &c, .gap = &gap, .W = &delassus, .q = &q};
    sim_problem *p = sim_problem_create(&parts, NULL, NULL);
    sim_certificate found = judged(p, &g);
    expect_numbers(&found);
    sim_problem_free(p);
}

Test(judge_guards, without_friction_the_tangents_carry_nothing) {
    double v[3] = {3, 0, -1}, right[3] = {0, 0, 2}, wrong[3] = {1, 0, 2}, below[3] = {0, 0, -2};
    sim_problem *p = point_on_ground(2, 0, 0, 0.01, v);
    cr_assert_leq(judged(p, right).E, 1e-15);
    cr_assert_eq(judged(p, wrong).cone, 1);
    cr_assert_float_eq(judged(p, wrong).e_vel, 0.5 / 3.5, 1e-15);
    cr_assert_float_eq(judged(p, below).e_vel, 2 / sqrt(13), 1e-15);
    sim_problem_free(p);
}

Test(judge_guards, a_W_that_is_not_symmetric_is_taken_as_it_stands) {
    double W[9] = {1, 0.3, 0.1, -0.3, 1, 0.2, 0, 0, 2}, g[3] = {0.1, 0.2, 1}, q[3], none[3] = {0};
    for (int i = 0; i < 3; i++) {
        q[i] = -(W[3 * i] * g[0] + W[3 * i + 1] * g[1] + W[3 * i + 2] * g[2]);
    }
    sim_problem *p = local_contact(W, q, 0.5);
    sim_certificate c = judged(p, g);
    cr_assert_leq(c.E, 1e-15);
    cr_assert_eq(c.momentum, 0, "there is none to judge");
    c = judged(p, none);
    cr_assert_gt(c.e_vel, 0.1);
    sim_problem_free(p);
}

Test(judge_guards, no_answer_however_wild_gives_a_figure_that_is_no_number) {
    random_source r = {8};
    for (int k = 0; k < 500; k++) {
        problem_recipe recipe = {
            .bodies = 2, .chain = 8, .contacts = 4, .friction = k % 3 * 0.5, .impact = 1, .kinds = -1};
        sim_problem *p = random_problem(&r, &recipe);
        double g[32];
        for (int a = 0; a < p->nrow; a++) {
            g[a] = random_index(&r, 3) ? random_normal(&r) * exp(random_uniform(&r, -400, 400)) : 0;
        }
        for (sim_cone cone = 0; cone < SIM_CONES; cone++) {
            sim_certificate c = certificate_of(p, NULL, cone, NULL, g);
            expect_numbers(&c);
        }
        sim_problem_free(p);
    }
}
