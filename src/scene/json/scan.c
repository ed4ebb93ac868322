/* Strict JSON validation, and the position of every value.  A scan that runs before cJSON, which is lenient (control
 * characters, leading zeros), keeps no positions and recurses to a depth of its own. */
#include "base/utf8.h"
#include "scene/json/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scanner {
    const char *text;
    size_t length, at;
    value_position *position;
    int count, room;
    int depth;
    size_t opened[DOCUMENT_MAX_DEPTH]; /* offsets of the brackets that are open, */
    size_t key[DOCUMENT_MAX_DEPTH];    /* of the key of the member within, */
    int element[DOCUMENT_MAX_DEPTH];   /* and the number of the element within */
    bool no_memory;
    scan_fault *fault;
} scanner;

static bool fail_scan(scanner *s, size_t at, const char *message) {
    s->fault->at = at;
    snprintf(s->fault->message, sizeof s->fault->message, "%s", message);
    return false;
}

static int line_of(const scanner *s, size_t at) {
    int line = 1;
    for (size_t i = 0; i < at; i++) {
        line += s->text[i] == '\n';
    }
    return line;
}

static bool ends_too_early(scanner *s) {
    if (s->depth == 0) {
        return fail_scan(s, s->length, "the text is empty: a scene begins with '{', a robot or model with '<'");
    }
    size_t open = s->opened[s->depth - 1];
    snprintf(s->fault->message, sizeof s->fault->message, "the text ends inside the %s that opens in line %d",
             s->text[open] == '{' ? "object" : "array", line_of(s, open));
    s->fault->at = s->length;
    return false;
}

static int peek_char(const scanner *s) { return s->at < s->length ? (unsigned char)s->text[s->at] : -1; }

static void skip_space(scanner *s) {
    while (s->at < s->length && memchr(" \t\r\n", s->text[s->at], 4)) {
        s->at++;
    }
}

static bool note_position(scanner *s, size_t key, size_t value) {
    if (s->count == DOCUMENT_MAX_VALUES) {
        snprintf(s->fault->message, sizeof s->fault->message, "more than %d values", DOCUMENT_MAX_VALUES);
        s->fault->at = value;
        return false;
    }
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 256;
        value_position *more = realloc(s->position, (size_t)room * sizeof *more);
        if (!more) {
            s->no_memory = true;
            return false;
        }
        s->position = more;
        s->room = room;
    }
    s->position[s->count++] = (value_position){(uint32_t)key, (uint32_t)value};
    return true;
}

static int hex_digit(int c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four digits of \uXXXX at `at`, or -1. */
static int read_hex4(const scanner *s, size_t at) {
    int value = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = at + i < s->length ? hex_digit((unsigned char)s->text[at + i]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = 16 * value + digit;
    }
    return value;
}

static bool scan_unicode_escape(scanner *s) {
    /* first code unit, which is no NUL and no low surrogate */
    size_t start = s->at;
    int unit = read_hex4(s, s->at + 2);
    if (unit < 0) {
        return fail_scan(s, start, "\\u needs four hexadecimal digits");
    }
    if (unit == 0) {
        return fail_scan(s, start, "\\u0000 is not allowed in a text");
    }
    s->at += 6;
    if (unit >= 0xdc00 && unit <= 0xdfff) {
        return fail_scan(s, start, "the second half of a surrogate pair without the first");
    }
    /* a high surrogate needs the low one behind it */
    if (unit >= 0xd800 && unit <= 0xdbff) {
        int low =
            s->at + 1 < s->length && s->text[s->at] == '\\' && s->text[s->at + 1] == 'u' ? read_hex4(s, s->at + 2) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return fail_scan(s, start, "the first half of a surrogate pair without the second");
        }
        s->at += 6;
    }
    return true;
}

