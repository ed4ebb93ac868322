/* Which bodies never touch: pairs by name and by pattern, and models that do not touch themselves. */
#include "math/angle.h"
#include "math/spatial.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>
#include <stdio.h>
#include <string.h>

#define BALL(name) "{'name': '" name "', 'joint': 'free', 'shapes': [{'type': 'sphere', 'radius': 1, 'mass': 1}]}"
#define BARE(name) "{'name': '" name "', 'joint': 'free', 'inertia': {'mass': 1, 'moments': [1, 1, 1]}}"
#define HAND BALL("left_a") ", " BALL("left_b") ", " BALL("right_a") ", " BARE("left_bare")
#define FLOOR "{'name': 'floor', 'shapes': [{'type': 'half_space'}]}"

static int excluded(const sim_model *m, const char *first, const char *second) {
    int a = sim_model_find_body(m, first), b = strcmp(second, "world") == 0 ? 0 : sim_model_find_body(m, second);
    cr_assert(a > 0 && b >= 0, "%s, %s", first, second);
    for (int k = 0; k < m->nexclusion; k++) {
        if ((m->exclusion[k].first == a && m->exclusion[k].second == b) ||
            (m->exclusion[k].first == b && m->exclusion[k].second == a)) {
            return 1;
        }
    }
    return 0;
}

/* The scene's pairs are those named, "a b, c d", and no others. */
static void pairs_are(const char *text, const char *pairs) {
    sim_scene *s = load_good(text);
    int count = 0;
    while (*pairs) {
        char first[64], second[64];
        int length = 0;
        cr_assert(sscanf(pairs, "%63s %63[^ ,]%n", first, second, &length) == 2);
        cr_assert(excluded(s->model, first, second), "%s and %s may touch", first, second);
        pairs += length + 2 * (pairs[length] == ',');
        count++;
    }
    cr_assert_eq(s->model->nexclusion, count);
    sim_scene_free(s);
}

#define EXCLUDE(first, second)                                                                                         \
    "{'sim': 1, 'bodies': [" HAND ", " FLOOR "], 'exclusions': [\n{'first': '" first "', 'second': '" second "'}]}"

Test(scene_exclusions, pair_all_that_fit_with_all_that_fit) {
    pairs_are(EXCLUDE("left_*", "right_*"), "left_a right_a, left_b right_a");
    pairs_are(EXCLUDE("left_*", "left_*"), "left_a left_b"); /* not with itself; what has no shapes needs no pair */
    pairs_are(EXCLUDE("floor", "*_a"), "floor left_a, floor right_a");
    pairs_are(EXCLUDE("*", "left_a"), "left_b left_a, right_a left_a, floor left_a");
    pairs_are(EXCLUDE("*", "*"),
              "left_a left_b, left_a right_a, left_a floor, left_b right_a, left_b floor, right_a floor");
    pairs_are(EXCLUDE("left_a*", "left_b"), "left_a left_b"); /* none is a letter, too */
    pairs_are(EXCLUDE("left_a", "left_bare"), "left_a left_bare");
}

Test(scene_exclusions, of_patterns_without_a_pair_are_refused) {
    refused(EXCLUDE("middle_*", "*"), "scene.json:2:1", "no two bodies with shapes match \"middle_*\" and \"*\"");
    refused(EXCLUDE("right_*", "right_*"), "scene.json:2:1", "no two bodies with shapes match");
    refused(EXCLUDE("*", "flor"), "scene.json:2:26", "there is no body \"flor\" (did you mean \"floor\"?)");
    refused(EXCLUDE("floor", "floor"), "scene.json:2:30", "both are \"floor\"");
}

/* Floors are bodies; where a model hangs on a body, that is its world. */
Test(scene_exclusions, of_the_world_are_doubted_where_it_has_no_shapes) {
    warned(EXCLUDE("l*_*a", "world"), "scene.json:2:30: warning: /exclusions/0/second: the world has no shapes: this "
                                      "excludes nothing (name the body that has the shapes)");
    warned(EXCLUDE("world", "left_a"), "scene.json:2:11: warning: /exclusions/0/first: the world has no shapes");
    pairs_are("{'sim': 1, 'models': {'m': {'bodies': [" BALL(
                  "a") "], 'exclusions': [{'first': 'a', 'second': "
                       "'world'}]}}, 'bodies': [" FLOOR "], 'instances': [{'model': 'm', 'parent': 'floor'}]}",
              "a floor");
}

