#include "contact/stage.h"
/* Ends of joints' ranges and their dry friction. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double g = 9.81;
static const v3 down = {0, 0, -9.81};

/* A hinge about y at the origin with a point-like mass of 1 kg at the distance 1 along x where the angle is zero:
 * gravity turns it towards greater angles. */
static sim_body_def pendulum(void) {
    sim_body_def def = sim_body_default();
    def.name = "arm";
    def.joint = SIM_HINGE;
    def.axis = v3_make(0, 1, 0);
    def.inertia = box_inertia(1, 0.02, 0.02, 0.02);
    def.inertia.com = v3_make(1, 0, 0);
    return def;
}

static double inertia_of(const sim_body_def *def) { return 1 + def->inertia.moment.yy; }

static sim_body_def slider(double mass) {
    sim_body_def def = sim_body_default();
    def.name = "block";
    def.joint = SIM_SLIDER;
    def.axis = v3_make(1, 0, 0);
    def.inertia = box_inertia(mass, 0.1, 0.1, 0.1);
    return def;
}

/* Torque by which gravity differs where the scheme takes it: where the arm would stand without its stop. */
static double off(double dt) { return dt * dt * g * g; }

static yard of_one(v3 gravity, const sim_body_def *def, const char *solver, sim_integrator integrator, double step) {
    yard y = yard_begin(gravity, rough(0));
    sim_builder_add_body(y.builder, def);
    y.tolerance = 1e-13;
    yard_open(&y, solver, integrator, step);
    return y;
}

static double q_of(const yard *y) { return sim_world_state(y->world)->q[0]; }
static double v_of(const yard *y) { return sim_world_state(y->world)->v[0]; }

static void run(yard *y, int steps) {
    for (int k = 0; k < steps; k++) {
        yard_step(y);
    }
}

Test(joints, pendulum_comes_to_rest_at_its_rigid_stop) {
    for (int high = 0; high < 2; high++) {
        for (int i = 0; i < SIM_RK4; i++) {
            sim_body_def def = pendulum();
            double stop = high ? 0.7 : -0.7, deepest = 0;
            def.axis = v3_make(0, high ? 1 : -1, 0);
            *(high ? &def.limit[0].high : &def.limit[0].low) = stop;
            yard y = of_one(down, &def, "pgs", (sim_integrator)i, 2e-3);
            for (int k = 0; k < 1000; k++) {
                yard_step(&y);
                deepest = fmax(deepest, high ? q_of(&y) - stop : stop - q_of(&y));
            }
            cr_assert_lt(deepest, 1e-9, "%s: %g rad beyond", sim_integrator_name((sim_integrator)i), deepest);
            cr_assert_float_eq(q_of(&y), stop, 1e-9, "%s: %.12g", sim_integrator_name((sim_integrator)i), q_of(&y));
            cr_assert_lt(fabs(v_of(&y)), 1e-9);
            double held = sim_world_state(y.world)->joint_impulse[high];
            cr_assert_float_eq(held / 2e-3, g * cos(0.7), off(2e-3), "the stop gives %.9g N m", held / 2e-3);
            yard_end(&y);
        }
    }
}

/* From the angle a to the stop s it wins g (sin s - sin a) in energy, of which the rebound keeps e^2. */
Test(joints, pendulum_bounces_off_its_stop_as_restitution_says) {
    const double e = 0.6, stop = 0.5;
    for (int i = 0; i < 2 * SIM_RK4; i++) {
        sim_integrator integrator = (sim_integrator)(i % SIM_RK4);
        sim_body_def def = pendulum();
        def.limit[0].high = stop;
        def.limit[0].restitution = e;
        yard y = of_one(down, &def, i < SIM_RK4 ? "pgs" : "sap", integrator, 1e-4);
        double least = stop;
        int back = 0, returned = 0;
        for (int k = 0; k < 20000 && !returned; k++) {
            yard_step(&y);
            back |= v_of(&y) < 0;
            least = back ? fmin(least, q_of(&y)) : stop;
            returned = back && v_of(&y) > 0;
        }
        cr_assert(returned);
        cr_assert_float_eq(sin(stop) - sin(least), e * e * sin(stop), 2e-3, "%s: back to %g",
                           sim_integrator_name(integrator), least);
        yard_end(&y);
    }
}

