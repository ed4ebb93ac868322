/* Pairs of bodies without contact: by name, by pattern, all within one copy of a model, or those that overlap at the
 * start. */
#include "scene/loader/loader.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EXCLUSIONS = 4000000 };

/* Bodies on one side of an exclusion: those of the scope that fit `pattern`; or one. */
typedef struct side {
    const scope *s;
    const char *pattern; /* with prefix; NULL: `index` alone */
    int index;           /* in the builder; 0: the world's own shapes */
    int entry, next;     /* of `index`, -1: the world; the next one to be tried */
} side;

static bool has_shapes(const entry *e) {
    const node *shapes = node_member(e->body, "shapes");
    return node_member(e->body, "soft") || (shapes && shapes->kind == NODE_ARRAY && shapes->count > 0);
}

static void begin_side(side *a) { a->next = a->pattern ? a->s->first : 0; }

/* The next body of a side into `*index`; false when there is none. */
static bool next_body(loader *l, side *a, int *index) {
    if (!a->pattern) {
        *index = a->index;
        return a->next++ == 0;
    }
    while (a->next < a->s->end && loader_spend(l, 1, a->s->model)) {
        const entry *e = &l->entries[a->next++];
        if (has_shapes(e) && name_matches(e->name, a->pattern, &l->worked)) {
            *index = e->index;
            return true;
        }
    }
    return false;
}

static void add_excluded_pair(loader *l, int first, int second, const node *at) {
    if (++l->exclusions > MAX_EXCLUSIONS) {
        report_value(&l->report, at, "\"contacts\": false in world switches all contacts off",
                     "more than %d excluded pairs of bodies", MAX_EXCLUSIONS);
        l->stopped = true;
    } else if (loader_good(l)) {
        sim_builder_add_exclusion(l->builder, first, second);
    }
}

/* Every body of one side with every other of the other; true if there was a pair. */
static bool add_excluded_pairs(loader *l, side *first, side *second, const node *at) {
    bool any = false;
    int a, b;
    for (begin_side(first); !l->stopped && next_body(l, first, &a);) {
        for (begin_side(second); !l->stopped && next_body(l, second, &b);) {
            if (a != b) {
                any = true;
                add_excluded_pair(l, a, b, at);
            }
        }
    }
    return any;
}

/* `world` means the world of the model: the world, or the body on which the model is mounted. */
static bool read_side(loader *l, const scope *s, const char *name, const node *at, char full[MAX_NAME_BYTES + 1],
                      side *out) {
    *out = (side){.s = s};
    if (strchr(name, '*')) {
        out->pattern = full;
        return loader_full_name(s, name, full);
    }
    bool world = strcmp(name, "world") == 0;
    int found = world ? s->world_parent : loader_find(l, s, name, at);
    out->index = found >= 0 ? l->entries[found].index : 0;
    out->entry = found;
    return found >= 0 || world;
}

/* Floors are bodies of their own: the world has no shapes that could touch. */
static void doubt_world(loader *l, const side *a, const node *at) {
    if (!a->pattern && a->entry < 0 && loader_good(l)) {
        report_warning(&l->report, at, "name the body that has the shapes",
                       "the world has no shapes: this excludes nothing");
    }
}

void read_exclusion(loader *l, const scope *s, const node *n) {
    exclusion_data d;
    char names[2][MAX_NAME_BYTES + 1];
    side first, second;
    if (!loader_read(l, n, &table_exclusion, &d) ||
        !read_side(l, s, d.first, node_member(n, "first"), names[0], &first) ||
        !read_side(l, s, d.second, node_member(n, "second"), names[1], &second)) {
        return;
    }
    bool plain = !first.pattern && !second.pattern;
    if (plain && first.entry == second.entry) {
        report_once(&l->report, node_member(n, "second"), NULL, "both are \"%.80s\"", d.second);
    } else if (!add_excluded_pairs(l, &first, &second, n) && loader_good(l)) {
        report_once(&l->report, n, NULL, "no two bodies with shapes match \"%.80s\" and \"%.80s\"", d.first, d.second);
    } else {
        doubt_world(l, &first, node_member(n, "first"));
        doubt_world(l, &second, node_member(n, "second"));
    }
}

void read_self_contact(loader *l, const scope *s) {
    const node *flag = node_member(s->model, "self_contact");
    if (!flag || flag->kind != NODE_FLAG || flag->number != 0) {
        return;
    }
    for (int i = s->first; i < s->end && !l->stopped; i++) {
        for (int k = s->first; k < i && !l->stopped && has_shapes(&l->entries[i]); k++) {
            if (loader_spend(l, 1, flag) && has_shapes(&l->entries[k])) {
                add_excluded_pair(l, l->entries[i].index, l->entries[k].index, flag);
            }
        }
    }
}

/* ---- overlaps at the start ---- */

/* Does the model of a scope say that bodies which overlap at the start do not touch? */
static bool excludes_own_overlaps(const scope *s) {
    const node *exclude = node_member(s->model, "exclude");
    return exclude && exclude->kind == NODE_TEXT && strcmp(exclude->text, exclude_name(EXCLUDE_INITIAL)) == 0;
}

static bool any_excludes_own(const loader *l) {
    bool any = false;
    for (const scope *s = l->scopes; s; s = s->older) {
        any |= excludes_own_overlaps(s);
    }
    return any;
}

/* Both bodies are of one copy of a model that excludes its own overlaps. */
static bool is_own_overlap(const loader *l, const sim_overlap *o) {
    const sim_body *body = l->scene->model->body;
    int first = o->body[0] ? names_find(&l->names, body[o->body[0]].name) : -1;
    int second = names_find(&l->names, body[o->body[1]].name);
    for (const scope *s = first >= 0 ? l->entries[first].scope : NULL; s; s = s->outer) {
        if (second >= s->first && second < s->end && excludes_own_overlaps(s)) {
            return true;
        }
    }
    return false;
}

void exclude_overlaps(loader *l) {
    sim_overlap *list = NULL;
    int count = 0, pairs = 0;
    sim_error why = {0};
    /* only where the world or a model asks for it */
    bool all = l->data.world.exclude == EXCLUDE_INITIAL;
    if (!loader_good(l) || !(all || any_excludes_own(l))) {
        return;
    }
    /* pairs that overlap at the start */
    sim_world *world = sim_world_create(l->scene->model, &l->scene->options, &why);
    sim_status status = world ? sim_world_overlaps(world, &list, &count, &why) : why.status;
    const node *solver = world ? NULL : node_member(l->data.world.at, "solver"); /* whose refusal it is */
    sim_world_free(world);
    sim_exclusion *pair = status ? NULL : POOL_NEW(l->work, sim_exclusion, count);
    l->report.no_memory |= !status && !pair;
    for (int k = 0; pair && k < count; k++) {
        if (all || is_own_overlap(l, &list[k])) {
            pair[pairs++] = (sim_exclusion){list[k].body[0], list[k].body[1]};
        }
    }
    free(list);
    /* exclude them */
    status = pair && pairs ? sim_model_exclude(l->scene->model, pair, pairs, &why) : status;
    if (status == SIM_NO_RESOURCE) {
        l->report.no_memory = true;
    } else if (status) {
        const node *at = solver ? solver : all ? node_member(l->data.world.at, "exclude") : l->main->root;
        report_once(&l->report, at, NULL, "%s", why.text);
    }
}
