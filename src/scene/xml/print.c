/* Tables of a format as Markdown: one section an element, in the order in which they are first met; elements without
 * children share one. */
#include "base/words.h"
#include "scene/json/text.h"
#include "scene/xml/table.h"

#include <stdlib.h>
#include <string.h>

static void print_kind(text *t, const xml_key *key) {
    if (key->kind == XML_CHOICE) {
        for (int k = 0; key->choices[k]; k++) {
            text_add(t, "%s`%s`", k ? ", " : "", key->choices[k]);
        }
    } else if (key->kind == XML_VECTOR && key->least) {
        text_add(t, "%d to %d numbers", key->least, key->count);
    } else if (key->kind == XML_VECTOR) {
        text_add(t, "%d numbers", key->count);
    } else if (key->kind == XML_LIST) {
        text_add(t, "numbers");
    } else if (key->kind == XML_FLAG) {
        text_add(t, "`true`, `false`");
    } else {
        text_add(t, key->kind == XML_NUMBER ? "number" : "text");
    }
}

static bool same_choices(const xml_key *a, const xml_key *b) {
    int k = 0;
    while (a->choices[k] && same_text(a->choices[k], b->choices[k])) {
        k++;
    }
    return same_text(a->choices[k], b->choices[k]);
}

/* Alike but for the name. */
static bool same_row(const xml_key *a, const xml_key *b) {
    return a->kind == b->kind && a->use == b->use && a->form == b->form && a->required == b->required &&
           a->count == b->count && a->least == b->least && same_text(a->unit, b->unit) &&
           same_text(a->standard, b->standard) && same_choices(a, b) && strcmp(a->help, b->help) == 0;
}

static bool same_key(const xml_key *a, const xml_key *b) { return strcmp(a->name, b->name) == 0 && same_row(a, b); }

static const xml_key *find_same(const xml_table *t, const xml_key *key) {
    for (int k = 0; k < t->nkeys; k++) {
        if (same_key(&t->keys[k], key)) {
            return &t->keys[k];
        }
    }
    return NULL;
}

/* Attributes that several elements have in the same words stand in a table of their own. */
static bool is_common(const xml_table_list *list, const xml_key *key) {
    enum { MIN_ELEMENTS = 3 };
    int count = 0;
    for (int k = 0; k < list->count; k++) {
        count += find_same(list->table[k], key) != NULL;
    }
    return key->use == XML_READ && count >= MIN_ELEMENTS;
}

/* "`<mass>`" of a value in an element of its own. */
static void print_name(text *t, const xml_key *key) {
    text_add(t, key->form == XML_CHILD ? "`<%s>`" : key->form == XML_CONTENT ? "%s" : "`%s`", key->name);
}

/* A row of `alike` attributes from this one on; the first cell of a row of a leaf, that of its element, is empty. */
static void print_key(text *t, const xml_key *key, int alike, bool leaf) {
    text_add(t, leaf ? "| | " : "| ");
    for (int k = 0; k < alike; k++) {
        text_add(t, k ? ", " : "");
        print_name(t, &key[k]);
    }
    text_add(t, " | ");
    print_kind(t, key);
    text_add(t, key->unit ? " [%s] | " : " | ", key->unit);
    text_add(t, key->required ? "**required**" : key->standard ? "`%s`" : "%s", key->standard ? key->standard : "");
    text_add(t, " | %s |\n", key->help);
}

/* One row an attribute that is read, or several that differ by name alone. */
static void print_keys(text *t, const xml_table_list *list, const xml_table *table, bool leaf) {
    for (int k = 0, alike; k < table->nkeys; k += alike) {
        const xml_key *key = &table->keys[k];
        alike = 1;
        if (key->use != XML_READ || is_common(list, key)) {
            continue;
        }
        while (k + alike < table->nkeys && same_row(key, &key[alike]) && !is_common(list, &key[alike])) {
            alike++;
        }
        print_key(t, key, alike, leaf);
    }
}

static bool has_own_keys(const xml_table_list *list, const xml_table *table) {
    for (int k = 0; k < table->nkeys; k++) {
        if (table->keys[k].use == XML_READ && !is_common(list, &table->keys[k])) {
            return true;
        }
    }
    return false;
}

