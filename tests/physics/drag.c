/* Bodies in a fluid against closed forms, and against the formulas of MuJoCo written once more. */
#include "support/models.h"
#include "support/worlds.h"

#include "math/spatial.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <sim/step_derivatives.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- a body that falls ---- */

typedef struct fall {
    sim_model *model;
    sim_world *world;
} fall;

/* With rigid contacts. */
static sim_world *open_exact(const sim_model *m, sim_integrator integrator, double step) {
    sim_options options = sim_options_default();
    sim_error error = {0};
    options.integrator = integrator;
    options.step = step;
    options.tolerance = 1e-13;
    options.compliance = SIM_RIGID;
    sim_world *w = sim_world_create(m, &options, &error);
    cr_assert(w, "%s", error.text);
    return w;
}

/* Freely, with an inertia and, if it has a type, a resistance. */
static fall fall_begin(const sim_inertia *inertia, const sim_fluid *fluid, const sim_drag *drag,
                       sim_integrator integrator, double step) {
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    sim_error error = {0};
    sim_builder_fluid(builder, fluid);
    def.inertia = *inertia;
    int body = sim_builder_add_body(builder, &def);
    if (drag) {
        sim_drag own = *drag;
        own.body = body;
        sim_builder_add_drag(builder, &own);
    }
    fall f = {.model = sim_builder_finish(builder, &error)};
    cr_assert(f.model, "%s", error.text);
    f.world = open_exact(f.model, integrator, step);
    return f;
}

static void fall_end(fall *f) {
    sim_world_free(f->world);
    sim_model_free(f->model);
}

static double speed_of(const fall *f) { return -sim_world_state(f->world)->v[2]; }

/* A ball of radius r: the box of its inertia is a cube of the edge sqrt(12/5) r. */
Test(drag, a_ball_in_honey_falls_as_stokes_law_says) {
    const double r = 0.05, mass = 0.5, viscosity = 2, g = 9.81;
    double I = 0.4 * mass * r * r;
    sim_inertia ball = {.mass = mass, .moment = {I, I, I, 0, 0, 0}};
    sim_fluid honey = {.viscosity = viscosity};
    sim_drag ellipsoid = sim_drag_default();
    ellipsoid.type = SIM_DRAG_ELLIPSOID;
    ellipsoid.size[0] = ellipsoid.size[1] = ellipsoid.size[2] = r;
    for (int kind = 0; kind < 2; kind++) {
        double edge = kind ? 2 * r : sqrt(2.4) * r, tau = mass / (3 * PI * edge * viscosity);
        for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
            double dt = 2e-3, error[2];
            for (int half = 0; half < 2; half++, dt /= 2) {
                fall f = fall_begin(&ball, &honey, kind ? &ellipsoid : NULL, (sim_integrator)integrator, dt);
                int steps = (int)lround(0.2 / dt);
                run_world(f.world, steps);
                error[half] = fabs(speed_of(&f) / (g * tau * (1 - exp(-0.2 / tau))) - 1);
                run_world(f.world, 50 * steps);
                cr_expect_float_eq(speed_of(&f), g * tau, 1e-9 * g * tau, "%d: %.15g", integrator, speed_of(&f));
                fall_end(&f);
            }
            double order = integrator == SIM_MIDPOINT ? 2 : integrator == SIM_RK4 ? 4 : 1;
            cr_expect(error[1] < 1e-12 || error[0] / error[1] > 0.85 * pow(2, order), "%d: %g, %g", integrator,
                      error[0], error[1]);
        }
    }
}

/* v = u tanh(g t / u), u^2 = 2 m g / (rho A). */
Test(drag, a_box_in_air_falls_as_a_hyperbolic_tangent) {
    const double mass = 0.02, density = 1.2, g = 9.81, x = 0.3, y = 0.2, z = 0.1;
    sim_inertia box = box_inertia(mass, x, y, z);
    sim_fluid air = {.density = density};
    double u = sqrt(2 * mass * g / (density * x * y));
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        double dt = 4e-3, error[2], exact = u * tanh(g * 0.4 / u);
        for (int half = 0; half < 2; half++, dt /= 2) {
            fall f = fall_begin(&box, &air, NULL, (sim_integrator)integrator, dt);
            run_world(f.world, (int)lround(0.4 / dt));
            error[half] = fabs(speed_of(&f) / exact - 1);
            run_world(f.world, 5000);
            cr_expect_float_eq(speed_of(&f), u, 1e-9, "%d: %.15g, not %.15g", integrator, speed_of(&f), u);
            fall_end(&f);
        }
        double order = integrator == SIM_MIDPOINT ? 2 : integrator == SIM_RK4 ? 4 : 1;
        cr_expect(error[0] / error[1] > 0.85 * pow(2, order), "%d: %g, %g", integrator, error[0], error[1]);
    }
}

