/* The format SDFormat 1.4 to 1.12, element by element (sdformat.org/spec).  docs/sdf.md is printed from here. */
#include "scene/sdf/sdf.h"
#include "scene/xml/table_rows.h"

#define NOT_MOTION "it does not change the motion"
#define CONTROL "scenes have actuators and controllers of their own"
#define OWN_SOLVER "the solvers of sim have options of their own"
#define SOFTNESS "contacts and ends of ranges are as stiff as the step resolves"
#define PICTURES "pictures show plain colours"
#define EXTENSION "an extension of another program"
#define SELF "self_collide of the model counts"

/* clang-format off */
#define VALUE(title, ...) {.name = (title), .form = XML_CHILD, __VA_ARGS__}
#define NUMBER(title, ...) VALUE(title, .kind = XML_NUMBER, __VA_ARGS__)
#define FLAG(title, by_default, ...) VALUE(title, .kind = XML_FLAG, .standard = (by_default), __VA_ARGS__)
#define WITHOUT(title, why) VALUE(title, .kind = XML_TEXT, .use = XML_IGNORED, .help = (why))
#define IGNORED(title, why) {.name = (title), .use = XML_IGNORED, .help = (why)}
#define REFUSED(title, why) {.name = (title), .use = XML_REFUSED, .help = (why)}
#define EXTENSIONS {.name = "*:*", .use = XML_IGNORED, .help = EXTENSION}
#define NAME {"name", XML_TEXT, .required = true, .help = "Name."}

/* ---- places ---- */

static const xml_key pose_keys[] = {
    {.name = "text", .kind = XML_LIST, .form = XML_CONTENT, .unit = "m, rad",
     .help = "x y z roll pitch yaw: R = Rz(yaw) Ry(pitch) Rx(roll). With `quat_xyzw` the last four are a quaternion. "
             "Nothing: the frame itself."},
    {.name = "relative_to", .kind = XML_TEXT, .help = "Frame that it is seen from, of this model or `nested::frame`."},
    {.name = "rotation_format", .kind = XML_CHOICE, .standard = "euler_rpy", .choices = {"euler_rpy", "quat_xyzw", NULL},
     .help = "Form of the orientation."},
    {.name = "degrees", .kind = XML_FLAG, .standard = "false", .help = "Angles in degrees."},
    {.name = "frame", .kind = XML_TEXT, .use = XML_REFUSED, .standard = "", .help = "write `relative_to`"},
};
static const xml_table table_pose = LEAF("pose", "Place of a frame.", pose_keys);
#define POSE {.name = "pose", .use = XML_READ, .table = &table_pose}

/* ---- shapes ---- */

static const xml_key box_keys[] = {
    VALUE("size", .kind = XML_VECTOR, .count = 3, .standard = "1 1 1", .unit = "m", .help = "Full edges."),
};
static const xml_key sphere_keys[] = {NUMBER("radius", .standard = "1", .unit = "m", .help = "Radius.")};
static const xml_key round_keys[] = {
    NUMBER("radius", .standard = "1", .unit = "m", .help = "Radius."),
    NUMBER("length", .standard = "1", .unit = "m", .help = "Length along z; of a capsule without its ends."),
};
static const xml_key ellipsoid_keys[] = {
    VALUE("radii", .kind = XML_VECTOR, .count = 3, .standard = "1 1 1", .unit = "m", .help = "Semi-axes."),
};
static const xml_key plane_keys[] = {
    VALUE("normal", .kind = XML_VECTOR, .count = 3, .standard = "0 0 1", .help = "Direction out of the solid."),
    WITHOUT("size", "planes have no end"),
};
static const xml_key mesh_keys[] = {
    VALUE("uri", .kind = XML_TEXT, .required = true,
     .help = "OBJ, STL, COLLADA (.dae) or glTF file: `model://NAME/...`, `package://NAME/...`, `file://...`, or a path "
             "relative to the file."),
    VALUE("scale", .kind = XML_VECTOR, .count = 3, .standard = "1 1 1", .help = "Factors of its coordinates."),
    {.name = "optimization", .kind = XML_TEXT, .use = XML_IGNORED, .help = "--mesh says how meshes touch"},
};
static const xml_rule mesh_rules[] = {
    REFUSED("submesh", "save that part as a file of its own"),
    IGNORED("convex_decomposition", "--mesh decomposed does it"),
    EXTENSIONS,
};
static const xml_table table_box = LEAF("box", "Box.", box_keys);
static const xml_table table_sphere = LEAF("sphere", "Sphere.", sphere_keys);
static const xml_table table_cylinder = LEAF("cylinder", "Cylinder along z.", round_keys);
static const xml_table table_capsule = LEAF("capsule", "Cylinder along z with round ends.", round_keys);
static const xml_table table_ellipsoid = LEAF("ellipsoid", "Ellipsoid.", ellipsoid_keys);
static const xml_table table_plane = LEAF("plane", "Half-space, of links that cannot move.", plane_keys);
static const xml_table table_mesh = TABLE("mesh", "Triangles of a file. For contacts their convex hull; with `--mesh exact` as "
    "they are, with `--mesh decomposed` as convex parts.", mesh_keys, mesh_rules);
