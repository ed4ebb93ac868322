/* Linear systems with the Delassus operator: preconditioned conjugate residuals and gradients, Jacobi, Gauss-Seidel,
 * Cholesky.
 *
 * The preconditioner is P = 1 / diagonal of W + C.  With redundant contacts W + C is singular where they stick.
 * Conjugate gradients may break down there; conjugate residuals reduce |r|_P in every iteration.
 *
 * Cost: one product with W an iteration; n^3 / 3 for Cholesky. */
#include "solver/nonsmooth_newton/delassus_krylov.h"
#include "linalg/dense/lapack.h"
#include "linalg/dense/panels.h"
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/matrices/delassus.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WORK_VECTORS = 6 };

bool schur_make(schur *s, const sim_problem *p, schur_method method, sim_arena *scratch) {
    /* memory, and W in blocks */
    size_t n = (size_t)p->nrow;
    *s = (schur){.problem = p, .n = p->nrow};
    s->C = ARENA_NEW(scratch, double, n);
    s->out = ARENA_NEW(scratch, int, n);
    s->diagonal = ARENA_NEW(scratch, double, n);
    s->work = ARENA_NEW(scratch, double, WORK_VECTORS *n);
    s->dense = method == SCHUR_CHOLESKY ? arena_alloc(scratch, n * n, sizeof *s->dense) : NULL;
    if (!s->C || !s->out || !s->diagonal || !s->work || (method == SCHUR_CHOLESKY && !s->dense) ||
        !delassus_whole(p, scratch, &s->W)) {
        return false;
    }
    /* diagonal of W */
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        for (int k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
            for (int r = 0; r < c->rows && s->W.column[k] == i; r++) {
                s->diagonal[c->row + r] = s->W.value[s->W.at[k] + r * (c->rows + 1)];
            }
        }
    }
    return true;
}

/* W x of one row of a constraint. */
static double delassus_row_times(const schur *s, int i, int r, const double *x) {
    double sum = 0;
    for (int k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
        const sim_constraint *other = &s->problem->constraint[s->W.column[k]];
        const double *value = s->W.value + s->W.at[k] + r * other->rows;
        for (int j = 0; j < other->rows; j++) {
            sum += value[j] * x[other->row + j];
        }
    }
    return sum;
}

void schur_times(const schur *s, const double *x, double *y) {
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *c = &s->problem->constraint[i];
        for (int r = 0; r < c->rows; r++) {
            y[c->row + r] = delassus_row_times(s, i, r, x);
        }
    }
}

/* y = (W + C) x; x and y are zero in rows left out. */
static void multiply_system(const schur *s, const double *x, double *y) {
    schur_times(s, x, y);
    for (int k = 0; k < s->n; k++) {
        y[k] = s->out[k] ? 0 : y[k] + s->C[k] * x[k];
    }
}

static double inverse_diagonal(const schur *s, int k) {
    double d = s->diagonal[k] + s->C[k];
    return s->out[k] ? 0 : d > 0 ? 1 / d : 1;
}

/* z = P r; |r|_P^2 */
static double precondition_residual(const schur *s, const double *r, double *z) {
    for (int k = 0; k < s->n; k++) {
        z[k] = inverse_diagonal(s, k) * r[k];
    }
    return dense_dot(s->n, r, z);
}

static bool record_residual(schur_solve_info *c, double square, double first) {
    c->reached = first > 0 ? sqrt(fmax(square, 0) / first) : 0;
    if (c->history) {
        c->history[c->iterations] = c->reached;
    }
    return !(c->reached > c->tolerance) || c->iterations >= c->max_iterations ||
           (c->watched && solution_stopped(c->watched));
}

static void solve_pcr(const schur *s, double *r, double *x, double first, schur_solve_info *c) {
    size_t n = (size_t)s->n;
    double *z = s->work + n, *p = z + n, *Az = p + n, *Ap = Az + n, *PAp = Ap + n;
    /* z = P r, p = z */
    precondition_residual(s, r, z);
    memcpy(p, z, n * sizeof *p);
    multiply_system(s, z, Az);
    memcpy(Ap, Az, n * sizeof *Ap);
    double rho = dense_dot(s->n, z, Az);
    for (c->iterations = 1;; c->iterations++) {
        /* a = (z . A z) / |A p|_P^2 */
        double size = precondition_residual(s, Ap, PAp), a = rho / size;
        if (!(size > DBL_MIN) || !(rho > 0)) {
            c->iterations--;
            return;
        }
        /* x <- x + a p, r <- r - a A p */
        dense_axpy(s->n, a, p, x);
        dense_axpy(s->n, -a, Ap, r);
        if (record_residual(c, precondition_residual(s, r, z), first)) {
            return;
        }
        /* p <- z + b p, b = (z . A z) / its value before */
        multiply_system(s, z, Az);
        double next = dense_dot(s->n, z, Az), b = next / rho;
        rho = next;
        for (size_t k = 0; k < n; k++) {
            p[k] = z[k] + b * p[k];
            Ap[k] = Az[k] + b * Ap[k];
        }
    }
}

