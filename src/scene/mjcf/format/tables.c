/* The format MJCF, the file as a whole: compiler, option, defaults, assets.  docs/mjcf.md is printed from the tables.
 *
 * Names and defaults: XML reference of MuJoCo 3 (mujoco.readthedocs.io/en/stable/XMLreference.html). */
#include "scene/mjcf/format/rows.h"

static const xml_key include_keys[] = {
    {.name = "file", .kind = XML_TEXT, .required = true, .help = "File, relative to that of the model."},
};
static const xml_table table_include =
    LEAF("include", "The elements of another file take its place, anywhere in the model.", include_keys);

/* ---- compiler ---- */

static const xml_key compiler_keys[] = {
    {.name = "angle",
     .kind = XML_CHOICE,
     .choices = WORDS("degree", "radian"),
     .standard = "degree",
     .help = "Unit of angles."},
    {.name = "eulerseq",
     .kind = XML_TEXT,
     .standard = "xyz",
     .help = "Axes of `euler`: small letters turn with the body, capitals stay."},
    {.name = "coordinate",
     .kind = XML_CHOICE,
     .choices = WORDS("local", "global"),
     .standard = "local",
     .help =
         "Local: places are seen from the body around. Global: from the world, all coordinates at their reference; a "
         "body without `pos` has the frame of the world. MuJoCo reads this no more."},
    TEXT_KEY("meshdir", "Folder of meshes and height fields."),
    TEXT_KEY("texturedir", "Folder of textures."),
    TEXT_KEY("assetdir", "Folder of both."),
    {.name = "strippath",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE,
     .standard = "false",
     .help = "Only the last part of names of files counts."},
    {.name = "autolimits",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE,
     .standard = "true",
     .help = "A range without `limited` is one."},
    {.name = "inertiafromgeom",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE_AUTO,
     .standard = "auto",
     .help = "Mass properties from geoms: never, always, or of bodies without `inertial`."},
    {.name = "inertiagrouprange",
     .kind = XML_VECTOR,
     .count = 2,
     .standard = "0 5",
     .help = "Groups of geoms that have mass."},
    {.name = "balanceinertia",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE,
     .standard = "false",
     .help = "Moments that no body has become their mean."},
    {.name = "boundmass", .kind = XML_NUMBER, .unit = "kg", .standard = "0", .help = "Least mass of a body."},
    {.name = "boundinertia",
     .kind = XML_NUMBER,
     .unit = "kg m^2",
     .standard = "0",
     .help = "Least principal moment of a body."},
    {.name = "settotalmass",
     .kind = XML_NUMBER,
     .unit = "kg",
     .standard = "-1",
     .help = "Masses and moments are scaled to this mass of the whole model; 0 and less: not."},
    IGNORED("fusestatic", "fixed bodies cost nothing"),
    {.name = "discardvisual",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE,
     .standard = "false",
     .help = "Geoms without contacts are left out, but for their mass."},
    IGNORED("alignfree", "a free body keeps its frame"),
    IGNORED("saveinertial", NOT_MOTION),
    IGNORED("usethread", NOT_MOTION),
    {.name = "fitaabb",
     .kind = XML_CHOICE,
     .choices = FALSE_TRUE,
     .standard = "false",
     .help = "Shapes fitted to a mesh: to its bounding box, not to its box of inertia."},
    IGNORED("conflict", "names of attached models must differ"),
};
static const xml_rule compiler_rules[] = {
    {.name = "lengthrange", .use = XML_IGNORED, .help = "no simulation finds the lengths of muscles"},
};
static const xml_table table_compiler = TABLE("compiler", "How the file is to be read.", compiler_keys, compiler_rules);

/* ---- option ---- */

