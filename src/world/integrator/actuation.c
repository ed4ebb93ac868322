/* Forces of actuators.
 *
 *     l = g q,     tau = J' f,     J = dl/dq = g of a joint,     f = clamp(F + kp (target - l) + kd (target' - l') - k l - d l')
 *     s(l, l') = gain(l, l') u + bias(l, l') = F_s - k l - d l'
 *
 *     q, g, l    coordinate, gear, length of the actuator: rad or m;  J: moments of other lengths (dyn/motion/transmission.c)
 *     u          control input, or activation
 *     f, tau     force of the actuator, effort on its joint: N or N m
 *     F          feed-forward, compensation of gravity, F_s
 *     k, d >= 0  what pulls back in s; a part that grows with l or l' is taken where the step starts, and in F_s
 *
 * l and l' in f are those at the end of the step: stiff gains are stable.  F is taken at the time of loads, and so is u
 * of a force that does not depend on l.  Otherwise u is taken, like the target, at the end of the step.  An activation
 * moves under the control input at the middle of the step.
 *
 * Cost: linear in the actuators of a tree. */
#include "dyn/motion/transmission.h"
#include "model/parts/delay.h"
#include "world/integrator/motion.h"

#include <math.h>

static double coordinate_of(const motion_work *w, const sim_actuator *a, const double *q) {
    return q[w->model->dof[a->dof].coordinate];
}

/* As the caller has set it; NAN: not. */
static double input_set(const motion_work *w, int actuator, sim_input input) {
    return w->now->input[input * w->model->nactuator + actuator];
}

/* As set, else by its track, else 0. */
static double input_at(double set, const sim_track *track, double time) {
    double value = 0;
    if (isnan(set) && sim_track_given(track)) {
        sim_track_at(track, time, &value, NULL);
    }
    return isnan(set) ? value : set;
}

/* A delayed one is that at the start of a step before. */
static double ctrl_at(const motion_work *w, int actuator, double time) {
    const sim_actuator *a = &w->model->actuator[actuator];
    double ctrl = a->delay > 0 ? w->now->history[a->history + (int)delay_in_steps(a->delay, w->options->step) - 1]
                               : input_at(input_set(w, actuator, SIM_CTRL), &a->ctrl, time);
    return fmax(a->ctrl_range[0], fmin(a->ctrl_range[1], ctrl));
}

/* Activation, some time into the step. */
static double activation_at(const motion_work *w, int actuator, double after) {
    const sim_activation *a = &w->model->actuator[actuator].activation;
    double ctrl = ctrl_at(w, actuator, w->now->time + 0.5 * w->options->step);
    return sim_activation_after(a, ctrl, w->now->activation[actuator], after);
}

/* As set, of rate 0 unless that is set, too; else by the track.  Without either there is no feedback by kp and kd. */
static void set_target(const sim_actuator *a, double target, double rate, double time, drive_law *law) {
    bool tracked = sim_track_given(&a->target), has_target = tracked || !isnan(target);
    law->target = law->target_rate = 0;
    if (tracked && isnan(target)) {
        sim_track_at(&a->target, time, &law->target, &law->target_rate);
    }
    law->target = isnan(target) ? law->target : target;
    law->target_rate = isnan(rate) ? law->target_rate : rate;
    law->kp = has_target ? a->kp : 0;
    law->kd = has_target ? a->kd : 0;
}

static bool follows_length(const sim_actuator *a) {
    return a->muscle.force > 0 || a->gain[1] != 0 || a->gain[2] != 0 || a->bias[1] != 0 || a->bias[2] != 0;
}

/* gain u + bias, or the force of a muscle to first order: the force at rest, and what pulls back; l, l' at the start. */
static void set_law(const sim_actuator *a, double l, double rate, drive_law *law) {
    double u = law->input, slope[2] = {a->gain[1] * u + a->bias[1], a->gain[2] * u + a->bias[2]};
    double at_start = a->gain[0] * u + a->bias[0] + slope[0] * l + slope[1] * rate;
    if (a->muscle.force > 0) {
        at_start = sim_muscle_force(&a->muscle, u, l, rate, slope);
    }
    law->stiffness = fmax(-slope[0], 0);
    law->damping = fmax(-slope[1], 0);
    law->force = at_start + law->stiffness * l + law->damping * rate;
}

