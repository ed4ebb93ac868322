/* Residual map of the strict law, gamma = P(-x): impulses, residual and their derivatives (residual_map.h). */
#include "solver/implicit/residual_map.h"
#include "linalg/dense/lapack.h"
#include "math/dense.h"
#include "solver/core/natural_map.h"
#include "solver/matrices/levenberg_marquardt.h"

#include <math.h>
#include <string.h>

static const double RELATIVE_RIDGE = 1e-10; /* diagonal blocks of the scaled W are about 1 */
enum { MIN_NORMAL_EQUATION_ROWS = 96 };     /* from which they give the sticking solution faster than reflections */
enum { MIN_SPARSE_ROWS = 24 };              /* from which compressed rows are faster, ... */
enum { MIN_NUMBERS_PER_NONZERO = 5 };       /* ... and entries of W for each nonzero one */

static bool is_bounded_row(const sim_constraint *c) { return c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR; }

/* Bound of the scaled impulse of a row. */
static double bound_of_row(const residual_map *h, const sim_constraint *c) {
    return is_bounded_row(c) ? h->dual->problem->step * c->bound / h->scale[c->row] : HUGE_VAL;
}

/* W in compressed rows, if sparse enough.  False without memory. */
static bool compress_matrix(residual_map *h, sim_arena *scratch) {
    size_t n = (size_t)h->n, count = 0;
    /* dense storage where W is small or full */
    for (size_t k = 0; k < n * n; k++) {
        count += h->W[k] != 0;
    }
    if (h->n < MIN_SPARSE_ROWS || count * MIN_NUMBERS_PER_NONZERO > n * n) {
        return true;
    }
    /* compressed rows of W */
    h->start = ARENA_NEW(scratch, int, n + 1);
    h->column = ARENA_NEW(scratch, int, count);
    h->value = ARENA_NEW(scratch, double, count);
    if (!h->start || !h->column || !h->value) {
        return false;
    }
    int at = 0;
    for (size_t i = 0; i < n; i++) {
        h->start[i] = at;
        for (size_t j = 0; j < n; j++) {
            if (h->W[i * n + j] != 0) {
                h->column[at] = (int)j;
                h->value[at++] = h->W[i * n + j];
            }
        }
    }
    h->start[n] = at;
    return true;
}

bool residual_map_make(residual_map *h, const dual *d, sim_arena *scratch) {
    size_t n = (size_t)d->n;
    *h = (residual_map){.dual = d, .n = d->n};
    /* memory */
    h->W = arena_alloc(scratch, n * n, sizeof *h->W);
    h->F = ARENA_NEW(scratch, double, RESIDUAL_BLOCK * d->problem->nconstraint);
    double *vectors = ARENA_NEW(scratch, double, 4 * n);
    if (!h->W || !h->F || !vectors) {
        return false;
    }
    h->q = vectors;
    h->scale = vectors + n;
    h->gamma = vectors + 2 * n;
    h->work = vectors + 3 * n;
    /* scale of every row: 1 / sqrt(w), w the mean diagonal of the constraint's block */
    for (int i = 0; i < d->problem->nconstraint; i++) {
        const sim_constraint *c = &d->problem->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            h->scale[k] = 1 / sqrt(d->w[i]);
        }
    }
    /* scaled q and W */
    for (size_t i = 0; i < n; i++) {
        h->q[i] = h->scale[i] * d->q[i];
        for (size_t j = 0; j < n; j++) {
            h->W[i * n + j] = h->scale[i] * h->scale[j] * d->W[i * n + j];
        }
    }
    return compress_matrix(h, scratch);
}

void residual_map_times(const residual_map *h, const double *y, double *product) {
    for (int i = 0; i < h->n; i++) {
        double sum = h->start ? 0 : dense_dot(h->n, h->W + (size_t)i * (size_t)h->n, y);
        for (int k = h->start ? h->start[i] : 0; h->start && k < h->start[i + 1]; k++) {
            sum += h->value[k] * y[h->column[k]];
        }
        product[i] = sum + h->soft * y[i];
    }
}

