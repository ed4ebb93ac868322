/* The scene format, key by key.  docs/scene.md and scenes/scene.schema.json are printed from here. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

#include <sim/model.h>
#include <sim/world.h>

static const char *integrator_name(int i) {
    return i < SIM_INTEGRATORS ? sim_integrator_name((sim_integrator)i) : NULL;
}

static const char *solver_name(int i) { return i < sim_solver_count() ? sim_solver_at(i)->name : NULL; }

/* 0: the default of the solver; then those of `sim_compliance`. */
static const char *compliance_name(int i) {
    return i == 0 ? "auto" : i <= SIM_COMPLIANCES ? sim_compliance_name((sim_compliance)(i - 1)) : NULL;
}

/* Which pairs of bodies are left out besides the exclusions. */
const char *exclude_name(int i) {
    static const char *const name[EXCLUDES] = {"none", "initial"};
    return i < EXCLUDES ? name[i] : NULL;
}

static const char *joint_name(int i) { return i < SIM_JOINT_TYPES ? sim_joint_name((sim_joint_type)i) : NULL; }

static const char *placement_name(int i) {
    static const char *const name[PLACEMENTS] = {"line", "grid", "columns", "scatter", "series"};
    return i < PLACEMENTS ? name[i] : NULL;
}

static const char *signal_name(int i) {
    static const char *const name[SIGNALS] = {"coordinates", "velocities", "poses",      "twists",   "energy",
                                              "momentum",    "efforts",    "statistics", "contacts", "sensors"};
    return i < SIGNALS ? name[i] : NULL;
}

/* ---- world ---- */

static const field world_fields[] = {
    {"gravity", FIELD_VECTOR, AT(world_data, gravity), 3, .unit = "m/s^2", .standard = "[0, 0, -9.81]",
     .help = "Gravitational acceleration."},
    {"fluid", FIELD_OBJECT, AT(world_data, fluid), .table = &table_fluid,
     .help = "Fluid that the bodies move in. Default: none."},
    {"step", FIELD_NUMBER, AT(world_data, step), .unit = "s", POSITIVE, .standard = "0.001", .help = "Time step."},
    {"duration", FIELD_NUMBER, AT(world_data, duration), .unit = "s", NOT_NEGATIVE, .standard = "10",
     .help = "Simulated time of a run, rounded up to whole steps. A step longer than it is an error."},
    {"integrator", FIELD_ENUM, AT(world_data, integrator), .name_of = integrator_name, .standard = "\"midpoint\"",
     .help = "Implicit midpoint (order 2, keeps energy), symplectic Euler (order 1, cheap), implicit Euler (order 1, "
             "damps), Moreau's midpoint, classical Runge-Kutta (order 4, for reference runs without contacts)."},
    {"threads", FIELD_INTEGER, AT(world_data, threads), WITHIN(1, 64), .standard = "1",
     .help = "Threads of a step; results do not depend on them."},
    {"tolerance", FIELD_NUMBER, AT(world_data, tolerance), .range = {true, true, true, 0, 0.1}, .standard = "1e-10",
     .help = "Implicit integrators: largest relative error of the acceleration, estimated."},
    {"max_iterations", FIELD_INTEGER, AT(world_data, max_iterations), WITHIN(1, 100000), .standard = "50",
     .help = "Implicit integrators: most Newton iterations in a step."},
    {"seed", FIELD_INTEGER, AT(world_data, seed), WITHIN(0, 9007199254740992.0), .standard = "0",
     .help = "Seed of all random numbers of the scene."},
    {"start", FIELD_NAME, AT(world_data, start),
     .help = "Keyframe at which the run starts, as with `--start`. Default: the initial state."},
    {"contacts", FIELD_FLAG, AT(world_data, contacts), .standard = "true",
     .help = "`false` switches all contacts off."},
    {"exclude", FIELD_ENUM, AT(world_data, exclude), .name_of = exclude_name, .standard = "\"none\"",
     .help = "`initial`: pairs of bodies that overlap at the start have no contacts."},
    {"contact_margin", FIELD_NUMBER, AT(world_data, contact_margin), LENGTH_OR_ZERO,
     .help = "Gap up to which shapes at rest are in contact; moving shapes are as early as their speed needs. Default: "
             "a thousandth of the bounding radius of the smaller shape."},
    {"solver", FIELD_ENUM, AT(world_data, solver), .name_of = solver_name, .settings = true, .standard = "\"auto\"",
     .help = "Contact solver; [options](#solver_options) may follow its name."},
    {"solver_options", FIELD_VALUES, AT(world_data, solver_options),
     .help = "[Options](#solver_options) of that solver, by name. Those in `solver` replace them."},
    {"solver_budget", FIELD_OBJECT, AT(world_data, budget), .table = &table_budget,
     .help = "Limits on the solver in a step."},
    {"compliance", FIELD_ENUM, AT(world_data, compliance), .name_of = compliance_name, .standard = "\"auto\"",
     .help =
         "Compliance of contacts that are too stiff for the step. `rigid`: none. `near-rigid`: the least that the step "
         "resolves. `elastic`: springs that keep their force and follow the load. `auto`: the default of the solver."},
    {"law", FIELD_OBJECT, AT(world_data, law), .table = &table_law, .help = "Parameters of the contact law."},
    {"sleep", FIELD_FLAG, AT(world_data, sleep), .standard = "false",
     .help = "Steps skip islands of bodies at rest until another body touches them "
             "([contact.md](contact.md#what-sleeps))."},
    {"sleep_speed", FIELD_NUMBER, AT(world_data, sleep_speed), .unit = "m/s", NOT_NEGATIVE,
     .help = "A body is at rest while no point of it is faster. Default: a thousandth of sqrt(g r), with r from its "
             "centre of mass to its farthest point."},
    {"sleep_time", FIELD_NUMBER, AT(world_data, sleep_time), .unit = "s", NOT_NEGATIVE,
     .help = "Time at rest before a body sleeps. Default: 2 pi sqrt(R/g), R the length of its tree of bodies; at least "
             "ten steps."},
};
const table table_world = {"world", "Gravity, time stepping, contact solver and contact law.", sizeof(world_data),
                           world_fields, .count = COUNT(world_fields)};

