/* Robots in URDF: what becomes of their elements, and how wrong ones are refused. */
#include "math/spatial.h"
#include "support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sim/world.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MASS "<inertial><mass value='2'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial>"
#define ROBOT(inside) "<robot name='r'>\n" inside "</robot>"
/* A base, and one link on a joint; `inside` goes into the joint, in line 3. */
#define JOINT(type, inside)                                                                                            \
    ROBOT("<link name='base'/><link name='arm'>" MASS "</link>\n<joint name='j' type='" type                           \
          "'><parent link='base'/><child link='arm'/>" inside "</joint>")
/* One link; `inside` goes into it, in line 3. */
#define LINK(inside) ROBOT("<link name='a'>\n" inside "</link>")

static sim_scene *load_robot(const char *text, const test_file *files, const sim_import_options *import,
                             const char *set) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene_overrides overrides = {.count = set ? 1 : 0, .set = &set, .import = import};
    sim_scene *s = load_text(text, files, &overrides, &found, &error);
    cr_assert(s, "%s", error.text);
    sim_diagnostics_free(&found);
    return s;
}

static const sim_body *body_of(const sim_scene *s, const char *name) {
    int i = sim_model_find_body(s->model, name);
    cr_assert(i > 0, "there is no body %s", name);
    return &s->model->body[i];
}

/* ---- joints ---- */

static void joint_becomes(const char *text, sim_joint_type type, sim_v3 axis) {
    sim_scene *s = load_robot(text, NULL, NULL, NULL);
    const sim_body *b = body_of(s, "arm");
    cr_assert_eq(b->joint, type);
    cr_assert(v3_norm(v3_sub(b->axis, axis)) < 1e-15);
    sim_scene_free(s);
}

Test(scene_urdf, joints_keep_their_axes) {
    joint_becomes(JOINT("continuous", ""), SIM_HINGE, (sim_v3){1, 0, 0});
    joint_becomes(JOINT("continuous", "<axis xyz='0 3 4'/>"), SIM_HINGE, (sim_v3){0, 0.6, 0.8});
    joint_becomes(JOINT("prismatic", "<axis xyz='0 0 1'/><limit lower='0' upper='1'/>"), SIM_SLIDER, (sim_v3){0, 0, 1});
    joint_becomes(JOINT("planar", "<axis xyz='0 1 0'/>"), SIM_PLANAR, (sim_v3){0, 1, 0});
}

Test(scene_urdf, limits_and_dynamics_reach_the_joint) {
    sim_scene *s =
        load_robot(JOINT("revolute", "<limit lower='-1' upper='0.5' effort='30'/><dynamics damping='2' friction='3'/>"),
                   NULL, NULL, NULL);
    const sim_dof *dof = &s->model->dof[0];
    cr_assert(dof->limit.low == -1 && dof->limit.high == 0.5 && dof->damping == 2 && dof->friction == 3);
    sim_scene_free(s);
    /* an effort of 0 is none, and ends that are not given are none */
    s = load_robot(JOINT("revolute", "<limit effort='0' velocity='1'/>"), NULL, NULL, NULL);
    cr_assert(isinf(s->model->dof[0].limit.low) && isinf(s->model->dof[0].limit.high));
    cr_assert(!strstr(s->text, "effort"));
    cr_assert_eq(s->model->dof[0].velocity_limit, 1);
    sim_scene_free(s);
    s = load_robot(JOINT("revolute", "<limit lower='-1' upper='1' effort='30' velocity='0'/>"), NULL, NULL, NULL);
    cr_assert(isinf(s->model->dof[0].velocity_limit));
    cr_assert(strstr(s->text, "\"effort\": 30"));
    sim_scene_free(s);
}

