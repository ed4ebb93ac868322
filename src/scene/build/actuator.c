/* Actuators of a scene: transmissions, laws and inputs to the builder. */
#include "math/v3.h"
#include "model/parts/delay.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS_OF_DELAY = 100000 }; /* in the state of a world, for each number that is late */

/* Which joints have coordinates of their own for each degree of freedom. */
static bool is_plain(sim_joint_type type) { return type != SIM_BALL && type != SIM_FREE; }

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

bool read_delay(loader *l, const node *parent, double delay, int *steps) {
    double count = delay > 0 ? delay_in_steps(delay, l->scene->options.step) : 0;
    if (count > MOST_STEPS_OF_DELAY) {
        report_once(&l->report, node_member(parent, "delay"), NULL,
                    "a delay has at most %d steps, and there are %.0f of %g s", MOST_STEPS_OF_DELAY, count,
                    l->scene->options.step);
        return false;
    }
    *steps = (int)count;
    return loader_spend(l, *steps, parent);
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
    a->delay = d->delay;
    a->effort = node_member(d->at, "effort") ? d->effort : INFINITY;
    bool good = read_pair(l, d->at, "ctrl_range", d->ctrl_range, false, a->ctrl_range);
    good &= read_pair(l, d->at, "force_range", d->force_range, true, a->force_range);
    good &= read_delay(l, d->at, d->delay, &a->delay_steps);
    good &= read_activation(l, &d->activation, &a->activation);
    a->target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = at_once, .values = at_once};
    good &= !d->target.at || read_track(l, &d->target, 1, TRACK_TARGET, &a->target);
    good &= !d->feedforward.at || read_track(l, &d->feedforward, 1, TRACK_EFFORT, &a->feedforward);
    return good && (!d->ctrl.at || read_track(l, &d->ctrl, 1, TRACK_EFFORT, &a->ctrl));
}

/* Force and lengths that are neither given nor those of the joint's range are 1, and 0 to 1, until they are found. */
static bool read_muscle(loader *l, const muscle_data *d, const double *reach, sim_muscle *out) {
    const node *range_at = node_member(d->at, "range"), *force = node_member(d->at, "force");
    bool ends = isfinite(reach[0]) && isfinite(reach[1]);
    /* its numbers */
    *out = (sim_muscle){.force = force ? d->force : 1,
                        .length_range = {ends ? reach[0] : 0, ends ? reach[1] : 1},
                        .range = {d->range[0], d->range[1]},
                        .lmin = d->lmin,
                        .lmax = d->lmax,
                        .vmax = d->vmax,
                        .fpmax = d->fpmax,
                        .fvmax = d->fvmax};
    /* one law of the force; ranges */
    if (force && node_member(d->at, "scale")) {
        report_once(&l->report, node_member(d->at, "scale"), NULL, "a muscle with a force has no scale");
        return false;
    }
    if (!(d->range[0] < d->range[1])) {
        report_once(&l->report, range_at ? range_at : d->at, NULL, "expected the lesser number first, not [%g, %g]",
                    d->range[0], d->range[1]);
        return false;
    }
    return read_pair(l, d->at, "length_range", d->length_range, true, out->length_range);
}

/* A muscle of the model, for complete_muscles. */
static void note_muscle(loader *l, const muscle_data *d, const double *reach, int index) {
    bool force = node_member(d->at, "force"), ends = isfinite(reach[0]) && isfinite(reach[1]);
    bool lengths = ends || node_member(d->at, "length_range");
    if (!d->at || index < 0 || (force && lengths)) {
        return;
    }
    muscle_entry *e = POOL_NEW(l->work, muscle_entry, 1);
    if (!e) {
        l->report.no_memory = true;
        return;
    }
    *e = (muscle_entry){d->at, index, force ? 0 : d->scale, !lengths, l->muscles};
    l->muscles = e;
}

/* Without a length, and a joint, there is nothing to feed back, or to scale. */
static bool check_contact_keys(loader *l, const actuator_data *d) {
    static const char *const none[] = {"kp", "kd", "target", "gear", "muscle"};
    for (size_t k = 0; k < sizeof none / sizeof none[0] && d->contacts_of; k++) {
        const node *wrong = node_member(d->at, none[k]);
        if (wrong) {
            report_once(&l->report, wrong, NULL, "an actuator of contacts has no \"%s\"", wrong->key);
            return false;
        }
    }
    const node *gain = node_member(d->at, "gain"), *bias = node_member(d->at, "bias");
    bool follows[2] = {d->gain[1] != 0 || d->gain[2] != 0, d->bias[1] != 0 || d->bias[2] != 0};
    if (d->contacts_of && (follows[0] || follows[1])) {
        report_once(&l->report, follows[0] ? gain : bias, NULL,
                    "an actuator of contacts has no length: expected 0 behind the first number");
        return false;
    }
    return true;
}

