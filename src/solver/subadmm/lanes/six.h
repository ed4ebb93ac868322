/* Symmetric 6 x 6 operators on motions of bodies, row-major, angular part first.  An inertia with penalties added is
 * not that of a rigid body. */
#ifndef SOLVER_SUBADMM_LANES_SIX_H
#define SOLVER_SUBADMM_LANES_SIX_H

#include "math/spatial.h"

enum { SIX_NUMBERS = 36 };

static inline v3 six_v3(const double *x) { return (v3){x[0], x[1], x[2]}; }
static inline motion six_motion(const double *x) { return (motion){six_v3(x), six_v3(x + 3)}; }
static inline force six_force(const double *x) { return (force){six_v3(x), six_v3(x + 3)}; }

static inline void six_store(v3 ang, v3 lin, double *x) {
    const double all[6] = {ang.x, ang.y, ang.z, lin.x, lin.y, lin.z};
    for (int k = 0; k < 6; k++) {
        x[k] = all[k];
    }
}

static inline force six_times(const double *H, motion m) {
    double x[6], y[6];
    six_store(m.ang, m.lin, x);
    for (int i = 0; i < 6; i++) {
        const double *row = H + 6 * i;
        y[i] = ((row[0] * x[0] + row[1] * x[1]) + (row[2] * x[2] + row[3] * x[3])) + (row[4] * x[4] + row[5] * x[5]);
    }
    return six_force(y);
}

static inline force six_rigid_times(const sim_body_inertia *I, motion m) {
    return (force){v3_add(sym3_times(I->I, m.ang), v3_cross(I->h, m.lin)),
                   v3_sub(v3_scale(I->mass, m.lin), v3_cross(I->h, m.ang))};
}

static inline void six_add_rigid(const sim_body_inertia *I, double *H) {
    const double A[3][3] = {{I->I.xx, I->I.xy, I->I.xz}, {I->I.xy, I->I.yy, I->I.yz}, {I->I.xz, I->I.yz, I->I.zz}};
    const double h[3][3] = {{0, -I->h.z, I->h.y}, {I->h.z, 0, -I->h.x}, {-I->h.y, I->h.x, 0}};
    for (int i = 0; i < 3; i++) {
        H[6 * (i + 3) + i + 3] += I->mass;
        for (int j = 0; j < 3; j++) {
            H[6 * i + j] += A[i][j];
            H[6 * i + j + 3] += h[i][j];
            H[6 * (i + 3) + j] -= h[i][j];
        }
    }
}

/* H += the symmetric matrix with packed lower triangle L. */
static inline void six_add_triangle(const double *L, double *H) {
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            H[6 * i + j] += L[i * (i + 1) / 2 + j];
            H[6 * j + i] += i == j ? 0 : L[i * (i + 1) / 2 + j];
        }
    }
}

/* to += X' H X: H taken at the parent's origin, which lies at -r. */
static inline void six_add_at_parent(const double *H, v3 r, double *to) {
    double M[SIX_NUMBERS];
    for (int i = 0; i < 6; i++) {
        v3 lin = six_v3(H + 6 * i + 3);
        six_store(v3_sub(six_v3(H + 6 * i), v3_cross(lin, r)), lin, M + 6 * i);
    }
    for (int j = 0; j < 6; j++) {
        v3 turned = v3_cross(r, (v3){M[18 + j], M[24 + j], M[30 + j]});
        to[j] += M[j] + turned.x;
        to[6 + j] += M[6 + j] + turned.y;
        to[12 + j] += M[12 + j] + turned.z;
        to[18 + j] += M[18 + j];
        to[24 + j] += M[24 + j];
        to[30 + j] += M[30 + j];
    }
}

#endif