static const xml_table table_empty = {.name = "empty", .help = "Nothing."};

static const xml_rule geometry_rules[] = {
    {.name = "box", .table = &table_box},
    {.name = "sphere", .table = &table_sphere},
    {.name = "cylinder", .table = &table_cylinder},
    {.name = "capsule", .table = &table_capsule},
    {.name = "ellipsoid", .table = &table_ellipsoid},
    {.name = "plane", .table = &table_plane},
    {.name = "mesh", .table = &table_mesh},
    {.name = "empty", .table = &table_empty},
    REFUSED("cone", "take a mesh"),
    REFUSED("heightmap", "scenes have height fields"),
    REFUSED("image", "take a mesh"),
    REFUSED("polyline", "take a mesh"),
    EXTENSIONS,
};
static const xml_table table_geometry = GROUP("geometry", "One shape.", geometry_rules);

static const xml_key material_keys[] = {
    VALUE("diffuse", .kind = XML_VECTOR, .count = 4, .least = 3, .help = "Red, green, blue, opacity, from 0 to 1."),
    WITHOUT("ambient", PICTURES), WITHOUT("specular", PICTURES), WITHOUT("emissive", PICTURES),
    WITHOUT("shininess", PICTURES), WITHOUT("lighting", PICTURES), WITHOUT("double_sided", PICTURES),
    WITHOUT("render_order", PICTURES),
};
static const xml_rule material_rules[] = {
    IGNORED("script", PICTURES), IGNORED("shader", PICTURES), IGNORED("pbr", PICTURES), EXTENSIONS,
};
static const xml_table table_material_look = TABLE("material", "Colour of a visual shape.", material_keys, material_rules);

static const xml_key visual_keys[] = {
    NAME,
    NUMBER("transparency", .standard = "0", .help = "0: opaque, 1: not seen."),
    WITHOUT("cast_shadows", PICTURES), WITHOUT("laser_retro", NOT_MOTION), WITHOUT("visibility_flags", PICTURES),
};
static const xml_rule visual_rules[] = {
    POSE,
    {.name = "geometry", .table = &table_geometry},
    {.name = "material", .table = &table_material_look},
    IGNORED("meta", NOT_MOTION), IGNORED("plugin", EXTENSION), EXTENSIONS,
};
static const xml_table table_visual = TABLE("visual", "Shape that is drawn.", visual_keys, visual_rules);

/* ---- surfaces ---- */

