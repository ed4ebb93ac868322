/* The robots of scenes/robots: kinematics and masses against figures computed outside, and what their controllers hold. */
#include "math/v3.h"
#include "support/share.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/dynamics.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sim_scene *load_robot(const char *name, const char *set) {
    char path[200];
    snprintf(path, sizeof path, "scenes/robots/%s.json", name);
    sim_scene_overrides overrides = {.count = set ? 1 : 0, .set = &set};
    sim_diagnostics found = {0};
    sim_error error = {0};
    sim_scene *scene = sim_scene_load(path, &overrides, &found, &error);
    cr_assert(scene, "%s", error.text);
    cr_expect_eq(found.count, 0, "%s: %s", path, found.count ? found.item[0].message : "");
    sim_diagnostics_free(&found);
    return scene;
}

static int body_index(const sim_model *model, const char *name) {
    int i = sim_model_find_body(model, name);
    cr_assert(i > 0, "there is no body %s", name);
    return i;
}

/* ---- kinematics and mass ---- */

/* A point of a body and the z axis of its frame where some joints are at q and all others at 0. */
typedef struct figure {
    const char *robot, *body;
    sim_v3 point;
    int joints;
    const char *joint[9];
    double q[9];
    sim_v3 position, axis;
} figure;

#define ARM_JOINTS                                                                                                     \
    7, { "link1", "link2", "link3", "link4", "link5", "link6", "link7" }
#define G1_LEFT                                                                                                        \
    "left_shoulder_pitch", "left_shoulder_roll", "left_shoulder_yaw", "left_elbow", "left_wrist_roll",                 \
        "left_wrist_pitch", "left_wrist_yaw"
#define FINGER(name)                                                                                                   \
    4, { name "_base", name "_proximal", name "_middle", name "_distal" }

/* Products of homogeneous transforms, written in another language: Craig's parameters of the Panda, Denavit and
 * Hartenberg's of the iiwa, rows of position and roll, pitch, yaw of the hand and the upper body. */
static const figure figures[] = {
    {"panda",
     "hand",
     {0, 0, 0.1034},
     ARM_JOINTS,
     {0.3, -0.5, 0.7, -1.9, 0.4, 1.2, -0.6},
     {0.0851301743261, 0.373979908868, 0.516822591098},
     {-0.239374410391, -0.201846499446, -0.94971463204}},
    {"panda",
     "hand",
     {0, 0, 0.1034},
     ARM_JOINTS,
     {-1.1, 0.9, -0.4, -2.4, 1.5, 2.8, 2},
     {-0.0881973587119, -0.330244583243, -0.114175481018},
     {0.00435607438776, 0.13856787452, -0.990343359026}},
    {"iiwa14",
     "link7",
     {0, 0, 0.045},
     ARM_JOINTS,
     {0.3, -0.5, 0.7, -1.9, 0.4, 1.2, -0.6},
     {0.0598386251459, 0.315926952891, 0.64001130917},
     {0.17712976316, 0.389451784048, -0.903854166835}},
    {"iiwa14",
     "link7",
     {0, 0, 0.045},
     ARM_JOINTS,
     {-1.1, 0.9, -0.4, 1.7, 1.5, -0.8, 2},
     {0.0829207531532, 0.0685753146455, 0.953975577504},
     {-0.655935815419, 0.423293206543, 0.624956852387}},
    {"allegro",
     "ring_distal",
     {0, 0, 0.0267},
     FINGER("ring"),
     {0.2, 0.3, 0.4, 0.5},
     {0.0642742303404, 0.0658079981724, 0.103948214413},
     {0.913460357398, 0.216044522165, 0.344840455725}},
    {"allegro",
     "index_distal",
     {0, 0, 0.0267},
     FINGER("index"),
     {-0.3, 1, 0.8, 0.1},
     {0.103273206736, -0.0777841109147, 0.0237862571595},
     {0.904035003431, -0.250410099441, -0.346432525422}},
    {"allegro",
     "thumb_distal",
     {0, 0, 0.0423},
     FINGER("thumb"),
     {1, 0.4, 0.6, 0.7},
     {0.0928709499757, -0.0555379887767, -0.0117394695042},
     {0.427828641044, 0.0932107174341, 0.89904083114}},
    {"g1_arms",
     "left_palm",
     {0, 0, 0},
     7,
     {G1_LEFT},
     {0.4, 0.5, -0.6, 0.7, 0.8, -0.3, 0.2},
     {0.0133024798598, 0.203077241288, -0.115356172856},
     {0.00533650368505, -0.944164154119, 0.329432196066}},
    {"g1_arms",
     "left_index_1",
     {0, 0, 0},
     9,
     {G1_LEFT, "left_index_0", "left_index_1"},
     {0.4, 0.5, -0.6, 0.7, 0.8, -0.3, 0.2, -0.5, -0.9},
     {0.0544680964449, 0.139350403165, -0.212153866148},
     {0.00533650368505, -0.944164154119, 0.329432196066}},
    {"g1_arms",
     "right_wrist_yaw",
     {0.0415, -0.003, 0},
     7,
     {"right_shoulder_pitch", "right_shoulder_roll", "right_shoulder_yaw", "right_elbow", "right_wrist_roll",
      "right_wrist_pitch", "right_wrist_yaw"},
     {0.4, -0.5, 0.6, 0.7, -0.8, -0.3, -0.2}, /* the left arm in a mirror */
     {0.0133024798598, -0.203077241288, -0.115356172856},
     {0.00533650368505, 0.944164154119, 0.329432196066}},
};