#define SOLVER_KEY(title) IGNORED(title, OWN_SOLVER)
static const xml_key option_keys[] = {
    {.name = "timestep", .kind = XML_NUMBER, .unit = "s", .standard = "0.002", .help = "Time step."},
    {.name = "gravity",
     .kind = XML_VECTOR,
     .count = 3,
     .unit = "m/s^2",
     .standard = "0 0 -9.81",
     .help = "Gravitational acceleration."},
    {.name = "integrator",
     .kind = XML_CHOICE,
     .choices = WORDS("Euler", "RK4", "implicit", "implicitfast"),
     .help = "Euler: `symplectic`. RK4: `rk4` in a model without contacts and constraints. Else, and by default: "
             "`midpoint`, of order "
             "2."},
    {.name = "wind",
     .kind = XML_VECTOR,
     .count = 3,
     .unit = "m/s",
     .standard = "0 0 0",
     .help = "Velocity of the fluid."},
    {.name = "density", .kind = XML_NUMBER, .unit = "kg/m^3", .standard = "0", .help = "Density of the fluid."},
    {.name = "viscosity", .kind = XML_NUMBER, .unit = "Pa s", .standard = "0", .help = "Viscosity of the fluid."},
    IGNORED("magnetic", NOT_MOTION),
    SOLVER_KEY("impratio"),
    SOLVER_KEY("tolerance"),
    SOLVER_KEY("ls_tolerance"),
    SOLVER_KEY("noslip_tolerance"),
    SOLVER_KEY("ccd_tolerance"),
    SOLVER_KEY("mpr_tolerance"),
    SOLVER_KEY("sleep_tolerance"),
    SOLVER_KEY("o_*"),
    {.name = "cone", .kind = XML_TEXT, .use = XML_IGNORED, .help = "friction is Coulomb's, with a round cone"},
    SOLVER_KEY("jacobian"),
    SOLVER_KEY("solver"),
    SOLVER_KEY("iterations"),
    SOLVER_KEY("ls_iterations"),
    SOLVER_KEY("noslip_iterations"),
    SOLVER_KEY("ccd_iterations"),
    SOLVER_KEY("mpr_iterations"),
    SOLVER_KEY("sdf_iterations"),
    SOLVER_KEY("sdf_initpoints"),
    SOLVER_KEY("collision"),
    SOLVER_KEY("apirate"),
    {.name = "actuatorgroupdisable", .kind = XML_LIST, .help = "Actuators of these groups are left out."},
};
#define FLAG(title, what)                                                                                              \
    {                                                                                                                  \
        .name = (title), .kind = XML_CHOICE, .choices = WORDS("enable", "disable"), .standard = "enable",              \
        .help = "`disable`: " what                                                                                     \
    }
static const xml_key flag_keys[] = {
    FLAG("constraint", "no contacts, equalities, limits and dry friction."),
    FLAG("equality", "no equalities."),
    FLAG("frictionloss", "no dry friction of joints and tendons."),
    FLAG("limit", "no limits of joints and tendons."),
    FLAG("contact", "no contacts."),
    FLAG("passive", "no springs and dampers, no fluid."),
    FLAG("spring", "no springs."),
    FLAG("damper", "no dampers."),
    FLAG("gravity", "no gravity."),
    FLAG("clampctrl", "control inputs are not clamped."),
    FLAG("actuation", "no actuators."),
    FLAG("filterparent", "bodies have contacts with their parents."),
    SOLVER_KEY("warmstart"),
    SOLVER_KEY("refsafe"),
    SOLVER_KEY("sensor"),
    SOLVER_KEY("midphase"),
    SOLVER_KEY("eulerdamp"),
    SOLVER_KEY("autoreset"),
    SOLVER_KEY("nativeccd"),
    SOLVER_KEY("island"),
    SOLVER_KEY("multiccd"),
    {.name = "override",
     .kind = XML_CHOICE,
     .choices = WORDS("enable", "disable"),
     .use = XML_REFUSED,
     .standard = "disable",
     .help = "it replaces the parameters of all contacts"},
    SOLVER_KEY("energy"),
    SOLVER_KEY("fwdinv"),
    SOLVER_KEY("invdiscrete"),
    SOLVER_KEY("sleep"),
    SOLVER_KEY("diagexact"),
};
static const xml_table table_flag = LEAF("flag", "Parts of the model that are switched off.", flag_keys);
static const xml_rule option_rules[] = {{.name = "flag", .use = XML_READ, .table = &table_flag}};
static const xml_table table_option = TABLE("option", "The simulation as a whole.", option_keys, option_rules);

