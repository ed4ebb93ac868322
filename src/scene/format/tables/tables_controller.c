/* The scene format, controllers, phases and events, key by key. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

static const char *type_name(int i) {
    return i < SIM_CONTROLLER_TYPES ? sim_controller_name((sim_controller_type)i) : NULL;
}

static const char *interpolation_name(int i) {
    static const char *const name[] = {"hold", "linear", "cubic", "quintic", "spline"};
    return i < COUNT(name) ? name[i] : NULL;
}

static const char *switch_name(int i) {
    static const char *const name[] = {"off", "on", "hold"};
    return i < COUNT(name) ? name[i] : NULL;
}

static const field controlled_actuator_fields[] = {
    {"actuator", FIELD_PATTERN, AT(controlled_actuator_data, actuator), .required = true,
     .help = "Name of an actuator of a joint; `*` matches any letters."},
};
const table table_controlled = {"controlled_actuator",
                                "Actuators of a controller. A text is short for `{\"actuator\": ...}`.",
                                sizeof(controlled_actuator_data),
                                controlled_actuator_fields,
                                .count = COUNT(controlled_actuator_fields),
                                .shorthand = "actuator",
                                .named_by = {"actuator"}};

static const field target_keyframe_fields[] = {
    {"keyframe", FIELD_NAME, AT(target_keyframe_data, keyframe), .required = true, .help = "Name of a keyframe."},
};
const table table_target_key = {"target_keyframe",
                                "A keyframe on the way. A text is short for `{\"keyframe\": ...}`.",
                                sizeof(target_keyframe_data),
                                target_keyframe_fields,
                                .count = COUNT(target_keyframe_fields),
                                .shorthand = "keyframe",
                                .named_by = {"keyframe"}};

static const field controller_target_fields[] = {
    {"times", FIELD_NUMBERS, AT(controller_target_data, times), .unit = "s",
     .help = "Time of each pose, keyframe or row of values, increasing. Default: one of them, at all times."},
    {"poses", FIELD_OBJECTS, AT(controller_target_data, poses), .table = &table_pose, .rival = 1,
     .help = "Poses in the world; turned as the world without an orientation. A joint impedance finds its joints by "
             "inverse kinematics when the scene is loaded; `points` leave its turn free."},
    {"keyframes", FIELD_OBJECTS, AT(controller_target_data, keyframes), .table = &table_target_key, .rival = 1,
     .help = "Of a joint impedance: keyframes, whose coordinates its joints take."},
    {"points", FIELD_ROWS, AT(controller_target_data, points), 3, .unit = "m", .rival = 1,
     .help = "Of a joint impedance: points where the `site` stands, turned as it may be."},
    {"values", FIELD_NUMBERS, AT(controller_target_data, values), .rival = 1,
     .help =
         "Coordinates of the joints or forces of a gripper: a number for each actuator, row by row; or one number a "
         "row, for all."},
    {"site", FIELD_NAME, AT(controller_target_data, site),
     .help = "Of poses and points of a joint impedance: the site that stands there."},
    {"frame", FIELD_NAME, AT(controller_target_data, frame),
     .help = "Of poses and points of a joint impedance: the body in whose axes they are, as a trunk that carries the "
             "legs. Default: the world."},
    {"interpolation", FIELD_ENUM, AT(controller_target_data, interpolation), .name_of = interpolation_name,
     .standard = "\"quintic\"",
     .help = "From one to the next: hold the last, linear, smooth with rate 0 at each (quintic: also with acceleration "
             "0). Spline: smooth, with rate 0 at the first and the last. Between poses the way is straight and the "
             "axis of the turn fixed."},
};
const table table_target = {
    "controller_target",      "Target of a controller over time.",      sizeof(controller_target_data),
    controller_target_fields, .count = COUNT(controller_target_fields), .rivals_needed = BIT(1)};

static const field phase_target_fields[] = {
    {"controller", FIELD_NAME, AT(phase_target_data, controller), .required = true,
     .help = "Controller that gets the target."},
    {"pose", FIELD_OBJECT, AT(phase_target_data, pose), .table = &table_pose, .rival = 1,
     .help = "Pose in the world, turned as the world without an orientation; of a joint impedance with `site`."},
    {"keyframe", FIELD_NAME, AT(phase_target_data, keyframe), .rival = 1,
     .help = "Keyframe, whose coordinates the joints take."},
    {"values", FIELD_NUMBERS, AT(phase_target_data, values), .rival = 1,
     .help = "A number for each joint, or one for all: coordinates, or forces of a gripper."},
    {"track", FIELD_OBJECT, AT(phase_target_data, track), .table = &table_target, .rival = 1,
     .help = "A way; its times count from the start of the phase. Where it does not begin at the place where the "
             "controller is led, the difference fades within `duration`."},
    {"site", FIELD_NAME, AT(phase_target_data, site), .help = "Of a joint impedance: the site that takes the pose."},
    {"duration", FIELD_NUMBER, AT(phase_target_data, duration), .unit = "s", NOT_NEGATIVE, .standard = "0",
     .help = "Time from the target at the beginning of the phase to this one: smoothly, at rest at both ends."},
};
const table table_phase_target = {"phase_target",
                                  "Target that a phase gives a controller. It stays until another phase gives another.",
                                  sizeof(phase_target_data),
                                  phase_target_fields,
                                  .count = COUNT(phase_target_fields),
                                  .named_by = {"controller"},
                                  .rivals_needed = BIT(1)};

static const field phase_switch_fields[] = {
    {"constraint", FIELD_NAME, AT(phase_switch_data, constraint), .required = true, .help = "Name of a constraint."},
    {"to", FIELD_ENUM, AT(phase_switch_data, to), .required = true, .name_of = switch_name,
     .help = "off; on, as the scene has it; hold: at the pose, point, distance or offset of that moment."},
};
const table table_phase_switch = {"phase_switch",
                                  "Constraint that a phase switches where it begins.",
                                  sizeof(phase_switch_data),
                                  phase_switch_fields,
                                  .count = COUNT(phase_switch_fields),
                                  .named_by = {"constraint"}};

static const field transition_fields[] = {
    {"to", FIELD_NAME, AT(transition_data, to), .required = true, .help = "Name of the next phase."},
    {"after", FIELD_NUMBER, AT(transition_data, after), .unit = "s", NOT_NEGATIVE,
     .help = "So long after the phase began."},
    {"at_time", FIELD_NUMBER, AT(transition_data, at_time), .unit = "s", .help = "From this time of the run on."},
    {"sensor", FIELD_NAME, AT(transition_data, sensor), .help = "A sensor reads more than `above`, less than `below`."},
    {"component", FIELD_INTEGER, AT(transition_data, component), WITHIN(0, 5), .standard = "0",
     .help = "Of its values, from 0."},
    {"above", FIELD_NUMBER, AT(transition_data, above), .help = "Least reading."},
    {"below", FIELD_NUMBER, AT(transition_data, below), .help = "Greatest reading."},
    {"first_site", FIELD_NAME, AT(transition_data, first_site),
     .help = "Two sites have a distance up to `nearer`, or from `farther` on."},
    {"second_site", FIELD_NAME, AT(transition_data, second_site), .help = "The other site."},
    {"nearer", FIELD_NUMBER, AT(transition_data, nearer), .unit = "m", NOT_NEGATIVE, .help = "Greatest distance."},
    {"farther", FIELD_NUMBER, AT(transition_data, farther), .unit = "m", NOT_NEGATIVE, .help = "Least distance."},
    {"first_body", FIELD_NAME, AT(transition_data, first_body),
     .help = "Two bodies press on each other, or do not (`pressed`)."},
    {"second_body", FIELD_NAME, AT(transition_data, second_body), .help = "The other body. Default: any."},
    {"pressed", FIELD_FLAG, AT(transition_data, pressed), .standard = "true", .help = "`false`: they do not."},
};
const table table_transition = {
    "transition",
    "To another phase, at the first step at whose start all conditions hold that are given. Contacts and readings are "
    "those of the step before.",
    sizeof(transition_data),
    transition_fields,
    .count = COUNT(transition_fields),
    .named_by = {"to"}};

static const field phase_fields[] = {
    {"name", FIELD_NAME, AT(phase_data, name), .required = true, .help = "Name, unique in its controller."},
    {"targets", FIELD_OBJECTS, AT(phase_data, targets), .table = &table_phase_target,
     .help = "Targets of controllers from its start on."},
    {"switches", FIELD_OBJECTS, AT(phase_data, switches), .table = &table_phase_switch,
     .help = "Constraints that are switched at its start."},
    {"next", FIELD_OBJECTS, AT(phase_data, next), .table = &table_transition,
     .help = "Transitions; the first whose conditions hold counts."},
};
const table table_phase = {"phase", "State of a state machine. The first one holds from the start.", sizeof(phase_data),
                           phase_fields, .count = COUNT(phase_fields)};

enum {
    JOINT = BIT(SIM_JOINT_IMPEDANCE),
    TASK = BIT(SIM_TASK_IMPEDANCE),
    GRIPPER = BIT(SIM_GRIPPER),
    MACHINE = BIT(SIM_PHASES),
};

static const field controller_fields[] = {
    {"name", FIELD_NAME, AT(controller_data, name), .required = true,
     .help = "Name, unique among the controllers of its model."},
    {"type", FIELD_ENUM, AT(controller_data, type), .required = true, .name_of = type_name,
     .help = "joint_impedance: springs and dampers in joints. task_impedance: springs and dampers of a site, a posture "
             "beside. gripper: a force. phases: a state machine that gives the others targets."},
    {"actuators", FIELD_OBJECTS, AT(controller_data, actuators), .table = &table_controlled, .only = JOINT | GRIPPER,
     .needed_by = JOINT | GRIPPER, .help = "Actuators of the joints. Their own gains and targets do not count."},
    {"site", FIELD_NAME, AT(controller_data, site), .only = TASK, .needed_by = TASK,
     .help = "Site that it moves, with the actuators of all joints between it and the world."},
    {"stiffness", FIELD_NUMBERS, AT(controller_data, stiffness), .unit = "N m/rad or N/m", NOT_NEGATIVE,
     .only = JOINT | TASK, .needed_by = JOINT | TASK,
     .help = "Of joints: one number, or one for each. Of a site: [translation, rotation], or six, along and about the "
             "axes of the world."},
    {"damping", FIELD_NUMBERS, AT(controller_data, damping), .unit = "N m s/rad or N s/m", NOT_NEGATIVE,
     .only = JOINT | GRIPPER,
     .help = "One number, or one for each joint. Default: by `damping_ratio`; of a gripper 0."},
    {"damping_ratio", FIELD_NUMBER, AT(controller_data, damping_ratio), NOT_NEGATIVE, .standard = "1",
     .only = JOINT | TASK,
     .help = "1: critical. Of joints with the inertia that each has in the initial state, all others at rest."},
    {"gravity_compensation", FIELD_FLAG, AT(controller_data, gravity_compensation), .standard = "true", .only = JOINT,
     .help = "Adds the effort that balances gravity."},
    {"posture_rate", FIELD_NUMBER, AT(controller_data, posture_rate), .unit = "rad/s", NOT_NEGATIVE, .standard = "5",
     .only = TASK, .help = "Rate of the return to the posture, as far as the site stays where it is."},
    {"posture", FIELD_NAME, AT(controller_data, posture), .only = TASK,
     .help = "Keyframe with the posture. Default: the initial state."},
    {"target", FIELD_OBJECT, AT(controller_data, target), .table = &table_target, .only = JOINT | TASK | GRIPPER,
     .help = "Target, until a phase gives another one. Default: the state at the start; no force."},
    {"phases", FIELD_OBJECTS, AT(controller_data, phases), .table = &table_phase, .only = MACHINE, .needed_by = MACHINE,
     .help = "States of the machine."},
};
const table table_controller = {
    "controller",
    "Controller of several actuators, evaluated at the start of each step ([control.md](control.md)). An actuator has "
    "one at most.",
    sizeof(controller_data),
    controller_fields,
    .count = COUNT(controller_fields),
    .type_key = "type"};

static const char *event_type_name(int i) {
    static const char *const name[SIM_EVENT_TYPES] = {"leaves_box",   "contact_begins", "contact_breaks",
                                                      "energy_below", "sensor_above",   "sensor_below"};
    return i < SIM_EVENT_TYPES ? name[i] : NULL;
}

enum {
    BOXED = BIT(SIM_LEAVES_BOX),
    TOUCHING = BIT(SIM_CONTACT_BEGINS) | BIT(SIM_CONTACT_BREAKS),
    READING = BIT(SIM_READING_ABOVE) | BIT(SIM_READING_BELOW),
    ENERGY = BIT(SIM_ENERGY_BELOW),
};

static const field event_fields[] = {
    {"name", FIELD_NAME, AT(event_data, name), .required = true, .help = "Name, unique among events."},
    {"type", FIELD_ENUM, AT(event_data, type), .required = true, .name_of = event_type_name,
     .help = "leaves_box: a point of a body leaves a box. contact_begins, contact_breaks: two bodies begin to press on "
             "each other, or end to. energy_below: the energy falls below a level. sensor_above, sensor_below: a "
             "reading passes a level."},
    {"body", FIELD_NAME, AT(event_data, body), .only = BOXED | TOUCHING, .needed_by = BOXED | TOUCHING,
     .help = "Body."},
    {"point", FIELD_VECTOR, AT(event_data, point), 3, .unit = "m", .standard = "[0, 0, 0]", .only = BOXED,
     .help = "Its point, in the body frame."},
    {"other", FIELD_NAME, AT(event_data, other), .only = TOUCHING, .help = "The other body. Default: any."},
    {"min", FIELD_VECTOR, AT(event_data, min), 3, .unit = "m", .standard = "[-1e15, -1e15, -1e15]", .only = BOXED,
     .help = "Corner of the box, in the world."},
    {"max", FIELD_VECTOR, AT(event_data, max), 3, .unit = "m", .standard = "[1e15, 1e15, 1e15]", .only = BOXED,
     .help = "Opposite corner."},
    {"sensor", FIELD_NAME, AT(event_data, sensor), .only = READING, .needed_by = READING, .help = "Sensor."},
    {"component", FIELD_INTEGER, AT(event_data, component), WITHIN(0, 5), .standard = "0", .only = READING,
     .help = "Of its values, from 0."},
    {"potential", FIELD_FLAG, AT(event_data, potential), .standard = "false", .only = ENERGY,
     .help = "Kinetic and potential energy, in place of kinetic energy alone."},
    {"level", FIELD_NUMBER, AT(event_data, level), .only = READING | ENERGY, .needed_by = READING | ENERGY,
     .help = "Level that it passes; energies in J."},
    {"stop", FIELD_FLAG, AT(event_data, stop), .standard = "false", .help = "The run ends with that step."},
};
const table table_event = {"event",
                           "Moment at which something happens. Every record holds the last time of each event, found "
                           "within the step to second "
                           "order, and how often it happened.",
                           sizeof(event_data),
                           event_fields,
                           .count = COUNT(event_fields),
                           .type_key = "type"};
