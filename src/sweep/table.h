/* The file of a sweep read back: columns by name. */
#ifndef SWEEP_TABLE_H
#define SWEEP_TABLE_H

#include "base/pool.h"

#include <sim/base.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum sweep_group { SWEEP_OTHER, SWEEP_INPUT, SWEEP_SIGNAL } sweep_group;

typedef struct sweep_column {
    const char *name;
    sweep_group group;
    double *number;    /* [rows]; NULL: texts */
    const char **word; /* [rows]; NULL: numbers */
} sweep_column;

typedef struct sweep_table {
    memory_pool *pool;
    const char *title;
    int64_t rows;
    int columns;
    sweep_column *column;
} sweep_table;

/* Is the file that of a sweep, by its first bytes? */
bool sweep_table_is(const char *path);
/* NULL on failure. */
sweep_table *sweep_table_read(const char *path, sim_error *error);
void sweep_table_free(sweep_table *t);
/* -1: none. */
int sweep_table_find(const sweep_table *t, const char *name);

#endif
