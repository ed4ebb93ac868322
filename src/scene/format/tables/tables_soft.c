/* The scene format, key by key: soft bodies. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

#include <sim/model.h>

static const char *soft_name(int i) {
    static const char *const name[SOFT_SOURCES] = {"sphere",    "box",  "capsule", "cylinder",
                                                   "ellipsoid", "tube", "mesh",    "tetrahedra"};
    return i < SOFT_SOURCES ? name[i] : NULL;
}

static const char *soft_form_name(int i) {
    static const char *const name[] = {"tangent", "rows"};
    return i < COUNT(name) ? name[i] : NULL;
}

static const char *soft_law_name(int i) { return i < SIM_SOFT_LAWS ? sim_soft_law_name((sim_soft_law)i) : NULL; }

enum {
    ROUND = BIT(SOFT_SPHERE) | BIT(SOFT_CAPSULE) | BIT(SOFT_CYLINDER) | BIT(SOFT_TUBE),
    LONG = BIT(SOFT_CAPSULE) | BIT(SOFT_CYLINDER) | BIT(SOFT_TUBE),
    FROM_FILE = BIT(SOFT_MESH) | BIT(SOFT_TETRAHEDRA),
    MADE = ROUND | BIT(SOFT_BOX) | BIT(SOFT_ELLIPSOID) | BIT(SOFT_MESH)
};

static const field attachment_fields[] = {
    {"body", FIELD_NAME, AT(attachment_data, body), .standard = "\"world\"",
     .help = "Rigid body that holds the nodes."},
    {"min", FIELD_VECTOR, AT(attachment_data, min), 3, COORDINATE,
     .help = "Nodes in a box of the body's frame: least corner."},
    {"max", FIELD_VECTOR, AT(attachment_data, max), 3, COORDINATE, .help = "Its greatest corner."},
    {"distance", FIELD_NUMBER, AT(attachment_data, distance), LENGTH_OR_ZERO,
     .help = "Nodes that are inside the shapes of `body` at the start, or at most so far from them. With a box: of "
             "those in it."},
    {"stiffness", FIELD_NUMBER, AT(attachment_data, stiffness), .unit = "N/m", POSITIVE,
     .help = "Stiffness for each node. Default: rigid."},
    {"dissipation", FIELD_NUMBER, AT(attachment_data, dissipation), .unit = "s", NOT_NEGATIVE, .standard = "0",
     .help = "Relaxation time of that stiffness."},
};
const table table_attachment = {"attachment",
                                "Nodes of a soft body that keep their place on a rigid body, as in the initial state. "
                                "A node is held by the first attachment that takes it, and does not touch that body.",
                                sizeof(attachment_data), attachment_fields, .count = COUNT(attachment_fields)};

static const field cut_fields[] = {
    {"min", FIELD_VECTOR, AT(cut_data, min), 3, COORDINATE, .required = true,
     .help = "Least corner, in the body's frame."},
    {"max", FIELD_VECTOR, AT(cut_data, max), 3, COORDINATE, .required = true, .help = "Greatest corner."},
};
const table table_soft_cut = {
    "cut",
    "Box without material: tetrahedra with their centre in it are left out. Of a box solid those "
    "between multiples of `edge` are exact. One that the solid encloses is a chamber.",
    sizeof(cut_data), cut_fields, .count = COUNT(cut_fields)};

static const field layer_fields[] = {
    {"min", FIELD_VECTOR, AT(layer_data, min), 3, COORDINATE, .required = true,
     .help = "Least corner, in the body's frame."},
    {"max", FIELD_VECTOR, AT(layer_data, max), 3, COORDINATE, .required = true, .help = "Greatest corner."},
};
const table table_layer = {
    "inextensible layer",
    "Box whose edges of tetrahedra keep their length: rods a million times as stiff as the material, as of a cloth "
    "that bends and neither stretches nor shears. One layer of nodes is enough; a thicker one is rigid.",
    sizeof(layer_data), layer_fields, .count = COUNT(layer_fields)};

static const field soft_fields[] = {
    {"type", FIELD_ENUM, AT(soft_data, type), .required = true, .name_of = soft_name,
     .help = "Solid that is filled with tetrahedra, centred on the body frame. Tube: about z. Mesh: a closed surface "
             "from a file. Tetrahedra: as they are in a file."},
    {"radius", FIELD_NUMBER, AT(soft_data, radius), LENGTH, .only = ROUND, .needed_by = ROUND, .help = "Radius."},
    {"bore", FIELD_NUMBER, AT(soft_data, bore), LENGTH, .only = BIT(SOFT_TUBE), .needed_by = BIT(SOFT_TUBE),
     .help = "Radius of the bore of a tube."},
    {"length", FIELD_NUMBER, AT(soft_data, length), LENGTH, .only = LONG, .needed_by = LONG,
     .help = "Length along the z axis; of a capsule between the centres of its ends."},
    {"size", FIELD_VECTOR, AT(soft_data, size), 3, LENGTH, .only = BIT(SOFT_BOX), .needed_by = BIT(SOFT_BOX),
     .help = "Full edges of a box."},
    {"radii", FIELD_VECTOR, AT(soft_data, radii), 3, LENGTH, .only = BIT(SOFT_ELLIPSOID),
     .needed_by = BIT(SOFT_ELLIPSOID), .help = "Semi-axes."},
    {"file", FIELD_TEXT, AT(soft_data, file), .only = FROM_FILE, .needed_by = FROM_FILE,
     .help = "Of a mesh: OBJ, STL, MSH of MuJoCo, COLLADA or glTF. Of tetrahedra: Gmsh (`.msh`, ASCII, 2.2 or 4.1), or "
             "TetGen (`.node` or `.ele`, with the other beside it). Relative to this file."},
    {"scale", FIELD_NUMBERS, AT(soft_data, scale), 3, .only = FROM_FILE,
     .help = "Factor of the file's coordinates, one for all or three for x, y, z."},
    {"edge", FIELD_NUMBER, AT(soft_data, edge), LENGTH, .only = MADE,
     .help = "About the edge of the tetrahedra. Default: a third of the solid's radius, half the least edge of a box, "
             "the wall of a tube."},
    {"cuts", FIELD_OBJECTS, AT(soft_data, cuts), .table = &table_soft_cut, .help = "Boxes without material."},
    {"inextensible", FIELD_OBJECTS, AT(soft_data, inextensible), .table = &table_layer,
     .help = "Layers of nodes that bend and keep their lengths."},
    {"pressure", FIELD_OBJECT, AT(soft_data, pressure), .table = &table_track, .unit = "Pa", .standard = "0",
     .help = "Pressure of a gas in all closed chambers, over that outside. It follows their walls."},
    {"law", FIELD_ENUM, AT(soft_data, law), .name_of = soft_law_name, .standard = "\"neo-hookean\"",
     .help = "Elastic law: stable Neo-Hookean, or co-rotated linear."},
    {"elasticity", FIELD_ENUM, AT(soft_data, elasticity), .name_of = soft_form_name, .standard = "\"tangent\"",
     .help = "Tangent: the projected tangent stiffness is part of the mass matrix. Rows: each tetrahedron is 6 to 9 "
             "compliant rows of the contact problem, for some hundred tetrahedra ([soft.md](soft.md))."},
    {"modulus", FIELD_NUMBER, AT(soft_data, modulus), .unit = "Pa", POSITIVE, .required = true,
     .help = "Young's modulus."},
    {"poisson", FIELD_NUMBER, AT(soft_data, poisson), .range = {true, true, false, 0, 0.499}, .standard = "0.4",
     .help = "Poisson's ratio."},
    {"density", FIELD_NUMBER, AT(soft_data, density), .unit = "kg/m^3", POSITIVE, .standard = "1000",
     .help = "Density."},
    {"dissipation", FIELD_NUMBER, AT(soft_data, dissipation), .unit = "s", NOT_NEGATIVE, .standard = "0",
     .help = "Viscosity over elasticity: a mode of frequency f has the damping ratio pi f `dissipation`."},
    {"thickness", FIELD_NUMBER, AT(soft_data, thickness), LENGTH_OR_ZERO, .standard = "0.001",
     .help = "Nodes of the surface touch other bodies as spheres of this radius. 0: nothing touches it."},
    {"material", FIELD_NAME, AT(soft_data, material),
     .help = "Name of a material: friction of the surface. Default: the material of the library."},
    {"color", FIELD_VECTOR, AT(soft_data, color), 4, .count_least = 3, WITHIN(0, 1),
     .help = "Red, green, blue and, optionally, opacity. Default: one colour for each tree of bodies."},
    {"group", FIELD_INTEGER, AT(soft_data, group), WITHIN(0, 4294967295.0), .standard = "1",
     .help = "Groups of the surface, one bit each."},
    {"mask", FIELD_INTEGER, AT(soft_data, mask), WITHIN(0, 4294967295.0), .standard = "4294967295",
     .help = "Groups that can touch the surface. With its own among them it touches itself."},
    {"attachments", FIELD_OBJECTS, AT(soft_data, attachments), .table = &table_attachment,
     .help = "Nodes held by rigid bodies."},
};
const table table_soft = {
    "soft",
    "Deformable body: tetrahedra of elastic material ([soft.md](soft.md)). The body has no "
    "`joint`, `inertia`, `shapes`, `sites`, `drag` or `q`; its `parent` is the world or fixed to it, and "
    "its `v` is that of a free body.",
    sizeof(soft_data),
    soft_fields,
    .count = COUNT(soft_fields),
    .type_key = "type"};
