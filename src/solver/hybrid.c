/* gamma = P(-x), r and their derivatives. */
#include "solver/hybrid.h"
#include "math/dense.h"
#include "solver/levenberg.h"

#include <math.h>
#include <string.h>

static const double SOFT = 1e-10; /* W's diagonal blocks are of the size of 1 */

static int bounded(const sim_constraint *c) { return c->kind == SIM_FRICTION || c->kind == SIM_ACTUATOR; }

/* Greatest impulse of a row, scaled. */
static double bound_of(const hybrid *h, const sim_constraint *c) {
    return bounded(c) ? h->dual->problem->step * c->bound / h->scale[c->row] : HUGE_VAL;
}

int hybrid_make(hybrid *h, const dual *d, sim_arena *scratch) {
    size_t n = (size_t)d->n;
    *h = (hybrid){.dual = d, .n = d->n};
    h->W = sim_arena_alloc(scratch, n * n, sizeof *h->W);
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
    return 1;
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
    for (int i = 0; i < h->n; i++) {
        r[i] = dense_dot(h->n, h->W + (size_t)i * (size_t)h->n, h->gamma) + h->q[i] - x[i] - h->gamma[i];
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
                left[k] = h->W[row * n + (size_t)(c->row + k)] - ((int)row == c->row + k);
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

void hybrid_from_impulse(const hybrid *h, const double *gamma, double *x) {
    for (int i = 0; i < h->n; i++) {
        double s = dense_dot(h->n, h->W + (size_t)i * (size_t)h->n, gamma) + h->q[i];
        x[i] = s - gamma[i];
    }
}

void hybrid_unscale(const hybrid *h, const double *x, double *gamma) {
    hybrid_impulse(h, x, gamma);
    for (int k = 0; k < h->n; k++) {
        gamma[k] = h->dual->given[k] ? h->dual->impulse[k] : h->scale[k] * gamma[k];
    }
}

double hybrid_error(const hybrid *h, const double *x) {
    hybrid_unscale(h, x, h->gamma);
    return dual_error(h->dual, h->gamma, h->work);
}

/* gamma = -W^+ q, of a W that is a little softer, so that it is not singular; what that leaves over is answered once more. */
int hybrid_stick(const hybrid *h, solver_call *call, double *x) {
    size_t n = (size_t)h->n;
    double *work = ARENA_NEW(call->scratch, double, levenberg_work(h->n));
    double *gamma = ARENA_NEW(call->scratch, double, 3 * n), *more = gamma + n, *left = gamma + 2 * n, range;
    if (!work || !gamma) {
        return 0;
    }
    memset(gamma, 0, n * sizeof *gamma);
    memcpy(left, h->q, n * sizeof *left);
    for (int pass = 0; pass < 2; pass++) {
        levenberg_step(h->n, h->W, left, SOFT, work, more, &range);
        for (size_t i = 0; i < n; i++) {
            gamma[i] += more[i];
        }
        for (size_t i = 0; i < n; i++) {
            left[i] = h->q[i] + dense_dot(h->n, h->W + i * n, gamma);
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
    size_t n = (size_t)h->n;
    for (size_t i = 0; i < n; i++) {
        h->W[i * (n + 1)] = h->scale[i] * h->scale[i] * h->dual->W[i * (n + 1)] + (h->dual->given[i] ? 0 : soft);
        h->q[i] = h->scale[i] * h->dual->q[i] - (h->dual->given[i] ? 0 : soft * gamma[i]);
    }
}