Test(scene_urdf, wrong_joints_are_refused_at_their_place) {
    refused(JOINT("hinge", ""), "scene.json:3:17",
            "/robot[r]/joint[j]: unknown type \"hinge\" (revolute, continuous, prismatic, fixed, floating, planar)");
    refused(JOINT("continuous", "<axis xyz='0 0 0'/>"), "scene.json:3:81", "the axis has length 0");
    refused(JOINT("continuous", "<axis xyz='0 0'/>"), "scene.json:3:81", "expected three finite numbers");
    refused(JOINT("continuous", "<axis xyz='0 0 1e999'/>"), "scene.json:3:81", "expected three finite numbers");
    refused(JOINT("continuous", "<axis\n\txyz='0 0 0'/>"), "scene.json:4:2", "the axis has length 0");
    refused(JOINT("continuous", "<axis/>"), "scene.json:3:75", "the attribute \"xyz\" is missing");
    refused(JOINT("revolute", "<limit lower='1' upper='0'/>"), "scene.json:3:73", "lower end first");
    refused(JOINT("continuous", "<orign/>"), "scene.json:3:75", "unknown element <orign> in <joint> (did you mean");
    refused(JOINT("continuous", "<limit uper='1'/>"), "scene.json:3:82", "did you mean \"upper\"?");
    refused(ROBOT("<link name='a'/>\n<joint name='j' type='fixed'><parent link='a'/></joint>"), "scene.json:3:1",
            "<child> is missing in <joint>");
}

Test(scene_urdf, text_between_elements_is_passed_over_with_a_warning) {
    warned(ROBOT("twice <link name='a'/>"), "<robot> holds text, where elements are expected: it is passed over");
}

Test(scene_urdf, joints_are_named_as_in_the_file) {
    sim_scene *s =
        load_robot("{'sim': 1, 'instances': [{'file': 'robot.urdf', 'prefix': 'x_'}], 'initial': {'x_j': 0.5}, "
                   "'actuators': [{'joint': '*_j', 'kp': 3}], 'loads': [{'joint': 'x_j', 'value': 2}]}",
                   (const test_file[]){{"robot.urdf", JOINT("continuous", "")}, {NULL, NULL}}, NULL, NULL);
    cr_assert(s->model->q_initial[0] == 0.5 && s->model->nactuator == 1 && s->model->nload == 1);
    cr_assert_str_eq(s->model->actuator[0].name, "x_j");
    sim_scene_free(s);
    /* a joint may be called like the body of another joint: where a joint is asked for, it is meant */
    s = load_robot(
        "{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'name': 'b'}, 'inertia': {'mass': 1, "
        "'moments': [1, 1, 1]}}, {'name': 'b', 'joint': 'hinge', 'inertia': {'mass': 1, 'moments': [1, 1, "
        "1]}}], 'initial': {'b': 0.25}}",
        NULL, NULL, NULL);
    cr_assert_eq(s->model->q_initial[body_of(s, "a")->q0], 0.25);
    sim_scene_free(s);
    refused("{'sim': 1, 'bodies': [{'name': 'a', 'joint': {'type': 'hinge', 'name': 'j'}, 'inertia': {'mass': 1, "
            "'moments': [1, 1, 1]}},\n{'name': 'b', 'joint': {'type': 'hinge', 'name': 'j'}, 'inertia': {'mass': 1, "
            "'moments': [1, 1, 1]}}]}",
            "scene.json:2:50", "a second joint has the name \"j\"");
}

/* ---- the tree ---- */

#define FIXED(name, parent, child)                                                                                     \
    "<joint name='" name "' type='fixed'><parent link='" parent "'/><child link='" child "'/></joint>\n"

