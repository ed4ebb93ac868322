/* Pictures from PNG files, against files written here by the standard. */
#include "geometry/import/picture.h"

#include "support/models.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { ROOM = 1 << 16, GREY = 0, COLOR = 2, LISTED = 3, GREY_ALPHA = 4, COLOR_ALPHA = 6 };

typedef struct sample_picture {
    int width, height, type, depth, rule; /* rule: of rows; 5: each in turn */
    bool interlaced;
    uint16_t value[40][40][4];
} sample_picture;

static int channels_of(int type) { return type == COLOR ? 3 : type == COLOR_ALPHA ? 4 : type == GREY_ALPHA ? 2 : 1; }

static size_t put_chunk(unsigned char *to, const char *kind, const unsigned char *data, size_t size) {
    for (int k = 0; k < 4; k++) {
        to[k] = (unsigned char)(size >> (24 - 8 * k));
    }
    memcpy(to + 4, kind, 4);
    if (size > 0) {
        memcpy(to + 8, data, size);
    }
    uLong sum = crc32(0, to + 4, (uInt)size + 4);
    for (int k = 0; k < 4; k++) {
        to[8 + size + (size_t)k] = (unsigned char)(sum >> (24 - 8 * k));
    }
    return size + 12;
}

/* Pixels (x0 + i dx, y) of a row as bytes, the last ones filled with zeros. */
static size_t pack_row(const sample_picture *s, int x0, int dx, int y, unsigned char *row) {
    size_t bit = 0;
    memset(row, 0, 40 * 8);
    for (int x = x0; x < s->width; x += dx) {
        for (int c = 0; c < channels_of(s->type); c++) {
            for (int k = s->depth - 1; k >= 0; k--, bit++) {
                row[bit / 8] = (unsigned char)(row[bit / 8] | (s->value[y][x][c] >> k & 1) << (7 - bit % 8));
            }
        }
    }
    return (bit + 7) / 8;
}

static int predict(int rule, int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    const int guess[5] = {0, a, b, (a + b) >> 1, pa <= pb && pa <= pc ? a : pb <= pc ? b : c};
    return guess[rule];
}

static size_t put_pass(const sample_picture *s, int x0, int y0, int dx, int dy, unsigned char *to) {
    size_t length = 0, step = (size_t)(channels_of(s->type) * s->depth + 7) / 8;
    unsigned char row[320], above[320] = {0};
    for (int y = y0, count = 0; y < s->height && x0 < s->width; y += dy, count++) {
        size_t bytes = pack_row(s, x0, dx, y, row);
        int rule = s->rule == 5 ? count % 5 : s->rule;
        to[length++] = (unsigned char)rule;
        for (size_t k = 0; k < bytes; k++) {
            int guess = predict(rule, k < step ? 0 : row[k - step], above[k], k < step ? 0 : above[k - step]);
            to[length++] = (unsigned char)(row[k] - guess);
        }
        memcpy(above, row, sizeof row);
    }
    return length;
}

/* The file; its compressed rows in pieces of 100 bytes. */
static size_t write_png(const sample_picture *s, unsigned char *to) {
    static unsigned char rows[ROOM], packed[ROOM];
    unsigned char head[13] = {0,
                              0,
                              0,
                              (unsigned char)s->width,
                              0,
                              0,
                              0,
                              (unsigned char)s->height,
                              (unsigned char)s->depth,
                              (unsigned char)s->type,
                              0,
                              0,
                              s->interlaced};
    unsigned char list[768];
    for (int k = 0; k < 768; k++) {
        list[k] = (unsigned char)(37 * k);
    }
    /* rows */
    size_t length = s->interlaced ? 0 : put_pass(s, 0, 0, 1, 1, rows);
    for (int pass = 1; pass <= 7 && s->interlaced; pass++) {
        static const int x0[8] = {0, 0, 4, 0, 2, 0, 1, 0}, y0[8] = {0, 0, 0, 4, 0, 2, 0, 1},
                         dx[8] = {0, 8, 8, 4, 4, 2, 2, 1}, dy[8] = {0, 8, 8, 8, 4, 4, 2, 2};
        length += put_pass(s, x0[pass], y0[pass], dx[pass], dy[pass], rows + length);
    }
    uLongf size = ROOM;
    cr_assert_eq(compress(packed, &size, rows, (uLong)length), Z_OK);
    /* chunks */
    memcpy(to, "\x89PNG\r\n\x1a\n", 8);
    size_t at = 8;
    at += put_chunk(to + at, "IHDR", head, sizeof head);
    at += put_chunk(to + at, "tEXt", (const unsigned char *)"a", 1);
    if (s->type == LISTED) {
        at += put_chunk(to + at, "PLTE", list, 3 * ((size_t)1 << s->depth));
    }
    for (size_t k = 0; k < size; k += 100) {
        at += put_chunk(to + at, "IDAT", packed + k, size - k < 100 ? size - k : 100);
    }
    return at + put_chunk(to + at, "IEND", NULL, 0);
}