static void solve_pcg(const schur *s, double *r, double *x, double first, schur_solve_info *c) {
    size_t n = (size_t)s->n;
    double *z = s->work + n, *p = z + n, *Ap = p + n, square = precondition_residual(s, r, z);
    memcpy(p, z, n * sizeof *p);
    for (c->iterations = 1;; c->iterations++) {
        /* a = |r|_P^2 / (p . A p) */
        multiply_system(s, p, Ap);
        double curvature = dense_dot(s->n, p, Ap), a = square / curvature;
        if (!(curvature > DBL_MIN)) {
            c->iterations--;
            return;
        }
        /* x <- x + a p, r <- r - a A p */
        dense_axpy(s->n, a, p, x);
        dense_axpy(s->n, -a, Ap, r);
        double next = precondition_residual(s, r, z), b = next / square;
        if (record_residual(c, next, first)) {
            return;
        }
        /* p <- z + b p, b = |r|_P^2 / its value before */
        square = next;
        for (size_t k = 0; k < n; k++) {
            p[k] = z[k] + b * p[k];
        }
    }
}

/* Jacobi steps over the greatest number of coupled constraints: whole steps diverge where contacts are redundant. */
static void solve_jacobi(const schur *s, const double *b, double *r, double *x, double first, schur_solve_info *c) {
    size_t n = (size_t)s->n;
    double *z = s->work + n, greatest = 1;
    for (int i = 0; i < s->problem->nconstraint; i++) {
        greatest = fmax(greatest, s->W.start[i + 1] - s->W.start[i]);
    }
    for (c->iterations = 1;; c->iterations++) {
        precondition_residual(s, r, z);
        dense_axpy(s->n, 1 / greatest, z, x);
        multiply_system(s, x, r);
        for (size_t k = 0; k < n; k++) {
            r[k] = s->out[k] ? 0 : b[k] - r[k];
        }
        if (record_residual(c, precondition_residual(s, r, z), first)) {
            return;
        }
    }
}

static void solve_gauss_seidel(const schur *s, const double *b, double *r, double *x, double first,
                               schur_solve_info *c) {
    /* a sweep over the rows that are in the active set */
    double *z = s->work + s->n;
    for (c->iterations = 1;; c->iterations++) {
        for (int i = 0; i < s->problem->nconstraint; i++) {
            const sim_constraint *of = &s->problem->constraint[i];
            for (int row = 0; row < of->rows; row++) {
                int k = of->row + row;
                x[k] +=
                    inverse_diagonal(s, k) * (s->out[k] ? 0 : b[k] - delassus_row_times(s, i, row, x) - s->C[k] * x[k]);
            }
        }
        /* residual of the system */
        multiply_system(s, x, r);
        for (int k = 0; k < s->n; k++) {
            r[k] = s->out[k] ? 0 : b[k] - r[k];
        }
        if (record_residual(c, precondition_residual(s, r, z), first)) {
            return;
        }
    }
}

/* W + C = L L'; rows left out are rows of the unit matrix. */
static bool solve_cholesky(const schur *s, const double *b, double *x, const schur_solve_info *c) {
    size_t n = (size_t)s->n;
    double *L = s->dense;
    int one = 1, info;
    panels_watch watch = {c->watched ? c->watched->stop : NULL, c->watched ? c->watched->stop_context : NULL};
    memset(L, 0, n * n * sizeof *L);
    /* W, and C on the diagonal */
    for (int i = 0; i < s->problem->nconstraint; i++) {
        const sim_constraint *of = &s->problem->constraint[i];
        for (int k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
            const sim_constraint *other = &s->problem->constraint[s->W.column[k]];
            for (int r = 0; r < of->rows; r++) {
                for (int j = 0; j < other->rows; j++) {
                    bool alone = s->out[of->row + r] || s->out[other->row + j];
                    L[(size_t)(of->row + r) * n + (size_t)(other->row + j)] =
                        alone ? 0 : s->W.value[s->W.at[k] + r * other->rows + j];
                }
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        L[k * n + k] += s->out[k] ? 1 : s->C[k];
    }
    /* factor and solve */
    if (!panels_cholesky(s->n, L, &watch)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = s->out[i] ? 0 : b[i];
    }
    dpotrs_("L", &s->n, &one, L, &s->n, x, &s->n, &info);
    return true;
}

bool schur_solve(const schur *s, schur_method method, const double *b, double *x, schur_solve_info *c) {
    /* residual of x = 0 */
    double *r = s->work, *z = s->work + s->n;
    memset(x, 0, (size_t)s->n * sizeof *x);
    for (int k = 0; k < s->n; k++) {
        r[k] = s->out[k] ? 0 : b[k];
    }
    double first = precondition_residual(s, r, z);
    c->iterations = 0;
    if (record_residual(c, first, first) || !(first > 0)) {
        return true;
    }
    /* the method */
    switch (method) {
    case SCHUR_CHOLESKY:
        c->iterations = 1;
        if (!solve_cholesky(s, b, x, c)) {
            return false;
        }
        multiply_system(s, x, r);
        for (int k = 0; k < s->n; k++) {
            r[k] = s->out[k] ? 0 : b[k] - r[k];
        }
        record_residual(c, precondition_residual(s, r, z), first);
        break;
    case SCHUR_PCG:
        solve_pcg(s, r, x, first, c);
        break;
    case SCHUR_JACOBI:
        solve_jacobi(s, b, r, x, first, c);
        break;
    case SCHUR_GAUSS_SEIDEL:
        solve_gauss_seidel(s, b, r, x, first, c);
        break;
    default:
        solve_pcr(s, r, x, first, c);
    }
    return true;
}
