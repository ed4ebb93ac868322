/* Strip products C -= P' Q of small dense blocks: the kernel of Cholesky factors and of products J' G J.
 *
 * Blocks are row-major; their rows are padded with zeros to a multiple of four numbers, so that no loop has a tail.  A
 * strip of at most six rows by eight columns of C stays in registers while the rows of P and Q go by. */
#ifndef LINALG_STRIP_H
#define LINALG_STRIP_H

#include "math/simd.h"
#include <string.h>

enum { STRIP_ROWS = 6 };

/* Padded length of a row of n numbers. */
static inline int strip_stride(int n) { return (n + 3) & ~3; }

/* m <= STRIP_ROWS rows of C by 8 columns; the sum runs over `inner` rows of P and Q. */
SIMD_INLINE void strip_8(int m, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    simd8 c[STRIP_ROWS];
    for (int a = 0; a < m; a++) {
        c[a] = simd8_load(C + a * sc);
    }
    for (int r = 0; r < inner; r++) {
        simd8 q = simd8_load(Q + (long)r * sq);
        for (int a = 0; a < m; a++) {
            c[a] -= P[(long)r * sp + a] * q;
        }
    }
    for (int a = 0; a < m; a++) {
        simd8_store(C + a * sc, c[a]);
    }
}

SIMD_INLINE void strip_4(int m, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    simd4 c[STRIP_ROWS];
    for (int a = 0; a < m; a++) {
        c[a] = simd4_load(C + a * sc);
    }
    for (int r = 0; r < inner; r++) {
        simd4 q = simd4_load(Q + (long)r * sq);
        for (int a = 0; a < m; a++) {
            c[a] -= P[(long)r * sp + a] * q;
        }
    }
    for (int a = 0; a < m; a++) {
        simd4_store(C + a * sc, c[a]);
    }
}

/* C (m x n) -= P' Q with P inner x m, Q inner x n; n a multiple of four.  sp, sq, sc: numbers from row to row. */
void strip_update(int m, int n, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc);
/* The same for the upper triangle of C; its lower triangle is undefined. */
void strip_update_upper(int n, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc);

/* Free bodies: six by six, in rows of eight. */
SIMD_INLINE void strip_update_6(int inner, const double *P, const double *Q, double *C) {
    strip_8(6, inner, P, 8, Q, 8, C, 8);
}

/* C = -P' Q */
SIMD_INLINE void strip_product_6(int inner, const double *P, const double *Q, double *C) {
    simd8 c[6] = {{0}, {0}, {0}, {0}, {0}, {0}};
    for (int r = 0; r < inner; r++) {
        simd8 q = simd8_load(Q + 8 * (long)r);
        for (int a = 0; a < 6; a++) {
            c[a] -= P[8 * (long)r + a] * q;
        }
    }
    for (int a = 0; a < 6; a++) {
        simd8_store(C + 8 * a, c[a]);
    }
}

/* y = x' Q, six numbers by six rows; y holds six */
SIMD_INLINE void strip_row_6(const double *x, const double *Q, double *y) {
    simd8 c = x[0] * simd8_load(Q);
    for (int r = 1; r < 6; r++) {
        c += x[r] * simd8_load(Q + 8 * (long)r);
    }
    memcpy(y, &c, 6 * sizeof *y);
}

/* Two columns of blocks at once, where there are registers enough: a sum need not wait for the one before. */
#ifdef __AVX512F__
enum { STRIP_PAIRS = 1 };
#else
enum { STRIP_PAIRS = 0 };
#endif
SIMD_INLINE void strip_update_6_pair(int inner, const double *P, const double *Q, const double *Q2, double *C,
                                     double *C2) {
    simd8 c[6], d[6];
    for (int a = 0; a < 6; a++) {
        c[a] = simd8_load(C + 8 * a);
        d[a] = simd8_load(C2 + 8 * a);
    }
    for (int r = 0; r < inner; r++) {
        simd8 q = simd8_load(Q + 8 * (long)r), q2 = simd8_load(Q2 + 8 * (long)r);
        for (int a = 0; a < 6; a++) {
            double p = P[8 * (long)r + a];
            c[a] -= p * q;
            d[a] -= p * q2;
        }
    }
    for (int a = 0; a < 6; a++) {
        simd8_store(C + 8 * a, c[a]);
        simd8_store(C2 + 8 * a, d[a]);
    }
}

#endif