static bool scan_text(scanner *s) {
    size_t start = s->at++;
    /* end of the text, and characters that must be escaped */
    for (;;) {
        int c = peek_char(s);
        if (c < 0) {
            return fail_scan(s, start, "a text that opens here is never closed");
        }
        if (c == '"') {
            s->at++;
            return true;
        }
        if (c < 0x20) {
            return fail_scan(s, s->at,
                             c == '\n' || c == '\r' ? "a text ends at the end of its line: '\"' is missing"
                                                    : "a control character in a text: write \\t, \\u001b, ...");
        }
        if (c != '\\') {
            s->at++;
            continue;
        }
        /* escapes */
        int next = s->at + 1 < s->length ? (unsigned char)s->text[s->at + 1] : -1;
        if (next == 'u') {
            if (!scan_unicode_escape(s)) {
                return false;
            }
        } else if (next > 0 && strchr("\"\\/bfnrt", next)) {
            s->at += 2;
        } else {
            return fail_scan(s, s->at,
                             "an unknown escape in a text: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX are known");
        }
    }
}

static int skip_digits(scanner *s) {
    int count = 0;
    for (int c = peek_char(s); c >= '0' && c <= '9'; c = peek_char(s)) {
        s->at++;
        count++;
    }
    return count;
}

static bool scan_number(scanner *s) {
    size_t start = s->at;
    /* integer part */
    s->at += peek_char(s) == '-';
    int first = peek_char(s);
    int digits = skip_digits(s);
    if (digits == 0) {
        return fail_scan(s, start, "digits must follow the sign of a number");
    }
    if (digits > 1 && first == '0') {
        return fail_scan(s, start, "a number does not begin with 0");
    }
    /* fraction */
    if (peek_char(s) == '.') {
        s->at++;
        if (!skip_digits(s)) {
            return fail_scan(s, start, "digits must follow the point of a number");
        }
    }
    /* exponent */
    if (peek_char(s) == 'e' || peek_char(s) == 'E') {
        s->at++;
        s->at += peek_char(s) == '-' || peek_char(s) == '+';
        if (!skip_digits(s)) {
            return fail_scan(s, start, "digits must follow the exponent sign of a number");
        }
    }
    if (s->at - start > DOCUMENT_MAX_DIGITS) {
        return fail_scan(s, start, "a number of more than 60 characters");
    }
    return true;
}

static bool scan_word(scanner *s) {
    /* literals */
    static const char *const word[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(word[i]);
        if (s->length - s->at >= length && memcmp(s->text + s->at, word[i], length) == 0) {
            s->at += length;
            return true;
        }
    }
    /* anything else: name the likely mistake */
    int c = peek_char(s);
    if (c == '/' || c == '#') {
        return fail_scan(s, s->at, "JSON has no comments: use the key \"comment\"");
    }
    if (c == '\'') {
        return fail_scan(s, s->at, "texts need double quotes");
    }
    if (c == ']' || c == '}') {
        return fail_scan(s, s->at, "a value is missing here (is the comma before it one too many?)");
    }
    if (c == 'N' || c == 'I' || c == 'n' || c == 'i' || c == '+' || c == '.') {
        return fail_scan(s, s->at, "not a JSON value: numbers are finite and begin with a digit or '-'");
    }
    return fail_scan(s, s->at, "expected a value: an object, an array, a text, a number, true, false or null");
}

static bool scan_value(scanner *s, size_t key);

static bool open_bracket(scanner *s) {
    if (s->depth == DOCUMENT_MAX_DEPTH) {
        snprintf(s->fault->message, sizeof s->fault->message, "nested more than %d deep", DOCUMENT_MAX_DEPTH);
        s->fault->at = s->at;
        return false;
    }
    s->opened[s->depth++] = s->at++;
    skip_space(s);
    return true;
}

/* After a member or element: true at a comma (taken); *done at the closing bracket (taken). */
static bool next_or_close(scanner *s, char close, bool *done) {
    skip_space(s);
    int c = peek_char(s);
    if (c < 0) {
        return ends_too_early(s);
    }
    if (c != ',' && c != close) {
        return fail_scan(s, s->at,
                         close == '}' ? "expected ',' or '}' after a member" : "expected ',' or ']' after an element");
    }
    s->at++;
    *done = c == close;
    s->depth -= *done;
    skip_space(s);
    return true;
}

static bool scan_array(scanner *s) {
    if (!open_bracket(s)) {
        return false;
    }
    if (peek_char(s) == ']') {
        s->at++;
        s->depth--;
        return true;
    }
    int level = s->depth - 1;
    s->element[level] = 0;
    for (bool done = false; !done; s->element[level]++) {
        if (!scan_value(s, 0) || !next_or_close(s, ']', &done)) {
            return false;
        }
    }
    return true;
}

