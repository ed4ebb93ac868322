/* Tables of a format as Markdown: one section an element, in the order in which they are first met; elements without
 * children share one. */
#include "base/words.h"
#include "scene/json/text.h"
#include "scene/xml/table.h"

#include <string.h>

enum { MAX_TABLES = 200 };

typedef struct table_list {
    const xml_table *table[MAX_TABLES];
    int count;
} table_list;

static void list_tables(table_list *list, const xml_table *t) {
    for (int k = 0; k < list->count; k++) {
        if (list->table[k] == t) {
            return;
        }
    }
    if (list->count == MAX_TABLES) {
        return;
    }
    list->table[list->count++] = t;
    for (int k = 0; k < t->nrules; k++) {
        if (t->rules[k].table) {
            list_tables(list, t->rules[k].table);
        }
    }
}

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
    } else {
        text_add(t, key->kind == XML_NUMBER ? "number" : "text");
    }
}

static bool same_row(const xml_key *a, const xml_key *b) {
    return a->kind == b->kind && a->kind != XML_CHOICE && a->use == b->use && a->required == b->required &&
           a->count == b->count && same_text(a->unit, b->unit) && same_text(a->standard, b->standard) &&
           strcmp(a->help, b->help) == 0;
}

/* One row an attribute that is read, or several that differ by name alone; `element` stands before it, unless NULL. */
static void print_keys(text *t, const xml_table *table, const char *element) {
    for (int k = 0; k < table->nkeys; k++) {
        const xml_key *key = &table->keys[k];
        if (key->use != XML_READ) {
            continue;
        }
        text_add(t, element ? "| `%s` | `%s`" : "| %s`%s`", element ? element : "", key->name);
        for (; k + 1 < table->nkeys && same_row(key, &table->keys[k + 1]); k++) {
            text_add(t, ", `%s`", table->keys[k + 1].name);
        }
        text_add(t, " | ");
        print_kind(t, key);
        text_add(t, key->unit ? " [%s] | " : " | ", key->unit);
        text_add(t, key->required ? "**required**" : key->standard ? "`%s`" : "%s", key->standard ? key->standard : "");
        text_add(t, " | %s |\n", key->help);
    }
}

static bool is_leaf(const xml_table *t) { return t->nrules == 0; }

/* One row an element that is read, with a link to its section or to the table of elements without children. */
static void print_rules(text *t, const xml_table *table) {
    for (int k = 0; k < table->nrules; k++) {
        const xml_rule *rule = &table->rules[k];
        if (rule->use == XML_READ) {
            const char *anchor = !rule->table           ? ""
                                 : is_leaf(rule->table) ? "elements-without-children"
                                                        : rule->table->name;
            text_add(t, "| [`<%s>`](#%s) | %s |  | %s |\n", rule->name, anchor,
                     rule->many       ? "any number"
                     : rule->required ? "one"
                                      : "one at most",
                     rule->table ? rule->table->help : rule->help);
        }
    }
}

typedef struct named_use {
    const char *name, *help;
    xml_use use;
} named_use;

static named_use use_of(const xml_table *t, int k) {
    if (k < t->nkeys) {
        return (named_use){t->keys[k].name, t->keys[k].help, t->keys[k].use};
    }
    const xml_rule *rule = &t->rules[k - t->nkeys];
    return (named_use){rule->name, rule->help, rule->use};
}

/* "\nIgnored: `a`, `b` (reason); `c` (reason).\n", for a table without a section "Ignored of `limit`: ..." */
static void print_others(text *t, const xml_table *table, xml_use use) {
    const char *verb = use == XML_IGNORED ? "Ignored" : "Refused";
    int count = table->nkeys + table->nrules, printed = 0;
    for (int i = 0; i < count; i++) {
        named_use first = use_of(table, i);
        bool known = first.use != use;
        for (int k = 0; k < i && !known; k++) {
            named_use before = use_of(table, k);
            known = before.use == use && strcmp(before.help, first.help) == 0;
        }
        if (known) {
            continue;
        }
        text_add(t, printed++ ? "; " : is_leaf(table) ? "\n%s of `%s`: " : "\n%s: ", verb, table->name);
        for (int k = i, names = 0; k < count; k++) {
            named_use other = use_of(table, k);
            if (other.use == use && strcmp(other.help, first.help) == 0) {
                text_add(t, names++ ? ", `%s%s%s`" : "`%s%s%s`", k < table->nkeys ? "" : "<", other.name,
                         k < table->nkeys ? "" : ">");
            }
        }
        text_add(t, " (%s)", first.help);
    }
    text_add(t, printed ? ".\n" : "");
}

static void print_section(text *t, const xml_table *table) {
    text_add(t, "\n## %s\n\n%s%s\n\n| attribute or element | value | default | meaning |\n|---|---|---|---|\n",
             table->name, table->help, table->one_of ? " Exactly one of its elements is given." : "");
    print_keys(t, table, NULL);
    print_rules(t, table);
    print_others(t, table, XML_IGNORED);
    print_others(t, table, XML_REFUSED);
}

static void print_leaves(text *t, const table_list *list) {
    text_add(t, "\n## Elements without children\n\n| element | attribute | value | default | meaning |\n"
                "|---|---|---|---|---|\n");
    for (int k = 0; k < list->count; k++) {
        if (is_leaf(list->table[k])) {
            print_keys(t, list->table[k], list->table[k]->name);
        }
    }
    for (int k = 0; k < list->count; k++) {
        if (is_leaf(list->table[k])) {
            print_others(t, list->table[k], XML_IGNORED);
            print_others(t, list->table[k], XML_REFUSED);
        }
    }
}

char *xml_print_tables(const xml_table *root, const char *preface) {
    text t = {0};
    table_list list = {.count = 0};
    list_tables(&list, root);
    text_add(&t, "%s", preface);
    for (int k = 0; k < list.count; k++) {
        if (!is_leaf(list.table[k])) {
            print_section(&t, list.table[k]);
        }
    }
    print_leaves(&t, &list);
    return text_take(&t);
}
