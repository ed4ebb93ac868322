/* Symmetric 6x6 operators [A G'; G C] on motions (angular; linear) at a body's origin, in vector registers.
 *
 * Columns of the 3x3 blocks are vectors of four numbers, the fourth zero: nine registers hold an articulated inertia
 * while its joint is eliminated.  These are vector types of gcc and clang; without 256-bit units they become pairs. */
#ifndef DYN_MOTION_LANES_H
#define DYN_MOTION_LANES_H

#include "math/simd.h"
#include "math/spatial.h"
#include <sim/dynamics.h>

struct sim_articulated_lanes {
    simd4 A[3], G[3], C[3];
};
typedef struct sim_articulated_lanes lanes66;

struct sim_force_lanes {
    simd4 ang, lin;
};
typedef struct sim_force_lanes lanes6;

static inline simd4 lane_of(v3 a) { return (simd4){a.x, a.y, a.z, 0}; }
static inline simd4 lane_yzx(simd4 a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
static inline simd4 lane_zxy(simd4 a) { return __builtin_shufflevector(a, a, 2, 0, 1, 3); }

/* M a, a scaled sum of columns. */
static inline simd4 lane_columns(const simd4 M[3], v3 a) { return M[0] * a.x + (M[1] * a.y + M[2] * a.z); }

static inline void lane_transpose(const simd4 M[3], simd4 T[3]) {
    const simd4 zero = {0, 0, 0, 0};
    simd4 low = __builtin_shufflevector(M[0], M[1], 0, 4, 2, 6), high = __builtin_shufflevector(M[0], M[1], 1, 5, 3, 7);
    simd4 z_low = __builtin_shufflevector(M[2], zero, 0, 4, 2, 6),
          z_high = __builtin_shufflevector(M[2], zero, 1, 5, 3, 7);
    T[0] = __builtin_shufflevector(low, z_low, 0, 1, 4, 5);
    T[1] = __builtin_shufflevector(high, z_high, 0, 1, 4, 5);
    T[2] = __builtin_shufflevector(low, z_low, 2, 3, 6, 7);
}

static inline simd4 lane_sym_column(double x, double y, double z) { return (simd4){x, y, z, 0}; }

static inline lanes66 lanes_rigid(const sim_body_inertia *I) {
    const sym3 *a = &I->I;
    v3 h = I->h;
    double m = I->mass;
    return (lanes66){
        .A = {lane_sym_column(a->xx, a->xy, a->xz), lane_sym_column(a->xy, a->yy, a->yz),
              lane_sym_column(a->xz, a->yz, a->zz)},
        .G = {lane_sym_column(0, -h.z, h.y), lane_sym_column(h.z, 0, -h.x), lane_sym_column(-h.y, h.x, 0)},
        .C = {lane_sym_column(m, 0, 0), lane_sym_column(0, m, 0), lane_sym_column(0, 0, m)},
    };
}

/* From the packed form of the interface: its B is G transposed. */
static inline lanes66 lanes_general(const sim_articulated *a) {
    return (lanes66){
        .A = {lane_sym_column(a->A.xx, a->A.xy, a->A.xz), lane_sym_column(a->A.xy, a->A.yy, a->A.yz),
              lane_sym_column(a->A.xz, a->A.yz, a->A.zz)},
        .G = {lane_sym_column(a->B.x.x, a->B.y.x, a->B.z.x), lane_sym_column(a->B.x.y, a->B.y.y, a->B.z.y),
              lane_sym_column(a->B.x.z, a->B.y.z, a->B.z.z)},
        .C = {lane_sym_column(a->C.xx, a->C.xy, a->C.xz), lane_sym_column(a->C.xy, a->C.yy, a->C.yz),
              lane_sym_column(a->C.xz, a->C.yz, a->C.zz)},
    };
}

static inline void lanes_add(lanes66 *restrict to, const lanes66 *restrict from) {
    for (int c = 0; c < 3; c++) {
        to->A[c] += from->A[c];
        to->G[c] += from->G[c];
        to->C[c] += from->C[c];
    }
}

/* The operator on a motion whose parts may be known to be zero. */
static inline lanes6 lanes_times(const lanes66 *a, motion m, int turns, int slides) {
    lanes6 f = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    if (turns) {
        f.ang = lane_columns(a->A, m.ang);
        f.lin = lane_columns(a->G, m.ang);
    }
    if (slides) {
        simd4 B[3];
        lane_transpose(a->G, B);
        f.ang += lane_columns(B, m.lin);
        f.lin += lane_columns(a->C, m.lin);
    }
    return f;
}

static inline double lanes_dot(motion m, lanes6 f) {
    return (m.ang.x * f.ang[0] + m.ang.y * f.ang[1] + m.ang.z * f.ang[2]) +
           (m.lin.x * f.lin[0] + m.lin.y * f.lin[1] + m.lin.z * f.lin[2]);
}
static inline double lanes_turn_dot(v3 axis, simd4 f) { return axis.x * f[0] + axis.y * f[1] + axis.z * f[2]; }

/* a - s U U' */
static inline void lanes_less(lanes66 *a, double s, lanes6 U) {
    simd4 ang = simd4_all(s) * U.ang, lin = simd4_all(s) * U.lin;
    for (int c = 0; c < 3; c++) {
        simd4 turn = simd4_all(U.ang[c]), slide = simd4_all(U.lin[c]);
        a->A[c] -= turn * ang;
        a->G[c] -= turn * lin;
        a->C[c] -= slide * lin;
    }
}

/* Taken at the parent's origin, r away: C' = C, G' = G - C [r], A' = A + P + P' with P = [r] (G + G')/2. */
static inline void lanes_to_parent(lanes66 *a, v3 r) {
    simd4 G[3] = {a->G[0] - a->C[1] * r.z + a->C[2] * r.y, a->G[1] - a->C[2] * r.x + a->C[0] * r.z,
                  a->G[2] - a->C[0] * r.y + a->C[1] * r.x};
    simd4 half = lane_of(v3_scale(0.5, r)), half_yzx = lane_yzx(half), half_zxy = lane_zxy(half);
    simd4 P[3], T[3];
    for (int c = 0; c < 3; c++) {
        simd4 Z = a->G[c] + G[c];
        P[c] = half_yzx * lane_zxy(Z) - half_zxy * lane_yzx(Z);
        a->G[c] = G[c];
    }
    lane_transpose(P, T);
    for (int c = 0; c < 3; c++) {
        a->A[c] += P[c] + T[c];
    }
}

#endif
