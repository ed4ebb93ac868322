/* Inverse kinematics against forward kinematics, closed forms of planar arms, and small motions about its answers. */
#include "math/spatial.h"
#include "support/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/sim.h>
#include <stdlib.h>
#include <string.h>

/* ---- robots ---- */

static sim_scene *load(const char *path) {
    sim_error error;
    sim_scene *scene = sim_scene_load(path, NULL, NULL, &error);
    cr_assert_not_null(scene, "%s", error.text);
    return scene;
}

static double *home_of(const sim_model *m) {
    double *q = malloc((size_t)m->nq * sizeof *q);
    memcpy(q, m->q_initial, (size_t)m->nq * sizeof *q);
    return q;
}

static pose site_pose(sim_derived *d, int site, const double *q) {
    const sim_site *s = &d->model->site[site];
    sim_kinematics(d, sim_all(d->model), q);
    return pose_product(d->pose[s->body], s->pose);
}

static sim_ik_goal goal_of(const sim_model *m, int site, pose at) {
    return (sim_ik_goal){.body = m->site[site].body, .frame = m->site[site].pose, .pose = at};
}

static void expect_within_ranges(const sim_model *m, const double *q) {
    for (int j = 0; j < m->nv; j++) {
        const sim_dof *dof = &m->dof[j];
        cr_assert(dof->coordinate < 0 ||
                      (q[dof->coordinate] >= dof->limit.low && q[dof->coordinate] <= dof->limit.high),
                  "dof %d: %.17g outside %g .. %g", j, q[dof->coordinate], dof->limit.low, dof->limit.high);
    }
}

/* Coordinates all over the ranges. */
static void random_coordinates(random_source *r, const sim_model *m, double *q) {
    for (int j = 0; j < m->nv; j++) {
        const sim_dof *dof = &m->dof[j];
        q[dof->coordinate] = random_uniform(r, fmax(dof->limit.low, -M_PI), fmin(dof->limit.high, M_PI));
    }
}

static void reach_random_poses(const char *path, const char *site_name, int poses) {
    sim_scene *scene = load(path);
    const sim_model *m = scene->model;
    int site = sim_model_find_site(m, site_name), searches = 0, worst = 0;
    cr_assert_geq(site, 0);
    sim_derived *d = sim_derived_create(m, NULL);
    random_source r = {7};
    double *q = home_of(m), *there = home_of(m);
    for (int k = 0; k < poses; k++) {
        sim_ik_result result;
        random_coordinates(&r, m, there);
        pose due = site_pose(d, site, there);
        memcpy(q, m->q_initial, (size_t)m->nq * sizeof *q);
        sim_ik_goal goal = goal_of(m, site, due);
        cr_assert_eq(sim_inverse_kinematics(m, &goal, 1, NULL, q, &result, NULL), SIM_OK);
        pose found = site_pose(d, site, q);
        double off = v3_norm(v3_sub(found.p, due.p));
        double turned = v3_norm(v3_sub(found.R.x, due.R.x)) + v3_norm(v3_sub(found.R.y, due.R.y));
        cr_expect(result.outcome == SIM_IK_REACHED && off <= 1e-10 && turned <= 1e-10,
                  "pose %d: outcome %d, off by %g m, %g rad after %d searches", k, (int)result.outcome, off, turned,
                  result.starts);
        expect_within_ranges(m, q);
        searches += result.starts;
        worst = result.starts > worst ? result.starts : worst;
    }
    cr_log_warn("%s: %.2f searches a pose, %d at most", path, (double)searches / poses, worst);
    sim_derived_free(d);
    free(q);
    free(there);
    sim_scene_free(scene);
}

Test(inverse_kinematics, reaches_random_poses_of_the_panda) {
    reach_random_poses("scenes/robots/panda.json", "tool", 300);
}

Test(inverse_kinematics, reaches_random_poses_of_the_iiwa) {
    reach_random_poses("scenes/robots/iiwa14.json", "flange", 300);
}

static double half_square(sim_derived *d, const sim_ik_goal *g, const double *q, double radius) {
    sim_kinematics(d, sim_all(d->model), q);
    pose X = pose_product(d->pose[g->body], g->frame);
    v3 turn = v3_scale(radius, quat_log(quat_from_matrix(m3_product(g->pose.R, m3_transpose(X.R)))));
    v3 way = v3_sub(g->pose.p, X.p);
    return 0.5 * (v3_dot(way, way) + v3_dot(turn, turn));
}