Test(scene_urdf, links_and_joints_must_be_one_tree) {
    refused(ROBOT("<link name='a'/><link name='b'/>"), "scene.json:2:23",
            "two links without a joint towards a root: \"a\" and \"b\"");
    refused(ROBOT("<link name='a'/>\n" FIXED("j", "a", "c")), "scene.json:3:55", "there is no link \"c\"");
    refused(ROBOT("<link name='arm'/>\n" FIXED("j", "arn", "arm")), "scene.json:3:38", "did you mean \"arm\"?");
    refused(ROBOT("<link name='a'/><link name='b'/><link name='c'/>\n" FIXED("j", "a", "c") FIXED("k", "b", "c")),
            "scene.json:4:55", "the link \"c\" is the child of two joints, \"j\" and \"k\"");
    refused(ROBOT("<link name='a'/><link name='b'/>\n" FIXED("j", "x", "b") FIXED("k", "a", "b")), "scene.json:3:38",
            "there is no link \"x\"");
    refused(ROBOT("<link name='a'/><link name='b'/>\n" FIXED("j", "a", "b") FIXED("k", "b", "a")), "scene.json:1:1",
            "the joints run in a circle");
    refused(ROBOT("<link name='a'/><link name='b'/><link name='c'/>\n" FIXED("j", "b", "c") FIXED("k", "c", "b")),
            "scene.json:2:23", "the joints of the link \"b\" run in a circle");
    refused(ROBOT("<link name='a'/>\n" FIXED("j", "a", "a")), "scene.json:3:55", "with itself");
    refused(ROBOT("<link name='a'/>\n<link name='a'/>"), "scene.json:3:7", "a second <link> called \"a\"");
    refused(ROBOT("<link name=''/>"), "scene.json:2:7", "the name is empty");
}

Test(scene_urdf, a_root_link_called_world_is_the_world) {
    sim_scene *s =
        load_robot(ROBOT("<link name='world'/><link name='a'>" MASS "</link>"
                         "<joint name='j' type='continuous'><parent link='world'/><child link='a'/></joint>"),
                   NULL, NULL, NULL);
    cr_assert(s->model->nbody == 2 && body_of(s, "a")->parent == 0);
    sim_scene_free(s);
    /* without an element of its own, too */
    s = load_robot(ROBOT("<link name='a'>" MASS "</link>" FIXED("j", "world", "a")), NULL, NULL, NULL);
    cr_assert_eq(s->model->nbody, 2);
    sim_scene_free(s);
}

Test(scene_urdf, the_base_is_fixed_or_moves) {
    const char *text = JOINT("continuous", "");
    const int dofs[3] = {1, 7, 4};
    for (int base = 0; base < 3; base++) {
        /* a root without mass moves if it carries some by a fixed joint */
        sim_import_options import = {.base = (sim_base)base};
        sim_scene *s =
            load_robot(ROBOT("<link name='root'/><link name='base'>" MASS
                             "</link>" FIXED("f", "root", "base") "<link name='arm'>" MASS
                                                                  "</link><joint name='j' type='continuous'><parent "
                                                                  "link='base'/><child link='arm'/></joint>"),
                       NULL, &import, NULL);
        cr_assert_eq(s->model->nv, dofs[base]);
        sim_scene_free(s);
    }
    sim_import_options import = {.base = SIM_BASE_FREE};
    sim_scene_overrides overrides = {.import = &import};
    sim_diagnostics found;
    sim_error error = {0};
    cr_assert(!load_text(text, NULL, &overrides, &found, &error) &&
              strstr(error.text, "\"base\" moves without inertia"));
    sim_diagnostics_free(&found);
}

/* ---- mass ---- */

Test(scene_urdf, links_without_mass_move_only_what_has_some) {
    refused(ROBOT("<link name='a'/>\n<link name='b'/>"
                  "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>"),
            "scene.json:3:7", "the link \"b\" moves, but neither it nor any link that it carries has mass");
    warned(LINK("<inertial><mass value='0'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"), "the mass is 0");
    refused(LINK("<inertial><mass value='-1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"), "scene.json:3:1",
            "mass must be positive");
    /* a point mass turns about an axis that it is not on */
    sim_scene *s = load_robot(ROBOT("<link name='a'/><link name='b'><inertial><origin xyz='0 0 1'/><mass value='1'/>"
                                    "<inertia/></inertial></link><joint name='j' type='continuous'><parent link='a'/>"
                                    "<child link='b'/></joint>"),
                              NULL, NULL, NULL);
    sim_scene_free(s);
}

