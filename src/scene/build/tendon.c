/* Tendons: names of joints, sites and shapes to those of the builder. */
#include "base/nearest.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <sim/dynamics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDED = 1e-6; /* part of a length, or m: written with six digits */

/* ---- round shapes by name ---- */

void note_round_shape(loader *l, const entry *e, const char *name, int index) {
    char full[MAX_NAME_BYTES + 1];
    if (!name || index < 0 || !loader_full_name(e->scope, name, full)) {
        return;
    }
    int found = names_find(&l->round_shapes, full);
    if (found >= 0) {
        l->round_shape[found] = -1; /* a second one of that name */
        return;
    }
    /* into the list */
    if (l->nround == l->round_room) {
        int room = l->round_room ? 2 * l->round_room : 64;
        int *more = realloc(l->round_shape, (size_t)room * sizeof *more);
        if (!more) {
            l->report.no_memory = true;
            return;
        }
        l->round_shape = more;
        l->round_room = room;
    }
    char *kept = pool_text(l->work, full);
    if (!kept || !names_add(&l->round_shapes, kept, l->nround)) {
        l->report.no_memory = true;
        return;
    }
    l->round_shape[l->nround++] = index;
}

static int find_round_shape(loader *l, const scope *s, const char *name, const node *at) {
    char full[MAX_NAME_BYTES + 1];
    int found = loader_full_name(s, name, full) ? names_find(&l->round_shapes, full) : -1;
    if (found >= 0 && l->round_shape[found] >= 0) {
        return l->round_shape[found];
    }
    if (!loader_good(l)) {
        return -1; /* shapes are listed only where all bodies are right */
    }
    if (found >= 0) {
        report_once(&l->report, at, "give each a name of its own", "several shapes have the name \"%.100s\"", name);
    } else {
        report_once(&l->report, at, NULL, "there is no sphere or cylinder \"%.100s\"%s", name,
                    s->outer ? " in this model" : "");
    }
    return -1;
}

/* ---- parts of a tendon ---- */

static bool read_point(loader *l, const scope *s, const node *n, sim_path_point *out) {
    path_data d;
    if (!loader_spend(l, 1, n) || !loader_read(l, n, &table_path_point, &d)) {
        return false;
    }
    /* a pulley, if it is nothing else */
    *out = (sim_path_point){.kind = SIM_PATH_PULLEY, .site = -1, .shape = -1, .divisor = d.pulley};
    if (d.side && !d.around) {
        report_once(&l->report, node_member(n, "side"), NULL, "a side belongs to \"around\"");
        return false;
    }
    /* a site, or the side of a shape */
    const char *name = d.site ? d.site : d.side;
    if (name) {
        const node *at = node_member(n, d.site ? "site" : "side");
        const site_entry *site = loader_find_site(l, s, name, at ? at : n);
        if (!site) {
            return false;
        }
        out->kind = SIM_PATH_SITE;
        out->site = site->index;
    }
    if (d.around) {
        out->kind = SIM_PATH_AROUND;
        out->shape = find_round_shape(l, s, d.around, node_member(n, "around"));
        return out->shape >= 0;
    }
    return true;
}

static bool read_path(loader *l, const scope *s, const node *list, sim_tendon *t) {
    sim_path_point *path = POOL_NEW(l->work, sim_path_point, list->count);
    bool good = path;
    l->report.no_memory |= !path;
    for (const node *n = list->first; n && path; n = n->next) {
        good &= read_point(l, s, n, &path[t->npoint++]);
    }
    t->path = path;
    return good;
}

static bool read_tendon_joint(loader *l, const scope *s, const node *n, sim_tendon_joint *out) {
    tendon_joint_data d;
    if (!loader_spend(l, 1, n) || !loader_read(l, n, &table_tendon_joint, &d)) {
        return false;
    }
    const node *at = node_member(n, "joint");
    int found = loader_find_joint(l, s, d.joint, at);
    if (found < 0 || !l->entries[found].read) {
        return false;
    }
    const entry *e = &l->entries[found];
    int nv = e->type == SIM_BALL ? 1 : e->type == SIM_FREE ? 0 : sim_joint_nv(e->type);
    if (d.dof >= nv) {
        report_once(&l->report, at, NULL, "the %s joint of \"%.80s\" has no coordinate %d for a tendon",
                    sim_joint_name(e->type), e->name, (int)d.dof);
        return false;
    }
    *out = (sim_tendon_joint){e->index, (int)d.dof, d.coefficient};
    return true;
}

