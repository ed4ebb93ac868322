/* The page of a run that goes on, and its frames one by one. */
#ifndef VIEW_PAGE_LIVE_H
#define VIEW_PAGE_LIVE_H

#include "view/image/bytes.h"
#include <sim/view.h>

/* The page, with the world as it is for its only frame; `page` is the caller's to free.  NULL on failure.  To be freed
 * with sim_view_discard. */
sim_view *view_live_open(const sim_scene *scene, sim_world *world, char **page, size_t *size, sim_error *error);
/* Appends the world as it is: time and tracks (tracks.h), and a block of one frame.  Says all without the frames
 * before. */
sim_status view_live_frame(sim_view *view, sim_world *world, view_bytes *out, sim_error *error);

#endif
