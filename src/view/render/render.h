/* Pictures of a scene, drawn by the processor: the same bits on any machine of one build, for any number of threads. */
#ifndef VIEW_RENDER_RENDER_H
#define VIEW_RENDER_RENDER_H

#include "view/mesh/extent.h"
#include "view/mesh/frame.h"
#include <sim/base.h>
#include <sim/scene.h>

typedef struct render_lens {
    sim_v3 eye, target;
    double fov; /* vertical, rad */
} render_lens;

typedef struct render_wish {
    int width, height;
    int threads;
    int contacts, forces; /* flags: points, arrows */
    int plain;            /* flag: floors without lines */
    int dark;             /* flag: as for a dark page */
} render_wish;

typedef struct render render;

/* `scene` must outlive it.  NULL on failure. */
render *render_create(const sim_scene *scene, const render_wish *wish, sim_error *error);
void render_free(render *r);

/* The camera of that name; NULL: the first, or else one that sees all that moves.  Refused if there is none of the
 * name. */
sim_status render_lens_choose(const render *r, const char *name, const view_extent *extent, render_lens *lens,
                              sim_error *error);

/* Red, green, blue: [height][width][3]. */
sim_status render_picture(render *r, const view_frame *frame, const view_extent *extent, const render_lens *lens,
                          unsigned char *rgb, sim_error *error);

#endif
