/* Gaps taken where the step ends: nonsmooth Newton against the circle itself, and against its own steps at velocity
 * level. */
#include "math/v3.h"
#include "support.h"
#include "support/answers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST_OPTIONS = 32 };

/* Balls of 1 kg one metre apart on massless rods, the first on a rod from the origin, along x; they move at `speed`
 * along z, up and down in turns. */
static yard rods(int count, double speed, v3 gravity, sim_integrator integrator, double step, const double *option) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    yard y = yard_begin(gravity, rough(0));
    int before = 0;
    for (int k = 0; k < count; k++) {
        int ball = yard_add(&y, names[k], SIM_SPHERE, 0.1, 0, 0, 1, v3_make(k + 1, 0, 0),
                            v3_make(0, 0, k % 2 ? -speed : speed));
        sim_equality rod = sim_equality_default();
        rod.type = SIM_DISTANCE;
        rod.body[0] = ball;
        rod.body[1] = before;
        rod.distance = 1;
        cr_assert_geq(sim_builder_add_equality(y.builder, &rod), 0);
        before = ball;
    }
    y.option = option;
    yard_open(&y, "nsn", integrator, step);
    return y;
}

/* The end of one step on the circle, from (1, 0) at v along z, forces along the rod where it ends: the position is
 * (1 - a x, dt v - a z) with the a >= 0 that puts it on the circle, so along (1, dt v) from the origin. */
