/* Phases: a state machine that leads other controllers and switches constraints.
 *
 * A phase begins with its targets and switches.  At the start of each step the first of its transitions whose conditions
 * all hold leads to another phase; at most one does in a step.  Contacts and readings are those of the step before.
 * The memory is the number of the phase, and the time at which it began. */
#include "control/control.h"
#include "dyn/soft/soft_body.h"
#include "math/spatial.h"

/* Targets count from 1 through all phases of all controllers (lead.c). */
static int first_target_of(const sim_model *m, const sim_controller *c, int phase) {
    int id = 1;
    for (int k = 0; k < m->ncontroller; k++) {
        for (int p = 0; p < m->controller[k].nphase; p++) {
            if (&m->controller[k] == c && p == phase) {
                return id;
            }
            id += m->controller[k].phase[p].ntarget;
        }
    }
    return id;
}

/* Do two bodies press on each other?  second < 0: the first on any. */
static bool are_pressed(const control_work *w, const control_input *in, int first, int second) {
    for (int k = 0; k < in->ncontact; k++) {
        const sim_contact *c = &in->contact[k];
        if (is_pair_of(w->model, c->body_a, c->body_b, first, second) && v3_dot(in->impulse[k], in->impulse[k]) > 0) {
            return true;
        }
    }
    return false;
}

static double quantity_of(const control_work *w, const control_input *in, const sim_condition *q, double began) {
    const sim_model *m = w->model;
    switch (q->quantity) {
    case SIM_ELAPSED:
        return in->time - began + 1e-9 * in->step; /* times of steps are rounded */
    case SIM_TIME_PASSED:
        return in->time + 1e-9 * in->step;
    case SIM_READING:
        return in->sensor[q->first];
    case SIM_SITE_DISTANCE: {
        const sim_site *a = &m->site[q->first], *b = &m->site[q->second];
        return v3_norm(v3_sub(pose_point(w->d->pose[a->body], a->pose.p), pose_point(w->d->pose[b->body], b->pose.p)));
    }
    default:
        return are_pressed(w, in, q->first, q->second);
    }
}

static bool is_due(const control_work *w, const control_input *in, const sim_transition *t, double began) {
    bool all = true;
    for (int k = 0; k < t->ncondition && all; k++) {
        double x = quantity_of(w, in, &t->condition[k], began);
        all = x >= t->condition[k].low && x <= t->condition[k].high;
    }
    return all;
}

static void enter_phase(control_work *w, const control_input *in, const sim_controller *c, int phase) {
    const sim_phase *p = &c->phase[phase];
    int id = first_target_of(w->model, c, phase);
    w->next[c->first] = phase;
    w->next[c->first + 1] = in->time;
    for (int k = 0; k < p->ntarget; k++) {
        lead_to(w, in, &p->target[k], id + k);
    }
    for (int k = 0; k < p->nswitch; k++) {
        w->change[w->nchange++] = p->change[k];
    }
}

void phases_evaluate(control_work *w, const control_input *in, const sim_controller *c) {
    int phase = (int)w->next[c->first];
    if (phase < 0) {
        enter_phase(w, in, c, 0);
        return;
    }
    const sim_phase *p = &c->phase[phase];
    for (int k = 0; k < p->ntransition; k++) {
        if (is_due(w, in, &p->transition[k], w->next[c->first + 1])) {
            enter_phase(w, in, c, p->transition[k].to);
            return;
        }
    }
}
