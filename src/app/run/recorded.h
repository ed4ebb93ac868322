/* The scene of a recorded run. */
#ifndef APP_RUN_RECORDED_H
#define APP_RUN_RECORDED_H

#include "app/run/setup.h"
#include "record/run/trajectory.h"

/* The scene as it ran, from the text in the recording.  The files that it names are beside the recording, or beside the
 * scene `beside` (may be NULL).  Where `beside` is another scene, it is that one.  NULL on failure: `error` has the
 * reason, or names the printed errors. */
sim_scene *recorded_scene(trajectory *run, const char *beside, const scene_wish *wish, sim_error *error);
/* Says so where it is not the scene that ran, though nothing else was asked for. */
void recorded_warn(trajectory *run, const sim_scene *scene, const scene_wish *wish);

#endif
