/* CANAL's rounds without the cascade: which v solves the strict problem of a round? (Lee et al. 2024, eq. 19)
 *
 *     r(v) = A (v - v*) - J' gamma(v) = 0,     gamma by the strict law with R' = R + e, target' = target + e lambda
 *
 * The normal is not shifted, for the law is the strict one already.  But r is the gradient of nothing and not monotone: all
 * that Newton's method has to go by is the merit
 *
 *     |D r|^2 / 2,   D = diag(A)^-1/2   (an energy, whatever the units),    slope H' D r,   H = d (D r) / d (D^-1 v),
 *
 * which has minima other than roots, and kinks where contacts open or begin to slide.  From there no small step leads on:
 * v is stuck, and the round has failed.  All else (state, residual, tolerance, counts) is that of the cascaded problem. */
#include "solver/newton/canal_strict.h"
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/core/cone_strict.h"

#include <math.h>
#include <string.h>

int strict_begin(strict_newton *s, primal *at, strict_method method, sim_arena *scratch) {
    s->at = at;
    s->advance = method == STRICT_DOGLEG ? strict_advance_dogleg : strict_advance_semismooth;
    if (!jacobian_make(&s->J, at->problem, at->hessian, at->scale, scratch)) {
        return 0;
    }
    double **all[] = {&s->r, &s->slope, &s->newton, &s->step, &s->image};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = ARENA_NEW(scratch, double, s->J.n);
        if (!*all[k]) {
            return 0;
        }
    }
    s->from = ARENA_NEW(scratch, double, at->problem->nv);
    return s->from != NULL;
}

static void keep_place(strict_newton *s) { memcpy(s->from, s->at->at.v, (size_t)s->at->problem->nv * sizeof *s->from); }

static double merit_here(strict_newton *s, double *r) {
    jacobian_pack(&s->J, s->at->at.gradient, r);
    double merit = 0.5 * dense_dot(s->J.n, r, r);
    return isfinite(merit) ? merit : HUGE_VAL;
}

static void factor(strict_newton *s) {
    sim_solution *out = s->at->out;
    const sim_clock *clock = out->clock;
    double begin = clock ? clock->now(clock->context) : 0, n = s->J.n;
    s->solvable = jacobian_factor(&s->J);
    out->factor_seconds += clock ? clock->now(clock->context) - begin : 0;
    out->factorisations++;
    out->multiplications += n * n * n / 3;
}

int strict_model(strict_newton *s) {
    int n = s->J.n;
    jacobian_set(&s->J, s->at->at.bend);
    factor(s);
    for (int k = 0; k < n; k++) {
        s->newton[k] = -s->r[k];
    }
    if (s->solvable) {
        jacobian_solve(&s->J, s->newton);
        s->solvable = isfinite(dense_dot(n, s->newton, s->newton));
    }
    jacobian_transposed(&s->J, s->r, s->slope);
    jacobian_times(&s->J, s->slope, s->image);
    double steep = dense_dot(n, s->slope, s->slope), bent = dense_dot(n, s->image, s->image);
    s->cauchy = bent > 0 ? steep / bent : 0;
    return s->cauchy > 0 && isfinite(s->cauchy);
}

double strict_try(strict_newton *s, double alpha) {
    primal *p = s->at;
    jacobian_move(&s->J, s->from, alpha, s->step, p->at.v);
    primal_look(p);
    p->out->searches++;
    return merit_here(s, s->image);
}

void strict_accept(strict_newton *s, double merit) {
    s->merit = merit;
    s->residual = s->at->at.residual;
    memcpy(s->r, s->image, (size_t)s->J.n * sizeof *s->r);
    keep_place(s);
}

void strict_back(strict_newton *s) {
    memcpy(s->at->at.v, s->from, (size_t)s->at->problem->nv * sizeof *s->from);
    s->at->fresh = 0;
}

static void record(strict_newton *s) {
    sim_history *h = s->at->out->history;
    if (h && h->count < h->room) {
        h->residual[h->count] = s->residual;
        h->cost[h->count] = s->merit;
        h->count++;
    }
}

static void finish(strict_newton *s, sim_outcome outcome) {
    if (!s->at->fresh) {
        primal_look(s->at);
    }
    s->at->out->outcome = outcome;
    s->at->out->residual = s->residual;
}

void strict_minimise(strict_newton *s) {
    primal *p = s->at;
    sim_solution *out = p->out;
    double before = HUGE_VAL;
    p->project = strict_project;
    out->reason = SIM_REASON_NONE;
    primal_look(p);
    keep_place(s);
    s->merit = merit_here(s, s->r);
    s->residual = p->at.residual;
    s->radius = 0;
    for (;;) {
        record(s);
        if (!isfinite(s->merit) || !isfinite(s->residual)) {
            out->reason = SIM_REASON_NONFINITE;
            finish(s, SIM_BROKEN_DOWN);
            return;
        }
        if (s->residual <= p->options.tolerance) {
            finish(s, SIM_SOLVED);
            return;
        }
        if (out->iterations >= p->options.max_iterations || solution_stopped(out)) {
            finish(s, SIM_AT_LIMIT);
            return;
        }
        int stalled = s->residual > 0.5 * before;
        before = s->residual;
        if ((stalled && s->residual <= s->noise) || !s->advance(s)) {
            finish(s, s->residual <= s->noise ? SIM_AT_ROUNDING : SIM_AT_LIMIT);
            return;
        }
    }
}
