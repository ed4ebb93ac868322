/* Pictures that files hold: heights of ground, colours of surfaces. */
#ifndef GEOMETRY_IMPORT_PICTURE_H
#define GEOMETRY_IMPORT_PICTURE_H

#include <sim/base.h>
#include <stddef.h>
#include <stdint.h>

enum { PICTURE_MAX_EDGE = 32768, PICTURE_MAX_PIXELS = 1 << 26 };

/* Red, green and blue from 0 to 65535, row by row from the top; the caller frees `sample`. */
typedef struct picture {
    int width, height;
    uint16_t *sample; /* [height][width][3]; NULL: not kept */
    double mean[3];   /* from 0 to 1 */
} picture;

/* The picture of a PNG file in memory; its samples are kept where it has at most `most_kept` pixels.  `name` is the
 * file's in messages. */
sim_status picture_read_png(const char *name, const char *content, size_t size, int64_t most_kept, picture *out,
                            sim_error *error);

#endif
