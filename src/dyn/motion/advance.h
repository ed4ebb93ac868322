/* Coordinates moved along a velocity: exponential map or Cayley map. */
#ifndef DYN_MOTION_ADVANCE_H
#define DYN_MOTION_ADVANCE_H

#include <sim/dynamics.h>

typedef enum rotation_map {
    ROTATION_EXP,         /* by the angle h |w|: exact for a steady spin */
    ROTATION_CAYLEY,      /* quaternion (1, h w/2), scaled: with implicit midpoint, momentum and energy of a free body
                             (origin at its centre of mass) hold exactly (Austin, Krishnaprasad, Wang 1993) */
    ROTATION_CAYLEY_HALF, /* half the rotation that ROTATION_CAYLEY gives for the same h */
} rotation_map;

void advance_by(const sim_model *model, sim_range range, rotation_map map, const double *q, const double *v, double h,
                double *out);

#endif
