/* Tendons in scenes: paths, joints, constraints, and the messages about wrong ones. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <string.h>

#define MASS "'inertia': {'mass': 1, 'moments': [0.1, 0.1, 0.1]}"
#define ARM                                                                                                            \
    "{'name': 'arm', 'joint': {'type': 'hinge', 'axis': [0, 1, 0]}, " MASS                                             \
    ", 'sites': [{'name': 'tip', 'pose': {'position': [0.5, 0, 0]}}], "                                                \
    "'shapes': [{'name': 'drum', 'type': 'cylinder', 'radius': 0.1, 'length': 0.2, "                                   \
    "'pose': {'rpy_deg': [90, 0, 0]}}, {'name': 'knob', 'type': 'sphere', 'radius': 0.05}]}"
#define FRAME                                                                                                          \
    "{'name': 'frame', 'sites': [{'name': 'hook', 'pose': {'position': [-0.5, 0, 0]}}, {'name': 'top', 'pose': "       \
    "{'position': [0, 0, 0.3]}}]}"
#define SLIDE "{'name': 'slide', 'joint': {'type': 'slider', 'name': 'rail'}, " MASS "}"
#define BODIES "'bodies': [" ARM ", " FRAME ", " SLIDE "]"
#define SCENE(tendons, more) "{'sim': 1, " BODIES ", 'tendons': [" tendons "]" more "}"

static double initial_length(const sim_scene *s, int tendon) {
    sim_derived *d = sim_derived_create(s->model, NULL);
    double length = d->tendon_initial[tendon];
    sim_derived_free(d);
    return length;
}

Test(scene_tendons, have_every_key) {
    sim_scene *s = load_good(SCENE(
        "{'name': 'string', 'path': ['hook', {'around': 'drum', 'side': 'top'}, {'site': 'tip'}, {'pulley': 2}, 'top', "
        "'tip'], 'range': [0, 2], 'limit_stiffness': 1e4, 'limit_dissipation': 0.1, 'limit_restitution': 0.2, "
        "'stiffness': 30, 'damping': 4, 'rest': [0.5, 0.6], 'friction': 7, 'armature': 0.8, 'width': 0.01, 'color': "
        "[1, 0, 0]}, {'name': 'sum', 'joints': [{'joint': 'arm', 'coefficient': -0.1}, {'joint': 'rail'}], 'rest': "
        "0.3}",
        ""));
    cr_assert_eq(s->model->ntendon, 2);
    const sim_tendon *t = &s->model->tendon[sim_model_find_tendon(s->model, "string")];
    cr_assert_eq(t->npoint, 6);
    cr_expect(t->limit.low == 0 && t->limit.high == 2 && t->limit.stiffness == 1e4 && t->limit.dissipation == 0.1 &&
              t->limit.restitution == 0.2);
    cr_expect(t->stiffness == 30 && t->damping == 4 && t->rest[0] == 0.5 && t->rest[1] == 0.6 && t->friction == 7 &&
              t->armature == 0.8 && t->width == 0.01);
    cr_expect(t->color[0] == 1 && t->color[2] == 0 && t->color[3] == 1);
    cr_expect_eq(s->model->shape[t->path[1].shape].type, SIM_CYLINDER);
    cr_expect_eq(t->path[3].divisor, 2);
    /* over the drum: two tangents and an arc; then half the way from the top */
    double tangent = sqrt(0.25 - 0.01), around = 2 * tangent + 0.1 * (M_PI - 2 * acos(0.2));
    cr_expect_float_eq(initial_length(s, 0), around + 0.5 * hypot(0.5, 0.3), 1e-15);
    const sim_tendon *sum = &s->model->tendon[1];
    cr_expect(sum->njoint == 2 && sum->joint[0].coefficient == -0.1 && sum->joint[1].coefficient == 1);
    cr_expect(sum->rest[0] == 0.3 && sum->rest[1] == 0.3 && sum->tree[1] >= 0);
    sim_scene_free(s);
}

