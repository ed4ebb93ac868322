/* Suggestions for misspelt words, by edit distance. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* The best match so far of a search for a misspelt word. */
typedef struct nearest nearest;
struct nearest {
    const char *wanted;
    const char *best; /* NULL: nothing is near enough */
    int distance;
    int tried;
};

void nearest_try(nearest *n, const char *name);
/* `did you mean "..."?` or NULL when nothing is near. */
const char *nearest_hint(const nearest *n, char *text, size_t size);
/* The word of `words` (ends with NULL) that is nearest to `text`, or NULL. */
const char *nearest_word(const char *text, const char *const *words);

#endif
