/* Shapes of bodies, their surfaces and materials. */
#ifndef SIM_SHAPE_H
#define SIM_SHAPE_H

#include <sim/base.h>
#include <sim/geometry.h>
#include <sim/math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shapes. `size`: sphere r; box full edges x y z; capsule r, length of the straight part (axis z); cylinder r, length
 * (axis z); ellipsoid semi-axes.  A half-space (solid below its local z = 0) has none; nor have the others: their
 * `geometry` says it all (convex: a hull; mesh; height field: heights; sdf: a field). */
typedef enum sim_shape_type {
    SIM_SPHERE,
    SIM_BOX,
    SIM_CAPSULE,
    SIM_CYLINDER,
    SIM_ELLIPSOID,
    SIM_HALF_SPACE,
    SIM_CONVEX,
    SIM_MESH,
    SIM_HEIGHT_FIELD,
    SIM_SDF,
    SIM_SHAPE_TYPES,
} sim_shape_type;

SIM_API const char *sim_shape_name(sim_shape_type type);
/* The kind of geometry that a type of shape needs; SIM_GEOMETRY_TYPES for none. */
SIM_API sim_geometry_type sim_shape_geometry(sim_shape_type type);

typedef struct sim_shape {
    const char *name; /* may be NULL */
    int body;
    sim_shape_type type;
    double size[3];
    const sim_geometry *geometry; /* result of sim_builder_add_geometry; NULL for types that need none */
    sim_pose pose;                /* in the body frame */
    int material;
    float color[4];       /* red, green, blue, opacity, 0 .. 1; red negative: none was given, and pictures choose one */
    uint32_t group, mask; /* two shapes touch if each one's mask has a bit of the other's group */
    bool across_joint;    /* it touches others that say so of the body that carries its own, or that its own carries */
    bool hidden;          /* pictures leave it out */
    /* m/s over the body, in its axes: of a conveyor's belt.  Its part along the contact plane counts */
    sim_v3 surface_velocity;
    sim_v3 surface_spin; /* rad/s: its angular velocity about the origin of the shape, in the body's axes */
    sim_v3
        friction_direction; /* in its own frame, of any length: that of the material's `friction`; zero: its x axis */
    /* A soft solid: its tetrahedra (sim_shape_pressure), with the modulus of its material, Pa.  NULL: it is rigid but
     * for the stiffness of its material. */
    const sim_geometry *pressure;
    double modulus;
    const sim_geometry *facets; /* triangles by which a rigid solid meets soft ones (sim_shape_facets); or NULL */
} sim_shape;

/* The pressure field of a closed solid, and the surface by which rigid ones meet soft ones.  Edges are of about `edge`
 * at most, m (0: a third of the solid's radius, less where a solid that is not convex needs it).  The builder makes the
 * facets where a model needs them. */
SIM_API sim_geometry *sim_shape_pressure(const sim_shape *shape, double edge, sim_error *error);
SIM_API sim_geometry *sim_shape_facets(const sim_shape *shape, double edge, sim_error *error);

/* Mass properties of the shape as a solid of constant density, in its own frame.  Surfaces without a volume
 * (half-space, height field, open mesh) have mass 0. */
SIM_API sim_inertia sim_shape_inertia(const sim_shape *shape, double density);

/* Two bodies whose shapes never touch; first < second. */
typedef struct sim_exclusion {
    int first, second;
} sim_exclusion;

/* Surface of a shape.  Of two materials together, unless a pair says otherwise:
 *   friction     sqrt(mu1 mu2)
 *   stiffness    1 / (1/k1 + 1/k2): springs in series
 *   dissipation  (tau1/k1 + tau2/k2) / (1/k1 + 1/k2): the softer one's counts more; of two rigid ones the greater
 *                (with a modulus: by moduli in place of stiffnesses)
 *   restitution, torsion, rolling, adhesion   the greater
 *
 * Friction that depends on direction has the ellipsoid of semi-axes (friction, friction_across, friction_across) about
 * the `friction_direction` of the shape.  A contact has its section with the contact plane.  Of two sections the axes
 * are those of the one further from a circle. */
typedef struct sim_material {
    const char *name;
    double friction;        /* Coulomb coefficient, that along the shape's friction_direction */
    double friction_across; /* across it; 0: the same */
    double stiffness;       /* N/m; infinity is rigid */
    double modulus;         /* Pa, of soft solids (sim_shape.pressure): pressure at their medial set; else 0 */
    double dissipation;     /* s */
    double restitution;
    double torsion;        /* m: moment about the normal over normal force */
    double rolling;        /* m: moment about axes in the contact plane over normal force */
    double adhesion;       /* N: pull at every contact point, up to a gap of `adhesion_range` */
    double adhesion_range; /* m */
} sim_material;

/* Contact parameters of two materials, in place of those combined from both. */
typedef struct sim_material_pair {
    int first, second;
    double friction, stiffness, dissipation, restitution; /* NAN: combined from both */
    double torsion, rolling, adhesion, adhesion_range;    /* likewise */
    bool directed; /* of two materials together: does friction depend on direction? */
} sim_material_pair;

#ifdef __cplusplus
}
#endif
#endif