/* Poses out of reach: no small motion within the ranges comes nearer. */
Test(inverse_kinematics, ends_at_a_stationary_point_where_a_pose_is_out_of_reach) {
    sim_scene *scene = load("scenes/robots/panda.json");
    const sim_model *m = scene->model;
    int site = sim_model_find_site(m, "tool"), stationary = 0;
    sim_derived *d = sim_derived_create(m, NULL);
    random_source r = {3};
    sim_ik_options options = sim_ik_options_default();
    options.starts = 3;
    double *q = home_of(m), *near = home_of(m);
    for (int k = 0; k < 40; k++) {
        sim_ik_result result;
        v3 at = v3_axpy(v3_make(0, 0, 0.333), 1.5, random_unit(&r));
        sim_ik_goal goal = goal_of(m, site, (pose){random_rotation(&r), at});
        memcpy(q, m->q_initial, (size_t)m->nq * sizeof *q);
        cr_assert_eq(sim_inverse_kinematics(m, &goal, 1, &options, q, &result, NULL), SIM_OK);
        cr_expect_neq(result.outcome, SIM_IK_REACHED);
        pose found = site_pose(d, site, q);
        cr_expect_float_eq(result.distance, v3_norm(v3_sub(found.p, at)), 1e-12);
        cr_expect_gt(result.distance, 0.2);
        expect_within_ranges(m, q);
        stationary += result.outcome == SIM_IK_STATIONARY;
        double f = half_square(d, &goal, q, options.radius), h = 1e-4, gained = 0;
        for (int n = 0; n < 60; n++) {
            for (int j = 0; j < m->nv; j++) {
                const sim_dof *dof = &m->dof[j];
                double x = q[dof->coordinate] + h * random_uniform(&r, -1, 1);
                near[dof->coordinate] = fmin(fmax(x, dof->limit.low), dof->limit.high);
            }
            gained = fmax(gained, f - half_square(d, &goal, near, options.radius));
        }
        cr_expect_lt(gained, 1e-3 * h * f, "pose %d: comes nearer by %g of %g, outcome %d", k, gained, f,
                     (int)result.outcome);
    }
    cr_expect_geq(stationary, 38, "%d of 40 end at a stationary point", stationary);
    sim_derived_free(d);
    free(q);
    free(near);
    sim_scene_free(scene);
}

/* ---- planar arms: closed forms ---- */

/* Two bars of 0.5 and 0.3 m in the plane of x and y; the second hinge with this range. */
static sim_model *planar_arm(double low, double high) {
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_HINGE;
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    def.q[0] = 0.3;
    def.parent = sim_builder_add_body(b, &def);
    def.placement.p.x = 0.5;
    def.limit[0].low = low;
    def.limit[0].high = high;
    sim_builder_add_body(b, &def);
    sim_error error;
    sim_model *m = sim_builder_finish(b, &error);
    cr_assert_not_null(m, "%s", error.text);
    return m;
}

static sim_ik_result point_to(const sim_model *m, v3 at, double *q) {
    sim_ik_result result;
    sim_ik_goal goal = {.body = 2, .frame = pose_identity(), .pose = {pose_identity().R, at}, .point = true};
    goal.frame.p.x = 0.3;
    memcpy(q, m->q_initial, 2 * sizeof *q);
    cr_assert_eq(sim_inverse_kinematics(m, &goal, 1, NULL, q, &result, NULL), SIM_OK);
    return result;
}

Test(inverse_kinematics, planar_arm_reaches_by_the_law_of_cosines) {
    sim_model *m = planar_arm(-INFINITY, INFINITY);
    double q[2];
    for (int k = 0; k < 20; k++) {
        double reach = 0.25 + 0.025 * k, angle = 0.3 * k;
        sim_ik_result result = point_to(m, v3_make(reach * cos(angle), reach * sin(angle), 0), q);
        cr_expect_eq(result.outcome, SIM_IK_REACHED);
        double bend = acos((reach * reach - 0.25 - 0.09) / (2 * 0.5 * 0.3));
        cr_expect_float_eq(fabs(remainder(q[1], 2 * M_PI)), bend, 1e-10, "reach %g: %g", reach, q[1]);
    }
    sim_model_free(m);
}

Test(inverse_kinematics, planar_arm_says_how_far_a_point_is_out_of_reach) {
    sim_model *m = planar_arm(-INFINITY, INFINITY);
    double q[2];
    for (int k = 0; k < 10; k++) {
        double angle = 0.6 * k, far = 1 + 0.1 * k, near = 0.02 * k;
        sim_ik_result result = point_to(m, v3_make(far * cos(angle), far * sin(angle), 0), q);
        cr_expect_eq(result.outcome, SIM_IK_STATIONARY);
        cr_expect_float_eq(result.distance, far - 0.8, 1e-8, "%g", result.distance - far + 0.8);
        result = point_to(m, v3_make(near * cos(angle), near * sin(angle), 0), q);
        cr_expect_eq(result.outcome, SIM_IK_STATIONARY);
        cr_expect_float_eq(result.distance, 0.2 - near, 1e-8, "%g", result.distance - 0.2 + near);
    }
    sim_model_free(m);
}

