/* Lie-Poisson step of one rigid body: the inertial terms of a free or ball joint, implicit in its own three numbers.
 *
 * A body on a free or ball joint, with the bodies fixed to it and no further joint, has in its own axes the angular
 * momentum m = J w: about its centre of mass if it is free, else about the joint.  With the torque tau a step of
 * the length h is
 *
 *     J (w1 - w0)/h + w* x J w* = tau,     w* = w0 + theta h a,   a = (w1 - w0)/h                                (1)
 *
 * three equations for a.  With theta = 1/2 their product with w*, and with J w*, says for tau = 0
 *
 *     w1.J w1 = w0.J w0,     |J w1| = |J w0|     for any h: no speed of spin is too fast.
 *
 * Taken at w0 instead (theta = 0), a wobble of the frequency nu grows by the factor 1 + (nu h)^2 / 2 a step.
 *
 * Equation (1) says also J w1 = C' J w0, C the Cayley map of h w* (the rotation by 2 atan(|h w*|/2) about w*).  So the
 * attitude R1 = R0 C keeps the angular momentum R J w in the world, to rounding (Austin, Krishnaprasad, Wang 1993).
 * Schemes with the exponential map elsewhere add what C turns too little, about the direction that this leaves as it
 * is,
 *
 *     R1 = R0 C exp(e m1/|m1|),   e = (|h w*| - 2 atan(|h w*|/2)) cos(w*, m1) = O(h^3),                          (2)
 *
 * so that a steady spin turns by its angle.  Symplectic Euler moves with the velocity at the end: there C is the map of
 * h (w1 + h/2 (J + D)^-1 (w* x J w*)), which is h w* where no torque acts, and h w1 where the body does not spin.
 *
 * The origin of a free body is at -c from its centre of mass.  Its velocity follows from that of the centre of mass,
 * whose momentum changes by h F and by nothing else:
 *
 *     v1 - v0 = h F / M - (R1 (w1 x c) - R0 (w0 x c)).                                                           (3)
 *
 * Taken as h (a x c + w* x (w* x c)) at one attitude this would be wrong by a part (h w)^2 of the speed w c in each
 * step.
 *
 * tau and F are those of the articulated-body sweep, which has the same terms explicit: they are recovered from its
 * result g, and (1) is solved with them.  D, armature and implicit terms, is added to J on the diagonal.
 *
 * Newton's method with J + D + theta h ([w]x J - [J w]x), steps halved until the residual falls; where it fails, the
 * gyroscopic term grows from zero to its size in stages.  (1) always has a solution: its product with w* bounds w*.J
 * w*.
 *
 * w in the body's axes [rad/s], v of its origin [m/s], J [kg m^2], M [kg], F [N], tau [N m].  Cost: 3 to 5 solutions of
 * three equations, a quarter of a sweep. */
#include "dyn/advance.h"
#include "dyn/rigid.h"
#include "model/parts/joint.h"
#include "world/integrator/motion.h"

#include <math.h>

enum { MAX_NEWTON_STEPS = 30, MAX_HALVINGS = 12, CONTINUATION_STAGES = 64 };
static const double RESIDUAL_TOLERANCE = 1e-14; /* of the sizes of the terms of (1) */

/* ---- single rigid bodies ---- */

static bool joint_turns(const sim_model *m, int body) { return joint_facts_of(m->body[body].joint)->quaternion >= 0; }

static bool is_alone(const sim_model *m, int body) {
    const sim_body *b = &m->body[body];
    for (int i = body + 1; i < b->subtree_end; i++) {
        if (m->body[i].nv) {
            return false;
        }
    }
    for (int i = b->parent; i > 0; i = m->body[i].parent) {
        if (m->body[i].nv) {
            return false;
        }
    }
    return true;
}

