/* What to do in a minimum that is no answer?
 *
 * l = |r|^2 / 2 has such minima: on an edge, with J' r = 0 across and along it, but J singular, so that r is not 0.  Todorov
 * (2010, section III) calls them very rare and would begin anew; in piles with mu >= 1 he meets them in each third step or so.
 * They are no fault of how steps are taken: l measured with other weights has them as well.  What leads out of them:
 *
 *   sweeps     of Gauss and Seidel, from the guess or from nothing, not from the minimum; more of them the second and third time;
 *   softening  a W that is not singular, softer at first, then less so, each time from where the last one led (hybrid_soften).
 *
 * Where l is not halved in some iterations the next way is taken at once; after the last way there is no hurry.  Iterations of all
 * descents are counted as such, and share one limit; restarts are counted as failures, sweeps as searches. */
#include "solver/incp.h"
#include "solver/extrapolate.h"

#include <math.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define TRACE(...) do { if (getenv("TRACE")) { fprintf(stderr, "%.3f ", (double)clock()/CLOCKS_PER_SEC); fprintf(stderr, __VA_ARGS__); } } while (0)

enum { PATIENCE = 10 };

/* Sweeps of each way; 0: softening. */
static int ways[] = {100, 2000, 0, 10000};
enum { WAYS = sizeof ways / sizeof *ways };

extern const solver_type solver_pgs;

static sim_outcome start_over(incp *m, int patience) {
    for (int i = 0; i < m->h.dual->problem->nconstraint; i++) {
        m->edge[i] = EDGE_NONE;
    }
    incp_stand(m, m->other);
    return incp_descend(m, patience);
}

/* other <- where sweeps come to; 0 without memory. */
static int sweep_from(incp *m, int most, const double *start) {
    solver_call call = *m->call;
    sim_problem cold = *m->call->problem;
    double option[16];
    sim_solution out = *m->call->out;
    for (int k = 0; k < solver_pgs.card.noptions; k++) {
        const sim_solver_option *o = &solver_pgs.card.option[k];
        option[k] = strcmp(o->name, "max_iterations") == 0 ? most : o->standard;
    }
    cold.impulse_guess = start;
    call.problem = &cold;
    call.option = option;
    call.out = &out;
    out.impulse = m->slope;
    out.history = NULL;
    out.iterations = 0;
    if (!solver_pgs.solve(&call)) {
        return 0;
    }
    m->call->out->searches += out.iterations;
    for (int k = 0; k < m->h.n; k++) {
        m->slope[k] = m->h.dual->given[k] ? 0 : m->slope[k] / m->h.scale[k];
    }
    hybrid_from_impulse(&m->h, m->slope, m->other);
    return 1;
}
static int sweep(incp *m, int most) {
    return sweep_from(m, most, (int)m->call->option[INCP_START] ? NULL : m->call->problem->impulse_guess);
}

static double env(const char *n, double d) { return getenv(n) ? atof(getenv(n)) : d; }

static sim_outcome soften(incp *m) {
    double soft = env("A0", 1e-2), least = 1e-10, *centre = m->centre, floor = least;
    double fast = env("FAST", 0.1), slow = env("SLOW", 0.3), relax = env("RELAX", 0.8), above = env("ABOVE", 3);
    int pat = (int)env("PAT", 10), nsweep = (int)env("SWEEPS", 0), window = (int)env("WINDOW", 0);
    extrapolation e; int nrush = 0, frush = 0;
    if (!extrapolation_make(&e, m->h.n, window, m->call->scratch)) {
        return SIM_STALLED;
    }
    for (int k = 0; k < m->h.n && window; k++) {
        e.scale[k] = 1;
    }
    hybrid_impulse(&m->h, m->best, centre);
    sim_outcome end = SIM_STALLED;
    while (incp_goes_on(m) && soft <= 10) {
        int before = m->call->out->iterations;
        double was = soft;
        m->near = 0;
        hybrid_soften(&m->h, soft, centre);
        hybrid_from_impulse(&m->h, centre, m->other);
        m->shift = centre;
        extrapolation_begin(&e, centre);
        for (int i = 0; i < m->h.dual->problem->nconstraint; i++) m->edge[i] = EDGE_NONE;
        incp_stand(m, m->other);
        int rushed = (int)env("RUSH", 10);
        if (rushed) { rushed = incp_rush(m, rushed); if (rushed) nrush++; else frush++; }
        if (!rushed && !(int)env("ONLY", 1)) {
        hybrid_from_impulse(&m->h, centre, m->other);
        end = start_over(m, pat);
        }
        int took = m->call->out->iterations - before;
        extrapolation_result what = 0;
        if (m->near) {
            hybrid_impulse(&m->h, m->x, centre);
            what = extrapolation_end(&e, centre);
            floor = fmax(least, floor * relax);
            soft = fmax(floor, soft * (took <= 4 ? fast : took <= 8 ? slow : 1));
        }
        TRACE("soft %g took %d it %d l %.2g E %.2g now %.2g near %d cols %d %s\n", was, took, m->call->out->iterations, m->l, m->E, hybrid_error(&m->h, m->x), m->near, m->step.columns, what == EXTRAPOLATION_GUESS ? "guess" : what == EXTRAPOLATION_BACK ? "back" : "");
        if (!m->near) {
            floor = above * soft;
            soft *= 10;
            if (0) memcpy(centre, e.g, (size_t)m->h.n * sizeof *centre);
            if (nsweep && incp_goes_on(m)) {
                hybrid_soften(&m->h, 0, centre);
                for (int k = 0; k < m->h.n; k++) m->slope[k] = centre[k] * m->h.scale[k];
                memcpy(m->product, m->slope, (size_t)m->h.n * sizeof *m->slope);
                m->shift = NULL;
                double E0 = m->E;
                if (!sweep_from(m, nsweep, m->product)) return SIM_STALLED;
                hybrid_impulse(&m->h, m->other, centre);
                incp_stand(m, m->other);
                TRACE("  swept: E %.2g from %.2g\n", hybrid_error(&m->h, m->x), E0);
            }
        }
        if (soft != was) extrapolation_restart(&e);
        m->near = 0;
    }
    TRACE("rushes %d good %d bad\n", nrush, frush);
    m->shift = NULL;
    hybrid_soften(&m->h, 0, m->slope);
    return end;
}

int incp_descend_and_restart(incp *m, sim_outcome *end) {
    static const int number[] = {0, 1, WAYS};
    int last = number[(int)m->call->option[INCP_RESTART]];
    if (getenv("WAYS")) sscanf(getenv("WAYS"), "%d,%d,%d,%d", ways, ways+1, ways+2, ways+3);

    *end = incp_descend(m, last ? (int)env("PAT0", 10) : 0);
    TRACE("first it %d l %.2g E %.2g end %d cols %d of %d\n", m->call->out->iterations, m->l, m->E, *end, m->step.columns, m->h.n);
    for (int k = 0; k < last && incp_goes_on(m); k++) {
        m->call->out->failures++;
        if (ways[k] == 0) {
            *end = soften(m);
        } else if (!sweep(m, ways[k])) {
            return 0;
        } else {
            TRACE("swept\n");
            *end = start_over(m, k + 1 < last ? PATIENCE : 0);
            TRACE("sweeps %d it %d l %.2g E %.2g end %d cols %d\n", ways[k], m->call->out->iterations, m->l, m->E, *end, m->step.columns);
        }
    }
    if (m->call->out->iterations >= (int)m->call->option[INCP_MAX_ITERATIONS]) {
        *end = SIM_AT_LIMIT; /* who may go no further is in no minimum */
    }
    return 1;
}
