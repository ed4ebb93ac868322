/* Motions that are known in closed form. */
#include "support/models.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>

typedef struct run {
    sim_model *model;
    sim_world *world;
} run;

static run start(sim_builder *builder, sim_integrator integrator, double step) {
    sim_error error = {0};
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    options.tolerance = 1e-14; /* what is left is the scheme's own error, and rounding */
    run r = {.model = sim_builder_finish(builder, &error)};
    cr_assert_not_null(r.model, "%s", error.text);
    r.world = sim_world_create(r.model, &options, &error);
    cr_assert_not_null(r.world, "%s", error.text);
    return r;
}

static void stop(run r) {
    sim_world_free(r.world);
    sim_model_free(r.model);
}

static void step(run r) {
    sim_error error;
    cr_assert_eq(sim_world_step(r.world, &error), SIM_OK, "%s", error.text);
}

static const double *q(run r) { return sim_world_state(r.world)->q; }
static const double *v(run r) { return sim_world_state(r.world)->v; }
static double now(run r) { return sim_world_state(r.world)->time; }

static sim_body_def body(sim_joint_type joint, sim_inertia inertia) {
    sim_body_def def = sim_body_default();
    def.joint = joint;
    def.inertia = inertia;
    return def;
}

/* A spinning, tumbling projectile with its origin off its centre of mass: the centre of mass flies a parabola. */
Test(analytic, the_centre_of_mass_of_a_tumbling_projectile_flies_a_parabola) {
    const v3 com = {0.1, -0.2, 0.05};
    sim_body_def def = body(SIM_FREE, box_inertia(2, 0.4, 0.2, 0.1));
    def.inertia.com = com;
    const double v0[6] = {3, 0, 5, 4, -7, 2};
    for (int k = 0; k < 6; k++) {
        def.v[k] = v0[k];
    }
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_MIDPOINT, 1e-3);
    sim_point centre = {1, com};
    v3 x0 = sim_point_position(sim_world_derived(r.world), centre);
    v3 u0 = sim_point_velocity(sim_world_derived(r.world), centre);
    for (int k = 0; k < 1000; k++) {
        step(r);
    }
    v3 x = sim_point_position(sim_world_derived(r.world), centre);
    v3 expected = v3_axpy(v3_add(x0, u0), 0.5, (v3){0, 0, -9.81});
    cr_expect(v3_norm(v3_sub(x, expected)) < 2e-5, "%g", v3_norm(v3_sub(x, expected)));
    stop(r);
}

static double elliptic_K(double k) { /* by the arithmetic-geometric mean */
    double a = 1, b = sqrt(1 - k * k);
    while (fabs(a - b) > 1e-15) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return M_PI / (2 * a);
}

Test(analytic, a_pendulum_at_170_degrees_swings_with_the_period_of_the_elliptic_integral) {
    const double amplitude = 170 * M_PI / 180, length = 0.4, mass = 1.3;
    sim_body_def def = body(SIM_HINGE, box_inertia(mass, 0.05, 0.05, 0.8));
    def.axis = (v3){1, 0, 0};
    def.inertia.com = (v3){0, 0, -length};
    def.q[0] = amplitude;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_MIDPOINT, 5e-4);
    double about_pivot = def.inertia.moment.xx + mass * length * length;
    double omega0 = sqrt(mass * 9.81 * length / about_pivot);
    double period = 4 / omega0 * elliptic_K(sin(amplitude / 2));
    /* the velocity changes sign, from minus to plus, each half period after the start */
    double before = 0, crossing = 0;
    for (int k = 0; k < 20000 && crossing == 0; k++) {
        before = v(r)[0];
        step(r);
        if (before < 0 && v(r)[0] >= 0) {
            crossing = now(r) - 5e-4 * v(r)[0] / (v(r)[0] - before);
        }
    }
    cr_expect(fabs(2 * crossing / period - 1) < 2e-6, "%.9g %.9g", 2 * crossing, period);
    stop(r);
}

static sim_body_def asymmetric_top(void) {
    sim_body_def def = body(SIM_FREE, (sim_inertia){1, {0, 0, 0}, {0.01, 0.02, 0.025, 0, 0, 0}});
    return def;
}

