/* The elastic law: contacts are springs, and rest without creep under any load. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>

static const double g = 9.81;

/* The incline is the ground, gravity is turned. */
static yard block_on_incline(double slope, double mu, double dt) {
    double angle = atan(slope);
    yard y = yard_begin(v3_make(g * sin(angle), 0, -g * cos(angle)), rough(mu));
    yard_ground(&y);
    yard_add(&y, "block", SIM_BOX, 0.2, 0.2, 0.1, 1, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    yard_open(&y, "acn", SIM_MIDPOINT, dt);
    return y;
}

/* Friction at rest is a spring that keeps its force: after it has been loaded the block does not move. */
Test(elastic, a_block_below_the_angle_of_friction_does_not_creep) {
    const double steps[] = {1e-3, 5e-3}, mu = 0.5;
    for (int k = 0; k < 2; k++) {
        yard y = block_on_incline(0.95 * mu, mu, steps[k]);
        while (sim_world_state(y.world)->time < 1) {
            yard_step(&y);
        }
        double before = place_of(&y, "block").x;
        while (sim_world_state(y.world)->time < 3) {
            yard_step(&y);
        }
        double creep = fabs(place_of(&y, "block").x - before) / 2;
        cr_expect_lt(creep, 1e-9, "step %g s: %g m/s", steps[k], creep);
        cr_expect_lt(fabs(before), g * steps[k] * steps[k], "step %g s: moved %g m", steps[k], before);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

Test(elastic, a_block_above_the_angle_of_friction_slides_as_coulomb_says) {
    const double mu = 0.5, slope = 1.05 * mu, dt = 1e-3, angle = atan(slope);
    yard y = block_on_incline(slope, mu, dt);
    while (sim_world_state(y.world)->time < 1) {
        yard_step(&y);
    }
    double due = g * (sin(angle) - mu * cos(angle)), speed = motion_of(&y, "block").lin.x;
    cr_assert_float_eq(speed, due, 1e-3 * due, "%g m/s, not %g", speed, due);
    yard_end(&y);
}

/* The effect of friction when a ball rolls depends on its moment about the contact alone: v = 5/7 v0.  The overlap of
 * the spring must not shorten the lever, as the contact acts on the surface of the ball. */
Test(elastic, a_sliding_ball_ends_rolling) {
    const double steps[] = {1e-3, 2e-3, 1e-2};
    for (int k = 0; k < 12; k++) {
        sim_integrator scheme = (sim_integrator)(k % SIM_RK4);
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.3));
        yard_ground(&y);
        yard_add(&y, "ball", SIM_SPHERE, 0.1, 0, 0, 1, v3_make(0, 0, 0.1), v3_make(1, 0, 0));
        yard_open(&y, "acn", scheme, steps[k / SIM_RK4]);
        while (sim_world_state(y.world)->time < 0.6) {
            yard_step(&y);
        }
        double speed = motion_of(&y, "ball").lin.x, overlap = deepest_overlap(&y);
        cr_expect_float_eq(speed, 5.0 / 7, 1e-9, "%s, step %g s: %.12g m/s", sim_integrator_name(scheme),
                           steps[k / SIM_RK4], speed);
        cr_expect(overlap > 0 && overlap < g * steps[k / SIM_RK4] * steps[k / SIM_RK4] / 20, "%g m", overlap);
        yard_end(&y);
    }
}

/* However fast they arrive, bodies sink in by no more than the share of the way that gravity moves them in a step. */
Test(elastic, dropped_balls_sink_in_by_little) {
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
    double deepest = 0, dt = 2e-3;
    char name[3] = "b0";
    yard_ground(&y);
    for (int k = 0; k < 5; k++) {
        name[1] = (char)('0' + k);
        yard_add(&y, name, SIM_SPHERE, 0.1, 0, 0, 1 + k, v3_make(k, 0, 0.3 + 0.5 * k), v3_make(0, 0, 0));
    }
    yard_open(&y, "acn", SIM_MIDPOINT, dt);
    while (sim_world_state(y.world)->time < 1) {
        yard_step(&y);
        deepest = fmax(deepest, deepest_overlap(&y));
    }
    cr_assert_lt(deepest, 1e-5, "%g m", deepest);
    cr_assert_eq(y.unsolved, 0);
    yard_end(&y);
}

/* A column that falls as one strikes the ground at its foot alone.  The contacts above it do not close, but carry what
 * stops the boxes on them.  At any speed the lowest gives way by at most M w g dt^2 / 20 = 2.4 mm, M w = 6 kg 8/kg
 * if one of its four points stops the column. */
Test(elastic, a_falling_column_sinks_in_by_little) {
    const double speeds[] = {1, 3, 10, 30}, most[] = {9e-4, 9e-4, 9.5e-4, 1.15e-3}, dt = 0.01, size = 0.1;
    for (int k = 0; k < 4; k++) {
        yard y = yard_begin(v3_make(0, 0, -g), rough(0.5));
        yard_ground(&y);
        double gap = 0.5 * dt * speeds[k], deepest = 0;
        for (int i = 0; i < 6; i++) {
            char name[] = {'b', (char)('0' + i), 0};
            yard_add(&y, name, SIM_BOX, size, size, size, 1, v3_make(0, 0, gap + size * (i + 0.5)),
                     v3_make(0, 0, -speeds[k]));
        }
        yard_open(&y, "auto", SIM_MIDPOINT, dt);
        for (int step = 0; step < 20; step++) {
            yard_step(&y);
            deepest = fmax(deepest, deepest_overlap(&y));
        }
        cr_expect_lt(deepest, most[k], "at %g m/s: %g m", speeds[k], deepest);
        cr_expect_gt(deepest, 0);
        cr_expect_eq(y.unsolved, 0);
        yard_end(&y);
    }
}

static void add_wall(yard *y, double x) {
    sim_shape wall = sim_shape_default();
    wall.type = SIM_HALF_SPACE;
    wall.material = y->material;
    wall.pose.p.x = x;
    wall.pose.R = quat_matrix((quat){M_SQRT1_2, 0, x < 0 ? M_SQRT1_2 : -M_SQRT1_2, 0}); /* its normal points inwards */
    sim_builder_add_shape(y->builder, &wall);
}

/* A ball on two others spreads them, and walls hold them: gravity adds no velocity along their normals.  Below four
 * times the weight R is that of any contact all the same, 0.025 w, and the overlap dt R gamma. */
Test(elastic, walls_that_hold_a_pile_are_no_stiffer_than_the_ground) {
    const double dt = 0.01, r = 0.1, x = 0.13, z = sqrt(4 * r * r - x * x), spread = 0.5 * g * x / z;
    yard y = yard_begin(v3_make(0, 0, -g), rough(0));
    yard_ground(&y);
    add_wall(&y, -x - r);
    add_wall(&y, x + r);
    yard_add(&y, "left", SIM_SPHERE, r, 0, 0, 1, v3_make(-x, 0, r), v3_make(0, 0, 0));
    yard_add(&y, "right", SIM_SPHERE, r, 0, 0, 1, v3_make(x, 0, r), v3_make(0, 0, 0));
    yard_add(&y, "top", SIM_SPHERE, r, 0, 0, 1, v3_make(0, 0, r + z), v3_make(0, 0, 0));
    yard_open(&y, "acn", SIM_MIDPOINT, dt);
    while (sim_world_state(y.world)->time < 2) {
        yard_step(&y);
    }
    double due = dt * dt * spread / (4 * M_PI * M_PI), right = place_of(&y, "right").x - x;
    cr_expect_float_eq(right, due, 0.01 * due, "%g m, not %g m", right, due);
    cr_expect_float_eq(place_of(&y, "left").x, -x - due, 0.01 * due);
    cr_expect_eq(y.unsolved, 0);
    yard_end(&y);
}

/* A world of a shipped scene with some values of its own. */
static sim_world *open_world(const char *file, int count, const char *const set[], sim_scene **scene) {
    sim_scene_overrides overrides = {.count = count, .set = set};
    sim_error error = {0};
    *scene = sim_scene_load(file, &overrides, NULL, &error);
    cr_assert(*scene, "%s", error.text);
    sim_world *w = sim_world_create((*scene)->model, &(*scene)->options, &error);
    cr_assert(w, "%s", error.text);
    return w;
}

/* A wedge stuck with an overlap too small to be examined: friction lets it neither up nor down, so its impulse grows
 * until its spring explains the overlap.  It stays so small that doubles carry the step. */
Test(elastic, a_wedge_that_is_squeezed_has_a_solution_in_every_step) {
    const char *const places[] = {"0.4983", "0.497"}; /* m: 0.3 and 0.5 mm deep */
    for (int k = 0; k < 2; k++) {
        char at[60];
        snprintf(at, sizeof at, "bodies/1/pose/position=[0,0,%s]", places[k]);
        const char *set[] = {"world/step=0.01", at};
        sim_error error = {0};
        sim_scene *scene;
        sim_world *w = open_world("scenes/contact/wedge.json", 2, set, &scene);
        int unsolved = 0, most = 0;
        for (int step = 0; step < 200; step++) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            unsolved += sim_world_info(w)->unsolved;
            most = sim_world_info(w)->solver_iterations > most ? sim_world_info(w)->solver_iterations : most;
        }
        cr_expect_eq(unsolved, 0, "at %s m: %d of 200", places[k], unsolved);
        cr_expect_lt(most, 50, "at %s m: %d iterations", places[k], most);
        sim_world_free(w);
        sim_scene_free(scene);
    }
}

