/* Models in MJCF: what becomes of their elements, and how wrong ones are refused.  mjcf_oracle.mjs compares with MuJoCo. */
#include "math/angle.h"
#include "math/spatial.h"
#include "mjcf_model.h"

#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sim_body *body_of(const sim_scene *s, const char *name) {
    int i = sim_model_find_body(s->model, name);
    cr_assert(i > 0, "there is no body %s", name);
    return &s->model->body[i];
}

/* ---- joints ---- */

Test(scene_mjcf, joints_of_a_body_become_a_chain) {
    sim_scene *s = load_model(
        BODY("<joint name='x' axis='1 0 0' pos='0 0 1'/><joint name='y' axis='0 1 0' pos='0 2 1'/>" BALL), NULL, NULL);
    cr_assert(s->model->nv == 2 && s->model->nbody == 4);
    const sim_body *x = body_of(s, "x"), *y = body_of(s, "y"), *b = body_of(s, "b");
    cr_assert(x->inertia.mass == 0 && y->inertia.mass == 0 && b->joint == SIM_FIXED);
    cr_assert(close_to(x->placement.p, 0, 0, 1) && close_to(y->placement.p, 0, 2, 0) &&
              close_to(b->placement.p, 0, -2, -1));
    sim_scene_free(s);
    /* the last joint at the origin carries the body itself */
    s = load_model(BODY("<joint name='x' type='slide' axis='1 0 0'/><joint name='y' type='slide' axis='0 1 0'/>"
                        "<joint name='turn'/>" BALL),
                   NULL, NULL);
    cr_assert(s->model->nbody == 4 && body_of(s, "b")->joint == SIM_HINGE && body_of(s, "y")->joint == SIM_SLIDER);
    sim_scene_free(s);
}

Test(scene_mjcf, a_coordinate_at_ref_stands_as_the_file_says) {
    sim_scene *s = load_model(
        MODEL("<compiler angle='radian'/><worldbody><body name='b' pos='0 0 1'><joint axis='0 1 0' ref='0.5'/>" BALL
              "<body name='c' pos='1 0 0'><joint type='slide' axis='0 0 2' ref='-0.25'/>" BALL
              "</body></body></worldbody>"),
        NULL, NULL);
    cr_assert(s->model->q_initial[0] == 0.5 && s->model->q_initial[1] == -0.25);
    sim_derived *d = sim_derived_create(s->model, NULL);
    sim_kinematics(d, sim_all(s->model), s->model->q_initial);
    cr_assert(close_to(d->pose[sim_model_find_body(s->model, "c")].p, 1, 0, 1));
    const double zero[2] = {0, 0};
    sim_kinematics(d, sim_all(s->model), zero); /* turned back by 0.5, and up by 0.25 */
    cr_assert(close_to(d->pose[sim_model_find_body(s->model, "c")].p, cos(0.5) + 0.25 * -sin(0.5), 0,
                       1 + sin(0.5) + 0.25 * cos(0.5)));
    sim_derived_free(d);
    sim_scene_free(s);
}

Test(scene_mjcf, joints_take_their_numbers) {
    sim_scene *s =
        load_model(BODY("<joint range='-90 45' margin='0' stiffness='3' springref='30' damping='0.5' armature='0.1' "
                        "frictionloss='0.2'/>" BALL),
                   NULL, NULL);
    const sim_dof *dof = &s->model->dof[0];
    cr_assert(fabs(dof->limit.low + PI / 2) < 1e-15 && fabs(dof->limit.high - PI / 4) < 1e-15);
    cr_assert(dof->stiffness == 3 && fabs(dof->rest - PI / 6) < 1e-15 && dof->damping == 0.5 && dof->armature == 0.1 &&
              dof->friction == 0.2);
    sim_scene_free(s);
    /* polynomials of springs and dampers */
    s = load_model(BODY("<joint stiffness='3 -2 5' springref='30' damping='0.5 0.1 0.2'/>" BALL), NULL, NULL);
    dof = &s->model->dof[0];
    cr_assert(dof->stiffness == 3 && dof->spring[0] == -2 && dof->spring[1] == 5 && fabs(dof->rest - PI / 6) < 1e-15 &&
              dof->damping == 0.5 && dof->damper[0] == 0.1 && dof->damper[1] == 0.2);
    sim_scene_free(s);
    static const char *const types[] = {"ball", "free"};
    for (int k = 0; k < 2; k++) {
        char text[200];
        snprintf(text, sizeof text, BODY("<joint type='%s' stiffness='0 -2 5' damping='0.5 0.1 0.2'/>" BALL), types[k]);
        s = load_model(text, NULL, NULL);
        dof = &s->model->dof[s->model->nv - 1];
        cr_assert(dof->stiffness == 0 && dof->spring[0] == -2 && dof->spring[1] == 5 && dof->damping == 0.5 &&
                  dof->damper[0] == 0.1 && dof->damper[1] == 0.2);
        sim_scene_free(s);
    }
    /* a margin makes the range smaller; limited="false" takes it away; the flags of <option>, too */
    s = load_model(BODY("<joint type='slide' range='-1 1' margin='0.25'/>" BALL), NULL, NULL);
    cr_assert(s->model->dof[0].limit.low == -0.75 && s->model->dof[0].limit.high == 0.75);
    sim_scene_free(s);
    s = load_model(BODY("<joint type='slide' range='-1 1' limited='false'/>" BALL), NULL, NULL);
    cr_assert(isinf(s->model->dof[0].limit.low));
    sim_scene_free(s);
    s = load_model(
        MODEL("<option><flag limit='disable' damper='disable' gravity='disable' contact='disable'/></option><worldbody>"
              "<body><joint range='0 1' damping='2'/>" BALL "</body></worldbody>"),
        NULL, NULL);
    cr_assert(isinf(s->model->dof[0].limit.low) && s->model->dof[0].damping == 0 && s->model->gravity.z == 0);
    sim_scene_free(s);
}

