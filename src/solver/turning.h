/* Directions that follow the answer: rounds of pyramids that end in the round cone's (turning.c). */
#ifndef SOLVER_TURNING_H
#define SOLVER_TURNING_H

#include "solver/polyhedral.h"

/* Every contact's first direction where the answer x has it, x turned into the new directions; y: [n] of work.
 * `bent`: contacts that slide are bent. */
void turning_turn(polyhedral *p, int bent, double *x, double *y);

#endif
