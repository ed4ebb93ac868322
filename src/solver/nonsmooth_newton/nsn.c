/* Nonsmooth Newton method (Macklin et al. 2019) on the velocities of a step.
 *
 * Rows are equations phi(gamma, s) = 0, friction is a compliance Wf (rows.c), and s = (W + R) gamma + q.  With alpha,
 * beta the slopes of phi a Newton step is (eqs. 53-59; rows over alpha, so that the matrix is symmetric)
 *
 *     (W + C + epsilon) x = -h,     normal:   C = R + r beta / alpha,  h = phi / alpha
 *                                   friction: C = R + Wf,              h = s_t + Wf gamma_t
 *                                   equality: C = R,                   h = s
 *
 * and gamma <- gamma + t x.  A row with alpha = 0 is left out, its impulse set to 0.  epsilon, 1e-6 of the diagonal,
 * does not change the solution.  t is 0.75, and 1 once the set of rows is constant for two steps.
 *
 * Differs from the paper: with constant Wf the steps are a fixed-point iteration, which does not contract where
 * contacts share a load and slide.  Friction uses its whole derivative (newton.c), in proximal outer iterations
 * (rounds.c), unless an option or the size for LU forbid it.  The paper's iteration follows where those stall.  It has
 * Anderson acceleration while the set of rows is constant.  If E has not halved in fifty steps, nor fallen in most of
 * them, it restarts from zero, or from the best impulses if near.  Then r of friction and epsilon are smaller, and
 * linear systems more exact.
 *
 * Gaps change with v as J says.  Where the problem has positions, gaps can be evaluated at the end of the step
 * (positions.c). */
#include "solver/nonsmooth_newton/nsn.h"
#include "solver/nonsmooth_newton/newton.h"

#include <math.h>
#include <string.h>

static const char *const functions[] = {"minimum", "fischer-burmeister", NULL};
static const char *const methods[] = {"pcr", "pcg", "jacobi", "gauss-seidel", "cholesky", NULL};
static const char *const switches[] = {"off", "on", NULL};
static const char *const frictions[] = {"fixed-point", "newton", "auto", NULL};
static const char *const ways[] = {"adapted", "fixed", NULL};