Test(scene_urdf, moments_that_no_body_has_are_refused_or_repaired) {
    const char *text = LINK("<inertial><mass value='1'/><inertia ixx='0.1' iyy='0.2' izz='0.5'/></inertial>");
    refused(text, "scene.json:3:1", "violate A + B >= C by 40 %");
    /* S = tr J / 2 - J = (0.3, 0.2, -0.1): the nearest is (0.3, 0.2, 0), of J = (0.2, 0.3, 0.5) */
    sim_import_options import = {.repair_inertia = true};
    sim_scene *s = load_robot(text, NULL, &import, NULL);
    sim_sym3 J = body_of(s, "a")->inertia.moment;
    cr_assert(fabs(J.xx - 0.2) < 1e-15 && fabs(J.yy - 0.3) < 1e-15 && fabs(J.zz - 0.5) < 1e-15);
    sim_scene_free(s);
}

/* ---- mimics ---- */

#define SLIDE(name, child, mimic)                                                                                      \
    "<link name='" child "'>" MASS "</link><joint name='" name                                                         \
    "' type='prismatic'><parent link='a'/><child link='" child "'/><limit lower='-1' upper='1'/>" mimic "</joint>\n"

Test(scene_urdf, mimics_follow_and_may_come_first) {
    sim_scene *s = load_robot(ROBOT("<link name='a'/>\n"                                                        /**/
                                    SLIDE("third", "c", "<mimic joint='second' multiplier='-2' offset='0.1'/>") /**/
                                    SLIDE("second", "b", "<mimic joint='first' offset='0.25'/>")                /**/
                                    SLIDE("first", "d", "")),
                              NULL, NULL, NULL);
    cr_assert_eq(s->model->nequality, 2);
    /* they start where 0 of the first has them */
    static const struct {
        const char *joint;
        double q;
    } start[] = {{"first", 0}, {"second", 0.25}, {"third", -0.4}};
    for (int k = 0; k < 3; k++) {
        const sim_body *b = &s->model->body[sim_model_find_joint(s->model, start[k].joint)];
        cr_expect_float_eq(s->model->q_initial[b->q0], start[k].q, 1e-15, "%s", start[k].joint);
    }
    sim_scene_free(s);
    refused(ROBOT("<link name='a'/>\n" SLIDE("x", "b", "<mimic joint='y'/>") SLIDE("y", "c", "<mimic joint='x'/>")),
            "scene.json:3:205", "the mimics run in a circle: \"x\" follows \"y\" follows \"x\"");
    refused(ROBOT("<link name='a'/>\n" SLIDE("v", "f", "<mimic joint='x'/>") SLIDE("x", "b", "<mimic joint='y'/>")
                      SLIDE("y", "c", "<mimic joint='z'/>") SLIDE("z", "d", "<mimic joint='x'/>")),
            "scene.json:4:205", "the mimics run in a circle: \"x\" follows \"y\" follows \"z\" follows \"x\"");
    refused(ROBOT("<link name='a'/>\n" SLIDE("x", "b", "<mimic joint='z'/>")), "scene.json:3:205",
            "there is no joint \"z\"");
    warned(ROBOT("<link name='a'/>\n<link name='b'/><joint name='x' type='fixed'><parent link='a'/><child link='b'/>"
                 "<mimic joint='y'/></joint>" SLIDE("y", "c", "")),
           "a fixed joint follows no other");
}

/* ---- shapes ---- */

#define BOX(origin) origin "<geometry><box size='1 2 3'/></geometry>"

