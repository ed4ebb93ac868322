/* The scene format, key by key: shapes and distance fields. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

#include <sim/model.h>

static const char *shape_name(int i) {
    return i < SIM_SHAPE_TYPES ? sim_shape_name((sim_shape_type)i) : i == COMPOUND ? "compound" : NULL;
}

static const char *use_name(int i) {
    static const char *const name[USES] = {"all", "contact", "picture"};
    return i < USES ? name[i] : NULL;
}

static const char *shape_compliance_name(int i) {
    static const char *const name[SHAPE_COMPLIANCES] = {"points", "field"};
    return i < SHAPE_COMPLIANCES ? name[i] : NULL;
}

/* ---- shapes ---- */

enum {
    SOLID = BIT(SIM_SPHERE) | BIT(SIM_BOX) | BIT(SIM_CAPSULE) | BIT(SIM_CYLINDER) | BIT(SIM_ELLIPSOID) |
            BIT(SIM_CONVEX) | BIT(SIM_MESH) | BIT(SIM_SDF),
    FROM_FILE = BIT(SIM_CONVEX) | BIT(SIM_MESH),
    ROUND = BIT(SIM_SPHERE) | BIT(SIM_CAPSULE) | BIT(SIM_CYLINDER),
    LONG = BIT(SIM_CAPSULE) | BIT(SIM_CYLINDER)
};

static const field decompose_fields[] = {
    {"concavity", FIELD_NUMBER, AT(decompose_data, concavity), LENGTH,
     .help = "How far a part may reach beyond the solid. Default: a hundredth of the diagonal of its bounds."},
    {"parts", FIELD_INTEGER, AT(decompose_data, parts), WITHIN(1, 1000), .standard = "32",
     .help = "Limit of the number of parts, whatever the concavity."},
    {"show", FIELD_FLAG, AT(decompose_data, show), .standard = "false",
     .help = "Pictures show the parts, each in a colour of its own, in place of the mesh."},
};
const table table_decompose = {
    "decompose",
    "Convex decomposition of a closed mesh: convex parts that cover it, and have its contacts in its place.",
    sizeof(decompose_data), decompose_fields, .count = COUNT(decompose_fields)};