Test(scene_mjcf, wrong_joints_are_refused_at_their_place) {
    refused(BODY("<joint type='screw'/>"), "scene.json:3:23", "unknown type \"screw\" (free, ball, slide, hinge)");
    refused(BODY("<joint axis='0 0 0'/>"), "scene.json:3:23", "the axis has length 0");
    refused(BODY("<joint axis='0 0'/>"), "scene.json:3:23", "expected three finite numbers for \"axis\"");
    refused(BODY("<joint range='1 0'/>"), "scene.json:3:23", "the range is empty");
    refused(BODY("<joint type='ball' range='1 2'/>"), "scene.json:3:35", "the range of a ball joint begins at 0");
    refused(BODY("<joint damping='1 -2'/>"), "scene.json:3:23", "negative");
    refused(BODY("<joint/><freejoint/>"), "scene.json:3:24", "a free joint is the only joint of its body");
    refused(BODY("<body>\n<freejoint/></body>"), "scene.json:4:1", "a free joint is for bodies of the world");
    refused(BODY("<joint springdampr='1 1'/>"), "scene.json:3:23", "did you mean \"springdamper\"?");
    refused(MODEL("<compiler autolimits='false'/><worldbody>\n<body><joint range='0 1'/></body></worldbody>"),
            "scene.json:3:14", "needs \"limited\"");
    refused(WORLD("<joint/>"), "scene.json:3:1", "unknown element <joint> in <worldbody>");
}

/* Three slides of one body stand; a fourth moves nothing that they do not. */
Test(scene_mjcf, slides_that_depend_on_each_other_are_refused) {
    const char *const slides = "<joint name='x' type='slide' axis='1 0 0'/><joint name='y' type='slide' axis='0 1 0'/>"
                               "<joint name='z' type='slide' axis='0 0 1'/>%s" BALL;
    char inside[400], text[600];
    snprintf(inside, sizeof inside, slides, "");
    snprintf(text, sizeof text, BODY("%s"), inside);
    sim_scene_free(load_model(text, NULL, NULL));
    snprintf(inside, sizeof inside, slides, "<joint name='d' type='slide' axis='1 1 0'/>");
    snprintf(text, sizeof text, BODY("%s"), inside);
    refused(text, "scene.json:3:16", "the body \"x\" moves without inertia: joints that it carries move all its mass");
}

/* ---- defaults ---- */

Test(scene_mjcf, defaults_overlay_from_outer_to_inner_classes) {
    const char *text = MODEL("<default><geom density='100' size='0.1 0.2 0.3'/><default class='big'><geom size='1'/>"
                             "<joint damping='3'/></default></default><worldbody><body name='a' childclass='big'>"
                             "<joint/><geom type='box'/><body name='c'><joint class='main'/><geom class='main'/></body>"
                             "</body></worldbody>");
    sim_scene *s = load_model(text, NULL, NULL);
    /* box of half edges 1, 0.2, 0.3; ball of radius 0.1 */
    cr_assert(fabs(body_of(s, "a")->inertia.mass - 100 * 8 * 0.06) < 1e-12);
    cr_assert(fabs(body_of(s, "c")->inertia.mass - 100 * 4 / 3.0 * PI * 1e-3) < 1e-12);
    cr_assert(s->model->dof[0].damping == 3 && s->model->dof[1].damping == 0);
    sim_scene_free(s);
    refused(MODEL("<worldbody>\n<geom class='none' size='1'/></worldbody>"), "scene.json:3:7",
            "there is no class \"none\"");
    refused(MODEL("<default><default class='arm'/></default><worldbody>\n<body childclass='amr'/></worldbody>"),
            "scene.json:3:7", "there is no class \"amr\" (did you mean \"arm\"?)");
    refused(MODEL("<default>\n<default/></default>"), "scene.json:3:1", "needs a class");
}

/* ---- bodies ---- */

