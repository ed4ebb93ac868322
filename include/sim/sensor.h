/* Sites and sensors. */
#ifndef SIM_SENSOR_H
#define SIM_SENSOR_H

#include <sim/base.h>
#include <sim/math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A named frame on a body. */
typedef struct sim_site {
    const char *name; /* unique among sites */
    int body;
    sim_pose pose; /* in the body frame */
} sim_site;

/* Sensors.  States are those at the end of a step; forces and accelerations are means over the step (docs/sensors.md).
 * A frame stands on `body`; `reference` is another, in whose axes and relative to whose motion frame_* are given.
 *
 *   joint_position, joint_velocity     of a dof with a coordinate of its own
 *   joint_effort                       sum of gear times force of the actuators on a dof
 *   actuator_force                     force of one actuator
 *   actuator_length, actuator_velocity length of one actuator, its rate
 *   ball_orientation                   quaternion (w x y z) of a ball joint
 *   ball_angular_velocity              its velocity, in axes of the body
 *   force, torque                      that the parent exerts on the body across its joint: at and in axes of the frame
 *   touch                              sum of normal contact forces on the body, within `radius` of the frame's origin
 *   accelerometer                      acceleration less gravity, in axes of the frame
 *   gyro, velocimeter                  angular velocity, velocity of the origin, in axes of the frame
 *   frame_position, frame_orientation  pose of the frame in the reference
 *   frame_x_axis, ...                  an axis of the frame, in axes of the reference
 *   frame_velocity, ...                rates of these, and their rates
 *   tendon_length, tendon_velocity     of a tendon, its rate
 *   rangefinder                        distance to the nearest shape of another body along z of the frame, up to
 *                                      `range`; -1: there is none
 *   center_of_mass, ..._velocity       of the body with all that hangs on it
 *   momentum                           of these: angular, about their centre of mass; linear
 *   angular_momentum                   the first three of these */
typedef enum sim_sensor_type {
    SIM_SENSE_JOINT_POSITION,
    SIM_SENSE_JOINT_VELOCITY,
    SIM_SENSE_JOINT_EFFORT,
    SIM_SENSE_ACTUATOR_FORCE,
    SIM_SENSE_BALL_ORIENTATION,
    SIM_SENSE_FORCE,
    SIM_SENSE_TORQUE,
    SIM_SENSE_TOUCH,
    SIM_SENSE_ACCELEROMETER,
    SIM_SENSE_GYRO,
    SIM_SENSE_VELOCIMETER,
    SIM_SENSE_FRAME_POSITION,
    SIM_SENSE_FRAME_ORIENTATION,
    SIM_SENSE_FRAME_VELOCITY,
    SIM_SENSE_FRAME_ANGULAR_VELOCITY,
    SIM_SENSE_FRAME_ACCELERATION,
    SIM_SENSE_FRAME_ANGULAR_ACCELERATION,
    SIM_SENSE_TENDON_LENGTH,
    SIM_SENSE_TENDON_VELOCITY,
    SIM_SENSE_RANGEFINDER,
    SIM_SENSE_CENTER_OF_MASS,
    SIM_SENSE_MOMENTUM,
    SIM_SENSE_ACTUATOR_LENGTH,
    SIM_SENSE_ACTUATOR_VELOCITY,
    SIM_SENSE_BALL_ANGULAR_VELOCITY,
    SIM_SENSE_FRAME_X_AXIS,
    SIM_SENSE_FRAME_Y_AXIS,
    SIM_SENSE_FRAME_Z_AXIS,
    SIM_SENSE_CENTER_OF_MASS_VELOCITY,
    SIM_SENSE_ANGULAR_MOMENTUM,
    SIM_SENSOR_TYPES,
} sim_sensor_type;

SIM_API const char *sim_sensor_name(sim_sensor_type type);
/* Numbers that it reads. */
SIM_API int sim_sensor_values(sim_sensor_type type);

typedef struct sim_sensor {
    const char *name; /* unique among sensors */
    sim_sensor_type type;
    int body;
    sim_pose frame; /* in the body frame */
    int reference;  /* a body; 0 is the world */
    sim_pose reference_frame;
    int dof;           /* joint_* */
    int actuator;      /* actuator_* */
    int tendon;        /* tendon_* */
    double radius;     /* m, touch; infinity: the whole body */
    double range;      /* m, rangefinder */
    double saturation; /* numbers beyond +- this are read as this; infinity: none are.  Not of orientations and axes */
    double delay;      /* s: readings are so old, rounded up to whole steps; before, they are 0 */
    int delay_steps;   /* of a delay: room for so many steps, and the present, from ... */
    int history;       /* ... here on in sim_state.history; set by the builder */
    int first;         /* of its values among those of all sensors */
} sim_sensor;

#ifdef __cplusplus
}
#endif
#endif
