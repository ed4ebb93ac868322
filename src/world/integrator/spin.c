/* Lie-Poisson step of one rigid body: the inertial terms of a free or ball joint, implicit in its three components.
 *
 *     J (w1 - w0)/h + w* x J w* = tau,     w* = w0 + theta h a,     a = (w1 - w0)/h                              (1)
 *
 *     w0, w1    angular velocity in the body's axes at the start and end of the step, rad/s
 *     J         inertia, kg m^2, of the body and those fixed to it: about its centre of mass if it is free, else about
 *               the joint; armature and implicit terms D are added on the diagonal
 *     tau, F    torque, N m, and force, N;  M: mass, kg;  v: velocity of the body's origin, m/s;  h: step, s
 *     theta     part of the step at which the scheme takes its forces, 0 to 1;  R: rotation, body to world
 *
 * With theta = 1/2 and tau = 0 the products of (1) with w* and J w* give, at any h and for any speed of spin,
 *
 *     w1.J w1 = w0.J w0,     |J w1| = |J w0|.
 *
 * Taken at w0 instead (theta = 0), a wobble of the frequency nu grows by the factor 1 + (nu h)^2 / 2 a step.  Attitudes
 * are derived at whole_turn, the velocity of a free body's origin at origin_swing.
 *
 * tau and F are those of the articulated-body sweep, which has the same terms explicit: solve_body recovers them from
 * its result g.  Newton's method (euler_step.c) solves (1), which always has a solution: its product with w* bounds
 * w*.J w*.
 *
 * Reference: Austin, Krishnaprasad, Wang 1993.  Cost: 3 to 5 solutions of three equations, a quarter of a sweep. */
#include "dyn/motion/advance.h"
#include "dyn/motion/rigid.h"
#include "model/parts/joint.h"
#include "world/integrator/euler_step.h"
#include "world/integrator/motion.h"

#include <math.h>

/* ---- single rigid bodies ---- */

static bool joint_turns(const sim_model *m, int body) { return joint_facts_of(m->body[body].joint)->quaternion >= 0; }