Test(scene_mjcf, copies_stand_in_a_row_with_numbers_in_their_names) {
    sim_scene *s =
        load_model(WORLD("<replicate count='12' offset='1 0 0' sep='-'><frame pos='0 0 2'><body name='b'>" BALL
                         "</body></frame></replicate>"),
                   NULL, NULL);
    cr_assert_eq(s->model->nbody, 13);
    cr_assert(close_to(body_of(s, "b-00")->placement.p, 0, 0, 2) &&
              close_to(body_of(s, "b-11")->placement.p, 11, 0, 2));
    sim_scene_free(s);
    refused(WORLD("<replicate count='0.5'/>"), "scene.json:3:12", "expected a whole number");
    refused(WORLD("<replicate count='2'><body name='b'/></replicate><body name='b0'/>"), "scene.json:3:56",
            "a second body called \"b0\"");
}

/* A name means what the copy has, else the copies around, else what is not copied. */
Test(scene_mjcf, elements_are_copied_with_what_they_name) {
    sim_scene *s = load_model(
        MODEL("<worldbody><site name='hook'/><replicate count='2' offset='0 1 0'><site name='up' pos='0 0 2'/>"
              "<replicate count='2' offset='1 0 0'><body name='b'><joint name='j'/>" BALL
              "<site name='tip' pos='0 0 1'/></body></replicate></replicate>"
              "<replicate count='2'><body name='c'><joint name='k'/>" BALL "</body></replicate></worldbody>"
              "<tendon><spatial name='s'><site site='up'/><site site='tip'/></spatial><spatial name='t'>"
              "<site site='hook'/><site site='tip01'/></spatial></tendon><actuator><motor name='m' joint='k'/>"
              "<motor name='p' tendon='s'/></actuator><contact><exclude body1='b' body2='c1'/></contact>"),
        NULL, NULL);
    static const char *const tendons[] = {"t", "s00", "s10", "s01", "s11"}, *const drives[] = {"m0", "m1"};
    cr_assert(s->model->ntendon == 5 && s->model->nactuator == 6 && s->model->nexclusion == 4);
    for (int k = 0; k < 5; k++) {
        bool there = false;
        for (int i = 0; i < 5; i++) {
            there |= strcmp(s->model->tendon[i].name, tendons[k]) == 0;
        }
        cr_assert(there, "%s", tendons[k]);
    }
    for (int k = 0; k < 2; k++) {
        bool there = false;
        for (int i = 0; i < 6; i++) {
            there |= strcmp(s->model->actuator[i].name, drives[k]) == 0;
        }
        cr_assert(there, "%s", drives[k]);
    }
    sim_scene_free(s);
    refused(MODEL("<worldbody><site name='up'/><replicate count='2'><site name='a'/></replicate></worldbody>\n"
                  "<equality><connect site1='a' site2='up1'/></equality>"),
            "scene.json:3:20", "there is no site \"a\"");
}

Test(scene_mjcf, attached_models_keep_their_options_and_take_a_prefix) {
    const test_file files[] = {
        {"leg.xml",
         MODEL("<compiler angle='radian'/><default><joint axis='0 1 0'/></default><worldbody><body name='leg'>"
               "<joint name='knee' range='0 1'/>" BALL "</body></worldbody>")},
        {NULL, NULL}};
    sim_scene *s =
        load_model(MODEL("<asset><model name='leg' file='leg.xml'/></asset><worldbody><frame pos='0 1 0'>"
                         "<attach model='leg' prefix='l_'/></frame><attach model='leg' body='leg' prefix='r/'/>"
                         "</worldbody>"),
                   files, NULL);
    cr_assert(close_to(body_of(s, "l_leg")->placement.p, 0, 1, 0) && s->model->dof[0].limit.high == 1);
    cr_assert(close_to(body_of(s, "r_leg")->axis, 0, 1, 0));
    sim_scene_free(s);
    s = load_model(MODEL("<asset><model file='leg.xml'/></asset><worldbody><attach model='MuJoCo Model' prefix='a_'/>"
                         "</worldbody>"),
                   files, NULL);
    cr_assert(close_to(body_of(s, "a_leg")->placement.p, 0, 0, 0));
    sim_scene_free(s);
    /* a frame of it */
    const test_file framed[] = {{"leg.xml", WORLD("<frame name='hip' pos='0 0 1'><body name='leg'><joint/>" BALL
                                                  "</body></frame><body name='rest'/>")},
                                {NULL, NULL}};
    s = load_model(MODEL("<asset><model name='leg' file='leg.xml'/></asset><worldbody><frame pos='0 1 0'>"
                         "<attach model='leg' frame='hip' prefix='l_'/></frame></worldbody>"),
                   framed, NULL);
    cr_assert(s->model->nbody == 2 && close_to(body_of(s, "l_leg")->placement.p, 0, 1, 1));
    sim_scene_free(s);
    /* a frame of its own, twice: what names nothing beside it comes along, and the classes around it hold */
    s = load_model(MODEL("<default><default class='heavy'><geom mass='3'/></default></default><worldbody>"
                         "<body name='hip' childclass='heavy'><joint name='turn'/>" BALL
                         "<body name='leg' pos='1 0 0'><joint name='knee'/>" BALL "</body></body>"
                         "<frame pos='0 5 0'><attach body='leg' prefix='l_'/></frame></worldbody><actuator>"
                         "<motor name='one' joint='turn'/><motor name='two' joint='knee'/></actuator>"
                         "<equality><joint joint1='turn' joint2='knee'/></equality>"),
                   NULL, NULL);
    cr_assert(s->model->nv == 3 && s->model->nactuator == 3 && s->model->nequality == 1);
    cr_assert(sim_model_find_actuator(s->model, "l_two") == 2 && sim_model_find_actuator(s->model, "l_one") < 0);
    cr_assert(body_of(s, "l_leg")->inertia.mass == 3 && close_to(body_of(s, "l_leg")->placement.p, 1, 5, 0));
    sim_scene_free(s);
    refused_with(WORLD("<attach prefix='l_'/>"), NULL, NULL, "scene.json:3:1",
                 "name a `model`, or a `body` or `frame`");
    refused_with(WORLD("<frame name='f'><body/><attach frame='f' prefix='l_'/></frame>"), NULL, NULL, "scene.json:3:24",
                 "attached more than 32 deep");
    refused_with(
        MODEL(
            "<asset><model name='leg' file='none.xml'/></asset><worldbody><attach model='leg' prefix=''/></worldbody>"),
        files, NULL, "scene.json:2:26", "No such file");
    refused_with(MODEL("<worldbody><attach model='leg' prefix=''/></worldbody>"), files, NULL, "scene.json:2:20",
                 "there is no model \"leg\"");
}

