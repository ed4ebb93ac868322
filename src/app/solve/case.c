/* One problem of `sim solve`: its outcome in words, and the path of its answer. */
#include "app/solve/solve.h"

#include <stdio.h>
#include <string.h>

const char *solve_outcome(const solve_case *c) {
    return c->refused                     ? "refused"
           : c->trouble.status            ? "failed"
           : c->stored                    ? "stored"
           : c->reason == SIM_REASON_TIME ? "out of time"
                                          : sim_outcome_name(c->outcome);
}

const char *solve_verdict(const solve_case *c) {
    return c->reason && c->reason != SIM_REASON_TIME ? sim_reason_name(c->reason) : solve_outcome(c);
}

void solve_answer_path(const solve_run *run, const char *file, char *path, size_t size) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *out = run->request->out;
    snprintf(path, size, "%s%s%s", out, run->out_is_folder ? "/" : "", run->out_is_folder ? base : "");
}
