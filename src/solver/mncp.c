/* The exact cone as equations: r(x) = 0 in one unknown for impulse and velocity (hybrid.h; Todorov 2010, with bilateral
 * rows as in Mylapilli and Jain 2016, eqs. 49-59), solved by Levenberg's and Marquardt's method (levenberg.c) with the
 * plain derivative, of one side where there is an edge.
 *
 * Where that ends in a minimum that is no root it goes on with a softer W, less so each time (hybrid_soften), as long as
 * there are iterations left, and then once more, from nothing.
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

typedef struct search {
    hybrid *h;
    levenberg_problem problem;
    levenberg_kind kind;
    solver_call *call;
    sim_solution best;
    double *x, *other, *gamma; /* the best; where it goes on from */
} search;

/* From `other` on, with the iterations that are left; the better counts.  0 without memory. */
static int go_on(search *s) {
    sim_solution *out = s->call->out, *best = &s->best;
    levenberg_problem rest = s->problem;
    rest.most -= best->iterations;
    if (!levenberg_solve(&rest, s->kind, s->call, s->other)) {
        return 0;
    }
    best->iterations += out->iterations;
    if (out->residual < WORTH * best->residual) {
        best->residual = out->residual;
        best->outcome = out->outcome;
        best->reason = out->reason;
        memcpy(s->x, s->other, (size_t)s->h->n * sizeof *s->x);
    }
    return 1;
}

static int has_ended(const search *s) {
    return s->best.outcome <= SIM_AT_ROUNDING || s->best.iterations >= s->problem.most ||
           solution_stopped(s->call->out);
}

/* On a W that is not singular, softer at first and then less so, each time from where the last one led; then on W as it
 * is, from nothing.  0 without memory. */
static int soften(search *s) {
    hybrid *h = s->h;
    double soft = SOFTEST;
    memcpy(s->other, s->x, (size_t)h->n * sizeof *s->x);
    for (int round = 0; round <= ROUNDS && !has_ended(s); round++, soft *= HARDER) {
        hybrid_impulse(h, s->other, s->gamma);
        if (round == ROUNDS) {
            soft = 0;
            memset(s->gamma, 0, (size_t)h->n * sizeof *s->gamma);
        }
        hybrid_soften(h, soft, s->gamma);
        hybrid_from_impulse(h, s->gamma, s->other);
        if (!go_on(s)) {
            return 0;
        }
    }
    return 1;
}

/* x of the best answer, and in `out` what became of it; 0 without memory. */
static int find(hybrid *h, levenberg_kind kind, solver_call *call, double *x) {
    sim_solution *out = call->out;
    search s = {
        .h = h,
        .problem = {h->n, h, residual, jacobian, error, 0, call->option[TOLERANCE], (int)call->option[MAX_ITERATIONS]},
        .kind = kind,
        .call = call,
        .x = x,
        .other = ARENA_NEW(call->scratch, double, h->n),
        .gamma = ARENA_NEW(call->scratch, double, h->n)};
    if (!s.other || !s.gamma || !levenberg_solve(&s.problem, kind, call, x)) {
        return 0;
    }
    s.best = *out;
    if (s.best.outcome == SIM_STALLED && !soften(&s)) {
        return 0;
    }
    int spent = s.best.outcome == SIM_STALLED && s.best.iterations >= s.problem.most;
    out->iterations = s.best.iterations;
    out->residual = s.best.residual;
    out->outcome = spent ? SIM_AT_LIMIT : s.best.outcome;
    out->reason = spent ? SIM_REASON_NONE : s.best.reason;
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
    if (!find(&h, kind, call, x)) {
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
