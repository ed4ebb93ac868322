/* Lists that grow, names with prefix and suffix, references by name. */
#include "base/nearest.h"
#include "scene/mjcf/parts/parts.h"

#include <stdio.h>
#include <string.h>

bool mjcf_narrow_range(double range[2], double margin) {
    range[0] += margin;
    range[1] -= margin;
    bool meet = range[0] >= range[1];
    if (meet) {
        range[0] = range[1] = (range[0] + range[1]) / 2;
    }
    return meet;
}

void mjcf_refuse(mjcf_work *w) { w->good = false; }

bool mjcf_spend(mjcf_work *w, const xml_element *at) {
    if (w->items > w->limit) {
        return false;
    }
    if (++w->items > w->limit) {
        xml_error(w->report, at, NULL, NULL, "more than %lld bodies, joints, geoms, sites and copies",
                  (long long)w->limit);
        mjcf_refuse(w);
        return false;
    }
    return true;
}

bool mjcf_add(mjcf_work *w, const xml_element *at, void **items, int count, int *room, size_t size) {
    /* the limit */
    if (!mjcf_spend(w, at)) {
        return false;
    }
    if (count < *room) {
        return true;
    }
    /* twice the room */
    int more = *room ? 2 * *room : 16;
    void *grown = pool_alloc(w->pool, (size_t)more, size);
    if (!grown) {
        w->report->no_memory = true;
        mjcf_refuse(w);
        return false;
    }
    if (count) {
        memcpy(grown, *items, (size_t)count * size);
    }
    *items = grown;
    *room = more;
    return true;
}

static char *full_name(mjcf_work *w, const mjcf_scope *s, const char *given) {
    size_t size = strlen(s->prefix) + strlen(given) + strlen(s->suffix) + 1;
    char *name = pool_alloc(w->pool, size, 1);
    if (!name) {
        w->report->no_memory = true;
        return NULL;
    }
    snprintf(name, size, "%s%s%s", s->prefix, given, s->suffix);
    return name;
}

const char *mjcf_name(mjcf_work *w, const mjcf_scope *s, const xml_element *e) {
    const char *given = xml_text(e, "name");
    if (!given || !*given) {
        return NULL;
    }
    char *name = full_name(w, s, given);
    if (name && xml_clean_name(name)) {
        xml_notice(w->report, e, "name", NULL, "the name becomes \"%.80s\"", name);
    }
    return name ? name : "";
}

bool mjcf_add_name(mjcf_work *w, name_table *names, const xml_element *e, const char *what, const char *name,
                   int index) {
    if (names_find(names, name) >= 0) {
        xml_error(w->report, e, "name", NULL, "a second %s called \"%.80s\"", what, name);
        mjcf_refuse(w);
        return false;
    }
    if (!names_add(names, name, index)) {
        w->report->no_memory = true;
        mjcf_refuse(w);
        return false;
    }
    return true;
}

const char *mjcf_joined(mjcf_work *w, const char *name, const char *ending) {
    size_t size = strlen(name) + strlen(ending) + 1;
    char *joined = pool_alloc(w->pool, size, 1);
    w->report->no_memory |= !joined;
    if (joined) {
        snprintf(joined, size, "%s%s", name, ending);
    }
    return joined ? joined : name;
}

/* Names of an element and of all within it. */
static void list_given(mjcf_work *w, const xml_element *e) {
    const char *name = xml_text(e, "name");
    if (name && names_find(&w->model.given, name) < 0) {
        w->report->no_memory |= !names_add(&w->model.given, name, 0);
    }
    for (const xml_element *child = e->first; child; child = child->next) {
        list_given(w, child);
    }
}

const char *mjcf_number_name(mjcf_work *w, const char *word, int index) {
    /* names of all files so far */
    for (mjcf_file *f = w->model.files; f; f = f->next) {
        if (!f->named) {
            f->named = true;
            list_given(w, f->root);
        }
    }
    /* another one */
    char name[80];
    int length = snprintf(name, sizeof name, "%.40s%d", word, index + 1);
    for (int k = 2; names_find(&w->model.given, name) >= 0; k++) {
        snprintf(name + length, sizeof name - (size_t)length, "_%d", k);
    }
    const char *kept = pool_text(w->pool, name);
    w->report->no_memory |= !kept;
    return kept ? kept : "";
}