/* A stop with the stiffness k gives way by delta, k delta = torque of gravity there. */
Test(joints, stop_with_a_spring_gives_way_as_its_stiffness_says) {
    const double k = 400, stop = 0.3;
    const char *solver[] = {"pgs", "sap"};
    for (int i = 0; i < 2 * SIM_RK4; i++) {
        sim_body_def def = pendulum();
        def.limit[0].high = stop;
        def.limit[0].stiffness = k;
        def.limit[0].dissipation = 0.1;
        yard y = of_one(down, &def, solver[i % 2], (sim_integrator)(i / 2), 1e-3);
        run(&y, 6000);
        double delta = q_of(&y) - stop;
        cr_assert_float_eq(k * delta, g * cos(stop + delta), off(1e-3), "%s, %s: gives way by %g", solver[i % 2],
                           sim_integrator_name((sim_integrator)(i / 2)), delta);
        yard_end(&y);
    }
}

Test(joints, sap_s_stop_is_as_stiff_as_the_step_resolves) {
    const double dt = 2e-3, stop = 0.7;
    sim_body_def def = pendulum();
    def.limit[0].high = stop;
    yard y = of_one(down, &def, "sap", SIM_MIDPOINT, dt);
    run(&y, 2000);
    double due = 2 * dt * dt * g * cos(stop) / inertia_of(&def) / (4 * M_PI * M_PI); /* R gamma (dt + tau), tau = dt */
    cr_assert_float_eq(q_of(&y) - stop, due, 1e-3 * due, "%g, not %g", q_of(&y) - stop, due);
    yard_end(&y);
}

Test(joints, both_ends_hold_a_slider_that_is_pulled_about) {
    sim_body_def def = slider(2);
    def.limit[0].low = -0.25;
    def.limit[0].high = 0.5;
    yard y = of_one(v3_make(0, 0, 0), &def, "pgs", SIM_MIDPOINT, 1e-3);
    double least = 0, most = 0;
    for (int k = 0; k < 4000; k++) {
        sim_world_applied(y.world)[0] = 30 * sin(5e-3 * k);
        yard_step(&y);
        least = fmin(least, q_of(&y));
        most = fmax(most, q_of(&y));
    }
    cr_assert_float_eq(least, -0.25, 1e-9, "%.12g", least);
    cr_assert_float_eq(most, 0.5, 1e-9, "%.12g", most);
    yard_end(&y);
}

/* v falls by F/m a second, to nothing, and stays. */
Test(joints, dry_friction_slows_a_slider_and_holds_it) {
    const double F = 3, m = 2, v0 = 1.5, dt = 1e-3;
    for (int i = 0; i < SIM_RK4; i++) {
        sim_body_def def = slider(m);
        def.friction[0] = F;
        def.v[0] = v0;
        yard y = of_one(v3_make(0, 0, 0), &def, "pgs", (sim_integrator)i, dt);
        run(&y, 500);
        cr_assert_float_eq(v_of(&y), v0 - F / m * 0.5, 1e-12, "%.15g", v_of(&y));
        run(&y, 700);
        double order = i == SIM_MIDPOINT || i == SIM_MOREAU ? 1e-12 : v0 * dt;
        cr_assert_float_eq(q_of(&y), v0 * v0 / (2 * F / m), order, "%s stops at %.12g",
                           sim_integrator_name((sim_integrator)i), q_of(&y));
        cr_assert_lt(fabs(v_of(&y)), 1e-15, "%g", v_of(&y));
        yard_end(&y);
    }
}

/* Below the bound nothing moves; above it only the excess counts. */
Test(joints, dry_friction_bears_loads_up_to_its_bound) {
    const double F = 3, m = 2, dt = 1e-3;
    const char *solver[] = {"pgs", "sap"};
    for (int s = 0; s < 2; s++) {
        sim_body_def def = slider(m);
        def.friction[0] = F;
        yard y = of_one(v3_make(0, 0, 0), &def, solver[s], SIM_MIDPOINT, dt);
        sim_world_applied(y.world)[0] = 0.95 * F;
        run(&y, 1000);
        double creep = s ? 1e-3 * dt * 0.95 * F / m : 0; /* sigma of what the load would give in a step */
        cr_assert_float_eq(v_of(&y), creep, 1e-12, "%s slips at %g m/s", solver[s], v_of(&y));
        double held = sim_world_state(y.world)->joint_impulse[2] / dt;
        cr_assert_float_eq(held, -0.95 * F, 1e-9, "%s: friction gives %g N", solver[s], held);
        double before = v_of(&y);
        sim_world_applied(y.world)[0] = 1.5 * F;
        run(&y, 1000);
        cr_assert_float_eq(v_of(&y) - before, 0.5 * F / m, 1e-9 + creep, "%s: %g m/s", solver[s], v_of(&y));
        yard_end(&y);
    }
}

