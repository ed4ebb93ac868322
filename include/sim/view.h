/* Pages: a run as one HTML file that any browser shows, without a network. */
#ifndef SIM_VIEW_H
#define SIM_VIEW_H

#include <sim/base.h>
#include <sim/scene.h>
#include <sim/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A page that grows: open, write the world's state as often as a frame is wanted (60 a second are smooth), close.  The
 * file stands in its place when it is closed, whole; until then, and when anything failed, what was there stays. */
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
