/* Geoms that touch across a joint in models of MJCF: those of a <pair>, or all where the file says so. */
#include "collide/broadphase/filter.h"
#include "mjcf_model.h"

#include <math.h>
#include <sim/world.h>
#include <stdio.h>
#include <string.h>

/* Pairs of geoms that may touch, "a b, c d", in the order of the scene's shapes. */
static void touching(const sim_scene *s, char *out, size_t size) {
    memory_pool *pool = pool_create();
    filter f;
    cr_assert(pool && filter_create(&f, s->model, pool));
    size_t length = 0;
    out[0] = 0;
    for (int a = 0; a < s->model->nshape; a++) {
        for (int b = a + 1; b < s->model->nshape; b++) {
            if (filter_allows(&f, a, b)) {
                length += (size_t)snprintf(out + length, size - length, "%s%s %s", length ? ", " : "",
                                           s->model->shape[a].name, s->model->shape[b].name);
                cr_assert(length < size);
            }
        }
    }
    pool_free(pool);
}

/* The body a carries b on `joints`, and b carries c on a hinge. */
static void pairs_are(const char *option, const char *joints, const char *contact, const char *pairs) {
    char text[1500], found[500];
    snprintf(text, sizeof text,
             "<mujoco><option>%s</option><worldbody><body><freejoint/><geom name='a1' size='0.1'/><geom name='a2' "
             "size='0.1'/><body>%s<geom name='b1' size='0.1'/><geom name='b2' size='0.1'/><body><joint/><geom "
             "name='c1' size='0.1'/></body></body></body></worldbody><contact>%s</contact></mujoco>",
             option, joints, contact);
    sim_scene *s = load_model(text, NULL, NULL);
    touching(s, found, sizeof found);
    cr_expect_str_eq(found, pairs);
    sim_scene_free(s);
}

#define PAIR(first, second) "<pair geom1='" first "' geom2='" second "'/>"

Test(mjcf_touch, a_pair_of_a_body_and_its_parent_touches_and_no_other_geoms_of_these) {
    pairs_are("", "<joint/>", "", "a1 c1, a2 c1");
    pairs_are("", "<joint/>", PAIR("b2", "a1"), "a1 b2, a1 c1, a2 c1");
    pairs_are("", "<joint/>", PAIR("a1", "b1") PAIR("b2", "c1"), "a1 b1, a1 c1, a2 c1, b2 c1");
    pairs_are("", "<joint/>", PAIR("a1", "b1") PAIR("b1", "c1") PAIR("a2", "b2"), "a1 b1, a1 c1, a2 b2, a2 c1, b1 c1");
    pairs_are("", "<joint type='ball'/>", PAIR("a1", "b2"), "a1 b2, a1 c1, a2 c1");
}

#define NO_FILTER "<flag filterparent='disable'/>"
Test(mjcf_touch, without_the_filter_bodies_touch_their_parents_over_any_joints) {
    const char *const all = "a1 b1, a1 b2, a1 c1, a2 b1, a2 b2, a2 c1, b1 c1, b2 c1";
    pairs_are(NO_FILTER, "<joint/>", "", all);
    pairs_are(NO_FILTER, "<joint/><joint type='slide'/>", "", all);
    pairs_are(NO_FILTER, "<joint/><joint type='slide'/>", PAIR("a1", "b1"), all);
    pairs_are("", "<joint/><joint type='slide'/>", "", "a1 c1, a2 c1");
    pairs_are(NO_FILTER, "", "", "a1 c1, a2 c1, b1 c1, b2 c1"); /* what is fixed together is one body */
}

/* Speed after half a second of a box of 1 kg on a plane, mu = 0.5, that an actuator pulls to it with 20 N. */
static sim_v3 speed_of_pulled_box(double gx, double gz) {
    char text[600];
    snprintf(text, sizeof text,
             "<mujoco><option gravity='%g 0 %g'/><worldbody><geom type='plane' friction='0.5'/><body name='b' pos='0 0 "
             "0.1'><freejoint/><geom type='box' size='0.2 0.2 0.1' mass='1' friction='0.5' gap='0.001'/></body>"
             "</worldbody><actuator><adhesion body='b' ctrlrange='0 1' gain='40'/></actuator><keyframe><key name='on' "
             "qpos='0 0 0.1 1 0 0 0' ctrl='0.5'/></keyframe></mujoco>",
             gx, gz);
    sim_scene_overrides overrides = {.start = "on"};
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *s = load_text(text, NULL, &overrides, &found, &error);
    cr_assert(s, "%s", error.text);
    sim_diagnostics_free(&found);
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    cr_assert_not_null(w);
    while (sim_world_state(w)->time < 0.5 - 1e-9) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    const double *v = sim_world_state(w)->v;
    sim_v3 out = {v[0], v[1], v[2]};
    sim_world_free(w);
    sim_scene_free(s);
    return out;
}

/* The moment of the actuator is the mean of the contacts' normals: its 20 N count in full against a pull along the
 * normal, and in the friction 0.5 (10 + 20) N. */
Test(mjcf_touch, adhesion_of_all_contacts_together_is_the_force_of_the_actuator) {
    cr_expect_lt(fabs(speed_of_pulled_box(0, 19.6).z), 1e-3, "held by 20 N");
    cr_expect_gt(speed_of_pulled_box(0, 20.4).z, 0.1, "torn off");
    cr_expect_lt(fabs(speed_of_pulled_box(14.7, -10).x), 1e-3, "sticks");
    cr_expect_float_eq(speed_of_pulled_box(15.3, -10).x, 0.15, 0.015, "slides by 0.3 m/s^2");
}
