/* Processes that run a sweep side by side. */
#ifndef APP_SWEEP_WORKERS_H
#define APP_SWEEP_WORKERS_H

#include <sim/sim.h>

typedef struct sweep_work {
    const sim_sweep *sweep;
    sim_sweep_rows *rows;
    int64_t part, parts; /* runs whose remainder by `parts` is `part` */
    int64_t wanted;      /* runs of this part, and those of them that are done */
    int64_t done;
    int jobs;                    /* processes */
    void (*tell)(void *context); /* after every row, and about ten times a second */
    void *context;
} sweep_work;

/* Counts the runs that are wanted and done. */
void workers_count(sweep_work *work);
/* Until all are done, or Ctrl-C (`*interrupted`). */
sim_status workers_run(sweep_work *work, bool *interrupted, sim_error *error);

#endif
