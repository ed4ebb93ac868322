/* Checks of an XML tree against the tables of its format.
 *
 * Every element and attribute is read, ignored with a notice, or refused.  Nothing is passed over in silence but
 * declarations of name spaces (xmlns), which hold no part of a model.
 *
 * A tree with errors becomes one without, so that later stages find theirs in the same load: wrong values are taken out,
 * and elements that lack a part they need, with what they hold. */
#include "base/nearest.h"
#include "scene/xml/robot.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 400, MAX_IGNORED_KINDS = 64, NOTICE_BYTES = 560 };

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
    if (strcmp(pattern, "*:*") == 0) {
        return strchr(name, ':') != NULL;
    }
    return length && pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0 : strcmp(pattern, name) == 0;
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

/* "<visual> (2 times)", "texture/width". */
static size_t write_ignored(const ignored *n, char *to, size_t size) {
    char often[40] = "";
    if (n->count > 1) {
        snprintf(often, sizeof often, " (%d times)", n->count);
    }
    int length = n->attribute ? snprintf(to, size, "%.60s/%.60s%s", n->at->name, n->attribute, often)
                              : snprintf(to, size, "<%.60s>%s", n->at->name, often);
    return (size_t)length < size ? (size_t)length : size;
}

/* A kind that alone is ignored for its reason. */
static void say_single(const checker *c, const ignored *n) {
    char often[40] = "";
    if (n->count > 1) {
        snprintf(often, sizeof often, " (%d times)", n->count);
    }
    const xml_key *key = n->attribute ? n->rule : NULL;
    if (key && key->form == XML_CHILD) {
        xml_notice(c->report, n->at, n->attribute, n->help, "<%.60s> of <%.60s> is ignored%s", n->attribute,
                   n->at->name, often);
    } else if (n->attribute) {
        xml_notice(c->report, n->at, n->attribute, n->help, "the attribute \"%.60s\" of <%.60s> is ignored%s",
                   n->attribute, n->at->name, often);
    } else {
        xml_notice(c->report, n->at, NULL, n->help, "<%.60s> is ignored%s", n->at->name, often);
    }
}

static bool same_reason(const ignored *a, const ignored *b) {
    return a->help == b->help || (a->help && b->help && strcmp(a->help, b->help) == 0);
}

/* All that is ignored for the reason of `n`, which is the first. */
static void say_reason(const checker *c, const ignored *n) {
    enum { ITEM_BYTES = 160 };
    char list[NOTICE_BYTES];
    size_t length = write_ignored(n, list, sizeof list);
    int count = 1, more = 0;
    for (const ignored *other = n->next; other; other = other->next) {
        if (!same_reason(other, n)) {
            continue;
        }
        count++;
        if (length + ITEM_BYTES < sizeof list) {
            length += (size_t)snprintf(list + length, sizeof list - length, ", ");
            length += write_ignored(other, list + length, sizeof list - length);
        } else {
            more++;
        }
    }
    if (more) {
        snprintf(list + length, sizeof list - length, " and %d more", more);
    }
    if (count == 1) {
        say_single(c, n);
    } else {
        xml_notice(c->report, n->at, n->attribute, n->help, "ignored: %s", list);
    }
}

/* One notice for each reason. */
static void say_ignored(const checker *c, const xml_element *root) {
    for (const ignored *n = c->first; n; n = n->next) {
        bool said = false;
        for (const ignored *before = c->first; before != n; before = before->next) {
            said |= same_reason(before, n);
        }
        if (!said) {
            say_reason(c, n);
        }
    }
    if (c->more) {
        xml_notice(c->report, root, NULL, NULL, "%d elements and attributes of other kinds are ignored", c->more);
    }
}

/* ---- attributes ---- */

static int most_numbers(const xml_key *key) {
    return key->kind == XML_LIST ? INT_MAX : key->kind == XML_VECTOR ? key->count : 1;
}

/* 0x and digits, or inf with a sign: what some keys take besides decimal numbers. */
static bool is_other_number(const char *text, const char *end, bool bits, bool endless) {
    size_t sign = *text == '-' || *text == '+', length = (size_t)(end - text) - sign;
    bool hexadecimal = strncmp(text, "0x", 2) == 0 && strspn(text + 2, "0123456789abcdefABCDEF") == length - 2;
    bool infinite = length == 3 && strncmp(text + sign, "inf", 3) == 0;
    return (bits && hexadecimal && length <= 10) || (endless && infinite);
}

