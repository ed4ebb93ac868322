/* The exact cone as equations: r(x) = 0 in one unknown for impulse and velocity (residual_map.h; Todorov 2010, with bilateral
 * rows as in Mylapilli and Jain 2016, eqs. 49-59), solved by Levenberg's and Marquardt's method (levenberg_marquardt.c) with the
 * plain derivative, of one side where there is an edge.
 *
 * Where that does not halve |r|^2 in some iterations, or ends in a minimum that is no root, it goes on with softer problems
 * (proximal.c), as long as there are iterations left, and then once more on r as it is, from nothing.
 *
 * It starts where everything would stick, gamma = -W^+ q, or at the guess, wherever r is less. */
#include "math/dense.h"
#include "solver/implicit/proximal.h"
#include "solver/matrices/levenberg_marquardt.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, RESTART, MOST_MEMORY, OPTIONS };

static const char *const switches[] = {"off", "on", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance", .help = "E at which it stops", .low = 0, .high = 1, .default_value = 1e-8},
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "of Levenberg and Marquardt, and of Newton in softer rounds",
                        .low = 0,
                        .high = 1e6,
                        .default_value = 1000,
                        .integer = true},
    [RESTART] = {.name = "restart",
                 .help = "in a minimum that is no answer: by softer rounds, then from nothing",
                 .high = 1,
                 .default_value = 1,
                 .integer = true,
                 .choices = switches,
                 .study = true},
    [MOST_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double WORTH = 0.9; /* an answer that errs little less may be far away */
enum { HASTE = 15 };             /* iterations that do not halve |r|^2, where there is another way */

typedef struct search {
    hybrid h;
    hybrid_step step;
    levenberg_problem problem;
    levenberg_kind kind;
    solver_call *call;
    sim_solution best;
    double *x, *other, *F; /* the best; where it goes on from */
} search;

static void residual(void *self, const double *x, double *r) { hybrid_residual(&((search *)self)->h, x, r); }
static double error(void *self, const double *x) { return hybrid_error(&((search *)self)->h, x); }

static void derive(void *self, const double *x) {
    search *s = self;
    hybrid_slopes(&s->h, x, s->F);
    hybrid_step_form(&s->step, s->F, NULL, NULL);
}

static int make_step(void *self, const double *r, double lambda, double *dx, double *range) {
    return hybrid_step_least(&((search *)self)->step, r, lambda, dx, range);
}

static void along(void *self, const double *dx, double *image) {
    search *s = self;
    hybrid_along(&s->h, s->F, dx, image);
}

static int has_ended(const search *s) {
    return s->best.outcome <= SIM_AT_ROUNDING || s->best.iterations >= s->problem.max_iterations ||
           solution_stopped(s->call->out);
}

/* From `other` on, with the iterations that are left; the better counts.  0 without memory. */
static int go_on(search *s) {
    sim_solution *out = s->call->out, *best = &s->best;
    levenberg_problem rest = s->problem;
    rest.max_iterations -= best->iterations;
    if (!levenberg_solve(&rest, s->kind, s->call, s->other)) {
        return 0;
    }
    best->iterations += out->iterations;
    if (out->residual < WORTH * best->residual) {
        best->residual = out->residual;
        best->outcome = out->outcome;
        best->reason = out->reason;
        memcpy(s->x, s->other, (size_t)s->h.n * sizeof *s->x);
    }
    return 1;
}

/* Softer problems, from the best there is; 0 without memory. */
static int soften(search *s) {
    sim_solution *out = s->call->out;
    proximal p = {.h = &s->h,
                  .step = &s->step,
                  .call = s->call,
                  .tolerance = s->problem.tolerance,
                  .most = s->problem.max_iterations,
                  .x = s->x,
                  .E = s->best.residual};
    out->iterations = s->best.iterations;
    int done = proximal_solve(&p);
    s->best.iterations = out->iterations;
    s->best.residual = p.E;
    s->best.outcome = p.E <= p.tolerance ? SIM_SOLVED : s->best.outcome;
    s->best.reason = p.E <= p.tolerance ? SIM_REASON_NONE : s->best.reason;
    return done;
}

/* x of the best answer, and in `out` what became of it; 0 without memory. */
static int find(search *s) {
    sim_solution *out = s->call->out;
    int restart = (int)s->call->option[RESTART];
    s->problem.max_stalled_iterations = restart ? HASTE : 0;
    if (!levenberg_solve(&s->problem, s->kind, s->call, s->x)) {
        return 0;
    }
    s->best = *out;
    if (restart && s->best.outcome == SIM_STALLED) {
        if (!soften(s)) {
            return 0;
        }
        memset(s->other, 0, (size_t)s->h.n * sizeof *s->other);
        hybrid_from_impulse(&s->h, s->other, s->other);
        s->problem.max_stalled_iterations = 0;
        if (!has_ended(s) && !go_on(s)) {
            return 0;
        }
    }
    int spent = s->best.outcome == SIM_STALLED && s->best.iterations >= s->problem.max_iterations;
    out->iterations = s->best.iterations;
    out->residual = s->best.residual;
    out->outcome = spent ? SIM_AT_LIMIT : s->best.outcome;
    out->reason = spent ? SIM_REASON_NONE : s->best.reason;
    return 1;
}

static sim_status solve(solver_call *call, levenberg_kind kind) {
    dual d;
    search s = {.kind = kind, .call = call};
    double *x = ARENA_NEW(call->scratch, double, 2 * call->problem->nrow);
    s.F = ARENA_NEW(call->scratch, double, HYBRID_BLOCK * call->problem->nconstraint);
    if (!x || !s.F || !dual_make(&d, call, call->scratch) || !hybrid_make(&s.h, &d, call->scratch) ||
        !hybrid_step_make(&s.step, &s.h, call->scratch) || !hybrid_start(&s.h, call, x)) {
        return SIM_NO_RESOURCE;
    }
    s.problem = (levenberg_problem){.n = d.n,
                                    .self = &s,
                                    .residual = residual,
                                    .error = error,
                                    .derive = derive,
                                    .step = make_step,
                                    .along = along,
                                    .tolerance = call->option[TOLERANCE],
                                    .max_iterations = (int)call->option[MAX_ITERATIONS]};
    s.x = x;
    s.other = x + d.n;
    if (!find(&s)) {
        return SIM_NO_RESOURCE;
    }
    hybrid_unscale(&s.h, x, s.other);
    solution_write(call, s.other);
    return SIM_OK;
}

static sim_status solve_regular(solver_call *call) { return solve(call, LEVENBERG_REGULAR); }
static sim_status solve_projected(solver_call *call) { return solve(call, LEVENBERG_PROJECTED); }

static double dense(const sim_problem *p, const double *option) {
    (void)option;
    return hybrid_step_dense(p->nrow);
}

#define CARD(NAME, METHOD)                                                                                             \
    {                                                                                                                  \
        .name = NAME, .method = METHOD, .paper = "Mylapilli and Jain 2016; Todorov 2010", .cone = SIM_CONE_STRICT,     \
        .default_law = SIM_RIGID, .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1, .local = 1, .asymmetric = 1,              \
        .noptions = OPTIONS, .option = options,                                                                        \
    }

const solver_type solver_mncp_rlm = {
    .info = CARD("mncp-rlm", "one unknown for impulse and velocity, regular Levenberg-Marquardt"),
    .lapack = 1,
    .dense = dense,
    .solve = solve_regular,
};

const solver_type solver_mncp_plm = {
    .info = CARD("mncp-plm", "one unknown for impulse and velocity, nonmonotone Levenberg-Marquardt"),
    .lapack = 1,
    .dense = dense,
    .solve = solve_projected,
};
