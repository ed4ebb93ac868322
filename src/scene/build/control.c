/* Actuators and loads: names to joints and bodies, tracks to the builder. */
#include "math/v3.h"
#include "model/track/formula.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double at_once[1] = {0};

/* Which joints have coordinates of their own for each degree of freedom. */
static bool is_plain(sim_joint_type type) { return type != SIM_BALL && type != SIM_FREE; }

/* The degree of freedom counts within the joint. */
static bool has_dof(loader *l, const entry *e, int64_t dof, const node *at, const node *dof_at) {
    int nv = sim_joint_nv(e->type);
    if (nv == 0) {
        report_once(&l->report, at, NULL, "the joint of \"%.80s\" is fixed and cannot be driven", e->name);
        return false;
    }
    if (dof >= nv) {
        report_once(&l->report, dof_at ? dof_at : at, NULL,
                    "the %s joint of \"%.80s\" has no degree of freedom %d; it has 0 to %d", sim_joint_name(e->type),
                    e->name, (int)dof, nv - 1);
        return false;
    }
    return true;
}

static const char *full_name(loader *l, const scope *s, const char *name) {
    char text[MAX_NAME_BYTES + 1];
    if (!name || !loader_full_name(s, name, text)) {
        return NULL;
    }
    char *kept = pool_text(l->work, text);
    l->report.no_memory |= !kept;
    return kept;
}

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

