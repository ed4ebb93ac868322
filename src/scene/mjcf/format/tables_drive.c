/* The format MJCF, what drives and measures: actuators, sensors, keyframes. */
#include "scene/mjcf/format/rows.h"

#include <string.h>

/* ---- actuators ---- */

#define LIMITED(title, what)                                                                                           \
    { .name = (title), .kind = XML_CHOICE, .choices = FALSE_TRUE_AUTO, .standard = "auto", .help = what }
#define RANGE(title, what)                                                                                             \
    { .name = (title), .kind = XML_VECTOR, .count = 2, .standard = "0 0", .help = what }
#define KEPT(what)                                                                                                     \
    { .name = "nsample", .kind = XML_NUMBER, .standard = "0", .help = "Steps of " what " that are kept for a delay." }
#define DELAY(what)                                                                                                    \
    { .name = "delay", .kind = XML_NUMBER, .unit = "s", .standard = "0", .help = what ", rounded up to whole steps." }
#define OF_FORCE                                                                                                       \
    NAME, CLASS, {.name = "group", .kind = XML_NUMBER, .standard = "0", .help = "For `actuatorgroupdisable`."},        \
        RANGE("ctrlrange", "Range of the control input."), LIMITED("forcelimited", "`forcerange` counts."),            \
        RANGE("forcerange", "Range of the force."), KEPT("inputs"), DELAY("Inputs act so much later"),                 \
        IGNORED("interp", "inputs are constant over a step"), IGNORED("user", NOT_MOTION)
#define OF_ACTUATOR                                                                                                    \
    OF_FORCE, LIMITED("ctrllimited", "`ctrlrange` counts."),                                                           \
        {.name = "lengthrange",                                                                                        \
         .kind = XML_VECTOR,                                                                                           \
         .count = 2,                                                                                                   \
         .standard = "0 0",                                                                                            \
         .help = "Range of the length of a muscle."},                                                                  \
        {.name = "gear",                                                                                               \
         .kind = XML_VECTOR,                                                                                           \
         .count = 6,                                                                                                   \
         .least = 1,                                                                                                   \
         .standard = "1 0 0 0 0 0",                                                                                    \
         .help = "Factors from force to joint or tendon, or direction of force and torque in a site."},                \
        {.name = "cranklength",                                                                                        \
         .kind = XML_NUMBER,                                                                                           \
         .unit = "m",                                                                                                  \
         .standard = "0",                                                                                              \
         .help = "Length of the rod of a slider-crank."},                                                              \
        {.name = "damping",                                                                                            \
         .kind = XML_VECTOR,                                                                                           \
         .count = 3,                                                                                                   \
         .least = 1,                                                                                                   \
         .standard = "0 0 0",                                                                                          \
         .help = "Damping of the joint or tendon over the square of the gear, and the terms of the second and third "  \
                 "degree."},                                                                                           \
        {.name = "armature",                                                                                           \
         .kind = XML_NUMBER,                                                                                           \
         .standard = "0",                                                                                              \
         .help = "Inertia of the joint or tendon over the square of the gear: that of the rotor."},                    \
        TEXT_KEY("joint", "It acts on this joint."),                                                                   \
        TEXT_KEY("jointinparent", "As `joint`; torques along axes of the parent."),                                    \
        TEXT_KEY("tendon", "It acts on this tendon."), TEXT_KEY("site", "It acts at this site."),                      \
        TEXT_KEY("refsite", "Site in whose axes it acts."), TEXT_KEY("cranksite", "Site of the crank."),               \
        TEXT_KEY("slidersite", "Site of the slider, along its z.")
#define NUMBER(title, otherwise, what)                                                                                 \
    { .name = (title), .kind = XML_NUMBER, .standard = (otherwise), .help = what }
#define ACTIVATION LIMITED("actlimited", "`actrange` counts."), RANGE("actrange", "Range of the activation.")
#define INHERIT NUMBER("inheritrange", "0", "Range of the input: that of the joint, times this; 0: none.")

