/* Newton's method on the primal cost of a convex contact problem.
 *
 *     l(v) = |v - v*|_A^2 / 2 + sum_i cost_i(J_i v + w_i)
 *     gradient = A (v - v*) - J' gamma,    H = A + J' G J
 *     dv = -H^-1 gradient,    v <- v + alpha dv
 *
 * l is strongly convex with one minimum; near it alpha = 1 and convergence is quadratic.  The method stops where
 * momentum balances (eq. 26),
 *
 *     |D gradient| <= tolerance max(|D A v|, |D J' gamma|),    D = diag(A)^-1/2,
 *
 * which weighs all dofs as energies.  SAP also requires |D gradient| <= in_law |D J' gamma|.  A spring or contact with
 * a small part in the total momentum could otherwise be wrong by its whole impulse.
 *
 * u = J v + w is updated, u <- u + alpha J dv, and not recomputed.  Recomputed, it would bring the rounding of v into
 * gamma = P((target - u) / R): an error eps |v| / R, large for a stiff spring on a fast body (1e12 N/m, 1 kg, 1 m/s, 1
 * ms: 1e-10 N s beside 1e-7).  The updated u has one error of size eps |v|, which only shifts the bias.  The final
 * values are recomputed from v, unless that is worse and the updated u equals J v + w within rounding.  Without
 * `carries`, or after more rounding, everything is recomputed.
 *
 * Far from the solution single bodies are relaxed before a step (relaxation.c), where `relaxes` asks for it.
 *
 * Reference: Castro, Permenter, Han 2021, eqs. 24-26, algorithm 2.  Differs: relaxation.
 * Cost: a factor of H, 5 to 10 projections per step. */
#include "solver/newton/primal.h"
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/core/products.h"
#include "solver/newton/line_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Largest step length: beyond it the next direction is better (as in the authors' program). */
static const double MAX_STEP_LENGTH = 1.5;
/* Of l' over l'(0) in the exact line search: a closer root costs evaluations and saves no iteration (clutter: 29 and 23
 * evaluations for 6.2 iterations). */
static const double LINE_SEARCH_TOLERANCE = 1e-2;
/* Impulses below this part of the momentum of their dofs count as zero: the square root of the rounding of 1. */
static const double MIN_IMPULSE_RATIO = 1.5e-8;
/* Largest difference between the updated u and J v + w, over |J| |v| + |w|. */
static const double MAX_UPDATE_ERROR = 64 * DBL_EPSILON;
/* Relative rounding of the cost. */
static const double COST_ROUNDING = 4 * DBL_EPSILON;
/* Residual above which single bodies are relaxed before a step: below it most steps are whole. */
static const double MIN_RELAXED_RESIDUAL = 1e-2;
/* Trees from which bodies are relaxed: below that a step costs no more than relaxation. */
enum { MIN_RELAXED_TREES = 8 };
/* Length of a step after relaxation below which there is no more of it: bodies rest in kinks that only all together
 * leave. */
static const double MIN_RELAXED_STEP = 0.02;
/* Steps in a row that change the cost by rounding only, before the method ends. */
enum { MAX_STALLED_STEPS = 3 };

bool primal_begin(primal *p, const convex_law *law, hessian *h, const primal_options *options, sim_solution *out,
                  sim_arena *scratch) {
    const sim_problem *problem = law->problem;
    size_t nv = (size_t)problem->nv, rows = (size_t)problem->nrow, n = (size_t)problem->nconstraint;
    double **of_v[] = {&p->at.gradient, &p->scale, &p->momentum, &p->change, &p->pushed, &p->dv, &p->dp};
    double **of_rows[] = {&p->at.u, &p->du, &p->u_to, &p->gamma_to};
    /* parts of the method */
    p->problem = problem;
    p->law = *law;
    p->project = convex_project;
    p->hessian = h;
    p->options = *options;
    p->relaxes = options->relaxes && hessian_patches(h)->nodes >= MIN_RELAXED_TREES;
    p->out = out;
    /* memory */
    bool ok = true;
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
    if (!ok || !p->at.G || !p->G_to || !relaxation_create(&p->relaxation, p, scratch)) {
        return false;
    }
    /* vectors at zero */
    for (size_t j = 0; j < nv; j++) {
        p->momentum[j] = p->at.gradient[j] = p->change[j] = p->dv[j] = p->dp[j] = 0;
        p->scale[j] = 1;
    }
    /* D = diag(A)^-1/2 */
    hessian_mass_diagonal(h, p->scale);
    for (size_t j = 0; j < nv; j++) {
        p->scale[j] = 1 / sqrt(p->scale[j]);
    }
    /* A v* */
    hessian_mass_times(h, problem->v_free, p->momentum);
    return true;
}

