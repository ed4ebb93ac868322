/* INCP: implicit complementarity after Todorov 2010, by Gauss-Newton descent.
 *
 * One unknown x = s - gamma for impulse and velocity of a contact, which obey the law for any x (residual_map.h):
 *
 *     minimise l(x) = |r|^2 / 2,     r(x) = (W + R) gamma(x) + q - s(x)                                    (eqs. 15-19)
 *
 * by Gauss-Newton steps with H = J' J + lambda 1.  l has kinks where a contact changes between break, slip and stick,
 * and its minimum often lies on one (cone_kinks.h).  Hence
 *
 *   - an x on an edge from which l rises on both sides stays on it.  Its derivative is the mean of the two sides that
 *     makes l stationary across (eq. 26); its steps are tangents B of the edge (28), (29), then projected onto it;
 *   - the Newton point is accepted if l falls by half of the model's prediction.  Otherwise lambda grows and l is
 *     searched along the dogleg x - Cauchy point - Newton point, piece by piece between all crossings of edges.
 *
 * Start: the sticking solution, or the warm start where |r| is less.  Restarts from minima that are no solutions, and
 * from minima that edges hide: incp_restart.c.  Options switch off edges, dogleg, projection and restart for
 * experiments. */
#include "solver/implicit/incp.h"

#include <math.h>
#include <string.h>

static const char *const switches[] = {"off", "on", NULL};
static const char *const starts[] = {"guess", "sticking", NULL};

static const char *const restarts[] = {"off", "once", "on", NULL};

static const sim_solver_option options[INCP_OPTIONS] = {
    [INCP_TOLERANCE] = {.name = "tolerance",
                        .help = "error against the law given at which the solver stops",
                        .low = 0,
                        .high = 1,
                        .default_value = 1e-8},
    [INCP_MAX_ITERATIONS] = {.name = "max_iterations",
                             .help = "limit of the Gauss-Newton steps, over all descents and outer iterations",
                             .low = 0,
                             .high = 1e6,
                             .default_value = 1000,
                             .integer = true},
    [INCP_EDGES] = {.name = "edges",
                    .help = "stay on edges from which the cost rises on both sides",
                    .high = 1,
                    .default_value = 1,
                    .integer = true,
                    .choices = switches,
                    .study = true},
    [INCP_DOGLEG] = {.name = "dogleg",
                     .help = "exact search along the dogleg where the Newton point is rejected",
                     .high = 1,
                     .default_value = 1,
                     .integer = true,
                     .choices = switches,
                     .study = true},
    [INCP_PROJECTION] = {.name = "projection",
                         .help = "project steps along an edge onto it",
                         .high = 1,
                         .default_value = 1,
                         .integer = true,
                         .choices = switches,
                         .study = true},
    [INCP_RESTART] = {.name = "restart",
                      .help =
                          "in a minimum that is no solution: once, from 100 Gauss-Seidel sweeps; on: from more, and by "
                          "proximal outer iterations",
                      .high = 2,
                      .default_value = 2,
                      .integer = true,
                      .choices = restarts,
                      .study = true},
    [INCP_START] = {.name = "start",
                    .help = "warm start where its residual is less, or always the sticking solution",
                    .high = 1,
                    .integer = true,
                    .choices = starts,
                    .study = true},
    [INCP_MAX_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double MAX_ROUNDED_E = 1e-12; /* E of a stalled solution that counts as solved to rounding */

static sim_status solve_incp(solver_call *call) {
    incp m;
    dual d;
    double tolerance = call->option[INCP_TOLERANCE];
    int sticking = (int)call->option[INCP_START];
    if (!incp_make(&m, call, &d) ||
        !(sticking ? residual_map_start_sticking : residual_map_start)(&m.h, call, m.other)) {
        return SIM_NO_RESOURCE;
    }
    memcpy(m.best, m.other, (size_t)m.h.n * sizeof *m.best); /* kept if E is never finite */
    incp_move_to(&m, m.other);
    sim_outcome end;
    if (!incp_descend_and_restart(&m, &end)) {
        return SIM_NO_RESOURCE;
    }
    sim_solution *out = call->out;
    out->residual = m.E;
    out->outcome = m.E <= tolerance                             ? SIM_SOLVED
                   : !isfinite(m.E)                             ? SIM_BROKEN_DOWN
                   : end == SIM_STALLED && m.E <= MAX_ROUNDED_E ? SIM_AT_ROUNDING
                                                                : end;
    out->reason = !isfinite(m.E) ? SIM_REASON_NONFINITE : end == SIM_STALLED ? SIM_REASON_MINIMUM : SIM_REASON_NONE;
    residual_map_unscale(&m.h, m.best, m.other);
    solution_write(call, m.other);
    return SIM_OK;
}

static double count_incp_dense(const sim_problem *p, const double *option) {
    (void)option;
    return residual_newton_dense_numbers(p->nrow);
}

const solver_type solver_incp = {
    .info = {.name = "incp",
             .method = "implicit complementarity, Gauss-Newton descent that follows the kinks of the cone",
             .paper = "Todorov 2010",
             .cone = SIM_CONE_STRICT,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = true,
             .asymmetric = true,
             .counts = SIM_COUNTS_SEARCHES | SIM_COUNTS_FAILURES | SIM_COUNTS_WHOLE_STEPS | SIM_COUNTS_PLACES,
             .noptions = INCP_OPTIONS,
             .option = options},
    .lapack = 1,
    .dense = count_incp_dense,
    .solve = solve_incp,
};
