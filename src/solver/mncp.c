/* The exact cone as equations: r(x) = 0 in one unknown for impulse and velocity (hybrid.h; Todorov 2010, with bilateral
 * rows as in Mylapilli and Jain 2016, eqs. 49-59), solved by Levenberg's and Marquardt's method (levenberg.c) with the
 * plain derivative, of one side where there is an edge.
 *
 * Where that ends in a minimum that is no root it goes on with a softer W, less so each time (hybrid_soften), as long as
 * there are iterations left.
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

static const double SOFTEST = 1e-2, HARDER = 0.1; /* inverse masses are about 1 here */
static const double WORTH = 0.9;                  /* an answer that errs little less may be far away */
enum { ROUNDS = 7 };

static void residual(void *self, const double *x, double *r) { hybrid_residual(self, x, r); }
static void jacobian(void *self, const double *x, double *J) { hybrid_jacobian(self, x, J); }
static double error(void *self, const double *x) { return hybrid_error(self, x); }

/* On a W that is not singular, softer at first and then less so, each time from where the last one led; 0 without memory. */
static int soften(hybrid *h, levenberg_problem *problem, levenberg_kind kind, solver_call *call, double *x) {
    sim_solution *out = call->out, kept = *out;
    double *other = ARENA_NEW(call->scratch, double, 2 * h->n), *gamma = other + h->n, soft = SOFTEST;
    if (!other) {
        return 0;
    }
    memcpy(other, x, (size_t)h->n * sizeof *x);
    int stalled = kept.outcome == SIM_STALLED, all = problem->most;
    for (int round = 0; round < ROUNDS && stalled && kept.outcome > SIM_AT_ROUNDING && !solution_stopped(out);
         round++) {
        problem->most = all - kept.iterations;
        hybrid_impulse(h, other, gamma);
        hybrid_soften(h, soft, gamma);
        hybrid_from_impulse(h, gamma, other);
        if (!levenberg_solve(problem, kind, call, other)) {
            return 0;
        }
        kept.iterations += out->iterations;
        if (out->residual < WORTH * kept.residual) {
            kept.residual = out->residual;
            kept.outcome = out->outcome;
            memcpy(x, other, (size_t)h->n * sizeof *x);
        }
        soft *= HARDER;
    }
    out->iterations = kept.iterations;
    out->residual = kept.residual;
    out->outcome = kept.outcome;
    return 1;
}

static int solve(solver_call *call, levenberg_kind kind) {
    dual d;
    hybrid h;
    double *x = ARENA_NEW(call->scratch, double, 2 * call->problem->nrow);
    if (!x || !dual_make(&d, call, call->scratch) || !hybrid_make(&h, &d, call->scratch) ||
        !hybrid_start(&h, call, x)) {
        return 0;
    }
    levenberg_problem problem = {
        d.n, &h, residual, jacobian, error, 0, call->option[TOLERANCE], (int)call->option[MAX_ITERATIONS]};
    if (!levenberg_solve(&problem, kind, call, x) || !soften(&h, &problem, kind, call, x)) {
        return 0;
    }
    hybrid_unscale(&h, x, x + d.n);
    solver_hand_out(call, x + d.n);
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