static const field shape_fields[] = {
    {"name", FIELD_NAME, AT(shape_data, name), .help = "Name."},
    {"type", FIELD_ENUM, AT(shape_data, type), .required = true, .name_of = shape_name,
     .help = "Kind of shape. Half-space: solid below its plane z = 0, only on bodies that cannot move. Convex: convex "
             "hull of points or of the vertices of a file. Mesh: triangles; a closed surface is solid and must have "
             "its normals outwards; an open one acts on the side from which its corners run anticlockwise. Height "
             "field: solid below its heights. Sdf: solid given by its signed distance. Compound: several shapes."},
    {"radius", FIELD_NUMBER, AT(shape_data, radius), LENGTH, .only = ROUND, .needed_by = ROUND, .help = "Radius."},
    {"length", FIELD_NUMBER, AT(shape_data, length), LENGTH, .only = LONG, .needed_by = LONG,
     .help = "Length along the z axis; of a capsule between the centres of its ends."},
    {"size", FIELD_VECTOR, AT(shape_data, size), 3, LENGTH, .only = BIT(SIM_BOX), .needed_by = BIT(SIM_BOX),
     .help = "Full edges of a box."},
    {"radii", FIELD_VECTOR, AT(shape_data, radii), 3, LENGTH, .only = BIT(SIM_ELLIPSOID),
     .needed_by = BIT(SIM_ELLIPSOID), .help = "Semi-axes."},
    {"file", FIELD_TEXT, AT(shape_data, file), .rival = 2, .only = FROM_FILE,
     .help =
         "OBJ, STL, MSH, COLLADA or glTF file, relative to this one; OBJ and STL in metres, z up, before `scale` and "
         "`pose`."},
    {"scale", FIELD_NUMBERS, AT(shape_data, scale), 3, .only = FROM_FILE,
     .help = "Factor of the file's coordinates, one for all or three for x, y, z; 0.001 for a file in millimetres."},
    {"points", FIELD_ROWS, AT(shape_data, points), 3, COORDINATE, .rival = 2, .only = FROM_FILE,
     .help = "In place of a file: points of a hull, vertices of a mesh."},
    {"triangles", FIELD_ROWS, AT(shape_data, triangles), 3, NOT_NEGATIVE, .integers = true, .only = BIT(SIM_MESH),
     .help = "Three indices of points each, from 0, anticlockwise seen from outside."},
    {"open", FIELD_FLAG, AT(shape_data, open), .standard = "false", .only = BIT(SIM_MESH),
     .help = "The surface is open on purpose, as a ground or a wall; suppresses the warning."},
    {"decompose", FIELD_OBJECT, AT(shape_data, decompose), .table = &table_decompose, .only = BIT(SIM_MESH),
     .help = "Convex parts in place of the mesh in contacts; mass and pictures stay those of the mesh. Faster, and "
             "steadier where it rests. An open surface has its convex hull."},
    {"heights", FIELD_NUMBERS, AT(shape_data, heights), 0, COORDINATE, .only = BIT(SIM_HEIGHT_FIELD),
     .needed_by = BIT(SIM_HEIGHT_FIELD), .help = "Heights row by row, along x within a row, rows along y."},
    {"columns", FIELD_INTEGER, AT(shape_data, columns), WITHIN(2, 1000000), .only = BIT(SIM_HEIGHT_FIELD),
     .needed_by = BIT(SIM_HEIGHT_FIELD), .help = "Heights in a row."},
    {"extent", FIELD_VECTOR, AT(shape_data, extent), 2, LENGTH, .only = BIT(SIM_HEIGHT_FIELD),
     .needed_by = BIT(SIM_HEIGHT_FIELD), .help = "Full edges, along x and y, of the rectangle around the origin."},
    {"field", FIELD_OBJECT, AT(shape_data, field), .table = &table_solid, .only = BIT(SIM_SDF),
     .needed_by = BIT(SIM_SDF), .help = "The solid."},
    {"resolution", FIELD_NUMBER, AT(shape_data, resolution), LENGTH, .only = BIT(SIM_SDF),
     .help = "Edge of the triangles of its surface, for contacts with other surfaces. Default: a fiftieth of its "
             "longest side; down to a two-hundredth for thin walls and threads."},
    {"shapes", FIELD_OBJECTS, AT(shape_data, shapes), .table = &table_shape, .only = BIT(COMPOUND),
     .needed_by = BIT(COMPOUND),
     .help = "Parts, in the frame of the compound. Its `material`, `use`, `color`, `group`, `mask` and `across_joint` "
             "are defaults for "
             "its parts."},
    {"pose", FIELD_OBJECT, AT(shape_data, pose), .table = &table_pose, .help = "Pose in the body frame."},
    {"density", FIELD_NUMBER, AT(shape_data, density), .unit = "kg/m^3", POSITIVE, .rival = 1, .only = SOLID,
     .help = "Density; the shape adds to the mass properties of its body."},
    {"mass", FIELD_NUMBER, AT(shape_data, mass), .unit = "kg", POSITIVE, .rival = 1, .only = SOLID,
     .help = "Mass, uniformly distributed, in place of the density."},
    {"material", FIELD_NAME, AT(shape_data, material),
     .help = "Name of a material. Default: the material of the library."},
    {"compliance", FIELD_ENUM, AT(shape_data, compliance), .name_of = shape_compliance_name, .standard = "\"points\"",
     .only = SOLID,
     .help = "`points`: contact acts at points, with the `stiffness` of the material. `field`: the solid carries a "
             "pressure field of the `modulus` of its material; contact acts over the area where it overlaps others "
             "([contact.md](contact.md#pressure-fields))."},
    {"field_edge", FIELD_NUMBER, AT(shape_data, field_edge), LENGTH, .only = SOLID,
     .help =
         "Greatest edge of the triangles of its surface under its pressure field. Default: a third of the radius of "
         "the solid, or less for one that is not convex."},
    {"use", FIELD_ENUM, AT(shape_data, use), .name_of = use_name, .standard = "\"all\"",
     .help = "`contact`: it has contacts but is not drawn; `picture`: it is drawn but has no contacts; `all`: both."},
    {"color", FIELD_VECTOR, AT(shape_data, color), 4, .count_least = 3, WITHIN(0, 1),
     .help = "Red, green, blue and, optionally, opacity. Default: one colour for each tree of bodies."},
    {"group", FIELD_INTEGER, AT(shape_data, group), WITHIN(0, 4294967295.0), .standard = "1",
     .help = "Groups of the shape, one bit each."},
    {"mask", FIELD_INTEGER, AT(shape_data, mask), WITHIN(0, 4294967295.0), .standard = "4294967295",
     .help = "Groups that can touch the shape: two shapes have contacts if the mask of each has a bit of the group of "
             "the other."},
    {"across_joint", FIELD_FLAG, AT(shape_data, across_joint), .standard = "false",
     .help = "It has contacts with shapes of the body that carries its own, or that its own carries, where these say "
             "so, too."},
    {"surface_velocity", FIELD_VECTOR, AT(shape_data, surface_velocity), 6, .count_least = 3, .unit = "m/s, rad/s",
     WITHIN(-1e6, 1e6),
     .help = "Velocity of the surface over the body, in the body's axes: a conveyor's belt. Three more numbers are its "
             "angular velocity about the origin of the shape: a turntable. Its part along the contact plane acts by "
             "friction; the shape itself stays where it is."},
    {"friction_direction", FIELD_VECTOR, AT(shape_data, friction_direction), 3, WITHIN(-1e9, 1e9),
     .standard = "[1, 0, 0]",
     .help =
         "Direction, in the frame of the shape and of any length but 0, of the first number of a `friction` that has "
         "two."},
};
const table table_shape = {"shape",      "Solid piece of a body.",     sizeof(shape_data),
                           shape_fields, .count = COUNT(shape_fields), .type_key = "type"};

