/* Nonsmooth Newton (Macklin et al. 2019), on the velocities of a step.
 *
 * Each unilateral row is an equation phi = 0, phi = psi(s, r gamma) with a complementarity function psi(a, b), zero where
 * 0 <= a perp b >= 0: the minimum map or Fischer and Burmeister's a + b - sqrt(a^2 + b^2) (eqs. 18-25).  Friction is a
 * compliance that is right when it has been found (33-37): with a = |s_t|, gap = mu gamma_n - |gamma_t|,
 *
 *     s_t + Wf gamma_t = 0,     Wf = (a - psi(a, r gap)) / (|gamma_t| + psi(a, r gap) / r).
 *
 * s = (W + R) gamma + q.  With alpha, beta the slopes of psi, a Newton step is (53-59; rows over alpha, so that the matrix
 * is symmetric and momentum keeps its meaning)
 *
 *     (W + C + epsilon) x = -h,     normal:   C = R + r beta / alpha,  h = phi / alpha
 *                                   friction: C = R + Wf,              h = s_t + Wf gamma_t
 *                                   equality: C = R,                   h = s
 *
 * and gamma <- gamma + t x.  A row with alpha = 0 leaves and takes its impulse with it.  epsilon, 1e-6 of the diagonal,
 * changes the way and not the end.  r = W_ii makes impulses velocities (66): one contact alone is then right in a step.
 * Where contacts share their load the effective inverse mass is less, and r of friction shrinks as long as the error does
 * not halve in four steps.  t is 0.75, and 1 once no row has come or gone in two steps.
 *
 * Gaps change with v as J says: the steps are those of one linearisation of the gaps, given by J and the targets. */
#include "math/dense.h"
#include "solver/natural.h"
#include "solver/products.h"
#include "solver/schur.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { TOLERANCE, MAX_ITERATIONS, FUNCTION, LINEAR, LINEAR_ITERATIONS, LINEAR_TOLERANCE, PRECONDITIONED, OPTIONS };
enum { MINIMUM_MAP, FISCHER_BURMEISTER };

static const char *const functions[] = {"minimum", "fischer-burmeister", NULL};
static const char *const methods[] = {"pcr", "pcg", "jacobi", "gauss-seidel", "cholesky", NULL};
static const char *const switches[] = {"off", "on", NULL};

static const sim_solver_option options[OPTIONS] = {
    [TOLERANCE] = {"tolerance", "E at which it stops", 0, 1, 1e-8, 0, NULL},
    [MAX_ITERATIONS] = {"max_iterations", "Newton steps", 0, 1e6, 300, 1, NULL},
    [FUNCTION] = {"function", "complementarity function", 0, 1, 1, 1, functions},
    [LINEAR] = {"linear", "how linear systems are answered", 0, SCHUR_METHODS - 1, SCHUR_PCR, 1, methods},
    [LINEAR_ITERATIONS] = {"linear_iterations", "of one linear system", 1, 1e6, 500, 1, NULL},
    [LINEAR_TOLERANCE] = {"linear_tolerance", "of its residual, relative", 0, 1, 1e-6, 0, NULL},
    [PRECONDITIONED] = {"preconditioned", "impulses times inverse mass in complementarity functions", 0, 1, 1, 1,
                        switches},
};

static const double DAMPED = 0.75, EPSILON = 1e-6, GONE = 1e-6;
static const double SHRINK = 0.3, SMALLEST = 0.01; /* of the r of friction */
static const double ROUNDED = 1e-12;               /* an E that is as good as none */
enum { SETTLED = 2, PATIENCE = 4 };

typedef struct nsn {
    solver_call *call;
    const sim_problem *problem;
    schur matrix;
    int n, function, steady; /* steps without a change of rows */
    double *gamma, *s, *q, *h, *x, *rhs, *best;
    double *w; /* [nconstraint] */
    int *was_out;
    double softer, E, best_E; /* r of friction over W_ii */
} nsn;

static double psi(const nsn *m, double a, double b, double *alpha, double *beta) {
    double size = hypot(a, b);
    if (m->function == MINIMUM_MAP) {
        *alpha = a <= b;
        *beta = 1 - *alpha;
        return fmin(a, b);
    }
    *alpha = size > 0 ? 1 - a / size : 0;
    *beta = size > 0 ? 1 - b / size : 1;
    return a > 0 && b > 0 ? 2 * a * b / (a + b + size) : a + b - size;
}

static void leave_out(nsn *m, int k) {
    m->matrix.out[k] = 1;
    m->matrix.C[k] = 0;
}

