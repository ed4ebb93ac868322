/* Dot product and axpy of dense vectors, in an order of additions that does not depend on alignment. */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

#include "math/simd.h"

/* Sum of x[k] y[k], in four partial sums and a tail. */
static inline double dense_dot(int n, const double *x, const double *y) {
    simd4 s = {0, 0, 0, 0};
    double tail = 0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        s += simd4_load(x + k) * simd4_load(y + k);
    }
    for (; k < n; k++) {
        tail += x[k] * y[k];
    }
    return n < 4 ? tail : ((s[0] + s[1]) + (s[2] + s[3])) + tail;
}

/* y += a x */
static inline void dense_axpy(int n, double a, const double *x, double *y) {
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        simd4 sum = simd4_load(y + k) + a * simd4_load(x + k);
        simd4_store(y + k, sum);
    }
    for (; k < n; k++) {
        y[k] += a * x[k];
    }
}

#endif
