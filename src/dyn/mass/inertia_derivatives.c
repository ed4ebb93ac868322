/* Derivative of inverse dynamics by the inertia of a body: a row of the regressor.
 *
 *     tau_k = S_k . (I a_i + b_i),     b_i = (w x I_o w;  w x (w x h))
 *     d tau_k = S_k . (dI a_i + db_i)      for the dofs k on the path to body i, else 0
 *
 *     I = (m, h, I_o)    mass, kg; first moment, kg m; second moment about the origin of the body, kg m^2
 *     a_i, w             acceleration less gravity at that origin, angular velocity;  S_k: axis of dof k
 *
 * Inverse dynamics is linear in I.  Reference: Atkeson, An, Hollerbach 1986, section 2; rnea.c.
 * Cost: the bodies of the tree before body i. */
#include "dyn/motion/rigid.h"
#include <sim/derivatives.h>

int sim_parameter_components(sim_parameter_kind kind) {
    return kind == SIM_BY_INERTIA ? 10 : kind == SIM_BY_PLACEMENT ? 6 : kind == SIM_BY_SIZE ? 3 : 1;
}

/* The acceleration of a body, from those of the bodies above it, in d->acc. */
static motion acceleration_of(sim_derived *d, sim_range range, int body, bool moving, const double *a, v3 gravity) {
    const sim_model *m = d->model;
    const motion world = {{0, 0, 0}, v3_neg(gravity)};
    motion acc = world;
    for (int i = range.first; i <= body; i++) {
        const sim_body *b = &m->body[i];
        if (b->subtree_end <= body) {
            continue;
        }
        acc = motion_at_child(b->parent ? d->acc[b->parent] : world, d->r[i]);
        acc = moving ? motion_add(acc, d->bias_acc[i]) : acc;
        for (int j = b->v0; a && j < b->v0 + b->nv; j++) {
            acc = motion_axpy(acc, a[j], d->S[j]);
        }
        d->acc[i] = acc;
    }
    return acc;
}

void sim_inertia_derivatives(sim_derived *d, sim_range range, int body, const sim_body_inertia *change, bool moving,
                             const double *a, sim_v3 gravity, double scale, double *tau) {
    const sim_model *m = d->model;
    int v0 = sim_dof_range(m, range).first;
    m3 R = d->pose[body].R;
    rigid dI = {change->mass, m3_times(R, change->h), sym3_rotated(R, change->I)};
    /* the wrench of the change */
    force f = rigid_times(&dI, acceleration_of(d, range, body, moving, a, gravity));
    if (moving) {
        v3 w = d->vel[body].ang;
        f.ang = v3_add(f.ang, v3_cross(w, sym3_times(dI.I, w)));
        f.lin = v3_add(f.lin, v3_cross(w, v3_cross(w, dI.h)));
    }
    /* along the path to the root */
    int top = body;
    while (top > 0 && m->body[top].nv == 0) {
        top = m->body[top].parent;
    }
    for (int k = top > 0 ? m->body[top].v0 + m->body[top].nv - 1 : -1; k >= 0; k = m->dof[k].parent) {
        motion S = motion_at_child(d->S[k], v3_sub(d->pose[body].p, d->pose[m->dof[k].body].p));
        tau[k - v0] += scale * motion_dot(S, f);
    }
}
