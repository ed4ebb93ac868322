/* Conserved quantities: energy, momentum, angular momentum. */
#include "support/models.h"
#include "support/share.h"

#include "math/v3.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static sim_world *start(const sim_model *m, sim_integrator integrator, double step) {
    sim_options options = sim_options_default();
    options.integrator = integrator;
    options.step = step;
    sim_world *w = sim_world_create(m, &options, NULL);
    cr_assert_not_null(w);
    return w;
}

static void step(sim_world *w) {
    sim_error error;
    cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
}

static double total(sim_world *w) {
    sim_energy e = sim_world_energy(w);
    return e.kinetic + e.potential;
}

/* Energy over MgL/2, at the end of 5 s of 1 ms steps; the worst on the way in `worst`. */
static double chain_drift(int links, double *worst) {
    sim_model *m = swinging_chain(links);
    sim_world *w = start(m, SIM_MIDPOINT, 1e-3);
    double before = total(w), scale = links * 0.2 * 9.81 * links * 0.2 / 2, drift = 0;
    *worst = 0;
    for (int k = 0; k < 5000; k++) {
        step(w);
        drift = (total(w) - before) / scale;
        *worst = fmax(*worst, fabs(drift));
        cr_assert_eq(sim_world_info(w)->nonconverged, 0);
    }
    sim_world_free(w);
    sim_model_free(m);
    return drift;
}

Test(conservation, free_swinging_chains_keep_their_energy_to_a_thousandth) {
    const int links[] = {10, 50, 100, 500};
    for (int k = 0; k < trials_of(4); k++) {
        double worst, end = chain_drift(links[k], &worst);
        cr_log_warn("chain of %d: energy change over MgL/2 %.2g at the end, %.2g at worst", links[k], end, worst);
        cr_expect(fabs(end) <= 1e-3, "%d links: %g", links[k], end);
    }
}

/* A floating tree of 20 links in free fall, wriggling. */
static sim_model *floating_tree(v3 gravity) {
    random_source r = {77};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, gravity);
    for (int i = 0; i < 20; i++) {
        sim_body_def def = sim_body_default();
        def.joint = i == 0 ? SIM_FREE : i % 4 == 0 ? SIM_BALL : i % 5 == 0 ? SIM_UNIVERSAL : SIM_HINGE;
        def.parent = i == 0 ? 0 : 1 + random_index(&r, i);
        def.placement = i ? (sim_pose){random_rotation(&r), v3_scale(0.3, random_unit(&r))} : def.placement;
        def.inertia = random_inertia(&r);
        for (int k = 0; k < SIM_MAX_JOINT_NV; k++) {
            def.v[k] = random_uniform(&r, -2, 2);
        }
        sim_builder_add_body(builder, &def);
    }
    return sim_builder_finish(builder, NULL);
}

Test(conservation, a_floating_tree_keeps_momentum_and_energy_better_with_every_halving_of_the_step) {
    double momentum_error[2], angular_error[2], energy_error[2];
    for (int fine = 0; fine < 2; fine++) {
        sim_model *m = floating_tree((v3){0, 0, 0});
        double h = fine ? 1e-3 : 2e-3;
        sim_world *w = start(m, SIM_MIDPOINT, h);
        sim_force p0 = sim_world_momentum(w);
        double e0 = total(w);
        for (int k = 0; k < (int)(2 / h + 0.5); k++) {
            step(w);
        }
        sim_force p = sim_world_momentum(w);
        momentum_error[fine] = v3_norm(v3_sub(p.lin, p0.lin)) / v3_norm(p0.lin);
        angular_error[fine] = v3_norm(v3_sub(p.ang, p0.ang)) / v3_norm(p0.ang);
        energy_error[fine] = fabs(total(w) / e0 - 1);
        sim_world_free(w);
        sim_model_free(m);
    }
    cr_log_warn("floating 20-link tree, 2 s at 1 ms: momentum %.2g, angular %.2g, energy %.2g (relative)",
                momentum_error[1], angular_error[1], energy_error[1]);
    cr_expect(momentum_error[1] < 1e-4 && momentum_error[1] < 0.3 * momentum_error[0], "%g %g", momentum_error[0],
              momentum_error[1]);
    cr_expect(angular_error[1] < 1e-4 && angular_error[1] < 0.3 * angular_error[0], "%g %g", angular_error[0],
              angular_error[1]);
    cr_expect(energy_error[1] < 1e-4 && energy_error[1] < 0.3 * energy_error[0], "%g %g", energy_error[0],
              energy_error[1]);
}

