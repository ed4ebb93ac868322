/* Constraints between bodies: linkages against their closed-form kinematics, and what must be the same told otherwise. */
#include "math/spatial.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const v3 down = {0, 0, -9.81};

/* ---- planar linkages in the plane of x and z: angles turn x towards z ---- */

/* A bar along its x from a hinge, of unit mass a metre. */
static sim_body_def bar(const char *name, int parent, v3 at, double length, double angle, double rate) {
    sim_body_def def = sim_body_default();
    def.name = name;
    def.parent = parent;
    def.joint = SIM_HINGE;
    def.axis = v3_make(0, -1, 0);
    def.placement.p = at;
    def.inertia = box_inertia(length, length, 0.02, 0.02);
    def.inertia.com = v3_make(length / 2, 0, 0);
    def.q[0] = angle;
    def.v[0] = rate;
    return def;
}

static const double crank = 0.3, coupler = 0.8, rocker = 0.6, ground = 0.9;

typedef struct four_bar {
    double coupler, rocker; /* angles of both against x */
} four_bar;

/* The tip of the rocker lies on two circles: about the tip of the crank, about the rocker's hinge. */
static four_bar closed_form(double angle) {
    double bx = crank * cos(angle), bz = crank * sin(angle), dx = ground - bx, dz = -bz, s = hypot(dx, dz);
    double along = (s * s + coupler * coupler - rocker * rocker) / (2 * s);
    double up = sqrt(coupler * coupler - along * along);
    double cx = bx + (along * dx - up * dz) / s, cz = bz + (along * dz + up * dx) / s;
    return (four_bar){atan2(cz - bz, cx - bx), atan2(cz, cx - ground)};
}

static void close_loop(yard *y, int a, v3 on_a, int b, v3 on_b) {
    sim_equality loop = sim_equality_default();
    loop.type = SIM_CONNECT;
    loop.body[0] = a;
    loop.body[1] = b;
    loop.frame[0].p = on_a;
    loop.frame[1].p = on_b;
    cr_assert_geq(sim_builder_add_equality(y->builder, &loop), 0);
}

static yard four_bar_world(double angle, double rate, const char *solver, sim_integrator integrator, double step) {
    yard y = yard_begin(down, rough(0));
    const double h = 1e-6;
    four_bar now = closed_form(angle), next = closed_form(angle + h), before = closed_form(angle - h);
    double coupler_rate = (next.coupler - before.coupler) / (2 * h) * rate;
    double rocker_rate = (next.rocker - before.rocker) / (2 * h) * rate;
    sim_body_def def = bar("crank", 0, v3_make(0, 0, 0), crank, angle, rate);
    int a = sim_builder_add_body(y.builder, &def);
    def = bar("coupler", a, v3_make(crank, 0, 0), coupler, now.coupler - angle, coupler_rate - rate);
    int b = sim_builder_add_body(y.builder, &def);
    def = bar("rocker", 0, v3_make(ground, 0, 0), rocker, now.rocker, rocker_rate);
    int c = sim_builder_add_body(y.builder, &def);
    close_loop(&y, b, v3_make(coupler, 0, 0), c, v3_make(rocker, 0, 0));
    y.tolerance = 1e-12;
    yard_open(&y, solver, integrator, step);
    return y;
}

/* How far the bars stand from where the crank's angle says, m. */
static double four_bar_error(const yard *y) {
    const double *q = sim_world_state(y->world)->q;
    four_bar due = closed_form(q[0]);
    double off_coupler = coupler * remainder(q[0] + q[1] - due.coupler, 2 * M_PI);
    return fmax(fabs(off_coupler), rocker * fabs(remainder(q[2] - due.rocker, 2 * M_PI)));
}

Test(loops, four_bar_linkage_keeps_to_its_closed_form) {
    const char *solver[] = {"pgs", "sap"};
    for (int k = 0; k < 2 * SIM_RK4; k++) {
        yard y = four_bar_world(1.2, 6, solver[k % 2], (sim_integrator)(k / 2), 1e-3);
        double worst = 0;
        for (int i = 0; i < 10000; i++) {
            yard_step(&y);
            worst = fmax(worst, four_bar_error(&y));
        }
        cr_log_warn("%s %s: off by %.3g m, turned %.3g, unsolved %d", solver[k % 2],
                    sim_integrator_name((sim_integrator)(k / 2)), worst, sim_world_state(y.world)->q[0], y.unsolved);
        cr_expect_lt(worst, 1e-5, "%s, %s: off by %g m", solver[k % 2], sim_integrator_name((sim_integrator)(k / 2)),
                     worst);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* What energy the midpoint rule loses in 10 s falls with the square of the step. */
Test(loops, four_bar_linkage_keeps_its_energy_to_second_order) {
    double lost[2];
    for (int k = 0; k < 2; k++) {
        double dt = k ? 1e-3 : 2e-3;
        yard y = four_bar_world(1.2, 6, "pgs", SIM_MIDPOINT, dt);
        double start = energy_of(&y), worst = 0;
        for (int i = 0; i * dt < 10; i++) {
            yard_step(&y);
            worst = fmax(worst, fabs(energy_of(&y) - start));
        }
        lost[k] = worst / sim_world_energy(y.world).kinetic;
        cr_log_warn("dt %g: %.3g, end %.3g", dt, lost[k], energy_of(&y) - start);
        yard_end(&y);
    }
    cr_assert_lt(lost[1], 1e-4);
    cr_assert_gt(lost[0] / lost[1], 3);
}
