/* Words and numbers of text files, and where they stand.
 *
 * Numbers are read as they are written everywhere in the world of files, with a point, whatever the program's locale.
 * Up to 2^53 times a power of ten up to 22 one operation rounds correctly (W. D. Clinger, How to read floating point
 * numbers accurately, PLDI 1990); the rest goes to strtod, in the C locale, which mesh_file.c sets for the thread. */
#include "geometry/import/parts/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

static bool is_end(char c) { return c == '\n' || c == '\r' || c == 0; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char *text_word_end(const char *at) {
    while (!text_is_blank(*at) && !is_end(*at)) {
        at++;
    }
    return at;
}

bool text_is_word(const char *at, const char *word) {
    for (; *word; at++, word++) {
        char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
        if (c != *word) {
            return false;
        }
    }
    return text_is_blank(*at) || is_end(*at);
}

/* ---- errors ---- */

void text_place(const mesh_text *t, const char *at, long *line, long *column) {
    *line = *column = 1;
    for (const char *c = t->start; c < at; c++) {
        int ends = *c == '\n' || (*c == '\r' && c[1] != '\n');
        *line += ends;
        *column = ends ? 1 : *column + 1;
    }
}

sim_status text_wrong(const mesh_text *t, const char *at, const char *format, ...) {
    long line, column;
    text_place(t, at, &line, &column);
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return sim_fail(t->error, SIM_BAD_INPUT, "%.200s:%ld:%ld: %s", t->name, line, column, what);
}

sim_status text_expected(const mesh_text *t, const char *at, const char *what) {
    char word[32];
    size_t n = (size_t)(text_word_end(at) - at), most = sizeof word - 4;
    if (at >= t->end) {
        return text_wrong(t, at, "expected %s, found the end of the file", what);
    }
    if (n == 0) {
        return text_wrong(t, at, "expected %s, found %s", what, *at ? "the end of the line" : "a zero byte");
    }
    for (size_t i = 0; i < n && i < most; i++) {
        word[i] = at[i] > ' ' && at[i] < 0x7f ? at[i] : '?';
    }
    strcpy(word + (n < most ? n : most), n > most ? "..." : "");
    return text_wrong(t, at, "expected %s, found \"%s\"", what, word);
}

sim_status mesh_report_no_memory(const mesh_text *t) {
    return sim_fail(t->error, SIM_NO_RESOURCE, "%.200s: no memory for its triangles", t->name);
}

/* ---- numbers ---- */

typedef struct decimal {
    uint64_t digits;
    int ndigit; /* significant */
    long exponent;
} decimal;

static const char *scan_digits(const char *p, decimal *d, int after_point) {
    for (; is_digit(*p); p++) {
        if (d->ndigit < 19) {
            d->digits = 10 * d->digits + (uint64_t)(*p - '0');
            d->exponent -= after_point;
        } else {
            d->exponent += !after_point;
        }
        d->ndigit += d->ndigit > 0 || *p != '0';
    }
    return p;
}

/* The end of the number at p, or NULL. */
static const char *scan_text_number(const char *p, decimal *d) {
    const char *first = p;
    p = scan_digits(p, d, 0);
    long count = p - first;
    if (*p == '.') {
        const char *fraction = ++p;
        p = scan_digits(p, d, 1);
        count += p - fraction;
    }
    if (count == 0) {
        return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        long exponent = 0;
        int negative = *++p == '-';
        p += *p == '-' || *p == '+';
        if (!is_digit(*p)) {
            return NULL;
        }
        for (; is_digit(*p); p++) {
            exponent = exponent < 100000 ? 10 * exponent + (*p - '0') : exponent;
        }
        d->exponent += negative ? -exponent : exponent;
    }
    int joined = *p == '\\' && is_end(p[1]); /* to the next line of an OBJ file */
    return text_is_blank(*p) || is_end(*p) || *p == '#' || *p == '<' || joined ? p : NULL;
}

bool text_number(mesh_text *t, double *x) {
    static const double power[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    /* scan the decimal digits */
    const char *p = t->at;
    int negative = *p == '-';
    p += *p == '-' || *p == '+';
    decimal d = {0};
    const char *end = scan_text_number(p, &d);
    if (!end) {
        text_expected(t, t->at, "a number");
        return false;
    }
    /* exact when both mantissa and power of ten are doubles (Clinger's fast path) */
    if (d.ndigit <= 19 && d.digits <= UINT64_C(1) << 53 && d.exponent >= -22 && d.exponent <= 22) {
        double m = (double)d.digits;
        m = d.exponent < 0 ? m / power[-d.exponent] : m * power[d.exponent];
        *x = negative ? -m : m;
    } else {
        *x = strtod(t->at, NULL);
        if (!isfinite(*x)) {
            text_expected(t, t->at, "a number of at most 1.8e308");
            return false;
        }
    }
    /* consume */
    t->at = end;
    return true;
}