static bool read_joints(loader *l, const scope *s, const node *list, sim_tendon *t) {
    sim_tendon_joint *joint = POOL_NEW(l->work, sim_tendon_joint, list->count);
    bool good = joint;
    l->report.no_memory |= !joint;
    for (const node *n = list->first; n && joint; n = n->next) {
        good &= read_tendon_joint(l, s, n, &joint[t->njoint++]);
    }
    t->joint = joint;
    return good;
}

/* Numbers in SI units. */
static void take_numbers(const tendon_data *d, sim_tendon *t) {
    const node *color = node_member(d->at, "color");
    if (node_member(d->at, "range")) {
        t->limit.low = d->range[0];
        t->limit.high = d->range[1];
    }
    if (node_member(d->at, "limit_stiffness")) {
        t->limit.stiffness = d->limit_stiffness;
    }
    t->limit.dissipation = d->limit_dissipation;
    t->limit.restitution = d->limit_restitution;
    t->stiffness = d->stiffness;
    t->damping = d->damping;
    memcpy(t->spring, d->spring_terms, sizeof t->spring);
    memcpy(t->damper, d->damper_terms, sizeof t->damper);
    t->friction = d->friction;
    t->armature = d->armature;
    t->width = d->width;
    if (node_member(d->at, "effort_range")) {
        memcpy(t->effort_range, d->effort_range, sizeof t->effort_range);
    }
    for (int k = 0; k < 2 && d->rest.count; k++) {
        t->rest[k] = d->rest.value[d->rest.count > 1 ? k : 0];
    }
    for (int k = 0; k < 4 && color; k++) {
        t->color[k] = k < color->count ? (float)d->color[k] : 1;
    }
}

/* ---- tendons ---- */

int loader_find_tendon(loader *l, const scope *s, const char *name, const node *at) {
    char full[MAX_NAME_BYTES + 1], hint[160];
    int found = loader_full_name(s, name, full) ? names_find(&l->tendons, full) : -1;
    if (found >= 0 || l->unnamed_tendon) {
        return found;
    }
    nearest near = {.wanted = name};
    size_t skip = strlen(s->prefix);
    for (size_t k = 0; k < l->tendons.room && !report_full(&l->report); k++) {
        const char *other = l->tendons.name[k];
        if (other && strncmp(other, s->prefix, skip) == 0) {
            nearest_try(&near, other + skip);
        }
    }
    report_once(&l->report, at, nearest_hint(&near, hint, sizeof hint), "there is no tendon \"%.100s\"%s", name,
                s->outer ? " in this model" : "");
    return -1;
}

void read_tendon(loader *l, const scope *s, const node *n) {
    tendon_data d;
    sim_tendon t = sim_tendon_default();
    if (!loader_read(l, n, &table_tendon, &d)) {
        l->unnamed_tendon = true;
        return;
    }
    t.name = loader_claim_name(l, s, d.name, node_member(n, "name"), "tendon", &l->tendons, (int)l->tendons.count);
    if (!t.name || (d.joints ? !read_joints(l, s, d.joints, &t) : !read_path(l, s, d.path, &t))) {
        return;
    }
    take_numbers(&d, &t);
    if (loader_good(l)) {
        loader_note_part(l, &l->tendon_places, sim_builder_add_tendon(l->builder, &t), n);
    }
}

/* ---- the start ---- */

void doubt_tendons(loader *l) {
    const sim_model *m = l->scene->model;
    const node **at = m->ntendon ? loader_part_nodes(l, l->tendon_places, m->ntendon) : NULL;
    sim_derived *d = at ? sim_derived_create(m, NULL) : NULL;
    if (!d) {
        l->report.no_memory |= m->ntendon > 0;
        return;
    }
    /* the first, and how many more */
    int first = -1, more = -1;
    double length = 0, past = 0;
    sim_kinematics(d, sim_all(m), m->q_initial);
    for (int k = 0; k < m->ntendon; k++) {
        double now = sim_tendon_length(d, k, m->q_initial);
        double beyond = fmax(m->tendon[k].limit.low - now, now - m->tendon[k].limit.high);
        if (beyond > ROUNDED * fmax(1, fabs(now))) {
            length = first < 0 ? now : length;
            past = first < 0 ? beyond : past;
            first = first < 0 ? k : first;
            more++;
        }
    }
    sim_derived_free(d);
    if (first < 0) {
        return;
    }
    /* with their units: of a sum of coordinates those of its joints */
    const char *unit = m->tendon[first].npoint ? " m" : "";
    char others[48] = "";
    if (more > 0) {
        snprintf(others, sizeof others, ", and %d more start%s so", more, more == 1 ? "s" : "");
    }
    report_warning(&l->report, at[first], NULL, "the tendon \"%.80s\" starts at %.6g%s, past its range by %.3g%s%s",
                   m->tendon[first].name, length, unit, past, unit, others);
}
