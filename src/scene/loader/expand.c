/* Expansion of models into one flat list of bodies with full names and parents.  Parents are looked up after all copies
 * are listed, so that a body may name a parent later in the file. */
#include "base/nearest.h"
#include "scene/format/keys.h"
#include "scene/loader/loader.h"
#include "scene/loader/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool count_copy(loader *l, const node *at) {
    if (l->stopped || l->report.no_memory) {
        return false;
    }
    if (++l->copies > l->limits.bodies) {
        report_value(&l->report, at, NULL, "more than %lld bodies and copies of models", (long long)l->limits.bodies);
        l->stopped = true;
    }
    return !l->stopped;
}

static entry *new_entry(loader *l) {
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 64;
        entry *more = realloc(l->entries, (size_t)room * sizeof *more);
        if (!more) {
            l->report.no_memory = true;
            return NULL;
        }
        l->entries = more;
        l->room = room;
    }
    return &l->entries[l->count];
}

/* The own name of a joint, of the body that comes next into the list.  False: it is wrong, and was reported. */
static bool name_joint(loader *l, const scope *s, const node *body, const char **out) {
    const node *name = node_member(node_member(body, "joint"), "name");
    if (!name || name->kind != NODE_TEXT) {
        return true;
    }
    *out = loader_claim_name(l, s, name->text, name, "joint", &l->joints, l->count);
    return *out;
}

static void add_body(loader *l, scope *s, const node *body) {
    const node *name = node_member(body, "name");
    char full[MAX_NAME_BYTES + 1];
    for (const node *n = body->kind == NODE_OBJECT ? body->first : NULL; n; n = n->next) {
        l->unnamed_site |= !table_field(&table_body, n->key) && is_meant(&table_body, n->key, "sites");
    }
    if (!count_copy(l, body)) {
        return;
    }
    if (!name || name->kind != NODE_TEXT) {
        l->unnamed_body = true; /* reported when the text was read */
        return;
    }
    if (!loader_full_name(s, name->text, full)) {
        report_once(&l->report, name, NULL, "this name with its prefixes is longer than %d bytes", MAX_NAME_BYTES);
        return;
    }
    if (strcmp(full, "world") == 0) {
        report_once(&l->report, name, NULL, "a body cannot be called \"world\"");
        return;
    }
    int twin = names_find(&l->names, full);
    if (twin >= 0) {
        char place[256];
        report_name_place(node_member(l->entries[twin].body, "name"), place, sizeof place);
        report_once(&l->report, name, s->outer ? "give each instance a prefix of its own" : NULL,
                    "the name \"%.100s\" is taken (%s)", full, place);
        return;
    }
    const char *joint_name = NULL;
    if (!name_joint(l, s, body, &joint_name)) {
        return;
    }
    entry *e = new_entry(l);
    char *kept = pool_text(l->work, full);
    if (!e || !kept || !names_add(&l->names, kept, l->count)) {
        l->report.no_memory = true;
        return;
    }
    *e = (entry){
        .name = kept, .joint_name = joint_name, .body = body, .scope = s, .parent = -2, .order = -1, .index = -1};
    l->count++;
    list_sites(l, s, body, l->count - 1);
}

/* ---- instances ---- */

static void expand_instance(loader *l, scope *outer, const node *instance);

/* Lists under a misspelt key have no members: references to these are no errors of their own. */
static void note_misspelt_lists(loader *l, scope *s) {
    const table *t = s->outer ? &table_model : &table_scene;
    for (const node *n = s->model->first; n; n = n->next) {
        if (table_field(t, n->key)) {
            continue;
        }
        l->unnamed_body |= is_meant(t, n->key, "bodies") || is_meant(t, n->key, "instances");
        l->unnamed_model |= is_meant(t, n->key, "models");
        l->unnamed_keyframe |= is_meant(t, n->key, "keyframes");
        l->unnamed_tendon |= is_meant(t, n->key, "tendons");
        l->unnamed_material |= is_meant(t, n->key, "materials");
    }
}

static void expand_model(loader *l, scope *s) {
    note_misspelt_lists(l, s);
    s->first = l->count;
    const node *bodies = node_member(s->model, "bodies"), *instances = node_member(s->model, "instances");
    for (const node *n = bodies && bodies->kind == NODE_ARRAY ? bodies->first : NULL; n && !l->stopped; n = n->next) {
        add_body(l, s, n);
    }
    for (const node *n = instances && instances->kind == NODE_ARRAY ? instances->first : NULL; n && !l->stopped;
         n = n->next) {
        expand_instance(l, s, n);
    }
    s->end = l->count;
}