Test(scene_mjcf, includes_take_their_place_and_errors_name_their_file) {
    const test_file files[] = {{"part.xml", "<mujoco>\n<body name='in'><freejoint/>" BALL "</body></mujoco>"},
                               {"wrong.xml", "<mujoco>\n<geom size='-1'/></mujoco>"},
                               {"late.xml", "<mujoco>\n<body name='x'><joint/>\n<inertial pos='0 0 0' mass='1' "
                                            "diaginertia='1 1 3'/></body></mujoco>"},
                               {NULL, NULL}};
    sim_scene *s = load_model(WORLD("<include file='part.xml'/>"), files, NULL);
    cr_assert_eq(body_of(s, "in")->joint, SIM_FREE);
    sim_scene_free(s);
    refused_with(WORLD("<include file='wrong.xml'/>"), files, NULL, "wrong.xml:2:7", "a sphere needs 1 size above 0");
    refused_with(WORLD("<include file='late.xml'/>"), files, NULL, "late.xml:3:1", "violate A + B >= C");
    refused_with(WORLD("<include file='none.xml'/>"), files, NULL, "scene.json:3:10", "No such file");
    refused_with(WORLD("<include file='part.xml'/>\n<include file='part.xml'/>"), files, NULL, "scene.json:4:10",
                 "is included a second time");
}

/* ---- mass ---- */

Test(scene_mjcf, masses_follow_the_compiler) {
    const char *one =
        "<worldbody><body name='a'><freejoint/>"
        "<inertial pos='0 0 0' mass='2' diaginertia='1 2 4'/><geom type='box' size='0.1 0.1 0.1' density='500'/>"
        "</body></worldbody></mujoco>";
    char text[1000];
    snprintf(text, sizeof text, "<mujoco><compiler balanceinertia='true'/>%s", one);
    sim_scene *s = load_model(text, NULL, NULL);
    sim_sym3 J = body_of(s, "a")->inertia.moment;
    cr_assert(fabs(J.xx - 7 / 3.0) < 1e-15 && fabs(J.zz - 7 / 3.0) < 1e-15);
    sim_scene_free(s);
    snprintf(text, sizeof text, "<mujoco><compiler inertiafromgeom='true' settotalmass='10'/>%s", one);
    s = load_model(text, NULL, NULL);
    cr_assert(fabs(body_of(s, "a")->inertia.mass - 10) < 1e-14);
    sim_scene_free(s);
    /* geoms of no group that counts leave the body its own */
    snprintf(text, sizeof text, "<mujoco><compiler inertiafromgeom='true' inertiagrouprange='1 5'/>%s", one);
    s = load_model(text, NULL, &(sim_import_options){.repair_inertia = true});
    cr_assert_eq(body_of(s, "a")->inertia.mass, 2);
    sim_scene_free(s);
    snprintf(text, sizeof text, "<mujoco><compiler boundmass='3' boundinertia='3'/>%s", one);
    s = load_model(text, NULL, NULL);
    J = body_of(s, "a")->inertia.moment;
    cr_assert(body_of(s, "a")->inertia.mass == 3 && J.xx == 3 && J.yy == 3 && J.zz == 4);
    sim_scene_free(s);
}

