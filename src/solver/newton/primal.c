/* Which velocities minimise the primal cost? (Castro, Permenter, Han 2021, eq. 24 and algorithm 1)
 *
 *     l(v) = |v - v*|_A^2 / 2 + sum_i cost_i(J_i v + w_i)
 *     gradient = A (v - v*) - J' gamma,    H = A + J' G J
 *     dv = -H^-1 gradient,    v <- v + alpha dv
 *
 * l is strongly convex and has one minimum, to which this goes from anywhere; near it alpha = 1 and the error is squared at
 * every step.  It stops where the momentum is in balance (eq. 26),
 *
 *     |D gradient| <= tolerance max(|D A v|, |D J' gamma|),    D = diag(A)^-1/2,
 *
 * so that errors count alike for heavy and light, turning and moving.  A spring or contact with a small part in all that
 * momentum may still be wrong by all it gives: SAP asks for |D gradient| <= in_law |D J' gamma| besides.
 *
 * u = J v + w is carried along, u <- u + alpha J dv.  To make it anew from v at the end would put the rounding of v into
 * gamma = P((target - u) / R): eps |v| / R, much for a stiff spring on fast bodies (1e12 N/m, 1 kg, 1 m/s, 1 ms: 1e-10 N s
 * beside 1e-7).  Carried on, u keeps one error of that size, a constant that moves the target by eps |v| and no more.  So
 * what is answered in the end is computed from v anew, unless that is worse, and u as it was carried on is J v + w to
 * rounding.  (Without `carries`, or where it has gathered more, all that follows is computed from v anew.) */
#include "solver/newton/primal.h"
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/core/products.h"
#include "solver/newton/line_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Steps are searched for up to here: a longer one says that the next direction is better (the authors' program). */
static const double LONGEST_STEP = 1.5;
/* Of l'(0): closer roots cost evaluations and save no iteration (clutter: 29 and 23 evaluations, 6.2 iterations). */
static const double LINE_TOLERANCE = 1e-2;

/* Impulses smaller than this part of the momentum that they push are none. */
static const double NO_IMPULSE = 1.5e-8;
/* Rounding errors of J v + w, over the size of what it is the sum of, that a u carried on may have gathered. */
static const double GATHERED = 64 * DBL_EPSILON;

/* Steps lost in rounding, one after the other, before it is said that no better answer is to be had. */
enum { PATIENCE = 3 };

int primal_begin(primal *p, const convex_law *law, hessian *h, const primal_options *options, sim_solution *out,
                 sim_arena *scratch) {
    const sim_problem *problem = law->problem;
    size_t nv = (size_t)problem->nv, rows = (size_t)problem->nrow, n = (size_t)problem->nconstraint;
    double **of_v[] = {&p->at.gradient, &p->scale, &p->momentum, &p->change, &p->pushed, &p->dv, &p->dp};
    double **of_rows[] = {&p->at.u, &p->du, &p->u_to, &p->gamma_to};
    p->problem = problem;
    p->law = *law;
    p->project = convex_project;
    p->hessian = h;
    p->options = *options;
    p->out = out;
    int ok = 1;
    for (size_t k = 0; k < sizeof of_v / sizeof *of_v; k++) {
        *of_v[k] = ARENA_NEW(scratch, double, nv);
        ok = ok && *of_v[k];
    }
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
        *of_rows[k] = ARENA_NEW(scratch, double, rows);
        ok = ok && *of_rows[k];
    }
    p->at.G = ARENA_NEW(scratch, cone_hessian, n);
    p->G_to = ARENA_NEW(scratch, cone_hessian, n);
    if (!ok || !p->at.G || !p->G_to) {
        return 0;
    }
    for (size_t j = 0; j < nv; j++) {
        p->momentum[j] = p->at.gradient[j] = p->change[j] = p->dv[j] = p->dp[j] = 0;
        p->scale[j] = 1;
    }
    hessian_mass_diagonal(h, p->scale);
    for (size_t j = 0; j < nv; j++) {
        p->scale[j] = 1 / sqrt(p->scale[j]);
    }
    hessian_mass_times(h, problem->v_free, p->momentum);
    return 1;
}

static double project_all(const primal *p, const double *u, double *gamma, cone_hessian *G) {
    double sum = 0;
    for (int i = 0; i < p->problem->nconstraint; i++) {
        int row = p->problem->constraint[i].row;
        sum += p->project(&p->law, i, u + row, gamma + row, &G[i]);
    }
    return sum;
}