static const sim_solver_option options[NSN_OPTIONS] = {
    [NSN_TOLERANCE] = {.name = "tolerance",
                       .help = "error against the law given at which the solver stops",
                       .low = 0,
                       .high = 1,
                       .default_value = 1e-8},
    [NSN_MAX_ITERATIONS] = {.name = "max_iterations",
                            .help = "limit of the Newton steps",
                            .low = 0,
                            .high = 1e6,
                            .default_value = 2000,
                            .integer = true},
    [NSN_FUNCTION] = {.name = "function",
                      .help = "complementarity function",
                      .high = 1,
                      .default_value = 1,
                      .integer = true,
                      .choices = functions,
                      .study = true},
    [NSN_LINEAR] = {.name = "linear",
                    .help = "method for linear systems",
                    .high = SCHUR_METHODS - 1,
                    .default_value = SCHUR_PCR,
                    .integer = true,
                    .choices = methods,
                    .study = true},
    [NSN_LINEAR_ITERATIONS] = {.name = "linear_iterations",
                               .help = "limit of the iterations of one linear system, at first",
                               .low = 1,
                               .high = 1e6,
                               .default_value = 500,
                               .integer = true,
                               .study = true},
    [NSN_LINEAR_TOLERANCE] = {.name = "linear_tolerance",
                              .help = "tolerance of linear systems, on the relative residual",
                              .low = 0,
                              .high = 1,
                              .default_value = 1e-3,
                              .study = true},
    [NSN_PRECONDITIONED] = {.name = "preconditioned",
                            .help = "scale impulses by inverse mass in complementarity functions",
                            .high = 1,
                            .default_value = 1,
                            .integer = true,
                            .choices = switches,
                            .study = true},
    [NSN_R] = {.name = "r",
               .help = "the r of friction: reduced where Wf oscillates, or fixed",
               .high = 1,
               .default_value = NSN_R_ADAPTED,
               .integer = true,
               .choices = ways,
               .study = true},
    [NSN_EPSILON] = {.name = "epsilon",
                     .help = "regularisation of the diagonal of linear systems, relative",
                     .low = 0,
                     .high = 1,
                     .default_value = 1e-6,
                     .study = true},
    [NSN_POSITIONS] = {.name = "positions",
                       .help = "gaps at the end of the step, if the problem provides them",
                       .high = 1,
                       .integer = true,
                       .choices = switches},
    [NSN_STIFFNESS] = {.name = "stiffness",
                       .help = "with positions: geometric stiffness in the matrix",
                       .high = 1,
                       .default_value = 1,
                       .integer = true,
                       .choices = switches,
                       .study = true},
    [NSN_FRICTION] = {.name = "friction",
                      .help = "compliance by fixed point, by its whole derivative, or by the latter up to 3000 rows",
                      .high = NSN_FRICTIONS - 1,
                      .default_value = NSN_FRICTION_AUTO,
                      .integer = true,
                      .choices = frictions,
                      .study = true},
    [NSN_MAX_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double MAX_ROUNDED_E = 1e-12; /* E of a stalled solution that counts as solved to rounding */
static const double SOFTNESS_FACTOR = 0.01, MIN_SOFTNESS = 1e-6; /* on the r of friction, each attempt */
static const double LOOSE_FACTOR = 0.5, MIN_LOOSE = 1e-6;        /* on tolerance and epsilon, each attempt */
enum { ANDERSON_WINDOW = 3, MIN_STEADY_STEPS = 5, MAX_STALLED_STEPS = 50, MAX_ATTEMPTS = 40 };
enum { MAX_LU_ROWS = 3000 }; /* the matrix has 72 MB */

/* An attempt: from zero, until E no longer halves. */
typedef struct attempt {
    int number, since, falls; /* index; step of the last halving of E; steps since then with a new least E */
    double E, mark;           /* least E; E at the last halving */
} attempt;

/* gamma <- gamma + t x; false: singular. */
static bool step_fixed_point(nsn *m) {
    for (int k = 0; k < m->n; k++) {
        m->x[k] = m->matrix.out[k] && !nsn_is_given(m, k) ? m->gamma[k] : 0; /* removed */
    }
    schur_times(&m->matrix, m->x, m->rhs);
    for (int k = 0; k < m->n; k++) {
        m->rhs[k] -= m->matrix.out[k] ? 0 : m->h[k];
    }
    bool done = nsn_solve_linear(m);
    double t = nsn_step_length(m);
    for (int k = 0; k < m->n && done; k++) {
        double step = m->matrix.out[k] ? -m->gamma[k] : m->x[k];
        m->gamma[k] += nsn_is_given(m, k) ? 0 : t * step;
    }
    return done;
}

/* Starts the next attempt where this one has stalled; false: that was the last. */
static bool continue_attempt(nsn *m, attempt *a, int k) {
    a->falls += m->E < a->E;
    a->E = fmin(a->E, m->E);
    if (a->E < 0.5 * a->mark) {
        a->mark = a->E;
        a->since = k;
        a->falls = 0;
    }
    if (k - a->since <= MAX_STALLED_STEPS || 2 * a->falls > k - a->since) {
        return true;
    }
    bool near = a->E < MAX_E_AT_ROUNDING;
    *a = (attempt){.number = a->number + 1, .since = k, .E = HUGE_VAL, .mark = HUGE_VAL};
    m->loose = fmax(MIN_LOOSE, LOOSE_FACTOR * m->loose);
    m->softer = fmax(MIN_SOFTNESS, SOFTNESS_FACTOR * m->softer);
    nsn_restart(m);
    if (near) {
        memcpy(m->gamma, m->best, (size_t)m->n * sizeof *m->gamma);
    }
    nsn_eval_error(m);
    return a->number < MAX_ATTEMPTS;
}

static bool uses_derivative(const nsn *m) {
    int way = (int)m->call->option[NSN_FRICTION];
    return way == NSN_FRICTION_NEWTON || (way == NSN_FRICTION_AUTO && m->n <= MAX_LU_ROWS);
}

static sim_outcome iterate_fixed_point(nsn *m, anderson *acceleration, int k) {
    bool steady = m->steady >= MIN_STEADY_STEPS;
    if (!steady) {
        anderson_restart(acceleration);
    }
    anderson_begin(acceleration, m->gamma);
    nsn_linearise_rows(m);
    m->call->out->iterations = k + 1;
    if (!step_fixed_point(m)) {
        return SIM_BROKEN_DOWN;
    }
    if (steady) {
        anderson_end(acceleration, m->gamma);
    }
    nsn_eval_error(m);
    solver_record(m->call, m->E, NAN);
    m->call->out->reason = isfinite(m->E) ? SIM_REASON_NONE : SIM_REASON_NONFINITE;
    return isfinite(m->E) ? SIM_AT_LIMIT : SIM_BROKEN_DOWN;
}

static sim_outcome iterate_attempts(nsn *m, anderson *acceleration) {
    const double *o = m->call->option;
    int first = m->call->out->iterations;
    attempt a = {.since = first, .E = HUGE_VAL, .mark = HUGE_VAL};
    sim_outcome end = SIM_AT_LIMIT;
    for (int k = first; k < (int)o[NSN_MAX_ITERATIONS] && end == SIM_AT_LIMIT && !(m->best_E <= o[NSN_TOLERANCE]) &&
                        !solution_stopped(m->call->out);
         k++) {
        end = continue_attempt(m, &a, k) ? iterate_fixed_point(m, acceleration, k) : SIM_STALLED;
    }
    return end;
}

/* Outcome from the end of the iteration and the least E. */
static sim_outcome outcome_of_end(const nsn *m, sim_outcome end) {
    if (m->best_E <= m->call->option[NSN_TOLERANCE] || m->best_E <= MAX_ROUNDED_E) {
        return m->best_E <= m->call->option[NSN_TOLERANCE] ? SIM_SOLVED : SIM_AT_ROUNDING;
    }
    if (end == SIM_BROKEN_DOWN) {
        return end;
    }
    if (end == SIM_STALLED) {
        m->call->out->reason = SIM_REASON_STANDSTILL;
    }
    return end;
}

/* The paper's iteration; false without memory. */
static bool find_fixed_point(nsn *m, sim_outcome *end) {
    anderson acceleration;
    if (!anderson_make(&acceleration, m->n, ANDERSON_WINDOW, m->call->scratch)) {
        return false;
    }
    acceleration.max_growth = 1;
    for (int k = 0; k < m->n; k++) {
        acceleration.scale[k] = sqrt(m->matrix.diagonal[k]);
    }
    *end = iterate_attempts(m, &acceleration);
    return true;
}

/* Matrices of LU and of linear=cholesky. */
static double count_nsn_dense(const sim_problem *p, const double *option) {
    int way = (int)option[NSN_FRICTION],
        lu = way == NSN_FRICTION_NEWTON || (way == NSN_FRICTION_AUTO && p->nrow <= MAX_LU_ROWS);
    return (double)p->nrow * p->nrow * (lu + ((int)option[NSN_LINEAR] == SCHUR_CHOLESKY));
}

static sim_status solve_nsn(solver_call *call) {
    nsn m;
    sim_outcome end;
    /* gaps at the end of the step: a method of its own */
    if (call->option[NSN_POSITIONS] > 0 && call->problem->positions) {
        return nsn_solve_positions(call) ? SIM_OK : SIM_NO_RESOURCE;
    }
    /* memory and start */
    if (!nsn_make(&m, call) ||
        !schur_make(&m.matrix, call->problem, (schur_method)call->option[NSN_LINEAR], call->scratch)) {
        return SIM_NO_RESOURCE;
    }
    nsn_begin(&m);
    nsn_eval_error(&m);
    solver_record(call, m.E, NAN);
    /* proximal outer iterations with the derivative of friction */
    bool proximal = uses_derivative(&m), automatic = (int)call->option[NSN_FRICTION] == NSN_FRICTION_AUTO;
    if (proximal && !nsn_solve_proximal(&m, &end)) {
        return SIM_NO_RESOURCE;
    }
    /* the fixed point of the paper, asked for or after a stall */
    if (!proximal || (automatic && end == SIM_STALLED)) {
        nsn_restart(&m);
        nsn_eval_error(&m);
        if (!find_fixed_point(&m, &end)) {
            return SIM_NO_RESOURCE;
        }
    }
    /* the best iterate is the solution */
    call->out->outcome = outcome_of_end(&m, end);
    call->out->residual = m.best_E;
    solution_write(call, m.best);
    return SIM_OK;
}

const solver_type solver_nsn = {
    .info = {.name = "nsn",
             .method = "nonsmooth Newton in proximal outer iterations, or with friction as a compliance",
             .paper = "Macklin et al. 2019",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = true,
             .positions = NSN_POSITIONS + 1,
             .counts = SIM_COUNTS_SEARCHES | SIM_COUNTS_FAILURES | SIM_COUNTS_WHOLE_STEPS,
             .noptions = NSN_OPTIONS,
             .option = options},
    .dense = count_nsn_dense,
    .solve = solve_nsn,
};
