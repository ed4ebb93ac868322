/* Surfaces that move, have friction by direction, or adhere, beside closed forms and a point's equation of motion. */
#include "math/v3.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double g = 9.81, dt = 1e-3;

/* All that solves these, and one of each other family. */
static const char *const solvers[] = {"auto", "acn", "pgs", "sap", "subadmm", "nsn", "incp", "canal"};
enum { SOLVERS = sizeof solvers / sizeof solvers[0], STRICT = 3 };

static bool lifts(const char *solver) { return strcmp(solver, "sap") == 0; }

/* A plate that cannot tip, moving at v on a ground with this material, direction of friction and belt. */
static yard plate(sim_material material, v3 gravity, v3 along, v3 belt, v3 v) {
    yard y = yard_begin(gravity, rough(1));
    material.name = "surface";
    y.material = sim_builder_add_material(y.builder, &material);
    sim_shape ground = sim_shape_default();
    ground.type = SIM_HALF_SPACE;
    ground.material = y.material;
    ground.friction_direction = along;
    ground.surface_velocity = belt;
    sim_builder_add_shape(y.builder, &ground);
    sim_material even = sim_material_default();
    even.name = "even";
    even.friction = 0.5;
    y.material = sim_builder_add_material(y.builder, &even);
    yard_add(&y, "plate", SIM_BOX, 2, 2, 0.002, 1.5, v3_make(0, 0, 0.001), v);
    return y;
}

static sim_material with_friction(double along, double across) {
    sim_material m = sim_material_default();
    m.friction = along;
    m.friction_across = across;
    return m;
}

static void step_until(yard *y, double time) {
    while (sim_world_state(y->world)->time < time - dt / 2) {
        yard_step(y);
        cr_assert_leq(sim_world_info(y->world)->certificate.own, 1e-3);
    }
}

/* ---- belts ---- */

