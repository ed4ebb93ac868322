/* Is every kind of wrong answer caught, by the figure that names it, at the size found by hand?
 *
 * A point of 2 kg (w = 1/2) comes in at (3, 0, -1) m/s; mu = 1/2.  Right is gamma = (-1, 0, 2), v = (2.5, 0, 0). */
#include "support/judged.h"
#include "support/problems.h"

#include <criterion/criterion.h>
#include <math.h>

static const double dt = 0.01;

static sim_problem *incoming(double mu, double gap) {
    double v[3] = {3, 0, -1};
    return point_on_ground(2, mu, gap, dt, v);
}

enum { LINES = 4 };

/* Masses of 2 kg, each on its line with its constraint, without gaps; stiffness that is not said is infinite. */
static sim_problem *on_lines(int count, const sim_constraint *each, const double *v_free) {
    sim_problem_tree tree[LINES];
    sim_constraint c[LINES];
    double A[LINES], J[LINES], gap[LINES] = {0};
    for (int k = 0; k < count; k++) {
        c[k] = each[k];
        c[k].row = c[k].tree[0] = k;
        c[k].rows = 1;
        c[k].tree[1] = -1;
        c[k].block[0] = k;
        c[k].stiffness = c[k].stiffness > 0 ? c[k].stiffness : INFINITY;
        tree[k] = (sim_problem_tree){k, 1};
        A[k] = 2;
        J[k] = 1;
    }
    sim_problem parts = {.step = dt,
                         .ntree = count,
                         .nv = count,
                         .nconstraint = count,
                         .nrow = count,
                         .tree = tree,
                         .constraint = c,
                         .gap = gap,
                         .J = J,
                         .v_free = v_free,
                         .v_start = v_free};
    sim_error error = {0};
    sim_problem *p = sim_problem_create(&parts, A, &error);
    cr_assert_not_null(p, "%s", error.text);
    return p;
}

static sim_problem *on_a_line(sim_constraint c, double v_free) { return on_lines(1, &c, &v_free); }

static sim_certificate judged_once(sim_problem *p, const double *g) {
    sim_certificate c = judged(p, g);
    sim_problem_free(p);
    return c;
}

static void expect(double found, double by_hand, const char *what) {
    cr_assert_float_eq(found, by_hand, 1e-14 * fmax(1, fabs(by_hand)), "%s: %.17g, by hand %.17g", what, found,
                       by_hand);
}

Test(judge_planted, a_normal_impulse_of_the_wrong_sign) {
    double down[3] = {0, 0, -1}, g[3] = {0, 0, -2};
    sim_certificate c = judged_once(point_on_ground(2, 0.5, 0, dt, down), g);
    /* s_n = -2; gamma / 2 - s = 1, so F / rho = -1 - 1 */
    expect(c.cone, 2, "cone");
    expect(c.e_vel, 2. / 2, "e_vel");
    expect(c.e_imp, 4. / 2, "e_imp");
    expect(c.e_sic, 2. / 2, "e_sic");
    expect(c.e_paper, 2. / 1, "e_paper");
    expect(c.E, 2, "E");
    expect(c.lee, 2, "lee");
    expect(c.lee_scaled, 2, "lee_scaled");
    expect(c.penetration, 2 * dt, "penetration");
    cr_assert_eq(c.worst, 0);
}

Test(judge_planted, friction_outside_its_cone) {
    double g[3] = {-3, 0, 2};
    sim_certificate c = judged_once(incoming(0.5, 0), g);
    /* v = (1.5, 0, 0), s~ = (1.5, 0, 0.75); gamma / 2 - s~ = (-3, 0, 0.25) -> (-0.7, 0, 1.4) */
    expect(c.cone, 2, "cone");
    expect(c.e_vel, sqrt(0.8) / sqrt(10), "e_vel");
    expect(c.e_imp, 2 * sqrt(0.8) / sqrt(13), "e_imp");
    /* nested: gamma - s = (-4.5, 0, 2) -> (-1, 0, 2) and (-3, 0, 1) -> (-0.5, 0, 1) of (-1.5, 0, 1) */
    expect(c.lee, 2, "lee");
    expect(c.lee_scaled, 1, "lee_scaled");
    expect(c.drive, 0, "drive");
    expect(c.slip, 0, "slip");
}