Test(scene_tendons, that_start_past_their_range_are_doubted) {
    warned(SCENE("{'name': 'string', 'path': ['hook', 'tip'], 'range': [0, 2]},\n{'name': 'short', 'path': ['hook', "
                 "'tip'], 'range': [0, 0.75]}",
                 ""),
           "scene.json:2:1: warning: /tendons/1: the tendon \"short\" starts at 1 m, past its range by 0.25 m");
    warned(SCENE("{'name': 'long', 'path': ['hook', 'tip'], 'range': [1.5, 2]}, {'name': 'sum', 'joints': [{'joint': "
                 "'arm'}], 'range': [0.25, 1]}",
                 ""),
           "the tendon \"long\" starts at 1 m, past its range by 0.5 m, and 1 more starts so");
    warned(
        SCENE("{'name': 'sum', 'joints': [{'joint': 'arm', 'coefficient': 2}, {'joint': 'rail'}], 'range': [0.25, 1]}",
              ", 'initial': {'arm': {'q': -0.5}}"),
        "the tendon \"sum\" starts at -1, past its range by 1.25");
}

Test(scene_tendons, of_a_model_have_the_prefix_of_its_copies) {
    sim_scene *s = load_good(
        "{'sim': 1, 'models': {'m': {" BODIES ", 'tendons': [{'name': 'string', 'path': ['hook', {'around': 'knob'}, "
        "'tip']}]}}, 'instances': [{'model': 'm', 'prefix': 'left_'}, {'model': 'm', 'prefix': 'right_'}], "
        "'constraints': [{'type': 'tendon', 'first': 'left_string', 'second': 'right_string', 'ratio': -1}]}");
    cr_assert_eq(s->model->ntendon, 2);
    const sim_model *m = s->model;
    const sim_tendon *right = &m->tendon[sim_model_find_tendon(m, "right_string")];
    cr_expect_eq(m->shape[right->path[1].shape].body, sim_model_find_body(m, "right_arm"));
    cr_expect_eq(m->site[right->path[2].site].body, sim_model_find_body(m, "right_arm"));
    const sim_equality *e = &m->equality[0];
    cr_expect(e->type == SIM_TENDON_COUPLING && e->tendon[0] != e->tendon[1] && e->ratio == -1);
    cr_expect(m->body[e->body[0]].tree != m->body[e->body[1]].tree);
    sim_scene_free(s);
}

Test(scene_tendons, are_held_by_constraints_with_polynomials) {
    sim_scene *s = load_good(SCENE("{'name': 'string', 'path': ['hook', 'tip']}, {'name': 'sum', 'joints': [{'joint': "
                                   "'rail'}]}",
                                   ", 'constraints': [{'type': 'tendon', 'first': 'string', 'offset': 0.1}, {'type': "
                                   "'tendon', 'first': 'sum', 'second': 'string', 'polynomial': [1, 2, 3]}, {'type': "
                                   "'coupling', 'first': 'arm', 'second': 'rail', 'polynomial': [5, 6, 7, 8, 9]}]"));
    const sim_equality *e = s->model->equality;
    cr_expect(e[0].tendon[1] == -1 && e[0].offset == 0.1 && e[0].body[1] == 0);
    cr_expect(e[1].offset == 1 && e[1].ratio == 2 && e[1].higher[0] == 3 && e[1].higher[1] == 0);
    cr_expect(e[2].offset == 5 && e[2].ratio == 6 && e[2].higher[0] == 7 && e[2].higher[1] == 8 && e[2].higher[2] == 9);
    sim_scene_free(s);
}