static const xml_key general_keys[] = {
    OF_ACTUATOR,
    ACTIVATION,
    TEXT_KEY("body", "It pulls at the contacts of this body; `gear` does not count."),
    {.name = "dyntype",
     .kind = XML_CHOICE,
     .choices = WORDS("none", "integrator", "filter", "filterexact", "muscle", "user"),
     .standard = "none",
     .help = "Activation. User is refused."},
    {.name = "gaintype",
     .kind = XML_CHOICE,
     .choices = WORDS("fixed", "affine", "muscle", "user"),
     .standard = "fixed",
     .help = "Gain. User is refused."},
    {.name = "biastype",
     .kind = XML_CHOICE,
     .choices = WORDS("none", "affine", "muscle", "user"),
     .standard = "none",
     .help = "Bias. User is refused."},
    {.name = "dynprm", .kind = XML_VECTOR, .count = 10, .least = 1, .standard = "1", .help = "Of the activation."},
    {.name = "gainprm", .kind = XML_VECTOR, .count = 10, .least = 1, .standard = "1", .help = "Of the gain."},
    {.name = "biasprm", .kind = XML_VECTOR, .count = 10, .least = 1, .standard = "0", .help = "Of the bias."},
    {.name = "actdim", .kind = XML_NUMBER, .use = XML_REFUSED, .standard = "-1", .help = "it is for plugins"},
    IGNORED("actearly", "the activation at the end of the step acts"),
    {.name = "input", .kind = XML_TEXT, .use = XML_REFUSED, .help = "an actuator has one control input"},
    IGNORED("velrange", "an actuator has one control input"),
    IGNORED("ffrange", "an actuator has one control input"),
};
const xml_table mjcf_table_general = LEAF(
    "general", "force = gain(l, l') input + bias(l, l'), with the length l of joint, tendon or site.", general_keys);
static const xml_key motor_keys[] = {OF_ACTUATOR};
const xml_table mjcf_table_motor = LEAF("motor", "force = input.", motor_keys);
static const xml_key position_keys[] = {
    OF_ACTUATOR,
    INHERIT,
    NUMBER("kp", "1", "Stiffness."),
    NUMBER("kv", "0", "Damping."),
    {.name = "dampratio", .kind = XML_NUMBER, .help = "Damping ratio, with the inertia at the reference pose."},
    {.name = "timeconst", .kind = XML_NUMBER, .unit = "s", .help = "Time constant of a filter of the input."},
};
const xml_table mjcf_table_position = LEAF("position", "force = kp (input - l) - kv l'.", position_keys);
static const xml_key velocity_keys[] = {OF_ACTUATOR, NUMBER("kv", "1", "Damping.")};
const xml_table mjcf_table_velocity = LEAF("velocity", "force = kv (input - l').", velocity_keys);
static const xml_key intvelocity_keys[] = {
    OF_ACTUATOR,
    ACTIVATION,
    INHERIT,
    NUMBER("kp", "1", "Stiffness."),
    NUMBER("kv", "0", "Damping."),
    {.name = "dampratio", .kind = XML_NUMBER, .help = "As of `position`."},
};
const xml_table mjcf_table_intvelocity =
    LEAF("intvelocity", "As `position`, of the integral of the input.", intvelocity_keys);
static const xml_key damper_keys[] = {OF_ACTUATOR, NUMBER("kv", "1", "Damping.")};
const xml_table mjcf_table_damper = LEAF("damper", "force = - kv input l'.", damper_keys);
static const xml_key cylinder_keys[] = {
    OF_ACTUATOR,
    NUMBER("timeconst", "1", "Time constant of the pressure, s."),
    NUMBER("area", "1", "Area, m^2."),
    {.name = "diameter", .kind = XML_NUMBER, .unit = "m", .help = "In place of the area."},
    {.name = "bias", .kind = XML_VECTOR, .count = 3, .standard = "0 0 0", .help = "Bias force."},
};
const xml_table mjcf_table_cylinder =
    LEAF("cylinder", "Pneumatic cylinder: the filtered input times its area.", cylinder_keys);
