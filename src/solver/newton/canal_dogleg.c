/* Newton's method in a region of trust, along Powell's dogleg (Powell 1970; Nocedal and Wright, Numerical Optimization,
 * algorithm 11.5 and sec. 4.1).
 *
 *     model(p) = |D r + H p|^2 / 2,    |p| <= radius
 *
 * p goes down the slope to where the model is least, from there towards Newton's step, as far as the radius lets it.  With
 * ratio = fall of the merit / fall of the model the step is taken where ratio > ACCEPTED; the radius becomes a quarter of
 * |p| where it is poor, and twice itself where it is good and the step went to the edge.  The first radius is the size of
 * the momenta that are to balance.  A radius lost in rounding beside it: v is stuck. */
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/newton/canal_strict.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double ACCEPTED = 1e-4, POOR = 0.25, GOOD = 0.75, EDGE = 0.999;

static double length(const strict_newton *s, const double *x) { return sqrt(dense_dot(s->J.n, x, x)); }

/* The step and its length. */
static double curvature_scale(strict_newton *s) {
    int n = s->J.n;
    double steep = length(s, s->slope), down = s->cauchy * steep, straight = s->solvable ? length(s, s->newton) : 0;
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

/* By how much the merit of the model falls: -(D r . H p + |H p|^2 / 2). */
static double fall_of_model(strict_newton *s) {
    jacobian_times(&s->J, s->step, s->image);
    return -dense_dot(s->J.n, s->r, s->image) - 0.5 * dense_dot(s->J.n, s->image, s->image);
}

int strict_advance_dogleg(strict_newton *s) {
    sim_solution *out = s->at->out;
    double size = sqrt(2 * s->merit) / s->residual;
    s->radius = s->radius > 0 ? s->radius : size;
    if (!strict_model(s)) {
        return 0;
    }
    while (s->radius > DBL_EPSILON * size && out->iterations < s->at->options.max_iterations &&
           !solution_stopped(out)) {
        double reach = curvature_scale(s), predicted = fall_of_model(s), merit = strict_try(s, 1);
        double ratio = (s->merit - merit) / predicted;
        out->iterations++;
        if (!(ratio >= POOR)) {
            s->radius = POOR * reach;
        } else if (ratio > GOOD && reach >= EDGE * s->radius) {
            s->radius *= 2;
        }
        if (ratio > ACCEPTED && merit < s->merit) {
            strict_accept(s, merit);
            return 1;
        }
    }
    strict_back(s);
    return 0;
}
