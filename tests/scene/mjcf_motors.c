/* Motors at a voltage in models of MJCF: torque K/R (u - K w), with the constants from any of their forms. */
#include "mjcf_model.h"

#include "math/angle.h"

#include <math.h>
#include <sim/dynamics.h>
#include <sim/world.h>
#include <stdio.h>
#include <string.h>

/* Torque over voltage and over speed, and the range; the numbers are those of MuJoCo 3.14. */
static void check_motor(const char *defaults, const char *own, double by_voltage, double by_speed, double most) {
    char text[800];
    snprintf(text, sizeof text,
             "<mujoco><default>%s</default><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody>"
             "<actuator><dcmotor joint='j' %s/></actuator></mujoco>",
             defaults, own);
    sim_scene *s = load_model(text, NULL, NULL);
    const sim_actuator *a = s->model->actuator;
    double slope = a->bias[2] - a->kd; /* however the law is written */
    cr_expect(fabs(a->gain[0] / by_voltage - 1) < 1e-14 && fabs(slope / by_speed - 1) < 1e-14, "%s %s: %g, %g",
              defaults, own, a->gain[0], slope);
    cr_expect(isfinite(most) ? fabs(a->force_range[1] / most - 1) < 1e-14 && a->force_range[0] == -a->force_range[1]
                             : isinf(a->force_range[1]),
              "%s %s: %g", defaults, own, a->force_range[1]);
    sim_scene_free(s);
}

Test(mjcf_motors, have_the_torque_of_their_constants) {
    check_motor("", "motorconst='2' resistance='0.5'", 4, -8, INFINITY);
    check_motor("", "motorconst='2 3' resistance='0.5'", 4.898979485566356, -12, INFINITY);
    check_motor("", "motorconst='0 3' resistance='0.5'", 6, -18, INFINITY);
    check_motor("", "nominal='12 0.5 100'", 0.5 / 12, -0.005, INFINITY);
    check_motor("", "nominal='12 0.5 100' resistance='7'", 0.12 / 7, -0.0144 / 7, INFINITY);
    check_motor("", "nominal='12 0.5 100' motorconst='0.2'", 0.5 / 12, -0.006454972243679029, INFINITY);
    check_motor("", "nominal='12 0.5 100' motorconst='0.2 0.3' resistance='7'", 0.034992710611188256, -0.06 / 7,
                INFINITY);
    check_motor("", "motorconst='2' resistance='0.5' saturation='3 1.2'", 4, -8, 3);
    check_motor("", "motorconst='2' resistance='0.5' saturation='0 1.2'", 4, -8, 2.4);
    /* the damping of the motor brakes its free speed, if there is such a constant */
    check_motor("", "nominal='12 0.5 100' damping='0.001'", 0.5 / 12, -0.004, INFINITY);
    check_motor("", "nominal='12 0.5 100' resistance='2' damping='0.001'", 0.05, -0.005, INFINITY);
    check_motor("", "nominal='12 0.5 100' resistance='7' damping='0.001'", 0.12 / 7, -0.0144 / 7, INFINITY);
    check_motor("", "nominal='12 0.5 100' damping='1'", 0.5 / 12, -0.005, INFINITY);
    /* constants of the defaults, unless another kind of actuator follows there */
    check_motor("<dcmotor motorconst='1' resistance='2'/>", "nominal='12 0.5 100'", 0.17320508075688773, -0.06,
                INFINITY);
    check_motor("<dcmotor motorconst='1' resistance='2'/><motor/>", "nominal='12 0.5 100'", 0.5 / 12, -0.005, INFINITY);
    check_motor("<dcmotor motorconst='1' resistance='2'/>", "motorconst='3'", 1.5, -4.5, INFINITY);
    check_motor("<dcmotor motorconst='1' resistance='2' saturation='0 2'/>", "resistance='4'", 0.25, -0.25, 2);
}

#define DRIVEN(inside)                                                                                                 \
    MODEL("<worldbody><body><joint name='j'/>" BALL "</body></worldbody><actuator>\n" inside "</actuator>")

