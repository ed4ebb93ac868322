/* Nonsmooth Newton (Macklin et al. 2019), on the velocities of a step.
 *
 * Rows are equations phi(gamma, s) = 0, friction a compliance Wf (rows.c), and s = (W + R) gamma + q.  With alpha, beta
 * the slopes of phi, a Newton step is (53-59; rows over alpha, so that the matrix is symmetric and momentum keeps its
 * meaning)
 *
 *     (W + C + epsilon) x = -h,     normal:   C = R + r beta / alpha,  h = phi / alpha
 *                                   friction: C = R + Wf,              h = s_t + Wf gamma_t
 *                                   equality: C = R,                   h = s
 *
 * and gamma <- gamma + t x.  A row with alpha = 0 leaves and takes its impulse with it.  epsilon, 1e-6 of the diagonal,
 * changes the way and not the end.  t is 0.75, and 1 once no row has come or gone in two steps.
 *
 * Beyond the paper: with Wf held constant steps are those of a fixed point, which does not contract where contacts share a
 * load and slide.  So friction is taken with its whole derivative (newton.c), in proximal rounds (rounds.c), unless
 * the paper's way is asked for, or there are too many rows for LU; where rounds stand still it has its chance as well.  On
 * the paper's way, while no row comes or goes, guesses ahead are made (anderson.c).  Where E has not halved in fifty
 * steps, nor fallen in most of them, it goes round in circles: it begins again from nothing, with less r of friction, smaller
 * epsilon and more exact linear systems, a few times; it goes on with these from the best there is where that is near.
 *
 * Gaps change with v as J says: the steps are those of one linearisation of the gaps, given by J and the targets.  Where
 * the problem has positions, gaps can be taken where the step ends (positions.c), by the fixed point. */
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
    [NSN_TOLERANCE] = {.name = "tolerance", .help = "E at which it stops", .low = 0, .high = 1, .default_value = 1e-8},
    [NSN_MAX_ITERATIONS] = {.name = "max_iterations",
                            .help = "Newton steps",
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
                    .help = "how linear systems are answered",
                    .high = SCHUR_METHODS - 1,
                    .default_value = SCHUR_PCR,
                    .integer = true,
                    .choices = methods,
                    .study = true},
    [NSN_LINEAR_ITERATIONS] = {.name = "linear_iterations",
                               .help = "of one linear system, at first",
                               .low = 1,
                               .high = 1e6,
                               .default_value = 500,
                               .integer = true,
                               .study = true},
    [NSN_LINEAR_TOLERANCE] = {.name = "linear_tolerance",
                              .help = "of its residual, relative",
                              .low = 0,
                              .high = 1,
                              .default_value = 1e-3,
                              .study = true},
    [NSN_PRECONDITIONED] = {.name = "preconditioned",
                            .help = "impulses times inverse mass in complementarity functions",
                            .high = 1,
                            .default_value = 1,
                            .integer = true,
                            .choices = switches,
                            .study = true},
    [NSN_R] = {.name = "r",
               .help = "the r of friction: less where it swings, or as it is",
               .high = 1,
               .default_value = NSN_R_ADAPTED,
               .integer = true,
               .choices = ways,
               .study = true},
    [NSN_EPSILON] = {.name = "epsilon",
                     .help = "on the diagonal of linear systems, relative",
                     .low = 0,
                     .high = 1,
                     .default_value = 1e-6,
                     .study = true},
    [NSN_POSITIONS] = {.name = "positions",
                       .help = "gaps are taken where the step ends, if the problem knows",
                       .high = 1,
                       .integer = true,
                       .choices = switches},
    [NSN_STIFFNESS] = {.name = "stiffness",
                       .help = "with positions: the change of J in the matrix",
                       .high = 1,
                       .default_value = 1,
                       .integer = true,
                       .choices = switches,
                       .study = true},
    [NSN_FRICTION] = {.name = "friction",
                      .help = "as a compliance found as a fixed point, by its whole derivative, or so up to 3000 rows",
                      .high = NSN_FRICTIONS - 1,
                      .default_value = NSN_FRICTION_AUTO,
                      .integer = true,
                      .choices = frictions,
                      .study = true},
    [NSN_MOST_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double ROUNDED = 1e-12; /* an E that is as good as none */
static const double SHRINK = 0.01, SMALLEST = 1e-6, CARE = 0.5, MOST_CARE = 1e-6;
enum { WINDOW = 3, CALM = 5, PATIENCE = 50, ATTEMPTS = 40 };
enum { MOST_ROWS = 3000 }; /* for LU: the matrix has 72 MB */

/* An attempt: from nothing, until E no longer halves. */
typedef struct attempt {
    int number, since, falls; /* steps since E halved that made it least */
    double E, mark;           /* the least of it; when it had last halved */
} attempt;

/* gamma <- gamma + t x; 0 if the matrix was singular. */
static int newton_step(nsn *m) {
    for (int k = 0; k < m->n; k++) {
        m->x[k] = m->matrix.out[k] && !nsn_given(m, k) ? m->gamma[k] : 0; /* taken away */
    }
    schur_times(&m->matrix, m->x, m->rhs);
    for (int k = 0; k < m->n; k++) {
        m->rhs[k] -= m->matrix.out[k] ? 0 : m->h[k];
    }
    int done = nsn_linear(m);
    double t = nsn_part(m);
    for (int k = 0; k < m->n && done; k++) {
        double step = m->matrix.out[k] ? -m->gamma[k] : m->x[k];
        m->gamma[k] += nsn_given(m, k) ? 0 : t * step;
    }
    return done;
}

/* 0 if this attempt and all there may be have come to an end. */
static int go_on(nsn *m, attempt *a, int k) {
    a->falls += m->E < a->E;
    a->E = fmin(a->E, m->E);
    if (a->E < 0.5 * a->mark) {
        a->mark = a->E;
        a->since = k;
        a->falls = 0;
    }
    if (k - a->since <= PATIENCE || 2 * a->falls > k - a->since) {
        return 1;
    }
    int near = a->E < MAX_E_AT_ROUNDING;
    *a = (attempt){.number = a->number + 1, .since = k, .E = HUGE_VAL, .mark = HUGE_VAL};
    m->loose = fmax(MOST_CARE, CARE * m->loose);
    m->softer = fmax(SMALLEST, SHRINK * m->softer);
    nsn_start(m);
    if (near) {
        memcpy(m->gamma, m->best, (size_t)m->n * sizeof *m->gamma);
    }
    nsn_measure(m);
    return a->number < ATTEMPTS;
}

static int by_derivative(const nsn *m) {
    int way = (int)m->call->option[NSN_FRICTION];
    return way == NSN_FRICTION_NEWTON || (way == NSN_FRICTION_AUTO && m->n <= MOST_ROWS);
}

static sim_outcome step_on(nsn *m, anderson *ahead, int k) {
    int calm = m->steady >= CALM;
    if (!calm) {
        anderson_restart(ahead);
    }
    anderson_begin(ahead, m->gamma);
    nsn_rows(m);
    m->call->out->iterations = k + 1;
    if (!newton_step(m)) {
        return SIM_BROKEN_DOWN;
    }
    if (calm) {
        anderson_end(ahead, m->gamma);
    }
    nsn_measure(m);
    solver_record(m->call, m->E, NAN);
    m->call->out->reason = isfinite(m->E) ? SIM_REASON_NONE : SIM_REASON_NONFINITE;
    return isfinite(m->E) ? SIM_AT_LIMIT : SIM_BROKEN_DOWN;
}

static sim_outcome iterate(nsn *m, anderson *ahead) {
    const double *o = m->call->option;
    int first = m->call->out->iterations;
    attempt a = {.since = first, .E = HUGE_VAL, .mark = HUGE_VAL};
    sim_outcome end = SIM_AT_LIMIT;
    for (int k = first; k < (int)o[NSN_MAX_ITERATIONS] && end == SIM_AT_LIMIT && !(m->best_E <= o[NSN_TOLERANCE]) &&
                        !solution_stopped(m->call->out);
         k++) {
        end = go_on(m, &a, k) ? step_on(m, ahead, k) : SIM_STALLED;
    }
    return end;
}

/* What `end` is called by the best there was. */
static sim_outcome name_end(const nsn *m, sim_outcome end) {
    if (m->best_E <= m->call->option[NSN_TOLERANCE] || m->best_E <= ROUNDED) {
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

/* 0 without memory. */
static int find_fixed_point(nsn *m, sim_outcome *end) {
    anderson ahead;
    if (!anderson_make(&ahead, m->n, WINDOW, m->call->scratch)) {
        return 0;
    }
    ahead.max_growth = 1;
    for (int k = 0; k < m->n; k++) {
        ahead.scale[k] = sqrt(m->matrix.diagonal[k]);
    }
    *end = iterate(m, &ahead);
    return 1;
}

/* Of LU, and of linear=cholesky. */
static double dense(const sim_problem *p, const double *option) {
    int way = (int)option[NSN_FRICTION],
        lu = way == NSN_FRICTION_NEWTON || (way == NSN_FRICTION_AUTO && p->nrow <= MOST_ROWS);
    return (double)p->nrow * p->nrow * (lu + ((int)option[NSN_LINEAR] == SCHUR_CHOLESKY));
}

static sim_status solve(solver_call *call) {
    nsn m;
    sim_outcome end;
    if (call->option[NSN_POSITIONS] > 0 && call->problem->positions) {
        return nsn_with_positions(call) ? SIM_OK : SIM_NO_RESOURCE;
    }
    if (!nsn_make(&m, call) ||
        !schur_make(&m.matrix, call->problem, (schur_method)call->option[NSN_LINEAR], call->scratch)) {
        return SIM_NO_RESOURCE;
    }
    nsn_begin(&m);
    nsn_measure(&m);
    solver_record(call, m.E, NAN);
    int rounds = by_derivative(&m), automatic = (int)call->option[NSN_FRICTION] == NSN_FRICTION_AUTO;
    if (rounds && !nsn_rounds(&m, &end)) {
        return SIM_NO_RESOURCE;
    }
    if (!rounds || (automatic && end == SIM_STALLED)) {
        nsn_start(&m);
        nsn_measure(&m);
        if (!find_fixed_point(&m, &end)) {
            return SIM_NO_RESOURCE;
        }
    }
    call->out->outcome = name_end(&m, end);
    call->out->residual = m.best_E;
    solution_write(call, m.best);
    return SIM_OK;
}

const solver_type solver_nsn = {
    .info = {.name = "nsn",
             .method = "nonsmooth Newton in proximal rounds, or with friction as a compliance",
             .paper = "Macklin et al. 2019",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = 1,
             .positions = NSN_POSITIONS + 1,
             .counts = SIM_COUNTS_SEARCHES | SIM_COUNTS_FAILURES | SIM_COUNTS_WHOLE_STEPS,
             .noptions = NSN_OPTIONS,
             .option = options},
    .dense = dense,
    .solve = solve,
};
