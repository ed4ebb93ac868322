/* Forms of the inner problem of CANAL.
 *
 *     cascaded               convex law with normals shifted by p: one minimum, found from anywhere.  p is that of the
 *                            outer iteration before; in a sliding contact its error falls by mu^2 / (1 + mu^2) at best
 *     dogleg, semismooth     strict law without a shift; Newton's method may get stuck
 *     mixed                  strict, by the dogleg; cascaded where that fails, unless the caller can lower the penalty
 *
 * The first is the method of the paper; the next two are those that it compares with (sec. VII-D).  The last converges
 * in sliding as fast as in sticking, and has a way out where it is stuck.  A lower penalty comes first, with which the
 * dogleg seldom fails; a cascaded outer iteration raises the error again, by up to a hundred times in sliding.  After a
 * failure the strict form pauses, longer each time.  It takes half of the steps that the caller leaves at most, so that
 * the cascaded form has the other half.
 *
 * Reference: Lee et al. 2024. */
#include "solver/newton/canal/canal_inner.h"

#include <math.h>
#include <string.h>

enum { MAX_STRICT_STEPS = 50, MAX_PAUSE = 63 }; /* Newton steps; outer iterations */

bool inner_begin(canal_inner *n, primal *newton, sim_arena *scratch) {
    n->newton = newton;
    n->strictly = false;
    n->pause = n->left = 0;
    if (n->way == INNER_CASCADED) {
        return true;
    }
    n->from = ARENA_NEW(scratch, double, newton->problem->nv);
    return n->from &&
           strict_begin(&n->strict, newton, n->way == INNER_SEMISMOOTH ? STRICT_SEMISMOOTH : STRICT_DOGLEG, scratch);
}

static sim_status solve_cascaded(canal_inner *n, double *target, const double *shift) {
    const sim_problem *p = n->newton->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        if (p->constraint[i].kind == SIM_CONTACT) {
            target[p->constraint[i].row + 2] -= shift[i];
        }
    }
    n->newton->project = convex_project;
    return primal_minimise(n->newton);
}

/* The strict form; false: v is back at its start, for the cascaded form. */
static bool solve_strict(canal_inner *n, double tolerance) {
    primal *at = n->newton;
    size_t bytes = (size_t)at->problem->nv * sizeof(double);
    int limit = at->options.max_iterations, before = at->out->iterations, half = (n->max_steps - before + 1) / 2;
    int most = before + (half < MAX_STRICT_STEPS ? half : MAX_STRICT_STEPS);
    memcpy(n->from, at->at.v, bytes);
    at->options.max_iterations = n->way == INNER_MIXED && most < limit ? most : limit;
    strict_minimise(&n->strict);
    at->options.max_iterations = limit;
    bool done = at->out->residual <= tolerance;
    if (done || n->way != INNER_MIXED) {
        n->pause /= 2;
        return true;
    }
    if (n->trial) {
        return true;
    }
    memcpy(at->at.v, n->from, bytes);
    limit += at->out->iterations - before;
    at->options.max_iterations = limit < n->max_steps ? limit : n->max_steps;
    n->pause = n->pause < MAX_PAUSE ? 2 * n->pause + 1 : n->pause;
    n->left = n->pause;
    return false;
}

sim_status inner_solve(canal_inner *n, double *target, const double *shift, double noise) {
    sim_solution *out = n->newton->out;
    double tolerance = fmax(noise, n->newton->options.tolerance);
    bool try_strict = n->way != INNER_CASCADED && n->left == 0;
    n->left -= n->left > 0;
    n->strict.noise = noise;
    n->strictly = try_strict && solve_strict(n, tolerance);
    n->stuck = try_strict && !n->strictly && !n->give_way;
    if (n->stuck) {
        n->pause = n->left = 0;
        return SIM_OK;
    }
    if (!n->strictly && solve_cascaded(n, target, shift)) {
        return SIM_NO_RESOURCE;
    }
    n->failed = !(out->residual <= tolerance);
    return SIM_OK;
}
