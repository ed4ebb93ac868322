/* How long does the user wait for a run, and what is said meanwhile? */
#ifndef APP_CLI_PATIENCE_H
#define APP_CLI_PATIENCE_H

#include <sim/sim.h>
#include <stdatomic.h>

typedef struct run_patience {
    sim_watch watch; /* for the world: asked while a step is answered */
    const sim_world *world;
    int quiet;
    double began;           /* s, the present step */
    double end;             /* s, by --time-limit; HUGE_VAL: none */
    _Atomic double give_up; /* s: from then on no step is waited for */
    atomic_flag said;
    atomic_int given_up;
} run_patience;

/* From now on `limit` seconds (0: any number); what is read meanwhile ends the program when they are over. */
void patience_start(run_patience *p, double limit);
/* All is read: the world is asked for steps. */
void patience_watch(run_patience *p, sim_world *world, int quiet);
void patience_step(run_patience *p);
/* Is the time over?  Was the step given up? */
int patience_is_over(const run_patience *p);
int patience_gave_up(run_patience *p);

#endif
