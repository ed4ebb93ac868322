/* Sites: named frames on bodies, in place of a body and a point or pose on it. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>
#include <string.h>

#define MASS "'inertia': {'mass': 1, 'moments': [0.1, 0.1, 0.1]}"
#define TURNED "{'position': [0.1, -0.2, 0.3], 'rpy_deg': [20, -30, 40]}"
#define ARM                                                                                                            \
    "{'name': 'arm', 'joint': {'type': 'hinge', 'axis': [0, 1, 0]}, " MASS                                             \
    ", 'sites': [{'name': 'tip', 'pose': " TURNED "}]}"
#define BALL "{'name': 'ball', 'joint': 'free', " MASS ", 'sites': [{'name': 'grip', 'pose': {'position': [0, 0, 1]}}]}"
#define SCENE(more) "{'sim': 1, 'bodies': [" ARM ", " BALL "]" more "}"

Test(scene_sites, of_a_model_have_the_prefix_of_its_copies) {
    sim_scene *s =
        load_good("{'sim': 1, 'models': {'m': {'bodies': [" ARM "]}}, 'instances': [{'model': 'm', 'prefix': "
                  "'left_'}, {'model': 'm', 'prefix': 'right_'}]}");
    cr_assert_eq(s->model->nsite, 2);
    int k = sim_model_find_site(s->model, "right_tip");
    cr_assert(k >= 0);
    cr_expect_eq(sim_model_find_site(s->model, "tip"), -1);
    cr_expect_eq(s->model->site[k].body, sim_model_find_body(s->model, "right_arm"));
    cr_expect_float_eq(s->model->site[k].pose.p.y, -0.2, 1e-15);
    cr_expect_float_eq(s->model->site[k].pose.R.x.x, cos(M_PI / 6) * cos(2 * M_PI / 9), 1e-15);
    sim_scene_free(s);
}

/* Both scenes have the same motion, bit by bit. */
static void moves_alike(const char *by_sites, const char *by_points) {
    sim_scene *s[2] = {load_good(by_sites), load_good(by_points)};
    sim_world *w[2];
    for (int k = 0; k < 2; k++) {
        w[k] = sim_world_create(s[k]->model, &s[k]->options, NULL);
        for (int i = 0; i < 20; i++) {
            cr_assert_eq(sim_world_step(w[k], NULL), SIM_OK);
        }
    }
    const sim_state *a = sim_world_state(w[0]), *b = sim_world_state(w[1]);
    cr_expect_eq(memcmp(a->q, b->q, (size_t)s[0]->model->nq * sizeof *a->q), 0);
    cr_expect(fabs(a->v[0]) + fabs(a->v[3]) > 1e-3);
    for (int k = 0; k < 2; k++) {
        sim_world_free(w[k]);
        sim_scene_free(s[k]);
    }
}

Test(scene_sites, are_the_frames_of_constraints) {
    moves_alike(
        SCENE(", 'constraints': [{'type': 'weld', 'first_site': 'tip', 'second_site': 'grip', 'stiffness': 100}]"),
        SCENE(", 'constraints': [{'type': 'weld', 'first': 'arm', 'first_pose': " TURNED
              ", 'second': 'ball', 'second_pose': {'position': [0, 0, 1]}, 'stiffness': 100}]"));
    moves_alike(
        SCENE(", 'constraints': [{'type': 'spring', 'first_site': 'grip', 'second': 'arm', 'second_point': [1, 0, "
              "0], 'rest': 1, 'stiffness': 50}]"),
        SCENE(", 'constraints': [{'type': 'spring', 'first': 'ball', 'first_point': [0, 0, 1], 'second': 'arm', "
              "'second_point': [1, 0, 0], 'rest': 1, 'stiffness': 50}]"));
    moves_alike(
        SCENE(", 'constraints': [{'type': 'connect', 'first_site': 'grip', 'stiffness': 50}]"),
        SCENE(", 'constraints': [{'type': 'connect', 'first': 'ball', 'first_point': [0, 0, 1], 'stiffness': 50}]"));
}

