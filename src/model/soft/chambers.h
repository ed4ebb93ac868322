/* Closed chambers of a soft body. */
#ifndef MODEL_SOFT_CHAMBERS_H
#define MODEL_SOFT_CHAMBERS_H

#include <sim/math.h>
#include <stdbool.h>

/* Puts the faces of chambers last, and counts them; false without memory. */
bool sort_chambers(int nnode, const sim_v3 *node, int nface, int (*face)[3], int *nchamber);

#endif
