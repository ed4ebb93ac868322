/* Initialisers of tables of elements: with attributes and rules, with attributes alone, with rules alone. */
#ifndef SCENE_XML_TABLE_ROWS_H
#define SCENE_XML_TABLE_ROWS_H

#include "scene/xml/table.h"

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))
#define TABLE(title, text, keys_of, rules_of)                                                                          \
    {                                                                                                                  \
        .name = (title), .help = (text), .keys = (keys_of), .nkeys = COUNT(keys_of), .rules = (rules_of),              \
        .nrules = COUNT(rules_of)                                                                                      \
    }
#define LEAF(title, text, keys_of)                                                                                     \
    { .name = (title), .help = (text), .keys = (keys_of), .nkeys = COUNT(keys_of) }
#define GROUP(title, text, rules_of)                                                                                   \
    { .name = (title), .help = (text), .rules = (rules_of), .nrules = COUNT(rules_of) }

#endif
