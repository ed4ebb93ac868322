/* Directions that follow the answer: rounds of pyramids that end in the round cone's (direction_update.c). */
#ifndef SOLVER_PYRAMID_DIRECTION_UPDATE_H
#define SOLVER_PYRAMID_DIRECTION_UPDATE_H

#include "solver/pyramid/polyhedral.h"

/* Every contact's first direction where the answer x has it, x turned into the new directions; y: [n] of work.
 * `bent`: contacts that slide are bent. */
void turning_turn(polyhedral *p, int bent, double *x, double *y);

#endif
