/* An HDF5 file in memory: a tree of groups, arrays and texts.  Everything in it is kept to the bit, known or
 * not, so that a file that was read can be written again. */
#ifndef RECORD_FILE_HDF5_TREE_H
#define RECORD_FILE_HDF5_TREE_H

#include "base/pool.h"
#include <sim/base.h>
#include <stdint.h>

enum { STORE_MAX_RANK = 8, STORE_MAX_DEPTH = 16, STORE_PATH_BYTES = 160 };

typedef enum store_kind {
    STORE_GROUP,
    STORE_WHOLE, /* whole numbers; unsigned ones beyond INT64_MAX by their bits */
    STORE_REAL,
    STORE_TEXT,
    STORE_OTHER, /* kept, not understood */
} store_kind;

typedef enum store_type { STORE_I32, STORE_I64, STORE_U64, STORE_F64, STORE_CHARS } store_type;

typedef struct store_node store_node;
struct store_node {
    const char *name;
    store_kind kind;
    store_type type; /* of nodes made here */
    int rank;        /* 0: a single value, -1: none */
    uint64_t size[STORE_MAX_RANK];
    ptrdiff_t count;
    const int64_t *whole; /* [count], by kind */
    const double *real;
    const char *text; /* the first, ended by a zero byte */
    size_t width;     /* bytes of each text; 0: those of a single one */
    const void *code,
        *raw; /* of nodes that were read: the type as the library encodes it, and the values in that type */
    size_t code_size;
    const store_node *parent;
    store_node *attribute, *child, *next;
};

typedef struct store {
    memory_pool *pool; /* of the owner */
    store_node root;
    bool starved; /* a node could not be made: no memory */
    /* Does the caller stop the reading?  NULL: never. */
    bool (*stop)(void *context);
    void *stop_context;
} store;

static inline bool store_stopped(const store *s) { return s->stop && s->stop(s->stop_context); }

/* Made nodes belong to the store; numbers and texts are copied.  `rank` is 0 or 1. */
store_node *store_group(store *s, store_node *parent, const char *name);
void store_whole(store *s, store_node *parent, const char *name, store_type type, int rank, ptrdiff_t count,
                 const int64_t *values);
void store_int(store *s, store_node *parent, const char *name, int value); /* int32[1], as FCLIB has them */
void store_real(store *s, store_node *parent, const char *name, int rank, ptrdiff_t count, const double *values);
void store_text(store *s, store_node *parent, const char *name, const char *text);
/* `count` texts of `width` bytes each, zeros behind them. */
void store_texts(store *s, store_node *parent, const char *name, ptrdiff_t count, size_t width, const char *texts);
void store_attribute(store *s, store_node *owner, const char *name, const char *text);
void store_remove(store_node *parent, const char *name);

/* NULL: not there. */
store_node *store_find(const store_node *parent, const char *name);
/* "/fclib_local/W/x", in printable letters. */
const char *store_path(const store_node *node, char text[STORE_PATH_BYTES]);

/* Is this an HDF5 file whose root has the attribute "format" with that text?  Without HDF5: no. */
bool store_file_is(const char *path, const char *format);

/* The tree in the bytes of a file, and back; without HDF5 both fail. */
sim_status store_parse(store *s, const void *bytes, size_t size, sim_error *error);
/* *bytes is the caller's, to be freed.  The same tree gives the same bytes. */
sim_status store_print(const store *s, void **bytes, size_t *size, sim_error *error);

#endif
