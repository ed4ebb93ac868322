/* Single values replaced by path, before anything is read: from the command line in the scene, from an instance in its
 * copy of a model. */
#include "base/nearest.h"
#include "scene/format/keys.h"
#include "scene/json/text.h"
#include "scene/loader/loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEGMENTS = 32 };

typedef struct path {
    char text[512]; /* segments, each zero-terminated */
    const char *segment[MAX_SEGMENTS];
    int count;
} path;

/* "/world/step" or "world/step"; ~1 is '/', ~0 is '~'. */
static bool split_path(const char *from, size_t length, path *p) {
    size_t out = 0;
    p->count = 0;
    if (length && *from == '/') {
        from++;
        length--;
    }
    for (size_t i = 0; i <= length; i++) {
        if (i == 0 || (from[i - 1] == '/')) {
            if (p->count == MAX_SEGMENTS || i == length || from[i] == '/') {
                return false; /* too many, or an empty one */
            }
            p->segment[p->count++] = p->text + out;
        }
        if (out + 2 > sizeof p->text) {
            return false;
        }
        if (i == length || from[i] == '/') {
            p->text[out++] = 0;
        } else if (from[i] == '~' && i + 1 < length && (from[i + 1] == '0' || from[i + 1] == '1')) {
            p->text[out++] = from[++i] == '0' ? '~' : '/';
        } else {
            p->text[out++] = from[i];
        }
    }
    return p->count > 0;
}

/* Place of an override in a tree: the node, and the table of its keys (NULL: not known). */
typedef struct cursor {
    loader *l;
    node *n;
    const table *t;
    bool list; /* n is an array or map of objects of t */
    const node *blame;
    const source *from; /* of nodes that are made */
} cursor;

static node *new_child(cursor *c, const char *key) {
    node *n = POOL_NEW(c->l->work, node, 1);
    char *kept = pool_text(c->l->work, key);
    if (!n || !kept) {
        c->l->report.no_memory = true;
        return NULL;
    }
    *n = (node){.kind = NODE_OBJECT, .key = kept, .parent = c->n, .source = c->from, .origin = c->blame->origin};
    if (c->from->text) {
        n->origin = c->blame;
    }
    node **link = &c->n->first;
    while (*link) {
        link = &(*link)->next;
    }
    *link = n;
    c->n->count++;
    return n;
}

/* "joint": "hinge" becomes "joint": {"type": "hinge"} before a key can be put into it. */
static bool write_out(cursor *c) {
    if (c->n->kind == NODE_OBJECT) {
        return true;
    }
    node *old = POOL_NEW(c->l->work, node, 1);
    const char *key = c->t && !c->list ? table_shorthand(c->t, c->n) : NULL;
    if (!old || c->n->kind == NODE_ARRAY || !key) {
        return false;
    }
    *old = *c->n;
    old->origin = node_origin(c->n);
    old->next = NULL;
    old->parent = c->n;
    old->key = key;
    c->n->kind = NODE_OBJECT;
    c->n->first = old;
    c->n->count = 1;
    return true;
}

/* The name by which an element of a list goes, or the value that the format takes for one; NULL: none. */
static const char *element_name(const cursor *c, const node *n) {
    static const char *const plain[] = {"name", NULL};
    const char *const *key = c->t && c->list && c->t->named_by[0] ? c->t->named_by : plain;
    for (; *key; key++) {
        const node *own = node_member(n, *key);
        if (own && own->kind == NODE_TEXT) {
            return own->text;
        }
    }
    return NULL;
}

/* The name of a body's joint, which stands for the body where no body has the name; NULL: none. */
static const char *joint_name(const cursor *c, const node *n) {
    const node *joint = c->t == &table_body && c->list ? node_member(n, "joint") : NULL;
    const node *name = joint && joint->kind == NODE_OBJECT ? node_member(joint, "name") : NULL;
    return name && name->kind == NODE_TEXT ? name->text : NULL;
}

/* The element that has the name; `count`: how many have it. */
static node *find_named(const cursor *c, const char *name, const char *(*name_of)(const cursor *, const node *),
                        int *count) {
    node *found = NULL;
    *count = 0;
    for (node *n = c->n->first; n; n = n->next) {
        const char *own = name_of(c, n);
        if (own && strcmp(own, name) == 0) {
            found = (*count)++ ? found : n;
        }
    }
    return found;
}

