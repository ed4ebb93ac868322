/* Springs with dampers between bodies. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double k = 300, rest = 0.4;

static void add_body(yard *y, const char *name, double mass, v3 at, v3 v) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.inertia = box_inertia(mass, 0.1, 0.1, 0.1);
    def.q[0] = at.x;
    def.q[1] = at.y;
    def.q[2] = at.z;
    def.v[0] = v.x;
    def.v[1] = v.y;
    def.v[2] = v.z;
    sim_builder_add_body(y->builder, &def);
}

static sim_equality spring(int first, int second, double stiffness, double damping) {
    sim_equality e = sim_equality_default();
    e.type = SIM_SPRING_DAMPER;
    e.body[0] = first;
    e.body[1] = second;
    e.stiffness = stiffness;
    e.damping = damping;
    e.distance = rest;
    return e;
}

/* Two masses of 1 and 2 kg on a spring along (1, 2, 2) / 3, pulled apart by `pull` and let go, moving off along z. */
static yard pair(double stiffness, double damping, double pull, const char *solver, sim_integrator scheme,
                 double step) {
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    v3 n = v3_make(1.0 / 3, 2.0 / 3, 2.0 / 3);
    add_body(&y, "one", 1, v3_scale(rest + pull, n), v3_make(0, 0, 1));
    add_body(&y, "two", 2, v3_make(0, 0, 0), v3_make(0, 0, 1));
    sim_equality e = spring(1, 2, stiffness, damping);
    sim_builder_add_equality(y.builder, &e);
    y.options.contacts = 0;
    y.tolerance = 1e-14;
    yard_open(&y, solver, scheme, step);
    return y;
}

static double length_of(const yard *y) { return v3_norm(v3_sub(place_of(y, "one"), place_of(y, "two"))); }

static const char *const solvers[] = {"pgs", "sap"};

Test(springs, two_masses_swing_as_the_reduced_mass_says) {
    const double reduced = 2.0 / 3, dt = 1e-3, omega = sqrt(k / reduced);
    for (int trial = 0; trial < 2 * SIM_RK4; trial++) {
        sim_integrator scheme = (sim_integrator)(trial / 2);
        int second_order = scheme == SIM_MIDPOINT || scheme == SIM_MOREAU;
        yard y = pair(k, 0, 0.1, solvers[trial % 2], scheme, dt);
        double start = energy_of(&y), off = 0, lost = 0;
        cr_assert_float_eq(start, 1.5 + 0.5 * k * 0.01, 1e-12);
        for (int n = 1; n <= 1000; n++) {
            yard_step(&y);
            off = fmax(off, fabs(length_of(&y) - rest - 0.1 * cos(omega * n * dt)));
            lost = fmax(lost, fabs(energy_of(&y) - start));
        }
        cr_expect_lt(off, second_order ? 1e-4 : 0.04, "%s: off by %g m", sim_integrator_name(scheme), off);
        cr_expect(!second_order || lost < 1e-8, "%s: %g J", sim_integrator_name(scheme), lost);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

Test(springs, damper_takes_the_energy_that_it_should) {
    const double reduced = 2.0 / 3, c = 5, dt = 1e-3, rate = 0.5 * c / reduced, omega = sqrt(k / reduced - rate * rate);
    for (int trial = 0; trial < 2; trial++) {
        yard y = pair(k, c, 0.1, solvers[trial], SIM_MIDPOINT, dt);
        double off = 0;
        for (int n = 1; n <= 1000; n++) {
            yard_step(&y);
            double t = n * dt, due = 0.1 * exp(-rate * t) * (cos(omega * t) + rate / omega * sin(omega * t));
            off = fmax(off, fabs(length_of(&y) - rest - due));
        }
        cr_expect_lt(off, 1e-5, "off by %g m", off);
        yard_end(&y);
    }
}

/* Within the way that the force goes in a step, F dt^2 / m. */
Test(springs, as_stiff_as_you_like_stay_where_they_are) {
    for (int trial = 0; trial < 2 * SIM_RK4; trial++) {
        yard y = pair(1e12, 0, 0, solvers[trial % 2], (sim_integrator)(trial / 2), 0.01);
        double off = 0;
        for (int n = 1; n <= 300; n++) {
            sim_world_applied(y.world)[0] = 50 * sin(0.3 * n);
            yard_step(&y);
            off = fmax(off, fabs(length_of(&y) - rest));
        }
        cr_expect_lt(off, 50 * 0.01 * 0.01, "%s: off by %g m", sim_integrator_name((sim_integrator)(trial / 2)), off);
        yard_end(&y);
    }
}

/* A mass that swings on a spring under gravity; where it is after 2 s. */
static v3 swung(sim_integrator scheme, double dt, double *energy) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0));
    add_body(&y, "bob", 1, v3_make(0.4, 0, 0), v3_make(0, 0.5, -1));
    sim_equality e = spring(1, 0, k, 0);
    sim_builder_add_equality(y.builder, &e);
    y.options.contacts = 0;
    y.tolerance = 1e-14;
    yard_open(&y, "pgs", scheme, dt);
    double start = energy_of(&y);
    *energy = 0;
    for (int n = 0; n < (int)(2 / dt + 0.5); n++) {
        yard_step(&y);
        *energy = fmax(*energy, fabs(energy_of(&y) - start));
    }
    v3 end = place_of(&y, "bob");
    yard_end(&y);
    return end;
}