static const field budget_fields[] = {
    {"iterations", FIELD_INTEGER, AT(budget_data, iterations), WITHIN(1, 1000000),
     .help = "Limit of the solver's iterations for each island. Results are the same on any machine. Default: none but "
             "that of the solver's own options."},
    {"time", FIELD_NUMBER, AT(budget_data, time), .unit = "s", POSITIVE,
     .help = "Limit of the wall time in which a step solves its contacts, exceeded by an iteration at most. Results "
             "then differ from run to run. Default: none."},
};
const table table_budget = {"solver_budget",
                            "Limits on the solver in a step. A solver that reaches one ends with its best iterate, "
                            "which is applied and judged. The step counts as unsolved, for the reason `over budget`.",
                            sizeof(budget_data), budget_fields, .count = COUNT(budget_fields)};

static const field law_fields[] = {
    {"beta", FIELD_NUMBER, AT(law_data, beta), POSITIVE, .standard = "1",
     .help = "Near-rigid and elastic: period of the stiffest contact, in steps."},
    {"sigma", FIELD_NUMBER, AT(law_data, sigma), POSITIVE, .standard = "1e-3",
     .help = "Near-rigid: slip velocity of static friction, relative to the velocity gained from gravity in a step."},
    {"push", FIELD_NUMBER, AT(law_data, push), WITHIN(0, 1), .standard = "0.2",
     .help = "Rigid: fraction of an overlap that a step corrects; elastic: of an overlap beyond that of the spring."},
    {"threshold", FIELD_NUMBER, AT(law_data, threshold), .unit = "m/s", NOT_NEGATIVE, .standard = "0.01",
     .help = "Approach speed below which restitution is 0."},
    {"carried", FIELD_NUMBER, AT(law_data, carried), WITHIN(1, 1e9), .standard = "1",
     .help = "Near-rigid: contacts that carry more than the weight of their bodies are stiffer, up to this factor. 1 "
             "switches it off."},
    {"slop", FIELD_NUMBER, AT(law_data, slop), NOT_NEGATIVE, .standard = "0.02",
     .help = "Rigid: uncorrected overlap over the distance that forces alone move the contact in a step."},
    {"undo", FIELD_NUMBER, AT(law_data, undo), .unit = "m/s", NOT_NEGATIVE, .standard = "0.1",
     .help = "Greatest speed at which a rigid or near-rigid constraint corrects an overlap, for any step; about axes "
             "in rad/s."},
};
const table table_law = {
    "law", "Parameters of the contact law, common to all contacts ([contact.md](contact.md#one-problem)).",
    sizeof(law_data), law_fields, .count = COUNT(law_fields)};

/* ---- materials ---- */

#define SURFACE_FIELDS                                                                                                 \
    {"stiffness",   FIELD_NUMBER, AT(material_data, stiffness),                                                        \
     .unit = "N/m", POSITIVE,     .help = "Contact stiffness. Default: rigid."},                                       \
        {"dissipation", FIELD_NUMBER, AT(material_data, dissipation),                                                  \
         .unit = "s",   NOT_NEGATIVE, .help = "Relaxation time of the contact: damping over stiffness."},              \
        {"restitution", FIELD_NUMBER, AT(material_data, restitution), WITHIN(0, 1),                                    \
         .help = "Newton's coefficient of restitution, of rigid surfaces. Surfaces with a `stiffness` bounce by "      \
                 "their stiffness."},                                                                                  \
        {"torsion",                                                                                                    \
         FIELD_NUMBER,                                                                                                 \
         AT(material_data, torsion),                                                                                   \
         .unit = "m",                                                                                                  \
         NOT_NEGATIVE,                                                                                                 \
         .help = "Resistance to spinning on a contact: the greatest moment about its normal is so much times the "     \
                 "normal force. A disc of radius r that presses evenly has 2/3 r times its friction."},                \
        {"rolling",                                                                                                    \
         FIELD_NUMBER,                                                                                                 \
         AT(material_data, rolling),                                                                                   \
         .unit = "m",                                                                                                  \
         NOT_NEGATIVE,                                                                                                 \
         .help = "Rolling resistance: the greatest moment about axes in the contact plane is so much times the "       \
                 "normal force. A ball of radius R stays on slopes up to the tangent `rolling` / R."},                 \
        {"adhesion",                                                                                                   \
         FIELD_NUMBER,                                                                                                 \
         AT(material_data, adhesion),                                                                                  \
         .unit = "N",                                                                                                  \
         NOT_NEGATIVE,                                                                                                 \
         .help = "Pull between surfaces at every contact point: what a contact holds in tension. It presses them "     \
                 "together and adds to friction."},                                                                    \
    {                                                                                                                  \
        "adhesion_range", FIELD_NUMBER, AT(material_data, adhesion_range), LENGTH_OR_ZERO,                             \
            .help = "Gap up to which `adhesion` pulls."                                                                \
    }

