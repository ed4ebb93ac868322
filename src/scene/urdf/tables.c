/* The format URDF, element by element (wiki.ros.org/urdf/XML).  docs/urdf.md is printed from here. */
#include "scene/urdf/urdf.h"
#include "scene/xml/table_rows.h"

#define NOT_MOTION "it does not change the motion"
#define CONTROL "scenes have actuators of their own"
#define EXTENSION "an extension of another program"

/* ---- places and numbers ---- */

static const xml_key origin_keys[] = {
    {"xyz", XML_VECTOR, .count = 3, .unit = "m", .standard = "0 0 0", .help = "Position."},
    {"rpy", XML_VECTOR, .count = 3, .unit = "rad", .standard = "0 0 0",
     .help = "Roll, pitch, yaw about the fixed axes x, y, z: R = Rz(yaw) Ry(pitch) Rx(roll)."},
};
static const xml_table table_origin = LEAF("origin", "Place of a frame in the outer frame.", origin_keys);

static const xml_key mass_keys[] = {
    {"value", XML_NUMBER, .required = true, .unit = "kg", .help = "Mass; 0 for a frame without mass."},
};
static const xml_table table_mass = LEAF("mass", "Mass of a link.", mass_keys);

#define MOMENT(name)                                                                                                   \
    { name, XML_NUMBER, .unit = "kg m^2", .standard = "0", .help = "Element of the matrix." }
static const xml_key inertia_keys[] = {MOMENT("ixx"), MOMENT("iyy"), MOMENT("izz"),
                                       MOMENT("ixy"), MOMENT("ixz"), MOMENT("iyz")};
static const xml_table table_inertia_matrix =
    LEAF("inertia", "Inertia about the centre of mass, along the axes of the inertial frame.", inertia_keys);

static const xml_rule inertial_rules[] = {
    {"origin", XML_READ, .table = &table_origin},
    {"mass", XML_READ, .required = true, .table = &table_mass},
    {"inertia", XML_READ, .required = true, .table = &table_inertia_matrix},
};
static const xml_table table_inertial = {"inertial",     "Mass properties of a link; `origin` is its centre of mass.",
                                         NULL,           0,
                                         inertial_rules, COUNT(inertial_rules),
                                         false};

/* ---- shapes ---- */

static const xml_key box_keys[] = {
    {"size", XML_VECTOR, .count = 3, .required = true, .unit = "m", .help = "Full edges."},
};
static const xml_key round_keys[] = {
    {"radius", XML_NUMBER, .required = true, .unit = "m", .help = "Radius."},
    {"length", XML_NUMBER, .required = true, .unit = "m", .help = "Length along z; of a capsule without its ends."},
};
static const xml_key sphere_keys[] = {
    {"radius", XML_NUMBER, .required = true, .unit = "m", .help = "Radius."},
};
static const xml_key mesh_keys[] = {
    {"filename", XML_TEXT, .required = true,
     .help = "OBJ, STL, COLLADA (.dae) or glTF (.glb, .gltf) file: `package://NAME/...`, `file://...`, or a path "
             "relative to the URDF file."},
    {"scale", XML_VECTOR, .count = 3, .standard = "1 1 1", .help = "Factors of its coordinates."},
};
static const xml_table table_box = LEAF("box", "Box.", box_keys);
static const xml_table table_cylinder = LEAF("cylinder", "Cylinder along z.", round_keys);
static const xml_table table_capsule = LEAF("capsule", "Cylinder along z with round ends.", round_keys);
static const xml_table table_sphere = LEAF("sphere", "Sphere.", sphere_keys);
static const xml_rule mesh_rules[] = {
    {"drake:*", XML_IGNORED, .help = EXTENSION},
};
static const xml_table table_mesh = TABLE("mesh",
                                          "Triangles of a file. For contacts their convex hull; with `--mesh exact` as "
                                          "they are, with `--mesh decomposed` as convex parts.",
                                          mesh_keys, mesh_rules);

static const xml_rule geometry_rules[] = {
    {"box", XML_READ, .table = &table_box},         {"cylinder", XML_READ, .table = &table_cylinder},
    {"sphere", XML_READ, .table = &table_sphere},   {"mesh", XML_READ, .table = &table_mesh},
    {"capsule", XML_READ, .table = &table_capsule}, {"drake:capsule", XML_READ, .table = &table_capsule},
};
static const xml_table table_geometry = {"geometry",     "One shape.",          NULL, 0,
                                         geometry_rules, COUNT(geometry_rules), true};