Test(springs, keep_the_order_of_the_scheme_where_they_turn) {
    const double dt = 2e-3;
    for (int i = 0; i < SIM_RK4; i++) {
        sim_integrator scheme = (sim_integrator)i;
        double lost[3];
        v3 coarse = swung(scheme, dt, &lost[0]), half = swung(scheme, dt / 2, &lost[1]),
           fine = swung(scheme, dt / 4, &lost[2]);
        double order = log2(v3_norm(v3_sub(coarse, half)) / v3_norm(v3_sub(half, fine)));
        int second = scheme == SIM_MIDPOINT;
        cr_expect(order > (second ? 1.9 : 0.75), "%s: order %g", sim_integrator_name(scheme), order);
        cr_expect(!second || lost[0] / lost[1] > 3.5, "energy off by %g, then %g J", lost[0], lost[1]);
    }
}

/* Two links of one tree with a spring across their joint. */
static yard braced(double damping, const char *solver) {
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0));
    sim_body_def post = sim_body_default(), arm = sim_body_default();
    post.name = "post";
    post.joint = SIM_SLIDER;
    post.axis = v3_make(0, 1, 0);
    post.inertia = box_inertia(5, 0.1, 0.1, 1);
    arm.name = "arm";
    arm.joint = SIM_HINGE;
    arm.axis = v3_make(0, 1, 0);
    arm.inertia = box_inertia(1, 0.5, 0.05, 0.05);
    arm.inertia.com = v3_make(0.5, 0, 0);
    arm.parent = sim_builder_add_body(y.builder, &post);
    arm.damping[0] = damping;
    sim_equality e = spring(sim_builder_add_body(y.builder, &arm), arm.parent, k, 0);
    e.frame[0].p = v3_make(0.3, 0, 0);
    e.frame[1].p = v3_make(0, 0, 0.4);
    sim_builder_add_equality(y.builder, &e);
    yard_open(&y, solver, SIM_MIDPOINT, 1e-3);
    return y;
}

/* m g r = moment of the spring. */
Test(springs, hold_a_joint_of_one_tree) {
    for (int trial = 0; trial < 2; trial++) {
        yard y = braced(3, solvers[trial]), free = braced(0, solvers[trial]);
        double start = energy_of(&free), off = 0;
        for (int n = 0; n < 6000; n++) {
            yard_step(&y);
            yard_step(&free);
            off = fmax(off, fabs(energy_of(&free) - start));
        }
        double q = sim_world_state(y.world)->q[1];
        v3 tip = v3_make(0.3 * cos(q), 0, -0.3 * sin(q)), way = v3_sub(v3_make(0, 0, 0.4), tip);
        double pull = k * (v3_norm(way) - rest) / v3_norm(way), moment = pull * v3_cross(tip, way).y;
        cr_expect_float_eq(moment + 9.81 * 0.5 * cos(q), 0, 1e-5, "%g N m", moment);
        cr_expect_lt(fabs(sim_world_state(y.world)->v[1]), 1e-6);
        cr_expect_lt(off, 1e-3, "%g J", off);
        yard_end(&y);
        yard_end(&free);
    }
}

Test(springs, that_are_none_are_refused) {
    const double wrong[][3] = {{INFINITY, 0, 1}, {0, 1, 1}, {10, -1, 1}, {10, 0, 0}, {10, NAN, 1}};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        sim_builder *b = sim_builder_create();
        sim_body_def def = sim_body_default();
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        sim_error error = {0};
        sim_equality e = spring(sim_builder_add_body(b, &def), 0, wrong[n][0], wrong[n][1]);
        e.distance = wrong[n][2];
        sim_builder_add_equality(b, &e);
        cr_expect_null(sim_builder_finish(b, &error), "%zu", n);
        cr_expect(strstr(error.text, "body1"), "%s", error.text);
    }
}
