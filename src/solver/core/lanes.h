/* Eight things at a time: numbers of eight contacts or bodies stand side by side in memory.  Code runs over them in
 * vectors as wide as the machine's, or one by one where LANE_WIDTH is 1.
 *
 * The compilers' own vectors (gcc and clang).  The layout does not depend on the width: the same file compiled with
 * another gives the same numbers up to the rounding of fused products.  No branch depends on numbers: lane_select. */
#ifndef SOLVER_CORE_LANES_H
#define SOLVER_CORE_LANES_H

#include "math/simd.h"

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

#if LANE_WIDTH == 1
typedef double wide;
typedef int64_t lane_mask;
SIMD_INLINE lane_mask lane_above(wide a, wide b) { return -(int64_t)(a > b); }
#else
typedef double wide __attribute__((vector_size(8 * LANE_WIDTH)));
typedef int64_t lane_mask __attribute__((vector_size(8 * LANE_WIDTH)));
SIMD_INLINE lane_mask lane_above(wide a, wide b) { return a > b; }
#endif

SIMD_INLINE wide lane_load(const double *x) {
    wide v;
    memcpy(&v, x, sizeof v);
    return v;
}

SIMD_INLINE void lane_store(double *x, wide v) { memcpy(x, &v, sizeof v); }

SIMD_INLINE wide lane_all(double x) { return x - (wide){0}; }

/* a where the mask is set, else b */
SIMD_INLINE wide lane_select(lane_mask mask, wide a, wide b) {
    lane_mask x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = (x & mask) | (y & ~mask);
    memcpy(&a, &x, sizeof a);
    return a;
}

SIMD_INLINE wide lane_max(wide a, wide b) { return lane_select(lane_above(a, b), a, b); }
SIMD_INLINE wide lane_min(wide a, wide b) { return lane_select(lane_above(b, a), a, b); }

SIMD_INLINE wide lane_sqrt(wide x) {
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

/* Rows of LANES numbers each, LANE_WIDTH of them, to the same numbers by components, and back: a transpose. */
SIMD_INLINE void lane_turn(wide r[LANE_WIDTH]) {
#if LANE_WIDTH == 8
    simd8_transpose(r);
#elif LANE_WIDTH == 4
    simd4_transpose(r);
#elif LANE_WIDTH == 2
    simd2_transpose(r);
#else
    (void)r;
#endif
}

/* The rows index[0], ... of an array of rows, component by component. */
SIMD_INLINE void lane_rows_load(const double *rows, const int *index, wide component[6]) {
    wide all[LANES];
    for (int first = 0; first < LANES; first += LANE_WIDTH) {
        for (int k = 0; k < LANE_WIDTH; k++) {
            all[first + k] = lane_load(rows + (ptrdiff_t)LANES * index[k] + first);
        }
        lane_turn(all + first);
    }
    memcpy(component, all, 6 * sizeof *component);
}

SIMD_INLINE void lane_rows_store(double *rows, const int *index, const wide component[6]) {
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
