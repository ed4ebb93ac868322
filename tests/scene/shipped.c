/* Every shipped scene loads, the same each time, and steps; contact/defaults_long.c takes more steps. */
#include "support/share.h"

#include "record/run/fingerprint.h"
#include <criterion/criterion.h>
#include <ftw.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int scenes;

/* Corners of the columns of two scenes cross as they start to fall: published figures and benchmarks are taken on
 * them. */
static void starts_apart(const char *path, sim_world *world) {
    sim_overlap *list;
    int count;
    sim_error error = {0};
    cr_assert_eq(sim_world_overlaps(world, &list, &count, &error), SIM_OK, "%s", error.text);
    if (count && !strstr(path, "papers/clutter.json") && !strstr(path, "bench/clutter.json")) {
        const sim_body *body = sim_world_model(world)->body;
        cr_expect(0, "%s: \"%s\" and \"%s\" overlap by %g m at the start", path, body[list[0].body[0]].name,
                  body[list[0].body[1]].name, list[0].depth);
    }
    free(list);
}

/* Leaves bytes on the stack that the next call may take for its own. */
static void dirty_stack(int byte) {
    volatile char waste[1 << 16];
    for (size_t k = 0; k < sizeof waste; k++) {
        waste[k] = (char)byte;
    }
}

/* Two loads of a scene are one model: checkpoints and caches know it by its fingerprint and hash. */
static sim_scene *load_twice(const char *path) {
    sim_error error = {0};
    sim_scene *scene[2] = {NULL, NULL};
    int loads = scenes % (10 / part_of(10)) ? 1 : 2; /* of a part a tenth */
    for (int k = 0; k < loads; k++) {
        dirty_stack(0x5a << k);
        scene[k] = sim_scene_load(path, NULL, NULL, &error);
        cr_assert(scene[k], "%s", error.text);
    }
    if (loads == 2) {
        cr_expect_str_eq(scene[0]->hash, scene[1]->hash, "%s", path);
        cr_expect_eq(fingerprint_of(scene[0]->model, &scene[0]->options),
                     fingerprint_of(scene[1]->model, &scene[1]->options), "%s", path);
        sim_scene_free(scene[1]);
    }
    return scene[0];
}

/* Of a part, benchmarks are left out: their solids are those of other scenes. */
static int try_scene(const char *path, const struct stat *about, int type) {
    (void)about;
    size_t length = strlen(path);
    if (type != FTW_F || length < 5 || strcmp(path + length - 5, ".json") != 0 || strstr(path, ".schema.json") ||
        (is_part() && strstr(path, "bench/"))) {
        return 0;
    }
    sim_error error = {0};
    sim_scene *scene = load_twice(path);
    cr_assert(scene->description[0], "%s says nothing about itself", path);
    cr_assert_gt(scene->ncamera, 0, "%s has no camera", path);
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(world, "%s: %s", path, error.text);
    starts_apart(path, world);
    cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s: %s", path, error.text);
    cr_assert_eq(sim_world_info(world)->nonconverged, 0, "%s", path);
    sim_world_free(world);
    sim_scene_free(scene);
    scenes++;
    return 0;
}

Test(shipped_scenes, load_the_same_twice_and_step) {
    cr_assert_eq(ftw("scenes", try_scene, 8), 0);
    cr_assert_geq(scenes, 24);
}

static sim_scene *load(const char *name) {
    char path[1000];
    sim_error error = {0};
    snprintf(path, sizeof path, "scenes/%s.json", name);
    sim_scene *scene = sim_scene_load(path, NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    return scene;
}

Test(shipped_scenes, have_the_sizes_they_are_named_for) {
    static const struct {
        const char *name;
        int nv, bodies;
    } expected[] = {{"articulated/arm", 7, 9},         {"articulated/quadruped", 18, 18},
                    {"articulated/humanoid", 36, 32},  {"articulated/chain", 100, 101},
                    {"stress/chain_1000", 1000, 1001}, {"stress/scatter_1000", 6000, 1001}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        sim_scene *scene = load(expected[i].name);
        cr_assert_eq(scene->model->nv, expected[i].nv, "%s", expected[i].name);
        cr_assert_eq(scene->model->nbody, expected[i].bodies, "%s", expected[i].name);
        sim_scene_free(scene);
    }
}

/* Position of a point of a body when the scene's time is up. */
static sim_v3 run(const char *name, double until, const char *body, sim_v3 local) {
    sim_scene *scene = load(name);
    sim_error error = {0};
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(world);
    while (sim_world_state(world)->time < until - 1e-9) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK);
    }
    sim_point point = {sim_model_find_body(scene->model, body), local};
    sim_v3 p = sim_point_position(sim_world_derived(world), point);
    sim_world_free(world);
    sim_scene_free(scene);
    return p;
}