static const field material_fields[] = {
    {"name", FIELD_NAME, AT(material_data, name), .required = true, .help = "Name that shapes refer to."},
    {"friction", FIELD_NUMBERS, AT(material_data, friction), 2, WITHIN(0, SIM_MOST_FRICTION),
     .help =
         "Coulomb friction coefficient. 10 or 100 prevents sliding on any slope. Two numbers, both above 0: along the "
         "`friction_direction` of the shape, and across it."},
    {"modulus", FIELD_NUMBER, AT(material_data, modulus), .unit = "Pa", POSITIVE,
     .help = "Pressure at the innermost points of shapes whose `compliance` is `field`: stress over strain of a layer "
             "on a rigid core."},
    SURFACE_FIELDS,
};
const table table_material = {"material",
                              "Surface of shapes in contact. Without a key: `friction` 0.5, rigid, `adhesion_range` "
                              "1e-4 m, no `modulus`, the others 0; so is the material of the library.",
                              sizeof(material_data), material_fields, .count = COUNT(material_fields)};

static const field material_pair_fields[] = {
    {"first", FIELD_NAME, AT(material_data, name), .required = true, .help = "Name of a material."},
    {"second", FIELD_NAME, AT(material_data, other), .required = true,
     .help = "Name of a material, possibly the same."},
    {"friction", FIELD_NUMBER, AT(material_data, pair_friction), WITHIN(0, SIM_MOST_FRICTION),
     .help = "Coulomb friction coefficient, the same in all directions."},
    SURFACE_FIELDS,
};
const table table_material_pair = {
    "material_pair", "Contact parameters of two materials. Absent keys keep the values combined from both.",
    sizeof(material_data), material_pair_fields, .count = COUNT(material_pair_fields)};

/* ---- joint ---- */

enum {
    HAS_AXIS =
        BIT(SIM_HINGE) | BIT(SIM_SLIDER) | BIT(SIM_SCREW) | BIT(SIM_CYLINDRICAL) | BIT(SIM_UNIVERSAL) | BIT(SIM_PLANAR),
    HAS_AXIS2 = BIT(SIM_UNIVERSAL) | BIT(SIM_PLANAR),
    HAS_COORDINATES = HAS_AXIS | BIT(SIM_CARTESIAN),
    MOVES = HAS_COORDINATES | BIT(SIM_BALL) | BIT(SIM_FREE),
    HAS_TERMS = BIT(SIM_HINGE) | BIT(SIM_SLIDER) | BIT(SIM_BALL) | BIT(SIM_FREE),
    TURNS = BIT(SIM_HINGE) | BIT(SIM_SCREW) | BIT(SIM_UNIVERSAL),
};