Test(mjcf_motors, are_refused_without_constants_and_with_a_state_of_their_own) {
    refused(DRIVEN("<dcmotor joint='j' resistance='2'/>"), "scene.json:3:1",
            "the constant of the motor is not positive");
    refused(DRIVEN("<dcmotor joint='j' motorconst='2'/>"), "scene.json:3:1", "the resistance of the motor");
    refused(DRIVEN("<dcmotor joint='j' motorconst='2' resistance='1' inductance='0 0.1'/>"), "scene.json:3:50",
            "\"inductance\" of <dcmotor> is not supported");
    refused(DRIVEN("<dcmotor joint='j' motorconst='2' resistance='1' input='pos vel'/>"), "scene.json:3:50",
            "write the controller as `position`");
    sim_scene_free(load_model(
        DRIVEN("<dcmotor joint='j' motorconst='2' resistance='1' inductance='0' input='voltage'/>"), NULL, NULL));
}

/* As long as the samples reach back: 3 steps of 4 ms. */
Test(mjcf_motors, delays_are_those_of_the_samples_that_are_kept) {
    sim_scene *s = load_model(
        MODEL("<option timestep='0.004'/><default><motor nsample='3'/></default><worldbody><body><joint name='j'/>" BALL
              "</body></worldbody><actuator><motor joint='j' delay='0.01'/><motor joint='j' delay='0.05'/><motor "
              "joint='j'/></actuator><sensor><jointpos joint='j' nsample='9' delay='0.02'/><jointvel "
              "joint='j'/></sensor>"),
        NULL, NULL);
    const sim_actuator *a = s->model->actuator;
    cr_assert(a[0].delay == 0.01 && a[0].delay_steps == 3 && fabs(a[1].delay - 0.012) < 1e-15 &&
              a[1].delay_steps == 3 && a[2].delay == 0);
    const sim_sensor *r = s->model->sensor;
    cr_assert(r[0].delay == 0.02 && r[0].delay_steps == 5 && r[1].delay == 0);
    cr_assert_eq(s->model->nhistory, 3 + 3 + 6);
    sim_scene_free(s);
    refused(MODEL("<worldbody><body><joint name='j'/>" BALL "</body></worldbody><actuator>\n<motor joint='j' "
                  "delay='0.1'/></actuator>"),
            "scene.json:3:18", "a delay needs \"nsample\"");
}

/* Springs of tendons have terms like those of joints, and without a length they are slack where these are. */
Test(mjcf_motors, springs_of_tendons_have_terms_and_rest_where_those_of_joints_do) {
    sim_scene *s = load_model(
        MODEL(
            "<compiler angle='radian'/><worldbody><body><joint name='x' type='slide' springref='0.3'/><joint name='y' "
            "type='slide' axis='1 0 0' ref='0.2'/>" BALL "</body></worldbody><tendon><fixed stiffness='5 -1 2' "
            "damping='0 0.5'><joint joint='x' coef='2'/><joint joint='y' coef='-3'/></fixed><fixed stiffness='0 0 4' "
            "springlength='0.7'><joint joint='x' coef='1'/></fixed></tendon>"),
        NULL, NULL);
    const sim_tendon *t = s->model->tendon;
    cr_assert(t[0].stiffness == 5 && t[0].spring[0] == -1 && t[0].spring[1] == 2 && t[0].damping == 0 &&
              t[0].damper[0] == 0.5 && t[0].damper[1] == 0 && fabs(t[0].rest[0] - 0.6) < 1e-15);
    cr_assert(t[1].stiffness == 0 && t[1].spring[1] == 4 && t[1].rest[0] == 0.7 && t[1].rest[1] == 0.7);
    sim_scene_free(s);
    warned(
        MODEL("<worldbody><site name='a'/><body><joint springref='20'/><geom size='0.1'/><site name='b' pos='1 0 0'/>"
              "</body></worldbody><tendon><spatial stiffness='3'><site site='a'/><site site='b'/></spatial></tendon>"),
        "in MuJoCo where the springs of its joints are");
    refused(MODEL("<worldbody><body><joint name='x'/>" BALL "</body></worldbody><tendon>\n<fixed damping='1 -2'><joint "
                  "joint='x' coef='1'/></fixed></tendon>"),
            "scene.json:3:8", "\"damping\" is negative");
}