/* A name that no element has, with the nearest one, or the pattern that makes it. */
static void report_no_element(cursor *c, const char *name) {
    nearest near = {.wanted = name};
    const char *pattern = NULL;
    char hint[400];
    int64_t steps = 0;
    for (const node *n = c->n->first; n; n = n->next) {
        const char *own = element_name(c, n), *joint = joint_name(c, n);
        if (joint) {
            nearest_try(&near, joint);
        }
        if (own) {
            nearest_try(&near, own);
            pattern = strchr(own, '*') && name_matches(name, own, &steps) ? own : pattern;
        }
    }
    const char *said = nearest_hint(&near, hint, sizeof hint);
    if (pattern) {
        snprintf(hint, sizeof hint, "the element that makes it makes others, too, and goes by \"%.100s\"", pattern);
        said = hint;
    }
    report_once(&c->l->report, c->blame, said, "\"%.100s\" is neither the name nor the number of an element", name);
}

/* By name, else by the name of a body's joint, else by number; NULL and reported when there is none, or more than one. */
static node *find_element(cursor *c, const char *name) {
    /* a number, perhaps */
    char *end;
    int named;
    errno = 0;
    long index = strtol(name, &end, 10);
    bool number = *name >= '0' && *name <= '9' && *end == 0 && errno == 0;
    /* elements of this name */
    node *found = find_named(c, name, element_name, &named);
    found = found ? found : find_named(c, name, joint_name, &named);
    if (named > 1) {
        report_once(&c->l->report, c->blame, "give its number, from 0", "%d elements have the name \"%.100s\"", named,
                    name);
        return NULL;
    }
    /* else the element of this number */
    for (node *n = c->n->first; number && !named && n; n = n->next) {
        if (index-- == 0) {
            found = n;
        }
    }
    if (!found) {
        report_no_element(c, name);
    }
    return found;
}

static void step_table(cursor *c, const char *segment) {
    if (c->list) {
        c->list = false; /* from a list to one of its objects */
        return;
    }
    const field *f = c->t ? table_field(c->t, segment) : NULL;
    c->t = f ? f->table : NULL;
    c->list = f && (f->kind == FIELD_OBJECTS || f->kind == FIELD_MAP);
}

/* One segment down, creating missing nodes; NULL and reported if that is impossible. */
static node *descend_segment(cursor *c, const char *segment, bool last) {
    node *next;
    if (!loader_spend(c->l, 16 * (int64_t)c->n->count, c->blame)) { /* each child is a walk through memory */
        return NULL;
    }
    if (c->n->kind == NODE_ARRAY) {
        next = find_element(c, segment);
    } else if (!write_out(c)) {
        report_once(&c->l->report, c->blame, NULL, "no value can be set at \"%.100s\", inside %s", segment,
                    node_kind_name(c->n));
        return NULL;
    } else {
        const field *f = c->t && !c->list ? table_field(c->t, segment) : NULL;
        next = node_member(c->n, segment);
        if (!next && !last && f && f->kind == FIELD_OBJECTS) {
            const node *copies = strcmp(segment, "bodies") == 0 ? node_member(c->n, "instances") : NULL;
            const char *hint =
                copies ? "those of an instance: instances/NUMBER/overrides={\"bodies/NAME/KEY\": VALUE}" : NULL;
            report_once(&c->l->report, c->blame, hint, "there are no \"%.100s\" here", segment);
            return NULL;
        }
        next = next ? next : new_child(c, segment);
    }
    step_table(c, segment);
    return next;
}

/* A path that begins with "joints", as no scene does: a joint is a key of its body. */
static bool is_joint_path(cursor *c, const path *p) {
    char hint[400];
    if (strcmp(p->segment[0], "joints") != 0 || table_field(c->t, "joints")) {
        return false;
    }
    snprintf(hint, sizeof hint, "as in bodies/%.100s/joint/%.100s", p->count > 1 ? p->segment[1] : "NAME",
             p->count > 2 ? p->segment[2] : "damping");
    report_once(&c->l->report, c->blame, hint, "there are no \"joints\" here: a joint is a key of its body");
    return true;
}

/* Replaces the value at the path. */
static bool replace_value(cursor *c, const path *p, node *value) {
    if (is_joint_path(c, p)) {
        return false;
    }
    for (int i = 0; i < p->count; i++) {
        c->n = descend_segment(c, p->segment[i], i == p->count - 1);
        if (!c->n) {
            return false;
        }
    }
    node *old = c->n;
    const node keep = *old;
    *old = *value;
    old->key = keep.key;
    old->parent = keep.parent;
    old->next = keep.next;
    for (node *child = old->first; child; child = child->next) {
        child->parent = old;
    }
    return true;
}

