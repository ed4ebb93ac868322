/* Models in MJCF: actuators, keyframes, tendons, sensors. */
#include "math/angle.h"
#include "math/spatial.h"
#include "mjcf_model.h"

#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- actuators and keyframes ---- */

#define DRIVEN(inside)                                                                                                 \
    MODEL("<compiler angle='radian'/><default><position ctrlrange='-2 2'/><default class='hard'><general gear='3'/>"   \
          "<motor forcerange='-5 6'/></default></default>"                                                             \
          "<worldbody><body><joint name='j' range='-1 3'/>" BALL "</body></worldbody><actuator>\n" inside              \
          "</actuator>")

static void is_law(const char *text, double gear, const double gain[3], const double bias[3], const double ctrl[2]) {
    sim_scene *s = load_model(text, NULL, NULL);
    const sim_actuator *a = &s->model->actuator[0];
    cr_assert_eq(s->model->nactuator, 1);
    cr_assert_eq(a->gear, gear);
    for (int k = 0; k < 3; k++) {
        cr_assert(a->gain[k] == gain[k] && a->bias[k] == bias[k], "%s", text);
    }
    cr_assert(a->ctrl_range[0] == ctrl[0] && a->ctrl_range[1] == ctrl[1]);
    sim_scene_free(s);
}

Test(scene_mjcf, shortcuts_become_the_general_law_and_share_defaults) {
    const double two[2] = {-2, 2}, none[2] = {-INFINITY, INFINITY}, zero[3] = {0};
    is_law(DRIVEN("<motor joint='j' gear='50'/>"), 50, (const double[]){1, 0, 0}, zero, two);
    is_law(DRIVEN("<position joint='j' kp='20' kv='3'/>"), 1, (const double[]){20, 0, 0}, (const double[]){0, -20, -3},
           two);
    is_law(DRIVEN("<position class='hard' joint='j' inheritrange='0.5' ctrllimited='false' kp='7'/>"), 3,
           (const double[]){7, 0, 0}, (const double[]){0, -7, 0}, (const double[]){0, 2});
    is_law(DRIVEN("<velocity joint='j' kv='4' ctrllimited='false'/>"), 1, (const double[]){4, 0, 0},
           (const double[]){0, 0, -4}, none);
    is_law(DRIVEN("<damper joint='j' kv='4' ctrlrange='0 1'/>"), 1, (const double[]){0, 0, -4}, zero,
           (const double[]){0, 1});
    is_law(DRIVEN("<general joint='j' gaintype='affine' gainprm='1 2 3' biastype='affine' biasprm='4 5 -6'/>"), 1,
           (const double[]){1, 2, 3}, (const double[]){4, 5, -6}, two);
    /* the pressure of a cylinder follows a filter, and an integral stays in its range */
    sim_scene *s = load_model(DRIVEN("<cylinder joint='j' timeconst='0.3' diameter='2' class='hard'/>"
                                     "<intvelocity joint='j' kp='5' actrange='-1 1'/>"),
                              NULL, NULL);
    const sim_actuator *a = s->model->actuator;
    cr_assert(a[0].activation.type == SIM_FILTERED && a[0].activation.time_constant[0] == 0.3);
    cr_assert(fabs(a[0].gain[0] - PI) < 1e-15 && a[0].gear == 3 && a[0].force_range[0] == -5 &&
              a[0].force_range[1] == 6);
    cr_assert(a[1].activation.type == SIM_INTEGRATED && a[1].activation.range[1] == 1);
    sim_scene_free(s);
}

/* ---- fluid ---- */

#define IN_WATER(inside)                                                                                               \
    MODEL("<option density='1000' viscosity='0.5' wind='1 2 3'/><worldbody>\n"                                         \
          "<body name='b'><freejoint/>" inside "</body></worldbody>")

