/* Jacobians of bodies and points, and bias accelerations.
 *
 *     J_j = (axis;  advance + axis x (o_i - o_j))     for the dofs j on the path from the root to body i, else 0
 *
 *     (axis; advance)   motion axis of dof j at the origin o_j of its body;  o_i: origin of body i, m
 *     Jdot v            acceleration of the body when no joint accelerates, rad/s^2, m/s^2
 *
 * Cost: one cross product for each dof on the path. */
#include "dyn/motion/axes.h"

#include <string.h>

static void put_column(double *J, int width, int column, v3 value) {
    J[column] = value.x;
    J[width + column] = value.y;
    J[2 * width + column] = value.z;
}

void sim_body_jacobian(const sim_derived *d, int body, double *J) {
    const sim_model *m = d->model;
    if (body == 0) {
        return;
    }
    const sim_tree *tree = &m->tree[m->body[body].tree];
    memset(J, 0, 6 * (size_t)tree->nv * sizeof *J);
    for (int j = find_last_dof(m, body); j >= 0; j = m->dof[j].parent) {
        motion S = motion_axis_at(d, j, d->pose[body].p);
        put_column(J, tree->nv, j - tree->v0, S.ang);
        put_column(J + 3 * tree->nv, tree->nv, j - tree->v0, S.lin);
    }
}

void sim_point_jacobian(const sim_derived *d, sim_point point, double *J) {
    const sim_model *m = d->model;
    if (point.body == 0) {
        return;
    }
    const sim_tree *tree = &m->tree[m->body[point.body].tree];
    v3 at = sim_point_position(d, point);
    memset(J, 0, 3 * (size_t)tree->nv * sizeof *J);
    for (int j = find_last_dof(m, point.body); j >= 0; j = m->dof[j].parent) {
        put_column(J, tree->nv, j - tree->v0, motion_axis_at(d, j, at).lin);
    }
}

sim_v3 sim_point_position(const sim_derived *d, sim_point point) {
    return pose_point(d->pose[point.body], point.local);
}

sim_v3 sim_point_velocity(const sim_derived *d, sim_point point) {
    v3 lever = m3_times(d->pose[point.body].R, point.local);
    return motion_at_child(d->vel[point.body], lever).lin;
}

void sim_bias_accelerations(const sim_derived *d, sim_range range, sim_motion *acc) {
    acc[0] = (motion){{0, 0, 0}, {0, 0, 0}};
    for (int i = range.first; i < range.end; i++) {
        acc[i] = motion_add(motion_at_child(acc[d->model->body[i].parent], d->r[i]), d->bias_acc[i]);
    }
}

sim_v3 sim_point_bias_acceleration(const sim_derived *d, const sim_motion *acc, sim_point point) {
    v3 lever = m3_times(d->pose[point.body].R, point.local);
    v3 omega = d->vel[point.body].ang;
    return v3_add(motion_at_child(acc[point.body], lever).lin, v3_cross(omega, v3_cross(omega, lever)));
}
