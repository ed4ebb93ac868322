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
#include "solver/turning.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, OPTIONS = DIRECTIONS + 3 };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance",
                   "E that is still an answer; with other alignments than following, error of complementarity", 0, 1,
                   1e-9, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "pivots", 1, 1e9, 10000, 1, NULL},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
};

static const double REDUNDANT = 1e-12; /* of the greatest diagonal: less is left of a row that is a sum of others */
static const double ROUNDING = 1e-9;   /* errors of complementarity up to this come from rounding */
static const double SOFT = 1e-9, SOFTEN = 100;
static const double WORTH = 0.9; /* of E: less is no progress */
/* So often with something on the diagonal, each as much so often; rounds of directions without progress. */
enum { SOFTER = 9, AGAIN = 3, PATIENCE = 8 };

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

/* What a path works on: M and q with unknowns without bounds first. */
typedef struct pivoting {
    const polyhedral *p;
    solver_call *call;
    double *M, *sorted, *q, *z, *near; /* [n x n] both; [n] the others */
    int *order, *solved;               /* [n] */
    int free;
} pivoting;

static int make(pivoting *v, const polyhedral *p, solver_call *call) {
    size_t n = (size_t)p->n;
    *v = (pivoting){.p = p, .call = call};
    v->M = sim_arena_alloc(call->scratch, 2 * n * n, sizeof *v->M);
    v->q = ARENA_NEW(call->scratch, double, 3 * n);
    v->order = ARENA_NEW(call->scratch, int, 2 * n);
    if (!v->M || !v->q || !v->order) {
        return 0;
    }
    v->sorted = v->M + n * n;
    v->z = v->q + n;
    v->near = v->q + 2 * n;
    v->solved = v->order + n;
    return 1;
}

static void sort(pivoting *v) {
    int last = 0;
    for (int free = 1; free >= 0; free--) {
        for (int i = 0; i < v->p->n; i++) {
            if (v->p->unknown[i].free == free) {
                v->order[last++] = i;
            }
        }
        v->free = free ? last : v->free;
    }
}

/* x of all unknowns, with M + soft and q - soft near; 0 without memory. */
static int walk(pivoting *v, double soft, double *x, lemke_answer *path) {
    size_t n = (size_t)v->p->n, free = (size_t)v->free, mark = sim_arena_mark(v->call->scratch);
    for (size_t i = 0; i < n; i++) {
        size_t from = (size_t)v->order[i];
        for (size_t j = 0; j < n; j++) {
            v->sorted[i * n + j] = v->M[from * n + (size_t)v->order[j]] + (i == j ? soft : 0);
        }
        v->q[i] = v->p->q[from] - soft * v->near[from];
    }
    eliminate(n, free, v->sorted, v->q, v->solved);
    lemke_problem rest = {(int)(n - free),
                          v->sorted + free * n + free,
                          v->q + free,
                          (int)n,
                          (int)v->call->option[MAX_ITERATIONS] - path->pivots,
                          stopped,
                          v->call->out};
    int before = path->pivots;
    path->x = v->z + free;
    if (!lemke_solve(&rest, v->call->scratch, path)) {
        return 0;
    }
    path->pivots += before;
    for (size_t k = 0; k < free; k++) {
        v->z[k] = v->solved[k] ? v->q[k] + dense_dot(rest.n, v->sorted + k * n + free, path->x) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        x[v->order[i]] = v->z[i];
    }
    sim_arena_release(v->call->scratch, mark);
    return 1;
}

/* As it is; where rounding spoils the path, as it does where contacts share loads and bases are singular but for that, with a
 * little on the diagonal, and again from there, so that nothing of that little is left.  x of least error; 0 without memory. */
static int answer(pivoting *v, double *x, double *error, lemke_answer *path) {
    const polyhedral *p = v->p;
    size_t n = (size_t)p->n;
    double tolerance = v->call->option[TOLERANCE], most = v->call->option[MAX_ITERATIONS], *y = v->z,
           *other = ARENA_NEW(v->call->scratch, double, n);
    if (!other) {
        return 0;
    }
    sort(v);
    polyhedral_matrix(p, v->M);
    memset(v->near, 0, n * sizeof *v->near);
    if (!walk(v, 0, x, path)) {
        return 0;
    }
    *error = polyhedral_error(p, x, y);
    for (int k = 0; k < SOFTER && !(*error <= tolerance) && path->pivots < most && !stopped(v->call->out); k++) {
        double soft = SOFT * pow(SOFTEN, k / AGAIN);
        lemke_answer softened = {.pivots = path->pivots};
        if (k % AGAIN == 0) {
            memset(v->near, 0, n * sizeof *v->near);
        }
        if (!walk(v, soft, other, &softened)) {
            return 0;
        }
        path->pivots = softened.pivots;
        memcpy(v->near, other, n * sizeof *other);
        double off = polyhedral_error(p, other, y);
        if (off < *error) {
            *error = off;
            path->end = softened.end;
            memcpy(x, other, n * sizeof *x);
        }
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

/* Rounds with the directions of the answer before (turning.c), as long as E falls. */
static int follow(pivoting *v, polyhedral *p, double *x, double *gamma, double *best, lemke_answer *path) {
    sim_solution *out = v->call->out;
    double tolerance = v->call->option[TOLERANCE], most = v->call->option[MAX_ITERATIONS], own, least = HUGE_VAL;
    int follows = polyhedral_options_of(v->call->option + DIRECTIONS).alignment == POLYHEDRAL_FOLLOWING;
    for (int since = 0; since < PATIENCE; since++) {
        size_t mark = sim_arena_mark(v->call->scratch);
        if (!answer(v, x, &own, path)) {
            return 0;
        }
        sim_arena_release(v->call->scratch, mark);
        out->searches++;
        polyhedral_impulse(p, x, gamma);
        double error = follows ? dual_error(p->dual, gamma, p->s) : own;
        solver_record(v->call, error, NAN);
        since = error < WORTH * least ? -1 : since;
        if (error < least || out->searches == 1) {
            least = error;
            out->residual = error;
            out->outcome = outcome(path, error, tolerance);
            memcpy(best, gamma, (size_t)p->dual->n * sizeof *best);
        }
        if (!follows || least <= tolerance || path->end == LEMKE_LIMIT || path->pivots >= most || stopped(out)) {
            return 1;
        }
        turning_turn(p, 1, x, v->z);
    }
    return 1;
}

static int solve(solver_call *call) {
    dual d;
    polyhedral p;
    pivoting v;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch) || !make(&v, &p, call)) {
        return 0;
    }
    lemke_answer path = {.pivots = 0};
    double *x = ARENA_NEW(call->scratch, double, p.n), *gamma = ARENA_NEW(call->scratch, double, 2 * d.n);
    if (!x || !gamma || !follow(&v, &p, x, gamma, gamma + d.n, &path)) {
        return 0;
    }
    sim_solution *out = call->out;
    out->reason = path.end == LEMKE_RAY        ? SIM_REASON_RAY
                  : path.end == LEMKE_LIMIT    ? SIM_REASON_NONE
                  : path.end == LEMKE_SINGULAR ? SIM_REASON_SINGULAR
                                               : SIM_REASON_STANDSTILL;
    out->iterations = path.pivots;
    solver_hand_out(call, gamma + d.n);
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