Test(scene_mjcf, a_fluid_resists_boxes_of_inertia_and_ellipsoids) {
    /* a cube that is turned has the axes of its geom; a long box those of its inertia */
    sim_scene *s = load_model(IN_WATER("<geom type='box' size='0.1 0.1 0.1' euler='0 0 30'/>"), NULL, NULL);
    const sim_model *m = s->model;
    cr_assert(m->fluid.density == 1000 && m->fluid.viscosity == 0.5 && m->fluid.wind.z == 3);
    cr_assert(m->ndrag == 1 && m->drag[0].type == SIM_DRAG_BOX && m->drag[0].body == 1);
    cr_assert(close_to(m->drag[0].pose.R.x, cos(PI / 6), 0.5, 0));
    for (int k = 0; k < 3; k++) {
        cr_expect_float_eq(m->drag[0].size[k], 0.2, 1e-15);
    }
    sim_scene_free(s);
    /* geoms with ellipsoids replace the box */
    s = load_model(IN_WATER("<geom type='capsule' size='0.1 0.3' fluidshape='ellipsoid' fluidcoef='1 2' pos='1 0 0'/>"
                            "<geom type='box' size='0.1 0.2 0.3' fluidshape='ellipsoid'/><geom size='1'/>"),
                   NULL, NULL);
    m = s->model;
    cr_assert(m->ndrag == 2 && m->drag[0].type == SIM_DRAG_ELLIPSOID && m->drag[1].type == SIM_DRAG_ELLIPSOID);
    cr_expect(m->drag[0].size[1] == 0.1 && m->drag[0].size[2] == 0.4 && m->drag[0].pose.p.x == 1);
    cr_expect(m->drag[0].blunt == 1 && m->drag[0].slender == 2 && m->drag[0].angular == 1.5);
    cr_expect(m->drag[1].size[0] == 0.1 && m->drag[1].size[1] == 0.2 && m->drag[1].size[2] == 0.3);
    sim_scene_free(s);
    /* a mesh reaches along its principal axes from its centre of mass: a pyramid 6 high */
    s = load_model(
        MODEL("<option density='1'/><asset><mesh name='m' builtin='cone' params='4 0' scale='1 2 3'/></asset>"
              "<worldbody><body><freejoint/><geom type='mesh' mesh='m' pos='0 0 1' fluidshape='ellipsoid'/>"
              "</body></worldbody>"),
        NULL, NULL);
    m = s->model;
    cr_assert(m->ndrag == 1 && m->drag[0].type == SIM_DRAG_ELLIPSOID && close_to(m->drag[0].pose.p, 0, 0, -0.5));
    const double reach[3] = {1, 2, 4.5};
    for (int k = 0; k < 3; k++) {
        cr_expect_float_eq(m->drag[0].size[k], reach[k], 1e-12);
    }
    sim_scene_free(s);
    /* without passive forces there is none; an empty list says so of a body in a scene */
    s = load_model("<mujoco><option density='1'><flag passive='disable'/></option><worldbody><body><freejoint/>" BALL
                   "</body></worldbody></mujoco>",
                   NULL, NULL);
    cr_assert(s->model->fluid.density == 0 && s->model->ndrag == 0);
    sim_scene_free(s);
    s = load_model("{\"sim\": 1, \"world\": {\"fluid\": {\"density\": 1}}, \"bodies\": [{\"name\": \"a\", \"joint\": "
                   "\"free\", \"drag\": [], \"shapes\": [{\"type\": \"sphere\", \"radius\": 1, \"mass\": 1}]}]}",
                   NULL, NULL);
    cr_assert(s->model->fluid.density == 1 && s->model->ndrag == 0);
    sim_scene_free(s);
}

Test(scene_mjcf, wrong_fluids_and_steps_are_refused_at_their_place) {
    refused(MODEL("\n<option density='-1'/>"), "scene.json:3:9", "the density of the fluid is negative");
    refused(MODEL("\n<option timestep='-0.002'/>"), "scene.json:3:9", "must be above 0, is -0.002 s");
    refused(MODEL("\n<option timestep='0'/>"), "scene.json:3:9", "must be above 0, is 0 s");
    /* a plane stands still, whatever a default says of all geoms */
    sim_scene *s = load_model(MODEL("<option density='1'/><default><geom fluidshape='ellipsoid'/></default><worldbody>"
                                    "<geom type='plane' size='1 1 1'/><body><freejoint/>" BALL "</body></worldbody>"),
                              NULL, NULL);
    cr_assert_eq(s->model->ndrag, 1);
    sim_scene_free(s);
}

Test(scene_mjcf, wrong_actuators_are_refused_at_their_place) {
    refused(DRIVEN("<motor joint='k'/>"), "scene.json:3:8", "there is no joint \"k\"");
    refused(DRIVEN("<motor/>"), "scene.json:3:1", "the actuator names no joint, tendon, site, crank or body");
    refused(DRIVEN("<position joint='j' kv='1' dampratio='1'/>"), "scene.json:3:28", "kv or dampratio");
    refused(DRIVEN("<motor joint='j' forcerange='1 0'/>"), "scene.json:3:18", "is empty");
    sim_scene *s =
        load_model(MODEL("<option><flag actuation='disable'/></option><worldbody><body><joint name='j'/>" BALL
                         "</body></worldbody><actuator><motor joint='j'/></actuator>"),
                   NULL, NULL);
    cr_assert_eq(s->model->nactuator, 0);
    sim_scene_free(s);
}

/* A slide of 2 kg carries one of 3 kg; t = 2 a - b. */
#define TIED(inside)                                                                                                   \
    MODEL("<worldbody><body><joint name='a' type='slide' axis='1 0 0'/><geom size='0.1' mass='2'/>"                    \
          "<body><joint name='b' type='slide' axis='1 0 0'/><geom size='0.1' mass='3'/></body></body></worldbody>"     \
          "<tendon><fixed name='t'><joint joint='a' coef='0.5'/><joint joint='b' coef='-1'/>"                          \
          "<joint joint='a' coef='1.5'/></fixed></tendon><actuator>\n" inside "</actuator>")

Test(scene_mjcf, a_damping_ratio_at_a_tendon_takes_the_inertias_of_its_joints) {
    /* 2 ratio sqrt(kp m / gear^2), m = 5/2^2 + 3/1^2 */
    sim_scene *s = load_model(TIED("<position tendon='t' kp='10' dampratio='0.5' gear='4'/>"), NULL, NULL);
    cr_assert_float_eq(s->model->actuator[0].bias[2], -sqrt(10 * 4.25 / 16), 1e-14);
    sim_scene_free(s);
    refused(TIED("<position tendon='t' kp='-1' dampratio='0.5'/>"), "scene.json:3:1", "(give kv)");
}