/* Seven boxes of 1 kg under an eighth, for ten seconds. */
Test(elastic, light_boxes_carry_a_heavy_one) {
    const double loads[] = {1, 100, 1000, 10000};
    for (int k = 4 - part_of(4); k < 4; k++) {
        char mass[60];
        snprintf(mass, sizeof mass, "bodies/1/shapes/0/mass=%g", loads[k]);
        const char *set[] = {"world/solver=\"acn\"", mass};
        sim_error error = {0};
        sim_scene *scene;
        sim_world *w = open_world("scenes/contact/mass_ratio.json", 2, set, &scene);
        int top = sim_model_find_body(scene->model, "top"), unsolved = 0;
        v3 start = sim_world_derived(w)->pose[top].p, moved;
        double sank = 0, rested = 0;
        while (sim_world_state(w)->time < 10) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            moved = v3_sub(sim_world_derived(w)->pose[top].p, start);
            sank = fmax(sank, v3_norm(moved));
            rested = sim_world_state(w)->time < 5 ? moved.z : rested;
            unsolved += sim_world_info(w)->unsolved;
        }
        double creep = fabs(moved.z - rested) / 5;
        cr_expect_lt(sank, 0.005, "%g kg: moved %g m", loads[k], sank);
        cr_expect_lt(creep, 1e-6, "%g kg: %g m/s", loads[k], creep);
        cr_expect_eq(unsolved, 0, "%g kg: %d", loads[k], unsolved);
        sim_world_free(w);
        sim_scene_free(scene);
    }
}