/* Keys that do not belong to this transmission. */
static bool check_keys(loader *l, const actuator_data *d) {
    static const char *const of_joint[] = {"dof", "gravity_compensation", "gear_in_parent"};
    static const char *const of_law[] = {"gain", "bias", "gain"};
    for (int k = 0; k < 3; k++) {
        const node *wrong = d->joint ? NULL : node_member(d->at, of_joint[k]);
        const node *twice = d->muscle.at ? node_member(d->at, of_law[k]) : NULL;
        if (wrong) {
            report_once(&l->report, wrong, NULL, "the key \"%s\" belongs to the actuator of a joint", wrong->key);
            return false;
        }
        if (twice) {
            report_once(&l->report, twice, NULL, "a muscle has no \"%s\": its curves give the force", twice->key);
            return false;
        }
    }
    const node *reference = d->site ? NULL : node_member(d->at, "reference_site");
    if (reference) {
        report_once(&l->report, reference, NULL, "the key \"reference_site\" belongs to the actuator of a site");
    }
    return !reference && check_contact_keys(l, d);
}

/* Some force within its own limits has an effort behind the gear within those of the joint. */
static bool check_forces(loader *l, const actuator_data *d, const double *effort, const sim_actuator *a) {
    double low = fmin(effort[0] / a->gear, effort[1] / a->gear), high = fmax(effort[0] / a->gear, effort[1] / a->gear);
    low = fmax(fmax(low, -a->effort), a->force_range[0]);
    high = fmin(fmin(high, a->effort), a->force_range[1]);
    if (!(low < high)) {
        const node *own = node_member(d->at, "force_range"), *at = own ? own : d->at;
        report_once(&l->report, at, NULL, "no force is within the limits of both the actuator and its joint");
    }
    return low < high;
}

/* The first of a name counts. */
static void name_actuator(loader *l, const char *name, int index) {
    if (names_find(&l->actuators, name) < 0) {
        l->report.no_memory |= !names_add(&l->actuators, name, index);
    }
}

/* Torque on a ball joint, or force and torque on a free one. */
static void add_orientation_actuator(loader *l, const scope *s, const actuator_data *d, entry *e) {
    static const char *const of_dof[] = {"dof", "gravity_compensation"};
    const node *gear = node_member(d->at, "gear");
    int count = sim_joint_nv(e->type);
    for (int k = 0; k < 2; k++) {
        if (node_member(d->at, of_dof[k])) {
            report_once(&l->report, node_member(d->at, of_dof[k]), NULL, "a %s joint has no coordinates (\"%.80s\")",
                        sim_joint_name(e->type), e->name);
            return;
        }
    }
    if (d->gear.count != count) {
        report_once(&l->report, gear ? gear : d->at, NULL, "the gear of a %s joint is %d numbers",
                    sim_joint_name(e->type), count);
        return;
    }
    const double none[2] = {-INFINITY, INFINITY};
    sim_actuator a = sim_actuator_default();
    a.name = d->name ? loader_keep_name(l, s, d->name, d->at) : e->joint_name ? e->joint_name : e->name;
    a.transmission = SIM_BY_ORIENTATION;
    a.dof = -1;
    a.in_parent = d->gear_in_parent;
    memcpy(a.wrench + 6 - count, d->gear.value, (size_t)count * sizeof *a.wrench);
    bool good = read_law(l, d, &a) && check_forces(l, d, none, &a);
    good = good && (!d->muscle.at || read_muscle(l, &d->muscle, none, &a.muscle));
    if (good && loader_good(l)) {
        int index = sim_builder_add_actuator(l->builder, e->index, &a);
        name_actuator(l, a.name, index);
        note_muscle(l, &d->muscle, none, index);
    }
}

static void add_actuator(loader *l, const scope *s, const actuator_data *d, entry *e, bool many) {
    /* a degree of freedom that is a single coordinate */
    const node *at = node_member(d->at, "joint");
    if (e->read && !is_plain(e->type)) {
        add_orientation_actuator(l, s, d, e);
        return;
    }
    if (!e->read || !loader_has_dof(l, e, d->dof, at, node_member(d->at, "dof"))) {
        return;
    }
    if (node_member(d->at, "gear_in_parent")) {
        report_once(&l->report, node_member(d->at, "gear_in_parent"), NULL,
                    "the key \"gear_in_parent\" belongs to ball and free joints");
        return;
    }
    /* law */
    sim_actuator a = sim_actuator_default();
    a.name = many || !d->name ? (e->joint_name ? e->joint_name : e->name) : loader_keep_name(l, s, d->name, d->at);
    a.dof = (int)d->dof;
    a.gravity_compensation = d->gravity_compensation;
    bool good = read_gear(l, d, &a) && read_law(l, d, &a);
    good = good && check_forces(l, d, e->effort_range[d->dof], &a);
    double ends[2] = {a.gear * e->range[d->dof][0], a.gear * e->range[d->dof][1]};
    double reach[2] = {fmin(ends[0], ends[1]), fmax(ends[0], ends[1])};
    good = good && (!d->muscle.at || read_muscle(l, &d->muscle, reach, &a.muscle));
    if (!good || !loader_good(l)) {
        return;
    }
    int index = sim_builder_add_actuator(l->builder, e->index, &a);
    if (index < 0) {
        loader_report_refusal(l, d->at);
        return;
    }
    name_actuator(l, a.name, index);
    note_muscle(l, &d->muscle, reach, index);
}