/* As pitch: a thousand time constants in a step. */
Test(drag, is_stable_at_steps_far_beyond_its_time_constant) {
    sim_inertia box = box_inertia(1, 0.3, 0.2, 0.1);
    sim_fluid pitch = {.density = 1000, .viscosity = 1e5, .wind = {0, 3, 0}};
    box.com = (v3){0.1, -0.2, 0.3};
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        if (integrator == SIM_RK4) {
            continue;
        }
        fall f = fall_begin(&box, &pitch, NULL, (sim_integrator)integrator, 0.01);
        int unconverged = 0;
        for (int k = 0; k < 20000; k++) {
            run_world(f.world, 1);
            unconverged += sim_world_info(f.world)->nonconverged;
        }
        cr_expect_float_eq(sim_world_state(f.world)->v[1], 3, 1e-3, "%d: %g", integrator,
                           sim_world_state(f.world)->v[1]);
        cr_expect_eq(unconverged, 0, "%d: %d", integrator, unconverged);
        fall_end(&f);
    }
}

/* ---- the formulas ---- */

/* Of a box of inertia, and of an ellipsoid without its added mass: moment, force. */
static void mujoco_box(const double e[3], double rho, double eta, const double v[6], double f[6]) {
    double d = (e[0] + e[1] + e[2]) / 3;
    for (int k = 0; k < 3; k++) {
        f[k] = -PI * d * d * d * eta * v[k];
        f[3 + k] = -3 * PI * d * eta * v[3 + k];
    }
    f[3] -= 0.5 * rho * e[1] * e[2] * fabs(v[3]) * v[3];
    f[4] -= 0.5 * rho * e[0] * e[2] * fabs(v[4]) * v[4];
    f[5] -= 0.5 * rho * e[0] * e[1] * fabs(v[5]) * v[5];
    f[0] -= rho * e[0] * (pow(e[1], 4) + pow(e[2], 4)) * fabs(v[0]) * v[0] / 64;
    f[1] -= rho * e[1] * (pow(e[0], 4) + pow(e[2], 4)) * fabs(v[1]) * v[1] / 64;
    f[2] -= rho * e[2] * (pow(e[0], 4) + pow(e[1], 4)) * fabs(v[2]) * v[2] / 64;
}

static void mujoco_ellipsoid(const sim_drag *g, double rho, double eta, const double v[6], double f[6]) {
    /* sizes in order */
    double a = g->size[0], b = g->size[1], c = g->size[2];
    v3 w = {v[0], v[1], v[2]}, u = {v[3], v[4], v[5]};
    double big = fmax(a, fmax(b, c)), small = fmin(a, fmin(b, c)), middle = a + b + c - big - small;
    /* area across the way: that of the shadow of the ellipsoid along u */
    double speed = v3_norm(u), volume = 4 * PI * a * b * c / 3;
    v3 n = {b * b * c * c * u.x, a * a * c * c * u.y, a * a * b * b * u.z};
    double square = pow(b * c, 4) * u.x * u.x + pow(c * a, 4) * u.y * u.y + pow(a * b, 4) * u.z * u.z;
    double along = pow(b * c * u.x, 2) + pow(c * a * u.y, 2) + pow(a * b * u.z, 2);
    double area = PI * sqrt(square / along), cosine = along / (speed * square);
    v3 F = v3_scale(g->magnus * rho * volume, v3_cross(w, u));
    F = v3_axpy(F, g->kutta * rho * cosine * area, v3_cross(v3_cross(n, u), u));
    double push =
        eta * 3 * PI * 2 * (a + b + c) / 3 + rho * speed * (area * g->blunt + g->slender * (PI * big * middle - area));
    F = v3_axpy(F, -push, u);
    /* turning */
    double D = 2 * (a + b + c) / 3, most = 8.0 / 15 * PI * middle * pow(big, 4), sum = 0;
    double I[3] = {8.0 / 15 * PI * a * pow(fmax(b, c), 4), 8.0 / 15 * PI * b * pow(fmax(a, c), 4),
                   8.0 / 15 * PI * c * pow(fmax(a, b), 4)};
    for (int k = 0; k < 3; k++) {
        sum += pow(v[k] * (g->angular * I[k] + g->slender * (most - I[k])), 2);
    }
    v3 T = v3_scale(-(eta * PI * D * D * D + rho * sqrt(sum)), w);
    /* momentum of the added mass */
    v3 p = {rho * g->added_mass[0] * u.x, rho * g->added_mass[1] * u.y, rho * g->added_mass[2] * u.z};
    v3 L = {rho * g->added_inertia[0] * w.x, rho * g->added_inertia[1] * w.y, rho * g->added_inertia[2] * w.z};
    F = v3_add(F, v3_cross(p, w));
    T = v3_add(T, v3_add(v3_cross(p, u), v3_cross(L, w)));
    memcpy(f, (double[]){T.x, T.y, T.z, F.x, F.y, F.z}, 6 * sizeof *f);
}

