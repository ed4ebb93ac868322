/* Contact of a signed distance field (B) with every type of shape (A), and of a surface of triangles with one. */
#ifndef COLLIDE_FIELD_PAIRS_H
#define COLLIDE_FIELD_PAIRS_H

#include "collide/contact/pair.h"

pair_function sphere_field, capsule_field, ellipsoid_field, sharp_field, half_space_field, mesh_field, heights_field,
    field_field;

/* A lower bound of the distance of a convex A from B, no better than `enough` nor much worse than the distance.
 * Minus infinity: none is known that is above `too_near`. */
double field_apart(const pair *p, double enough, double too_near);

/* Two fields, at most `most` points. */
void field_field_most(const pair *p, manifold *out, int most);

#endif
