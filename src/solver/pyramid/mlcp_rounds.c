/* Outer iterations of the pyramid equations (mlcp.c): their solution, and its way to the round cone.
 *
 * First the Levenberg-Marquardt method, regular or projected (levenberg_marquardt.c), as in Mylapilli and Jain 2016,
 * from zero, or from the warm start if |r| is less there.  Small problems and warm starts end within a few iterations.
 * Where a warm start leads into a minimum that is no root, one more attempt with updated directions follows, and one
 * from zero.
 *
 * Then proximal outer iterations (Rockafellar 1976).  Where contacts share loads W is singular, and |r| has long
 * valleys and minima that are no roots.  An outer iteration solves with y + soft (x - near) in place of y, `near` its
 * start: soft is 1 at first, then falls tenfold each time, down to 1e-9.  Once x no longer moves it solves the problem
 * itself.  J is far from singular then, and a step costs a third.
 *
 * With alignment=following every outer iteration begins with directions of the last slip and friction
 * (direction_update.c).  Pyramids then touch the round cone at the solution.  It stops on E, the error of the round
 * cone, or when E no longer falls. */
#include "math/dense.h"
#include "solver/core/stall.h"
#include "solver/matrices/levenberg_marquardt.h"
#include "solver/pyramid/direction_update.h"
#include "solver/pyramid/mlcp.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, MAX_MEMORY = DIRECTIONS + 3, LAMBDA, OPTIONS };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = POLYHEDRAL_TOLERANCE_OPTION,
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "limit of the Levenberg-Marquardt steps",
                        .low = 0,
                        .high = 1e6,
                        .default_value = 500,
                        .integer = true},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
    [MAX_MEMORY] = SOLVER_MEMORY_OPTION,
    [LAMBDA] = {.name = "lambda",
                .help = "weight of the Fischer-Burmeister function beside the product; 1: without the product",
                .low = 0.01,
                .high = 1,
                .default_value = 0.95,
                .study = true},
};

/* Where rows outnumber velocities impulses are not unique and kinks are dead ends: the warm start is lifted off them by
 * this. All directions of a contact are lifted: they are opposites, and their sum stays. */
static const double LIFT_DISTANCE = 0.01;
static const double FIRST_SOFTNESS = 1, SOFTNESS_FACTOR = 0.1, MIN_SOFTNESS = 1e-9;
/* Inner tolerance over softness; over the tolerance; factor on the latter after an outer iteration without steps. */
static const double INNER_OVER_SOFTNESS = 0.1, INNER_OVER_TOLERANCE = 0.01, TIGHTENING_FACTOR = 0.1;
static const double MAX_ROUNDED_ERROR = 1e-12; /* of a stalled solution that counts as solved to rounding */
static const double PROGRESS_RATIO = 0.9;      /* of E, for the stall watch */
enum { MAX_FIRST_ITERATIONS = 30, MAX_INNER_ITERATIONS = 20 };
enum { MAX_SMALL_ROWS = 200 };             /* up to which the unsoftened problem is tried without a warm start */
enum { MAX_STALLED_ITERATIONS = 20 };      /* outer iterations */
enum { MAX_STALLED_INNER_ITERATIONS = 8 }; /* that do not halve |r|^2, with a warm start */
enum { MAX_STALLED_WARM_ITERATIONS = 3 };  /* outer iterations from a warm start, before the restart from zero */

typedef struct search {
    solver_call *call;
    levenberg_kind kind;
    polyhedral *p;
    mlcp m;
    bool follows, warm, overflows;          /* directions are updated; x is the warm start; squares of q overflow */
    double size;                            /* divisor of velocities */
    double *x, *start, *work, *gamma;       /* [n] each; [rows] */
    double *best, least, error;             /* impulses of the least error; last error */
    stall_watch stall;                      /* of the least error, by outer iterations */
    int iterations, rounds, failures, last; /* of the last outer iteration: outcome */
} search;

/* s->gamma <- impulses of x. */
static void store_impulses(search *s, const double *x) {
    const polyhedral *p = s->p;
    polyhedral_velocity(p, x, s->m.y);
    for (int i = 0; i < p->n; i++) { /* the lesser of x and y is 0, but for the error */
        s->work[i] = p->unknown[i].free || x[i] > s->m.y[i] ? s->size * x[i] : 0;
    }
    polyhedral_impulse(p, s->work, s->gamma);
}

