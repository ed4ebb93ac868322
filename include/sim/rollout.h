/* Rollouts: many worlds of one model through time, side by side on threads.
 *
 * A run begins at a state of its own, takes inputs of the actuators step by step, and leaves its path.  It has the bits
 * of a world that is stepped alone, whatever the number of threads and of runs. */
#ifndef SIM_ROLLOUT_H
#define SIM_ROLLOUT_H

#include <sim/base.h>
#include <sim/model.h>
#include <sim/world.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The end of a run. */
typedef struct sim_rollout_end {
    int64_t steps; /* that it took; fewer than asked for: it failed, or was stopped */
    sim_error why; /* a failure: SIM_FAILED as sim_world_step has it; else SIM_OK */
} sim_rollout_end;

/* Arrays hold the numbers of run 0, then those of run 1, ...; NULL: not given, or not wanted. */
typedef struct sim_rollout {
    int64_t runs, steps;

    /* where a run begins: at a state, or at the model's initial one with these coordinates and velocities in it */
    const sim_state *const *state; /* [runs] */
    const double *q, *v;           /* [runs][nq], [runs][nv] */

    /* an input of all actuators, as sim_world_inputs; NAN: by the model's track */
    sim_input input;
    const double *control; /* [runs][ceil(steps / hold)][nactuator] */
    int64_t hold;          /* steps for which a control stands, at least 1 */

    /* the path: after `every` steps (at least 1), after twice as many, ...: steps / every records, rounded down.
     * Records after a failure are NAN */
    int64_t every;
    double *q_path;       /* [runs][records][nq] */
    double *v_path;       /* [runs][records][nv] */
    double *sensor_path;  /* [runs][records][nsensor_value] */
    sim_rollout_end *end; /* [runs] */

    /* asked before every step, by any thread and by several at once; once true it must stay so.  NULL: never */
    bool (*stop)(void *context);
    void *context;
} sim_rollout;

/* 0 runs of 0 steps; hold and every 1. */
SIM_API sim_rollout sim_rollout_default(void);

/* Runs them all on up to `threads` threads, one of them the caller's.  `options` are those of each world, of one thread.
 * A run that fails is no failure of the rollout, but a state that is refused is: SIM_BAD_INPUT, for the first run that
 * has one. */
SIM_API sim_status sim_rollout_run(const sim_model *model, const sim_options *options, int threads,
                                   const sim_rollout *rollout, sim_error *error);

#ifdef __cplusplus
}
#endif
#endif
