/* Eight things at a time: numbers of eight contacts or bodies stand side by side in memory, and code runs over them in
 * vectors as wide as the machine's, or one by one where LANE_WIDTH is 1.
 *
 * The compilers' own vectors (gcc and clang).  The layout does not depend on the width: the same file compiled with
 * another gives the same answers up to the rounding of fused products.  No branch depends on numbers: lane_select. */
#ifndef SOLVER_CORE_LANES_H
#define SOLVER_CORE_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 8 }; /* in memory */

#ifndef LANE_WIDTH
#if defined(__AVX512F__)
#define LANE_WIDTH 8
#elif defined(__AVX__)
#define LANE_WIDTH 4
#else
#define LANE_WIDTH 2
#endif
#endif

#define LANE_INLINE static inline __attribute__((always_inline))

#if LANE_WIDTH == 1
typedef double wide;
typedef int64_t lane_mask;
LANE_INLINE lane_mask lane_above(wide a, wide b) { return -(int64_t)(a > b); }
#else
typedef double wide __attribute__((vector_size(8 * LANE_WIDTH)));
typedef int64_t lane_mask __attribute__((vector_size(8 * LANE_WIDTH)));
LANE_INLINE lane_mask lane_above(wide a, wide b) { return a > b; }
#endif

LANE_INLINE wide lane_load(const double *x) {
    wide v;
    memcpy(&v, x, sizeof v);
    return v;
}

LANE_INLINE void lane_store(double *x, wide v) { memcpy(x, &v, sizeof v); }

LANE_INLINE wide lane_all(double x) { return x - (wide){0}; }

/* a where the mask is set, else b */
LANE_INLINE wide lane_select(lane_mask mask, wide a, wide b) {
    lane_mask x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = (x & mask) | (y & ~mask);
    memcpy(&a, &x, sizeof a);
    return a;
}

LANE_INLINE wide lane_max(wide a, wide b) { return lane_select(lane_above(a, b), a, b); }
LANE_INLINE wide lane_min(wide a, wide b) { return lane_select(lane_above(b, a), a, b); }

LANE_INLINE wide lane_sqrt(wide x) {
#if LANE_WIDTH > 1 && defined(__AVX__)
    __asm__("vsqrtpd %1, %0" : "=v"(x) : "v"(x)); /* no compiler makes one of a loop over what a register holds */
    return x;
#else
    double each[LANE_WIDTH];
    memcpy(each, &x, sizeof each);
    for (int k = 0; k < LANE_WIDTH; k++) {
        each[k] = sqrt(each[k]);
    }
    memcpy(&x, each, sizeof x);
    return x;
#endif
}

/* Rows of LANES numbers each, LANE_WIDTH of them, to the same numbers component by component, and back: r[i][j] <-> r[j][i]
 * of squares as wide as a vector. */
#if LANE_WIDTH == 8
LANE_INLINE void lane_turn(wide r[8]) {
    wide a[8], b[8];
    for (int k = 0; k < 8; k += 2) {
        a[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < 4; k++) {
        int i = k + (k & 2); /* 0 1 4 5 */
        b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 4, 5, 8, 9, 12, 13);
        b[i + 2] = __builtin_shufflevector(a[i], a[i + 2], 2, 3, 6, 7, 10, 11, 14, 15);
    }
    for (int k = 0; k < 4; k++) {
        r[k] = __builtin_shufflevector(b[k], b[k + 4], 0, 1, 4, 5, 8, 9, 12, 13);
        r[k + 4] = __builtin_shufflevector(b[k], b[k + 4], 2, 3, 6, 7, 10, 11, 14, 15);
    }
}
#elif LANE_WIDTH == 4
LANE_INLINE void lane_turn(wide r[4]) {
    wide a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    wide c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6), d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
#elif LANE_WIDTH == 2
LANE_INLINE void lane_turn(wide r[2]) {
    wide a = __builtin_shufflevector(r[0], r[1], 0, 2);
    r[1] = __builtin_shufflevector(r[0], r[1], 1, 3);
    r[0] = a;
}
#else
LANE_INLINE void lane_turn(wide r[1]) { (void)r; }
#endif

/* The rows index[0], ... of an array of rows, component by component. */
LANE_INLINE void lane_rows_load(const double *rows, const int *index, wide component[6]) {
    wide all[LANES];
    for (int first = 0; first < LANES; first += LANE_WIDTH) {
        for (int k = 0; k < LANE_WIDTH; k++) {
            all[first + k] = lane_load(rows + (ptrdiff_t)LANES * index[k] + first);
        }
        lane_turn(all + first);
    }
    memcpy(component, all, 6 * sizeof *component);
}

LANE_INLINE void lane_rows_store(double *rows, const int *index, const wide component[6]) {
    wide all[LANES];
    memcpy(all, component, 6 * sizeof *component);
    all[6] = all[7] = lane_all(0);
    for (int first = 0; first < 6; first += LANE_WIDTH) {
        lane_turn(all + first);
        for (int k = 0; k < LANE_WIDTH; k++) {
            lane_store(rows + (ptrdiff_t)LANES * index[k] + first, all[first + k]);
        }
    }
}

#endif
