/* sim: articulated rigid bodies in frictional contact.  This header includes the whole interface.
 *
 *   base.h         status, errors, version
 *   math.h         vectors, rotations, poses, motions and forces
 *   model.h        the model; building one in C.  Its parts:
 *     body.h       bodies, joints, degrees of freedom, trees
 *     shape.h      shapes and their materials
 *     constraint.h tendons, equalities between bodies
 *     actuator.h   actuators and loads
 *     track.h      values over time
 *     controller.h controllers, phases, events
 *     sensor.h     sites and sensors
 *     soft.h       soft bodies
 *     fluid.h      the fluid around bodies
 *   dynamics.h     kinematics, inverse and forward dynamics, mass matrix, Jacobians, energy
 *   derivatives.h  their derivatives by coordinates, velocities and forces
 *   problem.h      the contact problem of one step
 *   solver.h       contact solvers
 *   method.h       interface of user-defined solvers
 *   judge.h        certificates of solutions
 *   world.h        state and step
 *   step_derivatives.h  derivatives of a step by its state and inputs
 *   rollout.h      many worlds of one model, side by side
 *   scene.h        models and options from a JSON file
 *   record.h       trajectories and checkpoints in files
 *   sweep.h        many runs of one scene with other values: rows in a file
 *   view.h         runs as pages for a browser
 *
 * Conventions: SI units, radians, right-handed frames, quaternions (w, x, y, z) that rotate body to world, spatial
 * vectors (angular; linear). */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <sim/actuator.h>
#include <sim/base.h>
#include <sim/body.h>
#include <sim/collide.h>
#include <sim/constraint.h>
#include <sim/controller.h>
#include <sim/derivatives.h>
#include <sim/dynamics.h>
#include <sim/fluid.h>
#include <sim/geometry.h>
#include <sim/judge.h>
#include <sim/math.h>
#include <sim/method.h>
#include <sim/model.h>
#include <sim/problem.h>
#include <sim/record.h>
#include <sim/rollout.h>
#include <sim/scene.h>
#include <sim/sensor.h>
#include <sim/shape.h>
#include <sim/soft.h>
#include <sim/solver.h>
#include <sim/step_derivatives.h>
#include <sim/sweep.h>
#include <sim/track.h>
#include <sim/view.h>
#include <sim/world.h>

#endif
