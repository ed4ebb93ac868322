/* Joints moved by hand. */
#ifndef LIVE_JOINT_H
#define LIVE_JOINT_H

#include <sim/world.h>

/* Puts a coordinate of a body's joint to a value, or to the end of its range, and stops it.  Time, other coordinates and
 * their rates stay.  SIM_BAD_INPUT where the joint has no such coordinate. */
sim_status live_joint_move(sim_world *world, int body, int coordinate, double value, sim_error *error);

#endif
