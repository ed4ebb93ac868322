/* The scene format, constraints between bodies, key by key. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

#include <sim/model.h>

static const char *type_name(int i) { return i < SIM_EQUALITY_TYPES ? sim_equality_name((sim_equality_type)i) : NULL; }

enum {
    SPRING = BIT(SIM_SPRING_DAMPER),
    POINTS = BIT(SIM_CONNECT) | BIT(SIM_DISTANCE) | SPRING,
    FRAMES = BIT(SIM_WELD) | POINTS,
    COUPLED = BIT(SIM_COUPLING) | BIT(SIM_TENDON_COUPLING),
    HELD = BIT(SIM_WELD) | BIT(SIM_CONNECT) | BIT(SIM_DISTANCE) | COUPLED,
};

static const field constraint_fields[] = {
    {"name", FIELD_NAME, AT(constraint_data, name), .help = "Name. Default: that of the first body."},
    {"type", FIELD_ENUM, AT(constraint_data, type), .required = true, .name_of = type_name,
     .help = "Weld: the two poses coincide. Connect: the two points coincide, as in a ball joint; it closes loops. "
             "Distance: the points keep their distance, as on a massless rod. Coupling: the coordinates of two joints "
             "obey first = offset + ratio second, as in a gear. Tendon: the lengths of two tendons, each less its "
             "initial length, obey the same. Without a second one the length keeps its initial value plus the offset. "
             "Spring: a spring and damper along the line between the points, stable at any stiffness. (For a spring of "
             "length 0 take a connect with a `stiffness`.)"},
    {"first", FIELD_NAME, AT(constraint_data, first), .rival = 1, .help = "Name of a body; of a tendon."},
    {"first_site", FIELD_NAME, AT(constraint_data, first_site), .rival = 1, .only = FRAMES,
     .help = "Name of a site, in place of a body with a pose or point on it."},
    {"second", FIELD_NAME, AT(constraint_data, second), .rival = 2, .standard = "\"world\"",
     .help = "Name of the other; of tendons there may be none."},
    {"second_site", FIELD_NAME, AT(constraint_data, second_site), .rival = 2, .only = FRAMES,
     .help = "Site in place of the other."},
    {"first_pose", FIELD_OBJECT, AT(constraint_data, first_pose), .table = &table_pose, .only = BIT(SIM_WELD),
     .help = "Welded frame on the first body."},
    {"second_pose", FIELD_OBJECT, AT(constraint_data, second_pose), .table = &table_pose, .only = BIT(SIM_WELD),
     .help = "Welded frame on the second body."},
    {"first_point", FIELD_VECTOR, AT(constraint_data, first_point), 3, .unit = "m", .standard = "[0, 0, 0]",
     .only = POINTS, .help = "Point of the first body, in its frame."},
    {"second_point", FIELD_VECTOR, AT(constraint_data, second_point), 3, .unit = "m", .standard = "[0, 0, 0]",
     .only = POINTS, .help = "Point of the second body, in its frame."},
    {"distance", FIELD_NUMBER, AT(constraint_data, distance), .unit = "m", POSITIVE, .only = BIT(SIM_DISTANCE),
     .needed_by = BIT(SIM_DISTANCE), .help = "Distance between the points."},
    {"rest", FIELD_NUMBER, AT(constraint_data, rest), .unit = "m", POSITIVE, .only = SPRING, .needed_by = SPRING,
     .help = "Distance of the points at which the spring is slack."},
    {"first_dof", FIELD_INTEGER, AT(constraint_data, first_dof), WITHIN(0, 5), .standard = "0",
     .only = BIT(SIM_COUPLING), .help = "Degree of freedom of the first body's joint, from 0."},
    {"second_dof", FIELD_INTEGER, AT(constraint_data, second_dof), WITHIN(0, 5), .standard = "0",
     .only = BIT(SIM_COUPLING), .help = "Degree of freedom of the second body's joint, from 0."},
    {"offset", FIELD_NUMBER, AT(constraint_data, offset), .unit = "rad or m", .standard = "0", .only = COUPLED,
     .help = "First coordinate where the second is zero."},
    {"ratio", FIELD_NUMBER, AT(constraint_data, ratio), .standard = "1", .only = COUPLED,
     .help = "Change of the first coordinate over that of the second."},
    {"polynomial", FIELD_VECTOR, AT(constraint_data, polynomial), 5, .count_least = 1, .only = COUPLED,
     .help = "In place of `offset` and `ratio`: coefficients of 1, x, ... x^4 of a polynomial of the second coordinate "
             "x, of which the first is the value."},
    {"stiffness", FIELD_NUMBER, AT(constraint_data, stiffness), .unit = "N/m or N m/rad", POSITIVE,
     .help = "Stiffness. Default: rigid. Required for springs."},
    {"dissipation", FIELD_NUMBER, AT(constraint_data, dissipation), .unit = "s", NOT_NEGATIVE, .standard = "0",
     .only = HELD, .help = "Relaxation time: damping over stiffness."},
    {"damping", FIELD_NUMBER, AT(constraint_data, damping), .unit = "N s/m", NOT_NEGATIVE, .standard = "0",
     .only = SPRING, .help = "Force over the speed at which the points separate."},
    {"active", FIELD_FLAG, AT(constraint_data, active), .standard = "true",
     .help = "`false`: it does not act until it is switched on, by a program or by the phases of a controller."},
};
const table table_constraint = {
    "constraint",
    "Constraint between two bodies, besides joints. It should hold in the initial state; if not, it closes within some "
    "steps. Shapes of the two bodies still have contacts: see `exclusions`.",
    sizeof(constraint_data),
    constraint_fields,
    .count = COUNT(constraint_fields),
    .type_key = "type",
    .named_by = {"name", "first", "first_site"},
    .rivals_needed = BIT(1)};