/* ---- distance fields ---- */

static const char *field_name(int i) { return i < SIM_FIELD_TYPES ? sim_field_name((sim_field_type)i) : NULL; }

enum {
    COMBINED = BIT(SIM_FIELD_UNION) | BIT(SIM_FIELD_INTERSECTION) | BIT(SIM_FIELD_DIFFERENCE),
    FIELD_ROUND = BIT(SIM_FIELD_SPHERE) | BIT(SIM_FIELD_CYLINDER),
    THREAD = BIT(SIM_FIELD_THREAD),
    GRID = BIT(SIM_FIELD_GRID),
    PROFILE = BIT(SIM_FIELD_PROFILE)
};

static const field field_fields[] = {
    {"type", FIELD_ENUM, AT(field_data, type), .required = true, .name_of = field_name,
     .help = "Kind of solid. Profile: a thickened curve, rotated about z, as bowls, plates and pots. Thread: a helical "
             "ridge on a rod or in a bore. Grid: a closed mesh, sampled. Difference: the first of `fields` without the "
             "others."},
    {"radius", FIELD_NUMBER, AT(field_data, radius), LENGTH, .only = FIELD_ROUND, .needed_by = FIELD_ROUND,
     .help = "Radius."},
    {"length", FIELD_NUMBER, AT(field_data, length), LENGTH, .only = BIT(SIM_FIELD_CYLINDER) | THREAD,
     .needed_by = BIT(SIM_FIELD_CYLINDER), .help = "Length along z. Required for rods; a bore is infinite."},
    {"size", FIELD_VECTOR, AT(field_data, size), 3, LENGTH, .only = BIT(SIM_FIELD_BOX), .needed_by = BIT(SIM_FIELD_BOX),
     .help = "Full edges of a box."},
    {"points", FIELD_ROWS, AT(field_data, points), 2, COORDINATE, .only = PROFILE, .needed_by = PROFILE,
     .help = "Corners of the curve: distance from the axis, and height."},
    {"thickness", FIELD_NUMBER, AT(field_data, thickness), LENGTH, .only = PROFILE, .needed_by = PROFILE,
     .help = "Half the thickness: distance from the curve to the surface."},
    {"diameter", FIELD_NUMBER, AT(field_data, diameter), LENGTH, .only = THREAD, .needed_by = THREAD,
     .help = "Diameter over the crests of a rod, or over the roots of a bore."},
    {"pitch", FIELD_NUMBER, AT(field_data, pitch), LENGTH, .only = THREAD, .needed_by = THREAD,
     .help = "Distance from ridge to ridge along the axis."},
    {"depth", FIELD_NUMBER, AT(field_data, depth), LENGTH, .only = THREAD, .needed_by = THREAD,
     .help = "Height of the ridge."},
    {"flank_angle_deg", FIELD_NUMBER, AT(field_data, flank_angle), .unit = "degrees", WITHIN(1, 170), .standard = "60",
     .only = THREAD, .help = "Angle between the two flanks of a ridge."},
    {"clearance", FIELD_NUMBER, AT(field_data, clearance), LENGTH_OR_ZERO, .standard = "0", .only = THREAD,
     .help = "Play: offset of the surface into the solid."},
    {"internal", FIELD_FLAG, AT(field_data, internal), .standard = "false", .only = THREAD,
     .help = "A bore through an infinite solid, for an intersection, in place of a rod."},
    {"left", FIELD_FLAG, AT(field_data, left), .standard = "false", .only = THREAD, .help = "Left-handed."},
    {"file", FIELD_TEXT, AT(field_data, file), .only = GRID, .needed_by = GRID,
     .help = "OBJ, STL, MSH, COLLADA or glTF file of a closed surface, relative to this one. Samples are cached in "
             "`$XDG_CACHE_HOME/sim` "
             "or `~/.cache/sim`; the cache may be deleted at any time."},
    {"scale", FIELD_NUMBERS, AT(field_data, scale), 3, .only = GRID,
     .help = "Factor of the file's coordinates, one for all or three for x, y, z."},
    {"cell", FIELD_NUMBER, AT(field_data, cell), LENGTH, .only = GRID,
     .help = "Edge of a cell. Default: a hundredth of the longest side."},
    {"fields", FIELD_OBJECTS, AT(field_data, fields), .table = &table_solid, .only = COMBINED, .needed_by = COMBINED,
     .help = "Solids to combine."},
    {"rounding", FIELD_NUMBER, AT(field_data, rounding), LENGTH_OR_ZERO, .standard = "0",
     .help = "Offset of the surface outwards, which rounds edges."},
    {"pose", FIELD_OBJECT, AT(field_data, pose), .table = &table_pose, .help = "Pose in the enclosing frame."},
};
const table table_solid = {"distance_field",
                           "Solid given by its signed distance, built from simple solids.",
                           sizeof(field_data),
                           field_fields,
                           .count = COUNT(field_fields),
                           .type_key = "type"};
