/* PNG encoder (ISO/IEC 15948).  A signature, then chunks: header, compressed rows, end.  Each row is written as its
 * difference from a prediction by its neighbours; of five rules the one with the smallest numbers is used. */
#include "view/image/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PIXEL_BYTES = 3, FILTER_RULES = 5 };

unsigned char *png_put_32(unsigned char *to, uint32_t value) {
    for (int k = 0; k < 4; k++) {
        to[k] = (unsigned char)(value >> (24 - 8 * k));
    }
    return to + 4;
}

void png_put_chunk(view_bytes *out, const char kind[5], const void *data, size_t size) {
    unsigned char number[4];
    uLong sum = crc32(0, (const unsigned char *)kind, 4);
    png_put_32(number, (uint32_t)size);
    view_put_bytes(out, number, sizeof number);
    view_put_bytes(out, kind, 4);
    view_put_bytes(out, data, size);
    png_put_32(number, (uint32_t)(size ? crc32(sum, data, (uInt)size) : sum));
    view_put_bytes(out, number, sizeof number);
}

void png_put_head(view_bytes *out, int width, int height) {
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    unsigned char header[13] = {0};
    png_put_32(png_put_32(header, (uint32_t)width), (uint32_t)height);
    header[8] = 8; /* bits */
    header[9] = 2; /* red, green, blue */
    view_put_bytes(out, signature, sizeof signature);
    png_put_chunk(out, "IHDR", header, sizeof header);
}

/* Of the neighbours left a, above b, and left of that c, the one nearest to a + b - c (Paeth). */
static int paeth_neighbour(int a, int b, int c) {
    int by_a = abs(b - c), by_b = abs(a - c), by_c = abs(a + b - 2 * c);
    return by_a <= by_b && by_a <= by_c ? a : by_b <= by_c ? b : c;
}

static int predict_byte(int rule, int a, int b, int c) {
    return rule == 0 ? 0 : rule == 1 ? a : rule == 2 ? b : rule == 3 ? (a + b) / 2 : paeth_neighbour(a, b, c);
}

/* Returns how large the differences are, in all. */
static long filter_row(const unsigned char *row, const unsigned char *above, int bytes, int rule, unsigned char *out) {
    long sum = 0;
    out[0] = (unsigned char)rule;
    for (int k = 0; k < bytes; k++) {
        int a = k < PIXEL_BYTES ? 0 : row[k - PIXEL_BYTES], b = above ? above[k] : 0,
            c = k < PIXEL_BYTES || !above ? 0 : above[k - PIXEL_BYTES];
        unsigned char difference = (unsigned char)(row[k] - predict_byte(rule, a, b, c));
        out[k + 1] = difference;
        sum += difference < 128 ? difference : 256 - difference;
    }
    return sum;
}

/* `line` has room for a row. */
static void filter_rows(const unsigned char *rgb, size_t stride, int width, int height, unsigned char *rows,
                        unsigned char *line) {
    int bytes = PIXEL_BYTES * width;
    for (int y = 0; y < height; y++) {
        const unsigned char *row = rgb + (size_t)y * stride;
        long best = -1;
        for (int rule = 0; rule < FILTER_RULES; rule++) {
            long sum = filter_row(row, y ? row - stride : NULL, bytes, rule, line);
            if (best < 0 || sum < best) {
                best = sum;
                memcpy(rows + (size_t)y * (size_t)(bytes + 1), line, (size_t)bytes + 1);
            }
        }
    }
}

bool png_pack(const unsigned char *rgb, size_t stride, int width, int height, view_bytes *out) {
    size_t row = PIXEL_BYTES * (size_t)width + 1, raw = row * (size_t)height;
    uLong size = compressBound((uLong)raw);
    unsigned char *rows = malloc(raw), *line = malloc(row), *packed = malloc(size);
    bool good = rows && line && packed;
    if (good) {
        filter_rows(rgb, stride, width, height, rows, line);
        good = compress2(packed, &size, rows, (uLong)raw, 6) == Z_OK;
    }
    if (good) {
        view_put_bytes(out, packed, size);
    }
    free(rows);
    free(line);
    free(packed);
    return good && !out->starved;
}

sim_status png_encode(const unsigned char *rgb, int width, int height, unsigned char **bytes, size_t *size,
                      sim_error *error) {
    view_bytes packed = {0}, out = {0};
    int good = png_pack(rgb, PIXEL_BYTES * (size_t)width, width, height, &packed);
    png_put_head(&out, width, height);
    png_put_chunk(&out, "IDAT", packed.data, packed.size);
    png_put_chunk(&out, "IEND", NULL, 0);
    view_bytes_free(&packed);
    if (!good || out.starved) {
        view_bytes_free(&out);
        return sim_fail(error, SIM_NO_RESOURCE, "no memory for the picture");
    }
    *bytes = out.data;
    *size = out.size;
    return SIM_OK;
}