/* Gradient, cost and residual, from v and gamma. */
static void balance(primal *p) {
    const sim_problem *problem = p->problem;
    primal_state *at = &p->at;
    int nv = problem->nv;
    double error = 0, momentum = 0, pushed = 0, impulse = 0, energy = 0;
    for (int j = 0; j < nv; j++) {
        p->dv[j] = at->v[j] - problem->v_free[j];
    }
    hessian_mass_times(p->hessian, p->dv, p->change);
    problem_jacobian_transposed(problem, at->gamma, p->pushed);
    for (int j = 0; j < nv; j++) {
        double D = p->scale[j], e, a, b;
        at->gradient[j] = p->change[j] - p->pushed[j];
        energy += p->dv[j] * p->change[j];
        e = D * at->gradient[j];
        a = D * (p->change[j] + p->momentum[j]);
        b = D * p->pushed[j];
        error += e * e;
        momentum += a * a;
        pushed += b == 0 ? 0 : a * a;
        impulse += b * b;
    }
    at->cost = 0.5 * energy + at->potential;
    double least = NO_IMPULSE * NO_IMPULSE * pushed;
    at->residual = error == 0 ? 0 : fmin(sqrt(error / fmax(momentum, impulse)), DBL_MAX);
    at->in_law = error == 0 ? 0 : fmin(sqrt(error / fmax(impulse, least)), DBL_MAX);
}

int primal_done(const primal *p) {
    return p->at.residual <= p->options.tolerance && (!p->options.carries || p->at.in_law <= p->options.in_law);
}

void primal_eval_at(primal *p) {
    problem_velocity(p->problem, p->at.v, p->at.u);
    p->at.potential = project_all(p, p->at.u, p->at.gamma, p->at.G);
    p->fresh = 1;
    balance(p);
}

/* The line v + alpha dv: from increments, so that nothing cancels as dv gets small. */
static void look_along(primal *p, double alpha) {
    if (alpha != p->alpha_to) {
        for (int k = 0; k < p->problem->nrow; k++) {
            p->u_to[k] = p->at.u[k] + alpha * p->du[k];
        }
        p->potential_to = project_all(p, p->u_to, p->gamma_to, p->G_to);
        p->alpha_to = alpha;
    }
}

double primal_slope(primal *p, double alpha, double *second) {
    double rise = 0, curvature = 0;
    look_along(p, alpha);
    for (int i = 0; i < p->problem->nconstraint; i++) {
        const sim_constraint *c = &p->problem->constraint[i];
        rise += convex_increment(c, &p->at.G[i], &p->G_to[i], alpha, p->du + c->row, p->at.gamma + c->row,
                                 p->gamma_to + c->row);
        curvature += convex_curvature(c, &p->G_to[i], p->du + c->row);
    }
    if (second) {
        *second = p->curvature0 + curvature;
    }
    return p->slope0 + alpha * p->curvature0 - rise;
}

double primal_rise(primal *p, double alpha) {
    look_along(p, alpha);
    double straight = dense_dot(p->problem->nv, p->change, p->dv);
    return alpha * straight + 0.5 * alpha * alpha * p->curvature0 + (p->potential_to - p->at.potential);
}

static int factor(primal *p) {
    const sim_clock *clock = p->out->clock;
    double begin = clock ? clock->now(clock->context) : 0;
    int done = hessian_factor(p->hessian);
    p->out->factor_seconds += clock ? clock->now(clock->context) - begin : 0;
    p->out->factorisations++;
    p->out->multiplications += hessian_work(p->hessian).multiplications;
    return done;
}

int primal_direction(primal *p) {
    int nv = p->problem->nv;
    hessian_set(p->hessian, p->at.G);
    int done = factor(p);
    if (done != 1) {
        return done;
    }
    for (int j = 0; j < nv; j++) {
        p->dv[j] = -p->at.gradient[j];
    }
    if (!hessian_solve(p->hessian, p->dv)) {
        return -1;
    }
    hessian_mass_times(p->hessian, p->dv, p->dp);
    problem_jacobian_times(p->problem, p->dv, p->du);
    p->alpha_to = NAN; /* nothing was looked at along the new line */
    p->slope0 = dense_dot(nv, p->at.gradient, p->dv);
    p->curvature0 = dense_dot(nv, p->dp, p->dv);
    return isfinite(p->slope0) && isfinite(p->curvature0);
}

static double slope_of(void *self, double alpha, double *second) { return primal_slope(self, alpha, second); }
static double rise_of(void *self, double alpha) { return primal_rise(self, alpha); }

