/* Sensors: types, numbers that they read, names and units of these. */
#include "model/parts/joint.h"

#include <stdio.h>
#include <string.h>

static const char *const one[] = {""}, *const xyz[] = {"x", "y", "z"}, *const wxyz[] = {"qw", "qx", "qy", "qz"};
static const char *const momenta[] = {"angular.x", "angular.y", "angular.z", "linear.x", "linear.y", "linear.z"};

/* By type; unit NULL: that of a joint, an actuator or a component. */
static const struct sensor_facts {
    const char *name, *unit;
    int values;
    const char *const *component;
} facts_of[SIM_SENSOR_TYPES] = {
    [SIM_SENSE_JOINT_POSITION] = {"joint_position", NULL, 1, one},
    [SIM_SENSE_JOINT_VELOCITY] = {"joint_velocity", NULL, 1, one},
    [SIM_SENSE_JOINT_EFFORT] = {"joint_effort", NULL, 1, one},
    [SIM_SENSE_ACTUATOR_FORCE] = {"actuator_force", NULL, 1, one},
    [SIM_SENSE_BALL_ORIENTATION] = {"ball_orientation", "1", 4, wxyz},
    [SIM_SENSE_FORCE] = {"force", "N", 3, xyz},
    [SIM_SENSE_TORQUE] = {"torque", "N m", 3, xyz},
    [SIM_SENSE_TOUCH] = {"touch", "N", 1, one},
    [SIM_SENSE_ACCELEROMETER] = {"accelerometer", "m/s^2", 3, xyz},
    [SIM_SENSE_GYRO] = {"gyro", "rad/s", 3, xyz},
    [SIM_SENSE_VELOCIMETER] = {"velocimeter", "m/s", 3, xyz},
    [SIM_SENSE_FRAME_POSITION] = {"frame_position", "m", 3, xyz},
    [SIM_SENSE_FRAME_ORIENTATION] = {"frame_orientation", "1", 4, wxyz},
    [SIM_SENSE_FRAME_VELOCITY] = {"frame_velocity", "m/s", 3, xyz},
    [SIM_SENSE_FRAME_ANGULAR_VELOCITY] = {"frame_angular_velocity", "rad/s", 3, xyz},
    [SIM_SENSE_FRAME_ACCELERATION] = {"frame_acceleration", "m/s^2", 3, xyz},
    [SIM_SENSE_FRAME_ANGULAR_ACCELERATION] = {"frame_angular_acceleration", "rad/s^2", 3, xyz},
    [SIM_SENSE_TENDON_LENGTH] = {"tendon_length", "m", 1, one},
    [SIM_SENSE_TENDON_VELOCITY] = {"tendon_velocity", "m/s", 1, one},
    [SIM_SENSE_RANGEFINDER] = {"rangefinder", "m", 1, one},
    [SIM_SENSE_CENTER_OF_MASS] = {"center_of_mass", "m", 3, xyz},
    [SIM_SENSE_MOMENTUM] = {"momentum", NULL, 6, momenta},
    [SIM_SENSE_ACTUATOR_LENGTH] = {"actuator_length", NULL, 1, one},
    [SIM_SENSE_ACTUATOR_VELOCITY] = {"actuator_velocity", NULL, 1, one},
    [SIM_SENSE_BALL_ANGULAR_VELOCITY] = {"ball_angular_velocity", "rad/s", 3, xyz},
    [SIM_SENSE_FRAME_X_AXIS] = {"frame_x_axis", "1", 3, xyz},
    [SIM_SENSE_FRAME_Y_AXIS] = {"frame_y_axis", "1", 3, xyz},
    [SIM_SENSE_FRAME_Z_AXIS] = {"frame_z_axis", "1", 3, xyz},
    [SIM_SENSE_CENTER_OF_MASS_VELOCITY] = {"center_of_mass_velocity", "m/s", 3, xyz},
    [SIM_SENSE_ANGULAR_MOMENTUM] = {"angular_momentum", "kg m^2/s", 3, xyz},
};

const char *sim_sensor_name(sim_sensor_type type) { return facts_of[type].name; }
int sim_sensor_values(sim_sensor_type type) { return facts_of[type].values; }

int sim_model_find_sensor(const sim_model *model, const char *name) {
    for (int k = 0; k < model->nsensor; k++) {
        if (strcmp(model->sensor[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

/* The last sensor whose values start at or before `value`. */
static const sim_sensor *sensor_of_value(const sim_model *model, int value) {
    int low = 0, high = model->nsensor;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (model->sensor[middle].first <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &model->sensor[low];
}

void sim_model_sensor_value_name(const sim_model *model, int value, char *text, size_t size) {
    const sim_sensor *s = sensor_of_value(model, value);
    const char *component = facts_of[s->type].component[value - s->first];
    snprintf(text, size, "%s%s%s", s->name, *component ? "." : "", component);
}

const char *sim_model_sensor_value_unit(const sim_model *model, int value) {
    const sim_sensor *s = sensor_of_value(model, value);
    /* the degree of freedom that tells angles from lengths */
    bool of_actuator = s->type == SIM_SENSE_ACTUATOR_FORCE || s->type == SIM_SENSE_ACTUATOR_LENGTH ||
                       s->type == SIM_SENSE_ACTUATOR_VELOCITY;
    int dof = of_actuator ? model->actuator[s->actuator].dof : s->dof;
    /* by type */
    switch (s->type) {
    case SIM_SENSE_JOINT_POSITION:
    case SIM_SENSE_ACTUATOR_LENGTH:
        return model->dof[dof].turns ? "rad" : "m";
    case SIM_SENSE_JOINT_VELOCITY:
    case SIM_SENSE_ACTUATOR_VELOCITY:
        return model->dof[dof].turns ? "rad/s" : "m/s";
    case SIM_SENSE_JOINT_EFFORT:
    case SIM_SENSE_ACTUATOR_FORCE:
        return model->dof[dof].turns ? "N m" : "N";
    case SIM_SENSE_MOMENTUM:
        return value - s->first < 3 ? "kg m^2/s" : "kg m/s";
    default:
        return facts_of[s->type].unit;
    }
}
