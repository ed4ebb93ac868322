/* Inertias of rigid bodies as operators on motions, at a body's origin. */
#ifndef DYN_MOTION_RIGID_H
#define DYN_MOTION_RIGID_H

#include "math/spatial.h"
#include <sim/dynamics.h>

typedef sim_body_inertia rigid;

static inline force rigid_times(const rigid *I, motion m) {
    return (force){v3_add(sym3_times(I->I, m.ang), v3_cross(I->h, m.lin)),
                   v3_sub(v3_scale(I->mass, m.lin), v3_cross(I->h, m.ang))};
}

/* The same inertia at the parent's origin: with w = h + m r/2,
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

/* J a of a body, from that of its parent in d->acc: accelerations by those of the joints alone. */
static inline motion carried_acceleration(const sim_derived *d, int i, const double *a) {
    const sim_body *b = &d->model->body[i];
    motion acc = b->parent ? motion_at_child(d->acc[b->parent], d->r[i]) : (motion){{0, 0, 0}, {0, 0, 0}};
    for (int j = b->v0; j < b->v0 + b->nv; j++) {
        acc = motion_axpy(acc, a[j], d->S[j]);
    }
    return acc;
}

#endif
