/* Reasons of an outcome: their texts, and the usual reason where a solver has set none. */
#include "solver/core/outcome.h"

static const struct {
    const char *name, *text;
} words[SIM_REASONS] = {
    [SIM_REASON_NONE] = {"none", "the solver did not give up"},
    [SIM_REASON_ITERATIONS] = {"out of iterations", "the limit of iterations is reached"},
    [SIM_REASON_TIME] = {"out of time", "the limit of time is reached"},
    [SIM_REASON_STANDSTILL] = {"standstill", "the error no longer falls"},
    [SIM_REASON_MINIMUM] = {"local minimum", "the cost has a local minimum here that is no solution"},
    [SIM_REASON_RAY] = {"ray", "the path of pivots ends on a ray"},
    [SIM_REASON_SINGULAR] = {"singular system", "a matrix is singular to rounding"},
    [SIM_REASON_NONFINITE] = {"not finite", "a number is not finite"},
    [SIM_REASON_UNFIT] = {"unfit law",
                          "the compliance of friction differs between the tangents, which the law does not allow"},
    [SIM_REASON_ENERGY] = {"creates energy", "the solution creates energy and is rejected"},
    [SIM_REASON_REFUTED] = {"refuted", "the certificate refutes the claim that this is a solution"},
    [SIM_REASON_BUDGET] = {"over budget", "the iterations or the time that the step may take are used up"},
    [SIM_REASON_WORK] = {"too much work", "the limit of work (most_work) is reached"},
};

const char *sim_reason_name(sim_reason reason) { return words[reason].name; }
const char *sim_reason_text(sim_reason reason) { return words[reason].text; }

bool stop_listener_call(void *listener) {
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