Test(scene_sites, are_the_frames_of_bodies_where_a_body_is_named) {
    moves_alike(
        SCENE(", 'constraints': [{'type': 'weld', 'first_site': 'arm', 'second_site': 'ball', 'stiffness': 100}]"),
        SCENE(", 'constraints': [{'type': 'weld', 'first': 'arm', 'second': 'ball', 'stiffness': 100}]"));
    sim_scene *s = load_good(SCENE(", 'sensors': [{'name': 'f', 'type': 'frame_position', 'site': 'ball'}]"));
    int site = sim_model_find_site(s->model, "ball");
    cr_assert(site >= 0);
    cr_expect_eq(s->model->site[site].body, sim_model_find_body(s->model, "ball"));
    cr_expect_eq(s->model->nsite, 3, "one more than the scene lists, not %d", s->model->nsite);
    sim_scene_free(s);
}

Test(scene_sites, carry_loads) {
    moves_alike(SCENE(", 'loads': [{'site': 'tip', 'force': [1, 2, 3], 'torque': [0, 1, 0], 'frame': 'body'}]"),
                SCENE(", 'loads': [{'body': 'arm', 'point': [0.1, -0.2, 0.3], 'force': [1, 2, 3], 'torque': [0, 1, 0], "
                      "'frame': 'body'}]"));
}

Test(scene_sites, are_recorded_as_points) {
    sim_scene *s = load_good(SCENE(", 'record': {'points': [{'name': 'p', 'site': 'grip'}]}"));
    cr_assert_eq(s->record.npoint, 1);
    cr_expect_eq(s->record.point[0].point.body, sim_model_find_body(s->model, "ball"));
    cr_expect_eq(s->record.point[0].point.local.z, 1);
    sim_scene_free(s);
}

Test(scene_sites, with_wrong_names_are_refused) {
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'sites': [{'name': 's'},\n{'name': 's'}]}]}", "scene.json:2:10",
            "/bodies/0/sites/1/name: a second site has the name \"s\"");
    refused(SCENE(", 'constraints': [\n{'type': 'connect', 'first_site': 'tpi'}]"), "scene.json:2:35",
            "there is no site \"tpi\" (did you mean \"tip\"?)");
    refused(SCENE(", 'record': {'points': [{'name': 'p',\n'site': 'leg'}]}"), "scene.json:2:9",
            "there is no site \"leg\"");
    refused("{'sim': 1, 'models': {'m': {'bodies': [" ARM "], 'loads': [\n{'site': 'grip', 'force': [0, 0, 1]}]}}, "
            "'bodies': [" BALL "], 'instances': [{'model': 'm', 'prefix': 'a_'}, {'model': 'm', 'prefix': 'b_'}]}",
            "scene.json:2:10", "there is no site \"grip\" in this model");
}

Test(scene_sites, leave_no_room_for_a_second_place) {
    refused(SCENE(", 'constraints': [\n{'type': 'connect', 'first_site': 'tip', 'first_point': [0, 0, 1]}]"),
            "scene.json:2:57", "\"first_site\" is a place on its body already (leave one of them out)");
    refused(SCENE(", 'constraints': [\n{'type': 'connect', 'first_site': 'tip', 'first': 'arm'}]"), "scene.json:2:42",
            "\"first_site\" and \"first\" are both given");
    refused(SCENE(", 'constraints': [\n{'type': 'connect', 'second': 'arm'}]"), "scene.json:2:1",
            "one of \"first\", \"first_site\" must be given");
    refused(SCENE(", 'constraints': [\n{'type': 'coupling', 'first_site': 'tip', 'second': 'arm'}]"), "scene.json:2:22",
            "the key \"first_site\" does not belong to the type \"coupling\"");
    refused(SCENE(", 'loads': [\n{'site': 'tip', 'point': [0, 0, 1], 'force': [0, 0, 1]}]"), "scene.json:2:26",
            "the key \"point\" does not belong to a load on a site");
    refused(SCENE(", 'record': {'points': [\n{'name': 'p', 'site': 'tip', 'point': [0, 0, 1]}]}"), "scene.json:2:39",
            "\"site\" is a place on its body already");
}

Test(scene_sites, given_to_the_builder_need_a_name_of_their_own_and_a_proper_pose) {
    sim_error error = {0};
    for (int k = 0; k < 3; k++) {
        sim_builder *b = sim_builder_create();
        sim_site site = {.name = k == 2 ? NULL : "s", .pose = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}}};
        sim_builder_add_site(b, &site);
        site.pose.R.x.x = k == 1 ? 2 : 1;
        sim_builder_add_site(b, &site);
        cr_expect_null(sim_builder_finish(b, &error));
        cr_expect_eq(error.status, SIM_BAD_INPUT);
        cr_expect_not_null(strstr(error.text, k ? "no finite pose" : "two sites have the name \"s\""), "%s",
                           error.text);
    }
}