static const xml_key friction_keys[] = {
    NUMBER("mu", .standard = "1", .help = "Friction coefficient along `fdir1`."),
    NUMBER("mu2", .help = "Across it. Default: `mu`. Without `fdir1` the lesser counts."),
    VALUE("fdir1", .kind = XML_VECTOR, .count = 3, .standard = "0 0 0", .help = "Direction in the frame of the collision."),
    WITHOUT("slip1", SOFTNESS), WITHOUT("slip2", SOFTNESS),
};
static const xml_table table_friction_ode = LEAF("ode", "Friction.", friction_keys);
static const xml_key torsion_keys[] = {
    NUMBER("coefficient", .standard = "1", .help = "Friction coefficient of a patch that spins."),
    NUMBER("patch_radius", .standard = "0", .unit = "m", .help = "Its radius a: the moment is 3 pi/16 a times the coefficient "
        "times the normal force."),
    FLAG("use_patch_radius", "true", .use = XML_REFUSED, .help = "the radius of a patch does not follow the overlap"),
    WITHOUT("surface_radius", "use_patch_radius is set"),
};
static const xml_rule torsion_rules[] = {IGNORED("ode", SOFTNESS), EXTENSIONS};
static const xml_table table_torsional = TABLE("torsional", "Friction against spinning.", torsion_keys, torsion_rules);
static const xml_rule friction_rules[] = {
    {.name = "ode", .table = &table_friction_ode},
    {.name = "torsional", .table = &table_torsional},
    IGNORED("bullet", "the friction of ode counts"), EXTENSIONS,
};
static const xml_table table_friction = GROUP("friction", "Friction. Without it the coefficient is 1.", friction_rules);
static const xml_key bounce_keys[] = {
    NUMBER("restitution_coefficient", .standard = "0", .help = "Newton's coefficient of restitution."),
    WITHOUT("threshold", "scenes have a threshold of their law"),
};
static const xml_table table_bounce = LEAF("bounce", "Restitution.", bounce_keys);
static const xml_key contact_keys[] = {
    NUMBER("collide_bitmask", .standard = "65535", .bits = true, .help = "Shapes touch where they have a bit in common. Decimal, or hexadecimal with 0x."),
    FLAG("collide_without_contact", "false", .use = XML_REFUSED, .help = "shapes that touch have contacts"),
    WITHOUT("collide_without_contact_bitmask", NOT_MOTION), WITHOUT("category_bitmask", EXTENSION),
    WITHOUT("poissons_ratio", SOFTNESS), WITHOUT("elastic_modulus", SOFTNESS),
};
static const xml_rule contact_rules[] = {IGNORED("ode", SOFTNESS), IGNORED("bullet", SOFTNESS), EXTENSIONS};
static const xml_table table_contact = TABLE("contact", "Which shapes touch.", contact_keys, contact_rules);
static const xml_rule surface_rules[] = {
    {.name = "friction", .table = &table_friction},
    {.name = "bounce", .table = &table_bounce},
    {.name = "contact", .table = &table_contact},
    IGNORED("soft_contact", SOFTNESS), EXTENSIONS,
};
static const xml_table table_surface = GROUP("surface", "Surface of a collision shape.", surface_rules);

static const xml_key collision_keys[] = {
    NAME,
    WITHOUT("laser_retro", NOT_MOTION), WITHOUT("max_contacts", OWN_SOLVER),
    NUMBER("density", .unit = "kg/m^3", .help = "Density, where <inertial> is `auto`. Default: that of <inertial>."),
    WITHOUT("auto_inertia_params", "meshes have the volume that --mesh gives them"),
    {.name = "concave", .kind = XML_TEXT, .use = XML_IGNORED, .help = "--mesh exact takes meshes as they are"},
};
static const xml_rule collision_rules[] = {
    POSE,
    {.name = "geometry", .required = true, .table = &table_geometry},
    {.name = "surface", .table = &table_surface},
    IGNORED("material", "colours are those of <visual>"), IGNORED("plugin", EXTENSION), EXTENSIONS,
};
static const xml_table table_collision = TABLE("collision", "Shape that touches others.", collision_keys, collision_rules);

/* ---- links ---- */

#define MOMENT(title, value) NUMBER(title, .unit = "kg m^2", .standard = (value), .help = "Element of the matrix.")
static const xml_key inertia_keys[] = {MOMENT("ixx", "1"), MOMENT("iyy", "1"), MOMENT("izz", "1"),
                                       MOMENT("ixy", "0"), MOMENT("ixz", "0"), MOMENT("iyz", "0")};
static const xml_table table_inertia_matrix =
    LEAF("inertia", "Inertia about the centre of mass, along the axes of the inertial frame.", inertia_keys);
static const xml_key inertial_keys[] = {
    NUMBER("mass", .unit = "kg", .standard = "1", .help = "Mass. A link of mass 0 that no joint carries stands still."),
    {.name = "auto", .kind = XML_FLAG, .standard = "false",
     .help = "Mass properties of the collision shapes, of meshes with their convex hull. A mass that is given is that of the only shape."},
    NUMBER("density", .unit = "kg/m^3", .standard = "1000", .help = "With `auto`: of shapes that say none."),
    WITHOUT("auto_inertia_params", "meshes have the volume that --mesh gives them"),
};
static const xml_rule inertial_rules[] = {
    POSE,
    {.name = "inertia", .table = &table_inertia_matrix},
    REFUSED("fluid_added_mass", "the mass of a fluid is not added"),
    EXTENSIONS,
};
static const xml_table table_inertial = TABLE("inertial", "Mass properties; `pose` is the centre of mass with its axes. "
    "Without it a link has 1 kg and moments of 1 kg m^2, with a notice.", inertial_keys, inertial_rules);