void residual_map_transposed(const residual_map *h, const double *y, double *product) {
    for (int i = 0; i < h->n; i++) {
        product[i] = h->soft * y[i];
    }
    for (int i = 0; i < h->n; i++) {
        if (!h->start) {
            dense_axpy(h->n, y[i], h->W + (size_t)i * (size_t)h->n, product);
        }
        for (int k = h->start ? h->start[i] : 0; h->start && k < h->start[i + 1]; k++) {
            product[h->column[k]] += y[i] * h->value[k];
        }
    }
}

static void eval_contact_impulse(double mu, const double *x, double *gamma) {
    double normal = fmax(0, -x[2]), size = hypot(x[0], x[1]), bound = mu * normal;
    double share = size > bound ? bound / size : 1;
    gamma[0] = -share * x[0];
    gamma[1] = -share * x[1];
    gamma[2] = normal;
}

void residual_map_impulse(const residual_map *h, const double *x, double *gamma) {
    for (int i = 0; i < h->dual->problem->nconstraint; i++) {
        const sim_constraint *c = &h->dual->problem->constraint[i];
        double bound = bound_of_row(h, c), low = c->kind == SIM_LIMIT ? 0 : -bound;
        if (c->kind == SIM_CONTACT) {
            eval_contact_impulse(c->friction, x + c->row, gamma + c->row);
            continue;
        }
        for (int k = c->row; k < c->row + c->rows; k++) {
            gamma[k] = fmin(fmax(-x[k], low), bound);
        }
    }
    for (int k = 0; k < h->n; k++) { /* given impulses are in q */
        gamma[k] = h->dual->given[k] ? 0 : gamma[k];
    }
}

void residual_map_eval(const residual_map *h, const double *x, double *r) {
    residual_map_impulse(h, x, h->gamma);
    residual_map_times(h, h->gamma, r);
    for (int i = 0; i < h->n; i++) {
        r[i] += h->q[i] - x[i] - h->gamma[i];
    }
}

residual_region residual_map_contact_region(double mu, const double *x) {
    return !(x[2] < 0) ? RESIDUAL_BREAK : hypot(x[0], x[1]) <= -mu * x[2] ? RESIDUAL_STICK : RESIDUAL_SLIP;
}

/* F = 0 where the contact breaks, -1 where it sticks; where it slips, with a = -x_n, rho = |x_t|, t = x_t / rho,
 *
 *     d gamma_t = -(mu a / rho) (1 - t t') d x_t + mu t d x_n,     d gamma_n = -d x_n. */
void residual_map_contact_slope(residual_region region, double mu, const double *x, double *F) {
    double rho = hypot(x[0], x[1]);
    memset(F, 0, 9 * sizeof *F);
    if (region == RESIDUAL_BREAK) {
        return;
    }
    F[8] = -1;
    if (region == RESIDUAL_STICK) {
        F[0] = F[4] = -1;
        return;
    }
    double t[2] = {rho > 0 ? x[0] / rho : 0, rho > 0 ? x[1] / rho : 0}, across = rho > 0 ? -mu * x[2] / rho : 0;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            F[3 * i + j] = across * (t[i] * t[j] - (i == j));
        }
        F[3 * i + 2] = mu * t[i];
    }
}

void residual_map_slopes(const residual_map *h, const double *x, double *F) {
    for (int i = 0; i < h->dual->problem->nconstraint; i++, F += RESIDUAL_BLOCK) {
        const sim_constraint *c = &h->dual->problem->constraint[i];
        const double *at = x + c->row;
        double bound = bound_of_row(h, c), low = c->kind == SIM_LIMIT ? 0 : -bound;
        if (c->kind == SIM_CONTACT) {
            residual_map_contact_slope(residual_map_contact_region(c->friction, at), c->friction, at, F);
            continue;
        }
        memset(F, 0, (size_t)(c->rows * c->rows) * sizeof *F);
        for (int k = 0; k < c->rows; k++) {
            F[k * (c->rows + 1)] = -at[k] > low && -at[k] < bound && !h->dual->given[c->row + k] ? -1 : 0;
        }
    }
}

