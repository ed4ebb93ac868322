/* JSON, written by hand: never NaN, never infinity, always valid UTF-8. */
#ifndef APP_OUTPUT_JSON_OUT_H
#define APP_OUTPUT_JSON_OUT_H

#include <sim/math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_out {
    FILE *file;
    int depth;
    int line;   /* > 0: so many brackets ago a value began that stays on its line */
    int filled; /* something stands before in this object or array */
} json_out;

/* `key` is NULL for the outermost value and inside arrays. */
void json_open(json_out *out, const char *key, char bracket);
/* The same, on one line with all that is in it. */
void json_open_line(json_out *out, const char *key, char bracket);
void json_close(json_out *out, char bracket);
void json_text(json_out *out, const char *key, const char *value); /* NULL: null */
/* A number that is not finite has no JSON form and becomes null. */
void json_real(json_out *out, const char *key, double value);
/* [x, y, z] */
void json_vector(json_out *out, const char *key, sim_v3 value);
void json_whole(json_out *out, const char *key, int64_t value);
void json_bool(json_out *out, const char *key, bool value);
void json_seed(json_out *out, const char *key, uint64_t value);

#endif