static v3 angular_momentum(run r) { return sim_world_momentum(r.world).ang; }

Test(analytic, midpoint_holds_energy_and_angular_momentum_of_a_free_top_to_rounding) {
    sim_body_def def = asymmetric_top();
    def.v[3] = 3, def.v[4] = 40, def.v[5] = -10; /* dt |w| = 0.4 a step */
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_MIDPOINT, 0.01);
    double energy = sim_world_energy(r.world).kinetic;
    v3 momentum = angular_momentum(r);
    for (int k = 0; k < 10000; k++) {
        step(r);
        cr_assert_eq(sim_world_info(r.world)->nonconverged, 0);
    }
    cr_expect(fabs(sim_world_energy(r.world).kinetic / energy - 1) < 1e-10, "%g",
              sim_world_energy(r.world).kinetic / energy - 1);
    double drift = v3_norm(v3_sub(angular_momentum(r), momentum)) / v3_norm(momentum);
    cr_expect(drift < 1e-10, "%g", drift);
    stop(r);
}

/* Spun about the middle axis the top flips; the time between flips is 4 K(k)/lambda... compared with a fine
 * reference. */
Test(analytic, a_racket_spun_about_its_middle_axis_flips_and_one_about_the_others_does_not) {
    for (int axis = 0; axis < 3; axis++) {
        sim_body_def def = asymmetric_top();
        def.v[3] = def.v[4] = def.v[5] = 0.01;
        def.v[3 + axis] = 10;
        sim_builder *builder = sim_builder_create();
        sim_builder_gravity(builder, (v3){0, 0, 0});
        sim_builder_add_body(builder, &def);
        run r = start(builder, SIM_MIDPOINT, 1e-3);
        double lowest = 10;
        for (int k = 0; k < 5000; k++) {
            step(r);
            lowest = fmin(lowest, v(r)[3 + axis]);
        }
        if (axis == 1) {
            cr_expect(lowest < -9.9, "%g", lowest);
        } else {
            cr_expect(lowest > 9.9, "%g", lowest);
        }
        stop(r);
    }
}

/* Euler's equations for the same top by fourth-order Runge-Kutta, written out here. */
static void euler(const double w[3], double rate[3]) {
    const double I[3] = {0.01, 0.02, 0.025};
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        rate[k] = (I[l] - I[m]) * w[l] * w[m] / I[k];
    }
}

Test(analytic, the_free_top_follows_eulers_equations) {
    sim_body_def def = asymmetric_top();
    double w[3] = {1, 5, -2};
    for (int k = 0; k < 3; k++) {
        def.v[3 + k] = w[k];
    }
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_RK4, 1e-3);
    for (int s = 0; s < 2000; s++) {
        double k1[3], k2[3], k3[3], k4[3], x[3];
        const double h = 1e-3;
        euler(w, k1);
        for (int i = 0; i < 3; i++) {
            x[i] = w[i] + h / 2 * k1[i];
        }
        euler(x, k2);
        for (int i = 0; i < 3; i++) {
            x[i] = w[i] + h / 2 * k2[i];
        }
        euler(x, k3);
        for (int i = 0; i < 3; i++) {
            x[i] = w[i] + h * k3[i];
        }
        euler(x, k4);
        for (int i = 0; i < 3; i++) {
            w[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
        }
        step(r);
    }
    for (int k = 0; k < 3; k++) {
        cr_expect(fabs(v(r)[3 + k] - w[k]) < 1e-9, "%.12g %.12g", v(r)[3 + k], w[k]);
    }
    stop(r);
}

/* Double pendulum, textbook equations (angles from the downward vertical, massive links), integrated by extrapolated
 * midpoint with tolerance 1e-12: an independent derivation. */
typedef struct double_pendulum {
    double m1, m2, c1, c2, l1, I1, I2;
} double_pendulum;