static const xml_key muscle_keys[] = {
    OF_ACTUATOR,
    {.name = "timeconst",
     .kind = XML_VECTOR,
     .count = 2,
     .unit = "s",
     .standard = "0.01 0.04",
     .help = "Time constants of activation and deactivation."},
    {.name = "tausmooth",
     .kind = XML_NUMBER,
     .use = XML_REFUSED,
     .standard = "0",
     .help = "the two time constants change at once"},
    {.name = "range",
     .kind = XML_VECTOR,
     .count = 2,
     .standard = "0.75 1.05",
     .help = "Lengths of the muscle at the ends of `lengthrange`, over its rest length."},
    NUMBER("force", "-1", "Peak force, N; negative: from `scale`."),
    NUMBER("scale", "200", "Peak force from the inertia at the reference pose, N."),
    NUMBER("lmin", "0.5", "Least length of force."),
    NUMBER("lmax", "1.6", "Greatest length of force."),
    NUMBER("vmax", "1.5", "Greatest velocity of shortening."),
    NUMBER("fpmax", "1.3", "Passive force at `lmax`."),
    NUMBER("fvmax", "1.2", "Force at the greatest lengthening."),
};
const xml_table mjcf_table_muscle = LEAF("muscle", "Muscle.", muscle_keys);
static const xml_key adhesion_keys[] = {
    OF_FORCE,
    TEXT_KEY("body", "Body that moves, to which it pulls what touches it."),
    NUMBER("gain", "1", "Force over input, N. Contacts up to their `gap` share it in equal parts."),
};
const xml_table mjcf_table_adhesion = LEAF("adhesion", "Force that holds the contacts of a body.", adhesion_keys);

#define STATELESS(title, length, zeros, what)                                                                          \
    {                                                                                                                  \
        .name = (title), .kind = XML_VECTOR, .count = (length), .least = 1, .use = XML_REFUSED, .standard = (zeros),   \
        .help = what                                                                                                   \
    }
static const xml_key dc_motor_keys[] = {
    OF_ACTUATOR,
    {.name = "resistance", .kind = XML_NUMBER, .unit = "Ohm", .help = "Resistance R of the winding."},
    {.name = "motorconst",
     .kind = XML_VECTOR,
     .count = 2,
     .least = 1,
     .unit = "N m/A, V s/rad",
     .help = "Constants of torque and of voltage; K is their geometric mean, or the one that is given."},
    {.name = "nominal",
     .kind = XML_VECTOR,
     .count = 3,
     .least = 1,
     .unit = "V, N m, rad/s",
     .help = "Voltage, torque at rest and speed without load but for `damping`: K and R, where they are not given."},
    {.name = "saturation",
     .kind = XML_VECTOR,
     .count = 3,
     .least = 1,
     .unit = "N m, A, A/s",
     .standard = "0 0 0",
     .help = "Greatest torque, or current; 0: none. Without inductance the rate of the current has no meaning."},
    {.name = "input",
     .kind = XML_TEXT,
     .use = XML_REFUSED,
     .standard = "voltage",
     .help = "the input is the voltage; write the controller as `position`"},
    STATELESS("controller", 6, "0 0 0 0 0 0", "write it as `position`"),
    STATELESS("inductance", 2, "0 0", "the current follows the voltage at once"),
    STATELESS("thermal", 6, "0 0 0 0 0 0", "the resistance is constant"),
    STATELESS("cogging", 3, "0 0 0", "the torque does not depend on the angle"),
    STATELESS("lugre", 5, "0 0 0 0 0", "give the joint a frictionloss"),
};
const xml_table mjcf_table_dc_motor = LEAF("dcmotor", "Motor at a voltage: force = K/R (input - K l').", dc_motor_keys);

#define ACTUATOR(title, table_of)                                                                                      \
    { .name = (title), .use = XML_READ, .many = true, .table = (table_of) }
