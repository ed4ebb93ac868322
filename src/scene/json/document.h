/* A JSON text as a tree that remembers where everything stood.
 *
 * cJSON decodes the text; positions, parents and the order of duplicate keys, which it drops, are stored here. */
#ifndef SCENE_JSON_DOCUMENT_H
#define SCENE_JSON_DOCUMENT_H

#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DOCUMENT_MAX_DEPTH = 64,
    DOCUMENT_MAX_BYTES = 16 * 1024 * 1024,
    DOCUMENT_MAX_VALUES = 2 * 1000 * 1000,
    DOCUMENT_MAX_DIGITS = 60, /* cJSON reads numbers of up to 63 characters */
};

/* A place of a text that was written from another one: the value at `at` comes from `from` there. */
typedef struct source_place {
    uint32_t at, from;
    const struct source *behind; /* the other one, where there are several; NULL: that of the text */
} source_place;

/* Where a text came from. */
typedef struct source {
    const char *name; /* as messages call it */
    const char *text; /* NULL when it has no lines: an option of the command line */
    size_t length;
    const struct source *behind; /* the text from which this one was written; NULL: none */
    const source_place *place;   /* [nplace] in the order of this text */
    int nplace;
} source;

typedef enum node_kind { NODE_NULL, NODE_FLAG, NODE_NUMBER, NODE_TEXT, NODE_ARRAY, NODE_OBJECT } node_kind;

typedef struct node node;
typedef struct geometry_entry geometry_entry;
typedef struct pressure_entry pressure_entry;
struct node {
    node_kind kind;
    int count;        /* children */
    const char *key;  /* as a member of an object, else NULL */
    const char *text; /* NODE_TEXT */
    double number;    /* NODE_NUMBER; NODE_FLAG: 0 or 1 */
    node *parent, *first, *next;
    const source *source;
    uint32_t key_at, value_at; /* offsets in source->text */
    const node *origin;        /* the original of a copy: messages refer to it */
    bool blamed;               /* a message about its meaning was given */
    bool warned;               /* ... and was only a warning */
    const double *values;      /* its numbers in a row, once someone asked */
    int nvalues;               /* how many, once all were found right */
    geometry_entry *geometry;  /* of a shape, once built */
    bool tried;                /* a track: was found finite over the run, or was blamed */
    const node *variant;       /* of an instance: the model with its overrides, once made */
    bool variant_failed;
};

/* Offsets of the values of a text, in the order in which they begin. */
typedef struct value_position {
    uint32_t key, value;
} value_position;

typedef struct scan_fault {
    size_t at;
    char message[160];
    char pointer[320]; /* JSON pointer of the value; empty: of none */
} scan_fault;
/* Strict RFC 8259 with the limits above, in UTF-8.  Returns the number of values, or -1 with the fault, or -2 without
 * memory.  `*positions` is malloc'd. */
int json_scan(const char *text, size_t length, value_position **positions, scan_fault *fault);

struct report;
/* The tree of a text, in `pool`; NULL when wrong (reported) or without memory (the report remembers). */
node *document_parse(const source *from, memory_pool *pool, struct report *r);
/* A tree for a text given on the command line: JSON if it is, else the text itself. */
node *document_parse_option(const source *from, const char *value, memory_pool *pool, struct report *r);
/* A tree as text, malloc'd; NULL without memory. */
char *document_print(const node *root, size_t *length);

/* Member by exact name; NULL if absent, if `object` is NULL or no object. */
node *node_member(const node *object, const char *key);
/* Deep copy whose nodes remember their originals; counts copied nodes into *count and fails (NULL) beyond `limit`. */
node *node_copy(const node *from, node *parent, memory_pool *pool, int64_t *count, int64_t limit);
/* The node of the file that a copy was made from. */
static inline const node *node_origin(const node *n) {
    while (n->origin) {
        n = n->origin;
    }
    return n;
}
/* "a number", "a text", ... */
const char *node_kind_name(const node *n);

#endif