Test(scene_urdf, shapes_are_drawn_or_touch_or_both) {
    sim_scene *s = load_robot(
        LINK("<visual>" BOX(
            "<origin xyz='0 0 1'/>") "<material name='m'><color rgba='1 0 0 1'/></material></visual>"
                                     "<visual><geometry><sphere radius='1'/></geometry><material name='m'/></visual>"
                                     "<collision>" BOX(
                                         "<origin xyz='0 0 1'/>") "</collision>"
                                                                  "<collision><geometry><cylinder radius='1' "
                                                                  "length='2'/></geometry></collision>"),
        NULL, NULL, NULL);
    const sim_shape *shape = s->model->shape;
    cr_assert_eq(s->model->nshape, 3);
    cr_assert(shape[0].type == SIM_BOX && !shape[0].hidden && shape[0].group && shape[0].color[0] == 1);
    cr_assert(shape[1].type == SIM_CYLINDER && shape[1].hidden && shape[1].group);
    cr_assert(shape[2].type == SIM_SPHERE && !shape[2].hidden && !shape[2].group && !shape[2].mask);
    cr_assert_eq(shape[2].color[0], 1);
    sim_scene_free(s);
    /* the first material of a name is that of all */
    s = load_robot(
        LINK("<visual>" BOX("") "<material name='m'><color rgba='1 0 0 1'/></material></visual><visual>" BOX(
            "") "<material name='m'><color rgba='0 1 0 1'/></material></visual><visual>" BOX("") "<material "
                                                                                                 "name='m'/></visual>"),
        NULL, NULL, NULL);
    cr_assert(s->model->shape[1].color[1] == 1 && s->model->shape[2].color[0] == 1 && s->model->shape[2].color[1] == 0);
    sim_scene_free(s);
    /* nothing to draw: what touches is drawn */
    s = load_robot(LINK("<collision>" BOX("") "</collision>"), NULL, NULL, NULL);
    cr_assert(!s->model->shape[0].hidden && s->model->shape[0].group);
    sim_scene_free(s);
    refused(LINK("<visual><geometry/></visual>"), "scene.json:3:9", "expected one element in <geometry>, not 0");
    refused(LINK("<visual><geometry><box size='1 -2 3'/></geometry></visual>"), "scene.json:3:19", "must be");
}

Test(scene_urdf, meshes_are_found_by_package_and_reported_when_absent) {
    const char *text = LINK("<collision><geometry><mesh filename='package://arm/m.obj'/></geometry></collision>");
    refused(text, "scene.json:3:28",
            "there is no file \"arm/m.obj\" (--package NAME=DIR says where a package is; "
            "--allow mesh leaves such shapes out)");
    refused(LINK("<collision><geometry><mesh filename='m.ply'/></geometry></collision>"), "scene.json:3:28",
            "\"m.ply\" is neither an OBJ, STL, COLLADA nor glTF file");
    const char *allow = "mesh";
    sim_import_options import = {.nallow = 1, .allow = &allow};
    sim_scene *s = load_robot(text, NULL, &import, NULL);
    cr_assert_eq(s->model->nshape, 0);
    sim_scene_free(s);
    warned(LINK("<visual><geometry><mesh filename='m.dae'/></geometry></visual>"), "visual meshes are left out (1)");
    warned(LINK("<visual><geometry><sphere radius='0'/></geometry></visual>"),
           "ignored: a visual shape without extent");
    warned(LINK("<visual><geometry><box size='1 0 1'/></geometry></visual>"), "ignored: a visual shape without extent");
    refused(LINK("<collision><geometry><sphere radius='0'/></geometry></collision>"), "scene.json:3:22", "radius");
}

/* ---- what is ignored ---- */

Test(scene_urdf, what_is_ignored_is_said_once_and_refused_if_strict) {
    const char *text = ROBOT("<link name='a'/>\n<gazebo reference='a'><mu1>0.2</mu1></gazebo><gazebo/>");
    warned(text, "scene.json:3:1: warning: /robot[r]/gazebo: <gazebo> is ignored (2 times)");
    sim_import_options import = {.strict = true};
    sim_scene_overrides overrides = {.import = &import};
    sim_diagnostics found;
    sim_error error = {0};
    cr_assert(!load_text(text, NULL, &overrides, &found, &error) && found.count == 1 && !found.item[0].warning);
    sim_diagnostics_free(&found);
}

Test(scene_urdf, what_is_refused_may_be_allowed) {
    const char *text = ROBOT("<link name='a' odd='1'/><loop_joint/><strange/>");
    const char *allow[] = {"odd", "loop_joint", "strange"};
    sim_import_options import = {.nallow = 3, .allow = allow};
    sim_scene *s = load_robot(text, NULL, &import, NULL);
    cr_assert_eq(s->model->nbody, 2);
    sim_scene_free(s);
    refused(ROBOT("<link name='a'/>\n<loop_joint/>"), "scene.json:3:1", "--allow loop_joint leaves it out");
    refused(ROBOT("<link name='a'/>\n<xacro:macro xmlns:xacro='x'/>"), "scene.json:3:1", "xacro FILE > robot.urdf");
}