#define BOUND(tendon, inside)                                                                                          \
    MODEL("<worldbody><body><joint name='a'/>" BALL "</body></worldbody><tendon>\n<fixed name='t' " tendon             \
          "><joint joint='a' coef='1'/></fixed></tendon><actuator>" inside "</actuator>")

Test(scene_mjcf, actuators_of_a_tendon_take_its_range_of_forces) {
    sim_scene *s = load_model(BOUND("actuatorfrcrange='-3 2'", "<motor tendon='t' gear='5'/>"), NULL, NULL);
    cr_assert(s->model->actuator[0].force_range[0] == -3 && s->model->actuator[0].force_range[1] == 2);
    sim_scene_free(s);
    s = load_model(BOUND("actuatorfrcrange='-3 2'", "<motor tendon='t' forcerange='-1 4'/>"), NULL, NULL);
    cr_assert(s->model->actuator[0].force_range[0] == -1 && s->model->actuator[0].force_range[1] == 2);
    sim_scene_free(s);
    s = load_model(BOUND("actuatorfrcrange='-3 2' actuatorfrclimited='false'", "<motor tendon='t'/>"), NULL, NULL);
    cr_assert(isinf(s->model->actuator[0].force_range[1]));
    sim_scene_free(s);
    refused(BOUND("actuatorfrcrange='-3 2'", "<motor tendon='t' forcerange='3 4'/>"), "scene.json:3:95", "no force is");
    /* several share it, by their common gear */
    s = load_model(BOUND("actuatorfrcrange='-3 2'", "<motor tendon='t' gear='-2'/><motor tendon='t' gear='-2'/>"), NULL,
                   NULL);
    cr_assert(s->model->tendon[0].effort_range[0] == -4 && s->model->tendon[0].effort_range[1] == 6);
    cr_assert(isinf(s->model->actuator[0].force_range[1]));
    sim_scene_free(s);
    refused(BOUND("actuatorfrcrange='-3 2'", "<motor tendon='t' gear='2'/><motor tendon='t'/>"), "scene.json:3:17",
            "several actuators of different gears");
}

/* A slide along x of 2 kg carries a hinge about z, whose ball of 3 kg hangs 0.5 m aside along x. */
#define ARM(inside)                                                                                                    \
    MODEL("<worldbody><site name='o' pos='0 -2 0' euler='0 0 90'/><body name='a'><joint name='x' type='slide' "        \
          "axis='1 0 0'/><geom size='0.1' mass='2'/><site name='base'/><body><joint name='z'/><geom size='0.1' "       \
          "pos='0.5 0 0' mass='3'/><site name='tip' pos='0.5 0 0'/></body></body></worldbody><tendon>"                 \
          "<spatial name='t'><site site='o'/><site site='base'/><pulley divisor='2'/><site site='o'/><site "           \
          "site='tip'/></spatial></tendon><actuator>\n" inside "</actuator>")

Test(scene_mjcf, a_damping_ratio_at_a_site_takes_the_inertias_along_its_wrench) {
    const double turn = 3 * (0.25 + 0.4 * 0.01), slide = 5;
    const struct {
        const char *text;
        double moment[2];
    } drives[] = {
        {ARM("<position site='tip' kp='10' dampratio='0.5' gear='1 0 0 0 0 0'/>"), {1, 0}},
        {ARM("<position site='tip' kp='10' dampratio='0.5' gear='2 1 0 0 0 1'/>"), {2, 1.5}},
        /* the axes of the other site, and without the slide, which moves both */
        {ARM("<position site='tip' refsite='o' kp='10' dampratio='0.5' gear='0 -2 0 0 0 0'/>"), {2, 0}},
        {ARM("<position site='tip' refsite='base' kp='10' dampratio='0.5' gear='3 2 0 0 0 4'/>"), {0, 5}},
        /* lengths from (0, -2) to (0, 0), and half of that to (1/2, 0) */
        {ARM("<position tendon='t' kp='10' dampratio='0.5' gear='3'/>"),
         {3 * 0.25 / 2.0615528128088303, 3 * 0.5 / 2.0615528128088303}},
    };
    for (int k = 0; k < 5; k++) {
        sim_scene *s = load_model(drives[k].text, NULL, NULL);
        const double *g = drives[k].moment;
        double weight = (g[0] != 0 ? slide / (g[0] * g[0]) : 0) + (g[1] != 0 ? turn / (g[1] * g[1]) : 0);
        cr_expect_float_eq(s->model->actuator[0].bias[2], -sqrt(10 * weight), 1e-12, "%d", k);
        sim_scene_free(s);
    }
    /* a ball joint, about two of its axes; a path around a geom is not known */
    sim_scene *s = load_model(MODEL("<worldbody><body><joint name='j' type='ball'/><geom type='box' size='0.1 0.2 0.3' "
                                    "mass='3'/></body></worldbody><actuator><position joint='j' kp='10' "
                                    "dampratio='0.5' gear='1 0 2'/></actuator>"),
                              NULL, NULL);
    cr_assert_float_eq(s->model->actuator[0].bias[2], -sqrt(10 * (0.13 + 0.05 / 4)), 1e-14);
    sim_scene_free(s);
    refused(MODEL("<worldbody><geom name='g' size='1'/><site name='o' pos='2 2 0'/><body><joint type='slide'/><geom "
                  "size='0.1'/>"
                  "<site name='p' pos='-2 2 0'/></body></worldbody><tendon><spatial name='t'><site site='o'/>"
                  "<geom geom='g'/><site site='p'/></spatial></tendon><actuator>\n<position tendon='t' dampratio='1'/>"
                  "</actuator>"),
            "scene.json:3:1", "tendon without geoms");
}

