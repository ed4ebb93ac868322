/* Newton's method where W is singular, and where it goes round in circles: proximal rounds.
 *
 * Where contacts share a load, steps with the whole derivative (newton.c) swing between guesses of who sticks.  A round
 * asks less (as PPA of Acary, Bremond, Huber 2018): it answers the problem with
 *
 *     s + alpha w (gamma - centre)    in place of s,
 *
 * centre being gamma where the round began, w the inverse mass of a constraint by itself.  No contact then feels an inverse
 * mass below alpha w: for a large alpha a step or two answer a round, and what gamma lacks of the answer falls by about
 * alpha w over the inverse masses that are felt.  So alpha falls after a round that ended, the more the sooner it did, and
 * rises after one that did not within eight steps; it begins with E, by which gamma may be wrong.
 *
 * A round has ended when |F| is a third of what it was: more exact it need not be, as the next has another centre.  Of one that did
 * not, the next begins where |F| was least, if that is worth a tenth.  Steps are not shortened: a search for a smaller |F|, or
 * steps of less than their length, end in minima that are no answer, while whole steps lead out of most circles. */
#include "solver/nonsmooth_newton/newton.h"

#include <math.h>
#include <string.h>

static const double ENOUGH = 0.3, WORTH = 0.9;                                     /* of |F| at the start of a round */
static const double AT_ONCE = 0.01, SOON = 0.1, LATER = 0.3, LATE = 0.6, RISE = 4; /* of alpha */
static const double SMALLEST = 1e-12, GREATEST = 1e3;
enum { STEPS = 8, STANDSTILL = 150 };

typedef struct rounds {
    nsn_newton newton;
    double *least; /* [n] gamma where |F| of this round was least */
    double mark;   /* E when it had last halved */
    int since;     /* rounds since then */
} rounds;

static int over(const nsn *m) {
    return m->best_E <= m->call->option[NSN_TOLERANCE] || solution_stopped(m->call->out) ||
           m->call->out->iterations >= (int)m->call->option[NSN_MAX_ITERATIONS];
}

static void stand(nsn *m, const double *gamma) {
    memcpy(m->gamma, gamma, (size_t)m->n * sizeof *gamma);
    nsn_measure(m);
}

/* The steps it took; 0 if it did not end. */
static int answer(rounds *a) {
    nsn *m = a->newton.m;
    size_t size_of = (size_t)m->n * sizeof *m->gamma;
    memcpy(a->newton.centre, m->gamma, size_of);
    memcpy(a->least, m->gamma, size_of);
    double first = nsn_newton_look(&a->newton), least = WORTH * first;
    for (int k = 1; k <= STEPS && !over(m); k++) {
        m->call->out->iterations++;
        if (!nsn_newton_step(&a->newton)) {
            break;
        }
        nsn_measure(m);
        solver_record(m->call, m->E, NAN);
        double size = nsn_newton_look(&a->newton);
        if (size <= ENOUGH * first) {
            return k;
        }
        if (size < least) {
            least = size;
            memcpy(a->least, m->gamma, size_of);
        }
    }
    stand(m, a->least);
    return 0;
}

static double next_alpha(double alpha, int steps) {
    double part = steps == 0 ? RISE : steps == 1 ? AT_ONCE : steps == 2 ? SOON : steps <= 4 ? LATER : LATE;
    return fmin(GREATEST, fmax(SMALLEST, part * alpha));
}

/* Until it is over (at its limit, as far as is known here) or stalls. */
static sim_outcome go_round(rounds *a) {
    nsn *m = a->newton.m;
    while (!over(m)) {
        int steps = answer(a);
        m->call->out->failures += steps == 0;
        a->newton.alpha = next_alpha(a->newton.alpha, steps);
        a->since++;
        if (m->best_E < 0.5 * a->mark) {
            a->mark = m->best_E;
            a->since = 0;
        }
        if (a->since > STANDSTILL) {
            return SIM_STALLED;
        }
    }
    return SIM_AT_LIMIT;
}

/* The guess, if it is any better than nothing. */
static void take_guess(nsn *m) {
    const double *guess = m->problem->impulse_guess;
    double nothing = m->best_E;
    if (!guess) {
        return;
    }
    for (int k = 0; k < m->n; k++) {
        m->gamma[k] = nsn_given(m, k) || !isfinite(guess[k]) ? m->first[k] : guess[k];
    }
    nsn_measure(m);
    if (!(m->E < 1)) {
        memcpy(m->best, m->first, (size_t)m->n * sizeof *m->best);
        m->best_E = nothing;
    }
}

int nsn_rounds(nsn *m, sim_outcome *end) {
    rounds a = {.least = ARENA_NEW(m->call->scratch, double, m->n), .mark = HUGE_VAL};
    if (!a.least || !nsn_newton_make(&a.newton, m, m->call->scratch)) {
        return 0;
    }
    take_guess(m);
    stand(m, m->best);
    if (!isfinite(m->E)) {
        m->call->out->reason = SIM_REASON_NONFINITE;
        *end = SIM_BROKEN_DOWN;
        return 1;
    }
    a.newton.alpha = fmin(1, m->E);
    *end = go_round(&a);
    return 1;
}
