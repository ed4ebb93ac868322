/* Inverse dynamics by the recursive Newton-Euler algorithm.
 *
 * Outwards: a_i = a_p at o_i + S_i qdd_i + bias; the world accelerates with -g, which includes gravity.
 * Inwards:  f_i = I_i a_i + bias force - f_external + sum of the children's f at o_i,
 *           tau_j = S_j . f_i + armature qdd_j.
 *
 *     a_i, f_i   acceleration, rad/s^2, m/s^2, and wrench, N m, N, of body i at its origin o_i;  p: its parent
 *     tau_j      force of dof j, N m or N;  S: motion axes;  qdd: joint accelerations
 *
 * Reference: Featherstone 2008, section 5.3.  Cost: O(n). */
#include "dyn/motion/rigid.h"

static void eval_body_accelerations(sim_derived *d, sim_range range, const double *a, v3 gravity) {
    const sim_model *m = d->model;
    const motion world = {{0, 0, 0}, v3_neg(gravity)};
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        motion acc = motion_at_child(b->parent ? d->acc[b->parent] : world, d->r[i]);
        acc = motion_add(acc, d->bias_acc[i]);
        for (int j = b->v0; a && j < b->v0 + b->nv; j++) {
            acc = motion_axpy(acc, a[j], d->S[j]);
        }
        d->acc[i] = acc;
        d->force[i] = force_add(rigid_times(&d->I[i], acc), d->bias_force[i]);
    }
}

static void sum_wrenches(sim_derived *d, sim_range range, const double *a, double *tau) {
    const sim_model *m = d->model;
    for (int i = range.end - 1; i >= range.first; i--) {
        const sim_body *b = &m->body[i];
        force f = d->force[i];
        for (int j = b->v0; j < b->v0 + b->nv; j++) {
            tau[j] = motion_dot(d->S[j], f) + (a ? m->dof[j].armature * a[j] : 0);
        }
        if (b->parent) {
            d->force[b->parent] = force_add(d->force[b->parent], force_at_parent(f, d->r[i]));
        }
    }
}

void sim_rnea(sim_derived *d, sim_range range, const double *a, const sim_force *external, sim_v3 gravity,
              double *tau) {
    eval_body_accelerations(d, range, a, gravity);
    for (int i = range.first; external && i < range.end; i++) {
        d->force[i] = force_sub(d->force[i], external[i]);
    }
    sum_wrenches(d, range, a, tau);
}

void sim_mass_times(sim_derived *d, sim_range range, const double *extra, const double *a, double *tau) {
    const sim_model *m = d->model;
    for (int i = range.first; i < range.end; i++) {
        d->acc[i] = carried_acceleration(d, i, a);
        d->force[i] = rigid_times(&d->I[i], d->acc[i]);
    }
    sum_wrenches(d, range, a, tau);
    sim_range rows = sim_dof_range(m, range);
    for (int j = rows.first; extra && j < rows.end; j++) {
        tau[j] += extra[j] * a[j];
    }
}
