/* Tables of a format as Markdown: one section an element, in the order in which they are first met. */
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

static const char *use_word(xml_use use) {
    return use == XML_READ ? "read" : use == XML_IGNORED ? "ignored" : "refused";
}

static void print_kind(text *t, const xml_key *key) {
    if (key->kind == XML_CHOICE) {
        for (int k = 0; key->choices[k]; k++) {
            text_add(t, "%s`%s`", k ? ", " : "", key->choices[k]);
        }
    } else if (key->kind == XML_VECTOR) {
        text_add(t, "%d numbers", key->count);
    } else {
        text_add(t, key->kind == XML_NUMBER ? "number" : "text");
    }
}

static void print_keys(text *t, const xml_table *table) {
    if (!table->nkeys) {
        return;
    }
    text_add(t, "| attribute | value | unit | default | use | meaning |\n|---|---|---|---|---|---|\n");
    for (int k = 0; k < table->nkeys; k++) {
        const xml_key *key = &table->keys[k];
        text_add(t, "| `%s` | ", key->name);
        print_kind(t, key);
        text_add(t, " | %s | ", key->unit ? key->unit : "");
        text_add(t, key->required ? "**required**" : key->standard ? "`%s`" : "%s", key->standard ? key->standard : "");
        text_add(t, " | %s | %s |\n", use_word(key->use), key->help);
    }
    text_add(t, "\n");
}

/* "[`link`](#link)", or without an own section "`gazebo`". */
static void print_rules(text *t, const xml_table *table) {
    if (!table->nrules) {
        return;
    }
    text_add(t, "| element | use | meaning |\n|---|---|---|\n");
    for (int k = 0; k < table->nrules; k++) {
        const xml_rule *rule = &table->rules[k];
        text_add(t, rule->table ? "| [`%s`](#%s) | " : "| `%s` | ", rule->name, rule->table ? rule->table->name : "");
        text_add(t, "%s%s%s | %s |\n", use_word(rule->use), rule->required ? ", **required**" : "",
                 rule->many ? ", repeatable" : "", rule->table ? rule->table->help : rule->help);
    }
    text_add(t, "\n");
}

char *xml_print_tables(const xml_table *root, const char *preface) {
    text t = {0};
    table_list list = {.count = 0};
    list_tables(&list, root);
    text_add(&t, "%s", preface);
    for (int k = 0; k < list.count; k++) {
        const xml_table *table = list.table[k];
        text_add(&t, "\n## %s\n\n%s%s\n\n", table->name, table->help,
                 table->one_of ? " Exactly one of its elements is given." : "");
        print_keys(&t, table);
        print_rules(&t, table);
        if (t.length && !t.failed) {
            t.length--; /* one empty line is enough */
            t.start[t.length] = 0;
        }
    }
    return text_take(&t);
}