static void eval_residual(void *self, const double *x, double *r) { mlcp_residual(&((search *)self)->m, x, r); }
static void linearise_equations(void *self, const double *x) { mlcp_linearise(&((search *)self)->m, x); }
static bool find_step(void *self, const double *r, double lambda, double *dx, double *range) {
    return mlcp_step_solve(&((search *)self)->m, r, lambda, dx, range);
}
static void multiply_by_slopes(void *self, const double *dx, double *Jdx) {
    mlcp_jacobian_times(&((search *)self)->m, dx, Jdx);
}

/* Stopping criterion of an outer iteration: error of its own equations, 0 once the final error suffices.  Keeps the
 * impulses of the least final error. */
static double eval_mlcp_error(void *self, const double *x) {
    search *s = self;
    store_impulses(s, x);
    s->error = s->overflows ? HUGE_VAL
               : s->follows ? dual_error(s->p->dual, s->gamma, s->p->s)
                            : polyhedral_error(s->p, x, s->m.y);
    if (s->error < s->least || s->least == HUGE_VAL) {
        s->least = s->error;
        memcpy(s->best, s->gamma, (size_t)s->p->dual->n * sizeof *s->best);
    }
    if (s->error <= s->call->option[TOLERANCE]) {
        return 0;
    }
    return s->m.soft > 0 ? mlcp_proximal_error(&s->m, x) : s->follows ? polyhedral_error(s->p, x, s->m.y) : s->error;
}

static double recorded_error(void *self) { return ((search *)self)->error; }

static double square_residual(search *s, const double *x) {
    mlcp_residual(&s->m, x, s->work);
    return dense_dot(s->p->n, s->work, s->work);
}

static void lift_unknowns(const search *s, double *x) {
    const polyhedral *p = s->p;
    for (int i = p->free; i < p->n; i++) {
        x[i] += !p->unknown[i].free && (p->unknown[i].normal >= 0 || p->unknown[i].rows == 0) ? LIFT_DISTANCE : 0;
    }
}

/* Scales velocities by the greatest of q; x <- zero or the warm start, whichever has the smaller |r|. */
static void init_search(search *s) {
    polyhedral *p = s->p;
    const sim_problem *problem = s->call->problem;
    const double *guess = problem->impulse_guess;
    /* x of the warm start */
    for (int k = 0; k < p->dual->n; k++) {
        s->gamma[k] = guess && isfinite(guess[k]) ? guess[k] : 0;
    }
    polyhedral_from_impulse(p, s->gamma, s->start, s->m.y);
    /* scale of velocities */
    for (int i = 0; i < p->n; i++) {
        s->size = fmax(s->size, fabs(p->q[i]));
    }
    s->size = s->size > 0 ? s->size : 1;
    s->overflows = !isfinite(dense_dot(p->dual->n, p->dual->q, p->dual->q));
    polyhedral_scale(p, s->size);
    for (int i = 0; i < p->n; i++) {
        s->start[i] /= s->size;
    }
    /* off the kinks, and the better of zero and warm start */
    if (problem->nrow > problem->nv) {
        lift_unknowns(s, s->start);
    }
    memset(s->x, 0, (size_t)p->n * sizeof *s->x);
    s->warm = guess && square_residual(s, s->start) < square_residual(s, s->x);
    if (s->warm) {
        memcpy(s->x, s->start, (size_t)p->n * sizeof *s->x);
    }
}

/* Root mean square of the normal impulses, at least 1. */
static double impulse_unit(const search *s) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < s->p->groups; i++) {
        double own = s->x[s->p->group[i].first];
        if (s->p->group[i].contact >= 0 && own > 0) {
            sum += own * own;
            count++;
        }
    }
    return count ? fmax(1, sqrt(sum / count)) : 1;
}

