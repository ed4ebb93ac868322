/* The scene format, key by key: the fluid, and the resistance of bodies in it. */
#include "scene/format/tables/fields.h"
#include "scene/format/tables/format.h"
#include "scene/format/tables/table_words.h"

#include <sim/model.h>

static const field fluid_fields[] = {
    {"density", FIELD_NUMBER, AT(fluid_data, density), .unit = "kg/m^3", NOT_NEGATIVE, .standard = "0",
     .help = "Density: drag that grows with the square of the speed. Air 1.2, water 1000."},
    {"viscosity", FIELD_NUMBER, AT(fluid_data, viscosity), .unit = "Pa s", NOT_NEGATIVE, .standard = "0",
     .help = "Viscosity: drag that grows with the speed. Air 1.8e-5, water 1e-3."},
    {"wind", FIELD_VECTOR, AT(fluid_data, wind), 3, .unit = "m/s", WITHIN(-1e6, 1e6), .standard = "[0, 0, 0]",
     .help = "Velocity of the fluid."},
};
const table table_fluid = {"fluid",
                           "A fluid that resists every moving body with mass, as the `drag` of the body says. It is "
                           "still but for its wind, fills all space, and has no buoyancy. Drag is implicit: stable "
                           "at any step.",
                           sizeof(fluid_data), fluid_fields, .count = COUNT(fluid_fields)};

static const char *drag_name(int i) { return i + 1 < SIM_DRAG_TYPES ? sim_drag_name((sim_drag_type)(i + 1)) : NULL; }

enum { DRAG_BOX = BIT(SIM_DRAG_BOX - 1), DRAG_ELLIPSOID = BIT(SIM_DRAG_ELLIPSOID - 1) };

static const field drag_fields[] = {
    {"type", FIELD_ENUM, AT(drag_data, type), .required = true, .name_of = drag_name,
     .help = "Box: drag along and about each axis. Ellipsoid: drag, lift and added mass."},
    {"pose", FIELD_OBJECT, AT(drag_data, pose), .table = &table_pose, .help = "Centre and axes in the body frame."},
    {"size", FIELD_VECTOR, AT(drag_data, size), 3, LENGTH, .only = DRAG_BOX, .needed_by = DRAG_BOX,
     .help = "Full edges."},
    {"radii", FIELD_VECTOR, AT(drag_data, radii), 3, LENGTH, .only = DRAG_ELLIPSOID, .needed_by = DRAG_ELLIPSOID,
     .help = "Semi-axes."},
    {"blunt", FIELD_NUMBER, AT(drag_data, blunt), NOT_NEGATIVE, .standard = "0.5", .only = DRAG_ELLIPSOID,
     .help = "Drag of the area across the way: half the usual drag coefficient."},
    {"slender", FIELD_NUMBER, AT(drag_data, slender), NOT_NEGATIVE, .standard = "0.25", .only = DRAG_ELLIPSOID,
     .help = "Drag of the rest of the greatest area, and of turning."},
    {"angular", FIELD_NUMBER, AT(drag_data, angular), NOT_NEGATIVE, .standard = "1.5", .only = DRAG_ELLIPSOID,
     .help = "Drag of turning across the surface."},
    {"kutta", FIELD_NUMBER, AT(drag_data, kutta), WITHIN(-1e3, 1e3), .standard = "1", .only = DRAG_ELLIPSOID,
     .help = "Lift across the way, of a body that moves aslant."},
    {"magnus", FIELD_NUMBER, AT(drag_data, magnus), WITHIN(-1e3, 1e3), .standard = "1", .only = DRAG_ELLIPSOID,
     .help = "Lift of a body that spins."},
};
const table table_drag = {"drag",
                          "Resistance of a body in the `fluid` of the world.",
                          sizeof(drag_data),
                          drag_fields,
                          .count = COUNT(drag_fields),
                          .type_key = "type"};
