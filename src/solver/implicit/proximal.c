/* Proximal point method for r(x) = 0 (Rockafellar 1976; Acary, Bremond, Huber 2018, sec. 6).
 *
 * Where contacts share a load W and J are singular, and |r|^2 has minima that are no roots.  An outer iteration solves
 *
 *     (W + alpha) gamma + q - alpha c = s,      c the impulses of the previous one            (residual_map_soften)
 *
 * with the same law, which is not singular.  Its solution solves the law as soon as gamma no longer moves: the residual
 * is alpha (gamma - c).  A small alpha converges in few outer iterations, a large one makes each easy.
 *
 *   - An outer iteration takes whole Newton steps, also where |r| grows.  A step solves the present pieces of the law
 *     at once, and the pieces are right after a few; line searches on |r|^2 end at its kinks.
 *   - It ends when |r| is a tenth of alpha |gamma - c|, its error as a solution of the law.
 *   - alpha falls by FAST_FACTOR or SLOW_FACTOR after few or more steps.  After a failure alpha grows tenfold, c is
 *     kept, and alpha does not fall below three times the failed one; each success relaxes that floor.
 *
 * solver/core/proximal_point.h differs: its outer iterations end at a third of their first residual. With that rule the
 * maps of x = s - gamma stall or cycle in piles that this one solves. */
#include "solver/implicit/proximal.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

static const double FIRST_ALPHA = 1e-2, MIN_ALPHA = 1e-10, MAX_ALPHA = 10; /* alpha; inverse masses are about 1 here */
static const double FAST_FACTOR = 0.1, SLOW_FACTOR = 0.3, FAILURE_FACTOR = 10; /* on alpha */
static const double FLOOR_OVER_FAILED = 3, FLOOR_FACTOR = 0.8;                 /* of the floor of alpha */
static const double MAX_RESIDUAL_RATIO = 0.1;                                  /* |r| over alpha |gamma - c| */
static const double PROGRESS_RATIO = 0.9;                                      /* of E */
enum { MAX_FAST_STEPS = 4, MAX_SLOW_STEPS = 8, MAX_STEPS = 10 };               /* Newton steps of an outer iteration */
enum { MAX_STALLED_ITERATIONS = 50 };                                          /* outer iterations */

typedef struct outer_iteration {
    proximal *of;
    double *x, *r, *dx, *F;
    double *centre, *gamma;
    double alpha, floor;
    double size, merit; /* |q|; E max(|q|, |gamma|) of the best point */
} outer_iteration;

static bool init_outer_iteration(outer_iteration *m, proximal *p) {
    size_t n = (size_t)p->h->n;
    *m = (outer_iteration){.of = p, .alpha = FIRST_ALPHA, .floor = MIN_ALPHA, .merit = HUGE_VAL};
    double *vectors = ARENA_NEW(p->call->scratch, double, 5 * n);
    m->F = ARENA_NEW(p->call->scratch, double, RESIDUAL_BLOCK * p->h->dual->problem->nconstraint);
    if (!vectors || !m->F) {
        return false;
    }
    m->x = vectors;
    m->r = vectors + n;
    m->dx = vectors + 2 * n;
    m->centre = vectors + 3 * n;
    m->gamma = vectors + 4 * n;
    return true;
}

static bool proximal_continues(const proximal *p) {
    return !(p->E <= p->tolerance) && p->call->out->iterations < p->max_iterations && !solution_stopped(p->call->out);
}

/* E of x.  Keeps x if E and the merit E max(|q|, |gamma|) are least: where there is no solution impulses grow without
 * bound, and E falls by that alone. */
static double keep_least_merit(outer_iteration *m, const double *x) {
    proximal *p = m->of;
    size_t n = (size_t)p->h->n;
    double E = residual_map_error(p->h, x), merit;
    residual_map_impulse(p->h, x, m->gamma);
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

/* r at x; true: it solves the subproblem well enough. */
static bool eval_subproblem(outer_iteration *m) {
    proximal *p = m->of;
    double moved = 0, E = keep_least_merit(m, m->x), square;
    residual_map_eval(p->h, m->x, m->r);
    for (int k = 0; k < p->h->n; k++) {
        moved += (m->gamma[k] - m->centre[k]) * (m->gamma[k] - m->centre[k]);
    }
    square = dense_dot(p->h->n, m->r, m->r);
    solver_record_place(p->call, m->x);
    solver_record(p->call, E, 0.5 * square);
    return square <= MAX_RESIDUAL_RATIO * MAX_RESIDUAL_RATIO * m->alpha * m->alpha * moved;
}

/* Newton steps from c; their number, 0: the subproblem is not solved. */
static int solve_subproblem(outer_iteration *m) {
    proximal *p = m->of;
    residual_map_soften(p->h, m->alpha, m->centre);
    residual_map_from_impulse(p->h, m->centre, m->x);
    bool near = eval_subproblem(m);
    int steps = 0;
    for (; (!near || steps == 0) && steps < MAX_STEPS && proximal_continues(p); steps++) {
        residual_map_slopes(p->h, m->x, m->F);
        residual_newton_form(p->step, m->F, NULL, NULL);
        p->call->out->iterations++;
        p->call->out->factorisations++;
        if (!residual_newton_solve(p->step, m->r, m->dx)) {
            return 0;
        }
        dense_axpy(p->h->n, 1, m->dx, m->x);
        near = eval_subproblem(m);
    }
    return near ? steps : 0;
}

/* alpha after an outer iteration of so many steps; 0: it failed. */
static void adapt_alpha(outer_iteration *m, int steps) {
    if (steps == 0) {
        m->floor = FLOOR_OVER_FAILED * m->alpha;
        m->alpha *= FAILURE_FACTOR;
        return;
    }
    m->floor = fmax(MIN_ALPHA, FLOOR_FACTOR * m->floor);
    m->alpha = fmax(m->floor, m->alpha * (steps <= MAX_FAST_STEPS   ? FAST_FACTOR
                                          : steps <= MAX_SLOW_STEPS ? SLOW_FACTOR
                                                                    : 1));
}

bool proximal_solve(proximal *p) {
    outer_iteration m;
    if (!init_outer_iteration(&m, p)) {
        return false;
    }
    /* first centre c: the start */
    double E = p->E;
    m.size = sqrt(dense_dot(p->h->n, p->h->q, p->h->q));
    keep_least_merit(&m, p->x);
    residual_map_impulse(p->h, p->x, m.centre);
    for (int stalled = 0; proximal_continues(p) && m.alpha <= MAX_ALPHA && stalled < MAX_STALLED_ITERATIONS;
         stalled++) {
        /* one outer iteration; c moves where it succeeded */
        int steps = solve_subproblem(&m);
        if (steps > 0) {
            memcpy(m.centre, m.gamma, (size_t)p->h->n * sizeof *m.centre);
        }
        /* progress of E, next alpha */
        if (p->E < PROGRESS_RATIO * E) {
            E = p->E;
            stalled = 0;
        }
        adapt_alpha(&m, steps);
    }
    residual_map_soften(p->h, 0, m.centre);
    return true;
}
