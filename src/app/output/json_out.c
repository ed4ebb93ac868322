/* JSON values as text. */
#include "app/output/json_out.h"
#include "base/utf8.h"
#include "scene/json/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>

static void write_string(FILE *file, const char *words) {
    const unsigned char *p = (const unsigned char *)words;
    fputc('"', file);
    while (*p) {
        int length = utf8_length(p, SIZE_MAX);
        if (length == 0) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (*p == '"' || *p == '\\') {
            fprintf(file, "\\%c", *p);
        } else if (*p < 0x20) {
            fprintf(file, "\\u%04x", *p);
        } else {
            fwrite(p, 1, (size_t)length, file);
        }
        p += length;
    }
    fputc('"', file);
}

static void begin_value(json_out *out, const char *key) {
    if (out->line > 0) {
        fputs(out->filled ? ", " : "", out->file);
    } else if (out->depth > 0) {
        fprintf(out->file, "%s\n%*s", out->filled ? "," : "", 2 * out->depth, "");
    }
    if (key) {
        write_string(out->file, key);
        fputs(": ", out->file);
    }
    out->filled = 1;
}

void json_open(json_out *out, const char *key, char bracket) {
    begin_value(out, key);
    fputc(bracket, out->file);
    out->depth++;
    out->line += out->line > 0;
    out->filled = 0;
}

void json_open_line(json_out *out, const char *key, char bracket) {
    json_open(out, key, bracket);
    out->line += out->line == 0;
}

void json_close(json_out *out, char bracket) {
    out->depth--;
    if (out->line > 0) {
        out->line--;
    } else if (out->filled) {
        fprintf(out->file, "\n%*s", 2 * out->depth, "");
    }
    fputc(bracket, out->file);
    out->filled = 1;
}

void json_text(json_out *out, const char *key, const char *value) {
    begin_value(out, key);
    if (value) {
        write_string(out->file, value);
    } else {
        fputs("null", out->file);
    }
}

static void write_real(FILE *file, double value) {
    if (isfinite(value)) {
        fputs(number_digits(value).text, file);
    } else {
        fputs("null", file);
    }
}

void json_real(json_out *out, const char *key, double value) {
    begin_value(out, key);
    write_real(out->file, value);
}

void json_vector(json_out *out, const char *key, sim_v3 value) {
    begin_value(out, key);
    const double part[3] = {value.x, value.y, value.z};
    for (int k = 0; k < 3; k++) {
        fputs(k ? ", " : "[", out->file);
        write_real(out->file, part[k] + 0.0); /* no minus before a zero */
    }
    fputc(']', out->file);
}

void json_whole(json_out *out, const char *key, int64_t value) {
    begin_value(out, key);
    fprintf(out->file, "%" PRId64, value);
}

void json_seed(json_out *out, const char *key, uint64_t value) {
    begin_value(out, key);
    fprintf(out->file, "%" PRIu64, value);
}

void json_bool(json_out *out, const char *key, bool value) {
    begin_value(out, key);
    fputs(value ? "true" : "false", out->file);
}