static double project_all(const primal *p, const double *u, double *gamma, cone_hessian *G) {
    double sum = 0;
    for (int i = 0; i < p->problem->nconstraint; i++) {
        int row = p->problem->constraint[i].row;
        sum += p->project(&p->law, i, u + row, gamma + row, &G[i]);
    }
    return sum;
}

/* Gradient, cost and residuals from v and gamma. */
static void eval_gradient(primal *p) {
    const sim_problem *problem = p->problem;
    primal_state *at = &p->at;
    int nv = problem->nv;
    double error = 0, momentum = 0, pushed = 0, impulse = 0, energy = 0;
    /* change = A (v - v*), pushed = J' gamma */
    for (int j = 0; j < nv; j++) {
        p->dv[j] = at->v[j] - problem->v_free[j];
    }
    hessian_mass_times(p->hessian, p->dv, p->change);
    problem_jacobian_transposed(problem, at->gamma, p->pushed);
    /* squares of |D gradient|, |D A v| and |D J' gamma| */
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
    double floor = MIN_IMPULSE_RATIO * MIN_IMPULSE_RATIO * pushed;
    at->residual = error == 0 ? 0 : fmin(sqrt(error / fmax(momentum, impulse)), DBL_MAX);
    at->in_law = error == 0 ? 0 : fmin(sqrt(error / fmax(impulse, floor)), DBL_MAX);
}

bool primal_done(const primal *p) {
    return p->at.residual <= p->options.tolerance && (!p->options.carries || p->at.in_law <= p->options.in_law);
}

void primal_eval_at(primal *p) {
    problem_velocity(p->problem, p->at.v, p->at.u);
    p->at.potential = project_all(p, p->at.u, p->at.gamma, p->at.G);
    p->fresh = true;
    eval_gradient(p);
}

/* u, gamma, G and the potential at v + alpha dv; u from its increment, so that nothing cancels for a small dv. */
static void eval_along_line(primal *p, double alpha) {
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
    eval_along_line(p, alpha);
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
    eval_along_line(p, alpha);
    double straight = dense_dot(p->problem->nv, p->change, p->dv);
    return alpha * straight + 0.5 * alpha * alpha * p->curvature0 + (p->potential_to - p->at.potential);
}

static hessian_result factor_hessian(primal *p) {
    const sim_clock *clock = p->out->clock;
    double begin = clock ? clock->now(clock->context) : 0;
    hessian_result result = hessian_factor(p->hessian);
    p->out->factor_seconds += clock ? clock->now(clock->context) - begin : 0;
    p->out->factorisations++;
    p->out->multiplications += hessian_work(p->hessian).multiplications;
    return result;
}

hessian_result primal_direction(primal *p) {
    int nv = p->problem->nv;
    /* H dv = -gradient */
    hessian_set(p->hessian, p->at.G);
    hessian_result result = factor_hessian(p);
    if (result != HESSIAN_FACTORED) {
        return result;
    }
    for (int j = 0; j < nv; j++) {
        p->dv[j] = -p->at.gradient[j];
    }
    if (!hessian_solve(p->hessian, p->dv)) {
        return HESSIAN_NO_MEMORY;
    }
    /* l'(0) = gradient . dv,  l''(0) >= dv . A dv */
    hessian_mass_times(p->hessian, p->dv, p->dp);
    problem_jacobian_times(p->problem, p->dv, p->du);
    p->alpha_to = NAN; /* nothing is evaluated on the new line */
    p->slope0 = dense_dot(nv, p->at.gradient, p->dv);
    p->curvature0 = dense_dot(nv, p->dp, p->dv);
    return isfinite(p->slope0) && isfinite(p->curvature0) ? HESSIAN_FACTORED : HESSIAN_INDEFINITE;
}

static double line_slope(void *self, double alpha, double *second) { return primal_slope(self, alpha, second); }
static double line_rise(void *self, double alpha) { return primal_rise(self, alpha); }

/* alpha by a line search; v <- v + alpha dv, and all that follows. */
static void take_step(primal *p) {
    /* length of the step by Armijo's rule or by an exact search */
    line l = {p, line_slope, line_rise, p->slope0, 0};
    double alpha = p->options.armijo ? line_armijo(&l, COST_ROUNDING * fabs(p->at.cost))
                                     : line_exact(&l, MAX_STEP_LENGTH, LINE_SEARCH_TOLERANCE);
    p->out->searches += l.evaluations;
    p->out->iterations++;
    p->relaxes = p->relaxes && alpha >= MIN_RELAXED_STEP;
    /* v <- v + alpha dv; u, gamma and G from the end of the line */
    eval_along_line(p, alpha);
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
    /* everything recomputed from v, or the gradient alone */
    if (p->careful) {
        primal_eval_at(p);
    } else {
        p->fresh = false;
        eval_gradient(p);
    }
}

