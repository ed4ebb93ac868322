/* Checks of an XML tree against the tables of its format.
 *
 * Every element and attribute is read, ignored with a notice, or refused.  Nothing is passed over in silence but
 * declarations of name spaces (xmlns), which hold no part of a model. */
#include "base/nearest.h"
#include "scene/xml/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 400, MAX_IGNORED_KINDS = 64 };

/* A notice of ignored items: a kind of element or attribute, where first, and how often. */
typedef struct ignored ignored;
struct ignored {
    const void *rule; /* an xml_rule or an xml_key; NULL: unknown, but allowed */
    const xml_element *at;
    const char *attribute, *help; /* attribute: NULL of an element */
    int count;
    ignored *next;
};

typedef struct checker {
    report *report;
    memory_pool *pool;
    const xml_allowed *allowed;
    ignored *first, **link;
    int kinds, more; /* more: ignored, of further kinds */
    bool good;
} checker;

static bool matches_pattern(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    return length && pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0 : strcmp(pattern, name) == 0;
}

static bool is_allowed(const checker *c, const char *name) {
    for (int k = 0; k < c->allowed->count; k++) {
        if (strcmp(c->allowed->name[k], name) == 0) {
            return true;
        }
    }
    return false;
}

static void note_ignored(checker *c, const void *rule, const xml_element *e, const char *attribute, const char *help) {
    /* of a kind that was met before */
    for (ignored *n = c->first; n; n = n->next) {
        const char *name = attribute ? n->attribute : n->at->name;
        if (n->rule == rule && name && strcmp(name, attribute ? attribute : e->name) == 0) {
            n->count++;
            return;
        }
    }
    /* of a new kind */
    ignored *n = c->kinds < MAX_IGNORED_KINDS ? POOL_NEW(c->pool, ignored, 1) : NULL;
    if (c->kinds == MAX_IGNORED_KINDS) {
        c->more++;
        return;
    }
    if (!n) {
        c->report->no_memory = true;
        return;
    }
    *n = (ignored){rule, e, attribute, help, 1, NULL};
    *c->link = n;
    c->link = &n->next;
    c->kinds++;
}

static void say_ignored(const checker *c, const xml_element *root) {
    for (const ignored *n = c->first; n; n = n->next) {
        char often[40] = "";
        if (n->count > 1) {
            snprintf(often, sizeof often, " (%d times)", n->count);
        }
        if (n->attribute) {
            xml_notice(c->report, n->at, n->attribute, n->help, "the attribute \"%.60s\" of <%.60s> is ignored%s",
                       n->attribute, n->at->name, often);
        } else {
            xml_notice(c->report, n->at, NULL, n->help, "<%.60s> is ignored%s", n->at->name, often);
        }
    }
    if (c->more) {
        xml_notice(c->report, root, NULL, NULL, "%d elements and attributes of other kinds are ignored", c->more);
    }
}

/* ---- attributes ---- */

/* Numbers in a text, between white space; -1: one is no finite number, or there are more than `most`. */
static int read_numbers(const char *text, int most, double *out) {
    int count = 0;
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (!*text) {
            return count;
        }
        char *end;
        double number = strtod(text, &end);
        bool plain = strspn(text, "+-.0123456789eE") == (size_t)(end - text);
        if (end == text || !plain || !isfinite(number) || (*end && !strchr(" \t\r\n", *end)) || count == most) {
            return -1;
        }
        out[count++] = number;
        text = end;
    }
}

enum { MAX_VECTOR = 16 };

static void check_value(checker *c, const xml_element *e, const xml_key *key, const char *value) {
    /* numbers */
    double numbers[MAX_VECTOR];
    int wanted = key->kind == XML_VECTOR ? key->count : 1;
    if (key->kind == XML_NUMBER || key->kind == XML_VECTOR) {
        if (read_numbers(value, wanted, numbers) != wanted) {
            xml_error(c->report, e, key->name, NULL, "expected %s for \"%s\", not \"%.60s\"",
                      wanted == 1   ? "a finite number"
                      : wanted == 3 ? "three finite numbers"
                                    : "four finite numbers",
                      key->name, value);
            c->good = false;
        }
        /* one of several words */
    } else if (key->kind == XML_CHOICE) {
        char list[LIST_BYTES];
        size_t length = 0;
        for (int k = 0; key->choices[k]; k++) {
            if (strcmp(key->choices[k], value) == 0) {
                return;
            }
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", k ? ", " : "", key->choices[k]);
        }
        xml_error(c->report, e, key->name, list, "unknown %s \"%.60s\"", key->name, value);
        c->good = false;
    }
}

static const xml_key *find_key(const xml_table *t, const char *name) {
    for (int k = 0; k < t->nkeys; k++) {
        if (matches_pattern(t->keys[k].name, name)) {
            return &t->keys[k];
        }
    }
    return NULL;
}

/* Hint at an unknown name: the known one that is nearest, else all of them.  `stride`: from one name to the next. */
static void hint_known(const char *wanted, const char *none, const char *const *name, size_t stride, int count,
                       char hint[LIST_BYTES]) {
    nearest near = {.wanted = wanted};
    size_t length = (size_t)snprintf(hint, LIST_BYTES, "%s", count ? "known here: " : none);
    for (int k = 0; k < count && length < LIST_BYTES; k++) {
        const char *known = *(const char *const *)((const char *)name + (size_t)k * stride);
        nearest_try(&near, known);
        length += (size_t)snprintf(hint + length, LIST_BYTES - length, "%s%s", k ? ", " : "", known);
    }
    if (near.best) {
        nearest_hint(&near, hint, LIST_BYTES);
    }
}