/* "`name`, `pos`", malloc'd; NULL: the element has none of the common ones. */
static char *name_common(const xml_table_list *list, const xml_table *table) {
    text t = {0};
    for (int k = 0; k < table->nkeys; k++) {
        if (is_common(list, &table->keys[k])) {
            text_add(&t, t.length ? ", " : "");
            print_name(&t, &table->keys[k]);
        }
    }
    return text_take(&t);
}

/* Each common attribute once, where it is first met. */
static void print_common(text *t, const xml_table_list *list) {
    bool any = false;
    for (int i = 0; i < list->count; i++) {
        const xml_table *table = list->table[i];
        for (int k = 0; k < table->nkeys; k++) {
            bool met = !is_common(list, &table->keys[k]);
            for (int before = 0; before < i && !met; before++) {
                met = find_same(list->table[before], &table->keys[k]) != NULL;
            }
            if (!met) {
                text_add(t, "%s",
                         any ? ""
                             : "\n## Common attributes\n\n| attribute | value | default | meaning |\n"
                               "|---|---|---|---|\n");
                print_key(t, &table->keys[k], 1, false);
                any = true;
            }
        }
    }
}

static bool is_leaf(const xml_table *t) { return t->nrules == 0; }

static const char *const number_word[] = {"one", "one at most", "any number"};

/* Index of number_word. */
static int number_of(const xml_rule *rule) { return rule->many ? 2 : rule->required ? 0 : 1; }

/* "Elements, one: `<a>`; any number: `<b>`, `<c>`.", with links to their sections or to the table of leaves. */
static void print_rules(text *t, const xml_table *table) {
    int groups = 0;
    for (int i = 0; i < table->nrules; i++) {
        /* a number of elements that was not met before */
        const xml_rule *first = &table->rules[i];
        bool known = first->use != XML_READ;
        for (int k = 0; k < i && !known; k++) {
            known = table->rules[k].use == XML_READ && number_of(&table->rules[k]) == number_of(first);
        }
        if (known) {
            continue;
        }
        /* all elements with it */
        text_add(t, "%s%s: ", groups++ ? "; " : "\nElements, ", number_word[number_of(first)]);
        for (int k = i, names = 0; k < table->nrules; k++) {
            const xml_rule *rule = &table->rules[k];
            if (rule->use == XML_READ && number_of(rule) == number_of(first)) {
                bool section = rule->table && !is_leaf(rule->table);
                text_add(t, section ? "%s[`<%s>`](#%s)" : "%s`<%s>`", names++ ? ", " : "", rule->name,
                         section ? rule->table->name : "");
                text_add(t, rule->table ? "%s" : " (%s)", rule->table ? "" : rule->help);
            }
        }
    }
    if (groups) {
        text_add(t, ".\n");
    }
}

typedef struct named_use {
    const char *name, *help;
    xml_use use;
    bool element;
} named_use;

static named_use use_of(const xml_table *t, int k) {
    if (k < t->nkeys) {
        return (named_use){t->keys[k].name, t->keys[k].help, t->keys[k].use, t->keys[k].form == XML_CHILD};
    }
    const xml_rule *rule = &t->rules[k - t->nkeys];
    return (named_use){rule->name, rule->help, rule->use, true};
}

/* "`a`, `b` (reason); `<c>` (reason)" of all attributes and elements with that use. */
static void print_others(text *t, const xml_table *table, xml_use use) {
    int count = table->nkeys + table->nrules, printed = 0;
    for (int i = 0; i < count; i++) {
        /* a reason that was not met before */
        named_use first = use_of(table, i);
        bool known = first.use != use;
        for (int k = 0; k < i && !known; k++) {
            named_use before = use_of(table, k);
            known = before.use == use && strcmp(before.help, first.help) == 0;
        }
        if (known) {
            continue;
        }
        /* all names with it */
        text_add(t, "%s", printed++ ? "; " : "");
        for (int k = i, names = 0; k < count; k++) {
            named_use other = use_of(table, k);
            if (other.use == use && strcmp(other.help, first.help) == 0) {
                text_add(t, names++ ? ", `%s%s%s`" : "`%s%s%s`", other.element ? "<" : "", other.name,
                         other.element ? ">" : "");
            }
        }
        text_add(t, " (%s)", first.help);
    }
}

static const char *const use_word[] = {[XML_IGNORED] = "Ignored", [XML_REFUSED] = "Refused"};

static bool has_use(const xml_table *table, xml_use use) {
    for (int k = 0; k < table->nkeys + table->nrules; k++) {
        if (use_of(table, k).use == use) {
            return true;
        }
    }
    return false;
}

