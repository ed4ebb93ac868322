/* Generalised forces of springs, dampers and loads; those of actuators are in actuation.c.
 *
 *     spring, damper   tau = -K (q - rest) - D v, of hinges, sliders, ball and free joints with terms of the second and
 *                      third degree (model/parts/spring.h);  ball and free joints: -K x, x a vector (joint.h)
 *     load             tau = f(t) on a joint; a wrench (torque, force) on a body, summed at its origin with the caller's
 *
 *     q, v      coordinate and velocity: rad or m
 *     tau       N m or N;  log(q): rotation vector of a quaternion, rad
 *     strength  sum of the magnitudes of all terms, the scale of rounding errors
 *
 * Cost: linear in the degrees of freedom, actuators and loads of a tree. */
#include "model/parts/joint.h"
#include "world/integrator/motion.h"

#include <math.h>
#include <string.h>

/* The spring of a ball or free joint, at the first of the three dofs that it pulls together. */
static void add_vector_spring(motion_work *w, int j, const double *q, double *tau) {
    const sim_dof *dof = &w->model->dof[j];
    const sim_body *b = &w->model->body[dof->body];
    v3 x = joint_stretch(w->model, b, j - b->v0, q);
    double factor = spring_factor(dof->stiffness, dof->spring, v3_norm(x));
    tau[j] -= factor * x.x;
    tau[j + 1] -= factor * x.y;
    tau[j + 2] -= factor * x.z;
    double scale = fabs(factor) * v3_norm(x);
    for (int k = j; k < j + 3 && b->joint == SIM_FREE; k++) { /* the difference of two places, near each other or not */
        scale += k < b->v0 + 3 ? fabs(factor * q[b->q0 + k - b->v0]) : 0;
    }
    w->strength[j] += scale;
}

/* Dof by dof: its damper, then its spring. */
static void add_passive_forces(motion_work *w, int tree, const force_point *at, double *tau) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        const sim_dof *dof = &m->dof[j];
        double rub = dof_damper_force(dof, at->v[j]);
        tau[j] -= rub;
        w->strength[j] += fabs(rub);
        if (!dof_has_spring(dof)) {
            continue;
        }
        const sim_body *b = &m->body[dof->body];
        if (!joint_pulls_vectors(b->joint)) {
            double q = at->q[dof->coordinate], most = fabs(q) + fabs(dof->rest);
            tau[j] -= spring_force(dof->stiffness, dof->spring, q - dof->rest);
            w->strength[j] += most * (dof->stiffness + most * (fabs(dof->spring[0]) + most * fabs(dof->spring[1])));
        } else if ((j - b->v0) % 3 == 0) {
            add_vector_spring(w, j, at->q, tau);
        }
    }
}

int motion_joint_forces(motion_work *w, int tree, const force_point *at, double *tau) {
    /* forces of the user */
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    const tree_parts *parts = &w->parts[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        tau[j] = w->now->applied[j];
        w->strength[j] = fabs(w->now->applied[j]);
    }
    /* held constraint forces */
    for (int j = t->v0; j < t->v0 + t->nv && w->held; j++) {
        tau[j] += w->held[j];
        w->strength[j] += fabs(w->held[j]);
    }
    /* springs, damping */
    if (parts->passive) {
        add_passive_forces(w, tree, at, tau);
    }
    /* loads on joints */
    for (int k = parts->load0; k < parts->load0 + parts->loads; k++) {
        const sim_load *load = &m->load[w->load_order[k]];
        if (load->dof >= 0) {
            double value;
            sim_track_at(&load->track, at->time, &value, NULL);
            tau[load->dof] += value;
            w->strength[load->dof] += fabs(value);
        }
    }
    /* actuators */
    return parts->actuators ? actuation_add_forces(w, tree, at, tau) : 0;
}

/* A wrench given at a point, in world or body axes, taken at the body's origin in world axes. */
sim_force load_wrench(const sim_load *load, const pose *X, double time) {
    double value[6];
    sim_track_at(&load->track, time, value, NULL);
    force f = {{value[0], value[1], value[2]}, {value[3], value[4], value[5]}};
    if (load->local) {
        f = (force){m3_times(X->R, f.ang), m3_times(X->R, f.lin)};
    }
    return force_at_parent(f, m3_times(X->R, load->point));
}

/* Zeros in `external` before the first wrench of a tree. */
static void begin_wrenches(motion_work *w, int tree, bool *any) {
    sim_range range = sim_tree_range(w->model, tree);
    for (int i = range.first; i < range.end && !*any; i++) {
        w->external[i] = (force){{0, 0, 0}, {0, 0, 0}};
    }
    *any = true;
}

void motion_find_pushed(motion_work *w) {
    for (int t = 0; t < w->model->ntree; t++) {
        w->parts[t].pushed = false;
    }
    for (int i = 1; i < w->model->nbody; i++) {
        const force *f = &w->now->wrench[i];
        bool none = f->ang.x == 0 && f->ang.y == 0 && f->ang.z == 0 && f->lin.x == 0 && f->lin.y == 0 && f->lin.z == 0;
        w->parts[w->model->body[i].tree].pushed |= !none;
    }
}

const sim_force *motion_wrenches(motion_work *w, int tree, double time) {
    const sim_model *m = w->model;
    const tree_parts *parts = &w->parts[tree];
    bool any = parts->pushed;
    /* wrenches of the caller */
    if (parts->pushed) {
        int body0 = m->tree[tree].body0;
        memcpy(w->external + body0, w->now->wrench + body0, (size_t)m->tree[tree].nbody * sizeof *w->external);
    }
    /* loads */
    for (int k = parts->load0; k < parts->load0 + parts->loads; k++) {
        const sim_load *load = &m->load[w->load_order[k]];
        if (load->body >= 0) {
            begin_wrenches(w, tree, &any);
            force f = load_wrench(load, &w->derived->pose[load->body], time);
            w->external[load->body] = force_add(w->external[load->body], f);
        }
    }
    /* the fluid */
    if (parts->drags) {
        begin_wrenches(w, tree, &any);
        for (int i = m->tree[tree].body0; i < m->tree[tree].body0 + m->tree[tree].nbody; i++) {
            w->external[i] = force_add(w->external[i], w->drag[i]);
        }
    }
    /* actuators at sites */
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators && parts->lengths; k++) {
        if (actuation_is_wrench(w, k)) {
            begin_wrenches(w, tree, &any);
            actuation_add_wrench(w, k, w->external);
        }
    }
    return any ? w->external : NULL;
}

void motion_hold_weight(motion_work *w, int tree) {
    if (!w->parts[tree].gravity_compensation) {
        return;
    }
    const sim_model *m = w->model;
    sim_range range = sim_tree_range(m, tree);
    const sim_tree *t = &m->tree[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->v_point[j] = 0;
    }
    sim_kinematics(w->derived, range, w->now->q);
    sim_velocities(w->derived, range, w->v_point);
    sim_rnea(w->derived, range, NULL, NULL, m->gravity, w->hold);
}
