/* The scene format, sensors, key by key. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

#include <sim/model.h>

static const char *type_name(int i) { return i < SIM_SENSOR_TYPES ? sim_sensor_name((sim_sensor_type)i) : NULL; }

enum {
    OF_JOINT = BIT(SIM_SENSE_JOINT_POSITION) | BIT(SIM_SENSE_JOINT_VELOCITY) | BIT(SIM_SENSE_JOINT_EFFORT),
    OF_BALL = BIT(SIM_SENSE_BALL_ORIENTATION) | BIT(SIM_SENSE_BALL_ANGULAR_VELOCITY),
    OF_ACTUATOR = BIT(SIM_SENSE_ACTUATOR_FORCE) | BIT(SIM_SENSE_ACTUATOR_LENGTH) | BIT(SIM_SENSE_ACTUATOR_VELOCITY),
    OF_TENDON = BIT(SIM_SENSE_TENDON_LENGTH) | BIT(SIM_SENSE_TENDON_VELOCITY),
    OF_SITE = BIT(SIM_SENSE_FORCE) | BIT(SIM_SENSE_TORQUE) | BIT(SIM_SENSE_ACCELEROMETER) | BIT(SIM_SENSE_GYRO) |
              BIT(SIM_SENSE_VELOCIMETER) | BIT(SIM_SENSE_RANGEFINDER),
    OF_FRAME = BIT(SIM_SENSE_FRAME_POSITION) | BIT(SIM_SENSE_FRAME_ORIENTATION) | BIT(SIM_SENSE_FRAME_VELOCITY) |
               BIT(SIM_SENSE_FRAME_ANGULAR_VELOCITY) | BIT(SIM_SENSE_FRAME_ACCELERATION) |
               BIT(SIM_SENSE_FRAME_ANGULAR_ACCELERATION) | BIT(SIM_SENSE_FRAME_X_AXIS) | BIT(SIM_SENSE_FRAME_Y_AXIS) |
               BIT(SIM_SENSE_FRAME_Z_AXIS),
    OF_TREE = BIT(SIM_SENSE_CENTER_OF_MASS) | BIT(SIM_SENSE_MOMENTUM) | BIT(SIM_SENSE_CENTER_OF_MASS_VELOCITY) |
              BIT(SIM_SENSE_ANGULAR_MOMENTUM),
    DIRECTION = BIT(SIM_SENSE_BALL_ORIENTATION) | BIT(SIM_SENSE_FRAME_ORIENTATION) | BIT(SIM_SENSE_FRAME_X_AXIS) |
                BIT(SIM_SENSE_FRAME_Y_AXIS) | BIT(SIM_SENSE_FRAME_Z_AXIS),
    TOUCH = BIT(SIM_SENSE_TOUCH),
};

static const field sensor_fields[] = {
    {"name", FIELD_NAME, AT(sensor_data, name), .required = true, .help = "Name, unique among the sensors."},
    {"type", FIELD_ENUM, AT(sensor_data, type), .required = true, .name_of = type_name,
     .help = "Measured quantity ([sensors.md](sensors.md))."},
    {"joint", FIELD_NAME, AT(sensor_data, joint), .only = OF_JOINT | OF_BALL, .needed_by = OF_JOINT | OF_BALL,
     .help = "Name of the joint or its body."},
    {"dof", FIELD_INTEGER, AT(sensor_data, dof), WITHIN(0, 5), .standard = "0", .only = OF_JOINT,
     .help = "Degree of freedom of the joint, from 0."},
    {"actuator", FIELD_NAME, AT(sensor_data, actuator), .only = OF_ACTUATOR, .needed_by = OF_ACTUATOR,
     .help = "Name of the actuator."},
    {"tendon", FIELD_NAME, AT(sensor_data, tendon), .only = OF_TENDON, .needed_by = OF_TENDON,
     .help = "Name of the tendon."},
    {"site", FIELD_NAME, AT(sensor_data, site), .rival = 1, .only = OF_SITE | OF_FRAME | TOUCH, .needed_by = OF_SITE,
     .help = "Place and axes of the sensor."},
    {"body", FIELD_NAME, AT(sensor_data, body), .rival = 1, .only = OF_FRAME | OF_TREE | TOUCH, .needed_by = OF_TREE,
     .help = "Body, in place of a site: its frame, or the body with all that hangs on it (`world`: all bodies)."},
    {"radius", FIELD_NUMBER, AT(sensor_data, radius), LENGTH, .only = TOUCH,
     .help = "Contacts count up to this distance from the site. Default: all of the body."},
    {"reference_site", FIELD_NAME, AT(sensor_data, reference_site), .rival = 2, .only = OF_FRAME,
     .help = "Site relative to which the frame is seen, and in whose axes."},
    {"reference", FIELD_NAME, AT(sensor_data, reference), .rival = 2, .only = OF_FRAME, .standard = "\"world\"",
     .help = "Body in place of that site."},
    {"range", FIELD_NUMBER, AT(sensor_data, range), LENGTH, .standard = "1e6", .only = BIT(SIM_SENSE_RANGEFINDER),
     .help = "Greatest distance that it sees."},
    {"saturation", FIELD_NUMBER, AT(sensor_data, saturation), POSITIVE,
     .only = (BIT(SIM_SENSOR_TYPES) - 1) & ~DIRECTION,
     .help = "Greatest magnitude that it reads: numbers beyond it are read as this. Default: it reads any."},
    {"delay", FIELD_NUMBER, AT(sensor_data, delay), .unit = "s", NOT_NEGATIVE, .standard = "0",
     .help = "Age of the readings, rounded up to whole steps. Before, they are 0."},
};
const table table_sensor = {"sensor",
                            "Measurement of a quantity after every step, recorded by the signal `sensors`.",
                            sizeof(sensor_data),
                            sensor_fields,
                            .count = COUNT(sensor_fields),
                            .type_key = "type"};