Test(scene_mjcf, joints_may_be_named_as_seen_from_the_parent) {
    sim_scene *s = load_model(DRIVEN("<motor jointinparent='j' gear='3'/>"), NULL, NULL);
    cr_assert_eq(s->model->actuator[0].gear, 3);
    sim_scene_free(s);
    s = load_model(MODEL("<worldbody><body><joint name='j' type='ball'/>" BALL "</body></worldbody><actuator>"
                         "<motor jointinparent='j' gear='1 2 3'/><motor joint='j'/></actuator>"),
                   NULL, NULL);
    cr_assert(s->model->actuator[0].in_parent && !s->model->actuator[1].in_parent);
    sim_scene_free(s);
}

#define STICKY(inside)                                                                                                 \
    MODEL("<worldbody><body name='b'><freejoint/><geom size='0.1' mass='1' gap='0.002'/></body></worldbody>"           \
          "<actuator>\n" inside "</actuator>")

Test(scene_mjcf, adhesion_pulls_at_the_contacts_of_a_body) {
    sim_scene *s = load_model(STICKY("<adhesion body='b' ctrlrange='0 1' gain='30'/><general body='b' ctrlrange='0 "
                                     "2' gainprm='5' dyntype='filter' dynprm='0.1'/>"),
                              NULL, NULL);
    const sim_actuator *a = s->model->actuator;
    cr_assert_eq(s->model->nactuator, 2);
    for (int k = 0; k < 2; k++) {
        cr_expect(a[k].transmission == SIM_BY_CONTACTS && a[k].body == 1 && a[k].gain[0] == (k ? 5 : 30));
        cr_expect(a[k].ctrl_range[0] == 0 && a[k].ctrl_range[1] == 1 + k);
    }
    cr_expect_eq(s->model->material[s->model->shape[0].material].adhesion_range, 0.002);
    sim_scene_free(s);
    /* the gaps of two geoms add up: MuJoCo loses the contact of 0.004 and 0.01 m at 0.014 m */
    s = load_model(
        MODEL("<worldbody><geom type='box' size='1 1 1' gap='0.004'/><body name='b' pos='0 0 1.1'><freejoint/>"
              "<geom size='0.1' gap='0.01'/></body></worldbody><actuator><adhesion body='b' ctrlrange='0 1'/>"
              "</actuator>"),
        NULL, NULL);
    const sim_shape *shape = s->model->shape;
    cr_expect_float_eq(sim_material_together(s->model, shape[0].material, shape[1].material).adhesion_range, 0.014,
                       1e-16);
    sim_scene_free(s);
    refused(STICKY("<adhesion body='c' ctrlrange='0 1'/>"), "scene.json:3:11", "there is no body \"c\"");
    refused(STICKY("<adhesion body='b' ctrlrange='0 1' gear='2'/>"), "scene.json:3:36", "unknown attribute \"gear\"");
    refused(STICKY("<adhesion body='b'/>"), "scene.json:3:1", "\"ctrlrange\" is empty");
    refused(STICKY("<general body='b'/>"), "scene.json:3:1", "a ctrlrange from 0 on");
    refused(STICKY("<adhesion body='b' ctrlrange='-1 1'/>"), "scene.json:3:1", "a ctrlrange from 0 on");
    refused(STICKY("<adhesion body='b' ctrlrange='0 1' gain='-1'/>"), "scene.json:3:1", "not negative");
    refused(STICKY("<general body='b' ctrlrange='0 1' biastype='affine' biasprm='0 1 0'/>"), "scene.json:3:1",
            "no bias");
    refused(STICKY("<adhesion body='world' ctrlrange='0 1'/>"), "scene.json:3:11", "the world does not move");
}

Test(scene_mjcf, actuators_act_on_tendons_sites_and_cranks) {
    sim_scene *s = load_model(
        MODEL(
            "<worldbody><site name='up' pos='0 0 1'/><body name='b'><joint name='x' type='slide' actuatorfrcrange='-3 "
            "4'/>"
            "<joint name='y' type='slide' axis='0 1 0' range='1 2'/><geom size='0.1' mass='2'/><site "
            "name='s'/></body></worldbody>"
            "<tendon><fixed name='t'><joint joint='x' coef='2'/></fixed></tendon><actuator><motor tendon='t' gear='3'/>"
            "<motor site='s' refsite='up' gear='1 2 3 4 5 6'/><position cranksite='s' slidersite='up' cranklength='2' "
            "kp='7'/>"
            "<muscle joint='y' scale='100' timeconst='0.02 0.05' lmin='0.4'/></actuator>"),
        NULL, NULL);
    const sim_actuator *a = s->model->actuator;
    cr_assert_eq(s->model->nactuator, 4);
    cr_assert(a[0].tendon == 0 && a[0].gear == 3);
    cr_assert(a[1].wrench[2] == 3 && a[1].wrench[5] == 6 && a[1].site[1] >= 0);
    cr_assert(a[2].rod == 2 && a[2].gain[0] == 7 && a[2].bias[1] == -7);
    /* a unit force gives the slide the acceleration 1/2: the peak force is 100 times 2 */
    cr_assert(fabs(a[3].muscle.force - 200) < 1e-12 && a[3].activation.time_constant[1] == 0.05 &&
              a[3].muscle.lmin == 0.4);
    sim_scene_free(s);
    refused(DRIVEN("<muscle tendon='t' force='5' lengthrange='0 1'/>"), "scene.json:3:9", "there is no tendon \"t\"");
}

