/* Why did a solver give up?  One list of reasons for all of them: a solver that knows more than its outcome tells says so in
 * `reason`; else it follows from the outcome. */
#include "solver/core/outcome.h"

static const struct {
    const char *name, *text;
} words[SIM_REASONS] = {
    [SIM_REASON_NONE] = {"none", "it did not give up"},
    [SIM_REASON_ITERATIONS] = {"out of iterations", "it had as many iterations as it may"},
    [SIM_REASON_TIME] = {"out of time", "its time was over"},
    [SIM_REASON_STANDSTILL] = {"standstill", "its error no longer falls"},
    [SIM_REASON_MINIMUM] = {"local minimum", "what it makes smaller is least here, and yet this is no answer"},
    [SIM_REASON_RAY] = {"ray", "its path of pivots goes off to infinity"},
    [SIM_REASON_SINGULAR] = {"singular system", "a matrix is singular, or too near to it for rounding"},
    [SIM_REASON_NONFINITE] = {"not finite", "a number on its way is not finite"},
    [SIM_REASON_UNFIT] = {"unfit law",
                          "friction yields along one tangent more than along the other, which its law has no word for"},
    [SIM_REASON_ENERGY] = {"creates energy", "its answer creates energy, and was not taken"},
    [SIM_REASON_REFUTED] = {"refuted", "it said that this is an answer, and the certificate says that it is none"},
    [SIM_REASON_WORK] = {"too much work", "the work that it may take (most_work) is less than an answer takes"},
};

const char *sim_reason_name(sim_reason reason) { return words[reason].name; }
const char *sim_reason_text(sim_reason reason) { return words[reason].text; }

int reason_listen(void *listener) {
    reason_listener *l = listener;
    l->told = l->told || l->stop(l->context);
    return l->told;
}

sim_reason reason_of(const sim_solution *out, int told_to_stop) {
    static const sim_reason usual[SIM_OUTCOMES] = {
        [SIM_AT_LIMIT] = SIM_REASON_ITERATIONS,
        [SIM_STALLED] = SIM_REASON_STANDSTILL,
        [SIM_BROKEN_DOWN] = SIM_REASON_SINGULAR,
        [SIM_REFUTED] = SIM_REASON_REFUTED,
    };
    if (out->outcome == SIM_SOLVED || out->outcome == SIM_AT_ROUNDING) {
        return SIM_REASON_NONE;
    }
    if (told_to_stop && out->reason != SIM_REASON_NONFINITE) {
        return SIM_REASON_TIME;
    }
    return out->reason ? out->reason : usual[out->outcome];
}
