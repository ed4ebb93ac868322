/* Checks of the keys of a JSON object against its table: unknown, missing, rival and misplaced ones. */
#ifndef SCENE_FORMAT_KEYS_H
#define SCENE_FORMAT_KEYS_H

#include "scene/format/tables/fields.h"
#include "scene/json/document.h"
#include "scene/json/report.h"

#include <stdint.h>

/* The field with this key, or NULL. */
const field *table_field(const table *t, const char *key);

/* Reports the unknown key of `n` with a suggestion.  Returns the set of suggested keys, bit i for `t->fields[i]`. */
/* Does the hint for the unknown `key` name the key `meant`? */
bool is_meant(const table *t, const char *key, const char *meant);
uint64_t report_unknown_key(report *r, const node *n, const table *t);

/* Are all keys there that `t` requires of an object whose type is `type` (-1: none)?  A missing one in the set
 * `suggested` is not reported again.  `alone`: the key that a value which is no object stands for, or NULL. */
bool check_missing(report *r, const node *n, const table *t, int type, const field *alone, uint64_t suggested);

/* Is at most one of each group of rival keys given, and one where `t` needs one?  `suggested`: as above. */
bool check_rivals(report *r, const node *n, const table *t, uint64_t suggested);

/* Does the key belong to objects of this type?  Otherwise it is reported. */
bool check_key_of_type(report *r, const node *n, const table *t, const field *f, int type);

#endif
