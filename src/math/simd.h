/* Vectors of numbers: the compilers' own (gcc and clang), in fixed widths.
 *
 * simd2, simd4 and simd8 hold two, four and eight doubles, simd8f eight floats.  Where a machine's registers are
 * narrower, the compiler splits them.  Loads and stores need no alignment.  A comparison (a < b) yields a mask: all
 * bits of a number set, or none. */
#ifndef MATH_SIMD_H
#define MATH_SIMD_H

#include <string.h>

#define SIMD_INLINE static inline __attribute__((always_inline))

typedef double simd2 __attribute__((vector_size(16)));
typedef double simd4 __attribute__((vector_size(32)));
typedef double simd8 __attribute__((vector_size(64)));
typedef float simd8f __attribute__((vector_size(32)));
typedef long long simd4_mask __attribute__((vector_size(32)));
typedef long long simd8_mask __attribute__((vector_size(64)));
typedef int simd8f_mask __attribute__((vector_size(32)));

SIMD_INLINE simd4 simd4_load(const double *x) {
    simd4 v;
    memcpy(&v, x, sizeof v);
    return v;
}

SIMD_INLINE simd8 simd8_load(const double *x) {
    simd8 v;
    memcpy(&v, x, sizeof v);
    return v;
}

SIMD_INLINE void simd4_store(double *x, simd4 v) { memcpy(x, &v, sizeof v); }
SIMD_INLINE void simd8_store(double *x, simd8 v) { memcpy(x, &v, sizeof v); }

/* The widest vector of doubles that a register holds.  Compilers split wider ones by way of memory: kernels are written
 * for these. */
#ifdef __AVX512F__
enum { SIMD_WIDTH = 8 };
typedef simd8 simd_wide;
SIMD_INLINE simd_wide simd_wide_load(const double *x) { return simd8_load(x); }
SIMD_INLINE void simd_wide_store(double *x, simd_wide v) { simd8_store(x, v); }
#else
enum { SIMD_WIDTH = 4 };
typedef simd4 simd_wide;
SIMD_INLINE simd_wide simd_wide_load(const double *x) { return simd4_load(x); }
SIMD_INLINE void simd_wide_store(double *x, simd_wide v) { simd4_store(x, v); }
#endif

/* The same number in every place. */
SIMD_INLINE simd4 simd4_all(double x) { return (simd4){x, x, x, x}; }
SIMD_INLINE simd8f simd8f_all(float x) { return (simd8f){x, x, x, x, x, x, x, x}; }

/* a where the mask is set, else b. */
SIMD_INLINE simd4 simd4_select(simd4_mask mask, simd4 a, simd4 b) {
    return (simd4)((mask & (simd4_mask)a) | (~mask & (simd4_mask)b));
}

/* r[i][j] <-> r[j][i] of two, four or eight rows. */
SIMD_INLINE void simd2_transpose(simd2 r[2]) {
    simd2 a = __builtin_shufflevector(r[0], r[1], 0, 2);
    r[1] = __builtin_shufflevector(r[0], r[1], 1, 3);
    r[0] = a;
}

SIMD_INLINE void simd4_transpose(simd4 r[4]) {
    simd4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    simd4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6), d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

SIMD_INLINE void simd8_transpose(simd8 r[8]) {
    simd8 a[8], b[8];
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

/* Bit i: the mask of number i is set. */
SIMD_INLINE unsigned simd8f_mask_bits(simd8f_mask m) {
#if defined(__AVX__)
    return (unsigned)__builtin_ia32_movmskps256((simd8f)m);
#elif defined(__SSE__)
    typedef float simd4f __attribute__((vector_size(16)));
    simd8f f = (simd8f)m;
    simd4f low = __builtin_shufflevector(f, f, 0, 1, 2, 3), high = __builtin_shufflevector(f, f, 4, 5, 6, 7);
    return (unsigned)__builtin_ia32_movmskps(low) | (unsigned)__builtin_ia32_movmskps(high) << 4;
#else
    unsigned bits = 0;
    for (int i = 0; i < 8; i++) {
        bits |= (unsigned)(m[i] & 1) << i;
    }
    return bits;
#endif
}

#endif
