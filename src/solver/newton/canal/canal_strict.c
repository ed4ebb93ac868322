/* Strict inner problem of CANAL: an outer iteration without the cascade of the normal shift.
 *
 *     r(v) = A (v - v*) - J' gamma(v) = 0,     gamma by the strict law with R' = R + e, target' = target + e lambda
 *
 * The strict law needs no shift of the normal velocity.  But r is neither a gradient nor monotone.  Newton's method
 * descends the merit function
 *
 *     |D r|^2 / 2,   D = diag(A)^-1/2   (an energy, whatever the units),    slope H' D r,   H = d (D r) / d (D^-1 v),
 *
 * which has local minima that are no roots, and kinks where contacts open or begin to slide.  There no small step
 * helps: v is stuck, and the outer iteration has failed.  State, residual, tolerance and counters are those of the
 * cascaded problem.
 *
 * Reference: Lee et al. 2024, eq. 19. */
#include "solver/newton/canal/canal_strict.h"
#include "solver/core/call.h"
#include "solver/core/cone_strict.h"

#include <math.h>

bool strict_begin(strict_newton *s, primal *at, strict_method method, sim_arena *scratch) {
    s->at = at;
    s->advance = method == STRICT_DOGLEG ? strict_advance_dogleg : strict_advance_semismooth;
    if (!jacobian_make(&s->J, at->problem, at->hessian, at->scale, scratch)) {
        return false;
    }
    double **all[] = {&s->r, &s->slope, &s->newton, &s->step, &s->image};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = ARENA_NEW(scratch, double, s->J.n);
        if (!*all[k]) {
            return false;
        }
    }
    s->from = ARENA_NEW(scratch, double, at->problem->nv);
    return s->from != NULL;
}

static void record_strict(strict_newton *s) {
    sim_history *h = s->at->out->history;
    if (h && h->count < h->room) {
        h->residual[h->count] = s->residual;
        h->cost[h->count] = s->merit;
        h->count++;
    }
}

static void finish_strict(strict_newton *s, sim_outcome outcome) {
    if (!s->at->fresh) {
        primal_eval_at(s->at);
    }
    s->at->out->outcome = outcome;
    s->at->out->residual = s->residual;
}

void strict_minimise(strict_newton *s) {
    /* start */
    primal *p = s->at;
    sim_solution *out = p->out;
    double before = HUGE_VAL;
    p->project = strict_project;
    out->reason = SIM_REASON_NONE;
    strict_start(s);
    s->radius = 0;
    for (;;) {
        record_strict(s);
        /* outcomes */
        if (!isfinite(s->merit) || !isfinite(s->residual)) {
            out->reason = SIM_REASON_NONFINITE;
            finish_strict(s, SIM_BROKEN_DOWN);
            return;
        }
        if (s->residual <= p->options.tolerance) {
            finish_strict(s, SIM_SOLVED);
            return;
        }
        if (out->iterations >= p->options.max_iterations || solution_stopped(out)) {
            finish_strict(s, SIM_AT_LIMIT);
            return;
        }
        /* stalled at the level of rounding, or no step found */
        bool stalled = s->residual > 0.5 * before;
        before = s->residual;
        if ((stalled && s->residual <= s->noise) || !s->advance(s)) {
            finish_strict(s, s->residual <= s->noise ? SIM_AT_ROUNDING : SIM_AT_LIMIT);
            return;
        }
    }
}
