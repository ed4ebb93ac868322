/* What the steps of drawing a picture hand to each other. */
#ifndef VIEW_RENDER_PARTS_H
#define VIEW_RENDER_PARTS_H

#include "view/stage.h"

const sim_scene *render_scene(const render *r);
/* NULL: a half-space. */
const view_mesh *render_mesh_of(const render *r, int shape, const double **scale);
double render_typical(const render *r);
double render_aspect(const render *r);

/* render_lens.c */
typedef struct render_ball {
    sim_v3 centre;
    double radius;
} render_ball;
/* Around what moves, or around all. */
render_ball render_extent_ball(const render *r, const render_extent *extent, int all);
double render_extent_low(const render *r, const render_extent *extent);

/* render_bins.c: triangles in pixels, and which of them touch each band of rows: item[start[b] .. start[b + 1]). */
typedef struct render_bins {
    int triangles, room;
    raster_triangle *triangle;
    int *start, *item;
} render_bins;
/* 0 without memory. */
int render_bins_fill(render_bins *bins, stage *s, sim_arena *arena, int band, int bands);

/* stage_fill.c */
void stage_floor_below(stage *s, sim_v3 eye, double height);

#endif
