/* Three-vectors, 3x3 matrices and unit quaternions, double precision. */
#ifndef MATH_V3_H
#define MATH_V3_H

#include <math.h>
#include <sim/math.h>
#include <stdbool.h>

typedef sim_v3 v3;
typedef sim_m3 m3;
typedef sim_sym3 sym3;
typedef sim_quat quat;

/* As fmax and fmin, where neither is NaN; those are calls. */
static inline double max_of(double a, double b) { return a > b ? a : b; }
static inline double min_of(double a, double b) { return a < b ? a : b; }

static inline v3 v3_make(double x, double y, double z) { return (v3){x, y, z}; }
static inline v3 v3_add(v3 a, v3 b) { return (v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline v3 v3_sub(v3 a, v3 b) { return (v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline v3 v3_neg(v3 a) { return (v3){-a.x, -a.y, -a.z}; }
static inline v3 v3_scale(double s, v3 a) { return (v3){s * a.x, s * a.y, s * a.z}; }
/* a + s b */
static inline v3 v3_axpy(v3 a, double s, v3 b) { return (v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static inline double v3_dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline v3 v3_cross(v3 a, v3 b) {
    return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double v3_norm(v3 a) { return sqrt(v3_dot(a, a)); }
/* The length of a direction, which is brought to a length near 1 where squares of it would be lost; 0: it has none. */
double v3_direction(v3 *a);
static inline bool v3_finite(v3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static inline m3 m3_identity(void) { return (m3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; }
static inline v3 m3_times(m3 A, v3 b) {
    return (v3){A.x.x * b.x + A.y.x * b.y + A.z.x * b.z, A.x.y * b.x + A.y.y * b.y + A.z.y * b.z,
                A.x.z * b.x + A.y.z * b.y + A.z.z * b.z};
}
/* A' b */
static inline v3 m3_transposed_times(m3 A, v3 b) { return (v3){v3_dot(A.x, b), v3_dot(A.y, b), v3_dot(A.z, b)}; }
static inline m3 m3_product(m3 A, m3 B) { return (m3){m3_times(A, B.x), m3_times(A, B.y), m3_times(A, B.z)}; }
static inline m3 m3_transpose(m3 A) {
    return (m3){{A.x.x, A.y.x, A.z.x}, {A.x.y, A.y.y, A.z.y}, {A.x.z, A.y.z, A.z.z}};
}

static inline sym3 sym3_add(sym3 a, sym3 b) {
    return (sym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
static inline v3 sym3_times(sym3 a, v3 b) {
    return (v3){a.xx * b.x + a.xy * b.y + a.xz * b.z, a.xy * b.x + a.yy * b.y + a.yz * b.z,
                a.xz * b.x + a.yz * b.y + a.zz * b.z};
}
/* a + s b b' */
static inline sym3 sym3_rank_one(sym3 a, double s, v3 b) {
    double x = s * b.x, y = s * b.y, z = s * b.z;
    return (sym3){a.xx + x * b.x, a.yy + y * b.y, a.zz + z * b.z, a.xy + x * b.y, a.xz + x * b.z, a.yz + y * b.z};
}
/* a + m (|d|^2 1 - d d'): a moment of inertia, moved from the centre of mass to a point at distance d. */
static inline sym3 sym3_parallel_axis(sym3 a, double m, v3 d) {
    double x = m * d.x, y = m * d.y, z = m * d.z;
    return (sym3){a.xx + (y * d.y + z * d.z),
                  a.yy + (x * d.x + z * d.z),
                  a.zz + (x * d.x + y * d.y),
                  a.xy - x * d.y,
                  a.xz - x * d.z,
                  a.yz - y * d.z};
}
/* R a R' */
static inline sym3 sym3_rotated(m3 R, sym3 a) {
    m3 T = {sym3_times(a, (v3){R.x.x, R.y.x, R.z.x}), sym3_times(a, (v3){R.x.y, R.y.y, R.z.y}),
            sym3_times(a, (v3){R.x.z, R.y.z, R.z.z})}; /* columns of a R' */
    v3 row_x = {R.x.x, R.y.x, R.z.x}, row_y = {R.x.y, R.y.y, R.z.y}, row_z = {R.x.z, R.y.z, R.z.z};
    return (sym3){v3_dot(row_x, T.x), v3_dot(row_y, T.y), v3_dot(row_z, T.z),
                  v3_dot(row_x, T.y), v3_dot(row_x, T.z), v3_dot(row_y, T.z)};
}

static inline quat quat_product(quat a, quat b) {
    return (quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline quat quat_conjugate(quat a) { return (quat){a.w, -a.x, -a.y, -a.z}; }
static inline double quat_norm(quat a) { return sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z); }
static inline quat quat_normalised(quat a) {
    double s = 1 / quat_norm(a);
    return (quat){s * a.w, s * a.x, s * a.y, s * a.z};
}
static inline m3 quat_matrix(quat q) {
    double x = 2 * q.x, y = 2 * q.y, z = 2 * q.z;
    double xx = x * q.x, yy = y * q.y, zz = z * q.z;
    double xy = x * q.y, xz = x * q.z, yz = y * q.z;
    double wx = x * q.w, wy = y * q.w, wz = z * q.w;
    return (m3){
        {1 - (yy + zz), xy + wz, xz - wy}, {xy - wz, 1 - (xx + zz), yz + wx}, {xz + wy, yz - wx, 1 - (xx + yy)}};
}
/* The rotation by |u| about u. */
static inline quat quat_exp(v3 u) {
    double angle = v3_norm(u);
    double half = 0.5 * angle;
    double s = angle > 1e-4 ? sin(half) / angle : 0.5 - half * half / 12; /* sin(h)/(2h), next term below rounding */
    return (quat){cos(half), s * u.x, s * u.y, s * u.z};
}
/* The u of least length with quat_exp(u) = q. */
static inline v3 quat_log(quat q) {
    v3 s = {q.x, q.y, q.z};
    if (q.w < 0) {
        s = v3_neg(s);
    }
    double sine = v3_norm(s), cosine = fabs(q.w);
    double scale = sine > 1e-8 ? 2 * atan2(sine, cosine) / sine : 2;
    return v3_scale(scale, s);
}
/* Of a rotation matrix (Shepperd: divide by the largest of the four). */
quat quat_from_matrix(m3 R);
static inline m3 m3_axis_angle(v3 axis, double angle) {
    double c = cos(angle), s = sin(angle), k = 1 - c;
    v3 a = axis;
    return (m3){{c + k * a.x * a.x, k * a.x * a.y + s * a.z, k * a.x * a.z - s * a.y},
                {k * a.x * a.y - s * a.z, c + k * a.y * a.y, k * a.y * a.z + s * a.x},
                {k * a.x * a.z + s * a.y, k * a.y * a.z - s * a.x, c + k * a.z * a.z}};
}
/* A unit vector at right angles to a unit vector. */
v3 v3_perpendicular(v3 a);

#endif