/* Refused with one message, which begins with the path of the wrong value. */
static void fails(const char *text, const char *words) {
    sim_diagnostics found;
    sim_error error = {0};
    char first[2000] = "";
    cr_assert_null(load_text(text, NULL, NULL, &found, &error), "this was not refused: %s", words);
    cr_expect_eq(error.status, SIM_BAD_INPUT);
    cr_assert_geq(found.count, 1);
    sim_diagnostic_print(&found.item[0], first, sizeof first);
    cr_expect_eq(found.count, 1, "%d messages, the first: %s", found.count, first);
    cr_expect(strstr(first, words), "expected \"%s\" in %s", words, first);
    sim_diagnostics_free(&found);
}

Test(scene_tendons, that_are_wrong_are_refused_at_their_place) {
#define STRING "{'name': 'string', 'path': ['hook', 'tip']}"
    fails(SCENE("{'name': 'string'}", ""), "/tendons/0: one of \"joints\", \"path\" must be given");
    fails(SCENE("{'name': 'string', 'path': ['hook', 'tap']}", ""),
          "/tendons/0/path/1: there is no site \"tap\" (did you mean \"tip\"?)");
    fails(SCENE("{'name': 'string', 'path': ['hook', {'around': 'drumm'}, 'tip']}", ""),
          "/tendons/0/path/1/around: there is no sphere or cylinder \"drumm\"");
    fails(SCENE("{'name': 'string', 'path': ['hook', {'site': 'tip', 'side': 'top'}]}", ""),
          "/tendons/0/path/1/side: a side belongs to \"around\"");
    fails(SCENE("{'name': 'string', 'path': ['hook']}", ""),
          "/tendons/0: tendon \"string\": point 0 of its path: a branch needs two sites");
    fails(SCENE("{'name': 'string', 'path': ['hook', 'top']}", ""), "/tendons/0: tendon \"string\": no joint moves it");
    fails(SCENE("{'name': 'sum', 'joints': [{'joint': 'arm', 'dof': 1}]}", ""),
          "/tendons/0/joints/0/joint: the hinge joint of \"arm\" has no coordinate 1 for a tendon");
    fails(SCENE(STRING ", " STRING, ""), "/tendons/1/name: a second tendon has the name \"string\"");
    fails(SCENE(STRING, ", 'constraints': [{'type': 'tendon', 'first': 'strong'}]"),
          "/constraints/0/first: there is no tendon \"strong\" (did you mean \"string\"?)");
    fails(SCENE(STRING, ", 'constraints': [{'type': 'tendon', 'first': 'string', 'second': 'string'}]"),
          "/constraints/0/second: both are");
    fails(SCENE(STRING, ", 'constraints': [{'type': 'tendon', 'first': 'string', 'ratio': 2}]"),
          "/constraints/0: a ratio or polynomial needs a second tendon");
    fails(SCENE(STRING, ", 'constraints': [{'type': 'coupling', 'first': 'arm', 'second': 'rail', 'ratio': 2, "
                        "'polynomial': [1, 2]}]"),
          "/constraints/0/polynomial: \"polynomial\" and \"ratio\" are both given");
    fails("{'sim': 1, 'bodies': [" ARM ", " FRAME ", {'name': 'twin', " MASS
          ", 'shapes': [{'name': 'drum', 'type': 'sphere', 'radius': 1}]}], 'tendons': [{'name': 'string', 'path': "
          "['hook', {'around': 'drum'}, 'tip']}]}",
          "/tendons/0/path/1/around: several shapes have the name \"drum\"");
}

Test(scene_tendons, are_refused_by_integrators_that_take_no_rows) {
    fails("{'sim': 1, 'world': {'integrator': 'rk4', 'contacts': false}, " BODIES
          ", 'tendons': [{'name': 'string', 'path': ['hook', 'tip'], 'stiffness': 1}]}",
          "the integrator rk4 takes no joint ranges, no dry friction, no tendons");
    sim_scene_free(load_good("{'sim': 1, 'world': {'integrator': 'rk4', 'contacts': false}, " BODIES
                             ", 'tendons': [{'name': 'measured', 'path': ['hook', 'tip']}]}"));
}
