/* Momentum and energy of bodies.
 *
 *     momentum (I omega + h x v;  m v + omega x h),     kinetic energy = momentum . (omega; v) / 2
 *     potential energy = -g . (m o_i + h) + sum over springs k (q - rest)^2 / 2    (terms: spring.h; vectors: joint.h)
 *                        + elastic energy of soft bodies
 *
 *     (omega; v)  velocity of a body at its origin o_i, rad/s, m/s
 *     m, h, I     mass, kg; first moment m c, kg m; inertia about o_i, kg m^2
 *     k, g        stiffness, N m/rad or N/m; gravity, m/s^2 */
#include "dyn/motion/rigid.h"
#include "dyn/soft/soft_body.h"
#include "model/parts/joint.h"

double sim_kinetic_energy(const sim_derived *d, sim_range range, const double *v) {
    double energy = 0;
    for (int i = range.first; i < range.end; i++) {
        energy += 0.5 * motion_dot(d->vel[i], rigid_times(&d->I[i], d->vel[i]));
    }
    sim_range rows = sim_dof_range(d->model, range);
    for (int j = rows.first; j < rows.end; j++) {
        energy += 0.5 * d->model->dof[j].armature * v[j] * v[j];
    }
    return energy;
}

static double dof_spring_energy(const sim_model *m, int j, const double *q) {
    const sim_dof *dof = &m->dof[j];
    const sim_body *b = &m->body[dof->body];
    if (!joint_pulls_vectors(b->joint)) {
        return spring_energy(dof->stiffness, dof->spring, q[dof->coordinate] - dof->rest);
    }
    int k = j - b->v0; /* three dofs have one spring */
    return k % 3 ? 0 : spring_energy(dof->stiffness, dof->spring, v3_norm(joint_stretch(m, b, k, q)));
}

double sim_potential_energy(const sim_derived *d, sim_range range, const double *q) {
    const sim_model *m = d->model;
    double energy = 0;
    for (int i = range.first; i < range.end; i++) {
        v3 moment = v3_axpy(d->I[i].h, d->I[i].mass, d->pose[i].p);
        energy -= v3_dot(m->gravity, moment);
    }
    sim_range rows = sim_dof_range(m, range);
    for (int j = rows.first; j < rows.end; j++) {
        if (dof_has_spring(&m->dof[j])) {
            energy += dof_spring_energy(m, j, q);
        }
    }
    for (int k = 0; k < m->nsoft; k++) {
        if (m->soft[k].body >= range.first && m->soft[k].body < range.end) {
            energy += soft_energy(m, &m->soft[k], q);
        }
    }
    return energy;
}

sim_force sim_momentum(const sim_derived *d, sim_range range) {
    force sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = range.first; i < range.end; i++) {
        force p = rigid_times(&d->I[i], d->vel[i]);
        sum = force_add(sum, force_at_parent(p, d->pose[i].p));
    }
    return sum;
}
