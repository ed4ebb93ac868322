/* Text of a scene as loaded, with all replaced values, for archives of runs.
 *
 * Numbers of the file are copied letter by letter; others have as many digits as bring them back to the bit. */
#include "scene/json/document.h"
#include "scene/json/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT_SPACES = 2, LINE_LETTERS = 110 };

static void write_resolved_number(text *t, const node *n) {
    if (n->source && n->source->text) {
        const char *from = n->source->text + n->value_at;
        text_add(t, "%.*s", (int)strspn(from, "+-.0123456789eE"), from);
        return;
    }
    char number[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(number, sizeof number, "%.*g", precision, n->number);
        if (strtod(number, NULL) == n->number) {
            break;
        }
    }
    char *comma = strchr(number, ','); /* the caller's locale may write one */
    if (comma) {
        *comma = '.';
    }
    text_add(t, "%s", number);
}

static bool is_plain(const node *n) { return n->kind != NODE_OBJECT && n->kind != NODE_ARRAY; }

static void append_plain(text *t, const node *n) {
    if (n->kind == NODE_NUMBER) {
        write_resolved_number(t, n);
    } else if (n->kind == NODE_TEXT) {
        text_add_quoted(t, n->text);
    } else {
        text_add(t, n->kind == NODE_NULL ? "null" : n->number != 0 ? "true" : "false");
    }
}

static void append_key(text *t, const node *n) {
    if (n->key) {
        text_add_quoted(t, n->key);
        text_add(t, ": ");
    }
}

/* A value in one line; false as soon as the text is longer than `most`. */
static bool append_line(text *t, const node *n, size_t most) {
    append_key(t, n);
    if (is_plain(n)) {
        append_plain(t, n);
        return t->length <= most;
    }
    text_add(t, n->kind == NODE_ARRAY ? "[" : "{");
    for (const node *child = n->first; child; child = child->next) {
        if (!append_line(t, child, most)) {
            return false;
        }
        text_add(t, child->next ? ", " : "");
    }
    text_add(t, n->kind == NODE_ARRAY ? "]" : "}");
    return t->length <= most;
}

/* Arrays of numbers stand in one line, however long. */
static bool is_row(const node *n) {
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind == NODE_OBJECT || (child->kind == NODE_ARRAY && !is_row(child))) {
            return false;
        }
    }
    return n->kind == NODE_ARRAY;
}

/* A value in one line if it fits, else one line for each child. */
static void append_value(text *t, const node *n, int indent) {
    size_t start = t->length, most = is_row(n) ? SIZE_MAX : start + LINE_LETTERS - (size_t)indent;
    if (n->parent && indent < LINE_LETTERS && append_line(t, n, most)) {
        return;
    }
    t->length = start;
    append_key(t, n);
    if (is_plain(n)) {
        append_plain(t, n);
        return;
    }
    text_add(t, n->kind == NODE_ARRAY ? "[" : "{");
    for (const node *child = n->first; child; child = child->next) {
        text_add(t, "\n%*s", indent + INDENT_SPACES, "");
        append_value(t, child, indent + INDENT_SPACES);
        if (child->next) {
            text_add(t, ",");
        }
    }
    if (n->first) {
        text_add(t, "\n%*s", indent, "");
    }
    text_add(t, n->kind == NODE_ARRAY ? "]" : "}");
}

char *document_print(const node *root, size_t *length) {
    text t = {0};
    append_value(&t, root, 0);
    text_add(&t, "\n");
    *length = t.length;
    return text_take(&t);
}
