/* Actuators with an effort limit, in contact: their limit is part of the problem that contact is. */
#include "arms.h"
#include "math/v3.h"
#include "support/share.h"
#include "support/touched.h"
#include "support/worlds.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Efforts that the controllers ask for, and give, with v0, q0 at the start of the step and v at its end. */
static void law(const arm *a, const double *q0, const double *v0, const double *v, double *gives, int *side) {
    double theta = a->y.options.integrator == SIM_MIDPOINT || a->y.options.integrator == SIM_MOREAU ? 0.5 : 1;
    for (int i = 0; i < LINKS; i++) {
        const sim_actuator *s = &a->servo[i];
        double q1 = q0[i] + dt * (v0[i] + theta * (v[i] - v0[i])), asked = s->kp * (a->target[i] - q1) - s->kd * v[i];
        gives[i] = fmax(-s->effort, fmin(s->effort, asked));
        side[i] = (asked > s->effort) - (asked < -s->effort);
    }
}

typedef struct moment {
    double q[LINKS], v[LINKS];
} moment;

static moment moment_of(const arm *a) {
    moment now;
    memcpy(now.q, sim_world_state(a->y.world)->q, sizeof now.q);
    memcpy(now.v, sim_world_state(a->y.world)->v, sizeof now.v);
    return now;
}

/* M (v1 - v0) + dt C - J' gamma over dt: what the joints must have given. */
static void needed(const arm *a, const moment *before, double *effort) {
    const sim_model *m = a->y.model;
    const sim_state *state = sim_world_state(a->y.world);
    sim_derived *d = sim_derived_create(m, NULL);
    double acc[LINKS], J[3 * LINKS];
    for (int i = 0; i < LINKS; i++) {
        acc[i] = (state->v[i] - before->v[i]) / dt;
    }
    sim_kinematics(d, sim_all(m), before->q);
    sim_velocities(d, sim_all(m), before->v);
    sim_rnea(d, sim_all(m), acc, NULL, m->gravity, effort);
    for (int i = 0; i < LINKS; i++) {
        effort[i] += m->dof[i].damping * state->v[i];
    }
    for (int k = 0; k < state->ncontact; k++) {
        const sim_contact *c = &state->contact[k];
        int body = c->body_a ? c->body_a : c->body_b;
        v3 g = v3_scale((c->body_a ? 1 : -1) / dt, state->impulse[k]), p = d->pose[body].p;
        v3 x = v3_axpy(c->at.position, c->body_a ? 0.5 : -0.5, c->at.apart);
        sim_point_jacobian(d, (sim_point){body, m3_transposed_times(d->pose[body].R, v3_sub(x, p))}, J);
        for (int i = 0; i < LINKS; i++) {
            effort[i] -= J[i] * g.x + J[LINKS + i] * g.y + J[2 * LINKS + i] * g.z;
        }
    }
    sim_derived_free(d);
}

/* The same step of an arm that touches nothing: on which sides of their limits it has them. */
static void sides_without_contact(const arm *a, const moment *before, int *side) {
    sim_options o = a->y.options;
    double gives[LINKS];
    o.contacts = 0;
    o.solver_option = NULL;
    sim_world *w = sim_world_create(a->y.model, &o, NULL);
    sim_state now = *sim_world_state(a->y.world);
    now.ncontact = 0;
    cr_assert_eq(sim_world_set_state(w, &now, NULL), SIM_OK);
    sim_error error = {0};
    cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    law(a, before->q, before->v, sim_world_state(w)->v, gives, side);
    sim_world_free(w);
}

