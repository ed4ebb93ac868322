/* Newton's method on the fixed point of CANAL's outer iteration.
 *
 * An outer iteration maps x = (lambda, p) to T(x) = (gamma, mu |s_t|); the solution is x = T(x).  It depends on x only
 * by
 *
 *     tau = e lambda - (0, 0, p).
 *
 * With G = -d gamma / d u of the law with R + e at its solution and H = A + J' G J, a change z of tau gives
 *
 *     dv = H^-1 J' G z,   dgamma = G (z - J dv),   ds = J dv + R dgamma,   B z = e dgamma - (0, 0, mu t . ds_t),
 *
 * with t = s_t / |s_t|.  Newton's step solves  (1 - B) z = tau(T(x)) - tau(x)  by GMRES to a tenth, weighted by w^-1/2.
 * A closer solution gains nothing, as G changes; where impulses are not unique, 1 - B is singular.  In a sticking
 * contact p goes to 0, and the kink of |s_t| is left out.
 *
 * Safeguard: the step is kept if a short outer iteration from it lowers E. Otherwise x returns to T(x), and the next
 * steps are tried after longer and longer pauses.  Cost: a factor of H, a solve with it for each product. */
#include "solver/newton/canal/canal_acceleration.h"
#include "math/dense.h"
#include "solver/core/products.h"
#include "solver/newton/canal/gmres.h"

#include <math.h>

static const double LINEAR_TOLERANCE = 0.1; /* of GMRES, relative */
static const double MAX_E_RATIO = 0.9;      /* E after over before a step that is kept */
enum { MAX_PAUSE = 127 };                   /* outer iterations */

bool canal_newton_make(canal_newton *k, const sim_problem *p, const double *w, hessian *h, sim_arena *scratch) {
    size_t rows = (size_t)p->nrow, n = (size_t)p->nconstraint, nv = (size_t)p->nv;
    *k = (canal_newton){.problem = p, .w = w, .hessian = h};
    k->basis = ARENA_NEW(scratch, double, rows *(GMRES_MAX_PRODUCTS + 1));
    k->z = ARENA_NEW(scratch, double, rows);
    k->pushed = ARENA_NEW(scratch, double, rows);
    k->du = ARENA_NEW(scratch, double, rows);
    k->dv = ARENA_NEW(scratch, double, nv);
    k->x = ARENA_NEW(scratch, double, rows + n);
    k->v = ARENA_NEW(scratch, double, nv);
    for (size_t j = 0; k->dv && j < nv; j++) {
        k->dv[j] = 0; /* trees without constraints */
    }
    return k->basis && k->z && k->pushed && k->du && k->dv && k->x && k->v;
}

/* dv, du = J dv and pushed = dgamma of a change z. */
static sim_status eval_response(canal_newton *k) {
    const sim_problem *p = k->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        cone_hessian_times(c, &k->round->G[i], k->z + c->row, k->pushed + c->row);
    }
    problem_jacobian_transposed(p, k->pushed, k->dv);
    if (!hessian_solve(k->hessian, k->dv)) {
        return SIM_NO_RESOURCE;
    }
    problem_jacobian_times(p, k->dv, k->du);
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double left[SIM_MAX_ROWS];
        for (int r = 0; r < c->rows; r++) {
            left[r] = k->z[c->row + r] - k->du[c->row + r];
        }
        cone_hessian_times(c, &k->round->G[i], left, k->pushed + c->row);
    }
    return SIM_OK;
}

/* True if p follows the slip: p = mu |s_t|. */
static bool contact_slides(const canal_newton *k, int i) {
    const sim_constraint *c = &k->problem->constraint[i];
    return c->kind == SIM_CONTACT && c->friction > 0 && k->round->G[i].sliding;
}

/* ds of a row */
static double row_change(const canal_newton *k, int row) {
    double R = k->round->R[row];
    return k->du[row] + (isinf(R) ? 0 : R * k->pushed[row]);
}

