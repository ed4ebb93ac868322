/* The signed distance of two convex solids by brute force: slow, and sharing nothing with the library but the farthest
 * point of one core along a direction. */
#ifndef SUPPORT_BRUTE_CONVEX_H
#define SUPPORT_BRUTE_CONVEX_H

#include "collide/convex/convex.h"

/* h(u) of the difference A - B of the cores. */
double difference_support(const convex *a, const convex *b, const pose *X, v3 u);

/* Polytopes (box, hull, triangle, segment, point): every face normal and every cross product of two edges where they
 * overlap; every two edges, and every corner with every face, where they are apart. */
double brute_polytopes(const convex *a, const convex *b, const pose *X);
/* Any: directions spread over the sphere, the best of them refined on ever finer grids.  An upper bound of the depth
 * and a lower bound of the distance, to about 1e-9 of the size. */
double brute_any(const convex *a, const convex *b, const pose *X, int directions);

#endif