static const field joint_fields[] = {
    {"name", FIELD_NAME, AT(joint_data, name),
     .help =
         "Name besides that of its body: `actuators`, `loads`, `initial`, couplings and tendons take either. Recorded "
         "coordinates have it, unless the joint is `free` or a body has the same name."},
    {"type", FIELD_ENUM, AT(joint_data, type), .required = true, .name_of = joint_name,
     .help = "Motion of the body relative to its parent."},
    {"axis", FIELD_VECTOR, AT(joint_data, axis), 3, .standard = "[0, 0, 1]", .only = HAS_AXIS,
     .help = "Axis in the joint frame, of any length but 0; of a planar joint the normal of the plane."},
    {"axis2", FIELD_VECTOR, AT(joint_data, axis2), 3, .standard = "[1, 0, 0]", .only = HAS_AXIS2,
     .help = "Universal: the second axis, carried by the first. Planar: the direction of the first coordinate."},
    {"pitch", FIELD_NUMBER, AT(joint_data, pitch), .unit = "m/turn", .only = BIT(SIM_SCREW),
     .needed_by = BIT(SIM_SCREW), .help = "Advance along the axis in one turn."},
    {"stiffness", FIELD_NUMBERS, AT(joint_data, stiffness), 6, .unit = "N m/rad or N/m", NOT_NEGATIVE, .only = MOVES,
     .help = "Spring stiffness. Ball joints have one value for all directions. Free joints have one, or three times "
             "that of their place and three times that of their orientation; their spring is slack at the pose at the "
             "start."},
    {"damping", FIELD_NUMBERS, AT(joint_data, damping), 6, .unit = "N m s/rad or N s/m", NOT_NEGATIVE, .only = MOVES,
     .help = "Viscous damping."},
    {"spring_terms", FIELD_VECTOR, AT(joint_data, spring_terms), 2, .unit = "N m/rad^2 or N/m^2, N m/rad^3 or N/m^3",
     .only = HAS_TERMS,
     .help = "Terms of the spring of the second and third degree, a and b: it pulls back by `stiffness` x + a x^2 + b "
             "x^3, x from `rest`. Of ball and free joints x is the length of the rotation vector, or of the way."},
    {"damper_terms", FIELD_VECTOR, AT(joint_data, damper_terms), 2,
     .unit = "N m s^2/rad^2 or N s^2/m^2, N m s^3/rad^3 or N s^3/m^3", NOT_NEGATIVE, .only = HAS_TERMS,
     .help = "Terms of the damper of the second and third degree: it brakes by `damping` v + a |v| v + b v^3."},
    {"armature", FIELD_NUMBERS, AT(joint_data, armature), 6, .unit = "kg m^2 or kg", NOT_NEGATIVE, .only = MOVES,
     .help = "Reflected rotor inertia."},
    {"rest", FIELD_NUMBERS, AT(joint_data, rest), 6, .unit = "rad or m", .only = HAS_COORDINATES,
     .help = "Rest coordinate of the spring. Default: 0; of a ball joint always the identity."},
    {"range", FIELD_ROWS, AT(joint_data, range), 2, .unit = "rad or m", .rival = 1, .only = HAS_COORDINATES,
     .help = "Least and greatest coordinate. An open end is a number such as 1e9."},
    {"range_deg", FIELD_ROWS, AT(joint_data, range_deg), 2, .unit = "degrees", .rival = 1, .only = TURNS,
     .help = "`range` in degrees."},
    {"limit_stiffness", FIELD_NUMBERS, AT(joint_data, limit_stiffness), 6, .unit = "N m/rad or N/m", POSITIVE,
     .only = HAS_COORDINATES, .help = "Stiffness of the ends of the range. Default: rigid."},
    {"limit_dissipation", FIELD_NUMBERS, AT(joint_data, limit_dissipation), 6, .unit = "s", NOT_NEGATIVE,
     .only = HAS_COORDINATES, .help = "Relaxation time of the ends: damping over stiffness. Default: 0."},
    {"limit_restitution", FIELD_NUMBERS, AT(joint_data, limit_restitution), 6, WITHIN(0, 1), .only = HAS_COORDINATES,
     .help = "Newton's coefficient of restitution of rigid ends. Default: 0."},
    {"friction", FIELD_NUMBERS, AT(joint_data, friction), 6, .unit = "N m or N", NOT_NEGATIVE, .only = MOVES,
     .help = "Dry friction: the effort needed to move it, of each degree of freedom by itself."},
    {"velocity_limit", FIELD_NUMBERS, AT(joint_data, velocity_limit), 6, .unit = "rad/s or m/s", POSITIVE,
     .only = HAS_COORDINATES,
     .help =
         "Greatest velocity in both directions, whatever drives the joint. Default: none. One number applies to all "
         "degrees of freedom."},
    {"effort", FIELD_NUMBERS, AT(joint_data, effort), 6, .unit = "N m or N", POSITIVE, .rival = 2,
     .only = HAS_COORDINATES,
     .help = "Limit of the effort of its actuators in both directions: of those that name this joint, summed."},
    {"effort_range", FIELD_ROWS, AT(joint_data, effort_range), 2, .unit = "N m or N", .rival = 2,
     .only = HAS_COORDINATES,
     .help = "Least and greatest effort, in place of `effort`; of several actuators it contains 0. One pair applies to "
             "all degrees of freedom."},
};
const table table_joint = {
    "joint",
    "Joint between a body and its parent; its frame is the body's `pose`. A text is short for `{\"type\": ...}`. "
    "Arrays have a value for each degree of freedom; a single one applies to all.\n"
    "\n"
    "Coordinates in this order. Hinge, screw: an angle; a screw advances along `axis` when `pitch` is above 0. Slider: "
    "a distance. Cylindrical: angle and distance. Universal: the angles about `axis` and `axis2`. Planar: the "
    "distances along `axis2` and along `axis` x `axis2`, and the angle about `axis`. Cartesian: the distances along "
    "the axes of the joint frame. Ball: a quaternion (3 degrees of freedom). Free: position and quaternion (6).",
    sizeof(joint_data),
    joint_fields,
    .count = COUNT(joint_fields),
    .type_key = "type",
    .shorthand = "type"};

/* ---- inertia ---- */

static const field inertia_fields[] = {
    {"mass", FIELD_NUMBER, AT(inertia_data, mass), .unit = "kg", POSITIVE, .required = true, .help = "Mass."},
    {"com", FIELD_VECTOR, AT(inertia_data, com), 3, .unit = "m", .standard = "[0, 0, 0]",
     .help = "Centre of mass in the body frame."},
    {"moments", FIELD_VECTOR, AT(inertia_data, moments), 3, .unit = "kg m^2", NOT_NEGATIVE, .rival = 2,
     .help = "Principal moments about the centre of mass."},
    {"matrix", FIELD_VECTOR, AT(inertia_data, matrix), 6, .unit = "kg m^2", .rival = 2,
     .help = "Inertia about the centre of mass: ixx, iyy, izz, ixy, ixz, iyz; products with their sign in the matrix."},
    ORIENTATION_FIELDS(inertia_data),
};
const table table_inertia = {"inertia",
                             "Mass properties of a body. The orientation turns the axes of the moments or of the "
                             "matrix relative to the body frame.",
                             sizeof(inertia_data),
                             inertia_fields,
                             .count = COUNT(inertia_fields),
                             .rivals_needed = BIT(2)};

