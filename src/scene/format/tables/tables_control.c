/* The scene format, values over time, actuators and loads, key by key. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

static const char *interpolation_name(int i) {
    static const char *const name[] = {"hold", "linear", "cubic", "quintic", "spline"};
    return i < COUNT(name) ? name[i] : NULL;
}

static const char *frame_name(int i) {
    static const char *const name[] = {"world", "body"};
    return i < COUNT(name) ? name[i] : NULL;
}

#define SINE_FIELDS(kind_of_value, width, zero)                                                                        \
    {"amplitude", kind_of_value, AT(sine_data, amplitude), width, .required = true, .help = "Amplitude."},             \
        {"frequency",  FIELD_NUMBER,     AT(sine_data, frequency), .unit = "Hz",                                       \
         NOT_NEGATIVE, .required = true, .help = "Frequency."},                                                        \
        {"phase",                                                                                                      \
         FIELD_NUMBER,                                                                                                 \
         AT(sine_data, phase),                                                                                         \
         .unit = "rad",                                                                                                \
         .rival = 1,                                                                                                   \
         .standard = "0",                                                                                              \
         .help = "Angle of the sine at time 0."},                                                                      \
        {"phase_deg",       FIELD_NUMBER, AT(sine_data, phase_deg),                                                    \
         .unit = "degrees", .rival = 1,   .help = "`phase` in degrees."},                                              \
    {                                                                                                                  \
        "offset", kind_of_value, AT(sine_data, offset), width, .standard = zero, .help = "Mean value."                 \
    }

static const field sine_fields[] = {SINE_FIELDS(FIELD_NUMBER, 0, "0")};
const table table_sine = {"sine", "offset + amplitude sin(2 pi frequency t + phase), at all times.", sizeof(sine_data),
                          sine_fields, .count = COUNT(sine_fields)};

static const field vector_sine_fields[] = {SINE_FIELDS(FIELD_VECTOR, 3, "[0, 0, 0]")};
const table table_vector_sine = {"vector_sine", "A [sine](#sine) of three values, with the same frequency and phase.",
                                 sizeof(sine_data), vector_sine_fields, .count = COUNT(vector_sine_fields)};

#define TRACK_FIELDS(kind_of_values, width, formulas, sine_table, text, formula_text)                                  \
    {"times", FIELD_NUMBERS, AT(track_data, times),                                                                    \
     0,       .unit = "s",   .help = "Times of the values, increasing. Default: one constant value."},                 \
        {"values", kind_of_values, AT(track_data, values), width, .rival = 1, .help = text},                           \
        {"interpolation",                                                                                              \
         FIELD_ENUM,                                                                                                   \
         AT(track_data, interpolation),                                                                                \
         .name_of = interpolation_name,                                                                                \
         .standard = "\"linear\"",                                                                                     \
         .help =                                                                                                       \
             "Between values: hold the last, linear, smooth with rate 0 at each value (quintic: also with "            \
             "acceleration 0), or a spline with continuous acceleration, at rest at the first and the last value."},   \
        {"sine", FIELD_OBJECT, AT(track_data, sine), .table = sine_table, .rival = 1, .help = "A sine at all times."}, \
    {                                                                                                                  \
        "expression", FIELD_FORMULA, AT(track_data, expression), formulas, .rival = 1, .help = formula_text            \
    }

static const field track_fields[] = {
    TRACK_FIELDS(FIELD_NUMBERS, 0, 1, &table_sine, "Value at each time.", "A formula of time, as described above.")};
const table table_track = {
    "track",
    "A value over time. A number is a constant, a text an `expression`. Before the first time and after the last the "
    "value is constant.\n\nRates are exact derivatives of the value. They are continuous with `cubic`, `quintic` and "
    "`spline`, with a sine, and with a smooth formula. With `linear` and `hold` they jump.\n\nA formula, as in "
    "`\"0.3*sin(2*pi*t) + 0.1\"`, consists of numbers, the time `t` in seconds, `pi`, the operators `+ - * / ^`, "
    "brackets, and comparisons `< <= > >=` with the values 1 and 0. Angles are in radians; `-t^2` is `-(t^2)`. "
    "Functions: `sin`, `cos`, `tan`, `asin`, `acos`, `atan`, `atan2(y, x)`, `tanh`, `exp`, `log` (natural), `sqrt`, "
    "`abs`, `min(a, b)`, `max(a, b)`, `mod(a, b)` (from 0 to b). Piecewise: `step(x)` is 0 for x < 0, else 1; "
    "`ramp(x)` is `max(x, 0)`; `smooth(x, from, to)` rises from 0 to 1 with a continuous rate; `if(condition, then, "
    "else)` selects one of two. A formula must have a finite value throughout the run; it has at most 256 numbers, "
    "names and operators, nested at most 32 deep.",
    sizeof(track_data),
    track_fields,
    .count = COUNT(track_fields),
    .shorthand = "values",
    .text_stands_for = "expression",
    .rivals_needed = BIT(1)};

static const field vector_track_fields[] = {
    TRACK_FIELDS(FIELD_ROWS, 3, 3, &table_vector_sine, "Vector at each time.",
                 "Three formulas of time, as in a [track](#track), or numbers.")};
const table table_vector_track = {
    "vector_track",
    "A vector over time. Three numbers are constants; three formulas, or formulas and numbers, are an `expression`.",
    sizeof(track_data),
    vector_track_fields,
    .count = COUNT(vector_track_fields),
    .shorthand = "values",
    .text_stands_for = "expression",
    .rivals_needed = BIT(1)};

static const char *activation_name(int i) {
    return i >= 0 && i + 1 < SIM_ACTIVATIONS ? sim_activation_name((sim_activation_type)(i + 1)) : NULL;
}

enum { INTEGRATOR = 1, FILTER = 2, MUSCLE = 4 };

static const field activation_fields[] = {
    {"type", FIELD_ENUM, AT(activation_data, type), .required = true, .name_of = activation_name,
     .help = "integrator: w' = u. filter: w' = (u - w) / T. muscle: w' = (u - w) / T with T = T0 (0.5 + 1.5 w) while "
             "w rises, and T1 / (0.5 + 1.5 w) while it falls; u and w stay between 0 and 1."},
    {"time_constant", FIELD_NUMBERS, AT(activation_data, time_constant), 2, .unit = "s", POSITIVE,
     .only = FILTER | MUSCLE, .needed_by = FILTER | MUSCLE, .help = "T of a filter; [T0, T1] of a muscle."},
    {"range", FIELD_VECTOR, AT(activation_data, range), 2, .only = INTEGRATOR | FILTER,
     .help = "Least and greatest activation, at which it stays. Default: none."},
    {"initial", FIELD_NUMBER, AT(activation_data, initial), .standard = "0", .help = "Activation at the start."},
};
const table table_activation = {"activation",
                                "Dynamics of an activation w, which takes the place of the control input u in the "
                                "force of an actuator. It is integrated exactly.",
                                sizeof(activation_data),
                                activation_fields,
                                .count = COUNT(activation_fields),
                                .type_key = "type"};

static const field slider_crank_fields[] = {
    {"crank_site", FIELD_NAME, AT(slider_crank_data, crank_site), .required = true,
     .help = "Site on the crank where the rod hangs."},
    {"slider_site", FIELD_NAME, AT(slider_crank_data, slider_site), .required = true,
     .help = "Site whose axis z the rod's other end slides along."},
    {"length", FIELD_NUMBER, AT(slider_crank_data, length), LENGTH, .required = true, .help = "Length of the rod."},
};
const table table_slider_crank = {
    "slider_crank",
    "A massless rod from a site on a crank to an axis. The actuator pushes along the axis; "
    "its length is where the rod meets the axis.",
    sizeof(slider_crank_data), slider_crank_fields, .count = COUNT(slider_crank_fields)};

static const field muscle_fields[] = {
    {"force", FIELD_NUMBER, AT(muscle_data, force), .unit = "N", POSITIVE,
     .help = "Peak active force at rest. Default: by `scale`."},
    {"scale", FIELD_NUMBER, AT(muscle_data, scale), POSITIVE, .standard = "200",
     .help =
         "In place of `force`: norm of the joint accelerations, in rad/s^2 and m/s^2, that the peak force causes in "
         "the reference state. That is the initial state of the scene, whatever the keyframe of the start."},
    {"length_range", FIELD_VECTOR, AT(muscle_data, length_range), 2, .unit = "m or rad",
     .help = "Least and greatest length of the actuator. Default: its joint's `range` times the gear. Without a range: "
             "the lengths at which the mechanism stops as the actuator alone pulls or pushes it slowly from the "
             "reference state."},
    {"range", FIELD_VECTOR, AT(muscle_data, range), 2, .standard = "[0.75, 1.05]",
     .help = "These lengths as parts L of the muscle's resting length."},
    {"lmin", FIELD_NUMBER, AT(muscle_data, lmin), WITHIN(0, 0.999), .standard = "0.5",
     .help = "L below which it is not active."},
    {"lmax", FIELD_NUMBER, AT(muscle_data, lmax), WITHIN(1.001, 100), .standard = "1.6",
     .help = "L above which it is not active."},
    {"vmax", FIELD_NUMBER, AT(muscle_data, vmax), .unit = "1/s", POSITIVE, .standard = "1.5",
     .help = "Velocity at which it shortens without force, in resting lengths a second."},
    {"fpmax", FIELD_NUMBER, AT(muscle_data, fpmax), NOT_NEGATIVE, .standard = "1.3",
     .help = "Passive force, a part of `force`: fpmax / 2 at L = (1 + lmax) / 2, and 1.5 fpmax at lmax."},
    {"fvmax", FIELD_NUMBER, AT(muscle_data, fvmax), WITHIN(1.001, 100), .standard = "1.2",
     .help = "Active force where it lengthens fast, a part of `force`."},
};
const table table_muscle = {"muscle",
                            "Force of a muscle over its length and velocity, in place of gain and bias. It pulls with "
                            "`force` times (u FL(L) FV(V) + FP(L)), Hill's model with MuJoCo's curves.",
                            sizeof(muscle_data), muscle_fields, .count = COUNT(muscle_fields)};

static const field drive_fields[] = {
    {"ctrl", FIELD_NUMBER, AT(drive_data, ctrl), .help = "Control input, in place of the track."},
    {"activation", FIELD_NUMBER, AT(drive_data, activation), .help = "Activation of an actuator that has one."},
};
const table table_drive = {"drive",
                           "Inputs of an actuator in a keyframe. A plain number is `ctrl`.",
                           sizeof(drive_data),
                           drive_fields,
                           .count = COUNT(drive_fields),
                           .shorthand = "ctrl"};

static const field actuator_fields[] = {
    {"name", FIELD_PATTERN, AT(actuator_data, name), .help = "Name. Default: that of the joint."},
    {"joint", FIELD_PATTERN, AT(actuator_data, joint), .rival = 1,
     .help = "Name of the body whose joint it drives. With `*`, which matches any letters, one actuator for each joint "
             "that matches."},
    {"site", FIELD_NAME, AT(actuator_data, site), .rival = 1,
     .help = "Site on which it acts, with a wrench along the site's axes; its length is 0."},
    {"reference_site", FIELD_NAME, AT(actuator_data, reference_site),
     .help = "Of a site: the wrench is along these axes, and back on this body. Its length is `gear` times the pose of "
             "the site there."},
    {"slider_crank", FIELD_OBJECT, AT(actuator_data, slider_crank), .table = &table_slider_crank, .rival = 1,
     .help = "Crank that it drives by a rod."},
    {"tendon", FIELD_NAME, AT(actuator_data, tendon), .rival = 1, .help = "Tendon that it drives."},
    {"contacts_of", FIELD_NAME, AT(actuator_data, contacts_of), .rival = 1,
     .help = "Body that moves, to which it pulls all that touches it: adhesion that can be switched. Its length is 0."},
    {"dof", FIELD_INTEGER, AT(actuator_data, dof), WITHIN(0, 5), .standard = "0",
     .help = "Degree of freedom of the joint, from 0."},
    {"kp", FIELD_NUMBER, AT(actuator_data, kp), .unit = "N m/rad or N/m", NOT_NEGATIVE, .standard = "0",
     .help = "Stiffness towards the target."},
    {"kd", FIELD_NUMBER, AT(actuator_data, kd), .unit = "N m s/rad or N s/m", NOT_NEGATIVE, .standard = "0",
     .help = "Damping towards the target's rate."},
    {"effort", FIELD_NUMBER, AT(actuator_data, effort), .unit = "N m or N", POSITIVE,
     .help = "Limit of the effort in both directions. Default: none."},
    {"gravity_compensation", FIELD_FLAG, AT(actuator_data, gravity_compensation), .standard = "false",
     .help = "Adds the effort that balances gravity."},
    {"target", FIELD_OBJECT, AT(actuator_data, target), .table = &table_track, .unit = "rad or m", .standard = "0",
     .help = "Desired coordinate."},
    {"feedforward", FIELD_OBJECT, AT(actuator_data, feedforward), .table = &table_track, .unit = "N m or N",
     .help = "Added force."},
    {"gear", FIELD_NUMBERS, AT(actuator_data, gear), 6, .standard = "1",
     .help =
         "Length of the actuator per coordinate, and effort on the joint per force of the actuator. Not 0. Of a "
         "site: six numbers, force x, y, z and torque x, y, z per force of the actuator. Of a ball joint: three, the "
         "torque along the axes of its body. Of a free joint: six, the force along the axes of the joint, then that."},
    {"gear_in_parent", FIELD_FLAG, AT(actuator_data, gear_in_parent), .standard = "false",
     .help = "Of a ball or free joint: the torque is along the axes of the joint, which stay with the parent."},
    {"ctrl", FIELD_OBJECT, AT(actuator_data, ctrl), .table = &table_track, .standard = "0",
     .help = "Control input u, until a program sets another."},
    {"ctrl_range", FIELD_VECTOR, AT(actuator_data, ctrl_range), 2,
     .help = "Least and greatest control input; others are clamped. Default: none."},
    {"delay", FIELD_NUMBER, AT(actuator_data, delay), .unit = "s", NOT_NEGATIVE, .standard = "0",
     .help = "Control inputs act so much later, rounded up to whole steps. Before, 0 acts. Those of `target` and "
             "`feedforward` act at once."},
    {"gain", FIELD_VECTOR, AT(actuator_data, gain), 3, .standard = "[1, 0, 0]",
     .help = "[g0, g1, g2]: force g0 + g1 l + g2 l' per unit of the control input."},
    {"bias", FIELD_VECTOR, AT(actuator_data, bias), 3, .standard = "[0, 0, 0]",
     .help = "[b0, b1, b2]: force b0 + b1 l + b2 l' beside it."},
    {"force_range", FIELD_VECTOR, AT(actuator_data, force_range), 2, .unit = "N m or N",
     .help = "Least and greatest force. Default: none."},
    {"activation", FIELD_OBJECT, AT(actuator_data, activation), .table = &table_activation,
     .help = "Dynamics between the control input and the force. Default: none."},
    {"muscle", FIELD_OBJECT, AT(actuator_data, muscle), .table = &table_muscle,
     .help = "Force of a muscle, in place of `gain` and `bias`."},
};
const table table_actuator = {
    "actuator",
    "Drive of a joint. Its length is l = gear q, and its force f acts on the joint as the "
    "effort gear f:\n\n    f = kp (target - l) + kd (target rate - l') + feed-forward\n"
    "        + (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l'\n\nwithin its limits. Terms that "
    "pull back are implicit, so stiff gains are stable. [actuators.md](actuators.md) has the laws "
    "of common motors.",
    sizeof(actuator_data),
    actuator_fields,
    .count = COUNT(actuator_fields),
    .named_by = {"name", "joint", "site", "tendon"},
    .rivals_needed = BIT(1)};

static const field load_fields[] = {
    {"name", FIELD_NAME, AT(load_data, name), .help = "Name. Default: that of the body."},
    {"body", FIELD_NAME, AT(load_data, body), .rival = 1, .help = "Body on which it acts."},
    {"site", FIELD_NAME, AT(load_data, site), .rival = 1, .help = "Site on whose body it acts, at its origin."},
    {"joint", FIELD_NAME, AT(load_data, joint), .rival = 1, .help = "Body in whose joint it acts."},
    {"dof", FIELD_INTEGER, AT(load_data, dof), WITHIN(0, 5), .standard = "0",
     .help = "In a joint: degree of freedom, from 0."},
    {"point", FIELD_VECTOR, AT(load_data, point), 3, .unit = "m", .standard = "[0, 0, 0]",
     .help = "On a body: point of the force, in the body frame."},
    {"frame", FIELD_ENUM, AT(load_data, frame), .name_of = frame_name, .standard = "\"world\"",
     .help = "On a body: axes of force and torque."},
    {"force", FIELD_OBJECT, AT(load_data, force), .table = &table_vector_track, .unit = "N",
     .help = "On a body: force."},
    {"torque", FIELD_OBJECT, AT(load_data, torque), .table = &table_vector_track, .unit = "N m",
     .help = "On a body: torque."},
    {"value", FIELD_OBJECT, AT(load_data, value), .table = &table_track, .unit = "N m or N",
     .help = "In a joint: effort."},
};
const table table_load = {"load",
                          "External force, on a body or in a joint.",
                          sizeof(load_data),
                          load_fields,
                          .count = COUNT(load_fields),
                          .named_by = {"name", "body", "site", "joint"},
                          .rivals_needed = BIT(1)};