/* One outer iteration from x with at most `limit` inner ones; false without memory. */
static bool solve_outer_iteration(search *s, double soft, double tolerance, int limit) {
    sim_solution *out = s->call->out;
    size_t mark = arena_mark(s->call->scratch);
    /* inner problem for the Levenberg-Marquardt method */
    levenberg_problem problem = {.n = s->p->n,
                                 .self = s,
                                 .residual = eval_residual,
                                 .error = eval_mlcp_error,
                                 .bounded = s->p->n - s->p->free,
                                 .tolerance = tolerance,
                                 .max_iterations = limit,
                                 .max_stalled_iterations = s->warm ? MAX_STALLED_INNER_ITERATIONS : 0,
                                 .linearise = linearise_equations,
                                 .step = find_step,
                                 .jacobian_times = multiply_by_slopes,
                                 .recorded_error = recorded_error};
    /* y + soft (x - near) in place of y */
    s->m.soft = soft;
    s->m.unit = impulse_unit(s);
    memcpy(s->m.near, s->x, (size_t)s->p->n * sizeof *s->x);
    mlcp_step_prepare(&s->m);
    if (!levenberg_solve(&problem, s->kind, s->call, s->x)) {
        return false;
    }
    arena_release(s->call->scratch, mark);
    /* account of the outer iteration */
    s->m.soft = 0;
    s->iterations += out->iterations;
    s->failures += out->outcome > SIM_AT_ROUNDING;
    s->rounds++;
    s->last = (int)out->outcome;
    return true;
}

static int iterations_left(const search *s) { return (int)s->call->option[MAX_ITERATIONS] - s->iterations; }

static bool has_mlcp_ended(const search *s) {
    return s->least <= s->call->option[TOLERANCE] || iterations_left(s) <= 0 || solution_stopped(s->call->out);
}

static bool has_stalled(search *s) {
    stall_watch_update(&s->stall, s->least);
    return s->stall.stalled >= MAX_STALLED_ITERATIONS;
}

static bool solve_unsoftened(search *s) {
    int left = iterations_left(s);
    return solve_outer_iteration(s, 0, s->call->option[TOLERANCE],
                                 left < MAX_FIRST_ITERATIONS ? left : MAX_FIRST_ITERATIONS);
}

static void restart_from_zero(search *s) { memset(s->x, 0, (size_t)s->p->n * sizeof *s->x); }

/* The unsoftened problem.  A warm start may lead into a minimum of |r| that is no root.  One more attempt follows with
 * the directions there, off the kinks, and one from zero.  False without memory. */
static bool solve_first(search *s) {
    if (!solve_unsoftened(s)) {
        return false;
    }
    for (int again = 0; again < 2 && s->warm && s->last > SIM_AT_ROUNDING && !has_mlcp_ended(s); again++) {
        if (again || !s->follows) {
            restart_from_zero(s);
        } else {
            directions_update(s->p, 1, s->x, s->m.y);
        }
        if (!solve_unsoftened(s)) {
            return false;
        }
    }
    return true;
}

/* The unsoftened problem, then proximal outer iterations; from zero where those from a warm start stall.  False without
 * memory. */
static bool find_mlcp_solution(search *s) {
    double tolerance = s->call->option[TOLERANCE];
    int left = iterations_left(s);
    bool first = s->warm || s->call->problem->nrow <= MAX_SMALL_ROWS;
    if ((first || left == 0) && !solve_first(s)) {
        return false;
    }
    bool near = first && s->last <= SIM_AT_ROUNDING, restarted = !near;
    double soft = near ? MIN_SOFTNESS : FIRST_SOFTNESS, tight = INNER_OVER_TOLERANCE * tolerance;
    for (int iteration = 0; !has_mlcp_ended(s) && !has_stalled(s); iteration++) {
        /* start: zero, or new directions */
        if (!restarted && s->warm && s->stall.stalled >= MAX_STALLED_WARM_ITERATIONS) {
            restarted = true;
            s->stall.stalled = 0;
            soft = FIRST_SOFTNESS;
            restart_from_zero(s);
        } else if (iteration == 0 && !near) {
            restart_from_zero(s);
        } else if (s->follows) {
            directions_update(s->p, 1, s->x, s->m.y);
        }
        if (soft == MIN_SOFTNESS && iteration > 0 && s->warm && s->last > SIM_AT_ROUNDING) {
            lift_unknowns(s, s->x);
        }
        /* the outer iteration; small problems alternate with unsoftened ones at the end */
        left = iterations_left(s);
        double now = soft == MIN_SOFTNESS && first && iteration % 2 ? 0 : soft;
        if (!solve_outer_iteration(s, now, fmax(tight, soft > MIN_SOFTNESS ? INNER_OVER_SOFTNESS * soft : 0),
                                   left < MAX_INNER_ITERATIONS ? left : MAX_INNER_ITERATIONS)) {
            return false;
        }
        tight *= s->call->out->iterations == 0 ? TIGHTENING_FACTOR : 1;
        soft = fmax(SOFTNESS_FACTOR * soft, MIN_SOFTNESS);
    }
    if (s->rounds == 0) { /* stopped before the first outer iteration */
        eval_mlcp_error(s, s->x);
    }
    return true;
}