Test(shipped_scenes, the_gyroscope_s_axle_stays_level_and_goes_round) {
    sim_v3 p = run("basic/gyroscope", 0.5, "top", (sim_v3){0, 0, 1});
    cr_assert_float_eq(p.z, 1, 1e-4);
    cr_assert_float_eq(p.x, 0.3378, 3e-3); /* cos(2.4525 * 0.5); the step leaves an error of order (spin h)^2 */
    cr_assert_float_eq(p.y, 0.9412, 3e-3);
}

Test(shipped_scenes, the_projectile_flies_its_parabola) {
    sim_v3 p = run("basic/projectile", 1, "ball", (sim_v3){0, 0, 0});
    cr_assert_float_eq(p.x, 10, 1e-9);
    cr_assert_float_eq(p.z, 10 - 9.81 / 2, 1e-9);
}

Test(shipped_scenes, the_arm_reaches_its_second_pose) {
    sim_scene *scene = load("articulated/arm");
    sim_world *world = sim_world_create(scene->model, &scene->options, NULL);
    while (sim_world_state(world)->time < 2 - 1e-9) {
        cr_assert_eq(sim_world_step(world, NULL), SIM_OK);
    }
    static const double pose[7] = {0.8, 0.9, 0, -1.2, 0, 1.1, 1.5};
    for (int i = 0; i < 7; i++) {
        cr_assert_float_eq(sim_world_state(world)->q[i], pose[i], 2e-3);
    }
    sim_world_free(world);
    sim_scene_free(scene);
}

Test(shipped_scenes, the_thrown_sphere_rolls_at_five_sevenths_of_its_speed) {
    sim_scene *scene = load("papers/slide_roll");
    sim_world *world = sim_world_create(scene->model, &scene->options, NULL);
    const sim_state *state = sim_world_state(world);
    for (int k = 0; k < 600; k++) {
        int slides = state->v[0] - state->v[4] > 1e-9;
        cr_assert_eq(slides, state->time < 4 / (7 * 0.2 * 9.81), "%g s", state->time);
        cr_assert_eq(sim_world_step(world, NULL), SIM_OK);
    }
    cr_assert_float_eq(state->v[0], 10.0 / 7, 1e-9);
    cr_assert_float_eq(state->v[4], 10.0 / 7, 1e-9);
    sim_world_free(world);
    sim_scene_free(scene);
}

/* Height that the body reaches again after it has been down, m. */
static double second_peak(const char *name, const char *body, double rest) {
    sim_scene *scene = load(name);
    sim_world *world = sim_world_create(scene->model, &scene->options, NULL);
    const sim_body *b = &scene->model->body[sim_model_find_body(scene->model, body)];
    double peak = 0;
    for (int k = 0, down = 0; k < 1000; k++) {
        cr_assert_eq(sim_world_step(world, NULL), SIM_OK);
        const sim_state *state = sim_world_state(world);
        down |= state->v[b->v0 + 2] >= 0;
        peak = down ? fmax(peak, state->q[b->q0 + 2] - rest) : 0;
    }
    sim_world_free(world);
    sim_scene_free(scene);
    return peak;
}

Test(shipped_scenes, the_falling_spheres_bounce_to_the_square_of_their_restitution) {
    cr_assert_float_eq(second_peak("contact/falling_sphere", "lead", 0.1), 0, 1e-9);
    cr_assert_float_eq(second_peak("contact/falling_sphere", "wood", 0.1), 0.25, 2e-3); /* of order step times speed */
    cr_assert_float_eq(second_peak("contact/falling_sphere", "rubber", 0.1), 0.81, 2e-3);
}

Test(shipped_scenes, on_the_incline_the_rough_box_stays_and_the_smooth_one_slides) {
    sim_v3 rest = run("contact/box_incline", 0, "sticks", (sim_v3){0});
    sim_v3 top = run("contact/box_incline", 0, "slides", (sim_v3){0});
    sim_v3 stays = run("contact/box_incline", 2, "sticks", (sim_v3){0});
    sim_v3 slid = run("contact/box_incline", 2, "slides", (sim_v3){0});
    double angle = 20 * 3.14159265358979323846 / 180;
    double way = 9.81 * (sin(angle) - 0.2 * cos(angle)) * 2;                   /* a t^2 / 2 after 2 s */
    cr_assert(fabs(stays.x - rest.x) < 1e-6 && fabs(stays.z - rest.z) < 1e-6); /* the scene has six digits */
    cr_assert_float_eq(hypot(slid.x - top.x, slid.z - top.z), way, 1e-6);
    cr_assert_float_eq(slid.y, top.y, 1e-6);
}

Test(shipped_scenes, the_stack_stands) {
    sim_v3 p = run("contact/stack", 5, "b9_box", (sim_v3){0, 0, 0});
    cr_assert(fabs(p.x) < 1e-3 && fabs(p.y) < 1e-3);
    cr_assert_float_eq(p.z, 1.9, 2e-3);
}

Test(shipped_scenes, the_second_ring_hangs_in_the_first) {
    sim_v3 p = run("solids/rings", is_part() ? 0.3 : 3, "link", (sim_v3){0, 0, 0});
    cr_assert(fabs(p.z + 0.07) < 0.02 || is_part(), "%g", p.z);
}

