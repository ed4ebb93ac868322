/* Reasons of an outcome: their texts, and the usual reason where a solver has set none. */
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

int stop_listener_call(void *listener) {
    stop_listener *l = listener;
    l->stopped = l->stopped || l->stop(l->context);
    return l->stopped;
}

sim_reason outcome_reason(const sim_solution *out, bool stopped) {
    static const sim_reason usual[SIM_OUTCOMES] = {
        [SIM_AT_LIMIT] = SIM_REASON_ITERATIONS,
        [SIM_STALLED] = SIM_REASON_STANDSTILL,
        [SIM_BROKEN_DOWN] = SIM_REASON_SINGULAR,
        [SIM_REFUTED] = SIM_REASON_REFUTED,
    };
    if (out->outcome == SIM_SOLVED || out->outcome == SIM_AT_ROUNDING) {
        return SIM_REASON_NONE;
    }
    if (stopped && out->reason != SIM_REASON_NONFINITE) {
        return SIM_REASON_TIME;
    }
    return out->reason ? out->reason : usual[out->outcome];
}
