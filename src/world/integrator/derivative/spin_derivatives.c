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
#include "dyn/motion/rigid.h"
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

/* Changes of turn, angular velocity and acceleration at the start, and of the body. */
typedef struct spin_change {
    v3 phi0, w0, a, com;
    sym3 J;
} spin_change;

/* (1) along dt, dw1 and dJ, in axes of the turned body. */
static v3 whole_turn_along(sym3 J, v3 t, v3 w1, v3 dt, v3 dw1, sym3 dJ) {
    v3 m = sym3_times(J, w1), dm = v3_add(sym3_times(J, dw1), sym3_times(dJ, w1)),
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

/* Change of the diagonal D with the velocity at the end, at which dampers act. */
static v3 diagonal_along(const motion_work *w, const spin_body *s, v3 w1, v3 dw1) {
    const sim_dof *dof = &w->model->dof[s->angular];
    double h = w->options->step;
    return (v3){h * damper_bend(dof[0].damper, w1.x) * dw1.x, h * damper_bend(dof[1].damper, w1.y) * dw1.y,
                h * damper_bend(dof[2].damper, w1.z) * dw1.z};
}

/* The turn along a change, but for that of the attitude at the start. */
static v3 turn_along(const motion_work *w, const spin_body *s, v3 D, v3 w0, v3 a, const spin_change *by) {
    double h = w->options->step;
    v3 mean = v3_axpy(w0, 0.5 * h, a), w1 = v3_axpy(w0, h, a);
    v3 dmean = v3_axpy(by->w0, 0.5 * h, by->a), dw1 = v3_axpy(by->w0, h, by->a);
    switch (w->options->integrator) {
    case SIM_MIDPOINT:
        return m3_times(rotation_derivative(ROTATION_CAYLEY, v3_scale(h, mean)), v3_scale(h, dmean));
    case SIM_IMPLICIT_EULER:
        return m3_times(rotation_derivative(ROTATION_EXP, v3_scale(h, w1)), v3_scale(h, dw1));
    case SIM_MOREAU:
        return whole_turn_along(s->J, v3_scale(h, mean), w1, v3_scale(h, dmean), dw1, by->J);
    case SIM_SYMPLECTIC_EULER: {
        v3 gyro = v3_cross(mean, sym3_times(s->J, mean));
        v3 dm = v3_add(sym3_times(s->J, dmean), sym3_times(by->J, mean));
        v3 dgyro = v3_add(v3_cross(dmean, sym3_times(s->J, mean)), v3_cross(mean, dm));
        v3 back = solve_inertia(s->J, D, gyro);
        v3 dD = diagonal_along(w, s, w1, dw1), held = {dD.x * back.x, dD.y * back.y, dD.z * back.z};
        v3 dback = solve_inertia(s->J, D, v3_sub(v3_sub(dgyro, sym3_times(by->J, back)), held));
        return whole_turn_along(s->J, v3_scale(h, v3_axpy(w1, 0.5 * h, back)), w1,
                                v3_scale(h, v3_axpy(dw1, 0.5 * h, dback)), dw1, by->J);
    }
    case SIM_RK4: /* moves without spins */
    case SIM_INTEGRATORS:
        break;
    }
    return (v3){0, 0, 0};
}

void differentiate_turn(const motion_work *w, const spin_body *s, const double *extra, v3 w0, v3 a, m3 *by_w0,
                        m3 *by_a) {
    v3 D = spin_diagonal(w, s, extra), column[2][3];
    for (int k = 0; k < 3; k++) {
        column[0][k] = turn_along(w, s, D, w0, a, &(spin_change){.w0 = unit_vector(k)});
        column[1][k] = turn_along(w, s, D, w0, a, &(spin_change){.a = unit_vector(k)});
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

/* The terms of (2). */
typedef struct swing_terms {
    const motion_work *w;
    const spin_body *s;
    v3 D, w0, a;
    double velocity; /* part of h a in w* */
    quat to_point, to_end;
    m3 R0, R, R1, by_t; /* at the start, where forces are taken, at the end; derivative of the map of t* */
    v3 X, start, end;   /* brackets of (2) */
} swing_terms;

static swing_terms make_swing(const motion_work *w, const spin_body *s, const double *extra, quat q0, v3 w0, v3 a,
                              double velocity) {
    swing_terms out = {.w = w, .s = s, .D = spin_diagonal(w, s, extra), .w0 = w0, .a = a, .velocity = velocity};
    double h = w->options->step;
    v3 c = s->com, used = v3_axpy(w0, velocity * h, a), t;
    rotation_map map = start_of_forces(theta_scheme_of(w->options->integrator), h, w0, a, &t);
    out.to_point = mapped_turn(map, t);
    out.to_end = spin_turn(w, s, extra, w0, a);
    out.R0 = quat_matrix(q0);
    out.R = quat_matrix(quat_product(q0, out.to_point));
    out.R1 = quat_matrix(quat_product(q0, out.to_end));
    out.by_t = rotation_derivative(map, t);
    out.X = v3_add(v3_cross(a, c), v3_cross(used, v3_cross(used, c)));
    out.start = v3_cross(w0, c);
    out.end = v3_cross(v3_axpy(w0, h, a), c);
    return out;
}

/* rho along a change. */
static v3 swing_along(const swing_terms *at, const spin_change *by) {
    const motion_work *w = at->w;
    double h = w->options->step;
    v3 c = at->s->com, used = v3_axpy(at->w0, at->velocity * h, at->a), w1 = v3_axpy(at->w0, h, at->a);
    v3 dused = v3_axpy(by->w0, at->velocity * h, by->a), dw1 = v3_axpy(by->w0, h, by->a), dt;
    start_of_forces(theta_scheme_of(w->options->integrator), h, by->w0, by->a, &dt);
    v3 phi = v3_add(m3_transposed_times(quat_matrix(at->to_point), by->phi0), m3_times(at->by_t, dt));
    v3 phi1 =
        v3_add(m3_transposed_times(quat_matrix(at->to_end), by->phi0), turn_along(w, at->s, at->D, at->w0, at->a, by));
    v3 dX = v3_add(v3_cross(by->a, c), v3_cross(at->a, by->com));
    v3 whirl = v3_add(v3_cross(dused, c), v3_cross(used, by->com));
    dX = v3_add(dX, v3_add(v3_cross(dused, v3_cross(used, c)), v3_cross(used, whirl)));
    v3 dstart = v3_add(v3_cross(by->w0, c), v3_cross(at->w0, by->com));
    v3 dend = v3_add(v3_cross(dw1, c), v3_cross(w1, by->com));
    v3 middle = m3_times(at->R, v3_add(v3_cross(phi, at->X), dX));
    v3 last = m3_times(at->R1, v3_add(v3_cross(phi1, at->end), dend));
    v3 first = m3_times(at->R0, v3_add(v3_cross(by->phi0, at->start), dstart));
    return v3_axpy(middle, -1 / h, v3_sub(last, first));
}

v3 differentiate_swing(const motion_work *w, const spin_body *s, const double *extra, quat q0, v3 w0, v3 a,
                       double velocity, m3 by[3]) {
    swing_terms at = make_swing(w, s, extra, q0, w0, a, velocity);
    for (int p = 0; p < 3; p++) {
        v3 column[3];
        for (int k = 0; k < 3; k++) {
            spin_change change = {0};
            *(p == 0 ? &change.phi0 : p == 1 ? &change.w0 : &change.a) = unit_vector(k);
            column[k] = swing_along(&at, &change);
        }
        by[p] = (m3){column[0], column[1], column[2]};
    }
    return v3_axpy(m3_times(at.R, at.X), -1 / w->options->step,
                   v3_sub(m3_times(at.R1, at.end), m3_times(at.R0, at.start)));
}

/* ---- by inertia ---- */

/* The change of a body fixed to a single rigid body, as that of the latter: of its com and J in spin.c. */
static spin_change change_spin_body(const motion_work *w, const spin_body *s, int body, rigid dI) {
    const sim_model *m = w->model;
    pose X = pose_identity();
    for (int k = body; k != s->body; k = m->body[k].parent) {
        X = pose_product(m->body[k].placement, X);
    }
    rigid turned = {dI.mass, m3_times(X.R, dI.h), sym3_rotated(X.R, dI.I)}, at = rigid_at_parent(turned, X.p);
    spin_change out = {.J = at.I};
    if (s->linear >= 0) {
        /* J = I - m (c.c 1 - c c'),  of which the derivative by c along d is that of (c + d) less (c - d), halved */
        out.com = v3_scale(1 / s->mass, v3_axpy(at.h, -at.mass, s->com));
        out.J = sym3_parallel_axis(out.J, -at.mass, s->com);
        out.J = sym3_parallel_axis(out.J, -0.5 * s->mass, v3_add(s->com, out.com));
        out.J = sym3_parallel_axis(out.J, 0.5 * s->mass, v3_sub(s->com, out.com));
    }
    return out;
}

void differentiate_spin_inertia(const motion_work *w, const spin_body *s, const double *extra, quat q0, v3 w0, v3 a,
                                double velocity, int body, const sim_body_inertia *dI, v3 *turn, v3 *swing) {
    spin_change by = change_spin_body(w, s, body, *dI);
    swing_terms at = make_swing(w, s, extra, q0, w0, a, velocity);
    *turn = turn_along(w, s, at.D, w0, a, &by);
    *swing = swing_along(&at, &by);
}