static const xml_key color_keys[] = {
    {"rgba", XML_VECTOR, .count = 4, .required = true, .help = "Red, green, blue, opacity, from 0 to 1."},
};
static const xml_table table_color = LEAF("color", "Colour.", color_keys);
static const xml_key material_keys[] = {
    {"name", XML_TEXT, .help = "Name. Without a colour of its own: that of the material of the robot."},
};
static const xml_rule material_rules[] = {
    {"color", XML_READ, .table = &table_color},
    {"texture", XML_IGNORED, .help = "pictures show plain colours"},
    {"specular", XML_IGNORED, .help = "pictures show plain colours"},
};
static const xml_table table_material_look =
    TABLE("material", "Colour of a visual shape.", material_keys, material_rules);

static const xml_key shape_keys[] = {
    {"name", XML_TEXT, .help = "Name."},
    {"group", XML_TEXT, .use = XML_IGNORED, .help = NOT_MOTION},
    {"concave", XML_TEXT, .use = XML_IGNORED, .help = "--mesh exact takes meshes as they are"},
};
static const xml_rule visual_rules[] = {
    {"origin", XML_READ, .table = &table_origin},
    {"geometry", XML_READ, .required = true, .table = &table_geometry},
    {"material", XML_READ, .table = &table_material_look},
    {"drake:*", XML_IGNORED, .help = EXTENSION},
};
static const xml_rule collision_rules[] = {
    {"origin", XML_READ, .table = &table_origin},
    {"geometry", XML_READ, .required = true, .table = &table_geometry},
    {"material", XML_IGNORED, .help = "collision shapes are not drawn where there are visual ones"},
    {"verbose", XML_IGNORED, .help = NOT_MOTION},
    {"contact_coefficients", XML_IGNORED, .help = "give the shapes a material of the scene"},
    {"drake:*", XML_IGNORED, .help = EXTENSION},
};
static const xml_table table_visual = TABLE("visual", "Shape that is drawn.", shape_keys, visual_rules);
static const xml_table table_collision = TABLE("collision", "Shape that touches others.", shape_keys, collision_rules);

/* ---- links ---- */

static const xml_key link_keys[] = {
    {"name", XML_TEXT, .required = true, .help = "Name of the body."},
    {"type", XML_TEXT, .use = XML_IGNORED, .help = NOT_MOTION},
    {"concave", XML_TEXT, .use = XML_IGNORED, .help = "--mesh exact takes meshes as they are"},
};
static const xml_rule link_rules[] = {
    {"inertial", XML_READ, .table = &table_inertial},
    {"visual", XML_READ, .many = true, .table = &table_visual},
    {"collision", XML_READ, .many = true, .table = &table_collision},
    {"contact", XML_IGNORED, .help = "give the shapes a material of the scene"},
    {"self_collision_checking", XML_IGNORED, .help = "all collision shapes count"},
    {"audio_source", XML_IGNORED, .help = NOT_MOTION},
    {"sensor", XML_IGNORED, .help = NOT_MOTION},
    {"drake:*", XML_IGNORED, .help = EXTENSION},
};
static const xml_table table_link =
    TABLE("link", "Rigid body. A link `world` at the root is the world; it needs no element.", link_keys, link_rules);

/* ---- joints ---- */

static const xml_key link_name_keys[] = {{"link", XML_TEXT, .required = true, .help = "Name of a link."}};
static const xml_table table_parent = LEAF("parent", "Link that carries the joint.", link_name_keys);
static const xml_table table_child = LEAF("child", "Link that the joint carries.", link_name_keys);

static const xml_key axis_keys[] = {
    {"xyz", XML_VECTOR, .count = 3, .required = true, .help = "Direction in the joint frame, of any length but 0."},
};
static const xml_table table_axis =
    LEAF("axis", "Axis of the motion, of a planar joint the normal of the plane. Default: 1 0 0.", axis_keys);

static const xml_key limit_keys[] = {
    {"lower", XML_NUMBER, .unit = "rad or m", .standard = "0", .help = "Least coordinate."},
    {"upper", XML_NUMBER, .unit = "rad or m", .standard = "0", .help = "Greatest coordinate."},
    {"effort", XML_NUMBER, .unit = "N m or N", .help = "Limit of the effort of actuators; 0 and less: none."},
    {"velocity", XML_NUMBER, .unit = "rad/s or m/s", .help = "Velocity limit of the joint; 0 and less: none."},
    {"acceleration", XML_NUMBER, .use = XML_IGNORED, .help = "the acceleration of joints is not limited"},
    {"jerk", XML_NUMBER, .use = XML_IGNORED, .help = "the jerk of joints is not limited"},
    {"drake:*", XML_NUMBER, .use = XML_IGNORED, .help = EXTENSION},
};
static const xml_table table_limit = LEAF(
    "limit", "Range of a revolute or prismatic joint; none where neither `lower` nor `upper` is given.", limit_keys);