Test(scene_mjcf, actuators_share_the_range_of_their_joint) {
    sim_scene *s = load_model(MODEL("<worldbody><body><joint name='j' actuatorfrcrange='-3 4'/>" BALL
                                    "</body></worldbody><actuator><position joint='j' kp='9'/><motor joint='j' "
                                    "forcerange='-5 5'/></actuator>"),
                              NULL, NULL);
    cr_assert(s->model->dof[0].effort_range[0] == -3 && s->model->dof[0].effort_range[1] == 4);
    cr_assert(isinf(s->model->actuator[0].force_range[1]) && s->model->actuator[1].force_range[1] == 5);
    sim_scene_free(s);
}

Test(scene_mjcf, keyframes_are_states_in_the_order_of_the_joints) {
    const char *text =
        MODEL("<worldbody><body name='a'><freejoint/>" BALL "<body name='b'><joint name='x'/><joint name='y' "
              "type='ball' pos='0.5 0 0'/>" BALL
              "</body></body></worldbody><keyframe>\n<key name='up' time='2' qpos='1 2 3 1 0 0 0 "
              "0.5 0 1 0 0' qvel='1 2 3 4 5 6 7 8 9 10'/></keyframe>");
    sim_scene *s = load_model(text, NULL, NULL);
    const double q[12] = {1, 2, 3, 1, 0, 0, 0, 0.5, 0, 1, 0, 0};
    double state_q[12], state_v[10], long_q[13], long_v[11];
    cr_assert_eq(s->model->nkeyframe, 1);
    sim_model_keyframe_state(s->model, 0, state_q, state_v);
    for (int k = 0; k < 12; k++) {
        cr_assert(state_q[k] == q[k] && (k >= 10 || state_v[k] == k + 1));
    }
    sim_scene_free(s);
    /* short lists: the rest stays at the reference */
    s = load_model(MODEL("<worldbody><body><joint ref='0.5' type='slide'/>" BALL "</body><body pos='1 2 3' "
                         "quat='0 1 0 0'><freejoint/>" BALL "<body><joint type='ball'/>" BALL
                         "<body><joint axis='1 0 0' ref='90' pos='0 1 0'/>" BALL
                         "</body></body></body></worldbody><keyframe><key qpos='7 8' qvel='1 2'/></keyframe>"),
                   NULL, NULL);
    const double rest[13] = {7, 8, 2, 3, 0, 1, 0, 0, 1, 0, 0, 0, PI / 2};
    sim_model_keyframe_state(s->model, 0, long_q, long_v);
    for (int k = 0; k < 13; k++) {
        cr_expect(long_q[k] == rest[k] && (k >= 11 || long_v[k] == (k < 2 ? k + 1 : 0)), "%d", k);
    }
    sim_scene_free(s);
    warned(MODEL("<worldbody><body><joint ref='0.5' type='slide'/><joint/>" BALL "</body></worldbody><keyframe>"
                 "<key qpos='7'/></keyframe>"),
           "1 numbers, where the joints of the model take 2: the others are those of the reference pose");
    refused(MODEL("<worldbody><body><joint/>" BALL "</body></worldbody><keyframe>\n<key ctrl='1 2'/></keyframe>"),
            "scene.json:3:6", "2 numbers, where the actuators of the model take 0");
    refused(MODEL("<worldbody><body><joint/>" BALL "</body></worldbody><keyframe>\n<key qpos='1 2'/></keyframe>"),
            "scene.json:3:6", "2 numbers, where the joints of the model take 1");
}

/* ctrl has a number for every actuator, act one for those that have an activation; a left-out actuator counts. */
Test(scene_mjcf, keyframes_set_inputs_and_activations_in_the_order_of_the_actuators) {
    sim_scene *s = load_model(
        MODEL("<option actuatorgroupdisable='3'/><worldbody><body><joint name='j'/>" BALL
              "</body></worldbody><actuator>"
              "<general joint='j' dyntype='filter' dynprm='1' group='3'/><motor name='m' joint='j'/>"
              "<general name='w' joint='j' dyntype='integrator'/></actuator><keyframe><key name='k' ctrl='1 2 3' "
              "act='4 5'/><key name='l' ctrl='6 7 8'/></keyframe>"),
        NULL, NULL);
    double ctrl[2], act[2];
    cr_assert_eq(s->model->nactuator, 2);
    sim_model_keyframe_drives(s->model, sim_model_find_keyframe(s->model, "k"), ctrl, act);
    cr_assert(ctrl[0] == 2 && ctrl[1] == 3 && act[1] == 5);
    sim_model_keyframe_drives(s->model, sim_model_find_keyframe(s->model, "l"), ctrl, act);
    cr_assert(ctrl[0] == 7 && ctrl[1] == 8 && act[1] == 0);
    sim_scene_free(s);
}

