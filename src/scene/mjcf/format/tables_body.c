/* The format MJCF, bodies and what is in them: joints, geoms, sites, cameras. */
#include "scene/mjcf/format/rows.h"

static const xml_rule plugin_rules[] = {{.name = "plugin", .use = XML_REFUSED, .help = PLUGIN}};

static const xml_key inertial_keys[] = {
    {.name = "pos", .kind = XML_VECTOR, .count = 3, .required = true, .unit = "m", .help = "Centre of mass."},
    ORIENTATION,
    {.name = "mass", .kind = XML_NUMBER, .required = true, .unit = "kg", .help = "Mass."},
    {.name = "diaginertia", .kind = XML_VECTOR, .count = 3, .unit = "kg m^2", .help = "Principal moments."},
    {.name = "fullinertia",
     .kind = XML_VECTOR,
     .count = 6,
     .unit = "kg m^2",
     .help = "Matrix about the centre of mass: xx, yy, zz, xy, xz, yz."},
};
static const xml_table table_inertial =
    LEAF("inertial", "Mass properties of the body, in place of those of its geoms.", inertial_keys);

/* ---- joints ---- */

static const xml_key joint_keys[] = {
    {.name = "name", .kind = XML_TEXT, .help = "Name. Default: that of the body."},
    CLASS,
    {.name = "type",
     .kind = XML_CHOICE,
     .choices = WORDS("free", "ball", "slide", "hinge"),
     .standard = "hinge",
     .help = "Motion. Several joints of a body act one after the other."},
    {.name = "pos",
     .kind = XML_VECTOR,
     .count = 3,
     .unit = "m",
     .standard = "0 0 0",
     .help = "Point of the axis, in the body."},
    {.name = "axis", .kind = XML_VECTOR, .count = 3, .standard = "0 0 1", .help = "Axis in the body."},
    {.name = "springdamper",
     .kind = XML_VECTOR,
     .count = 2,
     .unit = "s, 1",
     .standard = "0 0",
     .help = "Time constant and damping ratio of spring and damper, with the inertia at the reference pose."},
    {.name = "limited",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE_AUTO,
     .standard = "auto",
     .help = "The range counts."},
    {.name = "range",
     .kind = XML_VECTOR,
     .count = 2,
     .unit = "angle or m",
     .standard = "0 0",
     .help = "Least and greatest coordinate."},
    {.name = "margin",
     .kind = XML_NUMBER,
     .unit = "angle or m",
     .standard = "0",
     .help = "The ends act that much earlier; where they meet, at their middle."},
    SOFT("solreflimit", "Softness of the ends. Default: rigid."),
    IMPEDANCE("solimplimit"),
    IGNORED("solreffriction", "dry friction is exact"),
    IGNORED("solimpfriction", "dry friction is exact"),
    {.name = "actuatorfrclimited",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE_AUTO,
     .standard = "auto",
     .help = "`actuatorfrcrange` counts."},
    {.name = "actuatorfrcrange",
     .kind = XML_VECTOR,
     .count = 2,
     .unit = "N m or N",
     .standard = "0 0",
     .help = "Range of the sum of actuator forces."},
    {.name = "actuatorgravcomp",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE,
     .standard = "false",
     .use = XML_IGNORED,
     .help = "gravity is balanced by loads"},
    {.name = "stiffness",
     .kind = XML_VECTOR,
     .count = 3,
     .least = 1,
     .unit = "N m/rad or N/m",
     .standard = "0",
     .help = "Stiffness, and the terms of the second and third degree. A free joint is held at its reference pose."},
    {.name = "damping",
     .kind = XML_VECTOR,
     .count = 3,
     .least = 1,
     .unit = "N m s/rad or N s/m",
     .standard = "0",
     .help = "Viscous damping, and the terms of the second and third degree."},
    {.name = "ref",
     .kind = XML_NUMBER,
     .unit = "angle or m",
     .standard = "0",
     .help = "Coordinate at which the body stands as the file says."},
    {.name = "springref",
     .kind = XML_NUMBER,
     .unit = "angle or m",
     .standard = "0",
     .help = "Coordinate at which the spring is slack."},
    {.name = "armature", .kind = XML_NUMBER, .unit = "kg m^2 or kg", .standard = "0", .help = "Rotor inertia."},
    {.name = "frictionloss", .kind = XML_NUMBER, .unit = "N m or N", .standard = "0", .help = "Dry friction."},
    IGNORED("group", NOT_MOTION),
    IGNORED("user", NOT_MOTION),
};
const xml_table mjcf_table_joint =
    LEAF("joint", "Joint of the body with its parent. A body without joints is fixed.", joint_keys);

