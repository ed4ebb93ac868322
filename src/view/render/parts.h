/* Data passed between the stages of drawing. */
#ifndef VIEW_RENDER_PARTS_H
#define VIEW_RENDER_PARTS_H

#include "base/pool.h"
#include "base/threads.h"
#include "view/render/stage.h"

/* render_lens.c */
typedef struct render_ball {
    sim_v3 centre;
    double radius;
} render_ball;
/* Around moving bodies, or around all. */
render_ball render_extent_ball(const render *r, const view_extent *extent, bool all);
double render_extent_low(const render *r, const view_extent *extent);

/* render_bins.c: triangles in pixels, and which of them touch each band of rows: item[start[b] .. start[b + 1]). */
typedef struct render_bins {
    int triangles, room;
    raster_triangle *triangle;
    int *start, *item;
} render_bins;
/* false: no memory. */
bool render_bins_fill(render_bins *bins, stage *s, sim_arena *arena, int band, int bands);

/* The memory of a picture. */
enum { BAND_ROWS = 16, TONE_STEPS = 4096 };

struct render {
    const sim_scene *scene;
    render_wish wish;
    view_drawing drawing;
    view_mesh **mesh;      /* [drawing.count] */
    view_sectors *sectors; /* [nshape] */
    view_mesh *ball, *shaft, *tip;
    view_soft *soft; /* [nsoft] */
    view_sizes sizes;
    sim_derived *posed; /* poses of the frame; NULL: there are no tendons */
    sim_arena *arena;
    sim_threads *threads;
    stage *stage;
    memory_pool *pool;
    unsigned char tone[TONE_STEPS + 1]; /* linear to sRGB */
    /* of the picture being drawn */
    render_bins bins;
    float *near; /* [threads][samples][BAND][width] */
    uint32_t *id;
    unsigned char *rgb;
};

static inline const sim_scene *render_scene(const render *r) { return r->scene; }

/* NULL: a half-space. */
static inline const view_mesh *render_mesh_of(const render *r, int shape, const double **scale) {
    *scale = r->drawing.scale[shape];
    return r->drawing.mesh_of[shape] < 0 ? NULL : r->mesh[r->drawing.mesh_of[shape]];
}

static inline double render_typical(const render *r) { return r->sizes.typical; }

static inline double render_aspect(const render *r) { return (double)r->wish.width / r->wish.height; }

/* stage_fill.c */
void stage_floor_below(stage *s, sim_v3 eye, double height);

#endif