/* A rotor behind a gear: I + g^2 J turns, and g^2 (b w + c w |w|) brakes; of two actuators the sum, also of one that is off. */
Test(mjcf_motors, rotors_turn_and_brake_with_the_square_of_their_gear) {
    sim_scene *s = load_model(
        MODEL("<option gravity='0 0 0' actuatorgroupdisable='3'/><default><motor armature='0.02' damping='0.1 "
              "0.3'/></default>"
              "<worldbody><body name='arm'><joint name='j' damping='0.5' armature='1'/><inertial pos='0 0 0' mass='1' "
              "diaginertia='2 2 2'/></body><body><joint name='x' type='slide'/>" BALL
              "</body></worldbody><tendon><fixed "
              "name='t' damping='2'><joint joint='x' coef='1'/></fixed></tendon><actuator><motor joint='j' "
              "gear='5'/><motor "
              "jointinparent='j' gear='-2' group='3' armature='0.5' damping='0 0 1'/><position tendon='t' gear='3' "
              "kp='0' "
              "armature='0.25'/></actuator>"),
        NULL, NULL);
    /* a joint of two, a tendon of one */
    const sim_dof *j = &s->model->dof[0];
    cr_expect(fabs(j->armature - (1 + 25 * 0.02 + 4 * 0.5)) < 1e-14 && fabs(j->damping - (0.5 + 25 * 0.1)) < 1e-14 &&
                  fabs(j->damper[0] - 25 * 0.3) < 1e-14 && fabs(j->damper[1] - 4) < 1e-14,
              "%.17g %.17g %.17g %.17g", j->armature, j->damping, j->damper[0], j->damper[1]);
    const sim_tendon *t = &s->model->tendon[0];
    cr_expect(fabs(t->armature - 9 * 0.25) < 1e-14 && fabs(t->damping - (2 + 9 * 0.1)) < 1e-14);
    sim_scene_free(s);
    refused(DRIVEN("<motor joint='j' armature='-1'/>"), "scene.json:3:1", "of an actuator are not negative");
    refused(MODEL("<worldbody><body><joint/>" BALL "<site name='s'/></body></worldbody><actuator>\n<motor site='s' "
                  "damping='1'/></actuator>"),
            "scene.json:3:1", "need a joint or tendon");
}

/* They are left out with the sensors that name them, as those whose group is off. */
#define FIXED(behind)                                                                                                  \
    MODEL(                                                                                                             \
        "<option actuatorgroupdisable='2'/><worldbody><site name='a'/><body pos='1 0 0'><site name='b'/></body><body>" \
        "<joint name='j'/>" BALL "</body></worldbody><tendon><spatial name='t'><site site='a'/><site site='b'/>"       \
        "</spatial></tendon>" behind)

Test(mjcf_motors, of_what_no_joint_moves_are_left_out) {
    sim_scene *s = load_model(
        FIXED(
            "<actuator><motor name='p' site='a'/><position site='a' refsite='b'/><motor name='q' tendon='t'/><motor "
            "joint='j' name='off' group='2'/><motor joint='j' name='on'/></actuator><sensor><actuatorfrc actuator='p'/>"
            "<actuatorfrc actuator='q'/><actuatorfrc actuator='off'/><actuatorfrc actuator='on'/><tendonpos "
            "tendon='t'/>"
            "</sensor><keyframe><key name='k' ctrl='1 2 3 4 5'/></keyframe>"),
        NULL, NULL);
    cr_assert_eq(s->model->nactuator, 1);
    cr_assert_eq(s->model->nsensor, 1);
    double ctrl, activation;
    sim_model_keyframe_drives(s->model, 0, &ctrl, &activation);
    cr_expect_eq(ctrl, 5);
    sim_scene_free(s);
    warned(MODEL("<worldbody><site name='a'/></worldbody><actuator><motor site='a'/></actuator>"),
           "ignored: an actuator of what no joint moves");
    warned(MODEL("<option actuatorgroupdisable='2'/><worldbody><body><joint name='j'/>" BALL
                 "</body></worldbody><actuator>"
                 "<motor name='m' joint='j' group='2'/></actuator><sensor><actuatorfrc actuator='m'/></sensor>"),
           "the sensor is left out with what it reads");
    refused(FIXED("\n<actuator><motor site='c'/></actuator>"), "scene.json:3:18", "there is no site \"c\"");
    refused(FIXED("\n<sensor><actuatorfrc actuator='c'/></sensor>"), "scene.json:3:22", "there is no actuator \"c\"");
}

