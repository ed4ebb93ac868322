/* Constraints between bodies in scenes: frames, parameters, names. */
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>

static void near_v3(sim_v3 a, double x, double y, double z) {
    cr_expect(fabs(a.x - x) + fabs(a.y - y) + fabs(a.z - z) <= 1e-14, "(%.17g, %.17g, %.17g)", a.x, a.y, a.z);
}

#define ONE_KG "'inertia': {'mass': 1, 'moments': [1, 1, 1]}"

/* In a model, `world` is where the model is put. */
Test(scene_constraints, hold_bodies_points_and_joints) {
    sim_scene *s = load_good(
        "{'sim': 1, 'bodies': [{'name': 'base', " ONE_KG
        ", 'joint': 'slider'}], 'models': {'pair': {'bodies': [{'name': 'a', " ONE_KG
        ", 'joint': 'hinge'}, {'name': 'b', " ONE_KG ", 'joint': 'cylindrical'}], 'constraints': [{'type': 'weld', "
        "'first': 'a', 'second': 'b', 'second_pose': {'position': [1, 2, 3]}, 'stiffness': 7, 'dissipation': 0.5}, "
        "{'type': "
        "'distance', 'first': 'b', 'first_point': [0, 0, 1], 'distance': 1}, {'type': 'coupling', 'first': 'a', "
        "'second': "
        "'b', 'second_dof': 1, 'offset': 0.1, 'ratio': -3}]}}, 'instances': [{'model': 'pair', 'prefix': 'x', "
        "'parent': "
        "'base', 'pose': {'position': [5, 0, 0]}}], 'constraints': [{'type': 'connect', 'first': 'xa', 'first_point': "
        "[-5, 1, 0], "
        "'second_point': [0, 1, 0]}, {'type': 'spring', 'first': 'xb', 'second': 'base', 'second_point': [0, 2, 0], "
        "'rest': 0.5, "
        "'stiffness': 70, 'damping': 3}]}");
    const sim_model *m = s->model;
    const int base = sim_model_find_body(m, "base"), a = sim_model_find_body(m, "xa"), b = sim_model_find_body(m, "xb");
    cr_assert_eq(m->nequality, 5);
    const sim_equality *e = m->equality; /* the scene's own first */
    cr_assert(e[0].type == SIM_CONNECT && e[0].body[0] == a && e[0].body[1] == 0 && isinf(e[0].stiffness));
    near_v3(e[0].frame[1].p, 0, 1, 0);
    cr_assert(e[1].type == SIM_SPRING_DAMPER && e[1].distance == 0.5 && e[1].stiffness == 70 && e[1].damping == 3);
    near_v3(e[1].frame[1].p, 0, 2, 0);
    e++; /* then those of the model */
    cr_assert(e[1].type == SIM_WELD && e[1].body[0] == a && e[1].body[1] == b && e[1].stiffness == 7);
    cr_assert_eq(e[1].dissipation, 0.5);
    near_v3(e[1].frame[1].p, 1, 2, 3);
    cr_assert(e[2].type == SIM_DISTANCE && e[2].body[0] == b && e[2].body[1] == base && e[2].distance == 1);
    near_v3(e[2].frame[0].p, 0, 0, 1);
    near_v3(e[2].frame[1].p, 5, 0, 0);
    cr_assert(e[3].type == SIM_COUPLING && e[3].dof[0] == m->body[a].v0 && e[3].dof[1] == m->body[b].v0 + 1);
    cr_assert(e[3].offset == 0.1 && e[3].ratio == -3);
    sim_scene_free(s);
}

/* By default the name is that of the first side; the world has no prefix. */
Test(scene_constraints, have_the_prefix_of_their_instance) {
    sim_scene *s =
        load_good("{'sim': 1, 'models': {'m': {'bodies': [{'name': 'a', " ONE_KG
                  ", 'joint': 'free', 'sites': [{'name': 'tip'}]}], 'constraints': ["
                  "{'name': 'rod', 'type': 'distance', 'first': 'a', 'first_point': [1, 0, 0], 'distance': 1}, "
                  "{'type': 'connect', 'first': 'a'}, {'type': 'connect', 'first_site': 'tip'}, "
                  "{'type': 'connect', 'first': 'world', 'second': 'a'}]}}, 'instances': ["
                  "{'model': 'm', 'prefix': 'left_'}, {'model': 'm', 'prefix': 'right_'}]}");
    static const char *const names[] = {"left_rod",  "left_a",  "left_tip",  "world",
                                        "right_rod", "right_a", "right_tip", "world"};
    cr_assert_eq(s->model->nequality, 8);
    for (int k = 0; k < 8; k++) {
        cr_expect_str_eq(s->model->equality[k].name, names[k]);
    }
    sim_scene_free(s);
}

/* After a pose that is none nothing more is said of the constraint: that both sides are one body would be told, too. */
Test(scene_constraints, with_a_wrong_pose_are_reported_for_that_alone) {
    refused("{'sim': 1, 'bodies': [{'name': 'a', " ONE_KG ", 'joint': 'free'}], 'constraints': [{'type': 'weld', "
            "'first': 'a', 'second': 'a',\n'first_pose': {'quaternion': [0, 0, 0, 0]}}]}",
            "scene.json:2:30", "a quaternion (w, x, y, z) has length 1, not 0");
}