/* y = (1 - B) x, both weighted by w^-1/2. */
static sim_status fixed_point_times(void *self, const double *x, double *y) {
    canal_newton *k = self;
    /* unscaled direction */
    const sim_problem *p = k->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int r = p->constraint[i].row; r < p->constraint[i].row + p->constraint[i].rows; r++) {
            k->z[r] = x[r] * sqrt(k->w[i]);
        }
    }
    /* change of s by the change of the multipliers */
    if (eval_response(k)) {
        return SIM_NO_RESOURCE;
    }
    /* weighted fixed-point map, with the shift of sliding contacts */
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double weight = 1 / sqrt(k->w[i]);
        for (int r = c->row; r < c->row + c->rows; r++) {
            y[r] = x[r] - weight * k->round->e[i] * k->pushed[r];
        }
        if (contact_slides(k, i)) {
            const double *s = k->round->s + c->row;
            double size = hypot(s[0], s[1]), rise = s[0] * row_change(k, c->row) + s[1] * row_change(k, c->row + 1);
            y[c->row + 2] += size > 0 ? weight * c->friction * rise / size : 0;
        }
    }
    return SIM_OK;
}

static void set_right_side(const canal_newton *k, double *f) {
    const canal_round *o = k->round;
    for (int i = 0; i < k->problem->nconstraint; i++) {
        const sim_constraint *c = &k->problem->constraint[i];
        double weight = 1 / sqrt(k->w[i]);
        for (int r = c->row; r < c->row + c->rows; r++) {
            f[r] = weight * o->e[i] * (o->gamma[r] - o->lambda[r]);
        }
        if (c->kind == SIM_CONTACT) {
            bool sticks = !contact_slides(k, i) && o->gamma[c->row + 2] > 0;
            double to = sticks ? 0 : c->friction * hypot(o->s[c->row], o->s[c->row + 1]);
            f[c->row + 2] -= weight * (to - o->shift[i]);
        }
    }
}

/* x = T(x) + change, v += dv; false if not finite. */
static bool add_step(const canal_newton *k, double *x, double *v) {
    const sim_problem *p = k->problem;
    double *shift = x + p->nrow, sum = 0;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        const double *s = k->round->s + c->row;
        for (int r = c->row; r < c->row + c->rows; r++) {
            x[r] = k->round->gamma[r] + k->pushed[r];
            sum += x[r];
        }
        if (c->kind == SIM_CONTACT) {
            shift[i] = c->friction * hypot(s[0] + row_change(k, c->row), s[1] + row_change(k, c->row + 1));
            sum += shift[i];
        }
    }
    dense_axpy(p->nv, 1, k->dv, v);
    return isfinite(sum);
}

static void copy_state(const canal_newton *k, double *x, double *v, const double *from_x, const double *from_v) {
    memcpy(x, from_x, (size_t)(k->problem->nrow + k->problem->nconstraint) * sizeof *x);
    memcpy(v, from_v, (size_t)k->problem->nv * sizeof *v);
}

bool canal_newton_reject(canal_newton *k, double E, double *x, double *v) {
    if (!k->extrapolated) {
        return false;
    }
    k->extrapolated = false;
    if (E <= MAX_E_RATIO * k->E) {
        k->pause /= 4;
        return false;
    }
    copy_state(k, x, v, k->x, k->v);
    k->pause = k->pause < MAX_PAUSE ? 2 * k->pause + 1 : MAX_PAUSE;
    k->left = k->pause;
    return true;
}

canal_newton_result canal_newton_extrapolate(canal_newton *k, const canal_round *o, double *x, double *v) {
    const sim_problem *p = k->problem;
    if (k->left > 0) {
        k->left--;
        return CANAL_NEWTON_NONE;
    }
    k->round = o;
    k->E = o->E;
    copy_state(k, k->x, k->v, x, v);

    /* H = A + J' G J at the solution of the outer iteration */
    hessian_set(k->hessian, o->G);
    hessian_result factored = hessian_factor(k->hessian);
    if (factored != HESSIAN_FACTORED) {
        return factored == HESSIAN_NO_MEMORY ? CANAL_NEWTON_NO_MEMORY : CANAL_NEWTON_NONE;
    }

    /* (1 - B) z = tau(T(x)) - tau(x) */
    set_right_side(k, k->basis);
    if (gmres_solve(p->nrow, fixed_point_times, k, LINEAR_TOLERANCE, k->basis, k->z)) {
        return CANAL_NEWTON_NO_MEMORY;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        for (int r = p->constraint[i].row; r < p->constraint[i].row + p->constraint[i].rows; r++) {
            k->z[r] *= sqrt(k->w[i]);
        }
    }

    /* x and v at tau + z */
    if (eval_response(k)) {
        return CANAL_NEWTON_NO_MEMORY;
    }
    k->extrapolated = add_step(k, x, v);
    if (!k->extrapolated) {
        copy_state(k, x, v, k->x, k->v);
    }
    return k->extrapolated ? CANAL_NEWTON_STEP : CANAL_NEWTON_NONE;
}