/* The inertia of a body and of the bodies fixed to it, at its origin in its axes. */
static rigid composite_inertia(const sim_model *m, int body) {
    rigid sum = m->inertia[body];
    for (int i = body + 1; i < m->body[body].subtree_end; i++) {
        pose X = pose_identity();
        for (int k = i; k != body; k = m->body[k].parent) {
            X = pose_product(m->body[k].placement, X);
        }
        rigid I = {m->inertia[i].mass, m3_times(X.R, m->inertia[i].h), sym3_rotated(X.R, m->inertia[i].I)};
        sum = rigid_add(sum, rigid_at_parent(I, X.p));
    }
    return sum;
}

static spin_body spin_of(const sim_model *m, int body) {
    const sim_body *b = &m->body[body];
    rigid I = composite_inertia(m, body);
    int free = b->joint == SIM_FREE;
    spin_body s = {
        .body = body, .linear = free ? b->v0 : -1, .angular = b->v0 + (free ? 3 : 0), .mass = I.mass, .J = I.I};
    if (free) {
        s.com = v3_scale(1 / I.mass, I.h);
        s.J = sym3_parallel_axis(I.I, -I.mass, s.com);
    }
    return s;
}

/* Do terms of its linear dofs on the diagonal of A meet a centre of mass away from the origin? */
static bool is_entangled(const sim_model *m, const spin_body *s) {
    int any = 0;
    for (int j = s->linear; s->linear >= 0 && j < s->linear + 3; j++) {
        any |= m->dof[j].armature != 0 || m->dof[j].damping != 0;
    }
    return any && v3_norm(s->com) > 0;
}

sim_status spin_create(motion_work *w, sim_pool *pool) {
    const sim_model *m = w->model;
    int count = 0;
    for (int i = 1; i < m->nbody; i++) {
        count += joint_turns(m, i) && is_alone(m, i);
    }
    w->spin = POOL_NEW(pool, spin_body, count);
    if (!w->spin) {
        return SIM_NO_RESOURCE;
    }
    count = 0;
    for (int t = 0; t < m->ntree; t++) {
        tree_parts *parts = &w->parts[t];
        int dofs = 0, plain = 1;
        parts->spin0 = count;
        for (int i = m->tree[t].body0; i < m->tree[t].body0 + m->tree[t].nbody; i++) {
            if (joint_turns(m, i)) {
                parts->turns = true;
                if (is_alone(m, i)) {
                    w->spin[count] = spin_of(m, i);
                    plain &= !is_entangled(m, &w->spin[count++]);
                    dofs += m->body[i].nv;
                }
            }
        }
        parts->spins = count - parts->spin0;
        parts->spins_only = plain && dofs == m->tree[t].nv;
    }
    return SIM_OK;
}

/* ---- three equations ---- */

typedef struct euler {
    sym3 J;   /* of m = J w */
    v3 D;     /* beside J on the diagonal of J a */
    v3 w0, b; /* (J + D) a + s w x J w = b, w = w0 + h a */
    double h, s;
} euler;

static v3 rate_at(const euler *e, v3 a) { return v3_axpy(e->w0, e->h, a); }

static v3 gyroscopic(const sym3 *J, v3 w) { return v3_cross(w, sym3_times(*J, w)); }

static v3 diagonal_times(v3 D, v3 a) { return (v3){D.x * a.x, D.y * a.y, D.z * a.z}; }

static v3 weighted(const euler *e, v3 a) { return v3_add(sym3_times(e->J, a), diagonal_times(e->D, a)); }

static v3 residual(const euler *e, v3 a) {
    return v3_sub(v3_axpy(weighted(e, a), e->s, gyroscopic(&e->J, rate_at(e, a))), e->b);
}

/* A sum of squares in which each axis weighs as its inertia. */
static double size_of(const euler *e, v3 r) {
    return r.x * r.x / (e->J.xx + e->D.x) + r.y * r.y / (e->J.yy + e->D.y) + r.z * r.z / (e->J.zz + e->D.z);
}

/* Columns of the derivative. */
static m3 slope(const euler *e, v3 a) {
    v3 w = rate_at(e, a), m = sym3_times(e->J, w);
    const v3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    v3 column[3];
    for (int k = 0; k < 3; k++) {
        v3 turn = v3_sub(v3_cross(w, sym3_times(e->J, axis[k])), v3_cross(m, axis[k]));
        column[k] = v3_axpy(weighted(e, axis[k]), e->s * e->h, turn);
    }
    return (m3){column[0], column[1], column[2]};
}

