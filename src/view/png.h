/* Pictures as PNG. */
#ifndef VIEW_PNG_H
#define VIEW_PNG_H

#include <sim/base.h>
#include <stddef.h>

/* Of red, green, blue: [height][width][3].  *bytes is the caller's, to be freed; the same picture gives the same bytes. */
sim_status png_encode(const unsigned char *rgb, int width, int height, unsigned char **bytes, size_t *size,
                      sim_error *error);

#endif
