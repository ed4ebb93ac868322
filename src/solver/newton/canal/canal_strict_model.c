/* Merit |D r|^2 / 2 of CANAL's strict inner problem and its quadratic model: Jacobian, Newton step, slope, Cauchy
 * length. */
#include "math/dense.h"
#include "solver/newton/canal/canal_strict.h"

#include <math.h>
#include <string.h>

static void store_iterate(strict_newton *s) {
    memcpy(s->from, s->at->at.v, (size_t)s->at->problem->nv * sizeof *s->from);
}

static double eval_merit(strict_newton *s, double *r) {
    jacobian_pack(&s->J, s->at->at.gradient, r);
    double merit = 0.5 * dense_dot(s->J.n, r, r);
    return isfinite(merit) ? merit : HUGE_VAL;
}

void strict_start(strict_newton *s) {
    primal_eval_at(s->at);
    store_iterate(s);
    s->merit = eval_merit(s, s->r);
    s->residual = s->at->at.residual;
}

static void factor_jacobian(strict_newton *s) {
    sim_solution *out = s->at->out;
    const sim_clock *clock = out->clock;
    double begin = clock ? clock->now(clock->context) : 0, n = s->J.n;
    s->solvable = jacobian_factor(&s->J);
    out->factor_seconds += clock ? clock->now(clock->context) - begin : 0;
    out->factorisations++;
    out->multiplications += n * n * n / 3;
}

bool strict_model(strict_newton *s) {
    int n = s->J.n;
    jacobian_set(&s->J, s->at->at.G);
    factor_jacobian(s);
    for (int k = 0; k < n; k++) {
        s->newton[k] = -s->r[k];
    }
    if (s->solvable) {
        jacobian_solve(&s->J, s->newton);
        s->solvable = isfinite(dense_dot(n, s->newton, s->newton));
    }
    jacobian_transposed(&s->J, s->r, s->slope);
    jacobian_times(&s->J, s->slope, s->image);
    double steep = dense_dot(n, s->slope, s->slope), curvature = dense_dot(n, s->image, s->image);
    s->cauchy = curvature > 0 ? steep / curvature : 0;
    return s->cauchy > 0 && isfinite(s->cauchy);
}

double strict_try(strict_newton *s, double alpha) {
    primal *p = s->at;
    jacobian_move(&s->J, s->from, alpha, s->step, p->at.v);
    primal_eval_at(p);
    p->out->searches++;
    return eval_merit(s, s->image);
}

void strict_accept(strict_newton *s, double merit) {
    s->merit = merit;
    s->residual = s->at->at.residual;
    memcpy(s->r, s->image, (size_t)s->J.n * sizeof *s->r);
    store_iterate(s);
}

void strict_back(strict_newton *s) {
    memcpy(s->at->at.v, s->from, (size_t)s->at->problem->nv * sizeof *s->from);
    s->at->fresh = 0;
}
