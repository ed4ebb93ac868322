/* Matching of names against patterns with '*'; hash table from names to numbers with linear probing.
 *
 * Matching goes back to the last '*' only; its cost is at most the product of both lengths.  The table is at most half
 * full. */
#include "scene/json/names.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool name_matches(const char *name, const char *pattern, int64_t *steps) {
    const char *star = NULL, *from = NULL; /* the last '*' and where its letters may end */
    for (++*steps; *name; ++*steps) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == 0;
}

/* Names of copies differ in few bits: spread. */
static size_t hash_of(const char *name) { return (size_t)hash_finish(hash_text(HASH_START, name)); }

/* The slot that holds the name, or the free one where it belongs. */
static size_t slot_of(const name_table *t, const char *name) {
    size_t slot = hash_of(name) & (t->room - 1);
    while (t->name[slot] && strcmp(t->name[slot], name) != 0) {
        slot = (slot + 1) & (t->room - 1);
    }
    return slot;
}

int names_find(const name_table *t, const char *name) {
    if (t->count == 0) {
        return -1;
    }
    size_t slot = slot_of(t, name);
    return t->name[slot] ? t->value[slot] : -1;
}

static bool grow_names(name_table *t) {
    name_table bigger = {.room = t->room ? 2 * t->room : 64, .count = t->count};
    bigger.name = calloc(bigger.room, sizeof *bigger.name);
    bigger.value = calloc(bigger.room, sizeof *bigger.value);
    if (!bigger.name || !bigger.value) {
        names_free(&bigger);
        return false;
    }
    for (size_t i = 0; i < t->room; i++) {
        if (t->name[i]) {
            size_t slot = slot_of(&bigger, t->name[i]);
            bigger.name[slot] = t->name[i];
            bigger.value[slot] = t->value[i];
        }
    }
    names_free(t);
    *t = bigger;
    return true;
}

bool names_add(name_table *t, const char *name, int value) {
    if (2 * (t->count + 1) > t->room && !grow_names(t)) {
        return false;
    }
    size_t slot = slot_of(t, name);
    t->name[slot] = name;
    t->value[slot] = value;
    t->count++;
    return true;
}

void names_free(name_table *t) {
    free(t->name);
    free(t->value);
    *t = (name_table){0};
}
