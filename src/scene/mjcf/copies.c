/* Elements outside the bodies that name what a <replicate> copies, or a part of a model that is attached: they are copied
 * with it.
 *
 *     a name means     what has the ending of the copy, else that of the copies around, else what has none
 *     an element       stands in each copy from which it names something, if there is all that it names; else once
 *     of a part        it stands there if it names something of the part, and nothing beside it
 *
 * Copies follow behind all other elements of their section, copy by copy; of copies within copies the outer ones first.
 *
 * Cost: one look-up a name and copy. MOST_TRIES bounds those of a model. */
#include "scene/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TRIES = 20 * 1000 * 1000, NAME_BYTES = 1000 };

/* Attributes that name things. */
typedef enum named { SITES, JOINTS, TENDONS, BODIES, GEOMS, ACTUATORS, NAMED } named;
static const struct {
    const char *attribute;
    named kind;
} references[] = {{"site", SITES},          {"site1", SITES},      {"site2", SITES},    {"refsite", SITES},
                  {"cranksite", SITES},     {"slidersite", SITES}, {"sidesite", SITES}, {"joint", JOINTS},
                  {"joint1", JOINTS},       {"joint2", JOINTS},    {"tendon", TENDONS}, {"tendon1", TENDONS},
                  {"tendon2", TENDONS},     {"body", BODIES},      {"body1", BODIES},   {"body2", BODIES},
                  {"geom", GEOMS},          {"geom1", GEOMS},      {"geom2", GEOMS},    {"actuator", ACTUATORS},
                  {"jointinparent", JOINTS}};
enum { REFERENCES = sizeof references / sizeof references[0] };

static const name_table *table_of(const mjcf_model *m, named kind) {
    const name_table *const tables[NAMED] = {&m->sites, &m->joints, &m->tendons, &m->bodies, &m->geoms, &m->actuators};
    return tables[kind];
}

/* Of "objtype" and "reftype"; NAMED: of what names are not copied. */
static named kind_of_type(const char *said) {
    static const struct {
        const char *type;
        named kind;
    } types[] = {{"body", BODIES}, {"xbody", BODIES}, {"geom", GEOMS}, {"site", SITES}};
    for (size_t k = 0; said && k < sizeof types / sizeof types[0]; k++) {
        if (strcmp(types[k].type, said) == 0) {
            return types[k].kind;
        }
    }
    return NAMED;
}

/* Names: all, those that are there, those of the copy. */
typedef struct names_seen {
    int all, there, own;
} names_seen;

static const mjcf_scope *scope_of(const mjcf_model *m, named kind, int index) {
    switch (kind) {
    case SITES:
        return m->site[index].scope;
    case JOINTS:
        return m->joint[index].scope;
    case TENDONS:
        return m->tendon[index].scope;
    case BODIES:
        return m->body[index].scope;
    case GEOMS:
        return m->geom[index].scope;
    default:
        return m->motor[index].scope;
    }
}

/* Scopes of one copy: the walk meets it twice. */
static bool same_copy(const mjcf_scope *a, const mjcf_scope *b) {
    return a->copied == b->copied && a->file == b->file && strcmp(a->prefix, b->prefix) == 0 &&
           strcmp(a->suffix, b->suffix) == 0;
}

static void look_up(const mjcf_model *m, const mjcf_scope *s, named kind, const char *given, names_seen *seen) {
    const mjcf_scope *at = s;
    int found = -1;
    seen->all++;
    for (; at && found < 0; at = found < 0 ? at->around : at) {
        char name[NAME_BYTES];
        int length = snprintf(name, sizeof name, "%s%s%s", at->prefix, given, at->suffix);
        ++*m->tries;
        xml_clean_name(name);
        found = length < NAME_BYTES ? names_find(table_of(m, kind), name) : -1;
    }
    seen->there += found >= 0;
    seen->own += found >= 0 && at == s && same_copy(scope_of(m, kind, found), s);
}

static void look_up_all(const mjcf_model *m, const mjcf_scope *s, const xml_element *e, names_seen *seen) {
    static const char *const typed[2][2] = {{"objtype", "objname"}, {"reftype", "refname"}};
    for (const xml_attribute *a = e->attribute; a; a = a->next) {
        for (int k = 0; k < REFERENCES; k++) {
            if (strcmp(a->name, references[k].attribute) == 0) {
                look_up(m, s, references[k].kind, a->value, seen);
            }
        }
    }
    for (int k = 0; k < 2; k++) {
        named kind = kind_of_type(xml_text(e, typed[k][0]));
        if (kind < NAMED && xml_text(e, typed[k][1])) {
            look_up(m, s, kind, xml_text(e, typed[k][1]), seen);
        }
    }
}

static names_seen look_up_element(const mjcf_model *m, const mjcf_scope *s, const xml_element *e) {
    names_seen seen = {0};
    look_up_all(m, s, e, &seen);
    for (const xml_element *child = e->first; child && seen.there == seen.all; child = child->next) {
        look_up_all(m, s, child, &seen);
    }
    return seen;
}

/* Does it name something of the copy? */
static bool stands_in_copy(const mjcf_model *m, const mjcf_scope *copy, const xml_element *e) {
    names_seen seen = look_up_element(m, copy, e);
    return seen.there == seen.all && seen.own > 0;
}

bool mjcf_stands_in(const mjcf_model *m, const mjcf_scope *s, const xml_element *e) {
    /* parts and copies */
    if (s->part) {
        return *m->tries <= MOST_TRIES && stands_in_copy(m, s, e);
    }
    if (!m->copies || *m->tries > MOST_TRIES) {
        return !s->around;
    }
    if (s->around) {
        return stands_in_copy(m, s, e);
    }
    /* once, where no copy has more of it */
    names_seen plain = look_up_element(m, s, e);
    if (plain.there == plain.all) {
        return true;
    }
    for (const mjcf_scope *copy = m->copies; copy; copy = copy->next) {
        bool same = copy->file == s->file && strcmp(copy->prefix, s->prefix) == 0;
        if (same && stands_in_copy(m, copy, e)) {
            return false;
        }
    }
    return true;
}

bool mjcf_check_tries(mjcf_work *w) {
    const mjcf_model *m = &w->model;
    if (m->tries && *m->tries > MOST_TRIES) {
        xml_error(w->report, m->files->root, NULL, NULL,
                  "too many elements and copies: names in copies take more than %d look-ups", MOST_TRIES);
        mjcf_refuse(w);
    }
    return w->good;
}