/* Numbers in a text, between white space; -1: one is none that a key takes, or there are more than `most`.  `out` may be
 * NULL; key NULL: finite decimal numbers. */
static int read_numbers(const char *text, const xml_key *key, int most, double *out) {
    int count = 0;
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (!*text) {
            return count;
        }
        char *end;
        double number = strtod(text, &end);
        bool plain = strspn(text, "+-.0123456789eE") == (size_t)(end - text) && isfinite(number);
        bool other = key && end > text && is_other_number(text, end, key->bits, key->endless);
        if (end == text || !(plain || other) || (*end && !strchr(" \t\r\n", *end)) || count == most) {
            return -1;
        }
        if (out) {
            out[count] = number;
        }
        count++;
        text = end;
    }
}

static int least_numbers(const xml_key *key) {
    return key->kind == XML_LIST ? 0 : key->least ? key->least : most_numbers(key);
}

static void say_numbers(checker *c, const xml_element *e, const xml_key *key, const char *value) {
    static const char *const word[] = {"", "a finite number", "two finite numbers", "three finite numbers",
                                       "four finite numbers"};
    int most = most_numbers(key), least = least_numbers(key);
    char wanted[60];
    if (key->kind == XML_LIST) {
        snprintf(wanted, sizeof wanted, "finite numbers");
    } else if (least < most) {
        snprintf(wanted, sizeof wanted, "%d to %d finite numbers", least, most);
    } else if (most <= 4) {
        snprintf(wanted, sizeof wanted, "%s", word[most]);
    } else {
        snprintf(wanted, sizeof wanted, "%d finite numbers", most);
    }
    xml_error(c->report, e, key->name, NULL, "expected %s for \"%s\", not \"%.60s\"", wanted, key->name, value);
    c->good = false;
}

static bool is_true(const char *value) { return strcmp(value, "true") == 0 || strcmp(value, "1") == 0; }

static bool is_flag(const char *value) {
    return is_true(value) || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
}

/* false: the value is wrong. */
static bool check_value(checker *c, const xml_element *e, const xml_key *key, const char *value) {
    /* numbers */
    if (key->kind == XML_NUMBER || key->kind == XML_VECTOR || key->kind == XML_LIST) {
        int count = read_numbers(value, key, most_numbers(key), NULL);
        if (count < least_numbers(key)) {
            say_numbers(c, e, key, value);
            return false;
        }
    } else if (key->kind == XML_FLAG && !is_flag(value)) {
        xml_error(c->report, e, key->name, NULL, "expected true or false for \"%s\", not \"%.60s\"", key->name, value);
        c->good = false;
        return false;
        /* one of several words */
    } else if (key->kind == XML_CHOICE) {
        char list[LIST_BYTES];
        size_t length = 0;
        for (int k = 0; key->choices[k]; k++) {
            if (strcmp(key->choices[k], value) == 0) {
                return true;
            }
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", k ? ", " : "", key->choices[k]);
        }
        xml_error(c->report, e, key->name, list, "unknown %s \"%.60s\"", key->name, value);
        c->good = false;
        return false;
    }
    return true;
}

const xml_key *xml_find_key(const xml_table *t, const char *name) {
    for (int k = 0; k < t->nkeys; k++) {
        if (matches_pattern(t->keys[k].name, name)) {
            return &t->keys[k];
        }
    }
    return NULL;
}

/* Hint at an unknown name: the known one that is nearest, else how it is left out, and all known ones.  `stride`:
 * from one name to the next. */