/* ---- bodies ---- */

static const field site_fields[] = {
    {"name", FIELD_NAME, AT(site_data, name), .required = true, .help = "Name, unique among the sites of its model."},
    {"pose", FIELD_OBJECT, AT(site_data, pose), .table = &table_pose, .help = "Pose in the body frame."},
};
const table table_site = {"site",
                          "Named frame on a body. `constraints`, `loads` and recorded points take a site in place of a "
                          "body and a point on it; `tendons` run through sites.",
                          sizeof(site_data), site_fields, .count = COUNT(site_fields)};

static const field body_fields[] = {
    {"name", FIELD_NAME, AT(body_data, name), .required = true,
     .help = "Name, unique in its model; also the name of its joint."},
    {"parent", FIELD_NAME, AT(body_data, parent), .standard = "\"world\"",
     .help = "Name of the parent body, anywhere in the file. In a model `world` is the `parent` and `pose` of the "
             "instance."},
    {"pose", FIELD_OBJECT, AT(body_data, pose), .table = &table_pose,
     .help = "Joint frame in the parent's body frame. Of a free body: its initial pose."},
    {"joint", FIELD_OBJECT, AT(body_data, joint), .table = &table_joint, .standard = "\"fixed\"",
     .help = "Joint to the parent."},
    {"inertia", FIELD_OBJECT, AT(body_data, inertia), .table = &table_inertia,
     .help = "Mass properties. Without this key they follow from the densities or masses of the shapes; not both."},
    {"soft", FIELD_OBJECT, AT(body_data, soft), .table = &table_soft, .help = "Makes the body deformable."},
    {"drag", FIELD_OBJECTS, AT(body_data, drag), .table = &table_drag,
     .help = "Resistance in the `fluid` of the world, as a sum of parts; `[]`: none. Default: the box of its mass and "
             "inertia."},
    {"shapes", FIELD_OBJECTS, AT(body_data, shapes), .table = &table_shape, .help = "Shapes."},
    {"sites", FIELD_OBJECTS, AT(body_data, sites), .table = &table_site,
     .help = "Named frames on the body. Where a site is asked for, the name of a body stands for its own frame."},
    {"q", FIELD_NUMBERS, AT(body_data, q), 7, .unit = "rad or m", WITHIN(-1e15, 1e15), .rival = 1,
     .help = "Initial coordinates of the joint. Default: 0. Not for free bodies, which start at their pose."},
    {"q_deg", FIELD_NUMBERS, AT(body_data, q_deg), 7, .unit = "degrees", .rival = 1,
     .help = "`q` in degrees, of joints whose coordinates are angles: hinge, screw, universal."},
    {"v", FIELD_NUMBERS, AT(body_data, v), 6, .unit = "rad/s or m/s",
     .help = "Initial velocities of the joint. Free body: velocity of its origin in world axes, then angular velocity "
             "in body axes. Ball joint: angular velocity in body axes."},
};
const table table_body = {"body", "Rigid body with the joint to its parent, or a soft one.", sizeof(body_data),
                          body_fields, .count = COUNT(body_fields)};

static const field exclusion_fields[] = {
    {"first", FIELD_PATTERN, AT(exclusion_data, first), .required = true, .help = "Name of a body, or a pattern."},
    {"second", FIELD_PATTERN, AT(exclusion_data, second), .required = true, .help = "Name of the other, or a pattern."},
};
const table table_exclusion = {
    "exclusion",
    "Two bodies without contacts between them. In a pattern `*` matches any letters, or none: every body that matches "
    "`first` is paired with every other body that matches `second`. Patterns match the bodies of their model and of "
    "its instances, with prefixes; `world` must be named. A body and its parent have no contacts anyway, unless the "
    "parent is the world or fixed to it; nor have bodies connected by fixed joints.",
    sizeof(exclusion_data), exclusion_fields, .count = COUNT(exclusion_fields)};

/* ---- models and instances ---- */

#define SELF_CONTACT(type)                                                                                             \
    {                                                                                                                  \
        "self_contact", FIELD_FLAG, AT(type, self_contact),                                                            \
            .standard = "true",                                                                                        \
            .help = "`false`: bodies of one copy have no contacts with each other; nor have those of models within "   \
                    "it."                                                                                              \
    }

#define OWN_EXCLUDE(type)                                                                                              \
    {                                                                                                                  \
        "exclude", FIELD_ENUM, AT(type, exclude),                                                                      \
            .name_of = exclude_name, .standard = "\"none\"",                                                           \
            .help = "`initial`: bodies of one copy that overlap at the start have no contacts with each other."        \
    }

