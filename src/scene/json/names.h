/* Names: matching of patterns, hash table from names to numbers. */
#ifndef SCENE_JSON_NAMES_H
#define SCENE_JSON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does `name` fit `pattern`, in which each '*' stands for any letters, also none?  Adds its work to `*steps`. */
bool name_matches(const char *name, const char *pattern, int64_t *steps);

/* From names to numbers.  Names are not copied. */
typedef struct name_table {
    const char **name;
    int *value;
    size_t room, count; /* room: a power of two */
} name_table;

/* Index of a name, or -1. */
int names_find(const name_table *t, const char *name);
/* False without memory.  The name must not be there yet. */
bool names_add(name_table *t, const char *name, int value);
void names_free(name_table *t);

#endif