Test(actuators, obey_their_law_at_the_velocity_that_contact_leaves_them) {
    int driven = 0, kept = 0;
    for (int trial = 0; trial < 64; trial++) {
        random_source r = {(uint64_t)trial};
        sim_integrator scheme = (sim_integrator)(trial / 2 % SIM_RK4);
        arm a;
        arm_open(&a, &r, 1, trial % 3 ? 0.5 : 0, trial % 2 ? "sap" : "pgs", scheme);
        for (int k = 0; k < 60; k++) {
            moment before = moment_of(&a);
            int free_side[LINKS], side[LINKS], saturated = 0;
            double due[LINKS], found[LINKS];
            sides_without_contact(&a, &before, free_side);
            yard_step(&a.y);
            const sim_state *now = sim_world_state(a.y.world);
            law(&a, before.q, before.v, now->v, due, side);
            needed(&a, &before, found);
            for (int i = 0; i < LINKS; i++) {
                double effort = sim_world_efforts(a.y.world)[i], size = a.servo[i].effort;
                cr_assert_float_eq(effort, due[i], 1e-6 * size, "%d, %d: %.12g, not %.12g", trial, k, effort, due[i]);
                cr_assert(fabs(effort) <= size);
                cr_assert(scheme != SIM_SYMPLECTIC_EULER || fabs(found[i] - effort) < 1e-5 * (size + 10),
                          "%d, %d: moved by %.12g, said %.12g", trial, k, found[i], effort);
                driven += side[i] != free_side[i];
                kept += side[i] && side[i] == free_side[i];
                saturated += fabs(effort) == size;
            }
            cr_assert_eq(sim_world_info(a.y.world)->saturated, saturated);
        }
        cr_assert_eq(a.y.unsolved, 0);
        yard_end(&a.y);
    }
    cr_assert(driven > 50 && kept > 1000, "%d %d", driven, kept);
}

/* A driven hinge strikes the end of its range: its motor asks for nothing before, and for more than its limit after.
 * No force of the strike lasts, as there was none in the step before; that of the next step does. */
Test(actuators, that_a_strike_drives_to_their_limit_leave_it_a_strike) {
    static const double once[] = {0}, none[] = {0};
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.axis = v3_make(0, 0, 1);
    def.inertia = box_inertia(1, 0.3, 0.1, 0.1);
    def.limit[0] = (sim_limit){.low = -1, .high = 0.01, .stiffness = INFINITY};
    sim_actuator motor = sim_actuator_default();
    motor.kd = 10;
    motor.effort = 5;
    motor.target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = none};
    sim_builder_add_actuator(b, sim_builder_add_body(b, &def), &motor);
    sim_model *m = sim_builder_finish(b, NULL);
    sim_world *w = open_world(m, SIM_MIDPOINT, 1e-3, 1);
    sim_state start = *sim_world_state(w);
    const double v = 2;
    start.v = (double *)&v;
    cr_assert_eq(sim_world_set_state(w, &start, NULL), SIM_OK);
    sim_world_inputs(w, SIM_TARGET_RATE)[0] = v;
    int steps = 0;
    do {
        run_world(w, 1);
    } while (sim_world_state(w)->joint_impulse[SIM_ROW_HIGH] == 0 && ++steps < 20);
    const double *lasting = sim_world_state(w)->trail + 2;
    cr_assert(steps > 0 && steps < 20 && fabs(sim_world_efforts(w)[0] - 5) < 1e-9);
    cr_expect_eq(lasting[0], 0, "%g", lasting[0]);
    run_world(w, 20);
    cr_expect_float_eq(lasting[0], -5, 1e-3, "%g", lasting[0]);
    sim_world_free(w);
    sim_model_free(m);
}

/* Told that the last step left its motors elsewhere, it makes them rows, and answers what free motion says. */
Test(actuators, as_rows_move_what_nothing_else_moves_as_free_motion_does) {
    int limited = 0;
    for (int trial = 0; trial < 64; trial++) {
        random_source r = {(uint64_t)trial}, again = r;
        sim_integrator scheme = (sim_integrator)(trial / 2 % SIM_RK4);
        arm a, b;
        arm_open(&a, &r, 0, 0, trial % 2 ? "sap" : "pgs", scheme);
        arm_open(&b, &again, 0, 0, trial % 2 ? "sap" : "pgs", scheme);
        for (int k = 0; k < 10; k++) {
            sim_state state = *sim_world_state(a.y.world);
            double elsewhere[LINKS], worst = 0, size = 0;
            for (int i = 0; i < LINKS; i++) {
                elsewhere[i] = fabs(state.effort[i]) < a.servo[i].effort ? a.servo[i].effort : 0;
                limited += elsewhere[i] == 0;
            }
            state.effort = elsewhere;
            cr_assert_eq(sim_world_set_state(b.y.world, &state, NULL), SIM_OK);
            yard_step(&a.y);
            yard_step(&b.y);
            for (int i = 0; i < LINKS; i++) {
                double v = sim_world_state(a.y.world)->v[i], gave = sim_world_efforts(a.y.world)[i];
                worst = fmax(worst, fabs(sim_world_state(b.y.world)->v[i] - v));
                size = fmax(size, fabs(v));
                cr_assert_float_eq(sim_world_efforts(b.y.world)[i], gave, 1e-8 * a.servo[i].effort,
                                   "%d, %d: %.12g, %.12g", trial, k, gave, sim_world_efforts(b.y.world)[i]);
            }
            cr_assert_lt(worst, 1e-9 * size, "%d, %d: %g of %g", trial, k, worst, size);
        }
        cr_assert_eq(a.y.unsolved + b.y.unsolved, 0);
        yard_end(&a.y);
        yard_end(&b.y);
    }
    cr_assert_gt(limited, 100);
}

