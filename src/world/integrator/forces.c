/* Generalised forces of springs, dampers, actuators and loads.
 *
 *     spring, damper   tau = -K (q - rest) - D v;  ball joint: -K log(q) for the spring
 *     actuator         tau = clamp(f + kp (target - q) + kd (target' - v) + gravity compensation, -effort, effort)
 *     load             tau = f(t) on a joint; a wrench (torque, force) on a body, summed at its origin
 *
 *     q, v      coordinate and velocity: rad or m; those at the end of the step in the PD law
 *     tau       N m or N;  log(q): rotation vector of a quaternion, rad
 *     strength  sum of the magnitudes of all terms, the scale of rounding errors
 *
 * Cost: linear in the degrees of freedom, actuators and loads of a tree. */
#include "model/parts/joint.h"
#include "world/integrator/motion.h"

#include <math.h>

static double *dof_coordinate(double *q, const sim_model *m, int dof) {
    const sim_body *b = &m->body[m->dof[dof].body];
    return q + b->q0 + joint_coordinate_of(b->joint, dof - b->v0);
}

static void add_passive_forces(motion_work *w, int tree, const force_point *at, double *tau) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        const sim_dof *dof = &m->dof[j];
        tau[j] -= dof->damping * at->v[j];
        w->strength[j] += dof->damping * fabs(at->v[j]);
        if (dof->stiffness == 0) {
            continue;
        }
        const sim_body *b = &m->body[dof->body];
        int k = joint_coordinate_of(b->joint, j - b->v0);
        if (k >= 0) {
            tau[j] -= dof->stiffness * (at->q[b->q0 + k] - dof->rest);
            w->strength[j] += dof->stiffness * (fabs(at->q[b->q0 + k]) + fabs(dof->rest));
        } else if (j == b->v0) { /* a ball joint's spring: against the rotation vector, all three dofs at once */
            v3 turn = quat_log(joint_quaternion(at->q + b->q0));
            tau[j] -= dof->stiffness * turn.x;
            tau[j + 1] -= dof->stiffness * turn.y;
            tau[j + 2] -= dof->stiffness * turn.z;
            w->strength[j] += dof->stiffness * v3_norm(turn);
        }
    }
}

void motion_set_targets(motion_work *w, int tree, double time, double end_time) {
    const tree_parts *parts = &w->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *actuator = &w->model->actuator[w->actuator_order[k]];
        if (sim_track_given(&actuator->feedforward)) {
            sim_track_at(&actuator->feedforward, time, &w->feedforward[k], NULL);
        }
        if (sim_track_given(&actuator->target)) {
            sim_track_at(&actuator->target, end_time, &w->target[k], &w->target_rate[k]);
        }
    }
}

static int add_actuator_forces(motion_work *w, int tree, const force_point *at, double *tau) {
    /* feed-forward, compensation of gravity, PD law */
    const sim_model *m = w->model;
    const tree_parts *parts = &w->parts[tree];
    int saturated = 0;
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *actuator = &m->actuator[w->actuator_order[k]];
        int j = actuator->dof;
        double sum = w->feedforward[k], strength = 0;
        if (actuator->gravity_compensation) {
            sum += w->hold[j];
        }
        if (sim_track_given(&actuator->target)) {
            double target = w->target[k], rate = w->target_rate[k];
            double q = *dof_coordinate((double *)at->q_end, m, j), v = at->v_end[j];
            sum += actuator->kp * (target - q) + actuator->kd * (rate - v);
            strength = actuator->kp * (fabs(target) + fabs(q)) + actuator->kd * (fabs(rate) + fabs(v));
        }
        /* effort limit */
        double within = fmax(-actuator->effort, fmin(actuator->effort, sum));
        w->asked[k] = sum;
        w->clamped[k] = (sum > actuator->effort) - (sum < -actuator->effort);
        w->strength[j] += w->clamped[k] ? actuator->effort : fabs(sum) + strength;
        saturated += w->clamped[k] != 0;
        tau[j] += within;
    }
    return saturated;
}

void motion_keep_efforts(motion_work *w, int tree, const double *from, const double *to) {
    const tree_parts *parts = &w->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *actuator = &w->model->actuator[w->actuator_order[k]];
        int j = actuator->dof;
        double asked = w->asked[k] - (to ? w->gain[k] * (to[j] - from[j]) : 0);
        double found = w->row_effort[w->actuator_order[k]];
        w->next->effort[w->actuator_order[k]] =
            isnan(found) ? fmax(-actuator->effort, fmin(actuator->effort, asked)) : found;
    }
}

/* Efforts fall in a straight line with the acceleration from where they were last evaluated, a_try. */
void motion_list_limited(motion_work *w, int tree) {
    const tree_parts *parts = &w->parts[tree];
    for (int i = parts->limited0; i < parts->limited_end; i++) {
        int k = w->limited_order[i], actuator = w->actuator_order[k], j = w->model->actuator[actuator].dof;
        double start = w->asked[k] + w->gain[k] * (w->a_try[j] + w->now->v[j] / w->options->step);
        w->limited[i] =
            (contact_actuator){.actuator = actuator, .side = w->clamped[k], .gain = w->gain[k], .force = start};
    }
}

int motion_joint_forces(motion_work *w, int tree, const force_point *at, double *tau) {
    /* forces of the user */
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    const tree_parts *parts = &w->parts[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        tau[j] = w->applied[j];
        w->strength[j] = fabs(w->applied[j]);
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
    return parts->actuators ? add_actuator_forces(w, tree, at, tau) : 0;
}

/* A wrench given at a point, in world or body axes, taken at the body's origin in world axes. */
static sim_force wrench_at_origin(const sim_load *load, const pose *X, double time) {
    double value[6];
    sim_track_at(&load->track, time, value, NULL);
    force f = {{value[0], value[1], value[2]}, {value[3], value[4], value[5]}};
    if (load->local) {
        f = (force){m3_times(X->R, f.ang), m3_times(X->R, f.lin)};
    }
    return force_at_parent(f, m3_times(X->R, load->point));
}

const sim_force *motion_wrenches(motion_work *w, int tree, double time) {
    /* sum of the wrenches on each body, at its origin */
    const sim_model *m = w->model;
    const tree_parts *parts = &w->parts[tree];
    bool any = false;
    for (int k = parts->load0; k < parts->load0 + parts->loads; k++) {
        const sim_load *load = &m->load[w->load_order[k]];
        if (load->body < 0) {
            continue;
        }
        if (!any) {
            sim_range range = sim_tree_range(m, tree);
            for (int i = range.first; i < range.end; i++) {
                w->external[i] = (force){{0, 0, 0}, {0, 0, 0}};
            }
            any = true;
        }
        force f = wrench_at_origin(load, &w->derived->pose[load->body], time);
        w->external[load->body] = force_add(w->external[load->body], f);
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
