/* C -= P' Q for small dense blocks, a strip of columns at a time: what a Cholesky factor and a product J' G J are made of.
 *
 * Blocks are row-major; their rows are padded with zeros to a multiple of four numbers, so that no loop has a tail.  A
 * strip of at most six rows by eight columns of C stays in registers while the rows of P and Q go by. */
#ifndef LINALG_STRIP_H
#define LINALG_STRIP_H

#include <string.h>

typedef double strip_quad __attribute__((vector_size(32)));
typedef double strip_oct __attribute__((vector_size(64)));

enum { STRIP_ROWS = 6 };

#define STRIP_INLINE static inline __attribute__((always_inline))

/* Numbers that a row of n takes. */
static inline int strip_stride(int n) { return (n + 3) & ~3; }

STRIP_INLINE strip_quad strip_load4(const double *x) {
    strip_quad v;
    memcpy(&v, x, sizeof v);
    return v;
}

STRIP_INLINE strip_oct strip_load8(const double *x) {
    strip_oct v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* m <= STRIP_ROWS rows of C by 8 columns; the sum runs over `inner` rows of P and Q. */
STRIP_INLINE void strip_8(int m, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    strip_oct c[STRIP_ROWS];
    for (int a = 0; a < m; a++) {
        c[a] = strip_load8(C + a * sc);
    }
    for (int r = 0; r < inner; r++) {
        strip_oct q = strip_load8(Q + (long)r * sq);
        for (int a = 0; a < m; a++) {
            c[a] -= P[(long)r * sp + a] * q;
        }
    }
    for (int a = 0; a < m; a++) {
        memcpy(C + a * sc, &c[a], sizeof c[a]);
    }
}

STRIP_INLINE void strip_4(int m, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc) {
    strip_quad c[STRIP_ROWS];
    for (int a = 0; a < m; a++) {
        c[a] = strip_load4(C + a * sc);
    }
    for (int r = 0; r < inner; r++) {
        strip_quad q = strip_load4(Q + (long)r * sq);
        for (int a = 0; a < m; a++) {
            c[a] -= P[(long)r * sp + a] * q;
        }
    }
    for (int a = 0; a < m; a++) {
        memcpy(C + a * sc, &c[a], sizeof c[a]);
    }
}

/* C (m x n) -= P' Q with P inner x m, Q inner x n; n a multiple of four.  sp, sq, sc: numbers from row to row. */
void strip_update(int m, int n, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc);
/* The same where only C's columns from its row's number on are wanted: what is left of them may hold anything. */
void strip_update_upper(int n, int inner, const double *P, int sp, const double *Q, int sq, double *C, int sc);

/* Free bodies: six by six, in rows of eight. */
STRIP_INLINE void strip_update_6(int inner, const double *P, const double *Q, double *C) {
    strip_8(6, inner, P, 8, Q, 8, C, 8);
}

/* C = -P' Q */
STRIP_INLINE void strip_product_6(int inner, const double *P, const double *Q, double *C) {
    strip_oct c[6] = {{0}, {0}, {0}, {0}, {0}, {0}};
    for (int r = 0; r < inner; r++) {
        strip_oct q = strip_load8(Q + 8 * (long)r);
        for (int a = 0; a < 6; a++) {
            c[a] -= P[8 * (long)r + a] * q;
        }
    }
    for (int a = 0; a < 6; a++) {
        memcpy(C + 8 * a, &c[a], sizeof c[a]);
    }
}

/* y = x' Q, six numbers by six rows; y holds six */
STRIP_INLINE void strip_row_6(const double *x, const double *Q, double *y) {
    strip_oct c = x[0] * strip_load8(Q);
    for (int r = 1; r < 6; r++) {
        c += x[r] * strip_load8(Q + 8 * (long)r);
    }
    memcpy(y, &c, 6 * sizeof *y);
}

/* Two columns of blocks at once, where there are registers enough: a sum need not wait for the one before. */
#ifdef __AVX512F__
enum { STRIP_PAIRS = 1 };
#else
enum { STRIP_PAIRS = 0 };
#endif
STRIP_INLINE void strip_update_6_pair(int inner, const double *P, const double *Q, const double *Q2, double *C,
                                      double *C2) {
    strip_oct c[6], d[6];
    for (int a = 0; a < 6; a++) {
        c[a] = strip_load8(C + 8 * a);
        d[a] = strip_load8(C2 + 8 * a);
    }
    for (int r = 0; r < inner; r++) {
        strip_oct q = strip_load8(Q + 8 * (long)r), q2 = strip_load8(Q2 + 8 * (long)r);
        for (int a = 0; a < 6; a++) {
            double p = P[8 * (long)r + a];
            c[a] -= p * q;
            d[a] -= p * q2;
        }
    }
    for (int a = 0; a < 6; a++) {
        memcpy(C + 8 * a, &c[a], sizeof c[a]);
        memcpy(C2 + 8 * a, &d[a], sizeof d[a]);
    }
}

#endif
