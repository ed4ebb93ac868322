/* Step lengths along a descent direction of a convex function (Castro, Permenter, Han 2021, sec. IV-B).
 *
 * Exact: l' rises, so a root lies between an alpha with l' < 0 and one with l' > 0.  Newton's step from the end last seen,
 * the middle where that leaves the bracket or is slow (Press et al., Numerical Recipes, rtsafe).  l' has kinks, over which
 * Newton's steps may go back and forth; the bracket ends that.
 *
 * Armijo: alpha = 1.25, 1, 0.8, ..., the first that lowers l enough and from which a shorter one would not lower it more:
 * without that the longest of them is taken where 1 is exact, and the error is only quartered. */
#include "solver/newton/line_search.h"

#include <math.h>

enum { MOST_EVALUATIONS = 100 };

typedef struct bracket {
    double low, high;
} bracket;

/* Next to try, after l' = f and l'' = second at alpha, where the last step but one was `before` long. */
static double next(const bracket *b, double alpha, double f, double second, double before) {
    double newton = alpha - f / second;
    if (!(newton > b->low && newton < b->high) || fabs(newton - alpha) > 0.5 * before) {
        return b->low + 0.5 * (b->high - b->low);
    }
    return newton;
}

double line_exact(line *l, double most, double tolerance) {
    bracket b = {0, most};
    double alpha = 1, before = HUGE_VAL, last = HUGE_VAL, second = 0;
    for (int k = 0; k < MOST_EVALUATIONS; k++) {
        double f = l->slope(l->self, alpha, &second);
        l->evaluations++;
        if (fabs(f) <= -tolerance * l->slope0 || !isfinite(f) || (alpha == most && f < 0)) {
            return alpha;
        }
        *(f < 0 ? &b.low : &b.high) = alpha;
        double to = b.high == most && f < 0 && alpha - f / second >= most ? most : next(&b, alpha, f, second, before);
        if (to == alpha || b.high - b.low <= 0x1p-52 * b.high) {
            return alpha;
        }
        before = last;
        last = fabs(to - alpha);
        alpha = to;
    }
    return alpha;
}

double line_armijo(line *l, double noise) {
    static const double first = 1.25, shrink = 0.8, enough = 1e-4;
    double alpha = first;
    l->evaluations++;
    if (l->slope(l->self, alpha, 0) < 0) {
        return alpha;
    }
    double rise = l->rise(l->self, alpha);
    for (int k = 0; k < MOST_EVALUATIONS; k++) {
        double shorter = shrink * alpha, there = l->rise(l->self, shorter);
        l->evaluations++;
        if (rise < enough * alpha * l->slope0 && rise <= there) {
            return alpha;
        }
        if (fabs(there) <= noise && fabs(l->slope(l->self, shorter, 0)) <= -l->slope0) {
            return shorter; /* l itself no longer tells: l' does */
        }
        alpha = shorter;
        rise = there;
    }
    return alpha;
}
