/* Text in one block of memory that doubles as it is written; JSON strings and shortest decimals. */
#include "scene/json/text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow_text(text *t, size_t more) {
    if (t->failed) {
        return false;
    }
    size_t need = t->length + more + 1;
    if (need <= t->size) {
        return true;
    }
    size_t size = need < 256 ? 256 : need * 2;
    char *start = realloc(t->start, size);
    if (!start) {
        t->failed = true;
        return false;
    }
    t->start = start;
    t->size = size;
    return true;
}

void text_add(text *t, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && grow_text(t, (size_t)length)) {
        vsnprintf(t->start + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

void text_add_quoted(text *t, const char *content) {
    text_add(t, "\"");
    for (const char *c = content; *c; c++) {
        size_t plain = 0;
        while ((unsigned char)c[plain] >= 0x20 && c[plain] != '"' && c[plain] != '\\') {
            plain++;
        }
        if (plain) {
            text_add(t, "%.*s", (int)plain, c);
            c += plain - 1;
        } else if (*c == '"' || *c == '\\') {
            text_add(t, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            text_add(t, "\\u%04x", (unsigned)*c);
        }
    }
    text_add(t, "\"");
}

digits number_digits(double number) {
    digits d;
    double zeros = number / 1e9;
    if (fabs(number) >= 1e9 && fabs(number) < 1e16 && zeros == floor(zeros)) { /* 1e9, not 1000000000 */
        int exponent = 9;
        for (; floor(zeros / 10) == zeros / 10; zeros /= 10) {
            exponent++;
        }
        snprintf(d.text, sizeof d.text, "%.0fe%d", zeros, exponent);
        return d;
    }
    if (number == floor(number) && fabs(number) < 1e16) {
        snprintf(d.text, sizeof d.text, "%.0f", number);
        return d;
    }
    /* a number that a decimal of up to 15 digits means has these 15, but for zeros, which %g leaves out */
    for (int precision = fabs(number) < DBL_MIN ? 1 : DBL_DIG; precision <= 17; precision++) {
        snprintf(d.text, sizeof d.text, "%.*g", precision, number);
        if (strtod(d.text, NULL) == number) {
            break;
        }
    }
    return d;
}

void text_add_number(text *t, double number) {
    digits d = number_digits(number);
    text_add(t, "%s", d.text);
}

char *text_take(text *t) {
    if (t->failed) {
        free(t->start);
        t->start = NULL;
    }
    return t->start;
}
