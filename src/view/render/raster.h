/* Triangles to samples: which of them is seen where. */
#ifndef VIEW_RENDER_RASTER_H
#define VIEW_RENDER_RASTER_H

#include <stdint.h>

/* A triangle on the picture, in pixels, y downwards. `near` is greater where it is nearer, and linear in x and y: of
 * perspective pictures one over the distance along the view. */
typedef struct raster_triangle {
    double x[3], y[3], near[3];
    uint32_t id;
    uint32_t planes; /* bit s: sample s of each pixel can see it */
} raster_triangle;

/* One sample of each pixel of a band of rows [first, end), at the same place (dx, dy) in each. */
typedef struct raster_plane {
    int width, first, end;
    double dx, dy;
    float *near;  /* [end - first][width] nearest so far */
    uint32_t *id; /* likewise; NULL: not wanted */
} raster_plane;

void raster_clear(raster_plane *plane, float near);
/* Puts the triangle where it is nearer. */
void raster_triangle_fill(raster_plane *plane, const raster_triangle *t);
/* Puts a surface without end where it is nearer: near = at + x along + y down. */
void raster_surface_fill(raster_plane *plane, uint32_t id, double at, double along, double down);

#endif
