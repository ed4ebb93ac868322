/* Derivatives of the step of a single rigid body beyond those of a tree: its turn, and the swing of its origin.
 *
 *     T = C(t) R(x),     x = g(s) (t.m/|m|) m/|m|,     g = 1 - 2 atan(s/2)/s,     m = J w1                       (1)
 *     rho = R* (a x c + w* x (w* x c)) - (R1 (w1 x c) - R0 (w0 x c))/h                                             (2)
 *
 *     t, s      rotation vector of the Cayley map C and its length;  R: exponential map
 *     w0, w1    angular velocity in axes of the body at the start and the end, rad/s;  w*, R*: where forces are taken
 *     c, J      centre of mass, m; inertia about it, kg m^2;  h: step, s;  a = (w1 - w0)/h
 *     rho       acceleration of the origin of a free body that (1) of spin.c adds to that of the sweep
 *
 * A turn phi of a factor becomes R' phi past a later factor R.  Reference: spin.c (whole_turn, origin_swing).
 * Cost: some hundred multiplications a column. */
#include "dyn/motion/advance.h"
#include "model/parts/joint.h"
#include "world/integrator/derivative/tree_derivatives.h"

static const double MIN_TURN = 1e-5; /* rad: below, g = s^2/12 to rounding */

static v3 unit_vector(int k) { return (v3){k == 0, k == 1, k == 2}; }

/* (J + D)^-1 b */
static v3 solve_inertia(sym3 J, v3 D, v3 b) {
    m3 A = {{J.xx + D.x, J.xy, J.xz}, {J.xy, J.yy + D.y, J.yz}, {J.xz, J.yz, J.zz + D.z}};
    v3 yz = v3_cross(A.y, A.z);
    double det = v3_dot(A.x, yz);
    return (v3){v3_dot(b, yz) / det, v3_dot(A.x, v3_cross(b, A.z)) / det, v3_dot(A.x, v3_cross(A.y, b)) / det};
}

/* (1) along dt and dw1, in axes of the turned body. */
static v3 whole_turn_along(sym3 J, v3 t, v3 w1, v3 dt, v3 dw1) {
    v3 m = sym3_times(J, w1), dm = sym3_times(J, dw1),
       by_cayley = m3_times(rotation_derivative(ROTATION_CAYLEY, t), dt);
    double s = v3_norm(t), size = v3_norm(m);
    if (!(s > MIN_TURN) || !(size > 0)) {
        return by_cayley;
    }
    /* direction of m, and g */
    v3 u = v3_scale(1 / size, m), du = v3_scale(1 / size, v3_axpy(dm, -v3_dot(u, dm), u));
    double part = 2 * atan(0.5 * s) / s, g = 1 - part, ds = v3_dot(t, dt) / s;
    double dg = (part - 1 / (1 + 0.25 * s * s)) / s * ds;
    /* x = k u */
    double along = v3_dot(t, u), k = g * along, dk = dg * along + g * (v3_dot(dt, u) + v3_dot(t, du));
    v3 x = v3_scale(k, u), dx = v3_axpy(v3_scale(dk, u), k, du);
    v3 carried = m3_transposed_times(quat_matrix(quat_exp(x)), by_cayley);
    return v3_add(carried, m3_times(rotation_derivative(ROTATION_EXP, x), dx));
}

/* The turn along changes of w0 and a. */
static v3 turn_along(const motion_work *w, const spin_body *s, v3 D, v3 w0, v3 a, v3 dw0, v3 da) {
    double h = w->options->step;
    v3 mean = v3_axpy(w0, 0.5 * h, a), w1 = v3_axpy(w0, h, a);
    v3 dmean = v3_axpy(dw0, 0.5 * h, da), dw1 = v3_axpy(dw0, h, da);
    switch (w->options->integrator) {
    case SIM_MIDPOINT:
        return m3_times(rotation_derivative(ROTATION_CAYLEY, v3_scale(h, mean)), v3_scale(h, dmean));
    case SIM_IMPLICIT_EULER:
        return m3_times(rotation_derivative(ROTATION_EXP, v3_scale(h, w1)), v3_scale(h, dw1));
    case SIM_MOREAU:
        return whole_turn_along(s->J, v3_scale(h, mean), w1, v3_scale(h, dmean), dw1);
    default: {
        v3 gyro = v3_cross(mean, sym3_times(s->J, mean));
        v3 dgyro = v3_add(v3_cross(dmean, sym3_times(s->J, mean)), v3_cross(mean, sym3_times(s->J, dmean)));
        v3 back = solve_inertia(s->J, D, gyro), dback = solve_inertia(s->J, D, dgyro);
        return whole_turn_along(s->J, v3_scale(h, v3_axpy(w1, 0.5 * h, back)), w1,
                                v3_scale(h, v3_axpy(dw1, 0.5 * h, dback)), dw1);
    }
    }
}

