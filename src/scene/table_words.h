/* The words in which tables are written: tables.c and its like. */
#ifndef SCENE_TABLE_WORDS_H
#define SCENE_TABLE_WORDS_H

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define AT(type, member) .offset = offsetof(type, member)
#define POSITIVE .range = {.has_low = true, .above_low = true}
#define NOT_NEGATIVE .range = {.has_low = true}
#define WITHIN(from, to) .range = {.has_low = true, .has_high = true, .low = (from), .high = (to)}
/* Of what has a size: squares of squares of it, and of its inverse, are finite. */
#define LENGTH .unit = "m", WITHIN(1e-12, 1e9)
/* Lengths that may be nothing; coordinates of what has a size; coordinates of where it stands. */
#define LENGTH_OR_ZERO .unit = "m", WITHIN(0, 1e9)
#define COORDINATE .unit = "m", WITHIN(-1e9, 1e9)
#define POSITION .unit = "m", WITHIN(-1e15, 1e15)
#define BIT(value) (1u << (value))

#endif