static bool scan_member(scanner *s) {
    size_t key = s->at;
    /* key */
    int c = peek_char(s);
    if (c < 0) {
        return ends_too_early(s);
    }
    if (c != '"') {
        return fail_scan(s, s->at,
                         c == '}' ? "a member is missing here (is the comma before it one too many?)"
                                  : "expected a key in double quotes");
    }
    if (!scan_text(s)) {
        return false;
    }
    /* colon and value */
    skip_space(s);
    if (peek_char(s) != ':') {
        return peek_char(s) < 0 ? ends_too_early(s) : fail_scan(s, s->at, "expected ':' after a key");
    }
    s->at++;
    skip_space(s);
    s->key[s->depth - 1] = key;
    return scan_value(s, key);
}

static bool scan_object(scanner *s) {
    if (!open_bracket(s)) {
        return false;
    }
    if (peek_char(s) == '}') {
        s->at++;
        s->depth--;
        return true;
    }
    for (bool done = false; !done;) {
        if (!scan_member(s) || !next_or_close(s, '}', &done)) {
            return false;
        }
    }
    return true;
}

/* JSON pointer of the value that is scanned, cut short where it would not fit; keys as they are written. */
static void point_to_value(scanner *s) {
    char *to = s->fault->pointer;
    size_t size = sizeof s->fault->pointer, length = 0;
    for (int k = 0; k < s->depth && length + 16 < size; k++) {
        to[length++] = '/';
        if (s->text[s->opened[k]] == '[') {
            length += (size_t)snprintf(to + length, size - length, "%d", s->element[k]);
            continue;
        }
        for (size_t at = s->key[k] + 1; s->text[at] != '"' && length + 16 < size; at++) {
            if (s->text[at] == '~' || s->text[at] == '/') {
                to[length++] = '~';
                to[length++] = s->text[at] == '~' ? '0' : '1';
            } else {
                at += s->text[at] == '\\';
                to[length++] = s->text[at];
            }
        }
    }
    to[length] = 0;
}

static bool scan_value(scanner *s, size_t key) {
    /* place */
    int c = peek_char(s);
    if (c < 0) {
        return ends_too_early(s);
    }
    if (!note_position(s, key, s->at)) {
        return false;
    }
    /* by its first letter */
    if (c == '{') {
        return scan_object(s);
    }
    if (c == '[') {
        return scan_array(s);
    }
    if (c == '"') {
        return scan_text(s);
    }
    bool good = c == '-' || (c >= '0' && c <= '9') ? scan_number(s) : scan_word(s);
    if (!good) {
        point_to_value(s);
    }
    return good;
}

static bool check_encoding(scanner *s) {
    const unsigned char *text = (const unsigned char *)s->text;
    if (s->length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        return fail_scan(s, 0, "the file begins with a byte-order mark: save it as plain UTF-8");
    }
    if (s->length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        return fail_scan(s, 0, "the file is UTF-16: save it as UTF-8");
    }
    for (size_t at = 0; at < s->length;) {
        int length = utf8_length(text + at, s->length - at);
        if (length == 0 || text[at] == 0) {
            snprintf(s->fault->message, sizeof s->fault->message,
                     length ? "a zero byte in the text" : "not UTF-8: byte 0x%02x", text[at]);
            s->fault->at = at;
            return false;
        }
        at += (size_t)length;
    }
    return true;
}

int json_scan(const char *text, size_t length, value_position **positions, scan_fault *fault) {
    *fault = (scan_fault){0};
    scanner s = {.text = text, .length = length, .fault = fault};
    bool good = check_encoding(&s);
    if (good) {
        skip_space(&s);
        good = scan_value(&s, 0);
        skip_space(&s);
        if (good && s.at < s.length) {
            good = fail_scan(&s, s.at, "unexpected text after the end of the JSON value");
        }
    }
    if (!good) {
        free(s.position);
        return s.no_memory ? -2 : -1;
    }
    *positions = s.position;
    return s.count;
}