static const xml_key freejoint_keys[] = {
    {.name = "name", .kind = XML_TEXT, .help = "Name. Default: that of the body."},
    IGNORED("group", NOT_MOTION),
    IGNORED("align", "a free body keeps its frame"),
};
static const xml_table table_freejoint =
    LEAF("freejoint", "Joint of type free, without the defaults of joints.", freejoint_keys);

/* ---- geoms ---- */

static const xml_key geom_keys[] = {
    NAME,
    CLASS,
    {.name = "type",
     .kind = XML_CHOICE,
     .choices = WORDS("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"),
     .standard = "sphere",
     .help = "Kind of shape. A plane is solid below. Sdf needs a plugin and is refused."},
    {.name = "contype",
     .kind = XML_NUMBER,
     .standard = "1",
     .help = "Bits. Two geoms touch if `contype` of one and `conaffinity` of the other have one in common."},
    {.name = "conaffinity", .kind = XML_NUMBER, .standard = "1", .help = "Bits, as above."},
    {.name = "condim",
     .kind = XML_NUMBER,
     .standard = "3",
     .help = "1: no friction; 3: sliding; 4: torsional, too; 6: rolling, too."},
    {.name = "group",
     .kind = XML_NUMBER,
     .standard = "0",
     .help = "From 3 on it is drawn only where nothing else of its body is."},
    {.name = "priority",
     .kind = XML_NUMBER,
     .standard = "0",
     .help = "The greater one's friction and softness count; else the greater friction."},
    {.name = "size",
     .kind = XML_VECTOR,
     .count = 3,
     .least = 1,
     .unit = "m",
     .help = "Sphere: radius. Capsule, cylinder: radius, half the length. Box, ellipsoid: half the edges."},
    TEXT_KEY("material", "Colour."),
    {.name = "friction",
     .kind = XML_VECTOR,
     .count = 3,
     .least = 1,
     .unit = "1, m, m",
     .standard = "1 0.005 0.0001",
     .help = "Coefficients of sliding, torsional and rolling friction."},
    {.name = "mass", .kind = XML_NUMBER, .unit = "kg", .help = "Mass, in place of the density."},
    {.name = "density", .kind = XML_NUMBER, .unit = "kg/m^3", .standard = "1000", .help = "Density."},
    {.name = "shellinertia",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE,
     .standard = "false",
     .help = "The mass is on the surface, and the density one of the area, kg/m^2. Not of ellipsoids and meshes with "
             "mass."},
    {.name = "solmix",
     .kind = XML_NUMBER,
     .standard = "1",
     .help = "Weight of the softness of this geom in a contact; 0: that of the other counts."},
    SOFT("solref", "Softness of contacts. Default: as stiff as the step resolves."),
    IMPEDANCE("solimp"),
    IGNORED("margin", "contacts act at the surface, and are found as early as the speed needs"),
    {.name = "gap",
     .kind = XML_NUMBER,
     .unit = "m",
     .standard = "0",
     .help = "Gap up to which `adhesion`, or an actuator of that kind, pulls; else it has no meaning. Those of two "
             "geoms add up. Default: "
             "1e-4."},
    {.name = "surfacevel",
     .kind = XML_VECTOR,
     .count = 6,
     .least = 1,
     .unit = "m/s, rad/s",
     .standard = "0 0 0 0 0 0",
     .help =
         "Velocity of the surface over the geom, and its angular velocity, along the axes of the geom. A plane does "
         "not turn."},
    {.name = "adhesion",
     .kind = XML_NUMBER,
     .unit = "N",
     .standard = "0",
     .help = "Pull of each contact point; those of two geoms add up."},
    {.name = "fromto",
     .kind = XML_VECTOR,
     .count = 6,
     .unit = "m",
     .help = "Ends of a capsule, cylinder, box or ellipsoid along z, in place of its pose and length."},
    POSITION,
    ORIENTATION,
    TEXT_KEY("hfield", "Height field."),
    TEXT_KEY("mesh", "Mesh; other types are fitted to it."),
    {.name = "fitscale", .kind = XML_NUMBER, .standard = "1", .help = "Factor of fitted sizes."},
    {.name = "rgba",
     .kind = XML_VECTOR,
     .count = 4,
     .least = 1,
     .standard = "0.5 0.5 0.5 1",
     .help = "Red, green, blue, opacity, from 0 to 1."},
    {.name = "fluidshape",
     .kind = XML_CHOICE,
     .choices = WORDS("none", "ellipsoid"),
     .standard = "none",
     .help =
         "Ellipsoid: the body has the drag and lift of such geoms, not that of its box of inertia. Of a mesh as far as "
         "it reaches along its principal axes."},
    {.name = "fluidcoef",
     .kind = XML_VECTOR,
     .count = 5,
     .least = 1,
     .standard = "0.5 0.25 1.5 1 1",
     .help = "Coefficients of that ellipsoid: blunt, slender and angular drag, lift by Kutta and Magnus."},
    IGNORED("user", NOT_MOTION),
};
const xml_table mjcf_table_geom =
    TABLE("geom", "Shape of the body. Without `contype` and `conaffinity` it is only drawn.", geom_keys, plugin_rules);