/* ---- defaults ---- */

static const xml_key default_keys[] = {
    {.name = "class", .kind = XML_TEXT, .help = "Name of the class; of the outermost `main`, unless it says another."},
};
#define DEFAULT(title, keys_of)                                                                                        \
    { .name = (title), .use = XML_READ, .many = true, .table = (keys_of) }
/* Actuators share one set of defaults: those of a motor also hold for a position servo. */
extern const xml_table mjcf_table_general, mjcf_table_motor, mjcf_table_position, mjcf_table_velocity,
    mjcf_table_intvelocity, mjcf_table_damper, mjcf_table_cylinder, mjcf_table_muscle, mjcf_table_adhesion,
    mjcf_table_dc_motor;
static const xml_rule default_rules[] = {
    DEFAULT("mesh", &mjcf_table_mesh),
    DEFAULT("material", &mjcf_table_material),
    DEFAULT("joint", &mjcf_table_joint),
    DEFAULT("geom", &mjcf_table_geom),
    DEFAULT("site", &mjcf_table_site),
    DEFAULT("camera", &mjcf_table_camera),
    {.name = "light", .use = XML_IGNORED, .help = NOT_MOTION},
    DEFAULT("pair", &mjcf_table_pair),
    DEFAULT("equality", &mjcf_table_equality_default),
    DEFAULT("tendon", &mjcf_table_tendon_default),
    DEFAULT("general", &mjcf_table_general),
    DEFAULT("motor", &mjcf_table_motor),
    DEFAULT("position", &mjcf_table_position),
    DEFAULT("velocity", &mjcf_table_velocity),
    DEFAULT("intvelocity", &mjcf_table_intvelocity),
    DEFAULT("damper", &mjcf_table_damper),
    DEFAULT("cylinder", &mjcf_table_cylinder),
    DEFAULT("muscle", &mjcf_table_muscle),
    DEFAULT("adhesion", &mjcf_table_adhesion),
    {.name = "orientation", .use = XML_IGNORED, .help = "such actuators are not supported"},
    {.name = "pid", .use = XML_IGNORED, .help = "such actuators are not supported"},
    DEFAULT("dcmotor", &mjcf_table_dc_motor),
    DEFAULT("default", &mjcf_table_default),
};
const xml_table mjcf_table_default = TABLE(
    "default", "Class of defaults: attributes of elements that do not say them. A class within another starts from it.",
    default_keys, default_rules);

/* ---- assets ---- */

static const xml_rule plugin_rules[] = {{.name = "plugin", .use = XML_REFUSED, .help = PLUGIN}};

