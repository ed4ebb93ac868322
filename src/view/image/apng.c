/* Animated PNG: a PNG whose first picture any reader shows, and further ones in chunks of their own (PNG 3rd edition,
 * 2025, section 11.3.3: acTL, fcTL, fdAT).  After the first, a picture is the rectangle in which it differs from the
 * one before.
 * Cost: for each picture one comparison and one deflation of its rectangle. */
#include "view/image/moving.h"
#include "view/image/png.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct apng {
    moving_format format;
    uint32_t sequence;
    int count;
    unsigned char *before;
    view_bytes chunks;
};

moving_part moving_changed(const unsigned char *now, const unsigned char *before, const moving_format *f, int bytes) {
    /* rows, then columns, that differ */
    size_t row = (size_t)f->width * (size_t)bytes;
    int left = f->width, right = -1, top = f->height, bottom = -1;
    for (int y = 0; y < f->height; y++) {
        const unsigned char *a = now + (size_t)y * row, *b = before + (size_t)y * row;
        if (memcmp(a, b, row) == 0) {
            continue;
        }
        size_t first = 0, last = row - 1;
        while (a[first] == b[first]) {
            first++;
        }
        while (a[last] == b[last]) {
            last--;
        }
        int low = (int)(first / (size_t)bytes), high = (int)(last / (size_t)bytes);
        left = low < left ? low : left;
        right = high > right ? high : right;
        top = y < top ? y : top;
        bottom = y;
    }
    /* one pixel at least */
    return right < 0 ? (moving_part){0, 0, 1, 1} : (moving_part){left, top, right - left + 1, bottom - top + 1};
}

apng *apng_create(const moving_format *format) {
    apng *a = calloc(1, sizeof *a);
    unsigned char *before = malloc(3 * (size_t)format->width * (size_t)format->height);
    if (!a || !before) {
        free(a);
        free(before);
        return NULL;
    }
    a->format = *format;
    a->before = before;
    return a;
}

void apng_free(apng *a) {
    if (a) {
        view_bytes_free(&a->chunks);
        free(a->before);
        free(a);
    }
}

static unsigned char *put_16(unsigned char *to, unsigned value) {
    to[0] = (unsigned char)(value >> 8);
    to[1] = (unsigned char)value;
    return to + 2;
}

/* Seconds a picture as a fraction of two numbers of 16 bits: 1 / rate where the rate is whole. */
static void delay_of(double rate, unsigned *above, unsigned *below) {
    double scale = 1;
    while (scale < 1e4 && fabs(rate * scale - rint(rate * scale)) > 1e-9 * rate * scale && rate * scale * 10 < 65535) {
        scale *= 10;
    }
    *above = (unsigned)scale;
    *below = (unsigned)fmin(fmax(rint(rate * scale), 1), 65535);
}

static void put_control(apng *a, moving_part part) {
    unsigned char text[26] = {0}, *to = text;
    unsigned above, below;
    delay_of(a->format.rate, &above, &below);
    to = png_put_32(to, a->sequence++);
    to = png_put_32(to, (uint32_t)part.width);
    to = png_put_32(to, (uint32_t)part.height);
    to = png_put_32(to, (uint32_t)part.x);
    to = png_put_32(to, (uint32_t)part.y);
    put_16(put_16(to, above), below); /* then twice 0: the picture stays, and replaces the pixels under it */
    png_put_chunk(&a->chunks, "fcTL", text, sizeof text);
}

static bool put_picture(apng *a, const unsigned char *rgb, moving_part part) {
    size_t row = 3 * (size_t)a->format.width;
    view_bytes packed = {0};
    unsigned char number[4];
    if (a->count) {
        png_put_32(number, a->sequence++);
        view_put_bytes(&packed, number, sizeof number);
    }
    bool good = png_pack(rgb + (size_t)part.y * row + 3 * (size_t)part.x, row, part.width, part.height, &packed);
    png_put_chunk(&a->chunks, a->count ? "fdAT" : "IDAT", packed.data, packed.size);
    view_bytes_free(&packed);
    return good && !a->chunks.starved;
}

bool apng_add(apng *a, const unsigned char *rgb) {
    moving_part part = {0, 0, a->format.width, a->format.height};
    if (a->count) {
        part = moving_changed(rgb, a->before, &a->format, 3);
    }
    put_control(a, part);
    bool good = put_picture(a, rgb, part);
    memcpy(a->before, rgb, 3 * (size_t)a->format.width * (size_t)a->format.height);
    a->count++;
    return good;
}

bool apng_end(apng *a, view_bytes *file) {
    unsigned char text[8] = {0}; /* how many pictures, how often they are shown: without end */
    png_put_head(file, a->format.width, a->format.height);
    png_put_32(text, (uint32_t)a->count);
    png_put_chunk(file, "acTL", text, sizeof text);
    view_put_bytes(file, a->chunks.data, a->chunks.size);
    png_put_chunk(file, "IEND", NULL, 0);
    return !file->starved;
}