Test(scene_mjcf, keyframes_with_quaternions_that_are_no_units_are_scaled_with_a_notice) {
    sim_diagnostics found;
    sim_scene *s =
        load_text(WORLD("<body name='a'><freejoint/>" BALL "</body><body name='b'><joint type='ball'/>" BALL "</body>"
                        "</worldbody><keyframe>\n<key name='k' qpos='0 0 1 2 0 0 0 0 0 0 0'/></keyframe><worldbody>"),
                  NULL, NULL, &found, NULL);
    cr_assert_not_null(s);
    cr_assert(found.count == 1 && found.item[0].line == 4);
    cr_assert_str_eq(found.item[0].message, "2 quaternions are scaled to length 1, the first of \"a\"");
    double q[11], v[9];
    sim_model_keyframe_state(s->model, 0, q, v);
    cr_assert(q[3] == 1 && q[7] == 1 && q[8] == 0);
    sim_diagnostics_free(&found);
    sim_scene_free(s);
}

/* ---- tendons ---- */

/* Names by number pass over those that elements have, also elements behind. */
Test(scene_mjcf, names_by_number_are_names_of_no_other_element) {
    sim_scene *s = load_model(MODEL("<worldbody><body><joint name='j'/>" BALL "<site/><site name='site1'/></body>"
                                    "</worldbody><tendon><fixed><joint joint='j' coef='1'/></fixed><fixed "
                                    "name='tendon1'><joint joint='j' coef='2'/></fixed></tendon><actuator><motor "
                                    "joint='j'/><motor name='actuator1' tendon='tendon1'/></actuator>"),
                              NULL, NULL);
    cr_assert_str_eq(s->model->site[0].name, "site1_2");
    cr_assert_str_eq(s->model->tendon[0].name, "tendon1_2");
    cr_assert_str_eq(s->model->actuator[0].name, "actuator1_2");
    cr_assert_eq(s->model->tendon[s->model->actuator[1].tendon].joint[0].coefficient, 2);
    sim_scene_free(s);
}

