/* Penalised Fischer-Burmeister function (Chen, Chen, Kanzow 2000; Mylapilli and Jain 2016, eq. 8), zero exactly where
 * 0 <= a perp b >= 0:
 *
 *     phi(a, b) = lam (a + b - h) + (1 - lam) max(0, a) max(0, b),     h = sqrt(a^2 + b^2),     0 < lam <= 1
 *
 * lam = 1 is the function of Fischer and Burmeister.  A smaller one has a slope along the product, where both are large. */
#ifndef SOLVER_PYRAMID_PFB_H
#define SOLVER_PYRAMID_PFB_H

#include <math.h>

static inline double eval_pfb(double lam, double a, double b) {
    double sum = a + b, h = sqrt(a * a + b * b);
    return a > 0 && b > 0 ? (lam * 2 / (sum + h) + 1 - lam) * a * b : lam * (sum - h);
}

/* d phi / d a and d phi / d b, away from a = b = 0. */
static inline void pfb_slopes(double lam, double a, double b, double *da, double *db) {
    double h = sqrt(a * a + b * b), inside = a > 0 && b > 0 ? 1 - lam : 0;
    *da = lam * (1 - a / h) + inside * b;
    *db = lam * (1 - b / h) + inside * a;
}

#endif
