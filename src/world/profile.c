/* Time and counts of a step.  The clock is the caller's; without one nothing is read. */
#include "world/world.h"

#include <math.h>

const char *sim_time_name(sim_time time) {
    static const char *const name[SIM_TIMES] = {
        [SIM_TIME_FREE] = "free",     [SIM_TIME_COLLIDE] = "collide",     [SIM_TIME_BUILD] = "build",
        [SIM_TIME_SOLVE] = "solve",   [SIM_TIME_INTEGRATE] = "integrate", [SIM_TIME_REGULARISE] = "regularise",
        [SIM_TIME_SOLVER] = "solver", [SIM_TIME_TOUCHDOWN] = "touchdown", [SIM_TIME_JUDGE] = "judge",
        [SIM_TIME_FACTOR] = "factor",
    };
    return (unsigned)time < SIM_TIMES ? name[time] : "unknown";
}

void sim_world_profile(sim_world *w, sim_profile *profile) { w->profile = profile; }

void sim_world_watch(sim_world *w, const sim_watch *watch) { w->watch = watch; }

void world_spend(sim_world *w, sim_time stage) {
    if (w->profile) {
        double now = w->profile->clock.now(w->profile->clock.context);
        w->profile->seconds[stage] += now - w->since;
        w->since = now;
    }
}

void world_info_add(sim_step_info *sum, const sim_step_info *part) {
    sum->iterations = part->iterations > sum->iterations ? part->iterations : sum->iterations;
    sum->sweeps += part->sweeps;
    sum->nonconverged += part->nonconverged;
    sum->residual = fmax(sum->residual, part->residual);
    sum->saturated += part->saturated;
}
