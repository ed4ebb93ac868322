/* Shapes in motion: how fast two of them may approach each other, and whether they meet within a step. */
#include "collide/sweep.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>

static v3 random_vector(random_source *r, double size) {
    return v3_make(random_uniform(r, -size, size), random_uniform(r, -size, size), random_uniform(r, -size, size));
}

/* A box of 0.4 x 0.1 x 0.1 m beside its body's origin, which turns at up to 20 rad/s. */
static mover random_mover(random_source *r, const sim_shape *shape, v3 at) {
    return (mover){.shape = shape,
                   .X = {random_pose(r, 0).R, at},
                   .v = {random_vector(r, 20), random_vector(r, 1)},
                   .reach = v3_norm(shape->pose.p) + 0.5 * sqrt(0.4 * 0.4 + 2 * 0.1 * 0.1)};
}

static double gap_at(const sweep *s, double t) {
    manifold m = {0};
    sweep_ask(s, t, 10, &m);
    cr_assert_gt(m.count, 0);
    return sweep_least_gap(&m);
}

/* A distance changes by no more than the greatest speed of approach allows, whatever turns. */
Test(sweep, no_gap_closes_faster_than_the_greatest_speed_of_approach) {
    random_source r = {11};
    sim_arena *arena = arena_create();
    double nearest = 0;
    for (int trial = 0; trial < 200; trial++) {
        sim_shape box[2] = {box_shape(0.4, 0.1, 0.1), box_shape(0.4, 0.1, 0.1)};
        box[0].pose.p = random_vector(&r, 0.3);
        box[1].pose.p = random_vector(&r, 0.3);
        sweep s = {.a = random_mover(&r, &box[0], v3_make(0, 0, 0)),
                   .b = random_mover(&r, &box[1], v3_make(2, 0, 0)),
                   .step = 0.05,
                   .arena = arena};
        double speed = sweep_speed(&s.a, &s.b), last = gap_at(&s, 0), dt = s.step / 10;
        for (int k = 1; k <= 10; k++) {
            double gap = gap_at(&s, k * dt);
            cr_expect_leq(fabs(gap - last), speed * dt * (1 + 1e-9), "trial %d: %g m in %g s, at most %g m/s", trial,
                          fabs(gap - last), dt, speed);
            nearest = fmax(nearest, fabs(gap - last) / (speed * dt));
            last = gap;
        }
    }
    cr_expect_gt(nearest, 0.3, "no pair comes near the bound: %g", nearest);
    arena_free(arena);
}

/* A rod of 2 m turns about its middle at 100 rad/s.  A ball of 1 cm stands in the way of its end, 0.5 rad ahead: they
 * meet within 10 ms, and not within 4 ms. */
Test(sweep, the_end_of_a_rod_that_only_turns_meets_what_stands_in_its_way) {
    sim_arena *arena = arena_create();
    sim_shape rod = box_shape(2, 0.02, 0.02), ball = sphere_shape(0.01);
    pose at = pose_identity();
    at.p = v3_make(0.95 * cos(0.5), 0.95 * sin(0.5), 0);
    for (int k = 0; k < 2; k++) {
        sweep s = {
            .a = {.shape = &rod, .X = pose_identity(), .v = {v3_make(0, 0, 100), v3_make(0, 0, 0)}, .reach = 1.001},
            .b = {.shape = &ball, .X = at},
            .step = k ? 0.01 : 0.004,
            .margin = 1e-3,
            .arena = arena};
        manifold m = {0};
        sweep_collide(&s, &m);
        cr_expect_eq(m.count > 0, k == 1, "%d points within %g s", m.count, s.step);
    }
    arena_free(arena);
}
