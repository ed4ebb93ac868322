/* Sine and cosine of many angles at once, in a form that compilers turn into vector code.
 *
 * x = n pi/2 + y, |y| <= pi/4: n by rounding, y by subtracting n pi/2 in three parts (33 bits, 33 bits, the rest), each
 * product exact while |n| < 2^20.  Then Taylor's series in y, cut where the next term is below half a unit in the last
 * place: y^17/17! < 5e-17 of y, y^18/18! < 3e-18.  Larger angles go to the C library. */
#ifndef MATH_SINCOS_H
#define MATH_SINCOS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SINCOS_LARGE 1e6

static inline void sincos_reduced(double x, double *sine, double *cosine) {
    const double half_pi_1 = 0x1.921fb544p+0, half_pi_2 = 0x1.0b4611a6p-34, half_pi_3 = 0x1.3198a2e037073p-69;
    const double two_over_pi = 0x1.45f306dc9c883p-1;
    const double to_integer = 0x1.8p52; /* adding it leaves the nearest integer in the low bits */

    double shifted = x * two_over_pi + to_integer;
    double n = shifted - to_integer;
    double y = ((x - n * half_pi_1) - n * half_pi_2) - n * half_pi_3;
    double z = y * y;

    double s = 1 / 355687428096000.0; /* 1/17! */
    s = s * z - 1 / 1307674368000.0;
    s = s * z + 1 / 6227020800.0;
    s = s * z - 1 / 39916800.0;
    s = s * z + 1 / 362880.0;
    s = s * z - 1 / 5040.0;
    s = s * z + 1 / 120.0;
    s = s * z - 1 / 6.0;
    s = y + (y * z) * s;

    double c = 1 / 20922789888000.0; /* 1/16! */
    c = c * z - 1 / 87178291200.0;
    c = c * z + 1 / 479001600.0;
    c = c * z - 1 / 3628800.0;
    c = c * z + 1 / 40320.0;
    c = c * z - 1 / 720.0;
    c = c * z + 1 / 24.0;
    c = 1 - (0.5 * z - (z * z) * c);

    int64_t quadrant;
    memcpy(&quadrant, &shifted, sizeof quadrant);
    double first = quadrant & 1 ? c : s;
    double second = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -first : first;
    *cosine = (quadrant + 1) & 2 ? -second : second;
}

static inline void sincos_many(int count, const double *restrict x, double *restrict sine, double *restrict cosine) {
    int large = 0;
    for (int k = 0; k < count; k++) {
        sincos_reduced(x[k], &sine[k], &cosine[k]);
        large |= !(fabs(x[k]) < SINCOS_LARGE);
    }
    for (int k = 0; large && k < count; k++) {
        if (!(fabs(x[k]) < SINCOS_LARGE)) {
            sine[k] = sin(x[k]);
            cosine[k] = cos(x[k]);
        }
    }
}

#endif