static void check_figure(const figure *f) {
    sim_scene *scene = load_robot(f->robot, NULL);
    const sim_model *m = scene->model;
    sim_derived *d = sim_derived_create(m, NULL);
    double *q = calloc((size_t)m->nq, sizeof *q);
    cr_assert(d && q);
    for (int k = 0; k < f->joints; k++) {
        q[m->body[body_index(m, f->joint[k])].q0] = f->q[k];
    }
    sim_kinematics(d, sim_all(m), q);
    int body = body_index(m, f->body);
    sim_v3 p = sim_point_position(d, (sim_point){body, f->point});
    double off = v3_norm(v3_sub(p, f->position)), turned = v3_norm(v3_sub(d->pose[body].R.z, f->axis));
    cr_expect(off < 1e-11 && turned < 1e-11, "%s of %s: %g m, %g rad", f->body, f->robot, off, turned);
    free(q);
    sim_derived_free(d);
    sim_scene_free(scene);
}

Test(own_robots, have_the_published_kinematics) {
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        check_figure(&figures[i]);
    }
}

/* A leg of two links of 0.2 m: its foot, from the trunk, by plane geometry. */
static sim_v3 foot_at(double front, double left, const double q[3]) {
    double x = -0.2 * sin(q[1]) - 0.2 * sin(q[1] + q[2]), z = -0.2 * cos(q[1]) - 0.2 * cos(q[1] + q[2]);
    double y = 0.0838 * left;
    return (sim_v3){0.1805 * front + x, 0.047 * left + y * cos(q[0]) - z * sin(q[0]), y * sin(q[0]) + z * cos(q[0])};
}

Test(own_robots, put_the_feet_of_the_quadruped_where_plane_geometry_has_them) {
    static const struct {
        const char *leg;
        double front, left;
    } legs[] = {{"FR", 1, -1}, {"FL", 1, 1}, {"RR", -1, -1}, {"RL", -1, 1}};
    sim_scene *scene = load_robot("a1", NULL);
    const sim_model *m = scene->model;
    sim_derived *d = sim_derived_create(m, NULL);
    double q[19] = {0, 0, 0, 1};
    cr_assert(d && m->nq == 19);
    for (int leg = 0; leg < 4; leg++) {
        double angle[3] = {0.3 - 0.2 * leg, 0.7 + 0.1 * leg, -1.5 - 0.2 * leg};
        memcpy(q + 7 + 3 * leg, angle, sizeof angle);
        sim_kinematics(d, sim_all(m), q);
        char name[10];
        snprintf(name, sizeof name, "%s_foot", legs[leg].leg);
        sim_v3 p = sim_point_position(d, (sim_point){body_index(m, name), {0, 0, 0}});
        cr_expect(v3_norm(v3_sub(p, foot_at(legs[leg].front, legs[leg].left, angle))) < 1e-14, "%s", name);
    }
    sim_derived_free(d);
    sim_scene_free(scene);
}

Test(own_robots, weigh_what_is_published_and_have_as_many_joints) {
    static const struct {
        const char *name;
        int nv;
        double mass;
    } robots[] = {{"panda", 9, 18.92},
                  {"iiwa14", 7, 30.61},
                  {"allegro", 16, 0.9549},
                  {"a1", 18, 13.74},
                  {"g1_arms", 28, 15.907238}};
    for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
        sim_scene *scene = load_robot(robots[i].name, NULL);
        double mass = 0;
        for (int k = 1; k < scene->model->nbody; k++) {
            mass += scene->model->body[k].inertia.mass;
        }
        cr_expect_eq(scene->model->nv, robots[i].nv, "%s", robots[i].name);
        cr_expect_float_eq(mass, robots[i].mass, 1e-12, "%s: %.12g kg", robots[i].name, mass);
        sim_scene_free(scene);
    }
}

