/* XML of a COLLADA file as a tree of places, by expat.
 *
 * Expat checks the text and gives byte offsets; names and attributes are read from the text where they are asked for.  So
 * an element costs a few words whatever it holds.  A document type declaration is refused: files define no entities and
 * name no others. */
#include "geometry/import/collada_tree.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 24 }; /* expat counts in int */

typedef struct tree_parser {
    XML_Parser expat;
    mesh_text *text;
    collada_tree *tree;
    int open, last; /* the innermost open element, and the last child that it has got */
    int depth;
    const char *why; /* reason to stop; NULL: none */
    bool no_memory;
} tree_parser;

static const char *place_of(const tree_parser *p) {
    XML_Index at = XML_GetCurrentByteIndex(p->expat);
    size_t length = (size_t)(p->text->end - p->text->start);
    return p->text->start + (at > 0 && (size_t)at < length ? (size_t)at : at > 0 ? length : 0);
}

static void stop_tree(tree_parser *p, const char *why) {
    p->why = p->why ? p->why : why;
    XML_StopParser(p->expat, XML_FALSE);
}

static bool make_room(collada_tree *tree) {
    if (tree->count < tree->room) {
        return true;
    }
    size_t room = tree->room ? 2 * (size_t)tree->room : 256;
    collada_element *more = room > INT_MAX ? NULL : realloc(tree->element, room * sizeof *more);
    if (!more) {
        return false;
    }
    tree->element = more;
    tree->room = (int)room;
    return true;
}

static void open_element(void *context, const char *name, const char **given) {
    (void)name, (void)given;
    tree_parser *p = context;
    collada_tree *tree = p->tree;
    if (p->why || p->no_memory) {
        return;
    }
    if (++p->depth > COLLADA_MAX_DEPTH) {
        stop_tree(p, "elements nested more than 200 deep");
        return;
    }
    if (!make_room(tree)) {
        p->no_memory = true;
        stop_tree(p, NULL);
        return;
    }
    /* the element, and its place in the tree */
    const char *tag = place_of(p), *text = tag + XML_GetCurrentByteCount(p->expat);
    int index = tree->count++;
    tree->element[index] = (collada_element){tag, text, text, p->open, -1, -1};
    if (p->last >= 0) {
        tree->element[p->last].next = index;
    } else if (p->open >= 0) {
        tree->element[p->open].first = index;
    }
    p->open = index;
    p->last = -1;
}

static void close_element(void *context, const char *name) {
    (void)name;
    tree_parser *p = context;
    if (p->why || p->no_memory) {
        return;
    }
    collada_element *e = &p->tree->element[p->open];
    const char *end = place_of(p);
    e->end = end > e->text ? end : e->text;
    p->last = p->open;
    p->open = e->parent;
    p->depth--;
}

static void refuse_doctype(void *context, const char *name, const char *system, const char *public, int internal) {
    (void)name, (void)system, (void)public, (void)internal;
    stop_tree(context, "a document type declaration (DOCTYPE) is not read");
}

static bool parse_pieces(tree_parser *p) {
    const char *at = p->text->start;
    while (p->text->end - at > PIECE_BYTES) {
        if (XML_Parse(p->expat, at, PIECE_BYTES, 0) != XML_STATUS_OK) {
            return false;
        }
        at += PIECE_BYTES;
    }
    return XML_Parse(p->expat, at, (int)(p->text->end - at), 1) == XML_STATUS_OK;
}

sim_status collada_tree_read(mesh_text *text, collada_tree *tree) {
    /* parser */
    tree_parser p = {.expat = XML_ParserCreate(NULL), .text = text, .tree = tree, .open = -1, .last = -1};
    *tree = (collada_tree){0};
    if (!p.expat) {
        return mesh_report_no_memory(text);
    }
    XML_SetUserData(p.expat, &p);
    XML_SetElementHandler(p.expat, open_element, close_element);
    XML_SetStartDoctypeDeclHandler(p.expat, refuse_doctype);
    XML_SetHashSalt(p.expat, 1); /* the same work on every run */
    /* all of the text, or the reason why not */
    sim_status status = SIM_OK;
    if (!parse_pieces(&p)) {
        enum XML_Error code = XML_GetErrorCode(p.expat);
        status = p.no_memory || code == XML_ERROR_NO_MEMORY ? mesh_report_no_memory(text)
                 : p.why                                    ? text_wrong(text, place_of(&p), "%s", p.why)
                         : text_wrong(text, place_of(&p), "not well-formed XML: %s", XML_ErrorString(code));
    }
    XML_ParserFree(p.expat);
    return status;
}

void collada_tree_free(collada_tree *tree) {
    free(tree->element);
    *tree = (collada_tree){0};
}

/* ---- access ---- */

static bool is_xml_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static bool ends_name(char c) { return is_xml_space(c) || c == '>' || c == '/' || c == '=' || c == 0; }

bool collada_is(const collada_tree *tree, int element, const char *name) {
    size_t length = strlen(name);
    const char *tag = element >= 0 ? tree->element[element].tag : NULL;
    return tag && strncmp(tag + 1, name, length) == 0 && ends_name(tag[1 + length]);
}

int collada_from(const collada_tree *tree, int element, const char *name) {
    while (element >= 0 && !collada_is(tree, element, name)) {
        element = tree->element[element].next;
    }
    return element;
}

int collada_child(const collada_tree *tree, int element, const char *name) {
    return element >= 0 ? collada_from(tree, tree->element[element].first, name) : -1;
}

text_span collada_attribute(const collada_tree *tree, int element, const char *name) {
    size_t length = strlen(name);
    const char *end = tree->element[element].text, *at = tree->element[element].tag + 1;
    while (at < end && !ends_name(*at)) {
        at++;
    }
    while (at < end) {
        /* name */
        while (at < end && is_xml_space(*at)) {
            at++;
        }
        const char *key = at;
        while (at < end && !ends_name(*at)) {
            at++;
        }
        bool found = (size_t)(at - key) == length && memcmp(key, name, length) == 0;
        /* value */
        while (at < end && *at != '"' && *at != '\'') {
            at++;
        }
        const char quote = at < end ? *at++ : 0, *value = at;
        while (at < end && *at != quote) {
            at++;
        }
        if (found) {
            return (text_span){value, (size_t)(at - value)};
        }
        at += at < end;
    }
    return (text_span){0};
}

bool span_is(text_span span, const char *text) {
    return span.length == strlen(text) && (span.length == 0 || memcmp(span.at, text, span.length) == 0);
}