static const xml_key damping_keys[] = {
    NUMBER("linear", .use = XML_REFUSED, .standard = "0", .help = "bodies move without resistance"),
    NUMBER("angular", .use = XML_REFUSED, .standard = "0", .help = "bodies move without resistance"),
};
static const xml_table table_velocity_decay = LEAF("velocity_decay", "Damping of a link.", damping_keys);
static const xml_key link_keys[] = {
    NAME,
    FLAG("gravity", "true", .help = "`false`: a load carries its weight."),
    FLAG("kinematic", "false", .use = XML_REFUSED, .help = "give it a joint that is driven"),
    WITHOUT("self_collide", SELF), WITHOUT("must_be_base_link", NOT_MOTION), WITHOUT("enable_wind", "there is no wind"),
};
static const xml_rule link_rules[] = {
    POSE,
    {.name = "inertial", .table = &table_inertial},
    {.name = "visual", .many = true, .table = &table_visual},
    {.name = "collision", .many = true, .table = &table_collision},
    {.name = "velocity_decay", .table = &table_velocity_decay},
    IGNORED("sensor", "scenes have sensors of their own"), IGNORED("light", PICTURES), IGNORED("battery", NOT_MOTION),
    IGNORED("audio_sink", NOT_MOTION), IGNORED("audio_source", NOT_MOTION), IGNORED("projector", PICTURES),
    IGNORED("particle_emitter", PICTURES), IGNORED("contact", "<surface> of a collision counts"), EXTENSIONS,
};
static const xml_table table_link = TABLE("link", "Rigid body.", link_keys, link_rules);

/* ---- joints ---- */

static const xml_key direction_keys[] = {
    {.name = "direction", .kind = XML_VECTOR, .form = XML_CONTENT, .count = 3, .required = true,
     .help = "Numbers, of any length but 0."},
    {.name = "expressed_in", .kind = XML_TEXT, .help = "Frame of its coordinates. Default: the frame of the joint."},
};
static const xml_table table_xyz = LEAF("xyz", "Direction of an axis. Without it: 0 0 1.", direction_keys);
static const xml_key limit_keys[] = {
    NUMBER("lower", .unit = "rad or m", .standard = "-1e16", .endless = true, .help = "Least coordinate; -1e16 and less, -inf: none."),
    NUMBER("upper", .unit = "rad or m", .standard = "1e16", .endless = true, .help = "Greatest coordinate; 1e16 and more, inf: none."),
    NUMBER("effort", .unit = "N m or N", .standard = "-1", .endless = true, .help = "Limit of the effort of actuators; 0 and less: none."),
    NUMBER("velocity", .unit = "rad/s or m/s", .standard = "-1", .endless = true, .help = "Velocity limit; 0 and less: none."),
    WITHOUT("stiffness", SOFTNESS), WITHOUT("dissipation", SOFTNESS), WITHOUT("*:*", EXTENSION),
};
static const xml_table table_limit = LEAF("limit", "Limits of an axis; a continuous joint has no range.", limit_keys);
static const xml_key dynamics_keys[] = {
    NUMBER("damping", .unit = "N m s/rad or N s/m", .standard = "0", .help = "Viscous damping."),
    NUMBER("friction", .unit = "N m or N", .standard = "0", .help = "Dry friction."),
    NUMBER("spring_stiffness", .unit = "N m/rad or N/m", .standard = "0", .help = "Stiffness of a spring."),
    NUMBER("spring_reference", .unit = "rad or m", .standard = "0", .help = "Coordinate at which it is at rest."),
    WITHOUT("*:*", EXTENSION),
};
static const xml_table table_dynamics = LEAF("dynamics", "Damping, friction and spring of an axis.", dynamics_keys);
static const xml_key mimic_keys[] = {
    {.name = "joint", .kind = XML_TEXT, .required = true, .help = "Joint that leads."},
    {.name = "axis", .kind = XML_CHOICE, .standard = "axis", .choices = {"axis", "axis2", NULL}, .help = "Its axis."},
    NUMBER("multiplier", .required = true, .help = "q = multiplier (q_leader - reference) + offset."),
    NUMBER("offset", .standard = "0", .help = "As above."),
    NUMBER("reference", .standard = "0", .help = "As above."),
};
static const xml_table table_mimic = LEAF("mimic", "The coordinate follows that of another axis, by a constraint.", mimic_keys);
static const xml_key axis_keys[] = {
    FLAG("use_parent_model_frame", "false", .help = "Before 1.7: the direction is seen from the model."),
    NUMBER("initial_position", .unit = "rad or m", .standard = "0", .help = "Coordinate at the start."),
};
static const xml_rule axis_rules[] = {
    {.name = "xyz", .table = &table_xyz},
    {.name = "limit", .table = &table_limit},
    {.name = "dynamics", .table = &table_dynamics},
    {.name = "mimic", .table = &table_mimic},
    EXTENSIONS,
};
static const xml_table table_axis = TABLE("axis", "Axis of a joint.", axis_keys, axis_rules);
static const xml_table table_axis2 = TABLE("axis2", "Second axis, carried by the first.", axis_keys, axis_rules);

