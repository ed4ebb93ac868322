/* The format MJCF, what acts between bodies: contact pairs and exclusions, equalities, tendons. */
#include "scene/mjcf/format/rows.h"

/* ---- contact ---- */

static const xml_key pair_keys[] = {
    NAME,
    CLASS,
    TEXT_KEY("geom1", "Name of a geom."),
    TEXT_KEY("geom2", "Name of the other."),
    {.name = "condim", .kind = XML_NUMBER, .help = "As of a geom. Default: the greater one."},
    {.name = "friction",
     .kind = XML_VECTOR,
     .count = 5,
     .least = 1,
     .help = "Two coefficients of sliding, one of torsional, two of rolling friction. Default: of the geoms."},
    SOFT("solref", "Softness. Default: of the geoms."),
    IMPEDANCE("solimp"),
    IGNORED("solreffriction", "friction is exact"),
    IGNORED("margin", "contacts act at the surface"),
    IGNORED("gap", "contacts act at the surface"),
    {.name = "adhesion", .kind = XML_NUMBER, .unit = "N", .help = "As of a geom. Default: the sum of both."},
};
const xml_table mjcf_table_pair = LEAF("pair",
                                       "Two geoms that touch whatever their `contype`, with parameters of their own. "
                                       "Not of a body and its parent over several joints.",
                                       pair_keys);

static const xml_key exclude_keys[] = {
    NAME,
    {.name = "body1", .kind = XML_TEXT, .required = true, .help = "Name of a body."},
    {.name = "body2", .kind = XML_TEXT, .required = true, .help = "Name of the other."},
};
static const xml_table table_exclude = LEAF("exclude", "Two bodies whose geoms do not touch.", exclude_keys);

static const xml_rule contact_rules[] = {
    {.name = "pair", .use = XML_READ, .many = true, .table = &mjcf_table_pair},
    {.name = "exclude", .use = XML_READ, .many = true, .table = &table_exclude},
};
const xml_table mjcf_table_contact = GROUP("contact", "Contacts of single geoms and bodies.", contact_rules);

/* ---- equality ---- */

#define OF_EQUALITY                                                                                                    \
    NAME, CLASS,                                                                                                       \
        {.name = "active",                                                                                             \
         .kind = XML_CHOICE,                                                                                           \
         .choices = FALSE_TRUE,                                                                                        \
         .standard = "true",                                                                                           \
         .help = "`false`: it does not act until it is switched on."},                                                 \
        SOFT("solref", "Softness. Default: rigid."), IMPEDANCE("solimp")
static const xml_key equality_keys[] = {OF_EQUALITY};
const xml_table mjcf_table_equality_default = LEAF("equality_default", "Defaults of all equalities.", equality_keys);

static const xml_key connect_keys[] = {
    OF_EQUALITY,
    TEXT_KEY("body1", "Name of a body."),
    TEXT_KEY("body2", "Name of the other. Default: the world."),
    {.name = "anchor", .kind = XML_VECTOR, .count = 3, .unit = "m", .help = "The point, in the first body."},
    TEXT_KEY("site1", "In place of bodies and point: a site on one."),
    TEXT_KEY("site2", "A site on the other."),
};
static const xml_table table_connect =
    LEAF("connect", "Two points coincide: those that do at the reference pose, or two sites.", connect_keys);

static const xml_key weld_keys[] = {
    OF_EQUALITY,
    TEXT_KEY("body1", "Name of a body."),
    TEXT_KEY("body2", "Name of the other. Default: the world."),
    {.name = "relpose",
     .kind = XML_VECTOR,
     .count = 7,
     .standard = "0 1 0 0 0 0 0",
     .help = "Pose of the second body in the first; a quaternion of zeros: that of the reference pose."},
    {.name = "anchor",
     .kind = XML_VECTOR,
     .count = 3,
     .unit = "m",
     .standard = "0 0 0",
     .help = "Point of the second body at which they are welded."},
    TEXT_KEY("site1", "In place of bodies and pose: a site on one."),
    TEXT_KEY("site2", "A site on the other."),
    IGNORED("torquescale", "the weld is stiff in all directions"),
};
static const xml_table table_weld = LEAF("weld", "Two bodies, or two sites, keep their pose.", weld_keys);