/* A top that stands askew tilts the boxes: the reference of two faces changes sides, and with it all features of their
 * contacts, which keep their impulses all the same.  Without them the boxes gave way by 7 to 13 mm. */
Test(elastic, light_boxes_carry_a_heavy_one_that_stands_askew) {
    for (double askew = 1e-9; askew < 2e-3; askew *= 1e3) {
        char at[80];
        snprintf(at, sizeof at, "bodies/top/pose/position=[%g,%g,1.5]", askew, askew);
        const char *set[] = {"world/solver=\"acn\"", "bodies/top/shapes/0/mass=10000", at};
        sim_error error = {0};
        sim_scene *scene;
        sim_world *w = open_world("scenes/contact/mass_ratio.json", 3, set, &scene);
        int top = sim_model_find_body(scene->model, "top");
        v3 start = sim_world_derived(w)->pose[top].p;
        double sank = 0;
        while (sim_world_state(w)->time < 1) {
            cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
            sank = fmax(sank, v3_norm(v3_sub(sim_world_derived(w)->pose[top].p, start)));
        }
        cr_expect_lt(sank, 0.005, "%g m askew: moved %g m", askew, sank);
        sim_world_free(w);
        sim_scene_free(scene);
    }
}

/* Forces that grow evenly: impulses change in equal parts from step to step, and the last change tells the next. */
Test(elastic, even_loads_need_less_than_an_iteration_a_step) {
    const double dt = 5e-3, most = 0.4 * g; /* N, of a block of 1 kg with friction 0.8 */
    yard y = yard_begin(v3_make(0, 0, -g), rough(0.8));
    yard_ground(&y);
    yard_add(&y, "block", SIM_BOX, 0.2, 0.2, 0.1, 1, v3_make(0, 0, 0.05), v3_make(0, 0, 0));
    yard_open(&y, "acn", SIM_MIDPOINT, dt);
    int late = 0;
    double held = 0;
    for (int k = 0; k < 400; k++) {
        sim_world_applied(y.world)[0] = k > 100 ? most * (k - 100) / 300 : 0;
        yard_step(&y);
        late += k > 120 ? sim_world_info(y.world)->solver_total : 0;
    }
    for (int k = 0; k < sim_world_state(y.world)->ncontact; k++) {
        held += sim_world_state(y.world)->impulse[k].x / dt; /* on the ground */
    }
    cr_expect_float_eq(held, most, 0.01 * most, "friction holds %g N of %g N", held, most);
    cr_expect_lt(late, 280, "%d iterations in 280 steps", late);
    cr_expect_eq(y.unsolved, 0);
    yard_end(&y);
}
