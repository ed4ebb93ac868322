/* How do the joints accelerate under these forces?  (Articulated bodies, Featherstone ch. 7.)
 *
 * Inwards, I^A and p^A start as the body's own inertia and bias wrench; then, dof by dof of joint i, last to first,
 *     U_j = I^A S_j,   D_j = S_j . U_j + diagonal_j,   u_j = tau_j - S_j . p^A
 *     I^A <- I^A - U_j U_j' / D_j,   p^A <- p^A + U_j u_j / D_j
 * and what is left, with p^A + I^A bias, is carried to o_p and added to the parent's.
 * Outwards: a' = a_p at o_i + bias; then, first to last,   qdd_j = (u_j - U_j . a') / D_j,   a' <- a' + S_j qdd_j.
 *
 * A joint with several dofs is a run of one-dof joints between massless bodies: no 6x6 solve, no joint cases.
 * diagonal_j = armature + extra_j holds what acts on one dof alone: implicit springs, dampers, gains. */
#include "dyn/articulated.h"

/* Eliminate the dofs of body i from its articulated inertia; what the parent will carry. */
static inline articulated eliminate(sim_derived *d, const sim_body *b, articulated IA, const double *extra) {
    const sim_dof *dof = d->model->dof;
    for (int j = b->v0 + b->nv - 1; j >= b->v0; j--) {
        force U = articulated_times(&IA, d->S[j]);
        double D = motion_dot(d->S[j], U) + dof[j].armature + (extra ? extra[j] : 0);
        double Dinv = 1 / D;
        d->U[j] = U;
        d->Dinv[j] = Dinv;
        IA = articulated_less(IA, Dinv, U);
    }
    return IA;
}

static void start(sim_derived *d, sim_range range, const articulated *body_extra) {
    for (int i = range.first; i < range.end; i++) {
        d->IA[i] = articulated_rigid(&d->I[i]);
        if (body_extra) {
            d->IA[i] = articulated_add(d->IA[i], body_extra[i]);
        }
    }
}

void sim_articulated_factor(sim_derived *d, sim_range range, const double *extra, const sim_articulated *body_extra) {
    const sim_model *m = d->model;
    start(d, range, body_extra);
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        articulated left = eliminate(d, b, d->IA[i], extra);
        if (b->parent) {
            d->IA[b->parent] = articulated_add(d->IA[b->parent], articulated_at_parent(left, d->r[i]));
        }
    }
}

/* p <- wrench left after the dofs of b took theirs. */
static inline force take_forces(sim_derived *d, const sim_body *b, force p, const double *tau) {
    for (int j = b->v0 + b->nv - 1; j >= b->v0; j--) {
        double u = tau[j] - motion_dot(d->S[j], p);
        d->u[j] = u;
        p = force_axpy(p, u * d->Dinv[j], d->U[j]);
    }
    return p;
}

static inline motion give_accelerations(const sim_derived *d, const sim_body *b, motion acc, double *a) {
    for (int j = b->v0; j < b->v0 + b->nv; j++) {
        a[j] = (d->u[j] - motion_dot(acc, d->U[j])) * d->Dinv[j];
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
        force p = take_forces(d, b, d->force[i], x);
        if (b->parent) {
            d->force[b->parent] = force_add(d->force[b->parent], force_at_parent(p, d->r[i]));
        }
    }
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        motion acc = b->parent ? motion_at_child(d->acc[b->parent], d->r[i]) : rest;
        d->acc[i] = give_accelerations(d, b, acc, x);
    }
}

void sim_aba(sim_derived *d, sim_range range, const double *tau, const sim_force *external, sim_v3 gravity,
             const double *extra, const sim_articulated *body_extra, double *a) {
    const sim_model *m = d->model;
    const motion world = {{0, 0, 0}, v3_neg(gravity)};
    start(d, range, body_extra);
    for (int i = range.first; i < range.end; i++) {
        d->force[i] = external ? force_sub(d->bias_force[i], external[i]) : d->bias_force[i];
    }
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        articulated left = eliminate(d, b, d->IA[i], extra);
        force p = take_forces(d, b, d->force[i], tau);
        if (b->parent) {
            p = force_add(p, articulated_times(&left, d->bias_acc[i]));
            d->IA[b->parent] = articulated_add(d->IA[b->parent], articulated_at_parent(left, d->r[i]));
            d->force[b->parent] = force_add(d->force[b->parent], force_at_parent(p, d->r[i]));
        }
    }
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        motion acc = motion_at_child(b->parent ? d->acc[b->parent] : world, d->r[i]);
        d->acc[i] = give_accelerations(d, b, motion_add(acc, d->bias_acc[i]), a);
    }
}
