/* The first second of a trot, a pouring, a piling and an opening; feet at points in the axes of a trunk that floats. */
#include "control/trot.h"
#include "control/dishes.h"
#include "control/jar.h"
#include "control/pour.h"
#include "math/spatial.h"
#include "support/share.h"

#include <string.h>

/* Share by which m g t + p_z misses the impulse of the ground after a second, as the sensors of the feet read it. */
static double momentum_error(const char *solver, double step) {
    walk w = begin_walk("scenes/robots/a1_trots.json", solver, step);
    const sim_model *m = w.scene->model;
    go_on(&w, (int)lround(1 / step));
    double mass = 0, risen = sim_momentum(sim_world_derived(w.world), sim_all(m)).lin.z;
    for (int i = 1; i < m->nbody; i++) {
        mass += m->inertia[i].mass;
    }
    /* it stands, and feet alone touch the ground */
    cr_expect_gt(w.upright, 0.866, "%s: %g", solver, w.upright);
    const sim_state *now = sim_world_state(w.world);
    for (int i = 0; i < now->ncontact; i++) {
        const sim_contact *c = &now->contact[i];
        bool feet = strstr(m->body[c->body_a].name, "_foot") || strstr(m->body[c->body_b].name, "_foot");
        cr_expect(feet, "%s, %s", m->body[c->body_a].name, m->body[c->body_b].name);
    }
    end_walk(&w);
    return w.pushed / (9.81 * mass + risen) - 1;
}

Test(trot, forces_on_feet_carry_the_momentum_in_the_first_second) {
    static const char *const solver[] = {"auto", "sap"};
    for (int k = 0; k < 2; k++) {
        double coarse = momentum_error(solver[k], 0.002), fine = is_part() ? 0 : momentum_error(solver[k], 0.0005);
        cr_log_warn("%g %g", coarse, fine);
        cr_expect_lt(fabs(coarse), 1e-3, "%s: %g", solver[k], coarse);
        cr_expect_lt(fabs(fine), 0.5 * fabs(coarse), "%s: %g of %g", solver[k], fine, coarse);
    }
}

/* Without weight, on a trunk that is turned and turns: the frame of a track is the trunk, wherever it goes. */
Test(trot, feet_stand_at_points_in_axes_of_the_trunk) {
    static const char text[] =
        "{'sim': 1, 'world': {'step': 0.002, 'gravity': [0, 0, 0]}, 'instances': [{'file': 'scenes/robots/a1.json', "
        "'overrides': {'initial': {'trunk': {'q': [1, 2, 3, 0.8, 0, 0.6, 0], 'v': [0.1, 0, 0, 0.2, 0.3, 0]}, "
        "'*_thigh': 0.9, '*_calf': -1.8}}}], 'controllers': [{'name': 'c', 'type': 'joint_impedance', 'actuators': "
        "['FR_*'], 'stiffness': 300, 'gravity_compensation': false, 'target': {'site': 'FR_foot', 'frame': 'trunk', "
        "'times': [0, 0.5], 'points': [[0.18, -0.13, -0.25], [0.22, -0.16, -0.2]]}}]}";
    char copy[sizeof text];
    for (size_t k = 0; k < sizeof text; k++) {
        copy[k] = text[k] == '\'' ? '"' : text[k];
    }
    sim_error error;
    sim_scene *scene = sim_scene_parse(copy, strlen(copy), "test.json", NULL, NULL, &error);
    cr_assert_not_null(scene, "%s", error.text);
    sim_world *world = sim_world_create(scene->model, &scene->options, &error);
    cr_assert_not_null(world, "%s", error.text);
    for (int n = 0; n < 1500; n++) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
    }
    const sim_site *s = &scene->model->site[sim_model_find_site(scene->model, "FR_foot")];
    const pose *X = sim_world_derived(world)->pose, trunk = X[sim_model_find_body(scene->model, "trunk")];
    v3 at = pose_point(pose_inverse(trunk), pose_point(X[s->body], s->pose.p)), due = v3_make(0.22, -0.16, -0.2);
    /* friction of 0.2 N m against 300 N m/rad, over legs of 0.3 m */
    cr_expect_lt(v3_norm(v3_sub(at, due)), 3 * 0.3 * 0.2 / 300, "%g %g %g", at.x, at.y, at.z);
    sim_world_free(world);
    sim_scene_free(scene);
}

/* Both hands reach the bottles, and neither pushes them nor spills a ball. */
Test(pouring, hands_come_to_the_bottles_in_the_first_second) {
    pouring p = begin_pouring("auto", 1);
    pose full = sim_world_derived(p.world)->pose[p.full], empty = sim_world_derived(p.world)->pose[p.empty];
    pour_on(&p, 240);
    const pose *X = sim_world_derived(p.world)->pose;
    v3 left = pose_of_site(&p, "left_grip").p, right = pose_of_site(&p, "right_grip").p;
    /* gravity is compensated, and the targets rest for the last 0.2 s */
    cr_expect_lt(v3_norm(v3_sub(left, v3_make(0.38, 0.1437, 0.035))), 1e-3, "%g %g %g", left.x, left.y, left.z);
    cr_expect_lt(v3_norm(v3_sub(right, v3_make(0.38, -0.1437, 0.035))), 1e-3, "%g %g %g", right.x, right.y, right.z);
    /* the open hands leave 2 mm to the bottles, less the millimetre above */
    cr_expect_lt(v3_norm(v3_sub(X[p.full].p, full.p)), 1e-3);
    cr_expect_lt(v3_norm(v3_sub(X[p.empty].p, empty.p)), 1e-3);
    cr_expect_eq(balls_within(&p, p.full), 9);
    end_pouring(&p);
}

/* The hand comes to rest over the pot, and the pile stays where it is. */
Test(piling, hand_comes_over_the_pot_in_the_first_second) {
    piling p = begin_piling("auto", "rigid");
    pile_on(&p, 1);
    const sim_model *m = p.scene->model;
    const sim_site *s = &m->site[sim_model_find_site(m, "arm_hook")];
    v3 hook = pose_product(sim_world_derived(p.world)->pose[s->body], s->pose).p;
    /* of the first phase, whose last 0.1 s rest; gravity is compensated */
    cr_expect_lt(v3_norm(v3_sub(hook, v3_make(0.485, 0.2, 0.264))), 1e-3, "%g %g %g", hook.x, hook.y, hook.z);
    cr_expect_lt(p.moved, 1e-4, "by %g m", p.moved);
    cr_expect_eq(p.held, 0);
    cr_expect_eq(m->nv, 47);
    end_piling(&p);
}

/* The open hand comes around the jar and does not touch it. */
Test(opening, hand_comes_to_the_jar_in_the_first_second) {
    opening o = begin_opening("iiwas_open_jar");
    open_on(&o, 200);
    const sim_model *m = o.scene->model;
    const sim_site *s = &m->site[sim_model_find_site(m, "l_arm_grasp")];
    v3 grasp = pose_product(pose_in(&o, s->body), s->pose).p;
    /* of the first phase, whose last 0.2 s rest; gravity is compensated */
    cr_expect_lt(v3_norm(v3_sub(grasp, v3_make(0.68, 0.1, 0.28))), 1e-3, "%g %g %g", grasp.x, grasp.y, grasp.z);
    cr_expect_lt(v3_norm(v3_sub(pose_in(&o, o.jar).p, o.place)), 1e-3);
    cr_expect_eq(marbles_within(&o, o.jar, 0.034, JAR_HEIGHT), MARBLES);
    cr_expect_eq(m->nv, 160);
    end_opening(&o);
}
