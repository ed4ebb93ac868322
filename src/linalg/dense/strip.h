/* Strip products C -= P' Q of small dense blocks: the kernel of Cholesky factors and of products J' G J.
 *
 * Blocks are row-major; their rows are padded with zeros to a multiple of four numbers, so that no loop has a tail.  A
 * strip of at most six rows by eight columns of C stays in registers while the rows of P and Q go by. */
#ifndef LINALG_DENSE_STRIP_H
#define LINALG_DENSE_STRIP_H

#include "math/simd.h"
#include <string.h>

enum { STRIP_ROWS = 6, STRIP_PARTS = 8 / SIMD_WIDTH };

/* Padded length of a row of n numbers. */
static inline int strip_stride(int n) { return (n + 3) & ~3; }

/* m <= STRIP_ROWS rows of C by 8 columns; the sum runs over `inner` rows of P and Q. */
SIMD_INLINE void strip_8(int m, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    simd_wide c[STRIP_ROWS][STRIP_PARTS], q[STRIP_PARTS];
    for (int a = 0; a < m; a++) {
        for (int k = 0; k < STRIP_PARTS; k++) {
            c[a][k] = simd_wide_load(C + a * sc + k * SIMD_WIDTH);
        }
    }
    for (int r = 0; r < inner; r++) {
        for (int k = 0; k < STRIP_PARTS; k++) {
            q[k] = simd_wide_load(Q + (long)r * sq + k * SIMD_WIDTH);
        }
        for (int a = 0; a < m; a++) {
            double p = P[(long)r * sp + a];
            for (int k = 0; k < STRIP_PARTS; k++) {
                c[a][k] -= p * q[k];
            }
        }
    }
    for (int a = 0; a < m; a++) {
        for (int k = 0; k < STRIP_PARTS; k++) {
            simd_wide_store(C + a * sc + k * SIMD_WIDTH, c[a][k]);
        }
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

/* Free bodies: six by six, in rows of eight.  C -= P' Q.  Every register has a name: compilers keep arrays
 * of vectors in memory. */
#define STRIP_EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#ifdef __AVX512F__
#define STRIP_LOAD(a) simd8 c##a = simd8_load(C + 8 * a);
#define STRIP_SUBTRACT(a) c##a -= P[a] * q;
#define STRIP_STORE(a) simd8_store(C + 8 * a, c##a);
#define STRIP_LOAD_Q simd8 q = simd8_load(Q);
#else
#define STRIP_LOAD(a) simd4 c##a = simd4_load(C + 8 * a), d##a = simd4_load(C + 8 * a + 4);
#define STRIP_SUBTRACT(a) c##a -= P[a] * q, d##a -= P[a] * s;
#define STRIP_STORE(a) simd4_store(C + 8 * a, c##a), simd4_store(C + 8 * a + 4, d##a);
#define STRIP_LOAD_Q simd4 q = simd4_load(Q), s = simd4_load(Q + 4);
#endif
SIMD_INLINE void strip_update_6(int inner, const double *P, const double *Q, double *C) {
    if (inner <= 0) {
        return;
    }
    STRIP_EACH_ROW(STRIP_LOAD)
    do {
        STRIP_LOAD_Q
        STRIP_EACH_ROW(STRIP_SUBTRACT)
        P += 8, Q += 8;
    } while (--inner > 0);
    STRIP_EACH_ROW(STRIP_STORE)
}

/* C = -P' Q */
SIMD_INLINE void strip_product_6(int inner, const double *P, const double *Q, double *C) {
    memset(C, 0, 6 * 8 * sizeof *C);
    strip_update_6(inner, P, Q, C);
}

/* y = x' Q, six numbers by six rows; y holds six */
SIMD_INLINE void strip_row_6(const double *x, const double *Q, double *y) {
    simd4 low = x[0] * simd4_load(Q), high = x[0] * simd4_load(Q + 4);
    for (int r = 1; r < 6; r++) {
        low += x[r] * simd4_load(Q + 8 * (long)r);
        high += x[r] * simd4_load(Q + 8 * (long)r + 4);
    }
    simd4_store(y, low);
    memcpy(y + 4, &high, 2 * sizeof *y);
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
