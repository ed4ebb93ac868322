/* Forces on bodies that no joint carries, as means over a step: of the caller, loads, actuators, contacts, constraints, tendons.
 *
 *     caller       the wrench at the body's origin
 *     load         f(t*) at the point of the load
 *     actuator     its force along its length, at its sites or tendon
 *     contact      gamma / dt at the contact, and the moment of torsion and rolling, on A; their opposites on B
 *     constraint   lambda / dt along the rows of contact/problem/row/equalities.c, at the frames of both bodies
 *     tendon       sum of its impulses / dt along its length, at its sites and where it meets shapes
 *
 *     gamma, lambda   impulses of the step, N s or N m s
 *     t*              the time at which the scheme takes loads, s
 *
 * A coupling and a fixed tendon act between a body and its parent, as motors do, and are part of what the joint
 * transmits. */
#include "dyn/motion/tendon.h"
#include "dyn/motion/transmission.h"
#include "world/integrator/motion.h"
#include "world/sensor/sensors.h"

/* Adds a force and a moment at a point of the world. */
static void push_body(world_sensors *w, int body, v3 point, v3 force_lin, v3 moment) {
    force f = force_at_parent((force){moment, force_lin}, v3_sub(point, w->mean->pose[body].p));
    w->external[body] = force_add(w->external[body], f);
}

static void add_contacts(world_sensors *w, const sim_state *now) {
    for (int k = 0; k < now->ncontact; k++) {
        const sim_contact *c = &now->contact[k];
        double rate = 1 / w->options->step;
        v3 f = v3_scale(rate, now->impulse[k]), moment = v3_scale(rate, c->moment);
        push_body(w, c->body_a, v3_axpy(c->at.position, 0.5, c->at.apart), f, moment);
        push_body(w, c->body_b, v3_axpy(c->at.position, -0.5, c->at.apart), v3_neg(f), v3_neg(moment));
    }
}

static void add_constraint(world_sensors *w, const sim_equality *e, const double *impulse) {
    /* where both frames stand */
    const sim_pose *X = w->mean->pose;
    v3 p[2] = {pose_point(X[e->body[0]], e->frame[0].p), pose_point(X[e->body[1]], e->frame[1].p)};
    double rate = 1 / w->options->step;
    v3 lin = {rate * impulse[0], rate * impulse[1], rate * impulse[2]}, ang = {0, 0, 0};
    /* one row along the line between them, or three along the axes, and three about them */
    if (sim_equality_rows(e->type) == 1) {
        v3 n = v3_sub(p[0], p[1]);
        double length = v3_norm(n);
        lin = length > 0 ? v3_scale(rate * impulse[0] / length, n) : v3_make(rate * impulse[0], 0, 0);
    } else if (e->type == SIM_WELD) {
        ang = v3_make(rate * impulse[3], rate * impulse[4], rate * impulse[5]);
    }
    push_body(w, e->body[0], p[0], lin, ang);
    push_body(w, e->body[1], p[1], v3_neg(lin), v3_neg(ang));
}

/* Of a tendon whose length follows a polynomial of that of another: x_1 = P(x_2) pulls by lambda and -P' lambda. */
static void add_tendon_coupling(world_sensors *w, const sim_equality *e, double lambda) {
    const sim_derived *d = w->mean;
    tendon_add_wrenches(d, e->tendon[0], lambda, w->external);
    if (e->tendon[1] >= 0) {
        double x = sim_tendon_length(d, e->tendon[1], w->q) - d->tendon_initial[e->tendon[1]];
        double slope = e->ratio + x * (2 * e->higher[0] + x * (3 * e->higher[1] + x * 4 * e->higher[2]));
        tendon_add_wrenches(d, e->tendon[1], -slope * lambda, w->external);
    }
}

static void add_constraints(world_sensors *w, const sim_state *now) {
    const sim_model *m = w->model;
    for (int k = 0; k < m->nequality; k++) {
        const sim_equality *e = &w->equality[k];
        const double *impulse = now->equality_impulse + (ptrdiff_t)SIM_MAX_ROWS * k;
        if (e->type == SIM_TENDON_COUPLING) {
            add_tendon_coupling(w, e, impulse[0] / w->options->step);
        } else if (e->type != SIM_COUPLING) {
            add_constraint(w, e, impulse);
        }
    }
    /* tendons: low end, high end, dry friction, spring */
    for (int k = 0; k < m->ntendon; k++) {
        const double *g = now->tendon_impulse + 4 * (ptrdiff_t)k;
        tendon_add_wrenches(w->mean, k, (g[0] - g[1] + g[2] + g[3]) / w->options->step, w->external);
    }
}

void sensors_sum_forces(world_sensors *w, const sim_state *now, const sim_state *before) {
    const sim_model *m = w->model;
    /* the caller's */
    for (int i = 0; i < m->nbody; i++) {
        w->external[i] = now->wrench[i];
    }
    /* loads */
    double time = before->time + theta_time(w->options->integrator) * w->options->step;
    for (int k = 0; k < m->nload; k++) {
        int body = m->load[k].body;
        if (body > 0) {
            w->external[body] = force_add(w->external[body], load_wrench(&m->load[k], &w->mean->pose[body], time));
        }
    }
    /* the fluid */
    for (int i = 1; i < m->nbody && w->drag; i++) {
        w->external[i] = force_add(w->external[i], w->drag[i]);
    }
    /* actuators of sites, slider-cranks and tendons */
    for (int k = 0; k < m->nactuator; k++) {
        transmission_add_wrenches(w->mean, &m->actuator[k], now->effort[k], w->external);
    }
    /* contacts, constraints between bodies, tendons */
    add_contacts(w, now);
    add_constraints(w, now);
}