/* ---- sites and cameras ---- */

static const xml_key site_keys[] = {
    NAME,
    CLASS,
    {.name = "type",
     .kind = XML_CHOICE,
     .choices = WORDS("sphere", "capsule", "ellipsoid", "cylinder", "box"),
     .standard = "sphere",
     .help = "Shape of a touch sensor."},
    {.name = "size",
     .kind = XML_VECTOR,
     .count = 3,
     .least = 1,
     .unit = "m",
     .standard = "0.005 0.005 0.005",
     .help = "Sizes of that shape."},
    {.name = "fromto", .kind = XML_VECTOR, .count = 6, .unit = "m", .help = "Two points, in place of the pose."},
    POSITION,
    ORIENTATION,
    IGNORED("group", NOT_MOTION),
    IGNORED("material", NOT_MOTION),
    IGNORED("rgba", NOT_MOTION),
    IGNORED("user", NOT_MOTION),
};
const xml_table mjcf_table_site = LEAF("site", "Frame on the body, for sensors, tendons and actuators.", site_keys);

static const xml_key camera_keys[] = {
    NAME,
    CLASS,
    POSITION,
    ORIENTATION,
    {.name = "fovy", .kind = XML_NUMBER, .unit = "degrees", .standard = "45", .help = "Vertical field of view."},
    {.name = "mode",
     .kind = XML_CHOICE,
     .choices = WORDS("fixed", "track", "trackcom", "targetbody", "targetbodycom"),
     .standard = "fixed",
     .help = "Cameras of fixed bodies of the mode `fixed` become views; the others move, and are left out."},
    IGNORED("target", "cameras that move are left out"),
    IGNORED("*", NOT_MOTION),
};
const xml_table mjcf_table_camera = LEAF("camera", "View.", camera_keys);

/* ---- bodies ---- */

static const xml_key body_keys[] = {
    {.name = "name", .kind = XML_TEXT, .help = "Name. Default: `body` with the number of the body."},
    {.name = "childclass", .kind = XML_TEXT, .help = "Class of defaults of all in it that name none."},
    POSITION,
    ORIENTATION,
    IGNORED("mocap", "the body stays where it is"),
    {.name = "gravcomp",
     .kind = XML_NUMBER,
     .standard = "0",
     .help = "Fraction of its weight that a load on it balances."},
    IGNORED("sleep", OWN_SOLVER),
    IGNORED("simple", OWN_SOLVER),
    IGNORED("user", NOT_MOTION),
};

