/* Forward dynamics by the articulated-body algorithm.
 *
 * Inwards, I^A and p^A start as the body's own inertia and bias wrench; then, dof by dof of joint i, last to first,
 *     U_j = I^A S_j,   D_j = S_j . U_j + diagonal_j,   u_j = tau_j - S_j . p^A
 *     I^A <- I^A - U_j U_j' / D_j,   p^A <- p^A + U_j u_j / D_j
 * and I^A and p^A + I^A bias are carried to o_p and added to the parent's.
 * Outwards: a' = a_p at o_i + bias; then, first to last,   qdd_j = (u_j - U_j . a') / D_j,   a' <- a' + S_j qdd_j.
 *
 *     I^A, p^A     articulated inertia (kg, kg m, kg m^2) and bias wrench (N m; N) of body i at its origin o_i
 *     S_j, tau_j   motion axis and force of dof j, N m or N;  qdd_j: acceleration, rad/s^2 or m/s^2
 *     diagonal_j   armature + extra_j: terms of one dof alone, as implicit springs, dampers and gains, kg m^2 or kg
 *
 * Reference: Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.3.
 * Differs from the book: a joint of several dofs is a run of one-dof joints between massless bodies: no 6x6 solves.
 * Cost: O(n). */
#include "dyn/motion/lanes.h"
#include "dyn/motion/rigid.h"

/* Eliminates dof j from the articulated inertia. */
static inline void eliminate_dof_inertia(sim_derived *d, int j, double diagonal, lanes66 *IA) {
    const sim_dof *dof = &d->model->dof[j];
    motion S = d->S[j];
    lanes6 U;
    double D;
    if (dof->turns && !dof->slides) {
        U = lanes_times(IA, S, 1, 0);
        D = diagonal + lanes_turn_dot(S.ang, U.ang);
    } else {
        U = lanes_times(IA, S, dof->turns, 1);
        D = diagonal + lanes_dot(S, U);
    }
    double Dinv = 1 / D;
    d->U[j] = U;
    d->Dinv[j] = Dinv;
    lanes_less(IA, Dinv, U);
}

static inline void eliminate_joint(sim_derived *d, const sim_body *b, const double *extra, lanes66 *IA) {
    for (int j = b->v0 + b->nv - 1; j >= b->v0; j--) {
        eliminate_dof_inertia(d, j, d->model->dof[j].armature + (extra ? extra[j] : 0), IA);
    }
}

/* Sum of the children's inertias at body i.  A child with the index right behind its parent passes it in registers
 * (`carry`).  The last child, whose subtree ends with the parent's, comes first and sets the parent's memory.  The
 * others add to it. */
typedef struct inheritance {
    lanes66 carry;
    int carried; /* the body that `carry` is for */
} inheritance;

static inline bool has_far_children(const sim_body *b, int i) {
    return b[i].subtree_end > i + 1 && b[i + 1].subtree_end < b[i].subtree_end;
}

static inline lanes66 collect_children(const sim_derived *d, int i, const inheritance *from,
                                       const sim_articulated *body_extra) {
    lanes66 IA = lanes_rigid(&d->I[i]);
    if (body_extra) {
        lanes66 added = lanes_general(&body_extra[i]);
        lanes_add(&IA, &added);
    }
    if (from->carried == i) {
        lanes_add(&IA, &from->carry);
    }
    if (has_far_children(d->model->body, i)) {
        lanes_add(&IA, &d->IA[i]);
    }
    return IA;
}

static inline void pass_to_parent(sim_derived *d, const sim_body *b, int i, lanes66 *IA, inheritance *to) {
    int parent = b->parent;
    if (parent == 0) {
        return;
    }
    lanes_to_parent(IA, d->r[i]);
    if (parent == i - 1) {
        to->carry = *IA;
        to->carried = parent;
    } else if (b->subtree_end == d->model->body[parent].subtree_end) {
        d->IA[parent] = *IA;
    } else {
        lanes_add(&d->IA[parent], IA);
    }
}