static void mujoco_force(const sim_drag *drag, const sim_fluid *fluid, const double v[6], double f[6]) {
    if (drag->type == SIM_DRAG_BOX) {
        mujoco_box(drag->size, fluid->density, fluid->viscosity, v, f);
    } else {
        mujoco_ellipsoid(drag, fluid->density, fluid->viscosity, v, f);
    }
}

/* kappa_k = abc times the integral of 1 / ((r_k^2 + s) sqrt((a^2 + s)(b^2 + s)(c^2 + s))) ds over s > 0, by the
 * trapezoidal rule in t, s = exp(t - exp(-t)): it converges beyond all orders. */
static double added_share(const double r[3], int k) {
    double sum = 0, step = 1e-2;
    for (int i = -600; i < 8000; i++) {
        double t = i * step, s = exp(t - exp(-t)), ds = s * (1 + exp(-t));
        double root = sqrt((r[0] * r[0] + s) * (r[1] * r[1] + s) * (r[2] * r[2] + s));
        sum += step * ds / ((r[k] * r[k] + s) * root);
    }
    return r[0] * r[1] * r[2] * sum;
}

Test(drag, added_mass_is_that_of_potential_flow) {
    random_source random = {7};
    for (int trial = 0; trial < 20; trial++) {
        sim_drag e = sim_drag_default();
        double share[3], volume = 4 * PI / 3;
        e.type = SIM_DRAG_ELLIPSOID;
        for (int k = 0; k < 3; k++) {
            e.size[k] = random_uniform(&random, 0.05, 1);
            volume *= e.size[k];
        }
        sim_drag_complete(&e);
        for (int k = 0; k < 3; k++) {
            share[k] = added_share(e.size, k);
            double exact = volume * share[k] / (2 - share[k]);
            cr_expect_float_eq(e.added_mass[k], exact, 1e-11 * exact, "%.15g, not %.15g", e.added_mass[k], exact);
        }
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double less = e.size[i] * e.size[i] - e.size[j] * e.size[j], sum = pow(e.size[i], 2) + pow(e.size[j], 2);
            double exact = volume * less * less * (share[j] - share[i]) / (2 * less + sum * (share[i] - share[j])) / 5;
            cr_expect_float_eq(e.added_inertia[k], exact, 1e-8 * fabs(exact), "%.15g, not %.15g", e.added_inertia[k],
                               exact);
        }
    }
    /* a ball moves half its volume, and turns none */
    sim_drag ball = sim_drag_default();
    ball.type = SIM_DRAG_ELLIPSOID;
    ball.size[0] = ball.size[1] = ball.size[2] = 0.3;
    sim_drag_complete(&ball);
    cr_expect_float_eq(ball.added_mass[1], 2 * PI / 3 * 0.027, 1e-14);
    cr_expect_eq(ball.added_inertia[1], 0);
}

/* Lengths times 2^-k at the same times and density: forces times 2^-4k, moments times 2^-5k.  At k = 20 a
 * body of 20 cm has 0.2 um. */
