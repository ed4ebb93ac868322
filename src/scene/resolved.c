/* Text of a scene as loaded, with all replaced values, for archives of runs.
 *
 * Numbers of the file are copied letter by letter; others have as many digits as bring them back to the bit. */
#include "scene/json/document.h"
#include "scene/json/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT_SPACES = 2 };

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

/* Arrays of values, and arrays of these, stand in one line. */
static bool is_row(const node *n) {
    for (const node *child = n->first; child; child = child->next) {
        if (child->kind == NODE_OBJECT || (child->kind == NODE_ARRAY && !is_row(child))) {
            return false;
        }
    }
    return n->kind == NODE_ARRAY;
}

static void append_value(text *t, const node *n, int indent, bool in_row);

static void add_children(text *t, const node *n, int indent, bool in_row) {
    bool row = n->kind == NODE_ARRAY && (in_row || is_row(n));
    /* numbers of an array in one row, everything else a line each */
    text_add(t, n->kind == NODE_ARRAY ? "[" : "{");
    for (const node *child = n->first; child; child = child->next) {
        if (!row) {
            text_add(t, "\n%*s", indent + INDENT_SPACES, "");
        }
        if (n->kind == NODE_OBJECT) {
            text_add_quoted(t, child->key);
            text_add(t, ": ");
        }
        append_value(t, child, indent + INDENT_SPACES, row);
        if (child->next) {
            text_add(t, row ? ", " : ",");
        }
    }
    if (!row && n->first) {
        text_add(t, "\n%*s", indent, "");
    }
    text_add(t, n->kind == NODE_ARRAY ? "]" : "}");
}

static void append_value(text *t, const node *n, int indent, bool in_row) {
    if (!is_plain(n)) {
        add_children(t, n, indent, in_row);
    } else if (n->kind == NODE_NUMBER) {
        write_resolved_number(t, n);
    } else if (n->kind == NODE_TEXT) {
        text_add_quoted(t, n->text);
    } else {
        text_add(t, n->kind == NODE_NULL ? "null" : n->number != 0 ? "true" : "false");
    }
}

char *document_print(const node *root, size_t *length) {
    text t = {0};
    append_value(&t, root, 0, false);
    text_add(&t, "\n");
    *length = t.length;
    return text_take(&t);
}
