/* Frames from a trajectory on disk. */
#ifndef VIEW_PAGE_REPLAY_H
#define VIEW_PAGE_REPLAY_H

#include "record/run/trajectory.h"
#include "view/mesh/frame.h"

typedef struct view_replay view_replay;

/* The channels of the file must match the scene's model: poses, or coordinates from which they follow; the rest may be
 * missing. NULL on failure.  Trajectory and scene must outlive it. */
view_replay *view_replay_open(trajectory *file, const sim_scene *scene, sim_error *error);
void view_replay_free(view_replay *replay);
/* Record k, which stays until the next is read. */
sim_status view_replay_read(view_replay *replay, ptrdiff_t k, view_frame *frame, sim_error *error);
/* Does the file tell of contacts? */
bool view_replay_has_contacts(const view_replay *replay);
/* Adds record k to the page. */
sim_status view_replay_frame(view_replay *replay, ptrdiff_t k, sim_view *view, sim_error *error);

/* The step and the time between records, s, as the file's times and step numbers tell; 0: there is one record only. */
sim_status view_replay_times(trajectory *file, double *step, double *between, sim_error *error);

#endif