static void report_outcome(const search *s) {
    sim_solution *out = s->call->out;
    out->iterations = s->iterations;
    out->searches = s->rounds;
    out->failures = s->failures;
    out->residual = s->least;
    out->reason = SIM_REASON_NONE;
    if (s->least <= s->call->option[TOLERANCE]) {
        out->outcome = SIM_SOLVED;
    } else if (!isfinite(s->least)) {
        out->outcome = SIM_BROKEN_DOWN;
        out->reason = SIM_REASON_NONFINITE;
    } else if (s->stall.stalled >= MAX_STALLED_ITERATIONS) {
        out->outcome = s->least <= MAX_ROUNDED_ERROR ? SIM_AT_ROUNDING : SIM_STALLED;
        out->reason = s->last <= SIM_AT_ROUNDING ? SIM_REASON_STANDSTILL : SIM_REASON_MINIMUM;
    } else {
        out->outcome = SIM_AT_LIMIT;
    }
}

static sim_status solve_mlcp(solver_call *call, levenberg_kind kind) {
    dual d;
    polyhedral p;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    search s = {.call = call,
                .kind = kind,
                .p = &p,
                .follows = o.alignment == POLYHEDRAL_FOLLOWING,
                .least = HUGE_VAL,
                .stall = stall_watch_start(PROGRESS_RATIO)};
    /* equations of the pyramids, memory */
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch) ||
        !mlcp_make(&s.m, &p, call->option[LAMBDA], call->scratch) || !(s.m.step = mlcp_step_make(&p, call->scratch))) {
        return SIM_NO_RESOURCE;
    }
    s.x = ARENA_NEW(call->scratch, double, 3 * (size_t)p.n);
    s.gamma = ARENA_NEW(call->scratch, double, 2 * (size_t)d.n);
    if (!s.x || !s.gamma) {
        return SIM_NO_RESOURCE;
    }
    s.start = s.x + p.n;
    s.work = s.x + 2 * p.n;
    s.best = s.gamma + d.n;
    /* start, search, best impulses */
    init_search(&s);
    if (!find_mlcp_solution(&s)) {
        return SIM_NO_RESOURCE;
    }
    report_outcome(&s);
    solution_write(call, s.best);
    return SIM_OK;
}

static sim_status solve_mlcp_regular(solver_call *call) { return solve_mlcp(call, LEVENBERG_REGULAR); }
static sim_status solve_mlcp_projected(solver_call *call) { return solve_mlcp(call, LEVENBERG_PROJECTED); }

static double mlcp_claim(const double *option) { return polyhedral_claim(option + DIRECTIONS, option[TOLERANCE]); }

/* W, and a triangle and a square of impulses (mlcp_step.c). */
static double count_mlcp_dense(const sim_problem *p, const double *option) {
    (void)option;
    return 3 * (double)p->nrow * p->nrow;
}

#define INFO(NAME, METHOD)                                                                                             \
    {                                                                                                                  \
        .name = NAME, .method = METHOD, .paper = "Mylapilli and Jain 2016", .cone = SIM_CONE_PYRAMID,                  \
        .default_law = SIM_RIGID, .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1, .local = true, .asymmetric = true,        \
        .noptions = OPTIONS, .option = options, .claim = mlcp_claim,                                                   \
    }

const solver_type solver_mlcp_pfb_rlm = {
    .info = INFO("mlcp-pfb-rlm", "penalised Fischer-Burmeister function with pyramids, regular Levenberg-Marquardt"),
    .lapack = 1,
    .dense = count_mlcp_dense,
    .solve = solve_mlcp_regular,
};

const solver_type solver_mlcp_pfb_plm = {
    .info = INFO("mlcp-pfb-plm", "penalised Fischer-Burmeister function with pyramids, projected Levenberg-Marquardt"),
    .lapack = 1,
    .dense = count_mlcp_dense,
    .solve = solve_mlcp_projected,
};
