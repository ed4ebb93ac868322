/* Many contact points of one pair, made few. */
#ifndef COLLIDE_MANIFOLD_CLUSTER_H
#define COLLIDE_MANIFOLD_CLUSTER_H

#include "collide/contact/pair.h"

/* The maximum number of contacts of a pair of surfaces (Lee et al. 2024, section VII-A). */
enum { CLUSTER_MAX_POINTS = 120 };

/* Of the points from `first` on: those within `near` of each other that face the same way become one, the deepest.
 * They stand in the order of their features then, no two with the same. */
void cluster_join(const pair *p, manifold *out, int first, double near);

/* Of joined points: those that lie in one plane (to within `near`) and face the same way are a flat contact. The
 * corners of its convex hull carry all: at most 8 of them stay, and the deepest.  Points along a ring stay. */
void flat_points(const pair *p, manifold *out, int first, double near);

/* Of the points from `first` on: joined as above.  If more than `most` are left, the deepest stays, and points spread
 * as widely as possible, each the deepest of those nearest to it.  Of equal choices those of the step before stay.  The
 * result does not depend on the order of the input, and is in the order of features. */
void cluster_points(const pair *p, manifold *out, int first, int most, double near);

#endif