/* ---- XML ---- */

Test(scene_urdf, allowed_names_that_nothing_has_are_refused) {
    static const struct {
        const char *text, *name, *words; /* words: NULL where the file loads */
    } t[] = {
        {ROBOT("<link name='a'/>"), "colision", "--allow: error: no file refuses \"colision\", and no format has an"},
        {ROBOT("<link name='a'/>"), "colision", "(did you mean \"collision\"?)"},
        {"{'sim': 1}", "colision", "--allow: error: "},
        {ROBOT("<link name='a'/>"), "mesh", NULL},
        {ROBOT("<link name='a'/><colision/>"), "colision", NULL}};
    for (size_t k = 0; k < sizeof t / sizeof t[0]; k++) {
        sim_import_options import = {.nallow = 1, .allow = &t[k].name};
        sim_scene_overrides overrides = {.import = &import};
        sim_diagnostics found;
        sim_error error = {0};
        sim_scene *s = load_text(t[k].text, NULL, &overrides, &found, &error);
        cr_assert_eq(!s, t[k].words != NULL, "%s", error.text);
        cr_assert(s || (found.count == 1 && strstr(error.text, t[k].words)), "%s", error.text);
        sim_diagnostics_free(&found);
        sim_scene_free(s);
    }
}

Test(scene_urdf, options_of_robots_are_refused_where_there_is_none) {
    const char *const package[] = {"arm=robots"};
    const struct {
        sim_import_options import;
        const char *said;
        bool of_main; /* of the file itself */
    } t[] = {{{.base = SIM_BASE_FREE}, "--base: error: the scene itself is no robot", true},
             {{.mesh = SIM_MESH_EXACT}, "--mesh: error: the scene has no robot", false},
             {{.repair_inertia = true}, "--repair-inertia: error: the scene has no robot", false},
             {{.strict = true}, "--strict: error: the scene has no robot", false},
             {{.npackage = 1, .package = package}, "--package: error: the scene has no robot", false}};
    const test_file files[] = {{"r.urdf", ROBOT("<link name='a'/>")}, {NULL, NULL}};
    for (size_t k = 0; k < sizeof t / sizeof t[0]; k++) {
        sim_scene_overrides overrides = {.import = &t[k].import};
        for (int robots = 0; robots < 2; robots++) {
            sim_diagnostics found;
            sim_error error = {0};
            sim_scene *s = load_text(robots ? "{'sim': 1, 'instances': [{'file': 'r.urdf'}]}" : "{'sim': 1}", files,
                                     &overrides, &found, &error);
            bool refused = !robots || t[k].of_main;
            cr_assert_eq(!s, refused, "%s", error.text);
            cr_assert(s || (found.count == 1 && strstr(error.text, t[k].said)), "%s", error.text);
            sim_diagnostics_free(&found);
            sim_scene_free(s);
        }
    }
}

Test(scene_urdf, malformed_xml_is_refused_with_its_place) {
    refused("<robot>\n <link name='a'>\n</robot>", "scene.json:3:3", "mismatched tag; <link> is open");
    refused("<robot>\n<link name='a' name='b'/></robot>", "scene.json:2:16", "duplicate attribute");
    refused("<robot>\n&lol;</robot>", "scene.json:2:1", "undefined entity");
    refused("<!DOCTYPE robot [<!ENTITY a 'b'>]>\n<robot/>", "scene.json:1:1", "DOCTYPE) is not read");
    refused("<!DOCTYPE robot SYSTEM '/etc/passwd'>\n<robot/>", "scene.json:1:1", "DOCTYPE) is not read");
}

Test(scene_urdf, deep_and_wide_files_are_refused) {
    char *text = malloc(20000);
    size_t length = 0;
    for (int k = 0; k < 300; k++) {
        length += (size_t)sprintf(text + length, "<robot>");
    }
    refused(text, "scene.json:1:1401", "nested more than 200 deep");
    free(text);
}

