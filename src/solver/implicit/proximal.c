/* Proximal point method, which leaves minima of |r|^2 that are no solutions (Rockafellar 1976; Acary, Bremond, Huber 2018, sec. 6).
 *
 * Where contacts share a load W is singular, so is J, and r can have minima that are no roots.  Instead of r(x) = 0 a round
 * solves the same law with
 *
 *     (W + alpha) gamma + q - alpha c = s,      c the impulses of the round before            (hybrid_soften)
 *
 * which is not singular, and whose answer is the law's own as soon as gamma no longer moves: what r lacks is
 * alpha (gamma - c).  A small alpha goes far in a round, a large one makes it easy.
 *
 *   - A round is solved by whole steps of Newton, uphill too.  Each of them answers the pieces of the law that contacts are on
 *     all at once, and the pieces are right after a few; searching along steps for a lower |r|^2 ends where it has a kink.
 *   - A round need not be solved well: it ends when r is a tenth of alpha (gamma - c), by which it is off anyway.
 *   - alpha falls to a tenth where a round was quick, a little less where it was slow.  Where a round ends nowhere, alpha
 *     grows to its tenfold, the round is done again from c, and alpha does not fall below three times what failed; a bound
 *     that gives way with each round that succeeds. */
#include "solver/implicit/proximal.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

static const double FIRST = 1e-2, LEAST = 1e-10, MOST = 10; /* alpha; inverse masses are about 1 here */
static const double FASTER = 0.1, FAST = 0.3, HARDER = 10, ABOVE = 3, RELAXED = 0.8;
static const double NEAR = 0.1;                          /* of alpha (gamma - c) */
static const double WORTH = 0.9;                         /* what E falls to where rounds are of use */
enum { QUICK = 4, SLOW = 8, STEPS = 10, PATIENCE = 50 }; /* steps of a round; rounds */

typedef struct rounds {
    proximal *of;
    double *x, *r, *dx, *F;
    double *centre, *gamma;
    double alpha, floor;
    double size, merit; /* |q|; of the best, E times the greater of that and |gamma| */
} rounds;

static int make(rounds *m, proximal *p) {
    size_t n = (size_t)p->h->n;
    *m = (rounds){.of = p, .alpha = FIRST, .floor = LEAST, .merit = HUGE_VAL};
    double *vectors = ARENA_NEW(p->call->scratch, double, 5 * n);
    m->F = ARENA_NEW(p->call->scratch, double, HYBRID_BLOCK * p->h->dual->problem->nconstraint);
    if (!vectors || !m->F) {
        return 0;
    }
    m->x = vectors;
    m->r = vectors + n;
    m->dx = vectors + 2 * n;
    m->centre = vectors + 3 * n;
    m->gamma = vectors + 4 * n;
    return 1;
}

static int goes_on(const proximal *p) {
    return !(p->E <= p->tolerance) && p->call->out->iterations < p->most && !solution_stopped(p->call->out);
}

/* E of x, kept if it is the best: over all, not for its share of impulses that grow without end, as they do where there is
 * no answer. */
static double weigh(rounds *m, const double *x) {
    proximal *p = m->of;
    size_t n = (size_t)p->h->n;
    double E = hybrid_error(p->h, x), merit;
    hybrid_impulse(p->h, x, m->gamma);
    merit = E * fmax(m->size, sqrt(dense_dot((int)n, m->gamma, m->gamma)));
    if (E <= p->tolerance || (E < p->E && merit < m->merit)) {
        p->E = E;
        m->merit = merit;
        memmove(p->x, x, n * sizeof *x);
    } else if (x == p->x) {
        m->merit = merit;
    }
    return E;
}

/* r at x; is it near enough? */
static int arrive(rounds *m) {
    proximal *p = m->of;
    double moved = 0, E = weigh(m, m->x), square;
    hybrid_residual(p->h, m->x, m->r);
    for (int k = 0; k < p->h->n; k++) {
        moved += (m->gamma[k] - m->centre[k]) * (m->gamma[k] - m->centre[k]);
    }
    square = dense_dot(p->h->n, m->r, m->r);
    solver_record_place(p->call, m->x);
    solver_record(p->call, E, 0.5 * square);
    return square <= NEAR * NEAR * m->alpha * m->alpha * moved;
}

/* Newton's steps from c: how many until x is near; 0 if it does not come there. */
static int descend(rounds *m) {
    proximal *p = m->of;
    hybrid_soften(p->h, m->alpha, m->centre);
    hybrid_from_impulse(p->h, m->centre, m->x);
    int near = arrive(m), steps = 0;
    for (; (!near || steps == 0) && steps < STEPS && goes_on(p); steps++) {
        hybrid_slopes(p->h, m->x, m->F);
        hybrid_step_form(p->step, m->F, NULL, NULL);
        p->call->out->iterations++;
        p->call->out->factorisations++;
        if (!hybrid_step_newton(p->step, m->r, m->dx)) {
            return 0;
        }
        dense_axpy(p->h->n, 1, m->dx, m->x);
        near = arrive(m);
    }
    return near ? steps : 0;
}

/* alpha after a round of so many steps, 0: that ended nowhere. */
static void adapt(rounds *m, int steps) {
    if (steps == 0) {
        m->floor = ABOVE * m->alpha;
        m->alpha *= HARDER;
        return;
    }
    m->floor = fmax(LEAST, RELAXED * m->floor);
    m->alpha = fmax(m->floor, m->alpha * (steps <= QUICK ? FASTER : steps <= SLOW ? FAST : 1));
}

int proximal_solve(proximal *p) {
    rounds m;
    if (!make(&m, p)) {
        return 0;
    }
    double E = p->E;
    m.size = sqrt(dense_dot(p->h->n, p->h->q, p->h->q));
    weigh(&m, p->x);
    hybrid_impulse(p->h, p->x, m.centre);
    for (int waited = 0; goes_on(p) && m.alpha <= MOST && waited < PATIENCE; waited++) {
        int steps = descend(&m);
        if (steps > 0) {
            memcpy(m.centre, m.gamma, (size_t)p->h->n * sizeof *m.centre);
        }
        if (p->E < WORTH * E) {
            E = p->E;
            waited = 0;
        }
        adapt(&m, steps);
    }
    hybrid_soften(p->h, 0, m.centre);
    return 1;
}
