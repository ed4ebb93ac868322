/* Restitution gives back what it may and no more. */
#include "math/v3.h"
#include "support.h"
#include "support/answers.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static const double dt = 1e-3, length = 1, radius = 0.02;

/* A rod that falls without gravity, leaning by `angle` from upright, its end a tenth of a step's way above the
 * ground. */
static yard rod(double angle, double mu, double e, const char *solver) {
    surface s = rough(mu);
    s.restitution = e;
    yard y = yard_begin(v3_make(0, 0, 0), s);
    yard_ground(&y);
    double middle = length / 2 * cos(angle) + radius;
    sim_shape shape = sim_shape_default();
    sim_body_def def = sim_body_default();
    shape.type = SIM_CAPSULE;
    shape.size[0] = radius;
    shape.size[1] = length;
    shape.material = y.material;
    def.name = "rod";
    def.inertia = sim_shape_inertia(&shape, 1000);
    def.q[2] = middle + 2e-4;
    def.q[3] = cos(angle / 2);
    def.q[5] = sin(angle / 2);
    def.v[0] = 0.5;
    def.v[2] = -2;
    shape.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &shape);
    yard_open(&y, solver, SIM_SYMPLECTIC_EULER, dt);
    return y;
}

static double energy(const sim_problem *p, const double *v) {
    double sum = 0, y[16];
    p->mass.times(p->mass.self, 0, v, y);
    for (int j = 0; j < p->nv; j++) {
        sum += 0.5 * v[j] * y[j];
    }
    return sum;
}

/* Newton's law to the letter: energy of the answer, whose velocity goes to v. */
static double by_the_letter(const sim_problem *p, double *v) {
    answer a = answer_create(p, 1, 1e-3);
    sim_law_options o = sim_law_options_default();
    sim_regularise(p, SIM_RIGID, &o, NULL, a.R, a.target);
    answer_find(&a, "incp", NULL);
    cr_assert_leq(a.out.outcome, SIM_AT_ROUNDING);
    double T = energy(p, a.v);
    for (int j = 0; j < p->nv; j++) {
        v[j] = a.v[j];
    }
    answer_free(&a);
    return T;
}

Test(restitution, what_strikes_aslant_gains_nothing_though_newtons_law_would_have_it) {
    static const char *const solver[] = {"pgs", "canal", "mlcp-pivot", "mncp-rlm", "incp"};
    const double mu[] = {0.3, 0.7, 1.5}, e[] = {0.3, 0.7, 1};
    int created = 0, held = 0, letter = 0;
    for (int k = 0; k < 135; k++) {
        double angle = (2 + 5 * (k % 15)) * M_PI / 180, c = e[k / 15 % 3], newton[6];
        yard y = rod(angle, mu[k / 45], c, solver[k % 5]), none = rod(angle, mu[k / 45], 1e-9, solver[k % 5]);
        sim_problem *p = sim_world_problem(y.world, NULL);
        cr_assert(p && p->nconstraint == 1);
        double before = energy(p, p->v_free), wanted = by_the_letter(p, newton);
        yard_step(&y);
        yard_step(&none);
        double after = energy(p, sim_world_state(y.world)->v), least = energy(p, sim_world_state(none.world)->v);
        double bound = least + c * c * (before - least);
        cr_expect_eq(y.unsolved, 0);
        cr_expect_lt(least, before);
        cr_expect_leq(after, bound + 2e-6 * before, "%g of %g J, may have %g", after, before, bound);
        created += wanted > before * (1 + 1e-3);
        if (wanted > bound + 1e-4 * before) {
            held++;
            cr_expect_geq(after, bound - 0.03 * (bound - least), "%g J, may have %g", after, bound);
        } else if (wanted < bound - 1e-4 * before) {
            letter++;
            for (int j = 0; j < 6; j++) {
                cr_expect_float_eq(sim_world_state(y.world)->v[j], newton[j], 1e-6);
            }
        }
        sim_problem_free(p);
        yard_end(&y);
        yard_end(&none);
    }
    cr_expect(created > 5 && held > 20 && letter > 20, "%d created energy, %d held back, %d not", created, held,
              letter);
}

/* Normal velocity of the end that is down. */
static double tip_speed(const yard *y, double angle) {
    sim_motion m = motion_of(y, "rod");
    return m.lin.z + m.ang.y * length / 2 * sin(angle);
}

