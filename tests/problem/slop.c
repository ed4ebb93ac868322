/* The overlap that the rigid law leaves alone, and why: what friction locks cannot be pushed out. */
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/solver.h>
#include <stdlib.h>

static const double g = 9.81;

static double target_of(const sim_problem *p, int row, const sim_law_options *o) {
    double *R = malloc((size_t)p->nrow * sizeof *R), *target = malloc((size_t)p->nrow * sizeof *target);
    cr_assert(R && target);
    sim_regularise(p, SIM_RIGID, o, NULL, R, target);
    double out = target[row];
    free(R);
    free(target);
    return out;
}

/* A point that lies on the ground under gravity, in units that are so many metres, seconds and kilograms less. */
static double target_at(double gap, double restitution, double slop, double metre, double second) {
    sim_law_options o = sim_law_options_default();
    o.slop = slop;
    o.undo = INFINITY;
    o.threshold *= metre / second;
    double dt = 0.01 * second, speed = metre / second, still[3] = {0}, fast[3] = {0, 0, -2 * speed};
    double v[3] = {0, 0, (restitution > 0 ? fast[2] : 0) - 0.01 * g * speed};
    sim_problem *owned = point_on_ground(2, 0.5, gap * metre, dt, v), p = *owned;
    sim_constraint c = p.constraint[0];
    c.restitution = restitution;
    p.constraint = &c;
    p.v_start = restitution > 0 ? fast : still;
    double out = target_of(&p, 2, &o);
    sim_problem_free(owned);
    return out;
}

Test(slop, is_an_overlap_of_a_part_of_g_dt_squared_and_what_is_beyond_is_undone) {
    const double dt = 0.01, push = sim_law_options_default().push, part = sim_law_options_default().slop;
    const double slop = part * g * dt * dt;
    cr_assert_eq(target_at(-0.999 * slop, 0, part, 1, 1), 0);
    for (double beyond = 1e-9; beyond < 1; beyond *= 10) {
        double due = push * beyond / dt;
        cr_assert_float_eq(target_at(-slop - beyond, 0, part, 1, 1), due, 1e-13 + 1e-9 * due, "%g beyond", beyond);
        cr_assert_float_eq(target_at(-beyond, 0, 0, 1, 1), due, 1e-12 * due, "%g without", beyond);
        cr_assert_eq(target_at(beyond, 0, part, 1, 1), -beyond / dt, "gap %g", beyond);
    }
}

Test(slop, is_the_same_in_other_units) {
    for (int k = 0; k < 20; k++) {
        double gap = 4e-6 * (k - 18), metre = pow(10, k % 7 - 3), second = pow(10, k % 5 - 2);
        double here = target_at(gap, 0, 0.05, 1, 1), there = target_at(gap * 1, 0, 0.05, metre, second);
        cr_assert_float_eq(there * second / metre, here, 1e-12 * fabs(here) + 1e-16, "gap %g: %g, %g", gap, here,
                           there);
    }
}

Test(slop, leaves_bounces_as_they_were) {
    for (int k = -3; k < 3; k++) {
        cr_assert_float_eq(target_at(1e-5 * k, 0.7, 0.05, 1, 1), 1.4, 1e-15, "gap %g", 1e-5 * k);
    }
}

Test(slop, says_nothing_where_it_is_not_known_how_a_step_began) {
    double v[3] = {0, 0, -0.01 * g}, due = sim_law_options_default().push * 1e-6 / 0.01;
    sim_law_options o = sim_law_options_default();
    sim_problem *owned = point_on_ground(1, 0.5, -1e-6, 0.01, v), p = *owned;
    p.v_start = NULL;
    cr_assert_float_eq(target_of(&p, 2, &o), due, 1e-12 * due);
    sim_problem_free(owned);
}

