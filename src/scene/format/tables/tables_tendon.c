/* The scene format, tendons, key by key. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

static const field path_point_fields[] = {
    {"site", FIELD_NAME, AT(path_data, site), .rival = 1, .help = "Name of a site through which the string runs."},
    {"around", FIELD_NAME, AT(path_data, around), .rival = 1,
     .help = "Name of a sphere or cylinder between two sites: the string lies on its surface where the straight line "
             "would enter it. A cylinder counts without its ends. A site inside the shape is not led around it."},
    {"side", FIELD_NAME, AT(path_data, side),
     .help = "With `around`: a site. If it stands outside the shape, the string lies over that side of it. If it "
             "stands inside, the string runs through the shape."},
    {"pulley", FIELD_NUMBER, AT(path_data, pulley), .rival = 1, POSITIVE,
     .help = "Ends a branch of the path and begins another: lengths after it count by this divisor. With 2 the string "
             "runs over a pulley that the next branch carries, with half the force."},
};
const table table_path_point = {"path_point",
                                "Point of the path of a tendon. A text is short for `{\"site\": ...}`.",
                                sizeof(path_data),
                                path_point_fields,
                                .count = COUNT(path_point_fields),
                                .shorthand = "site",
                                .named_by = {"site", "around"},
                                .rivals_needed = BIT(1)};

static const field tendon_joint_fields[] = {
    {"joint", FIELD_NAME, AT(tendon_joint_data, joint), .required = true,
     .help = "Name of a joint or of its body. Of a ball joint the angle from its reference counts."},
    {"dof", FIELD_INTEGER, AT(tendon_joint_data, dof), WITHIN(0, 5), .standard = "0",
     .help = "Degree of freedom of the joint, from 0."},
    {"coefficient", FIELD_NUMBER, AT(tendon_joint_data, coefficient), .unit = "m/rad or 1", .standard = "1",
     .help = "Length over the coordinate: the radius of a drum."},
};
const table table_tendon_joint = {"tendon_joint",
                                  "Joint of a tendon.",
                                  sizeof(tendon_joint_data),
                                  tendon_joint_fields,
                                  .count = COUNT(tendon_joint_fields),
                                  .named_by = {"joint"}};

static const field tendon_fields[] = {
    {"name", FIELD_NAME, AT(tendon_data, name), .required = true,
     .help = "Name, unique among the tendons of its model."},
    {"joints", FIELD_OBJECTS, AT(tendon_data, joints), .table = &table_tendon_joint, .rival = 1,
     .help = "A fixed tendon: its length is the sum of coefficient times coordinate."},
    {"path", FIELD_OBJECTS, AT(tendon_data, path), .table = &table_path_point, .rival = 1,
     .help = "A string through these points, on which it slides without friction."},
    {"range", FIELD_VECTOR, AT(tendon_data, range), 2, .unit = "m",
     .help = "Least and greatest length. A rope has 0 and its length."},
    {"limit_stiffness", FIELD_NUMBER, AT(tendon_data, limit_stiffness), .unit = "N/m", POSITIVE,
     .help = "Stiffness of the ends of the range. Default: rigid."},
    {"limit_dissipation", FIELD_NUMBER, AT(tendon_data, limit_dissipation), .unit = "s", NOT_NEGATIVE, .standard = "0",
     .help = "Relaxation time of the ends: damping over stiffness."},
    {"limit_restitution", FIELD_NUMBER, AT(tendon_data, limit_restitution), WITHIN(0, 1), .standard = "0",
     .help = "Newton's coefficient of restitution of rigid ends."},
    {"stiffness", FIELD_NUMBER, AT(tendon_data, stiffness), .unit = "N/m", NOT_NEGATIVE, .standard = "0",
     .help = "Spring stiffness, implicit and so stable at any value."},
    {"damping", FIELD_NUMBER, AT(tendon_data, damping), .unit = "N s/m", NOT_NEGATIVE, .standard = "0",
     .help = "Viscous damping of the length."},
    {"spring_terms", FIELD_VECTOR, AT(tendon_data, spring_terms), 2, .unit = "N/m^2, N/m^3",
     .help = "Terms of the spring of the second and third degree, a and b: it pulls back by `stiffness` x + a x^2 + b "
             "x^3, x beyond `rest`, below 0 where the string is shorter."},
    {"damper_terms", FIELD_VECTOR, AT(tendon_data, damper_terms), 2, .unit = "N s^2/m^2, N s^3/m^3", NOT_NEGATIVE,
     .help = "Terms of the damper of the second and third degree: it brakes by `damping` v + a |v| v + b v^3."},
    {"rest", FIELD_NUMBERS, AT(tendon_data, rest), 2, .unit = "m",
     .help = "Length at which the spring is slack, or the least and greatest such length. Default: the initial one."},
    {"friction", FIELD_NUMBER, AT(tendon_data, friction), .unit = "N", NOT_NEGATIVE, .standard = "0",
     .help = "Dry friction: the force needed to change the length."},
    {"armature", FIELD_NUMBER, AT(tendon_data, armature), .unit = "kg", NOT_NEGATIVE, .standard = "0",
     .help = "Inertia against a change of the length, as of a motor."},
    {"effort_range", FIELD_VECTOR, AT(tendon_data, effort_range), 2, .unit = "N",
     .help = "Least and greatest force of its actuators: of the sum of force times gear. Of several actuators it "
             "contains 0."},
    {"width", FIELD_NUMBER, AT(tendon_data, width), .unit = "m", NOT_NEGATIVE, .standard = "0.005",
     .help = "Width in pictures; 0: not drawn."},
    {"color", FIELD_VECTOR, AT(tendon_data, color), 4, .count_least = 3, WITHIN(0, 1),
     .help = "Red, green, blue, and opacity (default 1)."},
};
const table table_tendon = {
    "tendon",
    "Massless string, or a weighted sum of joint coordinates, whose length has a range, spring, damper, dry friction "
    "and inertia of its own. Constraints of type `tendon` hold it, or couple two. One tendon may move any "
    "number of kinematic trees; where these are more than two, some are solved as one.\n\nThe shortest path over a "
    "shape may jump to its other side, where this becomes the shorter "
    "one; a `side` prevents it.",
    sizeof(tendon_data),
    tendon_fields,
    .count = COUNT(tendon_fields),
    .rivals_needed = BIT(1)};
