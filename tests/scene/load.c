/* Models hold the values of their scenes. */
#include "math/spatial.h"
#include "support.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MASS "'inertia': {'mass': 1, 'moments': [1, 1, 1]}"

static const sim_body *body(const sim_scene *s, const char *name) {
    int i = sim_model_find_body(s->model, name);
    cr_assert(i > 0, "there is no body %s", name);
    return &s->model->body[i];
}

static void near(double a, double b) { cr_assert(fabs(a - b) <= 1e-12 * fmax(1, fabs(b)), "%.17g is not %.17g", a, b); }

static void near_v3(sim_v3 a, double x, double y, double z) {
    near(a.x, x);
    near(a.y, y);
    near(a.z, z);
}

Test(scene_load, fills_defaults_from_the_table) {
    sim_scene *s = load_good("{'sim': 1}");
    sim_options plain = sim_options_default();
    cr_assert_str_eq(s->name, "scene");
    cr_assert_eq(s->options.step, plain.step);
    cr_assert_eq(s->options.integrator, plain.integrator);
    cr_assert_eq(s->options.threads, plain.threads);
    cr_assert_eq(s->options.tolerance, plain.tolerance);
    cr_assert_eq(s->options.max_iterations, plain.max_iterations);
    cr_assert_eq(s->options.contacts, plain.contacts);
    cr_assert(isnan(s->options.contact_margin) && isnan(plain.contact_margin));
    cr_assert_str_eq(s->options.solver->name, "auto");
    cr_assert_eq(s->options.compliance, plain.compliance);
    cr_assert_eq(memcmp(&s->options.law, &plain.law, sizeof plain.law), 0);
    cr_assert(!s->options.sleep && isnan(s->options.sleep_speed) && isnan(s->options.sleep_time));
    for (int k = 0; k < s->options.solver->noptions; k++) {
        cr_assert_eq(s->options.solver_option[k], s->options.solver->option[k].default_value);
    }
    near_v3(s->model->gravity, 0, 0, -9.81);
    cr_assert(s->record.coordinates && s->record.velocities && s->record.energy && !s->record.poses);
    cr_assert_eq(s->record.every, 10);
    cr_assert_eq(s->model->nbody, 1);
    sim_scene_free(s);
}

static double option_of(const sim_options *options, const char *name) {
    for (int k = 0; k < options->solver->noptions; k++) {
        if (strcmp(options->solver->option[k].name, name) == 0) {
            return options->solver_option[k];
        }
    }
    cr_assert_fail("there is no option %s", name);
    return 0;
}

Test(scene_load, reads_who_answers_contacts_and_how) {
    sim_scene *s = load_good("{'sim': 1, 'world': {'contacts': false, 'solver': 'pgs', 'compliance': 'near-rigid',"
                             "'solver_options': {'tolerance': 1e-5, 'cone': 'pyramid', 'comment': 'rough'},"
                             "'law': {'sigma': 0.5, 'threshold': 0.25}}, 'record': {'signals': ['contacts']}}");
    const sim_options *o = &s->options;
    sim_law_options law = sim_law_options_default();
    cr_assert_str_eq(o->solver->name, "pgs");
    cr_assert_eq(o->contacts, 0);
    cr_assert_eq(o->compliance, SIM_NEAR_RIGID);
    cr_assert_eq(option_of(o, "tolerance"), 1e-5);
    cr_assert_eq(option_of(o, "cone"), 1);
    cr_assert_eq(option_of(o, "relaxation"), 1);
    cr_assert(o->law.sigma == 0.5 && o->law.threshold == 0.25 && o->law.beta == law.beta && o->law.push == law.push);
    cr_assert(s->record.contacts && !s->record.statistics);
    sim_scene_free(s);
}

Test(scene_load, reads_whether_and_when_anything_sleeps) {
    sim_scene *s = load_good("{'sim': 1, 'world': {'sleep': true, 'sleep_speed': 0.02, 'sleep_time': 0.5}}");
    cr_assert(s->options.sleep == 1 && s->options.sleep_speed == 0.02 && s->options.sleep_time == 0.5);
    sim_scene_free(s);
}

