/* Mass properties of a field without a surface of triangles. */
#ifndef GEOMETRY_FIELD_FIELD_MASS_H
#define GEOMETRY_FIELD_FIELD_MASS_H

#include "geometry/field/field.h"

/* Of the solid within [low, high], at density 1; parts down to about `edge` are told apart.  Takes its steps from `*room`:
 * false where they are too few. */
bool field_mass(const sim_field *field, v3 low, v3 high, double edge, int64_t *room, sim_inertia *solid);

#endif