static void textbook(const double_pendulum *p, const double x[4], double rate[4]) {
    double d = x[0] - x[1], g = 9.81;
    double a = p->I1 + p->m1 * p->c1 * p->c1 + p->m2 * p->l1 * p->l1;
    double b = p->m2 * p->l1 * p->c2 * cos(d);
    double c = p->I2 + p->m2 * p->c2 * p->c2;
    double s = p->m2 * p->l1 * p->c2 * sin(d);
    double f1 = -s * x[3] * x[3] - (p->m1 * p->c1 + p->m2 * p->l1) * g * sin(x[0]);
    double f2 = s * x[2] * x[2] - p->m2 * p->c2 * g * sin(x[1]);
    double det = a * c - b * b;
    rate[0] = x[2];
    rate[1] = x[3];
    rate[2] = (c * f1 - b * f2) / det;
    rate[3] = (a * f2 - b * f1) / det;
}

/* Gragg's modified midpoint over H in n substeps. */
static void gragg(const double_pendulum *p, const double x[4], double H, int n, double out[4]) {
    double h = H / n, a[4], b[4], rate[4];
    textbook(p, x, rate);
    for (int i = 0; i < 4; i++) {
        a[i] = x[i];
        b[i] = x[i] + h * rate[i];
    }
    for (int k = 1; k < n; k++) {
        textbook(p, b, rate);
        for (int i = 0; i < 4; i++) {
            double next = a[i] + 2 * h * rate[i];
            a[i] = b[i];
            b[i] = next;
        }
    }
    textbook(p, b, rate);
    for (int i = 0; i < 4; i++) {
        out[i] = 0.5 * (a[i] + b[i] + h * rate[i]);
    }
}

/* Extrapolation of Gragg's results to h = 0 (Bulirsch and Stoer), until two agree to 1e-12. */
static void bulirsch_stoer(const double_pendulum *p, double x[4], double H) {
    enum { ROWS = 12 };
    double T[ROWS][ROWS][4], error = INFINITY;
    int row = 0;
    for (; row < ROWS && error > 1e-12; row++) {
        gragg(p, x, H, 2 * (row + 1), T[row][0]);
        error = row ? 0 : INFINITY;
        for (int col = 1; col <= row; col++) {
            double ratio = (double)(row + 1) / (row + 1 - col);
            for (int i = 0; i < 4; i++) {
                double gain = (T[row][col - 1][i] - T[row - 1][col - 1][i]) / (ratio * ratio - 1);
                T[row][col][i] = T[row][col - 1][i] + gain;
                error = col == row ? fmax(error, fabs(gain)) : error;
            }
        }
    }
    cr_assert(error <= 1e-12, "%g", error);
    for (int i = 0; i < 4; i++) {
        x[i] = T[row - 1][row - 1][i];
    }
}

static run double_pendulum_run(const double_pendulum *p, const double start_at[4], sim_integrator integrator,
                               double h) {
    sim_body_def upper = body(SIM_HINGE, (sim_inertia){p->m1, {0, 0, -p->c1}, {p->I1, p->I1, p->I1, 0, 0, 0}});
    sim_body_def lower = body(SIM_HINGE, (sim_inertia){p->m2, {0, 0, -p->c2}, {p->I2, p->I2, p->I2, 0, 0, 0}});
    upper.axis = lower.axis = (v3){1, 0, 0};
    lower.placement.p = (v3){0, 0, -p->l1};
    upper.q[0] = start_at[0];
    lower.q[0] = start_at[1] - start_at[0];
    upper.v[0] = start_at[2];
    lower.v[0] = start_at[3] - start_at[2];
    sim_builder *builder = sim_builder_create();
    lower.parent = sim_builder_add_body(builder, &upper);
    sim_builder_add_body(builder, &lower);
    return start(builder, integrator, h);
}

Test(analytic, the_double_pendulum_follows_the_textbook_equations) {
    const double_pendulum p = {1.2, 0.7, 0.3, 0.25, 0.6, 0.03, 0.012};
    double x[4] = {1.9, -0.6, 0.5, 2};
    run r = double_pendulum_run(&p, x, SIM_RK4, 2.5e-4);
    double worst = 0;
    for (int k = 0; k < 100; k++) {
        bulirsch_stoer(&p, x, 0.02);
        for (int s = 0; s < 80; s++) {
            step(r);
        }
        worst = fmax(worst, fmax(fabs(q(r)[0] - x[0]), fabs(q(r)[0] + q(r)[1] - x[1])));
    }
    cr_log_warn("double pendulum over 2 s: %.2g rad from the reference", worst);
    cr_expect(worst < 1e-9, "%g", worst);
    stop(r);
}