Test(judge_planted, friction_that_pushes_along) {
    double g[3] = {1, 0, 2};
    sim_certificate c = judged_once(incoming(0.5, 0), g);
    /* v = (3.5, 0, 0) */
    expect(c.drive, 3.5, "drive");
    expect(c.cone, 0, "cone");
    expect(c.penetration, 0, "penetration");
    /* s~ = (3.5, 0, 1.75); gamma / 2 - s~ = (-3, 0, -0.75) -> (-0.3, 0, 0.6) */
    expect(c.e_vel, sqrt(0.8 * 0.8 + 0.4 * 0.4) / 3.5, "e_vel");
    cr_assert_gt(c.E, 0.1);
}

Test(judge_planted, friction_across_the_slip) {
    double g[3] = {0, 1, 2};
    sim_certificate c = judged_once(incoming(0.5, 0), g);
    /* v = (3, 0.5, 0): it drives sideways by its own recoil alone;
     * nested: gamma / 2 - s = (-3, 0, 1) -> (-0.5, 0, 1) */
    expect(c.drive, 0.5, "drive");
    expect(c.lee_scaled, sqrt(0.5), "lee_scaled");
    cr_assert_gt(c.E, 0.1);
}

Test(judge_planted, a_slip_that_friction_could_have_stopped) {
    double g[3] = {-0.5, 0, 2};
    sim_certificate c = judged_once(incoming(0.5, 0), g);
    expect(c.slip, 2.75, "slip");
    expect(c.cone, 0, "cone");
    /* nested: gamma / 2 - s = (-3, 0, 1) -> (-0.5, 0, 1) of (-0.25, 0, 1) */
    expect(c.lee_scaled, 0.25, "lee_scaled");
    cr_assert_gt(c.E, 0.05);
}

Test(judge_planted, an_overlap_after_the_step) {
    double down[3] = {0, 0, -1}, g[3] = {0, 0, 1}, gap = 0.002;
    sim_certificate c = judged_once(point_on_ground(2, 0.5, gap, dt, down), g);
    expect(c.penetration, 0.5 * dt - gap, "penetration");
    /* the gap allows 0.2 m/s: s = -0.5 + 0.2, |q| = 0.8 */
    expect(c.e_vel, 0.3 / 0.8, "e_vel");
    expect(c.e_imp, 0.6 / 1, "e_imp");
}

Test(judge_planted, a_push_across_an_open_gap) {
    double down[3] = {0, 0, -1}, g[3] = {0, 0, 2};
    sim_certificate c = judged_once(point_on_ground(2, 0.5, 0.05, dt, down), g);
    /* it would not have met the ground: s = 5 m/s; gamma / 2 - 5 -> 0 */
    expect(c.e_vel, 1. / 5, "e_vel");
    expect(c.e_imp, 1, "e_imp");
    expect(c.penetration, 0, "penetration");
}

Test(judge_planted, a_velocity_that_does_not_balance) {
    double g[3] = {-1, 0, 2}, v[3] = {2.5, 0, 0.25};
    sim_problem *p = incoming(0.5, 0);
    sim_certificate c = certificate_of(p, NULL, SIM_CONE_STRICT, v, g);
    /* D = 1 / sqrt 2 throughout: error 2 x 0.25, A v = 2 v, J' gamma = gamma */
    expect(c.momentum, 0.5 / (2 * hypot(2.5, 0.25)), "momentum");
    cr_assert_leq(c.E, 1e-15, "E asks the impulses alone");
    sim_problem_free(p);
}

Test(judge_planted, impulses_that_are_not_complementary) {
    double down[3] = {0, 0, -3}, g[3] = {0, 0, 1}, R[3] = {0.5, 0.5, 0.5}, target[3] = {0};
    sim_problem *p = point_on_ground(2, 0.5, 0, dt, down);
    sim_certificate c = certificate_of(p, NULL, SIM_CONE_CONVEX, NULL, g);
    expect(c.slackness, 2.5 / 0.25, "slackness");
    sim_regularisation own = {R, target};
    c = certificate_of(p, &own, SIM_CONE_CONVEX, NULL, g);
    expect(c.slackness, 2 / 0.5, "slackness with R");
    /* gamma - s = 1 + 2 at w = 1: s over |q| = 3 */
    expect(c.own, 2. / 1, "own");
    sim_problem_free(p);
}