/* By Cramer's rule, on columns of like size. */
static v3 solve_three(m3 A, v3 b) {
    v3 yz = v3_cross(A.y, A.z);
    double det = v3_dot(A.x, yz);
    return (v3){v3_dot(b, yz) / det, v3_dot(A.x, v3_cross(b, A.z)) / det, v3_dot(A.x, v3_cross(A.y, b)) / det};
}

/* From a; did it converge? */
static bool solve_newton(const euler *e, v3 *a) {
    v3 r = residual(e, *a);
    double now = size_of(e, r);
    for (int k = 0; k < MAX_NEWTON_STEPS; k++) {
        v3 m = sym3_times(e->J, rate_at(e, *a));
        double terms = size_of(e, e->b) + size_of(e, weighted(e, *a)) +
                       e->s * e->s * v3_dot(rate_at(e, *a), rate_at(e, *a)) * size_of(e, m);
        if (now <= RESIDUAL_TOLERANCE * RESIDUAL_TOLERANCE * terms) {
            return true;
        }
        v3 step = solve_three(slope(e, *a), r), to = *a;
        double part = 1, then = HUGE_VAL;
        for (int half = 0; half < MAX_HALVINGS && !(then < now); half++, part /= 2) {
            to = v3_axpy(*a, -part, step);
            r = residual(e, to);
            then = size_of(e, r);
        }
        if (!(then < now)) { /* the limit of rounding, or stalled elsewhere */
            return now <= 1e8 * RESIDUAL_TOLERANCE * RESIDUAL_TOLERANCE * terms;
        }
        *a = to;
        now = then;
    }
    return false;
}

/* The a of (1), from an initial guess; if none is found, that without gyroscopic term. */
static bool solve_euler(euler *e, v3 *a) {
    v3 guess = *a;
    if (solve_newton(e, a)) {
        return true;
    }
    *a = guess;
    bool found = true;
    for (int k = 0; k <= CONTINUATION_STAGES && found; k++) { /* linear at first */
        e->s = (double)k / CONTINUATION_STAGES;
        found = solve_newton(e, a);
    }
    if (!found) {
        e->s = 0;
        solve_newton(e, a);
    }
    e->s = 1;
    return found;
}

/* ---- attitudes ---- */

static v3 numbers(const double *x, int first) { return (v3){x[first], x[first + 1], x[first + 2]}; }

static void put(v3 a, double *x, int first) {
    x[first] = a.x;
    x[first + 1] = a.y;
    x[first + 2] = a.z;
}

/* Armature and implicit terms on the diagonal. */
static v3 diagonal_of(const motion_work *w, const spin_body *s, const double *extra) {
    const sim_dof *dof = &w->model->dof[s->angular];
    v3 D = {dof[0].armature, dof[1].armature, dof[2].armature};
    return extra ? v3_add(D, numbers(extra, s->angular)) : D;
}

static quat cayley(v3 turn) { return quat_normalised((quat){1, 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z}); }

/* (2) */
static quat whole_turn(const spin_body *s, v3 turn, v3 w1) {
    v3 m = sym3_times(s->J, w1);
    double angle = v3_norm(turn), size = v3_norm(m);
    quat C = cayley(turn);
    if (!(angle > 0) || !(size > 0)) {
        return C;
    }
    double lacks = (angle - 2 * atan(0.5 * angle)) * v3_dot(turn, m) / (angle * size);
    return quat_product(C, quat_exp(v3_scale(lacks / size, m)));
}