static double scale_of(const nsn *m, int k) {
    double w = m->matrix.diagonal[k] + m->call->R[k];
    return m->call->option[PRECONDITIONED] > 0 && w > 0 ? w : 1;
}

static void normal_row(nsn *m, int k) {
    double alpha, beta, r = scale_of(m, k), phi = psi(m, m->s[k], r * m->gamma[k], &alpha, &beta);
    if (!(alpha > GONE)) {
        leave_out(m, k);
        return;
    }
    m->matrix.C[k] = m->call->R[k] + r * beta / alpha;
    m->h[k] = phi / alpha;
}

/* Wf (33-35); where Fischer and Burmeister's has no sense, far outside the bound, the minimum map's. */
static double compliance(const nsn *m, double a, double size, double bound, double r) {
    double gap = bound - size, S = hypot(a, r * gap), below = a + r * bound - S;
    if (m->function == FISCHER_BURMEISTER && below > 1e-3 * r * bound) {
        double above = gap > 0 ? a * a / (S + r * gap) : S - r * gap;
        return r * above / below;
    }
    return fmax(0, (a - r * gap) / bound);
}

/* Rows k .. k + count of friction within a bound. */
static void friction_rows(nsn *m, int k, int count, double bound) {
    double a = 0, size = 0, r = 0;
    for (int j = k; j < k + count; j++) {
        a += m->s[j] * m->s[j];
        size += m->gamma[j] * m->gamma[j];
        r += scale_of(m, j) / count;
    }
    double Wf = bound > 0 ? compliance(m, sqrt(a), sqrt(size), bound, m->softer * r) : 0;
    for (int j = k; j < k + count; j++) {
        if (!(bound > 0)) {
            leave_out(m, j);
            continue;
        }
        m->matrix.C[j] = m->call->R[j] + Wf;
        m->h[j] = m->s[j] + Wf * m->gamma[j];
    }
}

static void linearise(nsn *m) {
    const sim_problem *p = m->problem;
    memset(m->matrix.out, 0, (size_t)m->n * sizeof(int));
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        if (c->kind == SIM_CONTACT) {
            normal_row(m, c->row + 2);
            friction_rows(m, c->row, 2, m->matrix.out[c->row + 2] ? 0 : c->friction * m->gamma[c->row + 2]);
            continue;
        }
        for (int k = c->row; k < c->row + c->rows; k++) {
            if (isinf(m->call->R[k])) {
                leave_out(m, k);
            } else if (c->kind == SIM_LIMIT) {
                normal_row(m, k);
            } else if ((c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR) && isfinite(c->bound)) {
                friction_rows(m, k, 1, p->step * c->bound);
            } else {
                m->matrix.C[k] = m->call->R[k];
                m->h[k] = m->s[k];
            }
        }
    }
}

static int given(const nsn *m, int k) { return isinf(m->call->R[k]); }

/* s and E of gamma. */
static void measure(nsn *m) {
    natural_sum sum = {0};
    schur_times(&m->matrix, m->gamma, m->s);
    for (int k = 0; k < m->n; k++) {
        m->s[k] = given(m, k) ? 0 : m->s[k] + m->q[k] + m->call->R[k] * m->gamma[k];
    }
    for (int i = 0; i < m->problem->nconstraint; i++) {
        const sim_constraint *c = &m->problem->constraint[i];
        natural_add(&sum, c, m->problem->step, 1 / m->w[i], m->q + c->row, m->s + c->row, m->gamma + c->row);
    }
    m->E = natural_error(&sum);
    if (m->E < m->best_E) {
        m->best_E = m->E;
        memcpy(m->best, m->gamma, (size_t)m->n * sizeof *m->best);
    }
}

/* -h less what the rows that leave do with their impulses; 0 where a matrix is not positive. */
static int newton_step(nsn *m) {
    int change = 0;
    for (int k = 0; k < m->n; k++) {
        int leaves = m->matrix.out[k] && !given(m, k);
        m->x[k] = leaves ? m->gamma[k] : 0;
        change += m->matrix.out[k] != m->was_out[k];
        m->was_out[k] = m->matrix.out[k];
    }
    m->steady = change ? 0 : m->steady + 1;
    schur_times(&m->matrix, m->x, m->rhs);
    for (int k = 0; k < m->n; k++) {
        m->rhs[k] -= m->matrix.out[k] ? 0 : m->h[k];
        m->matrix.C[k] += m->matrix.out[k] ? 0 : EPSILON * m->matrix.diagonal[k];
    }
    schur_course course = {.most = (int)m->call->option[LINEAR_ITERATIONS],
                           .tolerance = m->call->option[LINEAR_TOLERANCE]};
    int done = schur_solve(&m->matrix, (schur_method)m->call->option[LINEAR], m->rhs, m->x, &course);
    m->call->out->searches += course.iterations;
    m->call->out->factorisations += (int)m->call->option[LINEAR] == SCHUR_CHOLESKY;
    double t = m->steady >= SETTLED ? 1 : DAMPED;
    for (int k = 0; k < m->n && done; k++) {
        double step = m->matrix.out[k] ? -m->gamma[k] : m->x[k];
        m->gamma[k] += given(m, k) ? 0 : t * step;
    }
    return done;
}