static const field model_fields[] = {
    {"description", FIELD_TEXT, AT(model_data, description), .help = "Description of the model."},
    {"bodies", FIELD_OBJECTS, AT(model_data, bodies), .table = &table_body, .help = "Bodies."},
    {"instances", FIELD_OBJECTS, AT(model_data, instances), .table = &table_instance,
     .help = "Models within the model."},
    {"initial", FIELD_MAP, AT(model_data, initial), .table = &table_initial, .help = "Initial state."},
    {"keyframes", FIELD_OBJECTS, AT(model_data, keyframes), .table = &table_keyframe, .help = "Named states."},
    {"actuators", FIELD_OBJECTS, AT(model_data, actuators), .table = &table_actuator,
     .help = "Motors, servos, muscles."},
    {"controllers", FIELD_OBJECTS, AT(model_data, controllers), .table = &table_controller,
     .help = "Controllers of several joints, and phases ([control.md](control.md#controllers-in-scenes))."},
    {"sensors", FIELD_OBJECTS, AT(model_data, sensors), .table = &table_sensor, .help = "Sensors."},
    {"loads", FIELD_OBJECTS, AT(model_data, loads), .table = &table_load, .help = "External forces."},
    {"exclusions", FIELD_OBJECTS, AT(model_data, exclusions), .table = &table_exclusion,
     .help = "Pairs of bodies without contacts."},
    SELF_CONTACT(model_data),
    OWN_EXCLUDE(model_data),
    {"tendons", FIELD_OBJECTS, AT(model_data, tendons), .table = &table_tendon,
     .help = "Strings, and sums of coordinates."},
    {"constraints", FIELD_OBJECTS, AT(model_data, constraints), .table = &table_constraint,
     .help = "Constraints between bodies, besides joints."},
};
const table table_model = {"model",
                           "A group of bodies that a scene can contain any number of times. Names in it refer to its "
                           "own bodies; in the scene they get the prefix of the instance.",
                           sizeof(model_data), model_fields, .count = COUNT(model_fields)};

static const field instance_fields[] = {
    {"model", FIELD_NAME, AT(instance_data, model), .rival = 1, .help = "Name of a model of this file."},
    {"file", FIELD_TEXT, AT(instance_data, file), .rival = 1,
     .help = "Another scene, or a robot in URDF, MJCF or SDFormat, relative to this file. Its `world`, `record` and "
             "`cameras` are not used."},
    {"prefix", FIELD_PREFIX, AT(instance_data, prefix), .standard = "\"\"",
     .help = "Prefix of every name of the model; with `repeat` followed by the number of the copy from 0, and `_`."},
    {"parent", FIELD_NAME, AT(instance_data, parent), .standard = "\"world\"",
     .help = "Name of the parent of the model's roots."},
    {"pose", FIELD_OBJECT, AT(instance_data, pose), .table = &table_pose,
     .help = "Pose of the model on that body; with `repeat`, pose of the first copy or of the pattern."},
    {"joint", FIELD_OBJECT, AT(instance_data, joint), .table = &table_joint,
     .help = "Joint in place of that of the model's only root, as `\"free\"`."},
    {"start", FIELD_NAME, AT(instance_data, start),
     .help = "Keyframe of the model, without prefix, whose joints start as it says."},
    {"overrides", FIELD_VALUES, AT(instance_data, overrides),
     .help = "Values in place of the model's, by path: `\"bodies/forearm/inertia/mass\": 2`. Elements of arrays are "
             "given by name or number; a missing last key is added."},
    {"repeat", FIELD_OBJECT, AT(instance_data, repeat), .table = &table_repeat, .help = "Many copies in a pattern."},
};
const table table_instance = {"instance",
                              "A copy of a model, or a pattern of copies.",
                              sizeof(instance_data),
                              instance_fields,
                              .count = COUNT(instance_fields),
                              .named_by = {"prefix", "model"},
                              .rivals_needed = BIT(1)};

enum {
    LATTICE = BIT(PLACE_GRID) | BIT(PLACE_COLUMNS),
    COUNTED = BIT(PLACE_LINE) | BIT(PLACE_SCATTER) | BIT(PLACE_SERIES)
};