Test(scene_exclusions, with_patterns_speak_of_their_model) {
    pairs_are("{'sim': 1, 'models': {'m': {'bodies': [" BALL("a") ", " BALL(
                  "b") "], 'exclusions': [{'first': 'a*', 'second': "
                       "'*'}]}}, 'bodies': [" BALL(
                           "a0") "], 'instances': [{'model': 'm', 'prefix': 'p'}, {'model': 'm', 'prefix': 'q'}]}",
              "pa pb, qa qb");
}

#define MODEL(more) "'models': {'m': {'bodies': [" HAND "]" more "}}"
#define TWICE "'instances': [{'model': 'm', 'prefix': 'p'}, {'model': 'm', 'prefix': 'q'}], 'bodies': [" FLOOR "]"

Test(scene_exclusions, of_a_model_without_self_contact_are_within_each_copy) {
    pairs_are(
        "{'sim': 1, " MODEL(", 'self_contact': false") ", " TWICE "}",
        "pleft_a pleft_b, pleft_a pright_a, pleft_b pright_a, qleft_a qleft_b, qleft_a qright_a, qleft_b qright_a");
    pairs_are("{'sim': 1, " MODEL(", 'self_contact': true") ", " TWICE "}", "");
    pairs_are("{'sim': 1, " MODEL("") ", 'instances': [{'model': 'm', 'overrides': {'self_contact': false}}]}",
              "left_a left_b, left_a right_a, left_b right_a");
    refused("{'sim': 1, " MODEL(", 'self_contact':\n0") "}", "scene.json:2:1", "expected true or false");
}

Test(scene_exclusions, of_a_model_without_self_contact_hold_for_models_in_it_and_for_files) {
    pairs_are(
        "{'sim': 1, 'models': {'ball': {'bodies': [" BALL("x") "]}, 'm': {'self_contact': false, 'bodies': [" BALL(
            "a") "], "
                 "'instances': [{'model': 'ball', 'repeat': {'placement': 'line', 'count': 2, 'offset': [3, 0, "
                 "0]}}]}}, "
                 "'bodies': [" BALL("out") "], 'instances': [{'model': 'm'}]}",
        "a 0_x, a 1_x, 0_x 1_x");
    const test_file files[] = {
        {"hand.json", "{'sim': 1, 'self_contact': false, 'bodies': [" BALL("a") ", " BALL("b") "]}"}, {NULL, NULL}};
    sim_diagnostics found;
    sim_error error;
    sim_scene *s =
        load_text("{'sim': 1, 'bodies': [" BALL("c") "], 'instances': [{'file': 'hand.json', 'prefix': 'p'}]}", files,
                  NULL, &found, &error);
    cr_assert(s && s->model->nexclusion == 1 && excluded(s->model, "pa", "pb"));
    sim_diagnostics_free(&found);
    sim_scene_free(s);
}