static const xml_key frame_keys[] = {
    NAME,
    {.name = "childclass", .kind = XML_TEXT, .help = "As of a body."},
    POSITION,
    ORIENTATION,
};
static const xml_key replicate_keys[] = {
    {.name = "count", .kind = XML_NUMBER, .required = true, .help = "Copies."},
    {.name = "offset",
     .kind = XML_VECTOR,
     .count = 3,
     .unit = "m",
     .standard = "0 0 0",
     .help = "From each copy to the next, in the frame of the copy."},
    {.name = "euler", .kind = XML_VECTOR, .count = 3, .standard = "0 0 0", .help = "Turn from each copy to the next."},
    {.name = "sep", .kind = XML_TEXT, .help = "Between a name and the number of the copy."},
    IGNORED("prefix", "names of copies end with their number alone"),
    {.name = "childclass", .kind = XML_TEXT, .help = "As of a body."},
};
static const xml_key attach_keys[] = {
    {.name = "model",
     .kind = XML_TEXT,
     .help = "Model among the assets. Default: this one, of which a body or frame is named."},
    {.name = "body", .kind = XML_TEXT, .help = "Body of it. Default: all of it."},
    {.name = "frame", .kind = XML_TEXT, .help = "In place of a body: a frame of it with what is in it."},
    {.name = "prefix", .kind = XML_TEXT, .required = true, .help = "Of all its names."},
};
static const xml_table table_attach =
    LEAF("attach", "Another model takes its place, with its own defaults and compiler options.", attach_keys);

extern const xml_table mjcf_table_frame, mjcf_table_replicate;
#define IN_A_BODY                                                                                                      \
    {.name = "joint", .use = XML_READ, .many = true, .table = &mjcf_table_joint},                                      \
        {.name = "freejoint", .use = XML_READ, .many = true, .table = &table_freejoint}, IN_THE_WORLD
#define IN_THE_WORLD                                                                                                   \
    {.name = "body", .use = XML_READ, .many = true, .table = &mjcf_table_body},                                        \
        {.name = "geom", .use = XML_READ, .many = true, .table = &mjcf_table_geom},                                    \
        {.name = "site", .use = XML_READ, .many = true, .table = &mjcf_table_site},                                    \
        {.name = "camera", .use = XML_READ, .many = true, .table = &mjcf_table_camera},                                \
        {.name = "frame", .use = XML_READ, .many = true, .table = &mjcf_table_frame},                                  \
        {.name = "replicate", .use = XML_READ, .many = true, .table = &mjcf_table_replicate},                          \
        {.name = "attach", .use = XML_READ, .many = true, .table = &table_attach},                                     \
        {.name = "light", .use = XML_IGNORED, .help = NOT_MOTION},                                                     \
        {.name = "plugin", .use = XML_REFUSED, .help = PLUGIN},                                                        \
        {.name = "composite", .use = XML_REFUSED, .help = "write its bodies"}, {                                       \
        .name = "flexcomp", .use = XML_REFUSED, .help = "bodies are rigid"                                             \
    }
static const xml_rule world_rules[] = {IN_THE_WORLD};
static const xml_rule body_rules[] = {{.name = "inertial", .use = XML_READ, .table = &table_inertial}, IN_A_BODY};
static const xml_rule frame_rules[] = {IN_A_BODY};

const xml_table mjcf_table_body = TABLE("body", "Rigid body.", body_keys, body_rules);
const xml_table mjcf_table_world = GROUP("worldbody", "The world. Its shapes are those of a fixed body.", world_rules);
const xml_table mjcf_table_frame =
    TABLE("frame", "Its contents are part of the body around it, seen from this frame.", frame_keys, frame_rules);
const xml_table mjcf_table_replicate = TABLE(
    "replicate", "Copies of what is in it, and of elements elsewhere that name it. These may also name single copies.",
    replicate_keys, frame_rules);
