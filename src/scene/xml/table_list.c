/* Tables of a format as a list, and the names that they know. */
#include "base/nearest.h"
#include "scene/xml/table.h"

#include <string.h>

void xml_list_tables(xml_table_list *list, const xml_table *t) {
    for (int k = 0; k < list->count; k++) {
        if (list->table[k] == t) {
            return;
        }
    }
    if (list->count == XML_MAX_TABLES) {
        return;
    }
    list->table[list->count++] = t;
    for (int k = 0; k < t->nrules; k++) {
        if (t->rules[k].table) {
            xml_list_tables(list, t->rules[k].table);
        }
    }
}

bool xml_list_knows(const xml_table_list *list, const char *name, nearest *near) {
    for (int i = 0; i < list->count; i++) {
        const xml_table *t = list->table[i];
        const xml_key *key = xml_find_key(t, name);
        const xml_rule *rule = xml_find_rule(t, name);
        if ((key && strcmp(key->name, "*") != 0) || (rule && strcmp(rule->name, "*") != 0)) {
            return true;
        }
        for (int k = 0; k < t->nkeys; k++) {
            nearest_try(near, t->keys[k].name);
        }
        for (int k = 0; k < t->nrules; k++) {
            nearest_try(near, t->rules[k].name);
        }
    }
    return false;
}
