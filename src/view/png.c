/* How does a picture stand in a PNG file (ISO/IEC 15948)?  A signature, then chunks: header, compressed rows, end.  Each row
 * is written as its difference from what its neighbours foretell, by whichever of five rules makes the numbers smallest. */
#include "view/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PIXEL = 3, RULES = 5, CHUNK_AROUND = 12 };

static unsigned char *put_32(unsigned char *to, unsigned long value) {
    for (int k = 0; k < 4; k++) {
        to[k] = (unsigned char)(value >> (24 - 8 * k));
    }
    return to + 4;
}

static unsigned char *put_chunk(unsigned char *to, const char kind[5], const unsigned char *data, size_t size) {
    unsigned char *start = put_32(to, (unsigned long)size);
    memcpy(start, kind, 4);
    if (size && data != start + 4) {
        memcpy(start + 4, data, size);
    }
    return put_32(start + 4 + size, crc32(0, start, (uInt)(size + 4)));
}

/* Of the neighbours left a, above b, and left of that c, the one nearest to a + b - c (Paeth). */
static int paeth(int a, int b, int c) {
    int by_a = abs(b - c), by_b = abs(a - c), by_c = abs(a + b - 2 * c);
    return by_a <= by_b && by_a <= by_c ? a : by_b <= by_c ? b : c;
}

static int foretold(int rule, int a, int b, int c) {
    return rule == 0 ? 0 : rule == 1 ? a : rule == 2 ? b : rule == 3 ? (a + b) / 2 : paeth(a, b, c);
}

/* Returns how large the differences are, in all. */
static long filter_row(const unsigned char *row, const unsigned char *above, int bytes, int rule, unsigned char *out) {
    long sum = 0;
    out[0] = (unsigned char)rule;
    for (int k = 0; k < bytes; k++) {
        int a = k < PIXEL ? 0 : row[k - PIXEL], b = above ? above[k] : 0,
            c = k < PIXEL || !above ? 0 : above[k - PIXEL];
        unsigned char difference = (unsigned char)(row[k] - foretold(rule, a, b, c));
        out[k + 1] = difference;
        sum += difference < 128 ? difference : 256 - difference;
    }
    return sum;
}

/* `line` has room for two rows. */
static void filter(const unsigned char *rgb, int width, int height, unsigned char *rows, unsigned char *line) {
    int bytes = PIXEL * width;
    for (int y = 0; y < height; y++) {
        const unsigned char *row = rgb + (size_t)y * (size_t)bytes;
        long best = -1;
        for (int rule = 0; rule < RULES; rule++) {
            long sum = filter_row(row, y ? row - bytes : NULL, bytes, rule, line);
            if (best < 0 || sum < best) {
                best = sum;
                memcpy(rows + (size_t)y * (size_t)(bytes + 1), line, (size_t)bytes + 1);
            }
        }
    }
}

sim_status png_encode(const unsigned char *rgb, int width, int height, unsigned char **bytes, size_t *size,
                      sim_error *error) {
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    size_t row = PIXEL * (size_t)width + 1, raw = row * (size_t)height;
    uLong packed = compressBound((uLong)raw);
    unsigned char *rows = malloc(raw), *line = malloc(row), header[13] = {0};
    unsigned char *out = malloc(sizeof signature + sizeof header + packed + 3 * CHUNK_AROUND);
    int good = rows && line && out;
    if (good) {
        filter(rgb, width, height, rows, line);
        memcpy(out, signature, sizeof signature);
        put_32(put_32(header, (unsigned long)width), (unsigned long)height);
        header[8] = 8; /* bits */
        header[9] = 2; /* red, green, blue */
        unsigned char *to = put_chunk(out + sizeof signature, "IHDR", header, sizeof header);
        good = compress2(to + 8, &packed, rows, (uLong)raw, 6) == Z_OK;
        to = put_chunk(to, "IDAT", to + 8, packed);
        to = put_chunk(to, "IEND", NULL, 0);
        *size = (size_t)(to - out);
    }
    free(rows);
    free(line);
    if (!good) {
        free(out);
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
    }
    *bytes = out;
    return SIM_OK;
}