/* A controller adds its force; a target that the caller has set counts more than its own. */
static void follow_command(const drive_command *c, const sim_actuator *a, bool aimed, drive_law *law) {
    law->feedforward += c->force;
    if (c->aimed && !aimed) {
        law->target = c->target;
        law->target_rate = c->rate;
        law->kp = a->kp;
        law->kd = a->kd;
    }
}

void actuation_set_inputs(motion_work *w, int tree, const law_point *at) {
    const tree_parts *parts = &w->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        int i = w->actuator_order[k];
        const sim_actuator *a = &w->model->actuator[i];
        drive_law *law = &w->law[k];
        /* feed-forward, target */
        law->feedforward = input_at(input_set(w, i, SIM_FEEDFORWARD), &a->feedforward, at->time);
        set_target(a, input_set(w, i, SIM_TARGET), input_set(w, i, SIM_TARGET_RATE), at->end_time, law);
        if (w->command && w->command[i].controlled) {
            follow_command(&w->command[i], a, !isnan(input_set(w, i, SIM_TARGET)), law);
        }
        /* control input or activation */
        double time = follows_length(a) ? at->end_time : at->time;
        law->input = a->activation.type ? activation_at(w, i, time - w->now->time) : ctrl_at(w, i, time);
    }
}

/* ---- actuators that are no joints' ---- */

/* A turn is an angle up to whole turns: a servo takes the one that is nearest to where it aims. */
static double length_on_circle(const motion_work *w, const sim_actuator *a, const drive_law *law, double l) {
    bool servo = a->gain[0] > 0 && a->gain[0] == -a->bias[1] && a->gain[1] == 0 && a->gain[2] == 0;
    double period = servo || law->kp > 0 ? transmission_period(w->model, a) : 0;
    double aim = law->kp > 0 ? law->target : law->input;
    return period > 0 ? l + period * round((aim - l) / period) : l;
}

/* The force along a length l(q): its moment J is taken some part of the step on, at the velocity v0,
 *
 *     l1 = l* + (1 - theta - p) dt J v0 + theta dt J v,     f = F + kp (target - l1) + kd (target' - J v) - k l1 - d J v,
 *
 * p the part, theta that of v - v0 with which positions move, v the velocity at the end.  A force that follows the
 * length is a row of the contact problem; free motion has the middle of its range alone. */
static void set_length_law(motion_work *w, int k, const law_point *at) {
    int i = w->actuator_order[k];
    const sim_actuator *a = &w->model->actuator[i];
    const sim_tree *t = &w->model->tree[a->tree];
    drive_law *law = &w->law[k];
    double dt = w->options->step, l = sim_actuator_length(w->derived, i, w->q_point, w->moment[k]), rate = 0;
    for (int j = 0; j < t->nv; j++) {
        rate += w->moment[k][j] * at->v[t->v0 + j];
    }
    l = length_on_circle(w, a, law, l);
    set_law(a, l - at->place * dt * rate, rate, law);
    double kp = law->kp + law->stiffness, kd = law->kd + law->damping;
    double coasting = l + (1 - at->travel - at->place) * dt * rate;
    w->asked[k] = law->feedforward + law->kp * law->target + law->kd * law->target_rate + law->force - kp * coasting;
    w->gain[k] = dt * kd + at->travel * dt * dt * kp;
    if (a->transmission == SIM_BY_CONTACTS) { /* they are pulled, not pushed apart */
        w->asked[k] = fmax(w->asked[k], 0);
    }
    w->clamped[k] = (w->asked[k] > a->force_range[1]) - (w->asked[k] < a->force_range[0]);
}

static bool is_row(const motion_work *w, int k) { return isfinite(1 / w->gain[k]); }

static double within_range(const motion_work *w, int k, double force) {
    return fmax(w->range[k][0], fmin(w->range[k][1], force));
}

/* A single site's force is a wrench on its body. */
static bool is_wrench(const sim_actuator *a) { return a->transmission == SIM_BY_SITE && a->site[1] < 0; }

