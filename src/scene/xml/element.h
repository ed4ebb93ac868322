/* An XML text as a tree of elements that remember their places. */
#ifndef SCENE_XML_ELEMENT_H
#define SCENE_XML_ELEMENT_H

#include "base/pool.h"
#include "scene/json/report.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    XML_MAX_DEPTH = 200,
    XML_MAX_ITEMS = 1000 * 1000, /* elements and attributes */
    XML_PATH_BYTES = 300
};

struct xml_table;

typedef struct xml_attribute xml_attribute;
struct xml_attribute {
    const char *name, *value;
    uint32_t at; /* offset in the source */
    xml_attribute *next;
};

typedef struct xml_element xml_element;
struct xml_element {
    const char *name;
    xml_attribute *attribute; /* in the order of the text */
    xml_element *parent, *first, *next;
    const source *source;
    uint32_t at;                   /* offset of the '<' */
    bool has_text;                 /* it holds text that is no white space */
    const char *content;           /* text of an element without children, trimmed; NULL: none */
    const struct xml_table *table; /* once checked */
    bool blamed;                   /* the tables found an error in it: later ones may follow from that */
    bool left_out;                 /* it is not part of the model */
    bool unusable;                 /* a part is missing without which it means nothing */
    blamed_place place;            /* with `from`: an error was given */
    const xml_element *lost;       /* the next of those that were left out */
};

/* The root of a text, in `pool`; NULL when wrong (reported) or without memory (the report remembers). */
xml_element *xml_parse(const source *from, memory_pool *pool, report *r);

/* The value of an attribute; NULL: absent. */
const char *xml_text(const xml_element *e, const char *name);
/* Offset of an attribute, or of the element where it is absent. */
uint32_t xml_place(const xml_element *e, const char *name);
/* The first child of a name, and the next sibling of the same name; NULL: none. */
const xml_element *xml_child(const xml_element *e, const char *name);
const xml_element *xml_next(const xml_element *e);
/* "/robot/link[arm]/visual": the way to an element, with names where elements have them. */
void xml_path(const xml_element *e, char path[XML_PATH_BYTES]);

/* An error at an element, or at one of its attributes (NULL: the element).  `hint` may be NULL.  Once the
 * tables were checked, errors at elements that they blamed are dropped, and those at names of parts that were left out. */
void xml_error(report *r, const xml_element *e, const char *attribute, const char *hint, const char *format, ...)
    SIM_PRINTF(5, 6);
/* Leaves an element out of the model: references to names in it are no errors. */
void xml_lose(report *r, xml_element *e);
/* The same as a warning. */
void xml_notice(report *r, const xml_element *e, const char *attribute, const char *hint, const char *format, ...)
    SIM_PRINTF(5, 6);

#endif
