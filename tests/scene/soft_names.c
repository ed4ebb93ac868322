/* Soft bodies by their names: contacts of all nodes; frames that stay. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/world.h>

#define JELLY "'type': 'box', 'size': [0.04, 0.02, 0.02], 'edge': 0.01, 'modulus': 1e5, 'dissipation': 0.02"
static const double WEIGHT = 0.016 * 9.81; /* N */

typedef struct run {
    sim_scene *scene;
    sim_world *world;
} run;

static run begin(const char *text) {
    sim_error error;
    run r = {.scene = load_good(text)};
    r.world = sim_world_create(r.scene->model, &r.scene->options, &error);
    cr_assert(r.world, "%s", error.text);
    return r;
}

static void steps(const run *r, int count) {
    sim_error error;
    for (int k = 0; k < count; k++) {
        cr_assert_eq(sim_world_step(r->world, &error), SIM_OK, "%s", error.text);
    }
}

static void end(run *r) {
    sim_world_free(r->world);
    sim_scene_free(r->scene);
}

static const double *reading(const run *r, const char *name) {
    int k = sim_model_find_sensor(r->scene->model, name);
    cr_assert(k >= 0, "%s", name);
    return sim_world_sensors(r->world) + r->scene->model->sensor[k].first;
}

/* A jelly falls by 20 mm, and comes to rest: 64 ms.  A controller waits until it presses. */
Test(soft_names, touch_events_and_phases_count_all_nodes) {
    run r =
        begin("{'sim': 1, 'world': {'step': 0.002, 'integrator': 'implicit'}, 'bodies': [{'name': 'floor', 'shapes': "
              "[{'type': 'half_space'}]}, {'name': 'jelly', 'pose': {'position': [0, 0, 0.031]}, 'soft': {" JELLY
              "}}], 'sensors': [{'name': 'touch', 'type': 'touch', 'body': 'jelly'}], 'record': {'events': [{'name': "
              "'hit', 'type': 'contact_begins', 'body': 'jelly'}, {'name': 'floor hit', 'type': 'contact_begins', "
              "'body': 'floor', 'other': 'jelly'}]}, 'controllers': [{'name': 'p', 'type': 'phases', 'phases': "
              "[{'name': 'falls', 'next': [{'to': 'lies', 'first_body': 'jelly', 'second_body': 'floor'}]}, "
              "{'name': 'lies'}]}]}");
    steps(&r, 25);
    cr_expect_eq(sim_world_phase(r.world, 0), 0);
    steps(&r, 475);
    const sim_happened *event = sim_world_events(r.world);
    cr_expect_eq(sim_world_phase(r.world, 0), 1);
    for (int k = 0; k < 2; k++) {
        cr_expect(event[k].count >= 1, "event %d happened %d times", k, (int)event[k].count);
        cr_expect_eq(event[k].time, event[0].time);
    }
    cr_expect_float_eq(reading(&r, "touch")[0], WEIGHT, 1e-6 * WEIGHT);
    end(&r);
}

#define TWO(more) "{'sim': 1, 'bodies': [{'name': 'floor'}, {'name': 'jelly', 'soft': {" JELLY "}}],\n" more "}"

Test(soft_names, are_refused_where_a_frame_moves) {
    refused(TWO("'loads': [{'body': 'jelly', 'force': [0, 0, 1]}]"), "scene.json:2:20", "its frame stays where it is");
    refused(TWO("'constraints': [{'type': 'connect', 'first': 'floor', 'second': 'jelly'}]"), "scene.json:2:65",
            "its frame stays where it is");
    refused(TWO("'constraints': [{'type': 'connect', 'first_site': 'jelly'}]"), "scene.json:2:51", "no site \"jelly\"");
    refused(TWO("'sensors': [{'name': 's', 'type': 'frame_position', 'body': 'jelly'}]"), "scene.json:2:61",
            "its frame stays where it is");
    refused(TWO("'record': {'points': [{'name': 'p', 'body': 'jelly'}]}"), "scene.json:2:45",
            "its frame stays where it is");
    refused(TWO("'record': {'events': [{'name': 'e', 'type': 'leaves_box', 'body': 'jelly'}]}"), "scene.json:2:67",
            "its frame stays where it is");
    refused("{'sim': 1, 'bodies': [{'name': 'jelly', \n'sites': [], 'soft': {" JELLY "}}]}", "scene.json:2:10",
            "a soft body has no \"sites\"");
}