Test(judge_planted, errors_of_many_contacts_are_shared_out_as_the_papers_say) {
    double down[3] = {0, 0, -3}, g[3] = {0, 0, 1};
    sim_problem *p = point_on_ground(2, 0.5, 0, dt, down);
    sim_judgement one = judgement_of(p, NULL, SIM_CONE_CONVEX, NULL, g), two = {0};
    sim_judgement_add(&two, &one, 0);
    sim_judgement_add(&two, &one, 1);
    sim_certificate c = sim_judgement_finish(&two);
    /* each has s = -2.5 and costs 1/4: the mean of |s . gamma| over the sum of costs, a norm over a count */
    expect(c.slackness, 2.5 / 0.5, "slackness");
    expect(c.lee, sqrt(2) * 2.5 / 2, "lee");
    expect(c.lee_scaled, sqrt(2) * 2.5 / 2, "lee_scaled");
    expect(c.e_vel, 2.5 / 3, "e_vel");
    cr_assert_eq(c.worst, 0);
    sim_problem_free(p);
}

Test(judge_planted, no_impulse_where_one_is_needed) {
    double g[3] = {0, 0, 0};
    sim_certificate c = judged_once(incoming(0, 0), g);
    expect(c.e_vel, 1 / sqrt(10), "e_vel");
    expect(c.penetration, dt, "penetration");
    /* |F| = 2 N s against 1.5e-8 of what would undo (3, 0, -1) */
    expect(c.e_imp * sqrt(0x1p-52), 1 / sqrt(10), "e_imp");
}

Test(judge_planted, a_limit_that_pulls) {
    double g = -2;
    sim_certificate c = judged_once(on_a_line((sim_constraint){.kind = SIM_LIMIT}, 1), &g);
    expect(c.cone, 2, "cone");
    expect(c.e_vel, 1, "e_vel");
    expect(c.e_imp, 1, "e_imp");
    expect(c.penetration, 0, "penetration");
}

Test(judge_planted, a_limit_that_lets_through) {
    double g = 1;
    sim_certificate c = judged_once(on_a_line((sim_constraint){.kind = SIM_LIMIT}, -1), &g);
    expect(c.penetration, 0.5 * dt, "penetration");
    expect(c.e_vel, 0.5, "e_vel");
    expect(c.e_imp, 1, "e_imp");
    expect(c.cone, 0, "cone");
}

Test(judge_planted, a_limit_of_an_angle_is_no_length) {
    double g = 1;
    sim_certificate c = judged_once(on_a_line((sim_constraint){.kind = SIM_LIMIT, .turns = 1}, -1), &g);
    expect(c.past_range, 0.5 * dt, "past_range");
    cr_assert_eq(c.farthest, 0);
    expect(c.penetration, 0, "penetration");
    cr_assert_eq(c.deepest, -1);
    expect(judged_once(on_a_line((sim_constraint){.kind = SIM_LIMIT}, -1), &g).past_range, 0, "past_range");
}

Test(judge_planted, a_bound_that_is_exceeded) {
    /* 100 N for 0.01 s: 1 N s at most; right is gamma = -1 */
    for (sim_constraint_kind kind = SIM_FRICTION; kind <= SIM_ACTUATOR; kind += SIM_ACTUATOR - SIM_FRICTION) {
        double g = -1.5, right = -1;
        sim_constraint c = {.kind = kind, .bound = 100, .stiffness = 1, .damping = 1e9};
        sim_certificate wrong = judged_once(on_a_line(c, 3), &g);
        expect(wrong.cone, 0.5, "cone");
        cr_assert_float_eq(wrong.e_vel, 0.25 / 3, 1e-6);
        cr_assert_float_eq(wrong.e_imp, 0.5 / 1.5, 1e-6);
        cr_assert_leq(judged_once(on_a_line(c, 3), &right).E, 1e-15);
    }
}

Test(judge_planted, dry_friction_that_pushes_along_or_stops_short) {
    double along = 1, short_of = -0.5;
    sim_constraint friction = {.kind = SIM_FRICTION, .bound = 100};
    sim_certificate c = judged_once(on_a_line(friction, 3), &along);
    expect(c.drive, 3.5, "drive");
    expect(c.e_vel, 1 / 3.5, "e_vel");
    c = judged_once(on_a_line(friction, 3), &short_of);
    expect(c.drive, 0, "drive");
    expect(c.e_vel, 0.25 / 3, "e_vel");
    expect(c.e_imp, 1, "e_imp");
}

Test(judge_planted, an_equality_that_drifts) {
    double g = -1.5;
    sim_certificate c = judged_once(on_a_line((sim_constraint){.kind = SIM_EQUALITY}, 1), &g);
    expect(c.e_vel, 0.25, "e_vel");
    expect(c.e_imp, 0.5 / 1.5, "e_imp");
    cr_assert_eq(c.worst, 0);
}

