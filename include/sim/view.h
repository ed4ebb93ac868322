/* Pages: a run as one HTML file that any browser shows, without a network. */
#ifndef SIM_VIEW_H
#define SIM_VIEW_H

#include <sim/base.h>
#include <sim/scene.h>
#include <sim/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A page that grows: open, write the world's state for each frame (60 a second are smooth), close.  Closing puts
 * the whole file in its place; until then, and after a failure, the old file stays. */
typedef struct sim_view sim_view;

/* `scene` must outlive it. */
SIM_API sim_view *sim_view_open(const char *path, const sim_scene *scene, sim_error *error);
SIM_API sim_status sim_view_write(sim_view *view, sim_world *world, sim_error *error);
/* Both free the view, in every case. */
SIM_API sim_status sim_view_close(sim_view *view, sim_error *error);
SIM_API void sim_view_discard(sim_view *view);

#ifdef __cplusplus
}
#endif
#endif