/* A free body and two that hang on it by hinges, which turn against dry friction all the time.  No shape can touch. */
static sim_model *tree_with_dry_friction(void) {
    static const v3 axis[] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    sim_builder *builder = sim_builder_create();
    sim_builder_gravity(builder, (sim_v3){0, 0, 0});
    for (int i = 0; i < 3; i++) {
        sim_body_def def = sim_body_default();
        def.joint = i ? SIM_HINGE : SIM_FREE;
        def.parent = i;
        def.axis = axis[i];
        def.placement.p = v3_make(0, 0, i ? -1 : 0);
        def.inertia = (sim_inertia){1, {0, 0, i ? 0 : -0.5}, {.xx = 0.1, .yy = 0.2, .zz = 0.15}};
        def.friction[0] = i ? 0.5 : 0;
        for (int k = 0; k < SIM_MAX_JOINT_NV; k++) {
            def.v[k] = i ? 6 : 0.2 * k;
        }
        sim_builder_add_body(builder, &def);
    }
    return sim_builder_finish(builder, NULL);
}

Test(conservation, dry_friction_of_joints_takes_momentum_to_second_order_only) {
    double linear[2], angular[2];
    for (int fine = 0; fine < 2; fine++) {
        sim_model *m = tree_with_dry_friction();
        double h = fine ? 1e-3 : 2e-3;
        sim_world *w = start(m, SIM_MIDPOINT, h);
        sim_force p0 = sim_world_momentum(w);
        for (int k = 0; k < (int)(0.1 / h + 0.5); k++) {
            step(w);
            const double *v = sim_world_state(w)->v;
            cr_assert_gt(fmin(fabs(v[6]), fabs(v[7])), 0.1);
        }
        sim_force p = sim_world_momentum(w);
        linear[fine] = v3_norm(v3_sub(p.lin, p0.lin)) / v3_norm(p0.lin);
        angular[fine] = v3_norm(v3_sub(p.ang, p0.ang)) / v3_norm(p0.ang);
        sim_world_free(w);
        sim_model_free(m);
    }
    cr_log_warn("dry friction: linear %.2g %.2g, angular %.2g %.2g", linear[0], linear[1], angular[0], angular[1]);
    cr_expect(linear[1] < 0.3 * linear[0] && linear[1] < 1e-5, "%g %g", linear[0], linear[1]);
    cr_expect(angular[1] < 0.3 * angular[0] && angular[1] < 1e-5, "%g %g", angular[0], angular[1]);
}

Test(conservation, the_floating_tree_keeps_momentum_to_the_order_of_runge_kutta) {
    sim_model *m = floating_tree((v3){0, 0, 0});
    sim_world *w = start(m, SIM_RK4, 5e-4);
    sim_force p0 = sim_world_momentum(w);
    double e0 = total(w);
    for (int k = 0; k < 4000; k++) {
        step(w);
    }
    sim_force p = sim_world_momentum(w);
    cr_expect(v3_norm(v3_sub(p.lin, p0.lin)) < 1e-8 * v3_norm(p0.lin), "%g", v3_norm(v3_sub(p.lin, p0.lin)));
    cr_expect(v3_norm(v3_sub(p.ang, p0.ang)) < 1e-8 * v3_norm(p0.ang), "%g", v3_norm(v3_sub(p.ang, p0.ang)));
    cr_expect(fabs(total(w) / e0 - 1) < 1e-8, "%g", total(w) / e0 - 1);
    sim_world_free(w);
    sim_model_free(m);
}

/* Where a tree turns far in a step, its momentum follows the outer forces to rounding: 0.04 rad here. */
Test(conservation, a_floating_tree_that_turns_fast_falls_by_its_weight_alone) {
    const double h = 0.02;
    const v3 g = {1, 2, -9.81};
    sim_model *m = floating_tree(g);
    sim_world *w = start(m, SIM_MIDPOINT, h);
    double mass = 0, most = 0;
    for (int i = 1; i < m->nbody; i++) {
        mass += m->inertia[i].mass;
    }
    for (int k = 0; k < 50; k++) {
        v3 before = sim_world_momentum(w).lin;
        step(w);
        most = fmax(most, v3_norm(v3_sub(sim_world_momentum(w).lin, v3_axpy(before, h * mass, g))));
    }
    cr_expect(most < 1e-10 * mass, "%g N s of %g kg", most, mass);
    sim_world_free(w);
    sim_model_free(m);
}

