/* Why a solver gave up. */
#ifndef SOLVER_CORE_OUTCOME_H
#define SOLVER_CORE_OUTCOME_H

#include <sim/solver.h>

/* What stands in between a solver and who waits for it, to know whether it was told to stop. */
typedef struct reason_listener {
    int (*stop)(void *context);
    void *context;
    int told; /* once told, always told */
} reason_listener;

int reason_listen(void *listener);

/* What a solver has left unsaid of why it gave up follows from the outcome. */
sim_reason reason_of(const sim_solution *out, int told_to_stop);

#endif