bool actuation_is_wrench(const motion_work *w, int k) {
    return is_wrench(&w->model->actuator[w->actuator_order[k]]) && !is_row(w, k);
}

void actuation_add_wrench(const motion_work *w, int k, sim_force *wrench) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    transmission_add_wrenches(w->derived, a, within_range(w, k, w->asked[k]), wrench);
}

/* The middle of the range of forces, about which a row acts. */
static double middle_force(const motion_work *w, int k) {
    return isfinite(w->range[k][0]) ? 0.5 * (w->range[k][0] + w->range[k][1]) : 0;
}

/* Of a force that does not follow its length; is it at an end of its range?  Of a row the middle of its range. */
static bool add_length_force(motion_work *w, int k, double *tau) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    const sim_tree *t = &w->model->tree[a->tree];
    const double *range = w->range[k];
    bool row = is_row(w, k);
    w->clamped[k] = (w->asked[k] > range[1]) - (w->asked[k] < range[0]);
    double f = row ? middle_force(w, k) : within_range(w, k, w->asked[k]);
    for (int j = 0; j < t->nv; j++) {
        tau[t->v0 + j] += is_wrench(a) && !row ? 0 : w->moment[k][j] * f;
        w->strength[t->v0 + j] += fabs(w->moment[k][j] * f);
    }
    return !row && (w->clamped[k] != 0 || shared_effort_side(w, k) != 0);
}

/* ---- all ---- */

void actuation_set_laws(motion_work *w, int tree, const law_point *at) {
    const tree_parts *parts = &w->parts[tree];
    double dt = w->options->step;
    actuation_set_inputs(w, tree, at);
    if (parts->lengths) { /* where this step is expected to lead, so far */
        sim_range bodies = sim_tree_range(w->model, tree);
        sim_advance(w->model, bodies, at->q, at->v, at->place * w->options->step, w->q_point);
        sim_kinematics(w->derived, bodies, w->q_point);
    }
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
        if (a->transmission == SIM_BY_JOINT) {
            drive_law *law = &w->law[k];
            set_law(a, a->gear * coordinate_of(w, a, at->q), a->gear * at->v[a->dof], law);
            w->gain[k] = dt * (law->kd + law->damping) + at->travel * dt * dt * (law->kp + law->stiffness);
        } else {
            set_length_law(w, k, at);
        }
    }
}

/* The force that a joint's actuator asks for; the sizes of its terms in `strength`. */
static double ask_joint_force(const motion_work *w, int k, const force_point *at, double *strength) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    const drive_law *law = &w->law[k];
    double l = a->gear * coordinate_of(w, a, at->q_end), rate = a->gear * at->v_end[a->dof];
    double sum = law->feedforward;
    *strength = 0;
    /* compensation of gravity, PD law */
    if (a->gravity_compensation) {
        sum += w->hold[a->dof] / a->gear;
    }
    sum += law->kp * (law->target - l) + law->kd * (law->target_rate - rate);
    *strength += law->kp * (fabs(law->target) + fabs(l)) + law->kd * (fabs(law->target_rate) + fabs(rate));
    /* gain u + bias, or muscle */
    sum += law->force - law->stiffness * l - law->damping * rate;
    *strength += fabs(law->force) + law->stiffness * fabs(l) + law->damping * fabs(rate);
    return sum;
}

/* Of a joint's actuator; is it at an end of its range? */
static bool add_joint_force(motion_work *w, int k, const force_point *at, double *tau) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    const double *range = w->range[k];
    double strength, sum = ask_joint_force(w, k, at, &strength), within = within_range(w, k, sum);
    w->asked[k] = sum;
    w->clamped[k] = (sum > range[1]) - (sum < range[0]);
    w->clamped[k] = range[0] == range[1] && !w->clamped[k] ? 1 : w->clamped[k];
    w->strength[a->dof] += fabs(a->gear) * (w->clamped[k] ? fabs(within) : fabs(sum) + strength);
    tau[a->dof] += a->gear * within;
    return w->clamped[k] != 0 || shared_effort_side(w, k) != 0;
}

