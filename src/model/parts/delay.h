/* Delays in whole steps. */
#ifndef MODEL_DELAY_H
#define MODEL_DELAY_H

#include <math.h>
#include <string.h>

/* Most steps of a delay. */
enum { MOST_DELAY_STEPS = 1 << 24 };

static const double WHOLE_STEP = 1e-9; /* of a step: a delay that is longer than whole steps by less is as long */

/* A delay > 0 in steps, rounded up: 1 at least. */
static inline double delay_in_steps(double delay, double step) { return fmax(1, ceil(delay / step - WHOLE_STEP)); }

/* Moves `count` numbers a place to make room for those of the present, `width` a step, which go first. */
static inline void delay_shift(double *to, const double *from, int count, int width) {
    memmove(to + width, from, (size_t)(count - width) * sizeof *to);
}

#endif