Test(scene_load, leaves_the_options_of_its_solver_to_that_solver) {
    static const char *const others[] = {"sap", "nsn", "canal", "subadmm", "incp"};
    sim_error error = {0};
    sim_scene *s =
        load_good("{'sim': 1, 'world': {'solver': 'pgs', 'solver_options': {'tolerance': 1e-3}}, 'bodies': "
                  "[{'name': 'a', 'joint': 'free', 'shapes': [{'type': 'sphere', 'radius': 1, 'mass': 1}]}]}");
    sim_options options = s->options;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        options.solver = sim_solver_find(others[k]);
        sim_world *w = sim_world_create(s->model, &options, &error);
        cr_assert(w, "%s", error.text);
        const sim_options *own = sim_world_options(w);
        for (int i = 0; i < own->solver->noptions; i++) {
            cr_expect_eq(own->solver_option[i], own->solver->option[i].default_value, "%s %s", others[k],
                         own->solver->option[i].name);
        }
        sim_world_free(w);
    }
    sim_scene_free(s);
}

Test(scene_load, takes_solver_and_options_from_the_command_line) {
    sim_diagnostics found;
    sim_error error = {0};
    const char *set[] = {"world/solver=pgs", "world/solver_options/relaxation=1.5", "world/compliance=rigid"};
    sim_scene_overrides overrides = {.count = 3, .set = set};
    sim_scene *s = load_text("{'sim': 1, 'world': {'solver': 'sap'}}", NULL, &overrides, &found, &error);
    cr_assert(s, "%s", error.text);
    cr_assert_str_eq(s->options.solver->name, "pgs");
    cr_assert_eq(option_of(&s->options, "relaxation"), 1.5);
    cr_assert_eq(s->options.compliance, SIM_RIGID);
    sim_diagnostics_free(&found);
    sim_scene_free(s);
}

Test(scene_load, reads_the_world) {
    sim_scene *s =
        load_good("{'sim': 1, 'name': 'A \\u00e9', 'world': {'gravity': [1, 2, 3], 'step': 0.5, 'duration': 3, "
                  "'integrator': 'rk4', 'threads': 4, 'tolerance': 1e-6, 'max_iterations': 7, 'seed': 9}}");
    cr_assert_str_eq(s->name, "A \xc3\xa9");
    near_v3(s->model->gravity, 1, 2, 3);
    cr_assert(s->options.step == 0.5 && s->duration == 3 && s->options.integrator == SIM_RK4);
    cr_assert(s->options.threads == 4 && s->options.tolerance == 1e-6 && s->options.max_iterations == 7 &&
              s->seed == 9);
    sim_scene_free(s);
}

Test(scene_load, reads_every_joint_type_by_word_and_by_object) {
    for (int type = 0; type < SIM_JOINT_TYPES; type++) {
        const char *name = sim_joint_name((sim_joint_type)type);
        char text[300];
        snprintf(text, sizeof text, "{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': '%s'%s}, " MASS "}]}", name,
                 type == SIM_SCREW ? ", 'pitch': 0.5" : "");
        sim_scene *s = load_good(text);
        cr_assert_eq(body(s, "a")->joint, (sim_joint_type)type);
        sim_scene_free(s);
    }
}

Test(scene_load, one_number_holds_for_all_degrees_of_freedom_and_several_for_each) {
    sim_scene *s =
        load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'universal', 'damping': 3, 'stiffness': "
                  "[1, 2], 'rest': [0.1, 0.2], 'armature': 0.5}, " MASS ", 'q_deg': [90, -180], 'v': [4, 5]}]}");
    const sim_dof *d = s->model->dof;
    cr_assert(d[0].damping == 3 && d[1].damping == 3 && d[0].stiffness == 1 && d[1].stiffness == 2);
    cr_assert(d[0].rest == 0.1 && d[1].rest == 0.2 && d[1].armature == 0.5);
    near(s->model->q_initial[0], acos(-1) / 2);
    near(s->model->q_initial[1], -acos(-1));
    cr_assert(s->model->v_initial[0] == 4 && s->model->v_initial[1] == 5);
    sim_scene_free(s);
}

Test(scene_load, all_ways_to_write_an_orientation_agree) {
    const char *way[] = {"'quaternion': [0.5, 0.5, 0.5, 0.5]", "'rpy_deg': [90, 0, 90]",
                         "'rpy': [1.5707963267948966, 0, 1.5707963267948966]",
                         "'axis_angle': [2, 2, 2, 2.0943951023931953]"};
    for (int i = 0; i < 4; i++) {
        char text[300];
        snprintf(text, sizeof text, "{'sim': 1, 'bodies': [{'name': 'a', 'pose': {'position': [1, 2, 3], %s}}]}",
                 way[i]);
        sim_scene *s = load_good(text);
        const sim_pose *X = &body(s, "a")->placement; /* x to y, y to z, z to x */
        near_v3(X->p, 1, 2, 3);
        near_v3(X->R.x, 0, 1, 0);
        near_v3(X->R.y, 0, 0, 1);
        near_v3(X->R.z, 1, 0, 0);
        sim_scene_free(s);
    }
}