/* A motor between two servos, in the defaults, changes the kinds of gain and bias and leaves the numbers of the bias. */
Test(mjcf_motors, leave_the_damping_of_servos_among_their_defaults) {
    sim_scene *s = load_model(
        MODEL("<default><position kp='9' kv='2'/><motor gear='3'/></default><worldbody><body><joint name='j'/>" BALL
              "</body></worldbody><actuator><position joint='j' kp='7'/><intvelocity joint='j' kp='5' actrange='-1 1'/>"
              "<motor joint='j'/><damper joint='j' kv='4' ctrlrange='0 1'/></actuator>"),
        NULL, NULL);
    const double gain[4][3] = {{7, 0, 0}, {5, 0, 0}, {1, 0, 0}, {0, 0, -4}};
    const double bias[4][3] = {{0, -7, -2}, {0, -5, -2}, {0, 0, 0}, {0, 0, 0}}; /* those of MuJoCo 3.14 */
    for (int k = 0; k < 4; k++) {
        const sim_actuator *a = &s->model->actuator[k];
        const double slope[3] = {a->bias[0], a->bias[1] - a->kp, a->bias[2] - a->kd}; /* however the law is written */
        cr_expect(memcmp(a->gain, gain[k], sizeof gain[k]) == 0 && memcmp(slope, bias[k], sizeof slope) == 0, "%d", k);
    }
    sim_scene_free(s);
}

/* Equalities of what does not move apart are left out; a tendon that is coupled to a constant length keeps its own. */
Test(mjcf_motors, equalities_of_what_does_not_move_are_left_out) {
    const char *coupled = FIXED("<tendon><fixed name='u'><joint joint='j' coef='2'/></fixed></tendon><equality><tendon "
                                "tendon1='%s' tendon2='%s' polycoef='0.3 -2 %g'/></equality>");
    char text[1200];
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, coupled, k == 1 ? "t" : "u", k == 1 ? "u" : "t", k == 0 ? 5.0 : 0.0);
        sim_scene *s = load_model(text, NULL, NULL);
        const sim_equality *e = &s->model->equality[0];
        cr_assert_eq(s->model->nequality, 1);
        cr_expect(e->tendon[1] < 0 && fabs(e->offset - (k == 1 ? 0.15 : 0.3)) < 1e-15, "%d: %g", k, e->offset);
        sim_scene_free(s);
    }
    warned(MODEL("<worldbody><body name='a'><joint/>" BALL "<site name='p'/><body name='b' pos='1 0 0'><site name='q'/>"
                 "</body></body></worldbody><equality><connect site1='p' site2='q'/></equality>"),
           "ignored: it holds together what does not move apart");
}