/* Two balls of one model in one place push each other apart, unless the model does not touch itself. */
Test(scene_exclusions, let_bodies_pass_in_the_simulation) {
    for (int touch = 0; touch < 2; touch++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'models': {'m': {'self_contact': %s, 'bodies': [" BALL(
                     "a") ", "
                          "{'name': 'b', 'joint': 'free', 'pose': {'position': [0.5, 0, 0]}, 'shapes': [{'type': "
                          "'sphere', 'radius': 1, 'mass': 1}]}]}}, "
                          "'instances': [{'model': 'm'}]}",
                 touch ? "true" : "false");
        sim_scene *s = load_good(text);
        sim_error error;
        sim_world *world = sim_world_create(s->model, &s->options, &error);
        cr_assert(world && !sim_world_step(world, &error));
        cr_assert_eq(sim_world_state(world)->ncontact, touch);
        sim_world_free(world);
        sim_scene_free(s);
    }
}

Test(scene_exclusions, are_bounded) {
    refused("{'sim': 1, 'models': {'m': {'bodies': [" BALL(
                "a") "]}}, 'instances': [{'model': 'm', 'repeat': {'placement': "
                     "'line', 'count': 3000, 'offset': [3, 0, 0]}}], 'self_contact':\nfalse}",
            "scene.json:2:1", "more than 4000000 excluded pairs of bodies");
}

#define BALL_AT(name, x)                                                                                               \
    "{'name': '" name "', 'joint': 'free', 'pose': {'position': [" x ", 0, 0]}, 'shapes': [{'type': 'sphere', "        \
    "'radius': 1, 'mass': 1}]}"
#define BALLS "'bodies': [" BALL_AT("a", "0") ", " BALL_AT("b", "0.5") ", " BALL_AT("c", "9") "]"
#define COPIES(exclude)                                                                                                \
    "{'sim': 1, 'models': {'m': {" exclude BALLS "}}, 'instances': [{'model': 'm', 'prefix': 'p'}, {'model': 'm', "    \
    "'prefix': 'q', 'pose': {'position': [1, 0, 0]}}]}"

Test(scene_exclusions, of_overlaps_at_the_start_are_those_of_one_copy) {
    pairs_are(COPIES("'exclude': 'initial', "), "pa pb, qa qb");
    pairs_are(COPIES(""), "");
    pairs_are("{'sim': 1, 'exclude': 'initial', " BALLS "}", "a b");
    pairs_are("{'sim': 1, 'world': {'exclude': 'initial'}, " BALLS "}", "a b");
}

/* ---- contacts of a body with the one that carries it ---- */

/* An arm with a knob at its end turns towards the back of the free beam that carries it. */
static sim_scene *folding_beam(const char *beam, const char *knob, double step) {
    char text[900];
    snprintf(text, sizeof text,
             "{'sim': 1, 'world': {'gravity': [0, 0, 0], 'step': %g}, 'bodies': [{'name': 'beam', 'joint': 'free', "
             "'shapes': [{'type': 'box', 'size': [1, 0.2, 0.1], 'mass': 4 %s}]}, {'name': 'arm', 'parent': 'beam', "
             "'pose': {'position': [0.5, 0, 0.1]}, 'joint': {'type': 'hinge', 'axis': [0, 1, 0]}, 'shapes': [{'type': "
             "'sphere', 'radius': 0.05, 'mass': 1, 'pose': {'position': [0.4, 0, 0]} %s}]}], 'initial': {'arm': {'q': "
             "-2, 'v': -3}}}",
             step, beam, knob);
    return load_good(text);
}

static sim_force momentum_of(const sim_world *w) {
    sim_derived *d = sim_derived_create(sim_world_model(w), NULL);
    const sim_state *at = sim_world_state(w);
    sim_kinematics(d, sim_all(sim_world_model(w)), at->q);
    sim_velocities(d, sim_all(sim_world_model(w)), at->v);
    sim_force out = sim_momentum(d, sim_all(sim_world_model(w)));
    sim_derived_free(d);
    return out;
}

/* Until the arm stops, or has passed the beam; the momentum that this cost. */
static double fold(const char *knob, double step, double *angle, double *speed) {
    const char *const says = ", 'across_joint': true";
    sim_scene *s = folding_beam(says, knob, step);
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    cr_assert_not_null(w);
    sim_force before = momentum_of(w);
    const sim_state *at = sim_world_state(w); /* seven coordinates of the beam, the angle */
    *speed = -3;
    while (at->time < 1 - 1e-9 && at->q[7] > -3.3 && *speed < -1e-6) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
        *speed = at->v[6];
    }
    *angle = at->q[7];
    sim_force after = momentum_of(w);
    sim_world_free(w);
    sim_scene_free(s);
    return v3_norm(v3_sub(after.ang, before.ang)) + v3_norm(v3_sub(after.lin, before.lin));
}

/* Without restitution it stops there, where its angle is -pi, and both turn on as one body.  The strike changes no
 * momentum but by the error of the step, which falls with it. */
Test(scene_exclusions, an_arm_that_folds_stops_at_the_body_that_carries_it_where_both_shapes_say_so) {
    double angle, speed, lost[2];
    for (int k = 0; k < 2; k++) {
        lost[k] = fold(", 'across_joint': true", k ? 0.00025 : 0.001, &angle, &speed);
        cr_expect(fabs(angle + PI) < 1e-5 && speed > -1e-6, "%g, %g", angle + PI, speed);
    }
    cr_expect(lost[1] < 0.5 * lost[0], "%g, %g", lost[0], lost[1]);
    fold("", 0.001, &angle, &speed);
    cr_expect(angle < -3.3 && speed < -1, "%g, %g", angle, speed);
}
