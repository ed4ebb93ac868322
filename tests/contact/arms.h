/* Arms and grippers whose actuators have an effort limit. */
#ifndef CONTACT_ARMS_H
#define CONTACT_ARMS_H

#include "support.h"

enum { LINKS = 9 };            /* of so many, A is factored by bodies; of the grippers, by branches */
static const double dt = 2e-3; /* step, s */

/* An arm of hinges about y whose last link ends in a ball, over a ground or without one. */
typedef struct arm {
    yard y;
    double target[LINKS];
    sim_actuator servo[LINKS];
} arm;

void arm_open(arm *a, random_source *r, int ground, double friction, const char *solver, sim_integrator scheme);
/* `count` grippers with limit F, N; gains kp, kd. */
yard grippers(int count, double F, double kp, double kd, const char *solver, sim_integrator scheme);

#endif
