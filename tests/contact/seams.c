/* Ground of several shapes that lie flush: what slides or rolls over the seams moves as over one shape.  Steps and walls
 * stop it still. */
#include "math/v3.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const double G = 9.81, TILE = 0.1; /* m/s^2, m */

/* A box of the world from `low` to `high`. */
static void add_block(yard *y, v3 low, v3 high) {
    sim_shape block = sim_shape_default();
    block.type = SIM_BOX;
    block.material = y->material;
    block.size[0] = high.x - low.x, block.size[1] = high.y - low.y, block.size[2] = high.z - low.z;
    block.pose.p = v3_scale(0.5, v3_add(low, high));
    sim_builder_add_shape(y->builder, &block);
}

/* Tiles with their tops at z = 0, under x from -0.35 m to 3.65 m. */
static void add_tiles(yard *y) {
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 8; j++) {
            v3 low = {TILE * i - 0.35, TILE * j - 0.45, -0.1};
            add_block(y, low, v3_add(low, v3_make(TILE, TILE, 0.1)));
        }
    }
}

/* A free solid of 1 kg, turned by an angle about an axis; its angular velocity is in its own axes. */
static void add_solid(yard *y, sim_shape_type type, const double size[3], v3 at, v3 axis, double angle, v3 v, v3 spin) {
    sim_shape shape = sim_shape_default();
    shape.type = type;
    shape.material = y->material;
    memcpy(shape.size, size, sizeof shape.size);
    double s = sin(angle / 2);
    sim_body_def def = sim_body_default();
    def.name = "solid";
    def.inertia = sim_shape_inertia(&shape, 1 / sim_shape_inertia(&shape, 1).mass);
    const double q[7] = {at.x, at.y, at.z, cos(angle / 2), s * axis.x, s * axis.y, s * axis.z},
                 w[6] = {v.x, v.y, v.z, spin.x, spin.y, spin.z};
    memcpy(def.q, q, sizeof q);
    memcpy(def.v, w, sizeof w);
    shape.body = sim_builder_add_body(y->builder, &def);
    sim_builder_add_shape(y->builder, &shape);
}

static const v3 UP = {0, 0, 1}, STILL = {0, 0, 0};
static const double BOX[3] = {0.1, 0.1, 0.05}, DISC[3] = {0.05, 0.05, 0};

/* How far a solid of 5 cm height slides over the tiles from 1 m/s, along x and a little along y, in 0.4 s. */
static void expect_braking_way(sim_shape_type type, const double size[3], double yaw, double step) {
    const double friction = 0.5;
    const v3 start = {0.013, 0.02, 0.025}, v = {1, 0.1, 0};
    yard y = yard_begin(v3_make(0, 0, -G), rough(friction));
    add_tiles(&y);
    add_solid(&y, type, size, start, UP, yaw, v, STILL);
    yard_open(&y, NULL, SIM_MIDPOINT, step);
    for (int k = 0; k < 0.4 / step; k++) {
        yard_step(&y);
    }
    double way = v3_norm(v3_sub(place_of(&y, "solid"), start)), exact = v3_dot(v, v) / (2 * friction * G);
    cr_expect_float_eq(way, exact, 0.01 * exact, "%g m, not %g m, turned by %g rad, step %g s", way, exact, yaw, step);
    cr_expect_eq(y.unsolved, 0);
    yard_end(&y);
}

Test(seams, a_box_slides_over_them_as_far_as_over_a_plane) {
    for (int k = 0; k < 3; k++) {
        expect_braking_way(SIM_BOX, BOX, 0.3 * k, 2e-3);
        expect_braking_way(SIM_BOX, BOX, 0.3 * k, 5e-4);
    }
}
Test(seams, a_cylinder_slides_over_them_as_far_as_over_a_plane) { expect_braking_way(SIM_CYLINDER, DISC, 0, 2e-3); }

/* Without friction nothing slows.  A contact that begins takes its load as it sinks: by g dt^2 / 40 at each of `seams`. */
static void expect_steady_slide(const yard *y, const char *body, int seams) {
    const double step = y->options.step, sinks = G * step * step / 40;
    sim_motion m = motion_of(y, body);
    cr_expect_float_eq(m.lin.x, 1, seams * G * sinks, "%g m/s", m.lin.x);
    cr_expect_leq(v3_norm(m.ang), sinks / step / (TILE / 2), "turns at %g rad/s", v3_norm(m.ang));
}

Test(seams, without_friction_a_box_keeps_its_speed_over_them) {
    yard y = yard_begin(v3_make(0, 0, -G), rough(0));
    add_tiles(&y);
    add_solid(&y, SIM_BOX, BOX, v3_make(0.013, 0, 0.025), UP, 0.1, v3_make(1, 0, 0), STILL);
    yard_open(&y, NULL, SIM_MIDPOINT, 2e-3);
    for (int k = 0; k < 1000; k++) {
        yard_step(&y);
    }
    expect_steady_slide(&y, "solid", 40); /* under two edges */
    yard_end(&y);
}

