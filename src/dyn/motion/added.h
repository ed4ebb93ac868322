/* Symmetric operators added to the inertias of bodies. */
#ifndef DYN_MOTION_ADDED_H
#define DYN_MOTION_ADDED_H

#include "math/spatial.h"
#include <sim/dynamics.h>

static inline force added_times(const sim_articulated *E, motion u) {
    return (force){v3_add(sym3_times(E->A, u.ang), m3_times(E->B, u.lin)),
                   v3_add(m3_transposed_times(E->B, u.ang), sym3_times(E->C, u.lin))};
}

/* tau += J' E J a, E [nbody] at the body origins.  After sim_kinematics. */
void added_mass_times(sim_derived *d, sim_range range, const sim_articulated *E, const double *a, double *tau);

#endif
