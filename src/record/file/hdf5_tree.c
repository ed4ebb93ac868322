/* Tree of an HDF5 file: construction and search; hdf5_tree_file.c reads and writes it. */
#include "record/file/hdf5_tree.h"

#include <stdio.h>
#include <string.h>

static store_node *new_node(store *s, const store_node *parent, store_node **list, const char *name) {
    store_node *node = POOL_NEW(s->pool, store_node, 1);
    const char *own = node ? pool_text(s->pool, name) : NULL;
    if (!own) {
        s->starved = true;
        return NULL;
    }
    node->name = own;
    node->parent = parent;
    while (*list) {
        list = &(*list)->next;
    }
    *list = node;
    return node;
}

static const void *copy_items(store *s, const void *from, size_t count, size_t size) {
    void *to = pool_alloc(s->pool, count, size);
    if (!to) {
        s->starved = true;
    } else if (count) {
        memcpy(to, from, count * size);
    }
    return to;
}

static void set_shape(store_node *node, int rank, ptrdiff_t count) {
    node->rank = rank;
    node->count = count;
    node->size[0] = (uint64_t)count;
}

store_node *store_group(store *s, store_node *parent, const char *name) {
    return parent ? new_node(s, parent, &parent->child, name) : NULL;
}

void store_whole(store *s, store_node *parent, const char *name, store_type type, int rank, ptrdiff_t count,
                 const int64_t *values) {
    store_node *node = parent ? new_node(s, parent, &parent->child, name) : NULL;
    if (node) {
        node->kind = STORE_WHOLE;
        node->type = type;
        set_shape(node, rank, count);
        node->whole = copy_items(s, values, (size_t)count, sizeof *values);
    }
}

void store_int(store *s, store_node *parent, const char *name, int value) {
    int64_t wide = value;
    store_whole(s, parent, name, STORE_I32, 1, 1, &wide);
}

void store_real(store *s, store_node *parent, const char *name, int rank, ptrdiff_t count, const double *values) {
    store_node *node = parent ? new_node(s, parent, &parent->child, name) : NULL;
    if (node) {
        node->kind = STORE_REAL;
        node->type = STORE_F64;
        set_shape(node, rank, count);
        node->real = copy_items(s, values, (size_t)count, sizeof *values);
    }
}

static void set_text(store *s, store_node *node, const char *text) {
    if (node) {
        node->kind = STORE_TEXT;
        node->type = STORE_CHARS;
        set_shape(node, 0, 1);
        node->text = copy_items(s, text, strlen(text) + 1, 1);
    }
}

void store_text(store *s, store_node *parent, const char *name, const char *text) {
    set_text(s, parent ? new_node(s, parent, &parent->child, name) : NULL, text);
}

void store_texts(store *s, store_node *parent, const char *name, ptrdiff_t count, size_t width, const char *texts) {
    store_node *node = parent ? new_node(s, parent, &parent->child, name) : NULL;
    if (node) {
        node->kind = STORE_TEXT;
        node->type = STORE_CHARS;
        set_shape(node, 1, count);
        node->width = width;
        node->text = copy_items(s, texts, (size_t)count, width);
    }
}

void store_attribute(store *s, store_node *owner, const char *name, const char *text) {
    set_text(s, owner ? new_node(s, owner, &owner->attribute, name) : NULL, text);
}

void store_remove(store_node *parent, const char *name) {
    for (store_node **at = &parent->child; *at; at = &(*at)->next) {
        if (strcmp((*at)->name, name) == 0) {
            *at = (*at)->next;
            return;
        }
    }
}

store_node *store_find(const store_node *parent, const char *name) {
    store_node *node = parent ? parent->child : NULL;
    while (node && strcmp(node->name, name) != 0) {
        node = node->next;
    }
    return node;
}

const char *store_path(const store_node *node, char text[STORE_PATH_BYTES]) {
    if (!node->parent) {
        text[0] = 0;
        return "/";
    }
    store_path(node->parent, text);
    size_t used = strlen(text);
    snprintf(text + used, STORE_PATH_BYTES - used, "/%s", node->name);
    for (unsigned char *c = (unsigned char *)text + used; *c; c++) {
        *c = *c >= 0x20 && *c < 0x7f ? *c : '?';
    }
    return text;
}