static const xml_key mesh_keys[] = {
    {.name = "name", .kind = XML_TEXT, .help = "Name. Default: that of the file, without its ending."},
    CLASS,
    IGNORED("content_type", "the ending of the file tells"),
    TEXT_KEY("file", "OBJ, STL or MSH file in `meshdir`."),
    {.name = "vertex", .kind = XML_LIST, .unit = "m", .help = "In place of a file: positions of the vertices."},
    {.name = "face",
     .kind = XML_LIST,
     .help = "Three indices of vertices each, from 0. Default: the convex hull of the vertices."},
    IGNORED("normal", NOT_MOTION),
    IGNORED("texcoord", NOT_MOTION),
    {.name = "refpos",
     .kind = XML_VECTOR,
     .count = 3,
     .unit = "m",
     .standard = "0 0 0",
     .help = "Origin of the mesh in the frame of the file."},
    {.name = "refquat", .kind = XML_VECTOR, .count = 4, .standard = "1 0 0 0", .help = "Its orientation there."},
    {.name = "scale", .kind = XML_VECTOR, .count = 3, .standard = "1 1 1", .help = "Factors of the coordinates."},
    IGNORED("smoothnormal", NOT_MOTION),
    IGNORED("maxhullvert", "hulls have all their vertices"),
    IGNORED("octree_maxdepth", "the surface itself is used"),
    {.name = "inertia",
     .kind = XML_CHOICE,
     .choices = WORDS("convex", "exact", "legacy", "shell"),
     .standard = "legacy",
     .help = "Volume and moments: of the hull, of the closed surface, of cones over all faces with positive volume, or "
             "of the surface."},
    {.name = "builtin",
     .kind = XML_CHOICE,
     .choices = WORDS("none", "sphere", "hemisphere", "cone", "supersphere", "supertorus"),
     .standard = "none",
     .help =
         "In place of a file and vertices: a formula. `wedge` and `plate` are not read: they place tactile sensors."},
    {.name = "params",
     .kind = XML_LIST,
     .help = "Of the formula. Sphere: halvings of the edges of an icosahedron. Hemisphere: vertices on an edge of an "
             "octahedron. Cone: sides, upper radius. Supersphere: resolution, powers east-west and north-south. "
             "Supertorus: resolution, smaller radius, powers of the smaller and the greater circle."},
    IGNORED("material", NOT_MOTION),
};
const xml_table mjcf_table_mesh = TABLE("mesh",
                                        "Triangles for geoms. In contacts their convex hull; with `--mesh exact` as "
                                        "they are, with `--mesh decomposed` as convex parts.",
                                        mesh_keys, plugin_rules);

static const xml_key hfield_keys[] = {
    {.name = "name", .kind = XML_TEXT, .help = "Name. Default: that of the file, without its ending."},
    IGNORED("content_type", "the ending of the file tells"),
    TEXT_KEY("file", "In place of rows, columns and elevation: PNG, or rows, columns and heights in 32 bits each."),
    {.name = "nrow", .kind = XML_NUMBER, .standard = "0", .help = "Rows, along y."},
    {.name = "ncol", .kind = XML_NUMBER, .standard = "0", .help = "Columns, along x."},
    {.name = "size",
     .kind = XML_VECTOR,
     .count = 4,
     .required = true,
     .unit = "m",
     .help = "Half the extent along x and along y, height of elevation 1, depth of the base."},
    {.name = "elevation",
     .kind = XML_LIST,
     .help = "Heights row by row; their least becomes 0, their greatest 1. Default: flat."},
};
static const xml_table table_hfield = LEAF("hfield", "Height field for geoms.", hfield_keys);

static const xml_key material_keys[] = {
    NAME,
    CLASS,
    TEXT_KEY("texture", "Its mean colour is taken."),
    {.name = "rgba",
     .kind = XML_VECTOR,
     .count = 4,
     .standard = "1 1 1 1",
     .help = "Red, green, blue, opacity, from 0 to 1."},
    IGNORED("tex*", NOT_MOTION),
    IGNORED("emission", NOT_MOTION),
    IGNORED("specular", NOT_MOTION),
    IGNORED("shininess", NOT_MOTION),
    IGNORED("reflectance", NOT_MOTION),
    IGNORED("metallic", NOT_MOTION),
    IGNORED("roughness", NOT_MOTION),
};
static const xml_rule material_rules[] = {{.name = "layer", .use = XML_IGNORED, .help = NOT_MOTION}};
const xml_table mjcf_table_material = TABLE("material", "Colour of geoms.", material_keys, material_rules);

