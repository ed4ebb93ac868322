/* Arms and grippers whose actuators have an effort limit. */
#include "arms.h"

#include "math/v3.h"
#include "support/touched.h"

#include <math.h>

static const double once[] = {0};
static const v3 down = {0, 0, -9.81};

static double pow10_between(random_source *r, double low, double high) { return pow(10, random_uniform(r, low, high)); }

/* A controller towards `target`. */
static sim_actuator servo(double kp, double kd, double effort, const double *target) {
    sim_actuator a = sim_actuator_default();
    a.kp = kp;
    a.kd = kd;
    a.effort = effort;
    a.target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = once, .values = target};
    return a;
}

void arm_open(arm *a, random_source *r, int ground, double friction, const char *solver, sim_integrator scheme) {
    a->y = yard_begin(down, rough(friction));
    a->y.tolerance = 1e-12;
    sim_shape ball = sim_shape_default();
    ball.type = SIM_SPHERE;
    ball.size[0] = 0.05;
    ball.pose.p = v3_make(0.3, 0, 0);
    ball.material = a->y.material;
    if (ground) {
        yard_ground(&a->y);
    }
    double q[LINKS], turned = 0, height = 0.06; /* the ball starts 1 cm above the ground */
    for (int i = 0; i < LINKS; i++) {
        q[i] = random_uniform(r, -0.5, 0.5);
        turned += q[i];
        height += 0.3 * sin(turned);
    }
    for (int i = 0; i < LINKS; i++) {
        sim_body_def def = sim_body_default();
        char name[] = {'l', (char)('0' + i), 0};
        def.name = name;
        def.joint = SIM_HINGE;
        def.parent = i;
        def.axis = v3_make(0, 1, 0);
        def.placement.p = i ? v3_make(0.3, 0, 0) : v3_make(0, 0, height);
        def.inertia = box_inertia(0.5, 0.3, 0.05, 0.05);
        def.inertia.com = v3_make(0.15, 0, 0);
        def.damping[0] = i % 2 ? 0.1 : 0;
        def.q[0] = q[i];
        def.v[0] = random_uniform(r, -3, 3);
        def.friction[0] = ground ? 0 : 1e-9; /* a row that holds next to nothing */
        ball.body = sim_builder_add_body(a->y.builder, &def);
        a->target[i] = random_uniform(r, -0.3, 0.6);
        a->servo[i] = servo(pow10_between(r, 1, 4), pow10_between(r, 0, 2), pow10_between(r, 0, 1.5), &a->target[i]);
        sim_builder_add_actuator(a->y.builder, ball.body, &a->servo[i]);
    }
    sim_builder_add_shape(a->y.builder, &ball);
    yard_open(&a->y, solver, scheme, dt);
}

yard grippers(int count, double F, double kp, double kd, const char *solver, sim_integrator scheme) {
    yard y = yard_begin(down, rough(1));
    y.tolerance = 1e-10;
    for (int i = 0; i < count; i++) {
        add_gripper(y.builder, i, y.material, F, kp, kd);
    }
    yard_open(&y, solver, scheme, dt);
    return y;
}