Test(drag, is_the_same_for_bodies_of_any_size) {
    random_source random = {13};
    for (int trial = 0; trial < 40; trial++) {
        sim_inertia inertia = random_inertia(&random);
        sim_drag large = sim_drag_of_inertia(&inertia);
        if (trial % 2) {
            large.type = SIM_DRAG_ELLIPSOID;
            sim_drag_complete(&large);
        }
        double v[6];
        for (int i = 0; i < 6; i++) {
            v[i] = random_uniform(&random, -3, 3);
        }
        sim_fluid fluid = {.density = 1.2, .viscosity = 1e-3};
        sim_force f = sim_drag_force(&large, &fluid, (sim_motion){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}, NULL);
        for (int k = -20; k <= 20; k += 10) {
            double L = pow(2, -k), M = pow(L, 3), I = M * L * L;
            const sym3 *a = &inertia.moment;
            sim_inertia less = {.mass = M * inertia.mass,
                                .com = v3_scale(L, inertia.com),
                                .moment = {I * a->xx, I * a->yy, I * a->zz, I * a->xy, I * a->xz, I * a->yz}};
            sim_drag small = sim_drag_of_inertia(&less);
            small.type = large.type;
            sim_drag_complete(&small);
            sim_fluid thin = {.density = fluid.density, .viscosity = L * L * fluid.viscosity};
            sim_motion u = {{v[0], v[1], v[2]}, {L * v[3], L * v[4], L * v[5]}};
            sim_force g = sim_drag_force(&small, &thin, u, NULL);
            v3 F = v3_scale(1 / (M * L), g.lin), T = v3_scale(1 / I, g.ang);
            cr_expect_lt(v3_norm(v3_sub(F, f.lin)), 1e-12 * v3_norm(f.lin), "%d, %g m: %g of %g N", trial, L,
                         v3_norm(F), v3_norm(f.lin));
            cr_expect_lt(v3_norm(v3_sub(T, f.ang)), 1e-12 * v3_norm(f.ang), "%d, %g m: %g of %g N m", trial, L,
                         v3_norm(T), v3_norm(f.ang));
        }
    }
}

/* The slopes by which a step is implicit: those of the force, and of the moment, along each axis. */
Test(drag, has_the_slopes_of_its_force_along_its_axes) {
    random_source random = {17};
    const double h = 1e-5;
    for (int trial = 0; trial < 20; trial++) {
        sim_inertia inertia = random_inertia(&random);
        sim_drag drag = sim_drag_of_inertia(&inertia);
        drag.type = trial % 2 ? SIM_DRAG_ELLIPSOID : SIM_DRAG_BOX;
        sim_fluid fluid = {.density = 1.2, .viscosity = 1e-3};
        for (int k = 0; k < 6; k++) {
            double v = random_uniform(&random, 1, 3), slope[6], f[2];
            for (int side = 0; side < 2; side++) {
                double u[6] = {0};
                u[k] = side ? v + h : v - h;
                sim_motion at = {{u[0], u[1], u[2]}, {u[3], u[4], u[5]}};
                sim_force g = sim_drag_force(&drag, &fluid, at, slope);
                const double all[6] = {g.ang.x, g.ang.y, g.ang.z, g.lin.x, g.lin.y, g.lin.z};
                f[side] = all[k];
            }
            double due = (f[0] - f[1]) / (2 * h);
            cr_expect_float_eq(slope[k], due, 1e-4 * due, "%d, axis %d: %g, not %g", trial, k, slope[k], due);
        }
    }
}

/* ---- trees ---- */

/* An arm with a universal joint, hinges, a slider and fixed parts; boxes of inertia, but for two of its bodies.  `ball`:
 * on a ball joint. */
static sim_model *arm_in_water(bool ball, const sim_fluid *fluid, random_source *random) {
    static const sim_joint_type joint[] = {SIM_UNIVERSAL, SIM_FIXED, SIM_HINGE, SIM_SLIDER, SIM_HINGE, SIM_HINGE};
    sim_builder *builder = sim_builder_create();
    sim_error error = {0};
    sim_builder_fluid(builder, fluid);
    for (int k = 0, parent = 0; k < 6; k++) {
        sim_body_def def = sim_body_default();
        def.joint = ball && k == 0 ? SIM_BALL : joint[k];
        def.parent = parent;
        def.placement = (sim_pose){random_rotation(random), {0.1, 0.2, 0.1}};
        def.inertia = random_inertia(random);
        for (int i = 0; i < sim_joint_nv(def.joint); i++) {
            def.v[i] = random_uniform(random, -4, 4);
        }
        parent = sim_builder_add_body(builder, &def);
        sim_drag e = sim_drag_default();
        e.body = parent;
        e.type = SIM_DRAG_ELLIPSOID;
        e.pose = (sim_pose){random_rotation(random), {0.05, -0.03, 0.02}};
        for (int i = 0; i < 3; i++) {
            e.size[i] = random_uniform(random, 0.05, 0.2);
        }
        for (int i = 0; i < 2 && (k == 1 || k == 4); i++) { /* two of them on the same body */
            e.size[0] *= 1.3;
            sim_builder_add_drag(builder, &e);
        }
    }
    sim_model *m = sim_builder_finish(builder, &error);
    cr_assert(m, "%s", error.text);
    return m;
}