Test(scene_load, roll_pitch_yaw_turn_about_fixed_axes_in_this_order) {
    sim_scene *s = load_good("{'sim': 1, 'bodies': [{'name': 'a', 'pose': {'rpy': [0.3, -0.4, 0.5]}}]}");
    m3 R = m3_product(m3_axis_angle(v3_make(0, 0, 1), 0.5),
                      m3_product(m3_axis_angle(v3_make(0, 1, 0), -0.4), m3_axis_angle(v3_make(1, 0, 0), 0.3)));
    const sim_m3 *got = &body(s, "a")->placement.R;
    near_v3(got->x, R.x.x, R.x.y, R.x.z);
    near_v3(got->y, R.y.x, R.y.y, R.y.z);
    near_v3(got->z, R.z.x, R.z.y, R.z.z);
    sim_scene_free(s);
}

Test(scene_load, a_free_body_begins_at_its_pose_in_world_coordinates) {
    sim_scene *s =
        load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'free', 'pose': {'position': [1, 2, 3], 'rpy_deg': "
                  "[0, 0, 90]}, " MASS ", 'v': [1, 0, 0, 0, 0, 2]}]}");
    const double *q = s->model->q_initial;
    near_v3(body(s, "a")->placement.p, 0, 0, 0);
    near_v3((sim_v3){q[0], q[1], q[2]}, 1, 2, 3);
    near(q[3], sqrt(0.5));
    near(q[6], sqrt(0.5));
    cr_assert(s->model->v_initial[0] == 1 && s->model->v_initial[5] == 2);
    sim_scene_free(s);
}

Test(scene_load, a_model_with_a_free_root_moves_as_a_whole) {
    sim_scene *s = load_good(
        "{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a', 'joint': 'free', 'pose': {'position': [1, 0, 0]}, " MASS
        ", 'v': [1, 0, 0, 0, 0, 0]}]}}, 'instances': [{'model': 'm', 'pose': {'position': [0, 0, 5], "
        "'rpy_deg': [0, 0, 90]}}]}");
    const double *q = s->model->q_initial, *v = s->model->v_initial;
    near_v3((sim_v3){q[0], q[1], q[2]}, 0, 1, 5);
    near_v3((sim_v3){v[0], v[1], v[2]}, 0, 1, 0);
    sim_scene_free(s);
}

Test(scene_load, initial_states_of_a_scene_hold_over_those_of_models_and_bodies) {
    sim_scene *s =
        load_good("{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a', 'joint': 'hinge', " MASS ", 'q': 1, 'v': 1}, "
                  "{'name': 'b', 'joint': 'hinge', " MASS ", 'q': 1}, {'name': 'c', 'joint': 'hinge', " MASS "}], "
                  "'initial': {'*': 2, 'b': 3}}}, 'instances': [{'model': 'm', 'prefix': 'x_'}], "
                  "'initial': {'*_c': {'q': 4, 'v': 5}}}");
    const double *q = s->model->q_initial, *v = s->model->v_initial;
    int a = body(s, "x_a")->q0, b = body(s, "x_b")->q0, c = body(s, "x_c")->q0;
    cr_assert(q[a] == 2 && v[a] == 1 && q[b] == 3 && q[c] == 4 && v[c] == 5);
    sim_scene_free(s);
}

Test(scene_load, patterns_pass_over_bodies_that_cannot_move) {
    sim_scene *s = load_good("{'sim': 1, 'bodies': [{'name': 'a'}, {'name': 'b', 'parent': 'a', 'joint': 'hinge', " MASS
                             "}], 'initial': {'*': 3}}");
    cr_assert_eq(s->model->q_initial[0], 3);
    sim_scene_free(s);
}

Test(scene_load, initial_coordinates_of_a_free_body_are_the_world_s) {
    sim_scene *s =
        load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'free', 'pose': {'position': [9, 9, 9]}, " MASS "}], "
                  "'initial': {'a': [1, 2, 3, 1, 0, 0, 0]}}");
    cr_assert(s->model->q_initial[0] == 1 && s->model->q_initial[2] == 3 && s->model->q_initial[3] == 1);
    sim_scene_free(s);
}