Test(surfaces, a_plate_on_a_conveyor_gains_mu_g_until_it_has_the_speed_of_the_belt) {
    double mu = 0.5, speed = 1.5, along = speed * cos(0.4), across = speed * sin(0.4), due = speed / (mu * g);
    for (int s = 0; s < SOLVERS; s++) {
        yard y = plate(with_friction(mu, 0), v3_make(0, 0, -g), v3_make(0, 0, 0), v3_make(along, across, 0),
                       v3_make(0, 0, 0));
        yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
        step_until(&y, due / 2);
        v3 half = motion_of(&y, "plate").lin;
        cr_expect_float_eq(hypot(half.x, half.y), speed / 2, lifts(solvers[s]) ? 0.05 : 1.01 * mu * g * dt, "%s: %g",
                           solvers[s], half.x);
        step_until(&y, 2 * due);
        v3 full = motion_of(&y, "plate").lin;
        cr_expect_float_eq(full.x, along, 1e-4, "%s: %g, not %g", solvers[s], full.x, along);
        cr_expect_float_eq(full.y, across, 1e-4, "%s", solvers[s]);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* Friction m a, and moment r m a on 2/5 m r^2, until v + omega r is the belt's speed: v = 2/7 of it. */
Test(surfaces, a_ball_on_a_conveyor_ends_with_two_sevenths_of_its_speed) {
    for (int s = 0; s < SOLVERS; s++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        sim_shape belt = sim_shape_default();
        belt.type = SIM_HALF_SPACE;
        belt.material = y.material;
        belt.surface_velocity = v3_make(0.7, 0, 0);
        sim_builder_add_shape(y.builder, &belt);
        yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 2, v3_make(0, 0, 0.1), v3_make(0, 0, 0));
        yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
        step_until(&y, 0.3);
        sim_motion m = motion_of(&y, "ball");
        cr_expect_float_eq(m.lin.x, 0.2, lifts(solvers[s]) ? 2e-3 : 1e-5, "%s: %.9g", solvers[s], m.lin.x);
        cr_expect_float_eq(m.lin.x - 0.1 * m.ang.y, 0.7, lifts(solvers[s]) ? 2e-3 : 1e-5, "%s", solvers[s]);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* A small plate at rest on a turntable slides at mu g along the turn, then goes round with it. */
Test(surfaces, a_plate_on_a_turntable_goes_round_with_it) {
    double mu = 0.5, turn = 2, far = 0.4;
    yard y = yard_begin(v3_make(0, 0, -g), rough(mu));
    sim_shape table = sim_shape_default();
    table.type = SIM_CYLINDER;
    table.size[0] = 1;
    table.size[1] = 0.2;
    table.pose.p = v3_make(0.3, 0.2, -0.1);
    table.material = y.material;
    table.surface_spin = v3_make(0, 0, turn);
    sim_builder_add_shape(y.builder, &table);
    yard_add(&y, "plate", SIM_BOX, 0.02, 0.02, 0.002, 1, v3_make(0.3 + far, 0.2, 0.001), v3_make(0, 0, 0));
    yard_open(&y, "auto", SIM_MIDPOINT, dt);
    double due = turn * far / (mu * g);
    step_until(&y, due / 4);
    v3 v = motion_of(&y, "plate").lin;
    cr_expect_float_eq(v.y, turn * far / 4, 0.03 * turn * far / 4, "%g", v.y);
    cr_expect_lt(fabs(v.x), 0.05 * fabs(v.y));
    /* sticking: v = turn x r; friction holds it on its circle */
    step_until(&y, 1.5);
    v3 r = v3_sub(place_of(&y, "plate"), v3_make(0.3, 0.2, 0));
    v = motion_of(&y, "plate").lin;
    cr_expect_float_eq(v.x, -turn * r.y, 2e-3, "%g, not %g", v.x, -turn * r.y);
    cr_expect_float_eq(v.y, turn * r.x, 2e-3, "%g, not %g", v.y, turn * r.x);
    cr_expect_float_eq(motion_of(&y, "plate").ang.z, turn, 2e-3);
    cr_expect_float_eq(hypot(r.x, r.y), far, 0.05 * far);
    yard_end(&y);
}

/* The belt is on a cart that slides without friction: what the plate gains the cart loses; the cart is the first of both
 * bodies, or the second. */
Test(surfaces, a_belt_pushes_its_own_body_back) {
    for (int second = 0; second < 2; second++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.4));
        sim_body_def def = sim_body_default();
        def.name = "cart";
        def.joint = SIM_SLIDER;
        def.axis = v3_make(1, 0, 0);
        def.inertia = box_inertia(3, 4, 1, 0.2);
        sim_shape top = sim_shape_default();
        top.type = SIM_BOX;
        top.size[0] = 4;
        top.size[1] = 1;
        top.size[2] = 0.2;
        top.pose.p.z = -0.1;
        top.material = y.material;
        top.surface_velocity = v3_make(1, 0, 5); /* its part along the normal has no effect */
        for (int k = 0; k < 2; k++) {
            if (k == second) {
                top.body = sim_builder_add_body(y.builder, &def);
                sim_builder_add_shape(y.builder, &top);
            } else {
                yard_add(&y, "plate", SIM_BOX, 0.5, 0.5, 0.01, 1, v3_make(0, 0, 0.005), v3_make(0, 0, 0));
            }
        }
        yard_open(&y, "auto", SIM_MIDPOINT, dt);
        step_until(&y, 1);
        double u = motion_of(&y, "plate").lin.x, v = motion_of(&y, "cart").lin.x;
        cr_expect_float_eq(u - v, 1, 1e-6, "%.9g", u - v);
        cr_expect_float_eq(u + 3 * v, 0, 1e-8, "%.9g", u + 3 * v);
        yard_end(&y);
    }
}

/* Energy grows by the belt's work alone: of the impulse on the bodies, along the belt. */
Test(surfaces, energy_grows_by_the_work_of_the_belt_at_most) {
    static const char *const of[] = {"auto", "acn", "sap"};
    for (int s = 0; s < 3; s++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.6));
        v3 speed = {1.2, -0.5, 0};
        sim_shape belt = sim_shape_default();
        belt.type = SIM_HALF_SPACE;
        belt.material = y.material;
        belt.surface_velocity = speed;
        sim_builder_add_shape(y.builder, &belt);
        yard_add(&y, "box", SIM_BOX, 0.2, 0.3, 0.1, 1, v3_make(0, 0, 0.3), v3_make(0.4, 0, 0));
        yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0.05, 0.02, 0.6), v3_make(0, 0, 0));
        yard_open(&y, of[s], SIM_MIDPOINT, dt);
        double undone = 0, most = 0, worked = 0, energy = energy_of(&y), first = energy;
        for (int k = 0; k < 1000; k++) {
            yard_step(&y);
            double now = energy_of(&y);
            undone += sim_world_info(y.world)->undone;
            worked += v3_dot(v3_add(impulse_on(&y, "box"), impulse_on(&y, "ball")), speed);
            most = fmax(most, now - first - worked - undone);
            energy = now;
        }
        cr_expect_leq(most, 1e-5, "%s: %g J from nothing", of[s], most);
        cr_expect_gt(worked, 0.5, "%s: the belt does work", of[s]);
        cr_expect_eq(y.unsolved, 0, "%s: %d unsolved", of[s], y.unsolved);
        yard_end(&y);
    }
}