static void say_unknown_attribute(checker *c, const xml_element *e, const xml_table *t, const xml_attribute *a) {
    char hint[LIST_BYTES];
    hint_known(a->name, "it takes none", t->nkeys ? &t->keys->name : NULL, sizeof *t->keys, t->nkeys, hint);
    xml_error(c->report, e, a->name, hint, "unknown attribute \"%.60s\" of <%.60s>", a->name, e->name);
    c->good = false;
}

static bool is_namespace(const char *name) { return strcmp(name, "xmlns") == 0 || strncmp(name, "xmlns:", 6) == 0; }

static void check_attributes(checker *c, const xml_element *e, const xml_table *t) {
    /* those that are there */
    for (const xml_attribute *a = e->attribute; a; a = a->next) {
        const xml_key *key = find_key(t, a->name);
        if (is_namespace(a->name)) {
            continue;
        }
        if (!key && is_allowed(c, a->name)) {
            note_ignored(c, NULL, e, a->name, NULL);
        } else if (!key) {
            say_unknown_attribute(c, e, t, a);
        } else if (key->use == XML_IGNORED) {
            note_ignored(c, key, e, a->name, key->help);
        } else {
            check_value(c, e, key, a->value);
        }
    }
    /* those that must be */
    for (int k = 0; k < t->nkeys; k++) {
        if (t->keys[k].required && !xml_text(e, t->keys[k].name)) {
            xml_error(c->report, e, NULL, NULL, "the attribute \"%s\" is missing", t->keys[k].name);
            c->good = false;
        }
    }
}

/* ---- elements ---- */

static const xml_rule *find_rule(const xml_table *t, const char *name) {
    for (int k = 0; k < t->nrules; k++) {
        if (matches_pattern(t->rules[k].name, name)) {
            return &t->rules[k];
        }
    }
    return NULL;
}

static void say_unknown_element(checker *c, const xml_element *e, const xml_table *t) {
    char hint[LIST_BYTES];
    hint_known(e->name, "it holds no elements", t->nrules ? &t->rules->name : NULL, sizeof *t->rules, t->nrules, hint);
    xml_error(c->report, e, NULL, hint, "unknown element <%.60s> in <%.60s>", e->name, e->parent->name);
    c->good = false;
}

static void check_element(checker *c, xml_element *e, const xml_table *t);

static void check_child(checker *c, xml_element *e, const xml_table *t) {
    const xml_rule *rule = find_rule(t, e->name);
    if (rule && rule->use == XML_READ) {
        check_element(c, e, rule->table);
    } else if (rule && rule->use == XML_IGNORED) {
        note_ignored(c, rule, e, NULL, rule->help);
    } else if (is_allowed(c, e->name)) {
        note_ignored(c, rule, e, NULL, NULL);
    } else if (rule) {
        char hint[LIST_BYTES];
        snprintf(hint, sizeof hint, "%s; --allow %s leaves it out", rule->help, e->name);
        xml_error(c->report, e, NULL, hint, "<%.60s> is not supported", e->name);
        c->good = false;
    } else {
        say_unknown_element(c, e, t);
    }
}

/* How many children a table allows, and which it needs. */
static void check_numbers(checker *c, const xml_element *e, const xml_table *t) {
    int known = 0;
    for (int k = 0; k < t->nrules; k++) {
        const xml_rule *rule = &t->rules[k];
        const xml_element *first = rule->use == XML_READ ? xml_child(e, rule->name) : NULL;
        const xml_element *second = first ? xml_next(first) : NULL;
        known += first != NULL;
        if (second && !rule->many) {
            xml_notice(c->report, second, NULL, NULL, "a second <%s> in <%s>: the first counts", rule->name, e->name);
        }
        if (rule->required && !first) {
            xml_error(c->report, e, NULL, NULL, "<%s> is missing in <%s>", rule->name, e->name);
            c->good = false;
        }
    }
    if (t->one_of && known != 1) {
        char list[LIST_BYTES];
        size_t length = 0;
        for (int k = 0; k < t->nrules; k++) {
            length += (size_t)snprintf(list + length, sizeof list - length, "%s<%s>", k ? ", " : "", t->rules[k].name);
        }
        xml_error(c->report, e, NULL, list, "expected one element in <%s>, not %d", e->name, known);
        c->good = false;
    }
}

static void check_element(checker *c, xml_element *e, const xml_table *t) {
    e->table = t;
    check_attributes(c, e, t);
    if (e->has_text) {
        xml_error(c->report, e, NULL, NULL, "<%.60s> holds text, where elements are expected", e->name);
        c->good = false;
    }
    for (xml_element *child = e->first; child; child = child->next) {
        check_child(c, child, t);
    }
    check_numbers(c, e, t);
}

bool xml_check(report *r, memory_pool *pool, xml_element *root, const xml_table *t, const xml_allowed *allowed) {
    checker c = {.report = r, .pool = pool, .allowed = allowed, .good = true};
    c.link = &c.first;
    if (strcmp(root->name, t->name) != 0) {
        xml_error(r, root, NULL, NULL, "expected <%s> as the outermost element, not <%.60s>", t->name, root->name);
        return false;
    }
    check_element(&c, root, t);
    say_ignored(&c, root);
    return c.good && !(r->strict && c.first);
}

/* ---- values ---- */

static int read_key(const xml_element *e, const char *name, double *out) {
    const xml_key *key = find_key(e->table, name);
    const char *value = xml_text(e, name);
    value = value ? value : key->standard;
    return value ? read_numbers(value, key->kind == XML_VECTOR ? key->count : 1, out) : 0;
}

bool xml_number(const xml_element *e, const char *key, double *out) { return read_key(e, key, out) == 1; }

bool xml_vector(const xml_element *e, const char *key, double *out) { return read_key(e, key, out) > 0; }
