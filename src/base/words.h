/* Small questions about texts. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline char to_lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

/* "run.h5" ends in ".h5"; ".h5" alone does not. */
static inline bool ends_in(const char *word, const char *ending) {
    size_t length = strlen(word), size = strlen(ending);
    return length > size && strcmp(word + length - size, ending) == 0;
}

/* The same for a small `ending`, whatever the case of the text. */
static inline bool ends_in_any_case(const char *word, const char *ending) {
    size_t length = strlen(word), size = strlen(ending);
    for (size_t k = 0; length > size && k < size; k++) {
        if (to_lower(word[length - size + k]) != ending[k]) {
            return false;
        }
    }
    return length > size;
}

/* NULL equals NULL alone. */
static inline bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

#endif
