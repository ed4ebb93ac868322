/* Actuators of a scene: transmissions, laws and inputs to the builder. */
#include "math/v3.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <string.h>

/* Which joints have coordinates of their own for each degree of freedom. */
static bool is_plain(sim_joint_type type) { return type != SIM_BALL && type != SIM_FREE; }

/* Two actuators would have to share the effort of their joint. */
static bool may_drive(loader *l, const actuator_data *d, entry *e, const node *at) {
    if (isfinite(e->effort[d->dof]) && e->driven >> d->dof & 1) {
        report_once(&l->report, at, "give each actuator an \"effort\" in place of the joint's",
                    "the joint of \"%.80s\" has an effort limit, and an actuator already", e->name);
        return false;
    }
    e->driven |= 1u << d->dof;
    return true;
}

static bool read_gear(loader *l, const actuator_data *d, sim_actuator *a) {
    const node *at = node_member(d->at, "gear");
    if (d->gear.count > 1) {
        report_once(&l->report, at, NULL, "the gear of a single degree of freedom is one number");
        return false;
    }
    a->gear = d->gear.count ? d->gear.value[0] : 1;
    if (a->gear == 0) {
        report_once(&l->report, at, NULL, "a gear of 0 transmits nothing");
    }
    return a->gear != 0;
}

/* Two numbers, the lesser first; those that are not given stay. */
static bool read_pair(loader *l, const node *parent, const char *key, const double *from, bool apart, double *to) {
    const node *at = node_member(parent, key);
    if (!at) {
        return true;
    }
    if (apart ? !(from[0] < from[1]) : !(from[0] <= from[1])) {
        report_once(&l->report, at, NULL, "expected the lesser number first, not [%g, %g]", from[0], from[1]);
        return false;
    }
    memcpy(to, from, 2 * sizeof *to);
    return true;
}

static bool read_activation(loader *l, const activation_data *d, sim_activation *out) {
    if (!d->at) {
        return true;
    }
    /* time constants */
    out->type = (sim_activation_type)(d->type + 1);
    out->initial = d->initial;
    bool muscle = out->type == SIM_MUSCULAR;
    int times = d->time_constant.count;
    if (times && times != 1 + muscle) {
        report_once(&l->report, node_member(d->at, "time_constant"), NULL,
                    muscle ? "a muscle has two time constants: of its rise and of its fall"
                           : "a filter has one time constant");
        return false;
    }
    for (int k = 0; k < times; k++) {
        out->time_constant[k] = d->time_constant.value[k];
    }
    /* range, and the start within it */
    out->range[0] = muscle ? 0 : out->range[0];
    out->range[1] = muscle ? 1 : out->range[1];
    if (!read_pair(l, d->at, "range", d->range, true, out->range)) {
        return false;
    }
    if (out->initial < out->range[0] || out->initial > out->range[1]) {
        const node *at = node_member(d->at, "initial");
        report_once(&l->report, at ? at : d->at, NULL, "the activation starts at %g, out of its range", out->initial);
        return false;
    }
    return true;
}

/* Gains, limits and inputs; the target is 0 until a track sets it. */
static bool read_law(loader *l, const actuator_data *d, sim_actuator *a) {
    static const double at_once[1] = {0};
    a->kp = d->kp;
    a->kd = d->kd;
    memcpy(a->gain, d->gain, sizeof a->gain);
    memcpy(a->bias, d->bias, sizeof a->bias);
    a->effort = node_member(d->at, "effort") ? d->effort : INFINITY;
    bool good = read_pair(l, d->at, "ctrl_range", d->ctrl_range, false, a->ctrl_range);
    good &= read_pair(l, d->at, "force_range", d->force_range, true, a->force_range);
    good &= read_activation(l, &d->activation, &a->activation);
    a->target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = at_once, .values = at_once};
    good &= !d->target.at || read_track(l, &d->target, 1, TRACK_TARGET, &a->target);
    good &= !d->feedforward.at || read_track(l, &d->feedforward, 1, TRACK_EFFORT, &a->feedforward);
    return good && (!d->ctrl.at || read_track(l, &d->ctrl, 1, TRACK_EFFORT, &a->ctrl));
}

/* Some force is within both its range and its effort. */
static bool check_limits(loader *l, const actuator_data *d, const sim_actuator *a) {
    if (a->force_range[0] < a->effort && a->force_range[1] > -a->effort) {
        return true;
    }
    report_once(&l->report, node_member(d->at, "force_range"), NULL, "all these forces are beyond the effort of %g",
                a->effort);
    return false;
}

/* The first of a name counts. */
static void name_actuator(loader *l, const char *name, int index) {
    if (names_find(&l->actuators, name) < 0) {
        l->report.no_memory |= !names_add(&l->actuators, name, index);
    }
}

static void add_actuator(loader *l, const scope *s, const actuator_data *d, entry *e, bool many) {
    /* a degree of freedom that is a single coordinate, with no other actuator on it */
    const node *at = node_member(d->at, "joint");
    if (!e->read || !loader_has_dof(l, e, d->dof, at, node_member(d->at, "dof"))) {
        return;
    }
    if (!is_plain(e->type)) {
        report_once(&l->report, at, NULL, "a %s joint has no coordinates for an actuator (\"%.80s\")",
                    sim_joint_name(e->type), e->name);
        return;
    }
    if (!may_drive(l, d, e, at)) {
        return;
    }
    /* law; the joint's limit of efforts is one of forces behind the gear */
    sim_actuator a = sim_actuator_default();
    a.name = many || !d->name ? (e->joint_name ? e->joint_name : e->name) : loader_keep_name(l, s, d->name);
    a.dof = (int)d->dof;
    a.gravity_compensation = d->gravity_compensation;
    bool good = read_gear(l, d, &a) && read_law(l, d, &a);
    a.effort = fmin(a.effort, e->effort[d->dof] / fabs(a.gear));
    good = good && check_limits(l, d, &a);
    if (good && loader_good(l)) {
        name_actuator(l, a.name, sim_builder_add_actuator(l->builder, e->index, &a));
    }
}

void read_actuator(loader *l, const scope *s, const node *n) {
    actuator_data d;
    char pattern[MAX_NAME_BYTES + 1];
    if (!loader_read(l, n, &table_actuator, &d)) {
        return;
    }
    const node *at = node_member(n, "joint");
    /* one joint by its name */
    if (!strchr(d.joint, '*')) {
        int found = loader_find_joint(l, s, d.joint, at);
        if (found >= 0) {
            add_actuator(l, s, &d, &l->entries[found], false);
        }
        return;
    }
    if (!loader_full_name(s, d.joint, pattern)) {
        return;
    }
    /* every joint that the pattern matches and that can be driven */
    bool any = false;
    for (int i = s->first; i < s->end && loader_spend(l, 0, at); i++) {
        entry *e = &l->entries[i];
        if (loader_joint_matches(l, e, pattern) && (!e->read || (is_plain(e->type) && e->type != SIM_FIXED))) {
            add_actuator(l, s, &d, e, true);
            any = true;
        }
    }
    if (!any && !l->stopped) {
        report_once(&l->report, at, NULL, "no joint that can be driven matches \"%.100s\"", d.joint);
    }
}
