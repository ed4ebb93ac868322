/* Contact of soft solids by their pressure fields. */
#ifndef COLLIDE_PRESSURE_PRESSURE_H
#define COLLIDE_PRESSURE_PRESSURE_H

#include "collide/contact/pair.h"

/* One contact for each polygon of the surface of contact: at its centroid, with its stiffness and area. */
pair_function pressure_soft_soft;  /* both have pressure fields */
pair_function pressure_soft_rigid; /* A has one, B has none */

/* Whether a pair has such contacts. */
static inline bool pressure_meets(const sim_shape *a, const sim_shape *b) { return a->pressure || b->pressure; }

#endif