/* Two that fall side by side part by nothing: each side counts, not their difference. */
Test(slop, is_the_same_between_boxes_as_on_the_ground) {
    const double mass[3] = {1, 10, 0.1}, dt = 0.005;
    sim_law_options o = sim_law_options_default();
    sim_problem *owned = box_stack(3, mass, 0.5, dt, 0), p = *owned;
    double still[18] = {0}, *gap = calloc((size_t)p.nrow, sizeof *gap);
    cr_assert(gap);
    p.v_start = still;
    p.gap = gap;
    for (int i = 0; i < p.nconstraint; i++) {
        int row = p.constraint[i].row + 2;
        gap[row] = -0.99 * o.slop * g * dt * dt;
        cr_assert_eq(target_of(&p, row, &o), 0, "contact %d", i);
        gap[row] *= 1.02;
        cr_assert_gt(target_of(&p, row, &o), 0, "contact %d", i);
    }
    free(gap);
    sim_problem_free(owned);
}

Test(slop, holds_for_ends_of_joints_and_not_for_the_near_rigid_law) {
    const double dt = 0.01, one = 1, gap = -1e-6, A = 1, still = 0, v = -dt * g;
    const sim_problem_tree tree = {0, 1};
    const sim_constraint end = {.kind = SIM_LIMIT, .rows = 1, .tree = {0, -1}, .stiffness = INFINITY};
    const sim_problem parts = {.step = dt,
                               .ntree = 1,
                               .nv = 1,
                               .nconstraint = 1,
                               .nrow = 1,
                               .tree = &tree,
                               .constraint = &end,
                               .gap = &gap,
                               .J = &one,
                               .v_free = &v,
                               .v_start = &still};
    sim_problem *p = sim_problem_create(&parts, &A, NULL);
    cr_assert(p);
    sim_law_options o = sim_law_options_default(), none = o;
    none.slop = 0;
    cr_assert_eq(target_of(p, 0, &o), 0);
    cr_assert_float_eq(target_of(p, 0, &none), 0.2 * 1e-6 / dt, 1e-16);
    double R[2], target[2], W = 1;
    sim_regularise(p, SIM_NEAR_RIGID, &o, &W, &R[0], &target[0]);
    sim_regularise(p, SIM_NEAR_RIGID, &none, &W, &R[1], &target[1]);
    cr_assert(R[0] == R[1] && target[0] == target[1]);
    sim_problem_free(p);
}

/* A point between two walls that lean apart by 10 degrees each, with friction 1 > tan 10: to rise by 1 it must slide
 * along both by 5.7.  Below the cone's edge it goes nowhere, so targets above zero have no answer. */
static sim_certificate stuck(double depth, double slop, sim_outcome *outcome) {
    const double dt = 0.002, c = cos(M_PI / 18), s = sin(M_PI / 18);
    const double J[18] = {s, 0, c, 0, 1, 0, -c, 0, s, -s, 0, c, 0, 1, 0, c, 0, s};
    const double still[3] = {0}, v[3] = {0, 0, -g * dt};
    sim_problem *p = point_at_walls(1, 1, J, -depth, dt, v, still);
    sim_error error = {0};
    sim_law_options o = sim_law_options_default();
    o.slop = slop;
    double R[6], target[6], answer[3], impulse[6];
    sim_regularise(p, SIM_RIGID, &o, NULL, R, target);
    const sim_regularisation law = {R, target};
    sim_solver *canal = sim_solver_create(sim_solver_find("canal"), NULL, &error);
    cr_assert(canal, "%s", error.text);
    sim_solution found = {.v = answer, .impulse = impulse};
    cr_assert_eq(sim_solver_solve(canal, p, &law, &found, &error), SIM_OK, "%s", error.text);
    *outcome = found.outcome;
    sim_certificate e = certificate_of(p, &law, SIM_CONE_STRICT, answer, impulse);
    sim_solver_free(canal);
    sim_problem_free(p);
    return e;
}

Test(slop, lets_a_body_that_friction_locks_have_an_answer) {
    const double part = sim_law_options_default().slop, depth = 0.9 * part * g * 4e-6;
    sim_outcome outcome;
    sim_certificate with = stuck(depth, part, &outcome);
    cr_assert_eq(outcome, SIM_SOLVED);
    cr_assert_lt(with.own, 1e-8, "%g", with.own);
    sim_certificate without = stuck(depth, 0, &outcome);
    cr_assert_neq(outcome, SIM_SOLVED);
    cr_assert_gt(without.own, 1e-8, "%g", without.own);
}