Test(analytic, a_slider_on_a_spring_is_a_harmonic_oscillator_that_midpoint_never_damps) {
    const double mass = 0.5, k = 80, step_size = 0.02;
    sim_body_def def = body(SIM_SLIDER, box_inertia(mass, 0.1, 0.1, 0.1));
    def.axis = (v3){1, 0, 0};
    def.stiffness[0] = k;
    def.rest[0] = 0.3;
    def.q[0] = 0.5;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_MIDPOINT, step_size);
    double energy0 = sim_world_energy(r.world).potential;
    /* midpoint turns the phase by 2 atan(omega h / 2) a step, exactly */
    double turn = 2 * atan(sqrt(k / mass) * step_size / 2), worst = 0, worst_energy = 0;
    for (int n = 1; n <= 5000; n++) {
        step(r);
        sim_energy e = sim_world_energy(r.world);
        worst = fmax(worst, fabs(q(r)[0] - 0.3 - 0.2 * cos(n * turn)));
        worst_energy = fmax(worst_energy, fabs((e.kinetic + e.potential) / energy0 - 1));
    }
    cr_expect(worst < 1e-10, "%g", worst);
    cr_expect(worst_energy < 1e-11, "%g", worst_energy);
    stop(r);
}

static run lone_slider(double mass, double damping, double stiffness, sim_integrator integrator, double h) {
    sim_body_def def = body(SIM_SLIDER, box_inertia(mass, 0.1, 0.1, 0.1));
    def.axis = (v3){1, 0, 0};
    def.damping[0] = damping;
    def.stiffness[0] = stiffness;
    def.q[0] = stiffness > 0 ? 0.1 : 0;
    def.v[0] = 1;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    return start(builder, integrator, h);
}

/* One step under m dv/dt = -c v, far beyond the step at which an explicit damper is stable. */
Test(analytic, dampers_act_at_the_velocity_that_each_scheme_promises) {
    const double c = 300, mass = 0.5, h = 0.01, x = h * c / mass;
    const double expected[SIM_RK4] = {
        [SIM_MIDPOINT] = (1 - x / 2) / (1 + x / 2),
        [SIM_SYMPLECTIC_EULER] = 1 / (1 + x),
        [SIM_IMPLICIT_EULER] = 1 / (1 + x),
        [SIM_MOREAU] = 1 / (1 + x),
    };
    for (int k = 0; k < SIM_RK4; k++) {
        run r = lone_slider(mass, c, 0, (sim_integrator)k, h);
        step(r);
        cr_expect(fabs(v(r)[0] - expected[k]) < 1e-14, "%s: %g %g", sim_integrator_name((sim_integrator)k), v(r)[0],
                  expected[k]);
        stop(r);
    }
}

/* A spring is linear: Newton's first sweep is exact, however stiff it is, and the second says so. */
Test(analytic, implicit_schemes_solve_a_stiff_spring_in_one_sweep) {
    for (int k = 0; k < 2; k++) {
        run r = lone_slider(0.5, 0, 1e8, k ? SIM_IMPLICIT_EULER : SIM_MIDPOINT, 0.01);
        for (int n = 0; n < 10; n++) {
            step(r);
            cr_expect(sim_world_info(r.world)->iterations <= 2, "%d", sim_world_info(r.world)->iterations);
            cr_expect_eq(sim_world_info(r.world)->nonconverged, 0);
        }
        stop(r);
    }
}

