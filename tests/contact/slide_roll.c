/* A ball thrown along the ground slides, then rolls (Mylapilli and Jain 2016, sec. 6.1, case 1).
 *
 * Sliding at v - omega r, friction mu m g slows v and turns the ball; v - omega r vanishes at t = 2 v0 / (7 mu g), when
 * v = 5/7 v0.  In each step the discrete law is v(k) = v0 - k dt mu g while it slides. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>

enum { STEPS = 600 };
static const double v0 = 2, mu = 0.2, g = 9.81, dt = 1e-3;

typedef struct run {
    double slip[STEPS + 1], v[STEPS + 1], omega[STEPS + 1], across[STEPS + 1], rolls_across[STEPS + 1];
    double sideways, off_cone, height;
} run;

static run slide_with(const char *solver, const double *option, sim_integrator integrator, double gap,
                      double tolerance) {
    run r = {0};
    yard y = yard_begin(v3_make(0, 0, -g), rough(mu));
    yard_ground(&y);
    yard_add(&y, "ball", SIM_SPHERE, 1, 0, 0, 1, v3_make(0, 0, 1 + gap), v3_make(v0, 0, 0));
    y.tolerance = tolerance;
    y.option = option;
    yard_open(&y, solver, integrator, dt);
    for (int k = 0; k <= STEPS; k++) {
        if (k) {
            yard_step(&y);
            v3 p = impulse_on(&y, "ball");
            double friction = hypot(p.x, p.y), over = friction - mu * p.z;
            r.off_cone = fmax(r.off_cone, k < 290 ? fabs(over) : over);
        }
        sim_motion m = motion_of(&y, "ball");
        r.v[k] = m.lin.x;
        r.omega[k] = m.ang.y;
        r.slip[k] = m.lin.x - m.ang.y;
        r.across[k] = m.lin.y;
        r.rolls_across[k] = m.ang.x;
        r.sideways = fmax(r.sideways, fmax(fabs(m.lin.y), fmax(fabs(m.ang.x), fabs(m.ang.z))));
        r.height = fmax(r.height, fabs(place_of(&y, "ball").z - 1 - gap));
    }
    yard_end(&y);
    return r;
}

static run slide(const char *solver, sim_integrator integrator, double gap, double tolerance) {
    return slide_with(solver, NULL, integrator, gap, tolerance);
}

/* When the slip, falling in a straight line, reaches zero. */
static double end_of_slip(const run *r) {
    int k = 0;
    while (k < STEPS && r->slip[k + 1] > 1e-6 * v0) {
        k++;
    }
    double rate = (r->slip[k - 1] - r->slip[k]) / dt;
    return k * dt + r->slip[k] / rate;
}

static void check(const run *r, const char *what, double exact, double within) {
    double end = 2 * v0 / (7 * mu * g);
    cr_assert_float_eq(end_of_slip(r), end, dt, "%s: slips until %.6f s, not %.6f s", what, end_of_slip(r), end);
    cr_assert_float_eq(r->v[STEPS], v0 * 5 / 7, within, "%s: rolls at %.9f m/s", what, r->v[STEPS]);
    cr_assert_float_eq(r->omega[STEPS], v0 * 5 / 7, within, "%s: turns at %.9f rad/s", what, r->omega[STEPS]);
    cr_assert_lt(r->sideways, 1e-9, "%s: sideways %g", what, r->sideways);
    cr_assert_lt(r->off_cone, 1e-6 * mu * g * dt, "%s: off the cone by %g N s", what, r->off_cone);
    for (int k = 0; k < 290 && exact > 0; k++) {
        cr_assert_float_eq(r->v[k], v0 - k * dt * mu * g, exact, "%s: step %d: %.15f", what, k, r->v[k]);
    }
}

Test(slide_roll, strict_solver_obeys_the_discrete_law) {
    for (int i = 0; i < SIM_RK4; i++) {
        run r = slide("pgs", (sim_integrator)i, 0, 1e-14);
        check(&r, sim_integrator_name((sim_integrator)i), 1e-12, 1e-9);
        cr_assert_lt(r.height, 1e-10, "leaves the ground by %g", r.height);
    }
}

/* The convex law glides at the gap (dt + tau) mu |v|: started there it slides as the strict one, started on the ground
 * it hops up first.  The contact stands midway in the gap, so the lever of friction is longer by half of it. */
Test(slide_roll, convex_solver_started_at_its_gliding_gap_slides_and_rolls) {
    double gliding = 2 * dt * mu * v0;
    run r = slide("sap", SIM_SYMPLECTIC_EULER, gliding, 1e-12);
    check(&r, "sap", 0, 0.5 * gliding * v0);
}