/* Ends with springs k pass each other by their margins: the mass m hangs 2 k x = m g below their middle. */
Test(scene_mjcf, ends_within_each_other_hold_at_their_middle) {
    sim_scene *s = load_model(BODY("<joint type='slide' range='0 0.1' margin='0.2' solreflimit='0.05 1'/>"
                                   "<geom size='0.1' mass='2'/>"),
                              NULL, NULL);
    const sim_limit *limit = &s->model->dof[0].limit;
    cr_assert(limit->low == limit->high && fabs(limit->low - 0.05) < 1e-15);
    double stiffness = limit->stiffness;
    sim_scene_free(s);
    s = load_model(BODY("<joint type='slide' range='0 0.5' margin='0.2' solreflimit='0.05 1'/><geom size='0.1' "
                        "mass='2'/>"),
                   NULL, NULL);
    cr_assert(s->model->dof[0].limit.low == 0.2 && fabs(stiffness - 2 * s->model->dof[0].limit.stiffness) < 1e-9);
    sim_scene_free(s);
    /* it comes to rest there */
    s = load_model(BODY("<joint type='slide' range='0 0.1' margin='0.2' solreflimit='0.05 1'/><geom size='0.1' "
                        "mass='2'/>"),
                   NULL, NULL);
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    cr_assert_not_null(w);
    for (int k = 0; k < 2000; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    cr_expect_float_eq(sim_world_state(w)->q[0], 0.05 - 2 * 9.81 / stiffness, 1e-7);
    sim_world_free(w);
    sim_scene_free(s);
}

Test(scene_mjcf, tendons_that_no_joint_moves_are_left_out) {
    warned(MODEL("<worldbody><site name='a'/><body pos='1 0 0'><site name='b'/></body></worldbody><tendon>"
                 "<spatial range='0 1'><site site='a'/><site site='b'/></spatial></tendon>"),
           "ignored: a tendon that no joint moves");
}

/* A string over 2 m pulls a ball away from its hook: the greatest length is that of its range. */
Test(scene_mjcf, a_muscle_ends_with_the_range_of_its_tendon) {
    sim_scene *s = load_model(MODEL("<worldbody><site name='a'/><body pos='0 0 -1'><joint type='slide'/>" BALL
                                    "<site name='b'/></body></worldbody><tendon><spatial name='t' range='0.5 2'>"
                                    "<site site='a'/><site site='b'/></spatial></tendon><actuator><muscle tendon='t' "
                                    "gear='3'/></actuator>"),
                              NULL, NULL);
    const double *ends = s->model->actuator[0].muscle.length_range;
    cr_assert(ends[0] == 1.5 && ends[1] == 6);
    sim_scene_free(s);
}

Test(scene_mjcf, tendons_are_sums_of_coordinates_or_strings_over_geoms) {
    sim_scene *s = load_model(
        MODEL("<default><tendon stiffness='5'/></default><worldbody><site name='a' pos='-1 0 1'/><body name='b'>"
              "<joint name='x' type='slide' ref='1'/><joint name='y' type='slide' axis='1 0 0'/>"
              "<geom name='drum' type='cylinder' size='0.5 1' euler='90 0 0' contype='0' conaffinity='0'/>"
              "<site name='c' pos='1 0 0'/></body><site name='up' pos='0 0 2'/></worldbody><tendon>"
              "<fixed name='sum' range='-1 2'><joint joint='x' coef='2'/><joint joint='y' coef='-3'/></fixed>"
              "<spatial springlength='0.5 2' frictionloss='3'><site site='a'/><geom geom='drum' sidesite='up'/><site "
              "site='c'/>"
              "<pulley divisor='2'/><site site='a'/><site site='up'/></spatial></tendon>"),
        NULL, NULL);
    const sim_model *m = s->model;
    cr_assert_eq(m->ntendon, 2);
    sim_derived *d = sim_derived_create(m, NULL);
    const double q[2] = {1, 0};
    sim_kinematics(d, sim_all(m), q);
    cr_assert(fabs(sim_tendon_length(d, 0, q) - 2) < 1e-14);
    /* from (-1, 1) to (1, 0) over a drum of radius 1/2: two tangents and an arc; then half of sqrt 2 */
    double far = sqrt(2), near = 1, alpha = acos(0.5 / far), beta = acos(0.5 / near), turn = 3 * PI / 4;
    double length = sqrt(far * far - 0.25) + sqrt(near * near - 0.25) + 0.5 * fmax(turn - alpha - beta, 0);
    cr_assert(fabs(sim_tendon_length(d, 1, q) - length - far / 2) < 1e-12);
    sim_derived_free(d);
    sim_scene_free(s);
}

Test(scene_mjcf, wrong_tendons_are_refused_at_their_place) {
#define STRING(inside)                                                                                                 \
    MODEL("<worldbody><site name='a'/><geom name='box' type='box' size='1 1 1'/><geom name='ball' size='2'/>"          \
          "</worldbody><tendon><spatial>\n" inside "</spatial></tendon>")
    refused(STRING("<site site='b'/>"), "scene.json:3:7", "there is no site \"b\"");
    refused(STRING("<site site='a'/><geom geom='box'/><site site='a'/>"), "scene.json:3:23",
            "tendons wrap over spheres and cylinders only");
    refused(MODEL("<worldbody><body><joint type='slide'/><geom size='1'/><site name='a' pos='2 0 0'/></body><site "
                  "name='far' pos='0 0 3'/><geom name='rod' "
                  "type='cylinder' size='1 4'/></worldbody><tendon><spatial>\n<site site='a'/><geom geom='rod' "
                  "sidesite='far'/><site site='a'/></spatial></tendon>"),
            "scene.json:3:34", "the site is within the cylinder, but farther from its middle than its radius");
}

/* A side site within the ball: the string runs to a point of its surface and back. */
Test(scene_mjcf, tendons_run_within_a_geom_that_holds_their_side_site) {
    sim_scene *s = load_model(
        MODEL("<worldbody><geom name='ball' size='0.5' contype='0' conaffinity='0'/><site name='in'/>"
              "<site name='a' pos='-1 -2 0'/><body><joint name='j' type='slide'/>" BALL
              "<site name='b' pos='1 -2 0'/></body></worldbody><tendon><spatial><site site='a'/><geom geom='ball' "
              "sidesite='in'/><site site='b'/></spatial></tendon>"),
        NULL, NULL);
    sim_derived *d = sim_derived_create(s->model, NULL);
    const double q[1] = {0};
    sim_kinematics(d, sim_all(s->model), q);
    /* by symmetry the point is (0, -1/2), seen by both ends */
    double length = sim_tendon_length(d, 0, q);
    cr_assert(fabs(length - 2 * hypot(1, 1.5)) < 1e-12, "%g", length);
    sim_derived_free(d);
    sim_scene_free(s);
}

/* A joint alone is held by a tendon of its own; an equality that is not active stays to be switched on. */
Test(scene_mjcf, equalities_hold_single_joints_and_may_be_off) {
    sim_scene *s =
        load_model(MODEL("<worldbody><body><joint name='x' type='slide' ref='1'/>" BALL
                         "<body><joint name='y' type='slide' axis='1 0 "
                         "0'/>" BALL "</body></body></worldbody><equality><joint joint1='x' polycoef='0.05 7'/>"
                         "<joint joint1='y' joint2='x' active='false'/></equality>"),
                   NULL, NULL);
    cr_assert_eq(s->model->nequality, 2);
    cr_expect_eq(s->model->equality[0].offset, 0.05);
    cr_expect_eq(s->model->ntendon, 1);
    sim_world *w = sim_world_create(s->model, &s->options, NULL);
    for (int k = 0; k < 1000; k++) {
        cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
    }
    /* x stands 0.05 from its reference 1, under its weight; nothing moves y along x */
    cr_expect_float_eq(sim_world_state(w)->q[0], 1.05, 1e-6, "%g", sim_world_state(w)->q[0]);
    cr_expect_lt(fabs(sim_world_state(w)->q[1]), 1e-9);
    sim_world_free(w);
    sim_scene_free(s);
}

/* ---- sensors ---- */

#define MEASURED(inside)                                                                                               \
    MODEL(                                                                                                             \
        "<worldbody><body name='b' pos='0 0 1'><joint name='j'/><geom size='0.1' pos='0.3 0 0'/>"                      \
        "<site name='s' size='0.2'/></body></worldbody><actuator><motor name='m' "                                     \
        "joint='j'/></actuator><tendon><fixed name='t'><joint joint='j' coef='2'/></fixed></tendon><sensor>\n" inside  \
        "</sensor>")

Test(scene_mjcf, sensors_measure_what_they_measure_in_mujoco) {
    static const struct {
        const char *element;
        sim_sensor_type type;
    } kind[] = {{"<touch site='s'/>", SIM_SENSE_TOUCH},
                {"<gyro site='s'/>", SIM_SENSE_GYRO},
                {"<force site='s'/>", SIM_SENSE_FORCE},
                {"<jointvel joint='j'/>", SIM_SENSE_JOINT_VELOCITY},
                {"<jointactuatorfrc joint='j'/>", SIM_SENSE_JOINT_EFFORT},
                {"<actuatorfrc actuator='m'/>", SIM_SENSE_ACTUATOR_FORCE},
                {"<framequat objtype='xbody' objname='b'/>", SIM_SENSE_FRAME_ORIENTATION},
                {"<framelinvel objtype='site' objname='s' reftype='xbody' refname='world'/>", SIM_SENSE_FRAME_VELOCITY},
                {"<tendonpos tendon='t'/>", SIM_SENSE_TENDON_LENGTH},
                {"<tendonvel tendon='t'/>", SIM_SENSE_TENDON_VELOCITY},
                {"<actuatorpos actuator='m'/>", SIM_SENSE_ACTUATOR_LENGTH},
                {"<actuatorvel actuator='m'/>", SIM_SENSE_ACTUATOR_VELOCITY},
                {"<framezaxis objtype='site' objname='s'/>", SIM_SENSE_FRAME_Z_AXIS},
                {"<subtreelinvel body='b'/>", SIM_SENSE_CENTER_OF_MASS_VELOCITY},
                {"<subtreeangmom body='b'/>", SIM_SENSE_ANGULAR_MOMENTUM},
                {"<subtreecom body='b'/>", SIM_SENSE_CENTER_OF_MASS}};
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        char text[800];
        snprintf(text, sizeof text, MEASURED("%s"), kind[k].element);
        sim_scene *s = load_model(text, NULL, NULL);
        cr_assert(s->model->nsensor == 1 && s->model->sensor[0].type == kind[k].type, "%s", kind[k].element);
        sim_scene_free(s);
    }
    /* the frame of a `body` is its centre of mass: a site stands there */
    sim_scene *s = load_model(MEASURED("<framepos name='com' objtype='body' objname='b'/>"), NULL, NULL);
    cr_assert_eq(s->model->nsite, 2);
    cr_assert(close_to(s->model->site[sim_model_find_site(s->model, "b_com")].pose.p, 0.3, 0, 0));
    sim_scene_free(s);
    s = load_model(MEASURED("<gyro site='s' cutoff='0.5'/><gyro site='s'/>"), NULL, NULL);
    cr_assert(s->model->sensor[0].saturation == 0.5 && isinf(s->model->sensor[1].saturation));
    sim_scene_free(s);
    refused(MEASURED("<framexaxis objtype='site' objname='s' cutoff='1'/>"), "scene.json:3:40", "have no cutoff");
    refused(MEASURED("<gyro site='t'/>"), "scene.json:3:7", "there is no site \"t\"");
    warned(MEASURED("<framequat objtype='body' objname='b'/>"), "the sensor is left out");
}