/* Gains so low that free motion is at its limit too, or so high that only what is held is. */
Test(actuators, a_gripper_squeezes_with_its_limit_and_no_more) {
    const double F = 20, kp[] = {1e3, 1e5}, kd[] = {10, 1e3};
    for (int trial = 0; trial < part_of(4 * SIM_RK4); trial++) {
        int sap = trial % 2, stiff = trial / 2 % 2;
        sim_integrator scheme = (sim_integrator)(trial / 4);
        yard y = grippers(1, F, kp[stiff], kd[stiff], sap ? "sap" : "pgs", scheme);
        double start = 0;
        for (int k = 0; k < 1000; k++) {
            yard_step(&y);
            start = k == 99 ? place_of(&y, "box0").z : start;
        }
        cr_expect_eq(sim_world_efforts(y.world)[0], F);
        cr_expect_eq(sim_world_efforts(y.world)[1], -F);
        cr_expect_eq(sim_world_info(y.world)->saturated, 2);
        double squeeze = impulse_on(&y, "left0").x / dt, weight = impulse_on(&y, "box0").z / dt;
        cr_expect_float_eq(squeeze, -F, 1e-5 * F, "%s, %s: %.9g N", sim_integrator_name(scheme), sap ? "sap" : "pgs",
                           squeeze);
        cr_expect_float_eq(weight, 9.81, 1e-4, "%.9g N", weight);
        double fallen = start - place_of(&y, "box0").z;
        cr_expect_lt(fallen, sap ? 1e-3 : 1e-9, "%s, %s: falls by %g", sim_integrator_name(scheme), sap ? "sap" : "pgs",
                     fallen);
        cr_expect_lt(sim_world_info(y.world)->certificate.own, 1e-8);
        yard_end(&y);
    }
}

/* A force of 1.2 F between the fingers opens a gripper that is held to F. */
Test(actuators, a_gripper_is_forced_open_by_more_than_its_limit) {
    for (int sap = 0; sap < 2; sap++) {
        yard y = grippers(1, 20, 1e5, 1e3, sap ? "sap" : "pgs", SIM_MIDPOINT);
        for (int k = 0; k < 200; k++) {
            yard_step(&y);
        }
        double start = place_of(&y, "right0").x;
        for (int k = 0; k < 100; k++) {
            sim_world_applied(y.world)[1] = 24;
            yard_step(&y);
        }
        double moved = place_of(&y, "right0").x - start, due = 0.5 * (24 - 20) / 0.2 * 0.04;
        cr_expect_float_eq(moved, due, 0.02 * due, "%g m, not %g", moved, due);
        yard_end(&y);
    }
}

/* However poor the answer: PGS makes v from its impulses, so that nothing but what is reported can have moved the
 * arm. */
Test(actuators, report_the_effort_that_moved_them) {
    int differs = 0;
    for (int trial = 0; trial < 32; trial++) {
        random_source r = {(uint64_t)trial};
        arm a;
        arm_open(&a, &r, 1, 0.5, "pgs", SIM_SYMPLECTIC_EULER);
        double option[SOLVER_OPTIONS];
        set_solver(&a.y.options, "pgs", 0.1, option);
        sim_world_free(a.y.world);
        a.y.world = sim_world_create(a.y.model, &a.y.options, NULL);
        for (int k = 0; k < 60; k++) {
            moment before = moment_of(&a);
            double found[LINKS], due[LINKS];
            int side[LINKS];
            yard_step(&a.y);
            needed(&a, &before, found);
            law(&a, before.q, before.v, sim_world_state(a.y.world)->v, due, side);
            for (int i = 0; i < LINKS; i++) {
                double effort = sim_world_efforts(a.y.world)[i], size = a.servo[i].effort;
                cr_assert_float_eq(found[i], effort, 1e-7 * (size + 10), "%d: %.12g, %.12g", trial, found[i], effort);
                differs += fabs(due[i] - effort) > 1e-3 * size;
            }
        }
        yard_end(&a.y);
    }
    cr_assert_gt(differs, 5, "%d", differs);
}