/* A joint of several dofs has each its own. */
Test(joints, each_dof_of_a_cylindrical_joint_has_its_own_end_and_friction) {
    sim_body_def def = sim_body_default();
    def.joint = SIM_CYLINDRICAL;
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    def.v[0] = 2;
    def.limit[1].low = -0.1;
    def.friction[0] = 1e-3;
    yard y = of_one(down, &def, "pgs", SIM_MIDPOINT, 1e-3);
    run(&y, 1000);
    cr_assert_float_eq(sim_world_state(y.world)->q[1], -0.1, 1e-9);
    cr_assert_float_eq(v_of(&y), 2 - 1e-3 / def.inertia.moment.zz, 1e-9, "%g", v_of(&y));
    yard_end(&y);
}

/* A cube on a ball joint, or free, slows down by c/I, or c/m, about each axis, and stays at rest once it stopped. */
Test(joints, dry_friction_of_balls_and_free_bodies_stops_each_dof) {
    static const sim_joint_type types[2] = {SIM_BALL, SIM_FREE};
    for (int i = 0; i < 2; i++) {
        sim_body_def def = sim_body_default();
        def.joint = types[i];
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        double inertia = i ? 1 : def.inertia.moment.xx;
        def.v[0] = 2;
        for (int k = 0; k < 3; k++) {
            def.friction[k] = 2 * inertia;
        }
        yard y = of_one((v3){0, 0, 0}, &def, "pgs", SIM_MIDPOINT, 1e-3);
        run(&y, 500);
        cr_assert_float_eq(v_of(&y), 1, 1e-9, "%g", v_of(&y));
        run(&y, 600);
        cr_assert_float_eq(v_of(&y), 0, 1e-12, "%g", v_of(&y));
        yard_end(&y);
    }
}

/* A bob beside its ball joint, of the moment 0.981 N m, stays where friction bears more, and falls where it bears less. */
Test(joints, dry_friction_of_a_ball_bears_a_moment_up_to_its_bound) {
    for (int falls = 0; falls < 2; falls++) {
        sim_body_def def = sim_body_default();
        def.joint = SIM_BALL;
        def.inertia = box_inertia(1, 0.02, 0.02, 0.02);
        def.inertia.com = v3_make(0.1, 0, 0);
        for (int k = 0; k < 3; k++) {
            def.friction[k] = falls ? 0.9 : 1.1;
        }
        yard y = of_one(down, &def, "pgs", SIM_MIDPOINT, 1e-3);
        run(&y, 100);
        double turned = 2 * asin(fabs(sim_world_state(y.world)->q[2]));
        double least = 0.5 * (0.981 - 0.9) / (def.inertia.moment.yy + 0.01) * 0.01; /* a t^2 / 2, at the first moment */
        cr_assert(falls ? fabs(turned - least) < 0.02 * least : turned < 1e-12, "%g, %g", turned, least);
        yard_end(&y);
    }
}

static double gap_of(sim_world *w, double *q, int dof, double h, sim_constraint_kind kind, int nth) {
    const sim_model *m = sim_world_model(w);
    double v[8] = {0}, moved[16];
    sim_error error;
    v[dof] = 1;
    sim_advance(m, sim_all(m), q, v, h, moved);
    sim_state state = *sim_world_state(w);
    state.q = moved;
    double *still = v;
    still[dof] = 0;
    state.v = state.a = still;
    cr_assert_eq(sim_world_set_state(w, &state, &error), SIM_OK, "%s", error.text);
    sim_problem *p = sim_world_problem(w, &error);
    cr_assert(p, "%s", error.text);
    double gap = NAN;
    for (int i = 0; i < p->nconstraint; i++) {
        if (p->constraint[i].kind == kind && nth-- == 0) {
            gap = p->gap[p->constraint[i].row];
        }
    }
    sim_problem_free(p);
    return gap;
}