Test(slide_roll, convex_solver_started_on_the_ground_hops_by_a_few_millimetres) {
    run r = slide("sap", SIM_SYMPLECTIC_EULER, 0, 1e-12);
    cr_assert_float_eq(r.height, 6e-3, 0.5e-3, "hops by %g m", r.height);
}

/* Four directions turned by alpha against the slip (their case 2 is 45 degrees).  Of the slip's parts along two
 * directions friction brakes the greater alone, until they are equal, then both, each with half of mu m g:
 *
 *     the slip ends at  t (cos alpha + sin alpha),  t that of the cone;  until then the ball is driven sideways, to
 *     v0 sin alpha (cos alpha - sin alpha) 2/7,  and comes back. */
Test(slide_roll, a_pyramid_turned_against_the_slip_brakes_less_and_drives_aside) {
    static const char *const solver[] = {"mlcp-pivot", "mlcp-pfb-plm", "mlcp-pfb-rlm"};
    for (int k = 0; k < 18; k++) {
        int degrees[] = {0, 10, 20, 30, 40, 45};
        double alpha = degrees[k % 6] * M_PI / 180, option[] = {1e-12, 1e4, 4, 1, alpha, 4, 0.95}, most = 0, turns = 0;
        run r = slide_with(solver[k / 6], option, SIM_SYMPLECTIC_EULER, 0, 0);
        double end = 2 * v0 / (7 * mu * g) * (cos(alpha) + sin(alpha)),
               aside = v0 * sin(alpha) * (cos(alpha) - sin(alpha)) / 3.5;
        int step = 0;
        while (step < STEPS && r.slip[step] > 1e-3) {
            step++;
        }
        for (int i = 0; i <= STEPS; i++) {
            most = fmax(most, fabs(r.across[i]));
            turns = fmax(turns, fabs(r.rolls_across[i]));
        }
        cr_expect_float_eq(step * dt, end, 2 * dt, "%d degrees, %s: slips until %g s, not %g s", degrees[k % 6],
                           solver[k / 6], step * dt, end);
        cr_expect_float_eq(most, aside, 2e-3, "%d degrees, %s: %g m/s aside, not %g", degrees[k % 6], solver[k / 6],
                           most, aside);
        cr_expect_float_eq(turns, 2.5 * aside, 5e-3, "%d degrees, %s: turns at %g rad/s, not %g", degrees[k % 6],
                           solver[k / 6], turns, 2.5 * aside);
        cr_expect_float_eq(r.across[STEPS], 0, 2e-3, "%g m/s aside at the end", r.across[STEPS]);
    }
}

/* At 45 degrees the slip lies midway between two directions.  Of what friction may do there, everything between braking
 * along one and along the other, one keeps the ball straight; the velocity after the step has to lie on the tie, so
 * there is no other answer, and nobody drifts aside.  With as many directions as one likes, or the cone, or a direction
 * along the slip, the turn is nothing to be seen. */
Test(slide_roll, nobody_drifts_aside_where_two_directions_tie) {
    static const char *const solver[] = {"mlcp-pivot", "mlcp-pfb-plm", "mlcp-pfb-rlm", "mncp-rlm", "mncp-plm"};
    for (int k = 0; k < 5; k++) {
        double tied[] = {1e-12, 1e4, 4, 1, M_PI / 4, 4, 0.95}, end = 2 * v0 / (7 * mu * g) * (k < 3 ? sqrt(2) : 1);
        run r = slide_with(solver[k], k < 3 ? tied : NULL, SIM_SYMPLECTIC_EULER, 0, 1e-12);
        cr_expect_lt(r.sideways, 1e-8, "%s: %g aside", solver[k], r.sideways);
        cr_expect_float_eq(end_of_slip(&r), end, dt, "%s: slips until %g s, not %g s", solver[k], end_of_slip(&r), end);
    }
    for (int k = 0; k < 3; k++) {
        double along[] = {1e-12, 1e4, 4, 0, 0, 4, 0.95}, many[] = {1e-12, 1e4, 64, 1, M_PI / 64, 4, 0.95};
        run r = slide_with(solver[k], along, SIM_SYMPLECTIC_EULER, 0, 0);
        check(&r, solver[k], 1e-9, 1e-9);
        r = slide_with(solver[k], many, SIM_SYMPLECTIC_EULER, 0, 0);
        cr_expect_float_eq(end_of_slip(&r), 2 * v0 / (7 * mu * g), dt, "%s with 64 directions", solver[k]);
    }
}
