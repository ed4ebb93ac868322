/* Motions, forces and inertias of bodies, at body origins with world axes (see sim/dynamics.h).
 *
 * Between two frames only a shift r stands (from the parent's origin to the child's):
 *     motion, parent -> child   (w; v) -> (w; v + w x r)
 *     force,  child -> parent   (n; f) -> (n + r x f; f) */
#ifndef MATH_SPATIAL_H
#define MATH_SPATIAL_H

#include "math/v3.h"

typedef sim_pose pose;
typedef sim_motion motion;
typedef sim_force force;

static inline pose pose_identity(void) { return (pose){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}}; }
static inline v3 pose_point(pose X, v3 p) { return v3_add(X.p, m3_times(X.R, p)); }
static inline pose pose_product(pose A, pose B) { return (pose){m3_product(A.R, B.R), pose_point(A, B.p)}; }

/* X_ab from the poses of a and b in one frame. */
static inline pose pose_relative(pose X_a, pose X_b) {
    m3 Rt = m3_transpose(X_a.R);
    return (pose){m3_product(Rt, X_b.R), m3_times(Rt, v3_sub(X_b.p, X_a.p))};
}
static inline pose pose_inverse(pose X) {
    m3 R = m3_transpose(X.R);
    return (pose){R, v3_neg(m3_times(R, X.p))};
}

static inline motion motion_add(motion a, motion b) { return (motion){v3_add(a.ang, b.ang), v3_add(a.lin, b.lin)}; }
static inline motion motion_axpy(motion a, double s, motion b) {
    return (motion){v3_axpy(a.ang, s, b.ang), v3_axpy(a.lin, s, b.lin)};
}
static inline motion motion_at_child(motion m, v3 r) { return (motion){m.ang, v3_add(m.lin, v3_cross(m.ang, r))}; }

static inline force force_add(force a, force b) { return (force){v3_add(a.ang, b.ang), v3_add(a.lin, b.lin)}; }
static inline force force_sub(force a, force b) { return (force){v3_sub(a.ang, b.ang), v3_sub(a.lin, b.lin)}; }
static inline force force_axpy(force a, double s, force b) {
    return (force){v3_axpy(a.ang, s, b.ang), v3_axpy(a.lin, s, b.lin)};
}
static inline force force_at_parent(force f, v3 r) { return (force){v3_add(f.ang, v3_cross(r, f.lin)), f.lin}; }

/* Power. */
static inline double motion_dot(motion m, force f) { return v3_dot(m.ang, f.ang) + v3_dot(m.lin, f.lin); }

#endif
