/* Trust-region Newton method along Powell's dogleg, for CANAL's strict inner problem.
 *
 *     model(p) = |D r + H p|^2 / 2,    |p| <= radius
 *
 * p follows the steepest descent to its minimum of the model, then the line to Newton's step, up to the radius.  With
 * ratio = fall of the merit / fall of the model, the step is accepted where ratio > 1e-4.  The radius becomes |p| / 4
 * after a poor step, and doubles after a good step to the boundary.  The first radius is the size of the momenta that
 * are to balance; a radius that is rounding beside it means that v is stuck.
 *
 * Reference: Powell 1970; Nocedal, Wright, Numerical Optimization, algorithm 11.5 and sec. 4.1. */
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/newton/canal/canal_strict.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* fall of the merit over that of the model */
static const double MIN_ACCEPTED_RATIO = 1e-4, POOR_RATIO = 0.25, GOOD_RATIO = 0.75;
static const double RADIUS_SHRINK = 0.25, BOUNDARY_RATIO = 0.999; /* of |p| over the radius: on the boundary */

static double step_norm(const strict_newton *s, const double *x) { return sqrt(dense_dot(s->J.n, x, x)); }

/* Computes the step; returns its length. */
static double compute_dogleg_step(strict_newton *s) {
    int n = s->J.n;
    double steep = step_norm(s, s->slope), down = s->cauchy * steep,
           straight = s->solvable ? step_norm(s, s->newton) : 0;
    if (s->solvable && straight <= s->radius) {
        memcpy(s->step, s->newton, (size_t)n * sizeof *s->step);
        return straight;
    }
    double part = fmin(s->cauchy, s->radius / steep);
    for (int k = 0; k < n; k++) {
        s->step[k] = -part * s->slope[k];
    }
    if (down >= s->radius || !s->solvable) {
        return part * steep;
    }
    /* |step + tau (newton - step)| = radius */
    double a = 0, b = 0, c = s->radius * s->radius - down * down;
    for (int k = 0; k < n; k++) {
        double way = s->newton[k] - s->step[k];
        a += way * way;
        b += way * s->step[k];
    }
    double tau = c / (b + sqrt(b * b + a * c));
    if (b < 0) {
        tau = (-b + sqrt(b * b + a * c)) / a;
    }
    for (int k = 0; k < n; k++) {
        s->step[k] += tau * (s->newton[k] - s->step[k]);
    }
    return s->radius;
}

/* Fall of the model: -(D r . H p + |H p|^2 / 2). */
static double eval_model_fall(strict_newton *s) {
    jacobian_times(&s->J, s->step, s->image);
    return -dense_dot(s->J.n, s->r, s->image) - 0.5 * dense_dot(s->J.n, s->image, s->image);
}

bool strict_advance_dogleg(strict_newton *s) {
    /* radius: that of the last step, else the size by which the residual is scaled */
    sim_solution *out = s->at->out;
    double size = sqrt(2 * s->merit) / s->residual;
    s->radius = s->radius > 0 ? s->radius : size;
    if (!strict_model(s)) {
        return false;
    }
    /* shrink or grow the region by the ratio of the actual to the predicted fall */
    while (s->radius > DBL_EPSILON * size && out->iterations < s->at->options.max_iterations &&
           !solution_stopped(out)) {
        double reach = compute_dogleg_step(s), predicted = eval_model_fall(s), merit = strict_try(s, 1);
        double ratio = (s->merit - merit) / predicted;
        out->iterations++;
        if (!(ratio >= POOR_RATIO)) {
            s->radius = RADIUS_SHRINK * reach;
        } else if (ratio > GOOD_RATIO && reach >= BOUNDARY_RATIO * s->radius) {
            s->radius *= 2;
        }
        /* accept a step that falls */
        if (ratio > MIN_ACCEPTED_RATIO && merit < s->merit) {
            strict_accept(s, merit);
            return true;
        }
    }
    /* the region has shrunk to rounding */
    strict_back(s);
    return false;
}
