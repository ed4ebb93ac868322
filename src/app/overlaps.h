/* Does anything overlap where a run starts? */
#ifndef APP_OVERLAPS_H
#define APP_OVERLAPS_H

#include "app/run.h"

/* Says so on standard error, pair by pair. */
sim_status warn_of_overlaps(const sim_run *run, sim_error *error);

#endif
