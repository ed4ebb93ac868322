/* Outer iteration over directions: pyramids that follow the slip, towards the solution of the round cone
 * (direction_update.c). */
#ifndef SOLVER_PYRAMID_DIRECTION_UPDATE_H
#define SOLVER_PYRAMID_DIRECTION_UPDATE_H

#include "solver/pyramid/polyhedral.h"

/* First directions <- those of the solution x; x is expressed in the new directions.  y: [n] of work.  `compliant`:
 * sliding contacts get a compliance across their slip. */
void directions_update(polyhedral *p, int compliant, double *x, double *y);

#endif
