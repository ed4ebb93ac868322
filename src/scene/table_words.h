/* The words in which tables are written: tables.c, tables_shape.c. */
#ifndef SCENE_TABLE_WORDS_H
#define SCENE_TABLE_WORDS_H

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define AT(type, member) .offset = offsetof(type, member)
#define POSITIVE .range = {.has_low = true, .above_low = true}
#define NOT_NEGATIVE .range = {.has_low = true}
#define WITHIN(from, to) .range = {.has_low = true, .has_high = true, .low = (from), .high = (to)}
#define BIT(value) (1u << (value))

#endif