/* The problem has all of them as rows, and its answer is that of the step. */
Test(actuators, are_rows_of_the_problem_that_is_given_out) {
    for (int trial = 0; trial < 40; trial++) {
        random_source r = {(uint64_t)trial};
        arm a;
        arm_open(&a, &r, 1, 0.5, trial % 2 ? "sap" : "pgs", (sim_integrator)(trial / 2 % SIM_RK4));
        double R[64], target[64], W[256], impulse[64], v[LINKS], worst = 0;
        sim_solver *solver = sim_solver_create(a.y.options.solver, sim_world_options(a.y.world)->solver_option, NULL);
        for (int k = 0; k < 30; k++) {
            sim_problem *p = sim_world_problem(a.y.world, NULL);
            yard_step(&a.y);
            if (sim_world_info(a.y.world)->contacts) {
                sim_regularisation law = {R, target};
                sim_solution found = {.v = v, .impulse = impulse};
                cr_assert_eq(p->nconstraint, 1 + LINKS);
                cr_assert_eq(sim_delassus_diagonal(p, W, NULL), SIM_OK);
                sim_regularise(p, a.y.options.solver->default_law, &a.y.options.law, W, R, target);
                cr_assert_eq(sim_solver_solve(solver, p, &law, &found, NULL), SIM_OK);
                for (int i = 0; i < LINKS; i++) {
                    const sim_constraint *c = &p->constraint[1 + i];
                    double gave = sim_world_efforts(a.y.world)[c->id];
                    cr_assert_eq(c->kind, SIM_ACTUATOR);
                    cr_assert_float_eq(impulse[c->row] / dt, gave, 1e-6 * c->bound, "%g, %g", impulse[c->row] / dt,
                                       gave);
                    worst = fmax(worst, fabs(v[i] - sim_world_state(a.y.world)->v[i]));
                }
            }
            sim_problem_free(p);
        }
        cr_assert_lt(worst, 1e-7, "%d: %g", trial, worst);
        sim_solver_free(solver);
        yard_end(&a.y);
    }
}

/* The diagonal of A beside the bodies' inertias follows the motors in and out of A. */
Test(actuators, are_on_the_diagonal_beside_the_bodies_only_as_long_as_they_are_in_A) {
    random_source r = {1};
    arm a;
    arm_open(&a, &r, 1, 0.5, "pgs", SIM_SYMPLECTIC_EULER);
    sim_model *m = a.y.model;
    sim_contact contact[4];
    double gain = 3, effort[LINKS] = {0};
    touched *t = touched_create(m, NULL, NULL, 0, contact, standing_contacts(m, 1, contact), "pgs", 1);
    contact_actuator motor = {.actuator = 2,
                              .side = 0,
                              .gain = gain,
                              .bound = a.servo[2].effort,
                              .range = m->actuator[2].force_range,
                              .force = 1e6, /* far beyond its limit: driven off */
                              .stiffness = a.servo[2].kp,
                              .damping = a.servo[2].kd};
    t->in.actuator = &motor;
    t->in.nactuator = 1;
    t->in.effort_before = effort;
    t->extra[2] = gain;
    t->out.effort = effort;
    const sim_problem *p = touched_build(t, 0);
    double in_A = p->bodies->diagonal[2];
    touched_solve(t);
    cr_expect_float_eq(in_A - p->bodies->diagonal[2], gain, 1e-12, "%g", in_A - p->bodies->diagonal[2]);
    t->model = NULL;
    touched_free(t);
    yard_end(&a.y);
}

Test(actuators, are_refused_before_the_first_step_by_a_solver_that_lacks_them) {
    random_source r = {1};
    arm a;
    arm_open(&a, &r, 1, 0.5, "pgs", SIM_MIDPOINT);
    sim_solver_info info = *sim_solver_find("pgs");
    sim_error error = {0};
    info.kinds &= ~(1u << SIM_ACTUATOR);
    cr_expect_eq(contact_kinds_check(a.y.model, &info, &error), SIM_BAD_INPUT);
    cr_expect(strstr(error.text, "actuator"), "%s", error.text);
    yard_end(&a.y);
}