Test(joints, rows_of_ends_are_differences_of_their_gaps) {
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    sim_body_def def = pendulum();
    def.limit[0] = (sim_limit){-1e-4, 1e-4, INFINITY, 0, 0};
    int arm = sim_builder_add_body(y.builder, &def);
    def = slider(1);
    def.parent = arm;
    def.limit[0] = (sim_limit){-1e-4, 1e-4, INFINITY, 0, 0};
    sim_builder_add_body(y.builder, &def);
    y.options.law.push = 0.2;
    yard_open(&y, "pgs", SIM_SYMPLECTIC_EULER, 1e-3);
    double q[2] = {1e-4, -1e-4}, h = 1e-8;
    int rows = 0;
    for (int nth = 0; nth < 2; nth++) { /* the high end of the first, the low end of the second */
        for (int dof = 0; dof < 2; dof++) {
            double rate =
                (gap_of(y.world, q, dof, h, SIM_LIMIT, nth) - gap_of(y.world, q, dof, -h, SIM_LIMIT, nth)) / (2 * h);
            double at = gap_of(y.world, q, dof, 0, SIM_LIMIT, nth);
            sim_problem *p = sim_world_problem(y.world, NULL);
            cr_assert_eq(p->nconstraint, 2);
            cr_assert_float_eq(p->J[p->constraint[nth].block[0] + dof], rate, 1e-6, "row %d, dof %d: %g", nth, dof,
                               rate);
            cr_assert_float_eq(at, 0, 1e-12);
            rows += p->nrow;
            sim_problem_free(p);
        }
    }
    cr_assert_eq(rows, 8);
    yard_end(&y);
}

Test(joints, rk4_refuses_ranges_by_name) {
    sim_body_def def = pendulum();
    def.friction[0] = 1;
    sim_builder *b = sim_builder_create();
    sim_builder_add_body(b, &def);
    sim_error error = {0};
    sim_model *model = sim_builder_finish(b, &error);
    cr_assert(model, "%s", error.text);
    sim_options options = sim_options_default();
    options.integrator = SIM_RK4;
    cr_assert_null(sim_world_create(model, &options, &error));
    cr_assert(strstr(error.text, "rk4") && strstr(error.text, "dry friction"), "%s", error.text);
    sim_model_free(model);
}

