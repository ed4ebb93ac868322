/* Kernels on runs of numbers, in a fixed order that does not depend on the length's alignment. */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

#include <string.h>

typedef double dense_quad __attribute__((vector_size(32)));

static inline dense_quad dense_load(const double *x) {
    dense_quad v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* What comparing two quads gives: all bits of a number set, or none. */
typedef long long dense_mask __attribute__((vector_size(32)));

/* a where the mask says so, else b. */
static inline dense_quad dense_choose(dense_mask mask, dense_quad a, dense_quad b) {
    return (dense_quad)((mask & (dense_mask)a) | (~mask & (dense_mask)b));
}

/* Sum of x[k] y[k], in four partial sums and a tail. */
static inline double dense_dot(int n, const double *x, const double *y) {
    dense_quad s = {0, 0, 0, 0};
    double tail = 0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        s += dense_load(x + k) * dense_load(y + k);
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
        dense_quad sum = dense_load(y + k) + a * dense_load(x + k);
        memcpy(y + k, &sum, sizeof sum);
    }
    for (; k < n; k++) {
        y[k] += a * x[k];
    }
}

#endif