Test(scene_load, bodies_may_hang_on_later_ones_and_on_those_of_instances) {
    sim_scene *s =
        load_good("{'sim': 1, 'bodies': [{'name': 'tool', 'parent': 'arm_tip'}, {'name': 'post'}], 'models': {'arm': "
                  "{'bodies': [{'name': 'tip', 'parent': 'root'}, {'name': 'root'}]}}, 'instances': [{'model': 'arm', "
                  "'prefix': 'arm_', 'parent': 'post'}]}");
    const sim_model *m = s->model;
    cr_assert_eq(body(s, "tool")->parent, sim_model_find_body(m, "arm_tip"));
    cr_assert_eq(body(s, "arm_tip")->parent, sim_model_find_body(m, "arm_root"));
    cr_assert_eq(body(s, "arm_root")->parent, sim_model_find_body(m, "post"));
    sim_scene_free(s);
}

Test(scene_load, shapes_give_mass_where_inertia_is_not_given) {
    sim_scene *s = load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', 'shapes': ["
                             "{'type': 'box', 'size': [1, 2, 3], 'density': 10, 'pose': {'position': [1, 0, 0]}}, "
                             "{'type': 'box', 'size': [1, 2, 3], 'mass': 60, 'pose': {'position': [-1, 0, 0]}}, "
                             "{'type': 'sphere', 'radius': 3}]}]}");
    const sim_inertia *I = &body(s, "a")->inertia;
    near(I->mass, 120);
    near_v3(I->com, 0, 0, 0);
    near(I->moment.xx, 2 * 60 * (4 + 9) / 12.0);
    near(I->moment.yy, 2 * (60 * (1 + 9) / 12.0 + 60));
    cr_assert_eq(s->model->nshape, 3);
    sim_scene_free(s);
}

Test(scene_load, inertia_axes_turn_against_the_body) {
    sim_scene *s = load_good(
        "{'sim': 1, 'bodies': [{'name': 'a', 'inertia': {'mass': 2, 'com': [1, 2, 3], 'moments': [1, 2, 2.5], "
        "'rpy_deg': [0, 0, 90]}}]}");
    const sim_inertia *I = &body(s, "a")->inertia;
    near_v3(I->com, 1, 2, 3);
    near(I->moment.xx, 2);
    near(I->moment.yy, 1);
    near(I->moment.zz, 2.5);
    sim_scene_free(s);
}

Test(scene_load, a_root_gets_the_joint_of_its_instance) {
    sim_scene *s =
        load_good("{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a', " MASS "}]}}, 'instances': [{'model': 'm', "
                  "'joint': 'free', 'pose': {'position': [0, 0, 4]}}]}");
    cr_assert_eq(body(s, "a")->joint, SIM_FREE);
    near(s->model->q_initial[2], 4);
    sim_scene_free(s);
}

Test(scene_load, overrides_change_one_instance_and_not_the_others) {
    sim_scene *s = load_good(
        "{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a', 'joint': 'hinge', " MASS "}]}}, 'instances': ["
        "{'model': 'm', 'prefix': 'x'}, {'model': 'm', 'prefix': 'y', 'overrides': {'bodies/a/inertia/mass': 5, "
        "'bodies/0/joint/damping': 2, 'bodies/a/inertia/moments/2': 1.5}}, {'model': 'm', 'prefix': 'z'}]}");
    near(body(s, "xa")->inertia.mass, 1);
    near(body(s, "ya")->inertia.mass, 5);
    near(body(s, "ya")->inertia.moment.zz, 1.5);
    near(body(s, "za")->inertia.moment.zz, 1);
    near(s->model->dof[body(s, "ya")->v0].damping, 2);
    near(s->model->dof[body(s, "za")->v0].damping, 0);
    sim_scene_free(s);
}

Test(scene_load, options_replace_values_before_anything_is_read) {
    const char *set[] = {"world/step=0.25", "/bodies/a/inertia/mass=7", "bodies/0/joint=ball",
                         "world/gravity=[0, 0, 0]", "name=New name"};
    uint64_t seed = 77;
    sim_scene_overrides overrides = {.count = 5, .set = set, .seed = &seed};
    sim_scene *s =
        load_text("{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', " MASS "}]}", NULL, &overrides, NULL, NULL);
    cr_assert(s);
    cr_assert(s->options.step == 0.25 && body(s, "a")->inertia.mass == 7 && body(s, "a")->joint == SIM_BALL);
    cr_assert_eq(s->seed, 77);
    cr_assert_str_eq(s->name, "New name");
    sim_scene_free(s);
}

