/* The contact problem of one step, as a file. */
#ifndef APP_RUN_DUMP_H
#define APP_RUN_DUMP_H

#include "app/run/run.h"

/* Of the step that the world is about to take. */
sim_status dump_problem(const run_context *run, sim_error *error);

#endif