Test(seams, a_sled_of_flush_boxes_slides_over_an_edge) {
    yard y = yard_begin(v3_make(0, 0, -G), rough(0));
    add_block(&y, v3_make(-0.5, -0.2, -0.1), v3_make(0.5, 0.2, 0));
    sim_body_def sled = sim_body_default();
    sled.name = "sled";
    sled.joint = SIM_FREE;
    sled.q[0] = -0.013, sled.q[2] = 0.025;
    sled.v[0] = 1;
    sled.inertia = box_inertia(4, 2, 0.1, 0.05);
    sim_shape part = sim_shape_default();
    part.type = SIM_BOX;
    part.material = y.material;
    part.size[0] = part.size[1] = TILE, part.size[2] = 0.05;
    part.body = sim_builder_add_body(y.builder, &sled);
    for (int k = 0; k < 20; k++) {
        part.pose.p.x = TILE * (k - 9.5);
        sim_builder_add_shape(y.builder, &part);
    }
    yard_open(&y, NULL, SIM_MIDPOINT, 2e-3);
    for (int k = 0; k < 200; k++) {
        yard_step(&y);
    }
    expect_steady_slide(&y, "sled", 8);
    yard_end(&y);
}

/* A wheel or a capsule of 5 cm radius rolls across 19 seams, and along one. */
static void expect_steady_roll(sim_shape_type type) {
    yard y = yard_begin(v3_make(0, 0, -G), rough(0.5));
    add_tiles(&y);
    /* the body's z axis points along -y */
    add_solid(&y, type, DISC, v3_make(0.013, 0.04, 0.05), v3_make(1, 0, 0), M_PI / 2, v3_make(1, 0, 0),
              v3_make(0, 0, -20));
    yard_open(&y, NULL, SIM_MIDPOINT, 2e-3);
    for (int k = 0; k < 1000; k++) {
        yard_step(&y);
    }
    sim_motion m = motion_of(&y, "solid");
    cr_expect_float_eq(m.lin.x, 1, 1e-3, "%g m/s", m.lin.x);
    cr_expect_float_eq(m.ang.y, 20, 0.02, "%g rad/s", m.ang.y);
    yard_end(&y);
}

Test(seams, a_wheel_rolls_over_them) { expect_steady_roll(SIM_CYLINDER); }
Test(seams, a_capsule_rolls_over_them) { expect_steady_roll(SIM_CAPSULE); }

Test(seams, a_step_of_a_millimetre_stops_a_box) {
    yard y = yard_begin(v3_make(0, 0, -G), rough(0));
    add_block(&y, v3_make(-1, -0.5, -0.1), v3_make(0.2, 0.5, 0));
    add_block(&y, v3_make(0.2, -0.5, -0.1), v3_make(1, 0.5, 0.001));
    yard_add(&y, "box", SIM_BOX, 0.1, 0.1, 0.05, 1, v3_make(0, 0, 0.025), v3_make(0.2, 0, 0));
    yard_open(&y, NULL, SIM_MIDPOINT, 1e-3);
    for (int k = 0; k < 1000; k++) {
        yard_step(&y);
    }
    cr_expect_leq(place_of(&y, "box").x, 0.151);
    cr_expect_leq(motion_of(&y, "box").lin.x, 0.02);
    yard_end(&y);
}

/* A box in the corner of a floor and two walls, `overlap` deep in these, has 12 contacts. */
static void expect_corner_contacts(double overlap) {
    yard y = yard_begin(v3_make(0, 0, -G), rough(0.5));
    yard_ground(&y);
    add_block(&y, v3_make(0.05 - overlap, -0.5, 0), v3_make(0.1, 0.5, 0.5));
    add_block(&y, v3_make(-0.5, 0.05 - overlap, 0), v3_make(0.5, 0.1, 0.5));
    add_solid(&y, SIM_BOX, BOX, v3_make(0, 0, 0.025), UP, 0, STILL, STILL);
    yard_open(&y, NULL, SIM_MIDPOINT, 1e-3);
    yard_step(&y);
    int count = sim_world_state(y.world)->ncontact;
    cr_expect_eq(count, 12, "%d contacts, %g m deep", count, overlap);
    yard_end(&y);
}

Test(seams, floor_and_walls_keep_all_their_contacts) {
    expect_corner_contacts(0);
    expect_corner_contacts(1e-5);
    expect_corner_contacts(5e-4);
}

/* The upright edge of a post stops a box that slides on the floor on which it stands. */
Test(seams, a_post_on_a_floor_stops_a_box_with_its_edge) {
    const double a = 0.7;
    yard y = yard_begin(v3_make(0, 0, -G), rough(0));
    add_block(&y, v3_make(-1, -0.5, -0.1), v3_make(1, 0.5, 0));
    sim_shape post = sim_shape_default();
    post.type = SIM_BOX;
    post.material = y.material;
    post.size[0] = post.size[1] = 0.1, post.size[2] = 0.5;
    post.pose = (sim_pose){{{cos(a), sin(a), 0}, {-sin(a), cos(a), 0}, {0, 0, 1}}, {0.3, 0, 0.25}};
    sim_builder_add_shape(y.builder, &post);
    add_solid(&y, SIM_BOX, BOX, v3_make(0, 0.05 * (cos(a) - sin(a)), 0.025), UP, 0, v3_make(0.5, 0, 0), STILL);
    yard_open(&y, NULL, SIM_MIDPOINT, 1e-3);
    double edge = 0.3 - 0.05 * (cos(a) + sin(a));
    for (int k = 0; k < 1000; k++) {
        yard_step(&y);
        cr_assert_leq(place_of(&y, "solid").x, edge - 0.0499, "step %d", k);
    }
    yard_end(&y);
}
