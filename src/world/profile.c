/* Time of the stages of a step, by the clock of the caller; without a clock nothing is measured. */
#include "world/core/world.h"

const char *sim_time_name(sim_time time) {
    static const char *const name[SIM_TIMES] = {
        [SIM_TIME_FREE] = "free",     [SIM_TIME_COLLIDE] = "collide",     [SIM_TIME_BUILD] = "build",
        [SIM_TIME_SOLVE] = "solve",   [SIM_TIME_INTEGRATE] = "integrate", [SIM_TIME_REGULARISE] = "regularise",
        [SIM_TIME_SOLVER] = "solver", [SIM_TIME_TOUCHDOWN] = "touchdown", [SIM_TIME_JUDGE] = "judge",
        [SIM_TIME_FACTOR] = "factor",
    };
    return (unsigned)time < SIM_TIMES ? name[time] : "unknown";
}

void sim_world_profile(sim_world *w, sim_profile *profile) { w->timer.profile = profile; }

void sim_world_watch(sim_world *w, const sim_watch *watch) { w->watch = watch; }

void profile_start(step_timer *timer) {
    const sim_profile *p = timer->profile;
    timer->since = p ? p->clock.now(p->clock.context) : 0;
}

void profile_lap(step_timer *timer, sim_time stage) {
    sim_profile *p = timer->profile;
    if (p) {
        double now = p->clock.now(p->clock.context);
        p->seconds[stage] += now - timer->since;
        timer->since = now;
    }
}

/* The parts of solving have the same order in both lists. */
_Static_assert((int)SIM_TIME_FACTOR - (int)SIM_TIME_REGULARISE == (int)CONTACT_FACTOR - (int)CONTACT_REGULARISE &&
                   CONTACT_PARTS == CONTACT_FACTOR + 1,
               "parts of solving");

void profile_add_parts(step_timer *timer, const contact_info *info) {
    for (int part = 0; part < CONTACT_PARTS && timer->profile; part++) {
        timer->profile->seconds[SIM_TIME_REGULARISE + part] += info->seconds[part];
    }
}
