/* Proximal outer iterations of the nonsmooth Newton method (solver/core/proximal_point.h), for singular W and steps
 * that cycle.  alpha starts at E, the error of gamma. */
#include "solver/core/proximal_point.h"
#include "solver/nonsmooth_newton/newton.h"

#include <math.h>
#include <string.h>

typedef struct proximal_iteration {
    nsn_newton newton;
    proximal_point point;
} proximal_iteration;

static bool has_proximal_ended(void *self) {
    const nsn *m = ((proximal_iteration *)self)->newton.m;
    return m->best_E <= m->call->option[NSN_TOLERANCE] || solution_stopped(m->call->out) ||
           m->call->out->iterations >= (int)m->call->option[NSN_MAX_ITERATIONS];
}

static double eval_proximal_map(void *self) {
    proximal_iteration *a = self;
    a->newton.alpha = a->point.alpha;
    return nsn_newton_eval(&a->newton);
}

static bool take_newton_step(void *self) { return nsn_newton_step(&((proximal_iteration *)self)->newton); }

static void eval_proximal_error(void *self) { nsn_eval_error(((proximal_iteration *)self)->newton.m); }

static void record_newton_step(void *self) {
    const nsn *m = ((proximal_iteration *)self)->newton.m;
    solver_record(m->call, m->E, NAN);
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
    /* memory */
    proximal_iteration a = {0};
    double *least = ARENA_NEW(m->call->scratch, double, m->n), *before = ARENA_NEW(m->call->scratch, double, m->n);
    if (!least || !before || !nsn_newton_make(&a.newton, m, m->call->scratch)) {
        return false;
    }
    /* start, and its error */
    start_from_warm_impulses(m);
    memcpy(m->gamma, m->best, (size_t)m->n * sizeof *m->gamma);
    nsn_eval_error(m);
    if (!isfinite(m->E)) {
        m->call->out->reason = SIM_REASON_NONFINITE;
        *end = SIM_BROKEN_DOWN;
        return true;
    }
    /* proximal point iterations with Newton's method inside */
    a.point = (proximal_point){.self = &a,
                               .eval_map = eval_proximal_map,
                               .take_step = take_newton_step,
                               .eval_error = eval_proximal_error,
                               .record = record_newton_step,
                               .has_ended = has_proximal_ended,
                               .rows = m->n,
                               .gamma = m->gamma,
                               .centre = a.newton.centre,
                               .least = least,
                               .before = before,
                               .best_E = &m->best_E,
                               .out = m->call->out,
                               .max_stalled = PROXIMAL_MAX_STALLED};
    proximal_point_start(&a.point, fmin(1, m->E));
    *end = proximal_point_iterate(&a.point);
    return true;
}