/* M(q0) a + C(q0, 0) = J' f(v1): symplectic Euler, whose velocity products of trees of plain joints are those at v0. */
Test(drag, a_step_has_the_forces_of_mujoco_at_its_end_velocities) {
    random_source random = {11};
    sim_fluid water = {.density = 900, .viscosity = 0.3, .wind = {0.4, -0.2, 0.1}};
    for (int trial = 0; trial < 20; trial++) {
        sim_model *m = arm_in_water(false, &water, &random);
        sim_world *w = open_exact(m, SIM_SYMPLECTIC_EULER, 2e-3);
        sim_derived *d = sim_derived_create(m, NULL);
        double v0[16], a[16], tau[16], scale = 0;
        memcpy(v0, sim_world_state(w)->v, (size_t)m->nv * sizeof *v0);
        run_world(w, 1);
        const double *v1 = sim_world_state(w)->v;
        sim_kinematics(d, sim_all(m), m->q_initial);
        sim_velocities(d, sim_all(m), v1);
        force f[8] = {0};
        for (int k = 0; k < m->ndrag; k++) {
            const sim_drag *drag = &m->drag[k];
            pose X = pose_product(d->pose[drag->body], drag->pose);
            v3 lever = v3_sub(X.p, d->pose[drag->body].p);
            motion u = motion_at_child(d->vel[drag->body], lever);
            u.lin = v3_sub(u.lin, water.wind);
            v3 ang = m3_transposed_times(X.R, u.ang), lin = m3_transposed_times(X.R, u.lin);
            double there[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z}, g[6];
            mujoco_force(drag, &water, there, g);
            force own = {m3_times(X.R, (v3){g[0], g[1], g[2]}), m3_times(X.R, (v3){g[3], g[4], g[5]})};
            f[drag->body] = force_add(f[drag->body], force_at_parent(own, lever));
        }
        for (int j = 0; j < m->nv; j++) {
            a[j] = (v1[j] - v0[j]) / 2e-3;
        }
        sim_velocities(d, sim_all(m), v0);
        sim_rnea(d, sim_all(m), NULL, f, m->gravity, tau);
        for (int j = 0; j < m->nv; j++) {
            scale = fmax(scale, fabs(tau[j]));
        }
        sim_rnea(d, sim_all(m), a, f, m->gravity, tau);
        for (int j = 0; j < m->nv; j++) {
            cr_expect_float_eq(tau[j], 0, 1e-10 * scale, "%d: %g of %g", j, tau[j], scale);
        }
        sim_derived_free(d);
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Without gravity and wind. */
Test(drag, only_takes_energy) {
    random_source random = {5};
    for (int trial = 0; trial < 24; trial++) {
        sim_fluid water = {.density = 1000, .viscosity = trial % 3 ? 0.1 : 10};
        sim_model *m = arm_in_water(trial % 2, &water, &random);
        sim_integrator integrator[] = {SIM_MIDPOINT, SIM_IMPLICIT_EULER};
        ((sim_model *)m)->gravity = (v3){0, 0, 0};
        sim_world *w = open_exact(m, integrator[trial / 2 % 2], 2e-3);
        double before = sim_world_energy(w).kinetic, first = before;
        for (int k = 0; k < 300; k++) {
            run_world(w, 1);
            double now = sim_world_energy(w).kinetic;
            cr_expect_leq(now, before + 1e-9 * first, "trial %d, step %d: %.12g after %.12g", trial, k, now, before);
            cr_expect_eq(sim_world_info(w)->nonconverged, 0);
            before = now;
        }
        cr_expect_lt(before, 0.7 * first, "%g of %g", before, first);
        sim_world_free(w);
        sim_model_free(m);
    }
}

Test(drag, has_no_derivatives_of_steps_yet) {
    random_source random = {3};
    sim_model *m = arm_in_water(false, &(sim_fluid){.density = 1}, &random);
    sim_world *w = open_exact(m, SIM_MIDPOINT, 1e-3);
    sim_step_derivatives *work = sim_step_derivatives_create(m, NULL);
    sim_error error = {0};
    run_world(w, 1);
    cr_expect_eq(sim_world_step_derivatives(w, work, &(sim_step_jacobian){0}, &error), SIM_BAD_INPUT);
    cr_expect(strstr(error.text, "fluid"), "%s", error.text);
    sim_step_derivatives_free(work);
    sim_world_free(w);
    sim_model_free(m);
}

/* ---- contact ---- */

/* Of a ball of 2 kg on the ground: m (v1 - v0)/dt = N - m g - 3 pi d eta v1, eight times as much drag as inertia. */
Test(drag, acts_at_the_velocities_that_contacts_leave) {
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        if (integrator == SIM_RK4) {
            continue;
        }
        sim_builder *builder = sim_builder_create();
        sim_error error = {0};
        sim_builder_fluid(builder, &(sim_fluid){.viscosity = 1000});
        sim_shape ground = sim_shape_default(), ball = sim_shape_default();
        ground.type = SIM_HALF_SPACE;
        sim_builder_add_shape(builder, &ground);
        sim_body_def def = sim_body_default();
        def.inertia = (sim_inertia){.mass = 2, .moment = {0.008, 0.008, 0.008, 0, 0, 0}};
        def.q[2] = 0.1;
        ball.body = sim_builder_add_body(builder, &def);
        ball.size[0] = 0.1;
        sim_builder_add_shape(builder, &ball);
        sim_model *m = sim_builder_finish(builder, &error);
        cr_assert(m, "%s", error.text);
        sim_world *w = open_exact(m, (sim_integrator)integrator, 5e-3);
        double edge = m->drag[0].size[0], v0 = 0;
        for (int k = 0; k < 5; k++) {
            run_world(w, 1);
            const sim_state *s = sim_world_state(w);
            cr_assert_eq(s->ncontact, 1);
            double v1 = s->v[2], at = v0 + (integrator == SIM_MIDPOINT ? 0.5 : 1) * (v1 - v0);
            double press = 2 * ((v1 - v0) / 5e-3 + 9.81) + 3 * PI * edge * 1000 * at;
            cr_expect_float_eq(fabs(s->impulse[0].z) / 5e-3, press, 1e-8, "%d: %.12g, not %.12g", integrator,
                               fabs(s->impulse[0].z) / 5e-3, press);
            cr_expect_float_eq(press, 2 * 9.81, 0.01);
            v0 = v1;
        }
        sim_world_free(w);
        sim_model_free(m);
    }
}

/* Chains of 5, 30 and 60 dofs, for which A is stored in three ways: dry friction of a joint that slides is the same
 * effort, applied.  Symplectic Euler, and a fluid without density: all is linear in the end velocities. */
Test(drag, is_part_of_the_inertia_that_constraints_meet) {
    const int links[] = {5, 30, 60};
    const double effort = 0.5;
    for (int n = 0; n < 3; n++) {
        double v[2][60];
        int middle = links[n] / 2;
        for (int rows = 0; rows < 2; rows++) {
            sim_builder *builder = sim_builder_create();
            sim_error error = {0};
            sim_builder_fluid(builder, &(sim_fluid){.viscosity = 5, .wind = {1, 2, 0}});
            for (int k = 0, parent = 0; k < links[n]; k++) {
                sim_body_def def = sim_body_default();
                def.joint = SIM_HINGE;
                def.axis = k % 2 ? (v3){0, 1, 0} : (v3){0, 0, 1};
                def.parent = parent;
                def.placement.p.x = k ? 0.2 : 0;
                def.inertia = box_inertia(0.2, 0.2, 0.05, 0.02);
                def.inertia.com.x = 0.1;
                def.v[0] = k == middle ? 20 : 0;
                def.friction[0] = rows && k == middle ? effort : 0;
                parent = sim_builder_add_body(builder, &def);
            }
            sim_model *m = sim_builder_finish(builder, &error);
            cr_assert(m, "%s", error.text);
            sim_world *w = open_exact(m, SIM_SYMPLECTIC_EULER, 1e-3);
            sim_world_applied(w)[middle] = rows ? 0 : -effort;
            run_world(w, 2);
            memcpy(v[rows], sim_world_state(w)->v, (size_t)m->nv * sizeof **v);
            cr_assert_gt(v[rows][middle], 0);
            sim_world_free(w);
            sim_model_free(m);
        }
        double most = 0, off = 0;
        for (int j = 0; j < links[n]; j++) {
            most = fmax(most, fabs(v[0][j]));
            off = fmax(off, fabs(v[0][j] - v[1][j]));
        }
        cr_expect_leq(off, 1e-9 * most, "%d links: %g of %g", links[n], off, most);
    }
}
