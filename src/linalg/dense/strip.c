/* Strip products of any size: six rows by eight columns at a time, then the remainder. */
#include "linalg/dense/strip.h"

/* The number of rows is a constant in every branch, so that each has its own registers. */
#define ROWS(strip)                                                                                                    \
    switch (m) {                                                                                                       \
    case 1:                                                                                                            \
        strip(1, inner, P, sp, Q, sq, C, sc);                                                                          \
        break;                                                                                                         \
    case 2:                                                                                                            \
        strip(2, inner, P, sp, Q, sq, C, sc);                                                                          \
        break;                                                                                                         \
    case 3:                                                                                                            \
        strip(3, inner, P, sp, Q, sq, C, sc);                                                                          \
        break;                                                                                                         \
    case 4:                                                                                                            \
        strip(4, inner, P, sp, Q, sq, C, sc);                                                                          \
        break;                                                                                                         \
    case 5:                                                                                                            \
        strip(5, inner, P, sp, Q, sq, C, sc);                                                                          \
        break;                                                                                                         \
    default:                                                                                                           \
        strip(6, inner, P, sp, Q, sq, C, sc);                                                                          \
    }

static void update_band(int m, int n, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    for (; n >= 8; n -= 8, Q += 8, C += 8) {
        ROWS(strip_8)
    }
    if (n > 0) {
        ROWS(strip_4)
    }
}

void strip_update(int m, int n, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    for (; m > 0; m -= STRIP_ROWS, P += STRIP_ROWS, C += STRIP_ROWS * sc) {
        update_band(m < STRIP_ROWS ? m : STRIP_ROWS, n, inner, P, sp, Q, sq, C, sc);
    }
}

void strip_update_upper(int n, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    for (int i = 0; i < n; i += STRIP_ROWS) {
        int m = n - i < STRIP_ROWS ? n - i : STRIP_ROWS, j = i & ~3;
        update_band(m, strip_stride(n) - j, inner, P + i, sp, Q + j, sq, C + (long)i * sc + j, sc);
    }
}