static scope *new_scope(loader *l, scope *outer, const node *at) {
    scope *s = outer && !count_copy(l, at) ? NULL : POOL_NEW(l->work, scope, 1);
    if (!s) {
        l->report.no_memory |= !l->stopped;
        return NULL;
    }
    *s = (scope){.outer = outer, .older = l->scopes, .instance = at, .prefix = "", .frame = pose_identity()};
    l->scopes = s;
    return s;
}

static const node *model_by_name(loader *l, const scope *s, const instance_data *d) {
    const node *models = node_member(s->document->root, "models");
    const node *found = node_member(models, d->model);
    if ((!found || found->kind != NODE_OBJECT) && l->unnamed_model) {
        return NULL;
    }
    if (!found || found->kind != NODE_OBJECT) {
        nearest near = {.wanted = d->model};
        char hint[160];
        for (const node *n = models ? models->first : NULL; n; n = n->next) {
            if (n->key && n->kind == NODE_OBJECT) {
                nearest_try(&near, n->key);
            }
        }
        report_once(&l->report, node_member(d->at, "model"), nearest_hint(&near, hint, sizeof hint),
                    "there is no model \"%.100s\"", d->model);
        return NULL;
    }
    return found;
}

static bool enter_model(loader *l, const node *model, const node *at) {
    for (int i = 0; i < l->depth; i++) {
        if (l->stack[i] == node_origin(model)) {
            report_once(&l->report, at, NULL, "a cycle: the %s contains itself", model->parent ? "model" : "file");
            return false;
        }
    }
    if (l->depth == MAX_MODEL_DEPTH) {
        report_once(&l->report, at, NULL, "models in models, more than %d deep", MAX_MODEL_DEPTH);
        return false;
    }
    l->stack[l->depth++] = node_origin(model);
    return true;
}

static const char *join_names_of(loader *l, const char *a, const char *b, int64_t number, const char *c) {
    char text[2 * MAX_NAME_BYTES + 40];
    if (strlen(a) + strlen(b) > MAX_NAME_BYTES) {
        return a; /* add_body says that the names are too long */
    }
    if (number >= 0) {
        snprintf(text, sizeof text, "%s%s%lld_%s", a, b, (long long)number, c);
    } else {
        snprintf(text, sizeof text, "%s%s%s", a, b, c);
    }
    char *kept = pool_text(l->work, text);
    l->report.no_memory |= !kept;
    return kept ? kept : "";
}

/* A body of the outer scope on which copies hang; NULL is the outer scope's world. */
static const char *carrier_body(loader *l, const scope *outer, const instance_data *d) {
    return strcmp(d->parent, "world") == 0 ? NULL : join_names_of(l, outer->prefix, d->parent, -1, "");
}

static void expand_copies(loader *l, scope *outer, const instance_data *d, const scope *like) {
    /* poses of the copies */
    pose stand, link, place;
    placing *p = NULL;
    int64_t count = d->repeat.at ? pattern_create(l, outer, d, &p) : 1;
    bool series = d->repeat.at && d->repeat.placement == PLACE_SERIES;
    if (count < 0 || !placement_read(&l->report, &d->pose, &stand) ||
        !placement_read(&l->report, &d->repeat.pose, &link)) {
        return;
    }
    for (int64_t i = 0; i < count && !l->stopped && !l->report.no_memory; i++) {
        /* scope of the copy: model, prefix of names */
        scope *s = new_scope(l, outer, d->at);
        if (!s) {
            return;
        }
        s->document = like->document;
        s->model = like->model;
        s->joint = d->joint.at;
        s->start = d->start;
        s->prefix = join_names_of(l, outer->prefix, d->prefix, d->repeat.at ? i : -1, "");
        s->frame = stand;
        /* parent: the copy before it in a series, else the carrier of the instance */
        if (series && i > 0) {
            s->parent = join_names_of(l, outer->prefix, d->prefix, i - 1, d->repeat.on);
            s->parent_at = node_member(d->repeat.at, "on");
            s->frame = link;
        } else {
            s->parent = carrier_body(l, outer, d);
            s->parent_at = node_member(d->at, "parent");
        }
        /* placement by the pattern */
        if (p && !series && !pattern_next(l, p, &place)) {
            return;
        }
        if (p && !series) {
            s->frame = pose_product(stand, place);
        }
        expand_model(l, s);
    }
}