static sim_outcome iterate(nsn *m) {
    const double *o = m->call->option;
    double past[PATIENCE];
    measure(m);
    solver_record(m->call, m->E, NAN);
    for (int k = 0; k < (int)o[MAX_ITERATIONS] && !(m->best_E <= o[TOLERANCE]) && !solution_stopped(m->call->out);
         k++) {
        if (k >= PATIENCE && m->E > 0.5 * past[k % PATIENCE] && m->softer > SMALLEST) {
            m->softer = fmax(SMALLEST, SHRINK * m->softer);
            for (int j = 0; j < PATIENCE; j++) {
                past[j] = HUGE_VAL;
            }
        }
        past[k % PATIENCE] = m->E;
        linearise(m);
        m->call->out->iterations = k + 1;
        if (!newton_step(m)) {
            return SIM_BROKEN_DOWN;
        }
        measure(m);
        solver_record(m->call, m->E, NAN);
        if (!isfinite(m->E)) {
            m->call->out->reason = SIM_REASON_NONFINITE;
            return SIM_BROKEN_DOWN;
        }
    }
    return m->best_E <= o[TOLERANCE] ? SIM_SOLVED : m->best_E <= ROUNDED ? SIM_AT_ROUNDING : SIM_AT_LIMIT;
}

/* Rows that give their force whatever s is have it from the start; all others begin at 0. */
static void begin(nsn *m) {
    const sim_problem *p = m->problem;
    const double *R = m->call->R, *target = m->call->target;
    if (sim_problem_local(p)) {
        memcpy(m->q, p->q, (size_t)m->n * sizeof *m->q);
    } else {
        problem_velocity(p, p->v_free, m->q);
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double bound = c->kind == SIM_ACTUATOR ? p->step * c->bound : HUGE_VAL, trace = 0;
        double force = c->kind == SIM_SPRING || c->kind == SIM_ACTUATOR ? p->step * c->force : 0;
        for (int k = c->row; k < c->row + c->rows; k++) {
            m->gamma[k] = given(m, k) ? fmin(fmax(force, -bound), bound) : 0;
            m->q[k] = given(m, k) ? 0 : m->q[k] - target[k];
            m->h[k] = 0;
            m->was_out[k] = 0;
            trace += m->matrix.diagonal[k] + (given(m, k) ? 0 : R[k]);
        }
        m->w[i] = trace > 0 ? trace / c->rows : 1;
    }
}

static int solve(solver_call *call) {
    size_t n = (size_t)call->problem->nrow;
    nsn m = {.call = call,
             .problem = call->problem,
             .n = (int)n,
             .function = (int)call->option[FUNCTION],
             .softer = 1,
             .best_E = HUGE_VAL};
    double *vectors = ARENA_NEW(call->scratch, double, 7 * n);
    m.w = ARENA_NEW(call->scratch, double, call->problem->nconstraint);
    m.was_out = ARENA_NEW(call->scratch, int, n);
    if (!vectors || !m.w || !m.was_out ||
        !schur_make(&m.matrix, call->problem, (schur_method)call->option[LINEAR], call->scratch)) {
        return 0;
    }
    double **of[] = {&m.gamma, &m.s, &m.q, &m.h, &m.x, &m.rhs, &m.best};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] = vectors + k * n;
    }
    begin(&m);
    memcpy(m.best, m.gamma, n * sizeof *m.best);
    call->out->outcome = iterate(&m);
    call->out->residual = m.best_E;
    solver_hand_out(call, m.best);
    return 1;
}

const solver_type solver_nsn = {
    .card = {.name = "nsn",
             .method = "nonsmooth Newton, friction as a compliance, conjugate residuals",
             .paper = "Macklin et al. 2019",
             .cone = SIM_CONE_STRICT,
             .compliance = SIM_RIGID,
             .kinds = (1u << SIM_CONSTRAINT_KINDS) - 1,
             .local = 1,
             .noptions = OPTIONS,
             .option = options},
    .solve = solve,
};
