/* Symmetric 6x6 operators [A B; B' C] on motions (angular; linear) at a body's origin. */
#ifndef DYN_ARTICULATED_H
#define DYN_ARTICULATED_H

#include "math/spatial.h"
#include <sim/dynamics.h>

typedef sim_articulated articulated;
typedef sim_body_inertia rigid;

static inline force rigid_times(const rigid *I, motion m) {
    return (force){v3_add(sym3_times(I->I, m.ang), v3_cross(I->h, m.lin)),
                   v3_sub(v3_scale(I->mass, m.lin), v3_cross(I->h, m.ang))};
}

/* The same inertia taken at the parent's origin: with w = h + m r/2,
 *     h' = h + m r,   I' = I + 2 (r . w) 1 - (r w' + w r'). */
static inline rigid rigid_at_parent(rigid a, v3 r) {
    v3 w = v3_axpy(a.h, 0.5 * a.mass, r);
    double xx = r.x * w.x, yy = r.y * w.y, zz = r.z * w.z;
    sym3 I = {a.I.xx + 2 * (yy + zz),           a.I.yy + 2 * (xx + zz),           a.I.zz + 2 * (xx + yy),
              a.I.xy - (r.x * w.y + w.x * r.y), a.I.xz - (r.x * w.z + w.x * r.z), a.I.yz - (r.y * w.z + w.y * r.z)};
    return (rigid){a.mass, v3_axpy(a.h, a.mass, r), I};
}

static inline rigid rigid_add(rigid a, rigid b) {
    return (rigid){a.mass + b.mass, v3_add(a.h, b.h), sym3_add(a.I, b.I)};
}

static inline articulated articulated_rigid(const rigid *a) {
    v3 h = a->h;
    return (articulated){
        a->I, {{0, h.z, -h.y}, {-h.z, 0, h.x}, {h.y, -h.x, 0}}, {a->mass, a->mass, a->mass, 0, 0, 0}};
}

static inline articulated articulated_add(articulated a, articulated b) {
    return (articulated){sym3_add(a.A, b.A),
                         {v3_add(a.B.x, b.B.x), v3_add(a.B.y, b.B.y), v3_add(a.B.z, b.B.z)},
                         sym3_add(a.C, b.C)};
}

static inline force articulated_times(const articulated *a, motion m) {
    return (force){v3_add(sym3_times(a->A, m.ang), m3_times(a->B, m.lin)),
                   v3_add(m3_transposed_times(a->B, m.ang), sym3_times(a->C, m.lin))};
}

/* a - s U U' */
static inline articulated articulated_less(articulated a, double s, force U) {
    v3 n = v3_scale(-s, U.ang);
    return (articulated){sym3_rank_one(a.A, -s, U.ang),
                         {v3_axpy(a.B.x, U.lin.x, n), v3_axpy(a.B.y, U.lin.y, n), v3_axpy(a.B.z, U.lin.z, n)},
                         sym3_rank_one(a.C, -s, U.lin)};
}

/* Taken at the parent's origin: C' = C, B' = B + [r] C, A' = A + ([r] B^T)^T + [r] B'^T. */
static inline articulated articulated_at_parent(articulated a, v3 r) {
    m3 B = {v3_add(a.B.x, v3_cross(r, (v3){a.C.xx, a.C.xy, a.C.xz})),
            v3_add(a.B.y, v3_cross(r, (v3){a.C.xy, a.C.yy, a.C.yz})),
            v3_add(a.B.z, v3_cross(r, (v3){a.C.xz, a.C.yz, a.C.zz}))};
    sym3 A = {
        a.A.xx + (r.y * (a.B.z.x + B.z.x) - r.z * (a.B.y.x + B.y.x)),
        a.A.yy + (r.z * (a.B.x.y + B.x.y) - r.x * (a.B.z.y + B.z.y)),
        a.A.zz + (r.x * (a.B.y.z + B.y.z) - r.y * (a.B.x.z + B.x.z)),
        a.A.xy + (r.z * a.B.x.x - r.x * a.B.z.x) + (r.y * B.z.y - r.z * B.y.y),
        a.A.xz + (r.x * a.B.y.x - r.y * a.B.x.x) + (r.y * B.z.z - r.z * B.y.z),
        a.A.yz + (r.x * a.B.y.y - r.y * a.B.x.y) + (r.z * B.x.z - r.x * B.z.z),
    };
    return (articulated){A, B, a.C};
}

#endif
