/* Newton's method along the line, shortened until the merit falls (De Luca, Facchinei, Kanzow 1996, algorithm 3.1).
 *
 *     H d = -D r,    v <- v + alpha D d,    alpha the first of 1, 1/2, 1/4, ... with
 *     merit(alpha) <= merit + SIGMA alpha slope . d,       slope . d = -2 merit
 *
 * with H the derivative of the piece that v is on.  Where there is no such d, or no alpha, d is a step down the slope, of
 * the length that is best where H holds; where that finds nothing either, v is stuck.  (The authors of the method take the
 * slope where d does not descend by a multiple of |d|^2.1, a number with units; theirs is also a merit without kinks.) */
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/newton/canal_strict.h"

#include <math.h>
#include <string.h>

static const double SIGMA = 1e-4, SHORTEST = 0x1p-30;

static int search(strict_newton *s) {
    double fall = dense_dot(s->J.n, s->slope, s->step);
    for (double alpha = 1; alpha >= SHORTEST && fall < 0; alpha *= 0.5) {
        double merit = strict_try(s, alpha);
        if (merit <= s->merit + SIGMA * alpha * fall) {
            strict_accept(s, merit);
            return 1;
        }
    }
    return 0;
}

int strict_advance_semismooth(strict_newton *s) {
    if (!strict_model(s)) {
        return 0;
    }
    s->at->out->iterations++;
    if (s->solvable) {
        memcpy(s->step, s->newton, (size_t)s->J.n * sizeof *s->step);
        if (search(s)) {
            return 1;
        }
    }
    for (int k = 0; k < s->J.n; k++) {
        s->step[k] = -s->cauchy * s->slope[k];
    }
    if (search(s)) {
        return 1;
    }
    strict_back(s);
    return 0;
}