static quat turn_of(const motion_work *w, const spin_body *s, const double *extra, v3 w0, v3 a) {
    double h = w->options->step;
    v3 w1 = v3_axpy(w0, h, a), mean = v3_axpy(w0, 0.5 * h, a);
    switch (w->options->integrator) {
    case SIM_MIDPOINT:
        return cayley(v3_scale(h, mean));
    case SIM_IMPLICIT_EULER:
        return quat_exp(v3_scale(h, w1));
    case SIM_MOREAU:
        return whole_turn(s, v3_scale(h, mean), w1);
    default: {
        v3 D = diagonal_of(w, s, extra);
        euler e = {.J = s->J, .D = D, .w0 = w0};
        v3 back = solve_three(slope(&e, w0), gyroscopic(&s->J, mean));
        return whole_turn(s, v3_scale(h, v3_axpy(w1, 0.5 * h, back)), w1);
    }
    }
}

void spin_advance(motion_work *w, int tree, const double *extra, const double *a) {
    const tree_parts *parts = &w->parts[tree];
    for (const spin_body *s = w->spin + parts->spin0; s < w->spin + parts->spin0 + parts->spins; s++) {
        int q = w->model->body[s->body].q0 + joint_facts_of(w->model->body[s->body].joint)->quaternion;
        quat Q = turn_of(w, s, extra, numbers(w->now->v, s->angular), numbers(a, s->angular));
        quat next = quat_normalised(quat_product(joint_quaternion(w->now->q + q), Q));
        w->next->q[q] = next.w;
        w->next->q[q + 1] = next.x;
        w->next->q[q + 2] = next.y;
        w->next->q[q + 3] = next.z;
    }
}

/* ---- the step ---- */

/* The way of the origin about the centre of mass, R1 (w1 x c) - R0 (w0 x c) in world axes; R0 relative to the joint. */
static v3 swing(const motion_work *w, const spin_body *s, const double *extra, v3 w0, v3 a) {
    const sim_body *b = &w->model->body[s->body];
    quat q0 = joint_quaternion(w->now->q + b->q0 + 3);
    quat q1 = quat_product(q0, turn_of(w, s, extra, w0, a));
    v3 before = m3_times(quat_matrix(q0), v3_cross(w0, s->com));
    v3 after = m3_times(quat_matrix(q1), v3_cross(v3_axpy(w0, w->options->step, a), s->com));
    m3 P = m3_product(w->derived->pose[b->parent].R, b->placement.R);
    return m3_times(P, v3_sub(after, before));
}

/* One of them: g is the result of a sweep with w* from a. */
static bool solve_body(motion_work *w, const spin_body *s, double theta, const double *extra, const double *a,
                       double *g) {
    double h = w->options->step;
    m3 R = w->derived->pose[s->body].R;
    v3 w0 = numbers(w->now->v, s->angular), alpha = numbers(g, s->angular);
    v3 used = v3_axpy(w0, theta * h, numbers(a, s->angular));
    euler e = {.J = s->J, .D = diagonal_of(w, s, extra), .w0 = w0, .h = theta * h, .s = 1};
    e.b = v3_add(weighted(&e, alpha), gyroscopic(&s->J, used));
    v3 c = m3_times(R, s->com), push = {0, 0, 0}; /* F / M */
    const motion *S = w->derived->S;
    if (s->linear >= 0) {
        v3 turn = m3_times(R, used);
        for (int k = 0; k < 3; k++) {
            push = v3_axpy(push, g[s->linear + k], S[s->linear + k].lin);
        }
        push = v3_add(push, v3_add(v3_cross(m3_times(R, alpha), c), v3_cross(turn, v3_cross(turn, c))));
    }
    v3 found = numbers(a, s->angular);
    int ok = solve_euler(&e, &found);
    put(found, g, s->angular);
    if (s->linear >= 0) {
        v3 lin = v3_axpy(push, -1 / h, swing(w, s, extra, w0, found));
        for (int k = 0; k < 3; k++) {
            g[s->linear + k] = v3_dot(S[s->linear + k].lin, lin);
        }
    }
    return ok;
}

bool spin_solve(motion_work *w, int tree, double theta, const double *extra, const double *a, double *g) {
    const tree_parts *parts = &w->parts[tree];
    int ok = 1;
    for (int k = parts->spin0; k < parts->spin0 + parts->spins; k++) {
        ok &= solve_body(w, &w->spin[k], theta, extra, a, g);
    }
    return ok;
}