/* With the bend between 1 and 2 rad, points nearer or further than the two circles of its ends are out of reach. */
Test(inverse_kinematics, planar_arm_stops_at_the_end_of_a_range) {
    sim_model *m = planar_arm(1, 2);
    double q[2];
    for (int k = 0; k < 2; k++) {
        double bend = k ? 2 : 1, circle = sqrt(0.25 + 0.09 + 0.3 * cos(bend)), off = k ? -0.1 : 0.1;
        sim_ik_result result = point_to(m, v3_make(0, circle + off, 0), q);
        cr_expect_eq(result.outcome, SIM_IK_STATIONARY);
        cr_expect_eq(q[1], bend);
        cr_expect_float_eq(result.distance, 0.1, 1e-9);
        result = point_to(m, v3_make(0, circle - 0.2 * off, 0), q);
        cr_expect_eq(result.outcome, SIM_IK_REACHED);
    }
    sim_model_free(m);
}

/* ---- several goals, floating bases, bad input ---- */

Test(inverse_kinematics, two_hands_reach_at_once_and_a_floating_base_stays) {
    sim_scene *scene = load("scenes/robots/a1.json");
    const sim_model *m = scene->model;
    sim_derived *d = sim_derived_create(m, NULL);
    double *q = home_of(m);
    sim_ik_goal goal[2];
    sim_kinematics(d, sim_all(m), q);
    const char *const foot[] = {"FL_calf", "RR_calf"};
    for (int k = 0; k < 2; k++) {
        int body = sim_model_find_body(m, foot[k]);
        cr_assert_geq(body, 0);
        goal[k] = (sim_ik_goal){.body = body, .frame = pose_identity(), .point = true};
        goal[k].frame.p = v3_make(0, 0, -0.2);
        goal[k].pose.p =
            v3_add(sim_point_position(d, (sim_point){body, goal[k].frame.p}), v3_make(0.03, k ? 0.02 : -0.01, 0.04));
        goal[k].pose.R = pose_identity().R;
    }
    sim_ik_result result;
    cr_assert_eq(sim_inverse_kinematics(m, goal, 2, NULL, q, &result, NULL), SIM_OK);
    cr_expect_eq(result.outcome, SIM_IK_REACHED);
    sim_kinematics(d, sim_all(m), q);
    for (int k = 0; k < 2; k++) {
        cr_expect_lt(v3_norm(v3_sub(sim_point_position(d, (sim_point){goal[k].body, goal[k].frame.p}), goal[k].pose.p)),
                     1e-11);
    }
    int moved = 0;
    for (int i = 0; i < m->nq; i++) {
        moved += q[i] != m->q_initial[i];
    }
    cr_expect_eq(moved, 6);
    sim_derived_free(d);
    free(q);
    sim_scene_free(scene);
}

Test(inverse_kinematics, refuses_goals_that_no_body_has) {
    sim_model *m = planar_arm(-1, 1);
    sim_error error;
    sim_ik_result result;
    double q[2] = {0, 0};
    sim_ik_goal goal = {.body = 7, .frame = pose_identity(), .pose = pose_identity()};
    cr_expect_eq(sim_inverse_kinematics(m, &goal, 1, NULL, q, &result, &error), SIM_BAD_INPUT);
    goal.body = 0;
    cr_expect_eq(sim_inverse_kinematics(m, &goal, 1, NULL, q, &result, &error), SIM_BAD_INPUT);
    goal.body = 2;
    goal.pose.p.x = NAN;
    cr_expect_eq(sim_inverse_kinematics(m, &goal, 1, NULL, q, &result, &error), SIM_BAD_INPUT);
    sim_model_free(m);
}

/* Coordinates that are no configuration would come back as an answer. */
Test(inverse_kinematics, refuses_starts_that_are_no_configuration) {
    sim_error error;
    sim_ik_result result;
    sim_model *m = planar_arm(-1, 1);
    double q[2] = {0, NAN};
    sim_ik_goal goal = {.body = 2, .point = true, .frame = pose_identity(), .pose = pose_identity()};
    cr_expect_eq(sim_inverse_kinematics(m, &goal, 1, NULL, q, &result, &error), SIM_BAD_INPUT);
    cr_expect(strstr(error.text, "not finite"), "%s", error.text);
    sim_model_free(m);
    sim_builder *b = sim_builder_create();
    sim_body_def def = sim_body_default();
    def.joint = SIM_BALL;
    def.inertia = box_inertia(1, 0.1, 0.1, 0.1);
    sim_builder_add_body(b, &def);
    m = sim_builder_finish(b, &error);
    cr_assert(m, "%s", error.text);
    double turn[4] = {1, 1, 0, 0};
    goal.body = 1;
    cr_expect_eq(sim_inverse_kinematics(m, &goal, 1, NULL, turn, &result, &error), SIM_BAD_INPUT);
    cr_expect(strstr(error.text, "no unit quaternion"), "%s", error.text);
    sim_model_free(m);
}
