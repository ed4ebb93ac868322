/* The least shift of positions under bounds on rows of a problem. */
#ifndef CONTACT_ISLAND_LEAST_SHIFT_H
#define CONTACT_ISLAND_LEAST_SHIFT_H

#include "base/arena.h"
#include <sim/solver.h>

/* A bound J c >= least of one row, m/s; or J c = least. */
typedef struct shift_bound {
    int constraint, row; /* row: within the constraint */
    double least;
    bool equal;
} shift_bound;

/* c = A^-1 J' pi of least c' A c under the bounds, into shift[nv]; `left`: the most by which a bound does not hold. */
sim_status least_shift(const sim_problem *problem, const shift_bound *bound, int count, sim_arena *scratch,
                       double *shift, double *left);

#endif
