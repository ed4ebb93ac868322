/* Mass and inertia of solid shapes.  Closed forms about the centre of mass, which is the origin of the shape's own
 * frame; geometries carry their own. */
#include "math/angle.h"
#include <sim/model.h>

static const char *const shape_name[] = {"sphere",     "box",    "capsule", "cylinder",     "ellipsoid",
                                         "half_space", "convex", "mesh",    "height_field", "sdf"};
_Static_assert(sizeof shape_name / sizeof *shape_name == SIM_SHAPE_TYPES, "every type has a name");

const char *sim_shape_name(sim_shape_type type) { return (unsigned)type < SIM_SHAPE_TYPES ? shape_name[type] : "?"; }

static sim_inertia diagonal_inertia(double mass, double xx, double yy, double zz) {
    return (sim_inertia){.mass = mass, .moment = {.xx = xx, .yy = yy, .zz = zz}};
}

/* Semi-axes a, b, c: mass times (b^2 + c^2)/5, ... */
static sim_inertia ellipsoid_inertia(double a, double b, double c, double density) {
    double m = density * (4.0 / 3.0) * PI * a * b * c;
    return diagonal_inertia(m, m * (b * b + c * c) / 5, m * (a * a + c * c) / 5, m * (a * a + b * b) / 5);
}

static sim_inertia box_inertia(double x, double y, double z, double density) {
    double m = density * x * y * z;
    return diagonal_inertia(m, m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12);
}

static sim_inertia cylinder_inertia(double r, double length, double density) {
    double m = density * PI * r * r * length;
    double across = m * (3 * r * r + length * length) / 12;
    return diagonal_inertia(m, across, across, m * r * r / 2);
}

/* A cylinder and two half-balls.  A half-ball's centre of mass stands 3r/8 from its flat face, and about that centre
 * its moment across the axis is (83/320) m r^2. */
static sim_inertia capsule_inertia(double r, double length, double density) {
    sim_inertia body = cylinder_inertia(r, length, density);
    double caps = density * (4.0 / 3.0) * PI * r * r * r;
    double arm = length / 2 + 3 * r / 8;
    double across = body.moment.xx + caps * (83.0 / 320 * r * r + arm * arm);
    return diagonal_inertia(body.mass + caps, across, across, body.moment.zz + caps * 2 / 5 * r * r);
}

/* By the type. */
sim_geometry_type sim_shape_geometry(sim_shape_type type) {
    switch (type) {
    case SIM_CONVEX:
        return SIM_GEOMETRY_HULL;
    case SIM_MESH:
        return SIM_GEOMETRY_MESH;
    case SIM_HEIGHT_FIELD:
        return SIM_GEOMETRY_HEIGHTS;
    case SIM_SDF:
        return SIM_GEOMETRY_FIELD;
    case SIM_SPHERE:
    case SIM_BOX:
    case SIM_CAPSULE:
    case SIM_CYLINDER:
    case SIM_ELLIPSOID:
    case SIM_HALF_SPACE:
    case SIM_SHAPE_TYPES:
        break;
    }
    return SIM_GEOMETRY_TYPES;
}

static sim_inertia scale_inertia(const sim_inertia *unit, double density) {
    const sim_sym3 *I = &unit->moment;
    return (sim_inertia){.mass = density * unit->mass,
                         .com = unit->com,
                         .moment = {density * I->xx, density * I->yy, density * I->zz, density * I->xy, density * I->xz,
                                    density * I->yz}};
}

/* By the type. */
sim_inertia sim_shape_inertia(const sim_shape *shape, double density) {
    const double *size = shape->size;
    if (shape->geometry) {
        return scale_inertia(&shape->geometry->solid, density);
    }
    switch (shape->type) {
    case SIM_SPHERE:
        return ellipsoid_inertia(size[0], size[0], size[0], density);
    case SIM_BOX:
        return box_inertia(size[0], size[1], size[2], density);
    case SIM_CAPSULE:
        return capsule_inertia(size[0], size[1], density);
    case SIM_CYLINDER:
        return cylinder_inertia(size[0], size[1], density);
    case SIM_ELLIPSOID:
        return ellipsoid_inertia(size[0], size[1], size[2], density);
    case SIM_HALF_SPACE:
    case SIM_CONVEX:
    case SIM_MESH:
    case SIM_HEIGHT_FIELD:
    case SIM_SDF:
    case SIM_SHAPE_TYPES:
        break;
    }
    return (sim_inertia){0};
}