Test(restitution, without_friction_newtons_law_holds_to_the_letter) {
    for (int k = 0; k < 16; k++) {
        double angle = 0.1 * k, e = 0.25 * (1 + k % 4);
        yard y = rod(angle, 0, e, k % 2 ? "pgs" : "mncp-plm");
        double before = tip_speed(&y, angle);
        yard_step(&y);
        double after = tip_speed(&y, angle);
        cr_expect_float_eq(after, -e * before, 1e-7, "leaning by %g: %g after %g", angle, after, before);
        yard_end(&y);
    }
}

/* With friction and spin, where gravity hastens it and where it slows it down. */
Test(restitution, balls_bounce_by_newtons_law_whatever_else_acts) {
    for (int k = 0; k < 12; k++) {
        double e = 0.3 + 0.2 * (k % 4), g = k % 2 ? 10 : -10;
        surface s = rough(0.2 * (k / 4));
        s.restitution = e;
        yard y = yard_begin(v3_make(0, 0, g), s);
        yard_ground(&y);
        sim_shape shape = sim_shape_default();
        sim_body_def def = sim_body_default();
        shape.type = SIM_SPHERE;
        shape.size[0] = 0.1;
        shape.material = y.material;
        def.name = "ball";
        def.inertia = sim_shape_inertia(&shape, 1000);
        def.q[2] = 0.10001;
        def.v[2] = -0.05;
        def.v[3] = 0.2;
        def.v[4] = -0.1;
        shape.body = sim_builder_add_body(y.builder, &def);
        sim_builder_add_shape(y.builder, &shape);
        yard_open(&y, "pgs", SIM_SYMPLECTIC_EULER, dt);
        yard_step(&y);
        double after = motion_of(&y, "ball").lin.z;
        cr_expect_float_eq(after, 0.05 * e, 1e-9, "e %g: %g after 0.05", e, after);
        yard_end(&y);
    }
}

/* A ball on a slider with a motor that brakes it, or that drives it at its own speed: at its limit in free motion, at
 * rest, as it bounces, or nowhere. */
Test(restitution, a_ball_on_a_motor_bounces_by_newtons_law_wherever_the_motor_is_at_its_limit) {
    static const double once[] = {0}, here[] = {0};
    for (int k = 0; k < 640; k++) {
        double e = 0.2 * (1 + k % 5), kd = 100 * (1 + k / 5 % 8), bound = 100 * pow(1.6, k / 40 % 8);
        double drive = k < 320 ? 0 : -2 * kd;
        surface s = rough(0.5);
        s.restitution = e;
        yard y = yard_begin(v3_make(0, 0, 0), s);
        yard_ground(&y);
        sim_shape shape = sim_shape_default();
        sim_body_def def = sim_body_default();
        sim_actuator motor = sim_actuator_default();
        motor.kd = kd;
        motor.effort = bound;
        motor.target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = here};
        motor.feedforward =
            (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = &drive};
        shape.type = SIM_SPHERE;
        shape.size[0] = 0.1;
        shape.material = y.material;
        def.name = "ball";
        def.joint = SIM_SLIDER;
        def.axis = v3_make(0, 0, 1);
        def.placement.p = v3_make(0, 0, 0.1 + 1e-5);
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        def.v[0] = -2;
        shape.body = sim_builder_add_body(y.builder, &def);
        sim_builder_add_shape(y.builder, &shape);
        sim_builder_add_actuator(y.builder, shape.body, &motor);
        yard_open(&y, k % 2 ? "pgs" : "mncp-rlm", SIM_SYMPLECTIC_EULER, dt);
        yard_step(&y);
        double after = motion_of(&y, "ball").lin.z;
        cr_expect_float_eq(after, 2 * e, 1e-7, "e %g, %g N s/m, %g N, %g N: %g after 2", e, kd, drive, bound, after);
        yard_end(&y);
    }
}

/* ---- strikes at any time of a step ---- */

/* A ball of radius 1/8 m comes down at 2 m/s, sliding at 1/2 m/s, and reaches the ground the part `phase` of a step after
 * the end of a step; all numbers are exact in binary.  It leaves at e 2 m/s, and friction stops the sliding, by 2/7 of
 * it.  A contact within the margin, 1e-3 r, has a lever that is longer by half of its gap: less than 2e-4 m/s. */
