/* The pivoting reference: the contact problem with pyramids for cones (polyhedral.h), answered to rounding by Lemke's
 * method (lemke.c), which finds an answer wherever the theory says that there is one.
 *
 * Rows without bounds go first, by principal pivots on the greatest diagonal entry that is left,
 *
 *     x_k = (y_k - q_k - sum_j M_kj x_j) / M_kk,     y_k = 0,
 *
 * which leaves the Schur complement for the others; a row that is a sum of others gives nothing.  Dense, and as long as
 * the path takes: for up to a few hundred unknowns, six for each contact.
 *
 * Where contacts share loads M is singular, and rounding on the way may lead onto a ray, or to a place that is no answer.
 * Then again with a little on the diagonal; and whatever a path comes to is polished on the equations as they came, by
 * Newton's method for min(x, y) = 0, whose steps are the shortest of those that do as well as any. */
#include "linalg/lapack.h"
#include "math/dense.h"
#include "solver/pyramid/direction_update.h"
#include "solver/pyramid/lemke.h"
#include "solver/pyramid/polyhedral.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, DIRECTIONS, MOST_MEMORY = DIRECTIONS + 3, OPTIONS };

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {.name = "tolerance",
                   .help = "E that is still an answer; with other alignments than following, error of complementarity",
                   .low = 0,
                   .high = 1,
                   .default_value = 1e-9},
    [MAX_ITERATIONS] =
        {.name = "max_iterations", .help = "pivots", .low = 1, .high = 1e9, .default_value = 10000, .integer = true},
    POLYHEDRAL_OPTIONS(DIRECTIONS),
    [MOST_MEMORY] = SOLVER_MEMORY_OPTION,
};

static const double REDUNDANT = 1e-12; /* of the greatest diagonal: less is left of a row that is a sum of others */
static const double ROUNDING = 1e-9;   /* errors of complementarity up to this come from rounding */
/* On the diagonal; a round is solved to so much of E. */
static const double SOFT[] = {1e-6, 1e-4, 1e-8}, FORCING = 1e-2;
static const double SINGULAR = 1e-12; /* of the greatest: smaller singular values are none */
static const double POLISHED = 1e-13;
static const double WORTH = 0.9; /* of an error: less is no progress */
/* So often with something on the diagonal, each as much so often; rounds of directions without progress; steps of polishing,
 * and those in vain; work of LAPACK for each unknown. */
enum { SOFTER = 6, AGAIN = 2, PATIENCE = 8, POLISH = 12, VAIN = 3, WORK = 40 };
/* Unknowns of which least squares take no longer than one who waits can: some seconds. */
enum { MOST_POLISHED = 2000 };

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

static int stopped(void *out) { return solution_stopped(out); }

