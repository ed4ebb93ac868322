/* Many contact points of one pair, made few. */
#ifndef COLLIDE_CLUSTER_H
#define COLLIDE_CLUSTER_H

#include "collide/pair.h"

/* What a pair of surfaces may give at most (Lee et al. 2024, section VII-A). */
enum { CLUSTER_MOST = 120 };

/* Of the points from `first` on: those within `near` of each other that face the same way become one, the deepest. If
 * more than `most` are left, the deepest stays, and points spread as widely as they can be, each the deepest of those
 * nearest to it; where choices are as good, what was kept a step ago.  What stays does not depend on the order in which
 * the points came, and they stand in the order of their features. */
void cluster_points(const pair *p, manifold *out, int first, int most, double near);

#endif