/* The box of inertia of a ball stands as its geom, also where geoms count before an <inertial>. */
Test(mjcf_motors, boxes_of_single_geoms_stand_as_these) {
    sim_scene *s = load_model(
        MODEL("<compiler inertiafromgeom='true' angle='radian'/><option density='1000'/><worldbody><body><freejoint/>"
              "<inertial pos='0 0 0' mass='1' diaginertia='1 2 2.5'/><geom size='0.1' axisangle='0 0 1 0.3'/></body>"
              "</worldbody>"),
        NULL, NULL);
    cr_assert_eq(s->model->ndrag, 1);
    sim_v3 x = s->model->drag[0].pose.R.x;
    cr_expect(close_to(x, cos(0.3), sin(0.3), 0), "%g %g %g", x.x, x.y, x.z);
    sim_scene_free(s);
    /* rounding of the moments turns nothing */
    s = load_model(MODEL("<option density='1000'/><worldbody><body><freejoint/><geom size='0.10934' mass='2.8594' "
                         "pos='0.38136 -0.22162 0.069164'/></body></worldbody>"),
                   NULL, NULL);
    x = s->model->drag[0].pose.R.x;
    cr_expect(close_to(x, 1, 0, 0), "%g %g %g", x.x, x.y, x.z);
    sim_scene_free(s);
}

/* A servo turns a ball, or a site against another, at 3 rad/s through three turns.  Its length is an angle, which jumps from
 * pi to -pi: the servo aims by the nearest turn, and the speed stays. */
Test(mjcf_motors, servos_of_turns_wind_through_whole_ones) {
    static const char *const drive[2] = {"<position joint='b' gear='0 0 0.5' kp='80' kv='20'/>",
                                         "<position site='s' refsite='o' gear='0 0 0 0 0 0.5' kp='80' kv='20'/>"};
    char text[800];
    for (int k = 0; k < 2; k++) {
        snprintf(
            text, sizeof text,
            MODEL("<option gravity='0 0 0'/><worldbody><site name='o'/><body><joint name='b' type='ball'/><inertial "
                  "pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/><site name='s'/></body></worldbody><actuator>%s"
                  "</actuator>"),
            drive[k]);
        sim_scene *s = load_model(text, NULL, NULL);
        sim_world *w = sim_world_create(s->model, &s->options, NULL);
        cr_assert_not_null(w);
        double most = 0;
        for (int i = 0; i < 3000; i++) {
            double time = sim_world_state(w)->time + 0.002;
            *sim_world_inputs(w, SIM_CTRL) = 0.5 * 3 * time;
            cr_assert_eq(sim_world_step(w, NULL), SIM_OK);
            most = time > 2 ? fmax(most, fabs(sim_world_state(w)->v[2] - 3)) : most;
        }
        cr_expect_lt(most, 0.01, "%s: %g rad/s beside 3", drive[k], most);
        sim_world_free(w);
        sim_scene_free(s);
    }
}

/* A string over a cylinder, r 0.1 m, on the side of a site within it but 0.5 m along its axis: two tangents and an arc. */
Test(mjcf_motors, strings_pass_on_the_side_of_a_site_within_a_cylinder_beside_its_middle) {
    const char *text = MODEL(
        "<worldbody><site name='a' pos='-1 0 0'/><geom name='rod' type='cylinder' size='0.1 1'/><site name='s' "
        "pos='%s'/><body><joint type='slide' axis='1 0 0'/>" BALL "<site name='b' pos='1 0 0'/></body></worldbody>"
        "<tendon><spatial name='t'>\n<site site='a'/><geom geom='rod' sidesite='s'/>\n<site site='b'/></spatial>"
        "</tendon>");
    char file[800];
    for (int side = -1; side <= 1; side += 2) {
        snprintf(file, sizeof file, text, side < 0 ? "0 -0.05 0.5" : "0.01 0.05 -0.5");
        sim_scene *s = load_model(file, NULL, NULL);
        sim_derived *d = sim_derived_create(s->model, NULL);
        sim_kinematics(d, sim_all(s->model), (const double[]){0});
        double length = 2 * sqrt(1 - 0.01) + 0.1 * (PI - 2 * acos(0.1));
        cr_expect_float_eq(sim_tendon_length(d, 0, (const double[]){0}), length, 1e-14, "%d", side);
        sim_derived_free(d);
        sim_scene_free(s);
    }
    /* on the axis it says no side */
    snprintf(file, sizeof file, text, "0 0 0.5");
    refused(file, "scene.json:3:34", "the site is within the cylinder");
}
