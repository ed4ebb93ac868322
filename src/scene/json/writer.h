/* JSON written value by value, with the place in another text that each value comes from. */
#ifndef SCENE_JSON_WRITER_H
#define SCENE_JSON_WRITER_H

#include "scene/json/document.h"
#include "scene/json/text.h"

typedef struct json_writer {
    text out;
    source_place *place; /* malloc'd; in the order of the text */
    int nplace, room;
    uint32_t here;        /* offset, in the other text, of what is written now */
    const source *behind; /* that text, where there are several; NULL: the one */
    bool follows;         /* a value stands before, in the same object or array */
} json_writer;

/* `key` is NULL for elements of arrays and the outermost value. */
void writer_open(json_writer *w, const char *key, char bracket);
void writer_close(json_writer *w, char bracket);
void writer_put_number(json_writer *w, const char *key, double number);
void writer_put_numbers(json_writer *w, const char *key, int count, const double *number);
void writer_put_text(json_writer *w, const char *key, const char *content);
void writer_put_flag(json_writer *w, const char *key, bool flag);
/* Frees what the writer still holds. */
void writer_free(json_writer *w);

#endif