Test(positions, a_fast_rod_keeps_its_length_and_goes_where_the_implicit_step_does) {
    const double dt = 0.2, v = 4;
    double option[MOST_OPTIONS];
    for (int positions = 0; positions < 2; positions++) {
        options_with("nsn", (option_setting[]){{"positions", positions}, {"tolerance", 1e-12}, {NULL, 0}}, option);
        yard y = rods(1, v, v3_make(0, 0, 0), SIM_SYMPLECTIC_EULER, dt, option);
        yard_step(&y);
        v3 at = place_of(&y, "a");
        double off = fabs(v3_norm(at) - 1), angle = atan2(at.z, at.x);
        if (positions) {
            cr_expect_leq(off, 1e-11, "length off by %g", off);
            cr_expect_float_eq(angle, atan(dt * v), 1e-11, "%g", angle - atan(dt * v));
        } else {
            cr_expect_geq(off, 0.01, "length off by %g: the steps would not differ", off);
        }
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

/* Newton steps to 1e-10 for one step of the rod; as many as allowed where it does not get there. */
static int steps_for(int count, double speed, double dt, int stiffness, int *solved) {
    double option[MOST_OPTIONS];
    options_with("nsn",
                 (option_setting[]){{"positions", 1},
                                    {"tolerance", 1e-10},
                                    {"stiffness", stiffness},
                                    {"max_iterations", 60},
                                    {"linear_tolerance", 1e-9},
                                    {NULL, 0}},
                 option);
    yard y = rods(count, speed, v3_make(0, 0, 0), SIM_SYMPLECTIC_EULER, dt, option);
    yard_step(&y);
    int steps = sim_world_info(y.world)->solver_iterations;
    *solved = y.unsolved == 0;
    yard_end(&y);
    return steps;
}

/* Forces of rods that turn in a step turn with them: without that in the matrix Newton's steps contract the less the
 * longer the step is, and at last not at all. */
Test(positions, stiffness_of_forces_that_turn_makes_large_steps_of_chains_converge) {
    for (int count = 2; count <= 5; count++) {
        int with, without, steps = steps_for(count, 4, 0.05, 1, &with), slow = steps_for(count, 4, 0.05, 0, &without);
        cr_expect(with && without && steps < slow, "%d rods: %d with, %d without", count, steps, slow);
        steps = steps_for(count, 4, 0.35, 1, &with);
        slow = steps_for(count, 4, 0.35, 0, &without);
        cr_expect(with && steps <= 45, "%d rods: %d", count, steps);
        cr_expect_not(without, "%d rods: %d without", count, slow);
    }
}

/* A ball that slides along three axes and does not turn, near the ground, at it and in it: its gap is linear in q. */
static yard sliding_ball(double height, double friction, const double *option) {
    static const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const double speed[3] = {0.4, -0.2, -0.5};
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(friction));
    yard_ground(&y);
    int parent = 0;
    for (int k = 0; k < 3; k++) {
        sim_body_def def = sim_body_default();
        def.name = k == 0 ? "x" : k == 1 ? "y" : "ball";
        def.parent = parent;
        def.joint = SIM_SLIDER;
        def.axis = axis[k];
        def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
        def.v[0] = speed[k];
        def.placement.p = v3_make(0, 0, k == 2 ? height : 0);
        parent = sim_builder_add_body(y.builder, &def);
    }
    sim_shape ball = sim_shape_default();
    ball.type = SIM_SPHERE;
    ball.size[0] = 0.1;
    ball.body = parent;
    ball.material = y.material;
    sim_builder_add_shape(y.builder, &ball);
    y.option = option;
    yard_open(&y, "nsn", SIM_SYMPLECTIC_EULER, 0.01);
    return y;
}

Test(positions, where_gaps_are_linear_both_levels_give_the_same) {
    static const double height[] = {0.1, 0.1005, 0.0999, 0.11}, mu[] = {0, 0.3, 1};
    for (int trial = 0; trial < 24; trial++) {
        v3 v[2];
        for (int positions = 0; positions < 2; positions++) {
            double option[MOST_OPTIONS];
            options_with("nsn",
                         (option_setting[]){{"positions", positions},
                                            {"tolerance", 1e-14},
                                            {"linear_tolerance", 1e-12},
                                            {"function", trial / 12},
                                            {NULL, 0}},
                         option);
            yard y = sliding_ball(height[trial % 4], mu[trial / 4 % 3], option);
            yard_step(&y);
            v[positions] = motion_of(&y, "ball").lin;
            yard_end(&y);
        }
        double off = v3_norm(v3_sub(v[0], v[1]));
        cr_expect_leq(off, 1e-13, "trial %d: %g", trial, off);
    }
}

Test(positions, schemes_that_end_elsewhere_are_refused) {
    double option[MOST_OPTIONS];
    options_with("nsn", (option_setting[]){{"positions", 1}, {NULL, 0}}, option);
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
    yard_ground(&y);
    yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 0.1), v3_make(0, 0, 0));
    sim_error error = {0};
    y.model = sim_builder_finish(y.builder, &error);
    cr_assert(y.model);
    y.options.solver = sim_solver_find("nsn");
    y.options.solver_option = option;
    y.options.integrator = SIM_MIDPOINT;
    y.world = sim_world_create(y.model, &y.options, &error);
    cr_expect_null(y.world);
    cr_expect(strstr(error.text, "symplectic"), "%s", error.text);
    yard_end(&y);
}

/* A ball at rest slides at mu g until it rolls, after 41 steps. */
Test(positions, belts_move_balls_as_at_velocity_level) {
    double option[MOST_OPTIONS];
    options_with("nsn", (option_setting[]){{"positions", 1}, {"tolerance", 1e-12}, {NULL, 0}}, option);
    yard y = yard_begin(v3_make(0, 0, -9.81), rough(0.5));
    sim_shape belt = sim_shape_default();
    belt.type = SIM_HALF_SPACE;
    belt.material = y.material;
    belt.surface_velocity = v3_make(0.7, 0, 0);
    sim_builder_add_shape(y.builder, &belt);
    yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 2, v3_make(0, 0, 0.1), v3_make(0, 0, 0));
    y.option = option;
    yard_open(&y, "nsn", SIM_SYMPLECTIC_EULER, 1e-3);
    for (int k = 0; k < 20; k++) {
        yard_step(&y);
    }
    cr_expect_float_eq(motion_of(&y, "ball").lin.x, 20 * 0.5 * 9.81e-3, 1e-4, "%.9g m/s", motion_of(&y, "ball").lin.x);
    cr_expect_eq(y.unsolved, 0);
    yard_end(&y);
}