/* A bar that would swing down like a pendulum: 1.2 rad within a quarter of a second. */
Test(scene_mjcf, a_ball_joint_without_range_is_held_at_its_reference) {
    sim_scene *s = load_model(MODEL("<worldbody><body><joint type='ball' limited='true'/>"
                                    "<geom type='box' size='0.2 0.05 0.05' pos='0.2 0 0'/></body></worldbody>"),
                              NULL, NULL);
    cr_assert_eq(s->model->nv, 3);
    sim_error error = {0};
    sim_world *world = sim_world_create(s->model, &s->options, &error);
    cr_assert_not_null(world, "%s", error.text);
    for (int k = 0; k < 125; k++) {
        cr_assert_eq(sim_world_step(world, &error), SIM_OK, "%s", error.text);
    }
    const double *q = sim_world_state(world)->q;
    cr_expect_gt(fabs(q[0]), cos(1e-4 / 2), "turned by %g rad", 2 * acos(fmin(1, fabs(q[0]))));
    sim_world_free(world);
    sim_scene_free(s);
}

Test(scene_mjcf, gears_of_ball_and_free_joints_have_three_and_six_numbers) {
    sim_scene *s = load_model(
        MODEL("<worldbody><body><joint name='turn' type='ball' range='0 60'/>" BALL "</body><body pos='1 0 0'>"
              "<freejoint name='fly'/>" BALL "</body></worldbody><actuator><motor joint='turn' gear='1 2 3'/>"
              "<motor joint='fly' gear='1 2 3 4 5 6'/></actuator>"),
        NULL, NULL);
    const sim_actuator *a = s->model->actuator;
    cr_assert(a[0].transmission == SIM_BY_ORIENTATION && a[1].transmission == SIM_BY_ORIENTATION);
    for (int k = 0; k < 6; k++) {
        cr_assert(a[1].wrench[k] == k + 1 && (k < 3 || a[0].wrench[k] == k - 2));
    }
    /* the range of the ball joint is that of its angle */
    cr_assert(s->model->ntendon == 1 && fabs(s->model->tendon[0].limit.high - PI / 3) < 1e-15);
    sim_scene_free(s);
}
