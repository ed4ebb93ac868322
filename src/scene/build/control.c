/* Loads: names to joints and bodies, tracks to the builder; and the order of all that acts (actuators are in
 * actuator.c). */
#include "math/v3.h"
#include "model/track/formula.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (found < 0 || !l->entries[found].read || !loader_has_frame(l, &l->entries[found], at)) {
        return;
    }
    const entry *e = &l->entries[found];
    sim_load load = {.name = d.name ? loader_keep_name(l, s, d.name, n) : e->name, .body = -1, .dof = (int)d.dof};
    load.point = site ? site->pose.p : v3_make(d.point[0], d.point[1], d.point[2]);
    /* a wrench on a body, or an effort at a joint */
    if (!d.joint) {
        if (d.torque.at) {
            add_wrench(l, &d, &d.torque, 0, load, e->index);
        }
        if (d.force.at) {
            add_wrench(l, &d, &d.force, 3, load, e->index);
        }
    } else if (loader_has_dof(l, e, d.dof, at, node_member(n, "dof")) &&
               read_track(l, &d.value, 1, TRACK_EFFORT, &load.track) && loader_good(l) &&
               sim_builder_add_load(l->builder, &load, e->index) < 0) {
        loader_report_refusal(l, n);
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
    /* tendons, then actuators: elements of outer models may name them */
    for (int i = 0; i < count && !l->stopped; i++) {
        for (const node *n = elements_of(in_order[i]->model, "tendons"); n && !l->stopped; n = n->next) {
            read_tendon(l, in_order[i], n);
        }
    }
    for (int i = 0; i < count && !l->stopped; i++) {
        for (const node *n = elements_of(in_order[i]->model, "controllers"); n && !l->stopped; n = n->next) {
            list_frames(l, in_order[i], n);
        }
        for (const node *n = elements_of(in_order[i]->model, "actuators"); n && !l->stopped; n = n->next) {
            list_frames(l, in_order[i], n);
            read_actuator(l, in_order[i], n);
        }
    }
    /* elements of each */
    for (int i = 0; i < count && !l->stopped; i++) {
        for (const node *n = elements_of(in_order[i]->model, "loads"); n && !l->stopped; n = n->next) {
            read_load(l, in_order[i], n);
        }
        for (const node *n = elements_of(in_order[i]->model, "exclusions"); n && !l->stopped; n = n->next) {
            read_exclusion(l, in_order[i], n);
        }
        for (const node *n = elements_of(in_order[i]->model, "sensors"); n && !l->stopped; n = n->next) {
            read_sensor(l, in_order[i], n);
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
