/* Reasons for which a solver stopped short of a solution. */
#ifndef SOLVER_CORE_OUTCOME_H
#define SOLVER_CORE_OUTCOME_H

#include <sim/solver.h>
#include <stdbool.h>

/* Wraps the caller's `stop` and remembers whether it stopped the solver. */
typedef struct stop_listener {
    bool (*stop)(void *context);
    void *context;
    bool stopped; /* and stays so */
} stop_listener;

/* sim_solution.stop, with a stop_listener as its context. */
bool stop_listener_call(void *listener);

/* The reason that the solver has set, else the usual one of its outcome. */
sim_reason outcome_reason(const sim_solution *out, bool stopped);

#endif
