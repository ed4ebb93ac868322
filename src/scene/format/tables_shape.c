/* The scene format, key by key: shapes and distance fields. */
#include "scene/format/fields.h"
#include "scene/format/format.h"
#include "scene/format/table_words.h"

#include <sim/model.h>

static const char *shape_name(int i) {
    return i < SIM_SHAPE_TYPES ? sim_shape_name((sim_shape_type)i) : i == COMPOUND ? "compound" : NULL;
}

/* ---- shapes ---- */

enum {
    SOLID = BIT(SIM_SPHERE) | BIT(SIM_BOX) | BIT(SIM_CAPSULE) | BIT(SIM_CYLINDER) | BIT(SIM_ELLIPSOID) |
            BIT(SIM_CONVEX) | BIT(SIM_MESH) | BIT(SIM_SDF),
    FROM_FILE = BIT(SIM_CONVEX) | BIT(SIM_MESH),
    ROUND = BIT(SIM_SPHERE) | BIT(SIM_CAPSULE) | BIT(SIM_CYLINDER),
    LONG = BIT(SIM_CAPSULE) | BIT(SIM_CYLINDER)
};

static const field shape_fields[] = {
    {"name", FIELD_NAME, AT(shape_data, name), .help = "Name."},
    {"type", FIELD_ENUM, AT(shape_data, type), .required = true, .name_of = shape_name,
     .help = "Kind. A half-space is solid below its own plane z = 0 and may stand only on bodies that cannot move. "
             "Convex: the convex hull of points or of a file's vertices. Mesh: triangles; a closed surface has an "
             "inside (one turned inside out is refused), an open one acts on the side from which its corners run "
             "anticlockwise. Height field: solid below "
             "its heights. Sdf: a solid given by its signed distance. Compound: several shapes placed together."},
    {"radius", FIELD_NUMBER, AT(shape_data, radius), LENGTH, .only = ROUND, .needed_by = ROUND, .help = "Radius."},
    {"length", FIELD_NUMBER, AT(shape_data, length), LENGTH, .only = LONG, .needed_by = LONG,
     .help = "Length along the shape's z axis; of a capsule, between the centres of its two ends."},
    {"size", FIELD_VECTOR, AT(shape_data, size), 3, LENGTH, .only = BIT(SIM_BOX), .needed_by = BIT(SIM_BOX),
     .help = "Full edges of a box."},
    {"radii", FIELD_VECTOR, AT(shape_data, radii), 3, LENGTH, .only = BIT(SIM_ELLIPSOID),
     .needed_by = BIT(SIM_ELLIPSOID), .help = "Semi-axes."},
    {"file", FIELD_TEXT, AT(shape_data, file), .rival = 2, .only = FROM_FILE,
     .help = "OBJ or STL file, relative to this one; metres, z up, unless `scale` and `pose` say otherwise."},
    {"scale", FIELD_NUMBERS, AT(shape_data, scale), 3, .only = FROM_FILE,
     .help = "Factor of the file's coordinates, one for all or one for x, y and z; 0.001 for a file in millimetres."},
    {"points", FIELD_ROWS, AT(shape_data, points), 3, COORDINATE, .rival = 2, .only = FROM_FILE,
     .help = "In place of a file: points of a hull, vertices of a mesh."},
    {"triangles", FIELD_ROWS, AT(shape_data, triangles), 3, NOT_NEGATIVE, .integers = true, .only = BIT(SIM_MESH),
     .help = "Three numbers of points each, counted from 0, anticlockwise seen from outside."},
    {"open", FIELD_FLAG, AT(shape_data, open), .standard = "false", .only = BIT(SIM_MESH),
     .help = "The surface is meant to be open, as a ground or a wall is: without this word, there is a warning."},
    {"heights", FIELD_NUMBERS, AT(shape_data, heights), 0, COORDINATE, .only = BIT(SIM_HEIGHT_FIELD),
     .needed_by = BIT(SIM_HEIGHT_FIELD), .help = "Heights row by row, along x within a row, rows along y."},
    {"columns", FIELD_INTEGER, AT(shape_data, columns), WITHIN(2, 1000000), .only = BIT(SIM_HEIGHT_FIELD),
     .needed_by = BIT(SIM_HEIGHT_FIELD), .help = "Heights in a row."},
    {"extent", FIELD_VECTOR, AT(shape_data, extent), 2, LENGTH, .only = BIT(SIM_HEIGHT_FIELD),
     .needed_by = BIT(SIM_HEIGHT_FIELD), .help = "Full edges, along x and y, of the rectangle around the origin."},
    {"field", FIELD_OBJECT, AT(shape_data, field), .table = &table_solid, .only = BIT(SIM_SDF),
     .needed_by = BIT(SIM_SDF), .help = "The solid."},
    {"resolution", FIELD_NUMBER, AT(shape_data, resolution), LENGTH, .only = BIT(SIM_SDF),
     .help = "Edge of the triangles that stand for its surface against other surfaces. Left out: a fiftieth of its "
             "longest side, or as much less, down to a two-hundredth, as its thinnest wall or its thread asks for."},
    {"shapes", FIELD_OBJECTS, AT(shape_data, shapes), .table = &table_shape, .only = BIT(COMPOUND),
     .needed_by = BIT(COMPOUND),
     .help =
         "The parts, each placed in the compound's frame. What the compound says of `material`, `color`, `group` and "
         "`mask` holds for those that do not say it themselves."},
    {"pose", FIELD_OBJECT, AT(shape_data, pose), .table = &table_pose, .help = "Place in the body frame."},
    {"density", FIELD_NUMBER, AT(shape_data, density), .unit = "kg/m^3", POSITIVE, .rival = 1, .only = SOLID,
     .help = "Density; the shape adds to the mass properties of its body."},
    {"mass", FIELD_NUMBER, AT(shape_data, mass), .unit = "kg", POSITIVE, .rival = 1, .only = SOLID,
     .help = "Mass, evenly spread; in place of the density."},
    {"material", FIELD_NAME, AT(shape_data, material), .help = "Name of a material; the default one if left out."},
    {"color", FIELD_VECTOR, AT(shape_data, color), 4, .count_least = 3, WITHIN(0, 1),
     .help =
         "Red, green, blue and, if given, opacity. Left out: pictures choose one, by the tree that the body belongs "
         "to."},
    {"group", FIELD_INTEGER, AT(shape_data, group), WITHIN(0, 4294967295.0), .standard = "1",
     .help = "Groups the shape belongs to, one bit each."},
    {"mask", FIELD_INTEGER, AT(shape_data, mask), WITHIN(0, 4294967295.0), .standard = "4294967295",
     .help = "Groups the shape touches: two shapes touch if each one's mask has a bit of the other's group."},
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
     .help =
         "Kind. Profile: a curve turned about z, thickened: bowls, plates, pots. Thread: a helical ridge on a rod or "
         "in a bore. Grid: a closed mesh, sampled. Difference: the first of `fields` without the others."},
    {"radius", FIELD_NUMBER, AT(field_data, radius), LENGTH, .only = FIELD_ROUND, .needed_by = FIELD_ROUND,
     .help = "Radius."},
    {"length", FIELD_NUMBER, AT(field_data, length), LENGTH, .only = BIT(SIM_FIELD_CYLINDER) | THREAD,
     .needed_by = BIT(SIM_FIELD_CYLINDER), .help = "Length along z. A bore runs on whatever it says; a rod needs it."},
    {"size", FIELD_VECTOR, AT(field_data, size), 3, LENGTH, .only = BIT(SIM_FIELD_BOX), .needed_by = BIT(SIM_FIELD_BOX),
     .help = "Full edges of a box."},
    {"points", FIELD_ROWS, AT(field_data, points), 2, COORDINATE, .only = PROFILE, .needed_by = PROFILE,
     .help = "Corners of the curve: distance from the axis, height."},
    {"thickness", FIELD_NUMBER, AT(field_data, thickness), LENGTH, .only = PROFILE, .needed_by = PROFILE,
     .help = "How far the solid reaches to each side of the curve."},
    {"diameter", FIELD_NUMBER, AT(field_data, diameter), LENGTH, .only = THREAD, .needed_by = THREAD,
     .help = "Over the crests of a rod, over the roots of a bore's groove."},
    {"pitch", FIELD_NUMBER, AT(field_data, pitch), LENGTH, .only = THREAD, .needed_by = THREAD,
     .help = "From ridge to ridge along the axis."},
    {"depth", FIELD_NUMBER, AT(field_data, depth), LENGTH, .only = THREAD, .needed_by = THREAD,
     .help = "Height of the ridge."},
    {"flank_angle_deg", FIELD_NUMBER, AT(field_data, flank_angle), .unit = "degrees", WITHIN(1, 170), .standard = "60",
     .only = THREAD, .help = "Between the two flanks of a ridge."},
    {"clearance", FIELD_NUMBER, AT(field_data, clearance), LENGTH_OR_ZERO, .standard = "0", .only = THREAD,
     .help = "How far the surface is moved into the solid: play."},
    {"internal", FIELD_FLAG, AT(field_data, internal), .standard = "false", .only = THREAD,
     .help = "A bore through a solid without end, to be cut out by an intersection, instead of a rod."},
    {"left", FIELD_FLAG, AT(field_data, left), .standard = "false", .only = THREAD, .help = "Left-handed."},
    {"file", FIELD_TEXT, AT(field_data, file), .only = GRID, .needed_by = GRID,
     .help = "OBJ or STL file of a closed surface, relative to this one. Sampling may take a while; the program keeps "
             "what it "
             "sampled in `$XDG_CACHE_HOME/sim` or `~/.cache/sim`, from where it may be deleted at any time."},
    {"scale", FIELD_NUMBERS, AT(field_data, scale), 3, .only = GRID,
     .help = "Factor of the file's coordinates, one for all or one for x, y and z."},
    {"cell", FIELD_NUMBER, AT(field_data, cell), LENGTH, .only = GRID,
     .help = "Edge of a cell; a hundredth of the longest side if left out."},
    {"fields", FIELD_OBJECTS, AT(field_data, fields), .table = &table_solid, .only = COMBINED, .needed_by = COMBINED,
     .help = "What is combined."},
    {"rounding", FIELD_NUMBER, AT(field_data, rounding), LENGTH_OR_ZERO, .standard = "0",
     .help = "The solid grown by this to all sides, which rounds its edges."},
    {"pose", FIELD_OBJECT, AT(field_data, pose), .table = &table_pose, .help = "Place in the frame around it."},
};
const table table_solid = {"field",
                           "Solid given by its signed distance, built from simple ones.",
                           sizeof(field_data),
                           field_fields,
                           .count = COUNT(field_fields),
                           .type_key = "type"};
