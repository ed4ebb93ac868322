/* Rates of splines at their keys: src/model/track/spline.c. */
#ifndef MODEL_SPLINE_H
#define MODEL_SPLINE_H

#include <sim/model.h>

/* Into `rates`, keys x width; `work` has room for `keys`. */
void spline_rates(const sim_track *track, double *rates, double *work);

#endif
