/* Fill a struct from a JSON object as its table says. */
#ifndef SCENE_FORMAT_READ_H
#define SCENE_FORMAT_READ_H

#include "scene/format/tables/fields.h"
#include "scene/json/document.h"
#include "scene/json/report.h"

#include <sim/model.h>

typedef struct reader {
    report *report;
    memory_pool *pool;
    const sim_solver_registry *solvers; /* NULL: those of the library */
} reader;

/* Read `n` (NULL: nothing given) into `out`, defaults where keys are absent.  Everything wrong is reported; false if
 * anything was.  `out` starts with `const node *at`. */
bool read_object(const reader *r, const node *n, const table *t, void *out);
/* As read_object, and all that lies below, maps and arrays of objects included, without keeping anything. */
bool check_object(const reader *r, const node *n, const table *t);

/* The key that a value which is no object stands for; NULL: none. */
const char *table_shorthand(const table *t, const node *n);

enum { MAX_FORMULA_TERMS = 256 }; /* the most of one formula */
/* One formula from a text, or a number that stands for itself; false and reported, at its letter, when it is wrong. */
bool read_formula_terms(report *r, const node *n, sim_term term[MAX_FORMULA_TERMS], int *terms);

#endif