static void expect_bounce(const char *solver, double phase, double e, bool exact) {
    const double step = 0x1p-10, r = 0.125, down = 2, along = 0.5;
    surface s = rough(0.25);
    s.restitution = e;
    yard y = yard_begin(v3_make(0, 0, 0), s);
    yard_ground(&y);
    int ball = yard_add(&y, "ball", SIM_SPHERE, r, 0, 0, 1, v3_make(0, 0, r + step * down * (8 + phase)),
                        v3_make(along, 0, -down));
    yard_open(&y, solver, SIM_MIDPOINT, step);
    for (int k = 0; k < 16; k++) {
        yard_step(&y);
    }
    sim_v3 v = motion_of(&y, "ball").lin;
    cr_expect_gt(ball, 0);
    cr_expect_eq(y.unsolved, 0);
    cr_expect_float_eq(v.z, e * down, 1e-3 * down, "%s, e %g, phase %g: %g", solver, e, phase, v.z);
    if (exact) {
        cr_expect_float_eq(v.x, along * 5 / 7, 3e-4, "%s, e %g, phase %g: %g", solver, e, phase, v.x);
    }
    yard_end(&y);
}

/* The convex law sees a sliding contact before it arrives, and takes its lever from there: half the gap longer. */
Test(restitution, is_that_of_the_material_whenever_in_a_step_a_ball_arrives) {
    for (int k = 0; k < 32; k++) {
        double e = k % 2 ? 0.5 : 1, root = k / 2, phase = root * root / 256;
        expect_bounce("auto", phase, e, true);
        expect_bounce("pgs", phase, e, true);
        expect_bounce("sap", phase, e, false);
    }
}

/* By Newton's law a row of five that touch leaves as one: -1.2 m/s, and 0.8 m/s of all others.  The compliance of sap,
 * sigma/100 w with w = 3.4 / kg, takes 1.1e-4 m/s of a contact that passes on 3.2 N s. */
Test(restitution, of_a_row_of_balls_keeps_its_energy_whenever_in_a_step_it_is_struck) {
    const double step = 0x1p-10, r = 0.125, speed = 2;
    static const char *const solver[] = {"auto", "pgs", "sap"};
    for (int k = 0; k < 48; k++) {
        surface s = rough(0);
        s.restitution = 1;
        yard y = yard_begin(v3_make(0, 0, 0), s);
        char name[5][8];
        for (int i = 0; i < 5; i++) {
            double x = i ? 2 * r * i : -step * speed * (8 + k / 3 / 16.0);
            snprintf(name[i], sizeof name[i], "ball%d", i);
            yard_add(&y, name[i], SIM_SPHERE, r, 0, 0, 1, v3_make(x, 0, 0), v3_make(i ? 0 : speed, 0, 0));
        }
        yard_open(&y, solver[k % 3], SIM_MIDPOINT, step);
        for (int i = 0; i < 16; i++) {
            yard_step(&y);
        }
        for (int i = 0; i < 5; i++) {
            double v = motion_of(&y, name[i]).lin.x;
            cr_expect_float_eq(v, i ? 0.8 : -1.2, k % 3 == 2 ? 5e-4 : 1e-4, "%d, ball %d: %g m/s", k, i, v);
        }
        yard_end(&y);
    }
}

/* ---- bodies that tumble ---- */