static const xml_key joint_keys[] = {
    NAME,
    {"type", XML_CHOICE, .required = true,
     .choices = {"revolute", "continuous", "prismatic", "fixed", "ball", "screw", "universal", "revolute2", "gearbox", NULL},
     .help = "Revolute, continuous: hinge. Prismatic: slider. Universal, revolute2: two hinges in series, of which the second "
             "is called NAME_axis2. Gearbox: couples two hinges."},
    VALUE("parent", .kind = XML_TEXT, .required = true, .help = "Link, frame or model that carries the joint, or `world`."),
    VALUE("child", .kind = XML_TEXT, .required = true, .help = "Link, frame or model that the joint carries."),
    NUMBER("screw_thread_pitch", .unit = "m/turn", .help = "Advance of a screw in one turn."),
    NUMBER("thread_pitch", .unit = "rad/m", .help = "The same before 1.10: -2 pi over the advance."),
    NUMBER("gearbox_ratio", .standard = "1", .help = "Of a gearbox: the angle of the child is - ratio times that of the parent."),
    VALUE("gearbox_reference_body", .kind = XML_TEXT, .help = "Of a gearbox: link from which both angles are measured, by hinges along `axis` and `axis2`."),
};
static const xml_rule joint_rules[] = {
    POSE,
    {.name = "axis", .table = &table_axis},
    {.name = "axis2", .table = &table_axis2},
    IGNORED("physics", OWN_SOLVER), IGNORED("sensor", "scenes have sensors of their own"), EXTENSIONS,
};
static const xml_table table_joint_of_model = TABLE("joint", "Joint between two links; its frame is that of the child, or `pose`.",
    joint_keys, joint_rules);

/* ---- models ---- */

static const xml_key frame_keys[] = {
    NAME,
    {"attached_to", XML_TEXT, .help = "Frame with which it moves. Default: the model."},
};
static const xml_rule frame_rules[] = {POSE, EXTENSIONS};
static const xml_table table_frame = TABLE("frame", "Frame; a site of the scene.", frame_keys, frame_rules);

static const xml_key include_keys[] = {
    {.name = "merge", .kind = XML_FLAG, .standard = "false",
     .help = "The elements of the file become those of the model that includes it, with a frame `_merged__NAME__model__`."},
    VALUE("uri", .kind = XML_TEXT, .required = true,
          .help = "`model://NAME`, a folder with `model.config`, or a file, relative to this one."),
    VALUE("name", .kind = XML_TEXT, .help = "Name in place of that in the file."),
    FLAG("static", NULL, .help = "In place of that in the file."),
    WITHOUT("namespace", EXTENSION),
    VALUE("placement_frame", .kind = XML_TEXT, .help = "Frame of the model that stands at `pose`."),
};
static const xml_rule include_rules[] = {
    POSE, IGNORED("plugin", EXTENSION), REFUSED("experimental:params", "write the model as it is to be"), EXTENSIONS,
};
static const xml_table table_include = TABLE("include", "Model of another file.", include_keys, include_rules);

