/* Todorov's implicit complementarity (Todorov 2010): one unknown x = s - gamma for impulse and velocity of a contact, which
 * obey the law whatever x is (residual_map.h), and the least squares
 *
 *     l(x) = |r|^2 / 2,     r(x) = (W + R) gamma(x) + q - s(x)                                             (eqs. 15-19)
 *
 * by Gauss and Newton with H = J' J + lambda 1.  l has kinks where a contact changes between break, slip and stick, and
 * what is best often lies on one (cone_kinks.h).  So
 *
 *   - an x on an edge whose both sides go uphill stays on it: its derivative is the mean of the two sides that makes l flat
 *     across (eq. 26), its steps are tangents B of the edge (28), (29), put back on it afterwards;
 *   - the Newton point is taken if l falls by half of what the model says; if not, lambda grows, and l is searched along
 *     the dogleg x - Cauchy point - Newton point, piece by piece between all crossings of edges, ends included.
 *
 * It starts where everything would stick, or at the guess.  What it does where nothing is better any more, a minimum that is
 * no answer or one that the edges hide, stands in incp_restart.c.
 *
 * Refinements can be left out, to see what they are good for: edges, dogleg, projection, restart. */
#include "solver/implicit/incp.h"

#include <math.h>
#include <string.h>

static const char *const switches[] = {"off", "on", NULL};
static const char *const starts[] = {"guess", "sticking", NULL};

static const char *const restarts[] = {"off", "once", "on", NULL};

static const sim_solver_option options[INCP_OPTIONS] = {
    [INCP_TOLERANCE] = {.name = "tolerance", .help = "E at which it stops", .low = 0, .high = 1, .default_value = 1e-8},
    [INCP_MAX_ITERATIONS] = {.name = "max_iterations",
                             .help = "of Gauss and Newton, of all descents and rounds",
                             .low = 0,
                             .high = 1e6,
                             .default_value = 1000,
                             .integer = true},
    [INCP_EDGES] = {.name = "edges",
                    .help = "stay on edges where both sides go uphill",
                    .high = 1,
                    .default_value = 1,
                    .integer = true,
                    .choices = switches,
                    .study = true},
    [INCP_DOGLEG] = {.name = "dogleg",
                     .help = "search between crossings where the Newton point is bad",
                     .high = 1,
                     .default_value = 1,
                     .integer = true,
                     .choices = switches,
                     .study = true},
    [INCP_PROJECTION] = {.name = "projection",
                         .help = "put steps along an edge back on it",
                         .high = 1,
                         .default_value = 1,
                         .integer = true,
                         .choices = switches,
                         .study = true},
    [INCP_RESTART] =
        {.name = "restart",
         .help = "in a minimum that is no answer: once, from 100 sweeps of Gauss and Seidel; on: from more, and "
                 "by softer rounds",
         .high = 2,
         .default_value = 2,
         .integer = true,
         .choices = restarts,
         .study = true},
    [INCP_START] = {.name = "start",
                    .help = "at the guess where that is better, or always where all would stick",
                    .high = 1,
                    .integer = true,
                    .choices = starts,
                    .study = true},
    [INCP_MOST_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double ROUNDED = 1e-12; /* an E that is as good as none */

static sim_status solve(solver_call *call) {
    incp m;
    dual d;
    double tolerance = call->option[INCP_TOLERANCE];
    int sticking = (int)call->option[INCP_START];
    if (!incp_make(&m, call, &d) || !(sticking ? hybrid_stick : hybrid_start)(&m.h, call, m.other)) {
        return SIM_NO_RESOURCE;
    }
    memcpy(m.best, m.other, (size_t)m.h.n * sizeof *m.best); /* where E is no number nothing is better */
    incp_stand(&m, m.other);
    sim_outcome end;
    if (!incp_descend_and_restart(&m, &end)) {
        return SIM_NO_RESOURCE;
    }
    sim_solution *out = call->out;
    out->residual = m.E;
    out->outcome = m.E <= tolerance                       ? SIM_SOLVED
                   : !isfinite(m.E)                       ? SIM_BROKEN_DOWN
                   : end == SIM_STALLED && m.E <= ROUNDED ? SIM_AT_ROUNDING
                                                          : end;
    out->reason = !isfinite(m.E) ? SIM_REASON_NONFINITE : end == SIM_STALLED ? SIM_REASON_MINIMUM : SIM_REASON_NONE;
    hybrid_unscale(&m.h, m.best, m.other);
    solution_write(call, m.other);
    return SIM_OK;
}

static double dense(const sim_problem *p, const double *option) {
    (void)option;
    return hybrid_step_dense(p->nrow);
}

const solver_type solver_incp = {
    .info = {.name = "incp",
             .method = "implicit complementarity, Gauss-Newton that knows the edges",
             .paper = "Todorov 2010",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = 1,
             .asymmetric = 1,
             .counts = SIM_COUNTS_SEARCHES | SIM_COUNTS_FAILURES | SIM_COUNTS_WHOLE_STEPS | SIM_COUNTS_PLACES,
             .noptions = INCP_OPTIONS,
             .option = options},
    .lapack = 1,
    .dense = dense,
    .solve = solve,
};
