/* Error messages about a scene: text, hint, JSON pointer, file, line and column of each.
 *
 * Texts become printable UTF-8 before they are stored.  Equal messages are stored once; after MAX_MESSAGES messages
 * only their number is counted. */
#include "scene/json/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_LOOKS = 10 * 1000 * 1000, /* at places with errors; beyond it an error is taken to follow from them */
    MESSAGE_BYTES = 640,
    POINTER_BYTES = 320,
    MAX_MESSAGES = sizeof((sim_diagnostics *)0)->item / sizeof(sim_diagnostic)
};

/* Texts of a scene may reach a terminal: without control characters, and without cut or invalid UTF-8. */
static void make_printable(char *text) {
    char *out = text;
    for (unsigned char *c = (unsigned char *)text; *c;) {
        int length = *c < 0x80 ? 1 : *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;
        int have = 1;
        while (have < length && (c[have] & 0xc0) == 0x80) {
            have++;
        }
        bool control = (length == 1 && (*c < 0x20 || *c == 0x7f)) || (length == 2 && *c == 0xc2 && c[1] < 0xa0);
        if (length == 0 || have < length || control) {
            *out++ = '?';
        } else {
            memmove(out, c, (size_t)length);
            out += length;
        }
        c += have;
    }
    *out = 0;
}

static const char *keep_message(report *r, const char *content) {
    if (!content) {
        return NULL;
    }
    char *copy = pool_text(r->pool, content);
    if (!copy) {
        r->no_memory = true;
        return "";
    }
    make_printable(copy);
    return copy;
}

