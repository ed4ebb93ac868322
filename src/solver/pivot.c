/* The pivoting reference: the contact problem with pyramids for cones (polyhedral.h), answered to rounding by Lemke's
 * method (lemke.c), which finds an answer wherever the theory says that there is one.
 *
 * Rows without bounds go first, by principal pivots on the greatest diagonal entry that is left,
 *
 *     x_k = (y_k - q_k - sum_j M_kj x_j) / M_kk,     y_k = 0,
 *
 * which leaves the Schur complement for the others; a row that is a sum of others gives nothing.  Dense, and as long as
 * the path takes: for up to a few hundred unknowns, six for each contact. */
#include "math/dense.h"
#include "solver/lemke.h"
#include "solver/polyhedral.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, OPTIONS = DIRECTIONS + 3 };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "error of complementarity that is still an answer", 0, 1, 1e-9, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "pivots", 1, 1e9, 10000, 1, NULL},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
};

static const double REDUNDANT = 1e-12; /* of the greatest diagonal: less is left of a row that is a sum of others */
static const double ROUNDING = 1e-9;   /* errors of complementarity up to this come from rounding */

/* x_k and y_k change places. */
static void principal_pivot(size_t n, double *M, double *q, size_t k) {
    double scale = 1 / M[k * n + k], *own = M + k * n;
    for (size_t j = 0; j < n; j++) {
        own[j] *= -scale;
    }
    q[k] *= -scale;
    own[k] = scale;
    for (size_t i = 0; i < n; i++) {
        double factor = M[i * n + k];
        if (i != k && factor != 0) {
            M[i * n + k] = 0;
            dense_axpy((int)n, factor, own, M + i * n);
            q[i] += factor * q[k];
        }
    }
}

/* Which of the first `free` have been solved for? */
static void eliminate(size_t n, size_t free, double *M, double *q, int *solved) {
    double greatest = 0;
    memset(solved, 0, free * sizeof *solved);
    for (size_t done = 0; done < free; done++) {
        size_t best = free;
        for (size_t k = 0; k < free; k++) {
            best = !solved[k] && (best == free || M[k * n + k] > M[best * n + best]) ? k : best;
        }
        greatest = done == 0 ? M[best * n + best] : greatest;
        if (!(M[best * n + best] > REDUNDANT * greatest)) {
            return;
        }
        principal_pivot(n, M, q, best);
        solved[best] = 1;
    }
}

static int stopped(void *out) { return solution_stopped(out); }

/* x of all unknowns; 0 without memory. */
static int answer(const polyhedral *p, solver_call *call, double *x, lemke_answer *path) {
    size_t n = (size_t)p->n, free = (size_t)p->free;
    double *M = sim_arena_alloc(call->scratch, n * n, sizeof *M), *q = ARENA_NEW(call->scratch, double, n);
    int *solved = ARENA_NEW(call->scratch, int, free);
    if (!M || !q || !solved) {
        return 0;
    }
    memcpy(M, p->M, n * n * sizeof *M);
    memcpy(q, p->q, n * sizeof *q);
    eliminate(n, free, M, q, solved);
    lemke_problem rest = {
        p->n - p->free, M + free * n + free, q + free, p->n, (int)call->option[MAX_ITERATIONS], stopped, call->out};
    path->x = x + free;
    if (!lemke_solve(&rest, call->scratch, path)) {
        return 0;
    }
    for (size_t k = 0; k < free; k++) {
        x[k] = solved[k] ? q[k] + dense_dot(rest.n, M + k * n + free, path->x) : 0;
    }
    return 1;
}

/* However the path ended: what it has come to is an answer, or it is none. */
static sim_outcome outcome(const lemke_answer *path, double error, double tolerance) {
    if (error <= tolerance) {
        return SIM_SOLVED;
    }
    if (error <= ROUNDING) {
        return SIM_AT_ROUNDING;
    }
    return path->end == LEMKE_LIMIT ? SIM_AT_LIMIT : path->end == LEMKE_SINGULAR ? SIM_BROKEN_DOWN : SIM_STALLED;
}

static int solve(solver_call *call) {
    dual d;
    polyhedral p;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch)) {
        return 0;
    }
    lemke_answer path;
    double *x = ARENA_NEW(call->scratch, double, p.n), *y = ARENA_NEW(call->scratch, double, p.n);
    double *gamma = ARENA_NEW(call->scratch, double, d.n);
    if (!x || !y || !gamma || !answer(&p, call, x, &path)) {
        return 0;
    }
    sim_solution *out = call->out;
    out->residual = polyhedral_error(&p, x, y);
    out->outcome = outcome(&path, out->residual, call->option[TOLERANCE]);
    out->reason = path.end == LEMKE_RAY     ? SIM_REASON_RAY
                  : path.end == LEMKE_LIMIT ? SIM_REASON_NONE
                                            : SIM_REASON_SINGULAR;
    out->iterations = path.pivots;
    solver_record(call, out->residual, NAN);
    polyhedral_impulse(&p, x, gamma);
    solver_hand_out(call, gamma);
    return 1;
}

const solver_type solver_mlcp_pivot = {
    .card = {.name = "mlcp-pivot",
             .method = "Lemke's pivots on the problem with pyramids for cones",
             .paper = "Mylapilli and Jain 2016, with Lemke's method in place of PATH",
             .cone = SIM_CONE_PYRAMID,
             .compliance = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = 1,
             .asymmetric = 1,
             .noptions = OPTIONS,
             .option = options},
    .solve = solve,
};