static const xml_rule actuator_rules[] = {
    ACTUATOR("general", &mjcf_table_general),
    ACTUATOR("motor", &mjcf_table_motor),
    ACTUATOR("position", &mjcf_table_position),
    ACTUATOR("velocity", &mjcf_table_velocity),
    ACTUATOR("intvelocity", &mjcf_table_intvelocity),
    ACTUATOR("damper", &mjcf_table_damper),
    ACTUATOR("cylinder", &mjcf_table_cylinder),
    ACTUATOR("muscle", &mjcf_table_muscle),
    ACTUATOR("adhesion", &mjcf_table_adhesion),
    ACTUATOR("dcmotor", &mjcf_table_dc_motor),
    {.name = "plugin", .use = XML_REFUSED, .help = PLUGIN},
    {.name = "orientation", .use = XML_REFUSED, .help = "give each coordinate an actuator"},
    {.name = "pid", .use = XML_REFUSED, .help = "write it as `position`"},
};
const xml_table mjcf_table_actuator = GROUP("actuator", "Actuators.", actuator_rules);

/* ---- sensors ---- */

#define OF_SENSOR                                                                                                      \
    NAME, IGNORED("noise", "sensors are exact"),                                                                       \
        {.name = "cutoff", .kind = XML_NUMBER, .standard = "0", .help = "Greatest magnitude that it reads; 0: any."},  \
        IGNORED("user", NOT_MOTION), KEPT("readings"), DELAY("Age of the readings"),                                   \
        IGNORED("interp", "readings are those of a step"), IGNORED("interval", "sensors read at every step")
static const xml_key site_sensor_keys[] = {
    OF_SENSOR,
    {.name = "site", .kind = XML_TEXT, .required = true, .help = "Name of a site."},
};
static const xml_table table_site_sensor = LEAF("site_sensor", "Sensor at a site.", site_sensor_keys);
static const xml_key rangefinder_keys[] = {
    OF_SENSOR,
    {.name = "site", .kind = XML_TEXT, .help = "Name of a site."},
    {.name = "camera", .kind = XML_TEXT, .help = "Camera in its place: the sensor is left out."},
    IGNORED("data", "the distance is measured"),
};
static const xml_table table_rangefinder = LEAF("rangefinder", "Distance along z.", rangefinder_keys);
static const xml_key joint_sensor_keys[] = {
    OF_SENSOR,
    {.name = "joint", .kind = XML_TEXT, .required = true, .help = "Name of a joint."},
};
static const xml_table table_joint_sensor = LEAF("joint_sensor", "Sensor of a joint.", joint_sensor_keys);
static const xml_key tendon_sensor_keys[] = {
    OF_SENSOR,
    {.name = "tendon", .kind = XML_TEXT, .required = true, .help = "Name of a tendon."},
};
static const xml_table table_tendon_sensor = LEAF("tendon_sensor", "Sensor of a tendon.", tendon_sensor_keys);
static const xml_key actuator_sensor_keys[] = {
    OF_SENSOR,
    {.name = "actuator", .kind = XML_TEXT, .required = true, .help = "Name of an actuator."},
};
static const xml_table table_actuator_sensor = LEAF("actuator_sensor", "Sensor of an actuator.", actuator_sensor_keys);
#define OBJECT WORDS("body", "xbody", "geom", "site", "camera")
static const xml_key frame_sensor_keys[] = {
    OF_SENSOR,
    {.name = "objtype",
     .kind = XML_CHOICE,
     .required = true,
     .choices = OBJECT,
     .help = "Kind of object. Body: its centre of mass; xbody: its frame. Sensors of others are left out."},
    {.name = "objname", .kind = XML_TEXT, .required = true, .help = "Its name."},
    {.name = "reftype", .kind = XML_CHOICE, .choices = OBJECT, .help = "Kind of the frame of reference."},
    {.name = "refname", .kind = XML_TEXT, .help = "Its name. Default: the world."},
};
static const xml_table table_frame_sensor = LEAF("frame_sensor", "Frame of a site or body.", frame_sensor_keys);
static const xml_key subtree_sensor_keys[] = {
    OF_SENSOR,
    {.name = "body", .kind = XML_TEXT, .required = true, .help = "Name of a body."},
};
static const xml_table table_subtree_sensor =
    LEAF("subtree_sensor", "A body with all that it carries.", subtree_sensor_keys);

#define SENSOR(title, table_of)                                                                                        \
    { .name = (title), .use = XML_READ, .many = true, .table = (table_of) }
#define NO_SENSOR(title)                                                                                               \
    { .name = (title), .use = XML_IGNORED, .help = "sim has no such sensor" }
