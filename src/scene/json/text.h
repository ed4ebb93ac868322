/* A text that grows as it is written. */
#ifndef SCENE_JSON_TEXT_H
#define SCENE_JSON_TEXT_H

#include <sim/base.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct text {
    char *start; /* zero-terminated, malloc'd; NULL before the first write */
    size_t length, size;
    bool failed; /* no memory: the text is incomplete */
} text;

void text_add(text *t, const char *format, ...) SIM_PRINTF(2, 3);
/* As a JSON string, quotes included. */
void text_add_quoted(text *t, const char *content);
/* The shortest decimal that reads back as the same number. */
typedef struct digits {
    char text[40];
} digits;
digits number_digits(double number);
void text_add_number(text *t, double number);
/* The text, to be freed by the caller; NULL (and all freed) if anything failed. */
char *text_take(text *t);

#endif
