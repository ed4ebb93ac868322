/* Derivative of the generalised forces of a wrench by the coordinates: its geometric stiffness.
 *
 *     tau_k = S_k . F,     d tau_k / d q_j = (S_j x S_k) . F [j above k] + S_k . dF_j
 *     dF_j = (v_j x f, 0) of a wrench with fixed axes,     S_j x* F of one that turns with the body
 *
 *     S_k    axis (w_k, v_k) of dof k on the path to the body, at the point p where F acts, world axes
 *     F      (moment about p, force f) in world axes, N m, N;  p moves with the body
 *
 * The three dofs of an orientation turn together: each turns the axes of all three.
 * Reference: R. Featherstone 2008, section 2.9 (derivatives of spatial vectors that move).
 * Cost: the square of the depth of the body. */
#include "dyn/mass/wrench.h"
#include <sim/derivatives.h>

/* The axis of a dof at the point p. */
static motion axis_at(const sim_derived *d, int j, v3 p) {
    return motion_at_child(d->S[j], v3_sub(p, d->pose[d->model->dof[j].body].p));
}

/* d (S_k . F) / d q_j, F as said above. */
static double change_of(const sim_model *m, int j, int k, motion S_j, motion S_k, force F, bool turns) {
    motion change = axis_change(m, j, k, S_j, S_k);
    double sum = v3_dot(change.ang, F.ang) + v3_dot(change.lin, F.lin);
    if (turns) {
        v3 moment = v3_add(v3_cross(S_j.ang, F.ang), v3_cross(S_j.lin, F.lin));
        return sum + v3_dot(S_k.ang, moment) + v3_dot(S_k.lin, v3_cross(S_j.ang, F.lin));
    }
    /* p moves by S_j.lin, and the lever of the fixed force with it */
    return sum + v3_dot(S_k.ang, v3_cross(S_j.lin, F.lin));
}

void sim_wrench_derivatives(const sim_derived *d, int body, sim_v3 point, sim_force wrench, bool turns, double scale,
                            sim_range dofs, double *dtau_dq) {
    const sim_model *m = d->model;
    int n = dofs.end - dofs.first;
    while (body > 0 && m->body[body].nv == 0) {
        body = m->body[body].parent;
    }
    int last = body > 0 ? m->body[body].v0 + m->body[body].nv - 1 : -1;
    for (int k = last; k >= 0; k = m->dof[k].parent) {
        motion S_k = axis_at(d, k, point);
        double *row = dtau_dq + (ptrdiff_t)(k - dofs.first) * n - dofs.first;
        for (int j = last; j >= 0; j = m->dof[j].parent) {
            row[j] += scale * change_of(m, j, k, axis_at(d, j, point), S_k, wrench, turns);
        }
    }
}