/* One body of any convex shape, turning and flying, above a floor of any friction, restitution and stiffness. */
static yard thrown_body(random_source *r, int n, double belt, double step) {
    static const double friction[] = {0, 0.3, 1}, restitution[] = {0, 0.3, 0.6, 0.9};
    static const sim_shape_type types[] = {SIM_BOX, SIM_CAPSULE, SIM_ELLIPSOID, SIM_CYLINDER};
    surface s = rough(friction[n / 4 % 3]);
    s.restitution = restitution[n / 12 % 4];
    s.stiffness = n / 48 % 2 ? 1e6 : INFINITY;
    yard y = yard_begin(v3_make(0, 0, -9.81), s);
    sim_shape ground = sim_shape_default(), shape = ground;
    ground.type = SIM_HALF_SPACE;
    ground.material = y.material;
    ground.surface_velocity.x = belt;
    sim_builder_add_shape(y.builder, &ground);
    sim_body_def def = sim_body_default();
    shape.type = types[n % 4];
    for (int k = 0; k < 3; k++) {
        shape.size[k] = random_uniform(r, 0.03, 0.12);
    }
    shape.material = y.material;
    def.name = "body";
    def.inertia = sim_shape_inertia(&shape, 1000);
    double turn[4], norm = 0;
    for (int k = 0; k < 4; k++) {
        turn[k] = random_normal(r);
        norm += turn[k] * turn[k];
    }
    for (int k = 0; k < 4; k++) {
        def.q[3 + k] = turn[k] / sqrt(norm);
    }
    def.q[2] = 0.6;
    for (int k = 0; k < 6; k++) {
        def.v[k] = (k < 3 ? 2 : 12) * random_normal(r);
    }
    shape.body = sim_builder_add_body(y.builder, &def);
    sim_builder_add_shape(y.builder, &shape);
    yard_open(&y, "auto", SIM_MIDPOINT, step);
    return y;
}

Test(restitution, bodies_that_tumble_on_a_floor_leave_no_step_unsolved_and_gain_nothing) {
    random_source r = {77};
    int unsolved = 0, gaining = 0, trials = trials_of(300);
    for (int n = 0; n < trials; n++) {
        double belt = n % 5 == 4 ? 0.8 : 0;
        yard y = thrown_body(&r, n, belt, n % 2 ? 0.002 : 0.005);
        double start = energy_of(&y), undone = 0;
        while (sim_world_state(y.world)->time < 2) {
            yard_step(&y);
            undone += sim_world_info(y.world)->undone;
        }
        unsolved += y.unsolved;
        gaining += belt == 0 && energy_of(&y) > start + undone;
        yard_end(&y);
    }
    cr_expect_eq(unsolved, 0, "%d steps", unsolved);
    cr_expect_eq(gaining, 0, "%d bodies of %d", gaining, trials);
}

/* Two sliders of 1 and 3 kg that a constraint holds together meet the end of the range of the first. */
static double speed_after_bounce(sim_equality_type type, double e, const char *solver) {
    yard y = yard_begin(v3_make(0, 0, 0), rough(0));
    sim_equality tie = sim_equality_default();
    tie.type = type;
    tie.distance = 0.5;
    tie.frame[1].p = type == SIM_DISTANCE ? v3_make(0, 0, 0) : v3_make(0.5, 0, 0);
    for (int k = 0; k < 2; k++) {
        sim_body_def def = sim_body_default();
        def.name = k ? "load" : "wagon";
        def.joint = SIM_SLIDER;
        def.axis = v3_make(1, 0, 0);
        def.placement.p = v3_make(-0.5 * k, 0, 0);
        def.inertia = box_inertia(k ? 3 : 1, 0.1, 0.1, 0.1);
        def.limit[0].high = k ? INFINITY : 0.1;
        def.limit[0].restitution = e;
        def.v[0] = 1;
        tie.body[k] = sim_builder_add_body(y.builder, &def);
    }
    cr_assert_geq(sim_builder_add_equality(y.builder, &tie), 0);
    yard_open(&y, solver, SIM_MIDPOINT, dt);
    for (int k = 0; k < 200; k++) {
        yard_step(&y);
    }
    const double *v = sim_world_state(y.world)->v;
    double mean = (v[0] + 3 * v[1]) / 4, apart = fabs(v[0] - v[1]);
    cr_expect_lt(apart, 1e-3, "%s, %s: they part at %g m/s", solver, sim_equality_name(type), apart);
    yard_end(&y);
    return mean;
}

Test(restitution, bodies_that_a_constraint_holds_together_bounce_as_one) {
    static const char *const solver[] = {"sap", "auto", "pgs"};
    static const sim_equality_type type[] = {SIM_CONNECT, SIM_WELD, SIM_DISTANCE, SIM_COUPLING};
    for (int k = 0; k < 24; k++) {
        double e = k < 12 ? 1 : 0.5, v = speed_after_bounce(type[k % 4], e, solver[k / 4 % 3]);
        cr_expect_float_eq(v, -e, 1e-3, "%s, %s: %g m/s, e = %g", solver[k / 4 % 3], sim_equality_name(type[k % 4]), v,
                           e);
    }
}