/* Relaxes single bodies, far from the solution. */
static void relax_bodies(primal *p) {
    if (!p->relaxes || !(p->at.residual > MIN_RELAXED_RESIDUAL)) {
        return;
    }
    primal_relax(p);
    if (p->careful) {
        primal_eval_at(p);
    } else {
        p->at.potential = project_all(p, p->at.u, p->at.gamma, p->at.G);
        p->fresh = false;
        eval_gradient(p);
    }
}

static void record_step(primal *p) {
    sim_history *h = p->out->history;
    if (h && h->count < h->room) {
        h->residual[h->count] = p->at.residual;
        h->cost[h->count] = p->at.cost;
        h->count++;
    }
}

/* True if the updated u equals J v + w (at.u) within rounding. */
static bool update_is_accurate(const primal *p, const double *updated) {
    double *size = p->du; /* free: the line is done with */
    bool near = true;
    problem_velocity_size(p->problem, p->at.v, size);
    for (int k = 0; k < p->problem->nrow; k++) {
        near = near && fabs(p->at.u[k] - updated[k]) <= MAX_UPDATE_ERROR * size[k];
    }
    return near;
}

/* Exchanges u, gamma, G and the potential at v with those of the line. */
static void swap_evaluations(primal *p) {
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

/* Recomputes everything from v; keeps the updated values where they are accurate and better. */
static void eval_final(primal *p) {
    if (!p->options.carries) {
        primal_eval_at(p);
        return;
    }
    double in_law = p->at.in_law;
    swap_evaluations(p);
    primal_eval_at(p);
    p->alpha_to = NAN;
    if (!primal_done(p) && in_law < p->at.in_law && update_is_accurate(p, p->u_to)) {
        swap_evaluations(p);
        eval_gradient(p);
    }
}

static sim_status write_primal_result(primal *p, sim_outcome outcome) {
    if (!p->fresh) {
        eval_final(p);
    }
    p->out->outcome = outcome;
    p->out->residual = p->at.residual;
    return SIM_OK;
}

sim_status primal_minimise(primal *p) {
    sim_solution *out = p->out;
    double least_residual = HUGE_VAL, least_cost = HUGE_VAL;
    int stalled = 0;
    p->careful = false;
    out->reason = SIM_REASON_NONE;
    primal_eval_at(p);
    record_step(p);
    for (;;) {
        relax_bodies(p);
        if (!isfinite(p->at.cost) || !isfinite(p->at.residual)) {
            out->reason = SIM_REASON_NONFINITE;
            return write_primal_result(p, SIM_BROKEN_DOWN);
        }

        /* convergence, confirmed with u = J v + w recomputed from v */
        if (primal_done(p) && !p->fresh) {
            eval_final(p);
            p->careful = !primal_done(p);
            least_residual = HUGE_VAL;
        }
        if (primal_done(p)) {
            return write_primal_result(p, SIM_SOLVED);
        }

        /* limits on iterations, time and work */
        out->expected = hessian_work(p->hessian).multiplications;
        if (out->iterations >= p->options.max_iterations || solution_stopped(out)) {
            return write_primal_result(p, SIM_AT_LIMIT);
        }
        if (out->multiplications + out->expected > p->options.max_work) {
            out->reason = SIM_REASON_WORK;
            return write_primal_result(p, SIM_AT_LIMIT);
        }

        /* Newton direction: H dv = -gradient */
        least_cost = fmin(least_cost, p->at.cost);
        least_residual = fmin(least_residual, p->at.residual);
        hessian_result direction = primal_direction(p);
        if (direction == HESSIAN_NO_MEMORY) {
            return SIM_NO_RESOURCE;
        }
        if (direction == HESSIAN_INDEFINITE || !(p->slope0 < 0)) { /* l'(0) >= 0: rounding */
            return write_primal_result(p, direction == HESSIAN_INDEFINITE ? SIM_BROKEN_DOWN : SIM_AT_ROUNDING);
        }

        /* line search: v <- v + alpha dv */
        take_step(p);
        record_step(p);

        /* a step is lost in rounding if neither the cost falls nor the residual to half of its least value */
        bool lost =
            p->at.cost >= least_cost - COST_ROUNDING * fabs(least_cost) && p->at.residual > 0.5 * least_residual;
        stalled = lost ? stalled + 1 : 0;
        if (stalled >= MAX_STALLED_STEPS && !primal_done(p)) {
            return write_primal_result(p, SIM_AT_ROUNDING);
        }
    }
}
