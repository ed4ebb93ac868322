/* JSON written value by value.  Every value notes where it comes from, so that messages about it can name that place. */
#include "scene/json/writer.h"

#include <stdlib.h>
#include <string.h>

static void note_place(json_writer *w) {
    if (w->nplace == w->room) {
        int room = w->room ? 2 * w->room : 256;
        source_place *more = realloc(w->place, (size_t)room * sizeof *more);
        if (!more) {
            w->out.failed = true;
            return;
        }
        w->place = more;
        w->room = room;
    }
    w->place[w->nplace++] = (source_place){(uint32_t)w->out.length, w->here, w->behind};
}

static void begin_value(json_writer *w, const char *key) {
    if (w->follows) {
        text_add(&w->out, ", ");
    }
    note_place(w);
    if (key) {
        text_add_quoted(&w->out, key);
        text_add(&w->out, ": ");
    }
    w->follows = true;
}

void writer_open(json_writer *w, const char *key, char bracket) {
    begin_value(w, key);
    text_add(&w->out, "%c", bracket);
    w->follows = false;
}

void writer_close(json_writer *w, char bracket) {
    text_add(&w->out, "%c", bracket);
    w->follows = true;
}

void writer_put_number(json_writer *w, const char *key, double number) {
    begin_value(w, key);
    text_add_number(&w->out, number + 0.0); /* no minus before a zero */
}

/* Long lists repeat their numbers, as heights of a picture with 256 shades do: the digits of some are kept. */
enum { KEPT = 256, LONG_LIST = 2000 };
typedef struct kept_number {
    double number;
    digits text;
} kept_number;

static void put_long_list(json_writer *w, int count, const double *number) {
    kept_number kept[KEPT];
    for (int k = 0; k < KEPT; k++) {
        kept[k] = (kept_number){0, number_digits(0)};
    }
    for (int k = 0; k < count; k++) {
        /* place by the bits of the number */
        double value = number[k] + 0.0;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        kept_number *at = &kept[bits * 0x9e3779b97f4a7c15u >> 56];
        if (memcmp(&at->number, &value, sizeof value) != 0) {
            *at = (kept_number){value, number_digits(value)};
        }
        begin_value(w, NULL);
        text_add(&w->out, "%s", at->text.text);
    }
}

void writer_put_numbers(json_writer *w, const char *key, int count, const double *number) {
    writer_open(w, key, '[');
    if (count >= LONG_LIST) {
        put_long_list(w, count, number);
    } else {
        for (int k = 0; k < count; k++) {
            writer_put_number(w, NULL, number[k]);
        }
    }
    writer_close(w, ']');
}

void writer_put_text(json_writer *w, const char *key, const char *content) {
    begin_value(w, key);
    text_add_quoted(&w->out, content);
}

void writer_put_flag(json_writer *w, const char *key, bool flag) {
    begin_value(w, key);
    text_add(&w->out, flag ? "true" : "false");
}

void writer_free(json_writer *w) {
    free(w->out.start);
    free(w->place);
    *w = (json_writer){0};
}
