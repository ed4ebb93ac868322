#include "scene/names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64, MOST_TRIED = 20000 };

static int least(int a, int b) { return a < b ? a : b; }

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c; }

/* Insertions, deletions, replacements and swaps of neighbours between two texts of at most LONGEST letters; capitals
 * count as their small letters. */
static int edit_distance(const char *a, size_t na, const char *b, size_t nb) {
    int row[3][LONGEST + 1];
    for (size_t j = 0; j <= nb; j++) {
        row[0][j] = (int)j;
    }
    for (size_t i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int change = lower(a[i - 1]) != lower(b[j - 1]);
            now[j] = least(least(before[j] + 1, now[j - 1] + 1), before[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least(now[j], earlier[j - 2] + 1);
            }
        }
    }
    return row[na % 3][nb];
}

void sim_nearest_try(nearest *n, const char *name) {
    size_t na = strlen(n->wanted), nb = strlen(name);
    if (++n->tried > MOST_TRIED || na > LONGEST || nb > LONGEST) {
        return;
    }
    int allowed = (int)(na > nb ? na : nb) / 3;
    allowed = allowed < 1 ? 1 : allowed;
    int distance = edit_distance(n->wanted, na, name, nb);
    if (distance <= allowed && (!n->best || distance < n->distance)) {
        n->best = name;
        n->distance = distance;
    }
}

const char *sim_nearest_hint(const nearest *n, char *text, size_t size) {
    if (!n->best) {
        return NULL;
    }
    snprintf(text, size, "did you mean \"%.100s\"?", n->best);
    return text;
}

bool sim_name_fits(const char *name, const char *pattern, int64_t *steps) {
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

/* FNV-1a, spread once more: names of copies differ in few bits. */
static size_t hash_of(const char *name) {
    uint64_t h = 14695981039346656037u;
    for (; *name; name++) {
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    }
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return (size_t)(h ^ h >> 32);
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t slot_of(const name_table *t, const char *name) {
    size_t slot = hash_of(name) & (t->room - 1);
    while (t->name[slot] && strcmp(t->name[slot], name) != 0) {
        slot = (slot + 1) & (t->room - 1);
    }
    return slot;
}

int sim_names_find(const name_table *t, const char *name) {
    if (t->count == 0) {
        return -1;
    }
    size_t slot = slot_of(t, name);
    return t->name[slot] ? t->value[slot] : -1;
}

static bool grow(name_table *t) {
    name_table bigger = {.room = t->room ? 2 * t->room : 64, .count = t->count};
    bigger.name = calloc(bigger.room, sizeof *bigger.name);
    bigger.value = calloc(bigger.room, sizeof *bigger.value);
    if (!bigger.name || !bigger.value) {
        sim_names_free(&bigger);
        return false;
    }
    for (size_t i = 0; i < t->room; i++) {
        if (t->name[i]) {
            size_t slot = slot_of(&bigger, t->name[i]);
            bigger.name[slot] = t->name[i];
            bigger.value[slot] = t->value[i];
        }
    }
    sim_names_free(t);
    *t = bigger;
    return true;
}

bool sim_names_add(name_table *t, const char *name, int value) {
    if (2 * (t->count + 1) > t->room && !grow(t)) {
        return false;
    }
    size_t slot = slot_of(t, name);
    t->name[slot] = name;
    t->value[slot] = value;
    t->count++;
    return true;
}

void sim_names_free(name_table *t) {
    free(t->name);
    free(t->value);
    *t = (name_table){0};
}