/* A colour of the k-th channel, of 65535. */
static double expected(const sample_picture *s, int x, int y, int k) {
    const uint16_t *value = s->value[y][x];
    int most = (1 << s->depth) - 1;
    if (s->type == LISTED) {
        return (unsigned char)(37 * (3 * value[0] + k)) * 65535.0 / 255;
    }
    return value[s->type == COLOR || s->type == COLOR_ALPHA ? k : 0] * 65535.0 / most;
}

static void check(const sample_picture *s, const picture *p) {
    double sum[3] = {0};
    cr_assert(p->width == s->width && p->height == s->height);
    for (int y = 0; y < s->height; y++) {
        for (int x = 0; x < s->width; x++) {
            for (int k = 0; k < 3; k++) {
                double want = expected(s, x, y, k);
                cr_assert(p->sample[3 * (y * s->width + x) + k] == want, "type %d, depth %d, pixel %d %d", s->type,
                          s->depth, x, y);
                sum[k] += want;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        double mean = sum[k] / 65535 / (s->width * s->height);
        cr_assert(p->mean[k] > mean - 1e-14 && p->mean[k] < mean + 1e-14);
    }
}

static void fill(sample_picture *s, random_source *r) {
    for (int y = 0; y < s->height; y++) {
        for (int x = 0; x < s->width; x++) {
            for (int c = 0; c < 4; c++) {
                s->value[y][x][c] = (uint16_t)random_index(r, 1 << s->depth);
            }
        }
    }
}

Test(picture, reads_every_kind_of_png) {
    static const int kinds[15][2] = {{GREY, 1},        {GREY, 2},        {GREY, 4},        {GREY, 8},
                                     {GREY, 16},       {COLOR, 8},       {COLOR, 16},      {LISTED, 1},
                                     {LISTED, 2},      {LISTED, 4},      {LISTED, 8},      {GREY_ALPHA, 8},
                                     {GREY_ALPHA, 16}, {COLOR_ALPHA, 8}, {COLOR_ALPHA, 16}};
    static unsigned char file[ROOM];
    random_source r = {1};
    for (int trial = 0; trial < 15 * 24; trial++) {
        sample_picture s = {.type = kinds[trial % 15][0], .depth = kinds[trial % 15][1], .rule = trial / 15 % 6};
        s.interlaced = trial / 90 % 2;
        s.width = 1 + random_index(&r, 40);
        s.height = 1 + random_index(&r, 40);
        fill(&s, &r);
        size_t size = write_png(&s, file);
        picture p;
        sim_error error = {0};
        cr_assert_eq(picture_read_png("a.png", (char *)file, size, 1600, &p, &error), SIM_OK, "%s", error.text);
        check(&s, &p);
        free(p.sample);
        /* samples are kept only where there is room for them */
        cr_assert_eq(picture_read_png("a.png", (char *)file, size, s.width * s.height - 1, &p, &error), SIM_OK);
        cr_assert(!p.sample);
    }
}

Test(picture, refuses_files_that_are_cut_off_or_changed) {
    static unsigned char file[ROOM];
    random_source r = {2};
    sample_picture s = {.width = 9, .height = 7, .type = COLOR, .depth = 8, .rule = 5};
    fill(&s, &r);
    size_t size = write_png(&s, file);
    size_t end = size - 12; /* what follows the rows is not asked for */
    for (size_t k = 0; k < end; k++) {
        picture p;
        sim_error error = {0};
        char *part = malloc(k + 1); /* so that a step too far shows */
        memcpy(part, file, k);
        cr_assert_eq(picture_read_png("a.png", part, k, 1600, &p, &error), SIM_BAD_INPUT, "%zu bytes", k);
        cr_assert(error.text[0] && !p.sample);
        free(part);
        /* one bit that is another */
        file[k] ^= 4;
        cr_assert_eq(picture_read_png("a.png", (char *)file, size, 1600, &p, &error), SIM_BAD_INPUT, "byte %zu", k);
        file[k] ^= 4;
    }
}
