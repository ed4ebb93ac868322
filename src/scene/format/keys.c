/* Checks of the keys of a JSON object against its table: unknown, missing, rival and misplaced ones.
 *
 * An unknown key is compared with the known ones (base/nearest.h) and with the words of other formats (foreign.h).  A
 * key that such a suggestion names counts as given, so that a misspelt required key is one error and not two. */
#include "scene/format/keys.h"
#include "base/nearest.h"
#include "scene/format/foreign.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { HINT_BYTES = 532, MAX_RIVAL_GROUPS = 8 }; /* a hint may list all keys of a table */

const field *table_field(const table *t, const char *key) {
    for (int i = 0; i < t->count; i++) {
        if (strcmp(t->fields[i].key, key) == 0) {
            return &t->fields[i];
        }
    }
    return NULL;
}

static bool is_suggested(const table *t, const field *f, uint64_t suggested) {
    return suggested >> (f - t->fields) & 1;
}

/* The keys of `t` that a hint names in quotes. */
static uint64_t find_quoted_keys(const table *t, const char *hint) {
    uint64_t found = 0;
    for (int i = 0; i < t->count; i++) {
        size_t length = strlen(t->fields[i].key);
        for (const char *c = strchr(hint, '"'); c; c = strchr(c + 1, '"')) {
            bool same = strncmp(c + 1, t->fields[i].key, length) == 0 && c[length + 1] == '"';
            found |= (uint64_t)same << i;
        }
    }
    return found;
}

bool is_meant(const table *t, const char *key, const char *meant) {
    nearest near = {.wanted = key};
    for (int i = 0; i < t->count; i++) {
        nearest_try(&near, t->fields[i].key);
    }
    char hint[HINT_BYTES], quoted[80];
    const char *foreign = foreign_find_key(t, key), *said = foreign ? foreign : nearest_hint(&near, hint, sizeof hint);
    snprintf(quoted, sizeof quoted, "\"%s\"", meant);
    return said && strstr(said, quoted);
}

uint64_t report_unknown_key(report *r, const node *n, const table *t) {
    assert(t->count <= 64);
    if (report_full(r)) {
        report_key(r, n, NULL, "unknown key");
        return 0;
    }
    /* all known keys, or the nearest */
    nearest near = {.wanted = n->key};
    char hint[HINT_BYTES];
    size_t length = (size_t)snprintf(hint, sizeof hint, "known here: ");
    for (int i = 0; i < t->count; i++) {
        nearest_try(&near, t->fields[i].key);
        length += (size_t)snprintf(hint + length, sizeof hint - length, "%s%s", i ? ", " : "", t->fields[i].key);
        assert(length < sizeof hint);
    }
    if (near.best) {
        nearest_hint(&near, hint, sizeof hint);
    }
    /* a word of another format goes first */
    const char *foreign = foreign_find_key(t, n->key), *said = foreign ? foreign : hint;
    report_key(r, n, said, "unknown key \"%.80s\"", n->key);
    return find_quoted_keys(t, said);
}

bool check_missing(report *r, const node *n, const table *t, int type, const field *alone, uint64_t suggested) {
    bool good = true;
    for (int i = 0; i < t->count; i++) {
        const field *f = &t->fields[i];
        bool needed = f->required || (type >= 0 && (f->needed_by & 1u << type));
        if (!needed || f == alone || node_member(n, f->key)) {
            continue;
        }
        if (!is_suggested(t, f, suggested)) {
            char hint[160];
            snprintf(hint, sizeof hint, "write {\"%s\": \"%.60s\", \"%s\": ...}", t->shorthand ? t->shorthand : "",
                     alone ? n->text : "", f->key);
            report_value(r, n, alone ? hint : NULL, "the key \"%s\" is missing", f->key);
        }
        good = false;
    }
    return good;
}

static void list_rivals(const table *t, int rival, char names[160]) {
    size_t length = 0;
    for (int i = 0; i < t->count && length < 120; i++) {
        if (t->fields[i].rival == rival) {
            length += (size_t)snprintf(names + length, 160 - length, "%s\"%s\"", length ? ", " : "", t->fields[i].key);
        }
    }
}

static void report_both_rivals(report *r, const node *a, const node *b) {
    const node *first = a->key_at < b->key_at ? a : b, *second = first == a ? b : a;
    report_key(r, second, "one of them is enough", "\"%s\" and \"%s\" are both given", first->key, second->key);
}

bool check_rivals(report *r, const node *n, const table *t, uint64_t suggested) {
    const node *given[MAX_RIVAL_GROUPS] = {NULL};
    unsigned misspelt = 0;
    bool good = true;
    /* at most one of a group */
    for (int i = 0; i < t->count; i++) {
        const field *f = &t->fields[i];
        const node *member = f->rival ? node_member(n, f->key) : NULL;
        if (member && given[f->rival]) {
            report_both_rivals(r, given[f->rival], member);
            good = false;
        }
        given[f->rival] = member ? member : given[f->rival];
        misspelt |= (unsigned)is_suggested(t, f, suggested) << f->rival;
    }
    /* one of each group that the table needs */
    for (int rival = 1; rival < MAX_RIVAL_GROUPS; rival++) {
        if (t->rivals_needed & ~misspelt & 1u << rival && !given[rival]) {
            char keys[160];
            list_rivals(t, rival, keys);
            report_value(r, n, NULL, "one of %s must be given", keys);
            good = false;
        }
    }
    return good;
}

bool check_key_of_type(report *r, const node *n, const table *t, const field *f, int type) {
    if (type < 0 || !f->only || (f->only & 1u << type)) {
        return true;
    }
    const char *name = table_field(t, t->type_key)->name_of(type);
    report_key(r, n, NULL, "the key \"%s\" does not belong to the %s \"%s\"", f->key, t->type_key, name);
    return false;
}
