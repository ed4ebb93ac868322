/* The contact of one polygon of equal pressure. */
#ifndef COLLIDE_PRESSURE_SOFT_CONTACT_H
#define COLLIDE_PRESSURE_SOFT_CONTACT_H

#include "collide/contact/pair.h"
#include "collide/pressure/polygon.h"

/* Corners of tetrahedron t, at X. */
void soft_corners(const sim_tets *tets, int t, const pose *X, v3 corner[4]);
/* The box of the corners placed at X; of a box placed at X. */
void soft_box_of(const v3 corner[4], const pose *X, v3 *low, v3 *high);
void soft_box_in(const pose *X, v3 low, v3 high, v3 *out_low, v3 *out_high);
/* Edge of the box about the corners, m. */
double soft_size(const v3 corner[4]);

/* Adds the contact of a polygon inside soft solids: `pressure` of A or of B at x is level + slope . x, Pa.  The rigid
 * side has slope 0; n, unit, points from B to A.  Nothing where a field does not rise into its own solid. */
void soft_add_contact(const pair *p, const polygon *patch, v3 n, v3 slope_a, v3 slope_b, double level, v3 slope,
                      double size, uint64_t feature, manifold *out);

#endif
