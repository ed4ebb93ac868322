/* Time limit of a run, and the note before a large step. */
#ifndef APP_CLI_TIME_LIMIT_H
#define APP_CLI_TIME_LIMIT_H

#include <sim/sim.h>
#include <stdatomic.h>

typedef struct run_time_limit {
    sim_watch watch; /* for the world: asked while a step is answered */
    const sim_world *world;
    int quiet;
    double began;           /* s, the present step */
    double end;             /* s, by --time-limit; HUGE_VAL: none */
    _Atomic double give_up; /* s: from then on no step is waited for */
    atomic_flag said;
    atomic_int given_up;
} run_time_limit;

/* From now on `limit` seconds (0: no limit); reading that exceeds them ends the program. */
void time_limit_start(run_time_limit *p, double limit);
/* All is read: the world is asked for steps. */
void time_limit_watch(run_time_limit *p, sim_world *world, int quiet);
void time_limit_begin_step(run_time_limit *p);
/* Is the time over?  Was the step given up? */
bool time_limit_reached(const run_time_limit *p);
bool time_limit_gave_up(run_time_limit *p);

#endif
