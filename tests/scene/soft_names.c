/* Soft bodies by their names: contacts and momentum of all nodes; their weight on the bodies that hold them; frames that stay. */
#include "math/spatial.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/world.h>
#include <stdio.h>
#include <string.h>

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

/* A wall of 2 kg on a foot of 1 kg holds a jelly by one end, which swings.  `others`: keys of the attachment. */
static void check_base(const char *integrator, const char *others) {
    char text[1600];
    snprintf(
        text, sizeof text,
        "{'sim': 1, 'world': {'step': 0.002, 'tolerance': 1e-13, 'integrator': '%s'}, 'bodies': [{'name': 'foot', "
        "'pose': {'position': [0.1, 0.2, 0.3], 'rpy_deg': [20, 0, 30]}, 'sites': [{'name': 'foot'}], 'inertia': "
        "{'mass': 1, 'moments': [1, 1, 1]}}, {'name': 'wall', 'parent': 'foot', 'pose': {'position': [0, 0, 0.1]}, "
        "'sites': [{'name': 'wall', 'pose': {'position': [0.01, 0, 0]}}], 'shapes': [{'type': 'box', 'size': [0.02, "
        "0.04, 0.04], 'mass': 2}]}, {'name': 'jelly', 'parent': 'wall', 'pose': {'position': [0.03, 0, 0]}, 'soft': "
        "{" JELLY ", 'thickness': 0, 'attachments': [{'body': 'wall', 'distance': 1e-4%s}]}}], 'sensors': [{'name': "
        "'foot', 'type': 'force', 'site': 'foot'}, {'name': 'wall', 'type': 'force', 'site': 'wall'}, {'name': "
        "'torque', 'type': 'torque', 'site': 'wall'}, {'name': 'at', 'type': 'frame_position', 'site': 'wall'}]}",
        integrator, others);
    run r = begin(text);
    const pose *X = sim_world_derived(r.world)->pose;
    m3 R = X[sim_model_find_body(r.scene->model, "wall")].R;
    v3 g = {0, 0, -9.81};
    for (int k = 0; k < 60; k++) {
        /* about the origin: the momentum of the step, and the weights on their levers */
        sim_force before = sim_world_momentum(r.world);
        steps(&r, 1);
        sim_force after = sim_world_momentum(r.world);
        v3 rate = v3_scale(500, v3_sub(after.lin, before.lin)), due = v3_sub(rate, v3_scale(0.016, g));
        const double *foot = reading(&r, "foot"), *wall = reading(&r, "wall");
        v3 lacks = v3_sub(m3_times(R, v3_make(wall[0], wall[1], wall[2])), v3_sub(due, v3_scale(2, g)));
        cr_expect_lt(v3_norm(lacks), 1e-7, "%s, step %d: the wall lacks %g %g %g N", integrator, k, lacks.x, lacks.y,
                     lacks.z);
        lacks = v3_sub(m3_times(R, v3_make(foot[0], foot[1], foot[2])), v3_sub(due, v3_scale(3, g)));
        cr_expect_lt(v3_norm(lacks), 1e-7, "%s, step %d: the foot lacks %g %g %g N", integrator, k, lacks.x, lacks.y,
                     lacks.z);
    }
    /* at rest the torque is that of the weights about the site */
    steps(&r, part_of(1500));
    sim_derived *d = (sim_derived *)sim_world_derived(r.world);
    const sim_model *m = r.scene->model;
    const double *torque = reading(&r, "torque"), *at = reading(&r, "at");
    v3 site = v3_make(at[0], at[1], at[2]), sum = {0, 0, 0};
    for (int i = 1; i < m->nbody; i++) {
        if (strcmp(m->body[i].name, "foot") != 0) {
            v3 lever = v3_sub(d->pose[i].p, site);
            sum = v3_add(sum, v3_cross(lever, v3_scale(-m->body[i].inertia.mass, g)));
        }
    }
    v3 off = v3_sub(m3_times(R, v3_make(torque[0], torque[1], torque[2])), sum);
    cr_expect(v3_norm(off) < 1e-5 * v3_norm(sum) || is_part(), "%s: the torque is off by %g of %g N m", integrator,
              v3_norm(off), v3_norm(sum));
    end(&r);
}

Test(soft_names, base_bears_the_nodes_that_it_holds) {
    check_base("implicit", "");
    check_base("midpoint", "");
    check_base("implicit", ", 'stiffness': 1e4");
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

/* Two walls on one foot: the foot bears all, a wall an unknown part. */
#define WALLS(sensor)                                                                                                  \
    "{'sim': 1, 'bodies': [{'name': 'foot', 'sites': [{'name': 'foot'}]}, {'name': 'a', 'parent': 'foot', 'sites': "   \
    "[{'name': 'a'}]}, {'name': 'b', 'parent': 'foot'}, {'name': 'jelly', 'soft': {" JELLY                             \
    ", 'attachments': [{'body': 'a', 'min': [-1, -1, -1], 'max': [-0.019, 1, 1]}, {'body': 'b', 'min': [0.019, -1, "   \
    "-1], 'max': [1, 1, 1]}]}}], 'sensors': [\n{'name': 's', 'type': 'force', 'site': '" sensor "'}]}"

Test(soft_names, parts_of_a_force_on_two_holders_are_refused) {
    run r = begin(WALLS("foot"));
    steps(&r, 1);
    cr_expect(fabs(reading(&r, "s")[2]) > 0);
    end(&r);
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *s = load_text(WALLS("a"), NULL, NULL, &found, &error);
    cr_expect_null(s);
    cr_expect(strstr(error.text, "sensor \"s\": the soft body \"jelly\" is held by \"a\" and elsewhere"), "%s",
              error.text);
    sim_diagnostics_free(&found);
}