Test(scene_load, options_reach_a_body_by_the_name_of_its_joint) {
    const char *text =
        "{'sim': 1, 'bodies': [{'name': 'b', 'joint': {'type': 'hinge', 'name': 'a', 'damping': 1}, " MASS
        "}, {'name': 'c', 'joint': {'type': 'slider', 'name': 'b', 'damping': 1}, " MASS "}]}";
    const char *set[] = {"bodies/a/joint/damping=3", "bodies/b/joint/armature=4"}; /* a body's own name counts first */
    sim_scene_overrides overrides = {.count = 2, .set = set};
    sim_scene *s = load_text(text, NULL, &overrides, NULL, NULL);
    cr_assert(s);
    cr_expect(s->model->dof[0].damping == 3 && s->model->dof[0].armature == 4);
    cr_expect(s->model->dof[1].damping == 1 && s->model->dof[1].armature == 0);
    sim_scene_free(s);
}

Test(scene_load, files_bring_their_bodies_materials_and_controllers) {
    const test_file files[] = {
        {"lib/arm.json",
         "{'sim': 1, 'world': {'gravity': [0, 0, 0]}, 'materials': [{'name': 'steel', 'friction': 0.2}], 'bodies': "
         "[{'name': 'a', 'joint': 'hinge', 'shapes': [{'type': 'sphere', 'radius': 1, 'mass': 1, 'material': "
         "'steel'}]}], 'actuators': [{'joint': 'a', 'kp': 3}], 'instances': [{'file': 'tool.json', 'parent': 'a'}]}"},
        {"lib/tool.json",
         "{'sim': 1, 'materials': [{'name': 'steel', 'friction': 0.2}], 'bodies': [{'name': 'tool'}]}"},
        {NULL, NULL}};
    sim_scene *s =
        load_text("{'sim': 1, 'world': {'contacts': false}, 'instances': [{'file': 'lib/arm.json', 'prefix': 'l_'}, "
                  "{'file': 'lib/arm.json', 'prefix': 'r_'}]}",
                  files, NULL, NULL, NULL);
    cr_assert(s);
    cr_assert_eq(s->model->nbody, 5);
    cr_assert_eq(s->model->nactuator, 2);
    cr_assert_eq(s->model->nmaterial, 2);
    cr_assert_str_eq(s->model->actuator[1].name, "r_a");
    cr_assert_eq(s->model->body[sim_model_find_body(s->model, "r_tool")].parent, sim_model_find_body(s->model, "r_a"));
    near_v3(s->model->gravity, 0, 0, -9.81);
    cr_assert_eq(s->model->material[s->model->shape[0].material].friction, 0.2);
    sim_scene_free(s);
}

Test(scene_load, the_hash_covers_every_file) {
    test_file files[] = {{"b.json", "{'sim': 1}"}, {NULL, NULL}};
    const char *text = "{'sim': 1, 'instances': [{'file': 'b.json'}]}";
    sim_scene *one = load_text(text, files, NULL, NULL, NULL);
    files[0].text = "{'sim': 1 }";
    sim_scene *two = load_text(text, files, NULL, NULL, NULL);
    cr_assert_eq(strlen(one->hash), 64);
    cr_assert_neq(strcmp(one->hash, two->hash), 0);
    sim_scene_free(one);
    sim_scene_free(two);
}

Test(scene_load, the_hash_of_one_file_is_its_sha256) {
    sim_scene *s = load_good("{'sim': 1}");
    cr_assert_str_eq(s->hash, "2b3b8899c0da3de3ce00db1e750d53b2bacc3676747d67222cf4804afa55c7af");
    sim_scene_free(s);
}

Test(scene_load, wildcards_make_one_actuator_for_each_joint) {
    sim_scene *s =
        load_good("{'sim': 1, 'bodies': [{'name': 'l_knee', 'joint': 'hinge', " MASS "}, {'name': 'r_knee', 'joint': "
                  "'hinge', " MASS "}, {'name': 'hip', 'joint': 'ball', " MASS "}], 'actuators': [{'joint': '*_knee', "
                  "'kp': 3, 'kd': 1, 'effort': 9, 'gravity_compensation': true, 'target': {'times': [0, 1], 'values': "
                  "[2, 3], 'interpolation': 'cubic'}, 'feedforward': 4}]}");
    cr_assert_eq(s->model->nactuator, 2);
    const sim_actuator *a = &s->model->actuator[1];
    cr_assert_str_eq(a->name, "r_knee");
    cr_assert(a->kp == 3 && a->kd == 1 && a->effort == 9 && a->gravity_compensation && a->feedforward.keys == 1);
    cr_assert(a->target.keys == 2 && a->target.values[1] == 3 && a->target.interpolation == SIM_CUBIC);
    sim_scene_free(s);
}