/* A fast top on a ball joint precesses steadily at the slow root of C W n - A' W^2 cos(theta) = m g l. */
Test(analytic, a_gyroscope_precesses_at_the_steady_rate) {
    const double mass = 1, l = 0.2, theta = 1.0, spin = 150;
    const double A = 0.004, C = 0.006, about_pivot = A + mass * l * l;
    /* (C - A') W^2 cos(theta) + C s W - m g l = 0, s the spin about the axis relative to the precessing frame */
    double a = (C - about_pivot) * cos(theta), b = C * spin, c = -mass * 9.81 * l;
    double rate = 2 * -c / (b + sqrt(b * b - 4 * a * c));
    sim_body_def def = body(SIM_BALL, (sim_inertia){mass, {0, 0, l}, {A, A, C, 0, 0, 0}});
    def.q[0] = cos(theta / 2);
    def.q[1] = sin(theta / 2); /* axis tipped about x */
    v3 up_in_body = m3_transposed_times(quat_matrix((quat){def.q[0], def.q[1], 0, 0}), (v3){0, 0, 1});
    def.v[0] = rate * up_in_body.x;
    def.v[1] = rate * up_in_body.y;
    def.v[2] = rate * up_in_body.z + spin;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_MIDPOINT, 5e-5);
    double lowest = 10, highest = -10;
    for (int k = 0; k < 20000; k++) {
        step(r);
        v3 axis = sim_world_derived(r.world)->pose[1].R.z;
        lowest = fmin(lowest, axis.z);
        highest = fmax(highest, axis.z);
    }
    v3 axis = sim_world_derived(r.world)->pose[1].R.z;
    double turned = atan2(axis.x, -axis.y); /* started at -y */
    double expected = remainder(rate * 1.0, 2 * M_PI);
    cr_expect(fabs(turned - expected) < 1e-4, "%g %g", turned, expected);
    cr_expect(highest - lowest < 1e-4, "nutation %g", highest - lowest);
    stop(r);
}

/* A nut on a tilted screw: m g sin(tilt) drives it, inertia m + I/h^2 resists, h the advance per radian. */
Test(analytic, a_nut_accelerates_along_a_tilted_screw) {
    const double mass = 0.4, tilt = 0.3, pitch = 0.05, I = 2e-4, h = pitch / (2 * M_PI);
    sim_body_def def = body(SIM_SCREW, (sim_inertia){mass, {0, 0, 0}, {1.5e-4, 1.5e-4, I, 0, 0, 0}});
    def.placement.R = m3_axis_angle((v3){0, 1, 0}, M_PI / 2 + tilt); /* z points downhill */
    def.pitch = pitch;
    sim_builder *builder = sim_builder_create();
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_SYMPLECTIC_EULER, 1e-3);
    for (int k = 0; k < 1000; k++) {
        step(r);
    }
    double acceleration = mass * 9.81 * sin(tilt) / (mass + I / (h * h));
    cr_expect(fabs(v(r)[0] * h / (acceleration * 1.0) - 1) < 1e-12, "%.15g %.15g", v(r)[0] * h, acceleration);
    v3 at = sim_world_derived(r.world)->pose[1].p;
    cr_expect(fabs(v3_norm(at) - fabs(q(r)[0]) * h) < 1e-12);
    cr_expect(at.z < 0);
    stop(r);
}

Test(analytic, a_left_handed_screw_backs_out) {
    sim_body_def def = body(SIM_SCREW, box_inertia(1, 0.1, 0.2, 0.3));
    def.pitch = -0.3;
    def.v[0] = 2 * M_PI;
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (v3){0, 0, 0});
    sim_builder_add_body(builder, &def);
    run r = start(builder, SIM_MIDPOINT, 1e-2);
    for (int k = 0; k < 100; k++) {
        step(r);
    }
    cr_expect(fabs(sim_world_derived(r.world)->pose[1].p.z + 0.3) < 1e-12);
    cr_expect(fabs(sim_world_derived(r.world)->vel[1].lin.z + 0.3) < 1e-12);
    stop(r);
}