/* Has its tree no other joint? */
static bool is_only_joint_of_tree(const sim_model *m, int body) {
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

static spin_body make_spin_body(const sim_model *m, int body) {
    const sim_body *b = &m->body[body];
    rigid I = composite_inertia(m, body);
    bool free = b->joint == SIM_FREE;
    spin_body s = {
        .body = body, .linear = free ? b->v0 : -1, .angular = b->v0 + (free ? 3 : 0), .mass = I.mass, .J = I.I};
    if (free) {
        s.com = v3_scale(1 / I.mass, I.h);
        s.J = sym3_parallel_axis(I.I, -I.mass, s.com);
    }
    return s;
}

/* Do diagonal terms of its linear dofs couple with rotation, as its centre of mass is away from the origin? */
static bool has_coupled_diagonal(const sim_model *m, const spin_body *s) {
    bool any = false;
    for (int j = s->linear; s->linear >= 0 && j < s->linear + 3; j++) {
        any |= m->dof[j].armature != 0 || m->dof[j].damping != 0;
    }
    return any && v3_norm(s->com) > 0;
}

sim_status spin_create(motion_work *w, memory_pool *pool) {
    /* count the bodies that turn alone in their tree */
    const sim_model *m = w->model;
    int count = 0;
    for (int i = 1; i < m->nbody; i++) {
        count += joint_turns(m, i) && is_only_joint_of_tree(m, i);
    }
    w->spin = POOL_NEW(pool, spin_body, count);
    if (!w->spin) {
        return SIM_NO_RESOURCE;
    }
    /* list them by trees */
    count = 0;
    for (int t = 0; t < m->ntree; t++) {
        tree_parts *parts = &w->parts[t];
        int dofs = 0;
        bool uncoupled = true;
        parts->spin0 = count;
        for (int i = m->tree[t].body0; i < m->tree[t].body0 + m->tree[t].nbody; i++) {
            if (joint_turns(m, i)) {
                parts->turns = true;
                if (is_only_joint_of_tree(m, i)) {
                    w->spin[count] = make_spin_body(m, i);
                    uncoupled &= !has_coupled_diagonal(m, &w->spin[count++]);
                    dofs += m->body[i].nv;
                }
            }
        }
        /* trees that such bodies fill */
        parts->spins = count - parts->spin0;
        parts->spins_only = uncoupled && dofs == m->tree[t].nv;
    }
    return SIM_OK;
}

/* ---- attitudes ---- */

static v3 vector_at(const double *x, int first) { return (v3){x[first], x[first + 1], x[first + 2]}; }

static void store_vector(v3 a, double *x, int first) {
    x[first] = a.x;
    x[first + 1] = a.y;
    x[first + 2] = a.z;
}

/* Armature and implicit terms on the diagonal. */
v3 spin_diagonal(const motion_work *w, const spin_body *s, const double *extra) {
    const sim_dof *dof = &w->model->dof[s->angular];
    v3 D = {dof[0].armature, dof[1].armature, dof[2].armature};
    return extra ? v3_add(D, vector_at(extra, s->angular)) : D;
}

/* These, and the implicit terms of the fluid. */
static sym3 added_inertia(const motion_work *w, const spin_body *s, const double *extra) {
    v3 D = spin_diagonal(w, s, extra);
    sym3 sum = {D.x, D.y, D.z, 0, 0, 0};
    return w->spin_extra ? sym3_add(sum, w->spin_extra[s - w->spin]) : sum;
}

static quat cayley_map(v3 turn) { return quat_normalised((quat){1, 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z}); }

/* The turn of the attitude, R1 = R0 times it; `turn` is h w*.
 *
 * By (1) J w1 = C' J w0, C the Cayley map of h w*: the rotation by 2 atan(|h w*|/2) about w*.  So the attitude R1 = R0
 * C keeps the angular momentum R J w in the world, to rounding (Austin, Krishnaprasad, Wang 1993).  Schemes with the
 * exponential map elsewhere add the angle by which C falls short, about the direction of J w1, which keeps it:
 *
 *     R1 = R0 C exp(e m1/|m1|),   m1 = J w1,   e = (|h w*| - 2 atan(|h w*|/2)) cos(w*, m1) = O(h^3),
 *
 * so that a steady spin turns by its angle. */
static quat whole_turn(const spin_body *s, v3 turn, v3 w1) {
    v3 m = sym3_times(s->J, w1);
    double angle = v3_norm(turn), size = v3_norm(m);
    quat C = cayley_map(turn);
    if (!(angle > 0) || !(size > 0)) {
        return C;
    }
    double missing = (angle - 2 * atan(0.5 * angle)) * v3_dot(turn, m) / (angle * size);
    return quat_product(C, quat_exp(v3_scale(missing / size, m)));
}

/* The turn by the integration scheme.  Symplectic Euler moves with the velocity at the end: there C is the map of
 * h (w1 + h/2 (J + D)^-1 (w* x J w*)), which is h w* without torque, and h w1 without spin. */
quat spin_turn(const motion_work *w, const spin_body *s, const double *extra, v3 w0, v3 a) {
    double h = w->options->step;
    v3 w1 = v3_axpy(w0, h, a), mean = v3_axpy(w0, 0.5 * h, a);
    switch (w->options->integrator) {
    case SIM_MIDPOINT:
        return cayley_map(v3_scale(h, mean));
    case SIM_IMPLICIT_EULER:
        return quat_exp(v3_scale(h, w1));
    case SIM_MOREAU:
        return whole_turn(s, v3_scale(h, mean), w1);
    case SIM_SYMPLECTIC_EULER: {
        sym3 D = added_inertia(w, s, extra);
        euler e = {.J = s->J, .D = D, .w0 = w0};
        v3 back = solve_3x3(euler_jacobian(&e, w0), gyroscopic_torque(&s->J, mean));
        return whole_turn(s, v3_scale(h, v3_axpy(w1, 0.5 * h, back)), w1);
    }
    case SIM_RK4: /* moves without spins */
    case SIM_INTEGRATORS:
        break;
    }
    return (quat){1, 0, 0, 0};
}

void spin_advance(motion_work *w, int tree, const double *extra, const double *a) {
    const tree_parts *parts = &w->parts[tree];
    for (const spin_body *s = w->spin + parts->spin0; s < w->spin + parts->spin0 + parts->spins; s++) {
        int q = w->model->body[s->body].q0 + joint_facts_of(w->model->body[s->body].joint)->quaternion;
        quat Q = spin_turn(w, s, extra, vector_at(w->now->v, s->angular), vector_at(a, s->angular));
        quat next = quat_normalised(quat_product(joint_quaternion(w->now->q + q), Q));
        w->next->q[q] = next.w;
        w->next->q[q + 1] = next.x;
        w->next->q[q + 2] = next.y;
        w->next->q[q + 3] = next.z;
    }
}

/* ---- the step ---- */

/* The origin of a free body is at -c from its centre of mass, whose momentum changes by h F:
 *
 *     v1 - v0 = h F / M - (R1 (w1 x c) - R0 (w0 x c)).
 *
 * h (a x c + w* x (w* x c)) at one attitude would be wrong by a part (h w)^2 of the speed w c in each step.
 * Returns the bracket in world axes, m/s; R0 and R1 are relative to the joint. */
static v3 origin_swing(const motion_work *w, const spin_body *s, const double *extra, v3 w0, v3 a) {
    const sim_body *b = &w->model->body[s->body];
    quat q0 = joint_quaternion(w->now->q + b->q0 + 3);
    quat q1 = quat_product(q0, spin_turn(w, s, extra, w0, a));
    v3 before = m3_times(quat_matrix(q0), v3_cross(w0, s->com));
    v3 after = m3_times(quat_matrix(q1), v3_cross(v3_axpy(w0, w->options->step, a), s->com));
    m3 P = m3_product(w->derived->pose[b->parent].R, b->placement.R);
    return m3_times(P, v3_sub(after, before));
}

/* One body: g is the result of a sweep with w* from a, and then of (1). */
static bool solve_body(motion_work *w, const spin_body *s, double theta, const double *extra, const double *a,
                       double *g) {
    double h = w->options->step;
    m3 R = w->derived->pose[s->body].R;
    v3 w0 = vector_at(w->now->v, s->angular), alpha = vector_at(g, s->angular);
    v3 used = v3_axpy(w0, theta * h, vector_at(a, s->angular));
    euler e = {.J = s->J, .D = added_inertia(w, s, extra), .w0 = w0, .h = theta * h, .s = 1};
    e.b = v3_add(inertia_times(&e, alpha), gyroscopic_torque(&s->J, used));

    /* F / M, from the acceleration of the origin by the sweep */
    v3 c = m3_times(R, s->com), push = {0, 0, 0};
    const motion *S = w->derived->S;
    if (s->linear >= 0) {
        v3 turn = m3_times(R, used);
        for (int k = 0; k < 3; k++) {
            push = v3_axpy(push, g[s->linear + k], S[s->linear + k].lin);
        }
        push = v3_add(push, v3_add(v3_cross(m3_times(R, alpha), c), v3_cross(turn, v3_cross(turn, c))));
    }

    /* (1), then the velocity of the origin */
    v3 found = vector_at(a, s->angular);
    bool ok = solve_euler(&e, &found);
    store_vector(found, g, s->angular);
    if (s->linear >= 0) {
        v3 lin = v3_axpy(push, -1 / h, origin_swing(w, s, extra, w0, found));
        for (int k = 0; k < 3; k++) {
            g[s->linear + k] = v3_dot(S[s->linear + k].lin, lin);
        }
    }
    return ok;
}

bool spin_solve(motion_work *w, int tree, double theta, const double *extra, const double *a, double *g) {
    const tree_parts *parts = &w->parts[tree];
    bool ok = true;
    for (int k = parts->spin0; k < parts->spin0 + parts->spins; k++) {
        ok &= solve_body(w, &w->spin[k], theta, extra, a, g);
    }
    return ok;
}
