/* The panels of a factor by blocks, shared among threads: no bit of it depends on their number. */
#ifndef LINALG_BLOCKS_SCHEDULE_H
#define LINALG_BLOCKS_SCHEDULE_H

#include "base/threads.h"
#include "linalg/blocks.h"

/* Subtrees of the elimination tree, each for one thread, and the panels above them. */
typedef struct blocks_schedule {
    int subtrees, tops;
    int *first, *last; /* [subtrees] panels of one, both included */
    int *top;          /* [tops] rising */
    double *work;      /* [panels] of a panel by itself: multiplications, roughly */
} blocks_schedule;

/* How a panel is factored; both return false to end. */
typedef struct blocks_panel_method {
    void *self;
    bool (*factor)(void *self, int worker, int panel);
    bool (*factor_together)(void *self, sim_threads *threads, int panel);
} blocks_panel_method;

/* Arrays in `kept`; `scratch` is released.  SIM_NO_RESOURCE without memory. */
sim_status blocks_schedule_make(blocks_schedule *s, const spd_blocks *b, int threads, sim_arena *kept,
                                sim_arena *scratch);
/* Factors the stale panels.  false: one has no factor. */
bool blocks_schedule_run(const blocks_schedule *s, spd_blocks *b, sim_threads *threads,
                         const blocks_panel_method *method);

#endif