/* ---- from the command line ---- */

/* PATH=VALUE, which came as the option `said` of the command line. */
static void apply_option(loader *l, const char *option, const char *said, const char *argument) {
    /* a source of its own, so that errors name the option */
    char *name = pool_alloc(l->work, strlen(said) + strlen(argument) + 2, 1);
    source *from = POOL_NEW(l->work, source, 1);
    node *blame = POOL_NEW(l->work, node, 1);
    if (!name || !from || !blame) {
        l->report.no_memory = true;
        return;
    }
    sprintf(name, "%s %s", said, argument);
    *from = (source){.name = name};
    *blame = (node){.source = from};
    /* path before the equals sign, JSON value behind it */
    const char *equals = strchr(option, '=');
    path p;
    if (!equals || !split_path(option, (size_t)(equals - option), &p)) {
        report_place(&l->report, from, 0, NULL, "as in --set world/step=0.002", "expected PATH=VALUE");
        return;
    }
    if (p.count == 1 && strchr(p.segment[0], '.')) {
        report_place(&l->report, from, 0, NULL, "as in --set world/step=0.002", "a path has slashes");
        return;
    }
    cursor c = {.l = l, .n = l->main->root, .t = &table_scene, .blame = blame, .from = from};
    /* replace */
    node *value = document_parse_option(from, equals + 1, l->work, &l->report);
    if (value) {
        replace_value(&c, &p, value);
    }
}

/* Numbers of a scene are doubles, which hold no larger seed to the last digit. */
static void apply_seed(loader *l, uint64_t seed) {
    const uint64_t most = 9007199254740992;
    char option[64];
    if (seed > most) {
        source *from = POOL_NEW(l->work, source, 1);
        l->report.no_memory |= !from;
        if (from) {
            *from = (source){.name = "seed"};
            report_place(&l->report, from, 0, NULL, NULL, "%llu exceeds the limit %llu", (unsigned long long)seed,
                         (unsigned long long)most);
        }
        return;
    }
    snprintf(option, sizeof option, "world/seed=%llu", (unsigned long long)seed);
    apply_option(l, option, "--set", option);
}

static void apply_start(loader *l, const char *start) {
    text option = {0};
    text_add(&option, "world/start=");
    text_add_quoted(&option, start);
    char *whole = text_take(&option);
    if (whole) {
        apply_option(l, whole, "--start", start);
    }
    l->report.no_memory |= !whole;
    free(whole);
}

void override_options(loader *l, const sim_scene_overrides *overrides) {
    for (int i = 0; i < overrides->count && !l->report.no_memory; i++) {
        apply_option(l, overrides->set[i], "--set", overrides->set[i]);
    }
    if (overrides->seed && !l->report.no_memory) {
        apply_seed(l, *overrides->seed);
    }
    if (overrides->start && !l->report.no_memory) {
        apply_start(l, overrides->start);
    }
}

/* ---- from an instance ---- */

static node *copy_node(loader *l, const node *from, const node *at) {
    node *n = node_copy(from, NULL, l->work, &l->copied_nodes, l->limits.copied_nodes);
    if (!n && l->copied_nodes > l->limits.copied_nodes) {
        report_once(&l->report, at, NULL, "overrides copy more than %lld values", (long long)l->limits.copied_nodes);
        l->stopped = true;
    } else if (!n) {
        l->report.no_memory = true;
    }
    return n;
}

const node *override_model(loader *l, const node *instance, const node *model, const node *overrides, const table *t) {
    /* The same instance, met again in another copy of the model around it, has the same result. */
    node *memo = (node *)instance;
    if (memo->variant || memo->variant_failed) {
        return memo->variant;
    }
    memo->variant_failed = true;
    node *changed = copy_node(l, model, overrides);
    bool good = changed;
    for (const node *n = overrides->first; good && n; n = n->next) {
        path p;
        if (strcmp(n->key, "comment") == 0 && n->kind == NODE_TEXT) {
            continue;
        }
        if (!split_path(n->key, strlen(n->key), &p)) {
            report_key(&l->report, n, NULL, "expected a path as in \"bodies/forearm/inertia/mass\"");
            return NULL;
        }
        cursor c = {.l = l, .n = changed, .t = t, .blame = n, .from = n->source};
        node *value = copy_node(l, n, overrides);
        good = value && replace_value(&c, &p, value);
    }
    if (!good || !check_object(&l->reader, changed, t)) {
        return NULL;
    }
    memo->variant = changed;
    return changed;
}
