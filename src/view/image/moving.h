/* Pictures one after another in one file, kept in memory until it is whole: APNG and GIF.  The same pictures give the
 * same bytes. */
#ifndef VIEW_IMAGE_MOVING_H
#define VIEW_IMAGE_MOVING_H

#include "view/image/bytes.h"
#include <sim/base.h>

typedef struct moving_format {
    int width, height; /* pixels */
    double rate;       /* pictures a second */
    int pictures;      /* how many there will be */
} moving_format;

enum { MOVING_GIF_RATE = 50 }; /* pictures a second: browsers slow down those that ask for more */

/* A part of a picture, in pixels. */
typedef struct moving_part {
    int x, y, width, height;
} moving_part;

/* The least rectangle that holds all that differs between two pictures of `bytes` a pixel; of equal ones, one pixel. */
moving_part moving_changed(const unsigned char *now, const unsigned char *before, const moving_format *f, int bytes);

/* apng.c.  Pictures of red, green, blue: [height][width][3].  create: NULL without memory; add, end: false without
 * memory. */
typedef struct apng apng;
apng *apng_create(const moving_format *format);
void apng_free(apng *a);
bool apng_add(apng *a, const unsigned char *rgb);
bool apng_end(apng *a, view_bytes *file);

/* gif.c: the same.  Colours are chosen at the end, from all pictures. */
typedef struct gif gif;
gif *gif_create(const moving_format *format);
void gif_free(gif *g);
bool gif_add(gif *g, const unsigned char *rgb);
bool gif_end(gif *g, view_bytes *file);

/* gif_palette.c */
enum { PALETTE_BITS = 6, PALETTE_BINS = 1 << (3 * PALETTE_BITS), PALETTE_COLOURS = 255 };
typedef struct palette_bin {
    uint64_t count, sum[3]; /* pixels, and their red, green, blue in all */
} palette_bin;
static inline int palette_bin_of(const unsigned char *rgb) {
    int down = 8 - PALETTE_BITS;
    return ((rgb[0] >> down) << PALETTE_BITS | rgb[1] >> down) << PALETTE_BITS | rgb[2] >> down;
}
/* At most PALETTE_COLOURS colours for the pixels of `bin` [PALETTE_BINS], and which of them each bin takes; how many
 * there are, or 0 without memory. */
int palette_choose(const palette_bin *bin, unsigned char colour[PALETTE_COLOURS][3], unsigned char *index_of_bin);

/* gif_lzw.c: indices as a GIF holds them, code size and blocks.  false: no memory. */
bool lzw_put(view_bytes *out, const unsigned char *index, size_t count);

#endif
