/* Derivatives of the forces on joints and bodies: actuators, springs, loads.
 *
 *     f = F + kp (target - l1) + kd (target' - l1') + gain u + bias,    tau = g f,    l = g q
 *
 *     l, l'      length of the actuator and its rate; 0, 1: at the start and at the end of the step
 *     a slope of gain u + bias by l or l' that pulls back is taken at the end, another at the start (actuation.c)
 *     springs    -K (q - rest);  of ball and free joints -K(|x|) x, where x is a place or a rotation vector, whose
 *                derivative is the inverse of D (move_derivatives.c)
 *
 * A force at an end of its range has the derivative zero.  Reference: actuation.c, forces.c.
 * Cost: linear in actuators, loads and dofs; a wrench the square of the depth of its body. */
#include "model/parts/joint.h"
#include "world/integrator/derivative/tree_derivatives.h"

#include <math.h>

static const double KINK_WIDTH = 1e-9; /* relative distance from an end of a range */

/* Slopes of gain u + bias by length and rate. */
static void length_slopes(const motion_work *w, int k, double slope[2]) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    double u = w->law[k].input;
    slope[0] = a->gain[1] * u + a->bias[1];
    slope[1] = a->gain[2] * u + a->bias[2];
}

bool drive_is_constant(const motion_work *w, int k) { return w->clamped[k] || shared_effort_side(w, k); }

void add_drive_slopes(const motion_work *w, int k, bool now, drive_slopes *s) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    const drive_law *law = &w->law[k];
    double slope[2], g2 = a->gear * a->gear;
    length_slopes(w, k, slope);
    s->q0 += g2 * fmax(slope[0], 0);
    s->v0 += g2 * fmax(slope[1], 0);
    *(now ? &s->q0 : &s->q1) += g2 * (fmin(slope[0], 0) - law->kp);
    *(now ? &s->v0 : &s->v1) += g2 * (fmin(slope[1], 0) - law->kd);
    s->holds += a->gravity_compensation;
}

void fill_drive_slopes(const motion_work *w, int tree, bool now, drive_slopes *drive) {
    const tree_parts *parts = &w->parts[tree];
    const sim_tree *t = &w->model->tree[tree];
    /* sums over the actuators within their ranges */
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        drive[j] = (drive_slopes){0};
    }
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        if (!drive_is_constant(w, k)) {
            add_drive_slopes(w, k, now, &drive[w->model->actuator[w->actuator_order[k]].dof]);
        }
    }
}

double drive_by_input(const motion_work *w, int k, sim_input input, const sim_state *from, const sim_state *to) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    const drive_law *law = &w->law[k];
    switch (input) {
    case SIM_TARGET:
        return a->gear * law->kp;
    case SIM_TARGET_RATE:
        return a->gear * law->kd;
    case SIM_FEEDFORWARD:
        return a->gear;
    default: {
        double slope[2];
        int q = w->model->dof[a->dof].coordinate;
        length_slopes(w, k, slope);
        double l = a->gear * (slope[0] < 0 ? to : from)->q[q], rate = a->gear * (slope[1] < 0 ? to : from)->v[a->dof];
        bool inside = law->input > a->ctrl_range[0] && law->input < a->ctrl_range[1];
        return inside ? a->gear * (a->gain[0] + a->gain[1] * l + a->gain[2] * rate) : 0;
    }
    }
}

static bool is_near(double x, double end) { return isfinite(end) && fabs(x - end) <= KINK_WIDTH * fmax(fabs(end), 1); }

bool drive_at_kink(const motion_work *w, int k) {
    int i = w->actuator_order[k];
    const sim_actuator *a = &w->model->actuator[i];
    double ctrl = w->now->input[SIM_CTRL * w->model->nactuator + i];
    const shared_effort *s = w->shared_of[k] >= 0 ? &w->shared[w->shared_of[k]] : NULL;
    const double *effort = s ? s->effort : NULL;
    return (s && (is_near(s->sum, effort[0]) || is_near(s->sum, effort[1]))) ||
           is_near(w->asked[k], a->force_range[0]) || is_near(w->asked[k], a->force_range[1]) ||
           is_near(ctrl, a->ctrl_range[0]) || is_near(ctrl, a->ctrl_range[1]);
}

/* Of kappa(|x|) x, the pull of a ball or free joint at dof j and the two after it:  (kappa 1 + kappa'/|x| x x') dx. */
static m3 vector_spring_slope(const sim_model *m, int j, const double *q) {
    const sim_dof *dof = &m->dof[j];
    const sim_body *b = &m->body[dof->body];
    v3 x = joint_stretch(m, b, j - b->v0, q);
    double r = v3_norm(x), factor = spring_factor(dof->stiffness, dof->spring, r);
    double bend = r > 0 ? spring_factor_slope(dof->spring, r) / r : 0;
    m3 S = {v3_axpy((v3){factor, 0, 0}, bend * x.x, x), v3_axpy((v3){0, factor, 0}, bend * x.y, x),
            v3_axpy((v3){0, 0, factor}, bend * x.z, x)};
    bool turns = b->joint == SIM_BALL || j > b->v0;
    return turns ? m3_product(S, rotation_log_derivative(x)) : S;
}