/* Ball, planar and free joints go through every orientation: a full turn about each axis, in equal parts. */
Test(analytic, orientations_have_no_singular_place) {
    for (int joint = 0; joint < 2; joint++) {
        for (int axis = 0; axis < 3; axis++) {
            sim_body_def def = body(joint ? SIM_FREE : SIM_BALL, box_inertia(1, 0.2, 0.2, 0.2));
            def.v[(joint ? 3 : 0) + axis] = 2 * M_PI;
            sim_builder *builder = sim_builder_create();
            sim_builder_gravity(builder, (v3){0, 0, 0});
            sim_builder_add_body(builder, &def);
            run r = start(builder, SIM_SYMPLECTIC_EULER, 1e-3);
            for (int k = 0; k < 2500; k++) { /* two turns and a half: quaternions change sign on the way */
                step(r);
                const double *at = q(r) + (joint ? 3 : 0);
                double norm = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2] + at[3] * at[3]);
                cr_assert(fabs(norm - 1) < 1e-15);
            }
            m3 R = sim_world_derived(r.world)->pose[1].R;
            v3 diagonal = {R.x.x, R.y.y, R.z.z};
            double expected[3] = {-1, -1, -1};
            expected[axis] = 1;
            cr_expect(v3_norm(v3_sub(diagonal, (v3){expected[0], expected[1], expected[2]})) < 1e-11);
            stop(r);
        }
    }
}

/* ---- springs and dampers of higher degree ---- */

/* A slider of 2 kg with one term of its spring or damper, at x, v. */
static run slider_with_term(double spring, const double damper[2], double x, double speed, sim_integrator integrator,
                            double step_s) {
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_SLIDER;
    def.axis = v3_make(1, 0, 0);
    def.inertia = box_inertia(2, 0.1, 0.1, 0.1);
    def.q[0] = x;
    def.v[0] = speed;
    def.spring[1] = spring;
    def.damper[0] = damper[0];
    def.damper[1] = damper[1];
    sim_builder_add_body(b, &def);
    sim_builder_gravity(b, v3_make(0, 0, 0));
    return start(b, integrator, step_s);
}

/* m x'' = -b x^3 from rest at A is back after 4 K(1/sqrt 2) / (A sqrt(b / m)). */
Test(analytic, a_cubic_spring_swings_with_the_period_of_the_elliptic_integral) {
    static const double none[2] = {0, 0};
    for (int k = 0; k < SIM_INTEGRATORS; k++) {
        double A = 0.3, b = 500, period = 7.416298709205487 / (A * sqrt(b / 2)), error[2];
        for (int fine = 0; fine < 2; fine++) {
            int steps = (fine ? 2000 : 1000) * (k == SIM_IMPLICIT_EULER ? 20 : 1); /* it loses energy */
            run r = slider_with_term(b, none, A, 0, (sim_integrator)k, period / steps);
            for (int i = 0; i < steps; i++) {
                step(r);
            }
            error[fine] = hypot((q(r)[0] - A) / A, v(r)[0] * period / (2 * A));
            stop(r);
        }
        cr_expect(error[0] < 0.05, "%s: %g", sim_integrator_name((sim_integrator)k), error[0]);
        cr_expect(error[1] < 0.6 * error[0] || error[1] < 1e-9, "%s: %g, %g", sim_integrator_name((sim_integrator)k),
                  error[0], error[1]);
    }
}

/* m v' = -a |v| v: v = v0 / (1 + a |v0| t / m);  m v' = -b v^3: v = v0 / sqrt(1 + 2 b v0^2 t / m). */
Test(analytic, dampers_of_higher_degree_brake_as_their_closed_forms_say) {
    for (int k = 0; k < 2 * SIM_INTEGRATORS; k++) {
        const double term[2] = {k % 2 ? 0 : 3, k % 2 ? 3 : 0}, v0 = k < SIM_INTEGRATORS ? 2 : -2;
        double due = k % 2 ? v0 / sqrt(1 + 2 * 3 * v0 * v0 / 2) : v0 / (1 + 3 * fabs(v0) / 2), error[2];
        for (int fine = 0; fine < 2; fine++) {
            int steps = fine ? 2000 : 1000;
            run r = slider_with_term(0, term, 0, v0, (sim_integrator)(k / 2), 1. / steps);
            for (int i = 0; i < steps; i++) {
                step(r);
            }
            error[fine] = fabs(v(r)[0] - due);
            stop(r);
        }
        cr_expect(error[0] < 5e-3, "%d: %g", k, error[0]);
        cr_expect(error[1] < 0.6 * error[0] || error[1] < 1e-9, "%d: %g, %g", k, error[0], error[1]);
    }
}
