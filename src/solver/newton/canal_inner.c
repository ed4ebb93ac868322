/* How is the problem of a round put?
 *
 *     cascaded               with the convex law and its normals shifted by p: one minimum, found from anywhere; but p is that
 *                            of the round before, and of what slides its error falls by mu^2 / (1 + mu^2) a round at best
 *     dogleg, semismooth     with the strict law: nothing to be shifted, but Newton's method may get stuck
 *     mixed                  strict, by the dogleg; cascaded where that fails, if the caller cannot make the round softer
 *
 * The first is the method of Lee et al. (2024), the next two are what they compare it with (sec. VII-D).  The last takes
 * the best of both: where loads slide, rounds come near as fast as where they stick, and what is stuck is helped on.  It is
 * first helped by a softer round, of which the dogleg seldom fails: a cascaded one in between takes the error up again, by
 * a hundred times where much slides.  After a failure for good tries pause, each time for longer, so that hard problems do not pay for many. */
#include "solver/newton/canal_inner.h"

#include <math.h>
#include <string.h>

enum { TRY = 50, LONGEST_PAUSE = 63 }; /* steps; rounds */

int inner_begin(canal_inner *n, primal *newton, sim_arena *scratch) {
    n->newton = newton;
    n->strictly = n->pause = n->left = 0;
    if (n->way == INNER_CASCADED) {
        return 1;
    }
    n->from = ARENA_NEW(scratch, double, newton->problem->nv);
    return n->from &&
           strict_begin(&n->strict, newton, n->way == INNER_SEMISMOOTH ? STRICT_SEMISMOOTH : STRICT_DOGLEG, scratch);
}

static int answer_cascaded(canal_inner *n, double *target, const double *shift) {
    const sim_problem *p = n->newton->problem;
    for (int i = 0; i < p->nconstraint; i++) {
        if (p->constraint[i].kind == SIM_CONTACT) {
            target[p->constraint[i].row + 2] -= shift[i];
        }
    }
    n->newton->project = convex_project;
    return primal_minimise(n->newton);
}

/* The strict problem, and back to where it began if it has to be cascaded after all. */
static int answered_strictly(canal_inner *n, double enough) {
    primal *at = n->newton;
    size_t bytes = (size_t)at->problem->nv * sizeof(double);
    int most = at->options.max_iterations, before = at->out->iterations;
    memcpy(n->from, at->at.v, bytes);
    at->options.max_iterations = n->way == INNER_MIXED && before + TRY < most ? before + TRY : most;
    strict_minimise(&n->strict);
    at->options.max_iterations = most;
    int done = at->out->residual <= enough;
    if (done || n->way != INNER_MIXED) {
        n->pause /= 2;
        return 1;
    }
    if (n->trial) {
        return 1;
    }
    memcpy(at->at.v, n->from, bytes);
    most += at->out->iterations - before;
    at->options.max_iterations = most < n->most ? most : n->most;
    n->pause = n->pause < LONGEST_PAUSE ? 2 * n->pause + 1 : n->pause;
    n->left = n->pause;
    return 0;
}

int inner_answer(canal_inner *n, double *target, const double *shift, double noise) {
    sim_solution *out = n->newton->out;
    double enough = fmax(noise, n->newton->options.tolerance);
    int try = n->way != INNER_CASCADED && n->left == 0;
    n->left -= n->left > 0;
    n->strict.noise = noise;
    n->strictly = try && answered_strictly(n, enough);
    n->stuck = try && !n->strictly && !n->give_way;
    if (n->stuck) {
        n->pause = n->left = 0;
        return 1;
    }
    if (!n->strictly && !answer_cascaded(n, target, shift)) {
        return 0;
    }
    n->failed = !(out->residual <= enough);
    return 1;
}