static void add_actuator(loader *l, const scope *s, const actuator_data *d, entry *e, bool many) {
    /* a degree of freedom that is a single coordinate, with no other actuator on it */
    const node *at = node_member(d->at, "joint");
    if (!e->read || !has_dof(l, e, d->dof, at, node_member(d->at, "dof"))) {
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
    /* gains and the lesser of both effort limits; the target is 0 until a track sets it */
    double effort = node_member(d->at, "effort") ? d->effort : INFINITY;
    sim_actuator a = {.name = many || !d->name ? (e->joint_name ? e->joint_name : e->name) : full_name(l, s, d->name),
                      .dof = (int)d->dof,
                      .kp = d->kp,
                      .kd = d->kd,
                      .effort = fmin(effort, e->effort[d->dof]),
                      .gravity_compensation = d->gravity_compensation};
    a.target = (sim_track){.interpolation = SIM_HOLD, .keys = 1, .width = 1, .times = at_once, .values = at_once};
    a.feedforward = (sim_track){.interpolation = SIM_HOLD, .width = 1};
    /* target and feed-forward over time */
    bool good = !d->target.at || read_track(l, &d->target, 1, TRACK_TARGET, &a.target);
    good &= !d->feedforward.at || read_track(l, &d->feedforward, 1, TRACK_EFFORT, &a.feedforward);
    if (good && loader_good(l)) {
        sim_builder_add_actuator(l->builder, e->index, &a);
    }
}

static void read_actuator(loader *l, const scope *s, const node *n) {
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

/* ---- loads ---- */

/* Three values as six, from `first` on; the others are 0. */
static bool widen_to_six(loader *l, const sim_track *from, int first, sim_track *out) {
    double *values = POOL_NEW(l->work, double, 6 * from->keys);
    sim_term *term = POOL_NEW(l->work, sim_term, from->terms + 3);
    if (!values || !term) {
        l->report.no_memory = true;
        return false;
    }
    for (int i = 0; i < from->keys; i++) {
        memcpy(values + 6 * i + first, from->values + 3 * i, 3 * sizeof *values);
    }
    *out = *from;
    out->width = 6;
    out->values = values;
    if (from->terms) { /* three constants before or behind */
        const sim_term zero = {0, FORMULA_NUMBER};
        for (int k = 0; k < 3; k++) {
            term[first ? k : from->terms + k] = zero;
        }
        memcpy(term + first, from->term, (size_t)from->terms * sizeof *term);
        out->term = term;
        out->terms = from->terms + 3;
    }
    return true;
}

/* Force or torque alone as a wrench (moment, force). */
static bool add_wrench(loader *l, const load_data *d, const track_data *from, int first, sim_load load, int body) {
    sim_track track;
    if (!read_track(l, from, 3, TRACK_EFFORT, &track) || !widen_to_six(l, &track, first, &load.track)) {
        return false;
    }
    load.dof = -1;
    load.local = d->frame;
    return !loader_good(l) || sim_builder_add_load(l->builder, &load, body) >= 0;
}

/* Keys that speak of bodies in a load on a joint, and the other way round. */
static bool check_load_keys(loader *l, const load_data *d) {
    static const char *const of_body[] = {"point", "frame", "force", "torque"};
    static const char *const of_site[] = {"dof", "value", "point"}, *const of_joint[] = {"dof", "value"};
    const char *const *others = d->site ? of_site : d->body ? of_joint : of_body;
    int count = d->site ? 3 : d->body ? 2 : 4;
    for (int i = 0; i < count; i++) {
        const node *wrong = node_member(d->at, others[i]);
        if (wrong) {
            report_once(&l->report, wrong, NULL, "the key \"%s\" does not belong to a load on a %s", wrong->key,
                        d->site   ? "site"
                        : d->body ? "body"
                                  : "joint");
            return false;
        }
    }
    bool wrench = d->body || d->site;
    if (wrench ? !d->force.at && !d->torque.at : !d->value.at) {
        report_once(&l->report, d->at, NULL,
                    wrench ? "a load on a body or site needs \"force\" or \"torque\""
                           : "a load on a joint needs \"value\"");
        return false;
    }
    return true;
}

static void read_load(loader *l, const scope *s, const node *n) {
    load_data d;
    if (!loader_read(l, n, &table_load, &d) || !check_load_keys(l, &d)) {
        return;
    }
    /* the body, site or joint that carries the load */
    const node *at = node_member(n, d.body ? "body" : d.site ? "site" : "joint");
    const site_entry *site = d.site ? loader_find_site(l, s, d.site, at) : NULL;
    int found = d.site   ? (site ? site->body : -1)
                : d.body ? loader_find(l, s, d.body, at)
                         : loader_find_joint(l, s, d.joint, at);
    if (found < 0 || !l->entries[found].read) {
        return;
    }
    const entry *e = &l->entries[found];
    sim_load load = {.name = d.name ? full_name(l, s, d.name) : e->name, .body = -1, .dof = (int)d.dof};
    load.point = site ? site->pose.p : v3_make(d.point[0], d.point[1], d.point[2]);
    /* a wrench on a body, or an effort at a joint */
    if (!d.joint) {
        if (d.torque.at) {
            add_wrench(l, &d, &d.torque, 0, load, e->index);
        }
        if (d.force.at) {
            add_wrench(l, &d, &d.force, 3, load, e->index);
        }
    } else if (has_dof(l, e, d.dof, at, node_member(n, "dof")) &&
               read_track(l, &d.value, 1, TRACK_EFFORT, &load.track) && loader_good(l)) {
        sim_builder_add_load(l->builder, &load, e->index);
    }
}

static const node *elements_of(const node *model, const char *key) {
    const node *list = node_member(model, key);
    return list && list->kind == NODE_ARRAY ? list->first : NULL;
}

/* In the order of the file: the scene's own first, then those of the copies as they were made. */
void build_control(loader *l) {
    /* scopes, the oldest first */
    int count = 0;
    for (const scope *s = l->scopes; s; s = s->older) {
        count++;
    }
    const scope **in_order = POOL_NEW(l->work, const scope *, count);
    if (!in_order) {
        l->report.no_memory = true;
        return;
    }
    for (const scope *s = l->scopes; s; s = s->older) {
        in_order[--count] = s;
    }
    for (const scope *s = l->scopes; s; s = s->older) {
        count++;
    }
    /* elements of each */
    for (int i = 0; i < count && !l->stopped; i++) {
        for (const node *n = elements_of(in_order[i]->model, "actuators"); n && !l->stopped; n = n->next) {
            read_actuator(l, in_order[i], n);
        }
        for (const node *n = elements_of(in_order[i]->model, "loads"); n && !l->stopped; n = n->next) {
            read_load(l, in_order[i], n);
        }
        for (const node *n = elements_of(in_order[i]->model, "exclusions"); n && !l->stopped; n = n->next) {
            read_exclusion(l, in_order[i], n);
        }
        for (const node *n = elements_of(in_order[i]->model, "keyframes"); n && !l->stopped; n = n->next) {
            read_keyframe(l, in_order[i], n);
        }
        read_self_contact(l, in_order[i]);
        for (const node *n = elements_of(in_order[i]->model, "constraints"); n && !l->stopped; n = n->next) {
            read_constraint(l, in_order[i], n);
        }
    }
}
