/* Names: which is nearest to a misspelt one, which fit a pattern, which body has it. */
#ifndef SCENE_NAMES_H
#define SCENE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The best match so far of a search for what a user may have meant. */
typedef struct nearest {
    const char *wanted;
    const char *best; /* NULL: nothing is near enough */
    int distance;
    int tried;
} nearest;

void sim_nearest_try(nearest *n, const char *name);
/* `did you mean "..."?` or NULL when nothing is near. */
const char *sim_nearest_hint(const nearest *n, char *text, size_t size);

/* Does `name` fit `pattern`, in which each '*' stands for any letters, also none?  Adds its work to `*steps`. */
bool sim_name_fits(const char *name, const char *pattern, int64_t *steps);

/* From names to numbers.  Names are not copied. */
typedef struct name_table {
    const char **name;
    int *value;
    size_t room, count; /* room: a power of two */
} name_table;

/* Index of a name, or -1. */
int sim_names_find(const name_table *t, const char *name);
/* False without memory.  The name must not be there yet. */
bool sim_names_add(name_table *t, const char *name, int value);
void sim_names_free(name_table *t);

#endif