/* ---- contacts ---- */

static bool shapes_touch(const sim_scene *s, const char *first, const char *second) {
    const sim_shape *a = NULL, *b = NULL;
    for (int k = 0; k < s->model->nshape; k++) {
        const sim_shape *shape = &s->model->shape[k];
        a = strcmp(shape->name, first) == 0 ? shape : a;
        b = strcmp(shape->name, second) == 0 ? shape : b;
    }
    cr_assert(a && b);
    return (a->mask & b->group) && (b->mask & a->group);
}

/* Of two geoms the greater condim counts, with the greater coefficients of both; that of a <pair> before them. */
Test(scene_mjcf, condim_4_brings_torsional_and_6_rolling_friction) {
    sim_scene *s = load_model(
        MODEL("<worldbody><geom name='floor' type='plane' friction='0.9 0.02 0.003'/>"
              "<body pos='0 0 1'><freejoint/><geom name='three' size='0.1'/></body>"
              "<body pos='0 0 2'><freejoint/><geom name='four' size='0.1' condim='4' friction='0.9 0.01 0.001'/></body>"
              "<body pos='0 0 3'><freejoint/><geom name='six' size='0.1' condim='6' friction='0.9 0.03 0.002'/></body>"
              "<body pos='0 0 4'><freejoint/><geom name='paired' size='0.1' contype='0' conaffinity='0'/></body>"
              "</worldbody><contact><pair geom1='floor' geom2='paired' condim='6' "
              "friction='0.9 0.9 0.05 0.006 0.006'/></contact>"),
        NULL, NULL);
    static const double due[][2] = {{0, 0}, {0.02, 0}, {0.03, 0.003}, {0.05, 0.006}};
    const sim_model *m = s->model;
    for (int k = 0; k < 4; k++) {
        sim_material_pair both = sim_material_together(m, m->shape[0].material, m->shape[1 + k].material);
        cr_expect_eq(both.torsion, due[k][0], "geom %d: torsion %g", k, both.torsion);
        cr_expect_eq(both.rolling, due[k][1], "geom %d: rolling %g", k, both.rolling);
    }
    sim_scene_free(s);
}

Test(scene_mjcf, geoms_touch_as_their_bits_and_pairs_say) {
    sim_scene *s = load_model(MODEL("<worldbody><geom name='floor' type='plane'/><body pos='0 0 3'><freejoint/>"
                                    "<geom name='one' size='0.1' contype='2' conaffinity='0'/><geom name='two' "
                                    "size='0.1' contype='0' conaffinity='2'/>"
                                    "<geom name='none' size='0.1' contype='0' conaffinity='0'/>"
                                    "<geom name='paired' size='0.1' contype='0' conaffinity='0'/></body></worldbody>"
                                    "<contact><pair geom1='floor' geom2='paired' friction='0.3'/></contact>"),
                              NULL, NULL);
    cr_assert(shapes_touch(s, "one", "two") && shapes_touch(s, "floor", "paired"));
    cr_assert(!shapes_touch(s, "one", "floor") && !shapes_touch(s, "one", "one") && !shapes_touch(s, "none", "floor") &&
              !shapes_touch(s, "paired", "one"));
    sim_scene_free(s);
}

Test(scene_mjcf, friction_is_the_greater_one_or_that_of_the_priority) {
    sim_scene *s = load_model(
        WORLD("<geom type='plane' friction='0.9'/><body pos='0 0 1'><freejoint/><geom size='0.1' friction='0.4'/>"
              "</body><body pos='0 0 2'><freejoint/><geom size='0.1' friction='0.1' priority='1'/></body>"
              "<body pos='0 0 3'><freejoint/><geom size='0.1' condim='1' friction='2'/></body>"),
        NULL, NULL);
    const sim_shape *shape = s->model->shape;
    const sim_model *m = s->model;
    cr_assert_eq(sim_material_together(m, shape[0].material, shape[1].material).friction, 0.9);
    cr_assert_eq(sim_material_together(m, shape[0].material, shape[2].material).friction, 0.1);
    cr_assert_eq(sim_material_together(m, shape[0].material, shape[3].material).friction, 2);
    cr_assert_eq(sim_material_together(m, shape[3].material, shape[3].material).friction, 0);
    sim_scene_free(s);
}

Test(scene_mjcf, a_body_does_not_touch_the_one_that_carries_it_over_several_joints) {
    sim_scene *s =
        load_model(WORLD("<body name='a' pos='0 0 1'><freejoint/>" BALL "<body name='hand'>" BALL
                         "</body><body name='b'><joint name='x'/><joint name='y' axis='1 0 0'/>" BALL "</body></body>"),
                   NULL, NULL);
    cr_assert_eq(s->model->nexclusion, 2);
    sim_scene_free(s);
}

/* ---- softness ---- */

