/* Contact of a signed distance field (B) with every type of shape (A), and of a surface of triangles with one. */
#ifndef COLLIDE_FIELD_PAIRS_H
#define COLLIDE_FIELD_PAIRS_H

#include "collide/contact/pair.h"

pair_function sphere_field, capsule_field, ellipsoid_field, sharp_field, half_space_field, mesh_field, heights_field,
    field_field;

/* Two fields, at most `most` points. */
void field_field_most(const pair *p, manifold *out, int most);

#endif