static void step_along(primal *p) {
    line l = {p, slope_of, rise_of, p->slope0, 0};
    double alpha = p->options.armijo ? line_armijo(&l, 4 * DBL_EPSILON * fabs(p->at.cost))
                                     : line_exact(&l, LONGEST_STEP, LINE_TOLERANCE);
    p->out->searches += l.evaluations;
    look_along(p, alpha);
    primal_state *at = &p->at;
    dense_axpy(p->problem->nv, alpha, p->dv, at->v);
    size_t rows = (size_t)p->problem->nrow;
    memcpy(at->gamma, p->gamma_to, rows * sizeof *at->gamma);
    double *u = at->u;
    cone_hessian *G = at->G;
    at->u = p->u_to;
    at->G = p->G_to;
    p->u_to = u;
    p->G_to = G;
    at->potential = p->potential_to;
    if (p->careful) {
        primal_eval_at(p);
    } else {
        p->fresh = 0;
        balance(p);
    }
}

static void record(primal *p) {
    sim_history *h = p->out->history;
    if (h && h->count < h->room) {
        h->residual[h->count] = p->at.residual;
        h->cost[h->count] = p->at.cost;
        h->count++;
    }
}

/* Is u, as it was carried on, J v + w to rounding? */
static int close_to(const primal *p, const double *carried) {
    double *size = p->du; /* of no line any more */
    int near = 1;
    problem_velocity_size(p->problem, p->at.v, size);
    for (int k = 0; k < p->problem->nrow; k++) {
        near &= fabs(p->at.u[k] - carried[k]) <= GATHERED * size[k];
    }
    return near;
}

static void swap_look(primal *p) {
    double *u = p->at.u, potential = p->at.potential;
    cone_hessian *G = p->at.G;
    p->at.u = p->u_to;
    p->at.G = p->G_to;
    p->at.potential = p->potential_to;
    p->u_to = u;
    p->G_to = G;
    p->potential_to = potential;
    for (int k = 0; k < p->problem->nrow; k++) {
        double gamma = p->at.gamma[k];
        p->at.gamma[k] = p->gamma_to[k];
        p->gamma_to[k] = gamma;
    }
}

/* From v alone; but what was carried on, where it is as near and better. */
static void look_at_the_end(primal *p) {
    if (!p->options.carries) {
        primal_eval_at(p);
        return;
    }
    double in_law = p->at.in_law;
    swap_look(p);
    primal_eval_at(p);
    p->alpha_to = NAN; /* its line is no more */
    if (!primal_done(p) && in_law < p->at.in_law && close_to(p, p->u_to)) {
        swap_look(p);
        balance(p);
    }
}

static int finish(primal *p, sim_outcome outcome) {
    if (!p->fresh) {
        look_at_the_end(p);
    }
    p->out->outcome = outcome;
    p->out->residual = p->at.residual;
    return 1;
}

/* Was the last step lost in rounding?  The cost does not fall below what it has been, and the error not to half of the least
 * there was. */
static int lost(const primal *p, double cost, double least) {
    return p->at.cost >= cost - 4 * DBL_EPSILON * fabs(cost) && p->at.residual > 0.5 * least;
}

int primal_minimise(primal *p) {
    double least = HUGE_VAL, cost = HUGE_VAL;
    int in_vain = 0;
    p->careful = 0;
    p->out->reason = SIM_REASON_NONE;
    primal_eval_at(p);
    record(p);
    for (;;) {
        if (!isfinite(p->at.cost) || !isfinite(p->at.residual)) {
            p->out->reason = SIM_REASON_NONFINITE;
            return finish(p, SIM_BROKEN_DOWN);
        }
        if (primal_done(p) && !p->fresh) {
            look_at_the_end(p);
            p->careful = !primal_done(p);
            least = HUGE_VAL;
        }
        if (primal_done(p)) {
            return finish(p, SIM_SOLVED);
        }
        p->out->expected = hessian_work(p->hessian).multiplications;
        if (p->out->iterations >= p->options.max_iterations || solution_stopped(p->out)) {
            return finish(p, SIM_AT_LIMIT);
        }
        if (p->out->multiplications + p->out->expected > p->options.most_work) {
            p->out->reason = SIM_REASON_WORK;
            return finish(p, SIM_AT_LIMIT);
        }
        cost = fmin(cost, p->at.cost);
        least = fmin(least, p->at.residual);
        int found = primal_direction(p);
        if (found < 0) {
            return 0;
        }
        if (!found) {
            return finish(p, SIM_BROKEN_DOWN);
        }
        if (!(p->slope0 < 0)) {
            return finish(p, SIM_AT_ROUNDING);
        }
        step_along(p);
        p->out->iterations++;
        record(p);
        in_vain = lost(p, cost, least) ? in_vain + 1 : 0;
        if (in_vain >= PATIENCE && !primal_done(p)) {
            return finish(p, SIM_AT_ROUNDING);
        }
    }
}
