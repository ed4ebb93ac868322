/* Warnings of overlaps at the start of a run. */
#ifndef APP_RUN_OVERLAPS_H
#define APP_RUN_OVERLAPS_H

#include "app/run/run.h"

/* Says so on standard error, pair by pair. */
sim_status warn_of_overlaps(const run_context *run, sim_error *error);

#endif