/* Whether two elements without children leave out the same, for the same reasons. */
static bool same_others(const xml_table *a, const xml_table *b, xml_use use) {
    text of[2] = {{0}, {0}};
    print_others(&of[0], a, use);
    print_others(&of[1], b, use);
    char *left = text_take(&of[0]), *right = text_take(&of[1]);
    bool same = left && right && strcmp(left, right) == 0;
    free(left);
    free(right);
    return same;
}

/* "Ignored of `damper`, `motor`: ..." */
static void print_leaf_others(text *t, const xml_table_list *list, xml_use use) {
    for (int i = 0; i < list->count; i++) {
        /* an element whose list was not met before */
        const xml_table *table = list->table[i];
        bool known = !is_leaf(table) || !has_use(table, use);
        for (int k = 0; k < i && !known; k++) {
            known = is_leaf(list->table[k]) && same_others(list->table[k], table, use);
        }
        if (known) {
            continue;
        }
        /* all elements with it */
        text_add(t, "\n%s of `%s`", use_word[use], table->name);
        for (int k = i + 1; k < list->count; k++) {
            if (is_leaf(list->table[k]) && same_others(list->table[k], table, use)) {
                text_add(t, ", `%s`", list->table[k]->name);
            }
        }
        text_add(t, ": ");
        print_others(t, table, use);
        text_add(t, ".\n");
    }
}

static void print_section(text *t, const xml_table_list *list, const xml_table *table) {
    /* attributes and elements that are read */
    text_add(t, "\n## %s\n\n%s%s\n", table->name, table->help,
             table->one_of ? " Exactly one of its elements is given." : "");
    if (has_own_keys(list, table)) {
        text_add(t, "\n| attribute | value | default | meaning |\n|---|---|---|---|\n");
        print_keys(t, list, table, false);
    }
    char *common = name_common(list, table);
    if (common) {
        text_add(t, "\n[Common attributes](#common-attributes): %s.\n", common);
    }
    free(common);
    print_rules(t, table);
    /* those that are not */
    for (xml_use use = XML_IGNORED; use <= XML_REFUSED; use++) {
        if (has_use(table, use)) {
            text_add(t, "\n%s: ", use_word[use]);
            print_others(t, table, use);
            text_add(t, ".\n");
        }
    }
}

/* One row the elements without children that have the same common attributes, at the first of them. */
static void print_leaf_common(text *t, const xml_table_list *list, int at) {
    char *names = name_common(list, list->table[at]);
    int count = 0;
    for (int k = 0; k < list->count && names; k++) {
        char *others = is_leaf(list->table[k]) ? name_common(list, list->table[k]) : NULL;
        if (others && strcmp(names, others) == 0 && k >= at) {
            text_add(t, count++ ? ", `%s`" : "| `%s`", list->table[k]->name);
        } else if (others && strcmp(names, others) == 0) {
            k = list->count; /* an earlier element has printed them */
        }
        free(others);
    }
    if (count) {
        text_add(t, " | %s | [common](#common-attributes) |  |  |\n", names);
    }
    free(names);
}

static void print_leaves(text *t, const xml_table_list *list) {
    text_add(t, "\n## Elements without children\n\n| element | attribute | value | default | meaning |\n"
                "|---|---|---|---|---|\n");
    for (int k = 0; k < list->count; k++) {
        if (is_leaf(list->table[k])) {
            print_leaf_common(t, list, k);
        }
    }
    for (int k = 0; k < list->count; k++) {
        if (is_leaf(list->table[k])) {
            text_add(t, "| **`%s`** |  |  |  | %s |\n", list->table[k]->name, list->table[k]->help);
            print_keys(t, list, list->table[k], true);
        }
    }
    print_leaf_others(t, list, XML_IGNORED);
    print_leaf_others(t, list, XML_REFUSED);
}

char *xml_print_tables(const xml_table *root, const char *const *preface) {
    text t = {0};
    xml_table_list list = {.count = 0};
    xml_list_tables(&list, root);
    for (; *preface; preface++) {
        text_add(&t, "%s", *preface);
    }
    for (int k = 0; k < list.count; k++) {
        if (!is_leaf(list.table[k])) {
            print_section(&t, &list, list.table[k]);
        }
    }
    print_leaves(&t, &list);
    print_common(&t, &list);
    return text_take(&t);
}