/* Ranges of actuators that share that of their joint or tendon, at the same forces. */
static void narrow_shared(motion_work *w, int tree, const force_point *at) {
    const tree_parts *parts = &w->parts[tree];
    for (int s = parts->shared0; s < parts->shared0 + parts->shareds; s++) {
        for (int i = 0; i < w->shared[s].count && w->shared[s].joint; i++) {
            int k = w->shared[s].member[i];
            double strength;
            w->asked[k] = ask_joint_force(w, k, at, &strength);
        }
    }
    shared_effort_narrow(w, tree);
}

int actuation_add_forces(motion_work *w, int tree, const force_point *at, double *tau) {
    const tree_parts *parts = &w->parts[tree];
    int saturated = 0;
    narrow_shared(w, tree, at);
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
        saturated += a->transmission == SIM_BY_JOINT ? add_joint_force(w, k, at, tau) : add_length_force(w, k, tau);
    }
    return saturated;
}

void actuation_add_gains(motion_work *w, int tree) {
    const tree_parts *parts = &w->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
        if (a->transmission == SIM_BY_JOINT) {
            w->extra[a->dof] += w->clamped[k] == 0 ? a->gear * a->gear * w->gain[k] : 0;
        }
    }
}

void actuation_keep(motion_work *w, int tree, const double *from, const double *to) {
    const tree_parts *parts = &w->parts[tree];
    for (int k = parts->actuator0; k < parts->actuator0 + parts->actuators; k++) {
        int i = w->actuator_order[k];
        const sim_actuator *a = &w->model->actuator[i];
        bool moves = to && a->transmission == SIM_BY_JOINT;
        double asked = w->asked[k] - (moves ? w->gain[k] * (a->gear * (to[a->dof] - from[a->dof])) : 0);
        double found = w->row_effort[i];
        w->next->effort[i] = isnan(found) ? within_range(w, k, asked) : found;
        w->next->activation[i] = a->activation.type ? activation_at(w, i, w->options->step) : 0;
    }
}

void actuation_keep_history(motion_work *w) {
    for (int k = 0; k < w->model->nactuator; k++) {
        const sim_actuator *a = &w->model->actuator[k];
        if (a->delay > 0) {
            double *to = w->next->history + a->history;
            delay_shift(to, w->now->history + a->history, a->delay_steps, 1);
            to[0] = input_at(input_set(w, k, SIM_CTRL), &a->ctrl, w->now->time);
        }
    }
}

double actuation_pull(const motion_work *w, int k) {
    const sim_actuator *a = &w->model->actuator[w->actuator_order[k]];
    return a->transmission == SIM_BY_CONTACTS ? fmax(within_range(w, k, w->asked[k]), 0) : 0;
}

/* Forces fall in a straight line with the acceleration from where they were last evaluated: of joints at a_try, of
 * others at rest. */
void actuation_list_limited(motion_work *w, int tree) {
    const tree_parts *parts = &w->parts[tree];
    for (int i = parts->limited0; i < parts->limited_end; i++) {
        int k = w->limited_order[i], actuator = w->actuator_order[k];
        const sim_actuator *a = &w->model->actuator[actuator];
        const drive_law *law = &w->law[k];
        bool joint = a->transmission == SIM_BY_JOINT, bounded = isfinite(w->range[k][0]);
        double middle = middle_force(w, k), start = w->asked[k];
        if (joint) {
            start += w->gain[k] * (a->gear * (w->a_try[a->dof] + w->now->v[a->dof] / w->options->step));
        }
        w->limited[i] = (contact_actuator){.actuator = actuator,
                                           .side = w->clamped[k],
                                           .gain = w->range[k][0] < w->range[k][1] ? w->gain[k] : 0,
                                           .force = start - middle,
                                           .middle = middle,
                                           .bound = bounded ? 0.5 * (w->range[k][1] - w->range[k][0]) : INFINITY,
                                           .range = w->range[k],
                                           .stiffness = law->kp + law->stiffness,
                                           .damping = law->kd + law->damping,
                                           .moment = joint ? NULL : w->moment[k]};
    }
}
