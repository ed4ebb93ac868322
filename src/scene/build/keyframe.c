/* Keyframes of a scene: named states of joints and actuators for the builder, and the one at which the run starts. */
#include "base/nearest.h"
#include "math/angle.h"
#include "scene/loader/loader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value of the keyframe's `initial` for one joint. */
static void add_state(loader *l, entry *e, const scope *s, const node *n, void *context) {
    const int *keyframe = context;
    initial_data d;
    sim_body_def def = {.joint = e->type};
    if (!e->read || (e->type == SIM_FIXED && strchr(n->key, '*')) || !loader_read(l, n, &table_initial, &d)) {
        return;
    }
    /* coordinates and velocities, as far as they are given */
    bool q = d.q.count || d.q_deg.count, v = d.v.count;
    const node *q_at = n->kind == NODE_OBJECT ? node_member(n, d.q.count ? "q" : "q_deg") : n;
    bool good = !q || read_q(l, e, q_at, d.q.count ? &d.q : &d.q_deg, d.q.count ? 1 : RADIANS_PER_DEGREE, s, &def);
    good &= !v || read_v(l, e, node_member(n, "v"), &d.v, s, &def);
    if (good && loader_good(l)) {
        sim_builder_set_keyframe(l->builder, *keyframe, e->index, q ? def.q : NULL, v ? def.v : NULL);
    }
}

static bool keep_name(loader *l, const char *name, int index) {
    if (l->nkeyframe == l->keyframe_room) {
        int room = l->keyframe_room ? 2 * l->keyframe_room : 16;
        const char **more = realloc(l->keyframe_name, (size_t)room * sizeof *more);
        if (!more) {
            return false;
        }
        l->keyframe_name = more;
        l->keyframe_room = room;
    }
    char *kept = pool_text(l->work, name);
    l->keyframe_name[l->nkeyframe] = kept;
    return kept && names_add(&l->keyframes, kept, index) && ++l->nkeyframe;
}

/* Inputs of the actuators that the keyframe lists, in it (-1: in the initial state). */
static void read_drives(loader *l, const scope *s, const node *list, int keyframe) {
    char full[MAX_NAME_BYTES + 1];
    for (const node *n = list && list->kind == NODE_OBJECT ? list->first : NULL; n; n = n->next) {
        drive_data d;
        if (n->kind == NODE_TEXT && strcmp(n->key, "comment") == 0) {
            continue;
        }
        int found = loader_full_name(s, n->key, full) ? names_find(&l->actuators, full) : -1;
        if (found < 0 && loader_good(l)) { /* else actuators have no names yet */
            report_once(&l->report, n, NULL, "there is no actuator \"%.100s\"", n->key);
        } else if (found >= 0 && loader_read(l, n, &table_drive, &d) && loader_good(l)) {
            bool plain = n->kind != NODE_OBJECT;
            sim_actuator_state drive = {found, plain || node_member(n, "ctrl") ? d.ctrl : NAN,
                                        node_member(n, "activation") ? d.activation : NAN};
            if (sim_builder_set_drive(l->builder, keyframe, &drive)) {
                loader_report_refusal(l, n);
            }
        }
    }
}

void read_keyframe(loader *l, const scope *s, const node *n) {
    keyframe_data d;
    char full[MAX_NAME_BYTES + 1];
    if (!loader_read(l, n, &table_keyframe, &d)) {
        l->unnamed_keyframe = true;
        return;
    }
    /* one keyframe of that name */
    if (!loader_full_name(s, d.name, full)) {
        report_once(&l->report, node_member(n, "name"), NULL, "this name with its prefixes is longer than %d bytes",
                    MAX_NAME_BYTES);
        return;
    }
    if (names_find(&l->keyframes, full) >= 0) {
        report_once(&l->report, node_member(n, "name"), s->outer ? "give each instance a prefix of its own" : NULL,
                    "a second keyframe has the name \"%.100s\"", full);
        return;
    }
    /* states of its joints */
    int index = loader_good(l) ? sim_builder_add_keyframe(l->builder, full, d.time) : 0;
    if (!keep_name(l, full, index)) {
        l->report.no_memory = true;
        return;
    }
    give_initial(l, s, d.initial, add_state, &index);
    read_drives(l, s, d.ctrl, index);
    if (s->start && strcmp(s->start, d.name) == 0) {
        read_drives(l, s, d.ctrl, -1);
    }
}

/* "there are "home", "ready"": as many as a line takes. */
static const char *list_keyframes(const loader *l, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "%s", l->nkeyframe ? "there are" : "the scene has none");
    int k = 0;
    for (; k < l->nkeyframe && length + strlen(l->keyframe_name[k]) + 24 < size; k++) {
        length += (size_t)snprintf(text + length, size - length, "%s \"%s\"", k ? "," : "", l->keyframe_name[k]);
    }
    if (k < l->nkeyframe) {
        snprintf(text + length, size - length, " and %d more", l->nkeyframe - k);
    }
    return text;
}

void start_at_keyframe(loader *l) {
    /* the keyframe of that name */
    const char *wanted = l->data.world.start;
    const node *at = node_member(l->data.world.at, "start");
    int found = wanted ? names_find(&l->keyframes, wanted) : -1;
    if (!wanted || l->unnamed_keyframe) {
        return;
    }
    if (found >= 0) {
        if (loader_good(l)) {
            sim_builder_start_at(l->builder, found);
        }
        /* there is none: say which there are */
    } else {
        nearest near = {.wanted = wanted};
        char hint[160], all[320];
        for (int k = 0; k < l->nkeyframe; k++) {
            nearest_try(&near, l->keyframe_name[k]);
        }
        report_once(&l->report, at, nearest_hint(&near, hint, sizeof hint), "there is no keyframe \"%.100s\": %s",
                    wanted, list_keyframes(l, all, sizeof all));
    }
}