static const xml_rule sensor_rules[] = {
    SENSOR("touch", &table_site_sensor),
    SENSOR("accelerometer", &table_site_sensor),
    SENSOR("velocimeter", &table_site_sensor),
    SENSOR("gyro", &table_site_sensor),
    SENSOR("force", &table_site_sensor),
    SENSOR("torque", &table_site_sensor),
    SENSOR("rangefinder", &table_rangefinder),
    SENSOR("jointpos", &table_joint_sensor),
    SENSOR("jointvel", &table_joint_sensor),
    SENSOR("jointactuatorfrc", &table_joint_sensor),
    SENSOR("ballquat", &table_joint_sensor),
    SENSOR("ballangvel", &table_joint_sensor),
    SENSOR("tendonpos", &table_tendon_sensor),
    SENSOR("tendonvel", &table_tendon_sensor),
    SENSOR("actuatorfrc", &table_actuator_sensor),
    SENSOR("framepos", &table_frame_sensor),
    SENSOR("framequat", &table_frame_sensor),
    SENSOR("framelinvel", &table_frame_sensor),
    SENSOR("frameangvel", &table_frame_sensor),
    SENSOR("framelinacc", &table_frame_sensor),
    SENSOR("frameangacc", &table_frame_sensor),
    SENSOR("subtreecom", &table_subtree_sensor),
    SENSOR("actuatorpos", &table_actuator_sensor),
    SENSOR("actuatorvel", &table_actuator_sensor),
    SENSOR("framexaxis", &table_frame_sensor),
    SENSOR("frameyaxis", &table_frame_sensor),
    SENSOR("framezaxis", &table_frame_sensor),
    SENSOR("subtreelinvel", &table_subtree_sensor),
    SENSOR("subtreeangmom", &table_subtree_sensor),
    NO_SENSOR("magnetometer"),
    NO_SENSOR("camprojection"),
    NO_SENSOR("tendonactuatorfrc"),
    NO_SENSOR("jointlimit*"),
    NO_SENSOR("tendonlimit*"),
    NO_SENSOR("insidesite"),
    NO_SENSOR("distance"),
    NO_SENSOR("normal"),
    NO_SENSOR("fromto"),
    NO_SENSOR("contact"),
    NO_SENSOR("e_potential"),
    NO_SENSOR("e_kinetic"),
    NO_SENSOR("clock"),
    NO_SENSOR("tactile"),
    NO_SENSOR("user"),
    NO_SENSOR("plugin"),
};
const xml_table mjcf_table_sensor = GROUP("sensor", "Sensors.", sensor_rules);

/* ---- keyframes ---- */

static const xml_key key_keys[] = {
    {.name = "name", .kind = XML_TEXT, .help = "Name. Default: `key` with its number."},
    {.name = "time", .kind = XML_NUMBER, .unit = "s", .standard = "0", .help = "Time."},
    {.name = "qpos",
     .kind = XML_LIST,
     .help = "Coordinates, in the order of the joints in the file. A short list is completed by the reference pose."},
    {.name = "qvel", .kind = XML_LIST, .help = "Velocities."},
    {.name = "act", .kind = XML_LIST, .help = "Activations, of the actuators that have one."},
    {.name = "ctrl", .kind = XML_LIST, .help = "Control inputs, in the order of the actuators in the file."},
    {.name = "mpos", .kind = XML_LIST, .use = XML_IGNORED, .help = "mocap bodies stay where they are"},
    {.name = "mquat", .kind = XML_LIST, .use = XML_IGNORED, .help = "mocap bodies stay where they are"},
};
static const xml_table table_key = LEAF("key", "State by name, for `--start NAME`.", key_keys);
static const xml_rule keyframe_rules[] = {{.name = "key", .use = XML_READ, .many = true, .table = &table_key}};
const xml_table mjcf_table_keyframe = GROUP("keyframe", "States by name.", keyframe_rules);

const xml_table *mjcf_actuator_table(const char *name) {
    for (int k = 0; k < COUNT(actuator_rules); k++) {
        if (actuator_rules[k].table && strcmp(actuator_rules[k].name, name) == 0) {
            return actuator_rules[k].table;
        }
    }
    return NULL;
}