/* tests/physics/control.c and tests/contact/actuators.c test the effect of an effort limit. */
Test(scene_load, the_effort_of_a_joint_bounds_its_actuator) {
    sim_scene *s = load_good("{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'effort': 5}, " MASS
                             "}, {'name': 'b', 'joint': "
                             "{'type': 'cylindrical', 'effort': [6, 7]}, " MASS
                             "}, {'name': 'c', 'joint': 'hinge', " MASS "}], 'actuators': "
                             "[{'joint': 'a', 'kp': 1}, {'joint': 'b', 'dof': 1, 'effort': 9}, {'joint': 'b', "
                             "'effort': 2}, {'joint': 'c'}]}");
    const double effort[] = {5, 7, 2, INFINITY};
    cr_assert_eq(s->model->nactuator, 4);
    for (int k = 0; k < 4; k++) {
        const double *found = s->model->actuator[k].force_range;
        cr_assert(found[0] == -effort[k] && found[1] == effort[k], "%d: %g to %g", k, found[0], found[1]);
    }
    sim_scene_free(s);
}

Test(scene_load, a_load_on_a_body_gives_moment_and_force) {
    sim_scene *s = load_good(
        "{'sim': 1, 'bodies': [{'name': 'a', 'joint': 'hinge', " MASS "}], 'loads': [{'body': 'a', 'force': "
        "[1, 2, 3], 'torque': {'times': [0, 1], 'values': [[4, 5, 6], [7, 8, 9]]}, 'point': [0, 0, 1], 'frame': "
        "'body'}, {'name': 'push', 'joint': 'a', 'value': 5}]}");
    cr_assert_eq(s->model->nload, 3);
    const sim_load *torque = &s->model->load[0], *pushing = &s->model->load[1], *push = &s->model->load[2];
    cr_assert(torque->track.values[6] == 7 && torque->track.values[9] == 0 && torque->track.keys == 2);
    cr_assert(pushing->track.values[0] == 0 && pushing->track.values[5] == 3 && pushing->point.z == 1 &&
              pushing->local);
    cr_assert(push->dof == 0 && push->track.width == 1 && push->track.values[0] == 5);
    cr_assert_str_eq(push->name, "push");
    sim_scene_free(s);
}

Test(scene_load, records_and_cameras) {
    sim_scene *s =
        load_good("{'sim': 1, 'bodies': [{'name': 'a'}], 'record': {'every': 3, 'signals': ['poses', 'momentum'], "
                  "'points': [{'name': 'p', 'body': 'a', 'point': [1, 2, 3]}]}, 'cameras': [{'name': 'c', 'position': "
                  "[1, 1, 1], 'fov_deg': 90}]}");
    cr_assert(s->record.every == 3 && s->record.poses && s->record.momentum && !s->record.coordinates);
    cr_assert_eq(s->record.npoint, 1);
    cr_assert_eq(s->record.point[0].point.body, 1);
    near_v3(s->record.point[0].point.local, 1, 2, 3);
    near(s->camera[0].fov, acos(-1) / 2);
    sim_scene_free(s);
}

Test(scene_load, surfaces_and_pairs_keep_what_is_said_of_them) {
    sim_scene *s =
        load_good("{'sim': 1, 'materials': [{'name': 'ice', 'friction': 0.02, 'restitution': 0.5}, {'name': 'rubber', "
                  "'stiffness': 1e5, 'dissipation': 0.1}], 'material_pairs': [{'first': 'rubber', 'second': 'ice', "
                  "'friction': 0.3}], 'bodies': [{'name': 'a', 'shapes': [{'type': 'sphere', 'radius': 1, 'material': "
                  "'rubber', 'group': 4, 'mask': 3}]}]}");
    const sim_model *m = s->model;
    cr_assert_eq(m->nmaterial, 3); /* the default one comes first */
    cr_assert(m->material[1].friction == 0.02 && m->material[1].restitution == 0.5);
    cr_assert(isinf(m->material[1].stiffness) && m->material[2].stiffness == 1e5 && m->material[2].dissipation == 0.1);
    cr_assert_eq(m->nmaterial_pair, 1);
    cr_assert(m->material_pair[0].first == 2 && m->material_pair[0].second == 1 && m->material_pair[0].friction == 0.3);
    cr_assert(isnan(m->material_pair[0].stiffness));
    cr_assert(m->shape[0].material == 2 && m->shape[0].group == 4 && m->shape[0].mask == 3);
    sim_scene_free(s);
}

