/* GIF (Graphics Interchange Format 89a, CompuServe 1990): pictures of 255 colours, the same for all, and one index that
 * means "as before". Deflated pictures are stored until the last one is known and the colours are chosen
 * (gif_palette.c).  Each is then written as the rectangle of changed indices, with "as before" for unchanged ones
 * (gif_lzw.c).  Times are hundredths of a second: each picture ends at the one nearest to its own.  Nothing is
 * dithered: still parts stay the same.  Cost: the deflated pictures in memory, and each inflated once more. */
#include "view/image/moving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { UNCHANGED_INDEX = PALETTE_COLOURS, TABLE_COLOURS = 256, FAST_LEVEL = 1 };

struct gif {
    moving_format format;
    palette_bin *bin;
    view_bytes packed;
    size_t *end; /* [pictures] of each in `packed` */
    int count;
};

static size_t pixels_of(const gif *g) { return (size_t)g->format.width * (size_t)g->format.height; }

gif *gif_create(const moving_format *format) {
    gif *g = calloc(1, sizeof *g);
    if (g) {
        g->format = *format;
        g->bin = calloc(PALETTE_BINS, sizeof *g->bin);
        g->end = calloc((size_t)format->pictures + 1, sizeof *g->end);
    }
    if (!g || !g->bin || !g->end) {
        gif_free(g);
        return NULL;
    }
    return g;
}

void gif_free(gif *g) {
    if (g) {
        view_bytes_free(&g->packed);
        free(g->bin);
        free(g->end);
        free(g);
    }
}

bool gif_add(gif *g, const unsigned char *rgb) {
    size_t pixels = pixels_of(g);
    uLong size = compressBound((uLong)(3 * pixels));
    unsigned char *packed = malloc(size);
    if (!packed || compress2(packed, &size, rgb, (uLong)(3 * pixels), FAST_LEVEL) != Z_OK) {
        free(packed);
        return false;
    }
    view_put_bytes(&g->packed, packed, size);
    free(packed);
    g->end[g->count++] = g->packed.size;
    for (size_t k = 0; k < pixels; k++) {
        palette_bin *bin = &g->bin[palette_bin_of(rgb + 3 * k)];
        bin->count++;
        for (int c = 0; c < 3; c++) {
            bin->sum[c] += rgb[3 * k + (size_t)c];
        }
    }
    return !g->packed.starved;
}

/* ---- the file ---- */

static void put_16(view_bytes *out, int value) {
    view_put_byte(out, value & 0xff);
    view_put_byte(out, value >> 8 & 0xff);
}

static void put_gif_head(const gif *g, const unsigned char colour[PALETTE_COLOURS][3], view_bytes *out) {
    static const unsigned char none[TABLE_COLOURS - PALETTE_COLOURS][3];
    view_put_bytes(out, "GIF89a", 6);
    put_16(out, g->format.width);
    put_16(out, g->format.height);
    view_put_bytes(out, "\xf7\0\0", 3); /* a table of 256 colours */
    view_put_bytes(out, colour, 3 * PALETTE_COLOURS);
    view_put_bytes(out, none, sizeof none);
    view_put_bytes(out, "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19); /* again and again */
}

/* Until when a picture is shown, in hundredths of a second. */
static int end_of_picture(const gif *g, int picture) { return (int)lrint(100 * (double)picture / g->format.rate); }

static void put_picture_head(const gif *g, int k, moving_part part, view_bytes *out) {
    view_put_bytes(out, "\x21\xf9\x04\x05", 4); /* it stays, and one index shows the picture below */
    int hundredths = end_of_picture(g, k + 1) - end_of_picture(g, k);
    put_16(out, hundredths < 0xffff ? hundredths : 0xffff);
    view_put_byte(out, UNCHANGED_INDEX);
    view_put_bytes(out, "\0\x2c", 2);
    put_16(out, part.x);
    put_16(out, part.y);
    put_16(out, part.width);
    put_16(out, part.height);
    view_put_byte(out, 0);
}

/* The rectangle in which a picture differs from the one before, to `out`; `text` has room for it. */
static int put_change(const gif *g, int k, const unsigned char *now, const unsigned char *before, unsigned char *text,
                      view_bytes *out) {
    moving_part part = {0, 0, g->format.width, g->format.height};
    if (k) {
        part = moving_changed(now, before, &g->format, 1);
    }
    size_t count = 0;
    for (int y = part.y; y < part.y + part.height; y++) {
        for (int x = part.x; x < part.x + part.width; x++) {
            size_t at = (size_t)y * (size_t)g->format.width + (size_t)x;
            text[count++] = k && now[at] == before[at] ? UNCHANGED_INDEX : now[at];
        }
    }
    put_picture_head(g, k, part, out);
    return lzw_put(out, text, count);
}

static bool unpack_picture(const gif *g, int k, unsigned char *rgb) {
    size_t from = k ? g->end[k - 1] : 0;
    uLong size = (uLong)(3 * pixels_of(g));
    return uncompress(rgb, &size, g->packed.data + from, (uLong)(g->end[k] - from)) == Z_OK;
}

/* `room`: six bytes a pixel. */
static bool put_pictures(const gif *g, const unsigned char *index_of_bin, unsigned char *room, view_bytes *out) {
    size_t pixels = pixels_of(g);
    unsigned char *rgb = room, *now = rgb + 3 * pixels, *before = now + pixels, *text = before + pixels;
    bool good = true;
    for (int k = 0; good && k < g->count; k++) {
        good = unpack_picture(g, k, rgb);
        for (size_t i = 0; good && i < pixels; i++) {
            now[i] = index_of_bin[palette_bin_of(rgb + 3 * i)];
        }
        good = good && put_change(g, k, now, before, text, out);
        unsigned char *old = before;
        before = now;
        now = old;
    }
    return good;
}

bool gif_end(gif *g, view_bytes *file) {
    unsigned char colour[PALETTE_COLOURS][3] = {{0}};
    unsigned char *index_of_bin = calloc(PALETTE_BINS, 1), *room = malloc(6 * pixels_of(g));
    bool good = index_of_bin && room && palette_choose(g->bin, colour, index_of_bin) > 0;
    if (good) {
        put_gif_head(g, (const unsigned char(*)[3])colour, file);
        good = put_pictures(g, index_of_bin, room, file);
        view_put_byte(file, 0x3b);
    }
    free(index_of_bin);
    free(room);
    return good && !file->starved;
}
