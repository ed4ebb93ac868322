/* XML to a tree with places, by expat.
 *
 * Expat reports elements with their byte offsets; a scan of the start tag finds the offsets of the attributes.  A
 * document type declaration is refused, so that a file can define no entities, and can name no other file. */
#include "scene/xml/element.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 640 };

typedef struct parser {
    XML_Parser expat;
    const source *from;
    memory_pool *pool;
    report *report;
    xml_element *root, *open; /* open: the innermost element whose end is still to come */
    xml_element **link;       /* of the next child of `open` */
    int depth, items;
    bool stopped;  /* the reason was reported */
    char *content; /* text since the last tag, malloc'd */
    size_t length, room;
} parser;

static void stop_parse(parser *p) {
    p->stopped = true;
    XML_StopParser(p->expat, XML_FALSE);
}

static void refuse_text(parser *p, size_t at, const char *hint, const char *message) {
    report_place(p->report, p->from, at, NULL, hint, "%s", message);
    stop_parse(p);
}

static void fail_memory(parser *p) {
    p->report->no_memory = true;
    stop_parse(p);
}

static size_t current_offset(const parser *p) {
    XML_Index at = XML_GetCurrentByteIndex(p->expat);
    return at > 0 ? (size_t)at : 0;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Offset of the next attribute of a start tag; moves `*at` behind it.  The tag is known to be well formed. */
static uint32_t scan_attribute(const source *from, size_t *at) {
    const char *text = from->text;
    size_t k = *at, length = from->length;
    while (k < length && is_space(text[k])) {
        k++;
    }
    size_t start = k;
    while (k < length && text[k] != '"' && text[k] != '\'') {
        k++;
    }
    char quote = k < length ? text[k++] : 0;
    while (k < length && text[k] != quote) {
        k++;
    }
    *at = k < length ? k + 1 : length;
    return (uint32_t)start;
}

static bool count_items(parser *p, const char **given) {
    p->items++;
    for (int k = 0; given[k]; k += 2) {
        p->items++;
    }
    if (++p->depth > XML_MAX_DEPTH) {
        refuse_text(p, current_offset(p), NULL, "elements nested more than 200 deep");
        return false;
    }
    if (p->items > XML_MAX_ITEMS) {
        refuse_text(p, current_offset(p), NULL, "more than 1000000 elements and attributes");
        return false;
    }
    return true;
}

static bool keep_attributes(parser *p, xml_element *e, const char **given) {
    size_t at = e->at + 1;
    while (at < p->from->length && !is_space(p->from->text[at]) && p->from->text[at] != '>') {
        at++; /* name of the element */
    }
    xml_attribute **link = &e->attribute;
    for (int k = 0; given[k]; k += 2) {
        xml_attribute *a = POOL_NEW(p->pool, xml_attribute, 1);
        const char *name = a ? pool_text(p->pool, given[k]) : NULL, *value = pool_text(p->pool, given[k + 1]);
        if (!name || !value) {
            return false;
        }
        *a = (xml_attribute){.name = name, .value = value, .at = scan_attribute(p->from, &at)};
        *link = a;
        link = &a->next;
    }
    return true;
}

static void begin_element(void *context, const char *name, const char **given) {
    parser *p = context;
    p->length = 0;
    if (p->stopped || !count_items(p, given)) {
        return;
    }
    xml_element *e = POOL_NEW(p->pool, xml_element, 1);
    const char *kept = e ? pool_text(p->pool, name) : NULL;
    if (!kept) {
        fail_memory(p);
        return;
    }
    *e = (xml_element){.name = kept, .parent = p->open, .source = p->from, .at = (uint32_t)current_offset(p)};
    if (!keep_attributes(p, e, given)) {
        fail_memory(p);
        return;
    }
    /* hang it into the tree */
    if (p->open) {
        *p->link = e;
    } else {
        p->root = e;
    }
    p->open = e;
    p->link = &e->first;
}

/* The text of an element without children, without white space around it. */
static bool keep_content(parser *p) {
    size_t from = 0, to = p->length;
    while (to > 0 && is_space(p->content[to - 1])) {
        to--;
    }
    while (from < to && is_space(p->content[from])) {
        from++;
    }
    char *kept = pool_alloc(p->pool, to - from + 1, 1);
    if (kept) {
        memcpy(kept, p->content + from, to - from);
    }
    p->open->content = kept;
    return kept != NULL;
}

static void end_element(void *context, const char *name) {
    (void)name;
    parser *p = context;
    bool leaf = !p->stopped && !p->open->first && p->open->has_text;
    if (leaf && !keep_content(p)) {
        fail_memory(p);
    }
    p->length = 0;
    if (!p->stopped) {
        p->link = &p->open->next;
        p->open = p->open->parent;
        p->depth--;
    }
}

static bool make_room(parser *p, size_t more) {
    if (p->length + more <= p->room) {
        return true;
    }
    size_t room = 2 * (p->length + more);
    char *grown = realloc(p->content, room);
    if (grown) {
        p->content = grown;
        p->room = room;
    }
    return grown != NULL;
}

static void note_text(void *context, const char *text, int length) {
    parser *p = context;
    if (p->stopped || !p->open) {
        return;
    }
    if (!make_room(p, (size_t)length)) {
        fail_memory(p);
        return;
    }
    memcpy(p->content + p->length, text, (size_t)length);
    p->length += (size_t)length;
    for (int k = 0; p->open && k < length; k++) {
        p->open->has_text |= !is_space(text[k]);
    }
}

static void refuse_declaration(void *context, const char *name, const char *system, const char *public, int internal) {
    (void)name, (void)system, (void)public, (void)internal;
    parser *p = context;
    size_t at = current_offset(p);
    at = at < p->from->length ? at : p->from->length;
    while (at > 0 && (at == p->from->length || p->from->text[at] != '<')) {
        at--;
    }
    refuse_text(p, at, "remove it: files define no entities and name no others",
                "a document type declaration (DOCTYPE) is not read");
}

static void say_malformed(const parser *p) {
    enum XML_Error code = XML_GetErrorCode(p->expat);
    if (code == XML_ERROR_NO_MEMORY) {
        p->report->no_memory = true;
        return;
    }
    char open[120] = "";
    if (p->open && (code == XML_ERROR_TAG_MISMATCH || code == XML_ERROR_NO_ELEMENTS)) {
        snprintf(open, sizeof open, "; <%.80s> is open", p->open->name);
    }
    report_place(p->report, p->from, current_offset(p), NULL, NULL, "not well-formed XML: %s%s", XML_ErrorString(code),
                 open);
}

xml_element *xml_parse(const source *from, memory_pool *pool, report *r) {
    parser p = {.expat = XML_ParserCreate(NULL), .from = from, .pool = pool, .report = r};
    if (!p.expat) {
        r->no_memory = true;
        return NULL;
    }
    p.link = &p.root;
    XML_SetUserData(p.expat, &p);
    XML_SetElementHandler(p.expat, begin_element, end_element);
    XML_SetCharacterDataHandler(p.expat, note_text);
    XML_SetStartDoctypeDeclHandler(p.expat, refuse_declaration);
    XML_SetHashSalt(p.expat, 1); /* the same work on every run */
    bool good = XML_Parse(p.expat, from->text, (int)from->length, 1) == XML_STATUS_OK;
    if (!good && !p.stopped) {
        say_malformed(&p);
    }
    XML_ParserFree(p.expat);
    free(p.content);
    return good && !p.stopped ? p.root : NULL;
}

/* ---- access ---- */

static const xml_attribute *find_attribute(const xml_element *e, const char *name) {
    for (const xml_attribute *a = e->attribute; a; a = a->next) {
        if (strcmp(a->name, name) == 0) {
            return a;
        }
    }
    return NULL;
}

const char *xml_text(const xml_element *e, const char *name) {
    const xml_attribute *a = find_attribute(e, name);
    return a ? a->value : NULL;
}

uint32_t xml_place(const xml_element *e, const char *name) {
    const xml_attribute *a = name ? find_attribute(e, name) : NULL;
    return a ? a->at : e->at;
}

static const xml_element *find_from(const xml_element *e, const char *name) {
    while (e && strcmp(e->name, name) != 0) {
        e = e->next;
    }
    return e;
}

const xml_element *xml_child(const xml_element *e, const char *name) { return e ? find_from(e->first, name) : NULL; }

const xml_element *xml_next(const xml_element *e) { return find_from(e->next, e->name); }

void xml_path(const xml_element *e, char path[XML_PATH_BYTES]) {
    const xml_element *way[XML_MAX_DEPTH + 1];
    int depth = 0;
    for (; e && depth <= XML_MAX_DEPTH; e = e->parent) {
        way[depth++] = e;
    }
    size_t length = 0;
    path[0] = 0;
    while (depth-- > 0 && length + 100 < XML_PATH_BYTES) {
        const char *name = xml_text(way[depth], "name");
        length += (size_t)snprintf(path + length, XML_PATH_BYTES - length, name ? "/%.40s[%.40s]" : "/%.40s",
                                   way[depth]->name, name);
    }
}

/* ---- messages ---- */

static void report_element(report *r, bool notice, const xml_element *e, const char *attribute, const char *hint,
                           const char *format, va_list arguments) {
    char message[MESSAGE_BYTES], path[XML_PATH_BYTES];
    vsnprintf(message, sizeof message, format, arguments);
    xml_path(e, path);
    (notice ? report_notice : report_place)(r, e->source, xml_place(e, attribute), path, hint, "%s", message);
}

static void note_place(report *r, xml_element *e) {
    if (!e->place.from) {
        e->place = (blamed_place){e->source, e->at, r->blamed};
        r->blamed = &e->place;
    }
}

void xml_lose(report *r, xml_element *e) {
    if (e->left_out) {
        return;
    }
    e->left_out = true;
    e->lost = r->lost;
    r->lost = e;
    note_place(r, e);
    if (e->parent) {
        note_place(r, e->parent);
        e->parent->blamed = true;
    }
}

/* The next element of a tree, depth first; NULL: the last one. */
static const xml_element *step_through(const xml_element *top, const xml_element *at) {
    if (at->first) {
        return at->first;
    }
    while (at != top && !at->next) {
        at = at->parent;
    }
    return at != top ? at->next : NULL;
}

/* Is it the name of something that was left out? */
static bool is_lost_name(report *r, const char *name) {
    enum { MAX_LOOKS = 10 * 1000 * 1000 };
    for (const xml_element *top = r->lost; top; top = top->lost) {
        for (const xml_element *at = top; at; at = step_through(top, at)) {
            const char *own = xml_text(at, "name");
            if (++r->looked > MAX_LOOKS || (own && strcmp(own, name) == 0)) {
                return true;
            }
        }
    }
    return false;
}

/* Notes an error at an element; false: it follows from one that was given. */
static bool blame_element(report *r, xml_element *e, const char *attribute) {
    const char *value = attribute ? xml_text(e, attribute) : NULL;
    if (!r->checking && (e->blamed || (value && is_lost_name(r, value)))) {
        return false;
    }
    note_place(r, e);
    e->blamed |= r->checking;
    if (r->checking && e->parent) {
        note_place(r, e->parent);
        e->parent->blamed = true;
    }
    return true;
}

void xml_error(report *r, const xml_element *e, const char *attribute, const char *hint, const char *format, ...) {
    if (!blame_element(r, (xml_element *)e, attribute)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    report_element(r, false, e, attribute, hint, format, arguments);
    va_end(arguments);
}

void xml_notice(report *r, const xml_element *e, const char *attribute, const char *hint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report_element(r, true, e, attribute, hint, format, arguments);
    va_end(arguments);
}