#define ONE_KG "'inertia': {'mass': 1, 'moments': [1, 1, 1]}"

Test(scene_load, ranges_and_dry_friction_go_to_their_dofs) {
    sim_scene *s = load_good(
        "{'sim': 1, 'bodies': [{'name': 'a', " ONE_KG
        ", 'joint': {'type': 'universal', 'range_deg': [[-90, 180], [0, 45]], "
        "'limit_stiffness': 50, 'limit_dissipation': [0.1, 0.2], 'limit_restitution': 0.5, 'friction': [1, 2]}}, "
        "{'name': 'b', " ONE_KG ", 'joint': {'type': 'cylindrical', 'range': [-1, 2]}}, "
        "{'name': 'c', " ONE_KG ", 'joint': 'hinge'}]}");
    const sim_dof *dof = s->model->dof;
    near(dof[0].limit.low, -acos(0));
    near(dof[0].limit.high, acos(-1));
    near(dof[1].limit.high, acos(-1) / 4);
    cr_assert(dof[0].limit.stiffness == 50 && dof[1].limit.stiffness == 50 && dof[1].limit.restitution == 0.5);
    cr_assert(dof[0].limit.dissipation == 0.1 && dof[1].limit.dissipation == 0.2);
    cr_assert(dof[0].friction == 1 && dof[1].friction == 2);
    cr_assert(dof[2].limit.low == -1 && dof[3].limit.high == 2 && isinf(dof[3].limit.stiffness));
    cr_assert(isinf(dof[4].limit.low) && isinf(dof[4].limit.high) && dof[4].friction == 0);
    sim_scene_free(s);
}

Test(scene_load, comments_may_stand_anywhere) {
    sim_scene_free(load_good(
        "{'sim': 1, 'comment': 'a', 'world': {'comment': 'b'}, 'models': {'comment': 'c'}, 'initial': "
        "{'comment': 'd'}, 'bodies': [{'name': 'a', 'comment': 'e', 'joint': {'type': 'fixed', 'comment': 'f'}}]}"));
}

/* ---- patterns ---- */

static sim_scene *pattern(const char *repeat, const uint64_t *seed) {
    char text[800];
    snprintf(text, sizeof text,
             "{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a', 'joint': 'free', " MASS "}]}}, "
             "'instances': [{'model': 'm', 'prefix': 'c', 'pose': {'position': [10, 0, 0], 'rpy_deg': [0, 0, 90]}, "
             "'repeat': %s}]}",
             repeat);
    sim_scene_overrides overrides = {.seed = seed};
    sim_error error = {0};
    sim_scene *s = load_text(text, NULL, &overrides, NULL, &error);
    cr_assert(s, "%s", error.text);
    return s;
}

static sim_v3 place(const sim_scene *s, const char *name) {
    const double *q = s->model->q_initial + body(s, name)->q0;
    return (sim_v3){q[0], q[1], q[2]};
}

Test(scene_patterns, stand_in_the_frame_of_the_instance) {
    sim_scene *s = pattern("{'placement': 'line', 'count': 3, 'offset': [1, 0, 2]}", NULL);
    near_v3(place(s, "c0_a"), 10, 0, 0);
    near_v3(place(s, "c2_a"), 10, 2, 4);
    sim_scene_free(s);
    s = pattern("{'placement': 'grid', 'counts': [2, 3, 4], 'spacing': [1, 10, 100]}", NULL);
    cr_assert_eq(s->model->nbody, 25);
    near_v3(place(s, "c0_a"), 10, 0, 0);
    near_v3(place(s, "c23_a"), 10 - 20, 1, 300);
    sim_scene_free(s);
    s = pattern("{'placement': 'columns', 'counts': [3, 1, 2], 'spacing': [1, 10, 100]}", NULL);
    near_v3(place(s, "c0_a"), 10, -1, 0);
    near_v3(place(s, "c5_a"), 10, 1, 100);
    sim_scene_free(s);
    s = pattern("{'placement': 'line', 'count': 0, 'offset': [1, 0, 2]}", NULL);
    cr_assert_eq(s->model->nbody, 1);
    sim_scene_free(s);
}