/* A heavy body on a ball joint with a spring: the torque must be the slope of the energy, in every direction. */
Test(conservation, a_ball_joint_with_a_spring_keeps_its_energy) {
    random_source r = {31};
    sim_builder *builder = sim_builder_create();
    for (int i = 0; i < 2; i++) {
        sim_body_def def = sim_body_default();
        def.joint = SIM_BALL;
        def.parent = i;
        def.placement = (sim_pose){random_rotation(&r), {0.2, 0, 0}};
        def.inertia = random_inertia(&r);
        for (int k = 0; k < 3; k++) {
            def.stiffness[k] = 400;
            def.v[k] = random_uniform(&r, -3, 3);
        }
        sim_builder_add_body(builder, &def);
    }
    sim_model *m = sim_builder_finish(builder, NULL);
    sim_world *w = start(m, SIM_RK4, 2.5e-4);
    double e0 = total(w), worst = 0, kinetic = sim_world_energy(w).kinetic, lowest = kinetic;
    for (int k = 0; k < 4000; k++) {
        step(w);
        worst = fmax(worst, fabs(total(w) - e0));
        lowest = fmin(lowest, sim_world_energy(w).kinetic);
    }
    cr_expect(worst < 1e-7 * kinetic, "%g of %g", worst, kinetic);
    cr_expect(lowest < 0.5 * kinetic, "the spring stores energy");
    sim_world_free(w);
    sim_model_free(m);
}

Test(conservation, symplectic_euler_bounds_the_energy_of_a_spring_over_100000_steps) {
    sim_builder *builder = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_SLIDER;
    def.axis = (v3){1, 0, 0};
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    def.stiffness[0] = 100;
    def.q[0] = 1;
    sim_builder_add_body(builder, &def);
    sim_model *m = sim_builder_finish(builder, NULL);
    sim_world *w = start(m, SIM_SYMPLECTIC_EULER, 0.01); /* omega h = 0.1: energy oscillates by about 5 % */
    double e0 = total(w), low = e0, high = e0, late_low = INFINITY, late_high = 0;
    for (int k = 0; k < 100000; k++) {
        step(w);
        double e = total(w);
        low = fmin(low, e);
        high = fmax(high, e);
        if (k >= 99000) {
            late_low = fmin(late_low, e);
            late_high = fmax(late_high, e);
        }
    }
    cr_expect(high < 1.06 * e0 && low > 0.94 * e0, "%g %g", low / e0, high / e0);
    cr_expect(fabs(late_high / high - 1) < 1e-3 && fabs(late_low / low - 1) < 1e-3);
    sim_world_free(w);
    sim_model_free(m);
}

Test(conservation, dampers_only_take_energy) {
    for (int integrator = 0; integrator < SIM_INTEGRATORS; integrator++) {
        random_source r = {99};
        sim_builder *builder = sim_builder_create();
        for (int i = 0; i < 6; i++) {
            sim_body_def def = sim_body_default();
            def.joint = SIM_HINGE;
            def.parent = i;
            def.placement = (sim_pose){random_rotation(&r), {0.2, 0, 0}};
            def.inertia = random_inertia(&r);
            def.damping[0] = 0.5;
            def.stiffness[0] = 3;
            def.v[0] = 2;
            sim_builder_add_body(builder, &def);
        }
        sim_model *m = sim_builder_finish(builder, NULL);
        sim_world *w = start(m, (sim_integrator)integrator, 1e-3);
        double e0 = total(w);
        for (int k = 0; k < part_of(30000); k++) {
            step(w);
        }
        cr_expect(total(w) < e0);
        cr_expect(sim_world_energy(w).kinetic < 1e-3 * fabs(e0) || is_part(), "%s: %g",
                  sim_integrator_name((sim_integrator)integrator), sim_world_energy(w).kinetic);
        sim_world_free(w);
        sim_model_free(m);
    }
}
