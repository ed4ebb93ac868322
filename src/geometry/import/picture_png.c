/* PNG decoder (ISO/IEC 15948).
 *
 *     file    signature, then chunks (length, kind, data, CRC-32): IHDR, PLTE where colours are listed, IDAT..., IEND
 *     row     rule, then differences from a prediction by the neighbours a (left), b (above), c (above left):
 *             0, a, b, floor((a + b) / 2), or the one of a, b, c nearest to a + b - c
 *     pass    all pixels, or the first, second, ... seventh set of Adam7: (x0 + i dx, y0 + k dy)
 *
 * All colour types, depths and both orders of rows.  Samples of 1 to 8 bits become 16 by the factor 65535 / (2^bits - 1),
 * which is whole.  Opacity, gamma and colour spaces are left out.
 *
 * Reference: ISO/IEC 15948:2004, sections 5 (chunks), 7 to 9 (passes, rows), 12 (order of the decoder).
 * Memory: two rows, and the samples where they are kept.  Cost: linear in the file and its pixels. */
#include "geometry/import/picture.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef enum color_type { GREY = 0, COLOR = 2, LISTED = 3, GREY_ALPHA = 4, COLOR_ALPHA = 6 } color_type;

typedef struct chunk {
    char kind[5];
    const unsigned char *data;
    size_t size;
} chunk;

typedef struct decoder {
    const char *name;
    const unsigned char *at, *end;
    sim_error *error;
    /* header */
    uint32_t width, height;
    int depth, type, channels;
    bool interlaced;
    unsigned char palette[256][3];
    int ncolor;
    /* compressed rows */
    z_stream stream;
    chunk part; /* the IDAT whose bytes the stream has */
    picture *out;
    double sum[3];
} decoder;

static sim_status report_wrong(const decoder *d, const char *what) {
    return sim_fail(d->error, SIM_BAD_INPUT, "%.200s: %s", d->name, what);
}

