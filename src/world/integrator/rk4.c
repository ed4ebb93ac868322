/* One step of one tree by the classical Runge-Kutta method, for reference runs: order 4, every force taken explicitly.
 *
 * Orientations move on the group (Munthe-Kaas 1999): a stage stands at q0 (+) u, and the rotation vector u changes by
 *     du/dt = w + u x w / 2 + u x (u x w) / 12      for the angular velocity w in body axes. */
#include "model/parts/joint.h"
#include "world/integrator/motion.h"

#include <string.h>

static void correct_rotation(const double *u, double *rate) {
    v3 turn = {u[0], u[1], u[2]}, w = {rate[0], rate[1], rate[2]};
    v3 first = v3_cross(turn, w);
    v3 sum = v3_axpy(v3_axpy(w, 0.5, first), 1.0 / 12, v3_cross(turn, first));
    rate[0] = sum.x;
    rate[1] = sum.y;
    rate[2] = sum.z;
}

static void coordinate_rates(const sim_model *m, sim_range range, const double *u, const double *v, double *rate) {
    for (int i = range.first; i < range.end; i++) {
        const sim_body *b = &m->body[i];
        memcpy(rate + b->v0, v + b->v0, (size_t)b->nv * sizeof *rate);
        int rotation = joint_facts_of(b->joint)->quaternion;
        if (rotation >= 0) {
            correct_rotation(u + b->v0 + rotation, rate + b->v0 + rotation);
        }
    }
}

int rk4_stage(motion_work *w, int tree, double after, const double *u, const double *v, rk4_rates out) {
    const sim_model *m = w->model;
    sim_range range = sim_tree_range(m, tree);
    double time = w->now->time + after;
    sim_advance(m, range, w->now->q, u, 1, w->q_point);
    sim_kinematics(w->derived, range, w->q_point);
    sim_velocities(w->derived, range, v);
    actuation_set_laws(w, tree, &(law_point){time, time, w->q_point, v, 0, 0});
    force_point at = {time, w->q_point, v, w->q_point, v};
    int saturated = motion_joint_forces(w, tree, &at, w->tau);
    if (w->parts[tree].drags) {
        drag_eval(w, tree, v, 0);
    }
    sim_aba(w->derived, range, w->tau, motion_wrenches(w, tree, time), m->gravity, NULL, NULL, out.acc);
    coordinate_rates(m, range, u, v, out.rate);
    return saturated;
}

void rk4_step(motion_work *w, int tree, sim_step_info *info) {
    /* Butcher's tableau of the classical method */
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    const double h = w->options->step;
    const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    size_t nv = (size_t)m->nv;
    double *u = w->rk, *v = w->rk + nv, *du = w->rk + 2 * nv, *dv = w->rk + 3 * nv;
    rk4_rates k = {w->rk + 4 * nv, w->rk + 5 * nv};
    *info = (sim_step_info){.iterations = 1, .sweeps = 4};
    /* forces that are constant over the step */
    motion_hold_weight(w, tree);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        du[j] = dv[j] = k.rate[j] = k.acc[j] = 0;
    }
    /* stages */
    for (int s = 0; s < 4; s++) {
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            u[j] = part[s] * h * k.rate[j];
            v[j] = w->now->v[j] + part[s] * h * k.acc[j];
        }
        info->saturated = rk4_stage(w, tree, part[s] * h, u, v, k);
        for (int j = t->v0; j < t->v0 + t->nv; j++) {
            du[j] += weight[s] * k.rate[j];
            dv[j] += weight[s] * k.acc[j];
        }
    }
    /* weighted sums */
    actuation_keep(w, tree, NULL, NULL);
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        w->next->v[j] = w->now->v[j] + h * dv[j];
        w->next->a[j] = dv[j];
    }
    sim_advance(m, sim_tree_range(m, tree), w->now->q, du, h, w->next->q);
}