Test(judge_planted, a_spring_that_gives_too_much_however_soft_or_stiff_it_is) {
    for (int k = 0; k < 9; k++) {
        double stiffness = pow(10, 2 * k - 6), damping = 0.1 * stiffness, force = 7;
        sim_constraint spring = {.kind = SIM_SPRING, .stiffness = stiffness, .damping = damping, .force = force};
        /* g = dt (force - (dt k + d) v) and v = 1 + g / 2 */
        double yields = dt * (dt * stiffness + damping), right = (dt * force - yields) / (1 + yields / 2);
        double wrong = right * (1 + 1e-6);
        cr_assert_leq(judged_once(on_a_line(spring, 1), &right).E, 1e-15);
        sim_certificate c = judged_once(on_a_line(spring, 1), &wrong);
        cr_assert_float_eq(c.e_imp, 1e-6, 1e-11, "%g", c.e_imp);
    }
}

Test(judge_planted, the_worst_of_many_is_named) {
    const sim_constraint each[LINES] = {{.kind = SIM_LIMIT},
                                        {.kind = SIM_FRICTION, .bound = 100},
                                        {.kind = SIM_EQUALITY},
                                        {.kind = SIM_SPRING, .stiffness = 1e3, .damping = 100}};
    const double v[LINES] = {-1, 3, 1, 0}, right[LINES] = {2, -1, -2, 0};
    sim_problem *p = on_lines(LINES, each, v);
    cr_assert_leq(judged(p, right).E, 1e-15);
    for (int k = 0; k < LINES; k++) {
        double g[LINES] = {2 + 1e-3, -1 + 1e-3, -2 + 1e-3, 1e-3};
        g[k] -= 0.1;
        sim_certificate c = judged(p, g);
        cr_assert_eq(c.worst, k, "%d of %d", c.worst, k);
        cr_assert_gt(c.E, 0.01);
    }
    sim_problem_free(p);
}

/* A point of 2 kg that moves across at `speed`, pressed by two upright walls from both sides, which it overlaps: equal
 * impulses cancel, whatever they are. */
static sim_problem *between_walls(double speed, double overlap) {
    const double v[3] = {0, speed, 0};
    const double J[18] = {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, -1, -1, 0, 0}; /* rows along t1 = y, t2, n */
    return point_at_walls(2, 0.5, J, -overlap, dt, v, v);
}

Test(judge_planted, impulses_so_great_that_rounding_hides_what_is_wrong) {
    for (int k = 0; k <= 20; k++) {
        double size = pow(10, k), g[6] = {0, 0, size, 0, 0, size};
        sim_certificate c = judged_once(between_walls(0, 1e-3), g);
        /* s = (0, 0, -0.1) at both, as at first: nothing is done.  At 1e17 N s gamma / 2 - s rounds to gamma / 2 */
        cr_expect(c.E >= 0.5 && c.E <= 2, "%g N s: E %g", size, c.E);
        cr_expect_eq(c.own, c.E);
    }
}

/* A right answer stays right as far as rounding can tell: here to a part of size x eps. */
Test(judge_planted, great_impulses_are_right_within_rounding) {
    for (int k = 1; k <= 15; k++) {
        double size = pow(10, k), g[6] = {-1, 0, size, -1, 0, size};
        sim_certificate c = judged_once(between_walls(1, 0), g);
        cr_expect_leq(c.E, 4e-16 * size, "%g N s: E %g", size, c.E);
        cr_expect_geq(c.E, 1e-16 * size, "%g N s: E %g", size, c.E);
    }
}

Test(judge_planted, numbers_that_are_none) {
    const double bad[3] = {NAN, INFINITY, 1e200};
    for (int k = 0; k < 3; k++) {
        double g[3] = {0, bad[k], 1}, v[3] = {0, 0, bad[k]}, right[3] = {-1, 0, 2};
        sim_problem *p = incoming(0.5, 0);
        sim_certificate c = certificate_of(p, NULL, SIM_CONE_STRICT, v, right);
        cr_assert(c.nonfinite && isinf(c.E) && isinf(c.momentum) && isinf(c.lee) && isinf(c.penetration));
        cr_assert(c.worst == -1 || k == 2);
        c = judged(p, g);
        cr_assert(c.nonfinite && isinf(c.E) && isinf(c.own) && isinf(c.cone) && isinf(c.drive));
        cr_assert_eq(c.worst, 0);
        sim_problem_free(p);
    }
}
