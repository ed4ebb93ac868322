/* A format of robots as tables: every element and attribute, with its meaning and what becomes of it.  The checks and
 * the page of the format are both driven by them. */
#ifndef SCENE_XML_TABLE_H
#define SCENE_XML_TABLE_H

#include "scene/xml/element.h"

/* Use of an element or an attribute. */
typedef enum xml_use {
    XML_READ,    /* it is part of the model */
    XML_IGNORED, /* it does not change the motion, or is said by something else: one notice a file */
    XML_REFUSED, /* it would change the motion: an error, unless the caller allows to leave it out; of attributes, unless
                    the value is the default */
} xml_use;

typedef enum xml_kind {
    XML_TEXT,
    XML_NUMBER,
    XML_VECTOR,
    XML_LIST, /* any number of numbers */
    XML_CHOICE,
    XML_FLAG /* true, false, 1, 0 */
} xml_kind;

/* Form in which a value stands in the file. */
typedef enum xml_form {
    XML_ATTRIBUTE, /* key="value" */
    XML_CHILD,     /* <key>value</key> */
    XML_CONTENT    /* the text of the element itself */
} xml_form;

typedef struct xml_key {
    const char *name;
    xml_kind kind;
    xml_use use;
    xml_form form;
    bool required;
    int count;               /* numbers of a vector */
    int least;               /* as many at least; 0: all */
    bool bits, endless;      /* a number may be hexadecimal, with 0x; it may be inf or -inf */
    const char *unit;        /* NULL: none */
    const char *standard;    /* default, as text; NULL: absent */
    const char *choices[16]; /* ends with NULL */
    const char *help;
} xml_key;

typedef struct xml_rule {
    const char *name; /* of the child element; a last '*' stands for any letters */
    xml_use use;
    bool required, many; /* many: more than once */
    const struct xml_table *table;
    const char *help; /* where there is no table */
} xml_rule;

typedef struct xml_table {
    const char *name, *help;
    const xml_key *keys;
    int nkeys;
    const xml_rule *rules;
    int nrules;
    bool one_of; /* exactly one child */
} xml_table;

/* Elements that the caller leaves out though they would be refused. */
typedef struct xml_allowed {
    int count;
    const char *const *name;
    bool *met; /* [count] was it there? */
} xml_allowed;

/* Tables by how they hold each other, each once. */
enum { XML_MAX_TABLES = 200 };
typedef struct xml_table_list {
    const xml_table *table[XML_MAX_TABLES];
    int count;
} xml_table_list;
void xml_list_tables(xml_table_list *list, const xml_table *root);
/* Is it the name of an element or attribute?  Else `near` has tried them all. */
struct nearest;
bool xml_list_knows(const xml_table_list *list, const char *name, struct nearest *near);

/* Makes attributes of values that stand as text of elements, where the tables say so.  False: something is wrong, and was
 * reported. */
bool xml_fold(report *r, memory_pool *pool, xml_element *root, const xml_table *t);

/* Rows of tables by the name of an element or attribute; NULL: none. */
const xml_key *xml_find_key(const xml_table *t, const char *name);
const xml_rule *xml_find_rule(const xml_table *t, const char *name);

/* Checks a tree against its table: unknown and missing elements and attributes, numbers, choices.  Notices of what is
 * ignored are given once for each kind.  False: something is wrong, and was reported; the tree is right without it, unless
 * the root is unusable. */
bool xml_check(report *r, memory_pool *pool, xml_element *root, const xml_table *t, const xml_allowed *allowed);

/* Values of checked elements, or the defaults of their tables.  False: absent, and without a default. */
bool xml_number(const xml_element *e, const char *key, double *out);
bool xml_vector(const xml_element *e, const char *key, double *out);
bool xml_flag(const xml_element *e, const char *key);
/* Numbers of a checked attribute itself: how many, at most `most`; 0: it is absent. */
int xml_numbers(const xml_element *e, const char *key, int most, double *out);
/* How many numbers a text holds; -1: something else is in it. */
int xml_count_numbers(const char *text);

/* The tables as Markdown, malloc'd: the paragraphs of `preface` (NULL after the last), then one section an element with
 * children, `root` first. */
char *xml_print_tables(const xml_table *root, const char *const *preface);

#endif