void residual_map_apply_slopes(const residual_map *h, const double *F, double *J) {
    size_t n = (size_t)h->n;
    for (int i = 0; i < h->dual->problem->nconstraint; i++, F += RESIDUAL_BLOCK) {
        const sim_constraint *c = &h->dual->problem->constraint[i];
        for (size_t row = 0; row < n; row++) {
            double left[SIM_MAX_ROWS];
            for (int k = 0; k < c->rows; k++) {
                left[k] = h->W[row * n + (size_t)(c->row + k)] + ((int)row == c->row + k ? h->soft - 1 : 0);
            }
            for (int j = 0; j < c->rows; j++) {
                double sum = (int)row == c->row + j ? -1 : 0;
                for (int k = 0; k < c->rows; k++) {
                    sum += left[k] * F[k * c->rows + j];
                }
                J[row * n + (size_t)(c->row + j)] = sum;
            }
        }
    }
}

void residual_map_jacobian(const residual_map *h, const double *x, double *J) {
    residual_map_slopes(h, x, h->F);
    residual_map_apply_slopes(h, h->F, J);
}

void residual_map_slope_times(const residual_map *h, const double *F, int transposed, const double *x, double *y) {
    for (int i = 0; i < h->dual->problem->nconstraint; i++, F += RESIDUAL_BLOCK) {
        const sim_constraint *c = &h->dual->problem->constraint[i];
        for (int a = 0; a < c->rows; a++) {
            double sum = 0;
            for (int b = 0; b < c->rows; b++) {
                sum += (transposed ? F[b * c->rows + a] : F[a * c->rows + b]) * x[c->row + b];
            }
            y[c->row + a] = sum;
        }
    }
}

void residual_map_jacobian_times(const residual_map *h, const double *F, const double *x, double *y) {
    residual_map_slope_times(h, F, 0, x, h->work);
    residual_map_times(h, h->work, y);
    for (int k = 0; k < h->n; k++) {
        y[k] -= h->work[k] + x[k];
    }
}

void residual_map_from_impulse(const residual_map *h, const double *gamma, double *x) {
    residual_map_times(h, gamma, h->work);
    for (int i = 0; i < h->n; i++) {
        x[i] = h->work[i] + h->q[i] - gamma[i];
    }
}

void residual_map_unscale(const residual_map *h, const double *x, double *gamma) {
    residual_map_impulse(h, x, gamma);
    for (int k = 0; k < h->n; k++) {
        gamma[k] = h->dual->given[k] ? h->dual->impulse[k] : h->scale[k] * gamma[k];
    }
}

double residual_map_error(const residual_map *h, const double *x) {
    const dual *d = h->dual;
    natural_sum sum = {0};
    residual_map_impulse(h, x, h->gamma);
    residual_map_times(h, h->gamma, h->work);
    for (int k = 0; k < h->n; k++) {
        h->work[k] = d->q[k] + (h->work[k] - h->soft * h->gamma[k]) / h->scale[k];
        h->gamma[k] = d->given[k] ? d->impulse[k] : h->scale[k] * h->gamma[k];
    }
    for (int i = 0; i < d->problem->nconstraint; i++) {
        const sim_constraint *c = &d->problem->constraint[i];
        natural_add(&sum, c, d->problem->step, 1 / d->w[i], d->n2[i], d->q + c->row, h->work + c->row,
                    h->gamma + c->row);
    }
    return natural_error(&sum);
}

