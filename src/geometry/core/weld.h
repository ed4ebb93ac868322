/* Welding of points that coincide. */
#ifndef GEOMETRY_CORE_WELD_H
#define GEOMETRY_CORE_WELD_H

#include "math/v3.h"
#include <sim/base.h>

/* For each point the first of those kept that is no farther than `tolerance` from it (0: equal coordinates) in `to`;
 * to[i] == i for points that are kept.  Fails without memory. */
sim_status weld_points(const v3 *point, int count, double tolerance, int *to);

#endif
