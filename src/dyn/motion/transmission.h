/* Transmissions of actuators, for integrators and sensors. */
#ifndef DYN_MOTION_TRANSMISSION_H
#define DYN_MOTION_TRANSMISSION_H

#include <sim/dynamics.h>

/* Adds the wrenches that the force `strength` of an actuator puts on bodies, at their origins; of a joint, an orientation and a fixed
 * tendon none.  After sim_kinematics. */
void transmission_add_wrenches(const sim_derived *d, const sim_actuator *a, double strength, sim_force *wrench);
/* By how much a length changes that is the angle of a turn, after which the turn is the same; 0: it is none. */
double transmission_period(const sim_model *m, const sim_actuator *a);

#endif