static const xml_key model_keys[] = {
    NAME,
    {.name = "canonical_link", .kind = XML_TEXT, .help = "Link with which the frame of the model moves. Default: the first."},
    {.name = "placement_frame", .kind = XML_TEXT, .help = "Frame of the model that stands at `pose`."},
    FLAG("static", "false", .help = "All links are fixed to the world."),
    FLAG("self_collide", "false", .help = "Links of the model touch each other."),
    {.name = "namespace", .kind = XML_TEXT, .use = XML_IGNORED, .help = EXTENSION},
    WITHOUT("allow_auto_disable", "world/sleep switches sleep on"), WITHOUT("enable_wind", "there is no wind"),
};
extern const xml_table sdf_table_model;
static const xml_rule model_rules[] = {
    POSE,
    {.name = "link", .many = true, .table = &table_link},
    {.name = "joint", .many = true, .table = &table_joint_of_model},
    {.name = "frame", .many = true, .table = &table_frame},
    {.name = "model", .many = true, .table = &sdf_table_model},
    {.name = "include", .many = true, .table = &table_include},
    IGNORED("plugin", CONTROL), REFUSED("gripper", "it makes joints while it runs"), EXTENSIONS,
};
const xml_table sdf_table_model = TABLE("model", "Links and joints. Links without a joint towards the world are free.", model_keys, model_rules);

/* ---- worlds ---- */

static const xml_key physics_keys[] = {
    NUMBER("max_step_size", .unit = "s", .standard = "0.001", .help = "Time step."),
    VALUE("gravity", .kind = XML_VECTOR, .count = 3, .unit = "m/s^2", .help = "Gravity, where <world> says none, as before 1.6."),
    {.name = "name", .use = XML_IGNORED, .help = OWN_SOLVER}, {.name = "type", .use = XML_IGNORED, .help = OWN_SOLVER},
    {.name = "default", .use = XML_IGNORED, .help = OWN_SOLVER},
    WITHOUT("real_time_factor", OWN_SOLVER), WITHOUT("real_time_update_rate", OWN_SOLVER), WITHOUT("max_contacts", OWN_SOLVER),
};
static const xml_rule physics_rules[] = {
    IGNORED("ode", OWN_SOLVER), IGNORED("dart", OWN_SOLVER), IGNORED("bullet", OWN_SOLVER), IGNORED("simbody", OWN_SOLVER),
    EXTENSIONS,
};
static const xml_table table_physics = TABLE("physics", "Time step.", physics_keys, physics_rules);
static const xml_key world_keys[] = {
    NAME,
    VALUE("gravity", .kind = XML_VECTOR, .count = 3, .unit = "m/s^2", .standard = "0 0 -9.8", .help = "Gravity."),
    WITHOUT("magnetic_field", NOT_MOTION),
};
static const xml_rule world_rules[] = {
    {.name = "model", .many = true, .table = &sdf_table_model},
    {.name = "include", .many = true, .table = &table_include},
    {.name = "joint", .many = true, .table = &table_joint_of_model},
    {.name = "frame", .many = true, .table = &table_frame},
    {.name = "physics", .table = &table_physics},
    IGNORED("light", PICTURES), IGNORED("gui", PICTURES), IGNORED("scene", PICTURES), IGNORED("plugin", CONTROL),
    IGNORED("audio", NOT_MOTION), IGNORED("wind", "there is no wind"), IGNORED("atmosphere", NOT_MOTION),
    IGNORED("spherical_coordinates", NOT_MOTION), IGNORED("road", PICTURES), IGNORED("actor", "actors move by a script"),
    REFUSED("population", "scenes have patterns of copies"), IGNORED("state", "bodies start where their models say"), EXTENSIONS,
};
static const xml_table table_world_of_models = TABLE("world", "Models that share space; their names become MODEL::NAME.", world_keys,
    world_rules);

static const xml_key sdf_keys[] = {{"version", XML_TEXT, .required = true, .help = "1.4 to 1.12."}};
static const xml_rule sdf_rules[] = {
    {.name = "model", .table = &sdf_table_model},
    {.name = "world", .table = &table_world_of_models},
    {.name = "include", .table = &table_include},
    IGNORED("light", PICTURES), IGNORED("actor", "actors move by a script"), EXTENSIONS,
};
/* clang-format on */
const xml_table sdf_table_file =
    TABLE("sdf", "The outermost element: a model, an included one, or a world.", sdf_keys, sdf_rules);