/* Columns count characters, as editors do. */
static void find_line(const source *from, size_t at, int *line, int *column) {
    *line = *column = 1;
    for (size_t i = 0; i < at && i < from->length; i++) {
        if (from->text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)from->text[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

bool report_full(const report *r) { return r->found->count == MAX_MESSAGES; }

static bool is_same_diagnostic(const sim_diagnostic *a, const sim_diagnostic *b) {
    return a->line == b->line && a->column == b->column && strcmp(a->message, b->message) == 0 &&
           strcmp(a->file, b->file) == 0 && strcmp(a->pointer, b->pointer) == 0;
}

/* The place, in the text that a user wrote, of a place in a text that was written from it. */
static const source *find_origin(const source *from, size_t *at) {
    while (from->behind) {
        int low = 0, high = from->nplace;
        while (high - low > 1) {
            int middle = low + (high - low) / 2;
            *(from->place[middle].at <= *at ? &low : &high) = middle;
        }
        const source *behind = from->nplace ? from->place[low].behind : NULL;
        *at = from->nplace ? from->place[low].from : 0;
        from = behind ? behind : from->behind;
    }
    return from;
}

static bool is_blamed(report *r, const source *from, size_t at) {
    for (const blamed_place *p = r->blamed; p; p = p->next) {
        if (++r->looked > MAX_LOOKS || (p->at == at && p->from->text == from->text)) {
            return true;
        }
    }
    return false;
}

static void add_diagnostic(report *r, sim_diagnostics *found, const source *from, size_t at, const char *pointer,
                           const char *hint, const char *message) {
    bool written = from->behind != NULL;
    from = find_origin(from, &at);
    if (written && found == r->found && is_blamed(r, from, at)) {
        return;
    }
    /* beyond the limit errors are only counted */
    if (found->count == MAX_MESSAGES) {
        found->more++;
        return;
    }
    /* store text and place */
    sim_diagnostic *d = &found->item[found->count];
    *d = (sim_diagnostic){.file = keep_message(r, from->name),
                          .pointer = keep_message(r, pointer ? pointer : ""),
                          .message = keep_message(r, message),
                          .hint = keep_message(r, hint),
                          .warning = found == &r->warned};
    if (from->text) {
        find_line(from, at, &d->line, &d->column);
    }
    /* the same error at the same place counts once */
    for (int i = 0; i < found->count; i++) {
        if (is_same_diagnostic(&found->item[i], d)) {
            return;
        }
    }
    found->count++;
}

static size_t append_text(char *to, size_t length, size_t size, const char *from) {
    for (; *from && length + 3 < size; from++) {
        if (*from == '~' || *from == '/') {
            to[length++] = '~';
            to[length++] = *from == '~' ? '0' : '1';
        } else {
            to[length++] = *from;
        }
    }
    return length;
}

static int position_among(const node *child) {
    int position = 0;
    for (const node *n = child->parent->first; n && n != child; n = n->next) {
        position++;
    }
    return position;
}

/* JSON pointer of a node, cut short where it would not fit. */
static void write_pointer(const node *n, char *text, size_t size) {
    const node *path[2 * DOCUMENT_MAX_DEPTH + 2];
    int depth = 0;
    for (; n->parent && depth < (int)(sizeof path / sizeof path[0]); n = n->parent) {
        path[depth++] = n;
    }
    size_t length = 0;
    while (depth-- > 0 && length + 16 < size) {
        text[length++] = '/';
        if (path[depth]->key) {
            length = append_text(text, length, size, path[depth]->key);
        } else {
            length += (size_t)snprintf(text + length, size - length, "%d", position_among(path[depth]));
        }
    }
    text[length] = 0;
}

static void add_node_diagnostic(report *r, sim_diagnostics *found, const node *at, bool key, const char *hint,
                                const char *format, va_list arguments) {
    if (r->muted) {
        return;
    }
    if (found->count == MAX_MESSAGES) { /* counted, at no cost */
        found->more++;
        return;
    }
    char message[MESSAGE_BYTES], pointer[POINTER_BYTES];
    vsnprintf(message, sizeof message, format, arguments);
    at = node_origin(at);
    write_pointer(at, pointer, sizeof pointer);
    add_diagnostic(r, found, at->source, key ? at->key_at : at->value_at, pointer, hint, message);
}

void report_place(report *r, const source *from, size_t at, const char *pointer, const char *hint, const char *format,
                  ...) {
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    add_diagnostic(r, r->found, from, at, pointer, hint, message);
}

void report_notice(report *r, const source *from, size_t at, const char *pointer, const char *hint, const char *format,
                   ...) {
    char message[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    add_diagnostic(r, r->strict ? r->found : &r->warned, from, at, pointer, hint, message);
}

/* Where byte `offset` of a text stands in the file: escapes are longer there. */
static size_t place_inside(const node *n, size_t offset) {
    const char *text = n->source->text;
    size_t at = n->value_at + 1; /* behind the quote */
    for (size_t k = 0; k < offset && at + 1 < n->source->length; k++) {
        at += text[at] != '\\' ? 1 : text[at + 1] == 'u' ? 6 : 2;
    }
    return at;
}

void report_inside(report *r, const node *at, size_t offset, const char *hint, const char *format, ...) {
    char message[MESSAGE_BYTES], pointer[POINTER_BYTES];
    at = node_origin(at);
    if (r->muted) {
        return;
    }
    ((node *)at)->blamed = true;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!at->source->text && length >= 0 && length < (int)sizeof message) { /* an option: it has no columns */
        snprintf(message + length, sizeof message - (size_t)length, ", at character %zu of \"%.80s\"", offset + 1,
                 at->text);
    }
    write_pointer(at, pointer, sizeof pointer);
    add_diagnostic(r, r->found, at->source, at->source->text ? place_inside(at, offset) : 0, pointer, hint, message);
}

void report_value(report *r, const node *at, const char *hint, const char *format, ...) {
    ((node *)node_origin(at))->blamed |= r->muted == 0;
    va_list arguments;
    va_start(arguments, format);
    add_node_diagnostic(r, r->found, at, false, hint, format, arguments);
    va_end(arguments);
}

void report_warning(report *r, const node *at, const char *hint, const char *format, ...) {
    node *origin = (node *)node_origin(at);
    if (origin->warned) {
        return;
    }
    origin->warned = r->muted == 0;
    va_list arguments;
    va_start(arguments, format);
    add_node_diagnostic(r, &r->warned, at, false, hint, format, arguments);
    va_end(arguments);
}

void report_key(report *r, const node *at, const char *hint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_node_diagnostic(r, r->found, at, at->key != NULL, hint, format, arguments);
    va_end(arguments);
}

void report_once(report *r, const node *at, const char *hint, const char *format, ...) {
    node *origin = (node *)node_origin(at);
    if (origin->blamed || r->muted) {
        return;
    }
    origin->blamed = true;
    va_list arguments;
    va_start(arguments, format);
    add_node_diagnostic(r, r->found, at, false, hint, format, arguments);
    va_end(arguments);
}

void report_name_place(const node *at, char *name, size_t size) {
    at = node_origin(at);
    if (at->source->text) {
        int line, column;
        size_t place = at->value_at;
        const source *from = find_origin(at->source, &place);
        find_line(from, place, &line, &column);
        snprintf(name, size, "%.200s:%d", from->name, line);
    } else {
        snprintf(name, size, "%.200s", at->source->name);
    }
}

static bool stands_before(const sim_diagnostic *a, int rank_a, const sim_diagnostic *b, int rank_b) {
    if (rank_a != rank_b) {
        return rank_a < rank_b;
    }
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

void report_sort(const report *r) {
    sim_diagnostic *item = r->found->item;
    /* files rank in the order in which errors name them */
    int rank[MAX_MESSAGES];
    for (int i = 0; i < r->found->count; i++) {
        rank[i] = i;
        for (int k = 0; k < i; k++) {
            if (strcmp(item[k].file, item[i].file) == 0) {
                rank[i] = rank[k];
                break;
            }
        }
    }
    /* insertion sort by rank, line and column */
    for (int i = 1; i < r->found->count; i++) {
        for (int k = i; k > 0 && stands_before(&item[k], rank[k], &item[k - 1], rank[k - 1]); k--) {
            sim_diagnostic swap = item[k];
            int swap_rank = rank[k];
            item[k] = item[k - 1];
            rank[k] = rank[k - 1];
            item[k - 1] = swap;
            rank[k - 1] = swap_rank;
        }
    }
}

void sim_diagnostics_free(sim_diagnostics *diagnostics) {
    if (diagnostics) {
        pool_free(diagnostics->memory);
        *diagnostics = (sim_diagnostics){0};
    }
}

int sim_diagnostic_print(const sim_diagnostic *d, char *text, size_t size) {
    char place[40] = "";
    if (d->line > 0) {
        snprintf(place, sizeof place, "%d:%d:", d->line, d->column);
    }
    const char *pointer = d->pointer ? d->pointer : "";
    const char *kind = d->warning ? "warning" : "error";
    return snprintf(text, size, "%s:%s %s: %s%s%s%s%s%s\n", d->file, place, kind, pointer, *pointer ? ": " : "",
                    d->message, d->hint ? " (" : "", d->hint ? d->hint : "", d->hint ? ")" : "");
}
