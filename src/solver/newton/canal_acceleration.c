/* Where do CANAL's rounds lead?
 *
 * A round takes x = (lambda, p) to T(x) = (gamma, mu |s_t|), and the answer is x = T(x).  Of x it sees
 *
 *     tau = e lambda - (0, 0, p)
 *
 * alone.  With G = -d gamma / d u of the law with R + e at the round's answer and H = A + J' G J, a change z of tau brings
 *
 *     dv = H^-1 J' G z,   dgamma = G (z - J dv),   ds = J dv + R dgamma,   B z = e dgamma - (0, 0, mu t . ds_t),
 *
 * with t = s_t / |s_t|.  Newton's step is the z with  (1 - B) z = tau(T(x)) - tau(x):  found by GMRES to a tenth, measured
 * over the root of w, each product at the cost of a solve with the factor of H.  More exact it need not be, as G will be
 * another; and where impulses are not unique, 1 - B is singular.  Where a contact sticks, p has its end at 0, and the kink
 * of |s_t| there is left out.
 *
 * Far from the answer such a step leads astray.  It is kept if a short round from it makes E less; else what the round
 * before it gave is taken up again, and the next steps are tried ever later. */
#include "solver/newton/canal_acceleration.h"
#include "math/dense.h"
#include "solver/core/products.h"
#include "solver/newton/gmres.h"

#include <math.h>

static const double ENOUGH = 0.1; /* of the right side may be left */
static const double GAIN = 0.9;   /* of E before a guess, which it has to come under */
enum { LONGEST_PAUSE = 127 };

int canal_newton_make(canal_newton *k, const sim_problem *p, const double *w, hessian *h, sim_arena *scratch) {
    size_t rows = (size_t)p->nrow, n = (size_t)p->nconstraint, nv = (size_t)p->nv;
    *k = (canal_newton){.problem = p, .w = w, .hessian = h};
    k->basis = ARENA_NEW(scratch, double, rows *(GMRES_MOST + 1));
    k->z = ARENA_NEW(scratch, double, rows);
    k->pushed = ARENA_NEW(scratch, double, rows);
    k->du = ARENA_NEW(scratch, double, rows);
    k->dv = ARENA_NEW(scratch, double, nv);
    k->x = ARENA_NEW(scratch, double, rows + n);
    k->v = ARENA_NEW(scratch, double, nv);
    for (size_t j = 0; k->dv && j < nv; j++) {
        k->dv[j] = 0; /* of trees that nothing touches */
    }
    return k->basis && k->z && k->pushed && k->du && k->dv && k->x && k->v;
}

/* dv, du = J dv and pushed = dgamma of a change z; 0 without memory. */
static int respond(canal_newton *k) {
    const sim_problem *p = k->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        cone_hessian_times(c, &k->round->G[i], k->z + c->row, k->pushed + c->row);
    }
    problem_jacobian_transposed(p, k->pushed, k->dv);
    if (!hessian_solve(k->hessian, k->dv)) {
        return 0;
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
    return 1;
}

/* Does p follow the slip? */
static int slides(const canal_newton *k, int i) {
    const sim_constraint *c = &k->problem->constraint[i];
    return c->kind == SIM_CONTACT && c->friction > 0 && k->round->G[i].sliding;
}

/* ds of a row */
static double moved(const canal_newton *k, int row) {
    double R = k->round->R[row];
    return k->du[row] + (isinf(R) ? 0 : R * k->pushed[row]);
}

/* y = (1 - B) x, both over the root of w. */
static int times(void *self, const double *x, double *y) {
    canal_newton *k = self;
    const sim_problem *p = k->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        for (int r = p->constraint[i].row; r < p->constraint[i].row + p->constraint[i].rows; r++) {
            k->z[r] = x[r] * sqrt(k->w[i]);
        }
    }
    if (!respond(k)) {
        return 0;
    }
    for (int i = 0; i < p->nconstraint; i++) {
        const sim_constraint *c = &p->constraint[i];
        double over = 1 / sqrt(k->w[i]);
        for (int r = c->row; r < c->row + c->rows; r++) {
            y[r] = x[r] - over * k->round->e[i] * k->pushed[r];
        }
        if (slides(k, i)) {
            const double *s = k->round->s + c->row;
            double size = hypot(s[0], s[1]), rise = s[0] * moved(k, c->row) + s[1] * moved(k, c->row + 1);
            y[c->row + 2] += size > 0 ? over * c->friction * rise / size : 0;
        }
    }
    return 1;
}

static void set_right_side(const canal_newton *k, double *f) {
    const canal_round *o = k->round;
    for (int i = 0; i < k->problem->nconstraint; i++) {
        const sim_constraint *c = &k->problem->constraint[i];
        double over = 1 / sqrt(k->w[i]);
        for (int r = c->row; r < c->row + c->rows; r++) {
            f[r] = over * o->e[i] * (o->gamma[r] - o->lambda[r]);
        }
        if (c->kind == SIM_CONTACT) {
            int sticks = !slides(k, i) && o->gamma[c->row + 2] > 0;
            double to = sticks ? 0 : c->friction * hypot(o->s[c->row], o->s[c->row + 1]);
            f[c->row + 2] -= over * (to - o->shift[i]);
        }
    }
}

/* What the round came to, and what the step adds to it; 0 if that is not finite. */
static int take(const canal_newton *k, double *x, double *v) {
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
            shift[i] = c->friction * hypot(s[0] + moved(k, c->row), s[1] + moved(k, c->row + 1));
            sum += shift[i];
        }
    }
    dense_axpy(p->nv, 1, k->dv, v);
    return isfinite(sum);
}

static void copy(const canal_newton *k, double *x, double *v, const double *from_x, const double *from_v) {
    memcpy(x, from_x, (size_t)(k->problem->nrow + k->problem->nconstraint) * sizeof *x);
    memcpy(v, from_v, (size_t)k->problem->nv * sizeof *v);
}

int canal_newton_back(canal_newton *k, double E, double *x, double *v) {
    if (!k->guessed) {
        return 0;
    }
    k->guessed = 0;
    if (E <= GAIN * k->E) {
        k->pause /= 4;
        return 0;
    }
    copy(k, x, v, k->x, k->v);
    k->pause = k->pause < LONGEST_PAUSE ? 2 * k->pause + 1 : LONGEST_PAUSE;
    k->left = k->pause;
    return 1;
}

int canal_newton_guess(canal_newton *k, const canal_round *o, double *x, double *v) {
    if (k->left > 0) {
        k->left--;
        return 0;
    }
    k->round = o;
    k->E = o->E;
    copy(k, k->x, k->v, x, v);
    hessian_set(k->hessian, o->G);
    int done = hessian_factor(k->hessian);
    if (done != 1) {
        return done;
    }
    set_right_side(k, k->basis);
    if (!gmres_solve(k->problem->nrow, times, k, ENOUGH, k->basis, k->z)) {
        return -1;
    }
    for (int i = 0; i < k->problem->nconstraint; i++) {
        for (int r = k->problem->constraint[i].row; r < k->problem->constraint[i].row + k->problem->constraint[i].rows;
             r++) {
            k->z[r] *= sqrt(k->w[i]);
        }
    }
    if (!respond(k)) {
        return -1;
    }
    k->guessed = take(k, x, v);
    if (!k->guessed) {
        copy(k, x, v, k->x, k->v);
    }
    return k->guessed;
}