/* Which of the first `free` have been solved for? */
static void eliminate(size_t n, size_t free, double *M, double *q, int *solved, sim_solution *out) {
    double greatest = 0;
    memset(solved, 0, free * sizeof *solved);
    for (size_t done = 0; done < free && !(n > MOST_POLISHED && stopped(out)); done++) {
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

/* What a path works on: M and q with unknowns without bounds first. */
typedef struct pivoting {
    const polyhedral *p;
    solver_call *call;
    double *M, *sorted, *q, *z, *near; /* [n x n] both; [n] the others */
    int *order, *solved;               /* [n] */
    int free;
    int follows, ray;     /* did the path of the problem as it is end on a ray, off an answer? */
    double *gamma, least; /* impulses; E of the best */
} pivoting;

static int make(pivoting *v, const polyhedral *p, solver_call *call) {
    size_t n = (size_t)p->n;
    *v = (pivoting){.p = p, .call = call};
    v->M = arena_alloc(call->scratch, 2 * n * n, sizeof *v->M);
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
    size_t n = (size_t)v->p->n, free = (size_t)v->free, mark = arena_mark(v->call->scratch);
    sort(v);
    for (size_t i = 0; i < n && !panels_stopped((int)n, &v->p->dual->watch); i++) {
        size_t from = (size_t)v->order[i];
        for (size_t j = 0; j < n; j++) {
            v->sorted[i * n + j] = v->M[from * n + (size_t)v->order[j]] + (i == j ? soft : 0);
        }
        v->q[i] = v->p->q[from] - soft * v->near[from];
    }
    eliminate(n, free, v->sorted, v->q, v->solved, v->call->out);
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
    arena_release(v->call->scratch, mark);
    return 1;
}

/* The rows and columns of M of the unknowns above their y, by columns, and -y; the other unknowns are 0. */
static int gather(const pivoting *v, double *x, double *y, double *A, double *d, int *set) {
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

/* What a basis has come to, made better: of the unknowns that are above their y (and those without bounds) all y are to be 0,
 *
 *     M_II d = -y_I,     x_I <- x_I + d,     x = 0 elsewhere,
 *
 * by the shortest d, as M_II may be singular: Newton's method for min(x, y) = 0, from the equations as they came, whatever
 * rounding has done to B^-1.  x of least error; 0 without memory. */
static int polish(pivoting *v, double *x, double *error) {
    size_t n = (size_t)v->p->n, mark = arena_mark(v->call->scratch);
    double *A = arena_alloc(v->call->scratch, n * n, sizeof *A), *d = ARENA_NEW(v->call->scratch, double, 3 * n);
    int *set = ARENA_NEW(v->call->scratch, int, 2 * n);
    const int lwork = (int)(WORK * n) + WORK, one = 1;
    double *work = ARENA_NEW(v->call->scratch, double, lwork);
    if (!A || !d || !set || !work) {
        return 0;
    }
    double *y = d + n, *next = d + 2 * n, least = HUGE_VAL;
    *error = polyhedral_error(v->p, x, y);
    memcpy(next, x, n * sizeof *next);
    for (int k = 0, since = 0; since < VAIN && k < POLISH && !(*error <= POLISHED) && !stopped(v->call->out); k++) {
        int rank, info, m = gather(v, next, y, A, d, set);
        if (m > MOST_POLISHED) {
            break;
        }
        if (m > 0) {
            memset(set + n, 0, (size_t)m * sizeof *set);
            dgelsy_(&m, &m, &one, A, &m, d, &m, set + n, &SINGULAR, &rank, work, &lwork, &info);
        }
        for (int i = 0; i < m; i++) {
            next[set[i]] += d[i];
        }
        double off = polyhedral_error(v->p, next, y);
        since = off < WORTH * least ? 0 : since + 1;
        least = fmin(least, off);
        if (off < *error) {
            *error = off;
            memcpy(x, next, n * sizeof *x);
        }
    }
    arena_release(v->call->scratch, mark);
    return 1;
}

/* E, where that is what rounds are for; else nothing. */
static double round_error(const pivoting *v, const double *x) {
    if (!v->follows) {
        return 0;
    }
    polyhedral_velocity(v->p, x, v->z);
    polyhedral_impulse(v->p, x, v->gamma);
    return dual_error(v->p->dual, v->gamma, v->p->s);
}

/* As it is; where rounding spoils the path, as it does where contacts share loads and bases are singular but for that, with a
 * little on the diagonal, and again from there.  All are polished, which leaves nothing of that little.  Of a round after
 * others x is the answer before, turned: polishing alone will often do, and where impulses are not unique all is kept near
 * it.  A round is answered that is off by a hundredth of E.  x of least error; 0 without memory. */
static int answer(pivoting *v, int again, double *x, double *error, lemke_answer *path) {
    const polyhedral *p = v->p;
    size_t n = (size_t)p->n;
    double tolerance = v->call->option[TOLERANCE], most = v->call->option[MAX_ITERATIONS],
           *other = ARENA_NEW(v->call->scratch, double, 2 * n);
    if (!other) {
        return 0;
    }
    double *from = other + n;
    polyhedral_matrix(p, v->M);
    if (!again) {
        memset(x, 0, n * sizeof *x);
    }
    memcpy(from, x, n * sizeof *x);
    *error = HUGE_VAL;
    path->end = LEMKE_SOLVED;
    if (again && !polish(v, x, error)) {
        return 0;
    }
    for (int k = again ? 0 : -1; k < SOFTER && path->pivots < most && !stopped(v->call->out); k++) {
        if (*error <= fmax(tolerance, FORCING * fmin(v->least, round_error(v, x)))) {
            break;
        }
        double soft = k < 0 ? 0 : SOFT[k / AGAIN], off;
        lemke_answer softened = {.pivots = path->pivots};
        memcpy(v->near, k > 0 && k % AGAIN ? other : from, n * sizeof *from);
        if (!walk(v, soft, other, &softened)) {
            return 0;
        }
        off = polyhedral_error(p, other, v->z);
        if (softened.end != LEMKE_LIMIT && !polish(v, other, &off)) {
            return 0;
        }
        v->ray = v->ray || (k < 0 && softened.end == LEMKE_RAY && !(off <= ROUNDING));
        path->pivots = softened.pivots;
        if (off < *error || k < 0) {
            *error = off;
            path->end = off <= ROUNDING ? LEMKE_SOLVED : softened.end;
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

/* Keeps x's impulses if E is the least so far. */
static void keep(pivoting *v, const double *x, double own, double *best, const lemke_answer *path) {
    sim_solution *out = v->call->out;
    double error = v->follows ? round_error(v, x) : own;
    polyhedral_impulse(v->p, x, v->gamma);
    solver_record(v->call, error, NAN);
    out->searches++;
    if (error < v->least || out->searches == 1) {
        v->least = error;
        out->residual = error;
        out->outcome = outcome(path, error, v->call->option[TOLERANCE]);
        memcpy(best, v->gamma, (size_t)v->p->dual->n * sizeof *best);
    }
}

static int is_over(const pivoting *v, const lemke_answer *path) {
    return !v->follows || v->least <= v->call->option[TOLERANCE] || path->pivots >= v->call->option[MAX_ITERATIONS] ||
           stopped(v->call->out);
}

/* Rounds with the directions of the answer before (direction_update.c), as long as E falls. */
static int follow(pivoting *v, polyhedral *p, double *x, double *best, lemke_answer *path) {
    double own, progress = HUGE_VAL;
    for (int round = 0, since = 0; since < PATIENCE; round++) {
        size_t mark = arena_mark(v->call->scratch);
        if (!answer(v, round > 0, x, &own, path)) {
            return 0;
        }
        arena_release(v->call->scratch, mark);
        keep(v, x, own, best, path);
        if (is_over(v, path)) {
            return 1;
        }
        since = v->least < WORTH * progress ? 0 : since + 1;
        progress = since ? progress : v->least;
        turning_turn(p, 1, x, v->z);
    }
    return 1;
}

static sim_status solve(solver_call *call) {
    dual d;
    polyhedral p;
    pivoting v;
    polyhedral_options o = polyhedral_options_of(call->option + DIRECTIONS);
    if (!dual_make(&d, call, call->scratch) || !polyhedral_make(&p, &d, &o, call->scratch) || !make(&v, &p, call)) {
        return SIM_NO_RESOURCE;
    }
    lemke_answer path = {.pivots = 0};
    double *x = ARENA_NEW(call->scratch, double, p.n), *gamma = ARENA_NEW(call->scratch, double, 2 * d.n);
    v.gamma = gamma;
    v.least = HUGE_VAL;
    v.follows = o.alignment == POLYHEDRAL_FOLLOWING;
    if (!x || !gamma || !follow(&v, &p, x, gamma + d.n, &path)) {
        return SIM_NO_RESOURCE;
    }
    sim_solution *out = call->out;
    out->reason = v.ray                        ? SIM_REASON_RAY
                  : path.end == LEMKE_LIMIT    ? SIM_REASON_NONE
                  : path.end == LEMKE_SINGULAR ? SIM_REASON_SINGULAR
                                               : SIM_REASON_STANDSTILL;
    out->iterations = path.pivots;
    solution_write(call, gamma + d.n);
    return SIM_OK;
}

static double claim(const double *option) { return polyhedral_claim(option + DIRECTIONS, option[TOLERANCE]); }

/* W; M as it is and sorted; the inverse; what is polished, of which there is one at a time. */
static double dense(const sim_problem *p, const double *option) {
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
             .method = "Lemke's pivots on the problem with pyramids for cones",
             .paper = "Mylapilli and Jain 2016, with Lemke's method in place of PATH",
             .cone = SIM_CONE_PYRAMID,
             .default_law = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = 1,
             .asymmetric = 1,
             .noptions = OPTIONS,
             .option = options,
             .claim = claim},
    .lapack = 1,
    .dense = dense,
    .solve = solve,
};
