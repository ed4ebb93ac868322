/* Pivoting reference: the contact problem with pyramids for cones (polyhedral.h), solved to rounding by Lemke's
 * algorithm (lemke.c), which finds a solution wherever the theory guarantees one.
 *
 * Rows without bounds go first, by principal pivots on the greatest diagonal entry left,
 *
 *     x_k = (y_k - q_k - sum_j M_kj x_j) / M_kk,     y_k = 0,
 *
 * which leaves the Schur complement for the others; a linearly dependent row is skipped.  Dense, and as long as the
 * path takes: for up to a few hundred unknowns, six for each contact.
 *
 * Where contacts share loads M is singular, and rounding may lead the path onto a ray or away from the solution.  Then
 * further paths add a small softness to the diagonal.  The end of each path is polished on the original equations by
 * Newton's method for min(x, y) = 0, with steps of least norm. */
#include "linalg/dense/lapack.h"
#include "math/dense.h"
#include "solver/core/stall.h"
#include "solver/pyramid/direction_update.h"
#include "solver/pyramid/lemke.h"
#include "solver/pyramid/polyhedral.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, MAX_MEMORY = DIRECTIONS + 3, OPTIONS };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = POLYHEDRAL_TOLERANCE_OPTION,
    [MAX_ITERATIONS] = {.name = "max_iterations",
                        .help = "limit of the pivots",
                        .low = 1,
                        .high = 1e9,
                        .default_value = 10000,
                        .integer = true},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
    [MAX_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double MIN_DIAGONAL_RATIO = 1e-12; /* over the greatest diagonal: below it a row is dependent on others */
static const double MAX_ROUNDING_ERROR = 1e-9;  /* of complementarity, up to which rounding explains it */
static const double SOFTNESS[] = {1e-6, 1e-4, 1e-8}; /* added to the diagonal */
static const double INNER_OVER_E = 1e-2;             /* tolerance of an outer iteration */
static const double MIN_SINGULAR_RATIO = 1e-12; /* over the greatest singular value: below it a value counts as 0 */
static const double POLISH_TOLERANCE = 1e-13;   /* error of complementarity */
static const double PROGRESS_RATIO = 0.9;       /* of an error, for stall watches */
enum { MAX_SOFT_PATHS = 6, PATHS_PER_SOFTNESS = 2 };
enum { MAX_STALLED_ITERATIONS = 8 }; /* outer iterations over the directions */
enum { MAX_POLISH_STEPS = 12, MAX_STALLED_POLISH_STEPS = 3 };
enum { LAPACK_WORK_PER_UNKNOWN = 40 };
enum { MAX_POLISHED_UNKNOWNS = 2000 }; /* up to which least squares take some seconds */

/* Exchanges x_k and y_k. */
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

static bool is_solve_stopped(void *out) { return solution_stopped(out); }

/* Principal pivots on the first `free` unknowns; `solved`: 1 for those eliminated. */
static void eliminate_free_rows(size_t n, size_t free, double *M, double *q, int *solved, sim_solution *out) {
    double greatest = 0;
    memset(solved, 0, free * sizeof *solved);
    for (size_t done = 0; done < free && !(n > MAX_POLISHED_UNKNOWNS && is_solve_stopped(out)); done++) {
        size_t best = free;
        for (size_t k = 0; k < free; k++) {
            best = !solved[k] && (best == free || M[k * n + k] > M[best * n + best]) ? k : best;
        }
        greatest = done == 0 ? M[best * n + best] : greatest;
        if (!(M[best * n + best] > MIN_DIAGONAL_RATIO * greatest)) {
            return;
        }
        principal_pivot(n, M, q, best);
        solved[best] = 1;
    }
}

/* Data of a path: M and q with unknowns without bounds first. */
typedef struct pivoting {
    const polyhedral *p;
    solver_call *call;
    double *M, *sorted, *q, *z, *near; /* [n x n] both; [n] the others */
    int *order, *solved;               /* [n] */
    int free;
    bool follows;         /* directions are updated */
    bool ray;             /* the path of the unsoftened problem ended on a ray, off a solution */
    double *gamma, least; /* impulses; least E */
} pivoting;

static bool make_pivoting(pivoting *v, const polyhedral *p, solver_call *call) {
    size_t n = (size_t)p->n;
    *v = (pivoting){.p = p, .call = call};
    v->M = arena_alloc(call->scratch, 2 * n * n, sizeof *v->M);
    v->q = ARENA_NEW(call->scratch, double, 3 * n);
    v->order = ARENA_NEW(call->scratch, int, 2 * n);
    if (!v->M || !v->q || !v->order) {
        return false;
    }
    v->sorted = v->M + n * n;
    v->z = v->q + n;
    v->near = v->q + 2 * n;
    v->solved = v->order + n;
    return true;
}

static void sort_unknowns(pivoting *v) {
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

/* x of M + soft, q - soft near; false without memory. */
static bool solve_path(pivoting *v, double soft, double *x, lemke_result *path) {
    size_t n = (size_t)v->p->n, free = (size_t)v->free, mark = arena_mark(v->call->scratch);
    /* M and q, free unknowns first */
    sort_unknowns(v);
    for (size_t i = 0; i < n && !panels_stopped((int)n, &v->p->dual->watch); i++) {
        size_t from = (size_t)v->order[i];
        for (size_t j = 0; j < n; j++) {
            v->sorted[i * n + j] = v->M[from * n + (size_t)v->order[j]] + (i == j ? soft : 0);
        }
        v->q[i] = v->p->q[from] - soft * v->near[from];
    }
    /* Schur complement, and the path in it */
    eliminate_free_rows(n, free, v->sorted, v->q, v->solved, v->call->out);
    lemke_problem rest = {(int)(n - free),
                          v->sorted + free * n + free,
                          v->q + free,
                          (int)n,
                          (int)v->call->option[MAX_ITERATIONS] - path->pivots,
                          is_solve_stopped,
                          v->call->out};
    int before = path->pivots;
    path->x = v->z + free;
    if (!lemke_solve(&rest, v->call->scratch, path)) {
        return false;
    }
    path->pivots += before;
    /* the free unknowns */
    for (size_t k = 0; k < free; k++) {
        v->z[k] = v->solved[k] ? v->q[k] + dense_dot(rest.n, v->sorted + k * n + free, path->x) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        x[v->order[i]] = v->z[i];
    }
    arena_release(v->call->scratch, mark);
    return true;
}

/* Rows and columns of M of the unknowns above their y, by columns, and -y; their count.  Sets the others to 0. */
static int gather_active_rows(const pivoting *v, double *x, double *y, double *A, double *d, int *set) {
    const polyhedral *p = v->p;
    size_t n = (size_t)p->n, m = 0;
    polyhedral_velocity(p, x, y);
    for (size_t i = 0; i < n; i++) {
        if (p->unknown[i].free || x[i] > y[i]) {
            set[m++] = (int)i;
        } else {
            x[i] = 0;
        }
    }
    polyhedral_velocity(p, x, y);
    for (size_t i = 0; i < m; i++) {
        size_t row = (size_t)set[i];
        d[i] = -y[row];
        for (size_t j = 0; j < m; j++) {
            A[j * m + i] = v->M[row * n + (size_t)set[j]];
        }
    }
    return (int)m;
}

/* Polishes the end of a path: y is to be 0 for all unknowns above their y and for those without bounds,
 *
 *     M_II d = -y_I,     x_I <- x_I + d,     x = 0 elsewhere,
 *
 * by the d of least norm, as M_II may be singular.  This is Newton's method for min(x, y) = 0 on the original
 * equations, free of the rounding in B^-1.  x <- point of least error; false without memory. */
static bool polish_solution(pivoting *v, double *x, double *error) {
    size_t n = (size_t)v->p->n, mark = arena_mark(v->call->scratch);
    double *A = arena_alloc(v->call->scratch, n * n, sizeof *A), *d = ARENA_NEW(v->call->scratch, double, 3 * n);
    int *set = ARENA_NEW(v->call->scratch, int, 2 * n);
    const int lwork = (int)(LAPACK_WORK_PER_UNKNOWN * n) + LAPACK_WORK_PER_UNKNOWN, one = 1;
    double *work = ARENA_NEW(v->call->scratch, double, lwork);
    if (!A || !d || !set || !work) {
        return false;
    }
    double *y = d + n, *next = d + 2 * n;
    /* error of the start */
    *error = polyhedral_error(v->p, x, y);
    memcpy(next, x, n * sizeof *next);
    stall_watch stall = stall_watch_start(PROGRESS_RATIO);
    for (int k = 0; stall.stalled < MAX_STALLED_POLISH_STEPS && k < MAX_POLISH_STEPS && !(*error <= POLISH_TOLERANCE) &&
                    !is_solve_stopped(v->call->out);
         k++) {
        /* least-norm step of the active rows */
        int rank, info, m = gather_active_rows(v, next, y, A, d, set);
        if (m > MAX_POLISHED_UNKNOWNS) {
            break;
        }
        if (m > 0) {
            memset(set + n, 0, (size_t)m * sizeof *set);
            dgelsy_(&m, &m, &one, A, &m, d, &m, set + n, &MIN_SINGULAR_RATIO, &rank, work, &lwork, &info);
        }
        for (int i = 0; i < m; i++) {
            next[set[i]] += d[i];
        }
        /* the best so far */
        double off = polyhedral_error(v->p, next, y);
        stall_watch_update_least(&stall, off);
        if (off < *error) {
            *error = off;
            memcpy(x, next, n * sizeof *x);
        }
    }
    arena_release(v->call->scratch, mark);
    return true;
}

/* E where directions are updated, else 0. */
static double round_error(const pivoting *v, const double *x) {
    if (!v->follows) {
        return 0;
    }
    polyhedral_velocity(v->p, x, v->z);
    polyhedral_impulse(v->p, x, v->gamma);
    return dual_error(v->p->dual, v->gamma, v->p->s);
}

/* One problem with fixed pyramids: a path of the problem itself, then softened paths where rounding spoils it.  It does
 * where contacts share loads and bases are singular.  Polishing removes the softness. `again`: x is the last solution,
 * with new directions.  Then polishing alone often suffices, and impulses that are not unique stay near x.  Ends at
 * INNER_OVER_E of E. x <- point of least error; false without memory. */
static bool solve_pyramids(pivoting *v, bool again, double *x, double *error, lemke_result *path) {
    const polyhedral *p = v->p;
    size_t n = (size_t)p->n;
    double tolerance = v->call->option[TOLERANCE], most = v->call->option[MAX_ITERATIONS],
           *other = ARENA_NEW(v->call->scratch, double, 2 * n);
    if (!other) {
        return false;
    }
    /* start: the last solution, or zero */
    double *from = other + n;
    polyhedral_matrix(p, v->M);
    if (!again) {
        memset(x, 0, n * sizeof *x);
    }
    memcpy(from, x, n * sizeof *x);
    *error = HUGE_VAL;
    path->end = LEMKE_SOLVED;
    if (again && !polish_solution(v, x, error)) {
        return false;
    }
    /* paths, with more softness each time */
    for (int k = again ? 0 : -1; k < MAX_SOFT_PATHS && path->pivots < most && !is_solve_stopped(v->call->out); k++) {
        if (*error <= fmax(tolerance, INNER_OVER_E * fmin(v->least, round_error(v, x)))) {
            break;
        }
        /* the path */
        double soft = k < 0 ? 0 : SOFTNESS[k / PATHS_PER_SOFTNESS], off;
        lemke_result softened = {.pivots = path->pivots};
        memcpy(v->near, k > 0 && k % PATHS_PER_SOFTNESS ? other : from, n * sizeof *from);
        if (!solve_path(v, soft, other, &softened)) {
            return false;
        }
        /* its end, polished */
        off = polyhedral_error(p, other, v->z);
        if (softened.end != LEMKE_LIMIT && !polish_solution(v, other, &off)) {
            return false;
        }
        /* the best so far */
        v->ray = v->ray || (k < 0 && softened.end == LEMKE_RAY && !(off <= MAX_ROUNDING_ERROR));
        path->pivots = softened.pivots;
        if (off < *error || k < 0) {
            *error = off;
            path->end = off <= MAX_ROUNDING_ERROR ? LEMKE_SOLVED : softened.end;
            memcpy(x, other, n * sizeof *x);
        }
    }
    return true;
}

/* Outcome: by the error first, then by the end of the path. */
static sim_outcome outcome_of_path(const lemke_result *path, double error, double tolerance) {
    if (error <= tolerance) {
        return SIM_SOLVED;
    }
    if (error <= MAX_ROUNDING_ERROR) {
        return SIM_AT_ROUNDING;
    }
    return path->end == LEMKE_LIMIT ? SIM_AT_LIMIT : path->end == LEMKE_SINGULAR ? SIM_BROKEN_DOWN : SIM_STALLED;
}

/* Keeps the impulses of x if E is the least so far. */
static void keep_least_E(pivoting *v, const double *x, double own, double *best, const lemke_result *path) {
    sim_solution *out = v->call->out;
    double error = v->follows ? round_error(v, x) : own;
    polyhedral_impulse(v->p, x, v->gamma);
    solver_record(v->call, error, NAN);
    out->searches++;
    if (error < v->least || out->searches == 1) {
        v->least = error;
        out->residual = error;
        out->outcome = outcome_of_path(path, error, v->call->option[TOLERANCE]);
        memcpy(best, v->gamma, (size_t)v->p->dual->n * sizeof *best);
    }
}

static bool has_pivoting_ended(const pivoting *v, const lemke_result *path) {
    return !v->follows || v->least <= v->call->option[TOLERANCE] || path->pivots >= v->call->option[MAX_ITERATIONS] ||
           is_solve_stopped(v->call->out);
}

/* Outer iterations over the directions (direction_update.c), as long as E falls; false without memory. */
static bool follow_directions(pivoting *v, polyhedral *p, double *x, double *best, lemke_result *path) {
    double own;
    stall_watch stall = stall_watch_start(PROGRESS_RATIO);
    for (int iteration = 0; stall.stalled < MAX_STALLED_ITERATIONS; iteration++) {
        size_t mark = arena_mark(v->call->scratch);
        if (!solve_pyramids(v, iteration > 0, x, &own, path)) {
            return false;
        }
        arena_release(v->call->scratch, mark);
        keep_least_E(v, x, own, best, path);
        if (has_pivoting_ended(v, path)) {
            return true;
        }
        stall_watch_update(&stall, v->least);
        directions_update(p, 1, x, v->z);
    }
    return true;
}

static sim_status solve_pivot(solver_call *call) {
    dual d;
    polyhedral p;
    pivoting v;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    /* memory */
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch) ||
        !make_pivoting(&v, &p, call)) {
        return SIM_NO_RESOURCE;
    }
    /* paths, with turning directions if asked */
    lemke_result path = {.pivots = 0};
    double *x = ARENA_NEW(call->scratch, double, p.n), *gamma = ARENA_NEW(call->scratch, double, 2 * d.n);
    v.gamma = gamma;
    v.least = HUGE_VAL;
    v.follows = o.alignment == POLYHEDRAL_FOLLOWING;
    if (!x || !gamma || !follow_directions(&v, &p, x, gamma + d.n, &path)) {
        return SIM_NO_RESOURCE;
    }
    /* reason and solution */
    sim_solution *out = call->out;
    out->reason = v.ray                        ? SIM_REASON_RAY
                  : path.end == LEMKE_LIMIT    ? SIM_REASON_NONE
                  : path.end == LEMKE_SINGULAR ? SIM_REASON_SINGULAR
                                               : SIM_REASON_STANDSTILL;
    out->iterations = path.pivots;
    solution_write(call, gamma + d.n);
    return SIM_OK;
}

static double pivot_claim(const double *option) { return polyhedral_claim(option + DIRECTIONS, option[TOLERANCE]); }

/* W; M in both orders; the inverse or the matrix of the polishing, one at a time. */
static double count_pivot_dense(const sim_problem *p, const double *option) {
    double rows = p->nrow, n = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        n += c->kind == SIM_CONTACT && c->friction > 0 ? (int)option[DIRECTIONS] / 2 * 2 + 2
             : c->kind == SIM_CONTACT                  ? 1
                                                       : c->rows;
    }
    return rows * rows + 3 * n * n;
}

const solver_type solver_mlcp_pivot = {
    .info = {.name = "mlcp-pivot",
             .method = "Lemke's algorithm on the problem with pyramids for cones",
             .paper = "Mylapilli and Jain 2016, with Lemke's method in place of PATH",
             .cone = SIM_CONE_PYRAMID,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = true,
             .asymmetric = true,
             .noptions = OPTIONS,
             .option = options,
             .claim = pivot_claim},
    .lapack = 1,
    .dense = count_pivot_dense,
    .solve = solve_pivot,
};