/* A slide of mass 2; constant impedance 0.9: k = 1/(0.9^2 T^2), K = d^2 k m / (1 - d), dissipation b / (d k). */
Test(scene_mjcf, soft_constraints_become_springs_by_their_definition) {
    sim_scene *s = load_model(
        MODEL("<worldbody><body><joint type='slide' range='-1 1' solreflimit='0.02 1' solimplimit='0.9 0.9 0.001'/>"
              "<geom size='0.1' mass='2'/></body></worldbody>"),
        NULL, NULL);
    double k = 1 / (0.81 * 0.0004), b = 2 / (0.9 * 0.02);
    cr_assert(fabs(s->model->dof[0].limit.stiffness / (0.81 * k * 2 / 0.1) - 1) < 1e-12);
    cr_assert(fabs(s->model->dof[0].limit.dissipation / (b / (0.9 * k)) - 1) < 1e-12);
    sim_scene_free(s);
    /* a ball of mass 3 has the inverse mass 1/3; on a rigid floor its surface alone is soft */
    s = load_model(
        WORLD("<geom type='plane'/><body pos='0 0 1'><freejoint/><geom size='0.1' mass='3' solref='-1000 -20' "
              "solimp='0.8 0.8 0.001'/></body>"),
        NULL, NULL);
    sim_material_pair both = sim_material_together(s->model, s->model->shape[0].material, s->model->shape[1].material);
    k = 1000 / 0.64;
    b = 20 / 0.8;
    cr_assert(fabs(both.stiffness / (0.64 * k * 3 / 0.2) - 1) < 1e-12 &&
              fabs(both.dissipation / (b / (0.8 * k)) - 1) < 1e-12);
    sim_scene_free(s);
    warned(WORLD("<geom type='plane'/><body pos='0 0 1'><freejoint/><geom size='0.1' mass='3' solref='0.1'/></body>"),
           "solref and solimp of 1 surfaces become stiffness");
}

Test(scene_mjcf, springs_by_time_and_ratio_take_the_inertia_of_the_joint) {
    sim_scene *s = load_model(MODEL("<worldbody><body><joint name='j' type='slide' springdamper='0.5 0.8'/>"
                                    "<geom size='0.1' mass='2'/></body></worldbody>"
                                    "<actuator><position joint='j' kp='8' dampratio='0.5' gear='2'/></actuator>"),
                              NULL, NULL);
    cr_assert(fabs(s->model->dof[0].stiffness - 2 / (0.25 * 0.64)) < 1e-12 &&
              fabs(s->model->dof[0].damping - 8) < 1e-12);
    /* of the length l = 2 q the inertia is 2/4 */
    cr_assert(fabs(s->model->actuator[0].bias[2] + 2 * 0.5 * sqrt(8 * 2 / 4.0)) < 1e-12);
    sim_scene_free(s);
}

/* ---- what is ignored, and what is refused ---- */

Test(scene_mjcf, what_is_ignored_is_said_once_for_each_reason) {
    warned(WORLD("<light/><light/><geom size='1' user='1 2' group='1'/>"), "ignored: <light> (2 times), geom/user");
    warned(MODEL("<option iterations='3'/>"), "the attribute \"iterations\" of <option> is ignored");
    sim_import_options import = {.strict = true};
    sim_scene_overrides overrides = {.import = &import};
    sim_diagnostics found;
    sim_error error = {0};
    cr_assert(!load_text(WORLD("<light/>"), NULL, &overrides, &found, &error) && found.count == 1);
    sim_diagnostics_free(&found);
}

#define SWITCHED(flag, inside)                                                                                         \
    MODEL("<option>\n<flag " flag "/></option><worldbody>\n<body>" inside "</body></worldbody>")
Test(scene_mjcf, what_is_refused_is_named_and_may_be_allowed) {
    refused(SWITCHED("override='enable'", BALL), "scene.json:3:7",
            "the attribute \"override\" of <flag> is not supported (it replaces the parameters of all contacts; "
            "--allow override");
    refused(WORLD("<composite/>"), "scene.json:3:1",
            "<composite> is not supported (write its bodies; --allow composite");
    sim_scene *s = load_model(SWITCHED("override='disable'", BALL), NULL, NULL);
    sim_scene_free(s);
    const char *allow[] = {"override", "composite"};
    sim_import_options import = {.nallow = 2, .allow = allow};
    s = load_model(SWITCHED("override='enable'", BALL "<composite/>"), NULL, &import);
    sim_scene_free(s);
    refused("<mujoco>\n<geom/></mujoco>", "scene.json:2:1", "unknown element <geom> in <mujoco>");
}

Test(scene_mjcf, several_errors_are_reported_at_once) {
    sim_diagnostics found;
    sim_error error = {0};
    sim_scene *s = load_text(WORLD("<body><joint axis='0 0 0'/><geom size='0'/><geom class='x' size='1'/></body>"),
                             NULL, NULL, &found, &error);
    cr_assert(!s && found.count == 3, "%d errors", found.count);
    sim_diagnostics_free(&found);
}

