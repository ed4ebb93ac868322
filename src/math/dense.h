/* Kernels on runs of numbers, in a fixed order that does not depend on the length's alignment. */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

/* Sum of x[k] y[k]: four partial sums, so that compilers may use vectors without changing the result. */
static inline double dense_dot(int n, const double *x, const double *y) {
    double s[4] = {0, 0, 0, 0};
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        for (int l = 0; l < 4; l++) {
            s[l] += x[k + l] * y[k + l];
        }
    }
    double tail = 0;
    for (; k < n; k++) {
        tail += x[k] * y[k];
    }
    return ((s[0] + s[1]) + (s[2] + s[3])) + tail;
}

/* y += a x */
static inline void dense_axpy(int n, double a, const double *restrict x, double *restrict y) {
    for (int k = 0; k < n; k++) {
        y[k] += a * x[k];
    }
}

#endif
