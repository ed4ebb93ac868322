/* Scan conversion of triangles: on the line y of samples a triangle spans from one edge to another,
 *
 *     x(y) = x0 + (y - y0) (x1 - x0) / (y1 - y0),      (x0, y0) the upper end,
 *
 * and takes the samples from the first one at or right of the left edge to the last one left of the right edge.  Two
 * triangles that share an edge work its x out from the same numbers in the same order.  No sample between them is left
 * out, none is taken twice.  The nearest triangle that covers a sample stays; of two equally near ones the first. */
#include "view/render/raster.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double MIN_AREA_PIXELS2 = 1e-12; /* square pixels: below, slopes are noise */

void raster_clear(raster_plane *plane, float near) {
    int count = plane->width * (plane->end - plane->first);
    for (int k = 0; k < count; k++) {
        plane->near[k] = near;
    }
    if (plane->id) {
        memset(plane->id, 0, (size_t)count * sizeof *plane->id);
    }
}

/* Samples [from, to) of a line. */
static void fill_line(raster_plane *plane, int row, int from, int to, uint32_t id, double at, double along) {
    float *near = plane->near + (row - plane->first) * (ptrdiff_t)plane->width;
    if (!plane->id) {
        for (int x = from; x < to; x++) {
            float here = (float)(at + along * x);
            near[x] = here > near[x] ? here : near[x];
        }
        return;
    }
    uint32_t *ids = plane->id + (row - plane->first) * (ptrdiff_t)plane->width;
    for (int x = from; x < to; x++) {
        float here = (float)(at + along * x);
        int nearer = here > near[x];
        near[x] = nearer ? here : near[x];
        ids[x] = nearer ? id : ids[x];
    }
}

/* The first whole number at or above, within [0, most]; 0 for NaN. */
static int whole_from(double x, int most) { return !(x > 0) ? 0 : x >= most ? most : (int)ceil(x); }

static double edge_at(const raster_triangle *t, int upper, int lower, double y) {
    return t->x[upper] + (y - t->y[upper]) * ((t->x[lower] - t->x[upper]) / (t->y[lower] - t->y[upper]));
}

static void sort_by_height(const raster_triangle *t, int *top, int *middle, int *bottom) {
    const double *y = t->y;
    *top = y[1] < y[0] ? (y[2] < y[1] ? 2 : 1) : (y[2] < y[0] ? 2 : 0);
    *bottom = y[1] >= y[0] ? (y[2] >= y[1] ? 2 : 1) : (y[2] >= y[0] ? 2 : 0);
    *middle = 3 - *top - *bottom;
}

void raster_triangle_fill(raster_plane *plane, const raster_triangle *t) {
    /* slopes of the depth over the triangle */
    double bx = t->x[1] - t->x[0], by = t->y[1] - t->y[0], cx = t->x[2] - t->x[0], cy = t->y[2] - t->y[0];
    double area = bx * cy - by * cx;
    if (!(fabs(area) > MIN_AREA_PIXELS2)) {
        return;
    }
    double along = ((t->near[1] - t->near[0]) * cy - (t->near[2] - t->near[0]) * by) / area;
    double down = ((t->near[2] - t->near[0]) * bx - (t->near[1] - t->near[0]) * cx) / area;
    /* rows from the top corner to the bottom one */
    int top, middle, bottom;
    sort_by_height(t, &top, &middle, &bottom);
    int first = plane->first + whole_from(t->y[top] - plane->dy - plane->first, plane->end - plane->first);
    int end = plane->first + whole_from(t->y[bottom] - plane->dy - plane->first, plane->end - plane->first);
    /* fill each row between the edges */
    for (int row = first; row < end; row++) {
        double y = row + plane->dy;
        double one = edge_at(t, top, bottom, y);
        double other = y < t->y[middle] ? edge_at(t, top, middle, y) : edge_at(t, middle, bottom, y);
        int from = whole_from(fmin(one, other) - plane->dx, plane->width);
        int to = whole_from(fmax(one, other) - plane->dx, plane->width);
        double at = t->near[0] + along * (plane->dx - t->x[0]) + down * (y - t->y[0]);
        fill_line(plane, row, from, to, t->id, at, along);
    }
}

void raster_surface_fill(raster_plane *plane, uint32_t id, double at, double along, double down) {
    for (int row = plane->first; row < plane->end; row++) {
        fill_line(plane, row, 0, plane->width, id, at + along * plane->dx + down * (row + plane->dy), along);
    }
}
