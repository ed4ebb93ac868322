/* Events against closed forms: their times are of second order in the step. */
#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

typedef struct run {
    sim_scene *scene;
    sim_world *world;
} run;

/* A scene as text with ' for ". */
static run begin(const char *text) {
    char copy[4096];
    size_t length = strlen(text);
    cr_assert_lt(length, sizeof copy);
    for (size_t k = 0; k <= length; k++) {
        copy[k] = text[k] == '\'' ? '"' : text[k];
    }
    sim_error error;
    run r = {sim_scene_parse(copy, length, "test.json", NULL, NULL, &error), NULL};
    cr_assert_not_null(r.scene, "%s", error.text);
    r.world = sim_world_create(r.scene->model, &r.scene->options, &error);
    cr_assert_not_null(r.world, "%s", error.text);
    return r;
}

static void end(run *r) {
    sim_world_free(r->world);
    sim_scene_free(r->scene);
}

/* The time of the first event, which must happen within 3 s, and once. */
static double time_of_event(const char *text) {
    run r = begin(text);
    sim_error error;
    while (!sim_world_events(r.world)[0].count) {
        cr_assert_eq(sim_world_step(r.world, &error), SIM_OK, "%s", error.text);
        cr_assert_lt(sim_world_state(r.world)->time, 3, "it never happens");
    }
    double dt = r.scene->options.step, time = sim_world_events(r.world)[0].time;
    cr_expect(fabs(time - sim_world_state(r.world)->time) < 1.51 * dt);
    end(&r);
    return time;
}

/* The worst error of a family of scenes at a step, s. */
typedef double error_function(double step, double parameter);

static void expect_second_order(error_function *error_of, double bound, const char *what) {
    double worst[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 16; i++) {
            worst[k] = fmax(worst[k], fabs(error_of(k ? 0.002 : 0.004, 1 + 0.037 * i)));
        }
    }
    cr_expect_lt(worst[1], bound, "%s: off by %g s", what, worst[1]);
    cr_expect_gt(worst[0] / worst[1], 3, "%s: %g s, then %g s", what, worst[0], worst[1]);
}

