/* MNCP: the strict law as equations r(x) = 0, one unknown for impulse and velocity (residual_map.h; Todorov 2010, with
 * bilateral rows as in Mylapilli and Jain 2016, eqs. 49-59), solved by the Levenberg-Marquardt method
 * (levenberg_marquardt.c).  On an edge the derivative is that of one side.
 *
 * Where this does not halve |r|^2 in some iterations, or ends in a minimum that is no root, proximal outer iterations
 * follow (proximal.c).  If iterations are left, one more attempt on r itself starts from zero.
 *
 * Start: the sticking solution, gamma = -W^+ q, or the warm start, whichever has the smaller |r|. */
#include "math/dense.h"
#include "solver/implicit/proximal.h"
#include "solver/matrices/levenberg_marquardt.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, RESTART, MAX_MEMORY, OPTIONS };

static const char *const switches[] = {"off", "on", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "error against the law given at which the solver stops",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-8},
    [MAX_ITERATIONS] =
        {.name = "max_iterations",
         .help = "limit of the Levenberg-Marquardt steps and of the Newton steps in proximal outer iterations",
         .low = 0,
         .high = 1e6,
         .default_value = 1000,
         .integer = true},
    [RESTART] = {.name = "restart",
                 .help = "in a minimum that is no solution: proximal outer iterations, then a restart from zero",
                 .high = 1,
                 .default_value = 1,
                 .integer = true,
                 .choices = switches,
                 .study = true},
    [MAX_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double PROGRESS_RATIO = 0.9; /* of E: a smaller gain does not replace the best point */
enum { MAX_STALLED_ITERATIONS = 15 };     /* that do not halve |r|^2, where a restart may follow */

typedef struct search {
    residual_map h;
    residual_newton step;
    levenberg_problem problem;
    levenberg_kind kind;
    solver_call *call;
    sim_solution best;
    double *x, *other, *F; /* point of least E; start of the next attempt */
} search;

static void eval_residual(void *self, const double *x, double *r) { residual_map_eval(&((search *)self)->h, x, r); }
static double eval_error(void *self, const double *x) { return residual_map_error(&((search *)self)->h, x); }

static void linearise_map(void *self, const double *x) {
    search *s = self;
    residual_map_slopes(&s->h, x, s->F);
    residual_newton_form(&s->step, s->F, NULL, NULL);
}

static bool make_step(void *self, const double *r, double lambda, double *dx, double *range) {
    return residual_newton_least_squares(&((search *)self)->step, r, lambda, dx, range);
}

static void multiply_by_jacobian(void *self, const double *dx, double *image) {
    search *s = self;
    residual_map_jacobian_times(&s->h, s->F, dx, image);
}

static bool has_mncp_ended(const search *s) {
    return s->best.outcome <= SIM_AT_ROUNDING || s->best.iterations >= s->problem.max_iterations ||
           solution_stopped(s->call->out);
}

/* Continues from `other` with the iterations left and keeps the better point.  False without memory. */
static bool continue_from_other(search *s) {
    sim_solution *out = s->call->out, *best = &s->best;
    levenberg_problem rest = s->problem;
    rest.max_iterations -= best->iterations;
    if (!levenberg_solve(&rest, s->kind, s->call, s->other)) {
        return false;
    }
    best->iterations += out->iterations;
    if (out->residual < PROGRESS_RATIO * best->residual) {
        best->residual = out->residual;
        best->outcome = out->outcome;
        best->reason = out->reason;
        memcpy(s->x, s->other, (size_t)s->h.n * sizeof *s->x);
    }
    return true;
}

/* Proximal outer iterations from the point of least E; false without memory. */
static bool solve_mncp_softened(search *s) {
    sim_solution *out = s->call->out;
    proximal p = {.h = &s->h,
                  .step = &s->step,
                  .call = s->call,
                  .tolerance = s->problem.tolerance,
                  .max_iterations = s->problem.max_iterations,
                  .x = s->x,
                  .E = s->best.residual};
    out->iterations = s->best.iterations;
    bool done = proximal_solve(&p);
    s->best.iterations = out->iterations;
    s->best.residual = p.E;
    s->best.outcome = p.E <= p.tolerance ? SIM_SOLVED : s->best.outcome;
    s->best.reason = p.E <= p.tolerance ? SIM_REASON_NONE : s->best.reason;
    return done;
}

/* x <- point of least E, `out` <- its outcome; false without memory. */
static bool find_mncp_solution(search *s) {
    sim_solution *out = s->call->out;
    bool restart = (int)s->call->option[RESTART];
    /* first search, until it stalls */
    s->problem.max_stalled_iterations = restart ? MAX_STALLED_ITERATIONS : 0;
    if (!levenberg_solve(&s->problem, s->kind, s->call, s->x)) {
        return false;
    }
    s->best = *out;
    /* restart: softened problem, then a search from zero impulses */
    if (restart && s->best.outcome == SIM_STALLED) {
        if (!solve_mncp_softened(s)) {
            return false;
        }
        memset(s->other, 0, (size_t)s->h.n * sizeof *s->other);
        residual_map_from_impulse(&s->h, s->other, s->other);
        s->problem.max_stalled_iterations = 0;
        if (!has_mncp_ended(s) && !continue_from_other(s)) {
            return false;
        }
    }
    /* outcome of all searches together */
    bool spent = s->best.outcome == SIM_STALLED && s->best.iterations >= s->problem.max_iterations;
    out->iterations = s->best.iterations;
    out->residual = s->best.residual;
    out->outcome = spent ? SIM_AT_LIMIT : s->best.outcome;
    out->reason = spent ? SIM_REASON_NONE : s->best.reason;
    return true;
}

static sim_status solve_mncp(solver_call *call, levenberg_kind kind) {
    dual d;
    search s = {.kind = kind, .call = call};
    /* memory and start */
    double *x = ARENA_NEW(call->scratch, double, 2 * call->problem->nrow);
    s.F = ARENA_NEW(call->scratch, double, RESIDUAL_BLOCK * call->problem->nconstraint);
    if (!x || !s.F || !dual_make(&d, call, call->scratch) || !residual_map_make(&s.h, &d, call->scratch) ||
        !residual_newton_make(&s.step, &s.h, call->scratch) || !residual_map_start(&s.h, call, x)) {
        return SIM_NO_RESOURCE;
    }
    /* Levenberg-Marquardt search on r(x) = 0 */
    s.problem = (levenberg_problem){.n = d.n,
                                    .self = &s,
                                    .residual = eval_residual,
                                    .error = eval_error,
                                    .linearise = linearise_map,
                                    .step = make_step,
                                    .jacobian_times = multiply_by_jacobian,
                                    .tolerance = call->option[TOLERANCE],
                                    .max_iterations = (int)call->option[MAX_ITERATIONS]};
    s.x = x;
    s.other = x + d.n;
    if (!find_mncp_solution(&s)) {
        return SIM_NO_RESOURCE;
    }
    /* impulses in units of the problem */
    residual_map_unscale(&s.h, x, s.other);
    solution_write(call, s.other);
    return SIM_OK;
}

static sim_status solve_mncp_regular(solver_call *call) { return solve_mncp(call, LEVENBERG_REGULAR); }
static sim_status solve_mncp_projected(solver_call *call) { return solve_mncp(call, LEVENBERG_PROJECTED); }

static double count_mncp_dense(const sim_problem *p, const double *option) {
    (void)option;
    return residual_newton_dense_numbers(p->nrow);
}

#define INFO(NAME, METHOD)                                                                                             \
    {                                                                                                                  \
        .name = NAME, .method = METHOD, .paper = "Mylapilli and Jain 2016; Todorov 2010", .cone = SIM_CONE_STRICT,     \
        .default_law = SIM_RIGID, .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1, .local = true, .asymmetric = true,        \
        .noptions = OPTIONS, .option = options,                                                                        \
    }

const solver_type solver_mncp_rlm = {
    .info = INFO("mncp-rlm", "one unknown for impulse and velocity, regular Levenberg-Marquardt"),
    .lapack = 1,
    .dense = count_mncp_dense,
    .solve = solve_mncp_regular,
};

const solver_type solver_mncp_plm = {
    .info = INFO("mncp-plm", "one unknown for impulse and velocity, nonmonotone Levenberg-Marquardt"),
    .lapack = 1,
    .dense = count_mncp_dense,
    .solve = solve_mncp_projected,
};