/* ---- as a part of a scene, and as a scene ---- */

Test(scene_urdf, scenes_place_robots_like_any_model) {
    const test_file files[] = {{"robot.urdf", JOINT("continuous", "<origin xyz='0 0 1'/>")}, {NULL, NULL}};
    sim_scene *s =
        load_robot("{'sim': 1, 'instances': [\n{'file': 'robot.urdf', 'prefix': 'left_', 'pose': {'position': "
                   "[0, 1, 0]}},\n{'file': 'robot.urdf', 'prefix': 'right_', 'overrides': "
                   "{'bodies/arm/inertia/mass': 5}}]}",
                   files, NULL, "instances/left_/pose/position/0=3");
    cr_assert_eq(s->model->nbody, 5);
    cr_assert_eq(body_of(s, "right_arm")->inertia.mass, 5);
    cr_assert_eq(body_of(s, "left_base")->placement.p.x, 3);
    sim_scene_free(s);
    const test_file one[] = {{"one.urdf", ROBOT("<link name='base'/>")}, {NULL, NULL}};
    refused_with("{'sim': 1, 'instances': [{'file': 'one.urdf'}, {'file': 'one.urdf'}]}", one, NULL, "one.urdf:2:1",
                 "the name \"base\" is taken (one.urdf:2)");
}

static void run(sim_scene *s, double *end) {
    sim_error error = {0};
    sim_world *w = sim_world_create(s->model, &s->options, &error);
    cr_assert(w, "%s", error.text);
    for (int k = 0; k < 200; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
    memcpy(end, sim_world_state(w)->q, (size_t)s->model->nq * sizeof *end);
    sim_world_free(w);
}

Test(scene_urdf, text_of_a_loaded_robot_is_a_scene_that_moves_alike) {
    sim_error error = {0};
    sim_scene *robot = sim_scene_load("tests/scene/robots/arm.urdf", NULL, NULL, &error);
    cr_assert(robot, "%s", error.text);
    /* a fixed point */
    sim_scene_overrides again = {.names_from = "-"};
    sim_scene *scene = sim_scene_parse(robot->text, robot->text_length, "arm.json", &again, NULL, &error);
    cr_assert(scene, "%s", error.text);
    cr_assert_str_eq(scene->text, robot->text);
    /* the same bits */
    double q[2][64];
    cr_assert_lt(robot->model->nq, 64);
    run(robot, q[0]);
    run(scene, q[1]);
    cr_assert_eq(memcmp(q[0], q[1], (size_t)robot->model->nq * sizeof(double)), 0);
    sim_scene_free(robot);
    sim_scene_free(scene);
}

Test(scene_urdf, errors_of_all_stages_are_said_at_once) {
    refused_at_once(ROBOT("<lnik name='x'/>\n"
                          "<link name='a'><inertial><mass value='abc'/><inertia ixx='1' iyy='1' izz='5'/></inertial>\n"
                          "<collision><geometry><mesh filename='none.stl'/></geometry></collision></link>\n"
                          "<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='5'/></inertial>\n"
                          "<collision><geometry><sphere radius='-1'/></geometry></collision></link>\n"
                          "<link name='c'>" MASS "</link>\n"
                          "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                          "<limit lower='2' upper='1'/></joint>\n"
                          "<joint name='k' type='revolute'><parent link='x'/><child link='d'/><axis xyz='0 0 0'/>"
                          "</joint>\n"
                          "<joint name='l' type='turning'><parent link='b'/><child link='c'/></joint>\n"
                          "<joint name='m' type='revolute'><parent link='b'/><child link='c'/>"
                          "<mimic joint='l'/></joint>"),
                    (const char *const[]){
                        "2:1 unknown element <lnik>", "3:32 expected a finite number for \"value\", not \"abc\"",
                        "4:28 there is no file \"none.stl\"", "5:16 violate A + B >= C", "6:22 /radius: must be from",
                        "8:68 a range needs the lower end first", "9:58 there is no link \"d\"",
                        "9:74 the axis has length 0", "10:17 unknown type \"turning\"", NULL});
}
