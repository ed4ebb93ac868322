/* Attributes of an element with defaults: its own first, then those of its class, then of the classes around that.
 *
 * A class may stand in several <default> elements; later ones win.  Numbers overlay each other: where an inner level
 * gives one number of three, the outer levels' others stay. */
#include "base/nearest.h"
#include "scene/mjcf/format/format.h"

#include <string.h>

static int count_defaults(const xml_element *e) {
    int count = 0;
    for (const xml_element *child = e->first; child; child = child->next) {
        if (strcmp(child->name, "default") == 0) {
            count += 1 + count_defaults(child);
        }
    }
    return count;
}

/* A class, with all within it. */
static bool add_class(report *r, mjcf_classes *c, const xml_element *e, int outer) {
    const char *name = xml_text(e, "class");
    if (!name && outer >= 0) {
        xml_error(r, e, NULL, NULL, "a <default> within another needs a class");
        return false;
    }
    name = name ? name : "main";
    int index = c->count++;
    c->item[index] = (mjcf_class){.name = name, .at = e, .outer = outer, .again = -1, .last = index};
    int first = names_find(&c->names, name);
    if (first >= 0 && c->item[first].outer != outer) {
        xml_error(r, e, "class", NULL, "the class \"%.80s\" stands within two others", name);
        return false;
    }
    if (first >= 0) {
        c->item[c->item[first].last].again = index;
        c->item[first].last = index;
    } else if (!names_add(&c->names, name, index)) {
        r->no_memory = true;
        return false;
    }
    index = first >= 0 ? first : index;
    bool good = true;
    for (const xml_element *child = xml_child(e, "default"); child; child = xml_next(child)) {
        good &= add_class(r, c, child, index);
    }
    return good;
}

bool mjcf_list_classes(report *r, memory_pool *pool, const xml_element *root, mjcf_classes *out) {
    *out = (mjcf_classes){.item = POOL_NEW(pool, mjcf_class, count_defaults(root))};
    if (!out->item) {
        r->no_memory = true;
        return false;
    }
    bool good = true;
    for (const xml_element *e = xml_child(root, "default"); e; e = xml_next(e)) {
        good &= add_class(r, out, e, -1);
    }
    return good;
}

int mjcf_find_class(report *r, const mjcf_classes *c, const xml_element *e, const char *attribute, int otherwise) {
    const char *name = xml_text(e, attribute);
    if (!name) {
        return otherwise;
    }
    int found = names_find(&c->names, name);
    if (found < 0 && strcmp(name, "main") != 0) {
        nearest near = {.wanted = name};
        char hint[200];
        for (int k = 0; k < c->count; k++) {
            nearest_try(&near, c->item[k].name);
        }
        xml_error(r, e, attribute, nearest_hint(&near, hint, sizeof hint), "there is no class \"%.80s\"", name);
    }
    return found;
}

void mjcf_list_levels(const mjcf_classes *c, int cls, mjcf_levels *out) {
    out->count = 0;
    for (; cls >= 0 && out->count < MJCF_MAX_LEVELS; cls = c->item[cls].outer) {
        out->cls[out->count++] = cls;
    }
    for (int k = 0; k < out->count / 2; k++) {
        int swap = out->cls[k];
        out->cls[k] = out->cls[out->count - 1 - k];
        out->cls[out->count - 1 - k] = swap;
    }
}

/* The first of the keys that an element says; -1: none. */
static int which_key(const xml_element *e, const char *const *key, int nkey) {
    for (int k = 0; e && k < nkey; k++) {
        if (xml_text(e, key[k])) {
            return k;
        }
    }
    return -1;
}

/* The last default of a class for a kind of element that says one of the keys. */
static const xml_element *holder_in_class(const mjcf_item *i, int cls, const char *const *key, int nkey) {
    const xml_element *holder = NULL;
    for (int k = cls; k >= 0; k = i->classes->item[k].again) {
        for (const xml_element *e = xml_child(i->classes->item[k].at, i->kind); e; e = xml_next(e)) {
            holder = which_key(e, key, nkey) >= 0 ? e : holder;
        }
    }
    return holder;
}

const xml_element *mjcf_nearest_holder(const mjcf_item *i, const char *const *key, int nkey, int *which) {
    const xml_element *holder = which_key(i->at, key, nkey) >= 0 ? i->at : NULL;
    for (int cls = i->cls; cls >= 0 && !holder; cls = i->classes->item[cls].outer) {
        holder = holder_in_class(i, cls, key, nkey);
    }
    *which = which_key(holder, key, nkey);
    return holder;
}

const xml_element *mjcf_holder(const mjcf_item *i, const char *key) {
    int which;
    return mjcf_nearest_holder(i, &key, 1, &which);
}

const char *mjcf_text(const mjcf_item *i, const char *key) {
    const xml_element *holder = mjcf_holder(i, key);
    return holder ? xml_text(holder, key) : NULL;
}

double mjcf_number(const mjcf_item *i, const char *key, double otherwise) {
    const xml_element *holder = mjcf_holder(i, key);
    double number = otherwise;
    if (holder) {
        xml_numbers(holder, key, 1, &number);
    }
    return number;
}

static int overlay_numbers(const xml_element *e, const char *key, int most, double *out, int before) {
    int count = xml_numbers(e, key, most, out);
    return count > before ? count : before;
}

int mjcf_numbers(const mjcf_item *i, const char *key, int most, double *out) {
    mjcf_levels levels;
    mjcf_list_levels(i->classes, i->cls, &levels);
    int count = 0;
    for (int k = 0; k < levels.count; k++) {
        for (int again = levels.cls[k]; again >= 0; again = i->classes->item[again].again) {
            const xml_element *e = xml_child(i->classes->item[again].at, i->kind);
            for (; e; e = xml_next(e)) {
                count = overlay_numbers(e, key, most, out, count);
            }
        }
    }
    return overlay_numbers(i->at, key, most, out, count);
}

bool mjcf_says(const mjcf_item *i, const char *key, const char *word) {
    const char *said = mjcf_text(i, key);
    return said && strcmp(said, word) == 0;
}
