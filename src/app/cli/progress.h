/* A line on the terminal that tells how far a run has come. */
#ifndef APP_CLI_PROGRESS_H
#define APP_CLI_PROGRESS_H

#include "record/run/run_statistics.h"

typedef struct run_progress {
    int shown;       /* is anybody looking? */
    double duration; /* s, simulated */
    double next;     /* on the clock */
    int length;      /* of the line that stands there */
} run_progress;

void progress_start(run_progress *progress, int wanted, double duration);
/* Cheap; draws about ten times a second. */
void progress_step(run_progress *progress, const run_statistics *statistics, const sim_world *world);
void progress_end(run_progress *progress);

#endif