Test(scene_mjcf, hostile_models_are_refused_in_time) {
    refused(WORLD("<replicate count='1000000'><replicate count='1000000'><geom size='1'/></replicate></replicate>"),
            "scene.json:3:28", "more than 200000 bodies");
    const test_file self[] = {
        {"m.xml", MODEL("<asset><model name='m' file='m.xml'/></asset><worldbody><body><attach model='m' "
                        "prefix='a'/></body></worldbody>")},
        {NULL, NULL}};
    refused_with("{'sim': 1, 'instances': [{'file': 'm.xml'}]}", self, NULL, "m.xml:2:63",
                 "attached more than 32 deep");
    refused("<!DOCTYPE mujoco [<!ENTITY a 'b'>]>\n<mujoco/>", "scene.json:1:1", "DOCTYPE) is not read");
}

/* ---- as a part of a scene, and as a scene ---- */

Test(scene_mjcf, scenes_place_models_like_any_other) {
    const test_file files[] = {{"arm.xml", BODY("<joint name='j'/>" BALL)}, {NULL, NULL}};
    sim_scene *s =
        load_model("{'sim': 1, 'instances': [{'file': 'arm.xml', 'prefix': 'left_', 'pose': {'position': [0, 1, 0]}}],"
                   "'initial': {'left_j': 0.5}}",
                   files, NULL);
    cr_assert(close_to(body_of(s, "left_b")->placement.p, 0, 1, 0) && s->model->q_initial[0] == 0.5);
    sim_scene_free(s);
}

static void run(const sim_scene *s, double *end) {
    sim_error error = {0};
    sim_world *w = sim_world_create(s->model, &s->options, &error);
    cr_assert(w, "%s", error.text);
    for (int k = 0; k < 200; k++) {
        cr_assert_eq(sim_world_step(w, &error), SIM_OK, "%s", error.text);
    }
    memcpy(end, sim_world_state(w)->q, (size_t)s->model->nq * sizeof *end);
    sim_world_free(w);
}

Test(scene_mjcf, the_scene_of_a_model_moves_alike_to_the_bit) {
    static const char *const path[] = {"tests/scene/robots/walker.xml", "tests/scene/robots/forms.xml"};
    for (int k = 0; k < 2; k++) {
        sim_error error = {0};
        sim_scene_overrides overrides = {.names_from = "tests/scene/robots/x.json"};
        sim_scene *model = sim_scene_load(path[k], &overrides, NULL, &error);
        cr_assert(model, "%s", error.text);
        sim_scene *scene =
            sim_scene_parse(model->text, model->text_length, "tests/scene/robots/x.json", &overrides, NULL, &error);
        cr_assert(scene, "%s", error.text);
        cr_assert_str_eq(scene->text, model->text);
        double *a = calloc(2 * (size_t)model->model->nq, sizeof *a), *b = a + model->model->nq;
        run(model, a);
        run(scene, b);
        cr_assert_eq(memcmp(a, b, (size_t)model->model->nq * sizeof *a), 0);
        free(a);
        sim_scene_free(scene);
        sim_scene_free(model);
    }
}

Test(scene_mjcf, surfaces_move_and_adhere) {
    sim_scene *s = load_model(
        WORLD("<geom type='box' size='1 1 1' euler='0 0 90' surfacevel='1 0 0 0 2 0' adhesion='3'/>"
              "<body pos='0 0 2'><freejoint/><geom size='0.1' adhesion='4' gap='0.01'/><geom size='0.1' adhesion='4' "
              "gap='0.01'/></body>"),
        NULL, NULL);
    const sim_shape *shape = s->model->shape;
    cr_assert(close_to(shape[0].surface_velocity, 0, 1, 0) && close_to(shape[0].surface_spin, -2, 0, 0));
    sim_material_pair both = sim_material_together(s->model, shape[0].material, shape[1].material);
    cr_assert(both.adhesion == 7 && both.adhesion_range == 0.01);
    both = sim_material_together(s->model, shape[1].material, shape[2].material);
    cr_assert(both.adhesion == 8);
    sim_scene_free(s);
    refused(WORLD("<geom size='1' adhesion='-1'/>"), "scene.json:3:16", "the adhesion is negative");
}