static const field repeat_fields[] = {
    {"placement", FIELD_ENUM, AT(repeat_data, placement), .required = true, .name_of = placement_name,
     .help = "Line: each copy `offset` from the last. Grid: from the instance's pose along x, y, z. Columns: stacks on "
             "the plane of the pose, centred on it. Scatter: random in a box. Series: each copy is mounted on a body "
             "of the one before."},
    {"count", FIELD_INTEGER, AT(repeat_data, count), WITHIN(0, 1000000), .only = COUNTED, .needed_by = COUNTED,
     .help = "Copies."},
    {"counts", FIELD_VECTOR, AT(repeat_data, counts), 3, WITHIN(0, 1000000), .integers = true, .only = LATTICE,
     .needed_by = LATTICE, .help = "Copies along x, y, z; z runs fastest, then y."},
    {"offset", FIELD_VECTOR, AT(repeat_data, offset), 3, .unit = "m", .only = BIT(PLACE_LINE),
     .needed_by = BIT(PLACE_LINE), .help = "Distance from one copy to the next."},
    {"spacing", FIELD_VECTOR, AT(repeat_data, spacing), 3, .unit = "m", .only = LATTICE, .needed_by = LATTICE,
     .help = "Distances along x, y, z."},
    {"jitter", FIELD_NUMBER, AT(repeat_data, jitter), LENGTH_OR_ZERO, .standard = "0", .only = BIT(PLACE_COLUMNS),
     .help = "Random displacement of each copy along x and along y, up to this distance."},
    {"min", FIELD_VECTOR, AT(repeat_data, min), 3, .unit = "m", .only = BIT(PLACE_SCATTER),
     .needed_by = BIT(PLACE_SCATTER), .help = "Corner of the box."},
    {"max", FIELD_VECTOR, AT(repeat_data, max), 3, .unit = "m", .only = BIT(PLACE_SCATTER),
     .needed_by = BIT(PLACE_SCATTER), .help = "Opposite corner."},
    {"seed", FIELD_INTEGER, AT(repeat_data, seed), WITHIN(0, 9007199254740992.0), .standard = "0",
     .only = BIT(PLACE_SCATTER) | BIT(PLACE_COLUMNS), .help = "Seed of the pattern, besides `world/seed`."},
    {"random_orientation", FIELD_FLAG, AT(repeat_data, random_orientation), .standard = "false",
     .only = BIT(PLACE_SCATTER) | BIT(PLACE_COLUMNS),
     .help = "Each copy has a random orientation, uniformly distributed."},
    {"radius", FIELD_NUMBER, AT(repeat_data, radius), LENGTH_OR_ZERO, .standard = "0", .only = BIT(PLACE_SCATTER),
     .help = "Copies are at least twice this apart."},
    {"on", FIELD_NAME, AT(repeat_data, on), .only = BIT(PLACE_SERIES), .needed_by = BIT(PLACE_SERIES),
     .help = "Name, in the model, of the body that carries the next copy."},
    {"pose", FIELD_OBJECT, AT(repeat_data, pose), .table = &table_pose, .only = BIT(PLACE_SERIES),
     .help = "Pose of the next copy on that body."},
};
const table table_repeat = {
    "repeat",
    "Pattern of copies, numbered from 0. The same seed gives the same pattern on every machine.",
    sizeof(repeat_data),
    repeat_fields,
    .count = COUNT(repeat_fields),
    .type_key = "placement"};

/* ---- initial state ---- */

static const field initial_fields[] = {
    {"q", FIELD_NUMBERS, AT(initial_data, q), 7, .unit = "rad or m", WITHIN(-1e15, 1e15), .rival = 1,
     .help = "Coordinates. Free body: position (x, y, z) and quaternion (w, x, y, z). Ball joint: quaternion."},
    {"q_deg", FIELD_NUMBERS, AT(initial_data, q_deg), 7, .unit = "degrees", .rival = 1, .help = "`q` in degrees."},
    {"v", FIELD_NUMBERS, AT(initial_data, v), 6, .unit = "rad/s or m/s", .help = "Velocities."},
};
const table table_initial = {"initial",
                             "Initial state of a joint, in place of that of its body. Plain numbers are `q`.",
                             sizeof(initial_data),
                             initial_fields,
                             .count = COUNT(initial_fields),
                             .shorthand = "q"};

static const field keyframe_fields[] = {
    {"name", FIELD_NAME, AT(keyframe_data, name), .required = true, .help = "Name, unique among the keyframes."},
    {"time", FIELD_NUMBER, AT(keyframe_data, time), .unit = "s", .standard = "0", .help = "Time at the start."},
    {"initial", FIELD_MAP, AT(keyframe_data, initial), .table = &table_initial,
     .help = "States of joints, as in the `initial` of the scene. All others start as without the keyframe."},
    {"ctrl", FIELD_MAP, AT(keyframe_data, ctrl), .table = &table_drive,
     .help = "Control inputs of actuators, by their names. All others start as without the keyframe."},
};
const table table_keyframe = {"keyframe",
                              "Named state. `world/start` and `--start NAME` let the run start there; those of a model "
                              "have the prefix of its instance.",
                              sizeof(keyframe_data), keyframe_fields, .count = COUNT(keyframe_fields)};

/* ---- output ---- */

static const field point_fields[] = {
    {"name", FIELD_NAME, AT(point_data, name), .required = true, .help = "Name in the recording."},
    {"body", FIELD_NAME, AT(point_data, body), .rival = 1, .help = "Body."},
    {"site", FIELD_NAME, AT(point_data, site), .rival = 1, .help = "Site whose origin is the point."},
    {"point", FIELD_VECTOR, AT(point_data, point), 3, .unit = "m", .standard = "[0, 0, 0]",
     .help = "Point in the frame of the body."},
};
const table table_point = {"point",
                           "A point of a body, or a site, whose position and velocity are recorded.",
                           sizeof(point_data),
                           point_fields,
                           .count = COUNT(point_fields),
                           .rivals_needed = BIT(1)};

static const field record_fields[] = {
    {"every", FIELD_INTEGER, AT(record_data, every), .unit = "steps", WITHIN(1, 1000000000), .standard = "10",
     .help = "Steps from one record to the next."},
    {"signals", FIELD_ENUMS, AT(record_data, signals), .name_of = signal_name,
     .standard = "[\"coordinates\", \"velocities\", \"energy\"]", .help = "Recorded signals."},
    {"points", FIELD_OBJECTS, AT(record_data, points), .table = &table_point, .help = "Points of bodies."},
    {"events", FIELD_OBJECTS, AT(record_data, events), .table = &table_event,
     .help = "Moments whose times are recorded, and that may end the run."},
};
const table table_record = {"record", "Output of a run.", sizeof(record_data), record_fields,
                            .count = COUNT(record_fields)};