/* A conveyor's belt and the ground seen from it are the same: an ellipsoid that rolls and hops on either. */
static yard tumbling_ellipsoid(const char *solver, double belt, double v) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.6));
    sim_shape ground = sim_shape_default();
    ground.type = SIM_HALF_SPACE;
    ground.material = y.material;
    ground.surface_velocity = v3_make(belt, 0, 0);
    sim_builder_add_shape(y.builder, &ground);
    yard_add(&y, "egg", SIM_ELLIPSOID, 0.06, 0.05, 0.05, 1, v3_make(0, 0, 0.05), v3_make(v, 0, 0));
    yard_open(&y, solver, SIM_MIDPOINT, dt);
    return y;
}

Test(surfaces, a_body_tumbles_on_a_conveyor_as_on_the_ground_that_moves_with_it) {
    static const char *const of[] = {"auto", "canal"};
    double speed = 0.5;
    for (int s = 0; s < 2; s++) {
        yard on_belt = tumbling_ellipsoid(of[s], speed, 0), on_ground = tumbling_ellipsoid(of[s], 0, -speed);
        step_until(&on_belt, 1);
        step_until(&on_ground, 1);
        v3 a = place_of(&on_belt, "egg"), b = v3_add(place_of(&on_ground, "egg"), v3_make(speed, 0, 0));
        cr_expect_lt(v3_norm(v3_sub(a, b)), 1e-6, "%s: %g m apart", of[s], v3_norm(v3_sub(a, b)));
        cr_expect_gt(fabs(motion_of(&on_belt, "egg").ang.y), 1, "%s: it rolls", of[s]);
        cr_expect_eq(on_belt.unsolved + on_ground.unsolved, 0);
        yard_end(&on_belt);
        yard_end(&on_ground);
    }
}

/* ---- friction by direction ---- */

/* m dv/dt = -m g (mu1^2 v1, mu2^2 v2) / |(mu1 v1, mu2 v2)|, by Runge-Kutta of fourth order. */
static void slide_rate(const double mu[2], const double v[2], double rate[2]) {
    double size = hypot(mu[0] * v[0], mu[1] * v[1]);
    rate[0] = -g * mu[0] * mu[0] * v[0] / size;
    rate[1] = -g * mu[1] * mu[1] * v[1] / size;
}