Test(scene_patterns, scatter_stays_in_its_box_apart_and_the_same_for_a_seed) {
    const char *repeat = "{'placement': 'scatter', 'count': 200, 'min': [0, 0, 0], 'max': [4, 4, 4], 'radius': 0.2, "
                         "'random_orientation': true}";
    uint64_t seed = 5;
    sim_scene *one = pattern(repeat, &seed), *two = pattern(repeat, &seed);
    seed = 6;
    sim_scene *other = pattern(repeat, &seed);
    cr_assert_eq(memcmp(one->model->q_initial, two->model->q_initial, 1400 * sizeof(double)), 0);
    cr_assert_neq(memcmp(one->model->q_initial, other->model->q_initial, 1400 * sizeof(double)), 0);
    double mean = 0;
    for (int i = 0; i < 200; i++) {
        const double *q = one->model->q_initial + 7 * i;
        cr_assert(q[0] >= 6 && q[0] <= 10 && q[1] >= 0 && q[1] <= 4 && q[2] >= 0 && q[2] <= 4);
        near(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6], 1);
        for (int k = 0; k < i; k++) {
            const double *p = one->model->q_initial + 7 * k;
            double d = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
            cr_assert(d >= 0.4 - 1e-12, "copies %d and %d are %g apart", i, k, d);
        }
        mean += q[2] / 200;
    }
    cr_assert(fabs(mean - 2) < 0.3);
    sim_scene_free(one);
    sim_scene_free(two);
    sim_scene_free(other);
}

Test(scene_patterns, columns_turn_their_copies_if_asked_each_another_way) {
    const char *repeat =
        "{'placement': 'columns', 'counts': [2, 2, 50], 'spacing': [1, 1, 1], 'random_orientation': %s}";
    char text[300];
    double mean[4] = {0};
    snprintf(text, sizeof text, repeat, "true");
    sim_scene *turned = pattern(text, NULL);
    snprintf(text, sizeof text, repeat, "false");
    sim_scene *straight = pattern(text, NULL);
    for (int i = 0; i < 200; i++) {
        const double *q = turned->model->q_initial + 7 * i, *p = straight->model->q_initial + 7 * i;
        cr_assert(p[0] == q[0] && p[1] == q[1] && p[2] == q[2]);
        near(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6], 1);
        near(fabs(p[3]), sqrt(0.5)); /* the instance is turned by a right angle */
        for (int k = 0; k < 4; k++) {
            mean[k] += q[3 + k] * q[3 + k] / 200;
        }
    }
    for (int k = 0; k < 4; k++) {
        cr_assert(fabs(mean[k] - 0.25) < 0.06, "%g",
                  mean[k]); /* all ways alike; deviation 0.25 / sqrt(2) / sqrt(200) */
    }
    sim_scene_free(turned);
    sim_scene_free(straight);
}

Test(scene_patterns, a_series_hangs_each_copy_on_the_one_before) {
    sim_scene *s = load_good(
        "{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a', 'joint': 'hinge', " MASS "}, {'name': 'b', 'parent': "
        "'a'}]}}, 'instances': [{'model': 'm', 'prefix': 'c', 'pose': {'position': [0, 0, 9]}, 'repeat': {'placement': "
        "'series', 'count': 100, 'on': 'b', 'pose': {'position': [1, 0, 0]}}}]}");
    cr_assert_eq(s->model->nbody, 201);
    cr_assert_eq(body(s, "c0_a")->parent, 0);
    near(body(s, "c0_a")->placement.p.z, 9);
    cr_assert_eq(body(s, "c99_a")->parent, sim_model_find_body(s->model, "c98_b"));
    near_v3(body(s, "c99_a")->placement.p, 1, 0, 0);
    sim_scene_free(s);
}

Test(scene_patterns, models_in_models_get_all_prefixes) {
    sim_scene *s = load_good(
        "{'sim': 1, 'models': {'wheel': {'bodies': [{'name': 'rim'}]}, 'car': {'bodies': [{'name': 'hull'}], "
        "'instances': [{'model': 'wheel', 'prefix': 'w', 'parent': 'hull', 'repeat': {'placement': 'grid', 'counts': "
        "[2, 2, 1], 'spacing': [1, 1, 1]}}]}}, 'instances': [{'model': 'car', 'prefix': 'red_'}]}");
    cr_assert_eq(body(s, "red_w3_rim")->parent, sim_model_find_body(s->model, "red_hull"));
    sim_scene_free(s);
}

Test(scene_patterns, a_hundred_thousand_bodies_load_in_seconds) {
    char text[200];
    int count = part_of(100000);
    snprintf(text, sizeof text,
             "{'placement': 'scatter', 'count': %d, 'min': [0, 0, 0], 'max': [100, 100, 100], 'radius': 0.1}", count);
    sim_scene *s = pattern(text, NULL);
    cr_assert_eq(s->model->nbody, 1 + count);
    sim_scene_free(s);
}
