/* A cylinder on the ground, tied to a wall by a spring (Castro, Permenter, Han 2021, sec. VI-B).
 *
 * Without friction it slides to and fro with the mass m; with friction it rolls, with m + I / r^2 = 3/2 m.  Rolling
 * costs a little, since friction yields: each step loses R_t f_t^2 / 2, f_t the impulse of friction. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>

static const double m = 0.5, r = 0.05, spring = 100, k = 1e4, x0 = 0.1, g = 9.81;

static yard cylinder(double mu, sim_integrator integrator, double dt) {
    surface s = {.friction = mu, .stiffness = 2 * k, .dissipation = 0.02}; /* in series with the ground's: k */
    yard y = yard_begin(v3_make(0, 0, -g), s);
    yard_ground(&y);
    sim_shape shape = sim_shape_default();
    shape.type = SIM_CYLINDER;
    shape.size[0] = r;
    shape.size[1] = 0.1;
    shape.pose.R = (m3){{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}; /* its axis along y */
    shape.material = y.material;
    sim_body_def def = sim_body_default();
    def.name = "cylinder";
    def.joint = SIM_PLANAR;
    def.axis = v3_make(0, 1, 0);
    def.axis2 = v3_make(1, 0, 0);
    sim_inertia own = sim_shape_inertia(&shape, 1);
    own = sim_shape_inertia(&shape, m / own.mass);
    def.inertia = sim_inertia_placed(&own, &shape.pose);
    def.stiffness[0] = spring;
    def.q[0] = x0;
    def.placement.p.z = r - m * g / (2 * k); /* two points of contact */
    shape.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &shape);
    y.tolerance = 1e-12;
    yard_open(&y, "sap", integrator, dt);
    return y;
}

/* Spring and kinetic energy: what is left of it out of m g and the contact's own stays put. */
static double energy(yard *y) {
    const sim_state *s = sim_world_state(y->world);
    return sim_world_energy(y->world).kinetic + 0.5 * spring * s->q[0] * s->q[0];
}

typedef struct swing {
    double low, high, error; /* energies over the first; root of the mean square of x - x_e */
} swing;

static swing run(double mu, sim_integrator integrator, double dt, double duration) {
    yard y = cylinder(mu, integrator, dt);
    double first = energy(&y), sum = 0,
           lever = r - 0.5 * m * g / (2 * k); /* the contact stands midway in the overlap */
    double mass = mu > 0 ? m + 0.5 * m * r * r / (lever * lever) : m;
    swing s = {1, 1, 0};
    int steps = (int)lround(duration / dt);
    for (int n = 1; n <= steps; n++) {
        yard_step(&y);
        double part = energy(&y) / first, x = sim_world_state(y.world)->q[0];
        s.low = fmin(s.low, part);
        s.high = fmax(s.high, part);
        sum += pow(x - x0 * cos(sqrt(spring / mass) * n * dt), 2);
        cr_assert_geq(sim_world_state(y.world)->ncontact, 1, "left the ground in step %d", n);
    }
    s.error = sqrt(sum / steps);
    yard_end(&y);
    return s;
}

Test(spring_cylinder, without_friction_keeps_its_energy_with_midpoint_exactly) {
    swing s = run(0, SIM_MIDPOINT, 0.02, 20);
    cr_assert_lt(s.high - s.low, 1e-9, "ripple %g", s.high - s.low);
    s = run(0, SIM_SYMPLECTIC_EULER, 0.02, 20);
    cr_assert_float_eq(s.high - s.low, 0.289, 2e-3, "ripple of symplectic Euler %g", s.high - s.low);
}

Test(spring_cylinder, rolls_with_a_ripple_of_energy_below_a_sixth_of_a_percent_with_midpoint) {
    swing s = run(1, SIM_MIDPOINT, 0.02, 2);
    cr_assert_lt(s.high - s.low, 1.6e-3, "ripple %g", s.high - s.low);
}

Test(spring_cylinder, loses_in_each_step_what_its_yielding_friction_costs) {
    yard y = cylinder(1, SIM_MIDPOINT, 0.02);
    double first = energy(&y), cost = 0;
    /* w of a contact: both move with m, I and turn about y only: rows t1 = x, t2 = y (no motion), n = z */
    double I = 0.5 * m * r * r, Wx = 1 / m + r * r / I, Wz = 1 / m, w = sqrt(Wx * Wx + Wz * Wz) / 3, R = 1e-3 * w;
    for (int n = 0; n < 500; n++) {
        yard_step(&y);
        const sim_state *s = sim_world_state(y.world);
        for (int c = 0; c < s->ncontact; c++) {
            cost += 0.5 * R * s->impulse[c].x * s->impulse[c].x;
        }
    }
    double lost = first - energy(&y);
    cr_assert_float_eq(lost, 2 * cost, 0.1 * lost, "lost %g J, friction cost %g J", lost, 2 * cost);
    yard_end(&y);
}

Test(spring_cylinder, converges_with_order_two_with_midpoint_and_one_with_eulers) {
    static const double
        low[SIM_RK4] = {[SIM_MIDPOINT] = 1.95, [SIM_SYMPLECTIC_EULER] = 0.9, [SIM_IMPLICIT_EULER] = 0.7},
        high[SIM_RK4] = {[SIM_MIDPOINT] = 2.05, [SIM_SYMPLECTIC_EULER] = 1.15, [SIM_IMPLICIT_EULER] = 1.1};
    for (int i = 0; i < SIM_MOREAU; i++) {
        double before = 0;
        for (int n = 0; n < 5; n++) {
            double e = run(1, (sim_integrator)i, 0.02 / (1 << n), 5).error, order = log2(before / e);
            cr_log_info("%s dt %g: error %g order %g", sim_integrator_name((sim_integrator)i), 0.02 / (1 << n), e,
                        order);
            if (n >= (i == SIM_MIDPOINT ? 1 : 4)) { /* the Eulers come to their order slowly */
                cr_assert(order > low[i] && order < high[i], "%s: order %g", sim_integrator_name((sim_integrator)i),
                          order);
            }
            before = e;
        }
    }
}
