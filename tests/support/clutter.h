/* Clutter: columns of balls and boxes that fall into a heap, with or without walls (Castro, Permenter, Han 2021,
 * sec. VI-C), as a row of contact problems. */
#ifndef SUPPORT_CLUTTER_H
#define SUPPORT_CLUTTER_H

#include "support/models.h"
#include <sim/solver.h>

typedef struct clutter clutter;

/* `bodies` of a mixed lot in columns `apart` from each other; `walls` as wide as the columns ask for. */
clutter *clutter_create(int bodies, int columns, int walls, double dt);
void clutter_free(clutter *c);
/* The problem of the next step, with near-rigid R and target; valid until the next call. */
const sim_problem *clutter_problem(clutter *c, sim_regularisation *law);
/* Take the step to these velocities. */
void clutter_step(clutter *c, const double *v);
double clutter_kinetic_energy(const clutter *c);

#endif
