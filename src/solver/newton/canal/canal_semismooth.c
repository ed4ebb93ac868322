/* Damped semismooth Newton method for CANAL's strict inner problem.
 *
 *     H d = -D r,    v <- v + alpha D d,    alpha the first of 1, 1/2, 1/4, ... with
 *     merit(alpha) <= merit + c1 alpha slope . d,       slope . d = -2 merit
 *
 * H: derivative of the smooth piece at v.  Without such a d or alpha, d is the Cauchy step; where that fails as well, v
 * is stuck.
 *
 * Reference: De Luca, Facchinei, Kanzow 1996, algorithm 3.1.  Differs from the paper: it takes the slope where d does
 * not descend by a multiple of |d|^2.1, a number with units; and its merit function has no kinks. */
#include "math/dense.h"
#include "solver/core/call.h"
#include "solver/newton/canal/canal_strict.h"

#include <math.h>
#include <string.h>

static const double ARMIJO_C1 = 1e-4, MIN_STEP_LENGTH = 0x1p-30;

static bool backtrack_armijo(strict_newton *s) {
    double fall = dense_dot(s->J.n, s->slope, s->step);
    for (double alpha = 1; alpha >= MIN_STEP_LENGTH && fall < 0; alpha *= 0.5) {
        double merit = strict_try(s, alpha);
        if (merit <= s->merit + ARMIJO_C1 * alpha * fall) {
            strict_accept(s, merit);
            return true;
        }
    }
    return false;
}

bool strict_advance_semismooth(strict_newton *s) {
    if (!strict_model(s)) {
        return false;
    }
    s->at->out->iterations++;
    if (s->solvable) {
        memcpy(s->step, s->newton, (size_t)s->J.n * sizeof *s->step);
        if (backtrack_armijo(s)) {
            return true;
        }
    }
    for (int k = 0; k < s->J.n; k++) {
        s->step[k] = -s->cauchy * s->slope[k];
    }
    if (backtrack_armijo(s)) {
        return true;
    }
    strict_back(s);
    return false;
}
