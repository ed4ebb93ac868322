/* Motors at a voltage in models of MJCF: torque K/R (u - K w), with the constants from any of their forms. */
#include "mjcf_model.h"

#include <math.h>
#include <stdio.h>

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