void sim_articulated_factor(sim_derived *d, sim_range range, const double *extra, const sim_articulated *body_extra) {
    const sim_model *m = d->model;
    inheritance children = {.carried = -1};
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        lanes66 IA = collect_children(d, i, &children, body_extra);
        eliminate_joint(d, b, extra, &IA);
        pass_to_parent(d, b, i, &IA, &children);
    }
}

static inline double wrench_dot(motion m, const lanes6 *f) {
    return m.ang.x * f->ang[0] + m.ang.y * f->ang[1] + m.ang.z * f->ang[2] +
           (m.lin.x * f->lin[0] + m.lin.y * f->lin[1] + m.lin.z * f->lin[2]);
}

/* tau - S . p of the dofs of b; p <- p + U u / D. */
static inline force eliminate_forces(sim_derived *d, const sim_body *b, force p, const double *tau) {
    for (int j = b->v0 + b->nv - 1; j >= b->v0; j--) {
        const lanes6 *U = &d->U[j];
        double u = tau[j] - motion_dot(d->S[j], p), w = u * d->Dinv[j];
        d->u[j] = u;
        p.ang = (v3){p.ang.x + w * U->ang[0], p.ang.y + w * U->ang[1], p.ang.z + w * U->ang[2]};
        p.lin = (v3){p.lin.x + w * U->lin[0], p.lin.y + w * U->lin[1], p.lin.z + w * U->lin[2]};
    }
    return p;
}

static inline motion eval_accelerations(const sim_derived *d, const sim_body *b, motion acc, double *a) {
    for (int j = b->v0; j < b->v0 + b->nv; j++) {
        a[j] = (d->u[j] - wrench_dot(acc, &d->U[j])) * d->Dinv[j];
        acc = motion_axpy(acc, a[j], d->S[j]);
    }
    return acc;
}

void sim_articulated_solve(sim_derived *d, sim_range range, double *x) {
    const sim_model *m = d->model;
    const motion rest = {{0, 0, 0}, {0, 0, 0}};
    for (int i = range.first; i < range.end; i++) {
        d->force[i] = (force){{0, 0, 0}, {0, 0, 0}};
    }
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        force p = eliminate_forces(d, b, d->force[i], x);
        if (b->parent) {
            d->force[b->parent] = force_add(d->force[b->parent], force_at_parent(p, d->r[i]));
        }
    }
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        motion acc = b->parent ? motion_at_child(d->acc[b->parent], d->r[i]) : rest;
        d->acc[i] = eval_accelerations(d, b, acc, x);
    }
}

static inline force add_lanes(force p, lanes6 f) {
    return (force){{p.ang.x + f.ang[0], p.ang.y + f.ang[1], p.ang.z + f.ang[2]},
                   {p.lin.x + f.lin[0], p.lin.y + f.lin[1], p.lin.z + f.lin[2]}};
}

void sim_aba(sim_derived *d, sim_range range, const double *tau, const sim_force *external, sim_v3 gravity,
             const double *extra, const sim_articulated *body_extra, double *a) {
    const sim_model *m = d->model;
    const motion world = {{0, 0, 0}, v3_neg(gravity)};
    inheritance children = {.carried = -1};
    /* bias forces */
    for (int i = range.first; i < range.end; i++) {
        d->force[i] = external ? force_sub(d->bias_force[i], external[i]) : d->bias_force[i];
    }
    /* inward: articulated inertia and bias force, Featherstone's second pass */
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        lanes66 IA = collect_children(d, i, &children, body_extra);
        eliminate_joint(d, b, extra, &IA);
        force p = eliminate_forces(d, b, d->force[i], tau);
        if (b->parent) {
            p = add_lanes(p, lanes_times(&IA, d->bias_acc[i], 1, 1));
            d->force[b->parent] = force_add(d->force[b->parent], force_at_parent(p, d->r[i]));
        }
        pass_to_parent(d, b, i, &IA, &children);
    }
    /* outward: accelerations, third pass */
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        motion acc = motion_at_child(b->parent ? d->acc[b->parent] : world, d->r[i]);
        d->acc[i] = eval_accelerations(d, b, motion_add(acc, d->bias_acc[i]), a);
    }
}