Test(joints, builder_refuses_what_is_no_range) {
    const struct {
        sim_joint_type joint;
        sim_limit limit;
        double friction;
        const char *says;
    } wrong[] = {{SIM_HINGE, {1, -1, INFINITY, 0, 0}, 0, "range"},
                 {SIM_HINGE, {NAN, 1, INFINITY, 0, 0}, 0, "range"},
                 {SIM_HINGE, {0, 1, 0, 0, 0}, 0, "stiffness"},
                 {SIM_HINGE, {0, 1, INFINITY, 0, 2}, 0, "restitution"},
                 {SIM_HINGE, {0, 1, INFINITY, 0, 0}, -1, "friction"},
                 {SIM_BALL, {0, 1, INFINITY, 0, 0}, 0, "ball"},
                 {SIM_BALL, {-INFINITY, INFINITY, INFINITY, 0, 0}, -1, "friction"},
                 {SIM_FREE, {0, 1, INFINITY, 0, 0}, 0, "free"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        sim_body_def def = pendulum();
        sim_error error = {0};
        sim_builder *b = sim_builder_create();
        def.joint = wrong[k].joint;
        def.limit[0] = wrong[k].limit;
        def.friction[0] = wrong[k].friction;
        sim_builder_add_body(b, &def);
        cr_assert_null(sim_builder_finish(b, &error));
        cr_assert(strstr(error.text, wrong[k].says), "%s", error.text);
    }
}

/* Impulses of ends and dry friction are part of the state: a run that takes it up goes on to the bit. */
Test(joints, run_taken_up_from_its_state_goes_on_to_the_bit) {
    sim_body_def def = pendulum();
    def.limit[0].high = 0.4;
    def.friction[0] = 0.3;
    yard one = of_one(down, &def, "sap", SIM_MIDPOINT, 1e-3), two = of_one(down, &def, "sap", SIM_MIDPOINT, 1e-3);
    run(&one, 700);
    sim_error error;
    cr_assert_eq(sim_world_set_state(two.world, sim_world_state(one.world), &error), SIM_OK);
    cr_assert_gt(sim_world_state(one.world)->joint_impulse[1], 0);
    cr_assert_arr_eq(sim_world_state(two.world)->joint_impulse, sim_world_state(one.world)->joint_impulse,
                     3 * sizeof(double));
    run(&one, 50);
    run(&two, 50);
    cr_assert_eq(q_of(&one), q_of(&two));
    cr_assert_eq(sim_world_state(one.world)->joint_impulse[1], sim_world_state(two.world)->joint_impulse[1]);
    cr_assert_gt(sim_world_state(one.world)->joint_impulse[1], 0);
    yard_end(&one);
    yard_end(&two);
}

/* The solver begins with what the ends and the friction of a joint gave in the step before. */
Test(joints, rows_begin_with_their_impulses_of_the_step_before) {
    sim_body_def def = pendulum();
    def.limit[0].high = 0.4;
    def.friction[0] = 0.3;
    yard y = of_one(down, &def, "pgs", SIM_MIDPOINT, 1e-3);
    run(&y, 700);
    const double *before = sim_world_state(y.world)->joint_impulse;
    sim_problem *p = sim_world_problem(y.world, NULL);
    cr_assert_eq(p->nconstraint, 2);
    for (int i = 0; i < 2; i++) {
        const sim_constraint *c = &p->constraint[i];
        double due = before[c->kind == SIM_LIMIT ? SIM_ROW_HIGH : SIM_ROW_FRICTION];
        cr_expect_neq(due, 0);
        cr_expect_eq(p->impulse_guess[c->row], due, "row %d: %g, not %g", i, p->impulse_guess[c->row], due);
    }
    sim_problem_free(p);
    yard_end(&y);
}

/* Each slider is an island; the problem of the step numbers their trees, rows and velocities one after the other. */
Test(joints, problem_of_a_step_holds_all_islands) {
    yard y = yard_begin(v3_make(9, 0, 0), rough(0));
    for (int k = 0; k < 3; k++) {
        static const char *const name[] = {"a", "b", "c"};
        sim_body_def def = slider(1 + k);
        def.name = name[k];
        def.limit[0].high = 0;
        sim_builder_add_body(y.builder, &def);
    }
    yard_open(&y, "pgs", SIM_SYMPLECTIC_EULER, 1e-3);
    run(&y, 2);
    sim_problem *p = sim_world_problem(y.world, NULL);
    cr_assert(p->ntree == 3 && p->nconstraint == 3 && p->nrow == 3);
    for (int k = 0; k < 3; k++) {
        double A = 0;
        p->mass.matrix(p->mass.self, k, &A);
        cr_expect_eq(p->constraint[k].tree[0], k);
        cr_expect_eq(p->constraint[k].tree[1], -1);
        cr_expect_eq(p->tree[k].v0, k);
        cr_expect_float_eq(A, 1 + k, 1e-12);
        cr_expect_float_eq(p->impulse_guess[p->constraint[k].row], (1 + k) * 9e-3, 1e-9);
    }
    sim_problem_free(p);
    yard_end(&y);
}

/* A solver that lacks a kind is refused by name when the world is made. */
Test(joints, solver_that_lacks_what_the_model_has_is_refused_before_the_first_step) {
    const sim_constraint_kind kind[] = {SIM_LIMIT, SIM_FRICTION};
    sim_body_def def = pendulum();
    def.limit[0].high = 0.4;
    def.friction[0] = 0.3;
    yard y = of_one(down, &def, "sap", SIM_MIDPOINT, 1e-3);
    sim_solver_info info = *sim_solver_find("sap");
    cr_expect_eq(contact_kinds_check(sim_world_model(y.world), &info, NULL), SIM_OK);
    for (int k = 0; k < 2; k++) {
        sim_error error = {0};
        info.kinds = sim_solver_find("sap")->kinds & ~(1u << kind[k]);
        cr_expect_eq(contact_kinds_check(sim_world_model(y.world), &info, &error), SIM_BAD_INPUT);
        cr_expect(strstr(error.text, sim_constraint_name(kind[k])), "%s", error.text);
    }
    yard_end(&y);
}