static const xml_key dynamics_keys[] = {
    {"damping", XML_NUMBER, .unit = "N m s/rad or N s/m", .standard = "0", .help = "Viscous damping."},
    {"friction", XML_NUMBER, .unit = "N m or N", .standard = "0", .help = "Dry friction."},
    {"spring_stiffness", XML_NUMBER, .use = XML_IGNORED, .help = EXTENSION},
    {"spring_reference", XML_NUMBER, .use = XML_IGNORED, .help = EXTENSION},
    {"D", XML_NUMBER, .use = XML_IGNORED, .help = EXTENSION},
    {"K", XML_NUMBER, .use = XML_IGNORED, .help = EXTENSION},
    {"mu_coulomb", XML_NUMBER, .use = XML_IGNORED, .help = EXTENSION},
    {"mu_viscous", XML_NUMBER, .use = XML_IGNORED, .help = EXTENSION},
};
static const xml_table table_dynamics = LEAF("dynamics", "Damping and friction of a joint.", dynamics_keys);

static const xml_key mimic_keys[] = {
    {"joint", XML_TEXT, .required = true, .help = "Name of the joint that leads; it may be a mimic itself."},
    {"multiplier", XML_NUMBER, .standard = "1", .help = "q = multiplier q_leader + offset."},
    {"offset", XML_NUMBER, .unit = "rad or m", .standard = "0", .help = "As above."},
};
static const xml_table table_mimic =
    LEAF("mimic", "The coordinate follows that of another joint, by a constraint.", mimic_keys);

static const xml_key joint_keys[] = {
    {"name", XML_TEXT, .required = true, .help = "Name of the joint."},
    {"type", XML_CHOICE, .required = true,
     .choices = {"revolute", "continuous", "prismatic", "fixed", "floating", "planar", NULL},
     .help = "Revolute: hinge with a range. Continuous: hinge without. Prismatic: slider. Floating: free. Planar: "
             "distances along a and along n x a, then the angle about the normal n; a is x, or y where n is nearly "
             "along x, made perpendicular to n."},
    {"dont_collapse", XML_TEXT, .use = XML_IGNORED, .help = "links that cannot move are welded all the same"},
};
static const xml_rule joint_rules[] = {
    {"origin", XML_READ, .table = &table_origin},
    {"parent", XML_READ, .required = true, .table = &table_parent},
    {"child", XML_READ, .required = true, .table = &table_child},
    {"axis", XML_READ, .table = &table_axis},
    {"limit", XML_READ, .table = &table_limit},
    {"dynamics", XML_READ, .table = &table_dynamics},
    {"mimic", XML_READ, .table = &table_mimic},
    {"calibration", XML_IGNORED, .help = "it describes sensors of the real joint"},
    {"safety_controller", XML_IGNORED, .help = CONTROL},
    {"hardwareInterface", XML_IGNORED, .help = CONTROL},
    {"joint_properties", XML_IGNORED, .help = "damping and friction belong in <dynamics>"},
    {"drake:*", XML_IGNORED, .help = EXTENSION},
};
static const xml_table table_joint_of_links = TABLE(
    "joint", "Joint between two links; its frame is `origin` in the frame of the parent.", joint_keys, joint_rules);

/* ---- robot ---- */

static const xml_key robot_keys[] = {
    {"name", XML_TEXT, .help = "Title of the scene."},
    {"version", XML_TEXT, .use = XML_IGNORED, .help = "all versions are read alike"},
};
static const xml_rule robot_rules[] = {
    {"link", XML_READ, .required = true, .many = true, .table = &table_link},
    {"joint", XML_READ, .many = true, .table = &table_joint_of_links},
    {"material", XML_READ, .many = true, .table = &table_material_look},
    {"transmission", XML_IGNORED, .help = CONTROL},
    {"gazebo", XML_IGNORED, .help = EXTENSION},
    {"sensor", XML_IGNORED, .help = NOT_MOTION},
    {"mujoco", XML_IGNORED, .help = EXTENSION},
    {"frame", XML_IGNORED, .help = EXTENSION},
    {"ros2_control", XML_IGNORED, .help = CONTROL},
    {"drake:*", XML_IGNORED, .help = EXTENSION},
    {"xacro:*", XML_REFUSED, .help = "macros are expanded by xacro: xacro FILE > robot.urdf"},
    {"loop_joint", XML_REFUSED, .help = "close the loop by a constraint of the scene"},
};
const xml_table table_robot =
    TABLE("robot", "The outermost element. Links and joints form one tree.", robot_keys, robot_rules);