#define POLYCOEF                                                                                                       \
    {                                                                                                                  \
        .name = "polycoef", .kind = XML_VECTOR, .count = 5, .least = 1, .standard = "0 1 0 0 0",                       \
        .help = "first = a0 + a1 second + a2 second^2 + ..., both from their reference."                               \
    }
static const xml_key couple_keys[] = {
    OF_EQUALITY,
    {.name = "joint1", .kind = XML_TEXT, .required = true, .help = "Name of a hinge or slide."},
    TEXT_KEY("joint2", "Name of the other. Default: the first keeps its coordinate."),
    POLYCOEF,
};
static const xml_table table_couple =
    LEAF("joint_equality", "The coordinate of a joint follows that of another.", couple_keys);

static const xml_key tie_keys[] = {
    OF_EQUALITY,
    {.name = "tendon1", .kind = XML_TEXT, .required = true, .help = "Name of a tendon."},
    TEXT_KEY("tendon2", "Name of the other. Default: the first keeps its length."),
    POLYCOEF,
};
static const xml_table table_tie = LEAF("tendon_equality", "The length of a tendon follows that of another.", tie_keys);

static const xml_rule equality_rules[] = {
    {.name = "connect", .use = XML_READ, .many = true, .table = &table_connect},
    {.name = "weld", .use = XML_READ, .many = true, .table = &table_weld},
    {.name = "joint", .use = XML_READ, .many = true, .table = &table_couple},
    {.name = "tendon", .use = XML_READ, .many = true, .table = &table_tie},
    {.name = "flex*", .use = XML_REFUSED, .help = "bodies are rigid"},
    {.name = "distance", .use = XML_REFUSED, .help = "MuJoCo dropped it, too"},
};
const xml_table mjcf_table_equality = GROUP("equality", "Constraints besides joints.", equality_rules);

/* ---- tendons ---- */

#define OF_TENDON                                                                                                      \
    NAME, CLASS,                                                                                                       \
        {.name = "limited",                                                                                            \
         .kind = XML_CHOICE,                                                                                           \
         .choices = FALSE_TRUE_AUTO,                                                                                   \
         .standard = "auto",                                                                                           \
         .help = "The range counts."},                                                                                 \
        {.name = "range", .kind = XML_VECTOR, .count = 2, .standard = "0 0", .help = "Least and greatest length."},    \
        {.name = "margin",                                                                                             \
         .kind = XML_NUMBER,                                                                                           \
         .standard = "0",                                                                                              \
         .help = "The ends act that much earlier; where they meet, at their middle."},                                 \
        SOFT("solreflimit", "Softness of the ends. Default: rigid."), IMPEDANCE("solimplimit"),                        \
        IGNORED("solreffriction", "dry friction is exact"), IGNORED("solimpfriction", "dry friction is exact"),        \
        {.name = "frictionloss", .kind = XML_NUMBER, .unit = "N", .standard = "0", .help = "Dry friction."},           \
        {.name = "springlength",                                                                                       \
         .kind = XML_VECTOR,                                                                                           \
         .count = 2,                                                                                                   \
         .least = 1,                                                                                                   \
         .unit = "m",                                                                                                  \
         .standard = "-1 -1",                                                                                          \
         .help = "Length, or range of lengths, at which the spring is slack. Default: that where all springs of "      \
                 "joints are; of a path the reference pose."},                                                         \
        {.name = "stiffness",                                                                                          \
         .kind = XML_VECTOR,                                                                                           \
         .count = 3,                                                                                                   \
         .least = 1,                                                                                                   \
         .unit = "N/m",                                                                                                \
         .standard = "0",                                                                                              \
         .help = "Stiffness, and the terms of the second and third degree."},                                          \
        {.name = "damping",                                                                                            \
         .kind = XML_VECTOR,                                                                                           \
         .count = 3,                                                                                                   \
         .least = 1,                                                                                                   \
         .unit = "N s/m",                                                                                              \
         .standard = "0",                                                                                              \
         .help = "Viscous damping, and the terms of the second and third degree."},                                    \
        {.name = "armature", .kind = XML_NUMBER, .unit = "kg", .standard = "0", .help = "Inertia of the length."},     \
        {.name = "actuatorfrclimited",                                                                                 \
         .kind = XML_CHOICE,                                                                                           \
         .choices = FALSE_TRUE_AUTO,                                                                                   \
         .standard = "auto",                                                                                           \
         .help = "`actuatorfrcrange` counts."},                                                                        \
        {.name = "actuatorfrcrange",                                                                                   \
         .kind = XML_VECTOR,                                                                                           \
         .count = 2,                                                                                                   \
         .unit = "N",                                                                                                  \
         .standard = "0 0",                                                                                            \
         .help = "Range of the force of its actuators, summed; all have one gear."},                                   \
        IGNORED("group", NOT_MOTION), IGNORED("user", NOT_MOTION)