/* ---- controllers ---- */

/* Steps until `time`; every step must be solved. */
static void run_until(sim_world *world, double time) {
    sim_error error = {0};
    while (sim_world_state(world)->time < time - 1e-9) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
        const sim_step_info *info = sim_world_info(world);
        cr_assert(info->nonconverged == 0 && info->unsolved == 0, "%g s", sim_world_state(world)->time);
    }
}

static sim_world *start(const sim_scene *scene) {
    sim_error error = {0};
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert(world, "%s", error.text);
    return world;
}

Test(own_robots, hold_their_home_pose) {
    static const char *const names[] = {"panda", "iiwa14", "allegro", "g1_arms"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sim_scene *scene = load_robot(names[i], NULL);
        sim_world *world = start(scene);
        double first[40];
        int nq = scene->model->nq;
        memcpy(first, sim_world_state(world)->q, (size_t)nq * sizeof *first);
        run_until(world, 1);
        for (int k = 0; k < nq; k++) {
            cr_expect_float_eq(sim_world_state(world)->q[k], first[k], 1e-6, "%s, %d", names[i], k);
        }
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

/* The trunk after 10 s: level, at rest, and as high as the legs are long, less what the controllers give way. */
static void stands(const char *set, double least_height, double most_height) {
    sim_scene *scene = load_robot("a1_stands", set);
    sim_world *world = start(scene);
    run_until(world, 10);
    const sim_state *state = sim_world_state(world);
    const sim_body *trunk = &scene->model->body[body_index(scene->model, "dog_trunk")];
    const double *q = state->q + trunk->q0, *v = state->v + trunk->v0;
    cr_expect(q[2] > least_height && q[2] < most_height, "%g m", q[2]);
    cr_expect(hypot(q[4], q[5]) < 0.01, "tilted by %g rad", 2 * hypot(q[4], q[5]));
    cr_expect(v3_norm((sim_v3){v[0], v[1], v[2]}) < 1e-4);
    sim_world_free(world);
    sim_scene_free(scene);
}

Test(own_robots, let_the_quadruped_stand_for_ten_seconds) { stands(NULL, 0.255, 0.2687); }

Test(own_robots, let_the_quadruped_land_from_half_a_metre_without_an_unsolved_step) {
    stands("instances/dog_/pose/position=[0,0,0.5]", 0.255, 0.2687);
}

/* A few steps before and after the feet touch, by the solvers that solve all steps of ten seconds (control/tasks.c). */
Test(own_robots, stand_and_land_without_an_unsolved_step_by_several_solvers) {
    static const char *const solvers[] = {"acn", "incp", "nsn", "subadmm", "sap", "canal"};
    for (int k = 0; k < 12; k++) {
        char set[2][80];
        const char *list[] = {set[0], set[1]};
        snprintf(set[0], sizeof set[0], "world/solver=%s", solvers[k / 2]);
        snprintf(set[1], sizeof set[1], "instances/dog_/pose/position=[0,0,%s]", k % 2 ? "0.2" : "0");
        sim_scene_overrides overrides = {.count = 2, .set = list};
        sim_error error = {0};
        sim_scene *scene = sim_scene_load("scenes/robots/a1_stands.json", &overrides, NULL, &error);
        cr_assert(scene, "%s", error.text);
        sim_world *world = start(scene);
        run_until(world, k % 2 ? 0.21 : 0.1); /* the feet land after 0.2 s */
        cr_expect_gt(sim_world_state(world)->ncontact, 3, "%s: all feet stand", solvers[k / 2]);
        run_until(world, k % 2 ? 0.3 : 0.1);
        sim_world_free(world);
        sim_scene_free(scene);
    }
}

Test(own_robots, let_the_panda_lift_a_cube_and_hold_it_for_five_seconds) {
    sim_scene *scene = load_robot("panda_lifts_cube", NULL);
    sim_world *world = start(scene);
    int cube = body_index(scene->model, "cube"), hand = body_index(scene->model, "arm_hand");
    run_until(world, 5.5);
    const sim_pose *pose = sim_world_derived(world)->pose;
    sim_v3 lifted = v3_sub(pose[cube].p, pose[hand].p);
    cr_expect(pose[cube].p.z > 0.23, "lifted to %g m", pose[cube].p.z);
    run_until(world, is_part() ? 6 : 10.5);
    pose = sim_world_derived(world)->pose;
    sim_v3 held = v3_sub(pose[cube].p, pose[hand].p);
    cr_expect(v3_norm(v3_sub(held, lifted)) < 2e-5, "slips by %g m", v3_norm(v3_sub(held, lifted)));
    sim_world_free(world);
    sim_scene_free(scene);
}

Test(own_robots, stand_side_by_side_in_one_scene_with_prefixes) {
    static const char text[] =
        "{\"sim\": 1, \"world\": {\"step\": 0.002}, \"instances\": ["
        "{\"file\": \"panda.json\", \"prefix\": \"left_\", \"pose\": {\"position\": [0, 0.5, 0]}},"
        "{\"file\": \"panda.json\", \"prefix\": \"right_\", \"pose\": {\"position\": [0, -0.5, 0]}},"
        "{\"file\": \"allegro.json\", \"prefix\": \"hand_\", \"pose\": {\"position\": [1, 0, 0.5]}}]}";
    sim_error error = {0};
    sim_scene *scene = sim_scene_parse(text, sizeof text - 1, "scenes/robots/pair.json", NULL, NULL, &error);
    cr_assert(scene, "%s", error.text);
    cr_assert_eq(scene->model->nv, 9 + 9 + 16);
    cr_assert_eq(scene->model->nactuator, 9 + 9 + 16);
    sim_world *world = start(scene);
    int finger = scene->model->body[body_index(scene->model, "right_left_finger")].q0;
    run_until(world, 0.5);
    cr_expect_float_eq(sim_world_state(world)->q[finger], 0.04, 1e-6);
    sim_world_free(world);
    sim_scene_free(scene);
}

Test(own_robots, validate_without_a_warning) {
    static const char *const names[] = {"panda",
                                        "panda_lifts_cube",
                                        "panda_picks_by_phases",
                                        "iiwa14",
                                        "allegro",
                                        "a1",
                                        "a1_stands",
                                        "a1_trots",
                                        "a1_trots_over_steps",
                                        "g1_arms",
                                        "panda_turns_nut",
                                        "g1_pours",
                                        "panda_stacks_dishes",
                                        "iiwas_open_jar",
                                        "iiwas_open_jar_softly"};
    size_t count = (size_t)part_of(sizeof names / sizeof names[0]); /* shipped.c loads all, too */
    for (size_t i = 0; i < count; i++) {
        char command[400], said[400] = "";
        snprintf(command, sizeof command, "\"%s\" scenes/robots/%s.json --validate 2>&1", getenv("SIM_PROGRAM"),
                 names[i]);
        FILE *out = popen(command, "r");
        cr_assert(out);
        size_t length = fread(said, 1, sizeof said - 1, out);
        cr_expect_eq(pclose(out), 0, "%s", said);
        cr_expect(length && strstr(said, ": ok, ") && !strstr(said, "warning"), "%s", said);
    }
}

/* ---- names ---- */

Test(own_robots, start_at_home_by_name) {
    static const char *const names[][2] = {{"panda", "home"}, {"iiwa14", "home"},  {"allegro", "home"},
                                           {"a1", "home"},    {"g1_arms", "home"}, {"a1_stands", "dog_home"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[200];
        snprintf(path, sizeof path, "scenes/robots/%s.json", names[i][0]);
        sim_error error = {0};
        sim_scene_overrides overrides = {.start = names[i][1]};
        sim_scene *plain = load_robot(names[i][0], NULL), *home = sim_scene_load(path, &overrides, NULL, &error);
        cr_assert(home, "%s", error.text);
        size_t bytes = (size_t)plain->model->nq * sizeof(double);
        cr_expect_arr_eq(plain->model->q_initial, home->model->q_initial, bytes, "%s", path);
        sim_scene_free(home);
        sim_scene_free(plain);
    }
}

Test(own_robots, name_the_frames_of_their_tools) {
    static const struct {
        const char *robot, *site, *body;
        sim_v3 point;
    } tools[] = {{"panda", "tool", "hand", {0, 0, 0.1034}},
                 {"iiwa14", "flange", "link7", {0, 0, 0.045}},
                 {"allegro", "ring_tip", "ring_distal", {0, 0, 0.0267}},
                 {"allegro", "thumb_tip", "thumb_distal", {0, 0, 0.0423}},
                 {"g1_arms", "left_grip", "left_palm", {0.09, 0, 0}}};
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        sim_scene *scene = load_robot(tools[i].robot, NULL);
        int k = sim_model_find_site(scene->model, tools[i].site);
        cr_assert(k >= 0, "%s", tools[i].site);
        const sim_site *site = &scene->model->site[k];
        cr_expect_eq(site->body, body_index(scene->model, tools[i].body), "%s", tools[i].site);
        cr_expect(v3_norm(v3_sub(site->pose.p, tools[i].point)) == 0, "%s", tools[i].site);
        sim_scene_free(scene);
    }
}
