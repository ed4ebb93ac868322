/* Penalised Fischer-Burmeister function (Chen, Chen, Kanzow 2000; Mylapilli and Jain 2016, eq. 8), zero exactly where
 * 0 <= a perp b >= 0:
 *
 *     phi(a, b) = lam (a + b - h) + (1 - lam) max(0, a) max(0, b),     h = sqrt(a^2 + b^2),     lam = 0.95 */
#ifndef SOLVER_PYRAMID_PFB_H
#define SOLVER_PYRAMID_PFB_H

#include <math.h>

static const double PFB_LAM = 0.95;

static inline double pfb(double a, double b) {
    double sum = a + b, h = sqrt(a * a + b * b);
    return a > 0 && b > 0 ? (PFB_LAM * 2 / (sum + h) + 1 - PFB_LAM) * a * b : PFB_LAM * (sum - h);
}

/* d phi / d a and d phi / d b, away from a = b = 0. */
static inline void pfb_slopes(double a, double b, double *da, double *db) {
    double h = sqrt(a * a + b * b), inside = a > 0 && b > 0 ? 1 - PFB_LAM : 0;
    *da = PFB_LAM * (1 - a / h) + inside * b;
    *db = PFB_LAM * (1 - b / h) + inside * a;
}

#endif
