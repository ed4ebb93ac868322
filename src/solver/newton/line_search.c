/* Line searches along a descent direction of a convex function l.
 *
 * Exact: l' increases, so its root lies between an alpha with l' < 0 and one with l' > 0.  Newton's step, or bisection
 * where that leaves the bracket or converges slowly.  At kinks of l' Newton's steps may cycle; the bracket ends that.
 *
 * Armijo: the first alpha = 1.25, 1, 0.8, ... that lowers l enough and lower than the next one does.  The second
 * condition matters where alpha = 1 is exact: alpha = 1.25 would only quarter the error.
 *
 * Reference: Castro, Permenter, Han 2021, sec. IV-B; exact: Press et al., Numerical Recipes, rtsafe. */
#include "solver/newton/line_search.h"

#include <math.h>

enum { MAX_EVALUATIONS = 100 };

static const double ARMIJO_FIRST_STEP = 1.25, ARMIJO_SHRINK = 0.8, ARMIJO_C1 = 1e-4;

typedef struct bracket {
    double low, high;
} bracket;

/* Next alpha after l' = f and l'' = second at alpha; `before`: length of the step before last. */
static double next_alpha(const bracket *b, double alpha, double f, double second, double before) {
    double newton = alpha - f / second;
    if (!(newton > b->low && newton < b->high) || fabs(newton - alpha) > 0.5 * before) {
        return b->low + 0.5 * (b->high - b->low);
    }
    return newton;
}

double line_exact(line *l, double max_alpha, double tolerance) {
    /* bracket of the root of the slope */
    bracket b = {0, max_alpha};
    double alpha = 1, before = HUGE_VAL, last = HUGE_VAL, second = 0;
    for (int k = 0; k < MAX_EVALUATIONS; k++) {
        /* slope and curvature */
        double f = l->slope(l->self, alpha, &second);
        l->evaluations++;
        if (fabs(f) <= -tolerance * l->slope0 || !isfinite(f) || (alpha == max_alpha && f < 0)) {
            return alpha;
        }
        /* the next step: Newton's, or a bisection, within the bracket */
        *(f < 0 ? &b.low : &b.high) = alpha;
        double to = b.high == max_alpha && f < 0 && alpha - f / second >= max_alpha
                        ? max_alpha
                        : next_alpha(&b, alpha, f, second, before);
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
    double alpha = ARMIJO_FIRST_STEP;
    l->evaluations++;
    if (l->slope(l->self, alpha, 0) < 0) {
        return alpha;
    }
    double rise = l->rise(l->self, alpha);
    for (int k = 0; k < MAX_EVALUATIONS; k++) {
        double shorter = ARMIJO_SHRINK * alpha, there = l->rise(l->self, shorter);
        l->evaluations++;
        if (rise < ARMIJO_C1 * alpha * l->slope0 && rise <= there) {
            return alpha;
        }
        if (fabs(there) <= noise && fabs(l->slope(l->self, shorter, 0)) <= -l->slope0) {
            return shorter; /* l changes by rounding only: l' decides */
        }
        alpha = shorter;
        rise = there;
    }
    return alpha;
}