static const field camera_fields[] = {
    {"name", FIELD_NAME, AT(camera_data, name), .required = true, .help = "Name."},
    {"position", FIELD_VECTOR, AT(camera_data, position), 3, .unit = "m", .required = true,
     .help = "Position of the camera."},
    {"target", FIELD_VECTOR, AT(camera_data, target), 3, .unit = "m", .standard = "[0, 0, 0]",
     .help = "Point in the middle of the view."},
    {"fov", FIELD_NUMBER, AT(camera_data, fov), .unit = "rad", .range = {true, true, true, 0, 3.1}, .rival = 1,
     .standard = "0.8", .help = "Vertical field of view."},
    {"fov_deg", FIELD_NUMBER, AT(camera_data, fov_deg), .unit = "degrees", .range = {true, true, true, 0, 177},
     .rival = 1, .help = "`fov` in degrees."},
};
const table table_camera = {"camera", "A view of the scene, z up.", sizeof(camera_data), camera_fields,
                            .count = COUNT(camera_fields)};

static const field scene_fields[] = {
    {"sim", FIELD_INTEGER, AT(scene_data, version), WITHIN(1, 1), .required = true,
     .help = "Version of the format: 1."},
    {"$schema", FIELD_TEXT, AT(scene_data, schema), .help = "For editors; not read."},
    {"name", FIELD_TEXT, AT(scene_data, name), .help = "Title. Default: the name of the file."},
    {"description", FIELD_TEXT, AT(scene_data, description), .help = "Description of the scene."},
    {"world", FIELD_OBJECT, AT(scene_data, world), .table = &table_world,
     .help = "Gravity, time stepping, contact solver and law."},
    {"exclusions", FIELD_OBJECTS, AT(scene_data, exclusions), .table = &table_exclusion,
     .help = "Pairs of bodies without contacts."},
    SELF_CONTACT(scene_data),
    OWN_EXCLUDE(scene_data),
    {"materials", FIELD_OBJECTS, AT(scene_data, materials), .table = &table_material, .help = "Surfaces of shapes."},
    {"material_pairs", FIELD_OBJECTS, AT(scene_data, material_pairs), .table = &table_material_pair,
     .help = "Contact parameters of two materials."},
    {"bodies", FIELD_OBJECTS, AT(scene_data, bodies), .table = &table_body, .help = "Bodies."},
    {"models", FIELD_MAP, AT(scene_data, models), .table = &table_model, .help = "Models for instances, by name."},
    {"instances", FIELD_OBJECTS, AT(scene_data, instances), .table = &table_instance, .help = "Copies of models."},
    {"initial", FIELD_MAP, AT(scene_data, initial), .table = &table_initial,
     .help = "Initial state by the name of the joint or its body; `*` matches any letters. Later keys replace earlier "
             "ones."},
    {"keyframes", FIELD_OBJECTS, AT(scene_data, keyframes), .table = &table_keyframe,
     .help = "Named states, at which a run can start."},
    {"actuators", FIELD_OBJECTS, AT(scene_data, actuators), .table = &table_actuator,
     .help = "Motors, servos, muscles."},
    {"controllers", FIELD_OBJECTS, AT(scene_data, controllers), .table = &table_controller,
     .help = "Controllers of several joints, and phases ([control.md](control.md#controllers-in-scenes))."},
    {"sensors", FIELD_OBJECTS, AT(scene_data, sensors), .table = &table_sensor, .help = "Sensors."},
    {"loads", FIELD_OBJECTS, AT(scene_data, loads), .table = &table_load, .help = "External forces."},
    {"tendons", FIELD_OBJECTS, AT(scene_data, tendons), .table = &table_tendon,
     .help = "Strings, and sums of coordinates."},
    {"constraints", FIELD_OBJECTS, AT(scene_data, constraints), .table = &table_constraint,
     .help = "Constraints between bodies, besides joints."},
    {"record", FIELD_OBJECT, AT(scene_data, record), .table = &table_record, .help = "Output of a run."},
    {"cameras", FIELD_OBJECTS, AT(scene_data, cameras), .table = &table_camera, .help = "Views."},
};
const table table_scene = {"scene", "Top-level object of a scene file.", sizeof(scene_data), scene_fields,
                           .count = COUNT(scene_fields)};

const table *const all_tables[] = {
    &table_scene,         &table_world,        &table_fluid,        &table_law,         &table_budget,
    &table_body,          &table_pose,         &table_joint,        &table_inertia,     &table_shape,
    &table_decompose,     &table_soft,         &table_attachment,   &table_soft_cut,    &table_layer,
    &table_drag,          &table_site,         &table_solid,        &table_exclusion,   &table_material,
    &table_material_pair, &table_instance,     &table_model,        &table_repeat,      &table_initial,
    &table_keyframe,      &table_drive,        &table_actuator,     &table_activation,  &table_slider_crank,
    &table_muscle,        &table_controller,   &table_controlled,   &table_target,      &table_target_key,
    &table_phase,         &table_phase_target, &table_phase_switch, &table_transition,  &table_sensor,
    &table_load,          &table_constraint,   &table_tendon,       &table_path_point,  &table_tendon_joint,
    &table_track,         &table_vector_track, &table_sine,         &table_vector_sine, &table_record,
    &table_point,         &table_event,        &table_camera,       (const table *)NULL};
