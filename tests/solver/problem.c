/* The contact problem itself: what is refused, and what the laws make of it. */
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>

Test(problem, of_a_resting_point_is_regularised_as_the_paper_says) {
    double down[3] = {0, 0, -0.0981}, R[3], target[3], dt = 0.01, mass = 2, gap = -1e-4;
    sim_problem *p = point_on_ground(mass, 0.5, gap, dt, down);
    sim_law_options o = sim_law_options_default();
    double W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass}, w = 1 / (sqrt(3) * mass);
    sim_regularise(p, SIM_NEAR_RIGID, &o, W, R, target);
    cr_assert_float_eq(R[2], w / (4 * M_PI * M_PI), 1e-15);
    cr_assert_float_eq(R[0], 1e-3 * w, 1e-15);
    cr_assert_float_eq(target[2], -gap / (2 * dt), 1e-15);
    sim_regularise(p, SIM_RIGID, &o, NULL, R, target);
    cr_assert_eq(R[2], 0);
    cr_assert_float_eq(target[2], 0.2 * 1e-4 / dt, 1e-15);
    sim_problem_free(p);
}

/* m is carried: beta dt is the period of m on the contact's spring, k = 1 / (dt (dt + tau) R), if it were the contact's
 * own inverse mass that is 1/m.  The mean over the contacts of two bodies counts. */
Test(problem, of_a_contact_that_carries_a_load_is_regularised_for_the_load) {
    double down[3] = {0, 0, -0.0981}, still[3] = {0}, dt = 0.01, mass = 2, carries = 100, R[3], target[3];
    double gave[3] = {0.3, 0, carries * 0.0981}, w = 1 / (sqrt(3) * mass);
    double W[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass};
    sim_problem *owned = point_on_ground(mass, 0.5, 0, dt, down), p = *owned;
    p.v_start = still;
    p.impulse_guess = gave;
    const struct { double carried, stiffer; } of[] = {{1, 1}, {10, 10}, {1e9, carries * w}};
    for (int k = 0; k < 3; k++) {
        sim_law_options o = sim_law_options_default();
        o.carried = of[k].carried;
        sim_regularise(&p, SIM_NEAR_RIGID, &o, W, R, target);
        double due = w / (4 * M_PI * M_PI) / of[k].stiffer;
        cr_assert_float_eq(R[2], due, 1e-12 * due, "up to %g: %g, not %g", o.carried, R[2], due);
        cr_assert_float_eq(R[0] / R[2], 1e-3 * 4 * M_PI * M_PI, 1e-12);
    }
    gave[2] = 0.5 * 0.0981 / w; /* less than what it touches */
    sim_law_options o = sim_law_options_default();
    o.carried = 1e9;
    sim_regularise(&p, SIM_NEAR_RIGID, &o, W, R, target);
    cr_assert_float_eq(R[2], w / (4 * M_PI * M_PI), 1e-15);
    sim_problem_free(owned);
}

/* What a weld yields in metres must not hang on the unit of its radians, nor on how easily its bodies turn. */
Test(problem, of_a_weld_has_a_compliance_for_metres_and_one_for_radians) {
    sim_constraint weld = {.kind = SIM_EQUALITY, .rows = 6, .tree = {-1, -1}, .stiffness = INFINITY};
    const double dt = 0.01, gap[6] = {0}, inverse_mass = 0.5, inverse_inertia = 200;
    sim_problem p = {.step = dt, .nconstraint = 1, .nrow = 6, .constraint = &weld, .gap = gap};
    sim_law_options o = sim_law_options_default();
    double W[36] = {0}, R[6], target[6];
    for (int k = 0; k < 6; k++) {
        W[7 * k] = k < 3 ? inverse_mass : inverse_inertia;
    }
    sim_regularise(&p, SIM_NEAR_RIGID, &o, W, R, target);
    for (int k = 0; k < 6; k++) {
        double due = (k < 3 ? inverse_mass : inverse_inertia) / sqrt(3) / (4 * M_PI * M_PI);
        cr_assert_float_eq(R[k], due, 1e-12 * due, "row %d: %g, not %g", k, R[k], due);
    }
}

Test(problem, with_restitution_bounces_only_what_arrives_within_the_step) {
    double fast[3] = {0, 0, -2}, R[3], target[3];
    sim_law_options o = sim_law_options_default();
    for (int k = 0; k < 2; k++) {
        double gap = k ? 0.03 : 0.01;
        sim_problem *p = point_on_ground(1, 0, gap, 0.01, fast);
        sim_constraint c = p->constraint[0];
        c.restitution = 0.7;
        sim_problem with = *p;
        with.constraint = &c;
        with.v_start = fast;
        sim_regularise(&with, SIM_RIGID, &o, NULL, R, target);
        cr_assert_float_eq(target[2], k ? -gap / 0.01 : 1.4, 1e-14);
        sim_problem_free(p);
    }
}

Test(problem, that_does_not_fit_together_is_refused_with_the_reason) {
    random_source r = {3};
    problem_recipe recipe = {.bodies = 2, .contacts = 3, .friction = 0.5, .impact = 1};
    sim_problem *p = random_problem(&r, &recipe);
    double A[72] = {0};
    sim_error error = {0};
    cr_assert_null(sim_problem_create(p, A, &error));
    cr_assert(strstr(error.text, "positive definite"), "%s", error.text);
    sim_problem bad = *p;
    bad.nrow--;
    cr_assert_null(sim_problem_create(&bad, A, &error));
    cr_assert(strstr(error.text, "do not fit"), "%s", error.text);
    sim_constraint c[3] = {p->constraint[0], p->constraint[1], p->constraint[2]};
    c[1].friction = -1;
    bad = *p;
    bad.constraint = c;
    cr_assert_null(sim_problem_create(&bad, A, &error));
    cr_assert(strstr(error.text, "out of its range"), "%s", error.text);
    sim_problem_free(p);
}