/* By x, of the slope kappa + kappa'/|x| x_i^2 of a spring along the i-th of three dofs; then by its dofs. */
static void bend_vector_spring(const sim_model *m, int j, const double *q, double by_q[3]) {
    const sim_dof *dof = &m->dof[j];
    const sim_body *b = &m->body[dof->body];
    int i = (j - b->v0) % 3;
    v3 x = joint_stretch(m, b, j - b->v0 - i, q);
    double at[3] = {x.x, x.y, x.z}, g[3], r = v3_norm(x), square = at[i] * at[i];
    double first = spring_factor_slope(dof->spring, r), second = 2 * dof->spring[1];
    for (int k = 0; k < 3; k++) {
        double turned = first * at[k] / r + (second - first / r) / (r * r) * at[k] * square;
        g[k] = r > 0 ? turned + (k == i ? 2 * first / r * at[i] : 0) : 0;
    }
    bool turns = b->joint == SIM_BALL || j >= b->v0 + 3;
    v3 by = (v3){g[0], g[1], g[2]};
    by = turns ? m3_transposed_times(rotation_log_derivative(x), by) : by;
    by_q[0] = by.x;
    by_q[1] = by.y;
    by_q[2] = by.z;
}

bool differentiate_diagonal(const motion_work *w, const theta_scheme *s, int j, const double *q, double v,
                            diagonal_change *by) {
    /* the damper */
    const sim_model *m = w->model;
    const sim_dof *dof = &m->dof[j];
    const sim_body *b = &m->body[dof->body];
    *by = (diagonal_change){0};
    if (!dof_has_terms(dof)) {
        return false;
    }
    double dt = w->options->step, spring = s->explicit_position ? 0 : s->position * s->travel * dt * dt;
    by->by_v = s->damper * dt * damper_bend(dof->damper, v);
    /* the spring, where it does not push away */
    if (spring == 0 || !any_terms(dof->spring) || dof_spring_slope(m, j, q) <= 0) {
        return true;
    }
    if (joint_pulls_vectors(b->joint)) {
        by->first = j - (j - b->v0) % 3;
        by->count = 3;
        bend_vector_spring(m, j, q, by->by_q);
    } else {
        by->first = j;
        by->count = 1;
        by->by_q[0] = spring_bend(dof->spring, q[dof->coordinate] - dof->rest);
    }
    for (int k = 0; k < by->count; k++) {
        by->by_q[k] *= spring;
    }
    return true;
}

/* By coordinates: springs. */
static void subtract_springs(const motion_work *w, int tree, const double *q, double *by_q) {
    const sim_model *m = w->model;
    const sim_tree *t = &m->tree[tree];
    for (int j = t->v0; j < t->v0 + t->nv; j++) {
        const sim_dof *dof = &m->dof[j];
        const sim_body *b = &m->body[dof->body];
        ptrdiff_t row = j - t->v0;
        if (!dof_has_spring(dof)) {
            continue;
        }
        if (!joint_pulls_vectors(b->joint)) {
            by_q[row * t->nv + row] += dof_spring_slope(m, j, q);
        } else if ((j - b->v0) % 3 == 0) {
            m3 D = vector_spring_slope(m, j, q);
            const double column[3][3] = {{D.x.x, D.x.y, D.x.z}, {D.y.x, D.y.y, D.y.z}, {D.z.x, D.z.y, D.z.z}};
            for (int r = 0; r < 3; r++) {
                for (int c = 0; c < 3; c++) {
                    by_q[(row + r) * t->nv + row + c] += column[c][r];
                }
            }
        }
    }
}

void subtract_place_forces(const motion_work *w, int tree, const sim_derived *d, const double *q, double time,
                           double *by_q) {
    const sim_model *m = w->model;
    const tree_parts *parts = &w->parts[tree];
    sim_range bodies = sim_tree_range(m, tree), dofs = sim_dof_range(m, bodies);
    /* springs, wrenches of the caller, loads */
    if (parts->passive) {
        subtract_springs(w, tree, q, by_q);
    }
    for (int i = bodies.first; i < bodies.end && parts->pushed; i++) {
        sim_wrench_derivatives(d, i, d->pose[i].p, w->now->wrench[i], false, -1, dofs, by_q);
    }
    for (int k = parts->load0; k < parts->load0 + parts->loads; k++) {
        const sim_load *load = &m->load[w->load_order[k]];
        double value[6];
        if (load->body < 0) {
            continue;
        }
        sim_track_at(&load->track, time, value, NULL);
        const pose *X = &d->pose[load->body];
        force f = {{value[0], value[1], value[2]}, {value[3], value[4], value[5]}};
        f = load->local ? (force){m3_times(X->R, f.ang), m3_times(X->R, f.lin)} : f;
        sim_wrench_derivatives(d, load->body, pose_point(*X, load->point), f, load->local, -1, dofs, by_q);
    }
}