static void hint_known(const char *wanted, const char *none, const char *const *name, size_t stride, int count,
                       char hint[LIST_BYTES]) {
    nearest near = {.wanted = wanted};
    size_t length =
        (size_t)snprintf(hint, LIST_BYTES, "--allow %.60s leaves it out; %s", wanted, count ? "known here: " : none);
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

/* Attributes with a prefix go as elements with one do. */
static bool is_extension(const xml_table *t, const char *name) {
    const xml_rule *rule = strchr(name, ':') ? xml_find_rule(t, name) : NULL;
    return rule && rule->use == XML_IGNORED;
}

/* A refused attribute may stand where it says the default. */
static bool says_default(const xml_key *key, const char *value) {
    if (key->standard && key->kind == XML_FLAG) {
        return is_true(value) == is_true(key->standard);
    }
    if (!key->standard || key->kind == XML_TEXT || key->kind == XML_CHOICE) {
        return key->standard && strcmp(key->standard, value) == 0;
    }
    double standard[16] = {0}, given[16] = {0};
    int wanted = read_numbers(key->standard, key, 16, standard), count = read_numbers(value, key, 16, given);
    return count <= wanted && memcmp(standard, given, (size_t)(count > 0 ? count : 0) * sizeof *given) == 0;
}

static void refuse_attribute(checker *c, const xml_element *e, const xml_key *key) {
    if (xml_allows(c->allowed, key->name)) {
        note_ignored(c, key, e, key->name, NULL);
        return;
    }
    char hint[LIST_BYTES];
    snprintf(hint, sizeof hint, "%s; --allow %s leaves it out", key->help, key->name);
    xml_error(c->report, e, key->name, hint,
              key->form == XML_CHILD ? "<%s> of <%.60s> is not supported"
                                     : "the attribute \"%s\" of <%.60s> is not supported",
              key->name, e->name);
    c->good = false;
}

static void say_missing(checker *c, const xml_element *e, const xml_key *key) {
    static const char *const format[] = {[XML_ATTRIBUTE] = "the attribute \"%s\" is missing",
                                         [XML_CHILD] = "<%s> is missing in <%s>",
                                         [XML_CONTENT] = "the %s of <%s> is missing"};
    xml_error(c->report, e, NULL, NULL, format[key->form], key->name, e->name);
    c->good = false;
}

/* Sets of rows of a table; those beyond the width share a bit. */
static uint64_t bit_of(ptrdiff_t row) { return 1ull << (row < 63 ? row : 63); }

static void check_attributes(checker *c, xml_element *e, const xml_table *t) {
    /* those that are there; wrong ones are taken out */
    uint64_t wrong = 0;
    for (xml_attribute **link = &e->attribute, *a = *link; a; a = *link) {
        const xml_key *key = xml_find_key(t, a->name);
        bool right = true;
        if (is_namespace(a->name)) {
            link = &a->next;
            continue;
        }
        if (!key && xml_allows(c->allowed, a->name)) {
            note_ignored(c, NULL, e, a->name, NULL);
        } else if (!key && is_extension(t, a->name)) {
            note_ignored(c, NULL, e, a->name, xml_find_rule(t, a->name)->help);
        } else if (!key) {
            say_unknown_attribute(c, e, t, a);
        } else if (key->use == XML_IGNORED) {
            note_ignored(c, key, e, a->name, key->help);
        } else {
            right = check_value(c, e, key, a->value);
            if (key->use == XML_REFUSED && !says_default(key, a->value)) {
                refuse_attribute(c, e, key);
            }
        }
        wrong |= right ? 0 : bit_of(key - t->keys);
        if (right) {
            link = &a->next;
        } else {
            *link = a->next;
        }
    }
    /* those that must be */
    for (int k = 0; k < t->nkeys; k++) {
        if (!t->keys[k].required || xml_text(e, t->keys[k].name)) {
            continue;
        }
        if (!(wrong & bit_of(k))) {
            say_missing(c, e, &t->keys[k]);
        }
        e->unusable = true;
    }
}

/* ---- elements ---- */

const xml_rule *xml_find_rule(const xml_table *t, const char *name) {
    for (int k = 0; k < t->nrules; k++) {
        if (matches_pattern(t->rules[k].name, name)) {
            return &t->rules[k];
        }
    }
    return NULL;
}

static void say_unknown_element(checker *c, const xml_element *e, const xml_table *t) {
    enum { MAX_NAMES = 100 };
    char hint[LIST_BYTES];
    const char *name[MAX_NAMES];
    int count = 0;
    for (int k = 0; k < t->nrules && count < MAX_NAMES; k++) {
        name[count++] = t->rules[k].name;
    }
    for (int k = 0; k < t->nkeys && count < MAX_NAMES; k++) {
        if (t->keys[k].form == XML_CHILD) {
            name[count++] = t->keys[k].name;
        }
    }
    hint_known(e->name, "it holds no elements", name, sizeof *name, count, hint);
    xml_error(c->report, e, NULL, hint, "unknown element <%.60s> in <%.60s>", e->name, e->parent->name);
    c->good = false;
}

static void check_element(checker *c, xml_element *e, const xml_table *t);

static void check_child(checker *c, xml_element *e, const xml_table *t) {
    const xml_rule *rule = xml_find_rule(t, e->name);
    if (rule && rule->use == XML_READ) {
        check_element(c, e, rule->table);
    } else if (rule && rule->use == XML_IGNORED) {
        note_ignored(c, rule, e, NULL, rule->help);
    } else if (xml_allows(c->allowed, e->name)) {
        note_ignored(c, rule, e, NULL, NULL);
    } else if (rule) {
        char hint[LIST_BYTES];
        snprintf(hint, sizeof hint, "%s; --allow %s leaves it out", rule->help, e->name);
        xml_error(c->report, e, NULL, hint, "<%.60s> is not supported", e->name);
        c->good = false;
    } else {
        say_unknown_element(c, e, t);
        xml_lose(c->report, e);
    }
}

/* How many children a table allows, and which it needs.  `lost`: rules of those that were there, but left out. */
static void check_numbers(checker *c, xml_element *e, const xml_table *t, uint64_t lost) {
    int known = 0;
    for (int k = 0; k < t->nrules; k++) {
        const xml_rule *rule = &t->rules[k];
        const xml_element *first = rule->use == XML_READ ? xml_child(e, rule->name) : NULL;
        const xml_element *second = first ? xml_next(first) : NULL;
        known += first != NULL;
        if (second && !rule->many) {
            xml_notice(c->report, second, NULL, NULL, "a second <%s> in <%s>: the first counts", rule->name, e->name);
        }
        if (rule->required && !first && !(lost & bit_of(k))) {
            xml_error(c->report, e, NULL, NULL, "<%s> is missing in <%s>", rule->name, e->name);
            c->good = false;
        }
        e->unusable |= rule->required && !first;
    }
    e->unusable |= t->one_of && known != 1;
    if (t->one_of && known != 1 && !(known == 0 && lost)) {
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
        xml_notice(c->report, e, NULL, NULL, "<%.60s> holds text, where elements are expected: it is passed over",
                   e->name);
    }
    /* those within; without those that mean nothing */
    uint64_t lost = 0;
    for (xml_element **link = &e->first, *child = *link; child; child = *link) {
        check_child(c, child, t);
        if (child->unusable) {
            lost |= bit_of(xml_find_rule(t, child->name) - t->rules);
            xml_lose(c->report, child);
            *link = child->next;
        } else {
            link = &child->next;
        }
    }
    check_numbers(c, e, t, lost);
}

bool xml_check(report *r, memory_pool *pool, xml_element *root, const xml_table *t, const xml_allowed *allowed) {
    checker c = {.report = r, .pool = pool, .allowed = allowed, .good = true};
    c.link = &c.first;
    if (strcmp(root->name, t->name) != 0) {
        xml_error(r, root, NULL, NULL, "expected <%s> as the outermost element, not <%.60s>", t->name, root->name);
        root->unusable = true;
        return false;
    }
    r->checking = true;
    check_element(&c, root, t);
    r->checking = false;
    say_ignored(&c, root);
    return c.good && !(r->strict && c.first);
}

/* ---- values ---- */

static int read_key(const xml_element *e, const char *name, double *out) {
    const xml_key *key = xml_find_key(e->table, name);
    const char *value = xml_text(e, name);
    value = value ? value : key->standard;
    return value ? read_numbers(value, key, key->kind == XML_VECTOR ? key->count : 1, out) : 0;
}

int xml_numbers(const xml_element *e, const char *key, int most, double *out) {
    const char *value = xml_text(e, key);
    int count = value ? read_numbers(value, NULL, most, out) : 0;
    return count > 0 ? count : 0;
}

int xml_count_numbers(const char *text) { return read_numbers(text, NULL, INT_MAX, NULL); }

bool xml_flag(const xml_element *e, const char *name) {
    const xml_key *key = xml_find_key(e->table, name);
    const char *value = xml_text(e, name);
    value = value ? value : key->standard;
    return value && is_true(value);
}

bool xml_number(const xml_element *e, const char *key, double *out) { return read_key(e, key, out) == 1; }

bool xml_vector(const xml_element *e, const char *key, double *out) { return read_key(e, key, out) > 0; }