/* As wanted; else with a number that makes it new. */
static const char *take_name(mjcf_work *w, name_table *names, const char *wanted, int index) {
    char tried[400];
    snprintf(tried, sizeof tried, "%.300s", wanted);
    size_t length = strlen(tried);
    for (int k = 2; names_find(names, tried) >= 0; k++) {
        snprintf(tried + length, sizeof tried - length, "_%d", k);
    }
    const char *name = pool_text(w->pool, tried);
    if (!name || !names_add(names, name, index)) {
        w->report->no_memory = true;
        mjcf_refuse(w);
        return "";
    }
    return name;
}

const char *mjcf_take_link(mjcf_work *w, const char *wanted, int number) {
    char numbered[300];
    snprintf(numbered, sizeof numbered, number >= 0 ? "%.200s%d" : "%.200s", wanted, number);
    return take_name(w, &w->model.links, numbered, 0);
}

const char *mjcf_take_site(mjcf_work *w, const char *wanted, int index) {
    return take_name(w, &w->model.sites, wanted, index);
}

int mjcf_find(mjcf_work *w, const mjcf_scope *s, const name_table *names, const mjcf_item *i, const char *attribute,
              const char *what) {
    /* the name */
    const xml_element *holder = mjcf_holder(i, attribute);
    if (!holder) {
        return -2;
    }
    char *wanted = NULL;
    int found = -1;
    for (const mjcf_scope *at = s; at && found < 0; at = at->around) {
        wanted = full_name(w, at, xml_text(holder, attribute));
        if (!wanted) {
            return -1;
        }
        xml_clean_name(wanted);
        found = names_find(names, wanted);
    }
    if (found < 0) {
        /* what is like it */
        nearest near = {.wanted = wanted};
        char hint[200];
        for (size_t k = 0; k < names->room && !report_full(w->report); k++) {
            if (names->name[k]) {
                nearest_try(&near, names->name[k]);
            }
        }
        xml_error(w->report, holder, attribute, nearest_hint(&near, hint, sizeof hint), "there is no %s \"%.80s\"",
                  what, wanted);
        mjcf_refuse(w);
    }
    return found;
}

mjcf_item mjcf_plain(const mjcf_scope *s, const xml_element *e) { return (mjcf_item){&s->file->classes, e, "", -1}; }

mjcf_item mjcf_item_of(mjcf_work *w, const mjcf_scope *s, const xml_element *e, const char *kind, int cls) {
    const mjcf_classes *classes = &s->file->classes;
    int main = classes->count ? 0 : -1;
    cls = cls < 0 ? main : cls;
    int found = mjcf_find_class(w->report, classes, e, "class", cls);
    if (found < 0 && classes->count) {
        mjcf_refuse(w);
    }
    if (found < 0 && xml_text(e, "class") && strcmp(xml_text(e, "class"), "main") != 0) {
        mjcf_refuse(w);
    }
    return (mjcf_item){classes, e, kind, found < 0 ? main : found};
}

void mjcf_here(mjcf_work *w, const xml_element *e) {
    w->out->here = e->at;
    w->out->behind = e->source;
}

mjcf_softness mjcf_read_softness(const mjcf_item *i, const char *ref, const char *imp) {
    mjcf_softness s = {.ref = {0.02, 1}, .imp = {0.9, 0.95, 0.001, 0.5, 2}};
    s.given = mjcf_holder(i, ref) || mjcf_holder(i, imp);
    mjcf_numbers(i, ref, 2, s.ref);
    mjcf_numbers(i, imp, 5, s.imp);
    return s;
}

bool mjcf_is_limited(mjcf_work *w, const mjcf_file *f, const mjcf_item *i, const char *limited, const char *range) {
    const char *said = mjcf_text(i, limited);
    if (said && strcmp(said, "auto") != 0) {
        return strcmp(said, "true") == 0;
    }
    double ends[2] = {0};
    mjcf_numbers(i, range, 2, ends);
    bool given = ends[0] != 0 || ends[1] != 0;
    if (given && !f->compiler.auto_limits) {
        xml_error(w->report, mjcf_holder(i, range), range, NULL,
                  "\"%s\" needs \"%s\" where <compiler> has autolimits=\"false\"", range, limited);
        mjcf_refuse(w);
    }
    return given;
}
