/* The elements of a COLLADA file, by their places in its text. */
#ifndef GEOMETRY_IMPORT_COLLADA_TREE_H
#define GEOMETRY_IMPORT_COLLADA_TREE_H

#include "geometry/import/mesh_file.h"

enum { COLLADA_MAX_DEPTH = 200 };

/* Elements count from 0, in the order of the file; -1: none. */
typedef struct collada_element {
    const char *tag;         /* "<name ..." */
    const char *text, *end;  /* what stands between start and end tag */
    int parent, first, next; /* first child, next sibling */
} collada_element;

typedef struct collada_tree {
    collada_element *element;
    int count, room;
} collada_tree;

/* A part of the text. */
typedef struct text_span {
    const char *at;
    size_t length;
} text_span;

/* Checks that the file is well-formed XML; no document type declaration is accepted.  `tree` is to be freed by
 * collada_tree_free either way. */
sim_status collada_tree_read(mesh_text *text, collada_tree *tree);
void collada_tree_free(collada_tree *tree);

bool collada_is(const collada_tree *tree, int element, const char *name);
/* The first of this name among children, or from a sibling on; -1: none. */
int collada_child(const collada_tree *tree, int element, const char *name);
int collada_from(const collada_tree *tree, int element, const char *name);
/* The value of an attribute; length 0 where it is absent. */
text_span collada_attribute(const collada_tree *tree, int element, const char *name);
bool span_is(text_span span, const char *text);

#endif
