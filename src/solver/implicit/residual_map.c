/* gamma = P(-x), r and their derivatives. */
#include "solver/implicit/residual_map.h"
#include "linalg/lapack.h"
#include "math/dense.h"
#include "solver/core/natural_map.h"
#include "solver/matrices/levenberg_marquardt.h"

#include <math.h>
#include <string.h>

static const double SOFT = 1e-10; /* W's diagonal blocks are of the size of 1 */
enum { MANY = 96 };               /* rows from which the normal equations give the sticking start */
enum {
    FEW = 24,
    THIN = 5
}; /* rows from which, numbers for one other than zero from which compressed rows are quicker */

static int bounded(const sim_constraint *c) { return c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR; }

/* Greatest impulse of a row, scaled. */
static double bound_of(const hybrid *h, const sim_constraint *c) {
    return bounded(c) ? h->dual->problem->step * c->bound / h->scale[c->row] : HUGE_VAL;
}

/* W in compressed rows, if few enough of its numbers are other than zero.  0 without memory. */
static int compress(hybrid *h, sim_arena *scratch) {
    size_t n = (size_t)h->n, count = 0;
    for (size_t k = 0; k < n * n; k++) {
        count += h->W[k] != 0;
    }
    if (h->n < FEW || count * THIN > n * n) {
        return 1;
    }
    h->start = ARENA_NEW(scratch, int, n + 1);
    h->column = ARENA_NEW(scratch, int, count);
    h->value = ARENA_NEW(scratch, double, count);
    if (!h->start || !h->column || !h->value) {
        return 0;
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
    return 1;
}

int hybrid_make(hybrid *h, const dual *d, sim_arena *scratch) {
    size_t n = (size_t)d->n;
    *h = (hybrid){.dual = d, .n = d->n};
    h->W = arena_alloc(scratch, n * n, sizeof *h->W);
    h->F = ARENA_NEW(scratch, double, HYBRID_BLOCK * d->problem->nconstraint);
    double *vectors = ARENA_NEW(scratch, double, 4 * n);
    if (!h->W || !h->F || !vectors) {
        return 0;
    }
    h->q = vectors;
    h->scale = vectors + n;
    h->gamma = vectors + 2 * n;
    h->work = vectors + 3 * n;
    for (int i = 0; i < d->problem->nconstraint; i++) {
        const sim_constraint *c = &d->problem->constraint[i];
        for (int k = c->row; k < c->row + c->rows; k++) {
            h->scale[k] = 1 / sqrt(d->w[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        h->q[i] = h->scale[i] * d->q[i];
        for (size_t j = 0; j < n; j++) {
            h->W[i * n + j] = h->scale[i] * h->scale[j] * d->W[i * n + j];
        }
    }
    return compress(h, scratch);
}

void hybrid_times(const hybrid *h, const double *y, double *product) {
    for (int i = 0; i < h->n; i++) {
        double sum = h->start ? 0 : dense_dot(h->n, h->W + (size_t)i * (size_t)h->n, y);
        for (int k = h->start ? h->start[i] : 0; h->start && k < h->start[i + 1]; k++) {
            sum += h->value[k] * y[h->column[k]];
        }
        product[i] = sum + h->soft * y[i];
    }
}

void hybrid_transposed(const hybrid *h, const double *y, double *product) {
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

static void contact_impulse(double mu, const double *x, double *gamma) {
    double normal = fmax(0, -x[2]), size = hypot(x[0], x[1]), bound = mu * normal;
    double share = size > bound ? bound / size : 1;
    gamma[0] = -share * x[0];
    gamma[1] = -share * x[1];
    gamma[2] = normal;
}

void hybrid_impulse(const hybrid *h, const double *x, double *gamma) {
    for (int i = 0; i < h->dual->problem->nconstraint; i++) {
        const sim_constraint *c = &h->dual->problem->constraint[i];
        double bound = bound_of(h, c), low = c->kind == SIM_LIMIT ? 0 : -bound;
        if (c->kind == SIM_CONTACT) {
            contact_impulse(c->friction, x + c->row, gamma + c->row);
            continue;
        }
        for (int k = c->row; k < c->row + c->rows; k++) {
            gamma[k] = fmin(fmax(-x[k], low), bound);
        }
    }
    for (int k = 0; k < h->n; k++) { /* what is given is in q */
        gamma[k] = h->dual->given[k] ? 0 : gamma[k];
    }
}

void hybrid_residual(const hybrid *h, const double *x, double *r) {
    hybrid_impulse(h, x, h->gamma);
    hybrid_times(h, h->gamma, r);
    for (int i = 0; i < h->n; i++) {
        r[i] += h->q[i] - x[i] - h->gamma[i];
    }
}

hybrid_region hybrid_contact_region(double mu, const double *x) {
    return !(x[2] < 0) ? HYBRID_BREAK : hypot(x[0], x[1]) <= -mu * x[2] ? HYBRID_STICK : HYBRID_SLIP;
}

/* None where it breaks, -1 where it sticks; where it slips, with a = -x_n, rho = |x_t|, t = x_t / rho,
 *
 *     d gamma_t = -(mu a / rho) (1 - t t') d x_t + mu t d x_n,     d gamma_n = -d x_n. */
void hybrid_contact_slope(hybrid_region region, double mu, const double *x, double *F) {
    double rho = hypot(x[0], x[1]);
    memset(F, 0, 9 * sizeof *F);
    if (region == HYBRID_BREAK) {
        return;
    }
    F[8] = -1;
    if (region == HYBRID_STICK) {
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

void hybrid_slopes(const hybrid *h, const double *x, double *F) {
    for (int i = 0; i < h->dual->problem->nconstraint; i++, F += HYBRID_BLOCK) {
        const sim_constraint *c = &h->dual->problem->constraint[i];
        const double *at = x + c->row;
        double bound = bound_of(h, c), low = c->kind == SIM_LIMIT ? 0 : -bound;
        if (c->kind == SIM_CONTACT) {
            hybrid_contact_slope(hybrid_contact_region(c->friction, at), c->friction, at, F);
            continue;
        }
        memset(F, 0, (size_t)(c->rows * c->rows) * sizeof *F);
        for (int k = 0; k < c->rows; k++) {
            F[k * (c->rows + 1)] = -at[k] > low && -at[k] < bound && !h->dual->given[c->row + k] ? -1 : 0;
        }
    }
}

void hybrid_chain(const hybrid *h, const double *F, double *J) {
    size_t n = (size_t)h->n;
    for (int i = 0; i < h->dual->problem->nconstraint; i++, F += HYBRID_BLOCK) {
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

void hybrid_jacobian(const hybrid *h, const double *x, double *J) {
    hybrid_slopes(h, x, h->F);
    hybrid_chain(h, h->F, J);
}

void hybrid_sloped(const hybrid *h, const double *F, int transposed, const double *x, double *y) {
    for (int i = 0; i < h->dual->problem->nconstraint; i++, F += HYBRID_BLOCK) {
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

void hybrid_along(const hybrid *h, const double *F, const double *x, double *y) {
    hybrid_sloped(h, F, 0, x, h->work);
    hybrid_times(h, h->work, y);
    for (int k = 0; k < h->n; k++) {
        y[k] -= h->work[k] + x[k];
    }
}

void hybrid_from_impulse(const hybrid *h, const double *gamma, double *x) {
    hybrid_times(h, gamma, h->work);
    for (int i = 0; i < h->n; i++) {
        x[i] = h->work[i] + h->q[i] - gamma[i];
    }
}

void hybrid_unscale(const hybrid *h, const double *x, double *gamma) {
    hybrid_impulse(h, x, gamma);
    for (int k = 0; k < h->n; k++) {
        gamma[k] = h->dual->given[k] ? h->dual->impulse[k] : h->scale[k] * gamma[k];
    }
}

double hybrid_error(const hybrid *h, const double *x) {
    const dual *d = h->dual;
    natural_sum sum = {0};
    hybrid_impulse(h, x, h->gamma);
    hybrid_times(h, h->gamma, h->work);
    for (int k = 0; k < h->n; k++) {
        h->work[k] = d->q[k] + (h->work[k] - h->soft * h->gamma[k]) / h->scale[k];
        h->gamma[k] = d->given[k] ? d->impulse[k] : h->scale[k] * h->gamma[k];
    }
    for (int i = 0; i < d->problem->nconstraint; i++) {
        const sim_constraint *c = &d->problem->constraint[i];
        natural_add(&sum, c, d->problem->step, 1 / d->w[i], d->q + c->row, h->work + c->row, h->gamma + c->row);
    }
    return natural_error(&sum);
}

/* W' W + SOFT and its factor by Cholesky; 0 where rounding leaves none. */
static int factor_squares(const hybrid *h, double *A) {
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
    } else if (!panels_square(h->n, h->W, A, &h->dual->watch)) { /* its columns are our rows */
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        A[i * (n + 1)] += SOFT;
    }
    return panels_cholesky(h->n, A, &h->dual->watch);
}

/* gamma = -W^+ q, of a W that is a little softer, so that it is not singular; what that leaves over is answered once more.
 * For many rows by the normal equations, whose rounding takes one pass more. */
int hybrid_stick(const hybrid *h, solver_call *call, double *x) {
    size_t n = (size_t)h->n;
    double *work = ARENA_NEW(call->scratch, double, levenberg_work(h->n));
    double *gamma = ARENA_NEW(call->scratch, double, 3 * n), *more = gamma + n, *left = gamma + 2 * n, range;
    if (!work || !gamma) {
        return 0;
    }
    int one = 1, info, squares = h->n > MANY && factor_squares(h, work);
    memset(gamma, 0, n * sizeof *gamma);
    memcpy(left, h->q, n * sizeof *left);
    for (int pass = 0; pass < 2 + squares; pass++) {
        if (squares) {
            hybrid_transposed(h, left, more);
            dpotrs_("L", &h->n, &one, work, &h->n, more, &h->n, &info);
        } else {
            levenberg_step(h->n, h->W, left, SOFT, work, more, &range, &h->dual->watch);
        }
        for (size_t i = 0; i < n; i++) {
            gamma[i] += squares ? -more[i] : more[i];
        }
        hybrid_times(h, gamma, left);
        for (size_t i = 0; i < n; i++) {
            left[i] += h->q[i];
        }
    }
    hybrid_from_impulse(h, gamma, x);
    return 1;
}

int hybrid_start(const hybrid *h, solver_call *call, double *x) {
    const sim_problem *p = h->dual->problem;
    size_t n = (size_t)h->n;
    double *gamma = ARENA_NEW(call->scratch, double, 3 * n), *other = gamma + n, *r = gamma + 2 * n;
    if (!gamma || !hybrid_stick(h, call, x)) {
        return 0;
    }
    if (!p->impulse_guess) {
        return 1;
    }
    for (size_t k = 0; k < n; k++) {
        gamma[k] = isfinite(p->impulse_guess[k]) && !h->dual->given[k] ? p->impulse_guess[k] / h->scale[k] : 0;
    }
    hybrid_from_impulse(h, gamma, other);
    hybrid_residual(h, x, r);
    double sticking = dense_dot(h->n, r, r);
    hybrid_residual(h, other, r);
    if (dense_dot(h->n, r, r) < sticking) {
        memcpy(x, other, n * sizeof *x);
    }
    return 1;
}

void hybrid_soften(hybrid *h, double soft, const double *gamma) {
    h->soft = soft;
    for (int i = 0; i < h->n; i++) {
        h->q[i] = h->scale[i] * h->dual->q[i] - (h->dual->given[i] ? 0 : soft * gamma[i]);
    }
}