#define LOOK_OF_TENDON                                                                                                 \
    {.name = "width", .kind = XML_NUMBER, .unit = "m", .standard = "0.003", .help = "Radius in pictures."},            \
        {.name = "rgba", .kind = XML_VECTOR, .count = 4, .standard = "0.5 0.5 0.5 1", .help = "Colour."},              \
        IGNORED("material", NOT_MOTION)
static const xml_key tendon_keys[] = {OF_TENDON, LOOK_OF_TENDON};
const xml_table mjcf_table_tendon_default = LEAF("tendon_default", "Defaults of all tendons.", tendon_keys);

static const xml_key path_site_keys[] = {
    {.name = "site", .kind = XML_TEXT, .required = true, .help = "Name of a site."},
};
static const xml_key path_geom_keys[] = {
    {.name = "geom", .kind = XML_TEXT, .required = true, .help = "Name of a sphere or cylinder."},
    TEXT_KEY("sidesite", "Site on the side that the tendon passes; within the geom: the tendon runs inside."),
};
static const xml_key path_pulley_keys[] = {
    {.name = "divisor", .kind = XML_NUMBER, .required = true, .help = "Parts into which the force divides."},
};
static const xml_table table_path_site = LEAF("path_site", "The tendon passes a site.", path_site_keys);
static const xml_table table_path_geom = LEAF("path_geom", "The tendon wraps over a geom.", path_geom_keys);
static const xml_table table_path_pulley = LEAF("path_pulley", "The path ends, and another begins.", path_pulley_keys);
static const xml_rule spatial_rules[] = {
    {.name = "site", .use = XML_READ, .many = true, .table = &table_path_site},
    {.name = "geom", .use = XML_READ, .many = true, .table = &table_path_geom},
    {.name = "pulley", .use = XML_READ, .many = true, .table = &table_path_pulley},
};
static const xml_key spatial_keys[] = {OF_TENDON, LOOK_OF_TENDON};
static const xml_table table_spatial =
    TABLE("spatial", "String through sites, over spheres and cylinders.", spatial_keys, spatial_rules);

static const xml_key sum_keys[] = {
    {.name = "joint", .kind = XML_TEXT, .required = true, .help = "Name of a hinge or slide."},
    {.name = "coef", .kind = XML_NUMBER, .required = true, .help = "Factor of its coordinate."},
};
static const xml_table table_sum = LEAF("fixed_joint", "A term of the length.", sum_keys);
static const xml_key fixed_keys[] = {OF_TENDON};
static const xml_rule fixed_rules[] = {{.name = "joint", .use = XML_READ, .many = true, .table = &table_sum}};
static const xml_table table_fixed =
    TABLE("fixed", "Tendon whose length is a sum of coordinates.", fixed_keys, fixed_rules);

static const xml_rule tendon_rules[] = {
    {.name = "spatial", .use = XML_READ, .many = true, .table = &table_spatial},
    {.name = "fixed", .use = XML_READ, .many = true, .table = &table_fixed},
};
const xml_table mjcf_table_tendon = GROUP("tendon", "Tendons.", tendon_rules);