static void slide_exactly(const double mu[2], double v[2], double time) {
    int steps = 4000;
    double h = time / steps;
    for (int k = 0; k < steps; k++) {
        double a[2], b[2], c[2], d[2];
        slide_rate(mu, v, a);
        slide_rate(mu, (double[2]){v[0] + h / 2 * a[0], v[1] + h / 2 * a[1]}, b);
        slide_rate(mu, (double[2]){v[0] + h / 2 * b[0], v[1] + h / 2 * b[1]}, c);
        slide_rate(mu, (double[2]){v[0] + h * c[0], v[1] + h * c[1]}, d);
        for (int i = 0; i < 2; i++) {
            v[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
        }
    }
}

/* The ground has (0.2, 0.8) along and across a direction 37 degrees from x, the plate 0.5: roots of products. */
Test(surfaces, a_plate_slides_along_the_path_of_friction_by_direction) {
    double turn = 37 * M_PI / 180, mu[2] = {sqrt(0.2 * 0.5), sqrt(0.8 * 0.5)};
    v3 e1 = {cos(turn), sin(turn), 0}, e2 = {-sin(turn), cos(turn), 0};
    for (int s = 0; s < SOLVERS; s++) {
        double v[2] = {1.1, 1.7}, tolerance = lifts(solvers[s]) ? 0.05 : 4e-3;
        yard y = plate(with_friction(0.2, 0.8), v3_make(0, 0, -g), v3_scale(3, e1), v3_make(0, 0, 0),
                       v3_axpy(v3_scale(v[0], e1), v[1], e2));
        yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
        step_until(&y, 0.25);
        slide_exactly(mu, v, 0.25);
        v3 found = motion_of(&y, "plate").lin;
        cr_expect_float_eq(v3_dot(found, e1), v[0], tolerance, "%s: %g, not %g", solvers[s], v3_dot(found, e1), v[0]);
        cr_expect_float_eq(v3_dot(found, e2), v[1], tolerance, "%s: %g, not %g", solvers[s], v3_dot(found, e2), v[1]);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* On a slope that falls along (cos a, sin a) it holds up to the tangent 1 / |(cos a / mu1, sin a / mu2)|. */
Test(surfaces, friction_by_direction_holds_on_slopes_up_to_its_ellipse) {
    double mu[2] = {sqrt(0.2 * 0.5), sqrt(0.8 * 0.5)};
    for (int s = 0; s < STRICT; s++) {
        for (int k = 0; k < 6; k++) {
            double a = k / 2 * 0.7, most = 1 / hypot(cos(a) / mu[0], sin(a) / mu[1]);
            double slope = atan(most * (k % 2 ? 1.01 : 0.99));
            v3 gravity = {g * sin(slope) * cos(a), g * sin(slope) * sin(a), -g * cos(slope)};
            yard y = plate(with_friction(0.2, 0.8), gravity, v3_make(1, 0, 0), v3_make(0, 0, 0), v3_make(0, 0, 0));
            yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
            step_until(&y, 0.3);
            double moved = v3_norm(v3_sub(place_of(&y, "plate"), v3_make(0, 0, 0.001)));
            cr_expect(k % 2 ? moved > 1e-3 : moved < 1e-5, "%s, %g: moved by %g m", solvers[s], a, moved);
            yard_end(&y);
        }
    }
}

/* A direction along the normal leaves the coefficient across. */
Test(surfaces, friction_along_the_normal_has_no_part) {
    yard y = plate(with_friction(0.05, 0.5), v3_make(0, 0, -g), v3_make(0, 0, 1), v3_make(0, 0, 0), v3_make(1, 1, 0));
    yard_open(&y, "auto", SIM_MIDPOINT, dt);
    step_until(&y, 0.1);
    v3 v = motion_of(&y, "plate").lin;
    cr_expect_float_eq(hypot(v.x, v.y), sqrt(2) - 0.5 * g * 0.1, 2e-3, "%g", hypot(v.x, v.y));
    cr_expect_float_eq(v.x, v.y, 1e-7);
    yard_end(&y);
}

/* ---- adhesion ---- */

/* A ball under a ceiling of the world that pulls with this force. */
static yard hanging(double adhesion, const char *solver) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    sim_material sticky = sim_material_default();
    sticky.name = "sticky";
    sticky.adhesion = adhesion;
    sim_shape roof = sim_shape_default();
    roof.type = SIM_BOX;
    roof.size[0] = roof.size[1] = 2;
    roof.size[2] = 0.1;
    roof.pose.p.z = 1.05;
    roof.material = sim_builder_add_material(y.builder, &sticky);
    sim_builder_add_shape(y.builder, &roof);
    yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 2, v3_make(0, 0, 0.9), v3_make(0, 0, 0));
    yard_open(&y, solver, SIM_MIDPOINT, dt);
    return y;
}

Test(surfaces, a_ball_hangs_by_adhesion_up_to_its_weight_and_falls_above) {
    for (int s = 0; s < SOLVERS; s++) {
        yard y = hanging(2 * g * 1.01, solvers[s]);
        step_until(&y, 0.5);
        cr_expect_float_eq(place_of(&y, "ball").z, 0.9, 1e-6, "%s", solvers[s]);
        v3 pulled = impulse_on(&y, "ball");
        cr_expect_float_eq(pulled.z, 2 * g * dt, 1e-6 * 2 * g * dt, "%s: held by %g N s", solvers[s], pulled.z);
        cr_expect_leq(sim_world_info(y.world)->solver_iterations, 1, "%s starts where it ended", solvers[s]);
        /* the force that lasts is that of the contact and of adhesion together: the weight */
        const double *lasts = sim_world_state(y.world)->trail + 2 * (ptrdiff_t)y.model->nv;
        cr_expect_float_eq(lasts[2], 2 * g, 1e-6 * 2 * g, "%s: %g N last", solvers[s], lasts[2]);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
        /* at first it gains what adhesion leaves of its weight, up to the range of 0.1 mm; then all of it */
        y = hanging(2 * g * 0.98, solvers[s]);
        step_until(&y, 0.5);
        double slow = sqrt(2 * 1e-4 / (0.02 * g)), z = 0.5 * g * (0.5 - slow) * (0.5 - slow);
        cr_expect_float_eq(0.9 - place_of(&y, "ball").z, z, 0.02, "%s: fell by %g, not %g", solvers[s],
                           0.9 - place_of(&y, "ball").z, z);
        yard_end(&y);
    }
}

/* Four corners pull with 2 N each: friction holds a tangent of mu (1 + 8 N / m g cos a). */
Test(surfaces, adhesion_adds_to_friction) {
    sim_material sticky = with_friction(0.5, 0);
    sticky.adhesion = 2;
    for (int s = 0; s < STRICT; s++) {
        for (int steep = 0; steep < 2; steep++) {
            double a = 0.6 * (steep ? 1.02 : 1), pull = 1.5 * g * (sin(0.605) / 0.5 - cos(0.605)) / 4;
            sticky.adhesion = pull;
            yard y = plate(sticky, v3_make(g * sin(a), 0, -g * cos(a)), v3_make(0, 0, 0), v3_make(0, 0, 0),
                           v3_make(0, 0, 0));
            yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
            step_until(&y, 0.3);
            double x = place_of(&y, "plate").x;
            cr_expect(steep ? x > 1e-3 : x < 1e-5, "%s: slid by %g m", solvers[s], x);
            yard_end(&y);
        }
    }
}

/* Pulled by its joint's limited actuator, the plate stays until the force is that of adhesion: the row of the actuator
 * and the load in v* fit together. */
Test(surfaces, an_actuator_with_a_limit_pulls_against_adhesion) {
    for (int strong = 0; strong < 2; strong++) {
        yard y = yard_begin(v3_make(0, 0, 0), rough(0.5));
        sim_material sticky = sim_material_default();
        sticky.name = "sticky";
        sticky.adhesion = 5;
        sim_body_def def = sim_body_default();
        def.name = "lift";
        def.joint = SIM_SLIDER;
        def.inertia = box_inertia(1, 0.2, 0.2, 0.2);
        sim_shape shape = sim_shape_default();
        shape.type = SIM_SPHERE;
        shape.size[0] = 0.1;
        shape.pose.p.z = 0.1;
        shape.material = sim_builder_add_material(y.builder, &sticky);
        shape.body = sim_builder_add_body(y.builder, &def);
        sim_builder_add_shape(y.builder, &shape);
        yard_ground(&y);
        double time[1] = {0}, target[1] = {0.3};
        sim_actuator actuator = sim_actuator_default();
        actuator.name = "motor";
        actuator.kp = 1e3;
        actuator.kd = 20;
        actuator.effort = strong ? 5.1 : 4.9;
        actuator.target = (sim_track){.keys = 1, .width = 1, .times = time, .values = target};
        sim_builder_add_actuator(y.builder, shape.body, &actuator);
        yard_open(&y, "auto", SIM_MIDPOINT, dt);
        step_until(&y, 1);
        double z = place_of(&y, "lift").z;
        cr_expect(strong ? fabs(z - 0.3) < 0.02 : fabs(z) < 1e-5, "effort %g: at %g m", actuator.effort, z);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* ---- adhesion by actuators ---- */

/* A plate of 2 kg under a ceiling, four corners in contact, with an actuator of gain 10 N that pulls at its contacts. */
static yard held_plate(const char *solver, int sleep) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    y.options.sleep = sleep;
    sim_shape roof = sim_shape_default();
    roof.type = SIM_BOX;
    roof.size[0] = roof.size[1] = 2;
    roof.size[2] = 0.1;
    roof.pose.p.z = 1.05;
    roof.material = y.material;
    sim_builder_add_shape(y.builder, &roof);
    int plate = yard_add(&y, "plate", SIM_BOX, 0.4, 0.4, 0.02, 2, v3_make(0, 0, 0.99), v3_make(0, 0, 0));
    sim_actuator a = sim_actuator_default();
    a.name = "magnet";
    a.transmission = SIM_BY_CONTACTS;
    a.gain[0] = 10;
    cr_assert_geq(sim_builder_add_actuator(y.builder, plate, &a), 0);
    yard_open(&y, solver, SIM_MIDPOINT, dt);
    return y;
}

static void set_magnet(yard *y, double ctrl) { sim_world_inputs(y->world, SIM_CTRL)[0] = ctrl; }

/* It carries gain times input and no more; the contacts share it in equal parts. */
Test(surfaces, a_plate_hangs_by_an_actuator_up_to_its_weight_and_falls_above) {
    for (int s = 0; s < SOLVERS; s++) {
        yard y = held_plate(solvers[s], 0);
        set_magnet(&y, 2 * g / 10 * 1.01);
        step_until(&y, 0.3);
        cr_expect_float_eq(place_of(&y, "plate").z, 0.99, 1e-6, "%s", solvers[s]);
        cr_expect_float_eq(impulse_on(&y, "plate").z, 2 * g * dt, 1e-6 * 2 * g * dt, "%s", solvers[s]);
        cr_expect_float_eq(sim_world_state(y.world)->effort[0], 2 * g * 1.01, 1e-12);
        cr_assert_eq(sim_world_state(y.world)->ncontact, 4);
        for (int k = 0; k < 4; k++) {
            cr_expect_float_eq(sim_world_state(y.world)->contact[k].adhesion, 2 * g * 1.01 / 4, 1e-12);
        }
        /* less than the weight: it leaves the range of 0.1 mm slowly, and then falls freely */
        set_magnet(&y, 2 * g / 10 * 0.98);
        step_until(&y, 0.8);
        double slow = sqrt(2 * 1e-4 / (0.02 * g)), fallen = 0.5 * g * (0.5 - slow) * (0.5 - slow);
        cr_expect_float_eq(0.99 - place_of(&y, "plate").z, fallen, 0.02, "%s: fell by %g, not %g", solvers[s],
                           0.99 - place_of(&y, "plate").z, fallen);
        yard_end(&y);
    }
}

/* Also where it sleeps: the change of the input wakes it. */
Test(surfaces, an_actuator_that_is_switched_off_drops_the_plate) {
    for (int sleep = 0; sleep < 2; sleep++) {
        yard y = held_plate("auto", sleep);
        set_magnet(&y, 4);
        step_until(&y, 1.5);
        cr_expect_eq(sim_world_info(y.world)->asleep > 0, sleep);
        set_magnet(&y, -4); /* contacts are not pushed apart */
        step_until(&y, 1.8);
        cr_expect_float_eq(0.99 - place_of(&y, "plate").z, 0.5 * g * 0.3 * 0.3, 2 * g * 0.3 * dt);
        cr_expect_float_eq(motion_of(&y, "plate").lin.z, -g * 0.3, 1e-9);
        yard_end(&y);
    }
}

/* Along a wall the plate is held by friction, mu times the force. */
Test(surfaces, an_actuator_holds_a_plate_on_a_wall_by_friction) {
    for (int s = 0; s < STRICT; s++) {
        for (int strong = 0; strong < 2; strong++) {
            yard y = yard_begin(v3_make(g, 0, 0), rough(0.5));
            yard_ground(&y);
            int plate = yard_add(&y, "plate", SIM_BOX, 2, 2, 0.002, 1.5, v3_make(0, 0, 0.001), v3_make(0, 0, 0));
            sim_actuator a = sim_actuator_default();
            a.transmission = SIM_BY_CONTACTS;
            a.bias[0] = 1.5 * g / 0.5 * (strong ? 1.02 : 0.9);
            cr_assert_geq(sim_builder_add_actuator(y.builder, plate, &a), 0);
            yard_open(&y, solvers[s], SIM_MIDPOINT, dt);
            step_until(&y, 0.3);
            double x = place_of(&y, "plate").x;
            cr_expect(strong ? fabs(x) < 1e-5 : fabs(x - 0.5 * 0.1 * g * 0.09) < 1e-4, "%s: slid by %g m", solvers[s],
                      x);
            yard_end(&y);
        }
    }
}