static void expand_instance(loader *l, scope *outer, const node *instance) {
    instance_data d;
    if (!loader_read(l, instance, &table_instance, &d)) {
        l->unnamed_body = true;
        return;
    }
    /* model of the scene, or whole scene of another file */
    scope like = {.document = outer->document};
    const table *t = &table_model;
    if (d.file) {
        const char *path = path_beside(l, outer->document, d.file);
        like.document = path ? loader_load_document(l, path, node_member(instance, "file")) : NULL;
        like.model = like.document ? like.document->root : NULL;
        t = &table_scene;
    } else {
        like.model = model_by_name(l, outer, &d);
    }
    l->unnamed_body |= !like.model; /* names of its bodies are unknown, and no errors of their own */
    if (!like.model || !enter_model(l, like.model, node_member(instance, d.file ? "file" : "model"))) {
        return;
    }
    /* values that the instance replaces */
    if (d.overrides) {
        like.model = override_model(l, instance, like.model, d.overrides, t);
    }
    if (like.model) {
        expand_copies(l, outer, &d, &like);
    }
    l->depth--;
}

/* ---- parents ---- */

static void resolve_scope(loader *l, scope *s) {
    if (s->resolved) {
        return;
    }
    /* the world of a scope without parent is that of the scope outside */
    s->resolved = true;
    s->world_parent = -1;
    s->world_frame = s->frame;
    /* the body on which the scope hangs */
    if (s->parent) {
        s->world_parent = names_find(&l->names, s->parent);
        if (s->world_parent < 0 && !l->unnamed_body) {
            char hint[160];
            const char *name = s->parent + strlen(s->outer->prefix);
            report_once(&l->report, s->parent_at, loader_nearest(l, s->outer, name, hint, sizeof hint),
                        "there is no body \"%.100s\"", name);
        }
        s->world_parent = s->world_parent < 0 ? -2 : s->world_parent;
    } else if (s->outer) {
        resolve_scope(l, s->outer);
        s->world_parent = s->outer->world_parent;
        s->world_frame = pose_product(s->outer->world_frame, s->frame);
    }
}

/* The root of a copy may be given another joint, by the outermost instance that says so. */
static void give_joint(loader *l, entry *e) {
    for (scope *s = e->scope; s; s = s->outer) {
        s->roots++;
        if (s->joint) {
            e->joint = s->joint;
            if (s->roots == 2) {
                report_once(&l->report, s->joint, NULL,
                            "the model has several roots: the joint applies to none of them");
            }
        }
        if (s->parent) {
            break;
        }
    }
}

static void find_parent(loader *l, entry *e) {
    const node *parent = node_member(e->body, "parent");
    const char *name = parent && parent->kind == NODE_TEXT ? parent->text : "world";
    if (strcmp(name, "world") == 0) {
        resolve_scope(l, e->scope);
        e->parent = e->scope->world_parent;
        e->frame = e->scope->world_frame;
        give_joint(l, e);
    } else {
        int found = loader_find(l, e->scope, name, parent);
        e->parent = found < 0 ? -2 : found;
        e->frame = pose_identity();
    }
}

/* Walks towards the root until a body that has its place, then puts the chain behind it. */
static void put_in_order(loader *l, int from, int *count, int *chain) {
    int length = 0;
    for (int i = from; i >= 0 && l->entries[i].order == -1; i = l->entries[i].parent) {
        l->entries[i].order = -2; /* on the way */
        chain[length++] = i;
        int parent = l->entries[i].parent;
        if (parent >= 0 && l->entries[parent].order == -2) {
            const node *at = node_member(l->entries[i].body, "parent");
            report_once(&l->report, at ? at : l->entries[i].body, NULL, "a cycle: \"%.100s\" is its own ancestor",
                        l->entries[i].name);
            l->entries[i].parent = -2;
        }
    }
    while (length-- > 0) {
        l->entries[chain[length]].order = *count;
        l->sequence[(*count)++] = chain[length];
    }
}

void expand_instances(loader *l) {
    /* the scene is the outermost scope */
    scope *s = new_scope(l, NULL, NULL);
    if (!s) {
        return;
    }
    s->document = l->main;
    s->model = l->main->root;
    l->stack[l->depth++] = s->model;
    expand_model(l, s);
    l->depth = 0;
    /* parents, once all names are listed */
    for (int i = 0; i < l->count && !l->stopped; i++) {
        find_parent(l, &l->entries[i]);
    }
    /* topological order, parents first */
    int *chain = POOL_NEW(l->work, int, l->count);
    l->sequence = POOL_NEW(l->work, int, l->count);
    if (!chain || !l->sequence) {
        l->report.no_memory = true;
        return;
    }
    int count = 0;
    for (int i = 0; i < l->count && !l->stopped; i++) {
        put_in_order(l, i, &count, chain);
    }
}