/* Cholesky factor of W' W + RELATIVE_RIDGE; false: rounding made it indefinite. */
static bool factor_normal_equations(const residual_map *h, double *A) {
    size_t n = (size_t)h->n;
    if (h->start) {
        memset(A, 0, n * n * sizeof *A);
        for (int i = 0; i < h->n && !panels_stopped(h->n, &h->dual->watch); i++) {
            for (int k = h->start[i]; k < h->start[i + 1]; k++) {
                for (int l = h->start[i]; l <= k; l++) {
                    A[(size_t)h->column[l] * n + (size_t)h->column[k]] += h->value[k] * h->value[l];
                }
            }
        }
    } else if (!panels_square(h->n, h->W, A, &h->dual->watch)) { /* column-major, so that W is W' */
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        A[i * (n + 1)] += RELATIVE_RIDGE;
    }
    return panels_cholesky(h->n, A, &h->dual->watch);
}

/* gamma = -W^+ q, regularised by RELATIVE_RIDGE, with one step of iterative refinement.  Many rows use the normal equations,
 * whose rounding needs one more step. */
bool residual_map_start_sticking(const residual_map *h, solver_call *call, double *x) {
    size_t n = (size_t)h->n;
    double *work = ARENA_NEW(call->scratch, double, levenberg_work(h->n));
    double *gamma = ARENA_NEW(call->scratch, double, 3 * n), *more = gamma + n, *left = gamma + 2 * n, range;
    if (!work || !gamma) {
        return false;
    }
    /* least squares with a ridge: normal equations for large systems, reflections otherwise */
    int one = 1, info;
    bool squares = h->n > MIN_NORMAL_EQUATION_ROWS && factor_normal_equations(h, work);
    memset(gamma, 0, n * sizeof *gamma);
    memcpy(left, h->q, n * sizeof *left);
    /* iterative refinement: gamma <- gamma - (W' W + ridge)^-1 W' (W gamma + q) */
    for (int pass = 0; pass < 2 + squares; pass++) {
        if (squares) {
            residual_map_transposed(h, left, more);
            dpotrs_("L", &h->n, &one, work, &h->n, more, &h->n, &info);
        } else {
            levenberg_step(h->n, h->W, left, RELATIVE_RIDGE, work, more, &range, &h->dual->watch);
        }
        for (size_t i = 0; i < n; i++) {
            gamma[i] += squares ? -more[i] : more[i];
        }
        residual_map_times(h, gamma, left);
        for (size_t i = 0; i < n; i++) {
            left[i] += h->q[i];
        }
    }
    residual_map_from_impulse(h, gamma, x);
    return true;
}

bool residual_map_start(const residual_map *h, solver_call *call, double *x) {
    /* start of sticking contacts */
    const sim_problem *p = h->dual->problem;
    size_t n = (size_t)h->n;
    double *gamma = ARENA_NEW(call->scratch, double, 3 * n), *other = gamma + n, *r = gamma + 2 * n;
    if (!gamma || !residual_map_start_sticking(h, call, x)) {
        return false;
    }
    if (!p->impulse_guess) {
        return true;
    }
    /* start from the warm impulses */
    for (size_t k = 0; k < n; k++) {
        gamma[k] = isfinite(p->impulse_guess[k]) && !h->dual->given[k] ? p->impulse_guess[k] / h->scale[k] : 0;
    }
    residual_map_from_impulse(h, gamma, other);
    residual_map_eval(h, x, r);
    /* the start with the lesser residual */
    double sticking = dense_dot(h->n, r, r);
    residual_map_eval(h, other, r);
    if (dense_dot(h->n, r, r) < sticking) {
        memcpy(x, other, n * sizeof *x);
    }
    return true;
}

void residual_map_soften(residual_map *h, double soft, const double *gamma) {
    h->soft = soft;
    for (int i = 0; i < h->n; i++) {
        h->q[i] = h->scale[i] * h->dual->q[i] - (h->dual->given[i] ? 0 : soft * gamma[i]);
    }
}
