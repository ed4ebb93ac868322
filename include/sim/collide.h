/* Contacts: where shapes touch or are about to.
 *
 * The normal points from B to A, everywhere.  The gap is signed: positive apart, negative inside; moving A by s along
 * the normal adds s to it.  The position is midway between the two surfaces, unless bodies have yet to meet. */
#ifndef SIM_COLLIDE_H
#define SIM_COLLIDE_H

#include <sim/base.h>
#include <sim/math.h>
#include <sim/model.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One point of contact of two shapes. */
typedef struct sim_contact_point {
    sim_v3 position;
    sim_v3 normal;    /* unit, from B to A */
    double gap;       /* m */
    uint64_t feature; /* which features of A (high half) and B (low half) meet: the same from step to step */
    /* For bodies that meet within the step: from the contact point on B to that on A at the start, with the position
     * midway between both.  Else, and if one point is asked for, zero: both bodies share the point. */
    sim_v3 apart;
    /* Of a polygon between pressure fields: N/m, m^2.  Its pressure is stiffness * -gap / area.  Else 0. */
    double stiffness, area;
} sim_contact_point;

typedef struct sim_contact {
    int shape_a, shape_b; /* of the model; shape_a < shape_b */
    int body_a, body_b;
    sim_contact_point at; /* in the world */
    /* Of the two materials together; friction that depends on direction: its greatest possible value.  Adhesion, N: 0
     * beyond its range. */
    double friction, stiffness, dissipation, restitution, torsion, rolling, adhesion;
    sim_v3 moment; /* N m s in the world, on A: impulse of torsion and rolling, filled by the step */
} sim_contact;

/* The contact points of two shapes placed at X_a and X_b in one frame: those with a gap of at most `margin`.  Bodies,
 * groups and materials play no part, nor do the poses within the shapes.  Writes at most `capacity` points and returns
 * their number; -1 without memory, for a pose that is not finite, or for a missing geometry. */
SIM_API int sim_collide_shapes(const sim_shape *a, const sim_pose *X_a, const sim_shape *b, const sim_pose *X_b,
                               double margin, sim_contact_point *point, int capacity);

/* The first point of the ray origin + t direction (a unit vector), 0 <= t <= max, on the surface of a shape placed at
 * X, from outside or inside.  Returns t, m; INFINITY where there is none.  The same for all shapes of a model with
 * contacts, except those of one body (-1: of none), at the poses of the bodies.  Then `*shape` is the one that is hit. */
SIM_API double sim_ray_shape(const sim_shape *shape, const sim_pose *X, sim_v3 origin, sim_v3 direction, double max);
SIM_API double sim_ray_model(const sim_model *model, const sim_pose *pose, int but_body, sim_v3 origin,
                             sim_v3 direction, double max, int *shape);

#ifdef __cplusplus
}
#endif
#endif