static uint32_t number_at(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- chunks ---- */

static sim_status next_chunk(decoder *d, chunk *c) {
    /* length, kind, data, sum */
    enum { FRAME_BYTES = 12 };
    size_t left = (size_t)(d->end - d->at);
    if (left < FRAME_BYTES || number_at(d->at) > left - FRAME_BYTES) {
        return report_wrong(d, "the PNG file is cut off");
    }
    c->size = number_at(d->at);
    memcpy(c->kind, d->at + 4, 4);
    c->kind[4] = 0;
    c->data = d->at + 8;
    /* the sum is over kind and data */
    uLong sum = crc32_z(0, d->at + 4, c->size + 4);
    if (sum != number_at(c->data + c->size)) {
        return report_wrong(d, "a check sum of the PNG file is wrong");
    }
    d->at = c->data + c->size + 4;
    return SIM_OK;
}

static bool has_depth(int type, int depth) {
    bool few = depth == 1 || depth == 2 || depth == 4;
    return depth == 8 || (depth == 16 && type != LISTED) || (few && (type == GREY || type == LISTED));
}

static sim_status read_head(decoder *d) {
    /* the first chunk */
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const int channels[7] = {1, 0, 3, 1, 2, 0, 4};
    chunk c;
    if (d->end - d->at < 8 || memcmp(d->at, signature, 8) != 0) {
        return report_wrong(d, "not a PNG file");
    }
    d->at += 8;
    sim_status status = next_chunk(d, &c);
    if (status) {
        return status;
    }
    if (strcmp(c.kind, "IHDR") != 0 || c.size != 13) {
        return report_wrong(d, "the PNG file does not begin with its header");
    }
    /* its numbers */
    const unsigned char *p = c.data;
    d->width = number_at(p);
    d->height = number_at(p + 4);
    d->depth = p[8];
    d->type = p[9];
    d->channels = p[9] < 7 ? channels[p[9]] : 0;
    d->interlaced = p[12] == 1;
    if (!d->channels || !has_depth(d->type, d->depth) || p[10] != 0 || p[11] != 0 || p[12] > 1) {
        return report_wrong(d, "the header of the PNG file has a colour type, depth or method that there is not");
    }
    if (d->width < 1 || d->height < 1 || d->width > PICTURE_MAX_EDGE || d->height > PICTURE_MAX_EDGE ||
        (uint64_t)d->width * d->height > PICTURE_MAX_PIXELS) {
        return sim_fail(d->error, SIM_BAD_INPUT,
                        "%.200s: a picture of %u x %u pixels; at most %d along an edge, %d in all", d->name, d->width,
                        d->height, PICTURE_MAX_EDGE, PICTURE_MAX_PIXELS);
    }
    return SIM_OK;
}

/* Up to the first compressed rows: the list of colours; others that need not be known are passed over. */
static sim_status read_list(decoder *d) {
    for (;;) {
        sim_status status = next_chunk(d, &d->part);
        const chunk *c = &d->part;
        if (status || strcmp(c->kind, "IDAT") == 0) {
            return status;
        }
        if (strcmp(c->kind, "PLTE") == 0) {
            if (c->size % 3 || c->size > sizeof d->palette || d->ncolor) {
                return report_wrong(d, "the PNG file has no single list of at most 256 colours");
            }
            memcpy(d->palette, c->data, c->size);
            d->ncolor = (int)(c->size / 3);
        } else if (!(c->kind[0] & 0x20)) { /* a capital letter: needed */
            return report_wrong(d, "the PNG file has no rows, or chunks that there are not");
        }
    }
}

/* ---- rows ---- */

static sim_status inflate_bytes(decoder *d, unsigned char *to, size_t count) {
    d->stream.next_out = to;
    d->stream.avail_out = (uInt)count;
    while (d->stream.avail_out) {
        /* bytes of the next chunk */
        if (!d->stream.avail_in) {
            sim_status status = d->part.data ? SIM_OK : next_chunk(d, &d->part);
            if (status) {
                return status;
            }
            if (strcmp(d->part.kind, "IDAT") != 0) {
                return report_wrong(d, "the rows of the PNG file end early");
            }
            d->stream.next_in = (z_const Bytef *)d->part.data;
            d->stream.avail_in = (uInt)d->part.size;
            d->part.data = NULL;
            continue;
        }
        /* as many as it gives */
        int result = inflate(&d->stream, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR) {
            return sim_fail(d->error, SIM_NO_RESOURCE, "%.200s: no memory to inflate its rows", d->name);
        }
        if (result == Z_STREAM_END ? d->stream.avail_out > 0 : result != Z_OK) {
            return report_wrong(d, "the rows of the PNG file cannot be inflated");
        }
    }
    return SIM_OK;
}

static unsigned char nearest_neighbour(int a, int b, int c) {
    int by_a = abs(b - c), by_b = abs(a - c), by_c = abs(a + b - 2 * c);
    return (unsigned char)(by_a <= by_b && by_a <= by_c ? a : by_b <= by_c ? b : c);
}

/* Differences become bytes, in place. */
static sim_status undo_rule(const decoder *d, int rule, unsigned char *row, const unsigned char *above, size_t bytes) {
    size_t apart = ((size_t)d->channels * (size_t)d->depth + 7) / 8;
    if (rule > 4) {
        return report_wrong(d, "a row of the PNG file has a rule that there is not");
    }
    for (size_t k = 0; k < bytes; k++) {
        int a = k < apart ? 0 : row[k - apart], b = above[k], c = k < apart ? 0 : above[k - apart];
        int guess = rule == 0   ? 0
                    : rule == 1 ? a
                    : rule == 2 ? b
                    : rule == 3 ? (a + b) / 2
                                : nearest_neighbour(a, b, c);
        row[k] = (unsigned char)(row[k] + guess);
    }
    return SIM_OK;
}

/* The k-th number of a row, as it stands. */
static unsigned sample_of(const decoder *d, const unsigned char *row, size_t k) {
    if (d->depth == 16) {
        return (unsigned)row[2 * k] << 8 | row[2 * k + 1];
    }
    size_t bit = k * (size_t)d->depth;
    return row[bit / 8] >> (8 - d->depth - (int)(bit % 8)) & ((1u << d->depth) - 1);
}

static sim_status put_pixel(decoder *d, const unsigned char *row, uint32_t column, uint32_t x, uint32_t y) {
    /* red, green and blue */
    unsigned rgb[3], full = (1u << d->depth) - 1;
    size_t first = (size_t)column * (size_t)d->channels;
    for (size_t k = 0; k < 3; k++) {
        rgb[k] = sample_of(d, row, first + (d->channels >= 3 ? k : 0));
    }
    if (d->type == LISTED) {
        unsigned index = rgb[0];
        if (index >= (unsigned)d->ncolor) {
            return report_wrong(d, "a pixel of the PNG file has a colour that is not in its list");
        }
        full = 255;
        for (int k = 0; k < 3; k++) {
            rgb[k] = d->palette[index][k];
        }
    }
    /* to 16 bits */
    for (int k = 0; k < 3; k++) {
        unsigned value = rgb[k] * (65535 / full);
        d->sum[k] += value;
        if (d->out->sample) {
            d->out->sample[3 * ((size_t)y * d->width + x) + (size_t)k] = (uint16_t)value;
        }
    }
    return SIM_OK;
}

/* Pixels (x0 + i dx, y0 + k dy); `line` has room for two rows. */
static sim_status read_pass(decoder *d, const uint32_t step[4], unsigned char *line, size_t room) {
    uint32_t x0 = step[0], y0 = step[1], dx = step[2], dy = step[3];
    if (x0 >= d->width || y0 >= d->height) {
        return SIM_OK;
    }
    uint32_t count = (d->width - x0 + dx - 1) / dx;
    size_t bytes = ((size_t)count * (size_t)d->channels * (size_t)d->depth + 7) / 8;
    unsigned char *row = line, *above = line + room;
    memset(above, 0, bytes + 1);
    for (uint32_t y = y0; y < d->height; y += dy) {
        sim_status status = inflate_bytes(d, row, bytes + 1);
        status = status ? status : undo_rule(d, row[0], row + 1, above + 1, bytes);
        for (uint32_t i = 0; i < count && !status; i++) {
            status = put_pixel(d, row + 1, i, x0 + i * dx, y);
        }
        if (status) {
            return status;
        }
        unsigned char *swap = row;
        row = above;
        above = swap;
    }
    return SIM_OK;
}

static sim_status read_rows(decoder *d) {
    static const uint32_t whole[4] = {0, 0, 1, 1};
    static const uint32_t adam7[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                         {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    size_t room = ((size_t)d->width * (size_t)d->channels * (size_t)d->depth + 7) / 8 + 1;
    unsigned char *line = malloc(2 * room);
    if (!line) {
        return sim_fail(d->error, SIM_NO_RESOURCE, "%.200s: no memory for its rows", d->name);
    }
    sim_status status = d->interlaced ? SIM_OK : read_pass(d, whole, line, room);
    for (int k = 0; k < 7 && d->interlaced && !status; k++) {
        status = read_pass(d, adam7[k], line, room);
    }
    free(line);
    return status;
}

static sim_status decode(decoder *d, int64_t most_kept) {
    sim_status status = read_head(d);
    status = status ? status : read_list(d);
    if (status) {
        return status;
    }
    if (d->type == LISTED && !d->ncolor) {
        return report_wrong(d, "the PNG file has no list of its colours");
    }
    /* rows */
    int64_t pixels = (int64_t)d->width * d->height;
    *d->out = (picture){.width = (int)d->width, .height = (int)d->height};
    if (pixels <= most_kept && !(d->out->sample = calloc((size_t)pixels, 3 * sizeof(uint16_t)))) {
        return sim_fail(d->error, SIM_NO_RESOURCE, "%.200s: no memory for its pixels", d->name);
    }
    if (inflateInit(&d->stream) != Z_OK) {
        return sim_fail(d->error, SIM_NO_RESOURCE, "%.200s: no memory to inflate its rows", d->name);
    }
    status = read_rows(d);
    inflateEnd(&d->stream);
    for (int k = 0; k < 3; k++) {
        d->out->mean[k] = d->sum[k] / (65535.0 * (double)pixels);
    }
    return status;
}

sim_status picture_read_png(const char *name, const char *content, size_t size, int64_t most_kept, picture *out,
                            sim_error *error) {
    const unsigned char *start = (const unsigned char *)content;
    decoder d = {.name = name, .at = start, .end = start + size, .error = error, .out = out};
    *out = (picture){0};
    sim_status status = decode(&d, most_kept);
    if (status) {
        free(out->sample);
        *out = (picture){0};
    }
    return status;
}