void differentiate_turn(const motion_work *w, const spin_body *s, const double *extra, v3 w0, v3 a, m3 *by_w0,
                        m3 *by_a) {
    v3 D = spin_diagonal(w, s, extra), none = {0, 0, 0}, column[2][3];
    for (int k = 0; k < 3; k++) {
        column[0][k] = turn_along(w, s, D, w0, a, unit_vector(k), none);
        column[1][k] = turn_along(w, s, D, w0, a, none, unit_vector(k));
    }
    *by_w0 = (m3){column[0][0], column[0][1], column[0][2]};
    *by_a = (m3){column[1][0], column[1][1], column[1][2]};
}

/* Where forces are taken: R* = R0 map(t*), and its turn along changes of w0 and a. */
static rotation_map start_of_forces(const theta_scheme *s, double h, v3 w0, v3 a, v3 *t) {
    if (s->explicit_position) {
        *t = v3_scale(s->position * h, w0);
        return ROTATION_EXP;
    }
    *t = v3_scale(h, v3_axpy(w0, s->travel * h, a));
    return s->position == 0.5 ? ROTATION_CAYLEY_HALF : ROTATION_EXP;
}

static quat mapped_turn(rotation_map map, v3 t) {
    double s = v3_norm(t);
    return quat_exp(map == ROTATION_EXP || !(s > 0) ? t : v3_scale(atan(0.5 * s) / s, t));
}

v3 differentiate_swing(const motion_work *w, const spin_body *s, const double *extra, quat q0, v3 w0, v3 a,
                       double velocity, m3 by[3]) {
    /* rotations at the start, where forces are taken, and at the end */
    const theta_scheme *scheme = theta_scheme_of(w->options->integrator);
    double h = w->options->step;
    v3 c = s->com, used = v3_axpy(w0, velocity * h, a), w1 = v3_axpy(w0, h, a), t;
    rotation_map map = start_of_forces(scheme, h, w0, a, &t);
    quat to_point = mapped_turn(map, t), to_end = spin_turn(w, s, extra, w0, a);
    m3 R0 = quat_matrix(q0), R = quat_matrix(quat_product(q0, to_point)), R1 = quat_matrix(quat_product(q0, to_end));
    m3 D = rotation_derivative(map, t), by_w0, by_a;
    differentiate_turn(w, s, extra, w0, a, &by_w0, &by_a);
    /* (2) */
    v3 X = v3_add(v3_cross(a, c), v3_cross(used, v3_cross(used, c)));
    v3 start = v3_cross(w0, c), end = v3_cross(w1, c), column[3][3];
    v3 rho = v3_axpy(m3_times(R, X), -1 / h, v3_sub(m3_times(R1, end), m3_times(R0, start)));
    /* along turns of the attitude, w0 and a */
    for (int p = 0; p < 3; p++) {
        for (int k = 0; k < 3; k++) {
            v3 e = unit_vector(k), none = {0, 0, 0}, dw0 = p == 1 ? e : none, da = p == 2 ? e : none;
            v3 dused = v3_axpy(dw0, velocity * h, da), dw1 = v3_axpy(dw0, h, da), dt, phi0 = p == 0 ? e : none;
            start_of_forces(scheme, h, dw0, da, &dt);
            v3 phi = v3_add(m3_transposed_times(quat_matrix(to_point), phi0), m3_times(D, dt));
            v3 phi1 = v3_add(m3_transposed_times(quat_matrix(to_end), phi0),
                             v3_add(m3_times(by_w0, dw0), m3_times(by_a, da)));
            v3 dX =
                v3_add(v3_cross(da, c), v3_add(v3_cross(dused, v3_cross(used, c)), v3_cross(used, v3_cross(dused, c))));
            v3 middle = m3_times(R, v3_add(v3_cross(phi, X), dX));
            v3 last = m3_times(R1, v3_add(v3_cross(phi1, end), v3_cross(dw1, c)));
            v3 first = m3_times(R0, v3_add(v3_cross(phi0, start), v3_cross(dw0, c)));
            column[p][k] = v3_axpy(middle, -1 / h, v3_sub(last, first));
        }
        by[p] = (m3){column[p][0], column[p][1], column[p][2]};
    }
    return rho;
}
