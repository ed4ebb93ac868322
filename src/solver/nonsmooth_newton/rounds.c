/* Proximal outer iterations of the nonsmooth Newton method, for singular W and steps that cycle.
 *
 * Where contacts share a load, steps with the whole derivative (newton.c) cycle between sets of sticking contacts.  An
 * outer iteration (PPA of Acary, Bremond, Huber 2018) solves the problem with
 *
 *     s + alpha w (gamma - centre)    in place of s,
 *
 * centre the gamma at its start, w the inverse mass of a constraint by itself.  No contact then has an inverse mass
 * below alpha w: for large alpha one or two steps solve it, and the error of gamma falls by about alpha w over the
 * inverse masses at the contacts.  alpha falls after a solved outer iteration, the more the fewer its steps, and grows
 * after one that is not solved in eight steps; it starts at E, the error of gamma.
 *
 * An outer iteration ends when |F| is a third of its start, as the next has another centre.  After a failure the next
 * starts at the least |F|, if below nine tenths.  Steps are whole: line searches on |F|, or damped steps, end in minima
 * that are no solutions, while whole steps leave most cycles. */
#include "solver/core/stall.h"
#include "solver/nonsmooth_newton/newton.h"

#include <math.h>
#include <string.h>

static const double MAX_F_RATIO = 0.3, PROGRESS_RATIO = 0.9; /* of |F| at the start of an outer iteration */
/* On alpha, after one step, two, up to four, more; after a failure. */
static const double ALPHA_FACTOR_1 = 0.01, ALPHA_FACTOR_2 = 0.1, ALPHA_FACTOR_4 = 0.3, ALPHA_FACTOR_MORE = 0.6;
static const double ALPHA_GROWTH = 4, MIN_ALPHA = 1e-12, MAX_ALPHA = 1e3;
enum { MAX_STEPS = 8, MAX_STALLED_ITERATIONS = 150 }; /* Newton steps of an outer iteration; outer iterations */

typedef struct proximal_iteration {
    nsn_newton newton;
    double *least;     /* [n] gamma of the least |F| of this outer iteration */
    stall_watch stall; /* of the best E: halved */
} proximal_iteration;

static bool has_proximal_ended(const nsn *m) {
    return m->best_E <= m->call->option[NSN_TOLERANCE] || solution_stopped(m->call->out) ||
           m->call->out->iterations >= (int)m->call->option[NSN_MAX_ITERATIONS];
}

static void set_impulses(nsn *m, const double *gamma) {
    memcpy(m->gamma, gamma, (size_t)m->n * sizeof *gamma);
    nsn_eval_error(m);
}

/* One outer iteration; its number of steps, 0: not solved. */
static int solve_subproblem_of(proximal_iteration *a) {
    nsn *m = a->newton.m;
    size_t size_of = (size_t)m->n * sizeof *m->gamma;
    /* centre c = gamma */
    memcpy(a->newton.centre, m->gamma, size_of);
    memcpy(a->least, m->gamma, size_of);
    double first = nsn_newton_eval(&a->newton), least = PROGRESS_RATIO * first;
    for (int k = 1; k <= MAX_STEPS && !has_proximal_ended(m); k++) {
        m->call->out->iterations++;
        /* Newton step on F with the proximal term */
        if (!nsn_newton_step(&a->newton)) {
            break;
        }
        nsn_eval_error(m);
        solver_record(m->call, m->E, NAN);
        /* solved where |F| has fallen enough */
        double size = nsn_newton_eval(&a->newton);
        if (size <= MAX_F_RATIO * first) {
            return k;
        }
        /* the least |F| counts where it is not */
        if (size < least) {
            least = size;
            memcpy(a->least, m->gamma, size_of);
        }
    }
    set_impulses(m, a->least);
    return 0;
}

static double alpha_after_steps(double alpha, int steps) {
    double part = steps == 0   ? ALPHA_GROWTH
                  : steps == 1 ? ALPHA_FACTOR_1
                  : steps == 2 ? ALPHA_FACTOR_2
                  : steps <= 4 ? ALPHA_FACTOR_4
                               : ALPHA_FACTOR_MORE;
    return fmin(MAX_ALPHA, fmax(MIN_ALPHA, part * alpha));
}

/* Outer iterations until the end or a stall. */
static sim_outcome iterate_proximal(proximal_iteration *a) {
    nsn *m = a->newton.m;
    while (!has_proximal_ended(m)) {
        int steps = solve_subproblem_of(a);
        m->call->out->failures += steps == 0;
        a->newton.alpha = alpha_after_steps(a->newton.alpha, steps);
        stall_watch_update(&a->stall, m->best_E);
        if (a->stall.stalled > MAX_STALLED_ITERATIONS) {
            return SIM_STALLED;
        }
    }
    return SIM_AT_LIMIT;
}

/* Starts from the warm start if its E is below 1. */
static void start_from_warm_impulses(nsn *m) {
    const double *guess = m->problem->impulse_guess;
    double nothing = m->best_E;
    if (!guess) {
        return;
    }
    for (int k = 0; k < m->n; k++) {
        m->gamma[k] = nsn_is_given(m, k) || !isfinite(guess[k]) ? m->first[k] : guess[k];
    }
    nsn_eval_error(m);
    if (!(m->E < 1)) {
        memcpy(m->best, m->first, (size_t)m->n * sizeof *m->best);
        m->best_E = nothing;
    }
}

bool nsn_solve_proximal(nsn *m, sim_outcome *end) {
    proximal_iteration a = {.least = ARENA_NEW(m->call->scratch, double, m->n), .stall = stall_watch_start(0.5)};
    if (!a.least || !nsn_newton_make(&a.newton, m, m->call->scratch)) {
        return false;
    }
    start_from_warm_impulses(m);
    set_impulses(m, m->best);
    if (!isfinite(m->E)) {
        m->call->out->reason = SIM_REASON_NONFINITE;
        *end = SIM_BROKEN_DOWN;
        return true;
    }
    a.newton.alpha = fmin(1, m->E);
    *end = iterate_proximal(&a);
    return true;
}
