/* Sites: names listed as bodies are expanded, so that everything may name them; poses read when their body is built.
 *
 * Where a site is asked for and none has the name, the frame of the body of that name serves: it becomes a site, too. */
#include "base/nearest.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"

#include <stdlib.h>
#include <string.h>

static site_entry *new_site(loader *l) {
    if (l->nsite == l->site_room) {
        int room = l->site_room ? 2 * l->site_room : 64;
        site_entry *more = realloc(l->site, (size_t)room * sizeof *more);
        if (!more) {
            l->report.no_memory = true;
            return NULL;
        }
        l->site = more;
        l->site_room = room;
    }
    return &l->site[l->nsite];
}

static void list_site(loader *l, const scope *s, const node *at, int body) {
    const node *name = node_member(at, "name");
    if (!name || name->kind != NODE_TEXT) {
        l->unnamed_site = true; /* reported when the text was read */
        return;
    }
    const char *kept = loader_claim_name(l, s, name->text, name, "site", &l->sites, l->nsite);
    site_entry *site = kept ? new_site(l) : NULL;
    if (!site) {
        l->report.no_memory |= kept != NULL;
        return;
    }
    *site = (site_entry){.name = kept, .at = at, .body = body, .pose = pose_identity(), .index = -1};
    l->nsite++;
}

void list_sites(loader *l, const scope *s, const node *body, int index) {
    const node *list = node_member(body, "sites");
    l->entries[index].site0 = l->nsite;
    for (const node *n = list && list->kind == NODE_ARRAY ? list->first : NULL; n && !l->stopped; n = n->next) {
        if (loader_spend(l, 1, n)) {
            list_site(l, s, n, index);
        }
    }
    l->entries[index].site_end = l->nsite;
}

void build_sites(loader *l, const entry *e) {
    for (int k = e->site0; k < e->site_end; k++) {
        site_entry *site = &l->site[k];
        site_data d;
        if (!loader_read(l, site->at, &table_site, &d) || !placement_read(&l->report, &d.pose, &site->pose) ||
            !loader_good(l)) {
            continue;
        }
        sim_site given = {.name = site->name, .body = e->index, .pose = site->pose};
        site->index = sim_builder_add_site(l->builder, &given);
    }
}

/* NULL: there is no such body, or it was refused. */
static const site_entry *frame_of_body(loader *l, const char *name) {
    int body = names_find(&l->names, name);
    for (const site_entry *f = l->frames; f && body >= 0; f = f->next) {
        if (f->body == body) {
            return f;
        }
    }
    bool stays = body >= 0 && node_member(l->entries[body].body, "soft");
    site_entry *made =
        body >= 0 && !stays && l->entries[body].index > 0 && l->builder ? POOL_NEW(l->work, site_entry, 1) : NULL;
    if (made) {
        const entry *e = &l->entries[body];
        sim_site frame = {.name = e->name, .body = e->index, .pose = pose_identity()};
        *made = (site_entry){.name = e->name, .at = e->body, .body = body, .pose = frame.pose, .next = l->frames};
        made->index = sim_builder_add_site(l->builder, &frame);
        l->frames = made;
    }
    return made;
}

void list_frames(loader *l, const scope *s, const node *n) {
    char full[MAX_NAME_BYTES + 1];
    for (const node *c = n->first; c; c = c->next) {
        const char *key = c->key ? c->key : "";
        bool names = strcmp(key, "site") == 0 || strcmp(key, "first_site") == 0 || strcmp(key, "second_site") == 0;
        if (names && c->kind == NODE_TEXT && loader_full_name(s, c->text, full) && names_find(&l->sites, full) < 0) {
            frame_of_body(l, full);
        }
        list_frames(l, s, c);
    }
}

const site_entry *loader_find_site(loader *l, const scope *s, const char *name, const node *at) {
    char full[MAX_NAME_BYTES + 1], hint[160];
    int found = loader_full_name(s, name, full) ? names_find(&l->sites, full) : -1;
    const site_entry *frame = found >= 0 ? NULL : frame_of_body(l, full);
    if (found >= 0 || frame) {
        return found >= 0 ? &l->site[found] : frame;
    }
    if (node_origin(at)->blamed || l->unnamed_site || l->unnamed_body) {
        return NULL;
    }
    /* the name in the scope that is most like it */
    nearest near = {.wanted = name};
    size_t skip = strlen(s->prefix);
    for (int k = 0; k < l->nsite && !report_full(&l->report); k++) {
        if (l->site[k].body >= s->first && l->site[k].body < s->end && strncmp(l->site[k].name, s->prefix, skip) == 0) {
            nearest_try(&near, l->site[k].name + skip);
        }
    }
    report_once(&l->report, at, nearest_hint(&near, hint, sizeof hint), "there is no site \"%.100s\"%s", name,
                s->outer ? " in this model" : "");
    return NULL;
}