/* Turned by its weight alone the nut goes down by g p^2 / (p^2 + I/m), along its thread. */
Test(shipped_scenes, the_nut_turns_down_its_bolt_as_on_an_incline) {
    sim_scene *scene = load("solids/nut_turns");
    sim_world *world = sim_world_create(scene->model, &scene->options, NULL);
    const sim_state *state = sim_world_state(world);
    const sim_inertia *nut = &scene->model->body[sim_model_find_body(scene->model, "nut")].inertia;
    double p = 0.005 / (2 * 3.14159265358979323846);
    double rate = 9.81 * p * p / (p * p + nut->moment.zz / nut->mass);
    while (state->time < 0.1 - 1e-9) { /* until the play is taken up */
        cr_assert_eq(sim_world_step(world, NULL), SIM_OK);
    }
    double time = state->time, speed = state->v[2];
    while (state->time < (is_part() ? 0.2 : 0.6) - 1e-9) {
        cr_assert_eq(sim_world_step(world, NULL), SIM_OK);
    }
    cr_assert_float_eq((speed - state->v[2]) / (state->time - time), rate, 0.01 * rate);
    cr_assert_float_eq(state->v[2], p * state->v[5], 1e-3 * fabs(state->v[2]));
    sim_world_free(world);
    sim_scene_free(scene);
}

Test(shipped_scenes, the_quadruped_bends_its_knees_and_stands_up_again) {
    double low = run("contact/quadruped", 2.5, "dog_trunk", (sim_v3){0}).z;
    sim_v3 up = run("contact/quadruped", 6, "dog_trunk", (sim_v3){0});
    cr_assert(low > 0.15 && low < up.z - 0.1, "%g m, then %g m", low, up.z);
    cr_assert_float_eq(up.z, 0.43, 0.02);
    cr_assert(fabs(up.y) < 0.01);
}

/* Each of four directions is 45 degrees off the slip: friction is weaker by sqrt 2. */
Test(shipped_scenes, the_sphere_slides_longer_where_pyramids_are_turned) {
    sim_scene *scene = load("papers/slide_roll_turned");
    sim_world *world = sim_world_create(scene->model, &scene->options, NULL);
    const sim_state *state = sim_world_state(world);
    while (state->v[0] - state->v[4] > 1e-6) {
        cr_assert_eq(sim_world_step(world, NULL), SIM_OK);
    }
    cr_assert_float_eq(state->time, sqrt(2) * 4 / (7 * 0.2 * 9.81), 1.5e-3);
    sim_world_free(world);
    sim_scene_free(scene);
}

/* The nodes keep their places on the plate, which sinks; the ball falls freely: n steps of implicit Euler take it down by
 * v t + g dt^2 n (n + 1)/2. */
Test(shipped_scenes, soft_beam_carries_its_plate_and_soft_ball_falls) {
    sim_scene *scene = load("soft/ball_and_beam");
    const sim_model *m = scene->model;
    sim_error error = {0};
    cr_assert_eq(m->nsoft, 2);
    sim_world *world = sim_world_create(m, &scene->options, &error);
    cr_assert(world, "%s", error.text);
    int n = 40;
    for (int i = 0; i < n; i++) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
        cr_assert_eq(sim_world_info(world)->unsolved, 0, "step %d", i);
    }
    const sim_derived *d = sim_world_derived(world);
    double apart = 0;
    for (int k = 0; k < m->nequality; k++) {
        const sim_equality *e = &m->equality[k];
        const sim_pose *plate = &d->pose[e->body[0]];
        sim_v3 p = e->frame[0].p, x = d->pose[e->body[1]].p;
        double at[3] = {plate->R.x.x * p.x + plate->R.y.x * p.y + plate->R.z.x * p.z + plate->p.x - x.x,
                        plate->R.x.y * p.x + plate->R.y.y * p.y + plate->R.z.y * p.z + plate->p.y - x.y,
                        plate->R.x.z * p.x + plate->R.y.z * p.y + plate->R.z.z * p.z + plate->p.z - x.z};
        apart = fmax(apart, sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]));
    }
    cr_assert_gt(m->nequality, 10);
    cr_expect_lt(apart, 1e-3, "nodes are %g m off their places on the plate", apart);
    cr_expect_lt(d->pose[sim_model_find_body(m, "plate")].p.z, 0.24);
    const sim_soft *ball = &m->soft[1];
    double dt = scene->options.step, fall = 0.5 * n * dt + 9.81 * dt * dt * n * (n + 1) / 2, now = 0, mass = 0;
    for (int k = ball->body + 1; k <= ball->body + ball->nnode; k++) {
        now += d->pose[k].p.z * m->body[k].inertia.mass;
        mass += m->body[k].inertia.mass;
    }
    cr_expect_float_eq(now / mass, 0.42 - fall, 1e-4, "the ball is at %g m, due %g", now / mass, 0.42 - fall);
    sim_world_free(world);
    sim_scene_free(scene);
}