static const xml_key texture_keys[] = {
    NAME,
    IGNORED("type", NOT_MOTION),
    {.name = "builtin",
     .kind = XML_CHOICE,
     .choices = WORDS("none", "gradient", "checker", "flat"),
     .standard = "none",
     .help = "Flat: `rgb1`; else the mean of both colours."},
    {.name = "rgb1", .kind = XML_VECTOR, .count = 3, .standard = "0.8 0.8 0.8", .help = "Colour."},
    {.name = "rgb2", .kind = XML_VECTOR, .count = 3, .standard = "0.5 0.5 0.5", .help = "Colour."},
    IGNORED("colorspace", NOT_MOTION),
    IGNORED("content_type", NOT_MOTION),
    TEXT_KEY("file", "PNG file in `texturedir`; others are left out."),
    IGNORED("file*", "textures of several files are left out"),
    IGNORED("grid*", NOT_MOTION),
    IGNORED("mark*", NOT_MOTION),
    IGNORED("random", NOT_MOTION),
    IGNORED("width", NOT_MOTION),
    IGNORED("height", NOT_MOTION),
    IGNORED("hflip", NOT_MOTION),
    IGNORED("vflip", NOT_MOTION),
    IGNORED("nchannel", NOT_MOTION),
};
static const xml_table table_texture = LEAF("texture", "Texture, of which pictures show one colour.", texture_keys);

static const xml_key model_keys[] = {
    NAME,
    {.name = "file", .kind = XML_TEXT, .required = true, .help = "File, relative to that of the model."},
    IGNORED("content_type", "attached models are MJCF"),
};
static const xml_table table_submodel = LEAF("model", "Another model, for `attach`.", model_keys);

static const xml_rule asset_rules[] = {
    {.name = "mesh", .use = XML_READ, .many = true, .table = &mjcf_table_mesh},
    {.name = "hfield", .use = XML_READ, .many = true, .table = &table_hfield},
    {.name = "material", .use = XML_READ, .many = true, .table = &mjcf_table_material},
    {.name = "texture", .use = XML_READ, .many = true, .table = &table_texture},
    {.name = "model", .use = XML_READ, .many = true, .table = &table_submodel},
    {.name = "skin", .use = XML_IGNORED, .help = NOT_MOTION},
};
static const xml_table table_asset =
    GROUP("asset", "Meshes, height fields, textures and materials of geoms; models to attach.", asset_rules);

/* ---- the file ---- */

static const xml_key model_file_keys[] = {TEXT_KEY("model", "Title of the scene.")};
#define SECTION(title, table_of)                                                                                       \
    { .name = (title), .use = XML_READ, .many = true, .table = (table_of) }
static const xml_rule model_rules[] = {
    SECTION("include", &table_include),
    SECTION("compiler", &table_compiler),
    SECTION("option", &table_option),
    {.name = "size", .use = XML_IGNORED, .help = "memory is as large as is needed"},
    {.name = "statistic", .use = XML_IGNORED, .help = NOT_MOTION},
    {.name = "visual", .use = XML_IGNORED, .help = NOT_MOTION},
    SECTION("default", &mjcf_table_default),
    {.name = "custom", .use = XML_IGNORED, .help = NOT_MOTION},
    {.name = "extension", .use = XML_REFUSED, .help = PLUGIN},
    SECTION("asset", &table_asset),
    SECTION("worldbody", &mjcf_table_world),
    SECTION("contact", &mjcf_table_contact),
    SECTION("equality", &mjcf_table_equality),
    SECTION("tendon", &mjcf_table_tendon),
    SECTION("actuator", &mjcf_table_actuator),
    SECTION("sensor", &mjcf_table_sensor),
    SECTION("keyframe", &mjcf_table_keyframe),
    {.name = "deformable", .use = XML_REFUSED, .help = "bodies are rigid"},
};
const xml_table mjcf_table_model =
    TABLE("mujoco", "The outermost element. Sections may stand in any order, and more than once.", model_file_keys,
          model_rules);