Test(scene_mjcf, errors_of_all_stages_are_said_at_once) {
    refused_at_once(
        "<mujoco><worldbody><geom type='plane' size='abc'/>\n"
        "<body name='a'><joint name='ja' frictin='3'/><geom size='0.1'/>\n"
        "<body name='b'><joint name='jb' range='1 x'/><inertial mass='1' pos='0 0 0' diaginertia='1 1 5'/></body>\n"
        "<body name='c'><joint axis='0 0 0'/><geom name='g' size='-1'/></body>\n"
        "<body name='d'><inertial mass='-1' pos='0 0 0' diaginertia='1 1 1'/></body></body></worldbody>\n"
        "<contact><pair geom1='g' geom2='h'/></contact>\n"
        "<tendon><fixed><joint joint='jx' coef='1'/></fixed><fixed><joint joint='jy' coef='1'/></fixed></tendon>\n"
        "<actuator><motor joint='jz'/><moter joint='ja'/></actuator></mujoco>",
        (const char *const[]){"1:39 finite numbers for \"size\", not \"abc\"", "2:33 unknown attribute \"frictin\"",
                              "3:33 expected two finite numbers for \"range\"", "3:46 violate A + B >= C",
                              "4:23 the axis has length 0", "4:52 a sphere needs 1 size above 0",
                              "5:26 the mass is negative", "6:26 there is no geom \"h\"",
                              "7:23 there is no joint \"jx\"", "7:66 there is no joint \"jy\"",
                              "8:18 there is no joint \"jz\"", "8:30 unknown element <moter>", NULL});
}

Test(scene_mjcf, pairs_that_cannot_touch_are_named) {
    const char *text =
        WORLD("<body name='a'><freejoint/><geom name='g' size='0.1'/><body><geom name='h' size='0.1'/>"
              "</body><body><joint/><joint axis='1 0 0'/><geom name='k' size='0.1'/></body></body></worldbody>\n"
              "<contact><pair geom1='g' geom2='%c'/></contact><worldbody>");
    char fixed[600], hung[600];
    snprintf(fixed, sizeof fixed, text, 'h');
    snprintf(hung, sizeof hung, text, 'k');
    warned(fixed, "ignored: a pair of geoms of bodies that are fixed to each other");
    refused(hung, "scene.json:4:10",
            "contacts of a body with its parent over several joints are not supported (--allow pair leaves it out)");
    sim_scene_free(load_model(hung, NULL, &(sim_import_options){.nallow = 1, .allow = (const char *[]){"pair"}}));
}

/* A turned body on a free joint with a spring of k: it swings about its pose with sqrt(k/m), and turns with sqrt(k/I).
 * x, turn: its place and angle after 0.4 s. */
static void swing_free(const char *step, double *x, double *turn) {
    char text[400];
    snprintf(
        text, sizeof text,
        "<mujoco><option gravity='0 0 0' timestep='%s'/><worldbody><body name='b' pos='1 2 3' euler='0 0 50'><joint "
        "name='j' type='free' stiffness='8'/><geom size='0.5' mass='2'/></body></worldbody></mujoco>",
        step);
    sim_scene *s = load_model(text, NULL, NULL);
    cr_assert_eq(s->model->dof[0].stiffness, 8);
    cr_assert_eq(s->model->dof[5].stiffness, 8);
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    cr_assert_not_null(w);
    /* from rest beside it, turned by 0.2 about its x */
    sim_state at = *sim_world_state(w);
    double q[7];
    memcpy(q, at.q, sizeof q);
    sim_quat turned = quat_product((sim_quat){q[3], q[4], q[5], q[6]}, (sim_quat){cos(0.1), sin(0.1), 0, 0});
    memcpy(q + 3, &(double[4]){turned.w, turned.x, turned.y, turned.z}, 4 * sizeof *q);
    q[0] += 0.3;
    at.q = q;
    cr_assert_eq(sim_world_set_state(w, &at, NULL), SIM_OK);
    while (sim_world_state(w)->time < 0.4 - 1e-9) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    const double *now = sim_world_state(w)->q;
    sim_quat back = quat_product((sim_quat){cos(PI * 25 / 180), 0, 0, -sin(PI * 25 / 180)},
                                 (sim_quat){now[3], now[4], now[5], now[6]});
    *x = now[0];
    *turn = 2 * asin(back.x);
    cr_expect(fabs(back.y) < 1e-9 && fabs(back.z) < 1e-9);
    sim_world_free(w);
    sim_scene_free(s);
}

/* The error falls with the square of the step, and the limit is the swing.  I = 2/5 m r^2 = 0.2 kg m^2. */
Test(scene_mjcf, a_spring_of_a_free_joint_holds_its_body_at_the_reference) {
    static const char *const step[3] = {"0.002", "0.001", "0.0005"};
    double x[3], turn[3];
    for (int k = 0; k < 3; k++) {
        swing_free(step[k], &x[k], &turn[k]);
    }
    /* each half step quarters the error; without it the swing remains */
    const double due[2] = {1 + 0.3 * cos(0.8), 0.2 * cos(sqrt(40) * 0.4)};
    for (int of = 0; of < 2; of++) {
        const double *y = of ? turn : x;
        cr_expect_float_eq((y[0] - due[of]) / (y[1] - due[of]), 4, 0.1, "%.12g %.12g", y[0], y[1]);
        cr_expect_float_eq((4 * y[2] - y[1]) / 3, due[of], 1e-9, "%.12g, not %.12g", (4 * y[2] - y[1]) / 3, due[of]);
    }
}