/* A site of the scope, -1: not there (reported); its name. */
static int read_site(loader *l, const scope *s, const node *parent, const char *key, const char *name,
                     const char **found) {
    const site_entry *site = loader_find_site(l, s, name, node_member(parent, key));
    *found = site ? site->name : NULL;
    return site ? site->index : -1;
}

/* The gear of a site, six numbers; of others one. */
static bool read_wrench(loader *l, const actuator_data *d, sim_actuator *a) {
    const node *at = node_member(d->at, "gear");
    if (!d->site) {
        return read_gear(l, d, a);
    }
    if (d->gear.count != 6) {
        report_once(&l->report, at ? at : d->at, NULL, "the gear of a site is six numbers: force and torque");
        return false;
    }
    memcpy(a->wrench, d->gear.value, sizeof a->wrench);
    return true;
}

/* Sites or tendon of an actuator that is no joint's; the name of the first, NULL: not all are there (reported). */
static const char *find_ends(loader *l, const scope *s, const actuator_data *d, sim_actuator *a) {
    const slider_crank_data *crank = &d->slider_crank;
    const char *name = NULL, *other = NULL;
    if (d->tendon) {
        a->transmission = SIM_BY_TENDON;
        a->tendon = loader_find_tendon(l, s, d->tendon, node_member(d->at, "tendon"));
        return a->tendon >= 0 ? loader_keep_name(l, s, d->tendon, d->at) : NULL;
    }
    a->transmission = d->site ? SIM_BY_SITE : SIM_BY_SLIDER_CRANK;
    a->rod = crank->length;
    a->site[0] = d->site ? read_site(l, s, d->at, "site", d->site, &name)
                         : read_site(l, s, crank->at, "crank_site", crank->crank_site, &name);
    if (d->site && !d->reference_site) {
        return name;
    }
    a->site[1] = d->site ? read_site(l, s, d->at, "reference_site", d->reference_site, &other)
                         : read_site(l, s, crank->at, "slider_site", crank->slider_site, &other);
    return other ? name : NULL;
}

/* It pulls at the contacts of a body. */
static void add_contact_actuator(loader *l, const scope *s, const actuator_data *d) {
    const double none[2] = {-INFINITY, INFINITY};
    int body = loader_find(l, s, d->contacts_of, node_member(d->at, "contacts_of"));
    if (body < 0 || !l->entries[body].read) {
        return;
    }
    sim_actuator a = sim_actuator_default();
    a.transmission = SIM_BY_CONTACTS;
    a.dof = -1;
    a.name = d->name ? loader_keep_name(l, s, d->name, d->at) : l->entries[body].name;
    if (!read_law(l, d, &a) || !check_forces(l, d, none, &a) || !loader_good(l)) {
        return;
    }
    int index = sim_builder_add_actuator(l->builder, l->entries[body].index, &a);
    if (index < 0) {
        loader_report_refusal(l, d->at);
        return;
    }
    name_actuator(l, a.name, index);
}

static void add_other_actuator(loader *l, const scope *s, const actuator_data *d) {
    /* what it moves */
    sim_actuator a = sim_actuator_default();
    a.dof = -1;
    const char *name = find_ends(l, s, d, &a);
    /* law */
    const double none[2] = {-INFINITY, INFINITY};
    a.name = d->name ? loader_keep_name(l, s, d->name, d->at) : name;
    bool good = name && read_wrench(l, d, &a) && read_law(l, d, &a);
    good = good && check_forces(l, d, none, &a);
    good = good && (!d->muscle.at || read_muscle(l, &d->muscle, none, &a.muscle));
    if (!good || !loader_good(l)) {
        return;
    }
    int index = sim_builder_add_actuator(l->builder, 0, &a);
    if (index < 0) {
        loader_report_refusal(l, d->at);
        return;
    }
    name_actuator(l, a.name, index);
    note_muscle(l, &d->muscle, none, index);
}

void read_actuator(loader *l, const scope *s, const node *n) {
    actuator_data d;
    char pattern[MAX_NAME_BYTES + 1];
    if (!loader_read(l, n, &table_actuator, &d) || !check_keys(l, &d)) {
        return;
    }
    if (!d.joint) {
        (d.contacts_of ? add_contact_actuator : add_other_actuator)(l, s, &d);
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
