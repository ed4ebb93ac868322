/* The exact cone as equations: r(x) = 0 in one unknown for impulse and velocity (hybrid.h; Todorov 2010, with bilateral
 * rows as in Mylapilli and Jain 2016, eqs. 49-59), solved by Levenberg's and Marquardt's method (levenberg.c) with the
 * plain derivative, of one side where there is an edge.
 *
 * It starts where everything would stick, gamma = -W^+ q, or at the guess, wherever r is less. */
#include "math/dense.h"
#include "solver/hybrid.h"
#include "solver/levenberg.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, OPTIONS };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "E at which it stops", 0, 1, 1e-8, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "of Levenberg and Marquardt", 0, 1e6, 500, 1, NULL},
};

static const double SOFT = 1e-10; /* what makes W^+ of a singular W, relative to its diagonal blocks */

static void residual(void *self, const double *x, double *r) { hybrid_residual(self, x, r); }
static void jacobian(void *self, const double *x, double *J) { hybrid_jacobian(self, x, J); }
static double error(void *self, const double *x) { return hybrid_error(self, x); }

/* x <- the one with the lesser r; 0 without memory. */
static int start(const hybrid *h, solver_call *call, double *x) {
    const sim_problem *p = h->dual->problem;
    size_t n = (size_t)h->n;
    double *W = sim_arena_alloc(call->scratch, n * n, sizeof *W),
           *work = ARENA_NEW(call->scratch, double, levenberg_work(h->n));
    double *gamma = ARENA_NEW(call->scratch, double, 3 * n), *other = gamma + n, *r = gamma + 2 * n, range;
    if (!W || !work || !gamma) {
        return 0;
    }
    memcpy(W, h->W, n * n * sizeof *W);
    levenberg_step(h->n, W, h->q, SOFT, work, gamma, &range);
    hybrid_from_impulse(h, gamma, x);
    if (!p->impulse_guess) {
        return 1;
    }
    for (size_t k = 0; k < n; k++) {
        gamma[k] = isfinite(p->impulse_guess[k]) && !h->dual->given[k] ? p->impulse_guess[k] / h->scale[k] : 0;
    }
    hybrid_from_impulse(h, gamma, other);
    hybrid_residual(h, x, r);
    double sticking = dense_dot(h->n, r, r);
    hybrid_residual(h, other, r);
    if (dense_dot(h->n, r, r) < sticking) {
        memcpy(x, other, n * sizeof *x);
    }
    return 1;
}

static int solve(solver_call *call, levenberg_kind kind) {
    dual d;
    hybrid h;
    double *x = ARENA_NEW(call->scratch, double, 2 * call->problem->nrow);
    if (!x || !dual_make(&d, call, call->scratch) || !hybrid_make(&h, &d, call->scratch) || !start(&h, call, x)) {
        return 0;
    }
    levenberg_problem problem = {
        d.n, &h, residual, jacobian, error, 0, call->option[TOLERANCE], (int)call->option[MAX_ITERATIONS]};
    if (!levenberg_solve(&problem, kind, call, x)) {
        return 0;
    }
    hybrid_unscale(&h, x, x + d.n);
    dual_hand_out(call, x + d.n);
    return 1;
}

static int solve_regular(solver_call *call) { return solve(call, LEVENBERG_REGULAR); }
static int solve_projected(solver_call *call) { return solve(call, LEVENBERG_PROJECTED); }

#define CARD(NAME, METHOD)                                                                                             \
    {                                                                                                                  \
        .name = NAME, .method = METHOD, .paper = "Mylapilli and Jain 2016; Todorov 2010", .cone = SIM_CONE_STRICT,     \
        .compliance = SIM_RIGID, .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1, .local = 1, .asymmetric = 1,               \
        .noptions = OPTIONS, .option = options,                                                                        \
    }

const solver_type solver_mncp_rlm = {
    .card = CARD("mncp-rlm", "one unknown for impulse and velocity, regular Levenberg-Marquardt"),
    .solve = solve_regular,
};

const solver_type solver_mncp_plm = {
    .card = CARD("mncp-plm", "one unknown for impulse and velocity, nonmonotone Levenberg-Marquardt"),
    .solve = solve_projected,
};
