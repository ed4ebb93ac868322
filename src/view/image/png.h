/* Pictures as PNG. */
#ifndef VIEW_IMAGE_PNG_H
#define VIEW_IMAGE_PNG_H

#include "view/image/bytes.h"
#include <sim/base.h>
#include <stddef.h>

/* Of red, green, blue: [height][width][3].  The caller frees *bytes; the same picture gives the same bytes. */
sim_status png_encode(const unsigned char *rgb, int width, int height, unsigned char **bytes, size_t *size,
                      sim_error *error);

/* The parts of it: a number, highest byte first; a chunk; signature and header; deflated rows of a picture.  Rows stand
 * `stride` bytes apart.  False: no memory. */
unsigned char *png_put_32(unsigned char *to, uint32_t value);
void png_put_chunk(view_bytes *out, const char kind[5], const void *data, size_t size);
void png_put_head(view_bytes *out, int width, int height);
bool png_pack(const unsigned char *rgb, size_t stride, int width, int height, view_bytes *out);

#endif