static double fall_through_a_plane(double step, double height) {
    char text[1024];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'step': %g}, 'bodies': [{'name': 'ball', 'joint': 'free', 'pose': {'position': [0, "
             "0, %g]}, "
             "'inertia': {'mass': 1, 'moments': [1, 1, 1]}}], 'record': {'events': [{'name': 'out', 'type': "
             "'leaves_box', 'body': "
             "'ball', 'min': [-1, -1, 0]}]}}",
             step, height);
    return time_of_event(text) - sqrt(2 * height / g);
}

Test(events, ball_falls_through_a_plane_at_the_time_of_the_closed_form) {
    expect_second_order(fall_through_a_plane, 2e-6, "plane");
}

static double fall_onto_the_ground(double step, double height) {
    char text[1024];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'step': %g}, 'bodies': [{'name': 'ground', 'shapes': [{'type': 'half_space'}]}, "
             "{'name': 'ball', "
             "'joint': 'free', 'pose': {'position': [0, 0, %g]}, 'shapes': [{'type': 'sphere', 'radius': 0.1, "
             "'density': 1000}]}], "
             "'record': {'events': [{'name': 'hit', 'type': 'contact_begins', 'body': 'ball', 'other': 'ground'}]}}",
             step, height);
    return time_of_event(text) - sqrt(2 * (height - 0.1) / g);
}

Test(events, ball_meets_the_ground_at_the_time_of_the_closed_form) {
    expect_second_order(fall_onto_the_ground, 5e-6, "ground");
}

/* A block is pulled up by a force that grows by `rate` N/s. */
static double lift_off(double step, double rate) {
    char text[1024];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'step': %g, 'compliance': 'rigid'}, 'bodies': [{'name': 'ground', 'shapes': "
             "[{'type': 'half_space'}]}, "
             "{'name': 'block', "
             "'joint': 'free', 'pose': {'position': [0, 0, 0.1]}, 'shapes': [{'type': 'sphere', 'radius': 0.1, 'mass': "
             "1}]}], "
             "'loads': [{'body': 'block', 'force': ['0', '0', '%g*t']}], 'record': {'events': [{'name': 'off', 'type': "
             "'contact_breaks', 'body': 'block'}]}}",
             step, 10 * rate);
    return time_of_event(text) - g / (10 * rate);
}

Test(events, block_lifts_off_when_the_pull_is_its_weight) {
    double worst = 0;
    for (int i = 0; i < 16; i++) {
        worst = fmax(worst, fabs(lift_off(0.002, 1 + 0.037 * i)));
    }
    cr_expect_lt(worst, 1e-4, "off by %g s", worst);
}

/* Viscous friction: E = 1/2 m v0^2 exp(-2 c t / m). */
static double run_down(double step, double speed) {
    char text[1024];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'step': %g}, 'bodies': [{'name': 'cart', 'joint': {'type': 'slider', 'axis': [1, 0, "
             "0], 'damping': 2}, "
             "'v': %g, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}], 'record': {'events': [{'name': 'slow', 'type': "
             "'energy_below', 'level': 0.1}]}}",
             step, speed);
    return time_of_event(text) - log(0.5 * speed * speed / 0.1) / 4;
}

Test(events, energy_falls_below_a_level_at_the_time_of_the_closed_form) {
    expect_second_order(run_down, 1e-5, "energy");
}

/* A spring of 25 N/m with 1 kg: x = v0 / 5 sin(5 t). */
static double pass_level(double step, double speed) {
    char text[1024];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'step': %g}, 'bodies': [{'name': 'cart', 'joint': {'type': 'slider', 'axis': [1, 0, "
             "0], 'stiffness': 25}, "
             "'v': %g, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}], 'sensors': [{'name': 'x', 'type': "
             "'joint_position', 'joint': "
             "'cart'}], 'record': {'events': [{'name': 'far', 'type': 'sensor_above', 'sensor': 'x', 'level': 0.1}]}}",
             step, speed);
    return time_of_event(text) - asin(0.5 / speed) / 5;
}

Test(events, reading_passes_a_level_at_the_time_of_the_closed_form) {
    expect_second_order(pass_level, 2e-5, "reading");
}

Test(events, count_every_passage_and_are_part_of_the_state) {
    run r = begin(
        "{'sim': 1, 'world': {'step': 0.01}, 'bodies': [{'name': 'cart', 'joint': {'type': 'slider', 'axis': [1, 0, "
        "0], "
        "'stiffness': 25}, 'v': 1, 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}], 'sensors': [{'name': 'x', 'type': "
        "'joint_position', 'joint': 'cart'}], 'record': {'events': [{'name': 'below', 'type': 'sensor_below', "
        "'sensor': 'x', "
        "'level': 0.1}, {'name': 'end', 'type': 'sensor_above', 'sensor': 'x', 'level': 0.05, 'stop': true}]}}");
    int stops = 0;
    sim_snapshot *s = NULL;
    for (int n = 0; n < 500; n++) {
        cr_assert_eq(sim_world_step(r.world, NULL), SIM_OK);
        stops += sim_world_stopped(r.world) == 1;
        s = n == 200 ? sim_snapshot_create(r.world, NULL) : s;
    }
    cr_expect_eq(sim_world_events(r.world)[0].count, 4); /* 5 s of a period of 1.26 s */
    cr_expect_eq(stops, 4);
    sim_snapshot *late = sim_snapshot_create(r.world, NULL);
    cr_assert_eq(sim_world_set_state(r.world, sim_snapshot_state(s), NULL), SIM_OK);
    for (int n = 201; n < 500; n++) {
        cr_assert_eq(sim_world_step(r.world, NULL), SIM_OK);
    }
    cr_expect(sim_state_same(r.scene->model, sim_world_state(r.world), sim_snapshot_state(late)));
    sim_snapshot_free(s);
    sim_snapshot_free(late);
    end(&r);
}
