/* The contact of two primitives as a function of the motions of their bodies. */
#ifndef WORLD_DERIVATIVE_TOUCH_H
#define WORLD_DERIVATIVE_TOUCH_H

#include "math/spatial.h"
#include <sim/collide.h>
#include <sim/dynamics.h>

#include <stdbool.h>

typedef struct touch {
    int balls;        /* 2: between two; 1: a ball and a half-space; 0: a corner and a half-space */
    int solid;        /* side of the ball or corner, where there is a half-space */
    v3 at[2];         /* of each side: centre of the ball, or the corner, or a point of the plane */
    v3 origin[2];     /* of each body */
    double radius[2]; /* of balls */
    v3 n;             /* from B to A */
    double gap;
    bool spread; /* has each side the point of its own surface? */
    double part; /* of the gap, from the surface of the solid (of B between balls) to the point at which it acts */
} touch;

typedef struct touch_rate {
    v3 x, n, apart;
    double gap;
} touch_rate;

/* NULL, or the reason why a contact is none of these.  d: kinematics where it was found. */
const char *touch_make(const sim_derived *d, const sim_contact *c, touch *out);
/* Along velocities of both bodies at their origins. */
touch_rate touch_along(const touch *t, const sim_motion velocity[2]);

#endif
