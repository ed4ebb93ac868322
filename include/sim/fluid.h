/* The fluid around bodies and their resistance in it. */
#ifndef SIM_FLUID_H
#define SIM_FLUID_H

#include <sim/base.h>
#include <sim/math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fluid that bodies move in: it resists, and does not lift by its weight. */
typedef struct sim_fluid {
    double density;   /* kg/m^3 */
    double viscosity; /* Pa s */
    sim_v3 wind;      /* m/s: its velocity in the world */
} sim_fluid;

/* Resistance of a body in the fluid: that of a box, or of an ellipsoid with lift (src/model/parts/drag.c).  A body may
 * have several.  Without any it has that of the box of its mass and inertia; SIM_DRAG_NONE in place of it: none. */
typedef enum sim_drag_type { SIM_DRAG_NONE, SIM_DRAG_BOX, SIM_DRAG_ELLIPSOID, SIM_DRAG_TYPES } sim_drag_type;

SIM_API const char *sim_drag_name(sim_drag_type type);

typedef struct sim_drag {
    int body;
    sim_drag_type type;
    sim_pose pose;                                 /* of its centre and axes in the body frame */
    double size[3];                                /* m: full edges of a box, semi-axes of an ellipsoid */
    double blunt, slender, angular, kutta, magnus; /* coefficients of an ellipsoid */
    double added_mass[3], added_inertia[3];        /* of an ellipsoid over the density, m^3, m^5: sim_drag_complete */
} sim_drag;

/* Of no type, at the body's origin, with the coefficients 0.5, 0.25, 1.5, 1, 1. */
SIM_API sim_drag sim_drag_default(void);
/* The box with this mass and inertia. */
SIM_API sim_drag sim_drag_of_inertia(const sim_inertia *inertia);
/* Finds the added mass. */
SIM_API void sim_drag_complete(sim_drag *drag);
/* Moment and force at its centre, for its velocity over the fluid there, all in its axes; how fast each component falls
 * with that of the velocity, without lift (NULL: not wanted). */
SIM_API sim_force sim_drag_force(const sim_drag *drag, const sim_fluid *fluid, sim_motion velocity, double slope[6]);

#ifdef __cplusplus
}
#endif
#endif
